//! Owners that a `RUN chown -R` sets for files of earlier instructions: in the new stage `COPY --chown` sets
//! them.

use std::collections::BTreeSet;

use super::keep::{FileDisposition, Keep};
use super::operands::{makes_folders, operands};
use super::roots::{MOST_PATHS, Roots};
use super::shell::Work;
use super::sources::is_within;
use super::steps::{Kind, Steps};
use crate::formats::dockerfile::{Instruction, Keyword};
use crate::rewrite::tidy::Call;
use crate::rootfs::{Node, NodeKind};

/// A recursive change of owner that `COPY --chown` can express.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    /// Its step.
    pub(super) step: usize,
    /// Its index among the commands of the `RUN`.
    pub(super) command: usize,
    /// User and group, in the form of `--chown`.
    pub(super) spec: String,
    /// The folder, absolute.
    pub(super) path: String,
    /// Folders at and below it that no `COPY` creates and that need the owner too.
    pub(super) folders: BTreeSet<String>,
}

impl Owner {
    /// Whether the owner is a name, which must exist before a `COPY` uses it.
    pub(super) fn is_named(&self) -> bool {
        !self.spec.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    }

    /// User and group separately.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.spec.split_once(':').unwrap_or((&self.spec, "0"))
    }
}

/// Owners that `COPY --chown` can set, in order: everything that the new stage has below their folders is
/// copied. All paths of a command, or none.
pub(super) fn owners(steps: &Steps<'_, '_>, keep: &Keep<'_, '_>, roots: &Roots) -> Vec<Owner> {
    let mut found = Vec::new();
    for (step, one) in steps.list.iter().enumerate() {
        let Kind::Run(works) = &one.kind else { continue };
        let Some(run) = steps.run(step).filter(|_| !steps.is_opaque(step)) else { continue };
        if !works.contains(&Work::Owner) {
            continue;
        }
        for ((command, shell), named) in run.commands.iter().enumerate().zip(operands(steps, step)) {
            let Some(call) = Call::of(shell).filter(|call| call.program == "chown") else { continue };
            let is_alone =
                super::runs::units(&run.commands).iter().any(|unit| *unit == (command..command + 1));
            let options = call.words.iter().take_while(|word| word.text.starts_with('-')).count();
            let recursive =
                call.words[..options].iter().any(|word| word.text == "-R" || word.text == "--recursive");
            let Some(spec) = call.words.get(options).filter(|_| recursive && is_alone) else { continue };
            let is_name = |name: &str| {
                !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
            };
            let (user, group) = spec.text.split_once(':').unwrap_or((&spec.text, "0"));
            let group = if group.is_empty() { user } else { group };
            if !is_name(user) || !is_name(group) {
                continue;
            }
            let given = named.list.iter().map(|operand| {
                let path = operand.path.clone().filter(|path| path != "/" && !operand.is_pattern)?;
                let spec = format!("{user}:{group}");
                let mut owner = Owner { step, command, spec, path, folders: BTreeSet::new() };
                is_given(&mut owner, steps, keep, roots).then_some(owner)
            });
            found.extend(given.collect::<Option<Vec<Owner>>>().unwrap_or_default());
        }
    }
    found
}

/// The final owner of a folder's content, if added by an instruction at `step`.
pub(super) fn of<'o>(owners: &'o [Owner], step: usize, folder: &[u8]) -> Option<&'o Owner> {
    let mut later = owners.iter().rev().filter(|owner| owner.step >= step);
    later.find(|owner| is_within(folder, owner.path.as_bytes()))
}

/// Whether an instruction can set the owner that a later one sets for its files.
pub(super) fn takes_owner(instruction: &Instruction) -> bool {
    const PACKED: [&str; 8] = [".tar", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".git", ".tbz2"];
    let unpacks = |text: &str| {
        text.contains(['$', '*', '?', '@'])
            || text.contains("://")
            || PACKED.iter().any(|end| text.ends_with(end))
    };
    let sources = instruction.words.split_last().map_or(&[][..], |(_, sources)| sources);
    // Unpacked files have the owners of the archive.
    !instruction.flags.iter().any(|flag| flag.name == "chown")
        && (instruction.keyword != Keyword::Add || !sources.iter().any(|source| unpacks(&source.text)))
}

/// Whether all files that the new stage has at and below the folder come from `COPY`s that can set the owner.
/// Records the folders that other instructions create.
fn is_given(owner: &mut Owner, steps: &Steps<'_, '_>, keep: &Keep<'_, '_>, roots: &Roots) -> bool {
    let context = keep.context;
    let Some(top) = context.paths.lookup(owner.path.as_bytes()) else { return true };
    let folder = owner.path.clone();
    let path_of = |id| context.rootfs.node(id).path();
    let copied: Vec<Vec<u8>> = (roots.list.iter().filter(|root| root.files.is_empty()))
        .map(|root| path_of(root.folder))
        .filter(|root| is_within(root, folder.as_bytes()))
        .collect();
    let is_copied = |node: Node<'_>, path: &[u8]| {
        copied.iter().any(|root| is_within(path, root))
            || roots.list.iter().any(|root| {
                root.files.contains(&node.id()) && is_within(&path_of(root.folder), folder.as_bytes())
            })
    };
    let is_flagged = |node: Node<'_>, path: &[u8]| {
        if keep.fate(node.id()) != FileDisposition::Copied {
            return false;
        }
        let Some(step) = steps.origin(node) else { return is_copied(node, path) };
        let Some(one) = steps.list.get(step).filter(|_| step <= owner.step) else { return false };
        let instruction = steps.tidying.instruction(one.place);
        match one.kind {
            Kind::Context | Kind::FromStage => {
                let target = instruction.filter(|one| takes_owner(one)).and_then(|one| one.words.last());
                let target = target.and_then(|word| steps.tidying.absolute(one.place, &word.text));
                target.is_some_and(|target| is_within(target.as_bytes(), folder.as_bytes()))
            }
            _ => is_copied(node, path),
        }
    };
    let mut open = vec![context.rootfs.node(top)];
    let mut has_content = false;
    while let Some(node) = open.pop() {
        open.extend(node.children());
        if node.kind() != NodeKind::File || keep.fate(node.id()) == FileDisposition::Gone {
            continue;
        }
        has_content = true;
        if !is_flagged(node, &node.path()) {
            return false;
        }
    }
    let Some(made) = made_folders(owner, steps) else { return false };
    let is_of_stage = |path: &String| {
        let node = context.paths.lookup(path.as_bytes()).map(|id| context.rootfs.node(id));
        let node = node.filter(|node| node.kind() == NodeKind::Directory);
        node.is_some_and(|node| keep.is_of_stage(node))
            && !copied.iter().any(|root| is_within(path.as_bytes(), root))
    };
    owner.folders = made.into_iter().filter(is_of_stage).collect();
    let is_folder = context.rootfs.node(top).kind() == NodeKind::Directory;
    // An empty one may be of an installation: no instruction names it.
    if is_folder && (owner.is_named() && has_content || !has_content && is_of_stage(&owner.path)) {
        owner.folders.insert(owner.path.clone());
    }
    owner.folders.len() <= MOST_PATHS
}

/// Folders at and below that of an owner that instructions up to its step create; `None` if unknown.
fn made_folders(owner: &Owner, steps: &Steps<'_, '_>) -> Option<BTreeSet<String>> {
    let mut made = BTreeSet::new();
    let mut add = |path: &str| {
        let mut path = path;
        while is_within(path.as_bytes(), owner.path.as_bytes()) {
            made.insert(path.to_owned());
            path = path.rsplit_once('/').map_or("", |(above, _)| above);
        }
    };
    for (step, one) in steps.list.iter().enumerate().take(owner.step + 1) {
        if one.keyword == Keyword::WorkDir {
            steps.tidying.workdir(one.place + 1).iter().for_each(|path| add(path));
        }
        let Some(run) = steps.run(step) else { continue };
        for (command, named) in run.commands.iter().zip(operands(steps, step)) {
            if !Call::of(command).is_some_and(|call| makes_folders(&call)) {
                continue;
            }
            for operand in named.list {
                match operand.path {
                    Some(path) => add(&path),
                    None if !one.makes() => return None,
                    None => {}
                }
            }
        }
    }
    Some(made)
}
