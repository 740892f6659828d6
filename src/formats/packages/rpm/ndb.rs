//! ndb, the rpm database of SUSE: pages of slots, then blobs in units of 16 bytes. Numbers are little endian. The
//! layout is that of `lib/backend/ndb/rpmpkg.c` in rpm. Checksums are not verified.

use super::Blobs;

pub(super) const MAGIC: &[u8] = b"RpmP";

const HEADER: usize = 32;
const PAGE: usize = 4096;
const SLOT: usize = 16;
/// Slots count offsets and sizes in blocks of this many bytes.
const BLOCK: usize = 16;
const BLOB_HEAD: usize = 16;
const BLOB_TAIL: usize = 12;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

pub(super) fn read(bytes: &[u8], blobs: &mut Blobs) {
    let (Some(version), Some(pages)) = (word(bytes, 4), word(bytes, 12)) else {
        return blobs.problem(0, "truncated database");
    };
    if version != 0 {
        return blobs.problem(4, format_args!("unknown database version {version}"));
    }
    let claimed = (pages as usize).saturating_mul(PAGE);
    if claimed > bytes.len() {
        blobs.problem(12, "truncated database");
    }
    // The header takes the place of the first two slots.
    let slots = bytes.get(..claimed).unwrap_or(bytes).get(HEADER..).unwrap_or_default();
    for (number, slot) in slots.chunks_exact(SLOT).enumerate() {
        let at = HEADER + number * SLOT;
        if !slot.starts_with(b"Slot") {
            // rpm rejects such a database; the rest of the page may be arbitrary.
            return blobs.problem(at, "damaged slot; the rest is omitted");
        }
        let (Some(package), Some(offset), Some(count)) = (word(slot, 4), word(slot, 8), word(slot, 12))
        else {
            continue;
        };
        if offset == 0 {
            continue;
        }
        let start = (offset as usize).saturating_mul(BLOCK);
        let end = start.saturating_add((count as usize).saturating_mul(BLOCK));
        match bytes.get(start..end).map(|blob| header(blob, package)) {
            None => blobs.problem(at, "slot beyond the end of the database"),
            Some(None) => blobs.problem(start, "damaged header"),
            Some(Some(header)) => {
                if !blobs.charge(start, header.len()) {
                    return;
                }
                blobs.add(start + BLOB_HEAD, header);
            }
        }
        if blobs.is_full() {
            return;
        }
    }
}

/// The bytes between the header and the trailer of a blob, which must agree.
fn header(blob: &[u8], package: u32) -> Option<&[u8]> {
    let length = word(blob, 12)?;
    let tail = blob.get(blob.len().checked_sub(BLOB_TAIL)?..)?;
    let fits = blob.starts_with(b"BlbS")
        && word(blob, 4)? == package
        && word(tail, 4)? == length
        && tail.ends_with(b"BlbE");
    let end = BLOB_HEAD.checked_add(length as usize)?;
    blob.get(BLOB_HEAD..end).filter(|_| fits && end.saturating_add(BLOB_TAIL) <= blob.len())
}
