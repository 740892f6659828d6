//! What a report is written as, and which parts of it.

use std::collections::BTreeSet;

use crate::report::page::Part;
use crate::report::{CsvTable, Format};

/// What a report is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// One file for people.
    #[default]
    Html,
    /// For pull requests.
    Markdown,
    /// For scripts, and to be opened again.
    Json,
    /// For code scanning.
    Sarif,
    /// One table, for spreadsheets.
    Csv,
    /// For people with a terminal.
    Text,
    /// The Dockerfile that carries the plan out.
    Dockerfile,
}

impl ExportFormat {
    /// All of them, in the order of the list.
    pub const ALL: [Self; 7] =
        [Self::Html, Self::Markdown, Self::Json, Self::Sarif, Self::Csv, Self::Text, Self::Dockerfile];

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Markdown => "Markdown",
            Self::Json => "JSON",
            Self::Sarif => "SARIF",
            Self::Csv => "CSV",
            Self::Text => "Text",
            Self::Dockerfile => "Proposed Dockerfile",
        }
    }

    /// What it is for, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Html => "Single self-contained page with charts, printable",
            Self::Markdown => "For pull requests and CI summaries; long lists are truncated",
            Self::Json => "Complete report for scripts; reopens in Cutaway without the image",
            Self::Sarif => "Findings for code scanning, SARIF 2.1.0",
            Self::Csv => "One complete table, for spreadsheets",
            Self::Text => "Output of cutaway report",
            Self::Dockerfile => "Proposed Dockerfile that applies the plan",
        }
    }

    /// Why parts cannot be left out; `None` where they can.
    pub const fn whole(self) -> Option<&'static str> {
        match self {
            Self::Html | Self::Markdown => None,
            Self::Json => Some("JSON always contains everything"),
            Self::Sarif => Some("SARIF always contains all findings"),
            Self::Csv => Some("CSV always contains one complete table"),
            Self::Text => Some("Text always contains everything"),
            Self::Dockerfile => Some("Not applicable to a Dockerfile"),
        }
    }
}

/// The tables of a report, in the order of the list.
pub const TABLES: [CsvTable; 3] = [CsvTable::Libraries, CsvTable::Findings, CsvTable::Layers];

/// The name of a table.
pub const fn table_title(table: CsvTable) -> &'static str {
    match table {
        CsvTable::Libraries => "CUDA libraries",
        CsvTable::Findings => "Findings",
        CsvTable::Layers => "Layers",
    }
}

/// What the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// What it is written as.
    pub form: ExportFormat,
    /// The table, of CSV.
    pub table: CsvTable,
    /// Parts that are left out.
    pub left_out: BTreeSet<Part>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { form: ExportFormat::default(), table: CsvTable::Findings, left_out: BTreeSet::new() }
    }
}

impl ReportOptions {
    /// Whether a part is in what is written, as far as the choice decides.
    pub fn includes(&self, part: Part) -> bool {
        match (self.form, self.table) {
            (ExportFormat::Html | ExportFormat::Markdown, _) => !self.left_out.contains(&part),
            (ExportFormat::Json | ExportFormat::Text, _) => true,
            (ExportFormat::Sarif, _) | (ExportFormat::Csv, CsvTable::Findings) => part == Part::Findings,
            (ExportFormat::Csv, CsvTable::Libraries) => part == Part::Cuda,
            (ExportFormat::Csv, CsvTable::Layers) => part == Part::Layers,
            (ExportFormat::Dockerfile, _) => part == Part::Plan,
        }
    }

    /// The parts that are not left out.
    pub fn parts(&self) -> Vec<Part> {
        Part::ALL.into_iter().filter(|part| !self.left_out.contains(part)).collect()
    }

    /// The format of a report; `None` for a Dockerfile.
    pub const fn format(&self) -> Option<Format> {
        match self.form {
            ExportFormat::Html => Some(Format::Html),
            ExportFormat::Markdown => Some(Format::Markdown),
            ExportFormat::Json => Some(Format::Json),
            ExportFormat::Sarif => Some(Format::Sarif),
            ExportFormat::Csv => Some(Format::Csv(self.table)),
            ExportFormat::Text => Some(Format::Text),
            ExportFormat::Dockerfile => None,
        }
    }

    /// What is written, for the end of a file's name: `report.html`, `findings.csv`.
    pub fn ending(&self) -> String {
        match (self.format(), self.form) {
            (None, _) => "Dockerfile".to_owned(),
            (Some(Format::Csv(table)), _) => {
                let name = match table {
                    CsvTable::Libraries => "libraries",
                    CsvTable::Findings => "findings",
                    CsvTable::Layers => "layers",
                };
                format!("{name}.csv")
            }
            (Some(format), _) => format!("report.{}", format.extension()),
        }
    }

    /// Whether two choices give the same text of the same report.
    pub fn has_same_output(&self, other: &Self) -> bool {
        let table = self.form != ExportFormat::Csv || self.table == other.table;
        let parts = self.form.whole().is_some() || self.left_out == other.left_out;
        self.form == other.form && table && parts
    }
}
