//! Everything about one machine: each reason with its rule, and what would change it.

use egui::{Align, Color32, Frame, Label, Layout, Margin, RichText, ScrollArea, Sense, Ui, vec2};

use super::head::sign;
use super::{Action, GpuEvent};
use crate::base::text::elide_middle;
use crate::cuda::compat::Reason;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::gpu::TargetItem;
use crate::gui::widgets::controls::{self, Mark, mark_button, paint_mark};

pub(super) fn show(ui: &mut Ui, target: &TargetItem, events: &mut Vec<GpuEvent>) {
    let margin = Margin { left: 12, right: 12, top: 8, bottom: 12 };
    ScrollArea::vertical().id_salt(("reasons", &target.id)).auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            head(ui, target, events);
            for reason in &target.judgement.reasons {
                ui.add_space(space::S);
                show_reason(ui, reason, events);
            }
            if target.judgement.reasons.is_empty() {
                controls::weak(ui, target.judgement.verdict.about());
            }
        });
    });
}

fn head(ui: &mut Ui, target: &TargetItem, events: &mut Vec<GpuEvent>) {
    let tokens = Tokens::of(ui);
    let verdict = target.judgement.verdict;
    ui.horizontal(|ui| {
        let (mark, color) = sign(tokens, verdict);
        marked(ui, mark, color);
        ui.label(RichText::new(verdict.label()).font(text::heading()).color(color));
        ui.label(RichText::new(format!("on {}", target.id)).font(text::heading()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if mark_button(ui, Mark::Close, "Close reasons").clicked() {
                events.push(GpuEvent::Clear);
            }
            if ui.button("Copy").on_hover_text("Copy the verdict with all reasons").clicked() {
                events.push(GpuEvent::Window(Action::CopyText(target.with_reasons())));
            }
        });
    });
    ui.label(RichText::new(target.about()).color(tokens.text_weak));
}

fn marked(ui: &mut Ui, mark: Mark, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(14.0, 18.0), Sense::hover());
    paint_mark(ui.painter(), mark, rect.center(), 13.0, color);
}

fn show_reason(ui: &mut Ui, reason: &Reason, events: &mut Vec<GpuEvent>) {
    let tokens = Tokens::of(ui);
    let weak = |words: String| RichText::new(words).color(tokens.text_weak);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let (mark, color) = sign(tokens, reason.verdict);
        marked(ui, mark, color);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let word = reason.verdict.label();
            let label = RichText::new(format!("{word}: {}", reason.text));
            ui.add(Label::new(label).wrap().selectable(true));
            if let Some(hint) = &reason.hint {
                ui.add(Label::new(weak(hint.clone())).wrap().selectable(true));
            }
            if reason.subject.is_some() || reason.error.is_some() {
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing.x = space::M;
                    if let Some(subject) = &reason.subject {
                        show_subject(ui, subject, events);
                    }
                    if let Some((code, name)) = reason.error {
                        let error = RichText::new(format!("{name} ({code})")).font(text::mono());
                        ui.add(Label::new(error).selectable(true));
                    }
                });
            }
            let rule = format!("{}: {}", reason.rule.as_str(), reason.rule.source());
            ui.add(Label::new(weak(rule).font(text::small())).wrap());
        });
    });
}

/// What a reason is about; a path leads to the layers view.
fn show_subject(ui: &mut Ui, subject: &str, events: &mut Vec<GpuEvent>) {
    if !subject.starts_with('/') {
        ui.add(Label::new(RichText::new(subject).font(text::mono())).selectable(true));
        return;
    }
    let link = ui.link(elide_middle(subject, 64)).on_hover_ui(|ui| {
        ui.label(elide_middle(subject, 400));
        controls::weak(ui, "Show file in Layers");
    });
    if link.clicked() {
        events.push(GpuEvent::Window(Action::SelectPath(subject.as_bytes().to_vec())));
    }
}
