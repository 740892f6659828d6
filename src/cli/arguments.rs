//! The command line as clap sees it, and the plan made from it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::base::Platform;

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
    /// Schema cutaway.report/1.
    Json,
}

#[derive(Args)]
struct ReportArguments {
    /// Image to read, see below
    image: String,
    #[command(flatten)]
    choice: Choice,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read and hash every byte: diff ids too, and layers that are only walked otherwise
    #[arg(long)]
    verify: bool,
    /// Show values of variables, labels and arguments that look like secrets
    #[arg(long)]
    show_secrets: bool,
    /// Say on stderr what is done and how much was read
    #[arg(short, long)]
    verbose: bool,
}

/// What the arguments ask for.
pub enum Plan {
    /// Open the window.
    Window(WindowPlan),
    /// Print a report.
    Report(ReportPlan),
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

/// A report to print.
pub struct ReportPlan {
    pub(super) image: String,
    pub(super) platform: Option<Platform>,
    pub(super) catalog: Vec<PathBuf>,
    pub(super) format: Format,
    pub(super) output: Option<PathBuf>,
    pub(super) verify: bool,
    pub(super) show_secrets: bool,
    pub(super) verbose: bool,
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
            image: arguments.image,
            platform: arguments.choice.platform,
            catalog: arguments.choice.catalog,
            format: arguments.format,
            output: arguments.output,
            verify: arguments.verify,
            show_secrets: arguments.show_secrets,
            verbose: arguments.verbose,
        }),
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
