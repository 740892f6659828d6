//! Notes, warnings and errors of the image in front or of all, to read and to copy.

use egui::accesskit::Role;
use egui::{Align, Layout, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::base::text::elide_middle;
use crate::gui::app::{App, LogEntry, Severity};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{
    Mark, heading, line_of_text, mark_button, paint_focus, paint_mark, weak,
};

/// A message, and below it what it is about.
const ROW: f32 = 40.0;

/// The panel above the status bar.
pub(crate) fn log_view(ui: &mut Ui, app: &mut App) {
    let App { log, log_of_all, actions, front, tabs, .. } = app;
    let mut clear = false;
    let front = tabs.iter().find(|tab| Some(tab.id) == *front);
    ui.horizontal(|ui| {
        heading(ui, "Log");
        if let Some(tab) = front {
            for (all, label) in [(false, "This image"), (true, "All images")] {
                let chosen = *log_of_all == all;
                let response = ui.selectable_label(chosen, label);
                response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, label));
                if response.on_hover_text(&tab.shown).clicked() {
                    *log_of_all = all;
                }
            }
        }
        weak(ui, "Newest first. Click an entry to copy it.");
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
    let about = front.map(|tab| tab.id).filter(|_| !*log_of_all);
    let entries: Vec<&LogEntry> = log.entries().iter().rev().filter(|entry| entry.is_about(about)).collect();
    if entries.is_empty() {
        weak(
            ui,
            if about.is_some() { "No warnings or errors for this image." } else { "No warnings or errors." },
        );
        ui.take_available_space();
        return;
    }
    // Those that came last are the ones that were dropped.
    let dropped = usize::from(log.dropped() > 0);
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical().auto_shrink(false);
    area.show_rows(ui, ROW, entries.len() + dropped, |ui, rows| {
        for index in rows {
            match index.checked_sub(dropped).and_then(|index| entries.get(index)) {
                Some(entry) => line(ui, entry, actions),
                None => {
                    weak(ui, format!("{} newer entries dropped", log.dropped()));
                }
            }
        }
    });
}

fn line(ui: &mut Ui, entry: &LogEntry, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, entry.line()));
    if response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    let mark = match entry.severity {
        Severity::Note => None,
        Severity::Warning => Some((Mark::Warning, tokens.warning)),
        Severity::Error => Some((Mark::Error, tokens.error)),
    };
    let (above, below) = rect.shrink2(vec2(0.0, 2.0)).split_top_bottom_at_fraction(0.55);
    if let Some((mark, color)) = mark {
        paint_mark(ui.painter(), mark, pos2(rect.left() + 10.0, above.center().y), 12.0, color);
    }
    let within = |place: Rect| Rect::from_min_max(pos2(place.left() + 24.0, place.top()), place.max);
    line_of_text(ui, within(above), &entry.message, text::body(), tokens.text);
    let about = [elide_middle(&entry.image, 60), entry.other_subject().to_owned(), entry.code.to_owned()];
    let about: Vec<String> = about.into_iter().filter(|part| !part.is_empty()).collect();
    line_of_text(ui, within(below), &about.join("  ·  "), text::small(), tokens.text_weak);
    paint_focus(ui, &response, radius::S);
    if response.on_hover_text(entry.line()).clicked() {
        actions.push(Action::CopyText(entry.line()));
    }
}
