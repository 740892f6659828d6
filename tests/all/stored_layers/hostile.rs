//! Bytes that no layer gave.

use std::sync::LazyLock;

use cutaway::base::Limits;
use cutaway::layer::{BodyFacts, EntryKind, IndexBuilder, LayerRead};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;

use super::bodies::bodies;
use super::indexes::{entry, of_index};
use super::{OTHER, SUBJECT, everything, harmless, read};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::tar;

static EVERYTHING: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    // Without the large files: the fewer bytes, the more of them the tests below change.
    let members = everything().into_iter().filter(|member| member.body.len() < 1 << 20);
    let tar = tar(members);
    let packed = Packing::Gzip.pack(&tar).1;
    [tar, packed].map(|blob| read(&blob).to_bytes(SUBJECT))
});

#[test]
fn a_layer_over_the_limits_is_refused() {
    let bytes = &EVERYTHING[1];
    let allowed = |limits: Limits| LayerRead::from_bytes(bytes, OTHER, &limits).is_ok();
    let usual = Limits::default();
    assert!(allowed(usual.clone()));
    assert!(!allowed(Limits { layer_entries: 10, ..usual.clone() }));
    assert!(!allowed(Limits { layer_binaries: 3, ..usual.clone() }));
    assert!(!allowed(Limits { database_bytes: 100, ..usual.clone() }));
    assert!(!allowed(Limits { document_bytes: 10, ..usual.clone() }));
    assert!(!allowed(Limits { document_head_bytes: 10, ..usual.clone() }));
    assert!(!allowed(Limits { documents_total: 100, ..usual.clone() }));
    assert!(!allowed(Limits { facts_total: 1_000, ..usual.clone() }));
    assert!(!allowed(Limits { path_bytes: 20, ..usual }));
}

/// Decodes; what is not refused can be used.
fn try_layer(bytes: &[u8]) {
    if let Ok(read) = LayerRead::from_bytes(bytes, OTHER, &Limits::default()) {
        harmless(&read);
    }
}

#[test]
fn every_shorter_or_longer_layer_is_refused() {
    for bytes in EVERYTHING.iter() {
        for length in (0..bytes.len()).step_by(7) {
            assert!(LayerRead::from_bytes(&bytes[..length], OTHER, &Limits::default()).is_err(), "{length}");
        }
        assert!(LayerRead::from_bytes(&[bytes, &[0][..]].concat(), OTHER, &Limits::default()).is_err());
    }
}

#[test]
fn numbers_in_the_bytes_set_no_memory_aside() {
    let bytes = &EVERYTHING[1];
    let most = 64 * bytes.len() as u64 + (4 << 20);
    for number in [u64::MAX, 1 << 40, 1 << 31, 0xffff, 0x0fff_ffff_ffff] {
        for at in (0..bytes.len() - 8).step_by(11) {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            let taken = allocation_counter::measure(|| {
                LayerRead::from_bytes(&bytes, OTHER, &Limits::default()).ok();
            });
            assert!(taken.bytes_max <= most, "{number:#x} at {at}: {} bytes", taken.bytes_max);
        }
    }
}

#[test]
fn names_that_share_their_bytes_are_refused() {
    let limits = Limits::default();
    let mut builder = IndexBuilder::new(&limits);
    // Written once, and named again by each `.` behind it: no tar is made so.
    let folder = [vec![b'x'; 20_000], b"/.".to_vec()].concat();
    for _ in 0..1_000 {
        builder.add_path(&folder, entry(EntryKind::Directory, 0)).unwrap();
    }
    let read = of_index(builder.finish());
    assert!(LayerRead::from_bytes(&read.to_bytes(SUBJECT), OTHER, &limits).is_err());
}

fn bodies_bytes() -> Vec<u8> {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| bodies().to_bytes());
    BYTES.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_refused_or_harmless(
        which in 0_usize..2,
        changes in vec((any::<Index>(), any::<u8>()), 1..6),
        cut in any::<Option<Index>>(),
    ) {
        let mut bytes = EVERYTHING[which].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        try_layer(&bytes);
    }

    #[test]
    fn small_changes_of_numbers_are_refused_or_harmless(which in 0_usize..2, at in any::<Index>(), add in 1_u8..4) {
        let mut bytes = EVERYTHING[which].clone();
        let at = at.index(bytes.len());
        bytes[at] = bytes[at].wrapping_add(add);
        try_layer(&bytes);
    }

    #[test]
    fn changed_facts_of_bodies_are_refused_or_harmless(changes in vec((any::<Index>(), any::<u8>()), 1..6)) {
        let mut bytes = bodies_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(facts) = BodyFacts::from_bytes(&bytes, 200) {
            assert!(facts.binaries.keys().chain(facts.mentions.keys()).all(|entry| entry.0 < 200));
            assert_eq!(BodyFacts::from_bytes(&facts.to_bytes(), 200), Ok(facts));
        }
    }
}
