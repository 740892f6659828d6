//! Everything about the chosen layer.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::details::facts;
use crate::analysis::Analysis;
use crate::base::text::elide_end;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::files::PathFact;
use crate::gui::models::layers::LayerItem;
use crate::gui::views::{Action, ViewContext};

/// Letters of an instruction; one with a script inside may have a million.
const INSTRUCTION: usize = 20_000;

/// Shows the instruction, sizes, and what manifest and config declare.
pub(super) fn show(ui: &mut Ui, item: &LayerItem, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let declared = declared(item, context.analysis);
    ScrollArea::vertical().id_salt("layer").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            let title = RichText::new(format!("Layer {}", item.index)).font(text::heading());
            ui.add(Label::new(title).truncate());
            ui.horizontal_wrapped(|ui| {
                for (label, action) in copies(item, &declared) {
                    if ui.button(label).clicked() {
                        context.actions.push(action);
                    }
                }
            });
            ui.add_space(space::XS);
            let instruction = elide_end(&item.instruction, INSTRUCTION);
            let instruction = RichText::new(instruction).font(text::mono());
            ui.add(Label::new(instruction).wrap().selectable(true));
            if let Some(fault) = item.state.fault() {
                ui.add(Label::new(RichText::new(fault).color(tokens.error)).wrap().selectable(true));
            }
            ui.add_space(space::S);
            facts(ui, "layer sizes", &item.sizes());
            ui.add_space(space::S);
            facts(ui, "layer facts", &declared);
        });
    });
}

/// What can be done with a layer.
pub(super) fn menu(item: &LayerItem, analysis: &Analysis) -> Vec<(&'static str, Action)> {
    let mut entries = vec![("Show only this layer", Action::SelectLayer(item.index))];
    entries.extend(copies(item, &declared(item, analysis)));
    entries
}

fn declared(item: &LayerItem, analysis: &Analysis) -> Vec<PathFact> {
    analysis.image.layers.get(item.index).map(LayerItem::declared).unwrap_or_default()
}

/// What can be copied of a layer.
fn copies(item: &LayerItem, declared: &[PathFact]) -> Vec<(&'static str, Action)> {
    let digest = declared.iter().find(|fact| fact.name == "Digest").map(|fact| &fact.value);
    let copied = [("Copy instruction", Some(&item.instruction)), ("Copy digest", digest)];
    let known = copied.into_iter().filter_map(|(label, text)| Some((label, text?)));
    let known = known.filter(|(_, text)| !text.is_empty());
    known.map(|(label, text)| (label, Action::CopyText(text.clone()))).collect()
}
