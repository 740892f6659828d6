//! Machines with their verdicts, as the table and the details have them.

use crate::base::labels::{Label, TARGET_VERDICTS};
use crate::base::text::printable;
use crate::cuda::catalog::GpuClass;
use crate::cuda::compat::{DriverFrom, Judgement, RunVerdict, TargetGpu};

/// What machines are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// The machine that the window runs on.
    Host,
    /// GPUs in any machine.
    Gpu,
    /// Machines of Azure.
    Azure,
    /// Machines of AWS.
    Aws,
    /// Machines of Google Cloud.
    Google,
    /// Google Kubernetes Engine.
    Gke,
    /// Boards with the GPU in the processor.
    Jetson,
    /// Machines of a catalogue of the user's own.
    Other,
}

impl TargetKind {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 8] =
        [Self::Host, Self::Gpu, Self::Azure, Self::Aws, Self::Google, Self::Gke, Self::Jetson, Self::Other];

    /// What it is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Host => "This machine",
            Self::Gpu => "GPUs",
            Self::Azure => "Azure",
            Self::Aws => "AWS",
            Self::Google => "Google Cloud",
            Self::Gke => "GKE",
            Self::Jetson => "Jetson",
            Self::Other => "Other machines",
        }
    }

    pub(super) fn of(target: &TargetGpu) -> Self {
        match target.id.split_once(':').map(|(kind, _)| kind) {
            Some("gpu") if target.class == Some(GpuClass::Jetson) => Self::Jetson,
            Some("gpu") => Self::Gpu,
            Some("azure") => Self::Azure,
            Some("aws") => Self::Aws,
            Some("gcp") => Self::Google,
            Some("gke") => Self::Gke,
            _ => Self::Other,
        }
    }
}

/// A machine with its verdict. Texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetItem {
    /// What it is grouped by.
    pub kind: TargetKind,
    /// Its id, as the command line takes it.
    pub id: String,
    /// Its ID without the group prefix.
    pub short: String,
    /// What its GPU is called.
    pub gpu: String,
    /// Its compute capability.
    pub capability: String,
    /// How many GPUs it has, or how much of one.
    pub gpus: String,
    /// The driver's version, and where it is known from.
    pub driver: Option<(String, DriverFrom)>,
    /// Whether the image runs there, and why.
    pub judgement: Judgement,
    /// All that a filter looks at, in small letters.
    pub words: String,
}

impl TargetItem {
    pub(super) fn new(kind: TargetKind, target: &TargetGpu, judgement: Judgement) -> Self {
        let gpu = printable(target.name.strip_prefix("NVIDIA ").unwrap_or(&target.name));
        let id = printable(&target.id);
        let short = match kind {
            TargetKind::Host | TargetKind::Other => id.clone(),
            _ => id.split_once(':').map_or(id.as_str(), |(_, rest)| rest).to_owned(),
        };
        let capability = format!("{}.{}", target.sm / 10, target.sm % 10);
        let driver = target.driver.as_ref().map(|driver| (printable(&driver.version), driver.from));
        let verdict = judgement.verdict.label();
        let word = TARGET_VERDICTS.get(judgement.verdict.as_str()).map(Label::word).unwrap_or_default();
        let value = judgement.verdict.as_str();
        let text = [kind.title(), &id, &gpu, &capability, verdict, &word, value, &judgement.why].join(" ");
        let with_driver = driver.iter().fold(text, |text, (version, _)| format!("{text} {version}"));
        Self {
            kind,
            short,
            gpu,
            capability,
            gpus: target.gpus.clone().unwrap_or_default(),
            driver,
            judgement,
            words: with_driver.to_lowercase(),
            id,
        }
    }

    /// Its GPUs with their number where there are several: `8 × H100 80GB`.
    pub fn gpus_text(&self) -> String {
        match self.gpus.as_str() {
            "" | "1" => self.gpu.clone(),
            count => format!("{count} × {}", self.gpu),
        }
    }

    /// The driver in words: `580 typical`.
    pub fn driver_text(&self) -> String {
        match &self.driver {
            Some((version, from)) => format!("{version} {}", from.label()),
            None => "unknown".to_owned(),
        }
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        format!(
            "{}, {} ({}), driver {}, {}: {}",
            self.id,
            self.gpus_text(),
            self.capability,
            self.driver_text(),
            self.judgement.verdict.label(),
            self.judgement.why
        )
    }

    /// Its GPUs and its driver, in a line.
    pub fn about(&self) -> String {
        let driver = match &self.driver {
            Some(_) => format!("driver {}", self.driver_text()),
            None => "driver unknown".to_owned(),
        };
        format!("{}, compute capability {}, {driver}", self.gpus_text(), self.capability)
    }

    /// The verdict with all reasons, as it is copied.
    pub fn with_reasons(&self) -> String {
        let mut text = format!("{} on {}\n{}\n", self.judgement.verdict.label(), self.id, self.about());
        for reason in &self.judgement.reasons {
            text = format!("{text}- {}: {}", reason.verdict.label(), reason.text);
            if let Some((code, name)) = reason.error {
                text = format!("{text} {name} ({code}).");
            }
            for more in [&reason.subject, &reason.hint].into_iter().flatten() {
                text = format!("{text}\n  {more}");
            }
            text = format!("{text}\n  {}: {}\n", reason.rule.as_str(), reason.rule.source());
        }
        text
    }

    /// The row as it is copied: its columns with tabs between.
    pub fn copied(&self) -> String {
        let verdict = self.judgement.verdict.label();
        let driver = self.driver_text();
        let columns =
            [&self.id, &self.gpu, &self.capability, &self.gpus, &driver, verdict, &self.judgement.why];
        columns.join("\t") + "\n"
    }
}

/// Whether an image runs with this verdict, in whatever way.
pub(super) fn works(verdict: RunVerdict) -> bool {
    matches!(verdict, RunVerdict::Runs | RunVerdict::RunsWithJit | RunVerdict::RunsWithCompat)
}
