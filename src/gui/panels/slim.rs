//! The sheet that writes a slim image: choices and sizes, then progress, then what was done.

use egui::{Align, Grid, Key, Label, Layout, Margin, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::sheet::{capitalised, failure, focus_first, sentence, sheet, title};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::{counted, elide_middle, printable};
use crate::gui::app::App;
use crate::gui::design::{Tokens, row, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::cuda::OTHER_GPUS;
use crate::gui::models::slim::{DestinationKind, SlimModel, SlimResult};
use crate::gui::widgets::controls::{check_box, primary_button, progress_bar, weak};
use crate::report::{SlimLayer, SlimReport};

/// What was asked for.
enum SlimEvent {
    Write,
    Stop,
    Close,
    Browse,
    ReadAll,
    Copy(String),
}

/// Height of the layers in the report.
const LAYERS: f32 = 150.0;
/// Width of a number there.
const NUMBER: f32 = 96.0;
/// What removing GPU code costs.
const PRUNING_COSTS: &str = "Other GPUs then fail with error 209. Whether changed copies of NVIDIA's files may be used or passed \
                             on depends on NVIDIA's licenses.";
/// Lines of sizes without that of GPU code.
const SIZES: usize = 4;
/// Height of an error with its hint.
const FAILURE: f32 = 110.0;
/// What the rest of the window needs around the sheet.
const AROUND: f32 = 60.0;

/// Shows the sheet while it is open.
pub(crate) fn slim(ui: &Ui, app: &mut App) {
    let browses = app.dialogs.is_waiting();
    let Some(model) = app.slim.as_mut().filter(|model| model.open) else { return };
    let compared = app.tabs.iter().any(|tab| tab.id == model.tab);
    let height = ui.content_rect().height() - AROUND;
    let (event, closes) = sheet(ui, "slim image", 640.0, |ui| match model.written.clone() {
        Some(written) => show_written(ui, model, &written, compared, height),
        None => show(ui, model, height, browses),
    });
    match event {
        Some(SlimEvent::Write) => app.write_slim(),
        Some(SlimEvent::Stop) => model.stop(),
        Some(SlimEvent::Browse) => {
            let kind = model.choices.kind;
            let folder = matches!(kind, DestinationKind::Layout | DestinationKind::Directory);
            app.ask(if folder { Pick::SlimFolder } else { Pick::SlimArchive });
        }
        Some(SlimEvent::ReadAll) => app.read_all_layers(),
        Some(SlimEvent::Copy(text)) => app.context.copy_text(text),
        Some(SlimEvent::Close) => close(app),
        None if closes => close(app),
        None => {}
    }
}

/// Hides the sheet; the choices stay for the next time, and writing goes on.
fn close(app: &mut App) {
    app.slim.take_if(|model| model.written.is_some());
    app.slim.iter_mut().for_each(|model| model.open = false);
}

fn show(ui: &mut Ui, model: &mut SlimModel, height: f32, browses: bool) -> Option<SlimEvent> {
    title(ui, "Write slim image");
    weak(ui, elide_middle(&model.title, 72));
    ui.add_space(space::S);
    let writing = model.is_writing();
    let mut event = None;
    let failed = if model.failure.is_some() && !writing { FAILURE } else { 0.0 };
    scroll(ui, height - failed, |ui| {
        event = ui.add_enabled_ui(!writing, |ui| choices(ui, model, browses)).inner;
        ui.add_space(space::S);
        let read_all = sizes(ui, model);
        event = event.take().or(read_all);
    });
    if let Some(reason) = &model.failure {
        ui.add_space(space::S);
        failure(ui, reason);
    } else if model.cancelled {
        ui.add_space(space::S);
        weak(ui, "Cancelled. Nothing was written.");
    }
    ui.add_space(space::M);
    if writing {
        progress(ui, model);
        ui.add_space(space::S);
    }
    ui.horizontal(|ui| {
        if writing {
            let stop = ui.add_enabled_ui(!model.is_stopping(), |ui| ui.button("Cancel")).inner;
            if stop.clicked() {
                event = Some(SlimEvent::Stop);
            }
            let about = "Writing continues; the status bar shows its progress";
            if ui.button("Hide").on_hover_text(about).clicked() {
                event = Some(SlimEvent::Close);
            }
            return;
        }
        let obstacle = model.obstacle();
        let label = if model.failure.is_some() { "Try again" } else { "Write" };
        let write = ui.add_enabled_ui(obstacle.is_none(), |ui| primary_button(ui, label)).inner;
        if write.on_disabled_hover_text(obstacle.unwrap_or_default()).clicked() {
            event = Some(SlimEvent::Write);
        }
        if ui.button("Close").clicked() {
            event = Some(SlimEvent::Close);
        }
    });
    event
}

/// Scrolls what is between the head and the buttons in a window that is too low.
fn scroll(ui: &mut Ui, height: f32, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical().id_salt("slim").max_height((height - 150.0).max(120.0)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        add(ui);
    });
}

fn choices(ui: &mut Ui, model: &mut SlimModel, browses: bool) -> Option<SlimEvent> {
    let mut event = None;
    ui.label(RichText::new("Destination").font(text::strong()));
    ui.horizontal_wrapped(|ui| {
        for kind in DestinationKind::ALL {
            ui.selectable_value(&mut model.choices.kind, kind, kind.words().0);
        }
    });
    let kind = model.choices.kind;
    ui.horizontal(|ui| {
        let label = ui.label(if kind.is_path() { "Path" } else { "Name" });
        let room = if kind.is_path() { 90.0 } else { 0.0 };
        let field = TextEdit::singleline(&mut model.choices.name)
            .hint_text(kind.words().2)
            .margin(Margin::symmetric(8, 5))
            .min_size(vec2(0.0, 28.0))
            .desired_width((ui.available_width() - room).max(120.0));
        let field = ui.add(field).labelled_by(label.id);
        focus_first(&field, &mut model.focused);
        if field.changed() {
            model.message = None;
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if entered && model.obstacle().is_none() {
            event = Some(SlimEvent::Write);
        }
        if kind.is_path() {
            let browse = ui.add_enabled_ui(!browses, |ui| ui.button("Browse…")).inner;
            if browse.on_disabled_hover_text("A file dialog is already open").clicked() {
                event = Some(SlimEvent::Browse);
            }
        }
    });
    below_name(ui, model);
    ui.add_space(space::S);
    ui.label(RichText::new("Compression of rewritten layers").font(text::strong()));
    ui.horizontal(|ui| {
        ui.selectable_value(&mut model.choices.zstd, false, "gzip");
        ui.selectable_value(&mut model.choices.zstd, true, "zstd");
    });
    ui.add_space(space::S);
    let base = model.base().map(printable);
    let about = base.as_deref().unwrap_or("No base image is recognised").to_owned();
    let keep = model.choices.keep_base;
    let keep = ui
        .add_enabled_ui(base.is_some(), |ui| check_box(ui, keep, "Keep the layers of the base image"))
        .inner;
    if keep.on_hover_text(&about).on_disabled_hover_text(&about).clicked() {
        model.choices.keep_base = !model.choices.keep_base;
    }
    gpu_code(ui, model);
    event
}

/// GPUs to choose, if the image has GPU code.
fn gpu_code(ui: &mut Ui, model: &mut SlimModel) {
    let offered = model.offered().to_vec();
    if offered.is_empty() {
        return;
    }
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Keep GPU code only for").font(text::strong()));
        weak(ui, OTHER_GPUS);
    });
    ui.horizontal_wrapped(|ui| {
        for target in &offered {
            if check_box(ui, model.choices.targets.contains(&target.id), &target.title()).clicked() {
                model.choices.toggle_target(&target.id);
            }
        }
    });
    // They stay where they are: the rest of the sheet must not move below the pointer.
    let some = !model.choices.targets.is_empty();
    ui.add_enabled_ui(some, |ui| gpu_code_choices(ui, model));
    let note = if some { PRUNING_COSTS } else { "If none is selected, all GPU code stays." };
    let height = 2.0 * ui.text_style_height(&egui::TextStyle::Body);
    ui.scope(|ui| {
        ui.set_min_height(height);
        weak(ui, note);
    });
}

fn gpu_code_choices(ui: &mut Ui, model: &mut SlimModel) {
    ui.horizontal_wrapped(|ui| {
        let ptx = check_box(ui, model.choices.keep_ptx, "Keep PTX for later GPUs");
        if ptx.on_hover_text("Drivers compile it when the program first starts").clicked() {
            model.choices.keep_ptx = !model.choices.keep_ptx;
        }
        let shrink = check_box(ui, model.choices.shrink, "Shorten the libraries on disk");
        let about = "Pages of zeros become memory without bytes in the file; cuobjdump then lists only part of the code";
        if shrink.on_hover_text(about).clicked() {
            model.choices.shrink = !model.choices.shrink;
        }
    });
}

/// What is wrong with the destination, or what happens there.
fn below_name(ui: &mut Ui, model: &SlimModel) {
    let error = |ui: &mut Ui, words: &str| {
        ui.add(Label::new(RichText::new(sentence(words)).color(Tokens::of(ui).error)).wrap());
    };
    match (&model.message, model.checked()) {
        (Some(message), _) => error(ui, message),
        (None, Some(Err(reason))) => {
            let hint = reason.hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default();
            error(ui, &format!("{}{hint}", reason.message));
        }
        (None, Some(Ok(Some(note)))) => {
            weak(ui, *note);
        }
        (None, _) => {}
    }
}

fn sizes(ui: &mut Ui, model: &SlimModel) -> Option<SlimEvent> {
    if model.is_loading() {
        weak(ui, "The image is still loading.");
        return None;
    }
    if model.needs_all_bytes() {
        ui.label(
            "Layers were read by their tables of contents. All of their bytes are needed to write them.",
        );
        return ui.button("Read all layers").clicked().then_some(SlimEvent::ReadAll);
    }
    // Room for all of them, so that the buttons stay where they are.
    let lines = SIZES + usize::from(!model.offered().is_empty());
    let line = ui.spacing().interact_size.y + 4.0;
    let height = ui.cursor().top() + lines as f32 * line;
    match model.report() {
        None => {
            weak(ui, "Computing sizes…");
        }
        Some(Err(reason)) => failure(ui, reason),
        Some(Ok(report)) => {
            // Those of the earlier choice are dimmed until the new ones are there.
            ui.add_enabled_ui(!model.is_computing(), |ui| facts(ui, report, model.gpu_code()));
            if model.is_unchanged() {
                weak(ui, "No layer changes: the image is written as it is.");
            }
        }
    }
    ui.add_space((height - ui.cursor().top()).max(0.0));
    None
}

fn facts(ui: &mut Ui, report: &SlimReport, gpu_code: Option<String>) {
    Grid::new("slim sizes").num_columns(2).spacing(vec2(space::L, 4.0)).show(ui, |ui| {
        for (name, value) in report.facts().into_iter().chain(gpu_code.map(|value| ("GPU code", value))) {
            weak(ui, capitalised(name));
            ui.add(Label::new(value).wrap());
            ui.end_row();
        }
    });
}

fn progress(ui: &mut Ui, model: &SlimModel) {
    let now = model.progress();
    progress_bar(ui, "Writing progress", now.fraction(), vec2(ui.available_width(), 6.0));
    let words = match model.step() {
        _ if model.is_stopping() => "Stopping…".to_owned(),
        Some(step) => step,
        None => {
            let (passed, total) = (human(now.bytes_passed), human(now.bytes_total));
            let (done, layers) = (grouped(now.layers_done), counted(now.layers_total, "layer"));
            format!("{done} of {layers} written  ·  {passed} of {total}")
        }
    };
    weak(ui, words);
}

fn show_written(
    ui: &mut Ui,
    model: &mut SlimModel,
    written: &SlimResult,
    compared: bool,
    height: f32,
) -> Option<SlimEvent> {
    let report = &written.report;
    title(ui, "Slim image written");
    let destination = report.output.as_ref().map(|output| printable(&output.destination));
    if let Some(destination) = destination {
        let shown = RichText::new(elide_middle(&destination, 76)).color(Tokens::of(ui).text_weak);
        ui.add(Label::new(shown).selectable(true)).on_hover_text(destination);
    }
    ui.add_space(space::S);
    scroll(ui, height, |ui| {
        facts(ui, report, None);
        ui.add_space(space::S);
        layers(ui, report);
        for note in &report.notes {
            ui.add(Label::new(capitalised(&printable(note))).wrap());
        }
        if !report.warnings.is_empty() {
            weak(ui, format!("{} about the image: see the log", counted(report.warnings.len(), "warning")));
        }
    });
    ui.add_space(space::M);
    ui.horizontal(|ui| {
        let close = primary_button(ui, if compared { "Show comparison" } else { "Close" });
        focus_first(&close, &mut model.focused);
        if close.clicked() {
            return Some(SlimEvent::Close);
        }
        let notes = || report.notes.iter().map(|note| format!("note: {note}\n"));
        let text = || report.to_text() + &notes().collect::<String>();
        ui.button("Copy report").clicked().then(|| SlimEvent::Copy(text()))
    })
    .inner
}

/// What became of each layer.
fn layers(ui: &mut Ui, report: &SlimReport) {
    let number = |ui: &mut Ui, words: RichText| {
        ui.allocate_ui_with_layout(vec2(NUMBER, row::DENSE), Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_width(NUMBER);
            ui.label(words);
        });
    };
    ScrollArea::vertical().max_height(LAYERS).show(ui, |ui| {
        Grid::new("slim layers").num_columns(5).striped(true).spacing(vec2(space::L, 2.0)).show(ui, |ui| {
            let color = Tokens::of(ui).text_weak;
            weak(ui, "Layer");
            weak(ui, "Action");
            for head in ["Before", "After", "Files removed"] {
                number(ui, RichText::new(head).color(color));
            }
            ui.end_row();
            for SlimLayer { index, action, before, after, removed_files, .. } in &report.layers {
                ui.label(index.to_string());
                ui.label(action.to_string());
                number(ui, human_or_dash(before.compressed_bytes).into());
                number(ui, human_or_dash(after.as_ref().and_then(|after| after.compressed_bytes)).into());
                number(ui, grouped(*removed_files).into());
                ui.end_row();
            }
        });
        ui.set_width(ui.available_width());
    });
}
