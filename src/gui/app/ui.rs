//! Layout of the window.

use egui::{CentralPanel, Frame, Margin, Panel, Rect, Stroke, Ui};

use super::App;
use crate::gui::design::Tokens;
use crate::gui::panels::{self, HelpSheet};
use crate::gui::views::compare::CompareContext;
use crate::gui::views::report::ProposedDockerfile;
use crate::gui::views::{Action, Command, View, ViewContext};
use crate::gui::widgets::stops::{self, GoTo};

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
        if self.settings_page.is_some() {
            CentralPanel::no_frame().show(ui, |ui| panels::settings_page(ui, self));
        } else if self.front_tab().is_some() {
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
        panels::help(ui, self);
        panels::offer(ui, self);
        panels::slim(ui, self);
        panels::remote(ui, self);
        panels::path_menu(ui, self);
        panels::row_menu(ui, self);
        show_drop_target(ui);
        self.settle_focus();
    }

    /// The keyboard goes to the main list of a view that comes to the front, and between panes.
    fn settle_focus(&mut self) {
        let seen = self.front_tab().map(|tab| (tab.id, tab.view));
        if std::mem::replace(&mut self.seen_view, seen) != seen {
            stops::go(&self.context, GoTo::Opened);
        }
        let lists = self.front_tab_mut().map(|tab| tab.views.get(tab.view).main_lists()).unwrap_or_default();
        stops::settle(&self.context, lists);
    }

    /// The view in front, with what is wrong above it or in its place.
    fn show_image(&mut self, ui: &mut Ui) {
        let comparing = self.front_tab().is_some_and(|tab| tab.view == View::Compare);
        let images = if comparing { self.compare_context() } else { CompareContext::default() };
        let Self { tabs, front, machine, actions, inspector, .. } = self;
        let Some(tab) = tabs.iter_mut().find(|tab| Some(tab.id) == *front) else { return };
        let inside = Frame::new().inner_margin(Margin::same(16));
        if let Some(analysis) = tab.analysis.clone() {
            panels::notices(ui, tab, actions);
            let mut context = ViewContext {
                analysis: &analysis,
                generation: tab.generation,
                plan: &tab.plan,
                progress: tab.progress(),
                layers_passed: tab.layers_passed(),
                done: !tab.is_running(),
                machine,
                images: &images,
                proposed: ProposedDockerfile::default(),
                actions,
            };
            inside.show(ui, |ui| {
                let shown = inspector.as_mut().filter(|inspector| inspector.tab == tab.id);
                tab.views.layers.set_beside_panel(shown.is_some());
                let covered = shown.is_some_and(|inspector| panels::inspector(ui, inspector, &mut context));
                if !covered {
                    tab.views.ui(tab.view, ui, &mut context);
                }
            });
        } else if tab.saved.is_some() {
            panels::notices(ui, tab, actions);
            let Some(saved) = &tab.saved else { return };
            tab.saved_view.banner(ui, saved, actions);
            let report = &mut tab.views.report;
            inside.show(ui, |ui| tab.saved_view.ui(ui, tab.view, saved, report, machine, actions));
        } else {
            panels::changed(ui, tab, actions);
            panels::no_image(ui, tab, actions);
        }
    }

    fn take_keys(&mut self, ui: &mut Ui) {
        // A sheet in front takes all keys but those that close it.
        let writes = self.slim.as_ref().is_some_and(|slim| slim.open);
        if writes || self.offer.is_some() || self.remote.has_dialog() || self.question().is_some() {
            return;
        }
        let in_front = match self.help {
            Some(HelpSheet::Keys) => Some(Command::Keys),
            Some(HelpSheet::Manual(_)) => Some(Command::Manual),
            Some(HelpSheet::About) => Some(Command::About),
            None => self.palette.is_open().then_some(Command::Palette),
        };
        let typing = ui.text_edit_focused();
        self.take_escape(ui, in_front.is_some() || typing);
        let pressed = ui.input_mut(|input| Command::pressed(input, typing));
        let pressed = pressed.filter(|command| in_front.is_none_or(|in_front| *command == in_front));
        self.actions.extend(pressed.map(Action::Run));
        if in_front.is_none()
            && !ui.text_edit_focused()
            && self.check(Command::Find).is_ok()
            && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Slash))
        {
            // The `/` itself must not reach the focused field.
            ui.input_mut(|input| input.events.retain(|event| *event != egui::Event::Text("/".to_owned())));
            self.find();
        }
    }

    /// Escape closes the panel about a path, whichever list has the focus; what is in front of the panel, and a field, get
    /// the key first.
    fn take_escape(&mut self, ui: &Ui, taken: bool) {
        let shown = self.inspector.as_ref().is_some_and(|inspector| Some(inspector.tab) == self.front);
        let in_menu = self.path_menu.is_some() || self.row_menu.is_some();
        let in_front = taken || in_menu || self.settings_page.is_some();
        if !shown || in_front || egui::Popup::is_any_open(ui.ctx()) {
            return;
        }
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
            self.actions.push(Action::CloseInspector);
        }
    }

    fn take_drops(&mut self, ui: &Ui) {
        let dropped = ui.input(|input| input.raw.dropped_files.clone());
        if !dropped.is_empty() {
            self.take_files(dropped.iter().map(|file| file.path().to_owned()).collect());
        }
    }
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
