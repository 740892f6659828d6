//! A Dockerfile under construction: only text that parses is added.

use std::fmt::Write as _;

use crate::base::text::{elide_end, is_unsafe, printable};
use crate::formats::dockerfile::parse;
use crate::rewrite::input::DOCKERFILE_BYTES;

/// Maximum characters of an entry quoted in a comment.
const MAX_QUOTE: usize = 160;

/// Maximum sentences about unknown facts.
pub(super) const MAX_UNKNOWN: usize = 200;

/// The text and its notes.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The text.
    pub(super) text: String,
    /// Entries of the history, for each instruction.
    pub(super) ties: Vec<Vec<usize>>,
    /// What is unknown: line and sentence.
    pub(super) unknown: Vec<(u32, String)>,
    /// Number of lines of the text.
    lines: u32,
    /// Number of omitted instructions.
    left_out: usize,
}

impl Page {
    /// Adds a comment for each line.
    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            let line = printable(line);
            // A parser directive below the first comment is an ordinary comment.
            writeln!(self.text, "# {}", line.trim_end()).unwrap_or_default();
            self.lines = self.lines.saturating_add(1);
        }
    }

    /// Adds an empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
        self.lines = self.lines.saturating_add(1);
    }

    /// Adds an instruction for these entries; `unknown` becomes a comment above it.
    pub(super) fn instruction(&mut self, text: &str, entries: &[usize], unknown: &[String]) {
        let clean = clean(text);
        let mut notes = unknown.to_vec();
        if clean != text {
            notes.push("Unprintable characters are written as `\\x` and two digits.".to_owned());
        }
        if self.text.len().saturating_add(clean.len()) > DOCKERFILE_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        if !is_one(&clean) {
            self.comment("No instruction for this history entry:");
            self.comment(&elide_end(&clean.replace('\n', " "), MAX_QUOTE));
            self.note(self.lines, "A history entry without an instruction is kept as a comment.");
            return;
        }
        for note in &notes {
            self.comment(note);
        }
        let line = self.lines.saturating_add(1);
        for note in &notes {
            self.note(line, note);
        }
        self.text.push_str(&clean);
        self.text.push('\n');
        let lines = clean.bytes().filter(|byte| *byte == b'\n').count();
        self.lines = self.lines.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)).saturating_add(1);
        self.ties.push(entries.to_vec());
    }

    /// Adds an unknown fact, about the next line or another.
    pub(super) fn note(&mut self, line: u32, text: &str) {
        note(&mut self.unknown, line, text.to_owned());
    }

    /// The next line.
    pub(super) fn next_line(&self) -> u32 {
        self.lines.saturating_add(1)
    }

    /// Adds a comment about omitted instructions.
    pub(super) fn finish(&mut self) {
        if self.left_out > 0 {
            let text = format!(
                "{} more instructions of the history are omitted: the text would be too long.",
                self.left_out
            );
            self.comment(&text);
            self.note(self.lines, &text);
        }
    }
}

/// Adds a sentence; the last one notes that the list is incomplete.
pub(super) fn note(list: &mut Vec<(u32, String)>, line: u32, text: String) {
    if list.len() < MAX_UNKNOWN {
        list.push((line.max(1), text));
    } else if list.len() == MAX_UNKNOWN {
        list.push((line.max(1), "More is unknown; the list above is incomplete.".to_owned()));
    }
}

/// Escapes terminal control characters; tabs and line ends stay.
fn clean(text: &str) -> String {
    if text.chars().all(|c| matches!(c, '\n' | '\t') || !is_unsafe(c)) {
        return text.to_owned();
    }
    let part = |text: &str| text.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(part).collect::<Vec<_>>().join("\n")
}

/// Whether a text is exactly one instruction that does not affect the following ones.
fn is_one(text: &str) -> bool {
    let prefix = if text.starts_with("FROM ") { "" } else { "FROM a\n" };
    let wanted = if prefix.is_empty() { 2 } else { 3 };
    let end = prefix.len() + text.len() + 1;
    let file = parse(format!("{prefix}{text}\nARG a\n").as_bytes());
    file.is_ok_and(|file| {
        file.instructions.len() == wanted
            && file.instructions.last().is_some_and(|last| last.span.start == end)
    })
}
