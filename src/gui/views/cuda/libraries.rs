//! The table of libraries.

use egui::Ui;

use super::state::CudaState;
use super::{Action, CudaEvent};
use crate::base::convert::fraction;
use crate::base::labels::{SUPPLIERS, USES};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::cuda::{Supplier, Use};
use crate::gui::design::Tokens;
use crate::gui::models::cuda::{CudaModel, LibraryColumn, LibraryGroup, LibraryItem, LibraryRows};
use crate::gui::models::format;
use crate::gui::models::grouped::GroupedRow;
use crate::gui::views::grouping::GroupedEvent;
use crate::gui::views::path_menu;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, layer_cell, table};

/// What a row shows, and the largest numbers, for which a bar is full.
enum Line<'a> {
    Group(&'a LibraryGroup, Most),
    Library(&'a LibraryItem, Most),
}

type Column<'a> = TableColumn<Line<'a>, LibraryColumn>;

/// The columns of the table: a new one is one more entry.
fn columns<'a>() -> [Column<'a>; 8] {
    use Line::{Group, Library};
    [
        Column::text("Library", 150.0, |line, tokens| match line {
            Group(group, _) => TableCell::new(group.name.as_ref(), tokens.text),
            Library(one, _) if one.words.is_empty() => TableCell::new(&*one.name, tokens.text),
            Library(one, _) => TableCell::new(&*one.name, tokens.text_weak),
        })
        .order(LibraryColumn::LIBRARY),
        Column::text("Version", 76.0, |line, tokens| match line {
            Group(group, _) => TableCell::new(counted(group.libraries.len(), "library"), tokens.text_weak),
            Library(one, _) => TableCell::new(&*one.version, tokens.text_weak),
        })
        .order(LibraryColumn::VERSION)
        .rank(3),
        Column::text("Supplier", 84.0, |line, tokens| match line {
            Group(group, _) => match *group.suppliers {
                [one] => supplier_cell(tokens, one),
                _ => TableCell::new("several", tokens.text_weak),
            },
            Library(one, _) => supplier_cell(tokens, one.supplier),
        })
        .order(LibraryColumn::by("Supplier", |one, other| one.supplier.cmp(&other.supplier)))
        .filter(SUPPLIERS.key)
        .rank(2),
        Column::number("Layer", 40.0, |line, tokens| match line {
            Group(..) => TableCell::EMPTY,
            Library(one, _) => layer_cell(tokens, one.layer),
        })
        .order(LibraryColumn::by("Layer", |one, other| one.layer.cmp(&other.layer)))
        .filter("layer")
        .rank(5),
        Column::number("Size", 76.0, |line, tokens| {
            let (bytes, most) = match line {
                Group(group, most) => (group.bytes, most.group),
                Library(one, most) => (one.bytes, most.library),
            };
            TableCell::new(human(bytes), tokens.text).share(fraction(bytes, most))
        })
        .largest_first(LibraryColumn::SIZE)
        .filter("size"),
        Column::number("GPU code", 76.0, |line, tokens| {
            let (bytes, none, share) = match line {
                Group(group, _) => (group.gpu_bytes, "", 0.0),
                Library(one, most) => (one.gpu_bytes, "–", fraction(one.gpu_bytes, most.code)),
            };
            let shown = if bytes > 0 { human(bytes) } else { none.to_owned() };
            TableCell::new(shown, tokens.text_weak).share(share)
        })
        .largest_first(LibraryColumn::GPU_CODE)
        .filter("arch")
        .rank(4),
        Column::text("Use", 96.0, |line, tokens| match line {
            Group(..) => TableCell::EMPTY,
            Library(one, _) if one.usage == Use::Unreferenced => {
                TableCell::new(one.use_label(), tokens.text_weak)
            }
            Library(one, _) => TableCell::new(one.use_label(), tokens.text),
        })
        .order(LibraryColumn::by("Use", |one, other| {
            (one.usage, one.use_label()).cmp(&(other.usage, other.use_label()))
        }))
        .filter(USES.key)
        .rank(1),
        Column::number("Needed by", 62.0, |line, tokens| match line {
            Group(..) => TableCell::EMPTY,
            Library(one, _) => TableCell::new(grouped(one.line.needed_by.len() as u64), tokens.text_weak),
        })
        .largest_first(LibraryColumn::by("Needed by", |one, other| {
            one.line.needed_by.len().cmp(&other.line.needed_by.len())
        }))
        .rank(6),
    ]
}

/// Shows the table; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut CudaState,
    model: &CudaModel,
    events: &mut Vec<CudaEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    if model.libraries.is_empty() {
        card(ui, |ui| {
            empty(ui, "No CUDA libraries", "No known CUDA library and no file with GPU code in this image.");
        });
        return 0;
    }
    if state.rows.rows.is_empty() {
        card(ui, |ui| {
            let (supplier, usage) = (SUPPLIERS.term("wheel"), USES.term("unreferenced"));
            let note = format!(
                "Filter by name, glob (*.so.13), {supplier}, {usage}, layer:3, arch:sm_90 or size:>10M. All terms must \
                 match."
            );
            empty(ui, "No matching library", &note);
        });
        return 0;
    }
    let selected = state.library_row();
    let (rows, depth) = (&state.rows, u8::from(state.grouped));
    let most = Most::new(model, rows);
    let make = |index: usize| match rows.rows[index] {
        GroupedRow::Group(group) => {
            TableRow::group(group, rows.is_open(index), Line::Group(&rows.groups[group], most))
        }
        GroupedRow::Item(place) => {
            let library = &model.libraries[place];
            let badges = library.words.iter().map(|word| (word.clone(), tokens.text_weak)).collect();
            TableRow { depth, badges, ..TableRow::new(place as u64, Line::Library(library, most)) }
        }
    };
    let shape = TableShape {
        name: "CUDA libraries",
        rows: rows.rows.len(),
        columns: &columns(),
        sorting: Some(&mut state.sorting),
        selected,
        reveal: std::mem::take(&mut state.reveal),
    };
    let output = card(ui, |ui| table(ui, "libraries", shape, make, spoken));
    if let Some((index, response)) = &output.hovered {
        match state.rows.rows.get(*index) {
            Some(GroupedRow::Item(library)) => {
                events.extend(path_menu(response, &model.libraries[*library].raw).map(CudaEvent::Window));
            }
            Some(GroupedRow::Group(group)) if response.secondary_clicked() => {
                let entries = menu(&state.rows.groups[*group], model);
                events.push(CudaEvent::Window(Action::RowMenu(entries)));
            }
            _ => {}
        }
    }
    for event in state.groups.take(ui, &state.rows, &output) {
        let raw = |library: usize| model.libraries[library].raw.clone();
        match event {
            GroupedEvent::Select(library) => events.push(CudaEvent::Library(library)),
            GroupedEvent::Activate(library) => {
                events.push(CudaEvent::Window(Action::SelectPath(raw(library))));
            }
            GroupedEvent::Copy => {
                let copied = state.library().map(|library| format::copy_text(&raw(library)));
                events.extend(copied.map(|text| CudaEvent::Window(Action::CopyText(text))));
            }
            GroupedEvent::Rows => state.changed(),
            GroupedEvent::Clear => events.push(CudaEvent::Clear),
            GroupedEvent::Toggle(_) => {}
        }
    }
    output.painted
}

/// What can be done with a component.
fn menu(group: &LibraryGroup, model: &CudaModel) -> Vec<(&'static str, Action)> {
    let raw = || group.libraries.iter().map(|place| &model.libraries[*place].raw);
    let paths: Vec<String> = raw().map(|raw| format::copy_text(raw)).collect();
    let first = raw().next().map(|raw| ("Show first library in Layers", Action::SelectPath(raw.clone())));
    let name = ("Copy name", Action::CopyText(group.name.to_string()));
    let paths = ("Copy paths", Action::CopyText(paths.join("\n")));
    first.into_iter().chain([name, paths]).collect()
}

/// The largest numbers, for which a bar is full.
#[derive(Clone, Copy, Default)]
struct Most {
    group: u64,
    library: u64,
    code: u64,
}

impl Most {
    fn new(model: &CudaModel, rows: &LibraryRows) -> Self {
        Self {
            group: rows.groups.iter().map(|group| group.bytes).max().unwrap_or(0),
            library: model.libraries.iter().map(|library| library.bytes).max().unwrap_or(0),
            code: model.libraries.iter().map(|library| library.gpu_bytes).max().unwrap_or(0),
        }
    }
}

/// A supplier with its colour.
pub(super) fn supplier_cell(tokens: &Tokens, supplier: Supplier) -> TableCell {
    let color = tokens.suppliers[match supplier {
        Supplier::Wheel => 0,
        Supplier::Conda => 1,
        Supplier::Toolkit => 2,
        Supplier::Distro => 3,
        Supplier::Application => 4,
    }];
    TableCell::new(supplier.label(), tokens.text_weak).chip(color)
}

fn spoken(line: &Line<'_>) -> String {
    let group = match line {
        Line::Group(group, _) => group,
        Line::Library(library, _) => return library.spoken(),
    };
    let suppliers: Vec<&str> = group.suppliers.iter().map(|one| one.label()).collect();
    let count = counted(group.libraries.len(), "library");
    format!("{}, {}, {count}, {}", group.name, human(group.bytes), suppliers.join(" and "))
}
