//! What is copied into the final stage.

use super::Writer;
use crate::base::size::human;
use crate::base::text::{elide_middle, escape};
use crate::rewrite::split::trees::Copy;

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
        let mut commands: Vec<String> =
            self.trees.links.iter().map(|(target, path)| format!("ln -sfn {target} {path}")).collect();
        if self.trees.needs_ldconfig {
            commands.push("ldconfig".to_owned());
        }
        if commands.is_empty() {
            return;
        }
        let reason = match (self.trees.links.is_empty(), self.trees.needs_ldconfig) {
            (false, true) => {
                "Links are made anew, since COPY follows them; ldconfig tells the loader of the libraries that were copied."
            }
            (false, false) => "Links are made anew, since COPY follows them.",
            _ => "Tells the loader of the libraries that were copied.",
        };
        let line = self.run(&commands);
        self.add(&line, reason, None);
    }
}
