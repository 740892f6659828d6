//! Where to save files of an image, and what came of it.

use egui::{Key, Label, RichText, TextEdit, Ui, vec2};

use super::path_bar::select_file_name;
use crate::base::size::human;
use crate::base::text::without_errno;
use crate::gui::design::Tokens;
use crate::gui::models::saver::{SaveState, Saver};
use crate::gui::widgets::controls::{progress_bar, weak};

/// What the user asked for.
pub(in crate::gui) enum SaveChoice {
    /// To save here.
    To(String),
    /// To choose with a file dialog.
    Browse,
}

/// Shows the field while it is asked for, progress, and the result.
pub(in crate::gui) fn save_bar(ui: &mut Ui, saver: &mut Saver) -> Option<SaveChoice> {
    let mut chosen = None;
    if let Some(name) = &mut saver.name {
        ui.horizontal(|ui| {
            let label = ui.label("Save to");
            let width = (ui.available_width() - 150.0).max(80.0);
            let field = ui.add(TextEdit::singleline(name).desired_width(width)).labelled_by(label.id);
            if std::mem::take(&mut saver.asks_name) {
                field.request_focus();
                select_file_name(ui, field.id, name);
            }
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let saves = ui.add_enabled_ui(!name.is_empty(), |ui| ui.button("Save")).inner.clicked();
            if (entered || saves) && !name.is_empty() {
                chosen = Some(SaveChoice::To(name.clone()));
            }
            if ui.button("Browse…").clicked() {
                chosen = Some(SaveChoice::Browse);
            }
        });
    }
    save_status(ui, saver, "Not saved: ");
    chosen
}

/// Shows progress and the result; `failed` begins what is said of a failure.
pub(in crate::gui) fn save_status(ui: &mut Ui, saver: &mut Saver, failed: &str) {
    let tokens = Tokens::of(ui);
    match &saver.state {
        SaveState::Idle => {}
        SaveState::Saved(words) => {
            ui.add(Label::new(RichText::new(words).color(tokens.success)).wrap().selectable(true));
        }
        SaveState::Failed(reason) => {
            let words = format!("{failed}{}", without_errno(reason));
            ui.add(Label::new(RichText::new(words).color(tokens.error)).wrap().selectable(true));
        }
        SaveState::Saving => {
            let now = saver.progress();
            let mut stop = false;
            ui.horizontal(|ui| {
                progress_bar(ui, "Saving progress", now.fraction(), vec2(120.0, 6.0));
                weak(ui, format!("{} read", human(now.bytes_passed)));
                stop = ui.button("Cancel").clicked();
            });
            if stop {
                saver.cancel();
            }
        }
    }
}
