//! What is in front, what is running, and how many warnings there are.

use egui::accesskit::Role;
use egui::{Align, Button, Color32, Layout, Response, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::base::size::{grouped, human};
use crate::base::text::{counted, elide_middle};
use crate::gui::app::{App, Log, Phase, Severity, Tab};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::models::slim::SlimModel;
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{Mark, mark_button, paint_focus, paint_mark, progress_bar};
use crate::jobs::Snapshot;
use crate::report::Report;

/// Width of one running job, with all its figures.
const JOB: f32 = 512.0;
const SHORT_JOB: f32 = 240.0;

/// The bar at the bottom.
pub(crate) fn status_bar(ui: &mut Ui, app: &mut App) {
    let App { tabs, front, actions, log, log_open, settings, slim, .. } = app;
    let tokens = Tokens::of(ui);
    let small = |text: String| RichText::new(text).font(text::small()).color(tokens.text_weak);
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let shown = tabs.iter().find(|tab| Some(tab.id) == *front);
        if let Some(tab) = shown {
            ui.add(egui::Label::new(small(facts(tab))).truncate()).on_hover_text(&tab.shown);
        } else {
            ui.label(small(format!("Cutaway {}", env!("CARGO_PKG_VERSION"))));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            log_button(ui, log, shown.map(|tab| tab.id), *log_open, actions);
            if settings.text_size != 100 {
                ui.label(small(format!("{} %", settings.text_size)));
            }
            let written = slim.iter().filter(|slim| slim.is_writing()).map(RunningJob::writing);
            let reading: Vec<&Tab> = tabs.iter().filter(|tab| tab.is_running()).collect();
            let running: Vec<RunningJob<'_>> =
                written.chain(reading.iter().map(|tab| RunningJob::reading(tab))).collect();
            let room = (ui.available_width() - 8.0).max(0.0);
            let full = room >= JOB * running.len().min(2) as f32;
            let width = if full { JOB } else { SHORT_JOB };
            let fit = (1..=running.len()).rev().find(|count| *count as f32 * width <= room).unwrap_or(1);
            if running.len() > fit {
                ui.label(small(format!("and {} more", grouped((running.len() - fit) as u64))));
            }
            for job in running.iter().take(fit) {
                show_job(ui, job, full, actions);
            }
            if shown.is_some_and(|tab| tab.views.dockerfile.is_proposing()) {
                ui.label(small("Computing proposals…".to_owned()));
            }
            message(ui, &reading);
        });
    });
}

/// The newest message of running work, in the remaining space.
fn message(ui: &mut Ui, running: &[&Tab]) {
    let Some(message) = running.iter().find_map(|tab| tab.message()) else { return };
    if ui.available_width() < 96.0 {
        return;
    }
    let color = Tokens::of(ui).text_weak;
    let words = RichText::new(message).font(text::small()).color(color);
    ui.add(egui::Label::new(words).truncate()).on_hover_text(message);
}

/// Source, platform and layers of an image.
fn facts(tab: &Tab) -> String {
    if let Some(saved) = &tab.saved {
        return saved_facts(&saved.report);
    }
    let Some(analysis) = &tab.analysis else { return tab.shown.clone() };
    let image = &analysis.image;
    let mut parts = vec![match &tab.host {
        Some(host) => format!("{} {host}", image.source),
        None => image.source.clone(),
    }];
    parts.extend(image.platform.as_ref().map(ToString::to_string));
    let layers = analysis.layers.len();
    let done = analysis.layers_done();
    parts.push(match layers {
        2.. if tab.is_running() => format!("{} of {}", grouped(done as u64), counted(layers, "layer")),
        _ => counted(layers, "layer"),
    });
    if !tab.is_running() && analysis.totals().is_none_or(|totals| !totals.complete) {
        parts.push("incomplete".to_owned());
    }
    crate::base::text::printable(&parts.join("  ·  "))
}

/// What a saved report is about.
fn saved_facts(report: &Report) -> String {
    let platform = report.image.platform.as_ref();
    let mut parts = vec!["saved report".to_owned(), report.image.source.clone()];
    parts.extend(platform.map(|platform| format!("{}/{}", platform.os, platform.architecture)));
    parts.push(counted(report.totals.layers as u64, "layer"));
    if !report.totals.complete {
        parts.push("incomplete".to_owned());
    }
    crate::base::text::printable(&parts.join("  ·  "))
}

/// Work that is shown until it ends.
struct RunningJob<'a> {
    title: &'a str,
    /// What is before the title.
    verb: &'static str,
    progress: Snapshot,
    rate: Option<u64>,
    /// How long the rest takes, in words.
    left: Option<String>,
    stopping: bool,
    /// Whether all bytes are read, and what follows is still worked out.
    is_analyzing: bool,
    cancel: Action,
    /// Shows it, if it has no tab.
    show: Option<Action>,
}

impl<'a> RunningJob<'a> {
    /// An image that is being read.
    fn reading(tab: &'a Tab) -> Self {
        let progress = tab.progress();
        Self {
            title: &tab.title,
            verb: "",
            is_analyzing: progress.bytes_total > 0 && progress.bytes_passed >= progress.bytes_total,
            progress,
            rate: tab.rate(),
            left: tab.time_left(),
            stopping: tab.phase == Phase::Stopping,
            cancel: Action::CancelTab(tab.id),
            show: None,
        }
    }

    /// An image that is being written.
    fn writing(slim: &'a SlimModel) -> Self {
        Self {
            title: &slim.title,
            verb: "writing ",
            progress: slim.progress(),
            rate: None,
            left: None,
            stopping: slim.is_stopping(),
            is_analyzing: false,
            cancel: Action::CancelSlim,
            show: Some(Action::ShowSlim),
        }
    }
}

/// Running work; its parts from right to left.
fn show_job(ui: &mut Ui, job: &RunningJob<'_>, full: bool, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let small = |text: String| RichText::new(text).font(text::small()).color(tokens.text_weak);
    let RunningJob { title, verb, progress, stopping, .. } = job;
    ui.add_enabled_ui(!stopping, |ui| {
        if mark_button(ui, Mark::Close, &format!("Cancel {verb}{title}")).clicked() {
            actions.push(job.cancel.clone());
        }
    });
    let bytes = match (progress.bytes_passed, progress.bytes_total) {
        _ if *stopping => "stopping…".to_owned(),
        _ if job.is_analyzing => "Analyzing…".to_owned(),
        (passed, 0) => human(passed),
        (passed, total) => format!("{} of {}", human(passed), human(total)),
    };
    if full {
        let rate = job
            .rate
            .filter(|_| !job.is_analyzing)
            .map(|rate| format!("{}/s", human(rate)))
            .unwrap_or_default();
        fixed(ui, 104.0, small(job.left.clone().filter(|_| !stopping).unwrap_or_default()));
        fixed(ui, 76.0, small(rate));
        fixed(ui, 128.0, small(bytes));
    } else if job.is_analyzing {
        fixed(ui, 76.0, small(bytes));
    } else {
        fixed(ui, 76.0, small(human(progress.bytes_passed)));
    }
    let name = format!("Progress of {verb}{title}");
    let size = vec2(if full { 72.0 } else { 48.0 }, 6.0);
    progress_bar(ui, &name, progress.fraction(), size);
    let words = small(elide_middle(&format!("{verb}{title}"), if full { 20 } else { 12 }));
    if let Some(show) = &job.show {
        ui.scope(|ui| {
            // As high as a label, so that the bar keeps its height.
            (ui.spacing_mut().button_padding, ui.spacing_mut().interact_size.y) = (vec2(4.0, 0.0), 0.0);
            if ui.add(Button::new(words)).on_hover_text(format!("Show {verb}{title}")).clicked() {
                actions.push(show.clone());
            }
        });
    } else {
        ui.label(words);
    }
    ui.add_space(8.0);
}

/// Right-aligned text in a set width, so that figures do not push their neighbours about.
fn fixed(ui: &mut Ui, width: f32, text: RichText) {
    ui.allocate_ui_with_layout(vec2(width, 20.0), Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_width(width);
        ui.label(text);
    });
}

/// Counts the entries about the image in front and about the window; without an image, all.
fn log_button(ui: &mut Ui, log: &Log, tab: Option<u64>, open: bool, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let errors = log.count(tab, Severity::Error);
    let warnings = log.count(tab, Severity::Warning) + log.dropped();
    let (label, mark, color) = match (errors, warnings) {
        (0, 0) => ("No warnings".to_owned(), None, tokens.text_weak),
        (0, warnings) => (counted(warnings, "warning"), Some(Mark::Warning), tokens.warning),
        (errors, 0) => (counted(errors, "error"), Some(Mark::Error), tokens.error),
        (errors, warnings) => (
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
            Some(Mark::Error),
            tokens.error,
        ),
    };
    let response = log_label(ui, &label, mark, color, open);
    let keys = Command::Log.info().keys_text(ui.ctx());
    if response.on_hover_text(format!("Toggle log ({keys})")).clicked() {
        actions.push(Action::Run(Command::Log));
    }
}

/// The count with its mark, as one button.
fn log_label(ui: &mut Ui, label: &str, mark: Option<Mark>, color: Color32, open: bool) -> Response {
    let tokens = Tokens::of(ui);
    let galley = ui.painter().layout_no_wrap(label.to_owned(), text::small(), color);
    let before = if mark.is_some() { 26.0 } else { 8.0 };
    let size = vec2(before + galley.size().x + 8.0, 20.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, open, label));
    if open || response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    if let Some(mark) = mark {
        paint_mark(ui.painter(), mark, pos2(rect.left() + 14.0, rect.center().y), 12.0, color);
    }
    let at = pos2(rect.left() + before, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
    paint_focus(ui, &response, radius::S);
    response
}
