//! The header above the list: what the plan makes of the sizes, and the filter.

use egui::accesskit::Role;
use egui::{Align, Align2, FontId, Layout, Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use super::state::FindingsState;
use super::{Action, FindingsEvent, ViewContext};
use crate::base::convert::fraction;
use crate::base::labels::VERDICTS;
use crate::base::size::human;
use crate::base::text::counted;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::findings::{FindingList, FindingsModel, PlanChange, Prediction};
use crate::gui::views::commands::{Command, command_button};
use crate::gui::views::filter_field::{FilterField, show_error, show_found};
use crate::gui::widgets::cell::{self, Cut};
use crate::report::page::share;

/// The size of the sizes, and where a figure has less room than that.
const LARGE: f32 = 19.0;
const SMALLER: f32 = 14.0;
const ROOM: f32 = 260.0;
/// In a view narrower than this, the button and the filter have lines of their own.
const NARROW: f32 = 620.0;
const SLIM: &str = "Write slim image…";

/// What a size is now and what it would be.
struct Figure {
    name: &'static str,
    about: &'static str,
    sizes: Option<(u64, u64)>,
    /// Whether the second size is an estimate.
    about_then: bool,
}

/// The two figures, the buttons, and the filter.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut FindingsState,
    model: &FindingsModel,
    context: &ViewContext<'_>,
    focus: bool,
    events: &mut Vec<FindingsEvent>,
) {
    let tokens = Tokens::of(ui);
    let narrow = ui.available_width() < NARROW;
    let action = context.plan.prediction().and_then(|prediction| figures(ui, prediction, narrow));
    events.extend(action.map(FindingsEvent::Window));
    by_slim(ui, model, events);
    if model.incomplete {
        let note = if model.items.iter().any(|item| item.files > 0) {
            "Part of the image was not read; a use of these files there would go unnoticed."
        } else {
            "Part of the image was not read; findings there are unknown."
        };
        ui.label(RichText::new(note).color(tokens.warning));
    }
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let mut button = |ui: &mut Ui, label: &str, about: &str, change: PlanChange| {
            if ui.button(label).on_hover_text(about).clicked() {
                events.push(FindingsEvent::Window(Action::ChangePlan(change)));
            }
        };
        let about = "Select removable findings only";
        button(ui, "All removable", about, PlanChange::AllSafe);
        button(ui, "None", "Clear the selection", PlanChange::Clear);
        if narrow {
            let slim = command_button(ui, Command::WriteSlim, SLIM);
            events.extend(slim.map(FindingsEvent::Window));
        } else {
            ui.add_space(space::S);
            chosen_and_filter(ui, state, context, focus);
        }
    });
    if narrow {
        ui.horizontal(|ui| chosen_and_filter(ui, state, context, focus));
    }
    if let Some(error) = &state.rows.error {
        show_error(ui, error);
    } else if state.rows.filtered {
        show_found(ui, state.rows.found, &counted(model.items.len(), "finding"), state.rows.bytes);
    }
    ui.add_space(space::XS);
}

/// What a slim image is without besides the plan, with a link to the finding.
fn by_slim(ui: &mut Ui, model: &FindingsModel, events: &mut Vec<FindingsEvent>) {
    let mut items: Vec<_> = model.items.iter().filter(|item| item.saving().1).collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.saving().0));
    let Some((item, others)) = items.split_first() else { return };
    let compressed = match item.potential_compressed_bytes {
        Some(bytes) => format!(" (compressed ≈ {})", human(bytes)),
        None => String::new(),
    };
    let mut words = format!("Slim can also remove {}{compressed}: {}", human(item.saving().0), item.title);
    if !others.is_empty() {
        let bytes: u64 = others.iter().map(|item| item.saving().0).sum();
        let others = counted(others.len(), "more finding");
        words = format!("{words}; and {} in {others}", human(bytes));
    }
    if ui.link(words).on_hover_text("Choose GPUs in “Write slim image…”").clicked() {
        events.push(FindingsEvent::Window(Action::SelectFinding(item.id.clone())));
    }
}

/// How many findings are selected, and the filter.
fn chosen_and_filter(ui: &mut Ui, state: &mut FindingsState, context: &ViewContext<'_>, focus: bool) {
    if let Some(prediction) = context.plan.prediction() {
        let about = "Findings without files, or required at run time, cannot be selected";
        let words = RichText::new(prediction.sentence()).color(Tokens::of(ui).text);
        ui.label(words).on_hover_text(about);
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| filter(ui, state, focus));
}

fn filter(ui: &mut Ui, state: &mut FindingsState, focus: bool) {
    let mut typed = state.typed.clone();
    let hint = format!("Filter: headers {} size:>10M", VERDICTS.term("safe"));
    let field = FilterField { name: "Filter findings", hint: &hint, width: 320.0, focus };
    field.show::<FindingList>(ui, &mut typed);
    state.set_filter(&typed);
}

fn figures(ui: &mut Ui, prediction: &Prediction, narrow: bool) -> Option<Action> {
    let figures = [
        Figure {
            name: "Merged",
            about: "visible in the container",
            sizes: Some(prediction.merged),
            about_then: false,
        },
        Figure {
            name: "Pull",
            about: "compressed layers; ≈ is an estimate",
            sizes: prediction.pull,
            about_then: true,
        },
    ];
    let gap = if narrow { space::L } else { space::XL };
    let button = if narrow { 0.0 } else { gap + 130.0 };
    let width = ((ui.available_width() - gap - button) / 2.0).min(420.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for figure in &figures {
            show_figure(ui, figure, width);
        }
        if narrow {
            return None;
        }
        let right = Layout::right_to_left(Align::Center);
        ui.with_layout(right, |ui| command_button(ui, Command::WriteSlim, SLIM)).inner
    })
    .inner
}

fn show_figure(ui: &mut Ui, figure: &Figure, width: f32) {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 58.0), Sense::hover());
    let words = match figure.sizes {
        None => format!("{}: unknown, {}", figure.name, figure.about),
        Some((now, then)) => {
            let about = if figure.about_then { "about " } else { "" };
            format!("{}: {} now, {about}{} after removal", figure.name, human(now), human(then))
        }
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Group, true, &words));
    let size = if width < ROOM { SMALLER } else { LARGE };
    let painter = ui.painter();
    let mut x = rect.left();
    let base = rect.top() + 42.0;
    let mut write = |words: &str, font: FontId, color, gap: f32| {
        // Align the baselines of both text sizes.
        let at = pos2(x, base - (size - font.size) * 0.35);
        x = painter.text(at, Align2::LEFT_BOTTOM, words, font, color).right() + gap;
    };
    let name = painter.text(rect.min, Align2::LEFT_TOP, figure.name, text::strong(), tokens.text);
    let beside = pos2(name.right() + space::S, name.top());
    let about = Rect::from_min_max(beside, pos2(rect.right(), name.bottom()));
    let less = figure.sizes.filter(|(now, then)| now != then).map(|(now, then)| {
        let less = share(now.saturating_sub(then), now);
        // A share that is not rounded is in words.
        let is_number = less.starts_with(|first: char| first.is_ascii_digit());
        if is_number { format!("−{less}") } else { format!("{less} less") }
    });
    // Behind the sizes there is no room for it.
    let above = less.as_ref().filter(|_| size < LARGE);
    match above {
        Some(less) => cell::right(painter, about, less, &text::body(), tokens.success),
        None => cell::left(painter, about, figure.about, &text::small(), tokens.text_weak, Cut::End),
    };
    let Some((now, then)) = figure.sizes else {
        write("–", text::title(), tokens.text, 0.0);
        return;
    };
    let large = FontId { size, ..text::title() };
    if now == then {
        write(&human(now), large, tokens.text, space::S);
    } else {
        write(&human(now), FontId { size, ..text::body() }, tokens.text_weak, space::S);
        write("→", FontId { size: 16.0, ..text::body() }, tokens.text_weak, space::S);
        let about = if figure.about_then { "≈ " } else { "" };
        write(&format!("{about}{}", human(then)), large, tokens.text, space::M);
        if let Some(less) = less.as_ref().filter(|_| above.is_none()) {
            write(less, text::body(), tokens.success, 0.0);
        }
    }
    let bar =
        Rect::from_min_max(pos2(rect.left(), rect.bottom() - 8.0), pos2(rect.right(), rect.bottom() - 2.0));
    painter.rect_filled(bar, 3.0, tokens.border);
    let kept = Rect::from_min_size(bar.min, vec2(bar.width() * fraction(then, now), bar.height()));
    painter.rect_filled(kept, 3.0, tokens.accent);
}
