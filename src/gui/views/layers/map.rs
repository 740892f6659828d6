//! The treemap of a folder, in step with the tree.

use egui::{RichText, Ui};

use super::empty;
use super::files::mark_color;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{elide_middle, escape};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::browser::Browser;
use crate::gui::models::files::{FileTree, PathChange, Scope, ShownTree};
use crate::gui::models::treemap::{CellKind, Treemap, TreemapCell};
use crate::gui::widgets::treemap::{CellLook, Picture, TreemapEvent, treemap};
use crate::rootfs::PathId;

/// State of the pane.
#[derive(Default)]
pub(super) struct MapPane {
    /// The folder shown, by its bytes: it outlives the tree.
    folder: Vec<u8>,
    map: Option<(Key, Treemap)>,
    picture: Option<Picture>,
}

/// What a map was made for.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    epoch: u64,
    size: egui::Vec2,
    dark: bool,
}

impl MapPane {
    pub(super) fn show(&mut self, ui: &mut Ui, browser: &mut Browser) {
        let Some(shown) = browser.shown().filter(|_| browser.gap().is_none()) else {
            empty(ui, "No treemap yet", "");
            return;
        };
        let tree = &shown.tree;
        let folder = self.folder(browser.made(), ui.visuals().dark_mode, tree);
        let mut enter = Self::crumbs(ui, tree, folder, browser.partial());
        if tree.bytes(folder) == 0 {
            empty(ui, "Empty treemap", "All files here are empty.");
        } else {
            let size = ui.available_size().floor();
            if self.map.as_ref().is_none_or(|(known, _)| known.size != size) {
                self.map = None;
            }
            if self.map.is_none() {
                self.picture = None;
                let key = Key { epoch: browser.made(), size, dark: ui.visuals().dark_mode };
                self.map = Some((key, Treemap::new(tree, folder, size.x, size.y)));
            }
            let Some((_, map)) = &self.map else { return };
            let full = escape(&tree.timeline().full_path(folder));
            let name = format!("Treemap of {full}, {}", human(tree.bytes(folder)));
            let chain: Vec<PathId> = std::iter::successors(browser.selected_path(), |path| {
                (*path != PathId::ROOT).then(|| tree.timeline().parent(*path))
            })
            .collect();
            let tokens = Tokens::of(ui);
            let event = treemap(
                ui,
                &name,
                map,
                &mut self.picture,
                &chain,
                |cell| look(tokens, shown, cell),
                |ui, cell| hover(ui, shown, cell),
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
                None => {}
            }
        }
        if let Some(path) = enter
            && let Some(shown) = browser.shown()
        {
            self.folder = shown.tree.timeline().full_path(path);
            self.map = None;
            ui.ctx().request_repaint();
        }
    }

    /// The folder to show. What was made for another tree or theme is dropped.
    fn folder(&mut self, epoch: u64, dark: bool, tree: &FileTree) -> PathId {
        if let Some((key, map)) = &self.map {
            if key.epoch == epoch && key.dark == dark {
                return map.folder;
            }
            self.map = None;
        }
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
                        let words = format!("{layers} of {}", counted(all, "layer"));
                        ui.label(RichText::new(words).font(text::small()).color(tokens.warning));
                    }
                });
            });
        });
        enter
    }
}

fn look(tokens: &Tokens, shown: &ShownTree, cell: &TreemapCell) -> CellLook {
    let tree = &shown.tree;
    let path = cell.path();
    let fill = match tree.scope() {
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
    CellLook { fill, name }
}

fn hover(ui: &mut Ui, shown: &ShownTree, cell: &TreemapCell) {
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
}
