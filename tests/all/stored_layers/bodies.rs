//! What was read of single files.

use std::collections::BTreeMap;

use cutaway::formats::binary::FileFacts;
use cutaway::formats::string_references::{Scanner, Sort, StringReferences};
use cutaway::layer::{BodyFacts, EntryId};

use super::{everything, read};
use crate::fixtures::tarball::tar;

fn mentions(text: &str) -> StringReferences {
    let mut scanner = Scanner::new(Sort::Text, text.len() as u64).unwrap();
    scanner.push(text.as_bytes());
    scanner.finish()
}

/// Facts of each kind.
pub(super) fn bodies() -> BodyFacts {
    let layer = read(&tar(everything()));
    let binaries: BTreeMap<EntryId, FileFacts> = layer.facts.binaries().iter().cloned().collect();
    BodyFacts {
        samples: (0..50).map(|entry| (EntryId(entry * 3), [7; 20])).collect(),
        hashes: (0..20).map(|entry| (EntryId(entry), [u8::try_from(entry).unwrap(); 20])).collect(),
        binaries,
        mentions: [
            (EntryId(4), mentions("nvcc libcublas.so.13 cmake libfoo.so")),
            (EntryId(9), StringReferences::default()),
        ]
        .into(),
    }
}

#[test]
fn facts_of_bodies_come_back() {
    let facts = bodies();
    assert!(!facts.mentions[&EntryId(4)].words.is_empty() && !facts.binaries.is_empty());
    assert_eq!(BodyFacts::from_bytes(&facts.to_bytes(), 148), Ok(facts.clone()));
    // The last of them is about entry 147.
    assert!(BodyFacts::from_bytes(&facts.to_bytes(), 147).is_err());
    let nothing = BodyFacts::default();
    assert!(nothing.is_empty() && !facts.is_empty());
    assert_eq!(BodyFacts::from_bytes(&nothing.to_bytes(), 0), Ok(nothing));
}

#[test]
fn facts_of_bodies_are_joined_and_newer_ones_win() {
    let mut one = bodies();
    let newer =
        BodyFacts { hashes: [(EntryId(0), [9; 20]), (EntryId(99), [8; 20])].into(), ..BodyFacts::default() };
    one.merge(newer);
    assert_eq!((one.hashes[&EntryId(0)], one.hashes[&EntryId(99)], one.hashes.len()), ([9; 20], [8; 20], 21));
    assert_eq!(one.samples, bodies().samples);
}
