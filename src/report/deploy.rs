//! The report of `cutaway deploy`: a platform's file and an image on a platform. Its fields are those of schema
//! `cutaway.deploy/1`.

mod page;

use schemars::JsonSchema;
use serde::Serialize;

use super::cold_start::{self, ColdStartPart, ProfilePart};
use super::compatibility::{self, RequiresPart, TargetLine};
use super::graphs::CudaGraphsPart;
use super::model::{ImagePart, image_part};
use super::options::{GENERATOR, Generator, Options};
use super::vocabulary;
use super::words::{WarningLine, Word};
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::catalog::Profile;
use crate::cuda::compat::TargetGpu;
use crate::deploy::files::{FileFinding, FileKind, FileRule, PlatformFile};
use crate::deploy::snippets::SnippetFormat;
use crate::source::redacted;

pub use page::page as deploy_page;

const SCHEMA: &str = "cutaway.deploy/1";

/// A file and an image on a platform.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DeployReport {
    /// `cutaway.deploy/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// This program.
    pub generator: Generator,
    /// The platform.
    pub profile: ProfilePart,
    /// The file; null without one.
    pub file: Option<FilePart>,
    /// The image; null if none was read.
    pub image: Option<ImagePart>,
    /// Whether the image was read completely; null if none was read.
    pub complete: Option<bool>,
    /// What the image requires of a machine; null if unknown.
    pub requires: Option<RequiresPart>,
    /// Usual machines of the platform with a verdict; empty without an image.
    pub machines: Vec<MachineLine>,
    /// Estimated cold start; null without an image, or if its layers were not read.
    pub cold_start: Option<ColdStartPart>,
    /// CUDA Graphs in the image; null without an image.
    pub cuda_graphs: Option<CudaGraphsPart>,
    /// Lines to paste; null without an image.
    pub snippet: Option<SnippetPart>,
    /// Warnings of the image.
    pub warnings: Vec<WarningLine>,
}

/// A platform's file.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct FilePart {
    /// Path as given.
    pub path: String,
    /// What it configures.
    pub kind: FileKind,
    /// References of images in it.
    pub images: Vec<String>,
    /// What does not fit, in file order.
    pub findings: Vec<FileFindingLine>,
}

/// Something that does not fit.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct FileFindingLine {
    /// Rule.
    pub rule: FileRule,
    /// high, medium, low, info.
    #[schemars(transform = vocabulary::severity)]
    pub severity: Word,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Path of the key.
    pub key: String,
    /// What does not fit.
    pub text: String,
    /// Evidence.
    pub evidence: Vec<String>,
    /// What to do; null if nothing is known.
    pub fix: Option<String>,
}

/// A machine of the platform.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct MachineLine {
    /// The platform's name for it; null for a target of the user, or of this machine.
    pub name: Option<String>,
    /// Target and verdict.
    #[serde(flatten)]
    pub target: TargetLine,
}

/// Lines to paste.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SnippetPart {
    /// What they are for.
    pub format: SnippetFormat,
    /// The lines.
    pub text: String,
}

impl DeployReport {
    /// A report about a platform, without file and image.
    pub fn new(profile: &Profile) -> Self {
        Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            profile: ProfilePart::of(profile),
            file: None,
            image: None,
            complete: None,
            requires: None,
            machines: Vec::new(),
            cold_start: None,
            cuda_graphs: None,
            snippet: None,
            warnings: Vec::new(),
        }
    }

    /// Adds a file with what does not fit in it.
    #[must_use]
    pub fn with_file(self, path: &str, file: &PlatformFile, findings: &[FileFinding]) -> Self {
        let part = FilePart {
            path: printable(path),
            kind: file.kind,
            images: file.images.iter().map(|image| printable(&redacted(&image.reference))).collect(),
            findings: findings.iter().map(finding).collect(),
        };
        Self { file: Some(part), ..self }
    }

    /// Adds an image with the verdicts on `targets`.
    #[must_use]
    pub fn with_image(
        self,
        analysis: &Analysis,
        profile: &Profile,
        targets: &[TargetGpu],
        options: &Options,
    ) -> Self {
        let verdicts = compatibility::of_targets(analysis, targets);
        let name = |target: &TargetGpu| {
            let known = profile.machines.iter().find(|machine| machine.target == target.id);
            known.map(|machine| machine.name.clone())
        };
        let (requires, lines) =
            verdicts.map_or((None, Vec::new()), |part| (Some(part.requires), part.targets));
        let machines = targets.iter().zip(lines);
        Self {
            image: Some(image_part(analysis, options)),
            complete: Some(analysis.totals().is_some_and(|totals| totals.complete)),
            requires,
            machines: machines.map(|(known, target)| MachineLine { name: name(known), target }).collect(),
            cold_start: cold_start::estimate(analysis, options)
                .map(|found| cold_start::part(analysis, &found, options)),
            warnings: analysis.warnings().into_iter().map(WarningLine::from).collect(),
            ..self
        }
    }
}

fn finding(one: &FileFinding) -> FileFindingLine {
    FileFindingLine {
        rule: one.rule,
        severity: one.severity.as_str().into(),
        line: one.at.line,
        column: one.at.column,
        key: printable(&one.key),
        text: printable(&one.text),
        evidence: one.evidence.iter().map(|text| printable(text)).collect(),
        fix: one.fix.as_ref().map(|text| printable(text)),
    }
}
