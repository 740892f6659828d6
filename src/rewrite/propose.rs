//! Creates proposals.

use std::cmp::Reverse;

use hashbrown::HashSet;

use super::input::{Input, RewriteError};
use super::proof::prove;
use super::recipe::{NAMED_BY_LAYER, Origin, recipe};
use super::value::{Applicability, Proposal, Proposals};
use super::{split, tidy};
use crate::base::redact;
use crate::base::size::human;
use crate::findings::Verdict;
use crate::jobs::{map_all, workers};

/// Proposals for an image, best first: proven ones before others, those without manual work before others, those with
/// at least three quarters of the largest saving before others; of these the one with the smallest diff, else by saved
/// bytes.
///
/// # Errors
/// The given Dockerfile cannot be read, or belongs to another image.
pub fn propose(input: &Input<'_>) -> Result<Proposals, RewriteError> {
    let recipe = recipe(input)?;
    let mut notes = Vec::new();
    let mut needed = Vec::new();
    let mut drafts = split::drafts(input, &recipe, &mut notes, &mut needed);
    drafts.extend(tidy::draft(input, &recipe, &needed));
    let marks = [UNKNOWN, NAMED_BY_LAYER, redact::REDACTED].into_iter();
    let to_fill_in: Vec<&str> = marks
        .filter(|mark| recipe.origin == Origin::Reconstructed && recipe.file.text().contains(mark))
        .collect();
    let proven = map_all(drafts, workers(), |mut draft| {
        draft.manual_steps.extend(to_fill_in.iter().map(|mark| match *mark {
            UNKNOWN => format!("{mark} marks values that are not recorded in the history: fill them in"),
            NAMED_BY_LAYER => {
                "sources of COPY are known by their names in the layer only: check them".to_owned()
            }
            _ => format!("{mark} marks values that may be secrets: fill them in, or pass them another way"),
        }));
        prove(input, &recipe, draft)
    });
    let worth = proven.into_iter().flatten().filter(|proposal| is_worth_a_change(input, proposal));
    let mut list: Vec<_> = worth.collect();
    let is_ready =
        |proposal: &Proposal| proposal.closure.resolved && proposal.applicability != Applicability::Manual;
    let saved = |one: &Proposal| one.predicted.saved_bytes;
    let most = list.iter().filter(|one| is_ready(one)).map(saved).max();
    let most = most.or_else(|| list.iter().map(saved).max());
    list.sort_by_cached_key(|proposal| {
        let saved = proposal.predicted.saved_bytes;
        // Of those with most of the saving, the one with the smallest diff.
        let brings_most = saved.saturating_mul(4) >= most.unwrap_or_default().saturating_mul(3);
        let lines = if brings_most { changed_lines(&proposal.diff) } else { 0 };
        (!proposal.closure.resolved, !is_ready(proposal), !brings_most, lines, Reverse(saved))
    });
    let mut texts = HashSet::new();
    list.retain(|proposal| texts.insert(proposal.dockerfile.clone()));
    let reason = list.is_empty().then(|| nothing(input, &notes));
    Ok(Proposals { recipe, list, reason, notes })
}

/// Whether a proposal saves enough to list: at least one percent of the image's content.
fn is_worth_a_change(input: &Input<'_>, proposal: &Proposal) -> bool {
    is_worth(input, proposal.predicted.saved_bytes)
}

/// Whether so many bytes are at least one percent of the image's content.
fn is_worth(input: &Input<'_>, bytes: u64) -> bool {
    bytes > 0 && bytes.saturating_mul(100) >= input.merge.merged_bytes
}

/// Lines that a unified diff adds or removes.
fn changed_lines(diff: &str) -> usize {
    let is_change =
        |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    diff.lines().filter(is_change).count()
}

/// The placeholder in a rebuilt file for what its history does not record.
const UNKNOWN: &str = "<unknown>";

fn nothing(input: &Input<'_>, notes: &[String]) -> String {
    if let Some(note) = notes.first() {
        return note.clone();
    }
    let planned = input.findings.list.iter().filter(|finding| input.plan.contains(&finding.id));
    let bytes: u64 = planned.map(|finding| finding.merged_bytes).sum();
    let sizes = format!("the plan removes {} of {}", human(bytes), human(input.merge.merged_bytes));
    let open = input
        .findings
        .list
        .iter()
        .filter(|finding| finding.verdict == Verdict::Unsure && input.plan.answer(&finding.id).is_none());
    let largest =
        open.max_by_key(|finding| finding.merged_bytes).filter(|one| is_worth(input, one.merged_bytes));
    let next = largest.map_or_else(String::new, |finding| {
        format!(
            " Answers may change that; the largest open question is {} ({}).",
            finding.id,
            human(finding.merged_bytes)
        )
    });
    if !is_worth(input, bytes) {
        return format!(
            "A smaller base or another stage would save next to nothing: {sizes}, and no instruction needs a clean-up.{next}"
        );
    }
    format!(
        "No other base or stage saves a percent, although {sizes}: a proposal leaves out instructions and packages, `cutaway slim` also single files.{next}"
    )
}
