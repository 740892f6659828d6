//! What is there more than once, and which copy is loaded.

use egui::Ui;

use super::libraries::supplier_cell;
use super::state::CudaState;
use super::{Action, CudaEvent};
use crate::base::convert::fraction;
use crate::base::labels::SUPPLIERS;
use crate::base::size::human;
use crate::base::text::counted;
use crate::gui::design::Tokens;
use crate::gui::models::cuda::{CopyItem, CudaModel, DuplicateGroup, DuplicateItem};
use crate::gui::models::format;
use crate::gui::models::grouped::GroupedRow;
use crate::gui::views::grouping::GroupedEvent;
use crate::gui::views::path_menu;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, layer_cell, table};

/// What a row shows; of a group, also the largest gain, for which a bar is full.
enum Line<'a> {
    Head(&'static str),
    Group(&'a DuplicateItem, u64),
    Copy(&'a CopyItem),
}

type Column<'a> = TableColumn<Line<'a>>;

fn columns<'a>() -> [Column<'a>; 6] {
    use Line::{Copy, Group, Head};
    [
        Column::text("Name and copies", 180.0, |line, tokens| match line {
            Head(words) => TableCell::new(*words, tokens.text_weak),
            Group(item, _) => TableCell::new(&*item.title, tokens.text),
            Copy(copy) => TableCell::new(&*copy.path, tokens.text),
        }),
        Column::text("Supplier", 66.0, |line, tokens| match line {
            Head(_) => TableCell::EMPTY,
            Group(item, _) => TableCell::new(copies(item), tokens.text_weak),
            Copy(copy) => match copy.supplier {
                Some(supplier) => supplier_cell(tokens, supplier),
                None => TableCell::new("–", tokens.text_weak),
            },
        })
        .filter(SUPPLIERS.key)
        .rank(3),
        Column::number("Layer", 40.0, |line, tokens| match line {
            Copy(copy) => layer_cell(tokens, copy.layer),
            Head(_) | Group(..) => TableCell::EMPTY,
        })
        .filter("layer")
        .rank(4),
        Column::number("Size", 76.0, |line, tokens| match line {
            Head(_) => TableCell::EMPTY,
            Group(item, _) => {
                let total = item.copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add);
                TableCell::new(human(total), tokens.text_weak)
            }
            Copy(copy) => TableCell::new(human(copy.bytes), tokens.text),
        })
        .filter("size"),
        Column::number("Redundant", 76.0, |line, tokens| match line {
            Group(item, most) => {
                let gain = if item.gain > 0 { human(item.gain) } else { "–".to_owned() };
                TableCell::new(gain, tokens.text).share(fraction(item.gain, *most))
            }
            Head(_) | Copy(_) => TableCell::EMPTY,
        }),
        Column::text("Loaded by", 150.0, |line, tokens| match line {
            Copy(copy) => match copy.loaded_by.as_deref() {
                Some(NOT_LOADED) => TableCell::new(NOT_LOADED, tokens.warning),
                by => TableCell::new(by.unwrap_or_default(), tokens.text),
            },
            Head(_) | Group(..) => TableCell::EMPTY,
        })
        .rank(1),
    ]
}

const NOT_LOADED: &str = "not loaded";

/// Shows the list; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut CudaState,
    model: &CudaModel,
    events: &mut Vec<CudaEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    if state.copies.rows.is_empty() {
        let (title, note) = if model.duplicates.is_empty() {
            ("No duplicates", "No libraries with the same soname and no identical large files.")
        } else {
            ("No matches", "The filter excludes all copies.")
        };
        card(ui, |ui| empty(ui, title, note));
        return 0;
    }
    let rows = &state.copies;
    let most = model.duplicates.iter().map(|item| item.gain).max().unwrap_or(0);
    let copy = |(item, copy): (usize, usize)| &model.duplicates[item].copies[copy];
    let make = |index: usize| match rows.rows[index] {
        GroupedRow::Group(place) => match rows.groups[place] {
            DuplicateGroup::Head(words) => {
                TableRow { fold: None, strong: false, ..TableRow::group(place, false, Line::Head(words)) }
            }
            DuplicateGroup::Copies(item) => {
                let item = &model.duplicates[item];
                let different = item.identical == Some(false);
                let color = if different { tokens.warning } else { tokens.text_weak };
                TableRow {
                    cut: Cut::Middle,
                    badges: vec![(item.match_label().to_owned(), color)],
                    ..TableRow::group(place, rows.is_open(index), Line::Group(item, most))
                }
            }
        },
        GroupedRow::Item(place) => {
            let key = (place.0 as u64) << 20 | place.1 as u64;
            TableRow { depth: 1, ..TableRow::new(key, Line::Copy(copy(place))) }
        }
    };
    let chosen = rows.rows.iter().find_map(|row| match row {
        GroupedRow::Item(place) => (state.selected() == Some(&copy(*place).raw)).then_some(*place),
        GroupedRow::Group(_) => None,
    });
    let shape = TableShape {
        name: "Duplicates",
        rows: rows.rows.len(),
        columns: &columns(),
        sorting: None,
        selected: state.copy_groups.row(rows, chosen),
        reveal: std::mem::take(&mut state.reveal),
    };
    let output = card(ui, |ui| table(ui, "duplicates", shape, make, spoken));
    for event in state.copy_groups.take(ui, &state.copies, &output) {
        match event {
            GroupedEvent::Select(place) => events.push(CudaEvent::File(copy(place).raw.clone())),
            GroupedEvent::Activate(place) => {
                events.push(CudaEvent::Window(Action::SelectPath(copy(place).raw.clone())));
            }
            GroupedEvent::Copy => {
                let copied = chosen.map(|place| format::copy_text(&copy(place).raw));
                events.extend(copied.map(|text| CudaEvent::Window(Action::CopyText(text))));
            }
            GroupedEvent::Rows => state.changed(),
            GroupedEvent::Clear => events.push(CudaEvent::Clear),
            GroupedEvent::Toggle(_) => {}
        }
    }
    if let Some((row, response)) = &output.hovered {
        match state.copies.rows.get(*row) {
            Some(GroupedRow::Item(place)) => {
                events.extend(path_menu(response, &copy(*place).raw).map(CudaEvent::Window));
            }
            Some(GroupedRow::Group(place)) => {
                if let DuplicateGroup::Copies(item) = state.copies.groups[*place] {
                    response.clone().on_hover_text(about_gain(&model.duplicates[item]));
                }
            }
            None => {}
        }
    }
    output.painted
}

/// Why these bytes are redundant, or none are.
fn about_gain(item: &DuplicateItem) -> &'static str {
    match (item.soname, item.gain) {
        (false, _) => "All copies but one; a hard link or symbolic link could replace them",
        (true, 0) => "Every copy is loaded, or no loaded copy can replace the others",
        (true, _) => {
            "Copies not loaded, with a loaded copy of this name. Findings shows whether they are removable"
        }
    }
}

fn copies(item: &DuplicateItem) -> String {
    counted(item.copies.len(), "copy")
}

fn spoken(line: &Line<'_>) -> String {
    let copy = match line {
        Line::Head(words) => return (*words).to_owned(),
        Line::Group(item, _) => {
            let (copies, same) = (copies(item), item.match_label());
            return format!("{}, {copies}, {same}, {} redundant", item.title, human(item.gain));
        }
        Line::Copy(copy) => copy,
    };
    let supplier = copy.supplier.map_or_else(String::new, |one| format!(", {}", one.label()));
    let loaded = copy.loaded_by.as_deref().map_or_else(String::new, |by| match by {
        NOT_LOADED => format!(", {NOT_LOADED}"),
        by => format!(", loaded by {by}"),
    });
    format!("{}, {}{supplier}, layer {}{loaded}", copy.path, human(copy.bytes), copy.layer)
}
