//! Compatibility of an image with machines: computed off the painting thread, only after updates.

use std::sync::Arc;

use super::target::{TargetItem, TargetKind};
use crate::analysis::Analysis;
use crate::cuda::Inventory;
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{
    self, DriverFrom, HostDevice, Judgement, Needs, Requires, TargetDriver, TargetGpu,
};
use crate::gui::models::background::{Background, Same};
use crate::jobs::Waker;

/// What an image needs, in full and in short; `None` while it is not known.
type ReadNeeds = dyn Fn(&Analysis) -> Option<(Needs, Requires)> + Send + Sync;
/// Whether it runs on each of many machines.
type JudgeAll = dyn Fn(&Needs, &[TargetGpu], &Catalog) -> Vec<Judgement> + Send + Sync;

/// What verdicts come from: the rules of [`compat`], or something else in tests.
#[derive(Clone)]
pub struct Judge {
    /// What an image needs.
    pub needs: Arc<ReadNeeds>,
    /// The verdicts, one for each machine.
    pub judge: Arc<JudgeAll>,
}

impl Default for Judge {
    fn default() -> Self {
        Self {
            needs: Arc::new(|analysis| {
                let needs = analysis.needs()?;
                let requires = compat::requires(&needs, analysis.known_rules());
                Some((needs, requires))
            }),
            judge: Arc::new(|needs, targets, catalog| {
                let judge = compat::Judge::new(needs, catalog);
                targets.iter().map(|target| judge.judge(target)).collect()
            }),
        }
    }
}

/// All machines with their verdicts.
#[derive(Clone, Debug, Default)]
pub struct TargetVerdicts {
    /// What the image needs.
    pub needs: Arc<Needs>,
    /// The same in short.
    pub requires: Requires,
    /// The machines, by group.
    pub targets: Vec<TargetItem>,
}

/// What a result is for.
#[derive(PartialEq)]
struct Request {
    inventory: Same<Inventory>,
    complete: bool,
    machine: u64,
    driver: Option<String>,
}

/// The verdicts of one image; those before stay until newer ones are there.
#[derive(Default)]
pub struct VerdictJob {
    judge: Judge,
    job: Background<Option<TargetVerdicts>>,
    requested: Option<Request>,
    known: Option<(Arc<Inventory>, Arc<TargetVerdicts>)>,
    generation: u64,
}

impl VerdictJob {
    /// Verdicts that come from `judge`.
    pub fn new(judge: Judge) -> Self {
        Self { judge, ..Self::default() }
    }

    /// Applies updates of the analysis, of the machine's devices (`machine` is their generation) and of the driver
    /// that is to be taken as given. To be called each frame.
    pub fn update(
        &mut self,
        analysis: &Arc<Analysis>,
        devices: impl FnOnce() -> Vec<HostDevice>,
        machine: u64,
        driver: Option<&str>,
        waker: &Waker,
    ) {
        let ready = analysis.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none());
        let Some(inventory) = ready.filter(|_| analysis.merge.is_some()) else {
            (self.requested, self.known) = (None, None);
            return;
        };
        let request = Request {
            inventory: Same(Arc::clone(inventory)),
            complete: analysis.totals().is_some_and(|totals| totals.complete),
            machine,
            driver: driver.map(str::to_owned),
        };
        if self.requested.as_ref() != Some(&request) {
            let same = self.known.as_ref().filter(|(of, _)| Arc::ptr_eq(of, inventory));
            let known = same.map(|(_, judged)| Arc::clone(judged));
            if known.is_none() {
                self.known = None;
            }
            let (judge, analysis, devices) = (self.judge.clone(), Arc::clone(analysis), devices());
            let driver = request.driver.clone();
            self.requested = Some(request);
            self.job.start(waker, false, move |cancel| {
                let made = work(&judge, &analysis, known.as_deref(), &devices, driver.as_deref());
                cancel.check()?;
                Ok(made)
            });
        }
        if let Some(Some(judged)) = self.job.take() {
            self.known = Some((Arc::clone(inventory), Arc::new(judged)));
            self.generation += 1;
        }
    }

    /// The newest verdicts.
    pub fn judged(&self) -> Option<&Arc<TargetVerdicts>> {
        self.known.as_ref().map(|(_, judged)| judged)
    }

    /// Whether newer ones are worked out.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// Why there are none.
    pub fn error(&self) -> Option<&str> {
        self.job.error()
    }

    /// Grows with each new result.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

fn work(
    judge: &Judge,
    analysis: &Analysis,
    known: Option<&TargetVerdicts>,
    devices: &[HostDevice],
    driver: Option<&str>,
) -> Option<TargetVerdicts> {
    // What the image needs does not depend on the machines.
    let (needs, requires) = if let Some(known) = known {
        (Arc::clone(&known.needs), known.requires.clone())
    } else {
        let (needs, requires) = (judge.needs)(analysis)?;
        (Arc::new(needs), requires)
    };
    let catalog = analysis.known_rules();
    let several = devices.len() > 1;
    let hosts = devices.iter().filter_map(|device| TargetGpu::host(catalog, device, several));
    let hosts = hosts.map(|target| (TargetKind::Host, target));
    let others = TargetGpu::all(catalog).into_iter().map(|target| (TargetKind::of(&target), target));
    let with_driver = |target: TargetGpu| match driver {
        // The stated driver applies, not the CUDA version of the installed one.
        Some(version) => TargetGpu {
            driver: Some(TargetDriver { version: version.to_owned(), from: DriverFrom::Stated }),
            cuda: None,
            ..target
        },
        None => target,
    };
    let (kinds, machines): (Vec<TargetKind>, Vec<TargetGpu>) =
        hosts.chain(others).map(|(kind, target)| (kind, with_driver(target))).unzip();
    let verdicts = (judge.judge)(&needs, &machines, catalog);
    let judged = kinds.into_iter().zip(&machines).zip(verdicts);
    let mut targets: Vec<TargetItem> =
        judged.map(|((kind, target), judgement)| TargetItem::new(kind, target, judgement)).collect();
    targets.sort_by_key(|target| target.kind);
    Some(TargetVerdicts { needs, requires, targets })
}

/// A driver as it is typed: `580` or `580.95.05`; `None` for nothing typed.
///
/// # Errors
/// What is wrong with it, in words.
pub fn stated_driver(typed: &str) -> Result<Option<String>, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let mut parts = typed.split('.');
    let fits = parts.clone().count() <= 3
        && parts.all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u32>().is_ok()
        });
    if fits {
        Ok(Some(typed.to_owned()))
    } else {
        Err("Invalid driver version; enter 580 or 580.95.05".to_owned())
    }
}
