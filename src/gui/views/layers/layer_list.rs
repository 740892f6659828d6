//! The layers, bottom first.

use egui::{RichText, Ui};

use crate::base::convert::fraction;
use crate::base::size::{grouped, human_or_dash};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::browser::Browser;
use crate::gui::models::layers::{LayerItem, LayerState};
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

/// Shows the list and takes the choice.
pub(super) fn show(ui: &mut Ui, browser: &mut Browser, order: &mut LayerOrder, passed: &[u64], reveal: bool) {
    let tokens = Tokens::of(ui);
    let layers = order.of(&browser.items);
    let shape = LayerListShape {
        name: "Layers",
        rows: browser.items.len(),
        title: "Layer",
        columns: ["Compressed", "Content", "Wasted"],
        selected: browser.layer().and_then(|layer| layers.iter().position(|place| *place == layer)),
        reveal,
        sort: (order.column, order.descending),
    };
    let items = &browser.items;
    let answer = layer_list(
        ui,
        "layers",
        &shape,
        |row| {
            let layer = layers[row];
            line(tokens, &items[layer], passed.get(layer).copied().unwrap_or(0))
        },
        |ui, row| tooltip(ui, &items[layers[row]]),
    );
    if let Some(layer) = answer.chosen.and_then(|row| layers.get(row)) {
        browser.select_layer(*layer);
    }
    if let Some(column) = answer.sorted {
        *order = order.clicked(column);
        ui.ctx().request_repaint();
    }
}

/// A layer, of which the running job has passed so many bytes.
fn line(tokens: &Tokens, item: &LayerItem, passed: u64) -> LayerListRow {
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
    let spoken = item.spoken_with(pending.as_deref().unwrap_or(item.state.word()));
    LayerListRow {
        number: item.index.to_string(),
        fill: tokens.layer(item.index),
        title: item.title.clone(),
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
    egui::Grid::new("sizes").num_columns(2).spacing([space::M, 2.0]).show(ui, |ui| {
        for (name, bytes) in [
            ("compressed", item.compressed),
            ("content", item.content),
            ("wasted", item.wasted),
            ("shadows", item.hides),
        ] {
            ui.label(RichText::new(name).color(tokens.text_weak));
            ui.label(human_or_dash(bytes));
            ui.end_row();
        }
        if let Some(entries) = item.entries {
            ui.label(RichText::new("entries").color(tokens.text_weak));
            ui.label(grouped(entries));
            ui.end_row();
        }
    });
}
