//! An rpm header, as databases store it: two counts, an index of tags, and a data store that the index points into.
//! Numbers are big endian. The layout is that of `lib/header.c` in rpm; headers in a database lack the magic of package
//! files.

/// Maximum tags of one header, as in rpm.
const MAX_TAGS: usize = 0xffff;

/// Bytes of an index entry: tag, type, offset and count.
const ENTRY: usize = 16;

const INT32: u32 = 4;
const STRING: u32 = 6;
const STRING_ARRAY: u32 = 8;
const I18N_STRING: u32 = 9;

/// A header whose index and store are within its bytes.
pub(super) struct Header<'a> {
    index: &'a [u8],
    store: &'a [u8],
}

/// One entry: type, number of values, and the store from the first value on.
#[derive(Clone, Copy)]
struct IndexEntry<'a> {
    kind: u32,
    count: u32,
    bytes: &'a [u8],
}

/// The big-endian number at `at`.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

impl<'a> Header<'a> {
    pub(super) fn parse(blob: &'a [u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "truncated header";
        let tags = word(blob, 0).ok_or(SHORT)? as usize;
        let bytes = word(blob, 4).ok_or(SHORT)? as usize;
        if tags == 0 || tags > MAX_TAGS {
            return Err("header without tags, or with more than rpm allows");
        }
        let (index, rest) =
            blob.get(8..).and_then(|rest| rest.split_at_checked(tags * ENTRY)).ok_or(SHORT)?;
        Ok(Self { index, store: rest.get(..bytes).ok_or(SHORT)? })
    }

    /// The entry of a tag. If there are several the last counts: rpm appends installation data.
    fn entry(&self, tag: u32) -> Option<IndexEntry<'a>> {
        let entry = self.index.chunks_exact(ENTRY).rev().find(|entry| word(entry, 0) == Some(tag))?;
        let bytes = self.store.get(word(entry, 8)? as usize..)?;
        Some(IndexEntry { kind: word(entry, 4)?, count: word(entry, 12)?, bytes })
    }

    /// A string, or the first of several.
    pub(super) fn text(&self, tag: u32) -> Option<&'a [u8]> {
        self.texts(tag).next()
    }

    /// All strings of a tag; none if it has another type. Limited by the store.
    pub(super) fn texts(&self, tag: u32) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let entry = self.entry(tag);
        let (mut rest, count) = match entry {
            Some(IndexEntry { kind: STRING, bytes, .. }) => (bytes, 1),
            Some(IndexEntry { kind: STRING_ARRAY | I18N_STRING, bytes, count }) => (bytes, count),
            _ => (&[][..], 0),
        };
        (0..count).map_while(move |_| {
            let end = memchr::memchr(0, rest)?;
            let (text, after) = rest.split_at_checked(end)?;
            rest = after.get(1..)?;
            Some(text)
        })
    }

    /// All 32-bit numbers of a tag; none if it has another type. Limited by the store.
    pub(super) fn numbers(&self, tag: u32) -> impl Iterator<Item = u32> + use<'a> {
        let entry = self.entry(tag).filter(|entry| entry.kind == INT32);
        let (bytes, count) = entry.map_or((&[][..], 0), |entry| (entry.bytes, entry.count));
        bytes.chunks_exact(4).take(count as usize).filter_map(|chunk| word(chunk, 0))
    }

    /// A 32-bit number, or the first of several.
    pub(super) fn number(&self, tag: u32) -> Option<u32> {
        self.numbers(tag).next()
    }
}
