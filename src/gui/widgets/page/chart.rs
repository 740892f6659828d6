//! A breakdown: a bar with its legend.

use egui::accesskit::Role;
use egui::{Color32, Rect, RichText, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::base::size::human;
use crate::cuda::Class;
use crate::gui::design::{Tokens, text};
use crate::gui::models::format::short_share;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::stacked_bar::{Segment, stacked_bar};
use crate::report::page::{Chart, Slice};

const TITLE: f32 = 20.0;
const BAR: f32 = 24.0;
const GAP: f32 = 8.0;
const ENTRY: f32 = 20.0;
/// The least width of an entry of the legend.
const LEAST: f32 = 300.0;

fn shown(chart: &Chart) -> impl Iterator<Item = &Slice> {
    chart.parts.iter().filter(|part| part.bytes > 0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few columns on a screen")]
fn columns(width: f32) -> usize {
    ((width / LEAST) as usize).clamp(1, 3)
}

/// What it takes in `width` points.
pub(super) fn height(chart: &Chart, width: f32) -> f32 {
    TITLE + BAR + GAP + ENTRY * shown(chart).count().div_ceil(columns(width)) as f32
}

/// Paints the bar and its legend.
pub(super) fn show(ui: &mut Ui, chart: &Chart, rect: Rect, salt: (usize, usize)) {
    let tokens = Tokens::of(ui);
    let title = Rect::from_min_size(rect.min, vec2(rect.width(), TITLE));
    let words = crate::base::text::sentence(&chart.title);
    let words = words.trim_end_matches('.');
    cell::left(ui.painter(), title, words, &text::strong(), tokens.text, Cut::End);
    let parts: Vec<&Slice> = shown(chart).collect();
    let segments: Vec<Segment> = parts
        .iter()
        .enumerate()
        .map(|(place, part)| Segment {
            value: part.bytes,
            fill: colour(tokens, part.colour, place),
            short: part.name.clone(),
            spoken: spoken(chart, part),
            hatched: if part.colour == "wasted" { 1.0 } else { 0.0 },
        })
        .collect();
    let bar = Rect::from_min_size(pos2(rect.left(), title.bottom()), vec2(rect.width(), BAR));
    let mut child = ui.new_child(UiBuilder::new().max_rect(bar).id_salt(("chart", salt)));
    stacked_bar(&mut child, words, BAR, &segments, |ui, place| {
        let Some(part) = parts.get(place) else { return };
        ui.label(RichText::new(&part.name).font(text::strong()));
        ui.label(format!("{}, {}", human(part.bytes), chart.share(part)));
    });
    let columns = columns(rect.width());
    let lines = parts.len().div_ceil(columns);
    let each = rect.width() / columns as f32;
    for (place, (part, segment)) in parts.iter().zip(&segments).enumerate() {
        // Down the first column, then down the next.
        let (column, line) = (place / lines.max(1), place % lines.max(1));
        let at = pos2(rect.left() + column as f32 * each, bar.bottom() + GAP + line as f32 * ENTRY);
        let entry = Rect::from_min_size(at, vec2(each - 16.0, ENTRY));
        let id = child.scope_id().with(place);
        let response = ui.interact(entry, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &segment.spoken));
        let chip = Rect::from_center_size(pos2(entry.left() + 6.0, entry.center().y), vec2(10.0, 10.0));
        ui.painter().rect_filled(chip, 2.0, segment.fill);
        let figures = Rect::from_x_y_ranges(entry.right() - 148.0..=entry.right(), entry.y_range());
        let percent = Rect::from_x_y_ranges(entry.right() - 70.0..=entry.right(), entry.y_range());
        let bytes = Rect::from_x_y_ranges(figures.left()..=percent.left(), entry.y_range());
        let name = Rect::from_x_y_ranges(entry.left() + 18.0..=figures.left() - 4.0, entry.y_range());
        cell::left(ui.painter(), name, &part.name, &text::body(), tokens.text, Cut::End);
        cell::right(ui.painter(), bytes, &human(part.bytes), &text::body(), tokens.text);
        let words = short_share(&chart.share(part));
        cell::right(ui.painter(), percent, &words, &text::small(), tokens.text_weak);
    }
}

fn spoken(chart: &Chart, part: &Slice) -> String {
    format!("{}: {}, {}", part.name, human(part.bytes), chart.share(part))
}

/// The colour of a name; by position for others.
fn colour(tokens: &Tokens, name: &str, place: usize) -> Color32 {
    let class = Class::ALL.iter().position(|class| class.as_str() == name);
    match (class.and_then(|at| tokens.classes.get(at)), name) {
        (Some(colour), _) => *colour,
        (None, "wasted" | "hidden") => tokens.hidden,
        (None, "duplicate" | "duplicates") => tokens.changed,
        (None, "added") => tokens.added,
        (None, "removed") => tokens.removed,
        (None, "changed") => tokens.changed,
        (None, "kept" | "unchanged" | "same") => tokens.border_strong,
        (None, _) => tokens.layer(place),
    }
}
