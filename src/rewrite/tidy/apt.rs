//! Clean-ups for apt: recommended packages, and lists that a later `RUN` may read.

use super::call::{Call, TAKES_VALUE};
use super::context::{Run, TidyContext};
use super::work::Work;
use crate::formats::dockerfile::Keyword;
use crate::rewrite::value::{Applicability, Edit};

/// Instructions without effect on a `RUN`.
pub(super) const HARMLESS: [Keyword; 7] = [
    Keyword::Cmd,
    Keyword::Entrypoint,
    Keyword::Expose,
    Keyword::Healthcheck,
    Keyword::Label,
    Keyword::Maintainer,
    Keyword::StopSignal,
];

/// apt installers.
const PROGRAMS: [&str; 2] = ["apt-get", "apt"];

/// Adds `--no-install-recommends`, and to the installations `needed`: packages with their layers whose files the image
/// uses although they came as recommendations only.
pub(super) fn leave_out_recommended(work: &mut Work<'_>, needed: &[(String, u16)]) {
    const SETTING: &str = "install-recommends";
    let context = work.context;
    // A setting in apt.conf, or the option in a command that sets it otherwise.
    let lower = context.file.text().to_ascii_lowercase();
    let is_set = lower.contains("apt::install-recommends");
    for run in context.runs.iter().filter(|run| run.may_edit && !context.layers(run.place).is_empty()) {
        let layers = context.layers(run.place);
        let mut names: Vec<&str> = (needed.iter().filter(|(_, layer)| layers.contains(layer)))
            .map(|(name, _)| name.as_str())
            .collect();
        for call in run.commands.iter().filter_map(Call::of) {
            let Some(install) = call.subcommand("install").filter(|_| PROGRAMS.contains(&call.program))
            else {
                continue;
            };
            let rest = call.words.get(install + 1..).unwrap_or_default();
            let names_packages = rest.iter().any(|word| !word.text.starts_with('-'));
            let says = call.words.iter().any(|word| word.text.to_ascii_lowercase().contains(SETTING));
            if is_set || says || !names_packages {
                continue;
            }
            let is_short = |text: &str| text.starts_with('-') && !TAKES_VALUE.contains(&text);
            let options = rest.iter().take_while(|word| is_short(&word.text)).count();
            let Some(after) = call.words.get(install + options) else { continue };
            let at = after.span.end;
            work.edit(
                at..at,
                " --no-install-recommends",
                "apt-get also installs recommended packages. Name the ones that are needed.",
                Applicability::Review,
                None,
            );
            if let Some(last) = rest.last().filter(|_| !names.is_empty()) {
                let names = std::mem::take(&mut names);
                let end = last.span.end;
                let edit = Edit {
                    at: end..end,
                    with: format!(" {}", names.join(" ")),
                    reason: format!(
                        "Recommended packages that files of the image need: {}.",
                        names.join(", ")
                    ),
                    applicability: Applicability::Review,
                    bytes: None,
                };
                // Before clean-ups at the same place.
                work.edits.insert(0, edit);
            }
            work.assume("No other package is needed that was installed only as a recommendation; predicted sizes still include them.");
        }
    }
}

/// `RUN`s that read package lists fetched by an earlier one.
pub(super) struct Lists {
    /// By stage: the last instruction of it, or of a stage based on it, that reads them.
    read: Vec<usize>,
    /// The same for instructions that may read them.
    maybe: Vec<usize>,
    /// By instruction: the last one up to it that neither reads them nor is without effect on a `RUN`.
    others: Vec<usize>,
}

impl Lists {
    pub(super) fn of(context: &TidyContext<'_>) -> Self {
        let mut lists = Self {
            read: vec![0; context.stages.len()],
            maybe: vec![0; context.stages.len()],
            others: Vec::with_capacity(context.file.instructions.len()),
        };
        let latest = |list: &mut [usize], place: usize| {
            if let Some(last) = context.stage(place).and_then(|stage| list.get_mut(stage)) {
                *last = place.max(*last);
            }
        };
        for run in &context.runs {
            if reads(run) {
                latest(&mut lists.read, run.place);
            }
            if !run.may_edit || run.commands.iter().filter_map(Call::of).any(|call| is_script(&call)) {
                latest(&mut lists.maybe, run.place);
            }
        }
        for (place, instruction) in context.file.instructions.iter().enumerate() {
            let reads = context.run(place).is_some_and(|run| run.may_edit && reads(run));
            let is_near = reads || HARMLESS.contains(&instruction.keyword);
            let before = lists.others.last().copied().unwrap_or(0);
            lists.others.push(if is_near { before } else { place });
            if instruction.keyword == Keyword::OnBuild {
                latest(&mut lists.maybe, place);
            }
        }
        // Stages only start from earlier ones.
        for (place, stage) in context.stages.iter().enumerate().rev() {
            for list in [&mut lists.read, &mut lists.maybe] {
                let last = list.get(place).copied().unwrap_or(0);
                if let Some(parent) = stage.parent.and_then(|parent| list.get_mut(parent)) {
                    *parent = last.max(*parent);
                }
            }
        }
        lists
    }

    /// Whether all later instructions that read lists directly follow the one at `place`, with only `RUN`s that read
    /// them too, and instructions without effect on a `RUN`, between them.
    pub(super) fn are_read_nearby(&self, context: &TidyContext<'_>, place: usize) -> bool {
        let Some(last) = context.stage(place).and_then(|stage| self.read.get(stage)) else { return false };
        self.others.get(*last).is_some_and(|other| *other <= place)
    }

    /// Whether a later instruction reads the lists that exist after the one at `place`.
    pub(super) fn are_read_after(&self, context: &TidyContext<'_>, place: usize) -> bool {
        context.stage(place).and_then(|stage| self.read.get(stage)).is_some_and(|last| *last > place)
    }

    /// Whether a later instruction may read them.
    pub(super) fn may_be_read_after(&self, context: &TidyContext<'_>, place: usize) -> bool {
        context.stage(place).and_then(|stage| self.maybe.get(stage)).is_none_or(|last| *last > place)
    }
}

/// Whether a `RUN` installs before it fetches lists.
pub(super) fn reads(run: &Run) -> bool {
    for call in run.commands.iter().filter_map(Call::of) {
        if call.program == "aptitude" || PROGRAMS.contains(&call.program) {
            if call.subcommand("update").is_some() {
                return false;
            }
            let others = ["clean", "autoclean", "remove", "purge", "autoremove", "autopurge"];
            if !others.iter().any(|other| call.subcommand(other).is_some()) {
                return true;
            }
        }
        if matches!(call.program, "apt-cache" | "apt-file") {
            return true;
        }
    }
    false
}

/// Whether a call runs commands outside the file.
pub(super) fn is_script(call: &Call<'_>) -> bool {
    const OF_SYSTEM: [&str; 6] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/"];
    let shells = ["sh", "bash", "dash", "ash", "zsh", "source", ".", "eval", "make", "ansible-playbook"];
    let is_own = call.path.contains('/') && !OF_SYSTEM.iter().any(|folder| call.path.starts_with(folder));
    let is_named_so = call.program.rsplit('.').next() == Some("sh");
    is_own || is_named_so || shells.contains(&call.program)
}
