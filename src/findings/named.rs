//! Which files something names: variables and the command by their path, files of the application by the name of
//! a library.

use std::collections::{BTreeMap, HashSet};

use super::facts::Facts;
use super::value::User;
use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::split_library_name;
use crate::rootfs::{NodeId, NodeKind};

/// Files of the image that something names.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// By file: the setting that names its path.
    settings: BTreeMap<NodeId, String>,
    /// By folder of shared data: the setting that names its path.
    folders: BTreeMap<NodeId, String>,
    /// By name of a library, without version: the file that names it.
    libraries: BTreeMap<Vec<u8>, NodeId>,
    /// Whether there was more in the settings than is looked at.
    pub(super) cut: bool,
}

/// Words of settings that are looked up, and parts of paths and links on the way of all of them: a real image
/// has some hundred. Paths through long links cost milliseconds each.
const WORDS: usize = 10_000;
const STEPS: u64 = 1 << 22;
/// Characters of a name or path that are told.
pub(super) const TOLD: usize = 120;

/// Variables that list folders to search: they name no file.
const LISTS: [&str; 9] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "MANPATH",
    "PYTHONPATH",
    "PKG_CONFIG_PATH",
];

impl Named {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let mut named = Self::default();
        let mut room = (WORDS, STEPS);
        let mut seen = HashSet::new();
        for pair in facts.environment() {
            let Some((name, value)) = pair.split_once('=') else { continue };
            if !LISTS.contains(&name) {
                let setting = format!("ENV {}", elide_end(&printable(name), TOLD));
                named.paths(facts, value, &setting, &mut room, &mut seen);
            }
        }
        for word in facts.command() {
            named.paths(facts, word, "the image's command", &mut room, &mut seen);
        }
        for mention in &facts.inventory.mentions {
            for library in &mention.libraries {
                if let Some(stem) = split_library_name(library.as_bytes()) {
                    named.libraries.entry(stem.stem.to_vec()).or_insert(mention.node);
                }
            }
        }
        named
    }

    /// The files whose absolute paths stand in a text. Links are followed.
    fn paths<'t>(
        &mut self,
        facts: &Facts<'_>,
        text: &'t str,
        setting: &str,
        (words, steps): &mut (usize, u64),
        seen: &mut HashSet<&'t str>,
    ) {
        let parts = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],:<>".contains(c));
        for part in parts.filter(|part| part.len() > 1 && part.starts_with('/')) {
            if !seen.insert(part) {
                continue;
            }
            if *words == 0 || *steps == 0 {
                self.cut = true;
                return;
            }
            *words -= 1;
            let found = facts.paths.walk(NodeId::ROOT, part.as_bytes(), steps);
            // What runs out of steps may have named a file.
            self.cut |= *steps == 0;
            let Some(node) = found else { continue };
            match facts.node(node).kind() {
                NodeKind::File => &mut self.settings,
                NodeKind::Directory if holds_shared(&facts.path(node)) => &mut self.folders,
                _ => continue,
            }
            .entry(node)
            .or_insert_with(|| setting.to_owned());
        }
    }

    /// What names a file, or the library that it is.
    pub(super) fn user(&self, facts: &Facts<'_>, node: NodeId) -> Option<User> {
        if let Some(setting) = self.settings.get(&node) {
            return Some(User::Setting(setting.clone()));
        }
        self.library(facts.node(node).name())
    }

    /// The setting that names a folder of shared data above a file.
    pub(super) fn folder(&self, facts: &Facts<'_>, node: NodeId) -> Option<&str> {
        if self.folders.is_empty() {
            return None;
        }
        let mut folder = facts.paths.parent(node);
        while folder != NodeId::ROOT {
            if let Some(setting) = self.folders.get(&folder) {
                return Some(setting);
            }
            folder = facts.paths.parent(folder);
        }
        None
    }

    /// The file that names a library, by a file name or soname of it.
    pub(super) fn library(&self, name: &[u8]) -> Option<User> {
        if self.libraries.is_empty() {
            return None;
        }
        let stem = split_library_name(name)?.stem;
        self.libraries.get(stem).map(|node| User::File(*node))
    }
}

/// Whether a folder lies in one of shared data. A prefix, such as `/opt/conda`, is named for its programs.
fn holds_shared(path: &[u8]) -> bool {
    memchr::memmem::find(path, b"/share/").is_some()
}
