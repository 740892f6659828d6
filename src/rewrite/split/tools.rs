//! Programs of system packages that repeated instructions call, such as curl: a smaller base image may lack them.

use std::collections::BTreeSet;

use super::context::SplitContext;
use super::lines::configures;
use super::packages::PackageSelection;
use super::shell::{INSTALLERS, Work, package_name, package_words};
use super::sources::is_within;
use super::steps::{Kind, Steps};
use crate::cuda::links::SHELLS;
use crate::formats::dockerfile::{ShellCommand, Word, script_commands};
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
        if repeated == works.len() && step.layers.iter().any(|layer| context.calls_git(*layer)) {
            let git = context.by_name.get("git").copied();
            found.packages.extend(git.filter(|package| !installed.contains(package)));
        }
        // Of an instruction that is not repeated, its settings are, with the variables that they use.
        let is_setting =
            |(command, work): (&ShellCommand, &Work)| *work == Work::Configure && configures(command);
        let has_settings = run.commands.iter().zip(works).any(is_setting);
        for (place, (command, work)) in run.commands.iter().zip(works).enumerate() {
            let call = Call::of(command);
            let is_repeated =
                place < repeated || is_setting((command, work)) || has_settings && call.is_none();
            if *work == Work::Install {
                let asked_here = call.iter().flat_map(package_words).map(|word| package_name(&word.text));
                let stay = asked_here.filter(|name| !asked.dropped.contains(*name));
                let places: Vec<usize> = stay.filter_map(|name| context.by_name.get(name).copied()).collect();
                installed.extend(context.with_dependencies(places));
            } else if is_repeated || call.is_some_and(|call| call.program == "setcap") {
                for node in programs(context, command, 0) {
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

/// The programs that a command runs, also in texts that it gives to a shell, behind a program that starts others, and in
/// what it substitutes: `V=$(curl …)`, `bash -c "curl … | gpg …"`, `timeout 60 curl …`.
fn programs(context: &SplitContext<'_>, command: &ShellCommand, depth: usize) -> BTreeSet<NodeId> {
    const DEPTH: usize = 4;
    let mut found = BTreeSet::new();
    let mut texts: Vec<String> = Vec::new();
    // Every base image has its installer.
    if let Some(call) = Call::of(command).filter(|call| !INSTALLERS.contains(&call.program)) {
        found.extend(called(context, &call));
        let name = call.program.as_bytes();
        if SHELLS.contains(&name) {
            let words = call.words.iter().map(|word| &word.text);
            texts.extend(words.filter(|text| text.contains(char::is_whitespace)).cloned());
        } else if is_wrapper(name) || call.with_sudo {
            let is_program =
                |word: &Word| !word.text.starts_with('-') && context.program(&word.text).is_some();
            if let Some(at) = call.words.iter().position(is_program)
                && depth < DEPTH
            {
                let words = call.words[at..].iter().map(|word| (*word).clone()).collect();
                found.extend(programs(context, &ShellCommand { words, ..command.clone() }, depth + 1));
            }
        }
    }
    for word in &command.words {
        texts.extend(substituted(&word.text).into_iter().map(str::to_owned));
    }
    if depth < DEPTH {
        for inner in texts.iter().flat_map(|text| script_commands(text)) {
            found.extend(programs(context, &inner, depth + 1));
        }
    }
    found
}

/// The texts in `$(…)` and between backticks, without those in them.
fn substituted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '`']) {
        let tail = &rest[at..];
        let (inner, after) = if let Some(inner) = tail.strip_prefix("$(") {
            let mut open = 1_usize;
            let end = inner.char_indices().find(|(_, one)| {
                match one {
                    '(' => open += 1,
                    ')' => open -= 1,
                    _ => {}
                }
                open == 0
            });
            let Some((end, _)) = end else { break };
            (&inner[..end], &inner[end + 1..])
        } else if let Some((inner, after)) = tail.strip_prefix('`').and_then(|tail| tail.split_once('`')) {
            (inner, after)
        } else {
            rest = &tail[1..];
            continue;
        };
        found.push(inner);
        rest = after;
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
