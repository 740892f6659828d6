//! Programs of system packages that repeated instructions call, such as curl: a smaller base image may lack them.

use std::collections::BTreeSet;

use super::context::SplitContext;
use super::lines::configures;
use super::packages::PackageSelection;
use super::shell::{INSTALLERS, Work, package_name, package_words};
use super::sources::is_within;
use super::steps::{Kind, Steps};
use crate::cuda::links::SHELLS;
use crate::formats::dockerfile::{ShellCommand, Span, Word, script_commands};
use crate::formats::string_references::is_wrapper;
use crate::rewrite::tidy::Call;
use crate::rootfs::{NodeId, NodeKind};

/// What instructions of the new image call.
#[derive(Default)]
pub(super) struct Tools {
    /// System packages, by their indexes in the inventory.
    pub(super) packages: BTreeSet<usize>,
    /// Programs of the current base image that are of no package, such as Python in its own image.
    pub(super) files: BTreeSet<NodeId>,
}

/// What must be there before the instruction that calls them. With
/// `copies`, the final stage repeats only instructions that set it up, and copies the results of the others.
pub(super) fn of_instructions(
    context: &SplitContext<'_>,
    steps: &Steps<'_, '_>,
    asked: &PackageSelection,
    copies: bool,
) -> Tools {
    let mut found = Tools::default();
    let mut installed = BTreeSet::new();
    for (at, step) in steps.list.iter().enumerate() {
        let Kind::Run(works) = &step.kind else { continue };
        let Some(run) = steps.run(at) else { continue };
        let last = works.iter().rposition(|work| *work == Work::Install).unwrap_or_default();
        let repeated = if !copies || steps.is_whole(at) || !step.makes() {
            works.len()
        } else if step.installs() && sets_up_sources(context, steps, at) {
            last
        } else {
            0
        };
        if repeated == works.len() && step.layers.iter().any(|layer| context.holds_clones(*layer)) {
            let git = context.by_name.get("git").copied();
            found.packages.extend(git.filter(|package| !installed.contains(package)));
        }
        // What a repeated command or assignment substitutes.
        let settings: Vec<&Span> = (run.commands.iter().zip(works))
            .filter(|(command, work)| **work == Work::Configure && configures(command))
            .map(|(command, _)| &command.span)
            .collect();
        let assignments = run.commands.iter().filter(|command| Call::of(command).is_none());
        let assignments = assignments.map(|command| &command.span).filter(|_| !settings.is_empty());
        let substituting: Vec<&Span> = settings.iter().copied().chain(assignments).collect();
        let is_substituted = |command: &ShellCommand| {
            let at = &command.span;
            substituting.iter().any(|span| **span != *at && span.start <= at.start && at.end <= span.end)
        };
        for (place, (command, work)) in run.commands.iter().zip(works).enumerate() {
            let Some(call) = Call::of(command) else { continue };
            if *work == Work::Install {
                let asked_here = package_words(&call).into_iter().map(|word| package_name(&word.text));
                let stay = asked_here.filter(|name| !asked.dropped.contains(*name));
                let places: Vec<usize> = stay.filter_map(|name| context.by_name.get(name).copied()).collect();
                installed.extend(context.with_dependencies(places));
            } else if place < repeated || is_substituted(command) || call.program == "setcap" {
                for node in called_with_texts(context, &call) {
                    match context.system_owner(node) {
                        Some(package) if !installed.contains(&package) => _ = found.packages.insert(package),
                        None if !context.is_users(context.rootfs.node(node)) => _ = found.files.insert(node),
                        _ => {}
                    }
                }
            }
        }
        if steps.is_whole(at) || !copies {
            let packages = context.by_name.values();
            installed.extend(
                packages
                    .filter(|place| step.layers.contains(&context.input.inventory.packages[**place].layer)),
            );
        }
    }
    found
}

/// The programs that a command runs, and those of the texts that it gives to a shell.
fn called_with_texts(context: &SplitContext<'_>, call: &Call<'_>) -> BTreeSet<NodeId> {
    // Every base image has its installer.
    if INSTALLERS.contains(&call.program) {
        return BTreeSet::new();
    }
    let mut found = called(context, call);
    let is_started = is_wrapper(call.program.as_bytes());
    if is_started || SHELLS.contains(&call.program.as_bytes()) {
        // `bash -c "curl … | gpg …"`, `timeout 60 curl …`
        let words = call.words.iter().enumerate();
        let texts = words.filter(|(_, word)| word.text.contains(char::is_whitespace));
        let mut commands: Vec<ShellCommand> =
            texts.flat_map(|(_, word)| script_commands(&word.text)).collect();
        let is_program = |word: &Word| !word.text.starts_with('-') && context.program(&word.text).is_some();
        if let Some(at) = call.words.iter().position(is_program).filter(|_| is_started) {
            commands.extend(script_commands(
                &call.words[at..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
            ));
        }
        for call in commands.iter().filter_map(Call::of).filter(|call| !INSTALLERS.contains(&call.program)) {
            found.extend(called(context, &call));
        }
    }
    found
}

/// The programs that a command runs.
fn called(context: &SplitContext<'_>, call: &Call<'_>) -> BTreeSet<NodeId> {
    let has = |part: &str| call.words.iter().any(|word| word.text.contains(part));
    let has_option = |letter: char| {
        let mut words = call.words.iter().enumerate().map(|(at, word)| (at, word.text.as_str()));
        words.any(|(at, word)| {
            (at == 0 || word.starts_with('-'))
                && !word.starts_with("--")
                && !word.contains('/')
                && word.contains(letter)
        })
    };
    // What a program starts itself.
    let further: &[&str] = match call.program {
        "apt-key" => &["gpg"],
        "gpg" if has("--recv-key") || has("--keyserver") => &["dirmngr"],
        "pip" | "uv" if has("git+") => &["git"],
        "tar" if has(".xz") || has_option('J') => &["xz"],
        "tar" if has(".bz2") || has_option('j') => &["bzip2"],
        "tar" if has(".zst") => &["zstd"],
        _ => &[],
    };
    let programs = std::iter::once(call.path).chain(further.iter().copied());
    let paths = programs.filter_map(|program| context.program(program));
    let nodes = paths.flat_map(|path| [context.paths.entry_at(&path), context.paths.lookup(&path)]);
    nodes.flatten().collect()
}

/// Whether a step sets up a package repository: it adds files to folders for repositories and keys.
pub(super) fn sets_up_sources(context: &SplitContext<'_>, steps: &Steps<'_, '_>, at: usize) -> bool {
    const FOLDERS: [&[u8]; 5] =
        [b"/etc/apt", b"/usr/share/keyrings", b"/etc/yum.repos.d", b"/etc/pki/rpm-gpg", b"/etc/apk"];
    let mut files = context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    files.any(|node| {
        steps.origin(node) == Some(at)
            && context.system_owner(node.id()).is_none()
            && FOLDERS.iter().any(|folder| is_within(&node.path(), folder))
    })
}
