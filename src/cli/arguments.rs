//! The command line as defined for clap, and its commands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand};

use super::cache::{CacheArguments, cache};
use super::calibrate::{CalibrateArguments, calibrate};
use super::cat::{CatArguments, cat};
use super::check::{CheckArguments, check};
use super::compare::{CompareArguments, compare};
use super::defaults::read_settings;
use super::deploy::{DeployArguments, deploy};
use super::dockerfile::{DockerfileArguments, dockerfile};
use super::explain::explain;
use super::extract::{ExtractArguments, extract};
use super::formats::SchemaName;
#[cfg(feature = "gpu")]
use super::gpu::{GpuArguments, gpu};
use super::output::{TROUBLE, UsageError, message, write};
use super::package_files::{completions, package_files};
use super::reading::{Choice, ReadOptions, Reading, read_catalog};
use super::report::{ReportArguments, report};
use super::schema::schema;
use super::settings::{SettingsArguments, settings};
use super::slim::{SlimArguments, slim};
use super::tags::{TagsArguments, tags};
use super::why::{WhyArguments, why};
use crate::analysis::{AnalysisError, Options};
use crate::base::clock;
use crate::contents::ContentsError;
use crate::cuda::compat::TargetError;
use crate::deploy::CalibrationError;
use crate::findings::policy::PolicyError;
use crate::rewrite::RewriteError;
use crate::settings::SettingsError;
use crate::slim::SlimError;
use crate::source::reference_forms;

/// Inspect container images: layers, wasted bytes, CUDA libraries, GPU code
#[derive(Parser)]
#[command(name = "cutaway", version, about, args_conflicts_with_subcommands = true, after_help = reference_forms())]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: WindowArguments,
}

/// The window to open.
#[derive(Args)]
pub struct WindowArguments {
    /// Image to open [default: the start screen]
    pub image: Option<String>,
    /// Image to compare with; may be repeated
    #[arg(long, value_name = "IMAGE", requires = "image")]
    pub compare: Vec<String>,
    /// How images are read.
    #[command(flatten)]
    pub choice: Choice,
    /// Rendering backend [default: glow, falling back to wgpu in builds that have it]
    #[arg(long, value_parser = ["glow", "wgpu"])]
    pub renderer: Option<String>,
    /// Close the window after this many frames (for tests)
    #[arg(long, hide = true, value_name = "N")]
    pub exit_after_frames: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    /// Report what an image contains
    Report(ReportArguments),
    /// Explain why a file or folder is in an image: layer, package, what loads it, findings
    Why(WhyArguments),
    /// Print the bytes of a file of an image
    Cat(CatArguments),
    /// Copy files and folders of an image to a folder or a tar archive
    Extract(ExtractArguments),
    /// Propose a smaller Dockerfile, with reasons, predicted size and proof
    Dockerfile(DockerfileArguments),
    /// Write the image without removable content, and verify it
    Slim(SlimArguments),
    /// Check an image against cutaway.toml; exit code 1 if it fails
    Check(CheckArguments),
    /// Judge an image or a platform's file for a platform, and write the lines to paste
    Deploy(DeployArguments),
    /// Compare images; exit code 1 if the last image exceeds the [regression] limits
    Compare(CompareArguments),
    /// Check this machine's NVIDIA GPU: run and verify a kernel, measure launch latency
    #[cfg(feature = "gpu")]
    Gpu(GpuArguments),
    /// Measure this machine's decompression and disk, for the cold start estimate
    Calibrate(CalibrateArguments),
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
    /// Show the user's settings, or where they are
    #[command(subcommand)]
    Settings(SettingsArguments),
    /// Print a completion script
    Completions {
        /// Shell to generate the script for
        shell: clap_complete::Shell,
    },
    /// Write the man pages and completion scripts that a package installs
    #[command(hide = true)]
    PackageFiles {
        /// Folder to write to, which becomes /usr of the package
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
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
pub fn parse() -> Result<Cli, ExitCode> {
    let told = |error: clap::Error| {
        // Help goes to stdout, errors to stderr. A closed pipe is not an error.
        error.print().ok();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(TROUBLE))
    };
    let cli = Cli::try_parse().map_err(|error| told(second_image(error)))?;
    if let Some(Command::Report(arguments)) = &cli.command
        && let Some(error) = arguments.format.conflict(&mut subcommand("report"))
    {
        return Err(told(error));
    }
    if cli.reads_settings()
        && let Err(error) = read_settings()
    {
        return Err(exit_code(Err(error.into())));
    }
    Ok(cli)
}

impl Cli {
    /// Whether the command uses the user's settings. The window does, but shows what is wrong with them itself.
    fn reads_settings(&self) -> bool {
        !matches!(
            self.command,
            None | Some(
                Command::Settings(_)
                    | Command::Completions { .. }
                    | Command::PackageFiles { .. }
                    | Command::Schema { .. }
                    | Command::Explain { .. }
            )
        )
    }

    /// The window to open, if there is no command.
    pub fn window(&self) -> Option<&WindowArguments> {
        self.command.is_none().then_some(&self.window)
    }

    /// Runs the command. Without one, prints the text report for `window`.
    pub fn run(&self) -> ExitCode {
        let Some(command) = &self.command else {
            return without_window(&self.window, "built without the window (feature `gui`)");
        };
        exit_code(match command {
            Command::Report(arguments) => report(arguments),
            Command::Why(arguments) => why(arguments),
            Command::Cat(arguments) => cat(arguments),
            Command::Extract(arguments) => extract(arguments),
            Command::Dockerfile(arguments) => dockerfile(arguments),
            Command::Slim(arguments) => slim(arguments),
            Command::Check(arguments) => check(arguments),
            Command::Compare(arguments) => compare(arguments),
            Command::Deploy(arguments) => deploy(arguments),
            #[cfg(feature = "gpu")]
            Command::Gpu(arguments) => gpu(arguments),
            Command::Calibrate(arguments) => calibrate(arguments),
            Command::Cache(command) => cache(command),
            Command::Tags(arguments) => tags(arguments),
            Command::Explain { name } => explain(name.as_deref()),
            Command::Schema { document } => schema(*document),
            Command::Settings(command) => settings(command),
            Command::PackageFiles { folder } => package_files(Cli::command(), folder),
            Command::Completions { shell } => {
                write(&completions(&Cli::command(), *shell), None).map(|()| ExitCode::SUCCESS)
            }
        })
    }
}

impl WindowArguments {
    /// How the window reads images. Settings that cannot be read are left to the window, which shows why.
    ///
    /// # Errors
    /// The exit code, after the message is printed: a catalogue cannot be read or parsed.
    pub fn options(&self) -> Result<Options, ExitCode> {
        if let Err(error) = read_settings() {
            message(&format!("warning: {error}; using defaults"));
        }
        let catalog = read_catalog(&self.choice.catalog).map_err(|error| exit_code(Err(error)))?;
        Ok(Options {
            catalog,
            platform: self.choice.platform.clone(),
            cache: self.choice.cache(),
            access: self.choice.access(),
            today: clock::today(),
            ..Options::default()
        })
    }
}

/// Without a window: prints one line with the reason, then the text report of the image or of a sample.
pub fn without_window(window: &WindowArguments, reason: &str) -> ExitCode {
    message(&format!("cannot open a window: {reason}; printing the text report"));
    let image = window.image.clone().unwrap_or_else(|| "sample:devel".into());
    let how = ReadOptions { choice: window.choice.clone(), ..ReadOptions::default() };
    exit_code(report(&ReportArguments { reading: Reading { image, how }, ..ReportArguments::default() }))
}

/// An error and its causes, up to one whose message includes its own cause.
fn causes(error: &anyhow::Error) -> String {
    let mut told = Vec::new();
    for cause in error.chain() {
        told.push(cause.to_string());
        if cause.is::<AnalysisError>() || cause.is::<RewriteError>() {
            break;
        }
    }
    told.join(": ")
}

fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        message(&format!("error: {}", causes(&error)));
        let hint = error.downcast_ref::<AnalysisError>().and_then(AnalysisError::hint);
        let hint = hint.or_else(|| error.downcast_ref::<PolicyError>().and_then(PolicyError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<SettingsError>().and_then(SettingsError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<TargetError>().map(TargetError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<RewriteError>().and_then(RewriteError::hint));
        let hint =
            hint.or_else(|| error.downcast_ref::<SlimError>().and_then(SlimError::hint).map(str::to_owned));
        let hint = hint.or_else(|| {
            error.downcast_ref::<CalibrationError>().and_then(CalibrationError::hint).map(str::to_owned)
        });
        let hint = hint.or_else(|| error.downcast_ref::<ContentsError>().and_then(ContentsError::hint));
        let hint = hint.or_else(|| error.downcast_ref::<UsageError>().and_then(|error| error.hint.clone()));
        if let Some(hint) = hint {
            message(&format!("hint: {hint}"));
        }
        ExitCode::from(TROUBLE)
    })
}
