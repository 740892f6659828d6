//! In: an analysis, or a comparison of several; a saved report or plan.
//! Out: its report as one model, and that as text, JSON, Markdown, HTML, SARIF or CSV.
//! Must not know: the destination of the text, or how the image was read.

mod compare;
mod compatibility;
mod csv;
mod cuda;
mod findings;
mod format;
mod html;
mod instruction;
mod inventory;
mod json;
mod markdown;
mod model;
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
mod summary;
mod text;
mod vocabulary;
mod words;

pub use compare::{
    CompareClass, CompareCompatibility, CompareComponent, CompareFiles, CompareFinding, CompareFormat,
    CompareGpuCode, CompareImage, CompareLayer, ComparePackage, CompareReport, CompareSetting,
    CompareVerdict, CompareWarning, FileChange, RegressionCheck, RegressionFigure, compare_page,
    compare_to_csv, compare_to_text,
};
pub use compatibility::{CompatibilityPart, ErrorPart, ReasonPart, RequiresPart, TargetLine, VersionLine};
pub use csv::{CsvTable, to_csv};
pub use cuda::{CudaPart, LibraryLine};
pub use findings::{FindingLine, LayerShare, PlanPart, ReclaimablePart, path as item_path, user_name};
pub use format::Format;
pub use html::to_html;
pub use instruction::short_instruction;
pub use json::to_json;
pub use markdown::{markdown_escape, to_markdown};
pub use model::{
    FileLine, ImagePart, LayerLine, Options, Report, RunConfig, TablePart, TotalsPart, image_part,
};
pub use plan::{PlanAnswer, PlanDocument, PlanFileError, PlanFinding, PlanImage, read_plan};
pub use proposal::{ClosurePart, HintPart, PredictedPart, ProposalPart, ReasonLine, RemovedLine, StagePart};
pub use rewrite::{
    AnswerLine, DockerfilePart, InstructionLine, ProposalLine, QuestionLine, RecipePart, RewriteImage,
    RewritePlan, RewriteReport,
};
pub use sarif::to_sarif;
pub use saved::{SAVED_BYTES, SavedError, read_saved};
pub use schema::{Document, schema_for, schema_of};
pub use sections::page as report_page;
pub use summary::to_summary;
pub use text::{TextStyle, to_text};
pub use words::{WarningLine, Word};
