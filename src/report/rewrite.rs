//! Proposed Dockerfiles of an image, schema `cutaway.dockerfile/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Report, image_part};
use super::options::{GENERATOR, Generator, Options};
use super::proposal::{DockerfilePart, InstructionLine, ProposalLine};
use super::vocabulary;
use super::words::{WarningLine, Word};
use crate::analysis::Analysis;
use crate::base::Platform;
use crate::base::text::printable_lines;
use crate::findings::{Finding, Findings, Plan, Question};
use crate::rewrite::{Origin, Proposal, Proposals, Recipe};

/// Schema of proposals.
const SCHEMA: &str = "cutaway.dockerfile/1";

/// Proposed Dockerfiles of an image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct RewriteReport {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// Generator of this document.
    pub generator: Generator,
    /// The current image.
    pub image: RewriteImage,
    /// The findings that proposals remove, and the answers to questions.
    pub plan: RewritePlan,
    /// Open questions of removable findings: each before those answered with it, the most bytes together first.
    /// `--answer ID=no` removes one.
    pub questions: Vec<QuestionLine>,
    /// The Dockerfile to change.
    pub recipe: RecipePart,
    /// Proposed Dockerfiles, best first.
    pub proposals: Vec<Proposal>,
    /// Reason if there are no proposals; else null.
    pub reason: Option<String>,
    /// Unknown facts, in sentences.
    pub notes: Vec<String>,
    /// All warnings.
    pub warnings: Vec<WarningLine>,
}

/// The current image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct RewriteImage {
    /// Transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Names of the image in its source.
    pub tags: Vec<String>,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
    /// Digest of the config bytes.
    pub config_digest: Option<String>,
    /// Platform of the image.
    pub platform: Option<Platform>,
    /// Whether every layer was read completely and matches its digest.
    pub complete: bool,
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
}

/// The findings that proposals remove, and the answers to questions.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct RewritePlan {
    /// Ids of the findings.
    pub findings: Vec<String>,
    /// Answers, in the order of the findings.
    pub answers: Vec<AnswerLine>,
}

/// The answer to the question of a finding.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct AnswerLine {
    /// Id of the finding.
    pub finding: String,
    /// The question; null for an unsure finding without one.
    pub question: Option<String>,
    /// yes: used, kept; no: removable.
    #[schemars(transform = vocabulary::answer)]
    pub answer: Word,
}

/// An open question.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct QuestionLine {
    /// Id of the finding.
    pub finding: String,
    /// The question. Yes: used, kept; no: removable.
    pub text: String,
    /// Layer bytes of the finding.
    pub bytes: u64,
    /// Id of the finding whose question, answered with no, answers this one, too: nothing else may need these files.
    /// Null without one.
    pub answered_with: Option<String>,
}

/// The Dockerfile to change.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct RecipePart {
    /// `given` by the user, or `rebuilt` from the image history.
    #[schemars(transform = vocabulary::origin)]
    pub origin: Word,
    /// Name of the file; null for a reconstructed one.
    pub name: Option<String>,
    /// Its text.
    pub dockerfile: String,
    /// Unknown facts about it.
    pub unknown: Vec<UnknownLine>,
    /// Its instructions, in order.
    pub instructions: Vec<InstructionLine>,
}

/// An unknown fact about a Dockerfile.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct UnknownLine {
    /// Line, counted from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
}

impl Report {
    /// Adds the proposals for the image, and the Dockerfile they change. Secrets are redacted in the user's own file
    /// too, because a report is shared.
    pub fn set_proposals(&mut self, proposals: &Proposals, options: &Options) {
        let rebuilt = proposals.recipe.origin == Origin::Reconstructed;
        let line = |one: &Proposal| {
            let mut line = ProposalLine {
                id: one.id.clone(),
                title: one.title.clone(),
                applicability: one.applicability.as_str().into(),
                saved_bytes: one.predicted.saved_bytes,
                merged_bytes: Some(one.predicted.merged_bytes),
                base_image: one.base_image.clone(),
                dockerfile: Some(written(&one.dockerfile, rebuilt)),
                diff: Some(written(&one.diff, rebuilt)),
            };
            // A reconstructed one is redacted where it is made.
            if !rebuilt && !options.show_secrets {
                line.redact();
            }
            line
        };
        let RecipePart { origin, name, instructions, .. } = recipe_part(&proposals.recipe);
        self.dockerfile = Some(DockerfilePart { origin, name, instructions });
        self.proposals = Some(proposals.list.iter().map(line).collect());
    }
}

impl RewriteReport {
    /// The proposals for the image of a finished analysis; `None` if its findings are not known.
    pub fn new(analysis: &Analysis, proposals: Proposals, options: &Options) -> Option<Self> {
        let totals = analysis.totals()?;
        let findings = analysis.findings.as_deref()?;
        let safe = Plan::of_safe(findings);
        let plan = options.plan.as_ref().unwrap_or(&safe);
        let image = image_part(analysis, options);
        let rebuilt = proposals.recipe.origin == Origin::Reconstructed;
        let shown = |one: Proposal| Proposal {
            dockerfile: written(&one.dockerfile, rebuilt),
            diff: written(&one.diff, rebuilt),
            ..one
        };
        Some(Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: RewriteImage {
                source: image.source,
                reference: image.reference,
                tags: image.tags,
                manifest_digest: image.manifest_digest,
                config_digest: image.config_digest,
                platform: image.platform,
                complete: totals.complete,
                merged_bytes: totals.merged_bytes,
                content_bytes: totals.content_bytes,
            },
            plan: RewritePlan::new(plan, findings),
            questions: plan.open_questions(findings).map(QuestionLine::from).collect(),
            recipe: recipe_part(&proposals.recipe),
            proposals: proposals.list.into_iter().map(shown).collect(),
            reason: proposals.reason,
            notes: proposals.notes,
            warnings: analysis.warnings().into_iter().map(WarningLine::from).collect(),
        })
    }
}

impl RewritePlan {
    pub(super) fn new(plan: &Plan, findings: &Findings) -> Self {
        Self {
            findings: plan.ids(findings).into_iter().map(str::to_owned).collect(),
            answers: answers(plan, findings),
        }
    }
}

impl From<Question<'_>> for QuestionLine {
    fn from(open: Question<'_>) -> Self {
        Self {
            finding: open.finding.id.clone(),
            text: open.text.to_owned(),
            bytes: open.finding.bytes,
            answered_with: open.answered_with.map(|one| one.id.clone()),
        }
    }
}

fn answers(plan: &Plan, findings: &Findings) -> Vec<AnswerLine> {
    let line = |one: &Finding| {
        let answer = plan.answer(&one.id)?.as_str().into();
        Some(AnswerLine { finding: one.id.clone(), question: one.question.clone(), answer })
    };
    findings.list.iter().filter_map(line).collect()
}

/// Escapes a Dockerfile or a diff for output. The user's own is written byte for byte; control characters of a
/// reconstructed one are escaped.
fn written(text: &str, rebuilt: bool) -> String {
    if rebuilt { printable_lines(text) } else { text.to_owned() }
}

fn recipe_part(recipe: &Recipe) -> RecipePart {
    let (origin, name) = match &recipe.origin {
        Origin::Given(name) => ("given".into(), Some(name.clone())),
        Origin::Reconstructed => ("rebuilt".into(), None),
    };
    let instructions = recipe.file.instructions.iter().enumerate().map(|(place, instruction)| {
        let tie = recipe.ties.get(place);
        InstructionLine {
            line: instruction.line,
            keyword: instruction.keyword.as_str().into(),
            layers: tie.map(|tie| tie.layers.clone()).unwrap_or_default(),
            content_bytes: tie.and_then(|tie| tie.content_bytes),
        }
    });
    RecipePart {
        origin,
        name,
        dockerfile: written(recipe.file.text(), recipe.origin == Origin::Reconstructed),
        unknown: recipe
            .unknown
            .iter()
            .map(|(line, text)| UnknownLine { line: *line, text: text.clone() })
            .collect(),
        instructions: instructions.collect(),
    }
}
