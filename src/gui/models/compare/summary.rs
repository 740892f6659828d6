//! The page with what matters most.

use std::cmp::Ordering;

use super::facts::largest;
use super::line::{CompareCell, CompareLine, LineSubject, NOTHING, UNKNOWN, Unit};
use super::result::ComparisonResult;
use super::verdicts::Verdicts;
use super::words::{file_delta, letter, plain};
use crate::analysis::Totals;
use crate::base::labels::{GPU_CODE, capital};
use crate::base::size::human;
use crate::base::text::{escape, printable};
use crate::compare::{Change, FileSums, Polarity, SHARE, countermove};
use crate::findings::rule;
use crate::gui::models::layers::LayerItem;
use crate::report::moved_in_words;

const TOTALS: &str = "Totals";
const FILES: &str = "Files vs baseline";
const COMPONENTS: &str = "CUDA components";
const CODE: &str = "GPU code by architecture";
const RUNS: &str = "Compatibility";
const FINDINGS: &str = "Findings by rule";
const LARGEST: &str = "Largest file changes";

/// How many of the largest changes are named.
const NAMED: usize = 12;

/// Gives a total.
type Total = fn(&Totals) -> Option<u64>;

pub(super) fn lines(compared: &ComparisonResult, baseline: usize, sums: &[FileSums]) -> Vec<CompareLine> {
    let mut lines = totals(compared, baseline);
    lines.extend(files(baseline, sums));
    let comparison = &compared.comparison;
    lines.extend(comparison.components.iter().enumerate().map(|(place, row)| {
        CompareLine::numbers(COMPONENTS, printable(&row.name), Unit::Bytes, &row.bytes, baseline)
            .note(versions(&row.versions))
            .about(LineSubject::Component(place))
    }));
    lines.extend(comparison.gpu_code.iter().map(|row| {
        CompareLine::numbers(CODE, printable(&row.arch), Unit::Bytes, &row.bytes, baseline)
            .note(GPU_CODE.shown(&row.kind))
    }));
    lines.extend(runs(&compared.verdicts, baseline));
    for row in &comparison.findings {
        let title = rule(&row.rule).map_or(&*row.rule, |rule| rule.title);
        let counts = |counts: &[Option<u64>]| {
            CompareLine::numbers(FINDINGS, title, Unit::Count, counts, baseline)
                .note("findings")
                .polarity(Some(Polarity::Smaller))
        };
        if row.bytes.iter().flatten().any(|bytes| *bytes > 0) {
            let line = CompareLine::numbers(FINDINGS, title, Unit::Bytes, &row.bytes, baseline);
            lines.push(line.polarity(Some(Polarity::Smaller)));
            let more = counts(&row.counts);
            // The bytes already show it when both change in the same direction.
            let told = lines.last().is_some_and(|line| line.differs) || !more.differs;
            lines.extend((!told).then_some(more));
        } else {
            lines.push(counts(&row.counts));
        }
    }
    lines.extend(largest_changes(compared, baseline));
    lines
}

fn totals(compared: &ComparisonResult, baseline: usize) -> Vec<CompareLine> {
    let images = &compared.comparison.images;
    let totals: Vec<Option<Totals>> = images.iter().map(|image| image.totals()).collect();
    let compressed: Vec<Option<u64>> = images.iter().map(|image| image.compressed()).collect();
    let row = |name: &str, note: &str, (unit, polarity): (Unit, Polarity), total: Total| {
        let values: Vec<Option<u64>> = totals.iter().map(|totals| totals.as_ref().and_then(total)).collect();
        let line = CompareLine::numbers(TOTALS, name, unit, &values, baseline);
        CompareLine { always: true, ..line.note(note).polarity(Some(polarity)) }
    };
    let (size, count) = ((Unit::Bytes, Polarity::Smaller), (Unit::Count, Polarity::Neutral));
    let mut lines = vec![
        CompareLine {
            always: true,
            ..CompareLine::numbers(TOTALS, "Compressed", Unit::Bytes, &compressed, baseline)
                .note("blobs as stored")
                .polarity(Some(Polarity::Smaller))
        },
        row("Merged", "visible in the container", size, |totals| Some(totals.merged_bytes)),
        row("Content", "files in all layers", size, |totals| Some(totals.content_bytes)),
        row("Wasted", "deleted or overwritten by upper layers", size, |totals| {
            totals.complete.then_some(totals.wasted_bytes)
        }),
        row("Efficiency", "merged / content", (Unit::PerMille, Polarity::Larger), |totals| {
            totals.efficiency.filter(|_| totals.complete).map(per_mille)
        }),
        row("Files", "visible in the container", count, |totals| Some(totals.merged_files)),
        row("Layers", "", count, |totals| Some(totals.layers as u64)),
    ];
    let pull = &compared.comparison.pull_bytes;
    let mut pulls = CompareLine::numbers(TOTALS, "Pull size", Unit::Bytes, pull, baseline)
        .note("for a node that has the first image");
    // The pull size on top of the first image cannot be compared with another image.
    for cell in &mut pulls.cells {
        (cell.note, cell.change) = (String::new(), None);
    }
    pulls.always = true;
    lines.push(pulls);
    lines
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a ratio from 0 to 1")]
fn per_mille(ratio: f64) -> u64 {
    // Rounded down, so that 100 % means no waste.
    (ratio.clamp(0.0, 1.0) * 1000.0).floor() as u64
}

/// Gives how many files, and how many bytes.
type FileSum = fn(&FileSums) -> (u64, u64);

/// Files that came, went or changed: how many, and how many bytes that is.
fn files(baseline: usize, sums: &[FileSums]) -> Vec<CompareLine> {
    let rows: [(Change, FileSum); 4] = [
        (Change::Added, |sums| (sums.added, sums.added_bytes)),
        (Change::Removed, |sums| (sums.removed, sums.removed_bytes)),
        (Change::Changed, |sums| (sums.changed, sums.changed_bytes)),
        (Change::Unknown, |sums| (sums.unknown, sums.unknown_bytes)),
    ];
    let line = |(change, value): (Change, FileSum)| {
        let cells = sums.iter().enumerate().map(|(place, sums)| {
            let (count, bytes) = value(sums);
            let sign = change.sign();
            match (place == baseline, count) {
                (true, _) => CompareCell { text: NOTHING.to_owned(), number: true, ..CompareCell::default() },
                (false, 0) => CompareCell { text: plain(0), number: true, ..CompareCell::default() },
                (false, _) => CompareCell {
                    text: plain(count),
                    note: match change {
                        Change::Added | Change::Removed => format!("{sign}{}", human(bytes)),
                        _ => format!("{} {sign}", human(bytes)),
                    },
                    change: Some(change),
                    number: true,
                },
            }
        });
        let line = CompareLine::new(FILES, capital(change.label()), cells.collect());
        CompareLine { always: true, differs: line.cells.iter().any(CompareCell::differs), ..line }
    };
    let shown = |(change, line): &(Change, CompareLine)| *change != Change::Unknown || line.differs;
    // `Change::Unknown` is shown only when something could not be compared.
    rows.into_iter().map(|row| (row.0, line(row))).filter(shown).map(|(_, line)| line).collect()
}

/// One version where all images have the same, else none: the details have them all.
fn versions(versions: &[Option<String>]) -> String {
    let mut known = versions.iter().flatten();
    match known.next() {
        Some(first) if known.all(|other| other == first) => printable(first),
        _ => String::new(),
    }
}

fn runs(verdicts: &Verdicts, baseline: usize) -> Vec<CompareLine> {
    let line = |target: &super::verdicts::MachineVerdicts| {
        let words = target.verdicts.iter().map(|word| Some(word.unwrap_or(UNKNOWN).to_owned())).collect();
        let same = |image: usize| target.verdicts.get(image) == target.verdicts.get(baseline);
        CompareLine::texts(RUNS, target.name.clone(), words, baseline, same)
            .about(LineSubject::Reasons(target.reasons.clone()))
    };
    verdicts.targets.iter().map(line).collect()
}

fn largest_changes(compared: &ComparisonResult, baseline: usize) -> Vec<CompareLine> {
    let tree = &compared.comparison.tree;
    let count = compared.comparison.images.len();
    let line = |id| {
        let row = tree.row(id);
        let path = row.path();
        let base = row.bytes(baseline);
        let cells = (0..count).map(|image| {
            let (bytes, change) = (row.bytes(image), row.change(image, baseline));
            let apart = image != baseline;
            CompareCell {
                text: bytes.map_or_else(|| NOTHING.to_owned(), human),
                note: if apart { file_delta(change, bytes, base) } else { String::new() },
                change: apart.then_some(change),
                number: true,
            }
        });
        let cells = cells.collect();
        let about = LineSubject::Path(path.clone());
        CompareLine {
            differs: true,
            difference: largest(row, baseline, count),
            ..CompareLine::new(LARGEST, escape(&path), cells)
        }
        .about(about)
    };
    let mut rows: Vec<_> = (0..count)
        .filter(|image| *image != baseline)
        .flat_map(|image| tree.largest_changes(image, baseline, NAMED))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    let mut lines: Vec<CompareLine> = rows.into_iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.difference));
    lines.truncate(NAMED);
    lines
}

/// What of an incomplete image was not read: `layer 1 of A`.
fn unread(compared: &ComparisonResult, image: usize) -> Option<String> {
    let analysis = compared.comparison.images.get(image)?;
    analysis.totals().filter(|totals| !totals.complete)?;
    let layer = analysis.layers.iter().position(LayerItem::has_fault);
    Some(match layer {
        Some(layer) => format!("layer {layer} of {}", letter(image)),
        None => letter(image),
    })
}

/// The two packages that moved most with the size, else CUDA components: `, mainly torch (−978 MiB)`.
fn causes(compared: &ComparisonResult, baseline: usize, image: usize, sizes: (u64, u64)) -> String {
    let (base, value) = sizes;
    let (grows, enough) = (value > base, (value.abs_diff(base) / SHARE).max(1));
    let part = |name: &str, before: Option<u64>, after: Option<u64>| {
        let (before, after) = before.zip(after)?;
        let part = before.abs_diff(after);
        ((after > before) == grows && part >= enough).then(|| (part, printable(name)))
    };
    let comparison = &compared.comparison;
    let mut parts: Vec<(u64, String)> = comparison
        .packages
        .iter()
        .filter_map(|row| {
            // One that is not installed has no bytes there.
            let bytes = |image: usize| {
                row.bytes.get(image).copied().flatten().or(row.versions.get(image)?.is_none().then_some(0))
            };
            part(&row.name, bytes(baseline), bytes(image))
        })
        .collect();
    if parts.is_empty() {
        let bytes = |bytes: &[Option<u64>], image: usize| bytes.get(image).copied().flatten();
        let rows = comparison.components.iter();
        let rows =
            rows.filter_map(|row| part(&row.name, bytes(&row.bytes, baseline), bytes(&row.bytes, image)));
        parts.extend(rows);
    }
    parts.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let sign = if grows { "+" } else { "−" };
    let named = parts.iter().take(2).map(|(bytes, name)| format!("{name} ({sign}{})", human(*bytes)));
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!(", mainly {}", named.join(" and ")) }
}

/// The result in one sentence, about the image that differs most in size: sizes with their causes, then what moved
/// against them.
pub(super) fn sentence(compared: &ComparisonResult, baseline: usize) -> Option<String> {
    let comparison = &compared.comparison;
    let merged = |image: usize| comparison.images.get(image)?.totals().map(|totals| totals.merged_bytes);
    let base = merged(baseline)?;
    let apart = (0..comparison.images.len()).filter(|image| *image != baseline);
    let (image, value) = apart
        .filter_map(|image| Some((image, merged(image)?)))
        .max_by_key(|(image, value)| (value.abs_diff(base), std::cmp::Reverse(*image)))?;
    let (to, from) = (letter(image), letter(baseline));
    if let Some(what) = unread(compared, baseline).or_else(|| unread(compared, image)) {
        return Some(format!("Sizes are not comparable: {what} was not read completely."));
    }
    let sizes = match value.cmp(&base) {
        Ordering::Less => format!("{to} is {} smaller than {from}", human(base - value)),
        Ordering::Greater => format!("{to} is {} larger than {from}", human(value - base)),
        Ordering::Equal => format!("{to} has the same merged size as {from}"),
    };
    let wasted = |image: usize| comparison.images.get(image)?.totals().map(|totals| totals.wasted_bytes);
    let wasted = wasted(baseline).zip(wasted(image)).map(|(base, value)| (None, base, value));
    let findings = comparison.findings.iter().filter_map(|row| {
        let bytes = |image: usize| row.bytes.get(image).copied().flatten();
        Some((Some(&*row.rule), bytes(baseline)?, bytes(image)?))
    });
    let moved = countermove((base, value), wasted.into_iter().chain(findings));
    let moved = moved
        .map_or_else(String::new, |(rule, bytes, grew)| format!("; {}", moved_in_words(rule, bytes, grew)));
    let causes = causes(compared, baseline, image, (base, value));
    Some(format!("{sizes}{causes}{moved}."))
}
