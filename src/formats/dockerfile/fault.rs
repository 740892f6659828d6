//! Syntax faults, before their line number is known.

use crate::base::text::{elide_end, printable};

/// Maximum characters of the file in a message.
const QUOTED: usize = 40;

/// A fault and its location in the text.
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

/// A part of the file as shown in messages: escaped and shortened.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTED + 1).collect();
    format!("\"{}\"", elide_end(&printable(&short), QUOTED))
}
