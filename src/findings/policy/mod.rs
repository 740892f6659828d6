//! `cutaway.toml`: the policy of a project, and the check of an image against it.

mod date;
mod document;
mod ignore_filter;
mod judge;
mod outcome;
mod pattern;
mod regression;
#[cfg(test)]
mod tests;

pub use date::Date;
pub use document::{FILE_BYTES, PolicyError};
pub use outcome::{Amount, Check, Failing, Ignored, Measured, Outcome};
pub use pattern::{Pattern, near};
pub use regression::{Compared, Difference, Growth, Regressed, Regression};

use std::collections::BTreeSet;

use crate::base::text::elide_end;
use crate::cuda::catalog::{Catalog, Profile};
use crate::cuda::compat::{HostTargets, TargetGpu, parse_targets};

/// The policy of a project. Without a file there are no requirements.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The file name in errors.
    file: String,
    targets: Vec<Written>,
    profile: Option<Written>,
    /// Size limits.
    pub budget: Budget,
    /// Limits for the growth from the first to the last image of a comparison.
    pub regression: Regression,
    /// Ids of the rules whose findings fail the check: denied, and not allowed.
    denied: BTreeSet<&'static str>,
    ignores: Vec<Ignore>,
}

/// Size limits in bytes; `None` when unset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Maximum bytes of all layer blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// Maximum bytes of the merged view.
    pub merged_bytes: Option<u64>,
    /// Maximum bytes of build content with verdict safe or unsure.
    pub devel_bytes: Option<u64>,
    /// Maximum wasted bytes.
    pub wasted_bytes: Option<u64>,
    /// Maximum bytes of duplicates.
    pub duplicate_bytes: Option<u64>,
    /// Maximum bytes of GPU code that no target uses.
    pub dead_gpu_code_bytes: Option<u64>,
    /// Minimum of `merged_bytes / content_bytes`.
    pub efficiency: Option<f64>,
}

/// A string of the file and its position.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    line: usize,
    column: usize,
}

/// An accepted finding.
#[derive(Clone, Debug)]
struct Ignore {
    /// As written: an id or a glob.
    rule: String,
    rules: BTreeSet<&'static str>,
    path: Option<Pattern>,
    reason: String,
    expires: Option<Date>,
}

impl Policy {
    /// Target GPUs; none when the file sets none. `host` is called when this machine's GPU is one of them.
    ///
    /// # Errors
    /// An unknown or unusable target: with line and column.
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

    /// Whether the file sets targets.
    pub fn names_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    /// Whether the file names a platform.
    pub fn names_profile(&self) -> bool {
        self.profile.is_some()
    }

    /// The platform that the image is meant for; `None` when the file names none.
    ///
    /// # Errors
    /// No profile of the catalogue has this id: with line and column.
    pub fn profile<'c>(&self, catalog: &'c Catalog) -> Result<Option<&'c Profile>, PolicyError> {
        let Some(written) = &self.profile else { return Ok(None) };
        let ids = || catalog.profiles().iter().map(|profile| profile.id.as_str());
        let found = catalog.profiles().iter().find(|one| one.id.eq_ignore_ascii_case(written.text.trim()));
        found.map(Some).ok_or_else(|| PolicyError::Fault {
            file: self.file.clone(),
            line: written.line,
            column: written.column,
            message: format!("unknown profile {:?}", elide_end(&written.text, 40)),
            hint: Some(format!("profiles are {}", ids().collect::<Vec<_>>().join(", "))),
        })
    }

    /// Whether findings of this rule fail the check.
    pub fn denies(&self, rule: &str) -> bool {
        self.denied.contains(rule)
    }
}
