//! CUDA Graphs in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary;
use super::words::Word;
use crate::base::text::printable;
use crate::deploy::graphs::{Capture, CudaGraphs, Feature, Origin, StepGain, Switch};

/// CUDA Graphs, judged for the image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CudaGraphsPart {
    /// Highest CUDA version that files in use were built for; null if unknown.
    pub cuda: Option<String>,
    /// Ways in which frameworks of the image capture.
    pub captures: Vec<CaptureLine>,
    /// Frameworks that use the GPU, and of whose captures nothing is known.
    pub unknown_frameworks: Vec<String>,
    /// Features of CUDA Graphs and what they require, oldest first.
    pub features: Vec<GraphFeatureLine>,
    /// What turns captures off, or whose effect on them is unclear.
    pub switches: Vec<GraphSwitchLine>,
    /// Configuration files searched; null if they were not searched.
    pub files_searched: Option<usize>,
    /// Gain of steps with so many launches on this machine's GPU; null if launches were not measured.
    pub gains: Option<Vec<StepGainLine>>,
}

/// A way to capture.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CaptureLine {
    /// Framework.
    pub framework: String,
    /// Its version; null if unknown.
    pub version: Option<String>,
    /// Name of the way.
    pub name: String,
    /// What makes the framework capture: default, option, code.
    #[schemars(transform = vocabulary::graph_activation)]
    pub activation: Word,
    /// First version of the framework that has it; null if unknown.
    pub from: Option<String>,
    /// automatic, available, off, too-old, unknown.
    #[schemars(transform = vocabulary::capture_state)]
    pub state: Word,
    /// Reason for the state.
    pub why: String,
    /// How it is used.
    pub how: String,
    /// Source of the facts.
    pub source: String,
}

/// A feature of CUDA Graphs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GraphFeatureLine {
    /// Identifier.
    pub id: String,
    /// Name.
    pub name: String,
    /// First CUDA version of toolkit and driver; null if unknown.
    pub cuda: Option<String>,
    /// First driver branch with that CUDA version; null if unknown.
    pub driver: Option<u32>,
    /// Whether the highest CUDA version of the image has it; null if unknown.
    pub in_image: Option<bool>,
    /// Source of the facts.
    pub source: String,
}

/// A setting that turns captures off, or whose effect is unclear.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GraphSwitchLine {
    /// Identifier.
    pub id: String,
    /// `environment`, `command`, or a path with its line.
    pub origin: String,
    /// The setting as found, redacted.
    pub setting: String,
    /// off, unclear.
    #[schemars(transform = vocabulary::graph_effect)]
    pub effect: Word,
    /// The consequence.
    pub text: String,
    /// Captures concerned, as `framework: name`; all if empty.
    pub captures: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

/// What a graph gains in a step of a program, in microseconds: launch costs only.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StepGainLine {
    /// Kernel launches of the step.
    pub launches: u32,
    /// Launched one by one.
    pub stream_us: f64,
    /// Replayed as a graph.
    pub graph_us: f64,
    /// Saved; negative if the graph is slower.
    pub saved_us: f64,
}

impl CudaGraphsPart {
    /// The part of a judgement, with gains if launches were measured.
    pub fn new(graphs: &CudaGraphs, gains: Option<&[StepGain]>) -> Self {
        Self {
            cuda: graphs.cuda.map(|version| version.to_string()),
            captures: graphs.captures.iter().map(capture).collect(),
            unknown_frameworks: graphs.unknown.iter().map(|name| printable(name)).collect(),
            features: graphs.features.iter().map(feature).collect(),
            switches: graphs.switches.iter().map(switch).collect(),
            files_searched: graphs.files_searched,
            gains: gains.map(|gains| gains.iter().map(gain).collect()),
        }
    }
}

fn capture(one: &Capture) -> CaptureLine {
    CaptureLine {
        framework: one.framework.clone(),
        version: one.version.clone(),
        name: one.name.clone(),
        activation: one.activation.as_str().into(),
        from: one.from.clone(),
        state: one.state.as_str().into(),
        why: printable(&one.why),
        how: one.how.clone(),
        source: one.source.clone(),
    }
}

fn feature(one: &Feature) -> GraphFeatureLine {
    GraphFeatureLine {
        id: one.id.clone(),
        name: one.name.clone(),
        cuda: one.cuda.clone(),
        driver: one.driver,
        in_image: one.in_image,
        source: one.source.clone(),
    }
}

fn switch(one: &Switch) -> GraphSwitchLine {
    let origin = match &one.origin {
        // Escaped already.
        Origin::File { .. } | Origin::Environment | Origin::Command => one.origin.to_string(),
    };
    GraphSwitchLine {
        id: one.id.clone(),
        origin,
        setting: printable(&one.setting),
        effect: one.effect.as_str().into(),
        text: one.text.clone(),
        captures: one.captures.clone(),
        source: one.source.clone(),
    }
}

fn gain(one: &StepGain) -> StepGainLine {
    // A tenth of a microsecond is finer than the measurement.
    let round = |us: f64| (us * 10.0).round() / 10.0;
    StepGainLine {
        launches: one.launches,
        stream_us: round(one.stream_us),
        graph_us: round(one.graph_us),
        saved_us: round(one.saved_us()),
    }
}
