//! Removes ignored files from findings.

use super::Ignore;
use super::date::Date;
use super::outcome::{Failing, Ignored};
use crate::base::text::{escape, printable};
use crate::findings::value::{Finding, Item};
use crate::rootfs::Rootfs;

/// Maximum files or names listed per failing finding.
const SHOWN: usize = 3;

/// The rest of a finding after the ignores.
pub(super) struct RemainingFinding<'a> {
    pub(super) finding: &'a Finding,
    pub(super) bytes: u64,
    pub(super) potential_bytes: u64,
    files: usize,
    names: usize,
    examples: Vec<String>,
    pub(super) something: bool,
}

impl RemainingFinding<'_> {
    pub(super) fn failing(&self) -> Failing {
        let finding = self.finding;
        Failing {
            rule: finding.rule,
            id: finding.id.clone(),
            verdict: finding.verdict,
            title: printable(&finding.title),
            bytes: self.bytes,
            files: self.files,
            examples: self.examples.clone(),
            fix: printable(&finding.fix),
        }
    }

    /// Number of things not ignored: files, or names where these are more, or the finding itself.
    pub(super) fn things(&self) -> usize {
        if self.something { self.files.max(self.names).max(1) } else { 0 }
    }

    fn keep(&mut self, name: String) {
        self.something = true;
        if self.examples.len() < SHOWN {
            self.examples.push(name);
        }
    }
}

/// All ignores, and what each removed.
pub(super) struct IgnoreFilter<'a> {
    ignores: Vec<IgnoreUse<'a>>,
    rootfs: &'a Rootfs,
}

struct IgnoreUse<'a> {
    ignore: &'a Ignore,
    expired: bool,
    fits: bool,
    bytes: u64,
    things: usize,
}

impl<'a> IgnoreFilter<'a> {
    pub(super) fn new(ignores: &'a [Ignore], rootfs: &'a Rootfs, today: Date) -> Self {
        let taken = |ignore: &'a Ignore| {
            let expired = ignore.expires.is_some_and(|last| today > last);
            IgnoreUse { ignore, expired, fits: false, bytes: 0, things: 0 }
        };
        Self { ignores: ignores.iter().map(taken).collect(), rootfs }
    }

    /// Removes ignored files from a finding.
    pub(super) fn left<'f>(&mut self, finding: &'f Finding) -> RemainingFinding<'f> {
        let mut left = RemainingFinding {
            finding,
            bytes: 0,
            potential_bytes: finding.potential_bytes,
            files: 0,
            // Names are ignored all at once or not at all.
            names: if finding.items.is_empty() { 0 } else { finding.subjects.len() },
            examples: Vec::new(),
            something: false,
        };
        let rule = finding.rule.id;
        let by_path = self.ignores.iter().any(|taken| taken.ignore.path.is_some() && taken.counts_for(rule));
        let by_name = self.takes_all_names(finding);
        for item in &finding.items {
            // Paths are built only when a glob or the output needs them.
            let wanted = by_path || left.examples.len() < SHOWN;
            let path = if wanted { shown_path(self.rootfs, *item) } else { String::new() };
            // Files of rules without bytes of their own are counted by other rules.
            let bytes = if finding.category.has_bytes() { item.bytes } else { 0 };
            if self.take(rule, Some(&path), bytes) {
                continue;
            }
            if let Some(taken) = by_name.and_then(|place| self.ignores.get_mut(place)) {
                taken.add(bytes);
            } else {
                left.bytes = left.bytes.saturating_add(bytes);
                left.keep(path);
                left.files += 1;
            }
        }
        if finding.items.is_empty() {
            for subject in &finding.subjects {
                let name = printable(subject);
                if !self.take(rule, Some(&name), 0) {
                    left.names += 1;
                    left.keep(name);
                }
            }
            if finding.subjects.is_empty() && !self.take(rule, None, 0) {
                left.something = true;
            }
        }
        if !left.something {
            left.potential_bytes = 0;
        }
        left
    }

    /// The ignore that covers a whole finding because path globs match all of its names.
    fn takes_all_names(&mut self, finding: &Finding) -> Option<usize> {
        let of = |name: &String| {
            let name = printable(name);
            self.ignores.iter().position(|taken| {
                let path = taken.ignore.path.as_ref();
                taken.counts_for(finding.rule.id) && path.is_some_and(|path| path.is_match(&name))
            })
        };
        let places: Vec<usize> = finding.subjects.iter().map(of).collect::<Option<_>>()?;
        for place in &places {
            self.ignores.get_mut(*place)?.fits = true;
        }
        places.first().copied()
    }

    /// Whether an ignore matches; the bytes count for the first one.
    fn take(&mut self, rule: &str, name: Option<&str>, bytes: u64) -> bool {
        let mut took = false;
        for taken in self.ignores.iter_mut().filter(|taken| taken.counts_for(rule)) {
            let fits = match (&taken.ignore.path, name) {
                (None, _) => true,
                (Some(pattern), Some(name)) => pattern.is_match(name),
                (Some(_), None) => false,
            };
            taken.fits |= fits;
            if fits && !took {
                taken.add(bytes);
                took = true;
            }
        }
        took
    }

    pub(super) fn told(self, rules_looked: bool) -> (Vec<Ignored>, Vec<String>) {
        let (mut ignored, mut notes) = (Vec::new(), Vec::new());
        for (number, taken) in (1..).zip(&self.ignores) {
            let ignore = taken.ignore;
            let path = ignore.path.as_ref().map(|pattern| pattern.text.clone());
            let what = path.as_deref().map_or_else(String::new, |path| format!(" on {path}"));
            let name = format!("ignore {number} ({}{what})", ignore.rule);
            if let Some(last) = ignore.expires.filter(|_| taken.expired) {
                notes.push(format!("{name} expired on {last} and is no longer applied"));
            } else if !taken.fits && rules_looked {
                notes.push(format!("{name} matches no finding that is removable or needs review"));
            } else if taken.things > 0 {
                ignored.push(Ignored {
                    rule: ignore.rule.clone(),
                    path,
                    reason: ignore.reason.clone(),
                    expires: ignore.expires,
                    bytes: taken.bytes,
                    things: taken.things,
                });
            }
        }
        (ignored, notes)
    }
}

impl IgnoreUse<'_> {
    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.things += 1;
    }

    fn counts_for(&self, rule: &str) -> bool {
        !self.expired && self.ignore.rules.contains(rule)
    }
}

/// The path of a file, escaped: as a container sees it, or in its layer when shadowed.
fn shown_path(rootfs: &Rootfs, item: Item) -> String {
    match item.node {
        Some(node) => escape(&rootfs.node(node).path()),
        None => escape(&rootfs.layer(item.layer).path(item.entry)),
    }
}
