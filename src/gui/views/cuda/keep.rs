//! GPUs to tick, and what `slim` keeps and removes for them.

use egui::{RichText, Ui};

use super::state::CudaState;
use crate::base::size::human;
use crate::cuda::pruning::EstimateRow;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::cuda::{CudaModel, OTHER_GPUS, PrunedCode};
use crate::gui::widgets::arch_matrix::{ArchMatrixCell, ArchMatrixColumn};
use crate::gui::widgets::controls::check_box;

/// Columns in front of those of the architectures.
const COLUMNS: [(&str, &str); 3] =
    [("Kept", "stay in the file"), ("Removed", "removed by slim"), ("Packed", "less to pull, estimated")];

const COSTS: &str = "Other GPUs then fail with error 209, later ones too unless --keep-ptx is given; hashes of packages no \
                     longer match. Whether changed copies of NVIDIA's files may be used or passed on depends on NVIDIA's \
                     licenses.";

/// Shows the boxes.
pub(super) fn show(ui: &mut Ui, state: &mut CudaState, model: &CudaModel) {
    let tokens = Tokens::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Keep code for").color(tokens.text_weak));
        for target in state.offered(model) {
            let on = state.kept.contains(&target.id);
            if check_box(ui, on, &target.title()).clicked() {
                state.toggle_kept(&target.id);
            }
        }
        ui.label(RichText::new(OTHER_GPUS).font(text::small()).color(tokens.text_weak));
    });
    state.prune(model);
    if let Some(pruned) = state.known_pruned() {
        ui.add(egui::Label::new(RichText::new(&pruned.sentence).color(tokens.text)).wrap());
        let costs = RichText::new(COSTS).font(text::small()).color(tokens.text_weak);
        ui.add(egui::Label::new(costs).wrap());
    }
    ui.add_space(space::XS);
}

fn words(row: &EstimateRow) -> [String; 3] {
    let compressed = row.removed_compressed_bytes.map_or_else(|| "?".to_owned(), human);
    [human(row.kept_bytes), human(row.removed_bytes), compressed]
}

/// The columns, with sums.
pub(super) fn columns(pruned: &PrunedCode) -> impl Iterator<Item = ArchMatrixColumn> {
    COLUMNS.into_iter().zip(words(&pruned.total)).map(|((label, about), total)| ArchMatrixColumn {
        label: label.to_owned(),
        word: None,
        highlighted: true,
        parts: Vec::new(),
        spoken: format!("{label}: {total}, {about}"),
        total,
    })
}

/// The cells of a row.
pub(super) fn cells(row: &EstimateRow) -> impl Iterator<Item = ArchMatrixCell> {
    words(row).into_iter().map(|text| ArchMatrixCell { text, heat: 0.0, highlighted: true })
}

/// A row for screen readers and in a tooltip.
pub(super) fn spoken(row: &EstimateRow) -> String {
    let [kept, removed, compressed] = words(row);
    let compressed = if row.removed_compressed_bytes.is_some() {
        format!("compressed about {compressed}")
    } else {
        "compressed unknown".to_owned()
    };
    format!("kept {kept}, removed {removed}, {compressed}")
}
