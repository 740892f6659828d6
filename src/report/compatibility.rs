//! On which machines the image runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Options;
use super::vocabulary;
use super::words::Word;
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{CudaNeed, Judge, Judgement, Needs, Reason, TargetGpu, requires};

/// What the image needs, and whether each target has it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompatibilityPart {
    /// What any machine must have.
    pub requires: RequiresPart,
    /// The GPUs that it was judged against: those of this machine first.
    pub targets: Vec<TargetLine>,
}

/// What any machine must have, in a few figures.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RequiresPart {
    /// The highest CUDA version that something in use was built for.
    pub cuda: Option<String>,
    /// The driver that came out with it.
    pub min_driver: Option<String>,
    /// The oldest driver of its major version, on which no PTX is compiled.
    pub min_driver_minor_compat: Option<String>,
    /// Architectures on which all that decides runs as it is.
    pub sass: Vec<String>,
    /// Further ones on which it runs once PTX was compiled.
    pub ptx: Vec<String>,
    /// CUDA versions that something in use was built for, highest first.
    pub versions: Vec<VersionLine>,
}

/// A CUDA version that something was built for.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct VersionLine {
    /// Such as `12.8`, or `12` where the minor version is not known.
    pub version: String,
    /// Who needs it.
    pub who: String,
    /// The file or package that says so.
    pub subject: String,
    /// What it was read from.
    pub evidence: String,
    /// Whether it is used for certain.
    pub firm: bool,
}

/// A GPU that the image was judged against.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TargetLine {
    /// Its id, or what the user wrote.
    pub target: String,
    /// What the GPU is called.
    pub gpu: String,
    /// Such as `8.6`.
    pub compute_capability: String,
    /// How many, such as `8` or `1/6`; null when it is the GPU alone that was asked for.
    pub gpus: Option<String>,
    /// The driver there; null when nothing says which.
    pub driver: Option<String>,
    /// Where that is known from: stated, measured, usual.
    #[schemars(transform = vocabulary::driver_source)]
    pub driver_source: Option<Word>,
    /// The CUDA version of the driver, where it was measured or is a version of its own.
    pub cuda_version: Option<String>,
    /// runs, runs-with-jit, runs-with-compat, fails, unknown.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdict: Word,
    /// The first of the reasons that the verdict comes from.
    pub why: String,
    /// All reasons, the worst first.
    pub reasons: Vec<ReasonPart>,
}

/// One thing that speaks for or against.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReasonPart {
    /// What would follow from it alone.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdict: Word,
    /// The rule that says so.
    #[schemars(transform = vocabulary::target_rule)]
    pub rule: Word,
    /// In one sentence.
    pub text: String,
    /// The file, package, variable or version that it is about.
    pub subject: Option<String>,
    /// What CUDA says then.
    pub error: Option<ErrorPart>,
    /// What would change it.
    pub hint: Option<String>,
    /// Where the rule is written down.
    pub source: Word,
}

/// An error of CUDA.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorPart {
    /// Such as 209.
    pub code: u32,
    /// Such as `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub name: Word,
}

/// The image against the GPUs at hand and its targets; `None` while the inventory is not complete.
pub(super) fn part(analysis: &Analysis, options: &Options) -> Option<CompatibilityPart> {
    let needs = analysis.needs()?;
    let catalog = analysis.known_rules();
    let judge = Judge::new(&needs, catalog);
    let targets = options.host.iter().chain(&*analysis.targets);
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
