//! The panel about a path, and the menu of paths.

use std::path::PathBuf;
use std::sync::Arc;

use super::{App, LogSource};
use crate::gui::dialogs::DialogAnswer;
use crate::gui::models::cuda::is_listed;
use crate::gui::models::inspector::{Inspector, InspectorPage, PathTarget};
use crate::gui::views::{Action, View};

/// The menu of a path.
pub(crate) struct PathMenu {
    /// The tab of the image.
    pub(crate) tab: u64,
    /// The path.
    pub(crate) target: PathTarget,
    /// Where it opens.
    pub(crate) at: egui::Pos2,
    /// Whether its first entry had the focus once.
    pub(crate) focused: bool,
}

/// The menu of a row that is no path.
pub(crate) struct RowMenu {
    /// What was in front: its entries act on that alone.
    pub(crate) front: Option<u64>,
    /// Labels, and what they do.
    pub(crate) entries: Vec<(&'static str, Action)>,
    /// Where it opens.
    pub(crate) at: egui::Pos2,
    /// Whether its first entry had the focus once.
    pub(crate) focused: bool,
}

impl App {
    /// Opens the panel about a path of the image in front.
    pub(super) fn inspect(&mut self, target: PathTarget, page: InspectorPage) {
        let Some(tab) = self.front_tab().filter(|tab| tab.analysis.is_some()).map(|tab| tab.id) else {
            return;
        };
        // The list gets smaller beside the panel: the selected row stays in sight.
        if let Some(front) = self.front_tab_mut().filter(|front| front.view == View::Layers) {
            let layers = &mut front.views.layers;
            if layers.selected_target().as_ref() == Some(&target) {
                layers.select_path(target.raw.clone());
            }
        }
        match &mut self.inspector {
            Some(known) if known.tab == tab && known.target == target => known.page = page,
            inspector => *inspector = Some(Inspector::new(tab, target, page, Arc::clone(&self.opener))),
        }
    }

    /// The path that commands act on: the selected one in Layers and Treemap, else that of the panel.
    pub(crate) fn selected_target(&self) -> Option<PathTarget> {
        let tab = self.front_tab()?;
        let has_files = matches!(tab.view, View::Layers | View::Treemap);
        let selected = if has_files { tab.views.layers.selected_target() } else { None };
        let inspected = self.inspector.as_ref().filter(|inspector| inspector.tab == tab.id);
        selected
            .or_else(|| inspected.map(|inspector| inspector.target.clone()))
            .or_else(|| tab.views.layers.selected_target())
    }

    /// The panel about the path that commands act on; closes it if it shows this already.
    pub(super) fn inspect_selected(&mut self, page: InspectorPage) {
        let Some(target) = self.selected_target() else { return };
        let front = self.front;
        let shows =
            |known: &Inspector| Some(known.tab) == front && known.target == target && known.page == page;
        if self.inspector.as_ref().is_some_and(shows) {
            self.inspector = None;
        } else {
            self.inspect(target, page);
        }
    }

    pub(super) fn open_path_menu(&mut self, tab: u64, target: PathTarget) {
        let at = self.context.pointer_latest_pos().unwrap_or(egui::pos2(80.0, 80.0));
        self.path_menu = Some(PathMenu { tab, target, at, focused: false });
    }

    pub(super) fn open_row_menu(&mut self, entries: Vec<(&'static str, Action)>) {
        let at = self.context.pointer_latest_pos().unwrap_or(egui::pos2(80.0, 80.0));
        self.row_menu = Some(RowMenu { front: self.front, entries, at, focused: false });
    }

    /// Opens the panel with its field for where to save.
    pub(super) fn ask_to_save(&mut self, target: PathTarget) {
        self.inspect(target, InspectorPage::Contents);
        if let Some(inspector) = &mut self.inspector {
            let tab = self.tabs.iter().find(|tab| tab.id == inspector.tab);
            if let Some(analysis) = tab.and_then(|tab| tab.analysis.as_ref()) {
                inspector.learn_kind(analysis);
            }
            inspector.ask_name();
        }
    }

    /// Whether several rows of the layers view in front are chosen together.
    pub(crate) fn selects_several(&self) -> bool {
        let front = self.front_tab().filter(|tab| tab.view == View::Layers);
        front.is_some_and(|tab| tab.views.layers.browser().marks().count() > 1)
    }

    /// Whether a path of the image of a tab is a folder.
    pub(crate) fn is_folder(&self, tab: u64, target: &PathTarget) -> bool {
        let tab = self.tabs.iter().find(|open| open.id == tab);
        tab.and_then(|tab| tab.analysis.as_ref()).is_some_and(|analysis| target.is_folder(analysis))
    }

    /// Whether a path of a tab is the one that the layers view in front shows.
    pub(crate) fn is_in_layers(&self, tab: u64, target: &PathTarget) -> bool {
        let front = self.front_tab().filter(|front| front.id == tab && front.view == View::Layers);
        front.is_some_and(|front| front.views.layers.selected_target().as_ref() == Some(target))
    }

    /// Whether the CUDA view of the image of a tab lists a path.
    pub(crate) fn is_in_cuda(&self, tab: u64, raw: &[u8]) -> bool {
        let tab = self.tabs.iter().find(|open| open.id == tab);
        let analysis = tab.and_then(|tab| tab.analysis.as_ref());
        let known =
            analysis.and_then(|analysis| Some((analysis.inventory.as_ref()?, analysis.merge.as_ref()?)));
        known.is_some_and(|(inventory, merge)| is_listed(inventory, merge, raw))
    }

    /// Takes the results of the panel.
    pub(super) fn poll_inspector(&mut self) {
        let waker = self.waker();
        let Some(inspector) = &mut self.inspector else { return };
        let Some(tab) = self.tabs.iter().find(|tab| tab.id == inspector.tab) else { return };
        if let Some(analysis) = &tab.analysis {
            inspector.update(analysis, tab.generation, &self.options, &waker);
        }
        if inspector.is_running() {
            self.context.request_repaint_after(std::time::Duration::from_millis(100));
        }
    }

    /// Saves the file of the panel; `replace` if the user agreed to it.
    pub(crate) fn save_inspected(&mut self, to: PathBuf, replace: bool) {
        let waker = self.waker();
        let Some(inspector) = &mut self.inspector else { return };
        let Some(tab) = self.tabs.iter().find(|tab| tab.id == inspector.tab) else { return };
        if let Some(analysis) = &tab.analysis {
            inspector.save_to(analysis, &self.options, (to, replace), &waker);
        }
    }

    /// Opens the file of the panel with the desktop's program for it.
    pub(super) fn open_externally(&mut self) {
        let waker = self.waker();
        let Some(inspector) = &mut self.inspector else { return };
        let Some(tab) = self.tabs.iter().find(|tab| tab.id == inspector.tab) else { return };
        if let Some(analysis) = &tab.analysis {
            inspector.open_external(analysis, &self.options, &mut self.external_folder, &waker);
        }
    }

    pub(super) fn picked_file(&mut self, answer: DialogAnswer) {
        match answer {
            DialogAnswer::Picked(path) => self.save_inspected(path, true),
            DialogAnswer::Failed(reason) => {
                self.log.error(LogSource::WINDOW, &reason);
                if let Some(inspector) = &mut self.inspector {
                    inspector.ask_name();
                }
            }
            DialogAnswer::Nothing => {}
        }
    }
}
