//! The work that finds proposals: one at a time, the newest request last, the result before it stays until then.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::DockerfileModel;
use super::given::GivenFile;
use super::problem::Problem;
use crate::analysis::Analysis;
use crate::findings::{Findings, Plan};
use crate::gui::models::background::{Background, Same};
use crate::gui::models::findings::ChosenPlan;
use crate::jobs::{CancelToken, Cancelled, Waker};
use crate::rewrite::{Given, Proposals, RewriteError};

/// What proposals come from: [`Analysis::propose`], or something else in tests.
pub type Proposer =
    Arc<dyn Fn(&Analysis, &Plan, Option<Given<'_>>) -> Option<Result<Proposals, RewriteError>> + Send + Sync>;

/// What a result is for.
#[derive(PartialEq)]
struct Request {
    findings: Same<Findings>,
    revision: u64,
    given: u64,
}

type Outcome = Result<(Arc<DockerfileModel>, Arc<Proposals>), Problem>;

/// Proposals of one image.
pub struct Drafts {
    proposer: Proposer,
    given: Option<Arc<GivenFile>>,
    /// Grows with each file that is given or taken away, and each retry.
    number: u64,
    job: Background<Outcome>,
    /// What the newest work was started for.
    asked: Option<Request>,
    /// Whether that work is what is wanted now.
    current: bool,
    model: Option<Arc<DockerfileModel>>,
    /// The inputs of `model`.
    proposals: Option<Arc<Proposals>>,
    problem: Option<Problem>,
    /// Grows with each new model.
    generation: u64,
}

impl Default for Drafts {
    fn default() -> Self {
        Self::new(Arc::new(Analysis::propose))
    }
}

impl Drafts {
    /// Nothing yet; `proposer` will make the proposals, on its own thread.
    pub fn new(proposer: Proposer) -> Self {
        Self {
            proposer,
            given: None,
            number: 0,
            job: Background::default(),
            asked: None,
            current: false,
            model: None,
            proposals: None,
            problem: None,
            generation: 0,
        }
    }

    /// Applies updates of the analysis, the plan and the work. Called on each frame; does something only after
    /// an update. `waker` is called when work is done.
    pub fn update(&mut self, analysis: &Arc<Analysis>, plan: &ChosenPlan, waker: &Waker) {
        let Some(findings) = &analysis.findings else {
            (self.model, self.problem, self.asked, self.current) = (None, None, None, false);
            self.proposals = None;
            return;
        };
        let wanted =
            Request { findings: Same(Arc::clone(findings)), revision: plan.revision(), given: self.number };
        self.current = self.asked.as_ref() == Some(&wanted);
        match self.job.result() {
            Some(Ok(outcome)) if self.current => {
                self.generation += 1;
                match outcome {
                    Ok((model, proposals)) => {
                        (self.model, self.proposals, self.problem) = (Some(model), Some(proposals), None);
                    }
                    Err(problem) => self.problem = Some(problem),
                }
            }
            Some(Err(error)) if self.current => self.problem = Some(Problem::failed(&error)),
            _ => {}
        }
        // One at a time: work that is under way cannot be stopped, and each takes as long as an inventory.
        if !self.current && !self.job.is_busy() {
            self.start(analysis, plan.plan().clone(), wanted, waker);
        }
    }

    fn start(&mut self, analysis: &Arc<Analysis>, plan: Plan, request: Request, waker: &Waker) {
        let (proposer, given) = (Arc::clone(&self.proposer), self.given.clone());
        let analysis = Arc::clone(analysis);
        self.job
            .start(waker, false, move |cancel| work(&proposer, &analysis, &plan, given.as_deref(), cancel));
        (self.asked, self.current) = (Some(request), true);
    }

    /// What is shown; while newer proposals are worked out, those before.
    pub fn model(&self) -> Option<&Arc<DockerfileModel>> {
        self.model.as_ref()
    }

    /// What is proposed for the plan as it is; `None` while that is worked out.
    pub fn proposals(&self) -> Option<&Arc<Proposals>> {
        self.proposals.as_ref().filter(|_| !self.is_busy() && self.problem.is_none())
    }

    /// Why the newest request has no result.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref().filter(|_| !self.is_busy())
    }

    /// Whether newer proposals are being worked out.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy() || !self.current
    }

    /// Whether a job computes proposals. It starts when the view is first shown.
    pub fn is_computing(&self) -> bool {
        self.job.is_busy()
    }

    /// Grows with each new result.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The user's own file.
    pub fn given(&self) -> Option<&Path> {
        self.given.as_ref().map(|given| given.path.as_path())
    }

    /// Takes a file of the user's as the image's Dockerfile.
    pub fn give(&mut self, path: PathBuf) {
        self.given = Some(Arc::new(GivenFile::new(path)));
        self.number += 1;
    }

    /// Goes back to what is reconstructed from the image history.
    pub fn forget(&mut self) {
        self.given = None;
        self.number += 1;
    }

    /// Tries again; reads the file again.
    pub fn retry(&mut self) {
        if let Some(given) = self.given.take() {
            self.given = Some(Arc::new(GivenFile::new(given.path.clone())));
        }
        self.number += 1;
    }
}

fn work(
    proposer: &Proposer,
    analysis: &Analysis,
    plan: &Plan,
    given: Option<&GivenFile>,
    cancel: &CancelToken,
) -> Result<Outcome, Cancelled> {
    let bytes = match given.map(GivenFile::bytes).transpose() {
        Ok(bytes) => bytes,
        Err(problem) => return Ok(Err(problem)),
    };
    let file = given.zip(bytes).map(|(given, text)| Given { name: &given.name, text });
    let made = proposer(analysis, plan, file);
    cancel.check()?;
    Ok(match made {
        Some(Ok(proposals)) => {
            Ok((Arc::new(DockerfileModel::new(proposals.clone(), analysis)), Arc::new(proposals)))
        }
        Some(Err(error)) => Err(Problem::new(&error, bytes)),
        None => Err(Problem::failed("The findings are not available.")),
    })
}
