//! GPUs and machine types that files name, and whether an image runs on them.

use super::node::Position;
use super::value::{FileFinding, FileRule, JudgedImage};
use crate::cuda::catalog::{AcceleratorNames, Catalog, Machine};
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

/// A machine or GPU of the catalog.
pub(super) struct Known<'a> {
    pub(super) target: TargetGpu,
    /// Source of the fact that the platform retired it.
    retired: Option<&'a str>,
}

/// The GPU as a platform names it.
pub(super) fn accelerator<'a>(
    catalog: &'a Catalog,
    names: AcceleratorNames,
    name: &str,
) -> Option<Known<'a>> {
    let one = catalog.accelerator(names, name)?;
    let target = TargetGpu::named(catalog, &one.target)?;
    Some(Known { target, retired: one.retired.then_some(&*one.source) })
}

/// The machine type `id`, such as `azure:Standard_NC4as_T4_v3`, without regard to case.
pub(super) fn machine<'a>(catalog: &'a Catalog, id: &str) -> Option<Known<'a>> {
    let target = TargetGpu::all(catalog).into_iter().find(|target| target.id.eq_ignore_ascii_case(id))?;
    let has = |machine: &&Machine| machine.sizes.iter().any(|size| size.id == target.id);
    let machine = catalog.machines().iter().find(has);
    let retired = machine.filter(|machine| machine.retired).map(|machine| &*machine.source);
    Some(Known { target, retired })
}

impl Known<'_> {
    /// A finding if the platform no longer offers it.
    pub(super) fn retired(&self, wanted: &Wanted<'_>) -> Option<FileFinding> {
        let source = self.retired?;
        let text = format!("{} is retired: new ones are not available.", wanted.name);
        let finding =
            FileFinding::new(FileRule::RetiredMachine, Severity::Medium, wanted.at, wanted.key, text);
        Some(finding.evidence(source).fix(
            "Choose a current one; the lines to paste (cutaway deploy IMAGE) list those that run the image.",
        ))
    }
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
