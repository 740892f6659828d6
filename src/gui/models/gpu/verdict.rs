//! The result of a check, in a sentence.

use super::words;
use crate::base::size::grouped;
use crate::base::text::counted;
use crate::base::text::{printable, sentence};
use crate::gpu::{Check, GpuError, KernelVerdict, Stage};

/// The tone of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is as it should be.
    Good,
    /// Something works, and something does not.
    Mixed,
    /// Nothing can be used.
    Bad,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// How good it is.
    pub tone: Tone,
    /// One sentence.
    pub text: String,
}

impl Headline {
    /// The sentence of a whole check.
    pub fn new(check: &Check) -> Self {
        let of = |verdict| check.devices.iter().filter(move |device| device.kernel_check.verdict == verdict);
        let (right, wrong) = (of(KernelVerdict::Pass).count(), of(KernelVerdict::Fail).count());
        let headline = |tone, text: String| Self { tone, text };
        if right > 0 && wrong == 0 && check.error.is_none() {
            let numbers: u64 = of(KernelVerdict::Pass)
                .filter_map(|device| device.kernel_check.elements)
                .fold(0, u64::saturating_add);
            let who = if right == 1 { "This GPU works".to_owned() } else { format!("All {right} GPUs work") };
            return match numbers {
                0 => headline(Tone::Good, format!("{who}.")),
                _ => headline(Tone::Good, format!("{who}: all {} values are correct.", grouped(numbers))),
            };
        }
        let tried =
            check.devices.iter().filter(|device| device.kernel_check.verdict != KernelVerdict::Skipped);
        let (working, tried) = (check.devices.iter().filter(|one| check.works(one)).count(), tried.count());
        if working > 0 && working < tried {
            return headline(Tone::Mixed, format!("{working} of {} work.", counted(tried, "GPU")));
        }
        match &check.error {
            Some(error) if right > 0 => headline(
                Tone::Mixed,
                format!("Kernel results are correct, but the check failed {}.", at(error)),
            ),
            Some(error) => headline(Tone::Bad, failed(error)),
            None if wrong > 0 => headline(Tone::Bad, "This GPU computes wrong results.".to_owned()),
            None if check.available => headline(Tone::Good, "GPU found.".to_owned()),
            None => headline(Tone::Bad, "No usable GPU on this machine.".to_owned()),
        }
    }
}

/// What an error means, in a sentence.
fn failed(error: &GpuError) -> String {
    let known = match (error.code, error.name.as_str()) {
        (_, "no-library") => "No NVIDIA driver on this machine.",
        (_, "stub" | "not-a-library") => "The libcuda.so.1 found is not the NVIDIA driver.",
        (Some(100), _) => "The driver found no GPU.",
        (Some(804 | 803), _) => "Driver and library versions do not match.",
        (_, "wrong-numbers") => "This GPU computes wrong results.",
        (_, "crashed") => "The driver crashed during the check.",
        (_, "timed-out") => "The driver timed out.",
        (_, "cannot-start") => "The check did not start.",
        _ => return format!("The check failed {}.", at(error)),
    };
    known.to_owned()
}

/// The failed step, for the middle of a sentence.
fn at(error: &GpuError) -> String {
    let title = stage_title(&error.stage);
    format!("at the step “{title}”")
}

/// The title of a step by its name in reports; the name itself when it is none of ours.
pub fn stage_title(name: &str) -> String {
    let stage = Stage::ALL.iter().copied().find(|stage| stage.as_str() == name);
    stage.map_or_else(|| printable(name), |stage| stage.title().to_owned())
}

/// An error as it is copied: all that is known of it.
pub fn error_text(check: &Check) -> Option<String> {
    let error = check.error.as_ref()?;
    let mut lines = vec![Headline::new(check).text, format!("step: {}", stage_title(&error.stage))];
    lines.push(match error.code {
        Some(code) => format!("error: {code} {}", error.name),
        None => format!("error: {}", error.name),
    });
    lines.push(sentence(&printable(&error.message)));
    lines.extend(error.hint.as_ref().map(|hint| format!("hint: {}", printable(hint))));
    if let Some(driver) = &check.driver {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        lines.push(format!("driver: {}, CUDA {}", known(&driver.version), known(&driver.cuda_version)));
        lines.push(format!("library: {}", known(&driver.library_path)));
    }
    lines.extend(check.steps.iter().map(|step| {
        let state = if step.ok { "passed" } else { "failed" };
        format!("{}: {state}, {}", step.name.title(), words::time(step.us))
    }));
    lines.extend(error.log.iter().map(|log| format!("compiler log:\n{log}")));
    Some(lines.join("\n") + "\n")
}
