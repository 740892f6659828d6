//! The header above the tables: the content in a sentence, which table, and the search field.

use egui::accesskit::Role;
use egui::{RichText, Ui, WidgetInfo};

use super::state::CudaState;
use super::{Action, CudaPage};
use crate::base::labels::USES;
use crate::base::size::{grouped, human};
use crate::base::text::{counted, elide_end};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::cuda::{CudaFiles, CudaModel, Summary};
use crate::gui::views::filter_field::{FilterField, show_error, show_found};

/// In a view narrower than this, the filter has a line of its own.
const NARROW: f32 = 620.0;
/// How many frameworks are named.
const FRAMEWORKS: usize = 4;

/// The content in a sentence, where it comes from, and what uses it.
pub(super) fn summary(ui: &mut Ui, summary: &Summary, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    if summary.nothing.is_none() {
        ui.add(egui::Label::new(RichText::new(&summary.sentence).size(15.0).color(tokens.text)).wrap());
    }
    if !summary.origin.is_empty() {
        let origin = elide_end(&summary.origin.join("  ·  "), 240);
        ui.label(RichText::new(origin).color(tokens.text_weak));
    }
    if !summary.frameworks.is_empty() {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            for framework in summary.frameworks.iter().take(FRAMEWORKS) {
                let title = ui.link(RichText::new(&framework.title).font(text::strong()));
                if title.on_hover_text(&framework.evidence).clicked() {
                    actions.push(Action::SelectPath(framework.raw.clone()));
                }
                let about = ui.label(RichText::new(&framework.about).color(tokens.text_weak));
                about.on_hover_text(&framework.evidence);
                ui.add_space(space::M);
            }
            let rest = summary.frameworks.iter().skip(FRAMEWORKS).map(|framework| framework.title.as_str());
            let rest: Vec<&str> = rest.collect();
            if !rest.is_empty() {
                let more = RichText::new(format!("and {} more", rest.len())).color(tokens.text_weak);
                ui.label(more).on_hover_text(rest.join(", "));
            }
        });
    }
    if !summary.without_cuda.is_empty() {
        let names = elide_end(&summary.without_cuda.join(", "), 160);
        let text = format!("No CUDA library needed by: {names}");
        ui.label(RichText::new(text).color(tokens.text_weak));
    }
    if let Some(what) = &summary.waits_for {
        let note = format!("Still analyzing: {what}. Figures may change.");
        ui.label(RichText::new(note).color(tokens.warning));
    }
    ui.add_space(space::S);
}

/// Which table, and the filter.
pub(super) fn bar(ui: &mut Ui, page: &mut CudaPage, state: &mut CudaState, model: &CudaModel, focus: bool) {
    let narrow = ui.available_width() < NARROW;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let pages = [
            (CudaPage::Libraries, format!("Libraries  {}", grouped(model.libraries.len() as u64))),
            (CudaPage::GpuCode, format!("GPU code  {}", human(model.arch_matrix.bytes))),
            (CudaPage::Duplicates, format!("Duplicates  {}", grouped(model.duplicates.len() as u64))),
        ];
        for (which, label) in pages {
            let response = ui.selectable_label(*page == which, &label);
            let selected = *page == which;
            response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, &label));
            if response.clicked() {
                *page = which;
                state.reveal = true;
            }
        }
        ui.add_space(space::S);
        if *page == CudaPage::Libraries {
            let response = ui.selectable_label(state.grouped, "By component");
            let response = response.on_hover_text("Group libraries by component");
            if response.clicked() {
                state.grouped = !state.grouped;
                state.changed();
            }
        }
        if !narrow {
            let right = egui::Layout::right_to_left(egui::Align::Center);
            ui.with_layout(right, |ui| filter(ui, state, focus));
        }
    });
    if narrow {
        ui.horizontal(|ui| filter(ui, state, focus));
    }
    if let Some(error) = &state.rows.error {
        show_error(ui, error);
    } else if state.rows.filtered && *page == CudaPage::Libraries {
        let all = counted(model.libraries.len(), "library");
        show_found(ui, state.rows.found, &all, state.rows.bytes);
    }
    ui.add_space(space::XS);
}

fn filter(ui: &mut Ui, state: &mut CudaState, focus: bool) {
    let mut typed = state.typed.clone();
    let hint = format!("Filter: cublas {} size:>10M", USES.term("unreferenced"));
    let field = FilterField { name: "Filter libraries", hint: &hint, width: 420.0, focus };
    field.show::<CudaFiles>(ui, &mut typed);
    state.set_filter(&typed);
}
