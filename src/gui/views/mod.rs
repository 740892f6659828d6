//! In: an analysis as it grows, and what the user chose.
//! Out: the views of an image, painted, and [`Action`]s for the window to carry out.
//! Must not know: tabs, panels, or how an image is read.

pub mod compare;
pub mod cuda;
pub mod dockerfile;
pub mod findings;
pub mod gpu;
pub mod layers;
pub mod overview;
mod path_bar;
mod question;
pub mod report;
pub mod saved;

use std::sync::Arc;

pub use compare::CompareView;
pub use cuda::CudaView;
pub use dockerfile::DockerfileView;
pub use findings::FindingsView;
pub use gpu::GpuView;
pub use layers::LayersView;
pub use overview::OverviewView;
pub use report::ReportView;
pub use saved::SavedView;

use crate::analysis::Analysis;
use crate::findings::SavedPlan;
use crate::gui::dialogs::Pick;
use crate::gui::models::findings::{ChosenPlan, PlanChange};
use crate::jobs::Snapshot;

/// The views of an image, in the order of the rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// The sizes in a sentence, what is largest, what is wasted.
    #[default]
    Overview,
    /// Layers and their files.
    Layers,
    /// CUDA libraries and GPU code.
    Cuda,
    /// What can go.
    Findings,
    /// The Dockerfile and its proposal.
    Dockerfile,
    /// Images side by side.
    Compare,
    /// The GPU at hand.
    Gpu,
    /// Export.
    Report,
}

impl View {
    /// All of them, in the order of the rail.
    pub const ALL: [Self; 8] = [
        Self::Overview,
        Self::Layers,
        Self::Cuda,
        Self::Findings,
        Self::Dockerfile,
        Self::Compare,
        Self::Gpu,
        Self::Report,
    ];

    /// Its name in the rail.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Layers => "Layers",
            Self::Cuda => "CUDA",
            Self::Findings => "Findings",
            Self::Dockerfile => "Dockerfile",
            Self::Compare => "Compare",
            Self::Gpu => "GPU",
            Self::Report => "Report",
        }
    }

    /// What it shows, in a line for the tooltip.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Overview => "Image contents and sizes",
            Self::Layers => "Layers and their files",
            Self::Cuda => "CUDA libraries and GPU code",
            Self::Findings => "Removable content, with proof",
            Self::Dockerfile => "Reconstructed Dockerfile and smaller proposals",
            Self::Compare => "Compare images",
            Self::Gpu => "Local GPU and image compatibility",
            Self::Report => "Report preview and export",
        }
    }

    /// Why it cannot be shown of the content of a tab; `None` for a view that is there.
    pub const fn unavailable(self, content: TabContent) -> Option<&'static str> {
        match (self, content) {
            (Self::Compare, TabContent::Report { .. }) => {
                Some("Not available in a saved report: open the image")
            }
            (Self::Dockerfile, TabContent::Report { proposals: false }) => {
                Some("No proposed Dockerfile in this report: open the image")
            }
            _ => None,
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
    /// Whether nothing more will come: done, failed or cancelled.
    pub done: bool,
    /// What the view asks for; carried out after the frame is painted.
    pub actions: &'a mut Vec<Action>,
}

/// What a view may ask of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Bring a view to the front.
    ShowView(View),
    /// Show this path in the layers view ([`LayersView::select_path`]).
    SelectPath(Vec<u8>),
    /// Show this layer in the layers view ([`LayersView::select_layer`]).
    SelectLayer(usize),
    /// Show the finding with this id in the findings view ([`FindingsView::select`]).
    SelectFinding(String),
    /// Change the plan.
    ChangePlan(PlanChange),
    /// Take a saved plan in place of the plan.
    LoadPlan(SavedPlan),
    /// Run the command with this id.
    Command(&'static str),
    /// Ask for a path with a file dialog.
    Pick(Pick),
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
    /// Read the image of the tab with this id again.
    Again(u64),
    /// Stop the work of the tab with this id.
    CancelTab(u64),
    /// Open the log with the warnings.
    ShowLog,
    /// Stop the work on this image.
    Cancel,
}
