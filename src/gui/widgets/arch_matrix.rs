//! A chart over a table: each column has a stacked bar above its head, each row a number for each column.

use egui::accesskit::Role;
use egui::{Align2, Color32, Id, Painter, Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::list::{List, ListKeys, ListNode, ListOutput, RowLook};
use crate::gui::design::{Tokens, row, text};
use crate::gui::widgets::cell::{self, Cut};

/// A column.
#[derive(Clone, Debug)]
pub struct ArchMatrixColumn {
    /// Its head.
    pub label: String,
    /// A word below the head, and its colour.
    pub word: Option<(&'static str, Color32)>,
    /// Whether it is in the light.
    pub highlighted: bool,
    /// The parts of its bar from the bottom: size, fill, and whether the part is in the light.
    pub parts: Vec<(u64, Color32, bool)>,
    /// The number above its bar.
    pub total: String,
    /// Screen reader text and tooltip.
    pub spoken: String,
}

/// A number of a row.
#[derive(Clone, Debug)]
pub struct ArchMatrixCell {
    /// The number as it is written; empty for nothing.
    pub text: String,
    /// How large it is among all numbers, 0 to 1.
    pub heat: f32,
    /// Whether it is in the light.
    pub highlighted: bool,
}

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
pub struct ArchMatrixLine {
    /// Its name.
    pub name: String,
    /// A word behind the name.
    pub word: &'static str,
    /// The sum of its numbers.
    pub total: String,
    /// Its numbers, one for each column.
    pub cells: Vec<ArchMatrixCell>,
    /// Screen reader text.
    pub spoken: String,
}

/// What is shown.
pub struct ArchMatrixShape<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    /// The head of the names.
    pub title: &'a str,
    /// The columns.
    pub columns: &'a [ArchMatrixColumn],
    /// What the fills of the bars mean.
    pub legend: &'a [(Color32, String)],
    /// How many rows there are.
    pub rows: usize,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

/// Head and word below it.
const LABELS: f32 = 42.0;
const TOTAL: f32 = 72.0;
const LEAST: f32 = 64.0;
const MOST: f32 = 112.0;
/// Room for the bar that scrolls.
const END: f32 = 8.0;
/// Names do not give way further, where there is room for as much.
const NAMES: f32 = 240.0;
/// Least width of names for a word after them.
const WORD_FROM: f32 = 200.0;

/// Positions.
struct Places {
    /// The head with the bars.
    head: f32,
    /// The bars alone.
    bars: f32,
    /// Names and sums, which stay when columns are scrolled.
    names: f32,
    /// Each column.
    column: f32,
}

impl Places {
    fn new(whole: Rect, columns: usize) -> Self {
        let bars = (whole.height() * 0.28).clamp(24.0, 120.0);
        // Names give way before columns have to be scrolled.
        let most = (whole.width() * 0.36).clamp(120.0, 320.0);
        let names = (whole.width() - 2.0 * END - columns as f32 * LEAST).clamp(most.min(NAMES), most);
        let room = (whole.width() - 2.0 * END - names) / columns.max(1) as f32;
        Self { head: bars + 20.0 + LABELS, bars, names, column: room.clamp(LEAST, MOST) }
    }

    fn x(&self, left: f32, column: usize) -> egui::Rangef {
        let from = left + self.names + column as f32 * self.column;
        egui::Rangef::new(from, from + self.column)
    }
}

/// Shows the matrix in the room that is left. `row_at` makes a row, for those in sight; `hover` fills the
/// tooltip of one, at the pointer: of the row, or of its cell in a column.
pub fn arch_matrix(
    ui: &mut Ui,
    salt: &str,
    shape: &ArchMatrixShape<'_>,
    row_at: impl FnMut(usize) -> ArchMatrixLine,
    mut hover: impl FnMut(&mut Ui, usize, Option<usize>),
) -> ListOutput {
    let tokens = Tokens::of(ui);
    let places = Places::new(ui.available_rect_before_wrap(), shape.columns.len());
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::Grid, Role::Row),
        head: places.head,
        rows: shape.rows,
        row_height: row::NORMAL,
        width: Some(places.names + places.column * shape.columns.len() as f32 + END),
        selected: shape.selected,
        reveal: shape.reveal,
        middle: false,
        keys: ListKeys::Sideways(places.column),
    };
    let mut frame = list.begin(ui);
    frame.sideways = places.column * first(shape.columns) as f32;
    let node = |index: usize, _: &ArchMatrixLine| ListNode { key: index as u64, ..ListNode::default() };
    let spoken = |_: usize, line: &ArchMatrixLine| line.spoken.clone();
    list.show(ui, &mut frame, row_at, node, spoken, |ui, place, line| {
        let seen = Frame { places: &places, left: place.rect.left() - place.sideways, seen: place.rect };
        paint_row(ui.painter(), tokens, &seen, line, place.look);
    });
    let seen = Frame { places: &places, left: frame.head.left() - frame.sideways, seen: frame.head };
    paint_head(ui, frame.id, tokens, shape, &seen);
    if let Some((index, response)) = frame.output.hovered.take() {
        let names = seen.names(seen.seen.y_range()).right();
        let at = response.hover_pos().map(|at| at.x).filter(|x| *x > names);
        let column =
            at.and_then(|x| (0..shape.columns.len()).find(|column| places.x(seen.left, *column).contains(x)));
        response.on_hover_ui_at_pointer(|ui| hover(ui, index, column));
    }
    frame.end(ui)
}

/// The first column to be seen: those before it have next to no code.
fn first(columns: &[ArchMatrixColumn]) -> usize {
    /// Of the largest column.
    const LITTLE: u64 = 100;
    let most = columns.iter().map(|column| sum(&column.parts)).max().unwrap_or(0);
    // Columns without parts are no architectures.
    let is_little =
        |column: &&ArchMatrixColumn| !column.parts.is_empty() && sum(&column.parts) < most / LITTLE;
    columns.iter().take_while(is_little).count()
}

/// What part of a row or of the heads is in sight.
struct Frame<'a> {
    places: &'a Places,
    /// The left of all of it.
    left: f32,
    /// What is in sight.
    seen: Rect,
}

impl Frame<'_> {
    /// The room at the left that stays.
    fn names(&self, y: egui::Rangef) -> Rect {
        Rect::from_x_y_ranges(self.seen.left()..=self.seen.left() + self.places.names, y)
    }
}

fn paint_row(painter: &Painter, tokens: &Tokens, frame: &Frame<'_>, line: &ArchMatrixLine, look: RowLook) {
    let (rect, behind) = (frame.seen, look.fill(tokens));
    painter.rect_filled(rect, 0.0, behind);
    for (column, cell) in line.cells.iter().enumerate() {
        let x = frame.places.x(frame.left, column);
        if cell.text.is_empty() || x.max < frame.seen.left() || x.min > frame.seen.right() {
            continue;
        }
        let room = Rect::from_x_y_ranges(x, rect.y_range()).shrink2(vec2(1.5, 1.5));
        let fill = tokens.heat(cell.heat, cell.highlighted);
        painter.rect_filled(room, 2.0, fill);
        let color = if cell.highlighted { tokens.text_on(fill) } else { tokens.text_weak };
        cell::right(painter, room.shrink2(vec2(4.0, 0.0)), &cell.text, &text::small(), color);
    }
    let names = frame.names(rect.y_range());
    painter.rect_filled(names, 0.0, behind);
    look.paint_bar(painter, tokens, names);
    let end = names.right() - 10.0;
    let total = Rect::from_x_y_ranges(end - TOTAL..=end, rect.y_range());
    cell::right(painter, total, &line.total, &text::body(), tokens.text);
    let mut room = Rect::from_x_y_ranges(names.left() + 10.0..=total.left(), rect.y_range());
    let word = if room.width() < WORD_FROM { "" } else { line.word };
    let word = painter.layout_no_wrap(word.to_owned(), text::small(), tokens.text_weak);
    if word.size().x > 0.0 {
        room.max.x -= word.size().x + 8.0;
    }
    let written = cell::left(painter, room, &line.name, &text::body(), tokens.text, Cut::Middle);
    let at = pos2(written.right() + 8.0, rect.center().y - word.size().y / 2.0);
    painter.galley(at, word, tokens.text_weak);
    painter.vline(names.right() - 0.5, rect.y_range(), Stroke::new(1.0, tokens.border));
}

fn paint_head(ui: &Ui, id: Id, tokens: &Tokens, shape: &ArchMatrixShape<'_>, frame: &Frame<'_>) {
    let painter = ui.painter();
    let head = frame.seen;
    painter.rect_filled(head, 0.0, tokens.raised);
    let most = shape.columns.iter().map(|column| sum(&column.parts)).max().unwrap_or(0);
    let foot = head.bottom() - LABELS;
    for (index, column) in shape.columns.iter().enumerate() {
        let x = frame.places.x(frame.left, index);
        if x.max < frame.seen.left() || x.min > frame.seen.right() {
            continue;
        }
        let rect = Rect::from_x_y_ranges(x, head.y_range());
        let room =
            rect.intersect(Rect::from_min_max(pos2(head.left() + frame.places.names, head.top()), head.max));
        let response = ui.interact(room, id.with(("head", index)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &column.spoken));
        if response.hovered() {
            painter.rect_filled(rect, 0.0, tokens.hovered);
        }
        let bar = egui::Rangef::new(x.min + 0.24 * x.span(), x.max - 0.24 * x.span());
        let mut bottom = foot;
        for (bytes, fill, highlighted) in &column.parts {
            let height = frame.places.bars * crate::base::convert::fraction(*bytes, most);
            if *bytes == 0 {
                continue;
            }
            let top = bottom - height.max(1.0);
            let fill = if *highlighted { *fill } else { tokens.faint(*fill) };
            painter.rect_filled(Rect::from_x_y_ranges(bar, top..=bottom), 0.0, fill);
            bottom = top;
        }
        let color = if column.highlighted { tokens.text } else { tokens.text_weak };
        let middle = x.center();
        let above = pos2(middle, bottom - 2.0);
        painter.text(above, Align2::CENTER_BOTTOM, &column.total, text::small(), color);
        let label_font = if column.highlighted { text::strong() } else { text::body() };
        let y = if column.word.is_some() { foot + 13.0 } else { foot + LABELS / 2.0 };
        painter.text(pos2(middle, y), Align2::CENTER_CENTER, &column.label, label_font, color);
        if let Some((word, color)) = column.word {
            painter.text(pos2(middle, foot + 29.0), Align2::CENTER_CENTER, word, text::small(), color);
        }
        response.on_hover_text(&column.spoken);
    }
    let names = frame.names(head.y_range());
    painter.rect_filled(names, 0.0, tokens.raised);
    // The free corner has the colour legend, from the bottom like the bars.
    for (index, (fill, words)) in shape.legend.iter().enumerate() {
        let y = foot - 14.0 - index as f32 * 18.0;
        if y - 8.0 < names.top() {
            break;
        }
        let chip = Rect::from_center_size(pos2(names.left() + 15.0, y), vec2(10.0, 10.0));
        painter.rect_filled(chip, 2.0, *fill);
        let room = Rect::from_x_y_ranges(names.left() + 26.0..=names.right() - 10.0, y - 9.0..=y + 9.0);
        cell::left(painter, room, words, &text::small(), tokens.text_weak, Cut::End);
    }
    let label = Rect::from_x_y_ranges(names.left() + 10.0..=names.right() - 10.0, foot..=head.bottom());
    cell::left(painter, label, shape.title, &text::small(), tokens.text_weak, Cut::End);
    cell::right(painter, label, "Total", &text::small(), tokens.text_weak);
    let line = Stroke::new(1.0, tokens.border);
    painter.hline(names.right()..=head.right(), foot - 0.5, line);
    painter.hline(head.x_range(), head.bottom() - 0.5, line);
    painter.vline(names.right() - 0.5, head.y_range(), line);
}

fn sum(parts: &[(u64, Color32, bool)]) -> u64 {
    parts.iter().map(|part| part.0).fold(0, u64::saturating_add)
}
