//! The contents of a file: text, bytes, headers, members.

use std::fmt::Write as _;
use std::sync::Arc;

use egui::{Frame, Key, Label, Margin, RichText, TextEdit, Ui, vec2};

use super::{folded, is_shown};
use crate::base::size::{grouped, human};
use crate::base::text::{counted, escape, sentence};
use crate::gui::design::{Tokens, space};
use crate::gui::models::contents::{ContentView, FileDocument, Picture, TextSearch};
use crate::gui::models::format::exact;
use crate::gui::models::inspector::{ContentState, Inspector};
use crate::gui::widgets::controls::{PageTab, page_tabs, primary_button, progress_bar, weak};
use crate::gui::widgets::page::text::{TextShape, text_view};
use crate::gui::widgets::page::{PageShape, PageState, page};
use crate::gui::widgets::pane::empty;
use crate::gui::widgets::picture::{PictureShape, picture};
use crate::jobs::Waker;

/// Bytes of a line.
const BYTES: usize = 16;

pub(super) fn show(ui: &mut Ui, inspector: &mut Inspector) {
    if is_shown(inspector) {
        ready(ui, inspector);
        return;
    }
    match inspector.state() {
        ContentState::Waiting => {
            empty(ui, "Waiting for layers", "Contents are available when the layers are merged.");
        }
        ContentState::Nothing(reason) => empty(ui, "No contents", &sentence(reason)),
        ContentState::Failed(reason) => {
            let reason = reason.clone();
            empty(ui, "Cannot read the file", &sentence(&reason));
            button(ui, "Try again", Inspector::again, inspector);
        }
        ContentState::Cancelled => {
            empty(ui, "Cancelled", "");
            button(ui, "Read the file", Inspector::again, inspector);
        }
        ContentState::Ask(bytes) => {
            let note = format!("{} must be downloaded from the registry to show this file.", human(*bytes));
            empty(ui, "Not downloaded", &note);
            button(ui, "Download", Inspector::allow, inspector);
        }
        ContentState::Loading => {
            let now = inspector.progress();
            ui.add_space(ui.available_height() * 0.3);
            let mut stop = false;
            ui.vertical_centered(|ui| {
                ui.label("Reading…");
                progress_bar(ui, "Reading progress", now.fraction(), vec2(180.0, 6.0));
                weak(ui, format!("{} of {}", human(now.bytes_passed), human(now.bytes_total)));
                stop = ui.button("Cancel").clicked();
            });
            if stop {
                inspector.cancel();
            }
        }
        ContentState::Ready(_) => {}
    }
}

fn button(ui: &mut Ui, label: &str, act: fn(&mut Inspector), inspector: &mut Inspector) {
    ui.add_space(space::S);
    ui.vertical_centered(|ui| {
        if primary_button(ui, label).clicked() {
            act(inspector);
        }
    });
}

fn ready(ui: &mut Ui, inspector: &mut Inspector) {
    let mut more = false;
    let can = inspector.can_load_more();
    let mut view = inspector.view.unwrap_or(ContentView::Hex);
    // The search is changed while the document is shown.
    let mut search = std::mem::take(&mut inspector.search);
    let mut actual = inspector.actual_size;
    let path = escape(&inspector.target.raw);
    if let Some(document) = inspector.document_mut() {
        Frame::new().inner_margin(Margin::symmetric(12, 6)).show(ui, |ui| {
            more = bar(ui, document, &mut view, &mut search, can);
            if view == ContentView::Picture {
                sizes(ui, &mut actual);
            }
        });
        match (view, &document.picture, &mut document.folded) {
            (ContentView::Picture, Some(shown), _) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                show_picture(ui, shown, actual, &format!("{name}, {}", shown.about));
            }
            (ContentView::Folded, _, Some(rows)) => {
                if let Some(line) = folded::show(ui, rows, &mut search) {
                    view = ContentView::Text;
                    search.go_to(view, line);
                }
            }
            _ => body(ui, document, view, &mut search),
        }
    }
    (inspector.search, inspector.actual_size) = (search, actual);
    inspector.view = Some(view);
    if more {
        inspector.load_more();
    }
}

/// What it is, the ways to show it, the search. Whether more is to be read.
fn bar(
    ui: &mut Ui,
    document: &mut FileDocument,
    view: &mut ContentView,
    search: &mut TextSearch,
    can_load_more: bool,
) -> bool {
    let mut more = false;
    ui.horizontal_wrapped(|ui| {
        let pages: Vec<(ContentView, String)> =
            document.views.iter().map(|view| (*view, view.title().to_owned())).collect();
        if let Some(PageTab::Show(chosen)) = page_tabs(ui, &pages, *view, false) {
            *view = chosen;
        }
    });
    let tokens = Tokens::of(ui);
    let about = RichText::new(format!("{}, {}", document.about, exact(document.head.size)));
    ui.add(Label::new(about.color(tokens.text_weak)).wrap());
    if let Some(problem) = &document.problem {
        ui.add(Label::new(RichText::new(&problem.words).color(tokens.warning)).wrap().selectable(true));
        if let Some(line) = problem.line
            && ui.button(format!("Go to line {}", grouped(line as u64 + 1))).clicked()
        {
            *view = ContentView::Text;
            search.go_to(*view, line);
        }
    }
    if !document.head.is_whole() {
        ui.horizontal_wrapped(|ui| {
            let words = format!("The first {} are shown.", human(document.head.bytes.len() as u64));
            ui.label(RichText::new(words).color(tokens.warning));
            if can_load_more {
                more = ui.button("Load more").clicked();
            } else {
                weak(ui, "Save the file to see the rest.");
            }
        });
    }
    match (*view, &document.text, &mut document.folded) {
        (ContentView::Text, Some(text), _) => {
            search.update(*view, text, &waker(ui));
            find(ui, search, "line");
        }
        (ContentView::Folded, _, Some(rows)) => {
            search.update(*view, rows.outline(), &waker(ui));
            find(ui, search, "value");
            ui.horizontal(|ui| {
                for (open, label) in [(true, "Expand all"), (false, "Collapse all")] {
                    if ui.button(label).clicked() {
                        rows.set_all(open);
                    }
                }
                weak(ui, counted(rows.outline().values() as u64, "value"));
            });
        }
        _ => {}
    }
    more
}

fn waker(ui: &Ui) -> Waker {
    let context = ui.ctx().clone();
    Arc::new(move || context.request_repaint())
}

/// The field of a search for what is called so.
fn find(ui: &mut Ui, search: &mut TextSearch, noun: &str) {
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 190.0).clamp(80.0, 280.0);
        let field = TextEdit::singleline(&mut search.query).hint_text("Find in file").desired_width(width);
        let field = ui.add(field);
        field.widget_info(|| {
            egui::WidgetInfo::labeled(egui::accesskit::Role::SearchInput, true, "Find in file")
        });
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
            search.step(!ui.input(|input| input.modifiers.shift));
            field.request_focus();
        }
        weak(ui, search.words(noun));
        if search.has_matches() {
            if ui.button("Previous").clicked() {
                search.step(false);
            }
            if ui.button("Next").clicked() {
                search.step(true);
            }
        }
    });
}

/// The choice of a picture's size.
fn sizes(ui: &mut Ui, actual: &mut bool) {
    ui.horizontal(|ui| {
        for (is, label, about) in [
            (false, "Fit", "Shrink to the panel; small pictures keep their size"),
            (true, "Actual size", "One pixel of the picture is one of the screen"),
        ] {
            if ui.selectable_label(*actual == is, label).on_hover_text(about).clicked() {
                *actual = is;
            }
        }
    });
}

fn show_picture(ui: &mut Ui, shown: &Picture, actual: bool, name: &str) {
    match shown.texture(ui.ctx()) {
        Some(texture) => {
            picture(ui, &PictureShape { name, texture: &texture, has_alpha: shown.has_alpha, actual });
        }
        None => {
            empty(ui, "Too large for this graphics driver", "Save the file to open it in another program.");
        }
    }
}

fn body(ui: &mut Ui, document: &FileDocument, view: ContentView, search: &mut TextSearch) {
    if let Some(text) = document.text.as_ref().filter(|_| view == ContentView::Text) {
        let shape = TextShape {
            name: "File text",
            lines: text.lines(),
            widest: text.widest(),
            numbers: true,
            marked: search.place(),
            reveal: std::mem::take(&mut search.reveal),
        };
        text_view(ui, view.title(), &shape, |place| text.line(place));
    } else if let Some(shown) = document.page(view) {
        pages(ui, view, shown);
    } else {
        let bytes = &document.head.bytes;
        let shape = TextShape {
            name: "File bytes",
            lines: bytes.len().div_ceil(BYTES),
            widest: 10 + 3 * BYTES + 2 + BYTES,
            numbers: false,
            marked: None,
            reveal: false,
        };
        text_view(ui, view.title(), &shape, |place| hex_line(bytes, place));
    }
}

fn pages(ui: &mut Ui, view: ContentView, shown: &Arc<crate::report::page::Page>) {
    let id = ui.make_persistent_id(("inspector page", view.title()));
    let state: Arc<egui::mutex::Mutex<PageState>> =
        ui.data_mut(|data| Arc::clone(data.get_temp_mut_or_default(id)));
    let shape = PageShape { name: view.title(), page: shown, opening: false, headings: false };
    let output = page(ui, view.title(), &shape, &mut state.lock());
    if let Some(text) = output.copied {
        ui.ctx().copy_text(text);
    }
}

/// Offset, bytes and their ASCII characters.
fn hex_line(bytes: &[u8], place: usize) -> String {
    let at = place * BYTES;
    let part = bytes.get(at..bytes.len().min(at + BYTES)).unwrap_or_default();
    let mut line = format!("{at:08x} ");
    for (column, byte) in part.iter().enumerate() {
        let gap = if column == BYTES / 2 { "  " } else { " " };
        write!(line, "{gap}{byte:02x}").ok();
    }
    let width = 10 + 3 * BYTES + 2;
    let ascii = part
        .iter()
        .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' });
    format!("{line:width$}{}", ascii.collect::<String>())
}
