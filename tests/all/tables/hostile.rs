//! Tables of strangers: any bytes, and good tables with changes. Nothing panics, and nothing costs more than is there.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cutaway::base::Limits;
use cutaway::formats::contents::{Contents, Format, estargz};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::table::{Ranges, Table, Want};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{layers, writer};
use crate::fixtures::image::Layer;
use crate::fixtures::tarball::file;

/// A blob in memory that counts what is asked of it.
#[derive(Default)]
struct Memory {
    blob: Vec<u8>,
    asked: AtomicU64,
}

impl Ranges for Memory {
    fn size(&self) -> u64 {
        self.blob.len() as u64
    }

    fn range(&self, offset: u64, length: u64, _: &CancelToken, _: &Progress) -> io::Result<Vec<u8>> {
        self.asked.fetch_add(length, Ordering::Relaxed);
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        self.blob
            .get(place(offset)..place(offset.saturating_add(length)))
            .map(<[u8]>::to_vec)
            .ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

/// A table with its entries, none, or why it is refused.
type Opened = Result<Option<(Table, Contents)>, String>;

fn open(layer: &Layer, limits: &Limits) -> (Opened, Arc<Memory>) {
    let memory = Arc::new(Memory { blob: layer.blob.clone(), ..Memory::default() });
    let annotations: BTreeMap<String, String> = layer.annotations.iter().cloned().collect();
    let ranges: Arc<dyn Ranges> = Arc::clone(&memory) as _;
    let opened = Table::open(ranges, &annotations, limits, &CancelToken::new(), &Progress::default());
    (opened.map_err(|refused| refused.why), memory)
}

/// Reads all files of a table, however often it names the same bytes; gives how many could be read to their end.
fn read_all(table: &Table, contents: &Contents) -> usize {
    let all = 0..contents.entries().len();
    table.plan(all.clone().map(|entry| (entry, Want::Whole)));
    let mut cursor = table.cursor();
    let mut buffer = vec![0; 64 << 10];
    let mut whole = 0;
    for entry in all {
        cursor.open(entry);
        let mut passed = 0;
        let end = loop {
            match cursor.read(&mut buffer) {
                Ok(0) => break true,
                Ok(count) => passed += count as u64,
                Err(_) => break false,
            }
        };
        if end {
            assert_eq!(passed, contents.entries()[entry].size);
            whole += 1;
        }
    }
    whole
}

#[test]
fn every_file_is_given_as_it_was_packed() {
    for format in [Format::Estargz, Format::ZstdChunked] {
        for members in layers() {
            let layer = writer::pack(format, &members).layer(format);
            let (opened, memory) = open(&layer, &Limits::default());
            let (table, contents) = opened.unwrap().unwrap();
            let table = Arc::new(table);
            let own = usize::from(format == Format::Estargz);
            assert_eq!(contents.entries().len(), members.len() + own);
            // From the last to the first, so that nothing is helped by what was read before.
            for (entry, member) in members.iter().enumerate().rev() {
                let body = table.body(entry);
                assert_eq!(body.len(), member.body.len() as u64);
                assert_eq!(body.read_all(u64::MAX).unwrap(), member.body);
                let half = body.len() / 2;
                let rest = body.part(half, u64::MAX).read_all(u64::MAX).unwrap();
                assert_eq!(rest, member.body[half as usize..]);
            }
            assert_eq!(table.unproven(), 0, "{format}");
            assert!(memory.asked.load(Ordering::Relaxed) <= 4 * memory.size() + (8 << 20));
            let (opened, memory) = open(&layer, &Limits::default());
            let (table, contents) = opened.unwrap().unwrap();
            assert_eq!(read_all(&table, &contents), contents.entries().len());
            assert!(
                memory.asked.load(Ordering::Relaxed) <= memory.size() + (1 << 20),
                "each byte is fetched once"
            );
        }
    }
}

#[test]
fn claims_cost_nothing() {
    let limits = Limits::default();
    let place = "io.github.containers.zstd-chunked.manifest-position";
    let mut layer =
        writer::pack(Format::ZstdChunked, &[file("a", b"a".repeat(2000))]).layer(Format::ZstdChunked);
    let good = layer.annotations.iter().find(|one| one.0 == place).unwrap().1.clone();
    let numbers: Vec<u64> = good.split(':').map(|number| number.parse().unwrap()).collect();
    let [offset, length, inflated] = [numbers[0], numbers[1], numbers[2]];
    for (position, why) in [
        (format!("{offset}:{length}:{}:1", u64::MAX), "the limit is 268435456"),
        (format!("{offset}:{length}:{}:1", inflated + 1), "does not have the declared"),
        (format!("{offset}:{length}:{}:1", inflated - 1), "does not have the declared"),
        (format!("{}:{length}:{inflated}:1", u64::MAX), "beyond the end"),
        (format!("{offset}:{}:{inflated}:1", u64::MAX), "beyond the end"),
        (format!("{offset}:{}:{inflated}:1", length - 1), "does not have the digest"),
        ("nowhere".to_owned(), "invalid position"),
    ] {
        layer.annotations.iter_mut().filter(|one| one.0 == place).for_each(|one| one.1.clone_from(&position));
        let (opened, memory) = open(&layer, &limits);
        let refused = opened.err().unwrap();
        assert!(refused.contains(why), "{position}: {refused}");
        assert!(memory.asked.load(Ordering::Relaxed) <= length, "{position}");
    }
    let narrow = Limits { table_bytes: 10, ..Limits::default() };
    let layer = writer::pack(Format::Estargz, &[file("a", b"a".repeat(2000))]).layer(Format::Estargz);
    assert!(open(&layer, &narrow).0.err().unwrap().contains("the limit is 10"));
    let narrow = Limits { table_json_bytes: 10, ..Limits::default() };
    assert!(open(&layer, &narrow).0.err().unwrap().contains("the limit is 10"));
    let narrow = Limits { layer_entries: 0, ..Limits::default() };
    assert!(open(&layer, &narrow).0.err().unwrap().contains("more than 0 entries"));
}

#[test]
fn the_same_bytes_for_many_files_are_not_fetched_without_end() {
    let members = [file("a", crate::registry::bench::noise("a", 200_000)), file("b", b"b".repeat(3000))];
    let mut packed = writer::pack(Format::ZstdChunked, &members);
    let entries = packed.table["entries"].as_array_mut().unwrap();
    let (one, other) = (entries[0].clone(), entries[1].clone());
    *entries = (0..4000).map(|number| if number % 2 == 0 { one.clone() } else { other.clone() }).collect();
    // They lie far from each other, as far as one request reaches.
    packed.data.splice(0..0, crate::fixtures::packing::zstd_skippable(&vec![0; 20 << 20]));
    for entry in packed.table["entries"].as_array_mut().unwrap() {
        entry["offset"] = json!(entry["offset"].as_u64().unwrap() + (20 << 20) + 8);
    }
    let layer = packed.layer(Format::ZstdChunked);
    let (opened, memory) = open(&layer, &Limits::default());
    let (table, contents) = opened.unwrap().unwrap();
    read_all(&table, &contents);
    assert!(memory.asked.load(Ordering::Relaxed) <= 4 * memory.size() + (8 << 20));
    // What is inflated has a bound, too.
    let limits = Limits { inflated_bytes: 1 << 20, ..Limits::default() };
    let (table, contents) = open(&layer, &limits).0.unwrap().unwrap();
    assert!(read_all(&table, &contents) <= 12);
}

/// A value of JSON where a table may have one.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!([])),
        Just(json!("chunk")),
        Just(json!("reg")),
        Just(json!("zeros")),
        Just(json!("../../x")),
        Just(json!("sha256:ff")),
        Just(json!("2023-11-14T22:13:20+99:99")),
        any::<i64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        (0_u64..5000).prop_map(|number| json!(number)),
    ]
}

const FIELDS: [&str; 16] = [
    "type",
    "name",
    "linkName",
    "modtime",
    "mode",
    "size",
    "uid",
    "gid",
    "offset",
    "innerOffset",
    "chunkOffset",
    "chunkSize",
    "chunkType",
    "digest",
    "chunkDigest",
    "endOffset",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_table_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let limits = Limits::default();
        if let Ok(contents) = Contents::parse(&bytes, Format::Estargz, 1000, &limits) {
            prop_assert!(contents.entries().len() <= bytes.len());
        }
        estargz::footer(&bytes);
        estargz::inflate(&bytes, &limits).ok();
    }

    #[test]
    fn changed_tables_are_read_within_bounds(
        zstd in any::<bool>(),
        changes in prop::collection::vec((0_usize..8, 0_usize..FIELDS.len(), odd()), 1..4),
    ) {
        let format = if zstd { Format::ZstdChunked } else { Format::Estargz };
        let members = [
            file("a", vec![b'a'; 3000]),
            file("b", vec![b'b'; 10]),
            file("large", crate::fixtures::filler::prose("large", (1 << 20) + 5000)),
            file("c", vec![b'c'; 1500]),
        ];
        let mut packed = writer::pack(format, &members);
        let entries = packed.table["entries"].as_array_mut().unwrap();
        for (entry, field, value) in changes {
            let place = entry % entries.len();
            entries[place][FIELDS[field]] = value;
        }
        let limits = Limits { inflated_bytes: 16 << 20, ..Limits::default() };
        let (opened, memory) = open(&packed.layer(format), &limits);
        if let Ok(Some((table, contents))) = opened {
            read_all(&table, &contents);
            let end = memory.size();
            prop_assert!(contents.entries().len() <= 9);
            prop_assert!(memory.asked.load(Ordering::Relaxed) <= 4 * end + (8 << 20));
        }
    }
}
