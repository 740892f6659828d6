//! Which page, what of it, in which order, and what can be done with all of it.

use egui::accesskit::Role;
use egui::{Align, ComboBox, Label, Layout, RichText, Ui, WidgetInfo};

use super::state::CompareState;
use super::{CompareEvent, ComparePage};
use crate::base::labels::CHANGES;
use crate::base::size::grouped;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::compare::{CompareModel, CompareSort, ComparedPaths};
use crate::gui::views::commands::{Command, command_button};
use crate::gui::views::filter_field::{FilterField, show_error};
use crate::gui::widgets::controls::check_box;

/// From this width on, everything fits on one line.
const WIDE: f32 = 1_120.0;
/// Room for the buttons beside the pages.
const BUTTONS: f32 = 148.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &mut CompareState,
    model: &CompareModel,
    focus: bool,
    events: &mut Vec<CompareEvent>,
) {
    if ui.available_width() >= WIDE {
        ui.horizontal(|ui| {
            pages(ui, state, model, events);
            ui.add_space(space::S);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                export(ui, events);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| choices(ui, state, model, focus));
            });
        });
    } else {
        let right = Layout::right_to_left(Align::Center);
        let beside = ui.horizontal_wrapped(|ui| {
            pages(ui, state, model, events);
            let first_line = ui.cursor().top() <= ui.max_rect().top() + 1.0;
            let beside = first_line && ui.available_size_before_wrap().x >= BUTTONS;
            if beside {
                ui.with_layout(right, |ui| export(ui, events));
            }
            beside
        });
        if !beside.inner {
            ui.horizontal(|ui| ui.with_layout(right, |ui| export(ui, events)));
        }
        ui.horizontal(|ui| choices(ui, state, model, focus));
    }
    if let Some(sentence) = model.sentence.as_deref().filter(|_| state.page == ComparePage::Summary) {
        ui.add(Label::new(RichText::new(sentence).font(text::heading())).wrap().selectable(true));
    }
    let error = match state.page {
        ComparePage::Files => state.files.shown().and_then(|shown| shown.filtered.error.as_ref()),
        _ => state.rows.error.as_ref(),
    };
    if let Some(error) = error {
        show_error(ui, error);
    }
    ui.add_space(space::XS);
}

fn pages(ui: &mut Ui, state: &CompareState, model: &CompareModel, events: &mut Vec<CompareEvent>) {
    ui.spacing_mut().item_spacing.x = space::XS;
    for page in ComparePage::ALL {
        let selected = state.page == page;
        let label = match (page, model.differing(page)) {
            (ComparePage::Summary, _) => page.title().to_owned(),
            (_, count) => format!("{}  {}", page.title(), grouped(count as u64)),
        };
        let response = ui.selectable_label(selected, &label);
        let name = match page {
            ComparePage::Summary => page.title().to_owned(),
            _ => format!("{}, {} differ", page.title(), grouped(model.differing(page) as u64)),
        };
        response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, &name));
        if response.on_hover_text(about(page)).clicked() {
            events.push(CompareEvent::Page(page));
        }
    }
}

const fn about(page: ComparePage) -> &'static str {
    match page {
        ComparePage::Summary => "Sizes, CUDA components, GPU code, compatibility, findings",
        ComparePage::Layers => "Layers with their position in each image; counts layers not shared by all",
        ComparePage::Files => {
            "Merged file tree of all images; counts paths that differ from the baseline, without folders"
        }
        ComparePage::Packages => "Packages and versions; counts differences",
        ComparePage::Settings => "Environment, command and labels; counts differences",
    }
}

fn choices(ui: &mut Ui, state: &mut CompareState, model: &CompareModel, focus: bool) {
    let tokens = Tokens::of(ui);
    let mut only = state.only;
    if check_box(ui, only, "Only differences").clicked() {
        only = !only;
    }
    let hidden = match state.page {
        ComparePage::Files => state.files.shown().map_or(0, |shown| shown.filtered.hidden),
        _ => state.rows.hidden,
    };
    if state.only && hidden > 0 {
        let what = match (state.page, hidden) {
            (ComparePage::Files, 1) => "1 identical path hidden".to_owned(),
            (ComparePage::Files, many) => format!("{} identical paths hidden", grouped(many as u64)),
            (_, many) => format!("{} identical hidden", grouped(many as u64)),
        };
        ui.label(RichText::new(what).font(text::small()).color(tokens.text_weak));
    }
    state.only = only;
    ui.add_space(space::S);
    let sorts: &[CompareSort] = match state.page {
        ComparePage::Layers | ComparePage::Settings => {
            &[CompareSort::Order, CompareSort::Difference, CompareSort::Size, CompareSort::Name]
        }
        ComparePage::Summary | ComparePage::Files | ComparePage::Packages => {
            &[CompareSort::Difference, CompareSort::Size, CompareSort::Name]
        }
    };
    let now = state.sort();
    let mut chosen = now;
    let combo = ComboBox::from_id_salt("order of the rows")
        .width(132.0)
        .selected_text(format!("Sort: {}", now.word()));
    let response = combo
        .show_ui(ui, |ui| {
            for sort in sorts {
                ui.selectable_value(&mut chosen, *sort, sort.word());
            }
        })
        .response;
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, format!("Sort by: {}", now.word()));
        info.current_text_value = Some(now.word().to_owned());
        info
    });
    response.on_hover_text("Sort order of the rows");
    if chosen != now {
        state.set_sort(chosen);
    }
    let found = match state.page {
        ComparePage::Files => state.files.shown().map(|shown| shown.filtered.found),
        _ => Some(state.rows.found),
    };
    let all = match state.page {
        ComparePage::Files => model.compared.comparison.tree.len().saturating_sub(1),
        page => model.lines(page).len(),
    };
    let hint = match state.page {
        ComparePage::Files => format!("Filter: *.so size:>10M {}", CHANGES.term("added")),
        _ => "Filter by name".to_owned(),
    };
    let count = found.filter(|_| !state.typed.is_empty()).map(|found| {
        let words = if found == 1 { "matches" } else { "match" };
        format!("{} of {} {words}", grouped(found as u64), grouped(all as u64))
    });
    let room = if count.is_some() { 110.0 } else { 0.0 };
    let width = (ui.available_width() - room - space::S).clamp(60.0, 320.0);
    let field = FilterField { name: "Filter comparison", hint: &hint, width, focus };
    field.show::<ComparedPaths>(ui, &mut state.typed);
    if let Some(count) = count {
        ui.label(RichText::new(count).font(text::small()).color(tokens.text_weak));
    }
}

fn export(ui: &mut Ui, events: &mut Vec<CompareEvent>) {
    ui.spacing_mut().item_spacing.x = space::XS;
    for (command, label) in [(Command::SaveComparison, "Save as…"), (Command::CopyComparison, "Copy")] {
        events.extend(command_button(ui, command, label).map(CompareEvent::Window));
    }
}
