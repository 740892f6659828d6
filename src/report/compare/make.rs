//! Builds the model from a comparison. Secrets are redacted here, and nowhere later.

use std::borrow::Cow;

use super::model::{
    CompareClass, CompareCompatibility, CompareImage, CompareLayer, CompareReport, CompareSetting,
    CompareWarning, FileChange, SCHEMA,
};
use crate::analysis::Analysis;
use crate::base::redact;
use crate::base::text::{escape, printable};
use crate::compare::{Comparison, LayerRow, SettingRow};
use crate::cuda::Class;
use crate::cuda::compat::{Judge, Judgement, TargetGpu};
use crate::report::model::{ImagePart, TotalsPart, image_part};
use crate::report::options::{GENERATOR, Options};
use crate::report::words::WarningLine;
use crate::source::redacted;

/// Files that are named, of those that differ: the sums count all.
const MOST_CHANGES: usize = 100;

impl CompareReport {
    /// The report of a comparison, without a verdict.
    pub fn new(comparison: &Comparison, options: &Options) -> Self {
        let images = &comparison.images;
        let last = images.len().saturating_sub(1);
        let tree = &comparison.tree;
        let changes = tree.largest_changes(last, 0, MOST_CHANGES).into_iter().map(|id| {
            let row = tree.row(id);
            let change = row.change(last, 0);
            // Contents of a folder that became a file have rows of their own.
            let bytes = (0..images.len()).map(|image| row.file_bytes(image)).collect();
            FileChange { path: escape(&row.path()), change: change.as_str().into(), bytes }
        });
        let setting = |row: &SettingRow| setting(row, options);
        let parts: Vec<CompareImage> = images.iter().map(|image| image_line(image, options)).collect();
        Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            complete: parts.iter().all(|image| image.complete),
            images: parts,
            classes: Class::ALL.into_iter().map(|class| class_line(comparison, class)).collect(),
            layers: comparison.layers.iter().map(|row| layer_line(row, options)).collect(),
            pull_bytes: comparison.pull_bytes.clone(),
            components: comparison.components.clone(),
            gpu_code: comparison.gpu_code.clone(),
            packages: comparison.packages.clone(),
            files: tree.files(last, 0),
            files_by_image: if images.len() > 2 {
                (0..images.len()).map(|image| tree.files(image, 0)).collect()
            } else {
                Vec::new()
            },
            largest_changes: changes.collect(),
            environment: comparison.environment.iter().map(setting).collect(),
            config: comparison.settings.iter().map(setting).collect(),
            findings: comparison.findings.clone(),
            compatibility: compatibility(comparison, options),
            verdict: None,
            warnings: warnings(comparison),
        }
    }
}

fn image_line(analysis: &Analysis, options: &Options) -> CompareImage {
    let ImagePart { source, reference, tags, manifest_digest, platform, created, .. } =
        image_part(analysis, options);
    // Only merged images are compared; of one that is not nothing is known.
    let unknown = || TotalsPart::unknown(analysis.layers.len());
    let totals = analysis.totals().map_or_else(unknown, |totals| TotalsPart::of(&totals));
    let complete = totals.complete;
    CompareImage { source, reference, tags, digest: manifest_digest, platform, created, complete, totals }
}

fn class_line(comparison: &Comparison, class: Class) -> CompareClass {
    let bytes = comparison.images.iter().map(|image| {
        let found = image.inventory.as_deref()?;
        Some(found.classes.merged.get(&class).copied().unwrap_or(0))
    });
    CompareClass { name: class.as_str().into(), bytes: bytes.collect() }
}

fn layer_line(row: &LayerRow, options: &Options) -> CompareLayer {
    CompareLayer {
        digest: row.digest.clone(),
        diff_id: row.diff_id.clone(),
        bytes: row.bytes.clone(),
        shared_by: row.shared_by().collect(),
        matches: row.matches.iter().map(|found| found.map(|found| found.as_str().into())).collect(),
        indexes: row.places.clone(),
        content_bytes: row.content_bytes,
        created_by: row.created_by.as_ref().map(|text| options.instruction(text)),
    }
}

fn setting(row: &SettingRow, options: &Options) -> CompareSetting {
    let plain = |value: &Option<String>| {
        let value = value.as_ref()?;
        if options.show_secrets {
            return Some(value.clone());
        }
        // The reference of a base image may have user info.
        let value: Cow<'_, str> =
            if row.name == BASE { redacted(value).into() } else { value.as_str().into() };
        Some(redact::value(&row.name, &value).into_owned())
    };
    let command = |words: &Option<Vec<String>>| {
        let words = words.as_ref()?;
        let shown = if options.show_secrets { words.clone() } else { redact::words(words) };
        // A list of strings always serialises.
        serde_json::to_string(&shown).ok()
    };
    let values = if row.words.is_empty() {
        row.values.iter().map(plain).collect()
    } else {
        row.words.iter().map(command).collect()
    };
    CompareSetting { name: shown_name(row, options), values, differs: row.differs() }
}

/// A variable without a value is a bare name, which may be a URL with a password.
fn shown_name(row: &SettingRow, options: &Options) -> String {
    if options.show_secrets { row.name.clone() } else { redact::url_user_info(&row.name).into_owned() }
}

/// What the setting is called that names the base image.
const BASE: &str = "base image";

/// All images against the same targets: GPUs of this machine, then those of the first image.
fn compatibility(comparison: &Comparison, options: &Options) -> Vec<CompareCompatibility> {
    let targets = comparison.images.first().map(|image| &*image.targets).unwrap_or_default();
    let targets: Vec<&TargetGpu> = options.host.iter().chain(targets).collect();
    let columns: Vec<Option<Vec<Judgement>>> = comparison
        .images
        .iter()
        .map(|image| {
            let needs = image.needs()?;
            let judge = Judge::new(&needs, image.known_rules());
            Some(targets.iter().map(|target| judge.judge(target)).collect())
        })
        .collect();
    let row = |(place, target): (usize, &&TargetGpu)| {
        let cells = || columns.iter().map(move |column| column.as_ref().and_then(|column| column.get(place)));
        CompareCompatibility {
            target: printable(&target.id),
            gpu: printable(&target.name),
            verdicts: cells().map(|cell| cell.map(|cell| cell.verdict.as_str().into())).collect(),
            why: cells().map(|cell| cell.map(|cell| cell.why.clone())).collect(),
        }
    };
    targets.iter().enumerate().map(row).collect()
}

fn warnings(comparison: &Comparison) -> Vec<CompareWarning> {
    let of = |(image, analysis): (usize, &std::sync::Arc<Analysis>)| {
        let line = move |warning| CompareWarning { image, warning: WarningLine::from(warning) };
        analysis.warnings().into_iter().map(line)
    };
    comparison.images.iter().enumerate().flat_map(of).collect()
}
