//! The tree of files: which of them, filtered how.

use egui::accesskit::Role;
use egui::{Color32, RichText, Ui, WidgetInfo, vec2};

use super::{card, empty};
use crate::base::labels::SHADOWED;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{elide_middle, escape};
use crate::gui::design::{Tokens, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::browser::{Browser, MissingTree};
use crate::gui::models::files::{FileTree, FileTreeRow, Files, HIDDEN_SIGN, PathChange, ShownTree, SortKey};
use crate::gui::models::format;
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::saver::Saver;
use crate::gui::views::filter_field::{FilterField, show_error, show_found};
use crate::gui::views::save_bar::{SaveChoice, save_bar};
use crate::gui::views::{Action, ViewContext};
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::working;
use crate::gui::widgets::stops;
use crate::gui::widgets::tree::{TreeColumn, TreeRow, TreeShape, tree};
use crate::rootfs::{NodeKind, PathId};

const COLUMNS: [TreeColumn; 2] =
    [TreeColumn { title: "Size", width: 84.0 }, TreeColumn { title: "Files", width: 64.0 }];

/// Height of the legend, and of the pane from which on it is shown.
const LEGEND: f32 = 22.0;
const LEGEND_FROM: f32 = 360.0;

/// The label of what saves the rows that are chosen together.
pub(in crate::gui) const SAVE_SELECTION: &str = "Save selection as tar…";

/// State of the pane.
#[derive(Default)]
pub(super) struct FilesPane {
    typed: String,
    regex: bool,
    /// Whether the filter field is to get the focus.
    pub(super) focus_search: bool,
    /// Rows made for the last frame.
    pub(super) painted: usize,
}

impl FilesPane {
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        (browser, saver): (&mut Browser, &mut Saver),
        context: &mut ViewContext<'_>,
    ) {
        self.painted = 0;
        self.bar(ui, browser);
        ui.add_space(space::XS);
        if let Some(gap) = browser.gap() {
            card(ui, |ui| show_gap(ui, browser, &gap));
            return;
        }
        selection(ui, browser, saver, context);
        // Below the rows, so that they stay where they are when the last layer is read.
        let partial = browser.partial().map(|(layers, all)| {
            format!(
                "Files of {} of {}; others are still being read",
                grouped(layers as u64),
                counted(all, "layer")
            )
        });
        // On narrow panes, the screen reader text must suffice.
        if partial.is_some() || ui.available_height() >= LEGEND_FROM {
            let (above, below) = {
                let rect = ui.available_rect_before_wrap();
                rect.split_top_bottom_at_y(rect.bottom() - LEGEND)
            };
            let mut rows = ui.new_child(egui::UiBuilder::new().max_rect(above));
            card(&mut rows, |ui| self.rows(ui, browser, context));
            match partial {
                Some(words) => foot(ui, below, |ui| {
                    ui.label(RichText::new(words).font(text::small()).color(Tokens::of(ui).warning));
                }),
                None => foot(ui, below, legend),
            }
        } else {
            card(ui, |ui| self.rows(ui, browser, context));
        }
    }

    /// Filters by what was not typed.
    pub(super) fn set_filter(&mut self, browser: &mut Browser, text: String) {
        (self.typed, self.regex) = (text, false);
        browser.set_filter(&self.typed, self.regex);
    }

    /// Which files, and the filter.
    fn bar(&mut self, ui: &mut Ui, browser: &mut Browser) {
        // A filter that was cleared to show a path.
        if browser.filter().0.is_empty() && !self.typed.is_empty() {
            self.typed.clear();
        }
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            let merged = browser.is_merged();
            for (is, label, about) in [
                (false, "This layer", "Files that this layer adds, changes and removes"),
                (true, "Merged", "Merged view up to this layer"),
            ] {
                if ui.selectable_label(merged == is, label).on_hover_text(about).clicked() {
                    browser.set_merged(is);
                }
            }
            ui.add_space(space::XS);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = space::XS;
                let regex = ui.selectable_label(self.regex, RichText::new(".*").font(text::mono()));
                regex.widget_info(|| {
                    WidgetInfo::selected(Role::Button, true, self.regex, "Filter by regular expression")
                });
                if regex.on_hover_text("Match full paths with a regular expression").clicked() {
                    self.regex = !self.regex;
                    browser.set_filter(&self.typed, self.regex);
                }
                let hint = if self.regex { r"Filter: \.so(\.\d+)*$" } else { "Filter: *.so size:>10M" };
                let focus = std::mem::take(&mut self.focus_search);
                let field = FilterField { name: "Filter files", hint, width: f32::INFINITY, focus };
                field.show::<Files>(ui, &mut self.typed);
                browser.set_filter(&self.typed, self.regex);
            });
        });
        if let Some(shown) = browser.shown() {
            if let Some(error) = &shown.error {
                show_error(ui, error);
            } else if let Some(found) = &shown.found {
                let all = format!("{} paths", grouped(shown.tree.len() as u64));
                show_found(ui, found.count(), &all, found.bytes());
            }
        }
    }

    fn rows(&mut self, ui: &mut Ui, browser: &mut Browser, context: &mut ViewContext<'_>) {
        let reveal = browser.take_reveal();
        working(ui, "Updating files", browser.is_busy());
        let Some(shown) = browser.shown() else { return };
        if browser.has_old_rows() {
            stops::filtering(ui.ctx());
        }
        if shown.rows.is_empty() {
            show_nothing(ui, shown, browser.is_merged());
            return;
        }
        let tokens = Tokens::of(ui);
        let sort = browser.sort();
        let column = match sort.key {
            SortKey::Name => 0,
            SortKey::Size => 1,
            SortKey::Files => 2,
        };
        let selected = browser.selected_row();
        let shape = TreeShape {
            name: "Files",
            rows: shown.rows.len(),
            title: "Name",
            columns: COLUMNS,
            sort: (column, sort.descending),
            selected,
            reveal,
        };
        let rows = shown.rows.as_slice();
        let marks = browser.marks();
        let make = |index: usize| TreeRow {
            marked: marks.has(rows[index].path),
            ..make_row(tokens, shown, rows[index])
        };
        let output = tree(ui, "files", &shape, make, |index| speak_row(shown, rows[index]));
        self.painted = output.painted;
        take_events(ui, browser, &output, context);
    }
}

/// What is chosen together, and how it is saved.
fn selection(ui: &mut Ui, browser: &mut Browser, saver: &mut Saver, context: &mut ViewContext<'_>) {
    let marks = browser.marks();
    let mut clears = false;
    if marks.count() > 0 {
        ui.horizontal_wrapped(|ui| {
            let files = counted(marks.files(), "file");
            let words =
                format!("{} selected: {} in {files}", grouped(marks.count() as u64), human(marks.bytes()));
            ui.label(RichText::new(words).font(text::strong()));
            let about = "Save the selected files and folders, as a container sees them, as one tar archive";
            let can = context.analysis.merge.is_some();
            let save = ui.add_enabled_ui(can, |ui| ui.button(SAVE_SELECTION)).inner.on_hover_text(about);
            if save.on_disabled_hover_text("Available when the layers are merged").clicked() {
                context.actions.push(Action::AskSelection);
            }
            clears = ui.button("Clear selection").clicked();
        });
    }
    if clears {
        browser.clear_marks();
    }
    context.actions.extend(save_bar(ui, saver).map(|choice| match choice {
        SaveChoice::To(name) => Action::SaveSelection(name.into()),
        SaveChoice::Browse => Action::Pick(Pick::SaveSelection),
    }));
}

/// The line below the rows.
fn foot(ui: &mut Ui, rect: egui::Rect, add: impl FnOnce(&mut Ui)) {
    let line = egui::Rect::from_min_max(rect.min + vec2(4.0, 6.0), rect.max);
    let mut ui = ui.new_child(
        egui::UiBuilder::new().max_rect(line).layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    ui.shrink_clip_rect(line);
    ui.spacing_mut().item_spacing.x = space::XS;
    add(&mut ui);
}

/// What the signs mean.
fn legend(ui: &mut Ui) {
    let tokens = Tokens::of(ui);
    let marks = [PathChange::Added, PathChange::Changed, PathChange::Removed, PathChange::Inside];
    let signs = marks.iter().map(|mark| (mark.sign(), mark_color(tokens, *mark), mark.word()));
    for (sign, color, word) in signs.chain([(HIDDEN_SIGN, tokens.hidden, SHADOWED)]) {
        ui.label(RichText::new(sign).font(text::mono()).color(color));
        ui.label(RichText::new(word).font(text::small()).color(tokens.text_weak));
        ui.add_space(space::S);
    }
}

fn take_events(ui: &Ui, browser: &mut Browser, output: &ListOutput, context: &mut ViewContext<'_>) {
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => browser.select_row(row),
            ListEvent::Open(row) => browser.open_row(row),
            ListEvent::Close(row) => browser.close_row(row),
            ListEvent::Parent(row) => browser.select_parent(row),
            ListEvent::Mark(row) => browser.mark_row(row),
            ListEvent::Extend(row) => browser.extend_to(row),
            ListEvent::Clear => browser.clear_marks(),
            ListEvent::Sort(column) => {
                browser.sort_by([SortKey::Name, SortKey::Size, SortKey::Files][column.min(2)]);
            }
            ListEvent::Activate(row) => {
                browser.select_row(row);
                context.actions.extend(target(browser).map(Action::ShowContents));
            }
            _ => {}
        }
    }
    if let Some((row, response)) = &output.hovered
        && response.secondary_clicked()
    {
        // On one of several that are chosen together these stay.
        if !browser.is_marked(*row) {
            browser.select_row(*row);
        }
        context.actions.extend(target(browser).map(Action::PathMenu));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
    if output.focused
        && ui.input(|input| input.events.contains(&egui::Event::Copy))
        && let Some(details) = browser.details()
    {
        context.actions.push(Action::CopyText(format::copy_text(&details.raw_path)));
    }
}

/// The selected path.
fn target(browser: &Browser) -> Option<PathTarget> {
    browser.details().map(|details| PathTarget { raw: details.raw_path.clone(), version: details.version })
}

fn make_row(tokens: &Tokens, shown: &ShownTree, row: FileTreeRow) -> TreeRow {
    let tree = &shown.tree;
    let path = row.path;
    let (mark, hidden) = (tree.mark(path), tree.is_hidden(path));
    let folder = tree.is_folder(path);
    let chain = shown.chain(path);
    let matches = shown.found.as_ref().map(|found| chain.iter().any(|path| found.matches(*path)));
    let color = match mark {
        PathChange::Added | PathChange::Changed | PathChange::Removed => mark_color(tokens, mark),
        PathChange::None | PathChange::Inside if matches == Some(false) => tokens.text_weak,
        PathChange::None | PathChange::Inside => tokens.text,
    };
    let mut shown_name = chain_name(tree, &chain);
    if folder {
        shown_name.push('/');
    }
    if let Some(target) = link_target(tree, path) {
        shown_name = format!("{shown_name} → {target}");
    }
    let bytes = tree.bytes(path);
    let parent = tree.timeline().parent(chain.first().copied().unwrap_or(path));
    let whole = tree.bytes(parent);
    let share = if whole == 0 || mark == PathChange::Removed {
        0.0
    } else {
        crate::base::convert::fraction(bytes, whole)
    };
    let size = if !folder && tree.files(path) == 0 {
        String::new()
    } else if mark == PathChange::Removed {
        format!("−{}", human(bytes))
    } else {
        human(bytes)
    };
    let files = if folder { grouped(tree.files(path).into()) } else { String::new() };
    TreeRow {
        key: u64::from(path.0),
        name: shown_name,
        depth: usize::from(row.depth),
        folder: tree.has_children(path),
        open: shown.rows.is_open(path),
        signs: [
            (mark != PathChange::None).then(|| (mark.sign(), mark_color(tokens, mark))),
            hidden.then_some((HIDDEN_SIGN, tokens.hidden)),
        ],
        color,
        struck: mark == PathChange::Removed,
        strong: matches == Some(true),
        marked: false,
        share,
        numbers: [size, files],
    }
}

/// Where a symbolic link points, as it is written; safe to show.
fn link_target(tree: &FileTree, path: PathId) -> Option<String> {
    let version = tree.version(path).filter(|version| version.kind == NodeKind::Symlink)?;
    let target = tree.timeline().layer(version.layer).link(version.entry?)?;
    Some(elide_middle(&escape(target), 96))
}

/// The name of a row that shows these paths.
fn chain_name(tree: &FileTree, chain: &[PathId]) -> String {
    chain.iter().map(|path| escape(tree.timeline().name(*path))).collect::<Vec<_>>().join("/")
}

/// Screen reader text of a row.
fn speak_row(shown: &ShownTree, row: FileTreeRow) -> String {
    let tree = &shown.tree;
    let path = row.path;
    let mut spoken = format!("{}, {}", chain_name(tree, &shown.chain(path)), human(tree.bytes(path)));
    if let Some(target) = link_target(tree, path) {
        spoken = format!("{spoken}, link to {target}");
    }
    if tree.is_folder(path) {
        spoken = format!("{spoken} in {}", counted(tree.files(path) as usize, "file"));
    }
    if tree.mark(path) != PathChange::None {
        spoken = format!("{spoken}, {}", tree.mark(path).word());
    }
    if let Some(layer) = tree.hidden_by(path) {
        spoken = format!("{spoken}, shadowed by layer {layer}");
    }
    spoken
}

/// The colour of a mark.
pub(in crate::gui::views) fn mark_color(tokens: &Tokens, mark: PathChange) -> Color32 {
    match mark {
        PathChange::None => tokens.text,
        PathChange::Inside => tokens.text_weak,
        PathChange::Added => tokens.added,
        PathChange::Changed => tokens.changed,
        PathChange::Removed => tokens.removed,
    }
}

fn show_nothing(ui: &mut Ui, shown: &ShownTree, merged: bool) {
    if shown.found.is_some() {
        empty(
            ui,
            "No matching path",
            "Filter by name, glob (*.so), size:>10M or is:removed. All terms must match.",
        );
    } else if merged {
        empty(ui, "No files", "The merged view is empty.");
    } else {
        empty(ui, "No files", "This layer adds and removes nothing.");
    }
}

pub(super) fn show_gap(ui: &mut Ui, browser: &mut Browser, gap: &MissingTree) {
    match gap {
        MissingTree::NoLayers => empty(ui, "No layers", "The image manifest lists no layers."),
        MissingTree::LayerWaits => {
            empty(ui, "Reading layer", "Files appear when the layer is read.");
        }
        MissingTree::LayersWait(which) => {
            empty(
                ui,
                &format!("Waiting for {which}"),
                "The merged view requires all layers up to the selected one.",
            );
            let alone = browser.layer().and_then(|layer| browser.items.get(layer));
            if alone.is_some_and(|item| item.state.has_files()) {
                ui.add_space(space::S);
                ui.vertical_centered(|ui| {
                    if ui.button("Show this layer only").clicked() {
                        browser.set_merged(false);
                    }
                });
            }
        }
        MissingTree::LayerFailed(why) => empty(ui, "Cannot read layer", why),
        MissingTree::LayerStopped => {
            empty(ui, "Layer not read", "The analysis stopped before this layer. Reload the image.");
        }
        MissingTree::Working => empty(ui, "Merging layers…", ""),
        MissingTree::Broken(why) => empty(ui, "Cannot show files", why),
    }
    if let MissingTree::Working = gap {
        let items = counted(browser.items.len(), "layer");
        ui.vertical_centered(|ui| ui.label(RichText::new(items).color(Tokens::of(ui).text_weak)));
    }
}
