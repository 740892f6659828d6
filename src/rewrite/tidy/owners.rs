//! Moves owner and mode changes of a `RUN` into the `COPY` before it.

use std::collections::{BTreeMap, BTreeSet};

use super::apt::is_script;
use super::call::Call;
use super::context::{Run, TidyContext, Waste, is_within};
use super::style;
use super::work::Work;
use crate::formats::dockerfile::{Keyword, ShellCommand, Span, Word};
use crate::rewrite::value::Applicability;

/// Maximum `RUN`s checked: each needs paths of whole layers.
const RUNS: usize = 64;

/// Maximum commands of a `RUN` checked: each needs the paths of all changed files.
const COMMANDS: usize = 16;

/// A command that changes owners or modes.
struct Change<'a> {
    /// `chown` or `chmod`, which is also the name of the flag.
    name: &'static str,
    spec: &'a str,
    path: &'a str,
    /// The recursive option, with the white space after it.
    down: Option<Span>,
}

/// The replacement of a command: flags of `COPY`s, by instruction; and the option that it loses if it stays.
struct Plan {
    flags: BTreeMap<usize, String>,
    stays_without: Option<Span>,
}

/// Adds owners and modes to the `COPY`s, and removes the commands.
pub(super) fn give_to_copies(work: &mut Work<'_>) {
    let context = work.context;
    let mut by: BTreeMap<u16, Vec<&Waste>> = BTreeMap::new();
    for one in context.waste.iter().filter(|one| one.copy.is_some()) {
        by.entry(one.by.unwrap_or_default()).or_default().push(one);
    }
    let is_meant =
        |run: &&Run| run.may_edit && context.layers(run.place).iter().any(|layer| by.contains_key(layer));
    for run in context.runs.iter().filter(is_meant).take(RUNS) {
        let layers = context.layers(run.place);
        let copied: Vec<&Waste> =
            layers.iter().filter_map(|layer| by.get(layer)).flatten().copied().collect();
        give(work, run, &copied);
    }
}

fn give(work: &mut Work<'_>, run: &Run, copied: &[&Waste]) -> Option<()> {
    let context = work.context;
    let changes: Vec<(usize, Change<'_>)> =
        run.commands.iter().enumerate().filter_map(|(at, one)| Some((at, change(Call::of(one)?)?))).collect();
    if changes.len() > COMMANDS {
        return None;
    }
    let plans: BTreeMap<usize, Plan> = changes
        .iter()
        .filter_map(|(at, change)| Some((*at, plan(context, run, *at, change, copied)?)))
        .collect();
    let gone: Vec<usize> =
        plans.iter().filter(|(_, plan)| plan.stays_without.is_none()).map(|(at, _)| *at).collect();
    let spans = if gone.len() == run.commands.len() {
        vec![context.whole(run.place)?]
    } else {
        style::without(run, &gone)?
    };
    if plans.is_empty() {
        return None;
    }
    if gone.len() == run.commands.len() {
        work.removed.insert(run.place);
    }
    let why = format!("The RUN of old line {} copies these files to change", context.line(run.place));
    for plan in plans.values() {
        for (place, flag) in &plan.flags {
            let made = context.layers(*place);
            let waste: Vec<&Waste> = copied.iter().copied().filter(|one| made.contains(&one.layer)).collect();
            let waste: Vec<&Waste> =
                waste.into_iter().filter(|one| !work.gone.contains(&(one.layer, one.entry))).collect();
            let bytes = Some(work.take(&waste)).filter(|bytes| *bytes > 0);
            let what = if flag.contains("chown") { "their owner" } else { "their mode" };
            let reason = format!("{why} {what}: the {} can set it.", name_of(context, *place));
            work.edit(
                style::flag_place(context, *place)?,
                format!(" {flag}"),
                reason,
                Applicability::Review,
                bytes,
            );
        }
        if let Some(option) = &plan.stays_without {
            let reason = "The COPY sets it for the files; only the folder itself is left.";
            work.edit(option.clone(), "", reason, Applicability::Review, None);
        }
    }
    for span in spans {
        work.edit(span, "", "Done by the COPY.", Applicability::Review, None);
    }
    Some(())
}

fn name_of(context: &TidyContext<'_>, place: usize) -> &'static str {
    context.instruction(place).map_or("COPY", |one| one.keyword.as_str())
}

/// The replacement of a command, if all that it changes is from `COPY`s that can do the same.
fn plan(
    context: &TidyContext<'_>,
    run: &Run,
    at: usize,
    change: &Change<'_>,
    copied: &[&Waste],
) -> Option<Plan> {
    let before = run.commands.get(..at)?;
    let moves =
        before.iter().filter_map(Call::of).any(|call| matches!(call.program, "cd" | "pushd" | "popd"));
    if moves && !change.path.starts_with('/') {
        return None;
    }
    let path = context.absolute(run.place, change.path).filter(|path| path != "/")?;
    let changed: Vec<&Waste> = copied
        .iter()
        .copied()
        .filter(|one| is_within(&context.look.path(one.layer, one.entry), &path))
        .collect();
    let layers: BTreeSet<u16> = changed.iter().map(|one| one.layer).collect();
    let makers: BTreeSet<usize> = layers.iter().map(|layer| context.maker(*layer)).collect::<Option<_>>()?;
    let first = *makers.first()?;
    let layers: Vec<u16> = layers.into_iter().collect();
    let is_whole =
        makers.iter().all(|place| *place < run.place && takes_flag(context, *place, change, &path))
            && context.look.is_all_of(context.layers(run.place), &layers, &path);
    if !is_whole {
        return None;
    }
    let value = match change.name {
        "chown" => owner(context, change.spec, first, run, before)?,
        _ => mode(context, change, &changed)?,
    };
    let flag = format!("--{}={value}", change.name);
    let flags = makers.iter().map(|place| (*place, flag.clone())).collect();
    let stays_without = match change.down.clone() {
        Some(down) if !is_made_by(context, first, &path) => Some(down),
        _ => None,
    };
    Some(Plan { flags, stays_without })
}

/// Parses `chown -R user:group path` and `chmod 755 path`; other options and more paths are not supported.
fn change(call: Call<'_>) -> Option<Change<'_>> {
    let name = match call.program {
        "chown" => "chown",
        "chmod" => "chmod",
        _ => return None,
    };
    let options = call.words.iter().take_while(|word| word.text.starts_with('-')).count();
    let (options, words) = call.words.split_at_checked(options)?;
    let [spec, path] = words else { return None };
    let mut down = None;
    for (at, option) in options.iter().enumerate() {
        match option.text.as_str() {
            "-R" | "--recursive" => {
                let next = options.get(at + 1).unwrap_or(spec);
                down = Some(option.span.start..next.span.start);
            }
            "-v" | "-c" | "-f" => {}
            _ => return None,
        }
    }
    Some(Change { name, spec: &spec.text, path: &path.text, down })
}

/// Whether a `COPY` can set owner or mode of what it adds below `path`: it has no such flag, and adds nothing anywhere
/// else.
fn takes_flag(context: &TidyContext<'_>, place: usize, change: &Change<'_>, path: &str) -> bool {
    let Some(copy) = context.instruction(place) else { return false };
    let Some((target, sources)) = copy.words.split_last() else { return false };
    let is_copy = match copy.keyword {
        Keyword::Copy => true,
        // Unpacked files have owners of their own.
        Keyword::Add => sources.iter().all(is_plain_file),
        _ => false,
    };
    let has = copy.flags.iter().any(|flag| flag.name == change.name);
    let Some(folder) = context.absolute(place, &target.text) else { return false };
    let single = match sources {
        [source] if copy.heredocs.is_empty() => source.text.trim_end_matches('/').rsplit('/').next(),
        _ => None,
    };
    let names_file = single.is_some_and(|name| path == format!("{}/{name}", folder.trim_end_matches('/')));
    let names_target = folder == path;
    let names_above =
        change.down.is_some() && folder.rsplit_once('/').is_some_and(|(above, _)| above == path);
    is_copy && !has && (names_file || names_target || names_above)
}

fn is_plain_file(source: &Word) -> bool {
    const PACKED: [&str; 8] = [".tar", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".git", ".tbz2"];
    !source.text.contains(['$', '*', '?'])
        && !source.text.contains("://")
        && !PACKED.iter().any(|end| source.text.ends_with(end))
}

/// Whether the first `COPY` created the folder that the command names: then it sets the folder's owner too.
fn is_made_by(context: &TidyContext<'_>, first: usize, path: &str) -> bool {
    let Some(target) = context.instruction(first).and_then(|copy| copy.words.last()) else { return false };
    let layer = context.layers(first).iter().min().copied().unwrap_or_default();
    context.absolute(first, &target.text).as_deref() == Some(path) && !context.look.existed(path, layer)
}

/// The owner in the form of `COPY --chown`. `None` when that means something else, or the name may not exist yet.
fn owner(
    context: &TidyContext<'_>,
    spec: &str,
    first: usize,
    run: &Run,
    before: &[ShellCommand],
) -> Option<String> {
    let (user, group) = spec.split_once(':').unwrap_or((spec, "0"));
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    if !is_name(user) || !is_name(group) {
        return None;
    }
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let makes_users = |call: Call<'_>| {
        let known = ["useradd", "adduser", "groupadd", "addgroup", "usermod", "groupmod", "apt-get", "apt"];
        known.contains(&call.program) || is_script(&call)
    };
    let between = context.runs.iter().filter(|other| (first..run.place).contains(&other.place));
    let mut late = between.flat_map(|other| &other.commands).chain(before).filter_map(Call::of);
    let is_known = is_number(user) && is_number(group) || !late.any(makes_users);
    is_known.then(|| format!("{user}:{group}"))
}

/// The mode in the form of `COPY --chmod`: as written, else the common mode of all files afterwards.
fn mode(context: &TidyContext<'_>, change: &Change<'_>, changed: &[&Waste]) -> Option<String> {
    let is_octal =
        (3..=4).contains(&change.spec.len()) && change.spec.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if is_octal {
        return Some(change.spec.to_owned());
    }
    if change.down.is_some() {
        return None;
    }
    let mut modes = changed.iter().filter_map(|one| Some(context.look.mode(one.by?, one.copy?)));
    let mode = modes.next()?;
    modes.all(|other| other == mode).then(|| format!("{mode:o}"))
}
