//! Formats, tables and schemas, as named on the command line.

use clap::error::ErrorKind;
use clap::{Args, ValueEnum};

use crate::report::{self, CsvTable};

/// Output options of a report.
#[derive(Args)]
pub(super) struct ReportFormatArguments {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    /// Table to write with --format csv [default: findings]
    #[arg(long, value_enum)]
    table: Option<Table>,
}

impl ReportFormatArguments {
    /// The format.
    ///
    /// # Errors
    /// `--table` with a format other than CSV; `command` is named in the message.
    pub(super) fn format(&self, command: &mut clap::Command) -> Result<report::Format, clap::Error> {
        Ok(match (self.format, self.table) {
            (ReportFormat::Csv, table) => report::Format::Csv(table.unwrap_or_default().into()),
            (_, Some(_)) => {
                let text = "the argument '--table <TABLE>' can be used only with '--format csv'";
                return Err(command.error(ErrorKind::ArgumentConflict, text));
            }
            (ReportFormat::Text, None) => report::Format::Text,
            (ReportFormat::Json, None) => report::Format::Json,
            (ReportFormat::Markdown, None) => report::Format::Markdown,
            (ReportFormat::Html, None) => report::Format::Html,
            (ReportFormat::Sarif, None) => report::Format::Sarif,
        })
    }
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Human-readable: a summary on a terminal, all sections elsewhere
    Text,
    /// Machine-readable, complete; can be opened again
    Json,
    /// Markdown for pull request comments and step summaries
    Markdown,
    /// One self-contained HTML file
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// One table
    Csv,
}

/// A table of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Table {
    /// CUDA libraries and files with GPU code
    Libraries,
    /// Findings
    #[default]
    Findings,
    /// Layers
    Layers,
}

impl From<Table> for CsvTable {
    fn from(table: Table) -> Self {
        match table {
            Table::Libraries => Self::Libraries,
            Table::Findings => Self::Findings,
            Table::Layers => Self::Layers,
        }
    }
}

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// cutaway report
    Report,
    /// cutaway compare
    Compare,
    /// cutaway dockerfile
    Dockerfile,
    /// cutaway gpu
    Gpu,
}
