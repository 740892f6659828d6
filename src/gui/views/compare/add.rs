//! Ways to add an image: from the open tabs, by a path, recent ones, samples, dialogs.

use egui::accesskit::Role;
use egui::{
    Align2, Button, Frame, Key, Label, Margin, RichText, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, vec2,
};

use super::{Action, CompareContext, CompareEvent};
use crate::base::text::{elide_middle, printable};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::compare::{ImageColumns, ImageState, OpenImage};
use crate::gui::models::image_names::image_names;
use crate::gui::widgets::alert::mark_in;
use crate::gui::widgets::controls::{
    Mark, heading, letters_in, line_of_text, mark_button, paint_focus, primary_button, weak,
};

const SAMPLES: [(&str, &str); 2] = [
    ("sample:devel", "Small example of a service built on a CUDA devel image"),
    ("sample:runtime", "The same service on a CUDA runtime image"),
];
/// How many recent images are listed.
const RECENT: usize = 6;

/// The field for a path, and the note beside it.
#[derive(Default)]
pub(super) struct AddPanel {
    typed: String,
    message: Option<String>,
    wants_focus: bool,
}

impl AddPanel {
    pub(super) fn show_message(&mut self, words: String) {
        self.message = Some(words);
        self.wants_focus = true;
    }

    /// The panel was opened or closed.
    pub(super) fn opened(&mut self, open: bool) {
        *self = Self { wants_focus: open, ..Self::default() };
    }
}

/// In the place of a comparison, while there is nothing to compare with.
pub(super) fn alone(
    ui: &mut Ui,
    panel: &mut AddPanel,
    columns: &ImageColumns,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let width = (ui.available_width() - 2.0 * space::L).min(620.0);
        let left = (ui.available_width() - width) / 2.0;
        ui.add_space((ui.available_height() * 0.06).clamp(0.0, 56.0));
        ui.horizontal_top(|ui| {
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(width);
                let title = RichText::new("Add image to compare").font(text::title());
                ui.label(title.color(Tokens::of(ui).text));
                let own = around.image(columns.own()).map_or("this image", |image| image.title.as_str());
                let note = format!(
                    "Shows shared, added and removed content relative to {}, by layer and by file.",
                    elide_middle(own, 60)
                );
                ui.add(Label::new(RichText::new(note).color(Tokens::of(ui).text_weak)).wrap());
                ui.add_space(space::L);
                ways(ui, panel, columns, around, events);
            });
        });
    });
}

/// Over the comparison.
pub(super) fn sheet(
    ui: &mut Ui,
    panel: &mut AddPanel,
    columns: &ImageColumns,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Add image").font(text::title()).color(Tokens::of(ui).text));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if mark_button(ui, Mark::Close, "Close without adding").clicked() {
                events.push(CompareEvent::Adding(false));
            }
        });
    });
    ui.add_space(space::S);
    ScrollArea::vertical().auto_shrink([false, true]).show(ui, |ui| ways(ui, panel, columns, around, events));
}

fn ways(
    ui: &mut Ui,
    panel: &mut AddPanel,
    columns: &ImageColumns,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    let others: Vec<&OpenImage> = around.images.iter().filter(|image| !columns.has(image.id)).collect();
    if !others.is_empty() {
        heading(ui, "Open images");
        for image in others {
            open_image(ui, image, events);
        }
        ui.add_space(space::M);
    }
    field(ui, panel, around, events);
    ui.add_space(space::M);
    let open: Vec<&str> = around.images.iter().map(|image| image.shown.as_str()).collect();
    let recent = around.recent.iter().filter(|reference| !open.contains(&reference.as_str()));
    let recent: Vec<&String> = recent.take(RECENT).collect();
    let samples: Vec<_> = SAMPLES.iter().filter(|(name, _)| !open.contains(name)).collect();
    let lists = |ui: &mut Ui, first: bool, events: &mut Vec<CompareEvent>| {
        if first && !recent.is_empty() {
            heading(ui, "Recent images");
            let shown: Vec<String> = recent.iter().map(|reference| printable(reference)).collect();
            let names = image_names(&shown.iter().map(String::as_str).collect::<Vec<_>>());
            for ((reference, shown), name) in recent.iter().zip(&shown).zip(&names) {
                let whole = elide_middle(shown, letters_in(ui.available_width()));
                if entry(ui, name, &whole, &format!("Compare with {shown}"), true).clicked() {
                    events.push(CompareEvent::Window(Action::OpenBeside((*reference).clone())));
                }
            }
        }
        if !first && !samples.is_empty() {
            heading(ui, "Samples");
            for (name, about) in &samples {
                if entry(ui, name, about, &format!("Compare with {name}"), true).clicked() {
                    events.push(CompareEvent::Window(Action::OpenBeside((*name).to_owned())));
                }
            }
        }
    };
    if ui.available_width() >= 480.0 && !recent.is_empty() && !samples.is_empty() {
        ui.columns(2, |sides| {
            lists(&mut sides[0], true, events);
            lists(&mut sides[1], false, events);
        });
    } else {
        lists(ui, true, events);
        lists(ui, false, events);
    }
}

fn open_image(ui: &mut Ui, image: &OpenImage, events: &mut Vec<CompareEvent>) {
    let about = match (&image.state, image.state.refused()) {
        (_, Some(reason)) => reason.to_owned(),
        (ImageState::Reading(_, words), _) => format!("loading: {words}"),
        (ImageState::Failed(why), _) => format!("failed: {why}"),
        (ImageState::Stopped, _) => "stopped before it was loaded".to_owned(),
        (ImageState::Ready(_) | ImageState::Saved, None) => image.shown.clone(),
    };
    let enabled = image.state.refused().is_none();
    let name = format!("Compare with {}", image.title);
    let response = entry(ui, &image.title, &about, &name, enabled);
    let hint = if enabled { &image.shown } else { &about };
    if response.on_hover_text(hint).on_disabled_hover_text(hint).clicked() {
        events.push(CompareEvent::Add(image.id));
    }
}

fn field(ui: &mut Ui, panel: &mut AddPanel, around: &CompareContext, events: &mut Vec<CompareEvent>) {
    let tokens = Tokens::of(ui);
    let label = ui.label(RichText::new("Path or reference").font(text::strong()));
    ui.horizontal(|ui| {
        let room = (ui.available_width() - 76.0).max(80.0);
        let field = TextEdit::singleline(&mut panel.typed)
            .hint_text("image.tar, folder, ghcr.io/team/tool:1, docker-daemon:tool:1")
            .margin(Margin::symmetric(8, 5))
            .align(Align2::LEFT_CENTER)
            .min_size(vec2(0.0, 28.0))
            .desired_width(room);
        let response = ui.add(field).labelled_by(label.id);
        if std::mem::take(&mut panel.wants_focus) {
            response.request_focus();
        }
        if response.changed() {
            panel.message = None;
        }
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let given = !panel.typed.trim().is_empty();
        let clicked = ui.add_enabled_ui(given, |ui| primary_button(ui, "Compare")).inner.clicked();
        if given && (entered || clicked) {
            events.push(CompareEvent::Window(Action::OpenBeside(panel.typed.clone())));
            panel.message = None;
        }
    });
    ui.horizontal(|ui| {
        for (label, pick) in [("Archive…", Pick::CompareArchive), ("Folder…", Pick::CompareFolder)] {
            let response = ui.add_enabled(!around.dialog, Button::new(label));
            let response = response.on_disabled_hover_text("A file dialog is already open");
            if response.on_hover_text("Open a file dialog").clicked() {
                events.push(CompareEvent::Window(Action::Pick(pick)));
            }
        }
        weak(ui, "or drop a file here");
    });
    if let Some(message) = &panel.message {
        ui.add_space(space::XS);
        Frame::new()
            .fill(tokens.wash(tokens.warning))
            .corner_radius(radius::M)
            .inner_margin(Margin::symmetric(12, 6))
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.horizontal(|ui| {
                    mark_in(ui, vec2(16.0, 20.0), Mark::Warning, 14.0, tokens.warning);
                    ui.add(Label::new(printable(message)).wrap().selectable(true));
                });
            });
    }
}

/// A row to click: a name, and what it is in weaker letters below.
fn entry(ui: &mut Ui, name: &str, about: &str, spoken: &str, enabled: bool) -> egui::Response {
    let tokens = Tokens::of(ui);
    ui.add_enabled_ui(enabled, |ui| {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 40.0), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, spoken));
        if response.hovered() {
            ui.painter().rect_filled(rect.expand2(vec2(8.0, 0.0)), radius::S, tokens.hovered);
        }
        let line = |top: f32, height: f32| {
            egui::Rect::from_min_size(rect.min + vec2(0.0, top), vec2(rect.width(), height))
        };
        let color = if enabled { tokens.accent } else { tokens.text_disabled };
        line_of_text(ui, line(2.0, 20.0), name, text::body(), color);
        line_of_text(ui, line(20.0, 16.0), about, text::small(), tokens.text_weak);
        paint_focus(ui, &response, radius::S);
        response
    })
    .inner
}
