//! `cutaway slim`: writes the image without the findings of a plan.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::output::{Format, UsageError, message, warn, write};
use super::plan::{PlanArguments, PlanRequest};
use super::progress::with_bar;
use super::reading::{ImageReader, Reading};
use crate::analysis::{Analysis, AnalysisError, Depth, Options};
use crate::base::size::human;
use crate::findings::{Findings, Plan, Verdict};
use crate::jobs::{CancelToken, Progress, catch_panic};
use crate::report::{SlimReport, to_json};
use crate::slim::{self, Destination, Encoding, Pruning, Selection, SlimError, SlimOptions, Written};
use crate::source::{Reference, redacted};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one option")]
pub(super) struct SlimArguments {
    #[command(flatten)]
    reading: Reading,
    #[arg(
        short,
        long,
        value_name = "DESTINATION",
        required_unless_present = "dry_run",
        help = "Destination: oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE[:REF], dir:DIR, docker://REF, \
            docker-daemon:REF or podman:REF"
    )]
    output: Option<String>,
    /// Write nothing; print what would be removed
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    #[command(flatten)]
    changes: PlanArguments,
    /// Remove also what is required at run time, and accept libraries that are then not found
    #[arg(long)]
    force: bool,
    /// Remove GPU code that no --target can run, or keep all of it [default: prune with --target, else keep]
    #[arg(long, value_enum)]
    gpu_code: Option<GpuCode>,
    /// Keep PTX and LTO-IR, which drivers compile for GPUs of the future
    #[arg(long, requires = "target")]
    keep_ptx: bool,
    /// Shorten libraries by what is removed: their pages of zeros become memory without bytes in the file
    #[arg(long, requires = "target", overrides_with = "no_shrink")]
    shrink: bool,
    /// Keep the length of libraries; what is removed is zeros in them [default]
    #[arg(long, overrides_with = "shrink")]
    no_shrink: bool,
    #[cfg(feature = "gpu")]
    #[command(flatten)]
    gpu: super::slim_gpu::VerifyGpu,
    /// Leave the layers of the recognised base image unchanged
    #[arg(long)]
    keep_base: bool,
    /// Merge layer N and all layers above it into one, counted from 0
    #[arg(long, value_name = "N")]
    squash_from: Option<usize>,
    /// Compression of rewritten layers: gzip[:1-9] or zstd[:1-19]
    #[arg(long, value_name = "NAME[:LEVEL]", default_value = "gzip")]
    compression: Encoding,
    /// Take packages of which no file is left out of the databases of dpkg and apk
    #[arg(long)]
    forget_packages: bool,
    /// Carry over the images for other platforms of a multi-platform image
    #[arg(long)]
    all_platforms: bool,
    /// text prints a summary, json everything (schema cutaway.slim/1)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What becomes of GPU code.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GpuCode {
    Keep,
    Prune,
}

/// Writes the image, or says what would be written.
pub(super) fn slim(arguments: &SlimArguments) -> anyhow::Result<ExitCode> {
    let prunes =
        arguments.gpu_code.map_or(!arguments.reading.how.target.is_empty(), |code| code == GpuCode::Prune);
    if prunes && arguments.reading.how.target.is_empty() {
        let hint = Some("add --target, such as --target gpu:h100".to_owned());
        return Err(UsageError::new("--gpu-code prune needs the GPUs that must run the image", hint).into());
    }
    let request = PlanRequest::read(&arguments.changes, arguments.force)?;
    let destination = arguments.output.as_deref().map(Destination::parse).transpose()?;
    if let Some(destination) = destination.as_ref().filter(|_| arguments.all_platforms) {
        destination.check_platforms()?;
    }
    let (analysis, opened) = analyse(arguments)?;
    let Some(findings) = analysis.findings.as_deref() else {
        anyhow::bail!("no findings for {}: the rules did not run", redacted(&arguments.reading.image));
    };
    let plan = request.plan(&analysis, findings)?;
    tell_forced(&plan, findings);
    tell_following(&plan, findings);
    let options = SlimOptions {
        keep_base: arguments.keep_base,
        squash_from: squash_from(arguments, &analysis)?,
        encoding: arguments.compression,
        forget_packages: arguments.forget_packages,
        all_platforms: arguments.all_platforms,
        force: arguments.force,
    };
    let mut selection = guarded(|| Selection::new(&analysis, &plan, &options))?;
    let (listens, verbose) = (arguments.reading.how.listens(), arguments.reading.how.verbose);
    let cancel = CancelToken::new();
    if prunes {
        let targets = opened.targets.iter().map(|target| (target.id.clone(), target.sm)).collect();
        let pruning = Pruning { targets, keep_ptx: arguments.keep_ptx, shrink: arguments.shrink };
        let progress = Progress::default();
        let work = || slim::prune(&analysis, &mut selection, &pruning, &opened, &progress, &cancel);
        with_bar(&progress, verbose, || guarded(work))?;
    }
    // Without a usable GPU nothing is written.
    #[cfg(feature = "gpu")]
    let loads = arguments.gpu.before(&analysis, &opened, verbose)?;
    let written: Option<Written> = match &destination {
        None => None,
        Some(to) => {
            let progress = Progress::default();
            let work = || slim::write(&analysis, &mut selection, &options, to, &opened, &progress, &cancel);
            Some(with_bar(&progress, verbose, || guarded(work))?)
        }
    };
    #[cfg_attr(not(feature = "gpu"), allow(unused_mut, reason = "what the driver loads is added"))]
    let mut report = SlimReport::new(&analysis, &plan, &selection, written.as_ref())
        .ok_or_else(|| anyhow!("the findings are not known"))?;
    #[cfg(feature = "gpu")]
    if let (Some(before), Some(written)) = (&loads, &written) {
        let reader = ImageReader::new(&arguments.reading.how);
        let gpu = arguments.gpu.after(before, &written.published.reference, &reader, verbose)?;
        report.set_gpu(gpu);
    }
    let text = match arguments.format {
        Format::Text => report.to_text(),
        Format::Json => to_json(&report),
    };
    write(text.as_bytes(), None)?;
    if arguments.format == Format::Text || listens {
        report.notes.iter().for_each(|note| message(&format!("note: {note}")));
    }
    if listens {
        warn(&report.warnings);
    }
    Ok(ExitCode::SUCCESS)
}

/// Analyses the image. A layer that has a table of contents is read whole, because its bytes are needed.
fn analyse(arguments: &SlimArguments) -> anyhow::Result<(std::sync::Arc<Analysis>, Options)> {
    if arguments.reading.how.depth != Depth::Full {
        let hint = Some("omit --depth: every layer is read to write it again".to_owned());
        return Err(UsageError::new("a slim image needs all layers", hint).into());
    }
    let reader = ImageReader::new(&arguments.reading.how);
    let mut options = reader.options(None)?;
    let reference = Reference::parse(&arguments.reading.image).map_err(AnalysisError::from)?;
    let mut analysis = reader.analyse_with(&reference, &options)?;
    if slim::needs_all_bytes(&analysis) {
        options.verify = true;
        analysis = reader.analyse_with(&reference, &options)?;
    }
    Ok((analysis, options))
}

fn squash_from(arguments: &SlimArguments, analysis: &Analysis) -> Result<Option<usize>, UsageError> {
    let layers = analysis.layers.len();
    match arguments.squash_from {
        Some(from) if from >= layers => Err(UsageError::new(
            format!("no layer {from}: the image has {layers}"),
            Some(format!("layers are numbered from 0 to {}", layers.saturating_sub(1))),
        )),
        from => Ok(from),
    }
}

/// Prints the findings whose questions were answered with those of others.
fn tell_following(plan: &Plan, findings: &Findings) {
    let named = plan.following(findings).map(|one| format!("{} ({})", one.id, human(one.bytes)));
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        message(&format!("note: these answers also say no to {}; --keep ID keeps one", named.join(", ")));
    }
}

/// Prints what required the findings that are removed by force.
fn tell_forced(plan: &Plan, findings: &Findings) {
    for one in findings.list.iter().filter(|one| one.verdict == Verdict::Needed && plan.contains(&one.id)) {
        let (id, bytes, reason) = (&one.id, human(one.bytes), &one.reason);
        message(&format!("warning: {id} ({bytes}) is required at run time and removed by --force: {reason}"));
    }
}

/// Runs work on untrusted bytes; a panic becomes an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, SlimError>) -> anyhow::Result<T> {
    Ok(catch_panic(work).map_err(|panic| anyhow!("internal error; please report it: {panic}"))??)
}
