//! The machines as a table.

use egui::Ui;

use super::head::sign;
use super::state::GpuState;
use super::{Action, GpuEvent};
use crate::base::labels::TARGET_VERDICTS;
use crate::gui::design::Tokens;
use crate::gui::models::gpu::{Machine, TargetGroup, TargetItem, TargetKind, TargetVerdicts};
use crate::gui::models::grouped::GroupedRow;
use crate::gui::views::grouping::GroupedEvent;
use crate::gui::widgets::list::ListOutput;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};

/// What a row shows.
enum Line<'a> {
    /// A group, with the note after its name.
    Group(&'a TargetGroup, String),
    Target(&'a TargetItem),
}

impl Line<'_> {
    /// A cell that only machines have.
    fn cell(&self, cell: impl FnOnce(&TargetItem) -> TableCell) -> TableCell {
        match self {
            Self::Group(..) => TableCell::EMPTY,
            Self::Target(target) => cell(target),
        }
    }
}

type Column<'a> = TableColumn<Line<'a>>;

fn columns<'a>() -> [Column<'a>; 6] {
    [
        Column::text("Target", 130.0, |line, tokens| match line {
            Line::Group(group, _) => TableCell::new(group.kind.title(), tokens.text),
            Line::Target(target) => TableCell::new(&*target.short, tokens.text),
        }),
        Column::text("GPU", 112.0, |line, tokens| {
            line.cell(|target| TableCell::new(target.gpus_text(), tokens.text_weak))
        })
        .rank(1),
        Column::number("CC", 28.0, |line, tokens| {
            line.cell(|target| TableCell::new(&*target.capability, tokens.text_weak))
        })
        .rank(3),
        Column::text("Driver", 96.0, |line, tokens| {
            line.cell(|target| {
                let driver = if target.driver.is_some() { target.driver_text() } else { "–".to_owned() };
                TableCell::new(driver, tokens.text_weak)
            })
        })
        .rank(2),
        Column::text("Verdict", 166.0, |line, tokens| {
            line.cell(|target| {
                let verdict = target.judgement.verdict;
                let (mark, color) = sign(tokens, verdict);
                TableCell::new(verdict.label(), color).mark((mark, color))
            })
        })
        .filter(TARGET_VERDICTS.key),
        Column::text("Why", 160.0, |line, tokens| match line {
            Line::Group(_, about) => TableCell::new(&**about, tokens.text_weak),
            Line::Target(target) => TableCell::new(&*target.judgement.why, tokens.text),
        })
        .grows(),
    ]
}

/// Shows the table; `None` when no row is left.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut GpuState,
    judged: &TargetVerdicts,
    machine: &Machine,
    events: &mut Vec<GpuEvent>,
) -> Option<ListOutput> {
    let tokens = Tokens::of(ui);
    if state.rows.list.rows.is_empty() {
        card(ui, |ui| {
            let verdict = TARGET_VERDICTS.term("runs-with-jit");
            let note = format!(
                "Filter by ID, GPU, compute capability, driver, reason or {verdict}. All terms must match."
            );
            empty(ui, "No matching machine", &note);
        });
        return None;
    }
    let rows = &state.rows.list;
    let make = |index: usize| match rows.rows[index] {
        GroupedRow::Group(place) => {
            let group = &rows.groups[place];
            let line = Line::Group(group, about(group, machine));
            let row = TableRow::group(place, rows.is_open(index), line);
            match group.targets.len() {
                // Align the name with those that have an arrow.
                0 => TableRow { depth: 1, fold: None, ..row },
                count => TableRow { badges: vec![(count.to_string(), tokens.text_weak)], ..row },
            }
        }
        GroupedRow::Item(place) => {
            TableRow { depth: 1, ..TableRow::new(place as u64, Line::Target(&judged.targets[place])) }
        }
    };
    let spoken = |line: &Line<'_>| match line {
        Line::Group(group, about) => format!("{}, {about}", group.kind.title()),
        Line::Target(target) => target.spoken(),
    };
    let shape = TableShape {
        name: "Machines",
        rows: rows.rows.len(),
        columns: &columns(),
        sorting: None,
        selected: state.row(),
        reveal: std::mem::take(&mut state.reveal),
    };
    let mut output = card(ui, |ui| table(ui, "machines", shape, make, spoken));
    if let Some((index, response)) = output.hovered.take()
        && let Some(GroupedRow::Item(place)) = rows.rows.get(index)
        && let Some(target) = judged.targets.get(*place)
    {
        response.on_hover_ui_at_pointer(|ui| tooltip(ui, target));
    }
    for event in state.groups.take(ui, &state.rows.list, &output) {
        match event {
            GroupedEvent::Select(place) | GroupedEvent::Activate(place) => {
                events.push(GpuEvent::Target(place));
            }
            GroupedEvent::Copy => {
                let copied = state.chosen(judged).map(TargetItem::copied);
                events.extend(copied.map(|text| GpuEvent::Window(Action::CopyText(text))));
            }
            GroupedEvent::Rows => state.make_rows(),
            GroupedEvent::Clear => events.push(GpuEvent::Clear),
            GroupedEvent::Toggle(_) => {}
        }
    }
    Some(output)
}

fn tooltip(ui: &mut Ui, target: &TargetItem) {
    let verdict = target.judgement.verdict;
    ui.label(format!("{} on {}", verdict.label(), target.id));
    let why = if target.judgement.why.is_empty() { verdict.about() } else { &target.judgement.why };
    ui.label(why);
}

/// The note after the name of a group.
fn about(group: &TargetGroup, machine: &Machine) -> String {
    if group.kind != TargetKind::Host || !group.targets.is_empty() {
        return group.sum();
    }
    let has_failed = machine.is_known() || machine.library().is_some_and(|check| check.error.is_some());
    let words = match (machine.is_checking(), has_failed) {
        (true, _) => "checking",
        (false, true) => "no usable GPU",
        (false, false) => "not checked",
    };
    words.to_owned()
}
