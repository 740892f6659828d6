//! Everything about the chosen layer.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::details::facts;
use crate::base::text::elide_end;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::layers::LayerItem;
use crate::gui::views::{Action, ViewContext};

/// Letters of an instruction; one with a script inside may have a million.
const INSTRUCTION: usize = 20_000;

/// Shows the instruction, sizes, and what manifest and config declare.
pub(super) fn show(ui: &mut Ui, item: &LayerItem, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let declared = context.analysis.image.layers.get(item.index).map(LayerItem::declared).unwrap_or_default();
    ScrollArea::vertical().id_salt("layer").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            let title = RichText::new(format!("Layer {}", item.index)).font(text::heading());
            ui.add(Label::new(title).truncate());
            ui.horizontal_wrapped(|ui| {
                let digest = declared.iter().find(|fact| fact.name == "Digest").map(|fact| &fact.value);
                for (label, copied) in
                    [("Copy instruction", Some(&item.instruction)), ("Copy digest", digest)]
                {
                    if let Some(copied) = copied.filter(|text| !text.is_empty())
                        && ui.button(label).clicked()
                    {
                        context.actions.push(Action::CopyText(copied.clone()));
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
