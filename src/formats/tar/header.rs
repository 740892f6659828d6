//! Fields of a tar header, read as Go reads them.

use std::ops::Range;

/// Whether `block` is a tar header, possibly truncated: its checksum is correct, or, if truncated, its magic.
pub fn is_header(block: &[u8]) -> bool {
    match <&[u8; 512]>::try_from(block) {
        Ok(whole) => checksum_fits(whole),
        Err(_) => block.get(257..262) == Some(b"ustar"),
    }
}

/// Ids beyond 32 bits are invalid on Linux; the largest 32-bit value replaces them, never 0, which is root.
pub(super) fn narrow(id: Option<u64>) -> u32 {
    id.map_or(0, |id| u32::try_from(id).unwrap_or(u32::MAX))
}

// Fields of a header, equal in all formats.
pub(super) const MODE: Range<usize> = 100..108;
pub(super) const UID: Range<usize> = 108..116;
pub(super) const GID: Range<usize> = 116..124;
pub(super) const SIZE: Range<usize> = 124..136;
pub(super) const MTIME: Range<usize> = 136..148;

/// A numeric field as Go reads it: octal, padded with spaces and NULs, 0 if empty; or base 256. Own code, because the
/// `tar` crate rejects an empty field and truncates large base-256 numbers to 64 bits.
pub(super) fn number(field: &[u8]) -> Option<u64> {
    if let Some(first) = field.first().filter(|first| **first & 0x80 != 0) {
        // 0xff marks a negative number, which is invalid in these fields.
        let top = Some(u64::from(first & 0x7f)).filter(|_| first & 0x40 == 0)?;
        return field[1..]
            .iter()
            .try_fold(top, |value, byte| Some(value.checked_mul(256)? | u64::from(*byte)));
    }
    octal(field)
}

/// The name in a header, with the prefix in formats that have one; reuses the buffer `path`. The `tar` crate also
/// checks the version, which Go does not.
pub(super) fn header_path(block: &[u8; 512], mut path: Vec<u8>) -> Vec<u8> {
    let until_zero = |field: Range<usize>| block[field].split(|byte| *byte == 0).next().unwrap_or_default();
    path.clear();
    let prefix = if &block[257..263] == b"ustar\0" { until_zero(345..500) } else { b"" };
    if !prefix.is_empty() {
        path.extend_from_slice(prefix);
        path.push(b'/');
    }
    path.extend_from_slice(until_zero(0..100));
    path
}

/// Whether the checksum is correct: the sum of all bytes, with the checksum field as spaces; very old writers summed
/// signed bytes.
pub(super) fn checksum_fits(block: &[u8; 512]) -> bool {
    let claimed = octal(&block[148..156]).and_then(|sum| i64::try_from(sum).ok());
    let Some(claimed) = claimed else { return false };
    let blanks = 8 * i64::from(b' ');
    let fields = || block[..148].iter().chain(&block[156..]);
    let unsigned: u32 = fields().map(|byte| u32::from(*byte)).sum();
    claimed == i64::from(unsigned) + blanks
        || claimed == fields().map(|byte| i64::from(byte.cast_signed())).sum::<i64>() + blanks
}

fn octal(field: &[u8]) -> Option<u64> {
    let blank = |byte: &u8| matches!(byte, 0 | b' ');
    let Some(start) = field.iter().position(|byte| !blank(byte)) else { return Some(0) };
    let digits = field[start..].split(|byte| blank(byte)).next().unwrap_or_default();
    // `from_str_radix` would accept a sign.
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?;
    u64::from_str_radix(text, 8).ok()
}
