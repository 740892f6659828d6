//! Tables and figures of the overview.

use egui::accesskit::Role;
use egui::{Color32, Rect, RichText, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::base::convert::fraction;
use crate::base::size::{grouped, human, human_or_dash};
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::layers::{LayerItem, LayerState};
use crate::gui::models::overview::{PathItem, WasteItem};
use crate::gui::views::Action;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark};
use crate::gui::widgets::layer_chip::layer_chip;

/// A large number with its name and what it means.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) note: String,
    pub(super) color: Color32,
}

/// Figures side by side, each in a card of the same size; below each other where there is no room.
pub(super) fn figures(ui: &mut Ui, figures: &[Figure]) {
    let gap = space::M;
    let width = ui.available_width();
    let columns = if width >= 520.0 { figures.len() } else { 1 };
    let each = (width - gap * (columns - 1) as f32) / columns as f32;
    for line in figures.chunks(columns) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for figure in line {
                show_figure(ui, figure, each);
            }
        });
    }
}

fn show_figure(ui: &mut Ui, figure: &Figure, width: f32) {
    let tokens = Tokens::of(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(width, if width < 260.0 { 104.0 } else { 92.0 }), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Group, true, format!("{}: {}, {}", figure.name, figure.value, figure.note))
    });
    let painter = ui.painter();
    painter.rect_filled(rect, radius::M, tokens.raised);
    painter.rect_stroke(rect, radius::M, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
    let inner = rect.shrink2(vec2(14.0, 10.0));
    let line = |top: f32, height: f32| {
        Rect::from_min_size(pos2(inner.left(), inner.top() + top), vec2(inner.width(), height))
    };
    cell::left(painter, line(0.0, 18.0), figure.name, &text::body(), tokens.text_weak, Cut::End);
    let large = egui::FontId { size: 26.0, ..text::title() };
    cell::left(painter, line(19.0, 32.0), &figure.value, &large, figure.color, Cut::End);
    let job =
        egui::text::LayoutJob::simple(figure.note.clone(), text::small(), tokens.text_weak, inner.width());
    let galley = painter.layout_job(job);
    painter.galley(pos2(inner.left(), inner.top() + 54.0), galley, tokens.text_weak);
}

/// A table whose rows lead somewhere.
pub(super) struct Table<'a> {
    pub(super) name: &'a str,
    /// Heads: the size, the path, then short ones.
    pub(super) columns: &'a [&'static str],
    pub(super) rows: Vec<SizeRow>,
    /// The size of a full bar.
    pub(super) whole: u64,
}

/// A row: a size, a path, and short cells.
pub(super) struct SizeRow {
    bytes: u64,
    path: String,
    cells: Vec<(String, Option<u16>)>,
}

impl SizeRow {
    pub(super) fn path(item: &PathItem, folder: bool) -> Self {
        let cell = if folder {
            (grouped(item.files.into()), None)
        } else {
            (item.layer.to_string(), Some(item.layer))
        };
        Self { bytes: item.bytes, path: item.shown.clone(), cells: vec![cell] }
    }

    pub(super) fn waste(item: &WasteItem) -> Self {
        let cell = |layer: u16| (layer.to_string(), Some(layer));
        Self {
            bytes: item.bytes,
            path: item.shown.clone(),
            cells: vec![cell(item.held_by), cell(item.hidden_by)],
        }
    }
}

const SIZE: f32 = 84.0;
const SHORT: f32 = 80.0;

/// What was done with a row of a table.
#[derive(Clone, Copy)]
pub(super) enum RowClick {
    /// Follows it.
    Open(usize),
    /// Asks for what can be done with its path.
    Menu(usize),
}

impl RowClick {
    /// What follows from it, where rows have these paths.
    pub(super) fn action<'a>(self, raw: impl Fn(usize) -> &'a [u8]) -> Action {
        match self {
            Self::Open(row) => Action::SelectPath(raw(row).to_vec()),
            Self::Menu(row) => Action::PathMenu(PathTarget::of(raw(row).to_vec())),
        }
    }
}

/// Shows a table; gives the row that was clicked.
pub(super) fn table(ui: &mut Ui, table: &Table<'_>) -> Option<RowClick> {
    let tokens = Tokens::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let width = ui.available_width();
    let places = |rect: Rect| {
        let shorts = table.columns.len() - 2;
        let size = Rect::from_x_y_ranges(rect.left() + 8.0..=rect.left() + SIZE, rect.y_range());
        let end = rect.right() - 8.0 - shorts as f32 * SHORT;
        let path = Rect::from_x_y_ranges(size.right() + space::L..=end, rect.y_range());
        let short = move |index: usize| {
            let right = end + (index + 1) as f32 * SHORT;
            Rect::from_x_y_ranges(right - SHORT + 4.0..=right, rect.y_range())
        };
        (size, path, short)
    };
    let (head, response) = ui.allocate_exact_size(vec2(width, 22.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Table, true, table.name));
    let painter = ui.painter();
    let (size, path, short) = places(head);
    cell::right(painter, size, table.columns[0], &text::small(), tokens.text_weak);
    cell::left(painter, path, table.columns[1], &text::small(), tokens.text_weak, Cut::End);
    for (index, name) in table.columns[2..].iter().enumerate() {
        cell::right(painter, short(index), name, &text::small(), tokens.text_weak);
    }
    painter.hline(head.x_range(), head.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let mut clicked = None;
    for (index, line) in table.rows.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(width, row::NORMAL), Sense::click());
        response.widget_info(|| {
            let cells = line
                .cells
                .iter()
                .zip(&table.columns[2..])
                .map(|((value, _), name)| format!(", {name} {value}"));
            let spoken = format!("{}, {}{}", line.path, human(line.bytes), cells.collect::<String>());
            WidgetInfo::labeled(Role::Link, true, spoken)
        });
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let painter = ui.painter();
        if response.hovered() {
            painter.rect_filled(rect, radius::S, tokens.hovered);
        }
        let (size, path, short) = places(rect);
        let bar = size.expand2(vec2(4.0, -4.0));
        let filled = bar.width() * fraction(line.bytes, table.whole);
        let bar = Rect::from_min_size(bar.min, vec2(filled.max(1.0), bar.height()));
        painter.rect_filled(bar, 2.0, tokens.wash(tokens.accent));
        cell::right(painter, size, &human(line.bytes), &text::body(), tokens.text);
        let color = if response.hovered() { tokens.accent } else { tokens.text };
        let written = cell::left(painter, path, &line.path, &text::mono(), color, Cut::Middle);
        if response.hovered() {
            painter.hline(written.x_range(), written.bottom() - 1.0, Stroke::new(1.0, color));
        }
        for (index, (value, layer)) in line.cells.iter().enumerate() {
            let place = short(index);
            let written = cell::right(painter, place, value, &text::body(), tokens.text_weak);
            if let Some(layer) = layer {
                let chip =
                    Rect::from_min_size(pos2(written.left() - 12.0, place.center().y - 6.0), vec2(7.0, 12.0));
                layer_chip(painter, tokens, chip, usize::from(*layer));
            }
        }
        controls::paint_focus(ui, &response, radius::S);
        if response.secondary_clicked() {
            clicked = Some(RowClick::Menu(index));
        }
        if response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
            clicked = Some(RowClick::Open(index));
        }
    }
    ui.spacing_mut().item_spacing.y = space::XS;
    clicked
}

/// The largest layers below the bar: colour, number, instruction, sizes. Gives the one clicked.
pub(super) fn layer_lines(
    ui: &mut Ui,
    items: &[&LayerItem],
    size: impl Fn(&LayerItem) -> Option<u64>,
) -> Option<usize> {
    let tokens = Tokens::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut clicked = None;
    // Numbers of more than three digits push the rest to the right.
    let digits = items.iter().map(|item| item.index.to_string().len()).max().unwrap_or(0);
    let wider = digits.saturating_sub(3) as f32 * 9.0;
    for item in items {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Link, true, item.spoken()));
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let painter = ui.painter();
        if response.hovered() {
            painter.rect_filled(rect, radius::S, tokens.hovered);
        }
        let at =
            |from: f32, to: f32| Rect::from_x_y_ranges(rect.left() + from..=rect.left() + to, rect.y_range());
        let chip = Rect::from_center_size(pos2(rect.left() + 14.0, rect.center().y), vec2(12.0, 12.0));
        layer_chip(painter, tokens, chip, item.index);
        let number = at(20.0, 48.0 + wider);
        cell::right(painter, number, &item.index.to_string(), &text::body(), tokens.text_weak);
        let bytes = at(56.0 + wider, 128.0 + wider);
        cell::right(painter, bytes, &human_or_dash(size(item)), &text::body(), tokens.text);
        let mut left = 144.0 + wider;
        let mark = match item.state {
            LayerState::Failed(_) => Some((Mark::Error, tokens.error)),
            LayerState::Incomplete(_) | LayerState::Stopped => Some((Mark::Warning, tokens.warning)),
            LayerState::Waiting | LayerState::Ready => None,
        };
        if let Some((mark, fault)) = mark {
            let word = item.state.word();
            controls::paint_mark(painter, mark, pos2(rect.left() + left + 7.0, rect.center().y), 13.0, fault);
            let written =
                cell::left(painter, at(left + 18.0, left + 120.0), word, &text::strong(), fault, Cut::End);
            left = written.right() - rect.left() + 8.0;
        }
        let title = Rect::from_x_y_ranges(rect.left() + left..=rect.right() - 8.0, rect.y_range());
        let color = if response.hovered() { tokens.accent } else { tokens.text };
        cell::left(painter, title, &item.title, &text::mono(), color, Cut::End);
        controls::paint_focus(ui, &response, radius::S);
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        if response.clicked() {
            clicked = Some(item.index);
        }
        response.on_hover_ui(|ui| crate::gui::views::layers::describe(ui, item));
    }
    ui.spacing_mut().item_spacing.y = space::XS;
    clicked
}

/// In place of a table that is not known yet.
pub(super) fn waiting(ui: &mut Ui, what: Option<&str>) {
    let words = match what {
        Some(what) => format!("Waiting for {what}"),
        None => "Unknown: the analysis stopped before this step".to_owned(),
    };
    nothing(ui, &words);
}

/// In place of a table without rows.
pub(super) fn nothing(ui: &mut Ui, words: &str) {
    let tokens = Tokens::of(ui);
    ui.label(RichText::new(words).color(tokens.text_weak));
}
