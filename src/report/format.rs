//! What a report can be written as.

use super::csv::{CsvTable, to_csv};
use super::html::to_html;
use super::json::to_json;
use super::markdown::to_markdown;
use super::model::Report;
use super::page::Part;
use super::sarif::to_sarif;
use super::sections::page;
use super::text::{TextStyle, to_text};

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// For people, on a terminal or in a log.
    Text,
    /// For scripts, schema `cutaway.report/1`.
    Json,
    /// For pull requests and step summaries.
    Markdown,
    /// For people, one file without remote parts.
    Html,
    /// For code scanning.
    Sarif,
    /// One table, for spreadsheets.
    Csv(CsvTable),
}

impl Format {
    /// The usual end of a file's name.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Sarif => "sarif",
            Self::Csv(_) => "csv",
        }
    }

    /// Whether parts can be left out: the others are always whole.
    pub const fn has_parts(self) -> bool {
        matches!(self, Self::Text | Self::Markdown | Self::Html)
    }

    /// Writes a report. Only those formats that have parts look at `parts`.
    pub fn write(self, report: &Report, parts: &[Part]) -> String {
        match self {
            Self::Text => to_text(&page(report).only(parts), TextStyle::default()),
            Self::Json => to_json(report),
            Self::Markdown => to_markdown(&page(report).only(parts)),
            Self::Html => to_html(&page(report).only(parts)),
            Self::Sarif => to_sarif(report),
            Self::Csv(table) => to_csv(report, table),
        }
    }
}
