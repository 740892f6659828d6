//! Integer conversions of sizes and indexes within the limits.

/// An arena index as 32 bits. [`crate::base::Limits`] bounds arenas far below 2^32; a larger index would saturate and
/// be rejected on insertion, never wrap.
#[inline]
pub fn index32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// A layer number as 16 bits: [`crate::base::Limits::layers`] is far below 2^16.
#[inline]
pub fn layer16(layer: usize) -> u16 {
    u16::try_from(layer).unwrap_or(u16::MAX)
}

/// A count of bytes in memory, for buffers that were already allocated.
#[inline]
pub fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The fraction `part` / `total`, 0 to 1.
#[allow(clippy::cast_possible_truncation, reason = "a ratio for a progress bar")]
pub fn fraction(part: u64, total: u64) -> f32 {
    if total == 0 { 0.0 } else { (part as f64 / total as f64).min(1.0) as f32 }
}
