//! Redaction of values that look like secrets.

use crate::base::redact;

/// Redacts values that look like secrets, unless the user asked to show them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedactionPolicy {
    pub(super) shows: bool,
}

impl RedactionPolicy {
    pub(super) fn instruction(self, text: &str) -> String {
        if self.shows { text.to_owned() } else { redact::instruction(text) }
    }

    pub(super) fn words(self, words: &[String]) -> Vec<String> {
        if self.shows { words.to_vec() } else { redact::words(words) }
    }

    pub(super) fn value(self, name: &str, value: &str) -> String {
        if self.shows { value.to_owned() } else { redact::value(name, value).into_owned() }
    }
}
