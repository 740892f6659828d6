//! Contents of the images: findings, CUDA components, GPU code, packages, files.

use super::Content;
use crate::base::labels::capital;
use crate::base::size::{grouped, human};
use crate::compare::{Change, ComponentRow, FileSums, FindingRow, GpuCodeRow, PackageRow, Polarity};
use crate::report::compare::model::FileChange;
use crate::report::compare::rows::{View, change, ends};
use crate::report::page::{Block, Column, Line, Row, Table, Tone};
use crate::report::sections::make::{UNKNOWN, cell, code, name, number, path, text, weak};

/// Rows of a table.
const MOST: usize = 40;
/// Packages and files: lists that are long in many images.
const MOST_NAMES: usize = 25;

pub(super) fn findings(view: &View<'_>) -> Content {
    let all = &view.report.findings;
    let differs = |row: &FindingRow| view.differs(&row.bytes) || view.differs(&row.counts);
    let row = |row: &FindingRow| {
        let cells = view.of(&row.bytes).zip(view.of(&row.counts)).map(|(bytes, count)| {
            match (bytes.copied().flatten(), count.copied().flatten()) {
                (_, None) => Line::plain(UNKNOWN),
                (_, Some(0)) => Line::default(),
                (Some(bytes @ 1..), _) => Line::plain(human(bytes)),
                (_, Some(count)) => Line::plain(found(count)),
            }
        });
        // Where the bytes are the same, what differs is how many there are.
        let changed = match (ends(&row.bytes), ends(&row.counts)) {
            (Some((first, last)), _) if first != last => {
                change(Some((first, last)), human, Polarity::Smaller)
            }
            (_, counts) => change(counts, found, Polarity::Smaller),
        };
        view.row(code(&row.rule), cells, changed)
    };
    let rows = ("Rule, layer bytes", "rules");
    view.differing(rows, (all, MOST), differs, row, |row| view.spread(&row.bytes))
}

/// What has no bytes of its own is counted.
fn found(count: u64) -> String {
    format!("{} found", grouped(count))
}

pub(super) fn components(view: &View<'_>) -> Content {
    let list = &view.report.components;
    let differs = |row: &ComponentRow| view.differs(&row.bytes) || view.differs(&row.versions);
    let row = |row: &ComponentRow| {
        let versions = &row.versions;
        let mut sizes = view.sizes(cell(&row.name), &row.bytes, Polarity::Neutral);
        if view.differs(versions) {
            let told = view.of(versions).zip(&view.shown).filter_map(|(version, place)| {
                let version = version?.as_ref()?;
                Some((view.title(*place).to_owned(), code(version)))
            });
            sizes.details = vec![Block::Facts(told.collect())];
            if let Some(last) = sizes.cells.last_mut().filter(|change| change.text.is_empty()) {
                *last = Line::plain("~ version").tone(Tone::Changed);
            }
        }
        sizes
    };
    let rows = ("Component, merged", "components");
    view.differing(rows, (list, MOST), differs, row, |row| view.spread(&row.bytes))
}

pub(super) fn gpu_code(view: &View<'_>) -> Content {
    let list = &view.report.gpu_code;
    let differs = |row: &GpuCodeRow| view.differs(&row.bytes);
    let row = |row: &GpuCodeRow| view.sizes(code(&row.arch), &row.bytes, Polarity::Neutral);
    let rows = ("GPU code, as stored", "architectures");
    view.differing(rows, (list, MOST), differs, row, |row| view.spread(&row.bytes))
}

pub(super) fn packages(view: &View<'_>) -> Content {
    let list = &view.report.packages;
    let differs = |row: &PackageRow| view.differs(&row.versions);
    let row = |row: &PackageRow| {
        let cells = view.of(&row.versions).map(|version| match version.and_then(Option::as_ref) {
            Some(version) => code(version),
            None => Line::default(),
        });
        let name = Line::plain(name(&format!("{} ({})", row.name, row.manager)));
        view.row(name, cells, package_change(row))
    };
    let rows = ("Package", "packages");
    view.differing(rows, (list, MOST_NAMES), differs, row, |row| view.spread(&row.bytes))
}

/// What became of a package, with its bytes where they are known.
fn package_change(row: &PackageRow) -> Line {
    let first = row.versions.first().and_then(Option::as_ref);
    let last = row.versions.last().and_then(Option::as_ref);
    let bytes = |bytes: Option<&Option<u64>>| bytes.copied().flatten().map(human);
    match (first, last) {
        (None, Some(_)) => {
            let bytes = bytes(row.bytes.last()).unwrap_or_else(|| " added".to_owned());
            Line::plain(format!("+{bytes}"))
        }
        (Some(_), None) => {
            let bytes = bytes(row.bytes.first()).unwrap_or_else(|| " removed".to_owned());
            Line::plain(format!("−{bytes}"))
        }
        (Some(one), Some(other)) if one != other => match ends(&row.bytes) {
            Some((first, last)) if first != last => change(Some((first, last)), human, Polarity::Neutral),
            _ => Line::plain("~ version").tone(Tone::Changed),
        },
        _ => Line::default(),
    }
}

pub(super) fn files(view: &View<'_>) -> Content {
    let report = view.report;
    let files = &report.files;
    let mut blocks = vec![sums(view)];
    let differ = files.added.saturating_add(files.removed).saturating_add(files.changed);
    let named = &report.largest_changes;
    if !named.is_empty() {
        let row = |change: &FileChange| {
            let cells = view.of(&change.bytes).map(|bytes| match bytes.copied().flatten() {
                Some(bytes) => Line::plain(human(bytes)),
                None => Line::default(),
            });
            view.row(path(&change.path), cells, file_change(change))
        };
        blocks.push(Block::Table(Table {
            columns: view.columns("Largest differences, size"),
            rows: named.iter().take(MOST_NAMES).map(row).collect(),
            // The sums count files that are not named.
            more: differ.saturating_sub(named.len().min(MOST_NAMES) as u64),
            noun: "files",
        }));
    }
    if files.unknown > 0 {
        blocks.push(weak(format!(
            "{} files of equal size not compared: {}.",
            grouped(files.unknown),
            human(files.unknown_bytes)
        )));
    }
    (if differ == 0 { String::new() } else { format!("{} differ", grouped(differ)) }, blocks)
}

/// What became of a file. One that changed and has as many bytes as before is marked too.
fn file_change(file: &FileChange) -> Line {
    let none = |bytes: &Option<u64>| Some(bytes.unwrap_or(0));
    let bytes = file.bytes.first().and_then(none).zip(file.bytes.last().and_then(none));
    let line = change(bytes, human, Polarity::Neutral);
    match file.change.as_ref() {
        "added" => {
            Line::plain(if line.text.is_empty() { "+0 B".to_owned() } else { line.text }).tone(Tone::Added)
        }
        "removed" => {
            Line::plain(if line.text.is_empty() { "−0 B".to_owned() } else { line.text }).tone(Tone::Removed)
        }
        _ if line.text.is_empty() => Line::plain("~ content").tone(Tone::Changed),
        _ => line.tone(Tone::Changed),
    }
}

/// Formats a figure of the files of an image.
type Shown = fn(&FileSums) -> String;

/// Files of every image against the first.
fn sums(view: &View<'_>) -> Block {
    let report = view.report;
    let later: Vec<(usize, &FileSums)> = match &report.files_by_image[..] {
        [] => vec![(report.images.len().saturating_sub(1), &report.files)],
        all => {
            let shown = view.shown.iter().filter(|place| **place > 0);
            shown.filter_map(|place| Some((*place, all.get(*place)?))).collect()
        }
    };
    let mut columns: Vec<Column> = vec![text(&format!("Files vs {}", view.first()))];
    columns.extend(later.iter().map(|(place, _)| number(view.title(*place))));
    let kinds: [(&str, Shown, Tone); 7] = [
        ("Added", |files| signed("+", &grouped(files.added)), Tone::Added),
        ("Bytes added", |files| signed("+", &human(files.added_bytes)), Tone::Added),
        ("Removed", |files| signed("−", &grouped(files.removed)), Tone::Removed),
        ("Bytes removed", |files| signed("−", &human(files.removed_bytes)), Tone::Removed),
        ("Changed", |files| signed("~", &grouped(files.changed)), Tone::Changed),
        ("Bytes of changed files, before", |files| human(files.changed_bytes_before), Tone::Plain),
        ("Bytes of changed files, after", |files| human(files.changed_bytes), Tone::Plain),
    ];
    let row = |(what, show, tone): (&str, Shown, Tone)| Row {
        cells: std::iter::once(Line::plain(what))
            .chain(later.iter().map(|(_, files)| match show(files) {
                text if text == "0" => Line::plain(text),
                text => Line::plain(text).tone(tone),
            }))
            .collect(),
        details: Vec::new(),
    };
    let mut rows: Vec<Row> = kinds.into_iter().map(row).collect();
    let count = |what: &str, count: fn(&FileSums) -> u64| Row {
        cells: std::iter::once(Line::plain(what))
            .chain(later.iter().map(|(_, files)| Line::plain(grouped(count(files)))))
            .collect(),
        details: Vec::new(),
    };
    rows.push(count(&capital(Change::Same.label()), |files| files.same));
    if later.iter().any(|(_, files)| files.unknown > 0) {
        rows.push(count(&capital(Change::Unknown.label()), |files| files.unknown));
    }
    Block::Table(Table { columns, rows, more: 0, noun: "sums" })
}

/// A figure with its sign; nothing has none.
fn signed(sign: &str, figure: &str) -> String {
    if figure == "0" || figure == "0 B" { figure.to_owned() } else { format!("{sign}{figure}") }
}
