//! Divides the build stage, so that a code change does not copy the dependencies again.

use super::super::roots::{MOST_PATHS, Root};
use super::super::state::source_of;
use super::super::steps::Kind;
use super::super::words::variables;
use super::context::is_list_of_packages;
use super::{Division, Lines};
use crate::cuda::links::file_name;
use crate::formats::dockerfile::Keyword;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Folders, and files by folder.
pub(super) type Later = Vec<(NodeId, Vec<NodeId>)>;

impl Lines<'_, '_, '_, '_, '_> {
    /// Divides the build stage where a folder receives dependencies before the first code and results after it.
    pub(super) fn divide(&mut self) {
        // npm removes packages for development from the folder that the build uses.
        if !self.pruned.is_empty() {
            return;
        }
        // Not for a small folder beside a large one.
        let most = self.roots.list.iter().map(|root| root.bytes).max().unwrap_or_default();
        let is_large = |root: &&Root| root.bytes.saturating_mul(4) >= most;
        let candidates = self.roots.list.iter().filter(|root| root.files.is_empty() && root.steps.len() > 1);
        let candidates = candidates.filter(is_large);
        let Some(root) = candidates.max_by_key(|root| root.bytes) else { return };
        let (Some(first), Some(last)) = (root.steps.first(), root.steps.last()) else { return };
        let brings_code = |at: &usize| {
            let step = &self.steps.list[*at];
            let instruction = self.stage.file.instructions.get(step.place);
            let sources = instruction.map(|one| one.words.as_slice()).and_then(|words| words.split_last());
            step.kind == Kind::Context
                && sources.is_some_and(|(_, sources)| {
                    !sources.iter().all(|source| is_list_of_packages(file_name(source.text.as_bytes())))
                })
        };
        let Some(code) = (*first..*last).find(brings_code) else { return };
        let Some(step) = root.steps.range(..code).next_back().copied() else { return };
        // A stage that starts from another one does not inherit its arguments.
        let declared = self.steps.list[..=step].iter().filter(|one| one.keyword == Keyword::Arg);
        let words =
            declared.filter_map(|one| self.stage.file.instructions.get(one.place)).flat_map(|one| &one.words);
        let names: Vec<&str> = words.map(|word| word.text.split('=').next().unwrap_or_default()).collect();
        let mut texts = self.steps.list[step + 1..=self.last].iter().map(|one| self.stage.text(one.place));
        if texts.any(|text| variables(text).any(|name| names.contains(&name))) {
            return;
        }
        if self.removes_later(root.folder, step) {
            return;
        }
        let Some((later, compiled)) = self.later(root.folder, step) else { return };
        let free = |names: &[&str]| {
            let is_free = |name: &&&str| !self.stage.names.contains(**name) && **name != self.build;
            names.iter().find(is_free).map(|name| (*name).to_owned())
        };
        let Some(name) = free(&["deps", "dependencies", "packages"]) else { return };
        let above = [&self.keep.context.rootfs.node(root.folder).path()[..], b"/"].concat();
        let is_inside = |(path, _): &(String, u64)| path.as_bytes().starts_with(&above);
        let (inside, outside): (Vec<_>, Vec<_>) = self.removed.iter().cloned().partition(is_inside);
        // One command cannot remove the files of both parts.
        let is_of_first = |(path, _): &(String, u64)| {
            let node = self.keep.context.paths.lookup(path.as_bytes());
            node.is_some_and(|node| !self.below(self.keep.context.rootfs.node(node), step).1)
        };
        if !inside.iter().all(is_of_first) {
            return;
        }
        let without = match inside.as_slice() {
            [] => None,
            // The build stage may need them: it starts from the stage that still has them.
            _ => match free(&["runtime-deps", "runtime-dependencies", "runtime-packages"]) {
                Some(name) => Some((name, inside)),
                None => return,
            },
        };
        self.removed = outside;
        self.division = Some(Division { step, name, without, folder: root.folder, later, compiled });
    }

    /// Whether everything below a folder, or a file itself, is from steps after another one, and whether anything is.
    fn below(&self, top: Node<'_>, step: usize) -> (bool, bool) {
        let (mut all, mut any) = (true, false);
        let mut open = vec![top];
        while let Some(node) = open.pop() {
            if node.kind() == NodeKind::Directory {
                open.extend(node.children());
            } else if self.steps.origin(node).is_some_and(|origin| origin > step) {
                any = true;
            } else {
                all = false;
            }
        }
        (all, any)
    }

    /// Whether a later step removes something that a folder has after a step: a copy of the folder as it is then would
    /// bring it back, such as packages that `npm prune` removed.
    fn removes_later(&self, folder: NodeId, step: usize) -> bool {
        let context = self.keep.context;
        let above = [&context.rootfs.node(folder).path()[..], b"/"].concat();
        let is_before = |layer: u16| self.steps.of_layer(layer).is_none_or(|of| of <= step);
        context.rootfs.hidden().iter().any(|hidden| {
            if !is_before(hidden.layer) || is_before(hidden.by) {
                return false;
            }
            let path = context.rootfs.layer(hidden.layer).path(hidden.entry);
            path.starts_with(&above) && context.paths.entry_at(&path).is_none()
        })
    }

    /// The content that later steps add to a folder: folders of their own, and files by folder, and compiled modules of
    /// Python, which are not listed; `None` when the others are too many.
    fn later(&self, folder: NodeId, step: usize) -> Option<(Later, Vec<NodeId>)> {
        let context = self.keep.context;
        let mut compiled = Vec::new();
        let is_compiled = |node: Node<'_>| {
            let path = node.path();
            path.ends_with(b".pyc")
                && source_of(&path).is_some_and(|source| context.paths.lookup(&source).is_some())
        };
        let is_later = |node: Node<'_>| self.steps.origin(node).is_some_and(|origin| origin > step);
        let mut found: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        let mut paths = 0;
        let mut open = vec![context.rootfs.node(folder)];
        while let Some(node) = open.pop() {
            let mut files = Vec::new();
            for child in node.children() {
                if child.kind() != NodeKind::Directory {
                    match is_later(child) {
                        true if is_compiled(child) => compiled.push(child.id()),
                        true => files.push(child.id()),
                        false => {}
                    }
                    continue;
                }
                if child.name() == b"__pycache__" {
                    open.push(child);
                    continue;
                }
                match self.below(child, step) {
                    (true, true) => {
                        found.push((child.id(), Vec::new()));
                        paths += 1;
                    }
                    (false, true) => open.push(child),
                    _ => {}
                }
            }
            paths += files.len();
            if !files.is_empty() {
                files.sort_unstable();
                found.push((node.id(), files));
            }
            if paths > MOST_PATHS {
                return None;
            }
        }
        found.sort_unstable();
        (!found.is_empty()).then_some((found, compiled))
    }
}
