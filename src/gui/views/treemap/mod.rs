//! In: an analysis as it grows, and the files that the layers view shows.
//! Out: their sizes as a picture in the full area of the view, coloured by a property.
//! Must not know: tabs, panels, or how an image is read.

mod details;
mod legend;
mod map;

use std::sync::Arc;

use egui::{Frame, Margin, Panel, RichText, Ui};

pub(super) use map::MapPane;

use super::{ImageView, TabContent, ViewContext, waker};
use crate::base::text::counted;
use crate::gui::design::{Tokens, space};
use crate::gui::models::background::{Background, Same};
use crate::gui::models::browser::Browser;
use crate::gui::models::files::FileTree;
use crate::gui::models::treemap_colors::{ColorBy, Coloring};
use crate::gui::widgets::controls::weak;
use crate::gui::widgets::pane::card;
use crate::gui::widgets::radio::radio;
use crate::gui::widgets::treemap::MAIN;
use crate::jobs::Waker;

/// Images with fewer paths are coloured at once: a thread would cost more than the work.
const AT_ONCE: usize = 20_000;

/// State of the view of one image.
#[derive(Default)]
pub struct TreemapView {
    /// The files of the layers view, while this view is painted: what is selected there is selected here.
    browser: Browser,
    by: ColorBy,
    map: MapPane,
    colors: Option<Arc<Coloring>>,
    colors_for: Option<(u64, Same<FileTree>, ColorBy)>,
    colors_job: Background<Coloring>,
}

impl ImageView for TreemapView {
    fn unavailable(content: TabContent) -> Option<&'static str> {
        let saved = matches!(content, TabContent::Report { .. });
        saved.then_some("Not available in a saved report: open the image")
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        self.browser.update(context.analysis, context.generation, context.done, &waker);
        self.color(context, &waker);
        self.bar(ui, context);
        if let Some(gap) = self.browser.gap() {
            card(ui, |ui| super::layers::show_gap(ui, &mut self.browser, &gap));
            return;
        }
        let width = (ui.available_width() * 0.26).clamp(180.0, 300.0);
        Panel::right("treemap legend")
            .frame(Frame::new().inner_margin(Margin { left: 8, ..Margin::ZERO }))
            .show_separator_line(false)
            .resizable(false)
            .exact_size(width)
            .show(ui, |ui| {
                card(ui, |ui| legend::show(ui, self.colors.as_deref()));
            });
        egui::CentralPanel::no_frame().show(ui, |ui| {
            card(ui, |ui| self.map.show(ui, &mut self.browser, self.colors.as_ref(), context));
        });
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &[MAIN]
    }

    fn is_busy(&self) -> bool {
        self.colors_job.is_busy()
    }
}

impl TreemapView {
    /// Shows the folder of a path; the path is selected in the layers view.
    pub fn reveal(&mut self, path: &[u8]) {
        let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.map.enter(path.get(..end).unwrap_or_default().to_vec());
    }

    /// Colours by another property.
    pub fn color_by(&mut self, by: ColorBy) {
        self.by = by;
    }

    /// What colours mean.
    pub fn colored_by(&self) -> ColorBy {
        self.by
    }

    /// The colours as data; `None` until they are known.
    pub fn colors(&self) -> Option<&Coloring> {
        self.colors.as_deref()
    }

    /// Takes the files of the layers view in exchange for its own; done before and after a frame.
    pub(super) fn swap(&mut self, browser: &mut Browser) {
        std::mem::swap(&mut self.browser, browser);
    }

    /// Keeps the colours up to date with the tree and the analysis.
    fn color(&mut self, context: &ViewContext<'_>, waker: &Waker) {
        if self.by.missing(context.analysis).is_some() {
            (self.colors, self.colors_for) = (None, None);
            return;
        }
        let Some(tree) = self.browser.shown().map(|shown| Arc::clone(&shown.tree)) else { return };
        let key = (context.generation, Same(Arc::clone(&tree)), self.by);
        if self.colors_for.as_ref() != Some(&key) {
            let same_tree =
                self.colors_for.as_ref().is_some_and(|known| known.1 == key.1 && known.2 == key.2);
            if !same_tree {
                self.colors = None;
            }
            self.colors_for = Some(key);
            let titles: Vec<String> = self.browser.items.iter().map(|item| item.title.clone()).collect();
            let (analysis, by) = (Arc::clone(context.analysis), self.by);
            let at_once = tree.timeline().len() < AT_ONCE;
            let made = self
                .colors_job
                .start(waker, at_once, move |cancel| Coloring::new(&tree, &analysis, &titles, by, cancel));
            if let Some(made) = made {
                self.colors = Some(Arc::new(made));
            }
        }
        if let Some(made) = self.colors_job.take() {
            self.colors = Some(Arc::new(made));
        }
    }

    /// What colours mean, and which files are shown.
    fn bar(&mut self, ui: &mut Ui, context: &ViewContext<'_>) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.label("Color by");
            for by in ColorBy::ALL {
                if radio(ui, self.by == by, by.title(), 0.0).clicked() {
                    self.by = by;
                }
            }
            if let Some(layer) = self.browser.layer() {
                let words = match self.browser.is_merged() {
                    true if self.browser.partial().is_some() => "Layers read so far, merged".to_owned(),
                    true if layer + 1 == self.browser.items.len() => "All layers, merged".to_owned(),
                    true => format!("Layers 0–{layer}, merged"),
                    false => format!("Layer {layer} only"),
                };
                ui.separator();
                weak(ui, words);
            }
        });
        let tokens = Tokens::of(ui);
        let items = &self.browser.items;
        let read = items.iter().filter(|item| item.state.has_files()).count();
        let notice = match items.iter().find(|item| item.state.fault().is_some()) {
            // The banner above says why.
            Some(item) if item.state.has_files() => Some(format!("Layer {} is incomplete", item.index)),
            Some(item) => Some(format!("Layer {} could not be read", item.index)),
            None if context.done && read < items.len() => {
                Some(format!("{read} of {} read", counted(items.len(), "layer")))
            }
            None => None,
        };
        if let Some(words) = notice {
            ui.label(RichText::new(words).color(tokens.warning));
        }
        if let Some(what) = self.by.missing(context.analysis) {
            let words = if context.done {
                format!("No colors by {}: the analysis stopped before {what}", self.by.title().to_lowercase())
            } else {
                format!("Waiting for {what}; colored by layer until then")
            };
            ui.label(RichText::new(words).color(tokens.text_weak));
        }
        if let Some(reason) = self.colors_job.error() {
            ui.label(RichText::new(format!("Cannot color the treemap: {reason}")).color(tokens.error));
        }
        ui.add_space(space::XS);
    }
}
