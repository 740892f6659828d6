//! `cutaway dockerfile`: proposes a Dockerfile for an image.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use super::output::{Format, UsageError, code, message, read_file, warn, write};
use super::plan::{PlanArguments, PlanRequest};
use super::reading::Reading;
use crate::analysis::{Analysis, Depth};
use crate::base::read_at::read_up_to;
use crate::findings::Plan;
use crate::jobs::catch_panic;
use crate::report::{Options, RewriteReport, to_json, to_summary};
use crate::rewrite::{DOCKERFILE_BYTES, Given, Proposals};
use crate::source::redacted;

/// Name for standard input.
const STDIN: &str = "-";

#[derive(Args)]
pub(super) struct DockerfileArguments {
    #[command(flatten)]
    reading: Reading,
    /// Dockerfile the image was built from, - for stdin [default: reconstructed from the image history]
    #[arg(long, value_name = "FILE")]
    dockerfile: Option<PathBuf>,
    /// Print a unified diff instead of the whole file
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// text prints the Dockerfile, json all proposals (schema cutaway.dockerfile/1)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Proposal to print, such as base, stages or tidy [default: the best]
    #[arg(long, value_name = "ID")]
    proposal: Option<String>,
    #[command(flatten)]
    changes: PlanArguments,
    /// Do not redact values that look like secrets in a reconstructed Dockerfile
    #[arg(long)]
    show_secrets: bool,
}

/// A Dockerfile given by the user.
pub(super) struct GivenFile {
    name: String,
    bytes: Vec<u8>,
}

impl GivenFile {
    /// Reads a regular file, or stdin for `-`. Never blocks on a FIFO.
    pub(super) fn read(file: &Path) -> Result<Self, UsageError> {
        let most = DOCKERFILE_BYTES as u64;
        let (name, bytes) = if file.as_os_str() == STDIN {
            ("standard input".to_owned(), read_up_to(io::stdin().lock(), most))
        } else {
            (file.display().to_string(), read_file(file, most))
        };
        let message = match bytes {
            Ok(bytes) if bytes.len() <= DOCKERFILE_BYTES => return Ok(Self { name, bytes }),
            Ok(_) => format!("{name} is not a Dockerfile: larger than {DOCKERFILE_BYTES} bytes"),
            Err(error) => format!("cannot read the Dockerfile {name}: {error}"),
        };
        let hint = "pass the Dockerfile the image was built from, or --dockerfile - for stdin; without the option, one \
            is reconstructed from the image history";
        Err(UsageError::new(message, Some(hint.to_owned())))
    }

    fn given(&self) -> Given<'_> {
        Given { name: &self.name, text: &self.bytes }
    }
}

/// Proposals for a plan; `None` if the rules did not run.
pub(super) fn propose(
    analysis: &Analysis,
    plan: &Plan,
    given: Option<&GivenFile>,
    show_secrets: bool,
) -> anyhow::Result<Option<Proposals>> {
    let work = || analysis.propose_with(plan, given.map(GivenFile::given), show_secrets);
    let proposals = catch_panic(work).map_err(|panic| anyhow!("proposing a Dockerfile failed: {panic}"))?;
    Ok(proposals.transpose()?)
}

/// Prints the best proposal, or the requested one.
pub(super) fn dockerfile(arguments: &DockerfileArguments) -> anyhow::Result<ExitCode> {
    let given = arguments.dockerfile.as_deref().map(GivenFile::read).transpose()?;
    let request = PlanRequest::read(&arguments.changes, false)?;
    let analysis = arguments.reading.analyse(None)?;
    let findings = analysis.findings.as_deref();
    let removal = findings.map(|findings| request.plan(&analysis, findings)).transpose()?;
    let proposals = match &removal {
        Some(removal) => propose(&analysis, removal, given.as_ref(), arguments.show_secrets)?,
        None => None,
    };
    let options = Options { show_secrets: arguments.show_secrets, plan: removal, ..Options::default() };
    let report = proposals.and_then(|proposals| RewriteReport::new(&analysis, proposals, &options));
    let Some(mut report) = report else {
        if arguments.reading.how.depth != Depth::Full {
            return Err(arguments.reading.unread());
        }
        anyhow::bail!("no proposals for {}: the rules did not run", redacted(&arguments.reading.image));
    };
    let chosen = choose(arguments, &report)?;
    let proposal = chosen.and_then(|place| report.proposals.get(place));
    let text = match arguments.format {
        _ if arguments.diff => proposal.map_or_else(String::new, |one| one.diff.clone()).into_bytes(),
        Format::Text => match (proposal, given) {
            (Some(proposal), _) => proposal.dockerfile.clone().into_bytes(),
            (None, Some(given)) => given.bytes,
            (None, None) => report.recipe.dockerfile.clone().into_bytes(),
        },
        Format::Json => {
            if arguments.proposal.is_some() {
                report.proposals = proposal.cloned().into_iter().collect();
            }
            to_json(&report).into_bytes()
        }
    };
    write(&text, arguments.output.as_deref())?;
    tell(arguments, &report, chosen);
    Ok(code(report.image.complete))
}

/// Index of the proposal to print; `None` if there is none and none was requested.
fn choose(arguments: &DockerfileArguments, report: &RewriteReport) -> Result<Option<usize>, UsageError> {
    let Some(id) = &arguments.proposal else { return Ok((!report.proposals.is_empty()).then_some(0)) };
    let place = report.proposals.iter().position(|one| one.id == *id);
    place.map(Some).ok_or_else(|| {
        let known: Vec<&str> = report.proposals.iter().map(|one| one.id.as_str()).collect();
        let expected = (!known.is_empty()).then(|| format!("expected one of {}", known.join(", ")));
        let message = format!("no proposal {id:?} for {}", redacted(&arguments.reading.image));
        UsageError::new(message, expected.or_else(|| report.reason.clone()))
    })
}

/// Prints the summary on stderr: on a terminal or with `-v`, like all messages. "Nothing proposed" is always printed,
/// because the output is then the unchanged Dockerfile, and so is a fault: the output does not work as it is.
fn tell(arguments: &DockerfileArguments, report: &RewriteReport, chosen: Option<usize>) {
    let listens = arguments.reading.how.listens();
    let is_json = arguments.format == Format::Json && !arguments.diff;
    if !is_json && (listens || chosen.is_none()) {
        let summary = to_summary(report, chosen);
        summary.lines().take_while(|line| listens || !line.is_empty()).for_each(message);
    }
    let proposal = chosen.and_then(|place| report.proposals.get(place));
    if let Some(fault) = proposal.and_then(|one| one.closure.faults.first())
        && !is_json
        && !listens
    {
        message(&format!("warning: something that is needed today is missing: {fault} -v prints all."));
    }
    if listens {
        warn(&report.warnings);
    }
}
