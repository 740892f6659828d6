//! What came of a check, in a sentence.

use super::words;
use crate::base::size::grouped;
use crate::base::text::{printable, sentence};
use crate::gpu::{Check, GpuError, KernelVerdict, Stage};
use crate::gui::models::format::count;

/// How good news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is as it should be.
    Good,
    /// Something works, and something does not.
    Mixed,
    /// Nothing can be used.
    Bad,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// How good it is.
    pub tone: Tone,
    /// In a sentence.
    pub text: String,
}

impl Headline {
    /// The sentence of a whole check.
    pub fn new(check: &Check) -> Self {
        let of = |verdict| check.devices.iter().filter(move |device| device.kernel_check.verdict == verdict);
        let (right, wrong) = (of(KernelVerdict::Pass).count(), of(KernelVerdict::Fail).count());
        let say = |tone, text: String| Self { tone, text };
        if right > 0 && wrong == 0 && check.error.is_none() {
            let numbers: u64 = of(KernelVerdict::Pass)
                .filter_map(|device| device.kernel_check.elements)
                .fold(0, u64::saturating_add);
            let who = if right == 1 { "This GPU works".to_owned() } else { format!("All {right} GPUs work") };
            return match numbers {
                0 => say(Tone::Good, format!("{who}.")),
                _ => say(Tone::Good, format!("{who}: every one of {} numbers is right.", grouped(numbers))),
            };
        }
        let tried =
            check.devices.iter().filter(|device| device.kernel_check.verdict != KernelVerdict::Skipped);
        let (working, tried) = (check.devices.iter().filter(|one| check.works(one)).count(), tried.count());
        if working > 0 && working < tried {
            return say(Tone::Mixed, format!("{working} of {} work.", count(tried, "GPU")));
        }
        match &check.error {
            Some(error) if right > 0 => {
                say(Tone::Mixed, format!("The kernel is right, but then it failed: {}.", at(error)))
            }
            Some(error) => say(Tone::Bad, failed(error)),
            None if wrong > 0 => say(Tone::Bad, "This GPU computes wrong numbers.".to_owned()),
            None if check.available => say(Tone::Good, "A GPU is there.".to_owned()),
            None => say(Tone::Bad, "No GPU can be used here.".to_owned()),
        }
    }
}

/// What an error means, in a sentence.
fn failed(error: &GpuError) -> String {
    let known = match (error.code, error.name.as_str()) {
        (_, "no-library") => "There is no NVIDIA driver here.",
        (_, "stub" | "not-a-library") => "What stands for the driver here is not the driver.",
        (Some(100), _) => "The driver finds no GPU.",
        (Some(804 | 803), _) => "The driver and its library do not fit each other.",
        (_, "wrong-numbers") => "This GPU computes wrong numbers.",
        (_, "crashed") => "The driver crashed while it was checked.",
        (_, "timed-out") => "The driver did not answer in time.",
        (_, "cannot-start") => "The check could not be started.",
        _ => return format!("The check failed: {}.", at(error)),
    };
    known.to_owned()
}

/// The step that failed, as it stands in the middle of a sentence.
fn at(error: &GpuError) -> String {
    let title = stage_title(&error.stage);
    format!("at the step “{title}”")
}

/// The title of a step by its name in reports; the name itself when it is none of ours.
pub fn stage_title(name: &str) -> String {
    let stage = Stage::ALL.into_iter().find(|stage| stage.as_str() == name);
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
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
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
