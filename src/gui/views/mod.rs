//! In: an analysis as it grows, and what the user chose.
//! Out: the views of an image, painted, and [`Action`]s for the window to carry out.
//! Must not know: tabs, panels, or how an image is read.

pub mod commands;
pub mod compare;
pub mod cuda;
pub mod deployment;
pub mod dockerfile;
mod filter_field;
pub mod findings;
pub mod gpu;
mod grouping;
pub mod layers;
pub mod overview;
pub(in crate::gui) mod path_bar;
mod question;
pub mod report;
pub(in crate::gui) mod save_bar;
pub mod saved;
pub mod treemap;

use std::path::PathBuf;
use std::sync::Arc;

use egui::Ui;

pub use commands::{Command, CommandInfo, Menu, Needs};
pub use saved::SavedView;

use self::compare::CompareContext;
use self::findings::FindingsPage;
use self::report::ProposedDockerfile;
use crate::analysis::Analysis;
use crate::findings::SavedPlan;
use crate::gui::dialogs::Pick;
use crate::gui::models::findings::{ChosenPlan, PlanChange};
use crate::gui::models::gpu::Machine;
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::report::SavedReport;
use crate::jobs::{Snapshot, Waker};
use crate::report::page::Page;

/// A view of an image: its state, which each tab has for itself, and how it is painted.
pub trait ImageView {
    /// Why it cannot be shown of the content of a tab; `None` for a view that is there.
    fn unavailable(_: TabContent) -> Option<&'static str>
    where
        Self: Sized,
    {
        None
    }

    /// What it shows of a saved report; `None` for a view that needs the image.
    fn saved_page(_: &SavedReport) -> Option<&Arc<Page>>
    where
        Self: Sized,
    {
        None
    }

    /// Paints the view.
    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>);

    /// Puts the keyboard focus into its search field, for `/` and Ctrl+F; whether it has one.
    fn focus_search(&mut self) -> bool {
        false
    }

    /// Names of its main lists, of which one is shown: the keyboard is there when the view opens.
    fn main_lists(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether something is being worked out or saved.
    fn is_busy(&self) -> bool {
        false
    }

    /// Takes the path from the dialog that it asked for. A dialog that saves asks by itself whether a file may be
    /// replaced.
    fn picked(&mut self, _: Pick, _path: PathBuf, _: &ChosenPlan, _: &Waker) {}

    /// Says that the dialog could not be shown, and why: the fields are there for paths.
    fn dialog_failed(&mut self, _reason: &str) {}
}

macro_rules! views {
    ($($(#[$attribute:meta])? $view:ident: $module:ident::$state:ident, $title:literal, $about:literal;)*) => {
        $(pub use $module::$state;)*

        /// The views of an image, in the order of the rail.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum View {
            $($(#[$attribute])? #[doc = concat!("See [`", stringify!($state), "`].")] $view,)*
        }

        impl View {
            /// All of them, in the order of the rail.
            pub const ALL: &[Self] = &[$(Self::$view,)*];

            /// Its name in the rail.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$view => $title,)* }
            }

            /// What it shows, in a line for the tooltip.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$view => $about,)* }
            }

            /// See [`ImageView::unavailable`].
            pub fn unavailable(self, content: TabContent) -> Option<&'static str> {
                match self { $(Self::$view => $state::unavailable(content),)* }
            }

            /// See [`ImageView::saved_page`].
            fn saved_page(self, saved: &SavedReport) -> Option<&Arc<Page>> {
                match self { $(Self::$view => $state::saved_page(saved),)* }
            }
        }

        /// The state of all views of a tab.
        #[derive(Default)]
        pub struct TabViews {
            $(#[doc = concat!("See [`", stringify!($state), "`].")] pub $module: $state,)*
        }

        impl TabViews {
            /// One of them.
            pub fn get(&mut self, view: View) -> &mut dyn ImageView {
                match view { $(View::$view => &mut self.$module,)* }
            }

            /// Whether something is being worked out or saved for one of them.
            pub fn is_busy(&self, view: View) -> bool {
                match view { $(View::$view => self.$module.is_busy(),)* }
            }
        }
    };
}

// A view is a module with this state, and a line here.
views! {
    #[default] Overview: overview::OverviewView, "Overview", "Image contents and sizes";
    Layers: layers::LayersView, "Layers", "Layers and their files";
    Cuda: cuda::CudaView, "CUDA", "CUDA libraries and GPU code";
    Findings: findings::FindingsView, "Findings", "Removable content, with proof";
    Dockerfile: dockerfile::DockerfileView, "Dockerfile", "Reconstructed Dockerfile and smaller proposals";
    Compare: compare::CompareView, "Compare", "Compare images";
    Gpu: gpu::GpuView, "GPU", "Local GPU and image compatibility";
    Report: report::ReportView, "Report", "Report preview and export";
    Deployment: deployment::DeploymentView, "Deploy", "Machines, cold start and lines to paste for a platform";
    Treemap: treemap::TreemapView, "Treemap", "Sizes of files and folders as a picture";
}

/// Wakes the window, for work beside it.
fn waker(ui: &Ui) -> Waker {
    let context = ui.ctx().clone();
    Arc::new(move || context.request_repaint())
}

/// Asks for the menu of a path when the secondary button is clicked on what shows it.
pub(in crate::gui) fn path_menu(response: &egui::Response, raw: &[u8]) -> Option<Action> {
    response.secondary_clicked().then(|| Action::PathMenu(PathTarget::of(raw.to_vec())))
}

impl TabViews {
    /// Paints a view.
    pub fn ui(&mut self, view: View, ui: &mut Ui, context: &mut ViewContext<'_>) {
        if view == View::Report {
            // The report contains what the Dockerfile view proposes, which works on while the report is in front.
            context.proposed = self.dockerfile.in_background(ui, context);
        }
        // The treemap shows the files of the layers view, with what is selected there.
        if view == View::Treemap {
            self.treemap.swap(self.layers.browser_mut());
        }
        self.get(view).ui(ui, context);
        if view == View::Treemap {
            self.treemap.swap(self.layers.browser_mut());
        }
    }
}

/// The content of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabContent {
    /// An image, or the work that reads it.
    Image,
    /// A saved report.
    Report {
        /// Whether it proposes a Dockerfile.
        proposals: bool,
    },
}

/// What a view is given each frame.
pub struct ViewContext<'a> {
    /// What is known of the image so far.
    pub analysis: &'a Arc<Analysis>,
    /// Grows whenever `analysis` is another one: a view model made for this number is still good.
    pub generation: u64,
    /// Which findings are to be carried out, and what the image is then.
    pub plan: &'a ChosenPlan,
    /// Counters of the running job.
    pub progress: Snapshot,
    /// Bytes of each layer that the running job has passed; empty when they are not known.
    pub layers_passed: Vec<u64>,
    /// Whether nothing more will come: done, failed or cancelled.
    pub done: bool,
    /// This machine's GPU: one for all tabs.
    pub machine: &'a mut Machine,
    /// The images that are open, for the view that compares.
    pub images: &'a CompareContext,
    /// What the Dockerfile view proposes, for the report.
    pub proposed: ProposedDockerfile,
    /// What the view asks for; carried out after the frame is painted.
    pub actions: &'a mut Vec<Action>,
}

/// What a view or a panel may ask of the window; done after the frame is painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run a command.
    Run(Command),
    /// Bring a view to the front.
    ShowView(View),
    /// Show this path in the layers view ([`LayersView::select_path`]).
    SelectPath(Vec<u8>),
    /// Show this path in the treemap view ([`TreemapView::reveal`]).
    ShowInTreemap(Vec<u8>),
    /// Show this layer in the layers view ([`LayersView::select_layer`]).
    SelectLayer(usize),
    /// Show the finding with this id in the findings view ([`FindingsView::select`]).
    SelectFinding(String),
    /// Show a page about the finding with this id ([`FindingsView::show_page`]).
    ShowFinding(String, FindingsPage),
    /// Offer these, at the pointer.
    RowMenu(Vec<(&'static str, Action)>),
    /// Show the contents of a file.
    ShowContents(PathTarget),
    /// Show why a path is in the image.
    ShowWhy(PathTarget),
    /// Offer what can be done with a path, at the pointer.
    PathMenu(PathTarget),
    /// The same for a path of the image of a tab.
    PathMenuIn(u64, PathTarget),
    /// Show only what is in this folder, or in the folder of this file, in the layers view
    /// ([`LayersView::filter_folder`]).
    FilterFolder(Vec<u8>),
    /// Show this library or file in the CUDA view ([`CudaView::select_path`]).
    ShowInCuda(Vec<u8>),
    /// Ask where to save a file, or a folder as an archive.
    SavePath(PathTarget),
    /// Save the file of the panel about a path here, unless something is there.
    SaveInspected(PathBuf),
    /// Open the file of the panel about a path with another program.
    OpenExternally,
    /// Ask where to save the selected files of the layers view as an archive.
    AskSelection,
    /// Save them here, unless something is there.
    SaveSelection(PathBuf),
    /// Close the panel about a path.
    CloseInspector,
    /// Change the plan.
    ChangePlan(PlanChange),
    /// Take a saved plan in place of the plan.
    LoadPlan(SavedPlan),
    /// Ask for a path with a file dialog.
    Pick(Pick),
    /// Show what the log has on the image in front.
    ShowLog,
    /// Tell the log of an error.
    Report(String),
    /// Put text on the clipboard.
    CopyText(String),
    /// Open another image in a new tab.
    OpenImage(String),
    /// Open another image in a tab behind this one, and put it beside this one.
    OpenBeside(String),
    /// Show a path in the layers view of the tab with this id.
    ShowPathIn(u64, Vec<u8>),
    /// Show a layer in the layers view of the tab with this id.
    ShowLayerIn(u64, usize),
    /// Bring the tab with this id to the front.
    ShowTab(u64),
    /// Close the tab with this id.
    CloseTab(u64),
    /// Close the tab with this id, and put its reference into the field of the start screen.
    EditReference(u64),
    /// Read the image of the tab with this id again.
    Again(u64),
    /// Read the changed file of the tab with this id again, and compare with what was shown if the flag is set.
    ReloadChanged(u64, bool),
    /// Keep showing what the file of this tab was.
    DismissChange(u64),
    /// Show the slim image that is being written.
    ShowSlim,
    /// Stop writing the slim image.
    CancelSlim,
    /// Stop the work of the tab with this id.
    CancelTab(u64),
    /// Log in to the registry of the tab with this id, which failed without.
    LogIn(u64),
    /// Show this machine's GPU.
    ShowMachine,
}
