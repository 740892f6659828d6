//! Findings as a list with details, and the plan.

mod details;
mod evidence;
mod files;
mod item;
mod manual;
mod plan;
mod plan_file;
mod prediction;
mod query;
mod question;
mod rows;
mod savings;
pub mod words;

pub use details::{FindingDetails, LayerLine, LoaderStep, UserLine};
pub use evidence::short_question;
pub use files::{FileLine, FindingFiles};
pub use item::FindingItem;
pub use manual::{ManualBlock, ManualSpan, blocks, spans};
pub use plan::{ChosenPlan, LoadedPlan, PlanChange};
pub use plan_file::{PlanFiles, ReadPlan};
pub use prediction::Prediction;
pub use query::FindingList;
pub use question::QuestionItem;
pub use rows::{FindingColumn, FindingGroup, FindingRows, FindingSort, VerdictGroup};
pub use savings::{SavingItem, Savings};

use crate::analysis::Analysis;
use crate::base::size::grouped;
use crate::base::text::counted;
use crate::base::text::printable;
use crate::findings::rules;

/// What the view shows, but for the details of one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingsModel {
    /// All findings, in the order of the analysis.
    pub items: Vec<FindingItem>,
    /// Whether parts of the image could not be read.
    pub incomplete: bool,
    /// What was looked at.
    pub checked_items: String,
    /// Why the rules could not look, when they could not.
    pub fault: Option<String>,
}

impl FindingsModel {
    /// The findings of an analysis; `None` until they are there.
    pub fn new(analysis: &Analysis) -> Option<Self> {
        let (findings, merge) = (analysis.findings.as_deref()?, analysis.merge.as_ref()?);
        let packages = analysis.inventory.as_ref().map_or(0, |inventory| inventory.packages.len());
        let incomplete = analysis.totals().is_some_and(|totals| !totals.complete);
        let checked_items = format!(
            "{} checked {}, {}, {} and the image configuration.{}",
            counted(rules().len(), "rule"),
            if merge.merged_files == 1 {
                "1 file".to_owned()
            } else {
                format!("{} files", grouped(merge.merged_files))
            },
            counted(analysis.layers.len(), "layer"),
            counted(packages, "package"),
            if incomplete { " Nothing is known of the part that was not read." } else { "" },
        );
        let fault = match findings.warnings.as_slice() {
            [first, ..] if findings.list.is_empty() => Some(printable(&first.message)),
            _ => None,
        };
        Some(Self {
            items: findings.list.iter().map(FindingItem::new).collect(),
            incomplete,
            checked_items,
            fault,
        })
    }

    /// The place of the finding with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| item.id == id)
    }
}

/// What the findings still wait for, in words.
pub fn waits_for(analysis: &Analysis, layers: Option<String>) -> String {
    if let Some(layers) = layers {
        return format!("Rules run after all layers are read. Waiting for {layers}.");
    }
    match analysis.inventory.as_ref().map(|inventory| inventory.waits_for.as_deref()) {
        Some(Some(what)) => {
            format!("Rules run after the inventory is complete. Waiting for {}.", printable(what))
        }
        Some(None) => "Rules are running.".to_owned(),
        None => "Rules run after packages, libraries and GPU code are analysed.".to_owned(),
    }
}
