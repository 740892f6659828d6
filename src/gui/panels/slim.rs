//! The sheet that writes a slim image.

use egui::{Grid, Key, Label, Margin, RichText, TextEdit, Ui, vec2};

use super::sheet::{failure, focus_first, sentence, sheet, title};
use crate::base::size::human;
use crate::base::text::elide_middle;
use crate::gui::app::App;
use crate::gui::design::{Tokens, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::slim::{DestinationKind, SlimModel};
use crate::gui::widgets::controls::{check_box, primary_button, progress_bar, weak};

/// What was asked for.
enum SlimEvent {
    Write,
    Stop,
    Close,
    Browse,
}

/// Shows the sheet while it is open.
pub(crate) fn slim(ui: &Ui, app: &mut App) {
    let Some(model) = app.slim.as_mut().filter(|model| model.open) else { return };
    let (event, closes) = sheet(ui, "slim image", 560.0, |ui| show(ui, model));
    match event {
        Some(SlimEvent::Write) => app.write_slim(),
        Some(SlimEvent::Stop) => model.stop(),
        Some(SlimEvent::Browse) => {
            let folder = model.kind == DestinationKind::Layout;
            app.ask(if folder { Pick::SlimFolder } else { Pick::SlimArchive });
        }
        Some(SlimEvent::Close) => model.open = false,
        None if closes => model.open = false,
        None => {}
    }
}

fn show(ui: &mut Ui, model: &mut SlimModel) -> Option<SlimEvent> {
    title(ui, "Write slim image");
    weak(ui, elide_middle(&model.title, 72));
    ui.add_space(space::S);
    let writing = model.is_writing();
    let mut event = ui.add_enabled_ui(!writing, |ui| choices(ui, model)).inner;
    ui.add_space(space::S);
    sizes(ui, model);
    if let Some(reason) = model.failure.clone() {
        failure(ui, &reason);
    }
    ui.add_space(space::M);
    if writing {
        progress(ui, model);
    }
    ui.horizontal(|ui| {
        if writing {
            let stop = ui.add_enabled_ui(!model.is_stopping(), |ui| ui.button("Cancel")).inner;
            if stop.clicked() {
                event = Some(SlimEvent::Stop);
            }
        } else {
            let obstacle = model.obstacle();
            let label = if model.failure.is_some() { "Try again" } else { "Write" };
            let write = ui.add_enabled_ui(obstacle.is_none(), |ui| primary_button(ui, label)).inner;
            if write.on_disabled_hover_text(obstacle.unwrap_or_default()).clicked() {
                event = Some(SlimEvent::Write);
            }
        }
        if ui.button("Close").clicked() {
            event = Some(SlimEvent::Close);
        }
    });
    event
}

fn choices(ui: &mut Ui, model: &mut SlimModel) -> Option<SlimEvent> {
    let tokens = Tokens::of(ui);
    let mut event = None;
    ui.label(RichText::new("Destination").font(text::strong()));
    ui.horizontal_wrapped(|ui| {
        for kind in DestinationKind::ALL {
            ui.selectable_value(&mut model.kind, kind, kind.words().0);
        }
    });
    let label = if model.kind.is_path() { "Path" } else { "Name" };
    ui.horizontal(|ui| {
        let label = ui.label(label);
        let room = if model.kind.is_path() { 90.0 } else { 0.0 };
        let field = TextEdit::singleline(&mut model.name)
            .hint_text(model.kind.words().2)
            .margin(Margin::symmetric(8, 5))
            .min_size(vec2(0.0, 28.0))
            .desired_width((ui.available_width() - room).max(120.0));
        let field = ui.add(field).labelled_by(label.id);
        focus_first(&field, &mut model.focused);
        if field.changed() {
            model.message = None;
        }
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && model.obstacle().is_none()
        {
            event = Some(SlimEvent::Write);
        }
        if model.kind.is_path() && ui.button("Browse…").clicked() {
            event = Some(SlimEvent::Browse);
        }
    });
    match (model.message.clone(), model.check()) {
        (Some(error), _) | (None, Some(Err(error))) => {
            ui.add(Label::new(RichText::new(sentence(&error)).color(tokens.error)).wrap());
        }
        (None, Some(Ok(Some(note)))) => {
            weak(ui, note);
        }
        (None, _) => {}
    }
    ui.add_space(space::S);
    ui.label(RichText::new("Compression of rewritten layers").font(text::strong()));
    ui.horizontal(|ui| {
        ui.selectable_value(&mut model.zstd, false, "gzip");
        ui.selectable_value(&mut model.zstd, true, "zstd");
    });
    let base = model.base().map(str::to_owned);
    let about = base.as_deref().unwrap_or("No base image is recognised").to_owned();
    let keep = model.keep_base;
    let keep =
        ui.add_enabled_ui(base.is_some(), |ui| check_box(ui, keep, "Keep the base image's layers")).inner;
    if keep.on_hover_text(&about).on_disabled_hover_text(&about).clicked() {
        model.keep_base = !model.keep_base;
    }
    if let Some(cost) = model.base_cost() {
        weak(ui, cost);
    }
    event
}

fn sizes(ui: &mut Ui, model: &SlimModel) {
    match model.lines() {
        None => {
            weak(ui, "Computing sizes…");
        }
        Some(Err(reason)) => failure(ui, reason),
        Some(Ok(lines)) => {
            Grid::new("slim sizes").num_columns(2).spacing(vec2(space::L, 4.0)).show(ui, |ui| {
                for (name, value) in lines {
                    weak(ui, name);
                    ui.label(value);
                    ui.end_row();
                }
            });
        }
    }
}

fn progress(ui: &mut Ui, model: &SlimModel) {
    let now = model.progress();
    progress_bar(ui, "Writing progress", now.fraction(), vec2(ui.available_width(), 6.0));
    let (passed, total) = (human(now.bytes_passed), human(now.bytes_total));
    let layers = format!("{} of {} layers", now.layers_done, now.layers_total);
    weak(
        ui,
        if model.is_stopping() { "Stopping…".to_owned() } else { format!("{passed} of {total}, {layers}") },
    );
}
