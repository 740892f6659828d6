//! The layers, bottom first.

use egui::{RichText, Ui};

use super::details::facts;
use crate::base::convert::fraction;
use crate::base::size::human_or_dash;
use crate::base::text::counted;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::browser::Browser;
use crate::gui::models::layers::{BaseLayers, LayerItem, LayerState};
use crate::gui::widgets::controls::Mark;
use crate::gui::widgets::layer_list::{LayerListRow, LayerListShape, layer_list};

/// The order of the list: the column, 0 for the number, and whether the largest comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LayerOrder {
    column: usize,
    descending: bool,
}

impl LayerOrder {
    /// The order after a click on a column's head: numbers begin at the bottom, sizes with the largest.
    fn clicked(self, column: usize) -> Self {
        let same = self.column == column;
        Self { column, descending: if same { !self.descending } else { column > 0 } }
    }

    /// The layers in this order, by their numbers.
    fn of(self, items: &[LayerItem]) -> Vec<usize> {
        let size = |item: &LayerItem| [None, item.compressed, item.content, item.wasted][self.column.min(3)];
        let mut order: Vec<usize> = (0..items.len()).collect();
        if self.column > 0 {
            // What is not known comes last in the usual order.
            order.sort_by_key(|index| size(&items[*index]).map_or(0, |bytes| bytes.saturating_add(1)));
        }
        if self.descending {
            order.reverse();
        }
        order
    }
}

/// The layers of the base image, or those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Base,
    Own,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Group(Group),
    Layer(usize),
}

/// How the list is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerListState {
    order: LayerOrder,
    /// Whether the layers of the base image, and those above it, are folded.
    folded: [bool; 2],
    /// The head that the keyboard is at.
    head: Option<Group>,
    reveal: bool,
}

impl LayerListState {
    /// Brings the chosen layer into sight; its group unfolds.
    pub(super) fn reveal(&mut self) {
        (self.head, self.reveal, self.folded) = (None, true, [false; 2]);
    }

    /// The rows: where the base image is known and numbers order the layers, in two groups.
    fn rows(&self, items: &[LayerItem], base: Option<&BaseLayers>) -> Vec<Row> {
        let order = self.order.of(items);
        let Some(base) = base.filter(|_| self.order.column == 0) else {
            return order.into_iter().map(Row::Layer).collect();
        };
        let groups = [Group::Base, Group::Own];
        let groups = if self.order.descending { [groups[1], groups[0]] } else { groups };
        let mut rows = Vec::with_capacity(order.len() + groups.len());
        for group in groups {
            rows.push(Row::Group(group));
            if !self.folded[group as usize] {
                let of = |layer: &&usize| base.has(**layer) == (group == Group::Base);
                rows.extend(order.iter().filter(of).map(|layer| Row::Layer(*layer)));
            }
        }
        rows
    }
}

/// Shows the list and takes the choice; gives the layer whose menu is asked for.
pub(super) fn show(
    ui: &mut Ui,
    browser: &mut Browser,
    state: &mut LayerListState,
    base: Option<&BaseLayers>,
    passed: &[u64],
) -> Option<usize> {
    let tokens = Tokens::of(ui);
    let rows = state.rows(&browser.items, base);
    let selected = match state.head {
        Some(group) => rows.iter().position(|row| *row == Row::Group(group)),
        None => browser.layer().and_then(|layer| rows.iter().position(|row| *row == Row::Layer(layer))),
    };
    let shape = LayerListShape {
        name: "Layers",
        rows: rows.len(),
        title: "Layer",
        columns: ["Compressed", "Content", "Wasted"],
        selected,
        reveal: std::mem::take(&mut state.reveal),
        sort: (state.order.column, state.order.descending),
    };
    let items = &browser.items;
    let answer = layer_list(
        ui,
        "layers",
        &shape,
        |row| match rows[row] {
            Row::Group(group) => head(items, base, group, !state.folded[group as usize]),
            Row::Layer(layer) => {
                let is_base = base.is_some_and(|base| base.has(layer));
                line(tokens, &items[layer], is_base, passed.get(layer).copied().unwrap_or(0))
            }
        },
        |ui, row| match rows[row] {
            Row::Group(group) => {
                let item = head(items, base, group, true);
                ui.label(item.spoken);
            }
            Row::Layer(layer) => tooltip(ui, &items[layer]),
        },
    );
    match answer.chosen.and_then(|row| rows.get(row)) {
        Some(Row::Layer(layer)) => {
            state.head = None;
            browser.show_layer(*layer);
        }
        Some(Row::Group(group)) => state.head = Some(*group),
        None => {}
    }
    if let Some(Row::Group(group)) = answer.folded.and_then(|row| rows.get(row)) {
        let folded = &mut state.folded[*group as usize];
        *folded = !*folded;
        state.head = Some(*group);
        ui.ctx().request_repaint();
    }
    if let (Some(Row::Layer(layer)), Some(base)) = (answer.parent.and_then(|row| rows.get(row)), base) {
        state.head =
            (state.order.column == 0).then_some(if base.has(*layer) { Group::Base } else { Group::Own });
        ui.ctx().request_repaint();
    }
    if let Some(column) = answer.sorted {
        state.order = state.order.clicked(column);
        // What is chosen stays; the first rows of the new order are in sight.
        state.head = None;
        ui.ctx().request_repaint();
    }
    match answer.menu.and_then(|row| rows.get(row)) {
        Some(Row::Layer(layer)) => {
            state.head = None;
            browser.show_layer(*layer);
            Some(*layer)
        }
        _ => None,
    }
}

/// The head of a group, with the sums of its layers.
fn head(items: &[LayerItem], base: Option<&BaseLayers>, group: Group, open: bool) -> LayerListRow {
    let is_of = |item: &&LayerItem| base.is_some_and(|base| base.has(item.index) == (group == Group::Base));
    let of: Vec<&LayerItem> = items.iter().filter(is_of).collect();
    let tail = format!(", {}", counted(of.len(), "layer"));
    let title = match (group, base) {
        (Group::Base, Some(base)) => base.title(),
        _ => "Above the base image".to_owned(),
    };
    // A sum with an unknown part is unknown.
    let sum = |size: fn(&LayerItem) -> Option<u64>| of.iter().map(|item| size(item)).sum::<Option<u64>>();
    let sums = [sum(|item| item.compressed), sum(|item| item.content), sum(|item| item.wasted)];
    let spoken = format!(
        "{title}{tail}, compressed {}, content {}, wasted {}",
        human_or_dash(sums[0]),
        human_or_dash(sums[1]),
        human_or_dash(sums[2])
    );
    LayerListRow {
        number: String::new(),
        layer: None,
        title,
        tail,
        numbers: sums.map(human_or_dash),
        strong: [false; 3],
        fault: None,
        pending: None,
        done: 1.0,
        spoken,
        key: u64::MAX - group as u64,
        fold: Some(open),
    }
}

/// A layer, of which the running job has passed so many bytes.
fn line(tokens: &Tokens, item: &LayerItem, is_base: bool, passed: u64) -> LayerListRow {
    let fault = match item.state {
        LayerState::Failed(_) => Some((Mark::Error, tokens.error, "failed")),
        LayerState::Incomplete(_) => Some((Mark::Warning, tokens.warning, "incomplete")),
        _ => None,
    };
    let (done, pending) = match (&item.state, item.compressed) {
        (LayerState::Waiting, Some(whole)) if passed > 0 && whole > 0 => {
            let done = fraction(passed.min(whole), whole);
            (done, Some(format!("{:.0} % read", done * 100.0)))
        }
        (LayerState::Waiting | LayerState::Stopped, _) => (0.0, Some(item.state.word().to_owned())),
        _ => (1.0, None),
    };
    let mut spoken = item.spoken_with(pending.as_deref().unwrap_or(item.state.word()));
    if is_base {
        spoken.push_str(", base image");
    }
    LayerListRow {
        number: item.index.to_string(),
        layer: Some(item.index),
        title: item.title.clone(),
        tail: String::new(),
        numbers: [item.compressed, item.content, item.wasted].map(human_or_dash),
        strong: [
            false,
            item.content.is_some_and(|content| content > 0),
            item.wasted.is_some_and(|wasted| wasted > 0),
        ],
        fault,
        pending,
        done,
        spoken,
        key: item.index as u64,
        fold: None,
    }
}

fn tooltip(ui: &mut Ui, item: &LayerItem) {
    describe(ui, item, true);
}

/// A layer in a tooltip: its instruction and its sizes.
pub(super) fn describe(ui: &mut Ui, item: &LayerItem, whole: bool) {
    let tokens = Tokens::of(ui);
    ui.set_min_width(280.0);
    ui.label(RichText::new(format!("Layer {}", item.index)).font(text::strong()));
    let most = if whole { 1_200 } else { 240 };
    let instruction = crate::base::text::elide_end(&item.instruction, most);
    ui.label(RichText::new(instruction).font(text::mono()).color(tokens.text_weak));
    if let Some(fault) = item.state.fault() {
        ui.label(RichText::new(fault).color(tokens.error));
    }
    ui.add_space(space::XS);
    facts(ui, "sizes", &item.sizes());
}
