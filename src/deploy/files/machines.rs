//! GPUs and machine types that files name, and whether an image runs on them.

use super::node::Position;
use super::value::{FileFinding, FileRule, JudgedImage};
use crate::cuda::catalog::{AcceleratorNames, Catalog};
use crate::cuda::compat::{RunVerdict, TargetGpu, judge};
use crate::findings::Severity;

/// A machine or GPU that a file asks for.
pub(super) struct Wanted<'a> {
    /// Its name in the file.
    pub(super) name: &'a str,
    /// Where the file names it.
    pub(super) at: Position,
    /// The key that names it.
    pub(super) key: &'a str,
}

/// The target of a GPU as a platform names it.
pub(super) fn accelerator(catalog: &Catalog, names: AcceleratorNames, name: &str) -> Option<TargetGpu> {
    catalog.accelerator(names, name).and_then(|one| TargetGpu::named(catalog, &one.target))
}

/// The machine type `id`, such as `azure:Standard_NC4as_T4_v3`, without regard to case.
pub(super) fn machine(catalog: &Catalog, id: &str) -> Option<TargetGpu> {
    TargetGpu::all(catalog).into_iter().find(|target| target.id.eq_ignore_ascii_case(id))
}

/// Whether the image runs on the machine.
pub(super) fn fits(
    wanted: &Wanted<'_>,
    target: &TargetGpu,
    image: &JudgedImage<'_>,
    catalog: &Catalog,
) -> Option<FileFinding> {
    let verdict = judge(image.needs, target, catalog);
    let (severity, verb) = match verdict.verdict {
        RunVerdict::Fails => (Severity::High, "does not run"),
        RunVerdict::Unknown => (Severity::Info, "is not known to run"),
        RunVerdict::Runs | RunVerdict::RunsWithJit | RunVerdict::RunsWithCompat => return None,
    };
    let text = format!("The image {verb} on {} ({}): {}", wanted.name, target.title(), verdict.why);
    let mut finding = FileFinding::new(FileRule::GpuNotSupported, severity, wanted.at, wanted.key, text);
    for reason in verdict.reasons.iter().filter(|reason| reason.verdict == verdict.verdict).take(3) {
        let subject = reason.subject.as_ref().map_or_else(String::new, |subject| format!("{subject}: "));
        finding = finding.evidence(format!("{subject}{} [{}]", reason.text, reason.rule.source()));
        if finding.fix.is_none() {
            finding.fix.clone_from(&reason.hint);
        }
    }
    Some(finding)
}

/// A name that the catalogue does not have.
pub(super) fn unknown(wanted: &Wanted<'_>, what: &str) -> FileFinding {
    let text =
        format!("{what} {} is not in the catalog: whether the image runs there is unknown.", wanted.name);
    FileFinding::new(FileRule::UnknownMachine, Severity::Info, wanted.at, wanted.key, text)
        .fix("Check the spelling; a new name can be added with --catalog.")
}
