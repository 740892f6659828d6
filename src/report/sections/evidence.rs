//! Evidence of a finding: reason, proof, users, locations, fix.

use super::make::{cell, fact, more, name, number, one_line, path, paths, prose, row, some, table, text};
use crate::base::size::{grouped, human};
use crate::deploy::span;
use crate::report::findings::{FindingLine, LayerShare};
use crate::report::instruction::short_instruction;
use crate::report::page::{Block, Line, Tone};

/// Statements of a proof: the rules write fewer.
const PROOF: usize = 6;
/// Characters of a statement: a list of eight packages fits in.
const STATEMENT: usize = 400;
/// Maximum users: enough to show what kind of users there are.
const USERS: usize = 5;
/// Layers with their instruction: the base image's are often ten.
const LAYERS: usize = 6;
/// Characters of the instruction of a layer, which has a row of its own elsewhere.
const INSTRUCTION: usize = 140;
/// Paths: enough to find the place; the JSON report has all.
const PATHS: usize = 8;

/// Names of the two facts that come first.
pub(super) const WHY: &str = "Why";
pub(super) const ID: &str = "Id";
pub(super) const QUESTION: &str = "Question";

pub(super) fn evidence(finding: &FindingLine) -> Vec<Block> {
    let mut facts = vec![fact(WHY, prose(&finding.reason))];
    if let Some(question) = &finding.question {
        facts.push((QUESTION.to_owned(), Line::plain(prose(question)).tone(Tone::Unsure)));
    }
    let statements = finding.proof.iter().take(PROOF).map(|text| fact("Proof", one_line(text, STATEMENT)));
    facts.extend(statements);
    facts.extend(more("Proof", finding.proof.len(), PROOF, "statement"));
    facts.extend(finding.used_by.iter().take(USERS).map(|user| fact("Used by", one_line(user, STATEMENT))));
    facts.extend(more("Used by", finding.used_by.len(), USERS, "user"));
    // The proof names most owners with their versions.
    if !finding.packages.is_empty() && !finding.proof.iter().any(|text| text.starts_with("owned by ")) {
        facts.push(fact("Owned by", some(finding.packages.iter().map(String::as_str))));
    }
    if finding.files > 0 && !finding.subjects.is_empty() {
        facts.push(fact("About", some(finding.subjects.iter().map(String::as_str))));
    }
    facts.extend(hidden(finding).map(|text| fact("Bytes", text)));
    if finding.potential_bytes > 0 {
        facts.push(fact("GPU code that slim removes", human(finding.potential_bytes)));
        let compressed = finding.potential_compressed_bytes;
        facts.push(fact("Compressed (estimate)", compressed.map_or_else(|| "unknown".to_owned(), human)));
    }
    if let Some(costs) = &finding.cold_start_seconds {
        facts.push(fact("Costs at each cold start", span(costs.low, costs.high)));
    }
    facts.push(fact("Fix", prose(&finding.fix)));
    facts.push((ID.to_owned(), Line::code(name(&finding.id))));
    facts.push(("Rule".to_owned(), Line::code(format!("cutaway explain {}", name(&finding.rule)))));
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(layers(&finding.layer_bytes));
    blocks.extend(places(finding));
    blocks
}

/// Whole folders, each once, then the files outside of them.
fn places(finding: &FindingLine) -> Option<Block> {
    if finding.folders.is_empty() {
        return paths("Files, by path", "paths", &finding.paths, PATHS);
    }
    // Folders are sorted by path and not nested.
    let outside = finding.paths.iter().filter(|path| {
        let before = finding.folders.partition_point(|folder| folder.path.as_str() <= path.as_str());
        let above = before.checked_sub(1).and_then(|place| finding.folders.get(place));
        above.is_none_or(|folder| !path.starts_with(&folder.path))
    });
    let folders = finding.folders.iter().map(|folder| (folder.path.as_str(), folder.files, folder.bytes));
    let mut rows: Vec<(&str, Option<(u64, u64)>)> =
        folders.map(|(path, files, bytes)| (path, Some((files, bytes)))).collect();
    rows.extend(outside.map(|path| (path.as_str(), None)));
    let columns = [text("Folders, then files, by path"), number("Files"), number("Bytes")];
    let line = |(place, sums): &(&str, Option<(u64, u64)>)| match sums {
        Some((files, bytes)) => row([path(place), Line::plain(grouped(*files)), Line::plain(human(*bytes))]),
        None => row([path(place), cell("1"), Line::default()]),
    };
    Some(table(columns, "paths", (&rows, PATHS), line))
}

/// Shadowed part of the bytes; `None` if all are visible.
fn hidden(finding: &FindingLine) -> Option<String> {
    let hidden = finding.bytes.saturating_sub(finding.merged_bytes);
    match (hidden, finding.merged_bytes) {
        (0, _) => None,
        (_, 0) => Some("all shadowed by upper layers".to_owned()),
        (_, merged) => {
            let (seen, hidden) = (human(merged), human(hidden));
            Some(format!("{seen} visible in the container, {hidden} shadowed by upper layers"))
        }
    }
}

fn layers(shares: &[LayerShare]) -> Option<Block> {
    let columns = [number("Layer"), number("Bytes"), number("Files"), text("Instruction")];
    let line = |share: &LayerShare| {
        let instruction = match &share.created_by {
            Some(text) => Line::code(one_line(&short_instruction(text), INSTRUCTION)),
            None => cell("–"),
        };
        let figures = [share.layer.to_string(), human(share.bytes), grouped(share.files)];
        let [layer, bytes, files] = figures.map(Line::plain);
        row([layer, bytes, files, instruction])
    };
    (!shares.is_empty()).then(|| table(columns, "layers", (shares, LAYERS), line))
}
