//! The plan from the command line: findings to remove, findings to keep, answers to questions.

use std::path::{Path, PathBuf};

use clap::Args;

use super::output::{UsageError, message, read_file};
use crate::analysis::Analysis;
use crate::findings::{Answer, Findings, Plan, PlanChanges, PlanError, SavedPlan};
use crate::report::{SAVED_BYTES, read_plan};
use crate::source::redacted;

/// Options that change the default plan.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PlanArguments {
    /// Start from a plan saved by the window or by report --format json [default: all removable findings]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Remove finding ID; for one that needs review, answers its question alone with no; may be repeated
    #[arg(long, value_name = "ID")]
    remove: Vec<String>,
    /// Keep finding ID; for one that needs review, same as --answer ID=yes; may be repeated
    #[arg(long, value_name = "ID")]
    keep: Vec<String>,
    /// Answer the question of finding ID: yes, used and kept; no, removable, which also answers questions whose readers
    /// are all among those of this one; may be repeated
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

/// The options, with the plan file read.
#[derive(Debug, Default)]
pub(super) struct PlanRequest {
    file: String,
    changes: PlanChanges,
}

impl PlanRequest {
    /// Reads the file and checks for contradictions; needs no image. With `force`, findings
    /// that are required at run time can be removed.
    pub(super) fn read(arguments: &PlanArguments, force: bool) -> Result<Self, UsageError> {
        let mut request = Self {
            file: String::new(),
            changes: PlanChanges {
                saved: None,
                remove: arguments.remove.clone(),
                keep: arguments.keep.clone(),
                answers: arguments.answer.clone(),
                force,
            },
        };
        request.changes.check().map_err(|error| misfit(&error))?;
        if let Some(path) = &arguments.plan {
            request.file = path.display().to_string();
            request.changes.saved = Some(saved(path, &request.file)?);
        }
        Ok(request)
    }

    /// The plan for an image. Warns when the file was saved for another image.
    pub(super) fn plan(&self, analysis: &Analysis, findings: &Findings) -> Result<Plan, UsageError> {
        let image = &analysis.image;
        let shown = || redacted(&image.reference);
        let digests = (image.manifest_digest.as_deref(), image.config_digest.as_deref());
        let saved = self.changes.saved.as_ref();
        let foreign = saved.is_some_and(|saved| saved.is_for(digests.0, digests.1) == Some(false));
        let plan = self.changes.apply(findings).map_err(|error| match error {
            PlanError::Saved { .. } => UsageError::new(
                format!("{} does not match {}: {error}", self.file, shown()),
                if foreign { Some(FOREIGN.to_owned()) } else { error.hint() },
            ),
            error => misfit(&error),
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

const FOREIGN: &str = "the plan was saved for another image; make a plan for this one";

/// The options contradict each other, or do not match the findings.
fn misfit(error: &PlanError) -> UsageError {
    UsageError::new(error.to_string(), error.hint())
}

fn saved(path: &Path, file: &str) -> Result<SavedPlan, UsageError> {
    let refused = |reason: String, hint: Option<&str>| {
        UsageError::new(format!("cannot read the plan {file}: {reason}"), hint.map(str::to_owned))
    };
    let bytes = read_file(path, SAVED_BYTES).map_err(|error| refused(error.to_string(), None))?;
    read_plan(&bytes).map_err(|error| refused(error.to_string(), error.hint()))
}
