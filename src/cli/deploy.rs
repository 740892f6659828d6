//! `cutaway deploy`: an image or a platform's file, judged for a platform; the lines to paste.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::output::{Format, UsageError, code, message, read_file, warn, write};
use super::profile::RatesArguments;
use super::reading::{ImageReader, ReadOptions};
use super::terminal::TextArguments;
use crate::analysis::{Analysis, Options};
use crate::cuda::catalog::{Catalog, Profile};
use crate::deploy::files::{self, FILE_BYTES, PlatformFile, is_candidate};
use crate::deploy::graphs::{StepGain, cuda_graphs, read_config_files};
use crate::deploy::snippets::{SnippetFormat, SnippetInput, snippet};
use crate::deploy::{DEFAULT_PROFILE, find_profile};
use crate::jobs::{CancelToken, Progress};
use crate::report::{self, CudaGraphsPart, DeployReport, SnippetPart, deploy_page, to_json, to_text};
use crate::source::{Reference, redacted};

/// Steps for which the gain of graphs is shown, if none are given.
#[cfg(feature = "gpu")]
const STEPS: [u32; 3] = [100, 500, 2_000];
/// Transports of images that are opened because a file names them: no network, and no folder of this machine.
const LOCAL: [&str; 4] = ["sample:", "oci:", "oci-archive:", "docker-archive:"];

#[derive(Args)]
pub(super) struct DeployArguments {
    /// Image, or file of a platform: cerebrium.toml, Azure ML YAML, Kubernetes manifests
    #[arg(value_name = "IMAGE|FILE")]
    subject: String,
    #[command(flatten)]
    how: ReadOptions,
    #[command(flatten)]
    rates: RatesArguments,
    /// Image of the file, to judge it by its contents
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Print only the lines to paste
    #[arg(long, value_enum, value_name = "FORMAT")]
    snippet: Option<SnippetFormat>,
    /// Measure launches on this machine's GPU, and show the gain of CUDA Graphs for steps of N launches
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "N", num_args = 0..=8, value_delimiter = ',')]
    launches: Option<Vec<u32>>,
    /// Output format
    #[arg(long, value_enum, default_value = "text", conflicts_with = "snippet")]
    format: Format,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not redact values that look like secrets
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    text: TextArguments,
}

impl ValueEnum for SnippetFormat {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()).help(self.title()))
    }
}

/// Judges the image or file, and prints the report or the lines.
pub(super) fn deploy(arguments: &DeployArguments) -> anyhow::Result<ExitCode> {
    let file = platform_file(&arguments.subject)?;
    let reader = ImageReader::new(&arguments.how);
    let options = reader.options(None)?;
    let image = image_text(arguments, file.as_ref())?;
    let analysis = match &image {
        Some((text, _)) => {
            let reference = Reference::parse(text).map_err(crate::analysis::AnalysisError::from)?;
            Some(reader.analyse_with(&reference, &options)?)
        }
        None => None,
    };
    let catalog = options.catalog.as_deref().unwrap_or_else(|| Catalog::builtin());
    let profile = profile(arguments, file.as_ref(), catalog)?;
    if let Some(format) = arguments.snippet {
        let analysis = analysis.as_deref().ok_or_else(|| {
            UsageError::new(
                "--snippet needs an image",
                Some("pass the image of the file with --image".to_owned()),
            )
        })?;
        let input = SnippetInput::of(analysis, &profile).ok_or_else(|| unread(image.as_ref()))?;
        write(snippet(format, &input).as_bytes(), arguments.output.as_deref())?;
        return Ok(code(analysis.totals().is_some_and(|totals| totals.complete)));
    }
    let mut report = DeployReport::new(&profile);
    if let Some(file) = &file {
        let named = image.as_ref().and_then(|(_, named)| named.as_deref());
        let findings = files::judge_with(file, analysis.as_deref(), named, catalog);
        report = report.with_file(&arguments.subject, file, &findings);
    }
    if let Some(analysis) = analysis.as_deref() {
        report = with_image(arguments, report, analysis, &profile, &options)?;
    }
    let output = arguments.output.as_deref();
    let text = match arguments.format {
        Format::Text => to_text(&deploy_page(&report), arguments.text.style(output)),
        Format::Json => to_json(&report),
    };
    write(text.as_bytes(), output)?;
    if arguments.how.verbose {
        warn(&report.warnings);
    }
    Ok(code(report.complete != Some(false)))
}

fn unread(image: Option<&(String, Option<String>)>) -> anyhow::Error {
    let name = image.map_or_else(String::new, |(text, _)| redacted(text));
    anyhow!("no lines for {name}: it was not analysed completely")
}

/// The subject as a platform's file; `None` if it is an image: anything but a short text file.
fn platform_file(subject: &str) -> anyhow::Result<Option<PlatformFile>> {
    let path = Path::new(subject);
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES as u64) {
        return Ok(None);
    }
    let bytes = read_file(path, FILE_BYTES as u64)
        .map_err(|error| UsageError::new(format!("cannot read {subject}: {error}"), None))?;
    if !is_candidate(&bytes) {
        return Ok(None);
    }
    let file = files::read(&bytes).map_err(|error| {
        UsageError::new(format!("cannot read {subject}: {error}"), error.hint().map(str::to_owned))
    })?;
    Ok(Some(file))
}

/// The image to read, and which reference of the file it is. A reference of the file is opened without `--image` only if
/// it is one of [`LOCAL`]: a manifest must not start a download.
fn image_text(
    arguments: &DeployArguments,
    file: Option<&PlatformFile>,
) -> anyhow::Result<Option<(String, Option<String>)>> {
    let Some(file) = file else {
        if arguments.image.is_some() {
            let hint = "omit --image, or pass a file of a platform first".to_owned();
            return Err(UsageError::new("--image needs a file", Some(hint)).into());
        }
        return Ok(Some((arguments.subject.clone(), None)));
    };
    if let Some(image) = &arguments.image {
        return Ok(Some((image.clone(), file.reference_of(image).map(str::to_owned))));
    }
    let is_local = |reference: &str| LOCAL.iter().any(|prefix| reference.starts_with(prefix));
    let local = file.images.iter().find(|image| is_local(&image.reference));
    Ok(local.map(|image| (image.reference.clone(), Some(image.reference.clone()))))
}

/// The chosen platform, else that of the file, else the default.
fn profile(
    arguments: &DeployArguments,
    file: Option<&PlatformFile>,
    catalog: &Catalog,
) -> anyhow::Result<Arc<Profile>> {
    if let Some(profile) = arguments.how.profile.find_if_chosen(|| catalog, None)? {
        return Ok(profile);
    }
    let id = file.map_or(DEFAULT_PROFILE, PlatformFile::profile);
    let found = find_profile(catalog, id);
    let found = found.map_err(|error| UsageError::new(error.to_string(), Some(error.hint(catalog))))?;
    Ok(Arc::new(found.clone()))
}

fn with_image(
    arguments: &DeployArguments,
    report: DeployReport,
    analysis: &Analysis,
    profile: &Arc<Profile>,
    options: &Options,
) -> anyhow::Result<DeployReport> {
    let how = &arguments.how;
    let mut report_options = report::Options {
        show_secrets: arguments.show_secrets,
        targets_given: !how.target.is_empty(),
        ..report::Options::default()
    };
    arguments.rates.apply(&mut report_options, Some(Arc::clone(profile)))?;
    // The targets of the options are the platform's only if it was chosen by name.
    let given: &[_] = if how.target.is_empty() { &[] } else { &options.targets };
    let usual = crate::deploy::judged_targets(analysis.known_rules(), profile, given);
    let targets = if usual.is_empty() { analysis.targets.to_vec() } else { usual };
    let mut report = report.with_image(analysis, profile, &targets, &report_options);
    let cancel = CancelToken::new();
    let files = match read_config_files(analysis, options, &Progress::default(), &cancel) {
        Ok(files) => Some(files),
        Err(error) => {
            message(&format!("note: configuration files were not searched for CUDA Graphs: {error}"));
            None
        }
    };
    if let Some(graphs) = cuda_graphs(analysis, files.as_deref()) {
        #[cfg(feature = "gpu")]
        let gains = gains(arguments)?;
        #[cfg(not(feature = "gpu"))]
        let gains: Option<Vec<StepGain>> = None;
        report.cuda_graphs = Some(CudaGraphsPart::new(&graphs, gains.as_deref()));
    }
    report.snippet = SnippetInput::of(analysis, profile).map(|input| {
        let format = SnippetFormat::of_profile(&profile.id);
        SnippetPart { format, text: snippet(format, &input) }
    });
    Ok(report)
}

/// The gain of graphs on this machine's GPU; `None` if it was not asked for.
#[cfg(feature = "gpu")]
fn gains(arguments: &DeployArguments) -> anyhow::Result<Option<Vec<StepGain>>> {
    let Some(steps) = &arguments.launches else { return Ok(None) };
    let steps: &[u32] = if steps.is_empty() { &STEPS } else { steps };
    let measured = super::gpu::launch_costs()?;
    Ok(Some(steps.iter().map(|step| StepGain::of(*step, measured.0, measured.1)).collect()))
}
