//! `cutaway.toml`: what a project asks of its images, and whether one holds to it.

mod date;
mod document;
mod judge;
mod outcome;
mod pattern;
mod regression;
mod sieve;
#[cfg(test)]
mod tests;

pub use date::Date;
pub use document::{FILE_BYTES, PolicyError};
pub use outcome::{Amount, Check, Failing, Ignored, Measured, Outcome};
pub use pattern::near;
pub use regression::{Compared, Difference, Growth, Regressed, Regression};

use std::collections::BTreeSet;

use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{HostTargets, TargetGpu, parse_targets};
use pattern::Pattern;

/// What a project asks of its images. Without a file it asks nothing.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The file, as errors call it.
    file: String,
    targets: Vec<Written>,
    /// The deployment profile, as it is written. The check itself does not use it.
    pub profile: Option<String>,
    /// What sizes may be.
    pub budget: Budget,
    /// How much more the last image of a comparison may have than the first.
    pub regression: Regression,
    /// Ids of the rules whose findings fail the check: denied, and not allowed.
    denied: BTreeSet<&'static str>,
    ignores: Vec<Ignore>,
}

/// What sizes may be, in bytes; `None` is not asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Blobs of all layers as stored, at most.
    pub compressed_bytes: Option<u64>,
    /// What a container sees, at most.
    pub merged_bytes: Option<u64>,
    /// Content for building that is safe or unsure, at most.
    pub devel_bytes: Option<u64>,
    /// What layers hold and no container sees, at most.
    pub wasted_bytes: Option<u64>,
    /// Second copies, at most.
    pub duplicate_bytes: Option<u64>,
    /// GPU code for other GPUs than the targets, at most.
    pub dead_gpu_code_bytes: Option<u64>,
    /// `merged_bytes / content_bytes`, at least.
    pub efficiency: Option<f64>,
}

/// A text of the file, and where it stands.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    line: usize,
    column: usize,
}

/// Something that somebody looked at and accepts.
#[derive(Clone, Debug)]
struct Ignore {
    /// As it is written: an id or a glob.
    rule: String,
    rules: BTreeSet<&'static str>,
    path: Option<Pattern>,
    reason: String,
    expires: Option<Date>,
}

impl Policy {
    /// GPUs that the image is meant for; none when the file does not say. `host` is asked for this machine's when
    /// it is one of them.
    ///
    /// # Errors
    /// When one cannot be used: with line and column.
    pub fn targets(
        &self,
        catalog: &Catalog,
        host: &dyn Fn() -> HostTargets,
    ) -> Result<Vec<TargetGpu>, PolicyError> {
        let read = |written: &Written| {
            parse_targets(catalog, &written.text, host).map_err(|error| PolicyError::Fault {
                file: self.file.clone(),
                line: written.line,
                column: written.column,
                message: error.to_string(),
                hint: Some(error.hint()),
            })
        };
        let read: Vec<Vec<TargetGpu>> = self.targets.iter().map(read).collect::<Result<_, _>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// Whether the file says which GPUs the image is meant for.
    pub fn names_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    /// Whether findings of this rule fail the check.
    pub fn denies(&self, rule: &str) -> bool {
        self.denied.contains(rule)
    }
}
