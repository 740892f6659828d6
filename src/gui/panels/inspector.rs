//! The panel about one path: its contents, and why it is in the image.

mod contents;
mod folded;
mod why;

use egui::{Align, Frame, Label, Layout, Margin, RichText, Ui};

use crate::base::text::{elide_middle, escape};
use crate::gui::design::{Tokens, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::format;
use crate::gui::models::inspector::{ContentState, Inspector, InspectorPage};
use crate::gui::views::save_bar::{SaveChoice, save_bar, save_status};
use crate::gui::views::{Action, ViewContext};
use crate::gui::widgets::controls::{Mark, PageTab, mark_button, page_tabs};
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

/// With less height than this, a view and the panel below it would both show next to nothing.
const BOTH: f32 = 400.0;

/// Shows the panel beside or below the view in front, or in its place where there is no room for both. Whether it
/// took that place.
pub(crate) fn inspector(ui: &mut Ui, inspector: &mut Inspector, context: &mut ViewContext<'_>) -> bool {
    let covers = !SPLIT.is_wide(ui) && ui.available_height() < BOTH;
    inspector.covers = covers;
    if covers {
        panel(ui, inspector, context);
    } else {
        SPLIT.show(ui, |ui| panel(ui, inspector, context));
    }
    covers
}

fn panel(ui: &mut Ui, inspector: &mut Inspector, context: &mut ViewContext<'_>) {
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
            match inspector.saver.name {
                None => inspector.ask_name(),
                Some(_) => inspector.saver.name = None,
            }
        }
        let can_open = inspector.page == InspectorPage::Contents && is_shown(inspector);
        let open = ui.add_enabled_ui(can_open, |ui| ui.button("Open externally")).inner;
        let open = open
            .on_hover_text("Open a read-only copy with the desktop's program for it")
            .on_disabled_hover_text("Available when the contents are shown");
        if open.clicked() {
            context.actions.push(Action::OpenExternally);
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
    context.actions.extend(save_bar(ui, &mut inspector.saver).map(|choice| match choice {
        SaveChoice::To(name) => Action::SaveInspected(name.into()),
        SaveChoice::Browse => Action::Pick(Pick::SaveFile),
    }));
    save_status(ui, &mut inspector.external.saver, "");
}

/// Whether the contents are of a file that is shown.
fn is_shown(inspector: &Inspector) -> bool {
    matches!(inspector.state(), ContentState::Ready(_))
}
