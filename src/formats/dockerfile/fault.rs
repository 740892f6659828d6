//! What is wrong, before its line is counted.

use crate::base::text::{elide_end, printable};

/// Characters of the file that a message quotes.
const QUOTED: usize = 40;

/// A fault and its place in the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// A part of the file as a message shows it: escaped and short.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTED + 1).collect();
    format!("\"{}\"", elide_end(&printable(&short), QUOTED))
}
