//! Formats, tables and schemas, as named on the command line.

use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};

use crate::analysis::Depth;
use crate::report::{CompareFormat, CsvTable, Format};

/// Output options of a report.
#[derive(Args, Default)]
pub(super) struct ReportFormatArguments {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    /// Table to write with --format csv [default: findings]
    #[arg(long, value_enum)]
    table: Option<CsvTable>,
}

impl ReportFormatArguments {
    /// The error for `--table` with a format other than CSV; `command` is named in the message.
    pub(super) fn conflict(&self, command: &mut clap::Command) -> Option<clap::Error> {
        let text = "the argument '--table <TABLE>' can be used only with '--format csv'";
        let is_wrong = self.table.is_some() && self.format != ReportFormat::Csv;
        is_wrong.then(|| command.error(ErrorKind::ArgumentConflict, text))
    }

    /// The format.
    pub(super) fn format(&self) -> Format {
        match self.format {
            ReportFormat::Text => Format::Text,
            ReportFormat::Json => Format::Json,
            ReportFormat::Markdown => Format::Markdown,
            ReportFormat::Html => Format::Html,
            ReportFormat::Sarif => Format::Sarif,
            ReportFormat::Csv => Format::Csv(self.table.unwrap_or(CsvTable::Findings)),
        }
    }
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Human-readable: a summary on a terminal, all sections elsewhere
    #[default]
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

/// The values of an argument, with their help.
macro_rules! values {
    ($($type:ty { $($variant:ident = $name:literal, $help:literal;)+ })+) => { $(
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self::$variant),+]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                let (name, help) = match self { $(Self::$variant => ($name, $help)),+ };
                Some(PossibleValue::new(name).help(help))
            }
        }
    )+ };
}

values! {
    Depth {
        Manifest = "manifest", "Manifest and config only";
        Toc = "toc", "Also tables of contents of layers that have one (eStargz, zstd:chunked)";
        Full = "full", "All layers";
    }
    CsvTable {
        Libraries = "libraries", "CUDA libraries and files with GPU code";
        Findings = "findings", "Findings";
        Layers = "layers", "Layers";
    }
    CompareFormat {
        Text = "text", "Human-readable";
        Json = "json", "Machine-readable, complete";
        Markdown = "markdown", "Markdown for pull request comments and step summaries";
        Html = "html", "One self-contained HTML file";
        Csv = "csv", "All figures in one table";
    }
}

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaName {
    /// cutaway report
    Report,
    /// cutaway compare
    Compare,
    /// cutaway dockerfile
    Dockerfile,
    /// cutaway slim
    Slim,
    /// cutaway deploy
    Deploy,
    /// cutaway gpu
    Gpu,
    /// cutaway why
    Why,
}
