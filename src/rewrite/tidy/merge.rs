//! Merges `RUN`s that shadow files of the previous one into one layer.

use super::apt::{HARMLESS, Lists, reads};
use super::call::{Call, is_chain};
use super::context::{Kind, Run, TidyContext, Waste};
use super::style;
use super::work::{Work, sum};
use crate::formats::dockerfile::{PieceKind, ShellCommand};
use crate::rewrite::value::Applicability;

/// Smallest saving for a merge when the second `RUN` does more than undo. Every `RUN` that installs rewrites package
/// databases and the loader cache.
const LEAST_BYTES: u64 = 1 << 20;

/// `RUN`s to merge.
struct Group<'a> {
    last: &'a Run,
    head: usize,
    layers: Vec<u16>,
    leaks: Leaks,
    /// Whether more may follow.
    is_open: bool,
}

/// Merges adjacent `RUN`s.
pub(super) fn merge(work: &mut Work<'_>) {
    let context = work.context;
    let lists = Lists::of(context);
    let mut group: Option<Group<'_>> = None;
    for run in &context.runs {
        let layers = context.layers(run.place);
        if layers.is_empty() || work.removed.contains(&run.place) {
            continue;
        }
        if let Some(before) = &mut group
            && take(work, &lists, before, run, layers).is_some()
        {
            continue;
        }
        group = Some(Group {
            last: run,
            head: run.place,
            layers: layers.to_vec(),
            leaks: Leaks::of(&run.commands),
            is_open: run.may_edit,
        });
    }
}

/// Merges a `RUN` into those before it if that saves something and changes nothing.
fn take<'a>(
    work: &mut Work<'a>,
    lists: &Lists,
    group: &mut Group<'a>,
    run: &'a Run,
    layers: &[u16],
) -> Option<()> {
    let context = work.context;
    let undoes = run.may_edit && run.commands.iter().all(undoes);
    let hidden =
        |one: &Waste| one.by.is_some_and(|by| layers.contains(&by)) && (undoes || !one.kind.is_cache());
    let waste = work.left(&group.layers, hidden);
    let bytes = sum(&waste);
    let saves = bytes > 0 && (undoes || bytes >= LEAST_BYTES);
    let installs = !saves && installs(work, lists, group, run);
    if !saves && !installs {
        return None;
    }
    let (one, other) = (context.instruction(group.last.place)?, context.instruction(run.place)?);
    let flags = |place: usize| -> Vec<&str> {
        let flags = context.instruction(place).map(|one| one.flags.as_slice()).unwrap_or_default();
        flags.iter().map(|flag| context.file.slice(&flag.span)).collect()
    };
    let is_plain = one.heredocs.is_empty() && other.heredocs.is_empty() && group.is_open && run.may_edit;
    let between = context.file.instructions.get(group.last.place + 1..run.place)?;
    let is_near = context.stage(group.head) == context.stage(run.place)
        && between.iter().all(|one| HARMLESS.contains(&one.keyword));
    if !is_plain
        || !is_near
        || flags(group.head) != flags(run.place)
        || !is_chain(&run.commands)
        || !group.leaks.spare(&run.commands)
    {
        return None;
    }
    let (at, _) = style::end(context, group.last)?;
    let first = run.commands.first()?;
    let joint = style::joint(context, group.last, false);
    let (line, rest) = joint.split_at(joint.find('\n')? + 1);
    let with = if between.is_empty() {
        format!("{line}{}{rest}", comments(context, at, first.span.start, rest))
    } else {
        // Instructions between them move before both: they do not affect them.
        let gap = context.whole(group.last.place)?.end..other.span.start;
        let moved = context.file.slice(&gap).to_owned();
        let head = context.instruction(group.head)?.span.start;
        work.edit(
            head..head,
            moved,
            "Moved up, so that the RUN instructions around it can be merged.",
            Applicability::Review,
            None,
        );
        joint
    };
    let (reason, bytes) = if installs {
        let reason = "Merged: this RUN installs from the package lists of the previous one, which then are in no layer.";
        (reason.to_owned(), None)
    } else {
        let line = context.line(run.place);
        let reason = format!(
            "Merged: the RUN of old line {line} deletes or overwrites files of the previous one, which then are in no layer."
        );
        (reason, Some(work.take(&waste)))
    };
    work.edit(at..first.span.start, with, reason, Applicability::Review, bytes);
    work.assume("Merged RUN commands behave the same in one shell.");
    work.merged.insert(run.place, group.head);
    // After a strict list `&&` applies to the next command only.
    group.is_open = !group.last.is_strict;
    group.last = run;
    group.layers.extend(layers);
    group.leaks = group.leaks.and(Leaks::of(&run.commands));
    Some(())
}

/// Whether a `RUN` installs from lists in the layers of those before it, and no other one prevents their removal after
/// the merge.
fn installs(work: &Work<'_>, lists: &Lists, group: &Group<'_>, run: &Run) -> bool {
    let left = work.left(&group.layers, |one| one.kind == Kind::AptLists && one.bytes > 0);
    !left.is_empty() && reads(run) && lists.are_read_nearby(work.context, group.last.place)
}

/// Comments between two places, as lines between the joined commands.
fn comments(context: &TidyContext<'_>, from: usize, to: usize, rest: &str) -> String {
    let indentation: String = rest.chars().take_while(|character| character.is_whitespace()).collect();
    let pieces = &context.file.pieces;
    let first = pieces.partition_point(|piece| piece.span.start < from);
    let between = pieces.iter().skip(first).take_while(|piece| piece.span.end <= to);
    let comments = between.filter(|piece| piece.kind == PieceKind::Comment);
    let lines =
        comments.flat_map(|piece| [indentation.as_str(), context.file.slice(&piece.span).trim_start()]);
    lines.collect()
}

/// Whether a command only removes or changes existing files.
fn undoes(command: &ShellCommand) -> bool {
    let Some(call) = Call::of(command) else { return false };
    let one_of = |names: &[&str]| names.iter().any(|name| call.subcommand(name).is_some());
    match call.program {
        "rm" | "rmdir" | "chown" | "chmod" | "chgrp" | "touch" | "strip" | "true" => true,
        "find" => call.has("-delete") || call.has("rm"),
        "apt-get" | "apt" | "aptitude" => {
            one_of(&["clean", "autoclean", "remove", "purge", "autoremove", "autopurge"])
        }
        "dnf" | "dnf5" | "microdnf" | "yum" | "zypper" => one_of(&["clean", "remove", "autoremove", "erase"]),
        "apk" => one_of(&["del"]),
        "conda" | "mamba" | "micromamba" => one_of(&["clean", "remove"]),
        "pip" => one_of(&["cache", "uninstall"]),
        "npm" | "yarn" => one_of(&["cache"]),
        _ => false,
    }
}

/// State that commands leave to later ones in the same shell.
#[derive(Clone, Copy, Debug, Default)]
struct Leaks {
    /// A changed working directory.
    folder: bool,
    /// Unset variables are errors.
    unset: bool,
    /// Something else.
    other: bool,
}

impl Leaks {
    fn of(commands: &[ShellCommand]) -> Self {
        let mut leaks = Self::default();
        for command in commands {
            let Some(call) = Call::of(command) else {
                leaks.other = true;
                continue;
            };
            match call.program {
                "cd" | "pushd" | "popd" => leaks.folder = true,
                "export" | "unset" | "source" | "." | "eval" | "umask" | "ulimit" | "alias" | "shopt"
                | "trap" | "exec" | "exit" | "return" | "read" | "local" | "declare" => leaks.other = true,
                "set" => {
                    let mut words = call.words.iter().map(|word| word.text.as_str());
                    let known = |word: &str| {
                        matches!(word, "pipefail" | "errexit" | "xtrace") || is_options(word, "euxo")
                    };
                    leaks.unset |= call
                        .words
                        .iter()
                        .any(|word| is_options(&word.text, "euxo") && word.text.contains('u'));
                    leaks.other |= !words.all(known);
                }
                _ => {}
            }
        }
        leaks
    }

    fn and(self, other: Self) -> Self {
        Self {
            folder: self.folder || other.folder,
            unset: self.unset || other.unset,
            other: self.other || other.other,
        }
    }

    /// Whether these commands are not affected.
    fn spare(self, commands: &[ShellCommand]) -> bool {
        let spared = |command: &ShellCommand| {
            let reads_variables = command.words.iter().any(|word| word.text.contains('$'));
            let cares = self.unset && reads_variables || self.folder && reads_folder(command);
            !self.other && !cares
        };
        commands.iter().all(spared)
    }
}

fn is_options(word: &str, letters: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|letter| letters.contains(letter)))
}

/// Whether a command may depend on its working directory.
fn reads_folder(command: &ShellCommand) -> bool {
    const OF_PATHS: [&str; 8] = ["rm", "rmdir", "chown", "chmod", "touch", "mkdir", "ln", "strip"];
    const NOWHERE: [&str; 10] =
        ["apt-get", "apt", "dnf", "microdnf", "yum", "zypper", "conda", "ldconfig", "true", "apk"];
    let Some(call) = Call::of(command) else { return true };
    let is_fixed = |text: &str| text.starts_with(['/', '-']);
    if command.writes.iter().any(|path| !path.starts_with('/')) || call.path.contains('/') {
        return true;
    }
    match call.program {
        // The first word is owner or mode.
        "chown" | "chmod" => call.words.iter().filter(|word| !is_fixed(&word.text)).count() > 1,
        program if OF_PATHS.contains(&program) => !call.words.iter().all(|word| is_fixed(&word.text)),
        program => !NOWHERE.contains(&program),
    }
}
