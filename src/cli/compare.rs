//! Compares images and checks them against `[regression]` in `cutaway.toml`.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use super::arguments::ComparePlan;
use super::check::{FAILED, measured, policy_of};
use super::output::write;
use super::progress::with_bar;
use super::reading::ReadPlan;
use super::run::{TROUBLE, analyse, host_in_background, message, today, warn};
use crate::analysis::{Analysis, AnalysisError};
use crate::compare::{Comparison, compare as compare_images};
use crate::findings::policy::{Compared, Date, Policy};
use crate::jobs::{CancelToken, Progress};
use crate::report::{CompareFormat, CompareReport, Options, WarningLine, compare_to_text};
use crate::source::{Reference, redacted};

/// A JSON document was given instead of an image.
#[derive(Debug, thiserror::Error)]
#[error("{file} is a JSON document, not an image")]
pub(super) struct NoImageError {
    file: String,
}

impl NoImageError {
    /// What the user can do about it.
    pub(super) fn hint(&self) -> String {
        format!("pass the image that {} was generated from", self.file)
    }
}

/// Runs the comparison and prints it.
pub(super) fn compare(plan: &ComparePlan) -> anyhow::Result<ExitCode> {
    let policy = policy_of(plan.config.as_deref())?.map(|(_, policy)| policy);
    // Invalid arguments fail before the first image is read.
    for place in 0..plan.images.len() {
        refuse_json(plan, place).with_context(|| which(plan, place))?;
    }
    let own_targets = !plan.read.targets.is_empty() || policy.as_ref().is_some_and(Policy::names_targets);
    let host = if own_targets { None } else { host_in_background(&plan.read) };
    let images = analyse_all(plan, policy.as_ref())?;
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let comparison = with_bar(&progress, plan.read.verbose, || compare_images(&images, &cancel, &progress))?;
    let options = Options {
        show_secrets: plan.show_secrets,
        host: host.and_then(|asked| asked.join().ok()).unwrap_or_default(),
        ..Options::default()
    };
    let mut report = CompareReport::new(&comparison, &options);
    if let Some(policy) = policy.filter(|policy| !policy.regression.is_empty()) {
        judge(&mut report, &comparison, &policy, plan)?;
    }
    print(plan, &report)?;
    let passes = report.verdict.as_ref().is_none_or(|verdict| verdict.pass);
    Ok(match (report.complete, passes) {
        (false, _) => ExitCode::from(TROUBLE),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(FAILED),
    })
}

/// Images are read one after another: each uses all processors.
fn analyse_all(plan: &ComparePlan, policy: Option<&Policy>) -> anyhow::Result<Vec<Arc<Analysis>>> {
    let one = |(place, image): (usize, &String)| {
        if plan.read.verbose || std::io::stderr().is_terminal() {
            message(&which(plan, place));
        }
        let read = ReadPlan { image: image.clone(), ..plan.read.clone() };
        // Errors in targets and catalogue do not concern this image.
        let of_image = |error: anyhow::Error| {
            if error.is::<AnalysisError>() { error.context(which(plan, place)) } else { error }
        };
        let analysis = analyse(&read, policy).map_err(of_image)?;
        if measured(&analysis).is_none() {
            anyhow::bail!("{}: layers not read because of --depth", which(plan, place));
        }
        Ok(analysis)
    };
    plan.images.iter().enumerate().map(one).collect()
}

/// The image and its position, for messages.
fn which(plan: &ComparePlan, place: usize) -> String {
    let name = plan.images.get(place).map_or("", String::as_str);
    format!("image {} of {}, {}", place + 1, plan.images.len(), redacted(name))
}

/// A saved report has no file list to compare.
fn refuse_json(plan: &ComparePlan, place: usize) -> Result<(), NoImageError> {
    let reference = plan.images.get(place).and_then(|image| Reference::parse(image).ok());
    match reference.filter(|reference| reference.json_file().is_some()) {
        Some(reference) => Err(NoImageError { file: reference.location }),
        None => Ok(()),
    }
}

/// Adds the verdict on the last image to the report.
fn judge(
    report: &mut CompareReport,
    comparison: &Comparison,
    policy: &Policy,
    plan: &ComparePlan,
) -> anyhow::Result<()> {
    let images = &comparison.images;
    let ends = images.first().zip(images.last());
    let ends = ends.and_then(|(first, last)| Some((measured(first)?, measured(last)?)));
    let (first, last) = ends.context("no images to compare")?;
    let compared = Compared {
        complete: report.complete,
        first,
        last,
        pull_bytes: comparison.pull_bytes.last().copied().flatten(),
    };
    // Without a clock every ignore counts as expired.
    let today = Date(today(&plan.read).unwrap_or(u32::MAX));
    report.set_verdict(&policy.judge_growth(&compared, today));
    Ok(())
}

/// Prints the comparison. The verdict goes to stdout with `-o`, else to stderr unless the format is text.
fn print(plan: &ComparePlan, report: &CompareReport) -> anyhow::Result<()> {
    let output = plan.output.as_deref();
    let text = match plan.format {
        CompareFormat::Text => compare_to_text(report, plan.text.style(output)),
        format => format.write(report),
    };
    write(text.as_bytes(), output)?;
    let verdict = report.verdict_line();
    if output.is_some() {
        write(format!("{verdict}\n").as_bytes(), None)?;
    } else if plan.format != CompareFormat::Text {
        message(&verdict);
    }
    let unseen = output.is_some() || plan.format != CompareFormat::Text;
    if plan.read.verbose || (unseen && std::io::stderr().is_terminal()) {
        let line = |warning: &crate::report::CompareWarning| WarningLine {
            code: warning.code.clone(),
            message: warning.message.clone(),
            subject: warning.subject.clone(),
        };
        warn(&report.warnings.iter().map(line).collect::<Vec<_>>());
    }
    Ok(())
}
