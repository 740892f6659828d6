//! The tags of a repository, to choose one.

use egui::accesskit::Role;
use egui::{
    Align, Align2, Id, Key, Label, Margin, Modifiers, RichText, ScrollArea, Sense, TextEdit, Ui, WidgetInfo,
    pos2, vec2,
};

use super::sheet::{FailureAnswer, failure, failure_buttons, sheet, title};
use crate::base::text::counted;
use crate::base::text::{elide_middle, printable};
use crate::gui::app::{App, Retry};
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::remote::{TagList, TagsState};
use crate::gui::views::Action;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::weak;

/// Rows that are seen at once.
const ROWS: f32 = 12.0;

/// What the user did.
enum Done {
    Take(String),
    Answer(FailureAnswer),
}

const CLOSE: Done = Done::Answer(FailureAnswer::Close);

/// Shows the popup when it is open.
pub(super) fn tags(ui: &Ui, app: &mut App) {
    let Some(tags) = &mut app.remote.tags else { return };
    let (head, host) = (format!("Tags of {}", elide_middle(&tags.shown, 60)), printable(&tags.host));
    let (done, closes) = sheet(ui, "tags", 480.0, |ui| {
        title(ui, &head);
        ui.add_space(space::XS);
        match tags.list.state() {
            TagsState::Failed(why) => {
                failure(ui, why);
                ui.add_space(space::S);
                failure_buttons(ui, why, false).map(Done::Answer)
            }
            TagsState::Asking => {
                weak(ui, format!("Listing tags from {host}…"));
                if let Some(message) = tags.list.message() {
                    ui.add(Label::new(RichText::new(message).color(Tokens::of(ui).text_weak)).wrap());
                }
                // Its messages arrive while the window is idle.
                ui.ctx().request_repaint_after(std::time::Duration::from_millis(250));
                ui.add_space(space::S);
                ui.button("Cancel").clicked().then_some(CLOSE)
            }
            TagsState::Known if tags.list.counts().0 == 0 => {
                weak(ui, "This repository has no tags.");
                ui.add_space(space::S);
                ui.button("Close").clicked().then_some(CLOSE)
            }
            TagsState::Known => known(ui, &mut tags.list),
        }
    });
    match done {
        Some(Done::Take(tag)) => app.take_tag(&tag),
        Some(Done::Answer(FailureAnswer::Again)) => tags.pending = true,
        Some(Done::Answer(FailureAnswer::LogIn(host))) => app.ask_login(Some(&host), Some(Retry::Tags)),
        Some(Done::Answer(FailureAnswer::Copy(text))) => app.actions.push(Action::CopyText(text)),
        Some(Done::Answer(FailureAnswer::Close | FailureAnswer::Edit)) => app.remote.tags = None,
        None if closes => app.remote.tags = None,
        None => {}
    }
}

fn known(ui: &mut Ui, list: &mut TagList) -> Option<Done> {
    let step = |ui: &Ui, key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let (down, up) = (step(ui, Key::ArrowDown), step(ui, Key::ArrowUp));
    let (page, back) = (step(ui, Key::PageDown), step(ui, Key::PageUp));
    let mut moved = down + up + page + back > 0;
    if moved {
        list.step(down + page * 10, up + back * 10);
    }
    let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    let field = TextEdit::singleline(list.typed())
        .id(Id::unique("tag filter"))
        .hint_text("Filter tags")
        .margin(Margin::symmetric(8, 5))
        .align(Align2::LEFT_CENTER)
        .min_size(vec2(0.0, 28.0))
        .desired_width(f32::INFINITY);
    let response = ui.add(field);
    let typed = list.typed().clone();
    response.widget_info(|| WidgetInfo::text_edit(true, &typed, &typed, "Filter tags"));
    response.request_focus();
    if response.changed() {
        list.filter();
        moved = true;
    }
    ui.add_space(space::XS);
    let (all, fit) = list.counts();
    let chosen = list.chosen();
    let mut taken = None;
    let height = (ui.content_rect().height() - 260.0).clamp(3.0 * row::NORMAL, ROWS * row::NORMAL);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.set_height(height);
        if fit == 0 {
            weak(ui, "No matching tag.");
            return;
        }
        let mut area = ScrollArea::vertical().auto_shrink(false).max_height(height);
        if moved {
            let middle = chosen as f32 * row::NORMAL - (height - row::NORMAL) / 2.0;
            area = area.vertical_scroll_offset(middle.max(0.0));
        }
        area.show_rows(ui, row::NORMAL, fit, |ui, rows| {
            for place in rows {
                let Some(tag) = list.at(place) else { continue };
                if line(ui, tag, place == chosen).clicked() {
                    taken = Some(tag.to_owned());
                }
            }
        });
    });
    ui.add_space(space::XS);
    let mut done = taken.or_else(|| list.at(chosen).filter(|_| entered).map(str::to_owned)).map(Done::Take);
    ui.horizontal(|ui| {
        let words =
            if fit == all { counted(all, "tag") } else { format!("{fit} of {}", counted(all, "tag")) };
        weak(ui, words);
        let message = list.message();
        ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
            if ui.button("Close").clicked() {
                done = Some(CLOSE);
            }
            ui.with_layout(egui::Layout::left_to_right(Align::Center), |ui| {
                if let Some(message) = message {
                    let words = RichText::new(&message).font(text::small()).color(Tokens::of(ui).text_weak);
                    ui.add(Label::new(words).truncate()).on_hover_text(message);
                }
            });
        });
    });
    done
}

fn line(ui: &mut Ui, tag: &str, chosen: bool) -> egui::Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, chosen, tag));
    if chosen {
        ui.painter().rect_filled(rect, radius::S, tokens.selection);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, radius::S, tokens.hovered);
    }
    let inner = egui::Rect::from_min_max(pos2(rect.left() + 8.0, rect.top()), rect.max);
    cell::left(ui.painter(), inner, tag, &text::mono(), tokens.text, Cut::Middle);
    response
}
