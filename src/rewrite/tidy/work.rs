//! Collects edits and the files that they remove.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{TidyContext, Waste};
use crate::formats::dockerfile::Span;
use crate::layer::EntryId;
use crate::rewrite::value::{Applicability, Edit, Hint};

/// The results so far.
pub(super) struct Work<'a> {
    pub(super) context: &'a TidyContext<'a>,
    pub(super) edits: Vec<Edit>,
    pub(super) hints: Vec<Hint>,
    /// Assumptions, each once.
    pub(super) assumed: Vec<String>,
    /// Files of layers that the new image lacks.
    pub(super) gone: BTreeSet<(u16, EntryId)>,
    /// Removed instructions.
    pub(super) removed: BTreeSet<usize>,
    /// By merged `RUN`: the earlier one that contains it.
    pub(super) merged: BTreeMap<usize, usize>,
}

impl<'a> Work<'a> {
    pub(super) fn new(context: &'a TidyContext<'a>) -> Self {
        Self {
            context,
            edits: Vec::new(),
            hints: Vec::new(),
            assumed: Vec::new(),
            gone: BTreeSet::new(),
            removed: BTreeSet::new(),
            merged: BTreeMap::new(),
        }
    }

    /// Superfluous files of these layers that no edit removes yet.
    pub(super) fn left(&self, layers: &[u16], wanted: impl Fn(&Waste) -> bool) -> Vec<&'a Waste> {
        let is_left = |one: &&Waste| wanted(one) && !self.gone.contains(&(one.layer, one.entry));
        self.context.waste_of(layers).filter(is_left).collect()
    }

    /// Removes files; returns their bytes.
    pub(super) fn take(&mut self, waste: &[&Waste]) -> u64 {
        self.gone.extend(waste.iter().map(|one| (one.layer, one.entry)));
        sum(waste)
    }

    pub(super) fn edit(
        &mut self,
        at: Span,
        with: impl Into<String>,
        reason: impl Into<String>,
        applicability: Applicability,
        bytes: Option<u64>,
    ) {
        self.edits.push(Edit { at, with: with.into(), reason: reason.into(), applicability, bytes });
    }

    /// Adds a hint about the Dockerfile itself.
    pub(super) fn hint(&mut self, lines: Vec<String>, reason: String, bytes: Option<u64>) {
        self.hints.push(Hint { file: self.context.name.to_owned(), lines, reason, bytes });
    }

    pub(super) fn assume(&mut self, sentence: &str) {
        if !self.assumed.iter().any(|known| known == sentence) {
            self.assumed.push(sentence.to_owned());
        }
    }
}

/// Bytes of files.
pub(super) fn sum(waste: &[&Waste]) -> u64 {
    waste.iter().fold(0, |sum, one| sum.saturating_add(one.bytes))
}
