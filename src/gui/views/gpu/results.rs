//! What a check found: driver, devices, what launches cost, copies.

use egui::accesskit::Role;
use egui::text::LayoutJob;
use egui::{Frame, Label, Margin, Rect, RichText, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::gpu::Check;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::gpu::{DeviceFact, DeviceItem, LaunchCost, driver_facts, words};
use crate::gui::widgets::cell;
use crate::gui::widgets::controls::{heading, weak};

/// Width of the names of facts.
const NAME: f32 = 124.0;
/// Height of a bar, and of its row.
const BAR: f32 = 14.0;
const ROW: f32 = 22.0;

pub(super) fn show(ui: &mut Ui, check: &Check) {
    let driver = driver_facts(check);
    if !driver.is_empty() {
        ui.add_space(space::M);
        facts(ui, &driver);
    }
    let devices = DeviceItem::all(check);
    let several = devices.len() > 1;
    for device in &devices {
        ui.add_space(space::M);
        card(ui, device, several);
    }
}

fn card(ui: &mut Ui, device: &DeviceItem, several: bool) {
    let tokens = Tokens::of(ui);
    Frame::new()
        .fill(tokens.raised)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(12, 10))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_wrapped(|ui| {
                heading(ui, &device.name);
                if several {
                    weak(ui, format!("GPU {}", device.index));
                }
            });
            ui.add_space(space::XS);
            facts(ui, &device.facts);
            if let Some(launches) = &device.launches {
                ui.add_space(space::M);
                launch_cost(ui, launches);
            }
            if !device.copies.is_empty() {
                ui.add_space(space::M);
                ui.label(RichText::new("Bandwidth").font(text::strong()));
                facts(ui, &device.copies);
            }
        });
}

/// Names and values; a value may take several lines.
fn facts(ui: &mut Ui, facts: &[DeviceFact]) {
    let tokens = Tokens::of(ui);
    ui.spacing_mut().item_spacing.y = 3.0;
    for fact in facts {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.allocate_ui(vec2(NAME, 17.0), |ui| {
                ui.set_width(NAME);
                ui.label(RichText::new(fact.name).color(tokens.text_weak));
            });
            ui.add(Label::new(value(ui, &fact.value)).wrap().selectable(true));
        });
    }
    ui.spacing_mut().item_spacing.y = 4.0;
}

/// A path or a UUID is long and has no blanks: it is broken wherever the line ends.
fn value(ui: &Ui, value: &str) -> LayoutJob {
    let one_word = !value.contains(' ') && value.len() > 24;
    let font = if one_word { text::small() } else { text::body() };
    let mut job = LayoutJob::simple(value.to_owned(), font, Tokens::of(ui).text, ui.available_width());
    job.wrap.break_anywhere = one_word;
    job
}

/// Two bars of one scale, and what they mean.
fn launch_cost(ui: &mut Ui, cost: &LaunchCost) {
    let tokens = Tokens::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.label(RichText::new("Launch cost").font(text::strong())).on_hover_text(&cost.how);
        weak(ui, "µs per launch");
        if !cost.factor.is_empty() {
            let factor = RichText::new(format!("{} cheaper", cost.factor)).font(text::strong());
            ui.label(factor.color(tokens.success));
        }
    });
    let most = cost.stream_us.max(cost.graph_us);
    bar(ui, "On a stream", cost.stream_us, most, tokens.border_strong);
    bar(ui, "In a graph", cost.graph_us, most, tokens.accent);
    ui.add_space(space::XS);
    ui.add(Label::new(&cost.sentence).wrap().selectable(true));
    let how = RichText::new(&cost.how).font(text::small()).color(tokens.text_weak);
    ui.add(Label::new(how).wrap());
}

fn bar(ui: &mut Ui, name: &str, us: f64, most: f64, fill: egui::Color32) {
    const LABEL: f32 = 82.0;
    const VALUE: f32 = 44.0;
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let value = words::digits(us);
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, format!("{name}: {value} µs per launch")));
    let painter = ui.painter();
    let at = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to, rect.y_range());
    let label = at(rect.left(), rect.left() + LABEL);
    cell::left(painter, label, name, &text::body(), tokens.text_weak, cell::Cut::End);
    let valued = at(rect.right() - VALUE, rect.right());
    cell::right(painter, valued, &value, &text::body(), tokens.text);
    let room = Rect::from_min_max(
        pos2(label.right() + 4.0, rect.center().y - BAR / 2.0),
        pos2(valued.left() - 8.0, rect.center().y + BAR / 2.0),
    );
    painter.rect_filled(room, tokens.bar_radius(), tokens.border);
    #[expect(clippy::cast_possible_truncation, reason = "a share of a bar on a screen")]
    let share = (us / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0) as f32;
    let filled = Rect::from_min_size(room.min, vec2((room.width() * share).max(2.0), BAR));
    painter.rect_filled(filled, tokens.bar_radius(), fill);
}
