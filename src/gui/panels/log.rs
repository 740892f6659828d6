//! Notes, warnings and errors of the image in front or of all, to read and to copy.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Align, Galley, Id, Layout, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::base::text::elide_middle;
use crate::gui::app::{App, Log, LogEntry, Severity};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::models::format;
use crate::gui::views::{Action, Command};
use crate::gui::widgets::controls::{
    Mark, heading, line_of_text, mark_button, paint_focus, paint_mark, weak,
};

/// The room for the mark of an entry.
const INDENT: f32 = 24.0;
/// Height of what an entry is about, and of the gaps around it.
const BESIDE: f32 = 24.0;

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
    let all = log.entries().iter().enumerate().rev();
    let entries: Vec<(usize, &LogEntry)> = all.filter(|(_, entry)| entry.is_about(about)).collect();
    if entries.is_empty() {
        weak(
            ui,
            if about.is_some() { "No warnings or errors for this image." } else { "No warnings or errors." },
        );
        ui.take_available_space();
        return;
    }
    // Those that came last are the ones that were dropped.
    if log.dropped() > 0 {
        weak(ui, format!("{} newer entries dropped", log.dropped()));
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().auto_shrink(false).show_viewport(ui, |ui, view| {
        let heights = heights(ui, log);
        let start = ui.cursor().min;
        let mut top = 0.0;
        for (place, entry) in entries {
            let rect = Rect::from_min_size(
                pos2(start.x, start.y + top),
                vec2(ui.available_width(), heights[place] + BESIDE),
            );
            top += rect.height();
            if top > view.top() && top - rect.height() < view.bottom() {
                line(ui, rect, (log.cleared(), place), entry, actions);
            }
        }
        ui.allocate_space(vec2(ui.available_width(), top));
    });
}

/// The heights of all messages, each measured once for a width of the panel.
fn heights(ui: &Ui, log: &Log) -> Arc<Vec<f32>> {
    type Known = (u64, u32, Arc<Vec<f32>>);
    let id = Id::unique("heights of log entries");
    let width = column(ui.available_width());
    let (cleared, entries) = (log.cleared(), log.entries());
    let known: Option<Known> = ui.data(|data| data.get_temp(id));
    let known = known.filter(|(known, at, _)| (*known, *at) == (cleared, width.to_bits()));
    let mut heights = known.map(|(.., heights)| heights).unwrap_or_default();
    if heights.len() != entries.len() {
        let all = Arc::make_mut(&mut heights);
        for entry in entries.iter().skip(all.len()) {
            all.push(message(ui, entry, width).size().y);
        }
        ui.data_mut(|data| data.insert_temp::<Known>(id, (cleared, width.to_bits(), Arc::clone(&heights))));
    }
    heights
}

/// The width of messages in a panel of this width, in steps: while it is resized, not each frame lays out all of them.
fn column(width: f32) -> f32 {
    const STEP: f32 = 16.0;
    ((width - INDENT) / STEP).floor().max(1.0) * STEP
}

fn message(ui: &Ui, entry: &LogEntry, width: f32) -> Arc<Galley> {
    ui.painter().layout(entry.message.clone(), text::body(), Tokens::of(ui).text, width)
}

/// An entry; `key` tells it from all others.
fn line(ui: &Ui, rect: Rect, key: (u64, usize), entry: &LogEntry, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let response = ui.interact(rect, ui.make_persistent_id(key), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, entry.line()));
    if response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    let mark = match entry.severity {
        Severity::Note => None,
        Severity::Warning => Some((Mark::Warning, tokens.warning)),
        Severity::Error => Some((Mark::Error, tokens.error)),
    };
    let left = rect.left() + INDENT;
    if let Some((mark, color)) = mark {
        paint_mark(ui.painter(), mark, pos2(rect.left() + 10.0, rect.top() + 12.0), 12.0, color);
    }
    let written = message(ui, entry, column(rect.width()));
    let below = Rect::from_min_max(pos2(left, rect.top() + 4.0 + written.size().y), rect.max);
    ui.painter().galley(pos2(left, rect.top() + 4.0), written, tokens.text);
    let subject = entry.other_subject().to_owned();
    let about = [format::utc(entry.time), elide_middle(&entry.image, 60), subject, entry.code.to_owned()];
    let about: Vec<String> = about.into_iter().filter(|part| !part.is_empty()).collect();
    line_of_text(ui, below, &about.join("  ·  "), text::small(), tokens.text_weak);
    paint_focus(ui, &response, radius::S);
    if response.on_hover_text("Copy").clicked() {
        actions.push(Action::CopyText(entry.line()));
    }
}
