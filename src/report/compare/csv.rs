//! All figures of a comparison as one table in long form: a row for each value of each image, so that a spreadsheet
//! can pivot it.

use super::model::{CompareImage, CompareReport, CompareSetting, CompareWarning, RegressionFigure};
use super::titles::titles;
use crate::compare::FileSums;
use crate::report::csv::{columns_of, table, text};

const COLUMNS: [&str; 6] = ["kind", "name", "measure", "image", "title", "value"];
/// Characters of the title of an image.
const TITLE_WIDTH: usize = 60;

/// Name, measure and accessor of a figure.
type Figure = (&'static str, &'static str, fn(&CompareImage) -> Option<u64>);

/// A comparison as CSV. Unknown or absent is an empty cell.
pub fn compare_to_csv(report: &CompareReport) -> String {
    let mut rows = Rows { titles: titles(report, TITLE_WIDTH), rows: Vec::new() };
    sizes(&mut rows, report);
    contents(&mut rows, report);
    files(&mut rows, report);
    settings(&mut rows, "config", &report.config);
    settings(&mut rows, "environment", &report.environment);
    verdicts(&mut rows, report);
    table(&COLUMNS, rows.rows.into_iter())
}

struct Rows {
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    /// A row; `value` is a cell already.
    fn one(&mut self, (kind, name, measure): (&str, &str, &str), image: usize, value: String) {
        let title = self.titles.get(image).map(|title| text(title)).unwrap_or_default();
        let row = [kind.to_owned(), text(name), text(measure), image.to_string(), title, value];
        self.rows.push(row.into());
    }

    /// A row for each image.
    fn each<T>(&mut self, what: (&str, &str, &str), values: &[T], cell: impl Fn(&T) -> String) {
        for (image, value) in values.iter().enumerate() {
            self.one(what, image, cell(value));
        }
    }

    fn numbers(&mut self, kind: &str, name: &str, measure: &str, values: &[Option<u64>]) {
        self.each((kind, name, measure), values, |value| number(*value));
    }

    fn texts(&mut self, kind: &str, name: &str, measure: &str, values: &[Option<impl AsRef<str>>]) {
        self.each((kind, name, measure), values, |value| {
            value.as_ref().map(|value| text(value.as_ref())).unwrap_or_default()
        });
    }
}

fn number(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn sizes(rows: &mut Rows, report: &CompareReport) {
    let images = &report.images;
    rows.each(("image", "reference", "text"), images, |image| text(&image.reference));
    rows.each(("image", "digest", "text"), images, |image| text(image.digest.as_deref().unwrap_or_default()));
    rows.each(("image", "created", "text"), images, |image| {
        text(image.created.as_deref().unwrap_or_default())
    });
    rows.each(("image", "complete", "text"), images, |image| image.complete.to_string());
    let totals: [Figure; 7] = [
        ("compressed_bytes", "bytes", |image| image.totals.compressed_bytes),
        ("uncompressed_bytes", "bytes", |image| image.totals.uncompressed_bytes),
        ("content_bytes", "bytes", |image| image.totals.content_bytes),
        ("merged_bytes", "bytes", |image| image.totals.merged_bytes),
        ("wasted_bytes", "bytes", |image| image.totals.wasted_bytes),
        ("layers", "count", |image| Some(image.totals.layers as u64)),
        ("merged_files", "count", |image| image.totals.merged_files),
    ];
    for (name, measure, of) in totals {
        rows.each(("total", name, measure), images, |image| number(of(image)));
    }
    rows.each(("total", "efficiency", "ratio"), images, |image| {
        image.totals.efficiency.map(|ratio| ratio.to_string()).unwrap_or_default()
    });
    rows.numbers("total", "pull_bytes", "bytes", &report.pull_bytes);
    for row in &report.classes {
        rows.numbers("class", &row.name, "bytes", &row.bytes);
    }
    for row in &report.layers {
        let name = row.diff_id.as_deref().or(row.digest.as_deref()).unwrap_or_default();
        rows.numbers("layer", name, "bytes", &row.bytes);
        rows.texts("layer", name, "match", &row.matches);
    }
}

fn contents(rows: &mut Rows, report: &CompareReport) {
    for row in &report.components {
        rows.numbers("component", &row.name, "bytes", &row.bytes);
        rows.texts("component", &row.name, "version", &row.versions);
    }
    for row in &report.gpu_code {
        rows.numbers("gpu-code", &row.arch, "bytes", &row.bytes);
    }
    for row in &report.packages {
        let name = format!("{} ({})", row.name, row.manager);
        rows.texts("package", &name, "version", &row.versions);
        rows.numbers("package", &name, "bytes", &row.bytes);
    }
    for row in &report.findings {
        rows.numbers("finding", &row.rule, "bytes", &row.bytes);
        rows.numbers("finding", &row.rule, "count", &row.counts);
    }
    for row in &report.compatibility {
        rows.texts("compatibility", &row.target, "verdict", &row.verdicts);
        rows.texts("compatibility", &row.target, "why", &row.why);
    }
}

/// Sums of every image against the first, then the largest files that differ.
fn files(rows: &mut Rows, report: &CompareReport) {
    let last = report.images.len().saturating_sub(1);
    let all: Vec<(usize, &FileSums)> = match &report.files_by_image[..] {
        [] => vec![(last, &report.files)],
        all => all.iter().enumerate().skip(1).collect(),
    };
    let fields = columns_of::<FileSums>();
    for (image, files) in all {
        // A plain struct has nothing that can fail.
        let sums = serde_json::to_value(files).unwrap_or_default();
        for name in &fields {
            let measure = if name.contains("bytes") { "bytes" } else { "count" };
            let sum = sums.get(name).map(ToString::to_string).unwrap_or_default();
            rows.one(("files", name, measure), image, sum);
        }
    }
    for row in &report.largest_changes {
        rows.numbers("file", &row.path, "bytes", &row.bytes);
        rows.one(("file", &row.path, "change"), last, text(&row.change));
    }
}

fn settings(rows: &mut Rows, kind: &str, list: &[CompareSetting]) {
    for row in list {
        rows.texts(kind, &row.name, "text", &row.values);
    }
}

/// The regression verdict is about the last image.
fn verdicts(rows: &mut Rows, report: &CompareReport) {
    let last = report.images.len().saturating_sub(1);
    let figure = |figure: RegressionFigure| match figure {
        RegressionFigure::Whole(whole) => whole.to_string(),
        RegressionFigure::Ratio(ratio) => ratio.to_string(),
    };
    for check in report.verdict.iter().flat_map(|verdict| &verdict.checks) {
        rows.one(("regression", &check.name, "actual"), last, check.actual.map(figure).unwrap_or_default());
        rows.one(("regression", &check.name, "limit"), last, figure(check.limit));
        rows.one(("regression", &check.name, "ok"), last, check.ok.to_string());
    }
    for CompareWarning { image, warning } in &report.warnings {
        rows.one(("warning", &warning.subject, &warning.code), *image, text(&warning.message));
    }
}
