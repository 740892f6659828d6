//! In: what the user does, and what jobs publish.
//! Out: the window: its state, events and layout.
//! Must not know: what views show, or how they look.

mod commands;
mod compare;
mod files;
mod inspector;
mod log;
mod logic;
mod names;
mod remote;
mod settings;
mod slim;
mod tab;
mod ui;
mod watch;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use commands::NOT_OPENED;
pub(crate) use compare::DropOffer;
pub(crate) use inspector::{PathMenu, RowMenu};
pub(crate) use log::{Log, LogEntry, LogSource, Severity};
pub(crate) use remote::{Question, Remote, Retry};
pub(crate) use tab::{Phase, Tab};

use super::design;
use super::dialogs::{self, Dialogs, Picker};
use super::models::external::ExternalFolder;
use super::models::gpu::{Machine, MachineSetup};
use super::models::inspector::Inspector;
use super::models::remote::RemoteSetup;
use super::models::report::{Opener, desktop};
use super::models::slim::SlimModel;
use super::panels::{HelpSheet, Palette, SettingsPage, StartScreen};
use super::remembered::Remembered;
use super::views::gpu::MachineView;
use super::views::{Action, TabContent, TabViews, View};
use super::widgets::split::{pane_sizes, set_pane_sizes};
use crate::analysis::{Analysis, Failure, Options};
use crate::jobs::{Snapshot, Waker};
use crate::settings::{Overrides, Settings, SettingsFile};

/// What the window starts with.
#[derive(Clone)]
pub struct Setup {
    /// The image to open at once.
    pub image: Option<String>,
    /// Images to open beside it.
    pub compare: Vec<String>,
    /// How images are read.
    pub options: Options,
    /// `glow` or `wgpu`, whichever is to be tried first.
    pub renderer: Option<String>,
    /// Close after this many frames, for tests.
    pub exit_after_frames: Option<u64>,
    /// Whether files dropped on the window arrive here.
    pub drops_arrive: bool,
    /// Shows file dialogs.
    pub picker: Picker,
    /// Opens files with other programs.
    pub opener: Opener,
    /// How this machine's GPU is checked.
    pub machine: MachineSetup,
    /// How registries and engines are asked.
    pub remote: RemoteSetup,
    /// The user's settings; `None` for the defaults, which are then not kept.
    pub settings: Option<SettingsFile>,
    /// What options and the environment have set.
    pub overrides: Overrides,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            image: None,
            compare: Vec::new(),
            options: Options::default(),
            renderer: None,
            exit_after_frames: None,
            drops_arrive: true,
            picker: dialogs::desktop(),
            opener: desktop(),
            machine: MachineSetup::default(),
            remote: RemoteSetup::default(),
            settings: None,
            overrides: Overrides::default(),
        }
    }
}

/// The window.
#[allow(clippy::struct_excessive_bools, reason = "each is one thing that is open, or one way of the desktop")]
pub struct App {
    pub(crate) context: egui::Context,
    pub(crate) settings: Settings,
    pub(crate) settings_file: Option<SettingsFile>,
    /// Why the settings file was not read or written.
    pub(crate) settings_fault: Option<String>,
    /// The settings in the place of what is in front.
    pub(crate) settings_page: Option<SettingsPage>,
    pub(crate) overrides: Overrides,
    pub(crate) remembered: Remembered,
    watch: watch::Watch,
    pub(crate) tabs: Vec<Tab>,
    /// The tab in front; `None` is the start screen.
    pub(crate) front: Option<u64>,
    /// The tab in front when the strip was painted last; another one is scrolled into sight.
    pub(crate) seen_front: Option<u64>,
    /// The view that was painted last; the keyboard goes to the main list of another one.
    seen_view: Option<(u64, View)>,
    pub(crate) start: StartScreen,
    pub(crate) palette: Palette,
    pub(crate) log: Log,
    pub(crate) log_open: bool,
    /// Whether the log shows the entries of all images, and not only of the one in front.
    pub(crate) log_of_all: bool,
    /// The sheet of the Help menu that is open.
    pub(crate) help: Option<HelpSheet>,
    pub(crate) dialogs: Dialogs,
    /// This machine's GPU: one for all tabs.
    pub(crate) machine: Machine,
    /// The machine in the place of the start screen.
    pub(crate) machine_alone: Option<MachineView>,
    /// Registries and engines.
    pub(crate) remote: Remote,
    /// The tab and its view that the dialog is for.
    asked_by: Option<(u64, View)>,
    drops: files::DroppedFiles,
    /// Dropped files that wait for an answer.
    pub(crate) offer: Option<DropOffer>,
    /// The slim image that is being chosen or written.
    pub(crate) slim: Option<SlimModel>,
    /// The panel about a path.
    pub(crate) inspector: Option<Inspector>,
    opener: Opener,
    /// Copies of files that other programs opened.
    external_folder: ExternalFolder,
    /// The menu of a path.
    pub(crate) path_menu: Option<PathMenu>,
    /// The menu of a row that is no path, while it is open.
    pub(crate) row_menu: Option<RowMenu>,
    /// What panels and views ask for, until the frame is painted.
    pub(crate) actions: Vec<Action>,
    pub(crate) drops_arrive: bool,
    options: Options,
    next_tab: u64,
    title: String,
    exit_after_frames: Option<u64>,
    /// Whether the first frame has begun.
    polled: bool,
    /// What each frame cost, kept while frames are counted.
    costs: Vec<Duration>,
    /// Processor time of the painting thread at the last frame.
    spent: Duration,
    frames: u64,
    on_frame: Option<Box<dyn FnMut()>>,
}

impl App {
    /// A window with what was remembered in `storage`.
    pub fn new(context: &egui::Context, storage: Option<&dyn eframe::Storage>, setup: Setup) -> Self {
        design::apply(context);
        let mut app = Self {
            context: context.clone(),
            settings: Settings::default(),
            settings_file: setup.settings,
            settings_fault: None,
            settings_page: None,
            overrides: setup.overrides,
            remembered: Remembered::load(storage),
            watch: watch::Watch::default(),
            tabs: Vec::new(),
            front: None,
            seen_front: None,
            seen_view: None,
            start: StartScreen::default(),
            palette: Palette::default(),
            log: Log::default(),
            log_open: false,
            log_of_all: false,
            help: None,
            dialogs: Dialogs::new(setup.picker),
            machine: Machine::new(setup.machine),
            machine_alone: None,
            remote: Remote::new(setup.remote),
            asked_by: None,
            drops: files::DroppedFiles::default(),
            offer: None,
            slim: None,
            inspector: None,
            opener: setup.opener,
            external_folder: ExternalFolder::default(),
            path_menu: None,
            row_menu: None,
            actions: Vec::new(),
            drops_arrive: setup.drops_arrive,
            options: setup.options,
            next_tab: 1,
            title: String::new(),
            exit_after_frames: setup.exit_after_frames,
            polled: false,
            costs: Vec::new(),
            spent: Duration::ZERO,
            frames: 0,
            on_frame: None,
        };
        app.read_settings();
        set_pane_sizes(context, &app.remembered.panes);
        if let Some(image) = setup.image {
            app.open(&image);
            app.start_comparing(&setup.compare);
            app.tabs.iter_mut().for_each(|tab| tab.asked_already = true);
        } else if app.settings.restore_images {
            app.restore_images();
        }
        if app.tabs.is_empty() {
            app.start.focus();
        }
        app
    }

    /// Calls `callback` on each frame.
    pub fn on_frame(&mut self, callback: impl FnMut() + 'static) {
        self.on_frame = Some(Box::new(callback));
    }

    /// Puts a reference on top of the recent images.
    pub fn remember(&mut self, reference: &str) {
        self.remembered.remember(reference);
    }

    /// Opens a tab that shows one moment of an analysis and stays there, for pictures and measurements.
    pub fn open_still(&mut self, analysis: Arc<Analysis>, progress: Snapshot) {
        self.front = Some(self.add_tab(|id| Tab::still(id, analysis, progress)));
    }

    /// Opens a tab with an image that could not be opened, for pictures and tests.
    pub fn open_failed(&mut self, reference: &str, failure: Failure) {
        self.front = Some(self.add_tab(|id| Tab::failed(id, reference, failure)));
    }

    /// The settings in effect.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Looks at once whether open files changed, for tests.
    pub fn look_at_files(&mut self) {
        self.watch.look_now();
    }

    /// The views of the image in front, for pictures and tests.
    pub fn views(&mut self) -> Option<&mut TabViews> {
        self.front_tab_mut().map(|tab| &mut tab.views)
    }

    /// Whether the view in front is working, or this machine is being looked at.
    pub fn is_working(&self) -> bool {
        self.machine.is_busy()
            || self.inspector.as_ref().is_some_and(Inspector::is_busy)
            || self.front_tab().is_some_and(|tab| {
                // The report of an image has what the Dockerfile view proposes.
                let proposes = tab.view == View::Report && tab.analysis.is_some();
                tab.views.is_busy(tab.view) || proposes && tab.views.is_busy(View::Dockerfile)
            })
    }

    /// Whether any image is still being read or written.
    pub fn is_busy(&self) -> bool {
        self.tabs.iter().any(Tab::is_running) || self.slim.as_ref().is_some_and(SlimModel::is_busy)
    }

    pub(crate) fn front_tab(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| Some(tab.id) == self.front)
    }

    pub(crate) fn front_tab_mut(&mut self) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| Some(tab.id) == self.front)
    }

    /// The content of the front tab; that of an image if no tab is open.
    pub(crate) fn content(&self) -> TabContent {
        self.front_tab().map_or(TabContent::Image, Tab::content)
    }

    pub(crate) fn waker(&self) -> Waker {
        let context = self.context.clone();
        Arc::new(move || context.request_repaint())
    }
}

impl eframe::App for App {
    fn logic(&mut self, _: &egui::Context, _: &mut eframe::Frame) {
        self.poll();
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        // A window was cleared with this color. To paint all of it again takes time without a GPU.
        if frame.gl().is_none() {
            ui.painter().rect_filled(ui.max_rect(), 0.0, design::Tokens::of(ui).background);
        }
        self.show(ui);
        self.carry_out();
        self.count_frame();
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        self.remembered.panes = pane_sizes(&self.context);
        let front = self.front_tab().map(|tab| tab.text.clone());
        let kept = self.tabs.iter().filter(|tab| !tab.earlier).map(|tab| tab.text.as_str());
        self.remembered.keep_open(kept, front.as_deref());
        self.remembered.save(storage);
    }

    fn on_exit(&mut self, _: Option<&eframe::glow::Context>) {
        // A copy that is being written stops first.
        self.inspector = None;
        self.external_folder.remove();
    }

    fn persist_egui_memory(&self) -> bool {
        // It contains widget IDs and open popups, which another version would misread.
        false
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
