//! On which machines the image runs, in the report for people.

use std::fmt::{self, Write as _};

use super::compatibility::{RequiresPart, TargetLine};
use super::model::Report;
use super::text::{WIDTH, wrap};
use crate::base::labels::{DRIVER_SOURCES, TARGET_VERDICTS};
use crate::base::text::{elide_end, printable};

/// Where what follows a verdict begins: the longest is `Runs after JIT compilation`.
const INDENT: usize = 28;

pub(super) fn write(out: &mut String, report: &Report) -> fmt::Result {
    let Some(compatibility) = &report.compatibility else { return Ok(()) };
    writeln!(out, "\nCompatibility")?;
    if let Some(text) = requires(&compatibility.requires) {
        for line in wrap(&text, WIDTH) {
            writeln!(out, "{line}")?;
        }
    }
    for target in &compatibility.targets {
        let head = format!("{:<w$}{}", TARGET_VERDICTS.shown(&target.verdict), machine(target), w = INDENT);
        writeln!(out, "{}", elide_end(&head, WIDTH))?;
        for line in wrap(&printable(&target.why), WIDTH - INDENT) {
            writeln!(out, "{:w$}{}", "", elide_end(&line, WIDTH - INDENT), w = INDENT)?;
        }
    }
    Ok(())
}

/// What any machine must have, in a sentence; `None` when nothing is known of it.
fn requires(requires: &RequiresPart) -> Option<String> {
    let known = !requires.sass.is_empty() || !requires.ptx.is_empty();
    let code = known.then(|| code(requires));
    let Some(cuda) = &requires.cuda else { return code.map(|code| format!("GPU code: {code}.")) };
    let older = requires.min_driver_minor_compat.as_ref();
    let driver = match (&requires.min_driver, older) {
        (Some(driver), Some(older)) if older != driver => {
            format!(": driver {driver}, or {older} without JIT compilation of PTX")
        }
        (Some(driver), _) | (None, Some(driver)) => format!(": driver {driver}"),
        (None, None) => String::new(),
    };
    let code = code.map_or_else(String::new, |code| format!("; GPU code: {code}"));
    Some(format!("Built for CUDA {cuda}{driver}{code}."))
}

fn code(requires: &RequiresPart) -> String {
    match (&requires.sass[..], &requires.ptx[..]) {
        (sass, []) => sass.join(", "),
        ([], ptx) => format!("PTX {}", ptx.join(", ")),
        (sass, ptx) => format!("{}; PTX {}", sass.join(", "), ptx.join(", ")),
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
    let driver = match (&target.driver, target.driver_source.as_deref()) {
        (Some(driver), Some("stated")) => format!(", driver {driver}"),
        (Some(driver), Some(from)) => format!(", driver {driver} ({})", DRIVER_SOURCES.shown(from)),
        _ => String::new(),
    };
    format!("{of_machine}{count}{name} ({}){driver}", target.compute_capability)
}
