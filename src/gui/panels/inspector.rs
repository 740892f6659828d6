//! The panel about one path: its contents, and why it is in the image.

mod contents;
mod folded;
mod why;

use egui::{Align, Frame, Key, Label, Layout, Margin, RichText, TextEdit, Ui, vec2};

use crate::base::size::human;
use crate::base::text::{elide_middle, escape, without_errno};
use crate::gui::design::{Tokens, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::format;
use crate::gui::models::inspector::{ContentState, Inspector, InspectorPage, SaveState};
use crate::gui::views::path_bar::select_file_name;
use crate::gui::views::{Action, ViewContext};
use crate::gui::widgets::controls::{Mark, PageTab, mark_button, page_tabs, progress_bar, weak};
use crate::gui::widgets::pane::card;
use crate::gui::widgets::split::Split;

const SPLIT: Split = Split {
    name: "inspector",
    wide: 1_050.0,
    first: false,
    beside: |width| ((width * 0.4).min(560.0) + 8.0, 320.0..=width * 0.65),
    stacked: |height| (height * 0.5, 160.0..=height * 0.75),
    rest: 80.0,
};

/// Shows the panel beside or below the view in front.
pub(crate) fn inspector(ui: &mut Ui, inspector: &mut Inspector, context: &mut ViewContext<'_>) {
    SPLIT.show(ui, |ui| {
        card(ui, |ui| {
            let tokens = Tokens::of(ui);
            ui.spacing_mut().item_spacing.y = space::XS;
            Frame::new().fill(tokens.raised).inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
                ui.set_width(ui.available_width());
                head(ui, inspector, context);
            });
            match inspector.page {
                InspectorPage::Contents => contents::show(ui, inspector),
                InspectorPage::Why => why::show(ui, inspector, context),
            }
        });
    });
}

fn head(ui: &mut Ui, inspector: &mut Inspector, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let path = escape(&inspector.target.raw);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if mark_button(ui, Mark::Close, "Close panel").clicked() {
                context.actions.push(Action::CloseInspector);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
                let label =
                    Label::new(RichText::new(elide_middle(name, 64)).font(text::heading())).truncate();
                ui.add(label).on_hover_text(&path);
            });
        });
    });
    let place = match inspector.target.version {
        Some((layer, _)) => format!("{path}, as in layer {layer}"),
        None => path.clone(),
    };
    let words = RichText::new(elide_middle(&place, 160)).font(text::mono()).color(tokens.text_weak);
    ui.add(Label::new(words).wrap().selectable(true));
    ui.add_space(space::XS);
    ui.horizontal_wrapped(|ui| {
        let pages = [
            (InspectorPage::Contents, "Contents".to_owned()),
            (InspectorPage::Why, "Why is this here?".to_owned()),
        ];
        match page_tabs(ui, &pages, inspector.page, false) {
            Some(PageTab::Show(page)) => inspector.page = page,
            Some(PageTab::Leave) => context.actions.push(Action::CloseInspector),
            None => {}
        }
        ui.separator();
        if ui.button("Save…").on_hover_text("Save the file, or a folder as a tar archive").clicked() {
            match inspector.save_as {
                None => inspector.ask_name(),
                Some(_) => inspector.save_as = None,
            }
        }
        if ui.button("Copy path").clicked() {
            context.actions.push(Action::CopyText(format::copy_text(&inspector.target.raw)));
        }
        if ui.button("Show in Layers").clicked() {
            context.actions.push(Action::SelectPath(inspector.target.raw.clone()));
        }
        if ui.button("Show in treemap").clicked() {
            context.actions.push(Action::ShowInTreemap(inspector.target.raw.clone()));
        }
    });
    save(ui, inspector, context);
}

/// Where to save, and what came of it.
fn save(ui: &mut Ui, inspector: &mut Inspector, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let mut chosen = None;
    if let Some(name) = &mut inspector.save_as {
        ui.horizontal(|ui| {
            let label = ui.label("Save to");
            let width = (ui.available_width() - 150.0).max(80.0);
            let field = ui.add(TextEdit::singleline(name).desired_width(width)).labelled_by(label.id);
            if std::mem::take(&mut inspector.asks_name) {
                field.request_focus();
                select_file_name(ui, field.id, name);
            }
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let saves = ui.add_enabled_ui(!name.is_empty(), |ui| ui.button("Save")).inner.clicked();
            if (entered || saves) && !name.is_empty() {
                chosen = Some(name.clone());
            }
            if ui.button("Browse…").clicked() {
                context.actions.push(Action::Pick(Pick::SaveFile));
            }
        });
    }
    if let Some(name) = chosen {
        context.actions.push(Action::SaveInspected(name.into()));
    }
    match &inspector.save {
        SaveState::Idle => {}
        SaveState::Saved(words) => {
            ui.add(Label::new(RichText::new(words).color(tokens.success)).wrap());
        }
        SaveState::Failed(reason) => {
            let words = format!("Not saved: {}", without_errno(reason));
            ui.add(Label::new(RichText::new(words).color(tokens.error)).wrap().selectable(true));
        }
        SaveState::Saving => {
            let now = inspector.save_progress();
            let mut stop = false;
            ui.horizontal(|ui| {
                progress_bar(ui, "Saving progress", now.fraction(), vec2(120.0, 6.0));
                weak(ui, format!("{} read", human(now.bytes_passed)));
                stop = ui.button("Cancel").clicked();
            });
            if stop {
                inspector.cancel_save();
            }
        }
    }
}

/// Whether the contents are of a file that is shown.
fn is_shown(inspector: &Inspector) -> bool {
    matches!(inspector.state(), ContentState::Ready(_))
}
