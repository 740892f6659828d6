//! The findings as a list.

use egui::{Color32, Ui};

use super::state::FindingsState;
use super::{Action, FindingsEvent, FindingsPage};
use crate::base::convert::fraction;
use crate::base::labels::{CATEGORIES, SEVERITIES, VERDICTS};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::findings::{Severity, Verdict};
use crate::gui::design::Tokens;
use crate::gui::models::findings::{
    ChosenPlan, FindingColumn, FindingGroup, FindingItem, FindingsModel, PlanChange, VerdictGroup, words,
};
use crate::gui::models::grouped::GroupedRow;
use crate::gui::views::grouping::GroupedEvent;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::controls::Mark;
use crate::gui::widgets::list::ListOutput;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{
    TableCell, TableCheck, TableColumn, TableRow, TableShape, layer_cell, table,
};

/// What a row shows; of a finding, also the largest saving, for which a bar is full.
enum Line<'a> {
    Group(&'a VerdictGroup),
    Finding(&'a FindingItem, u64),
}

type Column<'a> = TableColumn<Line<'a>, FindingColumn>;

fn columns<'a>() -> [Column<'a>; 6] {
    use Line::{Finding, Group};
    [
        Column::text("Finding", 330.0, |line, tokens| match line {
            Group(group) => {
                let mark = match group.group {
                    FindingGroup::Problems => (Mark::Warning, tokens.warning),
                    other => sign(tokens, other.verdict()),
                };
                TableCell::new(group.group.label(), tokens.text).mark(mark)
            }
            Finding(item, _) => TableCell::new(&*item.title, tokens.text),
        })
        .order(FindingColumn::Title)
        .filter("rule"),
        Column::text("Severity", 56.0, |line, tokens| match line {
            Group(_) => TableCell::EMPTY,
            Finding(item, _) => {
                let color = match item.severity {
                    Severity::High => tokens.warning,
                    Severity::Medium => tokens.text,
                    Severity::Low | Severity::Info => tokens.text_weak,
                };
                TableCell::new(item.severity.label(), color)
            }
        })
        .largest_first(FindingColumn::Severity)
        .filter(SEVERITIES.key)
        .rank(3),
        Column::text("Category", 112.0, |line, tokens| match line {
            Group(_) => TableCell::EMPTY,
            Finding(item, _) => TableCell::new(item.category.label(), tokens.text_weak),
        })
        .order(FindingColumn::Category)
        .filter(CATEGORIES.key)
        .rank(4),
        Column::number("Saving", 72.0, |line, tokens| {
            let (verdict, shown, share) = match line {
                Group(group) => (group.group.verdict(), sum(group.bytes), 0.0),
                // Only a slim image is without these: a plan does not have them.
                Finding(item, _) if item.saving().1 => {
                    return TableCell::new(human(item.saving().0), tokens.text_weak);
                }
                Finding(item, most) => (item.verdict, number(item.bytes), fraction(item.bytes, *most)),
            };
            // Bytes of what is needed are no saving.
            match verdict {
                Verdict::Needed => TableCell::new(shown, tokens.text_weak),
                _ => TableCell::new(shown, tokens.text).share(share),
            }
        })
        .largest_first(FindingColumn::Saving)
        .filter("size"),
        Column::number("Merged", 72.0, |line, tokens| {
            let shown = match line {
                Group(group) => sum(group.merged_bytes),
                Finding(item, _) => number(item.merged_bytes),
            };
            TableCell::new(shown, tokens.text_weak)
        })
        .largest_first(FindingColumn::Unpacked)
        .rank(1),
        Column::number("Layers", 64.0, |line, tokens| match line {
            Group(_) => TableCell::EMPTY,
            Finding(item, _) => layers(tokens, &item.layers),
        })
        .order(FindingColumn::Layers)
        .filter("layer")
        .rank(2),
    ]
}

fn sum(bytes: u64) -> String {
    if bytes > 0 { human(bytes) } else { String::new() }
}

fn number(bytes: u64) -> String {
    if bytes > 0 { human(bytes) } else { "–".to_owned() }
}

fn layers(tokens: &Tokens, layers: &[u16]) -> TableCell {
    let named = |count: usize| {
        let named: Vec<String> = layers.iter().take(count).map(ToString::to_string).collect();
        named.join(", ")
    };
    match layers {
        [layer] => layer_cell(tokens, *layer),
        [_, _, _, _, ..] => TableCell::new(format!("{} +{}", named(2), layers.len() - 2), tokens.text_weak),
        _ => TableCell::new(named(3), tokens.text_weak),
    }
}

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
    let selected = state.row();
    let rows = &state.rows;
    let most = model.items.iter().map(|item| item.bytes).max().unwrap_or(0);
    let make = |index: usize| match rows.rows[index] {
        GroupedRow::Group(place) => {
            let group = &rows.groups[place];
            TableRow {
                badges: vec![(grouped(group.findings.len() as u64), tokens.text_weak)],
                ..TableRow::group(place, rows.is_open(index), Line::Group(group))
            }
        }
        GroupedRow::Item(place) => {
            let item = &model.items[place];
            let on = item.can_be_chosen().then(|| plan.contains(&item.id));
            TableRow {
                depth: 1,
                cut: Cut::Prose,
                check: Some(TableCheck { on, name: format!("{} in the plan", item.title) }),
                badges: badge(item, plan).map(|word| (word, tokens.text_weak)).into_iter().collect(),
                ..TableRow::new(place as u64, Line::Finding(item, most))
            }
        }
    };
    let shape = TableShape {
        name: "Findings",
        rows: rows.rows.len(),
        columns: &columns(),
        sorting: Some(&mut state.sorting),
        selected,
        reveal: std::mem::take(&mut state.reveal),
    };
    let output = card(ui, |ui| table(ui, "findings", shape, make, spoken));
    if let Some((row, response)) = &output.hovered
        && response.secondary_clicked()
        && let GroupedRow::Item(place) = state.rows.rows[*row]
    {
        events.push(FindingsEvent::Finding(place));
        events.push(FindingsEvent::Window(Action::RowMenu(menu(&model.items[place], plan))));
    }
    for event in state.groups.take(ui, &state.rows, &output) {
        match event {
            GroupedEvent::Select(place) => events.push(FindingsEvent::Finding(place)),
            GroupedEvent::Activate(_) => events.push(FindingsEvent::Details),
            GroupedEvent::Toggle(place) => {
                let id = model.items[place].id.clone();
                let chosen = !plan.contains(&id);
                events.push(FindingsEvent::Window(Action::ChangePlan(PlanChange::Set(id, chosen))));
            }
            GroupedEvent::Rows => state.make_rows(),
            GroupedEvent::Clear => events.push(FindingsEvent::Clear),
            GroupedEvent::Copy => {}
        }
    }
    Some(output)
}

/// What can be done with a finding.
fn menu(item: &FindingItem, plan: &ChosenPlan) -> Vec<(&'static str, Action)> {
    let id = || item.id.clone();
    let chosen = plan.contains(&item.id);
    let label = if chosen { "Remove from the plan" } else { "Add to the plan" };
    let can_change = item.can_be_chosen() && plan.blocking_cause(&item.id).is_none();
    let change = can_change.then(|| (label, Action::ChangePlan(PlanChange::Set(id(), !chosen))));
    let page = |label, page| (label, Action::ShowFinding(id(), page));
    let files = (item.files > 0).then(|| page("Show files", FindingsPage::Files));
    let entries = change.into_iter().chain([page("Show reasons", FindingsPage::Reasons)]).chain(files);
    let title = Action::CopyText(item.title.clone());
    entries.chain([page("Explain rule", FindingsPage::Manual), ("Copy title", title)]).collect()
}

/// A word behind a finding: what was answered about it, that it is not chosen on its own, or that only slim removes it.
fn badge(item: &FindingItem, plan: &ChosenPlan) -> Option<String> {
    let answer = plan
        .question(&item.id)
        .and_then(|question| Some(words::answer(question.answer?, question.has_bytes()).to_lowercase()));
    let by_slim = || item.saving().1.then(|| "by slim".to_owned());
    answer.or_else(|| plan.blocking_cause(&item.id).map(|_| "not on its own".to_owned())).or_else(by_slim)
}

/// The sign of a verdict with its colour; always shown with its words.
pub(in crate::gui::views) fn sign(tokens: &Tokens, verdict: Verdict) -> (Mark, Color32) {
    match verdict {
        Verdict::Safe => (Mark::Proven, tokens.success),
        Verdict::Unsure => (Mark::Question, tokens.warning),
        Verdict::Needed => (Mark::Keep, tokens.text_weak),
    }
}

fn spoken(line: &Line<'_>) -> String {
    let group = match line {
        Line::Group(group) => group,
        Line::Finding(item, _) => return item.spoken(),
    };
    let findings = counted(group.findings.len(), "finding");
    format!("{}, {findings}, {}", group.group.label(), human(group.bytes))
}
