//! The command line as clap sees it, and the plan made from it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use super::cache_arguments::{CacheArguments, CachePlan};
use super::formats::{ReportFormatArguments, SchemaName};
#[cfg(feature = "gpu")]
use super::gpu_arguments::{GpuArguments, GpuPlan};
use super::plan::PlanArguments;
use super::reading::{Choice, How, ReadPlan, Reading};
use super::tags::{TagsArguments, TagsPlan};
use crate::base::Platform;
use crate::cache::Cache;
use crate::report::{self, CompareFormat};
use crate::source::Access;

/// Open a container image and see, as in a cutaway drawing, what it is made of.
#[derive(Parser)]
#[command(name = "cutaway", version, about, args_conflicts_with_subcommands = true, after_help = REFERENCES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: WindowArguments,
}

const REFERENCES: &str = "\
Image references:
  oci:FOLDER[:TAG or @DIGEST]    OCI image layout
  oci-archive:FILE[:TAG]         the same in a tar
  docker-archive:FILE[:NAME]     what docker save writes
  dir:FOLDER                     skopeo's flat folder
  rootfs:FOLDER                  an unpacked root filesystem
  docker://NAME, registry:NAME   an image at a registry
  docker-daemon:NAME, podman:NAME   an image of docker or podman on this machine
  sample:devel, sample:runtime   built-in samples
  PATH                           any of these files and folders, told by content
  NAME                           an image at a registry, when there is no such path";

#[derive(Args)]
struct WindowArguments {
    /// Image to open in the window; without one, the start screen
    image: Option<String>,
    /// Another image to show beside it; may be given several times
    #[arg(long, value_name = "IMAGE", requires = "image")]
    compare: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// What paints the window [default: glow, and wgpu when that cannot]
    #[arg(long, value_parser = ["glow", "wgpu"])]
    renderer: Option<String>,
    /// Close the window after this many frames (for tests)
    #[arg(long, hide = true, value_name = "N")]
    exit_after_frames: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    /// Say what an image is made of
    Report(ReportArguments),
    /// Propose a better Dockerfile for an image: edits of its own, with reasons, sizes and proof
    Dockerfile(DockerfileArguments),
    /// Hold an image to the rules and budgets of cutaway.toml: 0 when it passes, 1 when not
    Check(CheckArguments),
    /// Show what images share and where they differ, and hold the last to how much more than the first it may have
    Compare(CompareArguments),
    /// Check this machine's NVIDIA GPU: run a kernel, verify it, measure launches: 0 when it works
    #[cfg(feature = "gpu")]
    Gpu(GpuArguments),
    /// Say where layers that were read before are kept and how much that is, or remove it
    #[command(subcommand)]
    Cache(CacheArguments),
    /// List the tags of a repository at a registry
    Tags(TagsArguments),
    /// Print the page of the manual about a rule; without one, the list of rules
    Explain {
        /// Id of a rule, or name of a chapter
        #[arg(value_name = "RULE")]
        name: Option<String>,
    },
    /// Print the JSON Schema of what a command writes with --format json
    Schema {
        /// The command, or rewrite for what `dockerfile` writes
        document: SchemaName,
    },
    /// Print a completion script
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

/// Output format of what is for people or for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people, 80 columns.
    Text,
    /// For scripts.
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
    /// Show values of variables, labels and arguments that look like secrets
    #[arg(long)]
    show_secrets: bool,
    /// The Dockerfile that the image was built from, - for standard input [default: rebuilt from the history]
    #[arg(long, value_name = "FILE")]
    dockerfile: Option<PathBuf>,
}

#[derive(Args)]
struct DockerfileArguments {
    #[command(flatten)]
    reading: Reading,
    /// The Dockerfile that the image was built from, - for standard input [default: rebuilt from the history]
    #[arg(long, value_name = "FILE")]
    dockerfile: Option<PathBuf>,
    /// Print what changes, as a unified diff, instead of the whole
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// Text is the Dockerfile itself, JSON all proposals with schema cutaway.rewrite/1
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which proposal, such as minimal, runtime or tidy [default: the best]
    #[arg(long, value_name = "ID")]
    proposal: Option<String>,
    #[command(flatten)]
    changes: PlanArguments,
    /// Show values that look like secrets in a Dockerfile that is rebuilt from the history
    #[arg(long)]
    show_secrets: bool,
}

#[derive(Args)]
struct CheckArguments {
    #[command(flatten)]
    reading: Reading,
    /// What is asked of the image [default: cutaway.toml, when it is in the current folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Append a summary in Markdown to FILE, for the step summary of a pipeline
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
}

/// Output format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormatName {
    /// For people, 80 columns
    Text,
    /// For scripts, all there is
    Json,
    /// For comments of pull requests and step summaries
    Markdown,
    /// For people, one file without remote parts
    Html,
    /// All figures in one table, for spreadsheets
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
    /// Images to compare, at least two; the first is what the others are held against
    #[arg(value_name = "IMAGE", required = true, num_args = 2..)]
    images: Vec<String>,
    #[command(flatten)]
    how: How,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: CompareFormatName,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File with a [regression] table [default: cutaway.toml, when it is in the current folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Show values of variables, labels and arguments that look like secrets
    #[arg(long)]
    show_secrets: bool,
}

/// What the arguments ask for.
pub enum Plan {
    /// Open the window.
    Window(WindowPlan),
    /// Print a report.
    Report(ReportPlan),
    /// Propose a Dockerfile.
    Dockerfile(DockerfilePlan),
    /// Hold an image to a policy.
    Check(CheckPlan),
    /// Compare images.
    Compare(ComparePlan),
    /// Check the GPU at hand.
    #[cfg(feature = "gpu")]
    Gpu(GpuPlan),
    /// Look at the index cache, or remove from it.
    Cache(CachePlan),
    /// List the tags of a repository.
    Tags(TagsPlan),
    /// Print a page of the manual, or what pages there are.
    Explain(Option<String>),
    /// Print a schema.
    Schema(SchemaName),
    /// Print a completion script.
    Completions(clap_complete::Shell),
}

/// A window to open.
#[derive(Clone, Debug, Default)]
pub struct WindowPlan {
    /// The image to open at once.
    pub image: Option<String>,
    /// Images to open beside it.
    pub compare: Vec<String>,
    /// The platform to choose from an index.
    pub platform: Option<Platform>,
    /// Files that extend the catalogue.
    pub catalog: Vec<PathBuf>,
    /// Where layers that were read before are kept; `None` to read everything anew.
    pub cache: Option<Cache>,
    /// How registries and engines are reached.
    pub access: Access,
    /// What paints: `glow` or `wgpu`.
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
}

/// What a proposal is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DockerfileOutput {
    /// The whole text.
    Text,
    /// What changes.
    Diff,
    /// All proposals.
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

/// An image to hold to a policy.
pub struct CheckPlan {
    pub(super) read: ReadPlan,
    pub(super) config: Option<PathBuf>,
    pub(super) summary: Option<PathBuf>,
}

/// Images to compare.
pub struct ComparePlan {
    /// How to read them; the first is named in it.
    pub(super) read: ReadPlan,
    pub(super) images: Vec<String>,
    pub(super) format: CompareFormat,
    pub(super) output: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    pub(super) show_secrets: bool,
}

/// A command as messages name it.
fn subcommand(name: &str) -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command.find_subcommand(name).cloned().unwrap_or(command)
}

/// Parses the arguments of this process.
///
/// # Errors
/// The exit code, after the message was printed: 0 for help and version, 2 for wrong use.
pub fn parse() -> Result<Plan, ExitCode> {
    let told = |error: clap::Error| {
        // Help goes to stdout, errors to stderr; a closed pipe loses nothing that matters.
        error.print().ok();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    };
    let cli = Cli::try_parse().map_err(told)?;
    Ok(match cli.command {
        Some(Command::Report(arguments)) => Plan::Report(ReportPlan {
            format: arguments.format.format(&mut subcommand("report")).map_err(told)?,
            read: arguments.reading.plan(),
            output: arguments.output,
            show_secrets: arguments.show_secrets,
            dockerfile: arguments.dockerfile,
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
