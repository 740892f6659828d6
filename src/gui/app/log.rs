//! Everything that went wrong, of all images, until the window is closed.

use std::collections::HashSet;

use crate::base::{Warning, WarningCode};

/// More is not kept: nobody reads it, and images are hostile.
const KEPT: usize = 5_000;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// All is well; somebody may want to know.
    Note,
    /// The rest works.
    Warning,
    /// There is no result.
    Error,
}

/// One line of the log, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) severity: Severity,
    /// The image it is about; empty for the window itself.
    pub(crate) image: String,
    /// The layer or object it is about.
    pub(crate) subject: String,
    pub(crate) message: String,
    /// The stable code of a warning.
    pub(crate) code: &'static str,
}

impl Entry {
    /// The entry as it is copied.
    pub(crate) fn line(&self) -> String {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let parts = [severity, self.code, &self.image, &self.subject, &self.message];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// The log.
#[derive(Default)]
pub(crate) struct Log {
    entries: Vec<Entry>,
    dropped: usize,
    told: HashSet<(u64, WarningCode, String, String)>,
}

impl Log {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries were not kept.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }

    pub(crate) fn error(&mut self, image: &str, message: impl Into<String>) {
        self.push(Entry {
            severity: Severity::Error,
            image: image.to_owned(),
            subject: String::new(),
            message: message.into(),
            code: "",
        });
    }

    /// Adds something about the window as a whole that the user may want to know.
    pub(crate) fn note(&mut self, message: String) {
        self.push(Entry {
            severity: Severity::Warning,
            image: String::new(),
            subject: String::new(),
            message,
            code: "",
        });
    }

    /// Adds what the work on an image had to tell.
    pub(crate) fn told(&mut self, image: &str, message: String) {
        self.push(Entry {
            severity: Severity::Note,
            image: image.to_owned(),
            subject: String::new(),
            message,
            code: "",
        });
    }

    /// Adds those warnings of a tab that were not told yet.
    pub(crate) fn warnings(&mut self, tab: u64, image: &str, warnings: Vec<Warning>) {
        for warning in warnings {
            if self.entries.len() >= KEPT {
                self.dropped += 1;
                continue;
            }
            let Warning { code, message, subject } = warning;
            if self.told.insert((tab, code, subject.clone(), message.clone())) {
                self.push(Entry {
                    severity: Severity::Warning,
                    image: image.to_owned(),
                    subject,
                    message,
                    code: code.as_str(),
                });
            }
        }
    }

    /// Forgets what was told of a tab, so that opening it again tells it again.
    pub(crate) fn forget(&mut self, tab: u64) {
        self.told.retain(|(told, ..)| *told != tab);
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.dropped = 0;
    }

    /// All of it, a line for each entry.
    pub(crate) fn to_text(&self) -> String {
        self.entries.iter().map(|entry| entry.line() + "\n").collect()
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.len() < KEPT {
            self.entries.push(entry);
        } else {
            self.dropped += 1;
        }
    }
}
