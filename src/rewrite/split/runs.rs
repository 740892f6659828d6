//! Current `RUN`s in a smaller stage: without build-only packages and without commands whose results are copied.

use std::collections::BTreeSet;

use super::shell::{Work, is_package_word, package_name, package_words};
use crate::formats::dockerfile::{Dockerfile, Instruction, Joiner, ShellCommand, Span};
use crate::rewrite::tidy::{Call, Run};
use crate::rewrite::value::Edit;

/// Most packages added to a line; more get a line each.
const MOST_ON_A_LINE: usize = 3;

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
}

impl Trim<'_> {
    /// The new instruction; `None` when nothing with an effect is left.
    pub(super) fn text(&self) -> Option<String> {
        let commands = self.run.commands.iter().zip(self.works).enumerate();
        let installs = |(at, (command, work)): (usize, (&ShellCommand, &Work))| {
            *work == Work::Install && (self.stays)(at) && self.command(command, false).is_some()
        };
        let installs: Vec<usize> = commands.clone().filter(|one| installs(*one)).map(|(at, _)| at).collect();
        let mut parts: Vec<(usize, String)> = Vec::new();
        let mut effect = false;
        for (at, (command, work)) in commands {
            if !(self.stays)(at) {
                continue;
            }
            let text = match work {
                Work::Install => {
                    self.command(command, !self.added.is_empty() && installs.first() == Some(&at))
                }
                Work::Manage | Work::Remove if installs.is_empty() && self.is_upkeep(command) => None,
                _ => Some(cut(self.file, &command.span, self.extras(&command.span))),
            };
            effect |= text.is_some() && !matches!(work, Work::Shell | Work::Manage | Work::Remove);
            parts.extend(text.map(|text| (at, text)));
        }
        if !effect {
            return None;
        }
        let mut text = self.file.slice(&self.instruction.keyword_span).to_owned();
        for flag in &self.instruction.flags {
            text.push(' ');
            text.push_str(self.file.slice(&flag.span));
        }
        let head =
            self.instruction.flags.last().map_or(self.instruction.keyword_span.end, |flag| flag.span.end);
        for edit in self.extra.iter().filter(|edit| edit.at == (head..head)) {
            text.push_str(&edit.with);
        }
        text.push(' ');
        for (number, (at, part)) in parts.iter().enumerate() {
            if number > 0 {
                text.push_str(&self.joint(*at));
            }
            text.push_str(part);
        }
        if !installs.is_empty() && !self.cleans(&parts) {
            text.push_str(&self.joint(usize::MAX));
            text.push_str("rm -rf /var/lib/apt/lists/*");
        }
        Some(text)
    }

    /// Whether a command only prepares or cleans up after an installation.
    fn is_upkeep(&self, command: &ShellCommand) -> bool {
        let text = self.file.slice(&command.span);
        Call::of(command).is_some_and(|call| call.program.starts_with("apt") || call.program == "dnf")
            || text.contains("/var/lib/apt")
            || text.contains("/var/cache/apt")
            || text.contains("/tmp")
    }

    /// Whether the apt lists are already removed or kept outside the image; also true when another program installs.
    fn cleans(&self, parts: &[(usize, String)]) -> bool {
        let is_apt = parts.iter().any(|(_, text)| text.contains("apt-get ") || text.contains("apt "));
        !is_apt
            || parts
                .iter()
                .any(|(_, text)| text.contains("/var/lib/apt/lists") || text.contains("/var/lib/apt/*"))
            || self.instruction.flags.iter().any(|flag| {
                flag.name == "mount"
                    && flag.value.as_deref().is_some_and(|value| value.contains("/var/lib/apt"))
            })
    }

    /// The joiner before a command: the current one if it is `&&`, else the common one.
    fn joint(&self, at: usize) -> String {
        let of = |command: &ShellCommand| {
            (command.joiner == Joiner::And).then(|| self.file.slice(&command.before).to_owned())
        };
        let own = self.run.commands.get(at).and_then(of);
        let multi = |text: &String| text.contains('\n') && !text.contains('#');
        let other = || self.run.commands.iter().filter_map(of).find(multi);
        own.or_else(other).unwrap_or_else(|| format!(" {}{}    && ", self.file.escape, self.file.line_end()))
    }

    /// An installation without the excluded packages; `None` when none is left.
    fn command(&self, command: &ShellCommand, adds: bool) -> Option<String> {
        let call = Call::of(command)?;
        let words = package_words(&call);
        let goes = |text: &str| is_package_word(text) && self.dropped.contains(package_name(text));
        let stays = words.iter().filter(|word| !goes(&word.text)).count();
        if stays == 0 && (self.added.is_empty() || !adds) {
            return None;
        }
        let mut cuts = self.extras(&command.span);
        let mut before = None;
        for word in &command.words {
            if words.iter().any(|one| one.span == word.span) && goes(&word.text) {
                let start: usize = before.unwrap_or(word.span.start);
                cuts.push((start..word.span.end, String::new()));
            }
            before = Some(word.span.end);
        }
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
            let mut gap = self.gap(&words.iter().map(|word| word.span.clone()).collect::<Vec<_>>());
            if gap == " " && named.len() > MOST_ON_A_LINE {
                gap = format!(" {}{}    ", self.file.escape, self.file.line_end());
            }
            // Before the clean-up after the command.
            cuts.insert(0, (last..last, format!("{gap}{}", named.join(&gap))));
        }
        Some(cut(self.file, &command.span, cuts))
    }

    /// Clean-ups within a command, or after it.
    fn extras(&self, span: &Span) -> Vec<(Span, String)> {
        let within = |edit: &&Edit| span.start <= edit.at.start && edit.at.end <= span.end;
        self.extra.iter().filter(within).map(|edit| (edit.at.clone(), edit.with.clone())).collect()
    }

    /// The separator between packages: a line each if the current ones are so.
    fn gap(&self, words: &[Span]) -> String {
        match words {
            [.., one, next] => {
                let between = self.file.slice(&(one.end..next.start));
                let blank = between.chars().all(|one| one.is_whitespace() || one == self.file.escape);
                if blank { between.to_owned() } else { " ".to_owned() }
            }
            _ => " ".to_owned(),
        }
    }
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
