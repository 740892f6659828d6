//! The work that makes a report and writes it: off the painting thread, the newest request wins, the result before
//! stays until then.

use std::sync::Arc;

use super::{ExportFormat, ReportOptions, TextLines};
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::compat::{HostDevice, TargetGpu};
use crate::gui::models::background::{Background, Same};
use crate::gui::models::findings::ChosenPlan;
use crate::jobs::{CancelToken, Cancelled, Waker};
use crate::report::page::{Page, Part};
use crate::report::{Format, Options, Report, report_page};
use crate::rewrite::Proposals;

/// What writes reports: [`Format::write`], or something else in tests.
pub type Writer = Arc<dyn Fn(&Report, Format, &[Part]) -> String + Send + Sync>;

/// What a report is made from.
#[derive(Clone, Copy)]
pub enum ReportSource<'a> {
    /// An image.
    Image {
        /// What is known of it.
        analysis: &'a Arc<Analysis>,
        /// What is to be taken away.
        plan: &'a ChosenPlan,
        /// What is proposed for it, once that is known.
        proposals: Option<&'a Arc<Proposals>>,
        /// GPUs of this machine.
        devices: &'a [HostDevice],
        /// Grows whenever `devices` are others.
        machine: u64,
    },
    /// A report that was saved.
    Saved(&'a Arc<Report>),
}

/// The inputs of a report, to detect changes.
#[derive(Clone, PartialEq)]
enum Basis {
    Image {
        analysis: Same<Analysis>,
        /// The plan's.
        revision: u64,
        proposals: Option<Same<Proposals>>,
        /// The generation of the machine's devices.
        machine: u64,
        /// Whether all files of the findings are named.
        whole: bool,
    },
    Saved(Same<Report>),
}

/// A report as it will be written.
pub struct Preview {
    /// What it was made from.
    basis: Basis,
    /// What was chosen.
    pub choice: ReportOptions,
    /// The report.
    pub report: Arc<Report>,
    /// What is written, to the byte.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: TextLines,
    /// The same for people; `None` for formats that are for programs.
    pub page: Option<Arc<Page>>,
    /// Parts that the report has something about.
    pub has: Vec<Part>,
}

/// Why there is nothing to write, in words.
type Outcome = Result<Arc<Preview>, String>;

/// The report of one tab.
pub struct ReportJob {
    writer: Writer,
    job: Background<Outcome>,
    /// What the newest work was started for.
    asked: Option<(Basis, ReportOptions)>,
    preview: Option<Arc<Preview>>,
    problem: Option<String>,
}

impl Default for ReportJob {
    fn default() -> Self {
        Self::new(Arc::new(|report, format, parts| format.write(report, parts)))
    }
}

impl ReportJob {
    /// Nothing yet; `writer` will write reports, on its own thread.
    pub fn new(writer: Writer) -> Self {
        Self { writer, job: Background::default(), asked: None, preview: None, problem: None }
    }

    /// Applies updates of the report's inputs, the options and the work. Called on each frame; it
    /// starts work only after an update.
    pub fn update(&mut self, source: ReportSource<'_>, choice: &ReportOptions, waker: &Waker) {
        let basis = basis(source, choice);
        let current = self
            .asked
            .as_ref()
            .is_some_and(|(known, chosen)| *known == basis && chosen.has_same_output(choice));
        if !current {
            self.start(source, basis, choice, waker);
        }
        match self.job.result() {
            None => {}
            Some(Ok(Ok(preview))) => (self.preview, self.problem) = (Some(preview), None),
            Some(Ok(Err(why))) => self.problem = Some(why),
            Some(Err(error)) => self.problem = Some(printable(&error)),
        }
    }

    fn start(&mut self, source: ReportSource<'_>, basis: Basis, choice: &ReportOptions, waker: &Waker) {
        (self.problem, self.asked) = (None, Some((basis.clone(), choice.clone())));
        let (writer, choice) = (Arc::clone(&self.writer), choice.clone());
        // Another format of the same report is only rendered again.
        let known = self.preview.as_ref().filter(|preview| preview.basis == basis);
        let known = known.map(|preview| Arc::clone(&preview.report));
        let request = Request::new(source);
        self.job.start(waker, false, move |cancel| work(request, basis, choice, known, &writer, cancel));
    }

    /// The newest result.
    pub fn preview(&self) -> Option<&Arc<Preview>> {
        self.preview.as_ref()
    }

    /// The newest result, where it is what is chosen now.
    pub fn current(&self, choice: &ReportOptions) -> Option<&Arc<Preview>> {
        let fits = |preview: &&Arc<Preview>| preview.choice.has_same_output(choice);
        self.preview.as_ref().filter(|_| !self.is_busy() && self.problem.is_none()).filter(fits)
    }

    /// Why the newest request has no result.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether something is being made.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// Tries again.
    pub fn retry(&mut self) {
        (self.asked, self.problem) = (None, None);
    }
}

fn basis(source: ReportSource<'_>, choice: &ReportOptions) -> Basis {
    match source {
        ReportSource::Saved(report) => Basis::Saved(Same(Arc::clone(report))),
        ReportSource::Image { analysis, plan, proposals, machine, .. } => Basis::Image {
            analysis: Same(Arc::clone(analysis)),
            revision: plan.revision(),
            proposals: proposals.map(|known| Same(Arc::clone(known))),
            machine,
            whole: names_all_files(choice.form),
        },
    }
}

/// Whether a report names all files of the findings: text does without, as on the command line.
fn names_all_files(form: ExportFormat) -> bool {
    form != ExportFormat::Text
}

/// What the work needs, so that it can be done elsewhere.
enum Request {
    Image {
        analysis: Arc<Analysis>,
        options: Options,
        devices: Vec<HostDevice>,
        proposals: Option<Arc<Proposals>>,
    },
    Saved(Arc<Report>),
}

impl Request {
    fn new(source: ReportSource<'_>) -> Self {
        match source {
            ReportSource::Saved(report) => Self::Saved(Arc::clone(report)),
            ReportSource::Image { analysis, plan, proposals, devices, .. } => Self::Image {
                analysis: Arc::clone(analysis),
                options: Options {
                    plan: analysis.findings.is_some().then(|| plan.plan().clone()),
                    ..Options::default()
                },
                devices: devices.to_vec(),
                proposals: proposals.map(Arc::clone),
            },
        }
    }

    fn report(self, form: ExportFormat) -> Result<Arc<Report>, String> {
        let (analysis, options, devices, proposals) = match self {
            Self::Saved(report) => return Ok(report),
            Self::Image { analysis, options, devices, proposals } => (analysis, options, devices, proposals),
        };
        let several = devices.len() > 1;
        let host = |device| TargetGpu::host(analysis.known_rules(), device, several);
        let host = devices.iter().filter_map(host).collect();
        let options = Options { host, paths: names_all_files(form), ..options };
        let report = Report::new(&analysis, &options);
        let mut report = report.ok_or("The analysis stopped before the layers were merged.")?;
        if let Some(proposals) = proposals {
            report.set_proposals(&proposals, &options);
        }
        Ok(Arc::new(report))
    }
}

fn work(
    request: Request,
    basis: Basis,
    choice: ReportOptions,
    known: Option<Arc<Report>>,
    writer: &Writer,
    cancel: &CancelToken,
) -> Result<Outcome, Cancelled> {
    cancel.check()?;
    let made = known.map_or_else(|| request.report(choice.form), Ok);
    let report = match made {
        Ok(report) => report,
        Err(why) => return Ok(Err(why)),
    };
    cancel.check()?;
    let parts = choice.parts();
    let (mut page, mut has) = (None, Part::ALL.to_vec());
    if choice.form.whole().is_none() {
        let whole = report_page(&report);
        has = whole.sections.iter().map(|section| section.part).collect();
        page = Some(Arc::new(whole.only(&parts)));
        cancel.check()?;
    }
    let text = match choice.format() {
        Some(format) => writer(&report, format, &parts),
        None => match dockerfile(&report) {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        },
    };
    cancel.check()?;
    let lines = if page.is_some() { TextLines::default() } else { TextLines::new(&text) };
    Ok(Ok(Arc::new(Preview { basis, choice, report, text: text.into(), lines, page, has })))
}

/// The best Dockerfile that is proposed.
fn dockerfile(report: &Report) -> Result<String, String> {
    let why = match &report.proposals {
        None => "No proposed Dockerfile: proposals are not ready or failed.",
        Some(list) => match list.first().and_then(|best| best.dockerfile.clone()) {
            Some(text) => return Ok(text),
            None => "No proposed Dockerfile: no way to reduce the image was found.",
        },
    };
    Err(why.to_owned())
}
