//! The command line as defined for clap, and the plan made from it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use super::cache_arguments::{CacheArguments, CachePlan};
use super::formats::{ReportFormatArguments, SchemaName};
#[cfg(feature = "gpu")]
use super::gpu_arguments::{GpuArguments, GpuPlan};
use super::plan::PlanArguments;
use super::reading::{Choice, ReadOptions, ReadPlan, Reading};
use super::tags::{TagsArguments, TagsPlan};
use super::terminal::{Color, TextArguments};
use crate::base::Platform;
use crate::cache::Cache;
use crate::report::{self, CompareFormat};
use crate::source::{Access, reference_forms};

/// Inspect container images: layers, wasted bytes, CUDA libraries, GPU code
#[derive(Parser)]
#[command(name = "cutaway", version, about, args_conflicts_with_subcommands = true, after_help = reference_forms())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: WindowArguments,
}

#[derive(Args)]
struct WindowArguments {
    /// Image to open [default: the start screen]
    image: Option<String>,
    /// Image to compare with; may be repeated
    #[arg(long, value_name = "IMAGE", requires = "image")]
    compare: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Rendering backend [default: glow, falling back to wgpu]
    #[arg(long, value_parser = ["glow", "wgpu"])]
    renderer: Option<String>,
    /// Close the window after this many frames (for tests)
    #[arg(long, hide = true, value_name = "N")]
    exit_after_frames: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    /// Report what an image contains
    Report(ReportArguments),
    /// Propose a smaller Dockerfile, with reasons, predicted size and proof
    Dockerfile(DockerfileArguments),
    /// Check an image against cutaway.toml; exit code 1 if it fails
    Check(CheckArguments),
    /// Compare images; exit code 1 if the last image exceeds the [regression] limits
    Compare(CompareArguments),
    /// Check this machine's NVIDIA GPU: run and verify a kernel, measure launch latency
    #[cfg(feature = "gpu")]
    Gpu(GpuArguments),
    /// Show or prune the index cache
    #[command(subcommand)]
    Cache(CacheArguments),
    /// List the tags of a repository at a registry
    Tags(TagsArguments),
    /// Show the manual page of a rule or a chapter; without a name, list them
    Explain {
        /// Rule id or chapter name
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Print the JSON Schema of a command's --format json output
    Schema {
        /// Command whose output the schema describes
        #[arg(value_name = "COMMAND")]
        document: SchemaName,
    },
    /// Print a completion script
    Completions {
        /// Shell to generate the script for
        shell: clap_complete::Shell,
    },
}

/// Output format of commands with text and JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Human-readable
    Text,
    /// Machine-readable
    Json,
}

#[derive(Args)]
struct ReportArguments {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    format: ReportFormatArguments,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not redact values that look like secrets
    #[arg(long)]
    show_secrets: bool,
    /// Dockerfile the image was built from, - for stdin [default: reconstructed from the image history]
    #[arg(long, value_name = "FILE")]
    dockerfile: Option<PathBuf>,
    #[command(flatten)]
    text: TextArguments,
}

#[derive(Args)]
struct DockerfileArguments {
    #[command(flatten)]
    reading: Reading,
    /// Dockerfile the image was built from, - for stdin [default: reconstructed from the image history]
    #[arg(long, value_name = "FILE")]
    dockerfile: Option<PathBuf>,
    /// Print a unified diff instead of the whole file
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// text prints the Dockerfile, json all proposals (schema cutaway.dockerfile/1)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Proposal to print, such as base, stages or tidy [default: the best]
    #[arg(long, value_name = "ID")]
    proposal: Option<String>,
    #[command(flatten)]
    changes: PlanArguments,
    /// Do not redact values that look like secrets in a reconstructed Dockerfile
    #[arg(long)]
    show_secrets: bool,
}

#[derive(Args)]
struct CheckArguments {
    #[command(flatten)]
    reading: Reading,
    /// Policy file [default: ./cutaway.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Append a Markdown summary to FILE, such as a CI job summary
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
}

/// Output format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormatName {
    /// Human-readable
    Text,
    /// Machine-readable, complete
    Json,
    /// Markdown for pull request comments and step summaries
    Markdown,
    /// One self-contained HTML file
    Html,
    /// All figures in one table
    Csv,
}

impl From<CompareFormatName> for CompareFormat {
    fn from(name: CompareFormatName) -> Self {
        match name {
            CompareFormatName::Text => Self::Text,
            CompareFormatName::Json => Self::Json,
            CompareFormatName::Markdown => Self::Markdown,
            CompareFormatName::Html => Self::Html,
            CompareFormatName::Csv => Self::Csv,
        }
    }
}

#[derive(Args)]
struct CompareArguments {
    /// Images to compare, at least two; the first is the baseline
    #[arg(value_name = "IMAGE", required = true, num_args = 2..)]
    images: Vec<String>,
    #[command(flatten)]
    how: ReadOptions,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: CompareFormatName,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File with a [regression] table [default: ./cutaway.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do not redact values that look like secrets
    #[arg(long)]
    show_secrets: bool,
    /// When to use colors
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: Color,
}

/// The command to run and its options.
pub enum Plan {
    /// Open the window.
    Window(WindowPlan),
    /// Print a report.
    Report(ReportPlan),
    /// Propose a Dockerfile.
    Dockerfile(DockerfilePlan),
    /// Check an image against a policy.
    Check(CheckPlan),
    /// Compare images.
    Compare(ComparePlan),
    /// Check this machine's GPU.
    #[cfg(feature = "gpu")]
    Gpu(GpuPlan),
    /// Show or prune the index cache.
    Cache(CachePlan),
    /// List the tags of a repository.
    Tags(TagsPlan),
    /// Print a page of the manual, or the list of pages.
    Explain(Option<String>),
    /// Print a schema.
    Schema(SchemaName),
    /// Print a completion script.
    Completions(clap_complete::Shell),
}

/// A window to open.
#[derive(Clone, Debug, Default)]
pub struct WindowPlan {
    /// Image to open on start.
    pub image: Option<String>,
    /// Images to compare with.
    pub compare: Vec<String>,
    /// Platform to choose from an image index.
    pub platform: Option<Platform>,
    /// Files that extend the catalogue.
    pub catalog: Vec<PathBuf>,
    /// Index cache; `None` with `--no-cache`.
    pub cache: Option<Cache>,
    /// Access to registries and engines.
    pub access: Access,
    /// Rendering backend: `glow` or `wgpu`.
    pub renderer: Option<String>,
    /// Close after this many frames.
    pub exit_after_frames: Option<u64>,
}

/// A report to print.
pub struct ReportPlan {
    pub(super) read: ReadPlan,
    pub(super) format: report::Format,
    pub(super) output: Option<PathBuf>,
    pub(super) show_secrets: bool,
    pub(super) dockerfile: Option<PathBuf>,
    pub(super) text: TextArguments,
}

/// Output of `cutaway dockerfile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DockerfileOutput {
    /// The whole Dockerfile.
    Text,
    /// A unified diff.
    Diff,
    /// All proposals as JSON.
    Json,
}

/// A Dockerfile to propose.
pub struct DockerfilePlan {
    pub(super) read: ReadPlan,
    pub(super) dockerfile: Option<PathBuf>,
    pub(super) form: DockerfileOutput,
    pub(super) output: Option<PathBuf>,
    pub(super) proposal: Option<String>,
    pub(super) changes: PlanArguments,
    pub(super) show_secrets: bool,
}

/// An image to check against a policy.
pub struct CheckPlan {
    pub(super) read: ReadPlan,
    pub(super) config: Option<PathBuf>,
    pub(super) summary: Option<PathBuf>,
}

/// Images to compare.
pub struct ComparePlan {
    /// How to read them; its image is the first one.
    pub(super) read: ReadPlan,
    pub(super) images: Vec<String>,
    pub(super) format: CompareFormat,
    pub(super) output: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    pub(super) show_secrets: bool,
    pub(super) text: TextArguments,
}

/// A subcommand, for error messages.
fn subcommand(name: &str) -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command.find_subcommand(name).cloned().unwrap_or(command)
}

/// The error for a second image: clap takes it for a subcommand.
fn second_image(error: clap::Error) -> clap::Error {
    let invalid = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if error.kind() == ErrorKind::ArgumentConflict => name.clone(),
        _ => return error,
    };
    if Cli::command().find_subcommand(&invalid).is_some() {
        return error;
    }
    let text = format!(
        "unexpected argument '{invalid}': the window opens one image\n\n  tip: compare images with 'cutaway IMAGE --compare {invalid}'"
    );
    Cli::command().error(ErrorKind::UnknownArgument, text)
}

/// Parses the arguments of this process.
///
/// # Errors
/// The exit code, after the message is printed: 0 for help and version, 2 for wrong usage.
pub fn parse() -> Result<Plan, ExitCode> {
    let told = |error: clap::Error| {
        // Help goes to stdout, errors to stderr. A closed pipe is not an error.
        error.print().ok();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    };
    let cli = Cli::try_parse().map_err(|error| told(second_image(error)))?;
    Ok(match cli.command {
        Some(Command::Report(arguments)) => Plan::Report(ReportPlan {
            format: arguments.format.format(&mut subcommand("report")).map_err(told)?,
            read: arguments.reading.plan(),
            output: arguments.output,
            show_secrets: arguments.show_secrets,
            dockerfile: arguments.dockerfile,
            text: arguments.text,
        }),
        Some(Command::Dockerfile(arguments)) => Plan::Dockerfile(DockerfilePlan {
            read: arguments.reading.plan(),
            dockerfile: arguments.dockerfile,
            form: match arguments.format {
                _ if arguments.diff => DockerfileOutput::Diff,
                Format::Text => DockerfileOutput::Text,
                Format::Json => DockerfileOutput::Json,
            },
            output: arguments.output,
            proposal: arguments.proposal,
            changes: arguments.changes,
            show_secrets: arguments.show_secrets,
        }),
        Some(Command::Check(arguments)) => Plan::Check(CheckPlan {
            read: arguments.reading.plan(),
            config: arguments.config,
            summary: arguments.summary,
        }),
        Some(Command::Compare(arguments)) => Plan::Compare(ComparePlan {
            read: arguments.how.plan(arguments.images.first().cloned().unwrap_or_default()),
            images: arguments.images,
            format: arguments.format.into(),
            output: arguments.output,
            config: arguments.config,
            show_secrets: arguments.show_secrets,
            text: TextArguments::whole(arguments.color),
        }),
        #[cfg(feature = "gpu")]
        Some(Command::Gpu(arguments)) => Plan::Gpu(arguments.plan()),
        Some(Command::Cache(arguments)) => Plan::Cache(arguments.plan()),
        Some(Command::Tags(arguments)) => Plan::Tags(arguments.plan()),
        Some(Command::Explain { name }) => Plan::Explain(name),
        Some(Command::Schema { document }) => Plan::Schema(document),
        Some(Command::Completions { shell }) => Plan::Completions(shell),
        None => Plan::Window(WindowPlan {
            image: cli.window.image,
            compare: cli.window.compare,
            cache: cli.window.choice.cache(),
            access: cli.window.choice.access(),
            platform: cli.window.choice.platform,
            catalog: cli.window.choice.catalog,
            renderer: cli.window.renderer,
            exit_after_frames: cli.window.exit_after_frames,
        }),
    })
}

/// Writes the completion script of `shell`.
pub(super) fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cutaway", &mut script);
    script
}
