//! In: an analysis, or a comparison of several; a saved report or plan.
//! Out: its report as one model, and that as text, JSON, Markdown, HTML, SARIF or CSV.
//! Must not know: the destination of the text, or how the image was read.
//!
//! # Design
//!
//! **One model.** `Report` (schema `cutaway.report/1`) and `CompareReport` (`cutaway.compare/1`) are the
//! schema: their fields are the JSON fields, the JSON Schema is generated from the types (`cutaway schema`),
//! and every other format is generated from them, never from the analysis. A saved report is the same value
//! read again: the window opens one without its image, and the command line converts it. Secrets are redacted
//! where the model is built, so that no format can miss them.
//!
//! **One page.** Output for people is a `Page` (`report/page`): sections of lines, tables with details behind
//! their rows, charts and code. Words, order and bounds of lists are determined there (`report/sections`,
//! `report/compare`); text, Markdown, HTML and the window's page widget only render it. SARIF and CSV are
//! generated from the model.
//!
//! **HTML** is a template of minijinja with auto-escape; no script, no remote part, and a content security
//! policy that forbids both. **Markdown** escapes every character with a meaning. Both are bounded in size
//! and state what they omit.

mod cold_start;
mod compare;
mod compatibility;
mod csv;
mod cuda;
mod deploy;
mod findings;
mod format;
mod graphs;
mod html;
mod instruction;
mod inventory;
mod json;
mod library;
mod markdown;
mod model;
mod options;
pub mod page;
mod plan;
mod proposal;
mod redact;
mod rewrite;
mod sarif;
mod saved;
mod schema;
mod sections;
mod shorten;
mod slim;
mod summary;
mod text;
mod vocabulary;
mod why;
mod words;

pub use cold_start::cold_start_part;
pub use cold_start::{
    AdvicePart, AssumptionPart, ColdStartPart, PhasesPart, ProfilePart, ScenarioPart, SecondsPart,
    StartupPart,
};
pub use compare::{
    CompareClass, CompareCompatibility, CompareFormat, CompareImage, CompareLayer, CompareReport,
    CompareSetting, CompareVerdict, CompareWarning, FileChange, RegressionCheck, RegressionFigure,
    compare_page, compare_to_csv, compare_to_text, distinct_names, moved_in_words,
};
pub use compatibility::{CompatibilityPart, ErrorPart, ReasonPart, RequiresPart, TargetLine, VersionLine};
pub use csv::{CsvTable, to_csv};
pub use cuda::CudaPart;
pub use deploy::{DeployReport, FileFindingLine, FilePart, MachineLine, SnippetPart, deploy_page};
pub use findings::{FindingLine, LayerShare, PlanPart, ReclaimablePart, path as item_path, user_name};
pub use format::Format;
pub use graphs::{CaptureLine, CudaGraphsPart, GraphFeatureLine, GraphSwitchLine, StepGainLine};
pub use html::to_html;
pub use instruction::short_instruction;
pub use json::to_json;
pub use library::{LibraryLine, library_lines};
pub use markdown::{markdown_escape, to_markdown};
pub use model::{FileLine, ImagePart, LayerLine, Report, RunConfig, TablePart, TotalsPart, image_part};
pub use options::Options;
pub use plan::{PlanAnswer, PlanDocument, PlanFileError, PlanFinding, PlanImage, read_plan};
pub use proposal::{DockerfilePart, InstructionLine, ProposalLine};
pub use rewrite::{AnswerLine, QuestionLine, RecipePart, RewriteImage, RewritePlan, RewriteReport};
pub use sarif::to_sarif;
pub use saved::{SAVED_BYTES, SavedError, read_saved};
pub use schema::{Document, schema_for, schema_of};
pub use sections::cold_start::{figure as cold_start_figure, sentence as cold_start_sentence};
pub use sections::page as report_page;
pub use slim::{
    RemovedLine, SizePart, SlimBase, SlimBlob, SlimGpuLoads, SlimLayer, SlimOutput, SlimReport, SlimSource,
    SlimVerification,
};
pub use summary::to_summary;
pub use text::{TextStyle, to_text};
pub use why::{
    Effect, PathName, WhyFinding, WhyFolder, WhyLayer, WhyLoading, WhyPackage, WhyReference, WhyReport,
    WhyShare, WhyStep, WhyVersion, WhyWithout, search_step,
};
pub use words::{WarningLine, Word};
