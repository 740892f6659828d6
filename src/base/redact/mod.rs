//! Redaction of secrets: which names are secret, and how text with secrets is shown.
//!
//! If the end of a secret is unclear, too much is redacted rather than too little.

mod extent;
mod instruction;
mod name;
mod scan;
mod url;

use std::borrow::Cow;

pub use instruction::instruction;
pub use name::{REDACTED, is_secret_name};
use scan::{Mode, scan};
pub use url::{reference, url_user_info};

/// The value of `name` for display: redacted by name; otherwise without named secrets inside it (`-Dpassword=…`, JSON),
/// and without user info in URLs.
pub fn value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if !is_secret_name(name) {
        Cow::Owned(scan(&url_user_info(value), Mode::Argument).shown)
    } else if value.is_empty() {
        Cow::Borrowed(value)
    } else {
        Cow::Borrowed(REDACTED)
    }
}

/// A `NAME=VALUE` pair for display.
pub fn assignment(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, text)) => format!("{name}={}", value(name, text)),
        None => value("", pair).into_owned(),
    }
}

/// Redacts the words of a command: values of options and assignments with secret names, also in scripts passed to
/// shells as one word, and user info in URLs.
pub fn words(words: &[String]) -> Vec<String> {
    let mut awaits_value = false;
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        if awaits_value && word == "--" {
            shown.push(word.clone());
            continue;
        }
        let scanned = scan(&url_user_info(word), Mode::Argument);
        if awaits_value {
            shown.push(if word.is_empty() { String::new() } else { REDACTED.to_owned() });
            // The previous option may have been a switch: then this one is an option, and its value follows.
            awaits_value = scanned.awaits_value && word.starts_with('-');
        } else {
            shown.push(scanned.shown);
            awaits_value = scanned.awaits_value;
        }
    }
    shown
}

/// The fault of a JSON document: kind and position. The message of `serde_json` quotes the document, which may contain
/// a secret.
pub fn json_fault(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        serde_json::error::Category::Io => "invalid JSON",
        serde_json::error::Category::Syntax => "JSON syntax error",
        serde_json::error::Category::Data => "unexpected JSON type",
        serde_json::error::Category::Eof => "unexpected end of the JSON",
    };
    match error.line() {
        // A part of a document that was parsed earlier has no position.
        0 => kind.to_owned(),
        line => format!("{kind} at line {line} column {}", error.column()),
    }
}

#[cfg(test)]
mod tests;
