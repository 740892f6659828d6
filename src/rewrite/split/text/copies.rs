//! What is copied into the final stage.

use super::Writer;
use crate::base::size::human;
use crate::base::text::{elide_middle, escape};
use crate::rewrite::split::keep::Fate;
use crate::rewrite::split::trees::Copy;
use crate::rootfs::NodeKind;

impl Writer<'_, '_, '_, '_, '_> {
    pub(super) fn copy(&mut self, copy: &Copy) {
        let owner = copy.owner.map(|(user, group)| format!(" --chown={user}:{group}")).unwrap_or_default();
        let mut words: Vec<&str> = copy.from.iter().map(String::as_str).collect();
        words.push(&copy.to);
        let words = if words.len() > 3 {
            words.join(&format!(" {}\n     ", self.stage.file.escape))
        } else {
            words.join(" ")
        };
        let line = format!("{} --from={}{owner} {words}", self.word("COPY"), self.name);
        let world = self.keep.world;
        let single = copy.to.ends_with('/');
        let why = if single && copy.from.iter().any(|path| path.contains(".so")) {
            "Libraries that something in the final stage loads"
        } else if single {
            "Files that the final stage needs"
        } else {
            "What the build stage made here"
        };
        let folder = escape(&world.rootfs.node(copy.folder).path());
        self.add(&line, format!("{why}, {} in {}.", human(copy.bytes), elide_middle(&folder, 60)), None);
    }

    pub(super) fn links(&mut self) {
        let trees = self.trees;
        let mut commands: Vec<String> =
            trees.links.iter().map(|(target, path)| format!("ln -sfn {target} {path}")).collect();
        let mut reasons = Vec::new();
        if !commands.is_empty() {
            reasons.push("Links are made anew, since COPY follows them.");
        }
        if !trees.settings.is_empty() {
            commands.extend(trees.settings.iter().cloned());
            reasons.push("Modes and owners of folders are set anew, since COPY makes folders as root's.");
        }
        let before = commands.len();
        for (text, paths) in &self.effects.after {
            let is_gone = |path: &String| {
                let node = self.keep.world.paths.lookup(path.as_bytes());
                node.is_some_and(|node| {
                    self.keep.world.rootfs.node(node).kind() == NodeKind::File
                        && self.keep.fate(node) == Fate::Gone
                })
            };
            let program = text.split_whitespace().next().unwrap_or_default().to_owned();
            let tools = ["/usr/sbin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
            if tools.iter().any(is_gone) {
                self.by_hand
                    .push(format!("the final stage does not have {program}, which the build stage calls"));
            } else if !paths.iter().any(is_gone) && !commands.contains(text) {
                commands.push(text.clone());
            }
        }
        if commands.len() > before {
            reasons.push("Commands of the build stage that write what is not copied are repeated.");
        }
        if trees.needs_ldconfig && self.keep.world.has_ldconfig() {
            commands.push("ldconfig".to_owned());
            reasons.push("ldconfig tells the loader of the libraries that were copied.");
        }
        if !commands.is_empty() {
            let line = self.run(&commands);
            self.add(&line, reasons.join(" "), None);
        }
    }
}
