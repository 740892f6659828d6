//! The field for the filter of a view.

use egui::accesskit::Role;
use egui::{Atom, IdSalt, Key, RichText, TextEdit, Ui, UiBuilder, WidgetInfo, vec2};

use crate::base::size::{grouped, human};
use crate::gui::design::{Tokens, text};
use crate::gui::models::filter::{FilterError, FilterView, help};
use crate::gui::widgets::controls::{Mark, mark_button};
use crate::gui::widgets::stops::{self, GoTo, StopKind};

/// The room of the button that clears the field, with the margin of the field.
const CLEAR: f32 = 24.0;

/// What differs between the filter fields of views.
pub(super) struct FilterField<'a> {
    /// Its name for screen readers.
    pub(super) name: &'a str,
    /// Hint of the empty field.
    pub(super) hint: &'a str,
    /// It is no wider.
    pub(super) width: f32,
    /// Whether it is to get the focus.
    pub(super) focus: bool,
}

impl FilterField<'_> {
    /// Shows the field; Escape clears it. The tooltip names what the filter understands.
    pub(super) fn show<V: FilterView>(&self, ui: &mut Ui, typed: &mut String) {
        let width = ui.available_width();
        let filled = !typed.is_empty();
        let mut field = TextEdit::singleline(typed).hint_text(self.hint).desired_width(width.min(self.width));
        if filled {
            field = field.suffix(Atom::custom(IdSalt::new("clear"), vec2(CLEAR - 8.0, 14.0)));
        }
        let response = ui.add_sized(vec2(width.min(self.width), 24.0), field);
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::SearchInput, true, self.name);
            info.current_text_value = Some(typed.clone());
            info
        });
        stops::stop(ui, StopKind::Filter, self.name, &response);
        if stops::is_cleared(&response) {
            typed.clear();
        }
        if !typed.is_empty() {
            stops::fill(ui, &response);
            let right = response.rect.with_min_x(response.rect.right() - CLEAR).shrink2(vec2(2.0, 2.0));
            // Over the field: what follows in the line stays where it is.
            let mut over = ui.new_child(UiBuilder::new().max_rect(right));
            if mark_button(&mut over, Mark::Close, "Clear filter").clicked() {
                typed.clear();
                response.request_focus();
            }
        }
        if self.focus {
            response.request_focus();
        }
        // On to the list: Enter and Tab have taken the focus away already.
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let down = response.has_focus() && pressed(Key::ArrowDown);
        let back = ui.input(|input| input.modifiers.shift);
        if down || response.lost_focus() && (pressed(Key::Enter) || pressed(Key::Tab) && !back) {
            stops::go(ui.ctx(), if typed.is_empty() { GoTo::List } else { GoTo::Found });
        }
        let left = response.lost_focus() || response.has_focus();
        if left && ui.input(|input| input.key_pressed(Key::Escape)) {
            typed.clear();
        }
        response.on_hover_ui(|ui| {
            ui.label(help::<V>());
        });
    }
}

/// Shows why a filter is invalid.
pub(super) fn show_error(ui: &mut Ui, error: &FilterError) {
    ui.label(RichText::new(error.to_string()).font(text::small()).color(Tokens::of(ui).error));
}

/// How many of `all` the filter keeps, below its field.
pub(super) fn show_found(ui: &mut Ui, found: usize, all: &str, bytes: u64) {
    let words = match found {
        0 => format!("0 of {all} match"),
        1 => format!("1 of {all} matches, {}", human(bytes)),
        found => format!("{} of {all} match, {}", grouped(found as u64), human(bytes)),
    };
    ui.label(RichText::new(words).font(text::small()).color(Tokens::of(ui).text_weak));
}
