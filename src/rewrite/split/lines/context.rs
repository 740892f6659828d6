//! Copies of the build context, whole or in parts.

use super::super::keep::FileDisposition;
use super::super::owners::takes_owner;
use super::super::roots::{MOST_PATHS, Root};
use super::super::sources::is_within;
use super::super::words::word;
use super::Lines;
use crate::cuda::links::folder_of;
use crate::formats::dockerfile::Keyword;
use crate::formats::glob::glob_match;
use crate::layer::EntryKind;
use crate::rootfs::{NodeId, NodeKind};
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// Patterns of an instruction that are looked at.
const PATTERNS: usize = 64;

impl Lines<'_, '_, '_, '_, '_> {
    /// A `COPY` of the build context: repeated if the image needs its files at run time.
    pub(super) fn context(&mut self, at: usize) {
        let (mut wanted, mut left) = (Vec::new(), (0_u64, 0_u64));
        let context = self.keep.context;
        for node in context.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
            if self.steps.origin(node) != Some(at) {
                continue;
            }
            match self.keep.fate(node.id()) {
                FileDisposition::Gone => left = (left.0 + 1, left.1 + node.bytes()),
                _ => wanted.push(node.id()),
            }
        }
        let is_list = |node: &NodeId| is_list_of_packages(context.rootfs.node(*node).name());
        let is_read = self.is_read_by_whole(at);
        if !is_read && (wanted.is_empty() || wanted.iter().all(is_list)) {
            return;
        }
        let top = self.target(at);
        let is_needed = |node: &NodeId| !self.is_aside(*node, top, at);
        let parts: Option<Vec<NodeId>> =
            (left.0 > 0 && !is_read).then(|| wanted.iter().copied().filter(is_needed).collect());
        if parts.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        self.larger_first(at, top);
        let texts = parts.as_ref().and_then(|parts| self.parts(at, parts));
        if let Some(texts) = texts {
            for text in texts {
                self.add(text, "Repeated for the files needed at run time; sources stay in the build stage.");
            }
            wanted = parts.unwrap_or_default();
        } else {
            self.flush_folder(at);
            let text = self.with_owner(at, self.text(at));
            self.add(text, "Repeated: needed at run time.");
            self.repeated.insert(at);
            // Files of it that the plan removes are copied too.
            self.cover_step(at, |fate| fate == FileDisposition::Gone);
        }
        self.covered.extend(wanted);
    }

    /// Copies large folders of the build stage before a `COPY` of the build context, such as a virtual environment in which
    /// a later instruction installs the project: their content outlasts a change of the code.
    fn larger_first(&mut self, at: usize, top: Option<NodeId>) {
        const LARGE: u64 = 8 << 20;
        let rootfs = self.keep.context.rootfs;
        let Some(target) = top.map(|top| rootfs.node(top).path()) else { return };
        let is_apart = |root: &Root| {
            let folder = rootfs.node(root.folder).path();
            !is_within(&folder, &target) && !is_within(&target, &folder)
        };
        let of_division =
            |root: &Root| self.division.as_ref().is_some_and(|division| division.folder == root.folder);
        let is_late = |root: &&Root| root.steps.last().is_some_and(|last| *last > at);
        let large = self.roots.list.iter().filter(is_late);
        let large: Vec<Root> = large
            .filter(|root| {
                root.files.is_empty() && root.bytes >= LARGE && is_apart(root) && !of_division(root)
            })
            .filter(|root| !self.copied_early.contains(&root.folder))
            .cloned()
            .collect();
        for root in large {
            self.copied_early.insert(root.folder);
            self.copy(&root, at);
        }
    }

    /// Whether an instruction that is repeated as a whole names a file of a `COPY`, such as a package that it installs.
    fn is_read_by_whole(&self, at: usize) -> bool {
        let later: Vec<String> = (at + 1..self.steps.list.len())
            .filter(|step| self.steps.is_whole(*step))
            .map(|step| self.text(step))
            .collect();
        let words = later
            .iter()
            .flat_map(|text| text.split(|one: char| one.is_whitespace() || "\"';&|()".contains(one)));
        // A path or a pattern: `/tmp/tool.deb`, `*.deb`.
        // Not `*` of `case`.
        let names = |word: &&str| word.contains(['.', '/', '*']) && word.contains(char::is_alphanumeric);
        let words: BTreeSet<&str> = words.filter(names).collect();
        if words.is_empty() {
            return false;
        }
        let fits =
            |folder: &str, path: &[u8]| !folder.starts_with('/') || folder_of(path) == folder.as_bytes();
        let parts = words.iter().map(|word| word.rsplit_once('/').unwrap_or(("", word)));
        let (patterns, plain): (Vec<_>, Vec<_>) =
            parts.filter(|(_, name)| !name.is_empty()).partition(|(_, name)| name.contains(['*', '?', '[']));
        let mut folders: HashMap<&[u8], Vec<&str>> = HashMap::new();
        for (folder, name) in plain {
            folders.entry(name.as_bytes()).or_default().push(folder);
        }
        let rootfs = self.keep.context.rootfs;
        self.steps.list[at].layers.iter().any(|layer| {
            let index = rootfs.layer(*layer);
            index.entries().filter(|entry| index.kind(*entry) == EntryKind::File).any(|entry| {
                let name = index.name(entry);
                let above = folders.get(name).map(Vec::as_slice).unwrap_or_default();
                let is_named = !above.is_empty() && {
                    let path = index.path(entry);
                    above.iter().any(|folder| fits(folder, &path))
                };
                is_named
                    || patterns.iter().take(PATTERNS).any(|(folder, pattern)| {
                        glob_match(pattern.as_bytes(), name) && fits(folder, &index.path(entry))
                    })
            })
        })
    }

    /// The folder to which a `COPY` of the build context copies.
    fn target(&self, at: usize) -> Option<NodeId> {
        let step = self.steps.list.get(at)?;
        let target = self.stage.file.instructions.get(step.place)?.words.last()?;
        let folder = self.steps.tidying.absolute(step.place, &target.text)?;
        self.keep.context.paths.lookup(folder.as_bytes())
    }

    /// Whether a file at the top of the build context is not worth a path in a `COPY` of parts: the recipe itself, files of
    /// version control, and lists for pip that no later instruction names, unless something installs packages at run time.
    fn is_aside(&self, node: NodeId, top: Option<NodeId>, at: usize) -> bool {
        const OF_RECIPE: [&[u8]; 7] = [
            b"Dockerfile",
            b"Containerfile",
            b".dockerignore",
            b".containerignore",
            b".gitignore",
            b".gitattributes",
            b".gitmodules",
        ];
        let node = self.keep.context.rootfs.node(node);
        let name = node.name();
        let is_list = || {
            let shown = String::from_utf8_lossy(name);
            let mut later = (at + 1..self.steps.list.len()).map(|step| self.text(step));
            let mentions = &self.keep.context.input.inventory.mentions;
            let mut words = mentions.iter().flat_map(|mention| &mention.words);
            is_list_of_packages(name)
                && name.ends_with(b".txt")
                && !later.any(|text| text.contains(&*shown))
                && !words.any(|word| matches!(*word, "install" | "uv" | "wheel"))
        };
        Some(node.parent().id()) == top && (OF_RECIPE.contains(&name) || is_list())
    }

    /// `COPY` instructions for the needed parts of a context folder; `None` if they are too many, or cannot
    /// be named.
    pub(super) fn parts(&mut self, at: usize, wanted: &[NodeId]) -> Option<Vec<String>> {
        let step = self.steps.list.get(at)?;
        let instruction = self.stage.file.instructions.get(step.place)?;
        let [source, target] = instruction.words.as_slice() else { return None };
        // Other flags apply to the copy as a whole, and `ADD` unpacks archives.
        let of_each = |name: &str| matches!(name, "chown" | "chmod" | "link");
        if instruction.keyword != Keyword::Copy || !instruction.flags.iter().all(|flag| of_each(&flag.name)) {
            return None;
        }
        let folder = self.steps.tidying.absolute(step.place, &target.text)?;
        let context = self.keep.context;
        let top = context.paths.lookup(folder.as_bytes())?;
        if context.rootfs.node(top).kind() != NodeKind::Directory || source.text.contains(['*', '?', '$']) {
            return None;
        }
        let mut parts: BTreeSet<NodeId> = BTreeSet::new();
        for node in wanted {
            let mut node = context.rootfs.node(*node);
            while node.parent().id() != top {
                node = node.parent();
                if node.id() == NodeId::ROOT {
                    return None;
                }
            }
            parts.insert(node.id());
        }
        if parts.len() > MOST_PATHS {
            return None;
        }
        // The part must be needed completely.
        let all = |part: NodeId| {
            let mut open = vec![context.rootfs.node(part)];
            while let Some(node) = open.pop() {
                let gone = node.kind() != NodeKind::Directory
                    && self.keep.fate(node.id()) == FileDisposition::Gone
                    && self.steps.origin(node) == Some(at);
                if gone {
                    return false;
                }
                open.extend(node.children());
            }
            true
        };
        if !parts.iter().all(|part| all(*part)) {
            return None;
        }
        let start = source.text.trim_start_matches("./").trim_end_matches('/');
        let start = if start == "." || start.is_empty() { String::new() } else { format!("{start}/") };
        let mut flags: Vec<String> =
            instruction.flags.iter().map(|flag| self.stage.file.slice(&flag.span).to_owned()).collect();
        let owner = self.chown(at, folder.as_bytes()).filter(|_| takes_owner(instruction)).cloned();
        if let Some(owner) = owner {
            self.users(at);
            flags.push(format!("--chown={}", owner.spec));
        }
        let flag: String = flags.into_iter().flat_map(|flag| [flag, " ".to_owned()]).collect();
        let copy = self.keyword("COPY");
        let mut files = Vec::new();
        let mut texts = Vec::new();
        for part in parts {
            let node = context.rootfs.node(part);
            let name = word(node.name())?;
            if node.kind() == NodeKind::Directory {
                texts.push(format!("{copy} {flag}{start}{name} {}/{name}", folder.trim_end_matches('/')));
            } else {
                files.push(format!("{start}{name}"));
            }
        }
        if !files.is_empty() {
            texts.push(format!("{copy} {flag}{} {}/", files.join(" "), folder.trim_end_matches('/')));
        }
        Some(texts)
    }
}

/// Whether a file is a package list for an installer.
pub(super) fn is_list_of_packages(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"environment.yml",
        b"environment.yaml",
        b"Pipfile",
        b"Pipfile.lock",
        b"poetry.lock",
        b"uv.lock",
        b"package-lock.json",
        b"yarn.lock",
        b"pnpm-lock.yaml",
        b"pdm.lock",
    ];
    NAMES.contains(&name)
        || (name.starts_with(b"requirements") || name.starts_with(b"constraints")) && name.ends_with(b".txt")
}
