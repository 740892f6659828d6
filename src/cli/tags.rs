//! The tags of a repository.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use super::arguments::Format;
use super::network::Network;
use super::output::write;
use super::progress::with_bar;
use super::run::{TROUBLE, message};
use crate::analysis::AnalysisError;
use crate::base::redact;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Progress};
use crate::source::Reference;
use crate::source::registry::{self, TagList};

#[derive(Args)]
pub(super) struct TagsArguments {
    /// The repository, such as nvcr.io/nvidia/pytorch; a tag in it is not looked at
    image: String,
    #[command(flatten)]
    network: Network,
    /// Text is one tag a line
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Say on stderr what is done
    #[arg(short, long)]
    verbose: bool,
}

/// Tags to list.
pub struct TagsPlan(TagsArguments);

impl TagsArguments {
    pub(super) fn plan(self) -> TagsPlan {
        TagsPlan(self)
    }
}

/// Prints the tags of a repository, in the order that the registry gives.
pub(super) fn tags(TagsPlan(plan): &TagsPlan) -> anyhow::Result<ExitCode> {
    let reference = Reference::parse(&plan.image).map_err(AnalysisError::from)?;
    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let list = || registry::tags(&reference, &plan.network.access(), &cancel, &progress);
    let TagList { tags, complete } = with_bar(&progress, plan.verbose, list).map_err(AnalysisError::from)?;
    let mut text = String::new();
    match plan.format {
        Format::Text => {
            for tag in &tags {
                writeln!(text, "{}", printable(tag))?;
            }
        }
        Format::Json => {
            let image = redact::reference(&plan.image);
            text = serde_json::to_string_pretty(
                &serde_json::json!({ "image": image, "tags": tags, "complete": complete }),
            )?;
            text.push('\n');
        }
    }
    write(text.as_bytes(), None)?;
    if complete {
        return Ok(ExitCode::SUCCESS);
    }
    message(&format!("there are more tags than the {} that are listed", tags.len()));
    Ok(ExitCode::from(TROUBLE))
}
