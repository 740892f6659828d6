//! Compatibility of the image with GPUs and machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::Options;
use super::vocabulary;
use super::words::Word;
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{CudaNeed, Judge, Judgement, Needs, Reason, TargetGpu, requires};

/// Requirements of the image, and verdicts on targets.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompatibilityPart {
    /// Requirements on any machine.
    pub requires: RequiresPart,
    /// Targets: the GPUs of this machine first.
    pub targets: Vec<TargetLine>,
}

/// Requirements on any machine, in a few figures.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RequiresPart {
    /// Highest CUDA version that something in use is built for.
    pub cuda: Option<String>,
    /// Driver released with that version.
    pub min_driver: Option<String>,
    /// Oldest driver of its major version, without JIT compilation of PTX.
    pub min_driver_minor_compat: Option<String>,
    /// Architectures with SASS in all deciding files.
    pub sass: Vec<String>,
    /// Further architectures, by JIT compilation of PTX.
    pub ptx: Vec<String>,
    /// CUDA versions that something in use is built for, highest first.
    pub versions: Vec<VersionLine>,
}

/// A CUDA version that something is built for.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct VersionLine {
    /// Version, such as `12.8`, or `12` if the minor version is unknown.
    pub version: String,
    /// File, library or framework with this requirement.
    pub who: String,
    /// File or package that states it.
    pub subject: String,
    /// Evidence.
    pub evidence: String,
    /// Whether it is certainly used.
    pub firm: bool,
}

/// A target GPU.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TargetLine {
    /// Id of the target, or its text as given.
    pub target: String,
    /// Name of the GPU.
    pub gpu: String,
    /// Compute capability, such as `8.6`.
    pub compute_capability: String,
    /// Number of GPUs, such as `8` or `1/6`; null for a single GPU given by itself.
    pub gpus: Option<String>,
    /// Driver version; null if unknown.
    pub driver: Option<String>,
    /// Source of the driver version: stated, measured, usual.
    #[schemars(transform = vocabulary::driver_source)]
    pub driver_source: Option<Word>,
    /// CUDA version of the driver, if measured or given explicitly.
    pub cuda_version: Option<String>,
    /// runs, runs-with-jit, runs-with-compat, fails, unknown.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdict: Word,
    /// Decisive reason of the verdict.
    pub why: String,
    /// All reasons, the worst first.
    pub reasons: Vec<ReasonPart>,
}

/// A reason of a verdict.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReasonPart {
    /// Verdict from this reason alone.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdict: Word,
    /// Rule of the reason.
    #[schemars(transform = vocabulary::target_rule)]
    pub rule: Word,
    /// One sentence.
    pub text: String,
    /// File, package, variable or version concerned.
    pub subject: Option<String>,
    /// CUDA error.
    pub error: Option<ErrorPart>,
    /// Fix.
    pub hint: Option<String>,
    /// Source of the rule.
    pub source: Word,
}

/// A CUDA error.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorPart {
    /// Error code, such as 209.
    pub code: u32,
    /// Error name, such as `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub name: Word,
}

/// Compatibility with this machine's GPUs and the targets; `None` if the inventory is incomplete.
pub(super) fn part(analysis: &Analysis, options: &Options) -> Option<CompatibilityPart> {
    of(analysis, options.host.iter().chain(&*analysis.targets))
}

/// Compatibility with other targets; `None` if the inventory is incomplete.
pub(super) fn of_targets(analysis: &Analysis, targets: &[TargetGpu]) -> Option<CompatibilityPart> {
    of(analysis, targets.iter())
}

fn of<'a>(analysis: &Analysis, targets: impl Iterator<Item = &'a TargetGpu>) -> Option<CompatibilityPart> {
    let needs = analysis.needs()?;
    let catalog = analysis.known_rules();
    let judge = Judge::new(&needs, catalog);
    Some(CompatibilityPart {
        requires: requires_part(&needs, catalog),
        targets: targets.map(|target| target_line(target, &judge.judge(target))).collect(),
    })
}

fn requires_part(needs: &Needs, catalog: &Catalog) -> RequiresPart {
    let least = requires(needs, catalog);
    RequiresPart {
        cuda: least.cuda,
        min_driver: least.min_driver,
        min_driver_minor_compat: least.min_driver_minor_compat,
        sass: least.sass,
        ptx: least.ptx,
        versions: needs.versions.iter().map(version_line).collect(),
    }
}

fn version_line(need: &CudaNeed) -> VersionLine {
    VersionLine {
        version: need.version.to_string(),
        who: need.who.clone(),
        subject: need.subject.clone(),
        evidence: need.evidence.clone(),
        firm: need.firm,
    }
}

fn target_line(target: &TargetGpu, judgement: &Judgement) -> TargetLine {
    TargetLine {
        target: printable(&target.id),
        gpu: printable(&target.name),
        compute_capability: format!("{}.{}", target.sm / 10, target.sm % 10),
        gpus: target.gpus.clone(),
        driver: target.driver.as_ref().map(|driver| printable(&driver.version)),
        driver_source: target.driver.as_ref().map(|driver| driver.from.as_str().into()),
        cuda_version: target.cuda.map(|(major, minor)| format!("{major}.{minor}")),
        verdict: judgement.verdict.as_str().into(),
        why: judgement.why.clone(),
        reasons: judgement.reasons.iter().map(reason_part).collect(),
    }
}

fn reason_part(reason: &Reason) -> ReasonPart {
    ReasonPart {
        verdict: reason.verdict.as_str().into(),
        rule: reason.rule.as_str().into(),
        text: reason.text.clone(),
        subject: reason.subject.clone(),
        error: reason.error.map(|(code, name)| ErrorPart { code, name: name.into() }),
        hint: reason.hint.clone(),
        source: reason.rule.source().into(),
    }
}
