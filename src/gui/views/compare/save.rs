//! Where the comparison is saved, as what, and the result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Margin, RichText, Ui, WidgetInfo};

use super::{Action, CompareEvent};
use crate::gui::design::{Tokens, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::compare::{CompareModel, Export, Exported, FORMATS};
use crate::gui::views::path_bar::{PathBar, PathEvent, PathNotice, PathWords, show_notice};
use crate::gui::widgets::controls::{Mark, mark_button};
use crate::jobs::Waker;
use crate::report::CompareFormat;

const WORDS: PathWords = PathWords { label: "Save comparison as", hint: "", button: "Save" };

/// The field, the result line, and the work.
pub(super) struct SaveBar {
    open: bool,
    format: CompareFormat,
    field: PathBar,
    notice: Option<PathNotice>,
    export: Export,
}

impl Default for SaveBar {
    fn default() -> Self {
        Self {
            open: false,
            format: CompareFormat::Html,
            field: PathBar::default(),
            notice: None,
            export: Export::default(),
        }
    }
}

impl SaveBar {
    pub(super) fn open(&mut self) {
        if self.field.typed.is_empty() {
            self.field.typed = format!("comparison.{}", self.format.extension());
        }
        self.field.changed();
        self.field.focus();
        (self.open, self.notice) = (true, None);
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn is_busy(&self) -> bool {
        self.export.is_busy()
    }

    pub(super) fn show_message(&mut self, words: String) {
        self.field.show_message(words);
    }

    pub(super) fn copy(&mut self, model: &Arc<CompareModel>, waker: &Waker) {
        self.export.copy(model, waker);
    }

    /// Writes to a file, in the format of its extension when known.
    pub(super) fn write(&mut self, model: &Arc<CompareModel>, path: PathBuf, replace: bool, waker: &Waker) {
        if let Some(format) = format_of(&path) {
            self.format = format;
        }
        self.field.taken();
        self.notice = None;
        self.export.save(model, self.format, path, replace, waker);
    }

    /// Polls the result.
    pub(super) fn update(&mut self, ui: &Ui, actions: &mut Vec<Action>) {
        match self.export.take() {
            None => return,
            Some(Exported::Text(text)) => {
                actions.push(Action::CopyText(text));
                self.notice = Some(PathNotice::done("Comparison copied as Markdown", ""));
            }
            Some(Exported::File(saved)) => {
                let field = Some(&mut self.field).filter(|_| self.open);
                if let Some(notice) = PathBar::saved(field, saved, "Comparison", actions) {
                    (self.open, self.notice) = (false, Some(notice));
                }
            }
        }
        ui.ctx().request_repaint();
    }

    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        model: &Arc<CompareModel>,
        waker: &Waker,
        events: &mut Vec<CompareEvent>,
    ) {
        let mut actions = Vec::new();
        if self.notice.as_ref().is_some_and(|notice| !show_notice(ui, notice, &mut actions)) {
            self.notice = None;
        }
        if self.open {
            let mut asked = PathEvent::Nothing;
            Tokens::of(ui).card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
                asked = self.fields(ui);
            });
            ui.add_space(space::S);
            match asked {
                PathEvent::Nothing => {}
                PathEvent::Close => self.open = false,
                PathEvent::Browse => {
                    actions.push(Action::Pick(Pick::SaveComparison(self.format.extension())));
                }
                PathEvent::Take(replace) => self.write(model, self.field.path(), replace, waker),
            }
        }
        events.extend(actions.into_iter().map(CompareEvent::Window));
    }

    fn fields(&mut self, ui: &mut Ui) -> PathEvent {
        let mut closed = false;
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new(WORDS.label).font(text::strong()));
            ui.spacing_mut().item_spacing.x = space::XS;
            for (format, name) in FORMATS {
                let chosen = self.format == format;
                let response = ui.selectable_label(chosen, name);
                response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, name));
                if response.clicked() {
                    self.choose(format);
                }
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                closed = mark_button(ui, Mark::Close, "Close field").clicked();
            });
        });
        let busy = self.is_busy();
        let asked = ui.horizontal(|ui| self.field.row(ui, WORDS, 170.0, busy)).inner;
        self.field.message(ui);
        if closed { PathEvent::Close } else { asked }
    }

    fn choose(&mut self, format: CompareFormat) {
        self.format = format;
        let typed = Path::new(&self.field.typed);
        // A name of the user's own keeps what follows a point that is no format.
        if format_of(typed).is_some()
            && let Some(renamed) = typed.with_extension(format.extension()).to_str()
        {
            renamed.clone_into(&mut self.field.typed);
        }
        self.field.changed();
    }
}

/// The format that a file's name ends in.
fn format_of(path: &Path) -> Option<CompareFormat> {
    let end = path.extension()?.to_str()?;
    FORMATS.into_iter().map(|(format, _)| format).find(|format| format.extension() == end)
}
