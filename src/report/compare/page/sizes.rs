//! The images, their sizes, classes, and the regression budget.

use super::Content;
use crate::base::size::human;
use crate::base::text::{elide_middle, printable};
use crate::compare::{Change, Polarity};
use crate::report::compare::model::{CompareImage, RegressionCheck, RegressionFigure};
use crate::report::compare::rows::{View, class_title, ends, size, tone};
use crate::report::page::{Block, Column, Line, Row, Table, Tone};
use crate::report::sections::make::{UNKNOWN, cell, code, name, number, row, table, text};

pub(super) fn section(view: &View<'_>) -> Content {
    let mut blocks = budget(view);
    blocks.push(totals(view));
    blocks.extend(classes(view));
    blocks.push(images(view));
    let merged: Vec<Option<u64>> = view.report.images.iter().map(|image| image.totals.merged_bytes).collect();
    let note = match ends(&merged) {
        Some((first, last)) if last > first => format!("+{} merged", human(last - first)),
        Some((first, last)) if last < first => format!("−{} merged", human(first - last)),
        _ => String::new(),
    };
    (note, blocks)
}

fn budget(view: &View<'_>) -> Vec<Block> {
    let Some(verdict) = &view.report.verdict else { return Vec::new() };
    let row = |check: &RegressionCheck| {
        let (word, tone) = if check.ok { ("ok", Tone::Good) } else { ("fail", Tone::Bad) };
        let actual = check.actual.map_or_else(|| "unknown".to_owned(), |actual| figure(check, actual, true));
        row([
            Line::plain(word).tone(tone),
            code(&check.name),
            Line::plain(actual),
            Line::plain(figure(check, check.limit, false)),
            cell(&check.detail),
        ])
    };
    if verdict.checks.is_empty() {
        return Vec::new();
    }
    let columns = [text("Result"), text("Budget"), number("Growth"), number("Limit"), text("Why")];
    vec![table(columns, "budgets", (&verdict.checks, usize::MAX), row)]
}

/// A figure of the budget; growth with its sign.
fn figure(check: &RegressionCheck, figure: RegressionFigure, signed: bool) -> String {
    let plus = if signed && check.name != "pull_bytes" { "+" } else { "" };
    match (figure, check.unit.as_ref()) {
        (RegressionFigure::Whole(bytes), "bytes") => {
            let size = human(bytes.unsigned_abs());
            match bytes {
                0 => size,
                1.. => format!("{plus}{size}"),
                _ => format!("−{size}"),
            }
        }
        (RegressionFigure::Whole(count), unit) => format!("{count} {}", name(unit)),
        // It is how far the ratio fell.
        (RegressionFigure::Ratio(fell), _) => {
            let points = format!("{:.2} points", fell.abs() * 100.0);
            match (signed, fell > 0.0) {
                (true, true) => format!("−{points}"),
                (true, false) => format!("+{points}"),
                (false, _) => points,
            }
        }
    }
}

fn totals(view: &View<'_>) -> Block {
    let report = view.report;
    let of = |figure: fn(&CompareImage) -> Option<u64>| report.images.iter().map(figure).collect::<Vec<_>>();
    let sizes = |what: &str, figure| view.sizes(Line::plain(what), &of(figure), Polarity::Smaller);
    let counts = |what: &str, figure| view.counts(Line::plain(what), &of(figure));
    let rows = vec![
        sizes("Compressed", |image| image.totals.compressed_bytes),
        sizes("Uncompressed", |image| image.totals.uncompressed_bytes),
        sizes("Content of all layers", |image| image.totals.content_bytes),
        sizes("Merged", |image| image.totals.merged_bytes),
        view.sizes(Line::plain("Wasted"), &wasted(view), Polarity::Smaller),
        efficiency(view),
        counts("Layers", |image| Some(image.totals.layers as u64)),
        counts("Files", |image| image.totals.merged_files),
        pulls(view),
    ];
    Block::Table(Table { columns: view.columns("Size"), rows, more: 0, noun: "sizes" })
}

/// Wasted bytes of the images; unknown where files were not read, which may be wasted or shadow others.
fn wasted(view: &View<'_>) -> Vec<Option<u64>> {
    let images = view.report.images.iter().enumerate();
    images.map(|(place, image)| image.totals.wasted_bytes.filter(|_| !view.is_partial(place))).collect()
}

fn efficiency(view: &View<'_>) -> Row {
    let images = view.report.images.iter().enumerate();
    let ratios: Vec<Option<f64>> =
        images.map(|(place, image)| image.totals.efficiency.filter(|_| !view.is_partial(place))).collect();
    // Rounded down, so that 100 % means no waste.
    let shown = |ratio: f64| format!("{:.1} %", (ratio * 1000.0).floor() / 10.0);
    let cells = view
        .of(&ratios)
        .map(|ratio| Line::plain(ratio.copied().flatten().map_or_else(|| UNKNOWN.to_owned(), shown)));
    let change = match ends(&ratios) {
        None => Line::plain(UNKNOWN).tone(Tone::Weak),
        Some((first, last)) if (last - first).abs() < 0.0005 => Line::default(),
        Some((first, last)) => {
            let sign = if last > first { "+" } else { "−" };
            let moved = if last > first { Change::Added } else { Change::Removed };
            Line::plain(format!("{sign}{:.1} points", (last - first).abs() * 100.0))
                .tone(tone(Polarity::Larger, moved))
        }
    };
    view.row(Line::plain("Efficiency"), cells, change)
}

/// What a node that has the first image pulls: no difference to the first, which it has.
fn pulls(view: &View<'_>) -> Row {
    let cells = view.of(&view.report.pull_bytes).zip(&view.shown).map(|(bytes, place)| match place {
        0 => Line::default(),
        _ => size(bytes.copied().flatten()),
    });
    view.row(Line::plain(format!("Pulled by a node with {}", view.first())), cells, Line::default())
}

fn classes(view: &View<'_>) -> Option<Block> {
    let used = view.report.classes.iter().filter(|row| row.bytes.iter().any(|bytes| *bytes != Some(0)));
    let rows: Vec<Row> = used
        .map(|row| view.sizes(Line::plain(class_title(&row.name)), &row.bytes, Polarity::Neutral))
        .collect();
    let columns = view.columns("Class, merged");
    (!rows.is_empty()).then_some(Block::Table(Table { columns, rows, more: 0, noun: "classes" }))
}

/// Legend of the columns.
fn images(view: &View<'_>) -> Block {
    let line = |place: usize, image: &CompareImage| {
        let platform = image.platform.as_ref().map_or_else(|| UNKNOWN.to_owned(), ToString::to_string);
        let day =
            image.created.as_deref().map_or(UNKNOWN, |created| created.split('T').next().unwrap_or(created));
        let reference = printable(&image.reference);
        row([cell(view.title(place)), Line::code(elide_middle(&reference, 120)), cell(&platform), cell(day)])
    };
    let columns: Vec<Column> = vec![text("Image"), text("Reference"), text("Platform"), text("Created")];
    let rows = view.report.images.iter().enumerate().map(|(place, image)| line(place, image)).collect();
    Block::Table(Table { columns, rows, more: 0, noun: "images" })
}
