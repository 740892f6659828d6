//! The log of all images, kept until the window closes.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::{Warning, WarningCode};

/// Limit of entries: images are untrusted input.
const KEPT: usize = 5_000;

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// For information.
    Note,
    /// Partial result.
    Warning,
    /// No result.
    Error,
}

/// One line of the log, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogEntry {
    pub(crate) severity: Severity,
    /// The tab of the image it is about; `None` for the window itself.
    pub(crate) tab: Option<u64>,
    /// The name of that image; empty for the window itself.
    pub(crate) image: String,
    /// The layer or object it is about.
    pub(crate) subject: String,
    pub(crate) message: String,
    /// The stable code of a warning.
    pub(crate) code: &'static str,
    /// How many warnings it stands for.
    pub(crate) count: usize,
    /// When it was added, in seconds since 1970.
    pub(crate) time: i64,
}

impl LogEntry {
    /// Whether it is about the image of this tab or the window; without a tab, any entry is.
    pub(crate) fn is_about(&self, tab: Option<u64>) -> bool {
        tab.is_none() || self.tab.is_none() || self.tab == tab
    }

    /// The layer or object, unless the message names it.
    pub(crate) fn other_subject(&self) -> &str {
        if self.message.contains(&self.subject) { "" } else { &self.subject }
    }

    /// The entry as it is copied.
    pub(crate) fn line(&self) -> String {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let parts = [severity, self.code, &self.image, self.other_subject(), &self.message];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// What an entry is about.
#[derive(Clone, Copy)]
pub(crate) struct LogSource<'a> {
    tab: Option<u64>,
    name: &'a str,
}

impl<'a> LogSource<'a> {
    /// The window itself.
    pub(crate) const WINDOW: Self = Self { tab: None, name: "" };

    /// The image of a tab, with its name.
    pub(crate) fn image(tab: u64, name: &'a str) -> Self {
        Self { tab: Some(tab), name }
    }
}

/// The log.
#[derive(Default)]
pub(crate) struct Log {
    entries: Vec<LogEntry>,
    dropped: usize,
    logged: HashSet<(u64, WarningCode, String, String)>,
    /// How often it was cleared.
    cleared: u64,
}

impl Log {
    pub(crate) fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    /// How many warnings or errors there are about the image of a tab and the window, or without a tab about all; those
    /// that an entry only counts included.
    pub(crate) fn count(&self, tab: Option<u64>, severity: Severity) -> usize {
        let entries = self.entries.iter().filter(|entry| entry.severity == severity && entry.is_about(tab));
        entries.map(|entry| entry.count).sum()
    }

    /// How many entries were not kept.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }

    /// Adds what failed.
    pub(crate) fn error(&mut self, source: LogSource<'_>, message: impl Into<String>) {
        self.add(Severity::Error, source, message.into());
    }

    /// Adds a warning about the window.
    pub(crate) fn note(&mut self, message: String) {
        self.add(Severity::Warning, LogSource::WINDOW, message);
    }

    /// Adds the messages of the work on an image.
    pub(crate) fn message(&mut self, source: LogSource<'_>, message: String) {
        self.add(Severity::Note, source, message);
    }

    fn add(&mut self, severity: Severity, source: LogSource<'_>, message: String) {
        let (image, subject) = (source.name.to_owned(), String::new());
        self.push(LogEntry {
            severity,
            tab: source.tab,
            image,
            subject,
            message,
            code: "",
            count: 1,
            time: now(),
        });
    }

    /// Adds the new warnings of a tab.
    pub(crate) fn warnings(&mut self, tab: u64, image: &str, warnings: Vec<Warning>) {
        for warning in warnings {
            if self.entries.len() >= KEPT {
                self.dropped += 1;
                continue;
            }
            let Warning { code, message, subject } = warning;
            if self.logged.insert((tab, code, subject.clone(), message.clone())) {
                self.push(LogEntry {
                    severity: Severity::Warning,
                    tab: Some(tab),
                    image: image.to_owned(),
                    subject,
                    count: counted_by(code, &message),
                    message,
                    code: code.as_str(),
                    time: now(),
                });
            }
        }
    }

    /// Resets a tab, so that reloading it logs its warnings again.
    pub(crate) fn forget(&mut self, tab: u64) {
        self.logged.retain(|(logged, ..)| *logged != tab);
    }

    /// Gives the image of a tab another name, in the entries that there are too.
    pub(crate) fn rename(&mut self, tab: u64, name: &str) {
        for entry in self.entries.iter_mut().filter(|entry| entry.tab == Some(tab)) {
            name.clone_into(&mut entry.image);
        }
    }

    /// Grows when entries are gone; otherwise an entry keeps its place.
    pub(crate) fn cleared(&self) -> u64 {
        self.cleared
    }

    pub(crate) fn clear(&mut self) {
        self.cleared += 1;
        self.entries.clear();
        self.dropped = 0;
    }

    /// All of it, a line for each entry.
    pub(crate) fn to_text(&self) -> String {
        self.entries.iter().map(|entry| entry.line() + "\n").collect()
    }

    fn push(&mut self, entry: LogEntry) {
        if self.entries.len() < KEPT {
            self.entries.push(entry);
        } else {
            self.dropped += 1;
        }
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(0)
}

/// How many warnings one stands for: "75 more warnings" is 75.
fn counted_by(code: WarningCode, message: &str) -> usize {
    let number = message.split(' ').next().filter(|_| code == WarningCode::MoreWarnings);
    number.and_then(|number| number.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::{Log, Severity};
    use crate::base::WarningCode;
    use crate::base::warning::Warnings;

    #[test]
    fn warnings_that_are_only_counted_count() {
        let mut warnings = Warnings::with_limit(2);
        for number in 0..77 {
            warnings.push_with(WarningCode::TarOddity, || (format!("entry {number}"), "odd".to_owned()));
        }
        let mut log = Log::default();
        log.warnings(1, "tool", warnings.finish("layer 0"));
        assert_eq!((log.entries().len(), log.count(Some(1), Severity::Warning)), (3, 77));
        assert_eq!(log.count(Some(2), Severity::Warning), 0);
        log.note("about the window".to_owned());
        assert_eq!(log.count(Some(2), Severity::Warning), 1);
    }
}
