//! The treemap of a folder, in step with the tree.

use std::sync::Arc;

use egui::{RichText, Ui};

use super::details::HoverFacts;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{elide_middle, escape};
use crate::gui::design::{Tokens, layer_pattern, space, text};
use crate::gui::models::background::Same;
use crate::gui::models::browser::{Browser, MissingTree};
use crate::gui::models::files::{FileTree, PathChange, Scope, ShownTree};
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::treemap::{CellKind, Treemap, TreemapCell};
use crate::gui::models::treemap_colors::{Coloring, GroupPaint};
use crate::gui::views::layers::mark_color;
use crate::gui::views::{Action, ViewContext};
use crate::gui::widgets::pane::empty;
use crate::gui::widgets::treemap::{CellLook, Picture, TreemapEvent, treemap};
use crate::rootfs::PathId;

/// State of the pane.
#[derive(Default)]
pub(in crate::gui::views) struct MapPane {
    /// The folder shown, by its bytes: it outlives the tree.
    folder: Vec<u8>,
    map: Option<(Key, Treemap)>,
    picture: Option<Picture>,
    painted: Option<Painted>,
    facts: HoverFacts,
}

/// What a map was made for.
#[derive(Clone, PartialEq)]
struct Key {
    tree: Same<FileTree>,
    folder: PathId,
    size: egui::Vec2,
}

/// What a picture was made for: the rows and filter, the theme, the colours.
#[derive(Clone, Copy, PartialEq)]
struct Painted {
    epoch: u64,
    dark: bool,
    colors: usize,
}

/// Why there is no treemap: what is missing, and whether it comes.
fn missing(ui: &mut Ui, gap: Option<&MissingTree>) {
    let (comes, why) = match gap {
        Some(MissingTree::NoLayers) => (false, "The image has no layers.".to_owned()),
        Some(MissingTree::LayerFailed(_)) => (false, "The layer could not be read.".to_owned()),
        Some(MissingTree::LayerStopped) => (false, "The layer was not read.".to_owned()),
        Some(MissingTree::Broken(_)) => (false, "The files cannot be shown.".to_owned()),
        Some(MissingTree::LayerWaits) => (true, "The layer is being read.".to_owned()),
        Some(MissingTree::LayersWait(which)) => (true, format!("It needs {which}, not read yet.")),
        Some(MissingTree::Working) | None => (true, "The layers are being merged.".to_owned()),
    };
    empty(ui, if comes { "No treemap yet" } else { "No treemap" }, &why);
}

impl MapPane {
    /// Shows the folder at its next frame.
    pub(in crate::gui::views) fn enter(&mut self, folder: Vec<u8>) {
        self.folder = folder;
    }

    /// Shows the map with its breadcrumb; by layer and change without `colors`.
    pub(in crate::gui::views) fn show(
        &mut self,
        ui: &mut Ui,
        browser: &mut Browser,
        colors: Option<&Arc<Coloring>>,
        context: &mut ViewContext<'_>,
    ) {
        let gap = browser.gap();
        let Some(shown) = browser.shown().filter(|_| gap.is_none()) else {
            missing(ui, gap.as_ref());
            return;
        };
        let tree = &shown.tree;
        let folder = self.folder(tree);
        let mut enter = Self::crumbs(ui, tree, folder, browser.partial());
        if tree.bytes(folder) == 0 {
            let none = tree.files(folder) == 0;
            let why = if none { "There are no files here." } else { "All files here are empty." };
            empty(ui, "Empty treemap", why);
        } else {
            let size = ui.available_size().floor();
            let key = Key { tree: Same(Arc::clone(tree)), folder, size };
            if self.map.as_ref().is_none_or(|(known, _)| *known != key) {
                self.picture = None;
                self.map = Some((key, Treemap::new(tree, folder, size.x, size.y)));
            }
            let painted = Painted {
                epoch: browser.made(),
                dark: ui.visuals().dark_mode,
                colors: colors.map_or(0, |colors| Arc::as_ptr(colors).addr()),
            };
            if self.painted != Some(painted) {
                (self.painted, self.picture) = (Some(painted), None);
            }
            let Some((_, map)) = &self.map else { return };
            let full = escape(&tree.timeline().full_path(folder));
            let name = format!("Treemap of {full}, {}", human(tree.bytes(folder)));
            let chain: Vec<PathId> = std::iter::successors(browser.selected_path(), |path| {
                (*path != PathId::ROOT).then(|| tree.timeline().parent(*path))
            })
            .collect();
            let tokens = Tokens::of(ui);
            let facts = &mut self.facts;
            let event = treemap(
                ui,
                &name,
                map,
                &mut self.picture,
                &chain,
                colors.is_some(),
                |cell| look(tokens, shown, colors.map(AsRef::as_ref), cell),
                |ui, cell| hover(ui, shown, cell, facts.of(context, tree, cell.path())),
            );
            match event {
                Some(TreemapEvent::Select(path)) => {
                    browser.select(path);
                    ui.ctx().request_repaint();
                }
                Some(TreemapEvent::Enter(path)) => {
                    // Into a folder, or into the one that the file is in.
                    let into = if tree.is_folder(path) { path } else { tree.timeline().parent(path) };
                    enter = Some(into);
                }
                Some(TreemapEvent::Up) if folder != PathId::ROOT => {
                    enter = Some(tree.timeline().parent(folder));
                }
                Some(TreemapEvent::Menu(path)) => {
                    let raw = tree.timeline().full_path(path);
                    context.actions.push(Action::PathMenu(PathTarget::of(raw)));
                }
                Some(TreemapEvent::Up) | None => {}
            }
        }
        if let Some(path) = enter
            && let Some(shown) = browser.shown()
        {
            self.folder = shown.tree.timeline().full_path(path);
            ui.ctx().request_repaint();
        }
    }

    /// The folder to show; the root where the tree has it no more.
    fn folder(&self, tree: &FileTree) -> PathId {
        let found = tree.timeline().find(&self.folder);
        found.filter(|folder| tree.is_folder(*folder) && tree.shows(*folder)).unwrap_or(PathId::ROOT)
    }

    /// The breadcrumb of the folder.
    fn crumbs(
        ui: &mut Ui,
        tree: &FileTree,
        folder: PathId,
        partial: Option<(usize, usize)>,
    ) -> Option<PathId> {
        let tokens = Tokens::of(ui);
        let mut chain = vec![folder];
        while let Some(last) = chain.last().copied().filter(|last| *last != PathId::ROOT) {
            chain.push(tree.timeline().parent(last));
        }
        chain.reverse();
        let mut enter = None;
        egui::Frame::new().inner_margin(egui::Margin::symmetric(8, 3)).fill(tokens.raised).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = space::XS;
                let up = ui.add_enabled(folder != PathId::ROOT, egui::Button::new("Up").small());
                if up.on_hover_text("Go to the parent folder").clicked() {
                    enter = Some(tree.timeline().parent(folder));
                }
                // The last few folders; the root always.
                let skip = chain.len().saturating_sub(4);
                for (place, path) in chain.iter().enumerate() {
                    if place > 0 && place <= skip {
                        continue;
                    }
                    if place > 0 {
                        let sign = if place == skip + 1 && skip > 0 { "/ … /" } else { "/" };
                        ui.label(RichText::new(sign).color(tokens.text_weak));
                    }
                    let name = match place {
                        0 => "All".to_owned(),
                        _ => elide_middle(&escape(tree.timeline().name(*path)), 20),
                    };
                    if *path == folder {
                        ui.label(RichText::new(name).font(text::strong()));
                    } else if ui.link(name).clicked() {
                        enter = Some(*path);
                    }
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    ui.label(RichText::new(human(tree.bytes(folder))).color(tokens.text_weak));
                    if let Some((layers, all)) = partial {
                        let words = format!("{} of {}", grouped(layers as u64), counted(all, "layer"));
                        ui.label(RichText::new(words).font(text::small()).color(tokens.warning));
                    }
                });
            });
        });
        enter
    }
}

/// The colour of a group.
pub(super) fn fill_of(tokens: &Tokens, paint: GroupPaint) -> egui::Color32 {
    match paint {
        GroupPaint::Layer(place) => tokens.layer(place),
        GroupPaint::Class(place) => tokens.classes[place % tokens.classes.len()],
        GroupPaint::Shade(share) => tokens.heat(share, true),
        GroupPaint::Neutral => tokens.heat(0.5, false),
    }
}

fn look(tokens: &Tokens, shown: &ShownTree, colors: Option<&Coloring>, cell: &TreemapCell) -> CellLook {
    let tree = &shown.tree;
    let path = cell.path();
    let group = colors.and_then(|colors| colors.group(path));
    let fill = match tree.scope() {
        _ if colors.is_some() => fill_of(tokens, group.map_or(GroupPaint::Neutral, |group| group.paint)),
        // Where the bytes come from.
        Scope::Merged(_) => {
            let layer = tree.version(path).map_or(0, |version| version.layer);
            tokens.layer(usize::from(layer))
        }
        Scope::Layer(_) => match tree.mark(path) {
            PathChange::None | PathChange::Inside => tokens.layer(usize::from(tree.scope().layer())),
            mark => tokens.dim(mark_color(tokens, mark)),
        },
    };
    let matches = shown.found.as_ref().is_none_or(|found| found.keeps(path));
    let fill = if matches { fill } else { tokens.wash(fill) };
    let mut name = escape(tree.timeline().name(path));
    let mut at = path;
    while at != cell.top && at != PathId::ROOT {
        at = tree.timeline().parent(at);
        name = format!("{}/{name}", escape(tree.timeline().name(at)));
    }
    if tree.is_folder(path) {
        name.push('/');
    }
    let mut value = human(tree.bytes(path));
    if let Some(group) = group {
        value = format!("{value}, {}", group.name);
    }
    let pattern = match (tree.scope(), group) {
        _ if !matches => 0,
        (_, Some(group)) => group.pattern,
        (Scope::Merged(_), None) if colors.is_none() => {
            layer_pattern(tree.version(path).map_or(0, |version| usize::from(version.layer)))
        }
        _ => 0,
    };
    CellLook { fill, pattern, name, value }
}

fn hover(ui: &mut Ui, shown: &ShownTree, cell: &TreemapCell, facts: &[String]) {
    let tokens = Tokens::of(ui);
    let tree = &shown.tree;
    let path = cell.path();
    let full = elide_middle(&escape(&tree.timeline().full_path(path)), 160);
    if let CellKind::Rest(_, count) = cell.kind {
        ui.label(RichText::new(format!("{} smaller in {full}", grouped(count as u64))).font(text::strong()));
        return;
    }
    ui.label(RichText::new(full).font(text::strong()));
    let mut line = human(tree.bytes(path));
    if tree.is_folder(path) {
        line = format!("{line} in {}", counted(tree.files(path) as usize, "file"));
    }
    if tree.mark(path) != PathChange::None {
        line = format!("{line}, {}", tree.mark(path).word());
    }
    if let Some(version) = tree.version(path).filter(|_| !tree.is_folder(path)) {
        line = format!("{line}, from layer {}", version.layer);
    }
    if let Some(layer) = tree.hidden_by(path) {
        line = format!("{line}, shadowed by layer {layer}");
    }
    ui.label(RichText::new(line).color(tokens.text_weak));
    for fact in facts {
        ui.label(RichText::new(fact).color(tokens.text_weak));
    }
}
