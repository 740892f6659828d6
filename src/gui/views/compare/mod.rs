//! In: the image whose view it is, and all others that are open.
//! Out: images side by side: what they share, and where they differ from a baseline.
//! Must not know: tabs, panels, or how images are compared.

mod add;
mod bar;
mod cards;
mod commands;
mod details;
mod files;
mod lines;
mod loading;
mod save;
mod state;

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Frame, Id, Margin, Modal, Ui};

use self::state::CompareState;
use super::{Action, ImageView, TabContent, ViewContext, waker};
use crate::gui::design::{Tokens, radius};
use crate::gui::dialogs::Pick;
use crate::gui::models::compare::{CompareModel, ImageState, OpenImage};
use crate::gui::models::findings::ChosenPlan;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::split::{LIST_REST, Split};
use crate::gui::widgets::stops;
use crate::jobs::Waker;

use crate::gui::models::compare::ComparePage;

const DETAILS: Split = Split {
    name: "comparison details",
    wide: 1_040.0,
    first: false,
    beside: |width| ((width * 0.29).min(400.0), 260.0..=width * 0.5),
    stacked: |height| ((height * 0.42).max(96.0), 84.0..=(height * 0.62).max(96.0)),
    rest: LIST_REST,
};

/// The window state that the view needs.
#[derive(Clone, Default)]
pub struct CompareContext {
    /// All open images, in the order of their tabs.
    pub images: Vec<OpenImage>,
    /// References opened lately, newest first.
    pub recent: Vec<String>,
    /// Whether a file dialog is open.
    pub dialog: bool,
}

impl CompareContext {
    fn image(&self, id: u64) -> Option<&OpenImage> {
        self.images.iter().find(|image| image.id == id)
    }
}

/// State of the view of one image.
#[derive(Default)]
pub struct CompareView {
    state: CompareState,
    add: add::AddPanel,
    /// Whether the panel to add images is open over the comparison.
    adding: bool,
    save: save::SaveBar,
    focus_search: bool,
    painted: usize,
}

/// What a part of the view asks for.
enum CompareEvent {
    /// To the window.
    Window(Action),
    /// Adds an open image.
    Add(u64),
    /// Takes an image out.
    Remove(u64),
    /// Moves an image to the right, or to the left.
    Shift(u64, bool),
    /// Makes this image the baseline.
    Baseline(u64),
    /// Opens or closes the panel to add images.
    Adding(bool),
    /// To a page.
    Page(ComparePage),
    /// To a path of the tree.
    Path(Vec<u8>),
    /// Stops comparing.
    Stop,
    /// Compares again.
    Retry,
    /// Nothing is chosen any more.
    Clear,
}

impl ImageView for CompareView {
    fn unavailable(content: TabContent) -> Option<&'static str> {
        let saved = matches!(content, TabContent::Report { .. });
        saved.then_some("Not available in a saved report: open the image")
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let around = context.images;
        let waker = waker(ui);
        self.painted = 0;
        self.leave_out(around);
        self.state.update(around, &waker);
        self.save.update(ui, context.actions);
        let mut events = Vec::new();
        if self.state.columns.list().len() < 2 {
            self.adding = false;
            add::alone(ui, &mut self.add, &self.state.columns, around, &mut events);
        } else {
            cards::show(ui, &self.state, around, &mut events);
            match self.state.work.model().cloned() {
                Some(model) => self.show(ui, &model, around, &waker, &mut events),
                None => loading::show(ui, &self.state, around, &mut events),
            }
            self.sheet(ui, around, &mut events);
        }
        for event in events {
            self.handle(ui, event, context, &waker);
        }
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["Summary", "Layers", "Files", "Packages", "Settings"]
    }

    fn focus_search(&mut self) -> bool {
        self.focus_search = true;
        true
    }

    fn is_busy(&self) -> bool {
        self.state.is_busy() || self.save.is_busy()
    }

    fn picked(&mut self, _: Pick, path: PathBuf, _: &ChosenPlan, waker: &Waker) {
        if let Some(model) = self.state.work.model().cloned() {
            self.save.write(&model, path, true, waker);
        }
    }

    fn dialog_failed(&mut self, reason: &str) {
        let words = format!("{reason}; enter the path instead");
        if self.save.is_open() {
            self.save.show_message(words);
        } else {
            self.show_message(words);
        }
    }
}

impl CompareView {
    /// The view of the image with this window ID.
    pub fn new(id: u64) -> Self {
        Self { state: CompareState::new(id), ..Self::default() }
    }

    /// Images whose tab was closed go; a saved report cannot stay.
    fn leave_out(&mut self, around: &CompareContext) {
        let kept = |id: u64| around.image(id).is_some_and(|image| image.state.refused().is_none());
        let refused = around.images.iter().find(|image| {
            self.state.columns.own() != image.id
                && self.state.columns.has(image.id)
                && matches!(image.state, ImageState::Saved)
        });
        if let Some(image) = refused {
            self.add
                .show_message(format!("Cannot compare {}: a saved report contains no files", image.title));
            self.adding = self.state.columns.list().len() > 2;
        }
        self.state.columns.retain(kept);
    }

    /// The panel to add images, over the comparison.
    fn sheet(&mut self, ui: &Ui, around: &CompareContext, events: &mut Vec<CompareEvent>) {
        if !self.adding {
            return;
        }
        let tokens = Tokens::of(ui);
        let size = ui.content_rect().size();
        let frame = Frame::popup(ui.style())
            .fill(tokens.popup)
            .corner_radius(radius::L)
            .inner_margin(Margin::same(16));
        let modal = Modal::new(Id::unique("add to the comparison"));
        let shown = modal.frame(frame).backdrop_color(tokens.backdrop()).show(ui.ctx(), |ui| {
            ui.set_width((size.x - 80.0).clamp(200.0, 560.0));
            ui.set_max_height((size.y - 120.0).max(160.0));
            add::sheet(ui, &mut self.add, &self.state.columns, around, events);
        });
        if shown.should_close() {
            events.push(CompareEvent::Adding(false));
        }
    }

    fn show(
        &mut self,
        ui: &mut Ui,
        model: &Arc<CompareModel>,
        around: &CompareContext,
        waker: &Waker,
        events: &mut Vec<CompareEvent>,
    ) {
        loading::line(ui, &self.state, around, events);
        self.save.show(ui, model, waker, events);
        let focus = std::mem::take(&mut self.focus_search);
        bar::show(ui, &mut self.state, model, focus, events);
        let (page, chosen) = (self.state.page, self.state.chosen(model));
        let columns = &self.state.columns;
        if DETAILS.is_wide(ui) || chosen.is_some() {
            DETAILS.show(ui, |ui| {
                card(ui, |ui| match &chosen {
                    Some(chosen) => details::show(ui, chosen, (page, columns), model, around, events),
                    None => empty(ui, "Nothing selected", "Select a row to see the details of each image."),
                });
            });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| {
            let output = match self.state.page {
                ComparePage::Files => files::show(ui, &mut self.state, model, around, waker, events),
                _ => lines::show(ui, &mut self.state, model, around, events),
            };
            self.painted = output.painted;
        });
    }

    fn handle(&mut self, ui: &Ui, event: CompareEvent, context: &mut ViewContext<'_>, waker: &Waker) {
        match event {
            CompareEvent::Window(action) => context.actions.push(action),
            CompareEvent::Add(id) => {
                self.state.columns.add(id);
                self.adding = false;
            }
            CompareEvent::Remove(id) => self.state.columns.remove(id),
            CompareEvent::Shift(id, right) => self.state.columns.shift(id, right),
            CompareEvent::Baseline(id) => self.state.columns.set_baseline(id),
            CompareEvent::Adding(open) => {
                self.adding = open;
                self.add.opened(open);
            }
            CompareEvent::Page(page) => self.state.page = page,
            CompareEvent::Path(path) => self.state.show_path(path, waker),
            CompareEvent::Stop => self.state.work.stop(),
            CompareEvent::Retry => self.state.work.retry(waker),
            CompareEvent::Clear => {
                if !self.state.clear() {
                    stops::escape(ui.ctx());
                }
            }
        }
        ui.ctx().request_repaint();
    }
}
