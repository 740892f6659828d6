//! Why there are no proposals.

use super::line::shown;
use super::words::sentence;
use crate::base::text::printable;
use crate::rewrite::RewriteError;

/// What went wrong, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What failed.
    pub title: String,
    /// Why.
    pub message: String,
    /// The line of the user's file that it is about.
    pub excerpt: Option<Excerpt>,
    /// What the user can do.
    pub hint: Option<String>,
    /// Whether it is about a file that the user gave.
    pub given: bool,
}

/// A line of a file, and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Its number, counted from 1.
    pub line: u32,
    /// The line, safe to show.
    pub text: String,
    /// Characters of `text` before the place.
    pub before: usize,
}

impl Problem {
    /// A file of the user's that cannot be read at all.
    pub(super) fn unreadable(name: &str, why: &str) -> Self {
        Self {
            title: format!("Cannot read {}", printable(name)),
            message: printable(why),
            excerpt: None,
            hint: None,
            given: true,
        }
    }

    /// A fault of ours.
    pub(super) fn failed(why: &str) -> Self {
        Self {
            title: "Cannot compute proposals".to_owned(),
            message: printable(why),
            excerpt: None,
            hint: None,
            given: false,
        }
    }

    /// An error of the rewriting; `bytes` is the user's file.
    pub(super) fn new(error: &RewriteError, bytes: Option<&[u8]>) -> Self {
        let (title, message, excerpt) = match error {
            RewriteError::Syntax { name, source } => {
                let excerpt = bytes.and_then(|bytes| excerpt(bytes, source.line, source.column));
                (format!("{} is not a Dockerfile", printable(name)), source.to_string(), excerpt)
            }
            RewriteError::TooLarge { name, .. } => {
                (format!("{} is too long", printable(name)), error.to_string(), None)
            }
            RewriteError::Foreign { name, why } => {
                (format!("{} does not match this image", printable(name)), why.clone(), None)
            }
        };
        Self {
            title,
            message: printable(&sentence(&message)),
            excerpt,
            hint: error.hint().map(|hint| printable(&sentence(&hint))),
            given: bytes.is_some(),
        }
    }
}

fn excerpt(bytes: &[u8], line: u32, column: u32) -> Option<Excerpt> {
    let place = usize::try_from(line.checked_sub(1)?).ok()?;
    let text = bytes.split(|byte| *byte == b'\n').nth(place)?;
    let text = String::from_utf8_lossy(text);
    let before: String = text.chars().take(column.saturating_sub(1) as usize).collect();
    Some(Excerpt { line, before: shown(&before).chars().count(), text: shown(&text) })
}
