//! A package database without some of its packages: what stays is copied byte for byte.

use super::fields::lines;
use super::{Package, Read};
use crate::formats::pieces::Pieces;

/// Why a database is not edited: nothing is taken out of what was not understood to its last byte.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEditable {
    /// It is damaged, or larger than the limits.
    #[error("the package database cannot be edited: at byte {at}: {what}")]
    Damaged {
        /// Offset, in bytes.
        at: u64,
        /// The violation.
        what: String,
    },
    /// The packages are not those of these bytes.
    #[error("the package database cannot be edited: {stanzas} entries, but {packages} packages")]
    Other {
        /// Entries in the bytes.
        stanzas: usize,
        /// Packages that were read.
        packages: usize,
    },
}

/// A database of dpkg (`status`, a file of `status.d`) or apk (`installed`) without the packages that `forget` names.
/// `read` is what [`super::dpkg::read_status`] or [`super::apk::read_installed`] read from the same `bytes`. A package
/// goes with the empty lines that follow it.
///
/// # Errors
/// The database was not read completely, or `read` is of other bytes.
pub fn without_packages(
    bytes: &[u8],
    read: &Read,
    forget: &mut dyn FnMut(&Package) -> bool,
) -> Result<Pieces, NotEditable> {
    if let Some(problem) = read.problems.first() {
        return Err(NotEditable::Damaged { at: problem.at, what: problem.what.clone() });
    }
    let starts = starts(bytes);
    if starts.len() != read.packages.len() {
        return Err(NotEditable::Other { stanzas: starts.len(), packages: read.packages.len() });
    }
    let mut pieces = Pieces::default();
    // Empty lines before the first package stay.
    let first = starts.first().copied().unwrap_or(bytes.len());
    pieces.copy(0, first as u64);
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    for ((start, end), package) in starts.iter().copied().zip(ends).zip(&read.packages) {
        if !forget(package) {
            pieces.copy(start as u64, (end - start) as u64);
        }
    }
    Ok(pieces)
}

/// Offsets of the lines that follow an empty one, or the start.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut inside = false;
    for (at, line) in lines(bytes) {
        if !line.is_empty() && !inside {
            starts.push(at);
        }
        inside = !line.is_empty();
    }
    starts
}
