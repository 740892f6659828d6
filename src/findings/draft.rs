//! A finding as a rule writes it, before its sizes and packages are known.

use std::collections::BTreeSet;

use super::value::{Category, Item, Rule, Severity, User, Verdict};
use crate::rootfs::NodeId;

/// A finding before its bytes are counted.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) rule: &'static Rule,
    pub(super) verdict: Verdict,
    /// The rule's category, unless the rule covers several.
    pub(super) category: Category,
    /// Overrides the severity of the rule.
    pub(super) severity: Option<Severity>,
    pub(super) title: String,
    pub(super) reason: String,
    pub(super) proof: Vec<String>,
    pub(super) question: Option<String>,
    /// Who may need the files, and why. Empty if the question is about something else, too.
    pub(super) readers: BTreeSet<(Option<User>, String)>,
    /// What to do; empty for the fix of the rule.
    pub(super) fix: String,
    pub(super) items: Vec<Item>,
    /// Files that only these files read, and that stay.
    pub(super) reading: Vec<NodeId>,
    pub(super) subjects: Vec<String>,
    pub(super) users: Vec<User>,
    pub(super) potential_bytes: u64,
    pub(super) potential_compressed_bytes: Option<u64>,
    /// Indexes of other drafts: this one applies only together with them.
    pub(super) rests_on: Vec<usize>,
}

impl Draft {
    pub(super) fn new(rule: &'static Rule, verdict: Verdict, title: String) -> Self {
        Self {
            rule,
            verdict,
            category: rule.category,
            severity: None,
            title,
            reason: String::new(),
            proof: Vec::new(),
            question: None,
            readers: BTreeSet::new(),
            fix: String::new(),
            items: Vec::new(),
            reading: Vec::new(),
            subjects: Vec::new(),
            users: Vec::new(),
            potential_bytes: 0,
            potential_compressed_bytes: Some(0),
            rests_on: Vec::new(),
        }
    }
}
