//! Environment, command, labels, and warnings. A value has a row of its own, because it may be long.

use super::Content;
use crate::base::redact::REDACTED;
use crate::base::size::grouped;
use crate::base::text::elide_end;
use crate::report::compare::model::{CompareSetting, CompareWarning};
use crate::report::compare::rows::{View, noted};
use crate::report::page::{Block, Line, Row, Table, Tone};
use crate::report::sections::make::{name, one_line, path, prose, row, text, weak};

/// Settings of a table, and warnings.
const MOST: usize = 40;
/// Characters of a value.
const VALUE: usize = 300;

pub(super) fn section(view: &View<'_>) -> Content {
    let report = view.report;
    let mut blocks = Vec::new();
    let mut differ = 0;
    for (head, noun, list) in
        [("Setting", "settings", &report.config), ("Variable", "variables", &report.environment)]
    {
        let different: Vec<&CompareSetting> = list.iter().filter(|one| one.differs).collect();
        differ += different.len();
        if !different.is_empty() {
            blocks.push(Block::Table(Table {
                columns: vec![text(head), text("Image"), text("Value")],
                rows: different.iter().take(MOST).flat_map(|one| rows(view, one)).collect(),
                more: different.len().saturating_sub(MOST) as u64,
                noun,
            }));
        }
        blocks.extend(view.same(list.len() - different.len(), different.is_empty(), noun));
    }
    (noted(differ, "differ"), blocks)
}

/// One row for each value, with the images that have it.
fn rows(view: &View<'_>, setting: &CompareSetting) -> Vec<Row> {
    let mut values: Vec<(&String, Vec<&str>)> = Vec::new();
    for (value, place) in view.of(&setting.values).zip(&view.shown) {
        // An image that is not named does not have it.
        let Some(value) = value.and_then(Option::as_ref) else { continue };
        let hidden = value.contains(REDACTED);
        // Two redacted values look equal, but may differ.
        match values.iter_mut().find(|(other, _)| *other == value && !hidden) {
            Some((_, images)) => images.push(view.title(*place)),
            None => values.push((value, vec![view.title(*place)])),
        }
    }
    let end = |value: Option<&Option<String>>| value.is_some_and(Option::is_some);
    let mark = match (end(setting.values.first()), end(setting.values.last())) {
        (false, true) => ("+", Tone::Added),
        (true, false) => ("−", Tone::Removed),
        _ => ("~", Tone::Changed),
    };
    let line = |(number, (value, images)): (usize, (&String, Vec<&str>))| {
        let head = if number == 0 {
            Line::code(format!("{} {}", mark.0, name(&setting.name))).tone(mark.1)
        } else {
            Line::default()
        };
        let value = if value.is_empty() {
            Line::plain("empty").tone(Tone::Weak)
        } else {
            Line::code(one_line(value, VALUE))
        };
        row([head, Line::plain(images.join(", ")), value])
    };
    values.into_iter().enumerate().map(line).collect()
}

pub(super) fn warnings(view: &View<'_>) -> Content {
    let list = &view.report.warnings;
    let line = |CompareWarning { image, warning }: &CompareWarning| {
        let title = view.title(*image);
        let subject = path(&warning.subject).text;
        let text = format!("{title}: {}: {subject}: {}", name(&warning.code), prose(&warning.message));
        Block::Line(Line::plain(elide_end(&text, 1000)))
    };
    let mut blocks: Vec<Block> = list.iter().take(MOST).map(line).collect();
    if let Some(more) = list.len().checked_sub(MOST).filter(|more| *more > 0) {
        blocks.push(weak(format!("{more} more warnings: see the JSON report.")));
    }
    (grouped(list.len() as u64), blocks)
}
