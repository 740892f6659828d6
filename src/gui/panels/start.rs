//! What is there before an image is: ways to open one.

use egui::accesskit::Role;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, Button, Frame, Label, Layout, Margin, RichText, ScrollArea, Sense, Shape, Stroke,
    TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::engines::engines;
use crate::base::text::{elide_middle, printable};
use crate::gui::app::App;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::image_names::image_names;
use crate::gui::models::remote::registry_of;
use crate::gui::models::typed::tidy;
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{
    Mark, heading, letters_in, line_of_text, paint_focus, paint_mark, primary_button, weak,
};
use crate::source::redacted;

const COLUMN: f32 = 680.0;

/// The state of the start screen.
#[derive(Default)]
pub(crate) struct StartScreen {
    reference: String,
    /// Something that went wrong while opening, until the next try.
    notice: Option<String>,
    wants_focus: bool,
    /// Whether it is shown which sockets of engines were tried.
    pub(super) engines_open: bool,
    /// What was typed when it was last looked at, and whether it names an image at a registry.
    looked: (String, bool),
}

impl StartScreen {
    /// Shows a notice beside the field.
    pub(crate) fn show_message(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// Puts the cursor into the field.
    pub(crate) fn focus(&mut self) {
        self.wants_focus = true;
    }

    /// Puts a reference into the field, and the cursor behind it.
    pub(crate) fn put(&mut self, reference: String) {
        *self = Self { reference, wants_focus: true, engines_open: self.engines_open, ..Self::default() };
    }

    /// What is typed.
    pub(crate) fn typed(&self) -> String {
        tidy(&self.reference)
    }

    /// Whether what is typed names an image at a registry.
    fn is_at_registry(&mut self) -> bool {
        if self.looked.0 != self.reference {
            let typed = self.typed();
            let plain = redacted(&typed) == typed;
            self.looked = (self.reference.clone(), plain && registry_of(&typed).is_some());
        }
        self.looked.1
    }

    /// An image was opened: the screen is as new when it is shown next.
    pub(crate) fn opened(&mut self) {
        *self = Self::default();
    }
}

/// The start screen.
pub(crate) fn start_screen(ui: &mut Ui, app: &mut App) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let column = COLUMN.min(ui.available_width() - 2.0 * space::XL);
        let left = (ui.available_width() - column) / 2.0;
        ui.add_space((ui.available_height() * 0.1).clamp(space::XL, 88.0));
        ui.horizontal_top(|ui| {
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(column);
                ui.spacing_mut().item_spacing.y = 6.0;
                show_column(ui, app);
            });
        });
        ui.add_space(space::XL);
    });
}

fn show_column(ui: &mut Ui, app: &mut App) {
    let tokens = Tokens::of(ui);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Open a container image").font(text::title()).color(tokens.text));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let about = "Driver and GPUs of this machine, with a functional check";
            if ui.link("This machine's GPU").on_hover_text(about).clicked() {
                app.actions.push(Action::ShowMachine);
            }
        });
    });
    weak(ui, "Find large, shadowed and removable files, layer by layer.");
    ui.add_space(space::L);
    reference_field(ui, app);
    notice(ui, app);
    ui.add_space(space::L);
    drop_target(ui, app);
    ui.add_space(space::M);
    engines(ui, app);
    ui.add_space(space::M);
    if ui.available_width() >= 560.0 {
        ui.columns(2, |columns| {
            recent(&mut columns[0], app);
            samples(&mut columns[1], app);
        });
    } else {
        recent(ui, app);
        ui.add_space(space::M);
        samples(ui, app);
    }
}

fn reference_field(ui: &mut Ui, app: &mut App) {
    let tokens = Tokens::of(ui);
    let label = ui.label(RichText::new("Path or reference").font(text::strong()));
    let App { start, actions, .. } = app;
    ui.horizontal(|ui| {
        let room = ui.available_width() - 76.0 - 76.0;
        let field = TextEdit::singleline(&mut start.reference)
            .id(egui::Id::unique("reference field"))
            .hint_text("image.tar, folder, ghcr.io/team/tool:1, docker-daemon:tool:1")
            .margin(Margin::symmetric(8, 6))
            .align(Align2::LEFT_CENTER)
            .min_size(vec2(0.0, 32.0))
            .desired_width(room);
        let response = ui.add(field).labelled_by(label.id);
        if std::mem::take(&mut start.wants_focus) {
            response.request_focus();
            cursor_to_end(ui, response.id, &start.reference);
        }
        let button = Button::new("Tags…").min_size(vec2(68.0, 32.0));
        let tags = ui.add_enabled(start.is_at_registry(), button);
        let tags = tags.on_hover_text(Command::ListTags.info().about);
        if tags.on_disabled_hover_text("Enter a registry image name first").clicked() {
            actions.push(Action::Run(Command::ListTags));
        }
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let given = !start.reference.trim().is_empty();
        let clicked = ui
            .add_enabled_ui(given, |ui| {
                ui.spacing_mut().interact_size.y = 32.0;
                ui.set_width(68.0);
                ui.vertical_centered_justified(|ui| primary_button(ui, "Open")).inner
            })
            .inner
            .on_disabled_hover_text("Enter a path or reference first")
            .clicked();
        if (entered && given) || clicked {
            actions.push(Action::OpenImage(start.reference.clone()));
        }
    });
    let forms = "Accepts docker save, podman save and skopeo archives, OCI layouts, root filesystems, registries, \
                 container engines.";
    ui.add(Label::new(RichText::new(forms).font(text::small()).color(tokens.text_weak)).wrap());
}

/// Moves the cursor to the end of the field.
fn cursor_to_end(ui: &Ui, field: egui::Id, typed: &str) {
    let mut state = TextEditState::load(ui.ctx(), field).unwrap_or_default();
    let end = CCursor::new(typed.chars().count());
    state.cursor.set_char_range(Some(CCursorRange::one(end)));
    state.store(ui.ctx(), field);
}

/// What went wrong, or that a dialog is late.
fn notice(ui: &mut Ui, app: &mut App) {
    let tokens = Tokens::of(ui);
    let late = app.dialogs.is_late();
    let late_text = "The dialog service does not respond. If no dialog opens, enter the path above.";
    let Some(text) = app.start.notice.as_deref().or(late.then_some(late_text)) else { return };
    let mut give_up = false;
    ui.add_space(space::S);
    Frame::new()
        .fill(tokens.wash(tokens.warning))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(12, 8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
                paint_mark(ui.painter(), Mark::Warning, rect.center(), 14.0, tokens.warning);
                ui.add(Label::new(printable(text)).wrap().selectable(true));
            });
            if late {
                give_up = ui.button("Stop waiting").clicked();
            }
        });
    if give_up {
        app.dialogs.give_up();
    }
}

fn drop_target(ui: &mut Ui, app: &mut App) {
    let tokens = Tokens::of(ui);
    let inner = Frame::new()
        .fill(tokens.raised)
        .corner_radius(radius::S)
        .inner_margin(Margin::symmetric(16, 14))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.set_min_height(28.0);
                let words = match (app.dialogs.is_waiting(), app.drops_arrive) {
                    (true, _) => "Waiting for the file dialog…",
                    (false, true) => "Drop an archive or folder here",
                    (false, false) => "Select an archive or folder",
                };
                ui.label(RichText::new(words).font(text::heading()));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    for command in [Command::OpenFolder, Command::OpenArchive] {
                        let info = command.info();
                        let button = Button::new(info.title).min_size(vec2(124.0, 28.0));
                        let tooltip = format!("{} ({})", app.tooltip(command), info.keys_text(ui.ctx()));
                        let response = ui.add_enabled(app.check(command).is_ok(), button);
                        if response.on_hover_text(&tooltip).on_disabled_hover_text(&tooltip).clicked() {
                            app.actions.push(Action::Run(command));
                        }
                    }
                });
            });
            if !app.drops_arrive {
                weak(ui, "Drag and drop is not supported under Wayland yet.");
            }
        });
    let rect = inner.response.rect.shrink(1.0);
    let corners =
        [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    let stroke = Stroke::new(1.0, tokens.border_strong);
    ui.painter().extend(Shape::dashed_line(&corners, stroke, 6.0, 4.0));
}

fn recent(ui: &mut Ui, app: &mut App) {
    heading(ui, "Recent images");
    let App { remembered, actions, .. } = app;
    if remembered.recent.is_empty() {
        weak(ui, "No recent images. Open one to list it here.");
    }
    let recent: Vec<&String> = remembered.recent.iter().take(8).collect();
    let shown: Vec<String> = recent.iter().map(|reference| printable(reference)).collect();
    let names = image_names(&shown.iter().map(String::as_str).collect::<Vec<_>>());
    for ((reference, shown), name) in recent.into_iter().zip(&shown).zip(&names) {
        // The end of a path is more specific than its middle.
        let whole = elide_middle(shown, letters_in(ui.available_width()));
        let failed = remembered.failed.contains(reference);
        let whole = if failed { format!("Could not be opened: {whole}") } else { whole };
        let response = entry(ui, name, &whole, shown);
        if failed {
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_description("could not be opened"));
        }
        if response.clicked() {
            actions.push(Action::OpenImage(reference.clone()));
        }
    }
}

fn samples(ui: &mut Ui, app: &mut App) {
    heading(ui, "Samples");
    let samples = [(Command::SampleDevel, "sample:devel"), (Command::SampleRuntime, "sample:runtime")];
    for (command, name) in samples {
        if entry(ui, name, command.info().about, "").clicked() {
            app.actions.push(Action::Run(command));
        }
    }
}

/// A row to click: a name, and what it is in weaker letters below.
fn entry(ui: &mut Ui, name: &str, about: &str, tooltip: &str) -> egui::Response {
    let tokens = Tokens::of(ui);
    let height = if about.is_empty() { 28.0 } else { 44.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    if response.hovered() {
        // Align the text with the heading above it, and leave a gap to the next column.
        let back = rect.with_min_x(rect.left() - 8.0).with_max_x(rect.right() - 8.0);
        ui.painter().rect_filled(back, radius::S, tokens.hovered);
    }
    let line = |top: f32, height: f32| {
        egui::Rect::from_min_size(pos2(rect.left(), rect.top() + top), vec2(rect.width(), height))
    };
    if about.is_empty() {
        line_of_text(ui, line(0.0, height), name, text::body(), tokens.accent);
    } else {
        line_of_text(ui, line(4.0, 20.0), name, text::body(), tokens.accent);
        line_of_text(ui, line(23.0, 16.0), about, text::small(), tokens.text_weak);
    }
    paint_focus(ui, &response, radius::S);
    if tooltip.is_empty() { response } else { response.on_hover_text(tooltip) }
}
