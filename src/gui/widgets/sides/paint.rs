//! How a row of two sides looks.

use egui::text::LayoutJob;
use egui::{Rangef, Rect, Stroke, StrokeKind, TextFormat, Ui, pos2, vec2};

use super::{PAD, Places, SIGN, SideLine, SidesRow};
use crate::gui::design::{Tokens, text};
use crate::gui::widgets::cell;
use crate::gui::widgets::controls::paint_mark;
use crate::gui::widgets::list::ListPlace;

pub(super) fn paint(ui: &Ui, places: &Places, place: &ListPlace, line: &SidesRow<'_>) {
    let (rect, look) = (place.rect, place.look);
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    let room = |range: Rangef| Rect::from_x_y_ranges(range, rect.y_range());
    let gutter = room(places.gutter);
    if look.selected || look.hovered {
        let fill = if look.selected { tokens.selection } else { tokens.hovered };
        painter.rect_filled(rect, 0.0, fill);
    } else {
        painter.rect_filled(gutter, 0.0, tokens.panel);
    }
    for (side, line) in [(places.left, &line.left), (places.right, &line.right)] {
        if side.span() > 0.0 {
            one_side(ui, places, room(side), line.as_ref(), place);
        }
    }
    if let Some((mark, color)) = line.mark {
        paint_mark(painter, mark, gutter.center(), 12.0, color);
    }
    if look.selected {
        let color = if look.focused { tokens.accent } else { tokens.border_strong };
        painter.rect_stroke(rect, 0.0, Stroke::new(1.0, color), StrokeKind::Inside);
        painter.rect_filled(Rect::from_min_size(rect.min, vec2(3.0, rect.height())), 0.0, color);
    }
}

fn one_side(ui: &Ui, places: &Places, rect: Rect, line: Option<&SideLine<'_>>, place: &ListPlace) {
    let tokens = Tokens::of(ui);
    let plain = !place.look.selected && !place.look.hovered;
    let Some(line) = line else {
        if plain {
            ui.painter().rect_filled(rect, 0.0, tokens.raised);
        }
        return;
    };
    let numbers = Rect::from_min_size(rect.min, vec2(places.number, rect.height()));
    if let Some((sign, color)) = line.sign {
        ui.painter().rect_filled(rect, 0.0, tokens.wash(color));
        let place = Rect::from_min_size(numbers.right_top(), vec2(SIGN, rect.height()));
        let font = egui::FontId { size: 13.0, ..text::mono() };
        cell::center(ui.painter(), place, sign, &font, color);
    }
    let number = numbers.shrink2(vec2(PAD - 1.0, 0.0));
    let color = line.sign.map_or(tokens.text_weak, |(_, color)| color);
    cell::right(ui.painter(), number, &line.number.to_string(), &text::small(), color);
    let room = Rect::from_x_y_ranges(places.text(rect.x_range()), rect.y_range());
    let painter = ui.painter().with_clip_rect(room.intersect(ui.clip_rect()));
    let galley = painter.layout_job(job(tokens, line));
    let at = pos2(room.left() - place.sideways, rect.center().y - galley.size().y / 2.0);
    painter.galley(at, galley, tokens.text);
}

/// The text, with highlights underlined and on a stronger fill.
fn job(tokens: &Tokens, line: &SideLine<'_>) -> LayoutJob {
    let plain = TextFormat::simple(text::mono(), tokens.text);
    let strong = match line.sign {
        Some((_, color)) => TextFormat {
            background: tokens.faint(color),
            underline: Stroke::new(1.0, color),
            ..plain.clone()
        },
        None => plain.clone(),
    };
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    job.wrap.max_width = f32::INFINITY;
    let mut at = 0;
    for range in line.strong {
        let (Some(before), Some(part)) = (line.text.get(at..range.start), line.text.get(range.clone()))
        else {
            break;
        };
        job.append(before, 0.0, plain.clone());
        job.append(part, 0.0, strong.clone());
        at = range.end;
    }
    job.append(line.text.get(at..).unwrap_or_default(), 0.0, plain);
    job
}
