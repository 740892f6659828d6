//! The plan from the command line: findings to remove, findings to keep, answers to questions.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::dockerfile::open_regular;
use super::run::message;
use crate::analysis::Analysis;
use crate::findings::{Answer, Findings, Plan, PlanChanges, PlanError, SavedPlan};
use crate::report::{PlanFileError, SAVED_BYTES, read_plan};
use crate::source::redacted;

/// Options that change the default plan.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PlanArguments {
    /// Start from a plan saved by the window or by report --format json [default: all removable findings]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Remove finding ID; for one that needs review, same as --answer ID=no; may be repeated
    #[arg(long, value_name = "ID")]
    remove: Vec<String>,
    /// Keep finding ID; for one that needs review, same as --answer ID=yes; may be repeated
    #[arg(long, value_name = "ID")]
    keep: Vec<String>,
    /// Answer the question of finding ID: yes, used and kept; no, removable; may be repeated
    #[arg(long, value_name = "ID=yes|no", value_parser = answer)]
    answer: Vec<(String, Answer)>,
}

/// Parses ID=yes or ID=no.
fn answer(text: &str) -> Result<(String, Answer), String> {
    let form = "expected ID=yes or ID=no, such as unused-libraries:unsure=no";
    let (id, word) = text.rsplit_once('=').ok_or(form)?;
    let answer = Answer::named(word).ok_or(form)?;
    if id.is_empty() { Err(form.to_owned()) } else { Ok((id.to_owned(), answer)) }
}

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlanUseError {
    /// The file cannot be read.
    #[error("cannot read the plan {file}")]
    Unreadable { file: String, source: io::Error },
    /// The file is not a plan.
    #[error("cannot read the plan {file}: {source}")]
    NoPlan { file: String, source: PlanFileError },
    /// The options contradict each other, or do not match the findings.
    #[error("{0}")]
    Misfit(PlanError),
    /// The saved plan does not match the findings.
    #[error("{file} does not match {image}: {error}")]
    SavedMisfit { file: String, image: String, error: Box<PlanError>, foreign: bool },
}

impl PlanUseError {
    /// What the user can do about it.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => None,
            Self::NoPlan { source, .. } => source.hint().map(str::to_owned),
            Self::Misfit(error) => error.hint(),
            Self::SavedMisfit { foreign: true, .. } => {
                Some("the plan was saved for another image; make a plan for this one".to_owned())
            }
            Self::SavedMisfit { error, .. } => error.hint(),
        }
    }
}

/// The options, with the plan file read.
#[derive(Debug, Default)]
pub(super) struct PlanRequest {
    file: String,
    changes: PlanChanges,
}

impl PlanRequest {
    /// Reads the file and checks for contradictions; needs no image.
    pub(super) fn read(arguments: &PlanArguments) -> Result<Self, PlanUseError> {
        let mut request = Self {
            file: String::new(),
            changes: PlanChanges {
                saved: None,
                remove: arguments.remove.clone(),
                keep: arguments.keep.clone(),
                answers: arguments.answer.clone(),
            },
        };
        request.changes.check().map_err(PlanUseError::Misfit)?;
        if let Some(path) = &arguments.plan {
            request.file = path.display().to_string();
            request.changes.saved = Some(saved(path, &request.file)?);
        }
        Ok(request)
    }

    /// The plan for an image. Warns when the file was saved for another image.
    pub(super) fn plan(&self, analysis: &Analysis, findings: &Findings) -> Result<Plan, PlanUseError> {
        let image = &analysis.image;
        let shown = || redacted(&image.reference);
        let digests = (image.manifest_digest.as_deref(), image.config_digest.as_deref());
        let saved = self.changes.saved.as_ref();
        let foreign = saved.is_some_and(|saved| saved.is_for(digests.0, digests.1) == Some(false));
        let plan = self.changes.apply(findings).map_err(|error| match error {
            PlanError::Saved { .. } => PlanUseError::SavedMisfit {
                file: self.file.clone(),
                image: shown(),
                error: Box::new(error),
                foreign,
            },
            error => PlanUseError::Misfit(error),
        })?;
        if foreign {
            let (file, image) = (&self.file, shown());
            message(&format!(
                "warning: {file} was saved for another image than {image}; all its findings exist here too"
            ));
        }
        Ok(plan)
    }
}

fn saved(path: &Path, file: &str) -> Result<SavedPlan, PlanUseError> {
    let mut bytes = Vec::new();
    let read = open_regular(path).and_then(|opened| opened.take(SAVED_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| PlanUseError::Unreadable { file: file.to_owned(), source })?;
    read_plan(&bytes).map_err(|source| PlanUseError::NoPlan { file: file.to_owned(), source })
}
