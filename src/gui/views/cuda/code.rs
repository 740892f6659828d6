//! GPU code: architectures against files, and what a GPU makes of it.

use egui::{Color32, ComboBox, RichText, Ui};

use super::state::CudaState;
use super::{Action, CudaEvent, keep};
use crate::base::convert::fraction;
use crate::base::labels::GPU_CODE;
use crate::base::size::human;
use crate::cuda::arch_name;
use crate::cuda::pruning::EstimateRow;
use crate::formats::fatbin::GpuKind;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::cuda::{
    ArchMatrix, ArchMatrixRow, Architecture, CodeTarget, CudaModel, Fit, PrunedCode,
};
use crate::gui::views::path_menu;
use crate::gui::widgets::arch_matrix::{
    ArchMatrixCell, ArchMatrixColumn, ArchMatrixLine, ArchMatrixShape, arch_matrix,
};
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::{card, empty};

/// Shows the choosers above the architecture matrix.
pub(super) fn choices(ui: &mut Ui, state: &mut CudaState, model: &CudaModel) {
    if !model.arch_matrix.architectures.is_empty() {
        target(ui, state, model);
        keep::show(ui, state, model);
    }
}

/// Shows the architecture matrix; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut CudaState,
    model: &CudaModel,
    events: &mut Vec<CudaEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    if model.arch_matrix.architectures.is_empty() {
        card(ui, |ui| {
            empty(ui, "No GPU code", "No file contains SASS, PTX or LTO code.");
        });
        return 0;
    }
    let target = state.target_in(model);
    if state.arch_matrix_rows.is_empty() {
        card(ui, |ui| empty(ui, "No matching file", "The filter excludes all files with GPU code."));
        return 0;
    }
    let pruned = state.known_pruned().cloned();
    let target = target.cloned();
    let target = target.as_ref();
    let architectures = model.arch_matrix.architectures.iter();
    let before = pruned.iter().flat_map(keep::columns).count();
    let columns: Vec<ArchMatrixColumn> = { pruned.iter().flat_map(keep::columns) }
        .chain(architectures.map(|column| head(tokens, column, target, pruned.as_ref())))
        .collect();
    let largest = largest(&model.arch_matrix);
    let rows = &state.arch_matrix_rows;
    let at = state.selected().and_then(|raw| model.arch_matrix.position(raw));
    let shape = ArchMatrixShape {
        name: "GPU code by architecture and file",
        title: "File, by SM architecture",
        columns: &columns,
        legend: &legend(tokens, &model.arch_matrix),
        rows: rows.len(),
        selected: at.and_then(|at| rows.iter().position(|row| *row == at)),
        reveal: std::mem::take(&mut state.reveal),
    };
    let row = |index: usize| &model.arch_matrix.rows[rows[index]];
    let part = |index: usize| pruned.as_ref().and_then(|pruned| pruned.rows.get(rows[index]));
    let make = |index: usize| line(&model.arch_matrix, row(index), target, largest, part(index));
    let hover = |ui: &mut Ui, index: usize, column: Option<usize>| {
        let cell = column.and_then(|column| column.checked_sub(before));
        describe(ui, &model.arch_matrix, row(index), target, cell);
        if let Some(part) = part(index).filter(|_| cell.is_none()) {
            ui.label(keep::spoken(part));
        }
    };
    let output = card(ui, |ui| arch_matrix(ui, "gpu code", &shape, make, hover));
    take(ui, state, model, &output, events);
    output.painted
}

fn take(ui: &Ui, state: &CudaState, model: &CudaModel, output: &ListOutput, events: &mut Vec<CudaEvent>) {
    let row =
        |index: usize| state.arch_matrix_rows.get(index).and_then(|row| model.arch_matrix.rows.get(*row));
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => {
                events.extend(row(index).map(|row| CudaEvent::File(row.raw.clone())));
            }
            ListEvent::Activate(index) => {
                events.extend(row(index).map(|row| CudaEvent::Window(Action::SelectPath(row.raw.clone()))));
            }
            ListEvent::Clear => events.push(CudaEvent::Clear),
            _ => {}
        }
    }
    if let Some((index, response)) = &output.hovered
        && let Some(row) = row(*index)
    {
        events.extend(path_menu(response, &row.raw).map(CudaEvent::Window));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

/// The chooser, and the verdict in a sentence.
fn target(ui: &mut Ui, state: &mut CudaState, model: &CudaModel) {
    let tokens = Tokens::of(ui);
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new("Target GPU").color(tokens.text_weak));
        let chosen = state.target_in(model).map(CodeTarget::title);
        let none = "None".to_owned();
        let combo = ComboBox::from_id_salt("target")
            .selected_text(chosen.clone().unwrap_or_else(|| none.clone()))
            .width(170.0)
            .height(360.0)
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut state.target, None, none.clone());
                let mut class = "";
                for target in &model.targets {
                    if target.class != class {
                        class = target.class;
                        ui.add_space(space::XS);
                        ui.label(RichText::new(class).font(text::small()).color(tokens.text_weak));
                    }
                    let id = Some(target.id.clone());
                    ui.selectable_value(&mut state.target, id, target.title());
                }
            });
        combo.response.labelled_by(label.id);
        if let Some(target) = state.target_in(model) {
            let verdict = model.arch_matrix.judge(target);
            ui.add_space(space::XS);
            ui.add(egui::Label::new(RichText::new(&verdict.sentence).color(tokens.text)).wrap());
        }
    });
    ui.add_space(space::XS);
}

/// Which colour is which kind, of the kinds that are there.
fn legend(tokens: &Tokens, arch_matrix: &ArchMatrix) -> Vec<(Color32, String)> {
    let mut sums: [u64; 4] = [0; 4];
    for column in &arch_matrix.architectures {
        for (sum, (_, bytes)) in sums.iter_mut().zip(column.parts.each()) {
            *sum = sum.saturating_add(bytes);
        }
    }
    let all = GPU_CODE.list.iter().zip(sums).zip(tokens.codes).filter(|((_, bytes), _)| *bytes > 0);
    // The size comes before the explanation, which may be cut.
    all.map(|((label, bytes), fill)| (fill, format!("{}: {} ({})", label.text, human(bytes), label.about)))
        .collect()
}

fn fill(tokens: &Tokens, kind: GpuKind) -> Color32 {
    tokens.codes[match kind {
        GpuKind::Sass => 0,
        GpuKind::Ptx => 1,
        GpuKind::Lto => 2,
        GpuKind::Other(_) => 3,
    }]
}

fn head(
    tokens: &Tokens,
    column: &Architecture,
    target: Option<&CodeTarget>,
    pruned: Option<&PrunedCode>,
) -> ArchMatrixColumn {
    let fit = target.map(|target| column.fit(column.parts, target));
    let parts = column.parts.each().map(|(kind, bytes)| {
        let used = |target: &CodeTarget| target.fit(kind, column.arch, column.suffix) > Fit::Never;
        (bytes, fill(tokens, kind), target.is_none_or(used))
    });
    let word = fit.map(|fit| {
        let color = match fit {
            Fit::Native => tokens.success,
            Fit::Jit => tokens.warning,
            Fit::Never => tokens.text_weak,
        };
        (fit.word(), color)
    });
    let mut spoken = format!("{}: {}", column.label, human(column.parts.bytes()));
    let kinds = Architecture::kinds(column.parts);
    if !kinds.is_empty() {
        spoken = format!("{spoken} ({kinds})");
    }
    if column.uncompressed > column.parts.bytes() {
        spoken = format!("{spoken}, {} decompressed", human(column.uncompressed));
    }
    if let (Some(fit), Some(target)) = (fit, target) {
        let on = target.title();
        spoken = match fit {
            Fit::Native => format!("{spoken}; runs on {on}"),
            Fit::Jit => format!("{spoken}; the driver compiles it for {on}"),
            Fit::Never => format!("{spoken}; never runs on {on}"),
        };
    }
    if let Some(pruned) = pruned {
        let removed = pruned.architectures.get(&(column.arch, column.suffix)).copied().unwrap_or(0);
        spoken = format!("{spoken}; slim removes {}", human(removed));
    }
    ArchMatrixColumn {
        label: column.label.clone(),
        word,
        highlighted: fit != Some(Fit::Never),
        parts: parts.to_vec(),
        total: human(column.parts.bytes()),
        spoken,
    }
}

fn largest(arch_matrix: &ArchMatrix) -> u64 {
    let cells = arch_matrix.rows.iter().flat_map(|row| &row.cells);
    cells.map(|parts| parts.bytes()).max().unwrap_or(0)
}

fn line(
    arch_matrix: &ArchMatrix,
    row: &ArchMatrixRow,
    target: Option<&CodeTarget>,
    largest: u64,
    part: Option<&EstimateRow>,
) -> ArchMatrixLine {
    let cells = row.cells.iter().zip(&arch_matrix.architectures).map(|(parts, column)| {
        let bytes = parts.bytes();
        ArchMatrixCell {
            text: if bytes > 0 { human(bytes) } else { String::new() },
            heat: fraction(bytes, largest),
            highlighted: target.is_none_or(|target| column.fit(*parts, target) > Fit::Never),
        }
    });
    ArchMatrixLine {
        name: row.name.clone(),
        word: row.word,
        total: human(row.bytes),
        cells: { part.into_iter().flat_map(keep::cells) }.chain(cells).collect(),
        spoken: match part {
            Some(part) => format!("{}; {}", spoken(arch_matrix, row), keep::spoken(part)),
            None => spoken(arch_matrix, row),
        },
    }
}

fn spoken(arch_matrix: &ArchMatrix, row: &ArchMatrixRow) -> String {
    let used = row.cells.iter().zip(&arch_matrix.architectures).filter(|(parts, _)| parts.bytes() > 0);
    let parts: Vec<String> =
        used.map(|(parts, column)| format!("{} {}", column.label, human(parts.bytes()))).collect();
    let word = if row.word.is_empty() { String::new() } else { format!(", {}", row.word) };
    format!("{}{word}, {}: {}", row.name, human(row.bytes), parts.join(", "))
}

/// A file in a tooltip: its path, and an architecture by kind, or all.
fn describe(
    ui: &mut Ui,
    arch_matrix: &ArchMatrix,
    row: &ArchMatrixRow,
    target: Option<&CodeTarget>,
    cell: Option<usize>,
) {
    let tokens = Tokens::of(ui);
    ui.label(RichText::new(&row.path).font(text::mono()));
    let cells = row.cells.iter().zip(&arch_matrix.architectures).enumerate();
    let cells = cells.filter(|(at, _)| cell.is_none_or(|cell| cell == *at)).map(|(_, cell)| cell);
    egui::Grid::new("codes").num_columns(3).spacing([space::M, 2.0]).show(ui, |ui| {
        for (parts, column) in cells {
            if cell.is_some() && parts.bytes() == 0 {
                ui.label(RichText::new(format!("No code for {}", column.label)).color(tokens.text_weak));
            }
            for (kind, bytes) in parts.each().into_iter().filter(|(_, bytes)| *bytes > 0) {
                let code = arch_name(kind, column.arch, column.suffix);
                ui.label(RichText::new(code).font(text::mono()));
                ui.label(human(bytes));
                let fit = target.map_or("", |target| target.fit(kind, column.arch, column.suffix).word());
                ui.label(RichText::new(fit).color(tokens.text_weak));
                ui.end_row();
            }
        }
    });
}
