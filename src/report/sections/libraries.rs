//! CUDA libraries, largest first, with details.

use super::make::{
    cell, cell_or_dash, code, described, fact, headed, label, more, name, number, path, some, text,
};
use crate::base::labels::{ROLES, SUPPLIERS, USES};
use crate::base::size::human;
use crate::cuda::Role;
use crate::report::library::{GpuCodeLine, LibraryLine};
use crate::report::page::{Block, Line, Row};

/// Libraries: a devel image with torch has about 120.
const LIBRARIES: usize = 150;
/// Maximum files that need a library, and steps of the chain to the started file.
const STEPS: usize = 6;
/// Kinds of GPU code in a library.
const CODES: usize = 24;

pub(super) fn libraries_table(libraries: &[LibraryLine]) -> Vec<Block> {
    let mut largest: Vec<&LibraryLine> = libraries.iter().collect();
    largest.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    let columns = [
        number("Bytes"),
        text("Library"),
        text("Component"),
        text("Version"),
        text("Supplied by"),
        text("Use"),
    ];
    headed("Libraries, largest first", columns, "libraries", (&largest, LIBRARIES), |library| line(library))
}

fn line(library: &LibraryLine) -> Row {
    Row {
        cells: vec![
            Line::plain(human(library.bytes)),
            path(&library.path),
            cell(&library.component),
            cell_or_dash(library.version.as_deref()),
            Line::plain(label(&SUPPLIERS, &library.supplier)),
            Line::plain(label(&USES, &library.usage)),
        ],
        details: details(library),
    }
}

fn details(library: &LibraryLine) -> Vec<Block> {
    let mut facts = Vec::new();
    if let Some(soname) = &library.soname {
        facts.push(("Soname".to_owned(), code(soname)));
    }
    if let Some(package) = &library.package {
        let text = format!("{} {} ({})", name(&package.name), name(&package.version), name(&package.manager));
        facts.push(fact("Package", text));
    }
    facts.push(fact("Layer", library.layer.to_string()));
    if library.role != Role::Runtime.as_str() {
        facts.push(fact("Role", described(&ROLES, &library.role)));
    }
    if let Some(first) = &library.hardlink_of {
        facts.push(("Hard link of".to_owned(), path(first)));
    }
    if let Some(machine) = &library.foreign {
        facts.push(fact("Other architecture", name(machine)));
    }
    if let Some(note) = &library.forward_compat {
        let cuda = note
            .cuda_version
            .as_deref()
            .map_or_else(|| "unknown CUDA version".to_owned(), |version| format!("CUDA {}", name(version)));
        let drivers: Vec<String> = note.drivers.iter().map(ToString::to_string).collect();
        let drivers =
            if drivers.is_empty() { "unknown".to_owned() } else { some(drivers.iter().map(String::as_str)) };
        facts.push(fact("Brings", format!("{cuda}; for drivers {drivers}")));
    }
    steps(&mut facts, "Needed by", &library.needed_by, "file");
    // The first one is the library itself.
    steps(&mut facts, "Reachable from", library.chain.get(1..).unwrap_or_default(), "step");
    if !library.gpu_code.is_empty() {
        facts.push(fact("GPU code", gpu_code(&library.gpu_code)));
    }
    vec![Block::Facts(facts)]
}

fn steps(facts: &mut Vec<(String, Line)>, name: &str, list: &[String], noun: &str) {
    facts.extend(list.iter().take(STEPS).map(|one| (name.to_owned(), path(one))));
    facts.extend(more(name, list.len(), STEPS, noun));
}

fn gpu_code(codes: &[GpuCodeLine]) -> String {
    let one = |code: &GpuCodeLine| format!("{} {}", name(&code.arch), human(code.bytes));
    let mut text = codes.iter().take(CODES).map(one).collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = codes.len().checked_sub(CODES) {
        text = format!("{text} and {more} more");
    }
    text
}
