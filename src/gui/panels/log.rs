//! Warnings and errors of all images, to read and to copy.

use egui::accesskit::Role;
use egui::{Align, Layout, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::gui::app::{App, LogEntry, Severity};
use crate::gui::design::{Tokens, radius, row, text};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{
    Mark, heading, line_of_text, mark_button, paint_focus, paint_mark, weak,
};

/// The panel above the status bar.
pub(crate) fn log_view(ui: &mut Ui, app: &mut App) {
    let App { log, actions, .. } = app;
    let mut clear = false;
    ui.horizontal(|ui| {
        heading(ui, "Log");
        weak(ui, "Notes, warnings and errors from all images. Click a line to copy it.");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if mark_button(ui, Mark::Close, "Close log").clicked() {
                actions.push(Action::Run(Command::Log));
            }
            ui.add_enabled_ui(!log.entries().is_empty(), |ui| {
                clear = ui.button("Clear").clicked();
                if ui.button("Copy all").clicked() {
                    actions.push(Action::CopyText(log.to_text()));
                }
            });
        });
    });
    if clear {
        log.clear();
    }
    ui.add_space(4.0);
    let entries = log.entries();
    if entries.is_empty() {
        weak(ui, "No warnings or errors.");
        ui.take_available_space();
        return;
    }
    let dropped = usize::from(log.dropped() > 0);
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true);
    area.show_rows(ui, row::DENSE, entries.len() + dropped, |ui, rows| {
        for index in rows {
            match entries.get(index) {
                Some(entry) => line(ui, entry, actions),
                None => {
                    weak(ui, format!("{} more entries dropped", log.dropped()));
                }
            }
        }
    });
}

fn line(ui: &mut Ui, entry: &LogEntry, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::DENSE), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, entry.line()));
    if response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    let mark = match entry.severity {
        Severity::Note => None,
        Severity::Warning => Some((Mark::Warning, tokens.warning)),
        Severity::Error => Some((Mark::Error, tokens.error)),
    };
    if let Some((mark, color)) = mark {
        paint_mark(ui.painter(), mark, pos2(rect.left() + 10.0, rect.center().y), 12.0, color);
    }
    let about = [entry.image.as_str(), entry.subject.as_str()];
    let about: Vec<&str> = about.into_iter().filter(|part| !part.is_empty()).collect();
    let share = (rect.width() * 0.34).min(360.0);
    let columns = [
        (rect.left() + 24.0, share, about.join(", "), tokens.text_weak),
        (rect.left() + 32.0 + share, rect.width() - share - 40.0, entry.message.clone(), tokens.text),
    ];
    for (left, width, words, color) in columns {
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(width.max(0.0), rect.height()));
        line_of_text(ui, place, &words, text::body(), color);
    }
    paint_focus(ui, &response, radius::S);
    if response.on_hover_text(entry.line()).clicked() {
        actions.push(Action::CopyText(entry.line()));
    }
}
