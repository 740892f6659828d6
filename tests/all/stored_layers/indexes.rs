//! Indexes that were built entry by entry, of any paths.

use std::sync::Arc;

use cutaway::base::Limits;
use cutaway::layer::{EntryKind, IndexBuilder, LayerIndex, LayerRead, NewEntry};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use super::{comes_back, read};

/// An entry that has something of `number` in each field.
pub(super) fn entry(kind: EntryKind, number: u64) -> NewEntry<'static> {
    let small = u32::try_from(number % 5_000_000_000 / 2).unwrap();
    NewEntry {
        kind,
        size: number % (1 << 40),
        mode: small,
        uid: small,
        gid: small / 7,
        mtime: number.cast_signed(),
        link: if number.is_multiple_of(3) { b"../a/target" } else { b"" },
        body_at: (!number.is_multiple_of(5)).then_some(number / 3),
    }
}

/// A layer that has this index, and nothing else.
pub(super) fn of_index(index: LayerIndex) -> LayerRead {
    let mut read = read(b"");
    (read.index, read.uncompressed_bytes) = (Arc::new(index), None);
    read
}

fn kind() -> impl Strategy<Value = EntryKind> {
    prop_oneof![
        6 => Just(EntryKind::File),
        1 => Just(EntryKind::HardLink),
        1 => Just(EntryKind::Symlink),
        2 => Just(EntryKind::Directory),
        1 => Just(EntryKind::Other),
    ]
}

/// Paths as tars have them, odd ones too.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-c]{1,3}".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..6),
        1 => proptest::sample::select(vec![".", "..", "", ".wh.a", ".wh..wh..opq", ".wh.", ".wh.."]).prop_map(|part| part.as_bytes().to_vec()),
    ];
    vec(part, 0..5).prop_map(|parts| parts.join(&b'/'))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_index_comes_back(entries in vec((path(), kind(), any::<u64>()), 0..40)) {
        let mut builder = IndexBuilder::new(&Limits::default());
        for (path, kind, number) in &entries {
            builder.add_path(path, entry(*kind, *number)).unwrap();
        }
        comes_back(&of_index(builder.finish()));
    }
}
