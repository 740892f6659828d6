//! Everything about the chosen library, and why it is there.

use egui::{Frame, Grid, Label, Link, Margin, Pos2, RichText, ScrollArea, Stroke, Ui, pos2, vec2};

use super::{Action, CudaEvent};
use crate::base::size::{grouped, human};
use crate::base::text::{elide_end, elide_middle, escape};
use crate::cuda::arch_name;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::cuda::{
    ChainStep, CodeLine, CudaModel, LibraryDetails, LinkLine, LinkState, LinkTarget,
};
use crate::gui::models::format;
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::layers::LayerItem;
use crate::gui::views::path_menu;
use crate::gui::widgets::controls::{self, Mark, heading_with_note};

/// How many files of a list are shown before the rest is asked for.
const SHOWN: usize = 8;
/// Longer names are cut in the middle.
const NAME: usize = 44;

/// From this width on, facts and reasons are side by side.
const SIDE_BY_SIDE: f32 = 640.0;

/// Shows the details of a library.
pub(super) fn show(ui: &mut Ui, details: &LibraryDetails, layers: &[LayerItem], events: &mut Vec<CudaEvent>) {
    body(ui, |ui| {
        if ui.available_width() >= SIDE_BY_SIDE {
            ui.columns(2, |columns| {
                // Columns would set their text justified.
                let left = egui::Layout::top_down(egui::Align::Min);
                columns[0].with_layout(left, |ui| facts(ui, details, events));
                columns[1].with_layout(left, |ui| reasons(ui, details, layers, events));
            });
        } else {
            facts(ui, details, events);
            ui.add_space(space::M);
            reasons(ui, details, layers, events);
        }
    });
}

fn facts(ui: &mut Ui, details: &LibraryDetails, events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    title(ui, &details.name, &details.folder, &details.raw, events);
    if !details.words.is_empty() {
        ui.horizontal_wrapped(|ui| {
            for word in &details.words {
                controls::key_cap(ui, word);
            }
        });
    }
    ui.add_space(space::S);
    Grid::new("facts").num_columns(2).spacing([space::M, space::XS]).show(ui, |ui| {
        for fact in &details.facts {
            ui.label(RichText::new(fact.name).color(tokens.text_weak));
            ui.add(Label::new(RichText::new(&fact.value)).wrap().selectable(true));
            ui.end_row();
        }
    });
}

fn reasons(ui: &mut Ui, details: &LibraryDetails, layers: &[LayerItem], events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    heading_with_note(ui, "Origin and use", "");
    chain(ui, details, layers, events);
    if !details.codes.is_empty() {
        ui.add_space(space::M);
        heading_with_note(ui, "GPU code", "");
        codes(ui, &details.codes);
    }
    let lists: [(&'static str, &[LinkLine], &str); 4] = [
        ("Needs", &details.needs, "Needs no other library."),
        ("Needed by", &details.needed_by, "No file in the image needs it."),
        ("Opens", &details.opens, ""),
        ("Opened by", &details.opened_by, ""),
    ];
    for (name, lines, nothing) in lists {
        if lines.is_empty() && nothing.is_empty() {
            continue;
        }
        ui.add_space(space::M);
        heading_with_note(ui, name, &grouped(lines.len() as u64));
        if lines.is_empty() {
            ui.label(RichText::new(nothing).color(tokens.text_weak));
        }
        links(ui, name, lines, events);
    }
}

/// Shows a file that is no library of the view.
pub(super) fn show_file(ui: &mut Ui, raw: &[u8], model: Option<&CudaModel>, events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    body(ui, |ui| {
        let path = escape(raw);
        let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/").to_owned();
        title(ui, &name, path.strip_suffix(&name).unwrap_or(""), raw, events);
        ui.add_space(space::S);
        let arch_matrix = model.map(|model| &model.arch_matrix);
        let row = arch_matrix.and_then(|arch_matrix| arch_matrix.rows.get(arch_matrix.position(raw)?));
        let words = match row {
            Some(row) => format!("A {} with {} of GPU code.", row.word, human(row.bytes)),
            None => "Not a CUDA library. See the Layers view for details.".to_owned(),
        };
        ui.label(RichText::new(words).color(tokens.text_weak));
        if let (Some(row), Some(arch_matrix)) = (row, arch_matrix) {
            ui.add_space(space::S);
            Grid::new("codes").num_columns(2).spacing([space::M, 2.0]).show(ui, |ui| {
                for (parts, column) in row.cells.iter().zip(&arch_matrix.architectures) {
                    for (kind, bytes) in parts.each().into_iter().filter(|(_, bytes)| *bytes > 0) {
                        let code = arch_name(kind, column.arch, column.suffix);
                        ui.label(RichText::new(code).font(text::mono()));
                        ui.label(human(bytes));
                        ui.end_row();
                    }
                }
            });
        }
    });
}

fn body(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical().id_salt("library facts").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            add(ui);
        });
    });
}

fn title(ui: &mut Ui, name: &str, folder: &str, raw: &[u8], events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    ui.label(RichText::new(elide_middle(name, 64)).font(text::heading()));
    let folder = RichText::new(elide_middle(folder, 160)).font(text::mono()).color(tokens.text_weak);
    ui.add(Label::new(folder).wrap());
    ui.add_space(space::XS);
    ui.horizontal_wrapped(|ui| {
        if ui.button("Show in Layers").clicked() {
            events.push(CudaEvent::Window(Action::SelectPath(raw.to_vec())));
        }
        if ui.button("Contents").clicked() {
            events.push(CudaEvent::Window(Action::ShowContents(PathTarget::of(raw.to_vec()))));
        }
        if ui.button("Why is this here?").clicked() {
            events.push(CudaEvent::Window(Action::ShowWhy(PathTarget::of(raw.to_vec()))));
        }
        if ui.button("Copy path").clicked() {
            events.push(CudaEvent::Window(Action::CopyText(format::copy_text(raw))));
        }
    });
}

fn event_for(place: &LinkTarget) -> CudaEvent {
    match place {
        LinkTarget::Library(library) => CudaEvent::Library(*library),
        LinkTarget::Path(raw) => CudaEvent::Window(Action::SelectPath(raw.clone())),
        LinkTarget::Layer(layer) => CudaEvent::Window(Action::SelectLayer(*layer)),
    }
}

/// A name that leads somewhere, or that does not.
fn name(ui: &mut Ui, words: &str, place: Option<&LinkTarget>, events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    // Words, unlike names, may go on in the next line.
    let most = if matches!(place, Some(LinkTarget::Layer(_))) { 3 * NAME } else { NAME };
    let shown = elide_middle(words, most);
    let Some(place) = place else {
        ui.label(RichText::new(shown).color(tokens.text));
        return;
    };
    let about = match place {
        LinkTarget::Library(_) => "Show library",
        LinkTarget::Path(_) => "Show file in Layers",
        LinkTarget::Layer(_) => "Show layer",
    };
    let response = ui.add(Link::new(shown)).on_hover_ui(|ui| {
        ui.label(words);
        controls::weak(ui, about);
    });
    if let LinkTarget::Path(raw) = place {
        events.extend(path_menu(&response, raw).map(CudaEvent::Window));
    }
    if response.clicked() {
        events.push(event_for(place));
    }
}

/// From the file to the process that loads it and to the instruction that brought it.
fn chain(ui: &mut Ui, details: &LibraryDetails, layers: &[LayerItem], events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    let mut last: Option<Pos2> = None;
    for (index, step) in details.chain.iter().enumerate() {
        let whole = Frame::new().inner_margin(Margin { left: 20, bottom: 6, ..Margin::ZERO });
        let shown = whole.show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            link_step(ui, step, layers, events);
        });
        let rect = shown.response.rect;
        let at = pos2(rect.left() + 7.0, rect.top() + 9.0);
        let painter = ui.painter();
        if let Some(before) = last {
            let line = Stroke::new(1.5, tokens.border_strong);
            painter.line_segment([before + vec2(0.0, 8.0), at - vec2(0.0, 8.0)], line);
        }
        match step.place {
            // Nothing leads on from here.
            None => controls::paint_mark(painter, Mark::Warning, at, 13.0, tokens.warning),
            Some(LinkTarget::Layer(layer)) => {
                let chip = egui::Rect::from_center_size(at, vec2(9.0, 9.0));
                crate::gui::widgets::layer_chip::layer_chip(painter, tokens, chip, layer);
            }
            Some(_) if index == 0 => {
                painter.circle_filled(at, 4.5, tokens.accent);
            }
            Some(_) => {
                painter.circle_stroke(at, 4.0, Stroke::new(1.5, tokens.accent));
            }
        }
        last = Some(at);
    }
}

fn link_step(ui: &mut Ui, step: &ChainStep, layers: &[LayerItem], events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    let place = step.place.as_ref();
    name(ui, &step.title, place, events);
    if step.about.is_empty() {
        return;
    }
    let words = RichText::new(&step.about).color(tokens.text_weak);
    let response = match place {
        Some(LinkTarget::Layer(_)) => {
            let cut = RichText::new(elide_end(&step.about, 200)).font(text::mono()).color(tokens.text_weak);
            ui.add(Label::new(cut).wrap())
        }
        _ => ui.add(Label::new(words.font(text::small())).wrap()),
    };
    if let Some(item) = place.and_then(|place| match place {
        LinkTarget::Layer(layer) => layers.get(*layer),
        _ => None,
    }) {
        response.on_hover_ui(|ui| crate::gui::views::layers::describe(ui, item));
    }
}

fn codes(ui: &mut Ui, lines: &[CodeLine]) {
    let tokens = Tokens::of(ui);
    Grid::new("gpu code").num_columns(4).spacing([space::M, 2.0]).show(ui, |ui| {
        for head in ["Code", "Size", "Uncompressed", "Compression"] {
            ui.label(RichText::new(head).font(text::small()).color(tokens.text_weak));
        }
        ui.end_row();
        for line in lines {
            ui.label(RichText::new(&line.code).font(text::mono()));
            ui.label(human(line.bytes));
            ui.label(RichText::new(human(line.uncompressed)).color(tokens.text_weak));
            let entries = if line.entries == 1 { "entry" } else { "entries" };
            let about = RichText::new(&line.about).color(tokens.text_weak);
            ui.add(Label::new(about).truncate())
                .on_hover_text(format!("{} {entries}", grouped(line.entries)));
            ui.end_row();
        }
    });
}

fn links(ui: &mut Ui, list: &'static str, lines: &[LinkLine], events: &mut Vec<CudaEvent>) {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(("all of", list));
    let mut all: bool = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let shown = if all { lines.len() } else { SHOWN };
    for line in lines.iter().take(shown) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(space::XS, 0.0);
            let mark = match line.state {
                LinkState::Missing => Some((Mark::Error, tokens.error, "missing")),
                LinkState::Host => Some((Mark::Plus, tokens.text_weak, "host")),
                LinkState::Found | LinkState::Optional => None,
            };
            if let Some((mark, color, word)) = mark {
                let (rect, _) = ui.allocate_exact_size(vec2(14.0, 16.0), egui::Sense::hover());
                if mark == Mark::Error {
                    controls::paint_mark(ui.painter(), mark, rect.center(), 12.0, color);
                } else {
                    ui.painter().circle_stroke(rect.center(), 4.0, Stroke::new(1.5, color));
                }
                ui.label(RichText::new(word).font(text::strong()).color(color));
            }
            name(ui, &line.name, line.place.as_ref(), events);
            ui.label(RichText::new(&line.about).font(text::small()).color(tokens.text_weak));
        });
    }
    let more = lines.len().saturating_sub(shown);
    if more > 0 && ui.link(format!("Show {more} more")).clicked() {
        all = true;
        ui.data_mut(|data| data.insert_temp(id, all));
    }
}
