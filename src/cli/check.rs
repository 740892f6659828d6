//! Holds an image to `cutaway.toml`.

mod summary;
mod text;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::arguments::CheckPlan;
use super::output::write;
use super::run::{TROUBLE, analyse, today, warn};
use crate::analysis::Analysis;
use crate::base::Warning;
use crate::findings::Findings;
use crate::findings::policy::{Date, FILE_BYTES, Measured, Outcome, Policy};
use crate::report::WarningLine;

/// The file that is read when none is given and it is there.
const DEFAULT_FILE: &str = "cutaway.toml";
/// The image does not hold to the policy.
pub(super) const FAILED: u8 = 1;

/// What came of a check, with all that is told of it.
struct Told<'a> {
    /// The image, as the user wrote it.
    image: &'a str,
    /// The file with the policy; `None` without one.
    policy: Option<&'a str>,
    outcome: &'a Outcome,
    findings: Option<&'a Findings>,
    /// Why the image is incomplete; empty when it is not.
    warnings: &'a [Warning],
}

/// Carries the check out, prints what came of it, and appends the summary.
pub(super) fn check(plan: &CheckPlan) -> anyhow::Result<ExitCode> {
    let (file, policy) = policy_of(plan.config.as_deref())?.unzip();
    let analysis = analyse(&plan.read, policy.as_ref())?;
    let (Some(measured), Some(totals)) = (measured(&analysis), analysis.totals()) else {
        // Whoever reads the last line is told, too.
        write(b"verdict: fail reason=incomplete\n", None)?;
        anyhow::bail!("{}", plan.read.unread());
    };
    // Without a clock nobody can say that an ignore still counts.
    let today = Date(today(&plan.read).unwrap_or(u32::MAX));
    let outcome = policy.unwrap_or_default().judge(&measured, today);
    let warnings = analysis.warnings();
    if plan.read.verbose {
        warn(&warnings.iter().cloned().map(WarningLine::from).collect::<Vec<_>>());
    }
    let name = file.as_deref().map(Path::to_string_lossy);
    let told = Told {
        image: &plan.read.shown(),
        policy: name.as_deref(),
        outcome: &outcome,
        findings: measured.findings,
        warnings: if totals.complete { &[] } else { &warnings },
    };
    if let Some(file) = &plan.summary {
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

/// The file that is given, or the default one where it lies, and what it asks for.
pub(super) fn policy_of(config: Option<&Path>) -> anyhow::Result<Option<(PathBuf, Policy)>> {
    let default = || fs::symlink_metadata(DEFAULT_FILE).ok().map(|_| DEFAULT_FILE.into());
    let file: Option<PathBuf> = config.map(Path::to_owned).or_else(default);
    // Nobody asked for the file that lies here: what waits for a writer must not hold a build up.
    if config.is_none() && fs::metadata(DEFAULT_FILE).is_ok_and(|file| !file.is_file()) {
        anyhow::bail!("cannot read {DEFAULT_FILE}: it is no regular file");
    }
    let Some(file) = file else { return Ok(None) };
    let policy = read_policy(&file)?;
    Ok(Some((file, policy)))
}

/// What a policy is held against; `None` while the layers are not merged.
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
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(file)?.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().with_context(|| format!("cannot read {name}"))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Policy::parse(&name, &text)?)
}

/// Adds to a file that other steps may have written to already.
fn append(file: &PathBuf, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    // A heading must not become part of a paragraph that stands there.
    let gap = if file.metadata()?.len() > 0 { "\n" } else { "" };
    file.write_all(format!("{gap}{text}").as_bytes())
}
