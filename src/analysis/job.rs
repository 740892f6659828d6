//! An analysis in the background, for the window, which polls and never blocks.

use std::sync::Arc;

use super::options::{AnalysisError, Options};
use super::pipeline::analyze;
use super::value::Analysis;
use crate::jobs::{CancelToken, Progress, Slot, Waker, catch_panic, spawn};
use crate::source::{Reference, SourceError, Tried};

/// Why a job ended without a result, as text for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What failed, on what, and why.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The host to log in to, when that may help.
    pub login: Option<String>,
    /// Attempts with their results; `message` ends with them.
    pub tried: Vec<Tried>,
}

impl Failure {
    /// The message without the attempts, for views that list these separately.
    pub fn summary(&self) -> &str {
        let tried: Vec<String> = self.tried.iter().map(ToString::to_string).collect();
        let before = self.message.strip_suffix(&tried.join(", ")).filter(|_| !tried.is_empty());
        let before = before.map(|before| before.trim_end_matches([':', ' ']));
        before.map_or(&self.message, |before| before.strip_suffix("; tried").unwrap_or(before))
    }

    /// A failure without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, login: None, tried: Vec::new() }
    }
}

impl From<&SourceError> for Failure {
    fn from(error: &SourceError) -> Self {
        let tried = match error {
            SourceError::Registry(error) => error.tried.clone(),
            SourceError::Engine { tried, .. } => tried.clone(),
            _ => Vec::new(),
        };
        let login = error.login().map(str::to_owned);
        Self { message: error.to_string(), hint: error.hint(), login, tried }
    }
}

/// State of a job.
#[derive(Clone)]
pub enum JobState {
    /// In progress, with the newest result.
    Running(Arc<Analysis>),
    /// Done, with the final result.
    Done(Arc<Analysis>),
    /// Ended without a result.
    Failed(Failure),
    /// Cancelled on request.
    Cancelled,
}

/// A running analysis. Dropping it cancels it.
pub struct AnalysisJob {
    text: String,
    cancel: CancelToken,
    progress: Progress,
    slot: Slot<JobState>,
}

impl AnalysisJob {
    /// Starts the analysis of the image with the reference `text`. `waker` is called after each change of
    /// state.
    pub fn start(text: &str, options: Options, waker: Waker) -> Self {
        let job = Self {
            text: text.to_owned(),
            cancel: CancelToken::new(),
            progress: Progress::default(),
            slot: Slot::new(Some(waker)),
        };
        let (cancel, progress, slot) = (job.cancel.clone(), job.progress.clone(), job.slot.clone());
        let text = job.text.clone();
        let work_slot = slot.clone();
        let started = spawn("analysis", move || {
            let state = catch_panic(|| work(&text, &options, &cancel, &progress, &work_slot));
            let state = state.unwrap_or_else(|panic| {
                let message = format!("internal error while reading {text}; please report it: {panic}");
                JobState::Failed(Failure::new(message))
            });
            work_slot.publish(Arc::new(state));
        });
        if let Err(error) = started {
            let message = format!("cannot start a thread: {error}");
            slot.publish(Arc::new(JobState::Failed(Failure::new(message))));
        }
        job
    }

    /// The reference, as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The state, with a number that increases with every change; `None` before the first.
    pub fn state(&self) -> Option<(u64, Arc<JobState>)> {
        self.slot.newest()
    }

    /// Progress counters.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Cancels the analysis; the state becomes [`JobState::Cancelled`] soon after.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

impl Drop for AnalysisJob {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn work(
    text: &str,
    options: &Options,
    cancel: &CancelToken,
    progress: &Progress,
    slot: &Slot<JobState>,
) -> JobState {
    let publish = |analysis: Arc<Analysis>| {
        // What the window asks for in its first frame with findings, and would wait for.
        if let Some(findings) = &analysis.findings {
            findings.by_file();
        }
        slot.publish(Arc::new(JobState::Running(analysis)));
    };
    let result = Reference::parse(text)
        .map_err(Into::into)
        .and_then(|reference| analyze(&reference, options, cancel, progress, &publish));
    match result {
        Ok(analysis) => JobState::Done(analysis),
        Err(error) if error.is_cancelled() => JobState::Cancelled,
        Err(AnalysisError::Source(error)) => JobState::Failed(Failure::from(&error)),
        Err(error) => JobState::Failed(Failure { hint: error.hint(), ..Failure::new(error.to_string()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;
    use crate::source::Tried;

    #[test]
    fn what_was_tried_is_told_once() {
        let tried = |way: &str| Tried { way: way.to_owned(), result: "no entry".to_owned() };
        let list = vec![tried("auth.json"), tried("config.json")];
        for (message, summary) in [
            (
                "cannot get a from b: 401; tried: auth.json: no entry, config.json: no entry",
                "cannot get a from b: 401",
            ),
            ("no engine gives a: auth.json: no entry, config.json: no entry", "no engine gives a"),
            ("something else", "something else"),
        ] {
            let failure = Failure { tried: list.clone(), ..Failure::new(message) };
            assert_eq!(failure.summary(), summary);
            assert_eq!(Failure::new(message).summary(), message);
        }
    }
}
