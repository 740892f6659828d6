//! CUDA Graphs, judged for an image: which of its frameworks capture them, what single features require, and what
//! turns them off. Facts are in `assets/catalog/graphs.toml`; what they do not state is unknown.

mod config;
mod switches;

use std::cmp::Ordering;

use crate::analysis::Analysis;
use crate::base::redact;
use crate::base::text::escape;
use crate::base::words::{json_words, words};
use crate::cuda::catalog::{Catalog, GraphActivation, GraphCapture, GraphEffect, numbers};
use crate::cuda::compat::CudaVersion;

pub use config::{ConfigFile, read_config_files};
pub use switches::Origin;

/// CUDA Graphs in an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CudaGraphs {
    /// Highest CUDA version that files in use were built for; `None` if unknown.
    pub cuda: Option<CudaVersion>,
    /// Ways to capture, for each framework of the image that has one; sorted by framework, in the catalogue's order.
    pub captures: Vec<Capture>,
    /// Frameworks of the image that use the GPU and of whose captures the catalogue knows nothing.
    pub unknown: Vec<String>,
    /// Features, oldest first.
    pub features: Vec<Feature>,
    /// What turns captures off, in the order environment, command, files.
    pub switches: Vec<Switch>,
    /// Number of configuration files searched; `None` if they were not searched.
    pub files_searched: Option<usize>,
}

/// Whether a capture can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaptureState {
    /// The framework captures without being asked.
    Automatic,
    /// It can be enabled, or the program may call it.
    Available,
    /// Something in the image turns it off.
    Off,
    /// The framework is older than the capture.
    TooOld,
    /// The version of the framework is unknown, or that of the capture, or the effect of a switch.
    Unknown,
}

words!(CaptureState {
    Automatic = "automatic",
    Available = "available",
    Off = "off",
    TooOld = "too-old",
    Unknown = "unknown",
});

json_words!(CaptureState);

impl CaptureState {
    /// Label for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Automatic => "Automatic",
            Self::Available => "Available",
            Self::Off => "Turned off",
            Self::TooOld => "Version too old",
            Self::Unknown => "Unknown",
        }
    }
}

/// A way to capture, with its state in the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Framework.
    pub framework: String,
    /// Its version; `None` if unknown.
    pub version: Option<String>,
    /// Name of the way.
    pub name: String,
    /// What makes the framework capture.
    pub activation: GraphActivation,
    /// First version that has it; `None` if unknown.
    pub from: Option<String>,
    /// Whether it can be used.
    pub state: CaptureState,
    /// Reason for the state, in a sentence.
    pub why: String,
    /// How it is used.
    pub how: String,
    /// Source of the facts.
    pub source: String,
}

/// A feature of CUDA Graphs, with its requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Identifier.
    pub id: String,
    /// Name.
    pub name: String,
    /// First CUDA version of toolkit and driver; `None` if unknown.
    pub cuda: Option<String>,
    /// First driver branch with that CUDA version; `None` if unknown.
    pub driver: Option<u32>,
    /// Whether the highest CUDA version of the image has it; `None` if unknown.
    pub in_image: Option<bool>,
    /// Source of the facts.
    pub source: String,
}

/// Something that turns captures off, or whose effect on them is unclear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Identifier in the catalogue.
    pub id: String,
    /// Where it is.
    pub origin: Origin,
    /// The setting as found, redacted: `CUDA_LAUNCH_BLOCKING=1`.
    pub setting: String,
    /// What it does to a capture.
    pub effect: GraphEffect,
    /// The consequence.
    pub text: String,
    /// Captures concerned, as `framework: name`; all if empty.
    pub captures: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

/// Settings in which switches are searched.
#[derive(Clone, Debug, Default)]
pub struct Settings<'a> {
    /// Environment as name and value; of repeated names the last counts.
    pub environment: Vec<(&'a str, &'a str)>,
    /// Entrypoint and command.
    pub command: Vec<&'a str>,
    /// Configuration files; `None` if they were not read.
    pub files: Option<&'a [ConfigFile]>,
}

/// Judges CUDA Graphs for an image; `None` until the inventory is complete. `files` are those that
/// [`read_config_files`] read.
pub fn cuda_graphs(analysis: &Analysis, files: Option<&[ConfigFile]>) -> Option<CudaGraphs> {
    let needs = analysis.needs()?;
    let inventory = analysis.inventory.as_deref()?;
    let catalog = analysis.known_rules();
    let config = analysis.image.config.as_ref().and_then(|config| config.config().as_ref());
    let environment = config.and_then(|config| config.env().as_ref());
    let words = config.map(|config| [config.entrypoint(), config.cmd()]).into_iter().flatten();
    let settings = Settings {
        environment: environment.into_iter().flatten().filter_map(|pair| pair.split_once('=')).collect(),
        command: words.flatten().flatten().map(String::as_str).collect(),
        files,
    };
    let mut frameworks: Vec<(&str, Option<&str>)> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    for framework in &inventory.frameworks {
        let (name, version) = (&*framework.name, framework.version.as_deref());
        if catalog.graph_captures().iter().any(|capture| capture.framework == name) {
            if framework.cuda_version.is_some() || needs.uses_cuda {
                frameworks.push((name, version));
            }
        } else if framework.cuda_version.is_some() && !unknown.iter().any(|known| known == name) {
            unknown.push(name.to_owned());
        }
    }
    frameworks.dedup();
    let versions = needs.versions.iter().map(|need| need.version);
    let cuda = versions.max_by_key(|version| (version.major, version.minor.unwrap_or(0)));
    Some(judge(catalog, &frameworks, unknown, cuda, &settings))
}

/// Judges frameworks, given with their versions, and settings.
pub fn judge(
    catalog: &Catalog,
    frameworks: &[(&str, Option<&str>)],
    unknown: Vec<String>,
    cuda: Option<CudaVersion>,
    settings: &Settings<'_>,
) -> CudaGraphs {
    let ways: Vec<(&GraphCapture, Option<&str>)> = frameworks
        .iter()
        .flat_map(|(name, version)| {
            let of = catalog.graph_captures().iter().filter(move |capture| capture.framework == *name);
            of.map(move |capture| (capture, *version))
        })
        .collect();
    let named: Vec<String> = ways.iter().map(|(way, _)| key(way)).collect();
    // A switch of a framework that the image does not have turns nothing off.
    let concerns = |captures: &[String]| {
        (captures.is_empty() && !named.is_empty()) || captures.iter().any(|one| named.contains(one))
    };
    let switches: Vec<Switch> = switches::find(catalog.graph_switches(), settings)
        .into_iter()
        .filter(|switch| concerns(&switch.captures))
        .map(|switch| Switch { setting: redact::assignment(&switch.setting), ..switch })
        .collect();
    CudaGraphs {
        cuda,
        captures: ways.iter().map(|(way, version)| capture(way, *version, &switches)).collect(),
        unknown,
        features: features(catalog, cuda),
        switches,
        files_searched: settings.files.map(<[ConfigFile]>::len),
    }
}

fn key(way: &GraphCapture) -> String {
    format!("{}: {}", way.framework, way.name)
}

fn capture(way: &GraphCapture, version: Option<&str>, switches: &[Switch]) -> Capture {
    let concerned = |switch: &&Switch| switch.captures.is_empty() || switch.captures.contains(&key(way));
    let worst = |effect| switches.iter().filter(concerned).find(|switch| switch.effect == effect);
    let older = version.zip(way.from.as_deref()).map(|(version, from)| compare(version, from));
    let set = |switch: &Switch| format!("{} ({}): {}.", switch.setting, switch.origin, switch.text);
    let (state, why) = if older == Some(Ordering::Less) {
        let from = way.from.as_deref().unwrap_or_default();
        (CaptureState::TooOld, format!("In {} from version {from}.", way.framework))
    } else if let Some(switch) = worst(GraphEffect::Off) {
        (CaptureState::Off, set(switch))
    } else if let Some(switch) = worst(GraphEffect::Unclear) {
        (CaptureState::Unknown, set(switch))
    } else {
        let possible = match way.activation {
            GraphActivation::Default => CaptureState::Automatic,
            GraphActivation::Option | GraphActivation::Code => CaptureState::Available,
        };
        match (version, &way.from) {
            (_, None) => (CaptureState::Unknown, "The first version with it is unknown.".to_owned()),
            (None, Some(from)) => (
                CaptureState::Unknown,
                format!("In {} from version {from}; the version is unknown.", way.framework),
            ),
            (Some(_), Some(from)) => (possible, format!("In {} from version {from}.", way.framework)),
        }
    };
    Capture {
        framework: way.framework.clone(),
        version: version.map(|version| escape(version.as_bytes())),
        name: way.name.clone(),
        activation: way.activation,
        from: way.from.clone(),
        state,
        why,
        how: way.how.clone(),
        source: way.source.clone(),
    }
}

fn compare(version: &str, from: &str) -> Ordering {
    let (mut version, mut from) = (numbers(version.as_bytes()), numbers(from.as_bytes()));
    let parts = version.len().max(from.len()).min(8);
    version.resize(parts, 0);
    from.resize(parts, 0);
    version.cmp(&from)
}

fn features(catalog: &Catalog, cuda: Option<CudaVersion>) -> Vec<Feature> {
    catalog
        .graph_features()
        .iter()
        .map(|feature| {
            let first = feature.cuda.as_deref().and_then(CudaVersion::parse);
            let pair = |version: CudaVersion| (version.major, version.minor.unwrap_or(0));
            let branch = |first: CudaVersion| {
                let has =
                    |cuda: &str| CudaVersion::parse(cuda).is_some_and(|known| pair(known) >= pair(first));
                let branches = catalog.driver_branches().iter().filter(|branch| has(&branch.cuda));
                branches.map(|branch| branch.branch).min()
            };
            let in_image = match (cuda, first) {
                // The minor version decides, and it is unknown.
                (Some(CudaVersion { major, minor: None }), Some(first)) if major == first.major => None,
                (Some(cuda), Some(first)) => Some(pair(cuda) >= pair(first)),
                _ => None,
            };
            Feature {
                id: feature.id.clone(),
                name: feature.name.clone(),
                cuda: feature.cuda.clone(),
                driver: first.and_then(branch),
                in_image,
                source: feature.source.clone(),
            }
        })
        .collect()
}

/// What a graph gains for one step of a program on a measured GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepGain {
    /// Kernel launches of the step.
    pub launches: u32,
    /// Time to launch them one by one, in microseconds.
    pub stream_us: f64,
    /// Time to replay them as a graph, in microseconds.
    pub graph_us: f64,
}

impl StepGain {
    /// The gain of a step of `launches` launches, from the costs of one launch. Costs of launches only: a step whose
    /// kernels take longer than their launches gains less.
    pub fn of(launches: u32, stream_us_per_launch: f64, graph_us_per_launch: f64) -> Self {
        let number = f64::from(launches);
        Self { launches, stream_us: number * stream_us_per_launch, graph_us: number * graph_us_per_launch }
    }

    /// Time saved, in microseconds; negative if the graph is slower.
    pub fn saved_us(&self) -> f64 {
        self.stream_us - self.graph_us
    }
}
