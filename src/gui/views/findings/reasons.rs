//! Why a finding is what it is, with the evidence that leads on.

use egui::accesskit::Role;
use egui::{Grid, Label, Link, Rect, RichText, Sense, Ui, WidgetInfo, vec2};

use super::state::FindingsState;
use super::{Action, FindingsEvent, FindingsPage, manual};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{elide_end, elide_middle};
use crate::findings::Verdict;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::findings::{ChosenPlan, FileLine, FindingDetails, LayerLine, UserLine, spans};
use crate::gui::models::layers::LayerItem;
use crate::gui::views::{path_menu, question};
use crate::gui::widgets::alert::marked;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark, heading_with_note};

/// How many entries of a list are shown before the rest is asked for.
const SHOWN: usize = 8;
/// Longer paths are cut in the middle.
const PATH: usize = 76;

/// Shows the page.
pub(super) fn show(
    ui: &mut Ui,
    details: &FindingDetails,
    state: &FindingsState,
    plan: &ChosenPlan,
    events: &mut Vec<FindingsEvent>,
) {
    // Lines of text, not of buttons.
    ui.spacing_mut().interact_size.y = 18.0;
    paragraph(ui, &details.reason);
    if let Some(item) = plan.question(&details.item.id) {
        ui.add_space(space::S);
        let asked = details.question.as_deref().unwrap_or(&item.text);
        events.extend(question::show_as(ui, item, asked).map(FindingsEvent::Window));
    }
    ui.add_space(space::S);
    facts(ui, details);
    if !details.proof.is_empty() {
        // What makes a finding a question proves nothing.
        let unsure = details.item.verdict == Verdict::Unsure;
        let (title, mark) = if unsure { ("Evidence", Mark::Dot) } else { ("Proof", Mark::Tick) };
        section(ui, title, "");
        for statement in &details.proof {
            let tokens = Tokens::of(ui);
            // A way from a file to what loads it has a line for each step.
            let mut steps = statement.split(" ← ");
            marked(ui, mark, tokens.text_weak, |ui| {
                paragraph(ui, steps.next().unwrap_or_default());
                steps.for_each(|step| paragraph(ui, &format!("← {step}")));
            });
        }
    }
    section(ui, "What to do", "");
    paragraph(ui, &details.fix);
    if !details.users.is_empty() {
        section(ui, "Used by", &grouped(details.users.len() as u64));
        some(ui, "users", details.users.len(), |ui, at| user(ui, &details.users[at], events));
    }
    if !details.subjects.is_empty() {
        section(ui, "Affected items", &grouped(details.subjects.len() as u64));
        some(ui, "subjects", details.subjects.len(), |ui, at| {
            let subject = RichText::new(&details.subjects[at]).font(text::mono());
            ui.add(Label::new(subject).wrap().selectable(true));
        });
    }
    if !details.layers.is_empty() {
        section(ui, "Layers", "");
        some(ui, "layers", details.layers.len(), |ui, at| {
            layer(ui, &details.layers[at], &state.layers, events);
        });
    }
    match &details.files {
        Some(all) if !all.is_empty() => {
            let more = all.len() > all.places.len();
            section(ui, "Files", if more { "largest" } else { "" });
            files(ui, &all.places, events);
            if more && ui.link(format!("All {}", counted(all.len(), "file"))).clicked() {
                events.push(FindingsEvent::Page(FindingsPage::Files));
            }
        }
        None if details.item.files > 0 => {
            section(ui, "Files", "");
            controls::weak(ui, state.files_wait());
        }
        _ => {}
    }
    if !details.packages.is_empty() {
        section(ui, "Owned by", &grouped(details.packages.len() as u64));
        some(ui, "packages", details.packages.len(), |ui, at| paragraph(ui, &details.packages[at]));
    }
}

fn paragraph(ui: &mut Ui, words: &str) {
    if !words.is_empty() {
        manual::paragraph(ui, "", &spans(words));
    }
}

fn section(ui: &mut Ui, name: &str, note: &str) {
    ui.add_space(space::M);
    heading_with_note(ui, name, note);
}

/// The first entries of a list; the rest when it is asked for.
fn some(ui: &mut Ui, list: &'static str, count: usize, mut add: impl FnMut(&mut Ui, usize)) {
    let id = ui.make_persistent_id(("all of", list));
    let all: bool = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let shown = if all { count } else { count.min(SHOWN) };
    for at in 0..shown {
        add(ui, at);
    }
    if count > shown && ui.link(format!("Show {} more", grouped((count - shown) as u64))).clicked() {
        ui.data_mut(|data| data.insert_temp(id, true));
    }
}

fn facts(ui: &mut Ui, details: &FindingDetails) {
    let tokens = Tokens::of(ui);
    let item = &details.item;
    let mut facts = Vec::new();
    if item.verdict == Verdict::Needed {
        facts.push(("Size", human(item.bytes)));
    } else if item.bytes > 0 {
        let hidden = item.bytes.saturating_sub(item.merged_bytes);
        let layers = match hidden {
            0 => human(item.bytes),
            hidden if hidden == item.bytes => format!("{}, already shadowed", human(hidden)),
            hidden => format!("{}, {} of it already shadowed", human(item.bytes), human(hidden)),
        };
        facts.push(("Saved in layers", layers));
        facts.push(("Saved in merged view", human(item.merged_bytes)));
    }
    if item.potential_bytes > 0 {
        let compressed = item.potential_compressed_bytes.map_or_else(|| "unknown".to_owned(), human);
        facts.push((
            "Saved by slim",
            format!("{}, compressed about {compressed}", human(item.potential_bytes)),
        ));
    }
    Grid::new("facts").num_columns(2).spacing([space::M, space::XS]).show(ui, |ui| {
        for (name, value) in facts {
            ui.label(RichText::new(name).color(tokens.text_weak));
            ui.label(value);
            ui.end_row();
        }
    });
}

fn layer(ui: &mut Ui, line: &LayerLine, layers: &[LayerItem], events: &mut Vec<FindingsEvent>) {
    let tokens = Tokens::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let (rect, _) = ui.allocate_exact_size(vec2(9.0, 16.0), Sense::hover());
        let chip = Rect::from_center_size(rect.center(), vec2(9.0, 9.0));
        crate::gui::widgets::layer_chip::layer_chip(ui.painter(), tokens, chip, line.layer);
        let response = ui.link(format!("Layer {}", line.layer));
        let clicked = response.clicked();
        if let Some(item) = layers.get(line.layer) {
            response.on_hover_ui(|ui| crate::gui::views::layers::describe(ui, item));
        }
        if clicked {
            events.push(FindingsEvent::Window(Action::SelectLayer(line.layer)));
        }
        ui.label(human(line.bytes));
        let files =
            if line.files == 1 { "1 file".to_owned() } else { format!("{} files", grouped(line.files)) };
        let mut note = format!("in {files}");
        if line.hidden > 0 {
            note = format!("{note}, {} already shadowed", human(line.hidden));
        }
        ui.label(RichText::new(note).color(tokens.text_weak));
    });
    if !line.instruction.is_empty() {
        ui.horizontal_top(|ui| {
            ui.add_space(17.0);
            let cut = elide_end(&line.instruction, 160);
            let words = RichText::new(cut).font(text::mono()).color(tokens.text_weak);
            ui.add(Label::new(words).wrap());
        });
    }
}

/// Who uses it, and from whom a process comes to it.
fn user(ui: &mut Ui, line: &UserLine, events: &mut Vec<FindingsEvent>) {
    let tokens = Tokens::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, 0.0);
        if !line.kind.is_empty() {
            ui.label(RichText::new(line.kind).color(tokens.text_weak));
        }
        match &line.raw {
            Some(raw) => path(ui, &line.name, &line.name, raw, events),
            None => {
                ui.label(RichText::new(&line.name).font(text::strong()));
            }
        }
    });
    for step in &line.chain {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(space::XS, 0.0);
            ui.add_space(space::M);
            if line.raw.as_ref() != Some(&step.raw) {
                ui.label(RichText::new("←").color(tokens.text_weak));
                path(ui, &step.name, &crate::base::text::escape(&step.raw), &step.raw, events);
            }
            if let Some(why) = &step.why {
                ui.label(
                    RichText::new(format!("loaded as {why}")).font(text::small()).color(tokens.text_weak),
                );
            }
        });
    }
}

/// A path that leads to the layers view.
fn path(ui: &mut Ui, words: &str, whole: &str, raw: &[u8], events: &mut Vec<FindingsEvent>) {
    let link = Link::new(RichText::new(elide_middle(words, PATH)));
    let link = ui.add(link).on_hover_ui(|ui| {
        ui.label(elide_middle(whole, 400));
        controls::weak(ui, "Show file in Layers");
    });
    events.extend(path_menu(&link, raw).map(FindingsEvent::Window));
    if link.clicked() {
        events.push(FindingsEvent::Window(Action::SelectPath(raw.to_vec())));
    }
}

/// Sizes, and paths that lead to the layers view, cut to the room that there is.
fn files(ui: &mut Ui, lines: &[FileLine], events: &mut Vec<FindingsEvent>) {
    const SIZE: f32 = 64.0;
    let tokens = Tokens::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    for line in lines {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Link, true, &line.shown));
        if ui.is_rect_visible(rect) {
            let painter = ui.painter();
            let size = Rect::from_x_y_ranges(rect.left()..=rect.left() + SIZE, rect.y_range());
            let room = Rect::from_x_y_ranges(size.right() + space::S..=rect.right(), rect.y_range());
            cell::right(painter, size, &human(line.bytes), &text::body(), tokens.text);
            let written = cell::left(painter, room, &line.shown, &text::body(), tokens.accent, Cut::Middle);
            if response.hovered() {
                let stroke = egui::Stroke::new(1.0, tokens.accent);
                painter.hline(written.x_range(), written.bottom() - 1.0, stroke);
            }
            controls::paint_focus(ui, &response, radius::S);
        }
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_ui(|ui| {
            ui.label(elide_middle(&line.shown, 400));
            controls::weak(ui, "Show file in Layers");
        });
        if response.clicked() {
            super::files::open_in_layers(line, events);
        }
    }
    ui.spacing_mut().item_spacing.y = space::XS;
}
