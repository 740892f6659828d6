//! Package manager caches in layers: disabled, or removed in the `RUN` that fills them.

use super::apt::Lists;
use super::call::Call;
use super::context::{Kind, Run};
use super::style;
use super::work::{Work, sum};
use crate::rewrite::value::Applicability;

/// A cache that a command at the end of the `RUN` removes.
struct Removed {
    kind: Kind,
    /// Programs that fill it.
    programs: &'static [&'static str],
    /// The command that removes it; `*` at its beginning is the program.
    command: &'static str,
    why: &'static str,
}

/// In the order in which the commands are added.
const REMOVED: [Removed; 8] = [
    Removed {
        kind: Kind::AptArchives,
        programs: &["apt-get", "apt", "aptitude"],
        command: "apt-get clean",
        why: "apt leaves downloaded archives in the layer; only installations read them.",
    },
    Removed {
        kind: Kind::AptLists,
        programs: &["apt-get", "apt", "aptitude"],
        command: "rm -rf /var/lib/apt/lists/*",
        why: "apt package lists stay in the layer; only installations read them, and they fetch them again.",
    },
    Removed {
        kind: Kind::Dnf,
        programs: &["dnf", "dnf5", "microdnf", "yum"],
        command: "* clean all",
        why: "Downloaded lists and packages stay in the layer; only installations read them.",
    },
    Removed {
        kind: Kind::Zypper,
        programs: &["zypper"],
        command: "zypper clean --all",
        why: "Downloaded lists and packages stay in the layer; only installations read them.",
    },
    Removed {
        kind: Kind::Apk,
        programs: &["apk"],
        command: "rm -rf /var/cache/apk/*",
        why: "apk's index stays in the layer; only installations read it.",
    },
    Removed {
        kind: Kind::Conda,
        programs: &["conda", "mamba", "micromamba"],
        command: "* clean -afy",
        why: "conda leaves downloaded packages in the layer; only installations read them.",
    },
    Removed {
        kind: Kind::Npm,
        programs: &["npm"],
        command: "npm cache clean --force",
        why: "npm leaves its download cache in the layer; only installations read it.",
    },
    Removed {
        kind: Kind::Yarn,
        programs: &["yarn"],
        command: "yarn cache clean",
        why: "yarn leaves its download cache in the layer; only installations read it.",
    },
];

/// Adds commands to `RUN`s that leave a cache.
pub(super) fn remove(work: &mut Work<'_>) {
    let context = work.context;
    let lists = Lists::of(context);
    let shared = context.shared_layer();
    let mut of_apt = 0_u64;
    for run in context.runs.iter().filter(|run| run.may_edit) {
        let mut own = context.results(run.place);
        // Of a layer of several instructions, the last one that calls a program removes what all leave.
        let is_shared = own.is_empty() && shared.is_some() && context.is_of_last_stage(run.place);
        own.extend(shared.filter(|_| is_shared));
        let layers = &own;
        if layers.is_empty() || work.removed.contains(&run.place) {
            continue;
        }
        let head = work.merged.get(&run.place).copied();
        if head.is_none() && work.left(layers, |one| one.kind.is_cache()).is_empty() {
            continue;
        }
        let Some((at, joint)) = style::end(context, run) else { continue };
        for cache in &REMOVED {
            let calls: Vec<_> = run.commands.iter().filter_map(Call::of).collect();
            let Some(call) = calls.iter().find(|call| cache.programs.contains(&call.program)) else {
                continue;
            };
            if cache.kind == Kind::AptLists && lists.are_read_after(context, run.place) {
                continue;
            }
            let calls_it = |later: &&Run| {
                let mut calls = later.commands.iter().filter_map(Call::of);
                later.place > run.place
                    && later.may_edit
                    && calls.any(|call| cache.programs.contains(&call.program))
            };
            if is_shared && context.runs.iter().any(|later| calls_it(&later)) {
                continue;
            }
            // In merged `RUN`s the last one that calls the program removes what all leave.
            let merged = work.merged.iter().filter(|(_, other)| **other == head.unwrap_or(run.place));
            let group = || merged.clone().map(|(place, _)| *place).chain(head);
            let cleans_later = |place: usize| {
                context.run(place).is_some_and(|later| {
                    later.may_edit
                        && later
                            .commands
                            .iter()
                            .filter_map(Call::of)
                            .any(|call| cache.programs.contains(&call.program))
                        && style::end(context, later).is_some()
                        && !mounts(work, later, cache.kind)
                        && !(cache.kind == Kind::AptLists && lists.are_read_after(context, place))
                })
            };
            if group().any(|place| place > run.place && cleans_later(place)) {
                continue;
            }
            let before = group().filter(|place| *place < run.place);
            let layers: Vec<u16> =
                before.flat_map(|place| context.layers(place)).chain(layers).copied().collect();
            let waste = work.left(&layers, |one| one.kind == cache.kind);
            let is_kept = mounts(work, run, cache.kind) || context.look.keeps(&layers, &[cache.kind]);
            if sum(&waste) == 0 || is_kept {
                continue;
            }
            let mut applicability = if head.is_some() { Applicability::Review } else { Applicability::Safe };
            if cache.kind == Kind::AptLists && lists.may_be_read_after(context, run.place) {
                applicability = Applicability::Review;
                work.assume("Every later RUN that installs with apt-get fetches the package lists itself.");
            }
            let sudo = if call.with_sudo { "sudo " } else { "" };
            let command = match cache.command.strip_prefix('*') {
                Some(rest) => format!("{}{rest}", call.program),
                None => cache.command.to_owned(),
            };
            let bytes = work.take(&waste);
            if matches!(cache.kind, Kind::AptLists | Kind::AptArchives) {
                of_apt = of_apt.saturating_add(bytes);
            }
            work.edit(at..at, format!("{joint}{sudo}{command}"), cache.why, applicability, Some(bytes));
        }
    }
    if of_apt > 0 && context.is_buildkit() {
        let mount = "--mount=type=cache,target=/var/cache/apt,sharing=locked".to_owned();
        let reason = "With this flag a RUN that installs with apt-get keeps its downloads for the next build, outside \
                      the image. Debian and Ubuntu images delete them unless /etc/apt/apt.conf.d/docker-clean is \
                      removed.";
        work.hint(vec![mount], reason.to_owned(), None);
    }
}

/// Whether a `RUN` already keeps a cache outside the image: then the files in the layer have another origin.
fn mounts(work: &Work<'_>, run: &Run, kind: Kind) -> bool {
    let folder = match kind {
        Kind::AptLists => "/var/lib/apt",
        Kind::AptArchives => "/var/cache/apt",
        Kind::Dnf => "/var/cache/",
        Kind::Zypper => "/var/cache/zypp",
        Kind::Apk => "/var/cache/apk",
        Kind::Conda => "/pkgs",
        Kind::Npm => "/.npm",
        Kind::Yarn => "/.cache/yarn",
        Kind::Uv => "/.cache/uv",
        Kind::Poetry => "/.cache/pypoetry",
        _ => "/.cache/pip",
    };
    let instruction = work.context.instruction(run.place);
    let mut values =
        instruction.into_iter().flat_map(|one| &one.flags).filter_map(|flag| flag.value.as_deref());
    values.any(|value| value.contains(folder))
}

/// An option that disables an installer's cache.
struct Kept {
    kinds: &'static [Kind],
    program: &'static str,
    subcommands: &'static [&'static str],
    option: &'static str,
    /// The cache folder for a `BuildKit` cache mount.
    folder: &'static str,
    why: &'static str,
}

const KEPT: [Kept; 3] = [
    Kept {
        kinds: &[Kind::Poetry],
        program: "poetry",
        subcommands: &["install", "add", "sync"],
        option: "--no-cache",
        folder: "/root/.cache/pypoetry",
        why: "poetry leaves downloaded archives in its cache; only installations read them.",
    },
    Kept {
        kinds: &[Kind::PipOfRoot, Kind::Pip],
        program: "pip",
        subcommands: &["install", "download", "wheel"],
        option: "--no-cache-dir",
        folder: "/root/.cache/pip",
        why: "pip leaves what it downloads and builds in its cache; only installations read it.",
    },
    Kept {
        kinds: &[Kind::Uv],
        program: "uv",
        subcommands: &["pip", "sync", "add", "tool"],
        option: "--no-cache",
        folder: "/root/.cache/uv",
        why: "uv leaves what it downloads and builds in its cache; only installations read it.",
    },
];

/// Disables installer caches, or moves them outside the image.
pub(super) fn keep_none(work: &mut Work<'_>) {
    let context = work.context;
    let with_mounts = context.is_buildkit();
    for run in context.runs.iter().filter(|run| run.may_edit) {
        let layers = &context.results(run.place);
        for kept in &KEPT {
            let waste = work.left(layers, |one| kept.kinds.contains(&one.kind));
            let is_kept =
                waste.iter().any(|one| mounts(work, run, one.kind)) || context.look.keeps(layers, kept.kinds);
            if sum(&waste) == 0 || is_kept {
                continue;
            }
            let calls: Vec<_> = run.commands.iter().filter_map(Call::of).collect();
            let end = |call: &Call<'_>| {
                let place = kept.subcommands.iter().find_map(|wanted| call.subcommand(wanted))?;
                let is_right = call.program == kept.program && !call.has(kept.option);
                is_right.then(|| call.words.get(place).map(|word| word.span.end))?
            };
            let places: Vec<usize> = calls.iter().filter_map(end).collect();
            let of_root = waste.iter().all(|one| one.kind == Kind::PipOfRoot);
            if places.is_empty() {
                continue;
            }
            let bytes = Some(work.take(&waste));
            let head = work.merged.get(&run.place).copied().unwrap_or(run.place);
            if with_mounts
                && of_root
                && let Some(at) = style::flag_place(context, head)
            {
                let why =
                    format!("{} A cache mount keeps it for the next build, outside the image.", kept.why);
                let flag = format!(" --mount=type=cache,target={}", kept.folder);
                if !work.edits.iter().any(|edit| edit.at == at && edit.with == flag) {
                    work.edit(at, flag, why, Applicability::Safe, bytes);
                }
                continue;
            }
            let (why, bytes) = match places.len() {
                1 => (kept.why.to_owned(), bytes),
                // The share of each command is unknown.
                count => (format!("{} The {count} commands of this RUN share that cache.", kept.why), None),
            };
            for at in places {
                work.edit(at..at, format!(" {}", kept.option), why.clone(), Applicability::Safe, bytes);
            }
        }
    }
}
