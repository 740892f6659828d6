//! A comparison, schema `cutaway.compare/1`: the model, and what is written from it.
//!
//! [`CompareReport`] holds all of it. [`compare_page`] decides what is shown of it and in which words; the text for
//! the terminal is made from the same page, so that no two formats disagree.

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
    CompareClass, CompareCompatibility, CompareComponent, CompareFiles, CompareFinding, CompareGpuCode,
    CompareImage, CompareLayer, ComparePackage, CompareReport, CompareSetting, CompareVerdict,
    CompareWarning, FileChange, RegressionCheck, RegressionFigure,
};
pub use page::compare_page;
pub use text::compare_to_text;

use super::html::to_html;
use super::json::to_json;
use super::markdown::to_markdown;

/// What a comparison is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareFormat {
    /// For people, 80 columns; the last line is the verdict.
    Text,
    /// For scripts, schema `cutaway.compare/1`.
    Json,
    /// For pull requests and step summaries.
    Markdown,
    /// For people, one file without remote parts.
    Html,
    /// All figures in long form, for spreadsheets.
    Csv,
}

impl CompareFormat {
    /// The usual end of a file's name.
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
            Self::Text => compare_to_text(report),
            Self::Json => to_json(report),
            Self::Markdown => to_markdown(&compare_page(report)),
            Self::Html => to_html(&compare_page(report)),
            Self::Csv => compare_to_csv(report),
        }
    }
}
