//! Packages, the largest files, and what went wrong.

use std::collections::BTreeMap;

use super::Content;
use super::make::{
    cell, code, count_or_dash, headed, number, one_line, paragraph, path, row, sum, table, text, unknown,
};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::counted;
use crate::report::cuda::PackageLine;
use crate::report::model::{FileLine, Report};
use crate::report::page::{Block, Line};
use crate::report::words::WarningLine;

/// Packages: the largest are what matters of some hundred.
const PACKAGES: usize = 60;
/// Managers of packages: there are five.
const MANAGERS: usize = 8;
/// Maximum files: the report has twenty by default.
const FILES: usize = 50;
/// Warnings: what went wrong more often went wrong in the same way.
const WARNINGS: usize = 60;
/// Characters of a warning.
const MESSAGE: usize = 400;

pub(super) fn packages(report: &Report) -> Content {
    let packages = &report.packages;
    if packages.is_empty() {
        // Without an inventory, packages are unknown.
        return match report.cuda {
            Some(_) => (String::new(), Vec::new()),
            None => unknown("Packages unknown: the image was not analysed completely."),
        };
    }
    let mut managers: BTreeMap<&str, Vec<&PackageLine>> = BTreeMap::new();
    for package in packages {
        managers.entry(&package.manager).or_default().push(package);
    }
    let managers: Vec<(&str, Vec<&PackageLine>)> = managers.into_iter().collect();
    let columns = [text("Manager"), number("Packages"), number("Bytes"), number("Size unknown")];
    let sums = table(columns, "managers", (&managers, MANAGERS), |(manager, list)| {
        let known: Vec<u64> = list.iter().filter_map(|one| one.bytes).collect();
        let unknown = list.len() - known.len();
        let bytes = if known.is_empty() { None } else { Some(sum(known.into_iter())) };
        let figures = [grouped(list.len() as u64), human_or_dash(bytes), grouped(unknown as u64)];
        let [all, bytes, unknown] = figures.map(Line::plain);
        row([cell(manager), all, bytes, unknown])
    });
    let blocks = std::iter::once(sums).chain(largest(packages));
    (counted(packages.len(), "package"), blocks.collect())
}

fn largest(packages: &[PackageLine]) -> Vec<Block> {
    let mut list: Vec<&PackageLine> = packages.iter().collect();
    list.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    let columns = [
        number("Bytes"),
        text("Package"),
        text("Version"),
        text("Manager"),
        number("Files"),
        number("Layer"),
    ];
    headed("Largest packages", columns, "packages", (&list, PACKAGES), |package| {
        row([
            Line::plain(human_or_dash(package.bytes)),
            code(&package.name),
            code(&package.version),
            cell(&package.manager),
            Line::plain(count_or_dash(package.files)),
            Line::plain(package.layer.to_string()),
        ])
    })
}

pub(super) fn files(report: &Report) -> Content {
    let files = &report.largest_files;
    if files.is_empty() {
        return (String::new(), Vec::new());
    }
    let columns = [number("Bytes"), text("File"), number("Layer")];
    let line = |file: &FileLine| {
        row([Line::plain(human(file.bytes)), path(&file.path), Line::plain(file.layer.to_string())])
    };
    let blocks =
        vec![paragraph("Largest files in the merged view."), table(columns, "files", (files, FILES), line)];
    (format!("{} largest", grouped(files.len() as u64)), blocks)
}

pub(super) fn warnings(report: &Report) -> Content {
    let warnings = &report.warnings;
    if warnings.is_empty() {
        return (String::new(), Vec::new());
    }
    let columns = [text("Warning"), text("About"), text("Message")];
    let line = |warning: &WarningLine| {
        row([code(&warning.code), path(&warning.subject), Line::plain(one_line(&warning.message, MESSAGE))])
    };
    (counted(warnings.len(), "warning"), vec![table(columns, "warnings", (warnings, WARNINGS), line)])
}
