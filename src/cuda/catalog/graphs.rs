//! CUDA Graphs: ways to capture them, features and their versions, and what turns capture off.

use serde::Deserialize;

use super::Catalog;
use super::entry::{CatalogEntry, entry};
use crate::base::words::words;

/// A way in which a framework captures CUDA Graphs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphCapture {
    /// Name of the framework in the catalogue.
    pub framework: String,
    /// Name of the way, such as `torch.compile`.
    pub name: String,
    /// What makes the framework capture.
    pub activation: GraphActivation,
    /// First version of the framework that has it; `None` if unknown.
    pub from: Option<String>,
    /// How it is used, in a few words.
    pub how: String,
    /// Source of the facts.
    pub source: String,
}

/// What makes a framework capture CUDA Graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphActivation {
    /// Without being asked.
    Default,
    /// A setting.
    Option,
    /// The program calls it.
    Code,
}

words!(GraphActivation {
    Default = "default",
    Option = "option",
    Code = "code",
});

/// A feature of CUDA Graphs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFeature {
    /// Identifier, such as `conditional-nodes`.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// First CUDA version of toolkit and driver that has it; `None` if unknown.
    pub cuda: Option<String>,
    /// Source of the facts.
    pub source: String,
}

/// What turns the capture of CUDA Graphs off, or undoes its gain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSwitch {
    /// Identifier.
    pub id: String,
    /// Environment variable; its value matches `value`.
    pub variable: Option<String>,
    /// Word of the command; with `value`, its own value matches.
    pub argument: Option<String>,
    /// Key of a configuration file; its value matches `value`, or is true.
    pub setting: Option<String>,
    /// Regular expression of the value.
    pub value: Option<String>,
    /// Captures concerned, as `framework: name`; all if empty.
    #[serde(default)]
    pub captures: Vec<String>,
    /// What it does to a capture.
    pub effect: GraphEffect,
    /// The consequence, in a few words.
    pub text: String,
    /// Source of the facts.
    pub source: String,
}

/// What a switch does to captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphEffect {
    /// No capture.
    Off,
    /// No source states what a capture does.
    Unclear,
}

words!(GraphEffect {
    Off = "off",
    Unclear = "unclear",
});

entry!(GraphCapture, |it| format!("{}: {}", it.framework, it.name));
entry!(GraphFeature, |it| it.id.clone());
entry!(GraphSwitch, |it| it.id.clone(), patterns: |it| super::entry::texts(&it.value));

impl Catalog {
    /// Ways to capture CUDA Graphs, in file order.
    pub fn graph_captures(&self) -> &[GraphCapture] {
        &self.document.graph_captures
    }

    /// Features of CUDA Graphs, oldest first in the built-in file.
    pub fn graph_features(&self) -> &[GraphFeature] {
        &self.document.graph_features
    }

    /// What turns the capture of CUDA Graphs off, in file order.
    pub fn graph_switches(&self) -> &[GraphSwitch] {
        &self.document.graph_switches
    }
}
