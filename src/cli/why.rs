//! `cutaway why`: what brought a file or folder, who uses it, and what would happen without it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use super::cat::tell_incomplete;
use super::output::{Format, code, write};
use super::reading::Reading;
use crate::contents::ContentsError;
use crate::jobs::catch_panic;
use crate::report::{Options, WhyReport, to_json};

#[derive(Args)]
pub(super) struct WhyArguments {
    #[command(flatten)]
    reading: Reading,
    /// File or folder, as its path in a container; links are not followed
    #[arg(value_name = "PATH")]
    path: OsString,
    /// text prints a summary, json everything (schema cutaway.why/1)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Do not redact values that look like secrets
    #[arg(long)]
    show_secrets: bool,
}

/// Prints the answer.
pub(super) fn why(arguments: &WhyArguments) -> anyhow::Result<ExitCode> {
    let analysis = arguments.reading.analyse(None)?;
    let options = Options { show_secrets: arguments.show_secrets, ..Options::default() };
    let made = catch_panic(|| WhyReport::new(&analysis, arguments.path.as_bytes(), &options))
        .map_err(|panic| anyhow!("internal error; please report it: {panic}"))?;
    let Some(found) = made else { return Err(arguments.reading.unread()) };
    let complete = tell_incomplete(&analysis);
    let report = found.map_err(ContentsError::from)?;
    let text = match arguments.format {
        Format::Text => report.to_text(),
        Format::Json => to_json(&report),
    };
    write(text.as_bytes(), None)?;
    Ok(code(complete && report.image.complete))
}
