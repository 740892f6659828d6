//! A Dockerfile in the making: only what parses gets into it.

use std::fmt::Write as _;

use crate::base::text::{elide_end, is_unsafe, printable};
use crate::formats::dockerfile::parse;
use crate::rewrite::value::DOCKERFILE_BYTES;

/// Comments quote so many characters of an entry.
const MAX_QUOTE: usize = 160;

/// Sentences about what is not known, at most.
pub(super) const MAX_UNKNOWN: usize = 200;

/// A text, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The text.
    pub(super) text: String,
    /// Entries of the history, for each instruction.
    pub(super) ties: Vec<Vec<usize>>,
    /// What is not known: line and sentence.
    pub(super) unknown: Vec<(u32, String)>,
    /// How many lines the text has.
    lines: u32,
    /// Instructions that did not fit.
    left_out: usize,
}

impl Page {
    /// A comment; each of its lines is one.
    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            let line = printable(line);
            // Whatever looks like a parser directive is none below the first comment.
            writeln!(self.text, "# {}", line.trim_end()).unwrap_or_default();
            self.lines = self.lines.saturating_add(1);
        }
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
        self.lines = self.lines.saturating_add(1);
    }

    /// An instruction that these entries tell of; `unknown` is said above it.
    pub(super) fn instruction(&mut self, text: &str, entries: &[usize], unknown: &[String]) {
        let clean = clean(text);
        let mut notes = unknown.to_vec();
        if clean != text {
            notes.push("Characters that cannot be shown are written as `\\x` and two digits.".to_owned());
        }
        if self.text.len().saturating_add(clean.len()) > DOCKERFILE_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        if !is_one(&clean) {
            self.comment("This entry of the history makes no instruction:");
            self.comment(&elide_end(&clean.replace('\n', " "), MAX_QUOTE));
            self.note(self.lines, "An entry of the history makes no instruction; it stands as a comment.");
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

    /// Something that is not known, about the line that comes next or any other.
    pub(super) fn note(&mut self, line: u32, text: &str) {
        note(&mut self.unknown, line, text.to_owned());
    }

    /// The line that comes next.
    pub(super) fn next_line(&self) -> u32 {
        self.lines.saturating_add(1)
    }

    /// Says what was left out.
    pub(super) fn finish(&mut self) {
        if self.left_out > 0 {
            let text = format!(
                "{} further instructions of the history are left out: the text would be too long.",
                self.left_out
            );
            self.comment(&text);
            self.note(self.lines, &text);
        }
    }
}

/// Adds a sentence; the last one says that there are more.
pub(super) fn note(list: &mut Vec<(u32, String)>, line: u32, text: String) {
    if list.len() < MAX_UNKNOWN {
        list.push((line.max(1), text));
    } else if list.len() == MAX_UNKNOWN {
        list.push((line.max(1), "More could not be known; what is above is only a part.".to_owned()));
    }
}

/// Without characters that act on a terminal; tabs and ends of lines stay.
fn clean(text: &str) -> String {
    if text.chars().all(|c| matches!(c, '\n' | '\t') || !is_unsafe(c)) {
        return text.to_owned();
    }
    let part = |text: &str| text.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(part).collect::<Vec<_>>().join("\n")
}

/// Whether a text is one instruction, and leaves alone what follows it.
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
