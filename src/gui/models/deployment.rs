//! An image on a platform, worked out beside the window: the page and the lines to paste.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background::{Background, Same};
use super::dockerfile::read_file;
use super::findings::ChosenPlan;
use super::gpu::Machine;
use super::report::TextLines;
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::catalog::Catalog;
use crate::deploy::files::{self, FILE_BYTES, PlatformFile};
use crate::deploy::graphs::{StepGain, cuda_graphs};
use crate::deploy::snippets::{SnippetFormat, SnippetInput, snippet};
use crate::deploy::{DEFAULT_PROFILE, find_profile, judged_targets};
use crate::findings::Plan;
use crate::jobs::{CancelToken, Cancelled, Waker};
use crate::report::page::Page;
use crate::report::{CudaGraphsPart, DeployReport, Options, deploy_page};

/// Steps for which the gain of CUDA Graphs is shown, in kernel launches.
const STEPS: [u32; 3] = [100, 500, 2_000];

/// Lines to paste.
pub struct SnippetText {
    /// What they are for.
    pub format: SnippetFormat,
    /// The text.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: TextLines,
}

/// A platform's file that was opened beside an image. Opening it again reads it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenFile {
    path: PathBuf,
    reading: u64,
}

impl GivenFile {
    /// A file to read. `before` is the one that it takes the place of.
    pub fn new(path: PathBuf, before: Option<&Self>) -> Self {
        Self { path, reading: before.map_or(0, |before| before.reading + 1) }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name.
    pub fn name(&self) -> String {
        printable(&self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy())
    }
}

/// What became of a platform's file.
pub struct JudgedFile {
    /// The file.
    pub given: GivenFile,
    /// Id of its platform's profile, or why it cannot be read.
    pub profile: Result<&'static str, String>,
    /// What the reader should know about the verdict; empty if nothing.
    pub note: &'static str,
}

/// Whether a file is one of a platform, by its content; `cerebrium.toml` by its name, whatever is in it. Reads it.
pub fn is_platform_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "cerebrium.toml") || read_platform_file(path).is_ok()
}

/// References of the images that a platform's file names; empty if it cannot be read. Reads it.
pub fn images_of_file(path: &Path) -> Vec<String> {
    let images = read_platform_file(path).map(|file| file.images).unwrap_or_default();
    images.into_iter().map(|image| image.reference).collect()
}

fn read_platform_file(path: &Path) -> Result<PlatformFile, String> {
    let bytes = read_file(path, FILE_BYTES as u64, "a platform's file")?;
    files::read(&bytes).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// An image on a platform.
pub struct Deployment {
    basis: Basis,
    /// Machines, cold start, CUDA Graphs, the platform.
    pub page: Arc<Page>,
    /// The lines for every format.
    pub snippets: Vec<SnippetText>,
    /// The platform's file, if one is open.
    pub file: Option<JudgedFile>,
}

impl Deployment {
    /// The lines for a format.
    pub fn snippet(&self, format: SnippetFormat) -> Option<&SnippetText> {
        self.snippets.iter().find(|one| one.format == format)
    }
}

/// The inputs, to detect changes.
#[derive(Clone, PartialEq)]
struct Basis {
    analysis: Same<Analysis>,
    plan: u64,
    profile: String,
    machine: u64,
    file: Option<GivenFile>,
}

/// The deployment of one tab.
#[derive(Default)]
pub struct DeploymentJob {
    job: Background<Result<Arc<Deployment>, String>>,
    asked: Option<Basis>,
    made: Option<Arc<Deployment>>,
    problem: Option<String>,
}

/// A platform to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    /// Identifier.
    pub id: String,
    /// Name.
    pub name: String,
}

/// All platforms of the catalogue, in its order.
pub fn profile_choices(catalog: &Catalog) -> Vec<ProfileChoice> {
    let choice = |profile: &crate::deploy::Profile| ProfileChoice {
        id: profile.id.clone(),
        name: profile.name.clone(),
    };
    catalog.profiles().iter().map(choice).collect()
}

/// The platform that is shown first.
pub fn default_profile() -> String {
    DEFAULT_PROFILE.to_owned()
}

impl DeploymentJob {
    /// Applies updates of the inputs and of the work. Called on each frame; it starts work only after an update.
    pub fn update(
        &mut self,
        analysis: &Arc<Analysis>,
        plan: &ChosenPlan,
        profile: &str,
        machine: &Machine,
        file: Option<&GivenFile>,
        waker: &Waker,
    ) {
        let basis = Basis {
            analysis: Same(Arc::clone(analysis)),
            plan: plan.revision(),
            profile: profile.to_owned(),
            machine: machine.generation(),
            file: file.cloned(),
        };
        if self.asked.as_ref() != Some(&basis) {
            (self.asked, self.problem) = (Some(basis.clone()), None);
            let chosen = analysis.findings.is_some().then(|| plan.plan().clone());
            let costs = launch_costs(machine);
            self.job.start(waker, false, move |cancel| work(basis, chosen, costs, cancel));
        }
        match self.job.result() {
            None => {}
            Some(Ok(Ok(made))) => (self.made, self.problem) = (Some(made), None),
            Some(Ok(Err(why))) => self.problem = Some(why),
            Some(Err(error)) => self.problem = Some(printable(&error)),
        }
    }

    /// The newest result; while another one is worked out, the one before.
    pub fn made(&self) -> Option<&Arc<Deployment>> {
        self.made.as_ref()
    }

    /// The newest result, if it is for this platform.
    pub fn current(&self, profile: &str) -> Option<&Arc<Deployment>> {
        self.made.as_ref().filter(|made| made.basis.profile == profile && !self.is_busy())
    }

    /// Why there is no result.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether something is being worked out.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }
}

/// Costs of a launch on a stream and in a graph, in microseconds, if the GPU check measured them.
fn launch_costs(machine: &Machine) -> Option<(f64, f64)> {
    let graph = machine.shown()?.devices.iter().find_map(|device| device.graph.as_ref())?;
    Some((graph.stream_us_per_launch, graph.graph_us_per_launch))
}

fn work(
    basis: Basis,
    plan: Option<Plan>,
    costs: Option<(f64, f64)>,
    cancel: &CancelToken,
) -> Result<Result<Arc<Deployment>, String>, Cancelled> {
    cancel.check()?;
    let analysis = Arc::clone(&basis.analysis.0);
    let catalog = analysis.known_rules();
    let profile = match find_profile(catalog, &basis.profile) {
        Ok(profile) => Arc::new(profile.clone()),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let options = Options { plan, profile: Some(Arc::clone(&profile)), paths: false, ..Options::default() };
    let usual = judged_targets(catalog, &profile, &[]);
    let targets = if usual.is_empty() { analysis.targets.to_vec() } else { usual };
    let mut report = DeployReport::new(&profile);
    let read = basis.file.as_ref().map(|given| (given, read_platform_file(&given.path)));
    let mut note = "";
    if let Some((given, Ok(file))) = &read {
        let named = file.reference_of(&analysis.image.reference);
        // The only image of a file is the one in front, whatever it is called there: it was built and tagged since.
        let is_front =
            named.is_some() || file.images.iter().all(|one| one.reference == file.images[0].reference);
        if !is_front {
            note = "None of its images is the one in front: they are judged by name.";
        }
        let image = is_front.then_some(&*analysis);
        report = report.with_file(&given.name(), file, &files::judge_with(file, image, named, catalog));
    }
    cancel.check()?;
    let mut report = report.with_image(&analysis, &profile, &targets, &options);
    cancel.check()?;
    let gains = costs.map(|(stream, graph)| STEPS.map(|step| StepGain::of(step, stream, graph)));
    let graphs = cuda_graphs(&analysis, None);
    report.cuda_graphs =
        graphs.map(|graphs| CudaGraphsPart::new(&graphs, gains.as_ref().map(<[StepGain; 3]>::as_slice)));
    cancel.check()?;
    let Some(input) = SnippetInput::of(&analysis, &profile) else {
        return Ok(Err("The image was not analysed completely.".to_owned()));
    };
    let snippets = SnippetFormat::ALL
        .iter()
        .map(|format| {
            let text = snippet(*format, &input);
            SnippetText { format: *format, lines: TextLines::new(&text), text: text.into() }
        })
        .collect();
    let file = read.map(|(given, read)| JudgedFile {
        given: given.clone(),
        profile: read.map(|file| file.profile()),
        note,
    });
    Ok(Ok(Arc::new(Deployment { page: Arc::new(deploy_page(&report)), snippets, file, basis })))
}
