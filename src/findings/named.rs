//! Files mentioned elsewhere: by path in variables and the command, by library name in application files.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::facts::Facts;
use super::value::User;
use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::split_library_name;
use crate::formats::glob::glob_match;
use crate::rootfs::{NodeId, NodeKind};

/// Mentioned files of the image.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// By file: the setting that contains its path.
    settings: BTreeMap<NodeId, String>,
    /// By shared data folder: the setting that contains its path.
    folders: BTreeMap<NodeId, String>,
    /// By library name without version: the file or setting that mentions it.
    libraries: BTreeMap<Vec<u8>, User>,
    /// Names of libraries that files of the application put together at run time: a pattern without version, and the file.
    patterns: BTreeMap<Vec<u8>, NodeId>,
    /// Whether the settings exceeded the limits below.
    pub(super) cut: bool,
}

/// Maximum words of settings that are looked up, and maximum path parts and links followed for all of them: a
/// real image has some hundred. Paths through long links cost milliseconds each.
const WORDS: usize = 10_000;
const STEPS: u64 = 1 << 22;
/// Maximum programs of a command that are looked up, and folders in which; maximum patterns of names.
const PROGRAMS: usize = 64;
/// Maximum characters of a name or path in a text.
pub(super) const MAX_SHOWN_CHARS: usize = 120;

/// Variables that list search folders: they name no file.
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
                let setting = format!("ENV {}", elide_end(&printable(name), MAX_SHOWN_CHARS));
                named.paths(facts, value, &setting, &mut room, &mut seen);
                named.libraries(facts, value, &setting);
            }
        }
        for (word, who) in facts.commands() {
            named.libraries(facts, word, who);
            named.paths(facts, word, who, &mut room, &mut seen);
        }
        named.programs(facts, &mut room.1);
        for mention in &facts.inventory.mentions {
            for library in &mention.libraries {
                if let Some(pattern) = library.strip_suffix(".so").filter(|name| name.contains('*')) {
                    // Who computes more names may open any library.
                    let pattern = if named.patterns.len() < PROGRAMS { pattern } else { "lib*" };
                    if !mention.of_package {
                        named.patterns.entry(pattern.as_bytes().to_vec()).or_insert(mention.node);
                    }
                } else if let Some(stem) = split_library_name(library.as_bytes()) {
                    let user = || User::File(mention.node);
                    named.libraries.entry(stem.stem.to_vec()).or_insert_with(user);
                }
            }
        }
        named
    }

    /// Collects files whose absolute paths occur in a text. Links are followed.
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
            // A lookup that ran out of steps may have named a file.
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

    /// Collects the libraries that a setting names, those of CUDA also without `lib` and `.so`.
    fn libraries(&mut self, facts: &Facts<'_>, text: &str, setting: &str) {
        let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],:<>".contains(c));
        for word in words.filter(|word| (2..=MAX_SHOWN_CHARS).contains(&word.len())).take(PROGRAMS) {
            let name = word.rsplit('/').next().unwrap_or_default();
            let known = split_library_name(name.as_bytes()).map(|name| name.stem.to_vec());
            // `cuda` is a device, and the driver is no library of the image.
            let of_cuda = || {
                let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic());
                let stem = format!("lib{}", word.strip_prefix("lib").unwrap_or(word));
                let name = format!("{stem}.so").into_bytes();
                let is_one =
                    is_word && facts.catalog.component_of(&name).is_some() && !facts.catalog.is_driver(&name);
                is_one.then(|| stem.into_bytes())
            };
            if let Some(stem) = known.or_else(of_cuda) {
                self.libraries.entry(stem).or_insert_with(|| User::Setting(setting.to_owned()));
            }
        }
    }

    /// The file of the application that puts together a name which fits a library.
    pub(super) fn puts_together(&self, name: &[u8]) -> Option<User> {
        let stem = split_library_name(name)?.stem;
        let mut patterns = self.patterns.iter();
        patterns.find(|(pattern, _)| glob_match(pattern, stem)).map(|(_, node)| User::File(*node))
    }

    /// Collects the programs and scripts that the command starts by their names in `PATH`: `mvn exec:java`.
    fn programs(&mut self, facts: &Facts<'_>, steps: &mut u64) {
        let folders = facts.input.image.search_path();
        let parts = facts
            .commands()
            .flat_map(|(text, who)| text.split([';', '&', '|', '\n']).map(move |part| (part, who)));
        let names = parts.filter_map(|(part, who)| Some((part.split_whitespace().next()?, who)));
        for (name, who) in names.filter(|(name, _)| !name.contains('/')).take(PROGRAMS) {
            let mut tries = folders.split(':').filter(|folder| folder.starts_with('/')).take(PROGRAMS);
            let found = tries.find_map(|folder| {
                facts.paths.walk(NodeId::ROOT, format!("{folder}/{name}").as_bytes(), steps)
            });
            if let Some(node) = found.filter(|node| facts.node(*node).kind() == NodeKind::File) {
                self.settings.entry(node).or_insert_with(|| who.to_owned());
            }
        }
    }

    /// The setting or file that mentions a file, by path or as a library.
    pub(super) fn user(&self, facts: &Facts<'_>, node: NodeId) -> Option<User> {
        if let Some(setting) = self.settings.get(&node) {
            return Some(User::Setting(setting.clone()));
        }
        self.library(facts.node(node).name())
    }

    /// The setting that contains the path of a shared data folder above a file.
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

    /// The file or setting that mentions a library, by its file name or soname.
    pub(super) fn library(&self, name: &[u8]) -> Option<User> {
        if self.libraries.is_empty() {
            return None;
        }
        let stem = split_library_name(name)?.stem;
        self.libraries.get(stem).cloned()
    }
}

/// Whether a folder is in a shared data folder. A prefix, such as `/opt/conda`, is named for its programs.
fn holds_shared(path: &[u8]) -> bool {
    memchr::memmem::find(path, b"/share/").is_some()
}
