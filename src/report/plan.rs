//! A plan as a document, schema `cutaway.plan/1`: saved by the window and read by `--plan`. A saved report is accepted
//! too.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::model::image_part;
use super::options::{GENERATOR, Generator, Options, SCHEMA as REPORT};
use super::saved::SAVED_BYTES;
use super::words::Word;
use crate::analysis::Analysis;
use crate::base::redact::json_fault;
use crate::base::size::human;
use crate::base::text::{elide_end, printable};
use crate::findings::{Answer, Finding, Plan, SavedAnswer, SavedFinding, SavedPlan};

/// Schema of plans.
const SCHEMA: &str = "cutaway.plan/1";
/// Maximum entries of a list. An image has a few hundred findings.
const MOST: usize = 100_000;

/// The findings to remove and the answers to questions, for one image.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PlanDocument {
    /// Name and version of this schema.
    pub schema: Word,
    /// Generator of this document.
    #[serde(skip_deserializing)]
    pub generator: Generator,
    /// The image of the plan.
    #[serde(default)]
    pub image: PlanImage,
    /// The findings to remove.
    #[serde(default)]
    pub findings: Vec<PlanFinding>,
    /// Answers to questions.
    #[serde(default)]
    pub answers: Vec<PlanAnswer>,
}

/// The image of a plan.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct PlanImage {
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
    /// Digest of the config bytes.
    pub config_digest: Option<String>,
}

/// A finding to remove.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PlanFinding {
    /// Its id.
    pub id: String,
    /// Title, which distinguishes findings of one rule if another image numbers them differently.
    #[serde(default)]
    pub title: Option<String>,
    /// Layer bytes.
    #[serde(default)]
    pub bytes: u64,
}

/// The answer to the question of a finding.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PlanAnswer {
    /// Id of the finding.
    pub finding: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// The question.
    #[serde(default)]
    pub question: Option<String>,
    /// `yes`: used, kept; `no`: removable.
    pub answer: Word,
}

/// Why a file cannot be read as a plan.
#[derive(Debug, Error)]
pub enum PlanFileError {
    /// Larger than a saved report may be.
    #[error("{} is too large for a plan: the limit is {}", human(*.0), human(SAVED_BYTES))]
    TooLarge(u64),
    /// Invalid JSON, or JSON of another form.
    #[error("not a plan: {0}")]
    Malformed(String),
    /// A document of another schema.
    #[error("not a plan: schema {found}, expected {SCHEMA} or {REPORT}")]
    Foreign {
        /// The schema found.
        found: String,
    },
    /// A report of an analysis that stopped before the rules ran.
    #[error("the report has no plan: the rules did not run")]
    NoPlan,
    /// A list has more entries than an image has findings.
    #[error("{place}: {count} entries, the limit is {MOST}")]
    TooMany {
        /// Which list.
        place: &'static str,
        /// Its length.
        count: usize,
    },
    /// An answer is neither yes nor no.
    #[error("{place}: answer {found:?}, expected \"yes\" or \"no\"")]
    Answer {
        /// Where in the document.
        place: String,
        /// The answer found.
        found: String,
    },
}

impl PlanFileError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Foreign { .. } => {
                Some("save the plan in the window, or use the output of `cutaway report IMAGE --format json`")
            }
            _ => None,
        }
    }
}

impl PlanDocument {
    /// The plan of an image; `None` until its findings are known.
    pub fn new(analysis: &Analysis, plan: &Plan) -> Option<Self> {
        let findings = analysis.findings.as_deref()?;
        let image = image_part(analysis, &Options::default());
        let answer = |one: &Finding| {
            Some(PlanAnswer {
                finding: one.id.clone(),
                title: Some(one.title.clone()),
                question: one.question.clone(),
                answer: plan.answer(&one.id)?.as_str().into(),
            })
        };
        let chosen = findings.list.iter().filter(|one| plan.contains(&one.id));
        Some(Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: PlanImage {
                reference: image.reference,
                manifest_digest: image.manifest_digest,
                config_digest: image.config_digest,
            },
            findings: chosen
                .map(|one| PlanFinding {
                    id: one.id.clone(),
                    title: Some(one.title.clone()),
                    bytes: one.bytes,
                })
                .collect(),
            answers: findings.list.iter().filter_map(answer).collect(),
        })
    }
}

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// The fields of a report that a plan needs.
#[derive(Deserialize)]
struct ReportHead {
    image: PlanImage,
    plan: Option<ReportPlan>,
    findings: Option<Vec<PlanFinding>>,
}

#[derive(Deserialize)]
struct ReportPlan {
    findings: Vec<String>,
}

/// Reads a plan, or the plan of a report.
///
/// # Errors
/// The document is too large, is invalid JSON, or has another or an invalid schema.
pub fn read_plan(bytes: &[u8]) -> Result<SavedPlan, PlanFileError> {
    if bytes.len() as u64 > SAVED_BYTES {
        return Err(PlanFileError::TooLarge(bytes.len() as u64));
    }
    let malformed = |error: &serde_json::Error| PlanFileError::Malformed(json_fault(error));
    let head: Head = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
    match head.schema.as_deref() {
        Some(SCHEMA) => of_plan(serde_json::from_slice(bytes).map_err(|error| malformed(&error))?),
        Some(REPORT) => of_report(serde_json::from_slice(bytes).map_err(|error| malformed(&error))?),
        Some(other) => Err(PlanFileError::Foreign { found: printable(&elide_end(other, 80)) }),
        None => Err(PlanFileError::Malformed("no schema given".to_owned())),
    }
}

fn bounded(place: &'static str, count: usize) -> Result<(), PlanFileError> {
    if count > MOST { Err(PlanFileError::TooMany { place, count }) } else { Ok(()) }
}

fn of_plan(document: PlanDocument) -> Result<SavedPlan, PlanFileError> {
    bounded("findings", document.findings.len())?;
    bounded("answers", document.answers.len())?;
    let findings = document.findings.into_iter().enumerate().map(|(at, one)| SavedFinding {
        place: format!("findings[{at}]"),
        id: one.id,
        title: one.title,
    });
    let answer = |(at, one): (usize, PlanAnswer)| {
        let place = format!("answers[{at}]");
        let Some(answer) = Answer::named(&one.answer) else {
            return Err(PlanFileError::Answer { place, found: elide_end(&one.answer, 40) });
        };
        let finding = SavedFinding { place, id: one.finding, title: one.title };
        Ok(SavedAnswer { finding, question: one.question, answer })
    };
    Ok(SavedPlan {
        manifest_digest: document.image.manifest_digest,
        config_digest: document.image.config_digest,
        findings: findings.collect(),
        answers: document.answers.into_iter().enumerate().map(answer).collect::<Result<_, _>>()?,
    })
}

fn of_report(report: ReportHead) -> Result<SavedPlan, PlanFileError> {
    let plan = report.plan.ok_or(PlanFileError::NoPlan)?;
    bounded("plan.findings", plan.findings.len())?;
    let mut titles: hashbrown::HashMap<String, String> = report
        .findings
        .unwrap_or_default()
        .into_iter()
        .filter_map(|one| Some((one.id, one.title?)))
        .collect();
    let findings = plan.findings.into_iter().enumerate().map(|(at, id)| SavedFinding {
        place: format!("plan.findings[{at}]"),
        title: titles.remove(&id),
        id,
    });
    Ok(SavedPlan {
        manifest_digest: report.image.manifest_digest,
        config_digest: report.image.config_digest,
        findings: findings.collect(),
        answers: Vec::new(),
    })
}
