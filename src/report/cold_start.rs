//! Cold start: seconds until the image's program runs on a node, with all assumptions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::Options;
use super::words::Word;
use crate::analysis::Analysis;
use crate::base::text::{escape, printable};
use crate::deploy::{
    Advice, ColdStart, ColdStartInput, Phases, Profile, Scenario, Seconds, StartupRead, cold_start,
};
use crate::findings::Plan;

/// Paths of start-up listed in a report; there are some hundred at most.
const PATHS: usize = 2000;

/// The estimated cold start.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ColdStartPart {
    /// The platform of the profile; null if none was chosen.
    pub profile: Option<ProfilePart>,
    /// Id of the node whose rates are assumed.
    pub node: String,
    /// Name of that node.
    pub node_name: String,
    /// catalog, or calibrated: measured by `cutaway calibrate` where it measures.
    pub rates: Word,
    /// Ways to start; the first is that of the platform.
    pub scenarios: Vec<ScenarioPart>,
    /// What start-up reads; null if the command names no program of the image.
    pub startup: Option<StartupPart>,
    /// Changes with their gain.
    pub advice: Vec<AdvicePart>,
}

/// A platform.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProfilePart {
    /// Id, such as `gke`.
    pub id: String,
    /// Name.
    pub name: String,
    /// How the driver reaches the container: toolkit, folder, platform.
    pub driver: Word,
    /// Folder of the driver in the container; null unless a folder is mounted.
    pub driver_folder: Option<String>,
    /// Where the base image is named.
    pub base_image: String,
    /// Source of the facts.
    pub source: String,
}

/// A way to start. Durations are in seconds; null if unknown.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ScenarioPart {
    /// Stable name, such as `pull` or `lazy-soci`.
    pub name: String,
    /// Title.
    pub title: String,
    /// Until the program runs, in the middle of all rates.
    pub total_seconds: Option<f64>,
    /// At the favourable end of all rates.
    pub total_low_seconds: Option<f64>,
    /// At the unfavourable end.
    pub total_high_seconds: Option<f64>,
    /// The same after the plan.
    pub after_plan_seconds: Option<f64>,
    /// After the plan, lower bound.
    pub after_plan_low_seconds: Option<f64>,
    /// After the plan, upper bound.
    pub after_plan_high_seconds: Option<f64>,
    /// The same after `cutaway slim` with the plan and the targets; null if no targets were given.
    pub after_slim_seconds: Option<f64>,
    /// After slim, lower bound.
    pub after_slim_low_seconds: Option<f64>,
    /// After slim, upper bound.
    pub after_slim_high_seconds: Option<f64>,
    /// Phases; download and unpacking overlap.
    pub phases: Option<PhasesPart>,
    /// Assumptions by name.
    pub assumptions: BTreeMap<String, AssumptionPart>,
    /// Why a duration or a part of it is unknown.
    pub unknown: Option<String>,
}

/// Phases of a cold start.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PhasesPart {
    /// Until the last byte has arrived; for lazy loading, fetching what is read.
    pub fetch: SecondsPart,
    /// Work of unpacking.
    pub unpack: SecondsPart,
    /// Creating the container and starting its process.
    pub start: SecondsPart,
    /// Reading files at start-up from disk.
    pub read: SecondsPart,
}

/// An interval of seconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SecondsPart {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// An assumption of an estimate.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AssumptionPart {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Unit. MB is 10^6 bytes.
    pub unit: Word,
    /// Source of the value.
    pub source: String,
}

/// What start-up reads.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StartupPart {
    /// ELF files that the loader maps.
    pub libraries: u64,
    /// Their bytes without GPU code.
    pub library_bytes: u64,
    /// Their GPU code for one of the targets, at most.
    pub gpu_code_bytes: u64,
    /// Python modules that may be imported.
    pub modules: u64,
    /// Their bytes.
    pub module_bytes: u64,
    /// Frameworks assumed to be imported.
    pub frameworks: Vec<String>,
    /// Paths of the ELF files; empty in formats for people.
    pub paths: Vec<String>,
}

/// A change and what it saves.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AdvicePart {
    /// Stable id, such as `zstd`.
    pub id: String,
    /// What to do.
    pub title: String,
    /// Why and how.
    pub text: String,
    /// Seconds saved; negative where it takes longer.
    pub saves_seconds: SecondsPart,
    /// Whether it saves time in the middle of the interval.
    pub recommended: bool,
}

impl ProfilePart {
    pub(super) fn of(profile: &Profile) -> Self {
        Self {
            id: profile.id.clone(),
            name: profile.name.clone(),
            driver: profile.driver.as_str().into(),
            driver_folder: profile.driver_folder.clone(),
            base_image: profile.base_image.clone(),
            source: profile.source.clone(),
        }
    }
}

impl SecondsPart {
    /// The bounds, to the millisecond.
    pub(super) fn of(seconds: &Seconds) -> Self {
        Self { low: rounded(seconds.low), high: rounded(seconds.high) }
    }
}

/// To the millisecond; estimates are not more exact.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// The estimate of an analysis for the plan and the platform of the options; `None` before the layers are merged.
pub(super) fn estimate(analysis: &Analysis, options: &Options) -> Option<ColdStart> {
    let safe = analysis.findings.as_deref().map(Plan::of_safe).unwrap_or_default();
    cold_start(&ColdStartInput {
        analysis,
        plan: options.plan.as_ref().unwrap_or(&safe),
        profile: options.profile.as_deref(),
        measured: options.calibration.as_deref(),
        slim: options.targets_given,
    })
}

/// The estimate as part of a report; `None` before the layers are merged.
pub fn cold_start_part(analysis: &Analysis, options: &Options) -> Option<ColdStartPart> {
    Some(part(analysis, &estimate(analysis, options)?, options))
}

pub(super) fn part(analysis: &Analysis, found: &ColdStart, options: &Options) -> ColdStartPart {
    let profile = found.profile.as_ref().map(ProfilePart::of);
    ColdStartPart {
        profile,
        node: found.rates.node.id.clone(),
        node_name: found.rates.node.name.clone(),
        rates: if found.rates.measured.is_some() { "calibrated" } else { "catalog" }.into(),
        scenarios: found.scenarios.iter().map(scenario).collect(),
        startup: found.startup.as_ref().map(|read| startup(analysis, read, options)),
        advice: found.advice.iter().map(advice).collect(),
    }
}

fn scenario(one: &Scenario) -> ScenarioPart {
    let [total_seconds, total_low_seconds, total_high_seconds] = split(one.before.as_ref());
    let [after_plan_seconds, after_plan_low_seconds, after_plan_high_seconds] =
        split(one.after_plan.as_ref());
    let [after_slim_seconds, after_slim_low_seconds, after_slim_high_seconds] =
        split(one.after_slim.as_ref());
    ScenarioPart {
        name: one.name.clone(),
        title: one.title.clone(),
        total_seconds,
        total_low_seconds,
        total_high_seconds,
        after_plan_seconds,
        after_plan_low_seconds,
        after_plan_high_seconds,
        after_slim_seconds,
        after_slim_low_seconds,
        after_slim_high_seconds,
        phases: one.phases.as_ref().map(phases),
        assumptions: one
            .assumptions
            .iter()
            .map(|(name, one)| {
                let part = AssumptionPart {
                    low: rounded(one.low),
                    high: rounded(one.high),
                    unit: one.unit.into(),
                    source: one.source.clone(),
                };
                (name.clone(), part)
            })
            .collect(),
        unknown: one.unknown.clone(),
    }
}

fn split(seconds: Option<&Seconds>) -> [Option<f64>; 3] {
    let Some(seconds) = seconds else { return [None; 3] };
    [seconds.middle, seconds.low, seconds.high].map(|seconds| Some(rounded(seconds)))
}

fn phases(of: &Phases) -> PhasesPart {
    PhasesPart {
        fetch: SecondsPart::of(&of.fetch),
        unpack: SecondsPart::of(&of.unpack),
        start: SecondsPart::of(&of.start),
        read: SecondsPart::of(&of.read),
    }
}

fn startup(analysis: &Analysis, read: &StartupRead, options: &Options) -> StartupPart {
    let rootfs = analysis.merge.as_ref().map(|merge| &merge.rootfs).filter(|_| options.paths);
    let nodes = read.libraries.iter().take(PATHS);
    let mut paths: Vec<String> = rootfs
        .map(|rootfs| nodes.map(|node| escape(&rootfs.node(*node).path())).collect())
        .unwrap_or_default();
    paths.sort_unstable();
    StartupPart {
        libraries: read.libraries.len() as u64,
        library_bytes: read.library_bytes,
        gpu_code_bytes: read.gpu_bytes,
        modules: read.modules,
        module_bytes: read.module_bytes,
        frameworks: read.frameworks.iter().map(|one| printable(one)).collect(),
        paths,
    }
}

fn advice(one: &Advice) -> AdvicePart {
    AdvicePart {
        id: one.id.to_owned(),
        title: one.title.clone(),
        text: one.text.clone(),
        saves_seconds: SecondsPart::of(&one.saves),
        recommended: one.recommended,
    }
}
