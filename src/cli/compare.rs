//! Compares images and checks them against `[regression]` in `cutaway.toml`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::check::{FAILED, measured, policy_of};
use super::defaults::defaults;
use super::output::{TROUBLE, UsageError, message, warn, write};
use super::progress::with_bar;
use super::reading::{ImageReader, ReadOptions};
use super::terminal::{Color, TextArguments};
use crate::analysis::{Analysis, AnalysisError};
use crate::compare::{Comparison, compare as compare_images};
use crate::findings::policy::{Compared, Date, Policy};
use crate::jobs::{CancelToken, Progress};
use crate::report::{CompareFormat, CompareReport, Options, compare_to_text};
use crate::source::{Reference, redacted};

#[derive(Args)]
pub(super) struct CompareArguments {
    /// Images to compare, at least two; the first is the baseline
    #[arg(value_name = "IMAGE", required = true, num_args = 2..)]
    images: Vec<String>,
    #[command(flatten)]
    how: ReadOptions,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: CompareFormat,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File with a [regression] table [default: ./cutaway.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do not redact values that look like secrets
    #[arg(long)]
    show_secrets: bool,
    /// When to use colors
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: Color,
}

/// Runs the comparison and prints it.
pub(super) fn compare(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let policy = policy_of(arguments.config.as_deref())?.map(|(_, policy)| policy);
    // Invalid arguments fail before the first image is read.
    for place in 0..arguments.images.len() {
        refuse_json(arguments, place).with_context(|| which(arguments, place))?;
    }
    let named = |policy: &Policy| policy.names_targets() || policy.names_profile();
    let chosen = !arguments.how.target.is_empty() || arguments.how.profile.profile.is_some();
    let own_targets = chosen
        || policy.as_ref().map_or(!defaults().targets.is_empty() || defaults().profile.is_some(), named);
    let host = if own_targets { None } else { arguments.how.host_in_background() };
    let images = analyse_all(arguments, policy.as_ref())?;
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let comparison =
        with_bar(&progress, arguments.how.verbose, || compare_images(&images, &cancel, &progress))?;
    let options = Options {
        show_secrets: arguments.show_secrets,
        host: host.and_then(|asked| asked.join().ok()).unwrap_or_default(),
        ..Options::default()
    };
    let mut report = CompareReport::new(&comparison, &options);
    if let Some(policy) = policy.filter(|policy| !policy.regression.is_empty()) {
        judge(&mut report, &comparison, &policy, arguments)?;
    }
    print(arguments, &report)?;
    let passes = report.verdict.as_ref().is_none_or(|verdict| verdict.pass);
    Ok(match (report.complete, passes) {
        (false, _) => ExitCode::from(TROUBLE),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(FAILED),
    })
}

/// Images are read one after another: each uses all processors.
fn analyse_all(arguments: &CompareArguments, policy: Option<&Policy>) -> anyhow::Result<Vec<Arc<Analysis>>> {
    let reader = ImageReader::new(&arguments.how);
    let one = |(place, image): (usize, &String)| {
        if arguments.how.listens() {
            message(&which(arguments, place));
        }
        // Errors in targets and catalogue do not concern this image.
        let of_image = |error: anyhow::Error| {
            if error.is::<AnalysisError>() { error.context(which(arguments, place)) } else { error }
        };
        let analysis = reader.analyse(image, policy).map_err(of_image)?;
        if measured(&analysis).is_none() {
            anyhow::bail!("{}: layers not read because of --depth", which(arguments, place));
        }
        Ok(analysis)
    };
    arguments.images.iter().enumerate().map(one).collect()
}

/// The image and its position, for messages.
fn which(arguments: &CompareArguments, place: usize) -> String {
    let name = arguments.images.get(place).map_or("", String::as_str);
    format!("image {} of {}, {}", place + 1, arguments.images.len(), redacted(name))
}

/// A saved report has no file list to compare.
fn refuse_json(arguments: &CompareArguments, place: usize) -> Result<(), UsageError> {
    let reference = arguments.images.get(place).and_then(|image| Reference::parse(image).ok());
    match reference.filter(|reference| reference.json_file().is_some()) {
        Some(Reference { location, .. }) => Err(UsageError::new(
            format!("{location} is a JSON document, not an image"),
            Some(format!("pass the image that {location} was generated from")),
        )),
        None => Ok(()),
    }
}

/// Adds the verdict on the last image to the report.
fn judge(
    report: &mut CompareReport,
    comparison: &Comparison,
    policy: &Policy,
    arguments: &CompareArguments,
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
    let today = Date(arguments.how.today().unwrap_or(u32::MAX));
    report.set_verdict(&policy.judge_growth(&compared, today));
    Ok(())
}

/// Prints the comparison. The verdict goes to stdout with `-o`, else to stderr unless the format is text.
fn print(arguments: &CompareArguments, report: &CompareReport) -> anyhow::Result<()> {
    let output = arguments.output.as_deref();
    let text = match arguments.format {
        CompareFormat::Text => compare_to_text(report, TextArguments::whole(arguments.color).style(output)),
        format => format.write(report),
    };
    write(text.as_bytes(), output)?;
    let verdict = report.verdict_line();
    if output.is_some() {
        write(format!("{verdict}\n").as_bytes(), None)?;
    } else if arguments.format != CompareFormat::Text {
        message(&verdict);
    }
    let unseen = output.is_some() || arguments.format != CompareFormat::Text;
    if arguments.how.verbose || (unseen && std::io::stderr().is_terminal()) {
        warn(&report.warnings.iter().map(|one| one.warning.clone()).collect::<Vec<_>>());
    }
    Ok(())
}
