//! Layout of the window.

use egui::{CentralPanel, Frame, Margin, Panel, Rect, Stroke, Ui};

use super::commands;
use super::{App, Request, Tab};
use crate::gui::design::Tokens;
use crate::gui::models::findings::{Prediction, waits_for};
use crate::gui::models::gpu::Machine;
use crate::gui::models::layers::{LayerItem, waiting_for};
use crate::gui::models::report::ReportSource;
use crate::gui::panels;
use crate::gui::views::compare::CompareContext;
use crate::gui::views::report::ReportContext;
use crate::gui::views::{Action, View, ViewContext};

/// Below this width, the rail omits its keys.
const NARROW: f32 = 900.0;

impl App {
    /// Paints the window and collects actions.
    pub(super) fn show(&mut self, ui: &mut Ui) {
        self.take_keys(ui);
        self.take_drops(ui);
        let tokens = Tokens::of(ui);
        let edge = |margin: Margin| Frame::new().fill(tokens.panel).inner_margin(margin);
        let wide = ui.available_width() >= NARROW;
        ui.painter().rect_filled(ui.max_rect(), 0.0, tokens.background);

        Panel::top("menu")
            .frame(edge(Margin::symmetric(8, 4)))
            .exact_size(34.0)
            .resizable(false)
            .show(ui, |ui| panels::menu_bar(ui, self));
        if !self.tabs.is_empty() {
            Panel::top("tabs")
                .frame(edge(Margin { left: 8, right: 8, top: 4, bottom: 0 }))
                .exact_size(34.0)
                .resizable(false)
                .show(ui, |ui| panels::tab_strip(ui, self));
        }
        Panel::bottom("status")
            .frame(edge(Margin::symmetric(12, 2)))
            .exact_size(28.0)
            .resizable(false)
            .show(ui, |ui| panels::status_bar(ui, self));
        if self.log_open {
            Panel::bottom("log")
                .frame(Frame::new().fill(tokens.background).inner_margin(Margin::symmetric(12, 8)))
                .resizable(true)
                .default_size(180.0)
                .size_range(96.0..=480.0)
                .show(ui, |ui| panels::log_view(ui, self));
        }
        if self.front_tab().is_some() {
            Panel::left("views")
                .frame(edge(Margin::same(8)))
                .exact_size(if wide { 148.0 } else { 116.0 })
                .resizable(false)
                .show(ui, |ui| panels::rail(ui, self, wide));
            CentralPanel::no_frame().show(ui, |ui| self.show_image(ui));
        } else if self.machine_alone.is_some() {
            CentralPanel::no_frame().show(ui, |ui| panels::machine(ui, self));
        } else {
            CentralPanel::no_frame().show(ui, |ui| panels::start_screen(ui, self));
        }
        panels::palette(ui, self);
        panels::key_sheet(ui, self);
        panels::offer(ui, self);
        panels::remote(ui, self);
        show_drop_target(ui);
    }

    /// The view in front, with what is wrong above it or in its place.
    fn show_image(&mut self, ui: &mut Ui) {
        let mut actions: Vec<Action> = Vec::new();
        let comparing = self.front_tab().is_some_and(|tab| tab.view == View::Compare);
        let around = if comparing { self.compare_context() } else { CompareContext::default() };
        {
            let front = self.front;
            let Some(tab) = self.tabs.iter_mut().find(|tab| Some(tab.id) == front) else { return };
            let saved = tab.saved.clone();
            match tab.analysis.clone() {
                None if let Some(saved) = saved => {
                    tab.saved_view.banner(ui, &saved, &mut actions);
                    let (view, machine) = (tab.view, &mut self.machine);
                    Frame::new().inner_margin(Margin::same(16)).show(ui, |ui| {
                        tab.saved_view.ui(ui, view, &saved, &mut tab.report, machine, &mut actions);
                    });
                }
                None => panels::no_image(ui, tab, &mut self.requests),
                Some(analysis) => {
                    panels::banner(ui, tab, &mut self.requests);
                    // The views of the tab are changed while its plan is looked at.
                    let plan = std::mem::take(&mut tab.plan);
                    let mut context = ViewContext {
                        analysis: &analysis,
                        generation: tab.generation,
                        plan: &plan,
                        progress: tab.progress(),
                        done: !tab.is_running(),
                        actions: &mut actions,
                    };
                    let margin = Margin::same(16);
                    let machine = &mut self.machine;
                    Frame::new()
                        .inner_margin(margin)
                        .show(ui, |ui| show_view(ui, tab, &mut context, machine, &around));
                    tab.plan = plan;
                }
            }
        }
        for action in actions {
            self.act(action);
            self.context.request_repaint();
        }
    }

    fn take_keys(&mut self, ui: &mut Ui) {
        // A sheet in front takes all keys but those that close it.
        if self.offer.is_some() || self.remote.has_dialog() || self.question().is_some() {
            return;
        }
        if self.keys_open || self.palette.is_open() {
            let closes = if self.keys_open { "help.keys" } else { "help.palette" };
            let pressed = ui.input_mut(commands::pressed);
            self.requests.extend(pressed.filter(|command| command.id == closes).map(Request::Run));
            return;
        }
        let pressed = ui.input_mut(commands::pressed);
        self.requests.extend(pressed.map(Request::Run));
        let slash = egui::Key::Slash;
        if !ui.text_edit_focused()
            && commands::command("view.find").is_some_and(|find| (find.when)(self).is_ok())
            && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, slash))
        {
            // The `/` itself must not reach the focused field.
            ui.input_mut(|input| input.events.retain(|event| *event != egui::Event::Text("/".to_owned())));
            self.find();
        }
    }

    fn take_drops(&mut self, ui: &Ui) {
        let dropped = ui.input(|input| input.raw.dropped_files.clone());
        if !dropped.is_empty() {
            self.take_files(dropped.iter().map(|file| file.path().to_owned()).collect());
        }
    }
}

fn show_view(
    ui: &mut Ui,
    tab: &mut Tab,
    context: &mut ViewContext<'_>,
    machine: &mut Machine,
    around: &CompareContext,
) {
    match tab.view {
        View::Layers => tab.layers.ui(ui, context),
        View::Cuda => tab.cuda.ui(ui, context),
        View::Findings => tab.findings.ui(ui, context),
        View::Dockerfile => tab.dockerfile.ui(ui, context),
        View::Gpu => tab.gpu.ui(ui, context, machine),
        View::Report => show_report(ui, tab, context, machine),
        View::Compare => tab.compare.ui(ui, context, around),
        View::Overview => tab.overview.ui(ui, context),
    }
}

/// The report of an image, with what is proposed for it: the work of the Dockerfile view, which both show.
fn show_report(ui: &mut Ui, tab: &mut Tab, context: &mut ViewContext<'_>, machine: &Machine) {
    tab.dockerfile.update_in_background(ui, context);
    let devices = machine.devices();
    let ready = context.analysis.merge.is_some() && (context.done || context.analysis.findings.is_some());
    let source = ReportSource::Image {
        analysis: context.analysis,
        plan: context.plan,
        proposals: tab.dockerfile.proposals(),
        devices: &devices,
        machine: machine.generation(),
    };
    let source = if ready { Ok(source) } else { Err(waits_for_report(context)) };
    let mut given = ReportContext {
        source,
        image: &context.analysis.image.reference,
        beside: tab.dockerfile.given().map(std::path::Path::to_path_buf),
        proposing: tab.dockerfile.proposing(context),
        plan: context.plan.prediction().map(Prediction::sentence).unwrap_or_default(),
        actions: context.actions,
    };
    tab.report.ui(ui, &mut given);
}

/// What a report waits for, or why there is none.
fn waits_for_report(context: &ViewContext<'_>) -> (&'static str, String) {
    if context.done {
        return (
            "No report",
            "The analysis stopped before the layers were merged. Reload the image.".to_owned(),
        );
    }
    let layers = LayerItem::all(context.analysis, context.done);
    let what = waits_for(context.analysis, waiting_for(&layers));
    ("Waiting for findings", what)
}

/// A frame around the window while a file is dragged over it.
fn show_drop_target(ui: &Ui) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let tokens = Tokens::of(ui);
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop target"));
    let painter = ui.ctx().layer_painter(layer);
    let area: Rect = ui.content_rect();
    painter.rect_filled(area, 0.0, tokens.background.gamma_multiply(0.8));
    let stroke = Stroke::new(2.0, tokens.accent);
    painter.rect_stroke(area.shrink(8.0), 8.0, stroke, egui::StrokeKind::Inside);
    painter.text(
        area.center(),
        egui::Align2::CENTER_CENTER,
        "Drop to open",
        crate::gui::design::text::title(),
        tokens.text,
    );
}
