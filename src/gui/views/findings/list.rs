//! The findings as a list.

use egui::{Color32, Ui};

use super::state::FindingsState;
use super::{Action, FindingsEvent};
use crate::base::convert::fraction;
use crate::base::labels::{SEVERITIES, VERDICTS};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::findings::{Severity, Verdict};
use crate::gui::design::Tokens;
use crate::gui::models::findings::{
    ChosenPlan, FindingColumn, FindingItem, FindingRow, FindingsModel, PlanChange, VerdictGroup, words,
};
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::controls::Mark;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableCheck, TableColumn, TableRow, TableShape, table};

const COLUMNS: [TableColumn; 6] = [
    TableColumn { title: "Finding", width: 330.0, number: false, rank: 0 },
    TableColumn { title: "Severity", width: 56.0, number: false, rank: 3 },
    TableColumn { title: "Category", width: 112.0, number: false, rank: 4 },
    TableColumn { title: "Saving", width: 72.0, number: true, rank: 0 },
    TableColumn { title: "Merged", width: 72.0, number: true, rank: 1 },
    TableColumn { title: "Layers", width: 64.0, number: true, rank: 2 },
];

/// Shows the list; `None` when no row is left.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut FindingsState,
    model: &FindingsModel,
    plan: &ChosenPlan,
    events: &mut Vec<FindingsEvent>,
) -> Option<ListOutput> {
    let tokens = Tokens::of(ui);
    if state.rows.rows.is_empty() {
        card(ui, |ui| {
            let (verdict, severity) = (VERDICTS.term("safe"), SEVERITIES.term("high"));
            let note = format!(
                "Filter by title, {verdict}, category:headers, rule:stubs, layer:3, {severity} or size:>10M. All terms \
                 must match."
            );
            empty(ui, "No matching finding", &note);
        });
        return None;
    }
    let rows = &state.rows;
    let sort = FindingColumn::ALL.iter().position(|column| *column == state.sorting.column).unwrap_or(0);
    let shape = TableShape {
        name: "Findings",
        rows: rows.rows.len(),
        columns: &COLUMNS,
        sort: Some((sort, state.sorting.descending)),
        selected: state.row(),
        reveal: std::mem::take(&mut state.reveal),
    };
    let whole = model.items.iter().map(|item| item.bytes).max().unwrap_or(0);
    let make = |index: usize| match rows.rows[index] {
        FindingRow::Group(group) => group_row(tokens, group, &rows.groups[group]),
        FindingRow::Finding(place) => {
            let item = &model.items[place];
            finding_row(tokens, place, item, plan, whole)
        }
    };
    let spoken = |index: usize| match rows.rows[index] {
        FindingRow::Group(group) => spoken_group(&rows.groups[group]),
        FindingRow::Finding(place) => model.items[place].spoken(),
    };
    let output = card(ui, |ui| table(ui, "findings", &shape, make, spoken));
    take(ui, state, model, plan, &output, events);
    Some(output)
}

fn take(
    ui: &Ui,
    state: &mut FindingsState,
    model: &FindingsModel,
    plan: &ChosenPlan,
    output: &ListOutput,
    events: &mut Vec<FindingsEvent>,
) {
    // Rows may change while events are carried out: what they are about is looked up before.
    let rows = state.rows.rows.clone();
    let row = |index: usize| rows.get(index).copied();
    let folds = |event: &ListEvent| matches!(event, ListEvent::Open(_) | ListEvent::Close(_));
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => match row(index) {
                Some(FindingRow::Finding(place)) => events.push(FindingsEvent::Finding(place)),
                Some(FindingRow::Group(group)) => {
                    // A click anywhere on a verdict folds it; keys only pass over it.
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
                if let Some(FindingRow::Group(group)) = row(index) {
                    state.fold(group, matches!(event, ListEvent::Close(_)));
                }
            }
            ListEvent::Parent(index) => {
                let above = rows.get(..index).unwrap_or_default().iter().rev();
                let group = above.filter_map(|row| match row {
                    FindingRow::Group(group) => Some(*group),
                    FindingRow::Finding(_) => None,
                });
                if let Some(group) = group.take(1).next() {
                    state.at_group(group);
                }
            }
            ListEvent::Sort(column) => {
                if let Some(column) = FindingColumn::ALL.get(column) {
                    state.sorting = state.sorting.clicked(*column);
                    state.make_rows();
                }
            }
            ListEvent::Activate(_) => events.push(FindingsEvent::Details),
            ListEvent::Clear => events.push(FindingsEvent::Clear),
            _ => {}
        }
    }
    let toggled = output.events.iter().find_map(|event| match event {
        ListEvent::Toggle(index) => row(*index),
        _ => None,
    });
    if let Some(FindingRow::Finding(place)) = toggled {
        let id = model.items[place].id.clone();
        let chosen = !plan.contains(&id);
        events.push(FindingsEvent::Window(Action::ChangePlan(PlanChange::Set(id, chosen))));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

/// The sign of a verdict with its colour; always shown with its words.
pub(in crate::gui::views) fn sign(tokens: &Tokens, verdict: Verdict) -> (Mark, Color32) {
    match verdict {
        Verdict::Safe => (Mark::Proven, tokens.success),
        Verdict::Unsure => (Mark::Question, tokens.warning),
        Verdict::Needed => (Mark::Keep, tokens.text_weak),
    }
}

fn group_row(tokens: &Tokens, key: usize, group: &VerdictGroup) -> TableRow {
    let weak = tokens.text_weak;
    let sum = |bytes: u64| if bytes > 0 { human(bytes) } else { String::new() };
    TableRow {
        key: 1_u64 << 40 | key as u64,
        depth: 0,
        fold: Some(group.open),
        strong: true,
        cut: Cut::End,
        badges: vec![(grouped(group.findings.len() as u64), weak)],
        cells: vec![
            TableCell {
                mark: Some(sign(tokens, group.verdict)),
                ..TableCell::new(group.verdict.label(), tokens.text)
            },
            TableCell::new("", weak),
            TableCell::new("", weak),
            TableCell::new(
                sum(group.bytes),
                if group.verdict == Verdict::Needed { weak } else { tokens.text },
            ),
            TableCell::new(sum(group.merged_bytes), weak),
        ],
    }
}

fn spoken_group(group: &VerdictGroup) -> String {
    let findings = counted(group.findings.len(), "finding");
    format!("{}, {findings}, {}", group.verdict.label(), human(group.bytes))
}

fn finding_row(tokens: &Tokens, key: usize, item: &FindingItem, plan: &ChosenPlan, whole: u64) -> TableRow {
    let chosen = plan.contains(&item.id);
    let weak = tokens.text_weak;
    let number = |bytes: u64| if bytes > 0 { human(bytes) } else { "–".to_owned() };
    let severity = match item.severity {
        Severity::High => tokens.warning,
        Severity::Medium => tokens.text,
        Severity::Low | Severity::Info => weak,
    };
    // Bytes of what is needed are no saving.
    let (saved, share) = match item.verdict {
        Verdict::Needed => (weak, 0.0),
        _ => (tokens.text, fraction(item.bytes, whole)),
    };
    let on = item.can_be_chosen().then_some(chosen);
    let blocked = plan.blocking_cause(&item.id).map(|_| ("not on its own".to_owned(), tokens.text_weak));
    let answer = plan.question(&item.id).and_then(|question| {
        let word = words::answer(question.answer?, question.has_bytes());
        Some((word.to_lowercase(), tokens.text_weak))
    });
    let named: Vec<String> = item.layers.iter().take(3).map(ToString::to_string).collect();
    let layers = match item.layers.len() {
        ..=3 => named.join(", "),
        more => format!("{} +{}", named[..2].join(", "), more - 2),
    };
    let chip = item.layers.first().filter(|_| item.layers.len() == 1);
    TableRow {
        key: key as u64,
        depth: 1,
        fold: None,
        strong: false,
        cut: Cut::End,
        badges: answer.or(blocked).into_iter().collect(),
        cells: vec![
            TableCell {
                check: Some(TableCheck { on, name: format!("{} in the plan", item.title) }),
                ..TableCell::new(item.title.clone(), tokens.text)
            },
            TableCell::new(item.severity.label(), severity),
            TableCell::new(item.category.label(), weak),
            TableCell { share, ..TableCell::new(number(item.bytes), saved) },
            TableCell::new(number(item.merged_bytes), weak),
            TableCell {
                chip: chip.map(|layer| tokens.layer(usize::from(*layer))),
                ..TableCell::new(layers, weak)
            },
        ],
    }
}
