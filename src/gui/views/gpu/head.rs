//! The header above the table: what the image needs of any machine, and the filter.

use egui::accesskit::Role;
use egui::{Align, Color32, Key, Label, Layout, RichText, TextEdit, Ui, WidgetInfo, vec2};

use super::state::GpuState;
use crate::base::text::counted;
use crate::cuda::compat::RunVerdict;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::gpu::{TargetVerdicts, Targets, words};
use crate::gui::views::filter_field::{FilterField, show_error};
use crate::gui::widgets::chip::chip;
use crate::gui::widgets::controls::{Mark, heading, progress_bar};

/// In less room than this, the table needs the lines more than GPU code does: that is in the tooltip then.
const SHORT: f32 = 420.0;

/// The sign of a verdict with its colour; always shown with its words.
pub(super) fn sign(tokens: &Tokens, verdict: RunVerdict) -> (Mark, Color32) {
    match verdict {
        RunVerdict::Runs => (Mark::Proven, tokens.success),
        RunVerdict::RunsWithJit | RunVerdict::RunsWithCompat => (Mark::Warning, tokens.warning),
        RunVerdict::Unknown => (Mark::Question, tokens.text_weak),
        RunVerdict::Fails => (Mark::Error, tokens.error),
    }
}

pub(super) fn show(ui: &mut Ui, state: &mut GpuState, judged: &TargetVerdicts, focus: bool) {
    let tokens = Tokens::of(ui);
    let short = ui.available_height() < SHORT;
    ui.horizontal(|ui| {
        heading(ui, "Compatibility");
        if state.is_busy() {
            progress_bar(ui, "Checking compatibility", None, vec2(64.0, 6.0));
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(50));
        }
    });
    let needs = Label::new(RichText::new(judged.needs_line()).color(tokens.text));
    let needs = ui.add(needs.wrap().selectable(true));
    if let Some(code) = judged.code_line() {
        if short {
            needs.on_hover_text(code);
        } else {
            ui.add(Label::new(RichText::new(code).color(tokens.text_weak)).wrap().selectable(true));
        }
    }
    if let Some(why) = &judged.needs.incomplete {
        let note = format!("Requirements may be incomplete: {why}");
        ui.add(Label::new(RichText::new(note).color(tokens.warning)).wrap());
    }
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            driver(ui, state);
            ui.add_space(space::S);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| filter(ui, state, focus));
        });
    });
    if let Some(fault) = &state.driver_fault {
        ui.label(RichText::new(fault).font(text::small()).color(tokens.error));
    } else if let Some(error) = &state.rows.list.error {
        show_error(ui, error);
    }
    ui.add_space(space::XS);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS + 2.0, space::XS);
        for verdict in words::VERDICTS {
            let (on, found) = (state.verdicts.contains(&verdict), state.rows.count(verdict));
            if found == 0 && !on {
                continue;
            }
            let response = chip(ui, on, sign(tokens, verdict), verdict.label(), &found.to_string());
            if response.on_hover_text(verdict.about()).clicked() {
                state.toggle(verdict);
            }
        }
        if state.rows.list.filtered {
            let found = match state.rows.list.found {
                0 => "No matching machine".to_owned(),
                found => format!("{} of {} shown", found, counted(judged.targets.len(), "machine")),
            };
            ui.label(RichText::new(found).font(text::small()).color(tokens.text_weak));
        }
    });
    ui.add_space(space::XS);
}

fn filter(ui: &mut Ui, state: &mut GpuState, focus: bool) {
    let mut typed = state.typed.clone();
    let hint = "Filter: a100, azure, 8.6, driver";
    let field = FilterField { name: "Filter machines", hint, width: 360.0, focus };
    field.show::<Targets>(ui, &mut typed);
    state.set_filter(&typed);
}

/// The driver that all rows are judged by; from right to left.
fn driver(ui: &mut Ui, state: &mut GpuState) {
    let tokens = Tokens::of(ui);
    let mut typed = state.driver_typed.clone();
    let field = TextEdit::singleline(&mut typed).hint_text("typical").desired_width(104.0);
    let response = ui.add_sized(vec2(104.0, 24.0), field);
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::TextInput, true, "Driver override");
        info.current_text_value = Some(typed.clone());
        info
    });
    let left = response.lost_focus() || response.has_focus();
    if left && ui.input(|input| input.key_pressed(Key::Escape)) {
        typed.clear();
    }
    let about = "Check all machines with this driver, such as 535 or 580.95.05";
    response.on_hover_text(about);
    ui.label(RichText::new("Driver").color(tokens.text_weak)).on_hover_text(about);
    state.set_driver(&typed);
}
