//! `cutaway dockerfile`: proposes a Dockerfile for an image.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use rustix::fs::OFlags;

use super::arguments::{DockerfileOutput, DockerfilePlan};
use super::output::write;
use super::plan::PlanRequest;
use super::run::{TROUBLE, analyse, message, warn};
use crate::analysis::{Analysis, Depth};
use crate::findings::Plan;
use crate::jobs::catch_panic;
use crate::report::{Options, RewriteReport, to_json, to_summary};
use crate::rewrite::{DOCKERFILE_BYTES, Given, Proposals};

/// Name for standard input.
const STDIN: &str = "-";

/// Why a Dockerfile cannot be read, or a proposal cannot be printed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DockerfileError {
    /// The file cannot be read.
    #[error("cannot read the Dockerfile {name}")]
    Unreadable { name: String, source: io::Error },
    /// The file is larger than [`DOCKERFILE_BYTES`].
    #[error("{name} is not a Dockerfile: larger than {DOCKERFILE_BYTES} bytes")]
    TooLarge { name: String },
    /// No proposal has this id.
    #[error("no proposal {id:?} for {image}")]
    NoProposal { id: String, image: String, reason: Option<String>, known: Vec<String> },
}

impl DockerfileError {
    /// What the user can do about it.
    pub(super) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreadable { .. } | Self::TooLarge { .. } => {
                "pass the Dockerfile the image was built from, or --dockerfile - for stdin; without the option, one is \
                reconstructed from the image history"
                    .to_owned()
            }
            Self::NoProposal { known, .. } if !known.is_empty() => format!("expected one of {}", known.join(", ")),
            Self::NoProposal { reason, .. } => reason.clone()?,
        })
    }
}

/// A Dockerfile given by the user.
pub(super) struct GivenFile {
    name: String,
    bytes: Vec<u8>,
}

impl GivenFile {
    /// Reads a regular file, or stdin for `-`. Never blocks on a FIFO.
    pub(super) fn read(file: &Path) -> Result<Self, DockerfileError> {
        let (name, bytes) = if file.as_os_str() == STDIN {
            ("standard input".to_owned(), bounded(io::stdin().lock()))
        } else {
            (file.display().to_string(), open_regular(file).and_then(bounded))
        };
        match bytes {
            Ok(bytes) if bytes.len() > DOCKERFILE_BYTES => Err(DockerfileError::TooLarge { name }),
            Ok(bytes) => Ok(Self { name, bytes }),
            Err(source) => Err(DockerfileError::Unreadable { name, source }),
        }
    }

    fn given(&self) -> Given<'_> {
        Given { name: &self.name, text: &self.bytes }
    }
}

/// Opens a regular file. Never blocks on a FIFO.
pub(super) fn open_regular(file: &Path) -> io::Result<std::fs::File> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    let facts = opened.metadata()?;
    if facts.is_file() {
        return Ok(opened);
    }
    let what = if facts.is_dir() { "a folder" } else { "a device, pipe or socket" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what}, not a file")))
}

/// All bytes, up to one more than a Dockerfile may have.
fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(DOCKERFILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
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
pub(super) fn dockerfile(plan: &DockerfilePlan) -> anyhow::Result<ExitCode> {
    let given = plan.dockerfile.as_deref().map(GivenFile::read).transpose()?;
    let request = PlanRequest::read(&plan.changes)?;
    let analysis = analyse(&plan.read, None)?;
    let findings = analysis.findings.as_deref();
    let removal = findings.map(|findings| request.plan(&analysis, findings)).transpose()?;
    let proposals = match &removal {
        Some(removal) => propose(&analysis, removal, given.as_ref(), plan.show_secrets)?,
        None => None,
    };
    let options = Options { show_secrets: plan.show_secrets, plan: removal, ..Options::default() };
    let report = proposals.and_then(|proposals| RewriteReport::new(&analysis, proposals, &options));
    let Some(mut report) = report else {
        if plan.read.depth != Depth::Full {
            anyhow::bail!("{}", plan.read.unread());
        }
        anyhow::bail!("no proposals for {}: the rules did not run", plan.read.shown());
    };
    let chosen = choose(plan, &report)?;
    let proposal = chosen.and_then(|place| report.proposals.get(place));
    let rebuilt = || report.recipe.dockerfile.as_bytes();
    let unchanged = || given.as_ref().map_or_else(rebuilt, |given| &given.bytes);
    match plan.form {
        DockerfileOutput::Text => {
            write(proposal.map_or_else(unchanged, |one| one.dockerfile.as_bytes()), plan.output.as_deref())?;
        }
        DockerfileOutput::Diff => {
            write(proposal.map_or(&[], |one| one.diff.as_bytes()), plan.output.as_deref())?;
        }
        DockerfileOutput::Json => {
            if plan.proposal.is_some() {
                report.proposals = proposal.cloned().into_iter().collect();
            }
            write(to_json(&report).as_bytes(), plan.output.as_deref())?;
        }
    }
    tell(plan, &report, chosen);
    Ok(ExitCode::from(if report.image.complete { 0 } else { TROUBLE }))
}

/// Index of the proposal to print; `None` if there is none and none was requested.
fn choose(plan: &DockerfilePlan, report: &RewriteReport) -> Result<Option<usize>, DockerfileError> {
    let Some(id) = &plan.proposal else { return Ok((!report.proposals.is_empty()).then_some(0)) };
    let place = report.proposals.iter().position(|one| one.id == *id);
    place.map(Some).ok_or_else(|| DockerfileError::NoProposal {
        id: id.clone(),
        image: plan.read.shown(),
        reason: report.reason.clone(),
        known: report.proposals.iter().map(|one| one.id.clone()).collect(),
    })
}

/// Prints the summary on stderr: on a terminal or with `-v`, like all messages. "Nothing proposed" is always printed,
/// because the output is then the unchanged Dockerfile.
fn tell(plan: &DockerfilePlan, report: &RewriteReport, chosen: Option<usize>) {
    let listens = plan.read.verbose || io::stderr().is_terminal();
    if plan.form != DockerfileOutput::Json && (listens || chosen.is_none()) {
        let summary = to_summary(report, chosen);
        summary.lines().take_while(|line| listens || !line.is_empty()).for_each(message);
    }
    if listens {
        warn(&report.warnings);
    }
}
