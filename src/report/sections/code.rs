//! GPU code by architecture, and duplicates.

use super::Content;
use super::make::{code, headed, label, name, number, path, paths, row, sum, table, text, unknown};
use crate::base::labels::GPU_CODE;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::compare::Change;
use crate::report::cuda::{CudaPart, DuplicateLine, GpuCodeSumLine, IdenticalLine};
use crate::report::model::Report;
use crate::report::page::{Block, Chart, Line, Row, Slice};

/// Maximum architectures: NVIDIA has about thirty, each as SASS, PTX and LTO.
const ARCHITECTURES: usize = 60;
/// Sonames that several files have, and files with the same bytes.
const COPIES: usize = 60;
/// Files of each of them.
const FILES: usize = 8;

pub(super) fn gpu_code(report: &Report) -> Content {
    let Some(cuda) = &report.cuda else {
        return unknown("GPU code unknown: the image was not analysed completely.");
    };
    if cuda.gpu_code.is_empty() {
        return (String::new(), Vec::new());
    }
    let slice =
        |sum: &GpuCodeSumLine| Slice { name: name(&sum.arch), bytes: sum.bytes, colour: colour(&sum.kind) };
    let parts: Vec<Slice> =
        cuda.gpu_code.iter().filter(|sum| sum.bytes > 0).take(ARCHITECTURES).map(slice).collect();
    let columns = [
        number("Bytes"),
        text("Architecture"),
        text("Kind"),
        number("Uncompressed"),
        number("In libraries"),
        number("Executables"),
        number("Static archives"),
        number("Loose files"),
    ];
    let line = |sum: &GpuCodeSumLine| {
        let by = &sum.by_holder;
        let figure = |bytes: u64| Line::plain(human(bytes));
        row([
            figure(sum.bytes),
            code(&sum.arch),
            Line::plain(label(&GPU_CODE, &sum.kind)),
            figure(sum.uncompressed_bytes),
            figure(by.libraries),
            figure(by.executables),
            figure(by.archives),
            figure(by.files),
        ])
    };
    let mut blocks = Vec::new();
    if !parts.is_empty() {
        blocks.push(Block::Chart(Chart { title: "GPU code by architecture, as stored".to_owned(), parts }));
    }
    blocks.push(table(columns, "architectures", (&cuda.gpu_code, ARCHITECTURES), line));
    (human(sum(cuda.gpu_code.iter().map(|sum| sum.bytes))), blocks)
}

fn colour(kind: &str) -> &'static str {
    match kind {
        "sass" => "sass",
        "ptx" => "ptx",
        "lto" => "lto",
        _ => "other",
    }
}

pub(super) fn duplicates(report: &Report) -> Content {
    let Some(cuda) = &report.cuda else { return (String::new(), Vec::new()) };
    let columns = [
        number("Removable"),
        text("Soname"),
        number("Copies"),
        text("Contents of the copies"),
        text("Loaded"),
    ];
    let mut list: Vec<&DuplicateLine> = cuda.duplicates.iter().collect();
    list.sort_by_key(|one| std::cmp::Reverse(one.reclaimable_bytes));
    let row = |one: &&DuplicateLine| duplicate(cuda, one);
    let mut blocks = headed("Duplicate libraries", columns, "sonames", (&list, COPIES), row);
    let columns = [number("Bytes each"), number("Files"), text("First path")];
    let mut list: Vec<&IdenticalLine> = cuda.identical.iter().collect();
    list.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    blocks.extend(headed("Identical large files", columns, "groups", (&list, COPIES), |one| identical(one)));
    let gain = sum(cuda.duplicates.iter().map(|one| one.reclaimable_bytes));
    let note = if gain > 0 { format!("{} in removable copies", human(gain)) } else { String::new() };
    (note, blocks)
}

fn duplicate(cuda: &CudaPart, duplicate: &DuplicateLine) -> Row {
    let same = match duplicate.identical {
        Some(true) => "identical",
        Some(false) => "different",
        None => Change::Unknown.label(),
    };
    let loaded = duplicate.paths.iter().filter(|path| users(cuda, duplicate, path) != "not loaded").count();
    let columns = [text("File"), text("Loaded")];
    let copy = |one: &String| {
        let users = Line::plain(users(cuda, duplicate, one));
        row([path(one), users])
    };
    Row {
        cells: vec![
            Line::plain(human(duplicate.reclaimable_bytes)),
            code(&duplicate.soname),
            Line::plain(grouped(duplicate.paths.len() as u64)),
            Line::plain(same),
            Line::plain(format!("{loaded} of {}", duplicate.paths.len())),
        ],
        details: vec![table(columns, "copies", (&duplicate.paths, FILES), copy)],
    }
}

/// Users of a copy, as text.
fn users(cuda: &CudaPart, duplicate: &DuplicateLine, path: &str) -> String {
    let users =
        duplicate.resolved_by.iter().find(|copy| copy.path == *path).map_or(0, |copy| copy.loaded_by.len());
    let runs = || cuda.libraries.iter().any(|line| line.path == *path && line.usage != "unreferenced");
    match users {
        0 if runs() => "in use".to_owned(),
        0 => "not loaded".to_owned(),
        users => format!("by {}", counted(users, "file")),
    }
}

fn identical(same: &IdenticalLine) -> Row {
    let first = same.paths.first().map_or_else(Line::default, |first| path(first));
    let files = Line::plain(grouped(same.paths.len() as u64));
    Row {
        cells: vec![Line::plain(human(same.bytes)), files, first],
        details: paths("Files", "files", &same.paths, FILES).into_iter().collect(),
    }
}
