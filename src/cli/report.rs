//! `cutaway report`: what an image contains.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::defaults::defaults;
use super::dockerfile::{GivenFile, propose};
use super::formats::ReportFormatArguments;
use super::output::{UsageError, code, message, read_file, warn, write};
use super::profile::{RatesArguments, RatesName};
use super::reading::Reading;
use super::terminal::TextArguments;
use crate::findings;
use crate::jobs::both;
use crate::report::page::Part;
use crate::report::{self, Format, Report, SAVED_BYTES, read_saved, report_page, to_text};
use crate::source::{Reference, redacted};

#[derive(Args, Default)]
pub(super) struct ReportArguments {
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) format: ReportFormatArguments,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Do not redact values that look like secrets
    #[arg(long)]
    pub(super) show_secrets: bool,
    /// Dockerfile the image was built from, - for stdin [default: reconstructed from the image history]
    #[arg(long, value_name = "FILE")]
    pub(super) dockerfile: Option<PathBuf>,
    #[command(flatten)]
    pub(super) rates: RatesArguments,
    #[command(flatten)]
    pub(super) text: TextArguments,
}

/// Prints the report of an image, or a saved one in another format.
pub(super) fn report(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let report = match saved(arguments)? {
        Some(report) => report,
        None => report_of_image(arguments)?,
    };
    let (how, format) = (&arguments.reading.how, arguments.format.format());
    let output = arguments.output.as_deref();
    let text = match format {
        Format::Text => to_text(&report_page(&report), arguments.text.style(output)),
        _ => format.write(&report, &Part::ALL),
    };
    write(text.as_bytes(), output)?;
    // The text report lists the warnings; otherwise they go to a terminal, or to stderr with -v.
    let unseen = arguments.output.is_some() || format != Format::Text;
    if how.verbose || (unseen && io::stderr().is_terminal()) {
        warn(&report.warnings);
    } else if unseen && !report.totals.complete {
        // Exit code 2 needs its reason, also in a log.
        warn(report.warnings.get(..1).unwrap_or_default());
        message("the report is incomplete; its warnings name each cause");
    }
    let complete = report.totals.complete;
    // The process ends here: to give back the parts one by one takes longer than to leave them.
    std::mem::forget((report, text));
    Ok(code(complete))
}

fn report_of_image(arguments: &ReportArguments) -> anyhow::Result<Report> {
    let given = arguments.dockerfile.as_deref().map(GivenFile::read).transpose()?;
    let how = &arguments.reading.how;
    // A platform's machines are not this one.
    let chosen = how.profile.profile.is_some() || defaults().profile.is_some();
    let own = how.target.is_empty() && !chosen && defaults().targets.is_empty();
    let host = own.then(|| how.host_in_background());
    let analysis = arguments.reading.analyse(None)?;
    let profile = arguments.reading.profile(&analysis, None)?;
    let mut options = report::Options {
        show_secrets: arguments.show_secrets,
        paths: arguments.format.format() != Format::Text,
        targets_given: !how.target.is_empty(),
        ..report::Options::default()
    };
    arguments.rates.apply(&mut options, profile)?;
    let (proposals, report) = both(
        || match analysis.findings.as_deref().map(findings::Plan::of_safe) {
            Some(safe) => propose(&analysis, &safe, given.as_ref(), arguments.show_secrets),
            None => Ok(None),
        },
        || {
            options.host = host.flatten().and_then(|asked| asked.join().ok()).unwrap_or_default();
            Report::new(&analysis, &options)
        },
    );
    let Some(mut report) = report else {
        return Err(arguments.reading.unread());
    };
    match proposals {
        Ok(Some(proposals)) => report.set_proposals(&proposals, &options),
        Ok(None) => {}
        // Proposals are optional in a report, but an error in the user's Dockerfile is reported.
        Err(error) if given.is_some() => return Err(error),
        Err(error) if how.verbose => message(&format!("nothing proposed: {error:#}")),
        Err(_) => {}
    }
    // As below: it has an entry for each file.
    std::mem::forget(analysis);
    Ok(report)
}

/// The saved report given in place of an image; `None` for an image.
fn saved(arguments: &ReportArguments) -> Result<Option<Report>, UsageError> {
    let Ok(reference) = Reference::parse(&arguments.reading.image) else { return Ok(None) };
    let Some(path) = reference.json_file() else { return Ok(None) };
    let file = redacted(&reference.location);
    let bytes = read_file(path, SAVED_BYTES)
        .map_err(|error| UsageError::new(format!("cannot read {file}: {error}"), None))?;
    let mut report = read_saved(&bytes)
        .map_err(|error| UsageError::new(format!("{file}: {error}"), error.hint().map(str::to_owned)))?;
    if let Some(option) = needs_image(arguments) {
        return Err(UsageError::new(
            format!("{option} needs the image: {file} is a saved report"),
            Some(format!("pass the image instead of its report, or omit {option}")),
        ));
    }
    if arguments.reading.how.listens() {
        let (name, version) = (&report.generator.name, &report.generator.version);
        message(&format!(
            "{file} is a saved report of {}, written by {name} {version}",
            report.image.reference
        ));
    }
    if !arguments.show_secrets {
        report.redact();
    }
    Ok(Some(report))
}

/// The first option that needs the image.
fn needs_image(arguments: &ReportArguments) -> Option<&'static str> {
    let how = &arguments.reading.how;
    [
        (how.verify, "--verify"),
        (arguments.dockerfile.is_some(), "--dockerfile"),
        (!how.target.is_empty(), "--target"),
        (how.choice.platform.is_some(), "--platform"),
        (!how.choice.catalog.is_empty(), "--catalog"),
        (how.profile.profile.is_some(), "--profile"),
        (arguments.rates.rates != RatesName::Catalog, "--rates"),
        (how.today.is_some(), "--today"),
    ]
    .into_iter()
    .find_map(|(given, option)| given.then_some(option))
}
