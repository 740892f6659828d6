//! A comparison, schema `cutaway.compare/1`: the model, and its output formats.
//!
//! [`CompareReport`] is the complete model. [`compare_page`] selects and words the contents for people; the terminal
//! text is generated from the same page, so that formats agree.

mod csv;
mod make;
mod model;
mod page;
mod rows;
mod text;
mod titles;
mod verdict;

pub use csv::compare_to_csv;
pub use model::{
    CompareClass, CompareCompatibility, CompareImage, CompareLayer, CompareReport, CompareSetting,
    CompareVerdict, CompareWarning, FileChange, RegressionCheck, RegressionFigure,
};
pub use page::{compare_page, moved_in_words};
pub use text::compare_to_text;
pub use titles::distinct_names;

use super::html::to_html;
use super::json::to_json;
use super::markdown::to_markdown;
use super::text::TextStyle;

/// Output format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareFormat {
    /// Human-readable; the last line is the verdict.
    Text,
    /// Machine-readable, schema `cutaway.compare/1`.
    Json,
    /// Markdown for pull requests and step summaries.
    Markdown,
    /// One self-contained HTML file.
    Html,
    /// All figures in long form.
    Csv,
}

impl CompareFormat {
    /// Usual file name extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Csv => "csv",
        }
    }

    /// Writes a comparison.
    pub fn write(self, report: &CompareReport) -> String {
        match self {
            Self::Text => compare_to_text(report, TextStyle::default()),
            Self::Json => to_json(report),
            Self::Markdown => to_markdown(&compare_page(report)),
            Self::Html => to_html(&compare_page(report)),
            Self::Csv => compare_to_csv(report),
        }
    }
}
