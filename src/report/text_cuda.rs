//! The CUDA part of the report for people.

use std::fmt::{self, Write as _};

use super::cuda::{CudaPart, LibraryLine};
use super::model::Report;
use super::text::{WIDTH, more};
use crate::base::labels::{FLAVORS, STRATEGIES, SUPPLIERS};
use crate::base::size::human;
use crate::base::text::{elide_end, elide_middle, printable};
use crate::compare::Change;

/// What a report for people lists of each part; JSON has all of it.
const MOST: usize = 20;
const MOST_UNRESOLVED: usize = 10;
const MOST_COPIES: usize = 8;

pub(super) fn write(out: &mut String, report: &Report) -> fmt::Result {
    let Some(cuda) = &report.cuda else { return Ok(()) };
    writeln!(out, "\nCUDA")?;
    if let Some(base) = &report.image.base {
        let name = base.reference.clone().or_else(|| base.distribution.clone());
        let name = name.unwrap_or_else(|| "unknown".to_owned());
        let noun = if base.layers == 1 { "layer" } else { "layers" };
        line(out, "base image", &format!("{name}, {} {noun}", base.layers))?;
    }
    for toolkit in &cuda.toolkits {
        let version = toolkit.version.as_deref().unwrap_or("unknown version");
        let cudnn =
            toolkit.cudnn_version.as_ref().map_or_else(String::new, |version| format!(", cuDNN {version}"));
        line(
            out,
            "toolkit",
            &format!("{version}, {}{cudnn}, in {}", FLAVORS.shown(&toolkit.flavor), toolkit.root),
        )?;
    }
    if cuda.libraries.is_empty() && cuda.gpu_code.is_empty() && cuda.frameworks.is_empty() {
        return writeln!(out, "  No CUDA libraries, GPU code or frameworks found.");
    }
    for framework in &cuda.frameworks {
        let version = framework.version.as_deref().unwrap_or_default();
        let built =
            framework.cuda_version.as_ref().map_or_else(String::new, |cuda| format!(", for CUDA {cuda}"));
        let strategy = match &*framework.strategy {
            "none" => String::new(),
            strategy => format!(", {}", STRATEGIES.shown(strategy)),
        };
        line(out, "framework", &format!("{} {version}{built}{strategy}", framework.name))?;
    }
    components(out, cuda)?;
    gpu_code(out, cuda)?;
    duplicates(out, cuda)?;
    unresolved(out, cuda)
}

fn line(out: &mut String, what: &str, text: &str) -> fmt::Result {
    writeln!(out, "{what:<10} {}", elide_end(&printable(text), WIDTH - 11))
}

fn components(out: &mut String, cuda: &CudaPart) -> fmt::Result {
    if cuda.components.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nCUDA libraries by component; used: reachable from a program of the image")?;
    writeln!(out, "{:>10} {:>5} {:>5}  {:<14} supplied by", "bytes", "files", "used", "component")?;
    for component in cuda.components.iter().take(MOST) {
        let of =
            |library: &&LibraryLine| library.component == component.name && library.hardlink_of.is_none();
        let suppliers: Vec<String> = component.suppliers.iter().map(|by| SUPPLIERS.shown(by)).collect();
        let used = cuda.libraries.iter().filter(of).filter(|library| library.usage != "unreferenced").count();
        writeln!(
            out,
            "{:>10} {:>5} {:>5}  {:<14} {}",
            human(component.bytes),
            component.libraries,
            used,
            component.name,
            elide_end(&suppliers.join(", "), WIDTH - 39),
        )?;
    }
    more(out, cuda.components.len(), MOST, "components")
}

fn gpu_code(out: &mut String, cuda: &CudaPart) -> fmt::Result {
    if cuda.gpu_code.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nGPU code by architecture, as stored")?;
    writeln!(out, "{:>10} {:>10}  architecture", "bytes", "unpacked")?;
    for sum in cuda.gpu_code.iter().take(MOST) {
        writeln!(out, "{:>10} {:>10}  {}", human(sum.bytes), human(sum.uncompressed_bytes), sum.arch)?;
    }
    more(out, cuda.gpu_code.len(), MOST, "architectures")
}

fn duplicates(out: &mut String, cuda: &CudaPart) -> fmt::Result {
    if cuda.duplicates.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nDuplicate libraries; bytes: removable copies")?;
    for duplicate in cuda.duplicates.iter().take(MOST) {
        let same = match duplicate.identical {
            Some(true) => "identical",
            Some(false) => "different contents",
            None => Change::Unknown.label(),
        };
        let copies = duplicate.paths.len();
        let text = format!("{}, {copies} copies, {same}", duplicate.soname);
        writeln!(
            out,
            "{:>10}  {}",
            human(duplicate.reclaimable_bytes),
            elide_end(&printable(&text), WIDTH - 12)
        )?;
        for path in duplicate.paths.iter().take(MOST_COPIES) {
            let users = duplicate
                .resolved_by
                .iter()
                .find(|copy| copy.path == *path)
                .map_or(0, |copy| copy.loaded_by.len());
            let runs =
                || cuda.libraries.iter().any(|line| line.path == *path && line.usage != "unreferenced");
            let users = match users {
                0 if runs() => "in use".to_owned(),
                0 => "not loaded".to_owned(),
                users => format!("loaded by {users}"),
            };
            writeln!(out, "{:>12}{users:<14} {}", "", elide_middle(path, WIDTH - 27))?;
        }
        if let Some(rest @ 1..) = copies.checked_sub(MOST_COPIES) {
            writeln!(out, "{:>12}{rest} more copies", "")?;
        }
    }
    more(out, cuda.duplicates.len(), MOST, "sonames")
}

fn unresolved(out: &mut String, cuda: &CudaPart) -> fmt::Result {
    if cuda.unresolved.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nMissing libraries (unresolved NEEDED)")?;
    for missing in cuda.unresolved.iter().take(MOST_UNRESOLVED) {
        writeln!(out, "  {} for {}", elide_end(&missing.name, 30), elide_middle(&missing.path, WIDTH - 38))?;
    }
    more(out, cuda.unresolved.len(), MOST_UNRESOLVED, "names")
}
