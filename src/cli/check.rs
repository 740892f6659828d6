//! Checks an image against `cutaway.toml`.

mod summary;
mod text;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::output::{TROUBLE, warn, write};
use super::reading::Reading;
use crate::analysis::Analysis;
use crate::base::read_at::read_up_to;
use crate::deploy::PlatformVerdict;
use crate::findings::policy::{Date, FILE_BYTES, Measured, Policy};
use crate::report::WarningLine;
use crate::source::redacted;
use text::CheckSummary;

/// Policy file that is used without `--config`, if it exists.
const DEFAULT_FILE: &str = "cutaway.toml";
/// Exit code of an image that violates the policy.
pub(super) const FAILED: u8 = 1;

#[derive(Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    reading: Reading,
    /// Policy file [default: ./cutaway.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Append a Markdown summary to FILE, such as a CI job summary
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
}

/// Runs the check, prints the result, and appends the summary.
pub(super) fn check(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let (file, policy) = policy_of(arguments.config.as_deref())?.unzip();
    let Reading { image, how } = &arguments.reading;
    let analysis = arguments.reading.analyse(policy.as_ref())?;
    let (Some(measured), Some(totals)) = (measured(&analysis), analysis.totals()) else {
        // The verdict is always on the last line of stdout.
        write(b"verdict: fail reason=incomplete\n", None)?;
        return Err(arguments.reading.unread());
    };
    // Without a clock every ignore counts as expired.
    let today = Date(how.today().unwrap_or(u32::MAX));
    let profile = arguments.reading.profile(&analysis, policy.as_ref())?;
    let platform = profile.map(|profile| PlatformVerdict::of(&analysis, &profile));
    let mut outcome = policy.unwrap_or_default().judge(&measured, today);
    // An incomplete image has no other reason.
    if totals.complete {
        outcome.reasons.extend(platform.as_ref().and_then(PlatformVerdict::failure));
    }
    let warnings = analysis.warnings();
    if how.verbose {
        warn(&warnings.iter().cloned().map(WarningLine::from).collect::<Vec<_>>());
    }
    let name = file.as_deref().map(Path::to_string_lossy);
    let told = CheckSummary {
        image: &redacted(image),
        policy: name.as_deref(),
        outcome: &outcome,
        platform: platform.as_ref(),
        findings: measured.findings,
        warnings: if totals.complete { &[] } else { &warnings },
    };
    if let Some(file) = &arguments.summary {
        append(file, &summary::markdown(&told))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    write(text::text(&told).as_bytes(), None)?;
    Ok(match (totals.complete, outcome.passes()) {
        (false, _) => ExitCode::from(TROUBLE),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(FAILED),
    })
}

/// The policy from `--config` or the default file.
pub(super) fn policy_of(config: Option<&Path>) -> anyhow::Result<Option<(PathBuf, Policy)>> {
    let default = || fs::symlink_metadata(DEFAULT_FILE).ok().map(|_| DEFAULT_FILE.into());
    let file: Option<PathBuf> = config.map(Path::to_owned).or_else(default);
    // The default file is opened without being named: a FIFO there must not block the build.
    if config.is_none() && fs::metadata(DEFAULT_FILE).is_ok_and(|file| !file.is_file()) {
        anyhow::bail!("cannot read {DEFAULT_FILE}: not a regular file");
    }
    let Some(file) = file else { return Ok(None) };
    let policy = read_policy(&file)?;
    Ok(Some((file, policy)))
}

/// Input for the policy; `None` before the layers are merged.
pub(super) fn measured(analysis: &Analysis) -> Option<Measured<'_>> {
    let (totals, merge) = (analysis.totals()?, analysis.merge.as_deref()?);
    Some(Measured {
        complete: totals.complete,
        compressed_bytes: totals.compressed_bytes,
        merged_bytes: Some(totals.merged_bytes),
        wasted_bytes: Some(totals.wasted_bytes),
        efficiency: totals.efficiency,
        findings: analysis.findings.as_deref(),
        rootfs: &merge.rootfs,
    })
}

fn read_policy(file: &Path) -> anyhow::Result<Policy> {
    let name = file.display().to_string();
    let bytes = File::open(file).and_then(|opened| read_up_to(opened, FILE_BYTES as u64));
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Policy::parse(&name, &text)?)
}

/// Appends: earlier steps may have written to the file.
fn append(file: &PathBuf, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    // A blank line separates the heading from earlier text.
    let gap = if file.metadata()?.len() > 0 { "\n" } else { "" };
    file.write_all(format!("{gap}{text}").as_bytes())
}
