//! Runs plans.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context as _;

use super::arguments::{Plan, ReportPlan, WindowPlan, completions};
use super::cache::cache;
use super::check::check;
use super::compare::{NoImageError, compare};
use super::dockerfile::{DockerfileError, GivenFile, dockerfile, propose};
use super::explain::explain;
#[cfg(feature = "gpu")]
use super::gpu::gpu;
use super::host::host_targets;
use super::output::write;
use super::plan::PlanUseError;
use super::progress::with_bar;
use super::reading::ReadPlan;
use super::saved::{SavedFileError, saved};
use super::schema::schema;
use super::tags::tags;
use super::terminal::TextArguments;
use crate::analysis::{self, Analysis, AnalysisError, analyze};
use crate::base::size::{grouped, human};
use crate::base::text::printable;
use crate::base::{Limits, clock};
use crate::cache::Cache;
use crate::cuda::catalog::{self, Catalog};
use crate::cuda::compat::{TargetError, TargetGpu, parse_targets};
use crate::findings;
use crate::findings::policy::{Policy, PolicyError};
use crate::jobs::{CancelToken, Progress, both};
use crate::report::page::Part;
use crate::report::{self, Format, Report, WarningLine, report_page, to_text};
use crate::rewrite::RewriteError;
use crate::source::{Reference, engine, registry};

/// Exit code of wrong usage, unreadable input, an incomplete result.
pub(super) const TROUBLE: u8 = 2;
/// Maximum warnings printed on stderr.
const SHOWN_WARNINGS: usize = 20;

/// Runs a plan that needs no window.
pub fn run(plan: &Plan) -> ExitCode {
    match plan {
        Plan::Report(plan) => exit_code(report(plan)),
        Plan::Dockerfile(plan) => exit_code(dockerfile(plan)),
        Plan::Check(plan) => exit_code(check(plan)),
        Plan::Compare(plan) => exit_code(compare(plan)),
        #[cfg(feature = "gpu")]
        Plan::Gpu(plan) => exit_code(gpu(plan)),
        Plan::Cache(plan) => exit_code(cache(*plan)),
        Plan::Tags(plan) => exit_code(tags(plan)),
        Plan::Explain(name) => exit_code(explain(name.as_deref())),
        Plan::Schema(name) => exit_code(schema(*name)),
        Plan::Completions(shell) => exit_code(write(&completions(*shell), None).map(|()| ExitCode::SUCCESS)),
        Plan::Window(plan) => without_window(plan, "built without the window (feature `gui`)"),
    }
}

/// Without a window: prints one line with the reason, then the text report of the image or of a sample.
pub fn without_window(plan: &WindowPlan, reason: &str) -> ExitCode {
    message(&format!("cannot open a window: {reason}; printing the text report"));
    let image = plan.image.clone().unwrap_or_else(|| "sample:devel".into());
    exit_code(report(&ReportPlan {
        read: ReadPlan {
            image,
            platform: plan.platform.clone(),
            catalog: plan.catalog.clone(),
            cache: plan.cache.clone(),
            access: plan.access.clone(),
            ..ReadPlan::default()
        },
        format: Format::Text,
        output: None,
        show_secrets: false,
        dockerfile: None,
        text: TextArguments::default(),
    }))
}

/// Days since 1970, from `--today` or the clock; `None` if the clock is not set.
pub(super) fn today(plan: &ReadPlan) -> Option<u32> {
    plan.today.map(|date| date.0).or_else(clock::today)
}

/// Analyses the image of a plan. Targets on the command line override those of `policy`.
pub(super) fn analyse(plan: &ReadPlan, policy: Option<&Policy>) -> anyhow::Result<Arc<Analysis>> {
    let reference = Reference::parse(&plan.image).map_err(AnalysisError::from)?;
    let local = note_registry(plan, &reference);
    let catalog = read_catalog(&plan.catalog)?;
    // The built-in catalogue takes milliseconds to parse: in parallel with reading the image.
    let known = || catalog.as_deref().unwrap_or_else(|| Catalog::builtin());
    let host = || host_targets(known());
    let mut targets = Vec::new();
    for text in &plan.targets {
        targets.extend(parse_targets(known(), text, &host)?);
    }
    if let Some(policy) = policy.filter(|_| targets.is_empty()) {
        targets = policy.targets(known(), &host)?;
    }
    let options = analysis::Options {
        platform: plan.platform.clone(),
        verify: plan.verify,
        limits: Limits::default(),
        catalog,
        targets,
        today: today(plan),
        cache: plan.cache.clone(),
        access: plan.access.clone(),
        depth: plan.depth,
    };
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let result =
        with_bar(&progress, plan.verbose, || analyze(&reference, &options, &cancel, &progress, &|_| ()));
    if plan.verbose || io::stderr().is_terminal() {
        plan.cache.iter().flat_map(Cache::take_notes).for_each(|note| message(&format!("note: {note}")));
    }
    if let Some(name) = local.and_then(|asked| asked.join().ok()).flatten() {
        message(&format!("note: a local engine also has an image of this name: {name}"));
    }
    let analysis = result?;
    if plan.verbose {
        let done = progress.snapshot();
        message(&format!(
            "read {} bytes of {} ({} of {}), {} entries",
            done.bytes_read,
            done.bytes_total,
            human(done.bytes_read),
            human(done.bytes_total),
            grouped(done.entries)
        ));
        if plan.cache.is_some() && !plan.verify {
            message(&format!("{} of {} layers loaded from cache", done.layers_known, done.layers_total));
        }
        if done.bytes_compared > 0 {
            let (bytes, size) = (done.bytes_compared, human(done.bytes_compared));
            message(&format!(
                "then read {bytes} bytes ({size}) of single files, to compare them and to find GPU code and names of \
                tools"
            ));
        }
    }
    Ok(analysis)
}

/// Notes that a name without a transport is read from a registry, and asks in the background whether a local engine has
/// an image of this name.
fn note_registry(plan: &ReadPlan, reference: &Reference) -> Option<JoinHandle<Option<String>>> {
    let host = registry::host(reference)?;
    if reference.text == reference.location {
        let shown = plan.shown();
        message(&format!("no local path {shown}; reading from the registry {host}"));
    }
    if !plan.verbose && !io::stderr().is_terminal() {
        return None;
    }
    let name = reference.location.clone();
    let ask = move || engine::holds(&name, &CancelToken::new());
    std::thread::Builder::new().name("engines".into()).spawn(ask).ok()
}

fn report(plan: &ReportPlan) -> anyhow::Result<ExitCode> {
    let report = match saved(plan)? {
        Some(report) => report,
        None => report_of_image(plan)?,
    };
    let output = plan.output.as_deref();
    let text = match plan.format {
        Format::Text => to_text(&report_page(&report), plan.text.style(output)),
        format => format.write(&report, &Part::ALL),
    };
    write(text.as_bytes(), output)?;
    // The text report lists the warnings; otherwise they go to a terminal, or to stderr with -v.
    let unseen = plan.output.is_some() || plan.format != Format::Text;
    if plan.read.verbose || (unseen && io::stderr().is_terminal()) {
        warn(&report.warnings);
    } else if unseen && !report.totals.complete {
        // Exit code 2 needs its reason, also in a log.
        warn(report.warnings.get(..1).unwrap_or_default());
        message("the report is incomplete; its warnings name each cause");
    }
    Ok(ExitCode::from(if report.totals.complete { 0 } else { TROUBLE }))
}

fn report_of_image(plan: &ReportPlan) -> anyhow::Result<Report> {
    let given = plan.dockerfile.as_deref().map(GivenFile::read).transpose()?;
    let host = plan.read.targets.is_empty().then(|| host_in_background(&plan.read));
    let analysis = analyse(&plan.read, None)?;
    let mut options = report::Options {
        show_secrets: plan.show_secrets,
        paths: plan.format != Format::Text,
        ..report::Options::default()
    };
    let (proposals, report) = both(
        || match analysis.findings.as_deref().map(findings::Plan::of_safe) {
            Some(safe) => propose(&analysis, &safe, given.as_ref(), plan.show_secrets),
            None => Ok(None),
        },
        || {
            options.host = host.flatten().and_then(|asked| asked.join().ok()).unwrap_or_default();
            Report::new(&analysis, &options)
        },
    );
    let Some(mut report) = report else {
        anyhow::bail!("{}", plan.read.unread());
    };
    match proposals {
        Ok(Some(proposals)) => report.set_proposals(&proposals, &options),
        Ok(None) => {}
        // Proposals are optional in a report, but an error in the user's Dockerfile is reported.
        Err(error) if given.is_some() => return Err(error),
        Err(error) if plan.read.verbose => message(&format!("nothing proposed: {error:#}")),
        Err(_) => {}
    }
    Ok(report)
}

/// Queries the GPUs of this machine while the image is read; none if the query fails.
pub(super) fn host_in_background(plan: &ReadPlan) -> Option<JoinHandle<Vec<TargetGpu>>> {
    let files = plan.catalog.clone();
    let ask = move || {
        // Errors in the files are reported where the image is read.
        let catalog = read_catalog(&files).unwrap_or_default();
        host_targets(catalog.as_deref().unwrap_or_else(|| Catalog::builtin())).unwrap_or_default()
    };
    std::thread::Builder::new().name("host".to_owned()).spawn(ask).ok()
}

/// Prints warnings on stderr.
pub(super) fn warn(warnings: &[WarningLine]) {
    for warning in warnings.iter().take(SHOWN_WARNINGS) {
        message(&format!("warning: {}: {}: {}", warning.code, warning.subject, warning.message));
    }
    if let Some(more) = warnings.len().checked_sub(SHOWN_WARNINGS).filter(|more| *more > 0) {
        message(&format!("{more} more warnings: see the report"));
    }
}

/// The catalogue extended by the user's files; `None` without files.
///
/// # Errors
/// The exit code, after the message is printed: a file cannot be read or parsed.
pub fn catalog(files: &[PathBuf]) -> Result<Option<Arc<Catalog>>, ExitCode> {
    read_catalog(files).map_err(|error| exit_code(Err(error)))
}

fn read_catalog(files: &[PathBuf]) -> anyhow::Result<Option<Arc<Catalog>>> {
    let mut texts = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let read = || -> io::Result<Vec<u8>> {
            let opened = std::fs::File::open(file)?;
            if !opened.metadata()?.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            let mut bytes = Vec::new();
            opened.take(catalog::FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().with_context(|| format!("cannot read the catalog {name}"))?;
        let text = String::from_utf8(bytes).with_context(|| format!("the catalog {name} is not UTF-8"))?;
        texts.push((name, text));
    }
    if texts.is_empty() {
        return Ok(None);
    }
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Ok(Some(Arc::new(Catalog::with_user_files(&texts)?)))
}

/// An error and its causes, up to one whose message includes its own cause.
fn causes(error: &anyhow::Error) -> String {
    let mut told = Vec::new();
    for cause in error.chain() {
        told.push(cause.to_string());
        if cause.is::<AnalysisError>() || cause.is::<RewriteError>() {
            break;
        }
    }
    told.join(": ")
}

fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        message(&format!("error: {}", causes(&error)));
        let hint = error.downcast_ref::<AnalysisError>().and_then(AnalysisError::hint);
        let hint = hint.or_else(|| error.downcast_ref::<PolicyError>().and_then(PolicyError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<TargetError>().map(TargetError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<RewriteError>().and_then(RewriteError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<DockerfileError>().and_then(DockerfileError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<PlanUseError>().and_then(PlanUseError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<SavedFileError>().and_then(SavedFileError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<NoImageError>().map(NoImageError::hint));
        if let Some(hint) = hint {
            message(&format!("hint: {hint}"));
        }
        ExitCode::from(TROUBLE)
    })
}

/// Prints a line on stderr.
pub(super) fn message(text: &str) {
    use std::io::Write as _;
    // A closed stderr must not end the program.
    writeln!(io::stderr(), "{}", printable(text)).ok();
}
