//! The sections of a page, to go to.

use egui::accesskit::Role;
use egui::{Frame, Margin, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::PageState;
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::controls::{line_of_text, paint_focus};
use crate::report::page::Page;

pub(super) fn show(ui: &mut Ui, page: &Page, state: &mut PageState) {
    let tokens = Tokens::of(ui);
    let here = state.layout.as_ref().and_then(|layout| layout.section_at(state.offset + 24.0));
    ScrollArea::vertical().id_salt("contents").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(8, 10)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            for section in &page.sections {
                let title = section.part.title();
                let size = vec2(ui.available_width(), 26.0);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                response.widget_info(|| WidgetInfo::labeled(Role::Link, ui.is_enabled(), title));
                let current = here == Some(section.part);
                if response.hovered() {
                    ui.painter().rect_filled(rect, radius::S, tokens.hovered);
                }
                if current {
                    let bar = Rect::from_min_size(pos2(rect.left(), rect.top() + 5.0), vec2(3.0, 16.0));
                    ui.painter().rect_filled(bar, 1.5, tokens.accent);
                }
                let room = Rect::from_min_max(pos2(rect.left() + 10.0, rect.top()), rect.max);
                let (font, color) =
                    if current { (text::strong(), tokens.text) } else { (text::body(), tokens.text_weak) };
                line_of_text(ui, room, title, font, color);
                paint_focus(ui, &response, radius::S);
                if response.clicked() {
                    state.jump(section.part);
                    ui.ctx().request_repaint();
                }
            }
        });
    });
}
