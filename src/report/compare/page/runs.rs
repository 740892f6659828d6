//! Whether the images run on the targets.

use super::Content;
use crate::base::labels::TARGET_VERDICTS;
use crate::report::compare::model::CompareCompatibility;
use crate::report::compare::rows::{View, noted};
use crate::report::page::{Block, Column, Line, Row, Tone};
use crate::report::sections::make::{label, name, prose, table, text};

/// Rows of the table: hosts of a catalogue are some hundred.
const MOST: usize = 40;

pub(super) fn section(view: &View<'_>) -> Content {
    let list = &view.report.compatibility;
    if list.is_empty() {
        return (String::new(), Vec::new());
    }
    let mut rows: Vec<&CompareCompatibility> = list.iter().collect();
    rows.sort_by_key(|row| !view.differs(&row.verdicts));
    let mut columns: Vec<Column> = vec![text("Target")];
    columns.extend(view.shown.iter().map(|place| text(view.title(*place))));
    let listed = table(columns, "targets", (&rows, MOST), |row| line(view, row));
    let differ = list.iter().filter(|row| view.differs(&row.verdicts)).count();
    let note = if differ == 0 { "same verdicts".to_owned() } else { noted(differ, "differ") };
    (note, vec![listed])
}

fn line(view: &View<'_>, row: &CompareCompatibility) -> Row {
    let verdicts = view.of(&row.verdicts).map(|verdict| {
        let word = verdict.and_then(Option::as_deref).unwrap_or("unknown");
        let tone = match word {
            "runs" => Tone::Good,
            "fails" => Tone::Bad,
            _ => Tone::Unsure,
        };
        Line::plain(label(&TARGET_VERDICTS, word)).tone(tone)
    });
    let gpu = row.gpu.strip_prefix("NVIDIA ").unwrap_or(&row.gpu);
    let why = view.of(&row.why).zip(&view.shown).filter_map(|(why, place)| {
        let why = why?.as_ref()?;
        Some((view.title(*place).to_owned(), Line::plain(prose(why))))
    });
    let details = if view.differs(&row.verdicts) { vec![Block::Facts(why.collect())] } else { Vec::new() };
    Row { cells: std::iter::once(Line::plain(name(gpu))).chain(verdicts).collect(), details }
}
