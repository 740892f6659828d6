//! Earlier checks of this machine, as a table has them.

use super::verdict::{Headline, Tone};
use super::words::digits;
use crate::base::text::printable;
use crate::gpu::Check;
pub use crate::gpu::Run;
use crate::gui::models::format::utc;

/// A run as a line. Texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunItem {
    /// When, in UTC.
    pub when: String,
    /// The GPUs.
    pub gpu: String,
    /// The driver's version.
    pub driver: String,
    /// How good it was.
    pub tone: Tone,
    /// The result, in at most two words.
    pub result: String,
    /// The same, with the name of the error.
    pub outcome: String,
    /// Microseconds of a launch on a stream and in a graph, of the first device that has them.
    pub launches: Option<(String, String)>,
}

impl RunItem {
    /// A line for each run, the newest first.
    pub fn all(runs: &[Run]) -> Vec<Self> {
        runs.iter().rev().map(Self::new).collect()
    }

    fn new(run: &Run) -> Self {
        let check = &run.check;
        let headline = Headline::new(check);
        let when = utc(i64::try_from(run.unix_seconds).unwrap_or(i64::MAX));
        // Without seconds; the column title names UTC.
        let when = when.rsplit_once(':').map_or(when.as_str(), |(minutes, _)| minutes).to_owned();
        let driver = check.driver.as_ref().and_then(|driver| driver.version.as_deref());
        let graph = check.devices.iter().find_map(|device| device.graph.as_ref());
        Self {
            when,
            gpu: gpu(check),
            driver: driver.map_or_else(|| "–".to_owned(), printable),
            tone: headline.tone,
            result: result(check, headline.tone),
            outcome: outcome(check, headline.tone),
            launches: graph
                .map(|graph| (digits(graph.stream_us_per_launch), digits(graph.graph_us_per_launch))),
        }
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let mut text = format!("{} UTC, {}, driver {}, {}", self.when, self.gpu, self.driver, self.outcome);
        if let Some((stream, graph)) = &self.launches {
            text = format!("{text}, {stream} µs on a stream, {graph} µs in a graph");
        }
        text
    }
}

fn gpu(check: &Check) -> String {
    let Some(first) = check.devices.first() else { return "–".to_owned() };
    let name = printable(first.name.strip_prefix("NVIDIA ").unwrap_or(&first.name));
    match check.devices.len() {
        1 => name,
        several if check.devices.iter().all(|device| device.name == first.name) => {
            format!("{several} × {name}")
        }
        several => format!("{name} and {} more", several - 1),
    }
}

fn result(check: &Check, tone: Tone) -> String {
    let words = match (&check.error, tone) {
        (_, Tone::Good) => "works",
        (Some(error), _) => match (error.code, error.name.as_str()) {
            (Some(100), _) => "no GPU",
            (Some(code), _) => return format!("error {code}"),
            (None, "no-library") => "no driver",
            (None, "stub" | "not-a-library") => "no driver",
            (None, "wrong-numbers") => "wrong",
            (None, "timed-out") => "too slow",
            (None, "crashed") => "crashed",
            (None, _) => "failed",
        },
        (None, Tone::Mixed) => "partial",
        (None, Tone::Bad) => "no GPU",
    };
    words.to_owned()
}

fn outcome(check: &Check, tone: Tone) -> String {
    let result = result(check, tone);
    match check.error.as_ref().filter(|_| tone != Tone::Good) {
        Some(error) => format!("{result} ({})", printable(&error.name)),
        None => result,
    }
}
