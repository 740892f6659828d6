//! Current `RUN`s in a smaller stage: without build-only packages and without commands whose results are copied.

use std::collections::BTreeSet;
use std::ops::Range;

use super::shell::{Work, is_package_word, package_name, package_words};
use crate::formats::dockerfile::{Dockerfile, Instruction, Joiner, ShellCommand, Span, Word};
use crate::rewrite::tidy::{Call, Run};
use crate::rewrite::value::Edit;

/// Maximum packages added to a line; more get lines of their own.
const MOST_ON_A_LINE: usize = 3;

/// Maximum packages on such a line.
const MOST_IN_A_ROW: usize = 6;

/// A `RUN` in the new stage.
pub(super) struct Trim<'t> {
    pub(super) file: &'t Dockerfile,
    pub(super) instruction: &'t Instruction,
    pub(super) run: &'t Run,
    pub(super) works: &'t [Work],
    /// Excluded packages.
    pub(super) dropped: &'t BTreeSet<String>,
    /// Packages added to the first installation.
    pub(super) added: &'t [String],
    /// Clean-ups of this instruction.
    pub(super) extra: &'t [Edit],
    /// By index of the command: whether it stays.
    pub(super) stays: &'t dyn Fn(usize) -> bool,
    /// Whether recommended packages are excluded.
    pub(super) lean: bool,
    /// Whether apt leaves the downloaded archives behind, which images of distributions prevent.
    pub(super) keeps_archives: bool,
    /// Whether a later instruction reads the package lists.
    pub(super) keeps_lists: bool,
}

/// Commands that stay or go together: the parts of a pipe, and a list with `||` from its beginning to its last
/// alternative.
pub(super) fn units(commands: &[ShellCommand]) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    let mut list = 0;
    for (at, command) in commands.iter().enumerate() {
        match command.joiner {
            Joiner::First | Joiner::Sequence => {
                list = units.len();
                units.push(at..at + 1);
            }
            Joiner::And => units.push(at..at + 1),
            Joiner::Pipe => match units.last_mut() {
                Some(unit) => unit.end = at + 1,
                None => units.push(at..at + 1),
            },
            Joiner::Or => {
                let start = units.get(list).map_or(at, |unit| unit.start);
                units.truncate(list);
                units.push(start..at + 1);
            }
        }
    }
    units
}

impl Trim<'_> {
    /// The installations, and by command whether it stays; `None` if nothing with an effect is left.
    fn parts(&self) -> Option<(Vec<usize>, Vec<bool>)> {
        let commands = &self.run.commands;
        let installs: Vec<usize> = (0..commands.len()).filter(|at| self.installs(*at)).collect();
        let kept = self.kept(&installs);
        let has_effect = |at: usize| match self.works.get(at) {
            Some(Work::Shell | Work::Manage) | None => false,
            Some(Work::Remove) => !self.is_upkeep(&commands[at]),
            Some(_) => true,
        };
        (0..commands.len()).any(|at| kept[at] && has_effect(at)).then_some((installs, kept))
    }

    /// Whether the added packages are part of the instruction: an installation is left that they are added to.
    pub(super) fn adds(&self) -> bool {
        !self.added.is_empty() && self.parts().is_some_and(|(installs, _)| !installs.is_empty())
    }

    /// Edits for the packages that go and that are added, each on its own: for an instruction that another edit merges
    /// with the one before or behind it, and cleans up after.
    pub(super) fn package_edits(&self) -> Option<Vec<(Span, String)>> {
        let (installs, kept) = self.parts()?;
        let mut edits = self.removals(&kept);
        for at in &installs {
            let adds = !self.added.is_empty() && installs.first() == Some(at);
            edits.extend(self.command(&self.run.commands[*at], adds)?);
        }
        Some(edits)
    }

    /// The instruction without the parts that go; `None` if nothing with an effect is left.
    pub(super) fn text(&self) -> Option<String> {
        let commands = &self.run.commands;
        let (installs, kept) = self.parts()?;
        let start = self.instruction.span.start;
        let whole = self.file.slice(&self.instruction.span).trim_end_matches(['\r', '\n']);
        let head =
            self.instruction.flags.last().map_or(self.instruction.keyword_span.end, |flag| flag.span.end);
        let at_head = self.extra.iter().filter(|edit| edit.at == (head..head));
        let mut changes: Vec<(Span, String)> =
            at_head.map(|edit| (edit.at.clone(), edit.with.clone())).collect();
        for (at, command) in commands.iter().enumerate().filter(|(at, _)| kept[*at]) {
            if installs.contains(&at) {
                let adds = !self.added.is_empty() && installs.first() == Some(&at);
                changes.extend(self.command(command, adds)?);
            } else {
                changes.extend(self.extras(&command.span));
            }
        }
        changes.extend(self.update(&installs, &kept));
        if let Some(last) = commands.iter().zip(&kept).rev().find(|(_, kept)| **kept).map(|(one, _)| one)
            && !installs.is_empty()
        {
            let (end, joint) = (last.span.end, self.joint(last));
            let archives = self.keeps_archives && !self.cleans_archives(&kept);
            let lists = !self.keeps_lists && !self.cleans(&kept, &changes);
            let commands = [(archives, "apt-get clean"), (lists, "rm -rf /var/lib/apt/lists/*")];
            let more: String = (commands.iter().filter(|(is_added, _)| *is_added))
                .flat_map(|(_, command)| [joint.as_str(), command])
                .collect();
            if !more.is_empty() {
                changes.push((end..end, more));
            }
        }
        changes.extend(self.removals(&kept));
        Some(cut(self.file, &(start..start + whole.len()), changes))
    }

    /// The update before the first installation that requires package lists, if no command does it: lists of an earlier
    /// instruction are not in the new stage.
    fn update(&self, installs: &[usize], kept: &[bool]) -> Option<(Span, String)> {
        let call_of = |at: usize| Call::of(&self.run.commands[at]);
        let first =
            installs.iter().copied().find(|at| call_of(*at).is_some_and(|call| requires_lists(&call)))?;
        let program = call_of(first)?.program;
        let updates = |at: usize| {
            let call = call_of(at).filter(|_| kept[at]);
            let is_script = |program: &str| {
                matches!(program, "bash" | "dash" | "sh") || program.strip_suffix(".sh").is_some()
            };
            call.is_some_and(|call| {
                let is_same = is_of_apt(call.program) == is_of_apt(program);
                // A script that adds a source of packages updates the lists itself.
                is_same && call.has("update") || is_script(call.program)
            })
        };
        if (0..first).any(updates) {
            return None;
        }
        let sudo = if call_of(first)?.with_sudo { "sudo " } else { "" };
        let start = self.run.commands[first].span.start;
        Some((start..start, format!("{sudo}{program} update && ")))
    }

    /// Whether a command installs packages, not all of which are dropped.
    fn installs(&self, at: usize) -> bool {
        self.works.get(at) == Some(&Work::Install)
            && (self.stays)(at)
            && self.command(&self.run.commands[at], false).is_some()
    }

    /// By command: whether it stays. Those of a unit stay together; those that only affect the shell follow
    /// the others.
    fn kept(&self, installs: &[usize]) -> Vec<bool> {
        let commands = &self.run.commands;
        let stays = |at: usize| {
            (self.stays)(at)
                && match self.works.get(at) {
                    Some(Work::Install) => installs.contains(&at),
                    Some(Work::Manage | Work::Remove) => {
                        !installs.is_empty() || !self.is_upkeep(&commands[at])
                    }
                    Some(_) => true,
                    None => false,
                }
        };
        let mut kept = vec![false; commands.len()];
        for unit in units(commands) {
            let of_shell = |at: &usize| self.works.get(*at) == Some(&Work::Shell);
            let only_shell = unit.clone().all(|at| of_shell(&at));
            let unit_stays = unit.clone().any(|at| (only_shell || !of_shell(&at)) && stays(at));
            kept[unit].fill(unit_stays);
        }
        kept
    }

    /// Edits that remove the commands that go, with their joiners.
    fn removals(&self, kept: &[bool]) -> Vec<(Span, String)> {
        let commands = &self.run.commands;
        let mut spans: Vec<Span> = Vec::new();
        let mut at = 0;
        while at < commands.len() {
            if kept[at] {
                at += 1;
                continue;
            }
            let first = at;
            while at < commands.len() && !kept[at] {
                at += 1;
            }
            let has_before = first > 0;
            match commands.get(at) {
                Some(next) if !has_before => spans.push(commands[first].span.start..next.span.start),
                Some(next) => {
                    // If a list begins among the removed commands, the next command begins it.
                    let begins = (first..=at).rev().find(|one| commands[*one].joiner == Joiner::Sequence);
                    let joins = &commands[begins.unwrap_or(at)];
                    spans.push(commands[first].before.start..joins.before.start);
                    spans.push(joins.span.start..next.span.start);
                }
                None => spans.push(commands[first].before.start..commands[at - 1].span.end),
            }
        }
        spans.retain(|span| span.start < span.end);
        spans.into_iter().map(|span| (span, String::new())).collect()
    }

    /// Whether a command only prepares or cleans up after an installation.
    fn is_upkeep(&self, command: &ShellCommand) -> bool {
        let text = self.file.slice(&command.span);
        Call::of(command).is_some_and(|call| call.program.starts_with("apt") || call.program == "dnf")
            || text.contains("/var/lib/apt")
            || text.contains("/var/cache/apt")
            || text.contains(" /tmp")
    }

    /// Whether the apt lists are already removed or kept outside the image; also true when another program installs.
    fn cleans(&self, kept: &[bool], changes: &[(Span, String)]) -> bool {
        let stay = || self.run.commands.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one);
        let is_apt = |command: &ShellCommand| Call::of(command).is_some_and(|call| is_of_apt(call.program));
        let removes = |text: &str| text.contains("/var/lib/apt/lists") || text.contains("/var/lib/apt/*");
        !stay().any(is_apt)
            || stay().any(|command| removes(self.file.slice(&command.span)))
            || changes.iter().any(|(_, with)| removes(with))
            || self.instruction.flags.iter().any(|flag| {
                flag.name == "mount"
                    && flag.value.as_deref().is_some_and(|value| value.contains("/var/lib/apt"))
            })
    }

    /// Whether the downloaded archives are removed; also true when another program installs.
    fn cleans_archives(&self, kept: &[bool]) -> bool {
        let mut stay = self.run.commands.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one);
        let is_apt = |at: usize| Call::of(&self.run.commands[at]).is_some_and(|call| is_of_apt(call.program));
        !(0..kept.len()).any(|at| kept[at] && is_apt(at))
            || stay.any(|command| {
                let cleans =
                    Call::of(command).is_some_and(|call| is_of_apt(call.program) && call.has("clean"));
                cleans || self.file.slice(&command.span).contains("/var/cache/apt")
            })
    }

    /// The text before a command that is inserted after `last`: in a heredoc a line end, else the joiner of
    /// another command of the instruction, else the common one.
    fn joint(&self, last: &ShellCommand) -> String {
        let heredocs = &self.instruction.heredocs;
        if heredocs.iter().any(|heredoc| heredoc.body.contains(&last.span.start)) {
            let before = self.file.text().get(..last.span.start).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
            return format!("{}{indent}", self.file.line_end());
        }
        let of = |command: &ShellCommand| {
            (command.joiner == Joiner::And).then(|| self.file.slice(&command.before).to_owned())
        };
        let multi = |text: &String| text.contains('\n') && !text.contains('#');
        let other = self.run.commands.iter().filter_map(of).find(multi);
        other.unwrap_or_else(|| format!(" {}{}    && ", self.file.escape, self.file.line_end()))
    }

    /// Edits of an installation that drop packages and add others; `None` if it would install nothing.
    fn command(&self, command: &ShellCommand, adds: bool) -> Option<Vec<(Span, String)>> {
        let call = Call::of(command)?;
        let words = package_words(&call);
        let goes = |text: &str| is_package_word(text) && self.dropped.contains(package_name(text));
        let stays = words.iter().filter(|word| !goes(&word.text)).count();
        if stays == 0 && (self.added.is_empty() || !adds) {
            return None;
        }
        let mut cuts = self.extras(&command.span);
        let is_dropped = |word: &Word| words.iter().any(|one| one.span == word.span) && goes(&word.text);
        cuts.extend(self.cuts(&command.words, &is_dropped).into_iter().map(|span| (span, String::new())));
        let decides = |text: &str| text.contains("install-recommends");
        let tidied = cuts.iter().any(|(_, with)| decides(with));
        if self.lean
            && !tidied
            && matches!(call.program, "apt-get" | "apt")
            && !call.words.iter().any(|word| decides(&word.text))
        {
            let install = call.words.iter().position(|word| word.text == "install")?;
            let options =
                call.words[install + 1..].iter().take_while(|word| word.text.starts_with('-')).count();
            let end = call.words.get(install + options)?.span.end;
            cuts.push((end..end, " --no-install-recommends".to_owned()));
        }
        if adds {
            let last = command.words.last()?.span.end;
            let named: Vec<&str> = self.added.iter().map(String::as_str).collect();
            let gaps: Vec<String> =
                words.windows(2).filter_map(|pair| self.gap(pair[0].span.end..pair[1].span.start)).collect();
            let new_line = || format!(" {}{}    ", self.file.escape, self.file.line_end());
            // As the line before it, or below it if the line would become long.
            let first = match gaps.last() {
                Some(gap) if gap.contains('\n') => gap.clone(),
                _ if named.len() <= MOST_ON_A_LINE => " ".to_owned(),
                _ => gaps.iter().rev().find(|gap| gap.contains('\n')).cloned().unwrap_or_else(new_line),
            };
            let on_a_line = if gaps.last().is_some_and(|gap| gap.contains('\n')) { 1 } else { MOST_IN_A_ROW };
            let rows = named.chunks(on_a_line).map(|row| row.join(" "));
            let lines: String = rows.flat_map(|row| [first.clone(), row]).collect();
            // Before the clean-up after the command.
            cuts.insert(0, (last..last, lines));
        }
        Some(cuts)
    }

    /// Clean-ups within a command, or after it.
    fn extras(&self, span: &Span) -> Vec<(Span, String)> {
        let within = |edit: &&Edit| span.start <= edit.at.start && edit.at.end <= span.end;
        self.extra.iter().filter(within).map(|edit| (edit.at.clone(), edit.with.clone())).collect()
    }

    /// The text between two words; `None` if it is not blank.
    fn gap(&self, between: Span) -> Option<String> {
        let text = self.file.slice(&between);
        let is_blank = text.chars().all(|one| one.is_whitespace() || one == self.file.escape);
        is_blank.then(|| text.to_owned())
    }

    /// What to cut for words that go. The word that follows those at the beginning of a line begins the line.
    fn cuts(&self, words: &[Word], goes: &dyn Fn(&Word) -> bool) -> Vec<Span> {
        let breaks = |from: usize, to: usize| self.file.slice(&(from..to)).contains('\n');
        let mut cuts = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let first = at;
            while words.get(at).is_some_and(goes) {
                at += 1;
            }
            if first < at {
                let (start, end) = (words[first].span.start, words[at - 1].span.end);
                let before = first.checked_sub(1).map(|before| words[before].span.end);
                cuts.push(match (before, words.get(at)) {
                    (Some(before), Some(next)) if breaks(before, start) && !breaks(end, next.span.start) => {
                        start..next.span.start
                    }
                    (before, _) => before.unwrap_or(start)..end,
                });
            }
            at += 1;
        }
        cuts
    }
}

fn is_of_apt(program: &str) -> bool {
    matches!(program, "apt-get" | "apt" | "aptitude")
}

/// Whether an installation takes packages from the lists of an earlier update: other package managers fetch them
/// themselves, and a file is installed from where it is.
fn requires_lists(call: &Call<'_>) -> bool {
    let is_file = |text: &str| text.starts_with(['.', '/']);
    let refreshes = ["--no-cache", "--update-cache", "--update", "-U"];
    (is_of_apt(call.program) || call.program == "apk" && !refreshes.iter().any(|option| call.has(option)))
        && package_words(call).iter().any(|word| !is_file(&word.text))
}

/// A part of a file with edits; ranges refer to the whole text.
pub(super) fn cut(file: &Dockerfile, span: &Span, mut changes: Vec<(Span, String)>) -> String {
    changes.sort_by_key(|(at, _)| (at.start, at.end));
    let mut text = String::new();
    let mut from = span.start;
    for (at, with) in changes {
        if at.start < from || at.end > span.end {
            continue;
        }
        text.push_str(file.slice(&(from..at.start)));
        text.push_str(&with);
        from = at.end;
    }
    text.push_str(file.slice(&(from..span.end)));
    text
}
