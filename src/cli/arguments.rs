//! The command line as clap sees it, and the plan made from it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "gpu")]
use super::gpu_arguments::{GpuArguments, GpuPlan};
use crate::base::Platform;
use crate::findings::policy::Date;

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
  sample:devel, sample:runtime   built-in samples
  PATH                           any of these, told by content";

#[derive(Args)]
struct WindowArguments {
    /// Image to open in the window; without one, the start screen
    image: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// What paints the window [default: glow, and wgpu when that cannot]
    #[arg(long, value_parser = ["glow", "wgpu"])]
    renderer: Option<String>,
    /// Close the window after this many frames (for tests)
    #[arg(long, hide = true, value_name = "N")]
    exit_after_frames: Option<u64>,
}

#[derive(Args, Clone)]
struct Choice {
    /// Platform to choose from an index [default: linux and this machine's architecture]
    #[arg(long, value_name = "OS/ARCH[/VARIANT]")]
    platform: Option<Platform>,
    /// Further rules on components, frameworks, targets, in the form of assets/catalog/*.toml
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Say what an image is made of
    Report(ReportArguments),
    /// Propose a better Dockerfile for an image: edits of its own, with reasons, sizes and proof
    Dockerfile(DockerfileArguments),
    /// Hold an image to the rules and budgets of cutaway.toml: 0 when it passes, 1 when not
    Check(CheckArguments),
    /// Check this machine's NVIDIA GPU: run a kernel, verify it, measure launches: 0 when it works
    #[cfg(feature = "gpu")]
    Gpu(GpuArguments),
    /// Print the page of the manual about a rule; without one, the list of rules
    Explain {
        /// Id of a rule, or name of a chapter
        #[arg(value_name = "RULE")]
        name: Option<String>,
    },
    /// Print a completion script
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people, 80 columns.
    Text,
    /// For scripts.
    Json,
}

/// What is read, and how: the same for all commands that read an image.
#[derive(Args)]
struct Reading {
    /// Image to read, see `cutaway --help`
    image: String,
    #[command(flatten)]
    choice: Choice,
    /// A GPU that the image is meant for, such as gpu:a100-80 or cc=8.6 [default: five that are common]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Read and hash every byte: diff ids too, and layers that are only walked otherwise
    #[arg(long)]
    verify: bool,
    /// Say on stderr what is done and how much was read
    #[arg(short, long)]
    verbose: bool,
    /// The day to judge by, instead of the clock's (for tests)
    #[arg(long, hide = true, value_name = "YYYY-MM-DD")]
    today: Option<Date>,
}

#[derive(Args)]
struct ReportArguments {
    #[command(flatten)]
    reading: Reading,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
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
    /// Check the GPU at hand.
    #[cfg(feature = "gpu")]
    Gpu(GpuPlan),
    /// Print a page of the manual, or what pages there are.
    Explain(Option<String>),
    /// Print a completion script.
    Completions(clap_complete::Shell),
}

/// A window to open.
#[derive(Clone, Debug, Default)]
pub struct WindowPlan {
    /// The image to open at once.
    pub image: Option<String>,
    /// The platform to choose from an index.
    pub platform: Option<Platform>,
    /// Files that extend the catalogue.
    pub catalog: Vec<PathBuf>,
    /// What paints: `glow` or `wgpu`.
    pub renderer: Option<String>,
    /// Close after this many frames.
    pub exit_after_frames: Option<u64>,
}

/// An image to read.
#[derive(Default)]
pub(super) struct ReadPlan {
    pub(super) image: String,
    pub(super) platform: Option<Platform>,
    pub(super) catalog: Vec<PathBuf>,
    pub(super) targets: Vec<String>,
    pub(super) verify: bool,
    pub(super) verbose: bool,
    pub(super) today: Option<Date>,
}

/// A report to print.
pub struct ReportPlan {
    pub(super) read: ReadPlan,
    pub(super) format: Format,
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
    pub(super) show_secrets: bool,
}

/// An image to hold to a policy.
pub struct CheckPlan {
    pub(super) read: ReadPlan,
    pub(super) config: Option<PathBuf>,
    pub(super) summary: Option<PathBuf>,
}

impl Reading {
    fn plan(self) -> ReadPlan {
        ReadPlan {
            image: self.image,
            platform: self.choice.platform,
            catalog: self.choice.catalog,
            targets: self.target,
            verify: self.verify,
            verbose: self.verbose,
            today: self.today,
        }
    }
}

/// Parses the arguments of this process.
///
/// # Errors
/// The exit code, after the message was printed: 0 for help and version, 2 for wrong use.
pub fn parse() -> Result<Plan, ExitCode> {
    let cli = Cli::try_parse().map_err(|error| {
        // Help goes to stdout, errors to stderr; a closed pipe loses nothing that matters.
        error.print().ok();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })?;
    Ok(match cli.command {
        Some(Command::Report(arguments)) => Plan::Report(ReportPlan {
            read: arguments.reading.plan(),
            format: arguments.format,
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
            show_secrets: arguments.show_secrets,
        }),
        Some(Command::Check(arguments)) => Plan::Check(CheckPlan {
            read: arguments.reading.plan(),
            config: arguments.config,
            summary: arguments.summary,
        }),
        #[cfg(feature = "gpu")]
        Some(Command::Gpu(arguments)) => Plan::Gpu(arguments.plan()),
        Some(Command::Explain { name }) => Plan::Explain(name),
        Some(Command::Completions { shell }) => Plan::Completions(shell),
        None => Plan::Window(WindowPlan {
            image: cli.window.image,
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
    clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "cutaway", &mut script);
    script
}
