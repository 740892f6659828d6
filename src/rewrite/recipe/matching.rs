//! Matches instructions of a Dockerfile with history entries.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher as _};

use super::align::align;
use super::history_tokens::{HistoryToken, text};
use super::step::Step;
use crate::formats::dockerfile::{Dockerfile, Keyword};

/// Maximum entries compared with an instruction that changed since the build.
const MAX_LOOK: usize = 8;

/// Maximum compared words of an instruction, and bytes of each: enough to tell whether it was edited.
const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 128;

/// The matches.
pub(super) struct Match<'a> {
    pub(super) file: &'a Dockerfile,
    pub(super) steps: &'a [Step<'a>],
    /// Instructions of the final stage and of those it starts from.
    pub(super) own: &'a [usize],
    /// The first entry after those of the base image; `None` when unknown.
    pub(super) start: Option<usize>,
    /// Entries, by instruction.
    pub(super) tied: BTreeMap<usize, BTreeSet<usize>>,
    /// Instructions that differ from their history entry.
    pub(super) changed: BTreeSet<usize>,
}

impl<'a> Match<'a> {
    /// Without matches.
    pub(super) fn new(
        file: &'a Dockerfile,
        steps: &'a [Step<'a>],
        own: &'a [usize],
        start: Option<usize>,
    ) -> Self {
        Self { file, steps, own, start, tied: BTreeMap::new(), changed: BTreeSet::new() }
    }

    /// Matches equal parts, and then similar ones at the same place. Entries before `first` are skipped.
    pub(super) fn find(&mut self, entries: &[HistoryToken], parts: &[HistoryToken], first: usize) {
        let start = entries.partition_point(|entry| entry.owner < first);
        let entries = &entries[start..];
        for (entry, part) in align(entries, parts) {
            self.tied.entry(parts[part].owner).or_default().insert(entries[entry].owner);
        }
        let mut taken: BTreeSet<usize> = self.tied.values().flatten().copied().collect();
        // Entries above this one belong to later instructions.
        let mut above = self.steps.len();
        let mut words = Words::default();
        for (number, place) in self.own.iter().enumerate().rev() {
            if let Some(found) = self.tied.get(place) {
                above = found.first().copied().unwrap_or(above);
                continue;
            }
            if !self.leaves_trace(*place) {
                continue;
            }
            let below = taken.range(..above).next_back().map_or(first, |entry| entry + 1);
            let looked = (below..above).rev().filter(|entry| !taken.contains(entry)).take(MAX_LOOK);
            // Between two matches, the only one of its kind is enough.
            let alone = below > first && self.is_alone(number, below, above);
            let like = looked.into_iter().find(|entry| self.is_like(*place, *entry, alone, &mut words));
            if let Some(entry) = like {
                self.tied.insert(*place, BTreeSet::from([entry]));
                self.changed.insert(*place);
                taken.insert(entry);
                above = entry;
            }
        }
    }

    /// Whether this is the only instruction between its matched neighbours, with a single entry there.
    fn is_alone(&self, number: usize, below: usize, above: usize) -> bool {
        let tied = |number: Option<usize>| {
            number.and_then(|number| self.own.get(number)).is_none_or(|place| self.tied.contains_key(place))
        };
        above == below + 1 && tied(number.checked_sub(1)) && tied(Some(number + 1))
    }

    /// Whether an instruction may be an edited version of an entry.
    fn is_like(&self, place: usize, entry: usize, alone: bool, words: &mut Words) -> bool {
        let (Some(instruction), Some(step)) = (self.file.instructions.get(place), self.steps.get(entry))
        else {
            return false;
        };
        if step.keyword() != Some(instruction.keyword) {
            return false;
        }
        let mine = words.mine.entry(place).or_insert_with(|| hashes(&text(self.file, instruction)));
        let its = words.its.entry(entry).or_insert_with(|| hashes(step.text));
        let both = mine.iter().filter(|word| its.binary_search(word).is_ok()).count();
        // Half of the words of both.
        alone || both > 0 && 3 * both + 1 >= mine.len() + its.len()
    }

    /// Whether an instruction leaves a trace in the history.
    pub(super) fn leaves_trace(&self, place: usize) -> bool {
        let keyword = self.file.instructions.get(place).map(|instruction| instruction.keyword);
        !matches!(keyword, None | Some(Keyword::Arg | Keyword::From | Keyword::OnBuild))
    }

    /// Weight of an instruction. Those that add files count double: settings are similar in many images.
    pub(super) fn weight(&self, place: usize) -> f64 {
        match self.file.instructions.get(place).map(|instruction| instruction.keyword) {
            Some(keyword) if is_content(keyword) => 2.0,
            _ => 1.0,
        }
    }

    /// Instructions that leave a trace.
    pub(super) fn traced(&self) -> impl Iterator<Item = usize> {
        self.own.iter().copied().filter(|place| self.leaves_trace(*place))
    }

    /// The share of instructions with traces that are in the history: 0 to 1; 1 when none leaves a trace.
    pub(super) fn score(&self) -> f64 {
        let (mut all, mut found) = (0.0, 0.0);
        for place in self.traced() {
            all += self.weight(place);
            if self.changed.contains(&place) {
                found += self.weight(place) / 2.0;
            } else if self.tied.contains_key(&place) {
                found += self.weight(place);
            }
        }
        if all > 0.0 { found / all } else { 1.0 }
    }
}

/// Whether an instruction adds files.
pub(super) fn is_content(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Run | Keyword::Copy | Keyword::Add)
}

/// Words of instructions and entries, computed on demand.
#[derive(Default)]
struct Words {
    mine: BTreeMap<usize, Vec<u64>>,
    its: BTreeMap<usize, Vec<u64>>,
}

/// The distinct words at the beginning of a text.
fn hashes(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = DefaultHasher::new();
        hasher.write(word.get(..MAX_WORD).unwrap_or(word).as_bytes());
        hasher.finish()
    };
    let mut words: Vec<u64> = text.split_whitespace().take(MAX_WORDS).map(hash).collect();
    words.sort_unstable();
    words.dedup();
    words
}
