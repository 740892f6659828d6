//! A Berkeley DB hash, used by rpm up to version 4.16: pages of key and value pairs; long values are in chains of
//! overflow pages. The layout is that of `dbinc/db_page.h` in Berkeley DB.
//!
//! Buckets only serve lookups by key, so all pages are read in order, each once.

use super::Blobs;

const MAGIC: u32 = 0x0006_1561;

const SMALLEST_PAGE: usize = 512;
const LARGEST_PAGE: usize = 64 << 10;
/// Header size of every page; item offsets follow.
const PAGE_HEAD: usize = 26;

const PAGE_HASH_UNSORTED: u8 = 2;
const PAGE_OVERFLOW: u8 = 7;
const PAGE_HASH: u8 = 13;

const ITEM_ON_PAGE: u8 = 1;
const ITEM_OFF_PAGE: u8 = 3;

/// Byte order of numbers: that of the machine that created the database.
#[derive(Clone, Copy, Debug)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four = bytes.get(at..)?.first_chunk().copied()?;
        Some(match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        })
    }

    fn half(self, bytes: &[u8], at: usize) -> Option<usize> {
        let two = bytes.get(at..)?.first_chunk().copied()?;
        Some(usize::from(match self {
            Self::Little => u16::from_le_bytes(two),
            Self::Big => u16::from_be_bytes(two),
        }))
    }
}

/// The byte order of a Berkeley DB hash; `None` for anything else.
pub(super) fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.word(bytes, 12) == Some(MAGIC))
}

/// The pages of a database.
struct Pages<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
    size: usize,
    /// Number of pages, the metadata page included.
    count: usize,
}

impl<'a> Pages<'a> {
    fn get(&self, number: usize) -> Option<&'a [u8]> {
        let start = number.checked_mul(self.size).filter(|_| number < self.count)?;
        self.bytes.get(start..start.checked_add(self.size)?)
    }

    /// Location of the bytes of `page` in an overflow chain, and the number of the next page.
    fn overflow(&self, number: usize) -> Option<(&'a [u8], usize)> {
        let page = self.get(number).filter(|page| page.get(25) == Some(&PAGE_OVERFLOW))?;
        let used = self.order.half(page, 22)?;
        // An empty page would allow an endless cycle.
        let content = page.get(PAGE_HEAD..)?.get(..used).filter(|content| !content.is_empty())?;
        Some((content, self.order.word(page, 16)? as usize))
    }
}

pub(super) fn read(bytes: &[u8], blobs: &mut Blobs) {
    let Some(order) = byte_order(bytes) else {
        return blobs.problem(0, "not a Berkeley DB hash");
    };
    let (Some(size), Some(last)) = (order.word(bytes, 20), order.word(bytes, 32)) else {
        return blobs.problem(0, "truncated database");
    };
    let size = size as usize;
    if !size.is_power_of_two() || !(SMALLEST_PAGE..=LARGEST_PAGE).contains(&size) {
        return blobs.problem(20, format_args!("invalid page size {size}"));
    }
    if bytes.get(24).is_some_and(|algorithm| *algorithm != 0) {
        return blobs.problem(24, "encrypted database");
    }
    let stored = bytes.len() / size;
    let claimed = (last as usize).saturating_add(1);
    if claimed > stored {
        blobs.problem(32, "truncated database");
    }
    let pages = Pages { bytes, order, size, count: claimed.min(stored) };
    for number in 1..pages.count {
        let Some(page) = pages.get(number) else { return };
        if matches!(page.get(25), Some(&PAGE_HASH_UNSORTED | &PAGE_HASH)) {
            read_page(&pages, number, page, blobs);
        }
        if blobs.is_full() {
            return;
        }
    }
}

/// Reads the pairs of a page. Items are stored from its end towards its start, so each ends where the previous one
/// begins.
fn read_page(pages: &Pages<'_>, number: usize, page: &[u8], blobs: &mut Blobs) {
    let at = number * pages.size;
    if pages.order.word(page, 8).map(|own| own as usize) != Some(number) {
        return blobs.problem(at, "page with the number of another page");
    }
    let items = pages.order.half(page, 20).unwrap_or(0);
    let mut end = pages.size;
    let mut key: Option<&[u8]> = None;
    for item in 0..items {
        let start = pages.order.half(page, PAGE_HEAD + item * 2);
        let Some(bytes) = start.and_then(|start| page.get(start..end)).filter(|bytes| !bytes.is_empty())
        else {
            return blobs.problem(at, "page with overlapping items; the rest of it is omitted");
        };
        end -= bytes.len();
        match key.take() {
            None => key = Some(bytes),
            // Key 0 stores the next free package number.
            Some([ITEM_ON_PAGE, 0, 0, 0, 0]) => {}
            Some(_) => read_value(pages, at + end, bytes, blobs),
        }
        if blobs.is_full() {
            return;
        }
    }
}

fn read_value(pages: &Pages<'_>, at: usize, item: &[u8], blobs: &mut Blobs) {
    match item {
        [ITEM_ON_PAGE, header @ ..] => {
            if blobs.charge(at, header.len()) {
                blobs.add(at, header);
            }
        }
        [ITEM_OFF_PAGE, ..] => {
            let place = pages.order.word(item, 4).zip(pages.order.word(item, 8));
            let Some((first, length)) = place.filter(|_| item.len() == 12) else {
                return blobs.problem(at, "overflow value without a location");
            };
            if let Some(header) = chain(pages, at, first as usize, length as usize, blobs) {
                blobs.add(at, &header);
            }
        }
        _ => blobs.problem(at, "value of a kind that rpm does not store"),
    }
}

/// Assembles a long value. Every byte is charged, so cycles and shared pages end.
fn chain(pages: &Pages<'_>, at: usize, first: usize, length: usize, blobs: &mut Blobs) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    let mut next = first;
    while value.len() < length {
        let Some((content, after)) = pages.overflow(next) else {
            blobs.problem(at, "truncated overflow value");
            return None;
        };
        if !blobs.charge(at, content.len()) {
            return None;
        }
        value.extend_from_slice(content);
        next = after;
    }
    value.truncate(length);
    Some(value)
}
