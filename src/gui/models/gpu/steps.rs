//! The steps of a check: those that were done, the one that runs, and those to come.

use super::words;
use crate::base::text::printable;
use crate::gpu::{Check, Depth, Stage};

/// What a running check was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedCheck {
    /// Progress.
    pub depth: Depth,
    /// Whether copies are timed.
    pub bandwidth: bool,
    /// The only device; `None` for all.
    pub device: Option<u32>,
}

/// State of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It did what it should.
    Passed,
    /// It did not.
    Failed,
    /// It is being done.
    Running,
    /// It comes later.
    Waiting,
}

impl StepState {
    /// A word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Running => "running",
            Self::Waiting => "pending",
        }
    }
}

/// A step as a line of the list. Texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// What is done, with the device where there are several.
    pub title: String,
    /// Its position.
    pub state: StepState,
    /// The result.
    pub detail: String,
    /// How long it took.
    pub us: Option<u64>,
}

impl StepLine {
    /// The steps of a check; of one that runs, those to come as well.
    pub fn all(check: &Check, running: Option<RequestedCheck>) -> Vec<Self> {
        let devices: std::collections::BTreeSet<u32> =
            check.steps.iter().filter_map(|step| step.device).collect();
        let several =
            devices.len() > 1 || running.is_some_and(|requested| devices_of(check, requested).len() > 1);
        let title = |stage: Stage, device: Option<u32>| match device.filter(|_| several) {
            Some(device) => format!("GPU {device}: {}", lower(stage.title())),
            None => stage.title().to_owned(),
        };
        let mut lines: Vec<Self> = check
            .steps
            .iter()
            .map(|step| Self {
                title: title(step.name, step.device),
                state: if step.ok { StepState::Passed } else { StepState::Failed },
                detail: step.detail.as_deref().map(printable).unwrap_or_default(),
                us: Some(step.us),
            })
            .collect();
        if let Some(requested) = running {
            let state = |place| if place == 0 { StepState::Running } else { StepState::Waiting };
            lines.extend(to_come(check, requested).into_iter().enumerate().map(
                |(place, (stage, device))| Self {
                    title: title(stage, device),
                    state: state(place),
                    detail: String::new(),
                    us: None,
                },
            ));
        }
        lines
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let mut text = format!("{}, {}", self.title, self.state.word());
        if let Some(us) = self.us {
            text = format!("{text}, {}", words::time(us));
        }
        if !self.detail.is_empty() {
            text = format!("{text}: {}", self.detail);
        }
        text
    }
}

/// Names of steps begin with a capital, which is wrong behind a colon. CUDA's own names have none to lose.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The devices that are checked, as far as they are known.
fn devices_of(check: &Check, requested: RequestedCheck) -> Vec<Option<u32>> {
    match requested.device {
        Some(device) => vec![Some(device)],
        None if check.devices.is_empty() => vec![None],
        None => check.devices.iter().map(|device| Some(device.index)).collect(),
    }
}

/// What is left of the usual order behind the last step that was done: a step that a check leaves out is not
/// waited for.
fn to_come(check: &Check, requested: RequestedCheck) -> Vec<(Stage, Option<u32>)> {
    let (common, rest): (Vec<Stage>, Vec<Stage>) =
        Stage::ALL.iter().copied().partition(|stage| *stage <= Stage::Devices);
    let common: Vec<_> = match requested.depth {
        Depth::Library => common.into_iter().filter(|stage| *stage <= Stage::Library).collect(),
        Depth::Devices | Depth::Full => common,
    };
    let mut order: Vec<(Stage, Option<u32>)> = common.into_iter().map(|stage| (stage, None)).collect();
    if requested.depth == Depth::Full {
        for device in devices_of(check, requested) {
            let asked = rest.iter().filter(|stage| requested.bandwidth || **stage != Stage::Bandwidth);
            order.extend(asked.map(|stage| (*stage, device)));
        }
    }
    let done = |(stage, device): &(Stage, Option<u32>)| {
        let same = |of: Option<u32>| of == *device || of.is_none() || device.is_none();
        check.steps.iter().any(|step| step.name == *stage && same(step.device))
    };
    let behind = order.iter().rposition(done).map_or(0, |last| last + 1);
    order.split_off(behind)
}
