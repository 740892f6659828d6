//! A report that was saved as JSON, opened again in the place of an image.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::analysis::Failure;
use crate::base::labels::{APPLICABILITIES, Label};
use crate::base::size::human;
use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::gui::models::format::utc;
use crate::jobs::Waker;
use crate::report::page::{Block, Line, Page, Part, Section, Tone};
use crate::report::{ProposalLine, Report, SAVED_BYTES, SavedError, read_saved, report_page};
use crate::source::{Reference, is_json, registry};

/// A saved report, ready to be shown.
pub struct SavedReport {
    /// The report.
    pub report: Arc<Report>,
    /// Modification time of the file; `None` when unknown.
    pub changed: Option<String>,
    /// How to open its image, or why that cannot be done here.
    pub image: Result<String, String>,
    /// What views show of it.
    pub overview: Arc<Page>,
    /// Layers and the largest files.
    pub layers: Arc<Page>,
    /// CUDA libraries, GPU code, duplicates, packages.
    pub cuda: Arc<Page>,
    /// What should not be there.
    pub findings: Arc<Page>,
    /// What is proposed; `None` when there is nothing.
    pub dockerfile: Option<Arc<Page>>,
    /// On which machines it runs.
    pub machines: Arc<Page>,
}

impl SavedReport {
    /// The views of a report. Takes time on long ones.
    pub fn new(report: Report, changed: Option<String>) -> Self {
        let whole = report_page(&report);
        let only = |parts: &[Part]| Arc::new(whole.clone().only(parts));
        let image = image(&report);
        Self {
            changed,
            image,
            overview: only(&[Part::Sizes, Part::Plan, Part::ColdStart, Part::Settings, Part::Warnings]),
            layers: only(&[Part::Layers, Part::Files]),
            cuda: only(&[Part::Cuda, Part::GpuCode, Part::CudaGraphs, Part::Duplicates, Part::Packages]),
            findings: only(&[Part::Findings]),
            dockerfile: dockerfile(&report).map(Arc::new),
            machines: only(&[Part::Compatibility]),
            report: Arc::new(report),
        }
    }
}

/// The kind of file at a path.
pub enum FileKind {
    /// A saved report.
    Report(Box<SavedReport>),
    /// A JSON document that cannot be shown, and why.
    Failed(Failure),
    /// An image at this host.
    Registry(String),
    /// Something else: perhaps an image.
    Other,
}

/// Detects the file at a path by content. Reads a JSON document completely.
fn detect(path: &Path) -> FileKind {
    let shown = printable(&path.display().to_string());
    let failed = |message: String, hint: Option<&str>| {
        let failure = Failure::new(format!("cannot open {shown}: {message}"));
        FileKind::Failed(Failure { hint: hint.map(str::to_owned), ..failure })
    };
    if !is_json(path) {
        return FileKind::Other;
    }
    let (facts, mut bytes) = (path.metadata(), Vec::new());
    let size = facts.as_ref().map_or(0, Metadata::len);
    let read = match File::open(path).map(|file| file.take(SAVED_BYTES + 1)) {
        // A file of this size is not read at all.
        Ok(_) if size > SAVED_BYTES => Err(SavedError::TooLarge(size)),
        Ok(mut file) => match file.read_to_end(&mut bytes) {
            Ok(_) => read_saved(&bytes),
            Err(error) => return failed(error.to_string(), None),
        },
        Err(error) => return failed(error.to_string(), None),
    };
    let seconds = facts.and_then(|facts| facts.modified()).ok();
    let seconds = seconds.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = seconds.and_then(|time| i64::try_from(time.as_secs()).ok()).map(utc);
    match read {
        Ok(mut report) => {
            // One that was saved with its secrets is shown without them, as all that the window shows.
            report.redact();
            FileKind::Report(Box::new(SavedReport::new(report, changed)))
        }
        Err(error) => failed(error.to_string(), error.hint()),
    }
}

/// How to open the image of a report.
fn image(report: &Report) -> Result<String, String> {
    let text = &report.image.reference;
    let shown = printable(text);
    let reference = Reference::parse(text).map_err(|error| printable(&error.to_string()))?;
    match reference.path() {
        Some(path) if !path.exists() => Err(format!(
            "{shown} not found: moved, or the report is from another machine. Open the image from its current path."
        )),
        _ => Ok(text.clone()),
    }
}

/// What is proposed, as a page.
fn dockerfile(report: &Report) -> Option<Page> {
    let proposals = report.proposals.as_ref().filter(|list| !list.is_empty())?;
    let blocks = proposals.iter().flat_map(proposal).collect();
    let section = Section { part: Part::Plan, note: String::new(), blocks };
    Some(Page { title: printable(&report.image.reference), sections: vec![section], ..Page::default() })
}

fn proposal(one: &ProposalLine) -> Vec<Block> {
    let tone = if one.applicability == "safe" { Tone::Good } else { Tone::Unsure };
    let label = APPLICABILITIES.get(&one.applicability);
    let taken = label.map_or_else(|| printable(&one.applicability), Label::described);
    let mut facts = vec![
        ("Applicability".to_owned(), Line::plain(taken).tone(tone)),
        ("Saves".to_owned(), Line::plain(human(one.saved_bytes))),
    ];
    facts.extend(one.merged_bytes.map(|bytes| ("Merged size after".to_owned(), Line::plain(human(bytes)))));
    facts.extend(one.base_image.as_ref().map(|base| ("Base image".to_owned(), Line::code(printable(base)))));
    let mut blocks = vec![Block::Heading(printable(&one.title)), Block::Facts(facts)];
    let diff = one.diff.clone().filter(|diff| !diff.is_empty());
    blocks.extend(diff.map(|diff| Block::Code("diff", diff)));
    let whole = one.dockerfile.clone().map(|text| vec![Block::Code("dockerfile", text)]);
    blocks.extend(whole.map(|code| Block::Fold("Complete Dockerfile".to_owned(), code)));
    blocks
}

/// The work that looks at a path.
#[derive(Default)]
pub struct FileKindJob {
    job: Background<FileKind>,
}

impl FileKindJob {
    /// Starts to look at what a reference names.
    pub fn start(text: &str, waker: &Waker) -> Self {
        let (mut looking, text) = (Self::default(), text.to_owned());
        looking.job.start(waker, false, move |_| {
            let reference = Reference::parse(&text).ok();
            if let Some(host) = reference.as_ref().and_then(registry::host) {
                return Ok(FileKind::Registry(host));
            }
            // Only a bare path may be a report: what names its transport is an image.
            let path = reference.as_ref().and_then(Reference::json_file);
            Ok(path.map_or(FileKind::Other, detect))
        });
        looking
    }

    /// What was found, once.
    pub fn take(&mut self) -> Option<FileKind> {
        self.job.result().map(|found| found.unwrap_or_else(|error| FileKind::Failed(Failure::new(error))))
    }
}
