//! The tags of a repository.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use super::network::Network;
use super::output::{Format, code, message, write};
use super::progress::with_bar;
use crate::analysis::AnalysisError;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Progress};
use crate::source::registry::{self, TagList};
use crate::source::{Reference, redacted};

#[derive(Args)]
pub(super) struct TagsArguments {
    /// Repository, such as nvcr.io/nvidia/pytorch; a tag is ignored
    #[arg(value_name = "REPOSITORY")]
    image: String,
    #[command(flatten)]
    network: Network,
    /// text prints one tag per line
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Verbose output
    #[arg(short, long)]
    verbose: bool,
}

/// Prints the tags of a repository, in the order of the registry.
pub(super) fn tags(arguments: &TagsArguments) -> anyhow::Result<ExitCode> {
    let reference = Reference::parse(&arguments.image).map_err(AnalysisError::from)?;
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let list = || registry::tags(&reference, &arguments.network.access(), &cancel, &progress);
    let TagList { tags, complete } =
        with_bar(&progress, arguments.verbose, list).map_err(AnalysisError::from)?;
    let mut text = String::new();
    match arguments.format {
        Format::Text => {
            for tag in &tags {
                writeln!(text, "{}", printable(tag))?;
            }
        }
        Format::Json => {
            let image = redacted(&arguments.image);
            text = serde_json::to_string_pretty(
                &serde_json::json!({ "image": image, "tags": tags, "complete": complete }),
            )?;
            text.push('\n');
        }
    }
    write(text.as_bytes(), None)?;
    if !complete {
        message(&format!("tag list truncated at {} tags", tags.len()));
    }
    Ok(code(complete))
}
