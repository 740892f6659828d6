//! On which machines the image runs, in the report for people.

use std::fmt::{self, Write as _};

use super::compatibility::{RequiresPart, TargetLine};
use super::model::Report;
use super::text::{WIDTH, wrap};
use crate::base::text::{elide_end, printable};

/// Where what follows a verdict begins: the longest is `runs-with-compat`.
const INDENT: usize = 18;

pub(super) fn write(out: &mut String, report: &Report) -> fmt::Result {
    let Some(compatibility) = &report.compatibility else { return Ok(()) };
    writeln!(out, "\nWould it run")?;
    for line in wrap(&requires(&compatibility.requires), WIDTH) {
        writeln!(out, "{line}")?;
    }
    for target in &compatibility.targets {
        let head = format!("{:<w$}{}", target.verdict, machine(target), w = INDENT);
        writeln!(out, "{}", elide_end(&head, WIDTH))?;
        for line in wrap(&printable(&target.why), WIDTH - INDENT) {
            writeln!(out, "{:w$}{}", "", elide_end(&line, WIDTH - INDENT), w = INDENT)?;
        }
    }
    Ok(())
}

/// What any machine must have, in a sentence.
fn requires(requires: &RequiresPart) -> String {
    let Some(cuda) = &requires.cuda else {
        return match requires.sass.is_empty() && requires.ptx.is_empty() {
            true => "Nothing in use says which CUDA version it was built for.".to_owned(),
            false => format!("Code for {}.", code(requires)),
        };
    };
    let mut text = format!("Built for CUDA {cuda}");
    if let Some(driver) = &requires.min_driver {
        text.push_str(&format!(": driver {driver}"));
        if let Some(older) = requires.min_driver_minor_compat.as_ref().filter(|older| *older != driver) {
            text.push_str(&format!(", or {older} where no PTX is compiled"));
        }
    }
    if !requires.sass.is_empty() || !requires.ptx.is_empty() {
        text.push_str(&format!("; code for {}", code(requires)));
    }
    text.push('.');
    text
}

fn code(requires: &RequiresPart) -> String {
    match (&requires.sass[..], &requires.ptx[..]) {
        (sass, []) => sass.join(", "),
        ([], ptx) => format!("{} by PTX", ptx.join(", ")),
        (sass, ptx) => format!("{}, and {} by PTX", sass.join(", "), ptx.join(", ")),
    }
}

/// The GPU, how many, and the driver with where that is known from.
fn machine(target: &TargetLine) -> String {
    let name = target.gpu.strip_prefix("NVIDIA ").unwrap_or(&target.gpu);
    let of_machine = if target.target.starts_with("gpu:") || target.target.starts_with("cc=") {
        String::new()
    } else {
        format!("{}: ", target.target)
    };
    let count = match target.gpus.as_deref() {
        Some("1") | None => String::new(),
        Some(count) => format!("{count} x "),
    };
    let driver = match (&target.driver, target.driver_source) {
        (Some(driver), Some("stated")) => format!(", driver {driver}"),
        (Some(driver), Some(from)) => format!(", driver {driver} ({from})"),
        _ => String::new(),
    };
    format!("{of_machine}{count}{name} ({}){driver}", target.compute_capability)
}
