//! `cutaway calibrate`: this machine's rates, for the cold-start estimate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::output::{Format, message, write};
use crate::base::text::printable;
use crate::cache::Settings;
use crate::deploy::{Calibration, Effort, Measured, calibrate as measure, rates_file};
use crate::jobs::CancelToken;
use crate::report::to_json;

#[derive(Args)]
pub(super) struct CalibrateArguments {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Folder to write in, on the disk of the container engine [default: the cache folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print the rates without storing them
    #[arg(long)]
    no_save: bool,
    /// Measure with less data (for tests)
    #[arg(long, hide = true)]
    quick: bool,
    /// Verbose output
    #[arg(short, long)]
    verbose: bool,
}

/// Measures, stores and prints.
pub(super) fn calibrate(arguments: &CalibrateArguments) -> anyhow::Result<ExitCode> {
    let folder = if let Some(folder) = &arguments.dir {
        folder.clone()
    } else {
        let folder = Settings::from_environment(None).context("no folder to measure in")?.folder;
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        folder
    };
    // The file is known before anything is measured.
    let file = if arguments.no_save { None } else { Some(rates_file()?) };
    let effort = if arguments.quick {
        Effort { content_bytes: 1 << 20, write_bytes: 4 << 20, files: 100 }
    } else {
        Effort::default()
    };
    let tell = |what: &str| {
        if arguments.verbose {
            message(&format!("measuring: {what}"));
        }
    };
    let rates = measure(&folder, effort, &CancelToken::new(), &tell)?;
    if let Some(file) = &file {
        rates.store(file)?;
    }
    let text = match arguments.format {
        Format::Json => to_json(&rates),
        Format::Text => text(&rates, file.as_deref()),
    };
    write(text.as_bytes(), None)?;
    Ok(ExitCode::SUCCESS)
}

fn text(rates: &Calibration, file: Option<&Path>) -> String {
    let mut out = format!("Rates of this machine, measured in {}\n\n", printable(&rates.folder));
    let mut line = |name: &str, of: &Measured, scale: f64, unit: &str| {
        let (low, high) = (figure(of.low * scale), figure(of.high * scale));
        // Writing to a String cannot fail.
        writeln!(out, "  {name:<28} {low:>8} to {high:>8} {unit}").ok();
    };
    line("gzip decompression", &rates.gzip_inflate_mb_s, 1.0, "MB/s");
    line("zstd decompression", &rates.zstd_inflate_mb_s, 1.0, "MB/s");
    line("write, on disk to cached", &rates.write_mb_s, 1.0, "MB/s");
    line("create files of 4 KiB", &rates.files_per_s, 1.0, "files/s");
    line("fsync of a small file", &rates.fsync_seconds, 1000.0, "ms");
    line("read, from disk to cached", &rates.read_mb_s, 1.0, "MB/s");
    match file {
        Some(file) => {
            let file = printable(&file.to_string_lossy());
            writeln!(out, "\nStored in {file}\nUse them: cutaway report IMAGE --rates calibrated").ok();
        }
        None => out.push_str("\nNot stored (--no-save)\n"),
    }
    out
}

fn figure(number: f64) -> String {
    if number >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}
