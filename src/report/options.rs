//! What every document of this program begins with, and the options of a report.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::Word;
use crate::base::redact;
use crate::cuda::compat::TargetGpu;
use crate::deploy::{Calibration, Profile};
use crate::findings::Plan;

/// Generator of reports: this program.
pub(super) const GENERATOR: Generator =
    Generator { name: Word::Borrowed("cutaway"), version: Word::Borrowed(env!("CARGO_PKG_VERSION")) };

/// Schema of reports.
pub(super) const SCHEMA: &str = "cutaway.report/1";

/// Options of a report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Show values that look like secrets.
    pub show_secrets: bool,
    /// Maximum number of largest files.
    pub largest_files: usize,
    /// List all files of the findings; not needed in formats for people.
    pub paths: bool,
    /// Plan; `None` for all safe findings.
    pub plan: Option<Plan>,
    /// GPUs of this machine, in addition to the targets of the analysis.
    pub host: Vec<TargetGpu>,
    /// Platform of the cold start; `None` for a node without one.
    pub profile: Option<Arc<Profile>>,
    /// Rates of this machine for the cold start, in place of those of the catalogue.
    pub calibration: Option<Arc<Calibration>>,
    /// Whether targets were given, for the cold start after `cutaway slim`.
    pub targets_given: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            show_secrets: false,
            largest_files: 20,
            paths: true,
            plan: None,
            host: Vec::new(),
            profile: None,
            calibration: None,
            targets_given: false,
        }
    }
}

impl Default for Generator {
    fn default() -> Self {
        GENERATOR
    }
}

impl Options {
    /// An instruction of the history, without secrets unless they are shown.
    pub(super) fn instruction(&self, text: &str) -> String {
        if self.show_secrets { text.to_owned() } else { redact::instruction(text) }
    }
}

/// Generator of a report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Generator {
    /// `cutaway`.
    pub name: Word,
    /// Version.
    pub version: Word,
}
