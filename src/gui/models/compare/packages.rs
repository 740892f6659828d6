//! Packages with their versions.

use super::line::{CompareLine, LineSubject};
use super::result::ComparisonResult;
use crate::base::text::printable;
use crate::compare::PackageRow;

pub(super) fn lines(compared: &ComparisonResult, baseline: usize) -> Vec<CompareLine> {
    let line = |(place, row): (usize, &PackageRow)| {
        let values = row.versions.iter().map(|version| version.as_deref().map(printable)).collect();
        let same = |image: usize| row.versions.get(image) == row.versions.get(baseline);
        let size = row.bytes.iter().flatten().max().copied().unwrap_or(0);
        let base = row.bytes.get(baseline).copied().flatten().unwrap_or(0);
        let apart = row.bytes.iter().map(|bytes| bytes.unwrap_or(0).abs_diff(base)).max().unwrap_or(0);
        let line = CompareLine::texts("", printable(&row.name), values, baseline, same)
            .note(&*row.manager)
            .about(LineSubject::Package(place));
        CompareLine { size, difference: if line.differs { apart.max(1) } else { 0 }, ..line }
    };
    compared.comparison.packages.iter().enumerate().map(line).collect()
}
