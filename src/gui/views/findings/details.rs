//! Everything about one finding: its head, and one of three pages.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Sense, Ui, vec2};

use super::state::FindingsState;
use super::{Action, FindingsEvent, FindingsPage, ViewContext};
use super::{files, list, manual, reasons};
use crate::base::size::grouped;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::findings::{FindingDetails, FindingItem, PlanChange};
use crate::gui::widgets::controls::{self, PageTab};
use crate::gui::widgets::pane::empty;

/// Shows the details; gives how many rows of files were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut FindingsState,
    page: FindingsPage,
    focus: bool,
    context: &ViewContext<'_>,
    events: &mut Vec<FindingsEvent>,
) -> usize {
    let Some(details) = state.details.take() else { return 0 };
    // A finding without files has no page of them.
    let page =
        if page == FindingsPage::Files && details.item.files == 0 { FindingsPage::Reasons } else { page };
    Frame::new().inner_margin(Margin { left: 12, right: 12, top: 10, bottom: 0 }).show(ui, |ui| {
        ui.set_width(ui.available_width());
        head(ui, &details);
        ui.horizontal(|ui| {
            tabs(ui, &details, page, focus, events);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                in_plan(ui, &details.item, context, events);
            });
        });
    });
    let painted = match page {
        FindingsPage::Reasons => {
            body(ui, "reasons", &details.item.id, |ui| {
                reasons::show(ui, &details, state, context.plan, events);
            });
            0
        }
        FindingsPage::Files => {
            if let Some(files) = &details.files {
                files::show(ui, (&details.item.id, files), &mut state.file, context, events)
            } else {
                empty(ui, state.files_wait(), "");
                0
            }
        }
        FindingsPage::Manual => {
            let blocks = state.manual.get_or_insert_with(|| details.manual());
            body(ui, "manual", &details.item.id, |ui| manual::show(ui, details.item.rule, blocks));
            0
        }
    };
    state.details = Some(details);
    painted
}

fn body(ui: &mut Ui, page: &str, id: &str, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical().id_salt((page, id)).auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin { left: 12, right: 12, top: 8, bottom: 12 }).show(ui, |ui| {
            ui.set_width(ui.available_width());
            add(ui);
        });
    });
}

/// Title and verdict.
fn head(ui: &mut Ui, details: &FindingDetails) {
    let tokens = Tokens::of(ui);
    let item = &details.item;
    ui.add(Label::new(RichText::new(&item.title).font(text::heading()).color(tokens.text)).wrap());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let (mark, color) = list::sign(tokens, item.verdict);
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 16.0), Sense::hover());
        controls::paint_mark(ui.painter(), mark, rect.center(), 12.0, color);
        let verdict = RichText::new(item.verdict.label()).font(text::strong()).color(color);
        ui.label(verdict).on_hover_text(item.verdict.about());
        let about = format!(" ·  {} severity  ·  {}", item.severity.label(), item.category.label());
        ui.label(RichText::new(about).color(tokens.text_weak));
    });
    ui.add_space(space::XS);
}

fn tabs(
    ui: &mut Ui,
    details: &FindingDetails,
    page: FindingsPage,
    focus: bool,
    events: &mut Vec<FindingsEvent>,
) {
    let mut pages = vec![(FindingsPage::Reasons, "Reasons".to_owned())];
    if details.item.files > 0 {
        pages.push((FindingsPage::Files, format!("Files  {}", grouped(details.item.files as u64))));
    }
    pages.push((FindingsPage::Manual, "Manual".to_owned()));
    ui.spacing_mut().item_spacing.x = space::XS;
    events.extend(controls::page_tabs(ui, &pages, page, focus).map(|tab| match tab {
        PageTab::Show(page) => FindingsEvent::Page(page),
        PageTab::Leave => FindingsEvent::List,
    }));
}

/// The box that puts a finding into the plan.
fn in_plan(ui: &mut Ui, item: &FindingItem, context: &ViewContext<'_>, events: &mut Vec<FindingsEvent>) {
    if !item.can_be_chosen() {
        return;
    }
    let chosen = context.plan.contains(&item.id);
    let cause = context.plan.blocking_cause(&item.id);
    let add = |ui: &mut Ui| controls::check_box(ui, chosen, "In the plan");
    let mut response = ui.add_enabled_ui(cause.is_none(), add).inner;
    if let Some(cause) = cause {
        response = response.on_disabled_hover_text(format!("Removable only together with: {cause}"));
    }
    if response.on_hover_text(item.verdict.about()).clicked() {
        let change = PlanChange::Set(item.id.clone(), !chosen);
        events.push(FindingsEvent::Window(Action::ChangePlan(change)));
    }
}
