//! The machines as a table.

use egui::Ui;

use super::head::sign;
use super::state::GpuState;
use super::{Action, GpuEvent};
use crate::base::labels::TARGET_VERDICTS;
use crate::gui::design::Tokens;
use crate::gui::models::gpu::{Machine, TargetGroup, TargetItem, TargetKind, TargetRow, TargetVerdicts};
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};

/// Reasons have what room is left, but never less.
const WHY: f32 = 160.0;
/// What the table keeps free at its sides and between columns.
const SIDES: f32 = 21.0;
const GAP: f32 = 12.0;

const COLUMNS: [TableColumn; 6] = [
    TableColumn { title: "Target", width: 168.0, number: false, rank: 0 },
    TableColumn { title: "GPU", width: 122.0, number: false, rank: 1 },
    TableColumn { title: "CC", width: 28.0, number: true, rank: 3 },
    TableColumn { title: "Driver", width: 140.0, number: false, rank: 2 },
    TableColumn { title: "Verdict", width: 166.0, number: false, rank: 0 },
    TableColumn { title: "Why", width: WHY, number: false, rank: 0 },
];

/// The columns for a table of this width: the reasons take the remaining width.
fn columns(width: f32) -> [TableColumn; 6] {
    let mut columns = COLUMNS;
    let all: f32 = COLUMNS.iter().map(|column| column.width + GAP).sum();
    let mut left = width - SIDES - (all - GAP);
    let mut ranked: Vec<&TableColumn> = COLUMNS.iter().filter(|column| column.rank > 0).collect();
    ranked.sort_by_key(|column| std::cmp::Reverse(column.rank));
    for column in ranked {
        if left >= 0.0 {
            break;
        }
        left += column.width + GAP;
    }
    columns[5].width = (WHY + left).max(96.0);
    columns
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
    if state.rows.rows.is_empty() {
        card(ui, |ui| {
            let verdict = TARGET_VERDICTS.term("runs-with-jit");
            let note = format!(
                "Filter by ID, GPU, compute capability, driver, reason or {verdict}. All terms must match."
            );
            empty(ui, "No matching machine", &note);
        });
        return None;
    }
    let columns = columns(ui.available_width() - 2.0);
    let rows = &state.rows;
    let shape = TableShape {
        name: "Machines",
        rows: rows.rows.len(),
        columns: &columns,
        sort: None,
        selected: state.row(),
        reveal: std::mem::take(&mut state.reveal),
    };
    let make = |index: usize| match rows.rows[index] {
        TargetRow::Group(group) => group_row(tokens, group, &rows.groups[group], machine),
        TargetRow::Target(place) => target_row(tokens, place, &judged.targets[place]),
    };
    let spoken = |index: usize| match rows.rows[index] {
        TargetRow::Group(group) => spoken_group(&rows.groups[group], machine),
        TargetRow::Target(place) => judged.targets[place].spoken(),
    };
    let mut output = card(ui, |ui| table(ui, "machines", &shape, make, spoken));
    if let Some((index, response)) = output.hovered.take()
        && let Some(TargetRow::Target(place)) = rows.rows.get(index)
        && let Some(target) = judged.targets.get(*place)
    {
        response.on_hover_ui_at_pointer(|ui| tooltip(ui, target));
    }
    take(ui, state, judged, &output, events);
    Some(output)
}

fn tooltip(ui: &mut Ui, target: &TargetItem) {
    let verdict = target.judgement.verdict;
    ui.label(format!("{} on {}", verdict.label(), target.id));
    let why = if target.judgement.why.is_empty() { verdict.about() } else { &target.judgement.why };
    ui.label(why);
}

fn take(
    ui: &Ui,
    state: &mut GpuState,
    judged: &TargetVerdicts,
    output: &ListOutput,
    events: &mut Vec<GpuEvent>,
) {
    // Rows may change while events are carried out: what they are about is looked up before.
    let rows = state.rows.rows.clone();
    let row = |index: usize| rows.get(index).copied();
    let folds = |event: &ListEvent| matches!(event, ListEvent::Open(_) | ListEvent::Close(_));
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => match row(index) {
                Some(TargetRow::Target(place)) => events.push(GpuEvent::Target(place)),
                Some(TargetRow::Group(group)) => {
                    // A click anywhere on a group folds it; keys only pass over it.
                    let clicked = ui.input(|input| input.pointer.any_click());
                    if clicked && !output.events.iter().any(folds) {
                        let open = state.rows.groups.get(group).is_some_and(|group| group.open);
                        state.fold(group, open);
                    }
                    state.at_group(group);
                }
                None => {}
            },
            ListEvent::Open(index) | ListEvent::Close(index) => {
                if let Some(TargetRow::Group(group)) = row(index) {
                    state.fold(group, matches!(event, ListEvent::Close(_)));
                }
            }
            ListEvent::Parent(index) => {
                let mut above = rows.get(..index).unwrap_or_default().iter().rev();
                let group = above.find_map(|row| match row {
                    TargetRow::Group(group) => Some(*group),
                    TargetRow::Target(_) => None,
                });
                if let Some(group) = group {
                    state.at_group(group);
                }
            }
            ListEvent::Activate(index) => {
                if let Some(TargetRow::Target(place)) = row(index) {
                    events.push(GpuEvent::Target(place));
                }
            }
            ListEvent::Clear => events.push(GpuEvent::Clear),
            _ => {}
        }
    }
    let copies = output.focused && ui.input(|input| input.events.contains(&egui::Event::Copy));
    if let Some(target) = state.chosen(judged).filter(|_| copies) {
        events.push(GpuEvent::Window(Action::CopyText(target.copied())));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
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

fn group_row(tokens: &Tokens, key: usize, group: &TargetGroup, machine: &Machine) -> TableRow {
    let weak = tokens.text_weak;
    let count = group.targets.len();
    let blank = || TableCell::new("", weak);
    TableRow {
        key: 1_u64 << 40 | key as u64,
        // Align the name with those that have an arrow.
        depth: u8::from(count == 0),
        fold: (count > 0).then_some(group.open),
        strong: true,
        cut: Cut::End,
        badges: if count > 0 { vec![(count.to_string(), weak)] } else { Vec::new() },
        cells: vec![
            TableCell::new(group.kind.title(), tokens.text),
            blank(),
            blank(),
            blank(),
            blank(),
            TableCell::new(about(group, machine), weak),
        ],
    }
}

fn spoken_group(group: &TargetGroup, machine: &Machine) -> String {
    format!("{}, {}", group.kind.title(), about(group, machine))
}

fn target_row(tokens: &Tokens, key: usize, target: &TargetItem) -> TableRow {
    let weak = tokens.text_weak;
    let verdict = target.judgement.verdict;
    let (mark, color) = sign(tokens, verdict);
    let driver = if target.driver.is_some() { target.driver_text() } else { "–".to_owned() };
    TableRow {
        key: key as u64,
        depth: 1,
        fold: None,
        strong: false,
        cut: Cut::Middle,
        badges: Vec::new(),
        cells: vec![
            TableCell::new(target.short.clone(), tokens.text),
            TableCell::new(target.gpus_text(), weak),
            TableCell::new(target.capability.clone(), weak),
            TableCell::new(driver, weak),
            TableCell { mark: Some((mark, color)), ..TableCell::new(verdict.label(), color) },
            TableCell::new(target.judgement.why.clone(), tokens.text),
        ],
    }
}
