//! GPU selection in the image.

use crate::base::redact;
use crate::base::text::{elide_end, printable};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "visible-devices",
    title: "GPU selection in the image",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Select GPUs when you start the container.",
    page: include_str!("../../../assets/manual/rules/visible-devices.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    ["NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"]
        .into_iter()
        .filter_map(|name| draft(name, facts.variable(name)?))
        .collect()
}

/// What a value selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// All GPUs, or decided elsewhere.
    Free,
    /// No GPU at all.
    Nothing,
    /// GPUs by number.
    Numbers,
    /// Devices of one machine by name.
    Names,
}

fn choice(name: &str, value: &str) -> Choice {
    let value = value.trim();
    let of_driver = name == "CUDA_VISIBLE_DEVICES";
    if of_driver && (value.is_empty() || value.starts_with('-') || value == "NoDevFiles") {
        return Choice::Nothing;
    }
    if value.is_empty() || matches!(value, "all" | "void" | "none") {
        return Choice::Free;
    }
    let names_one = |part: &str| part.contains("GPU-") || part.contains("MIG-");
    if value.split(',').any(names_one) {
        return Choice::Names;
    }
    // `0,1`, the `0:0` of MIG, and CDI's `nvidia.com/gpu=0`.
    let is_number = |part: &str| {
        let part = part.trim().rsplit('=').next().unwrap_or_default();
        !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == ':')
    };
    if value.split(',').any(is_number) { Choice::Numbers } else { Choice::Free }
}

fn draft(name: &str, value: &str) -> Option<Draft> {
    let shown = elide_end(&printable(&redact::assignment(&format!("{name}={value}"))), 100);
    let (verdict, severity, reason, question) = match choice(name, value) {
        Choice::Free => return None,
        Choice::Nothing => (
            Verdict::Unsure,
            Severity::Medium,
            "The image disables all GPUs for its programs.",
            Some("Is this image meant to run without a GPU?"),
        ),
        Choice::Numbers => (
            Verdict::Unsure,
            Severity::Medium,
            "The image selects GPUs by number, the same on every machine.",
            Some("Does it run only on machines where these GPU numbers are reserved for it?"),
        ),
        Choice::Names => (
            Verdict::Safe,
            Severity::High,
            "The image selects GPUs of one machine by name: no other machine has them.",
            None,
        ),
    };
    let mut draft = Draft::new(&RULE, verdict, format!("{name} selects GPUs in the image"));
    draft.severity = Some(severity);
    draft.reason = reason.into();
    draft.question = question.map(str::to_owned);
    draft.proof.push(format!("the image sets {shown}"));
    draft.users.push(User::Setting(format!("ENV {name}")));
    draft.subjects = vec![format!("ENV {name}")];
    draft.fix = match name {
        "CUDA_VISIBLE_DEVICES" => {
            "Remove CUDA_VISIBLE_DEVICES from the image, and set it when you start a container."
        }
        _ => "Set NVIDIA_VISIBLE_DEVICES=all, and select GPUs with --gpus or the limits of the pod.",
    }
    .into();
    Some(draft)
}

#[cfg(test)]
mod tests {
    use super::{Choice, choice};

    #[test]
    fn values_are_told_apart() {
        let (nvidia, cuda) = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES");
        for (name, value, wanted) in [
            (nvidia, "all", Choice::Free),
            (nvidia, "void", Choice::Free),
            (nvidia, "none", Choice::Free),
            (nvidia, "", Choice::Free),
            (nvidia, "runtime.nvidia.com/gpu=all", Choice::Free),
            (nvidia, "0", Choice::Numbers),
            (nvidia, "nvidia.com/gpu=1", Choice::Numbers),
            (nvidia, "0:1", Choice::Numbers),
            (nvidia, "GPU-5fd4f087", Choice::Names),
            (nvidia, "MIG-GPU-5fd4f087/1/0", Choice::Names),
            (cuda, "0,1", Choice::Numbers),
            (cuda, "", Choice::Nothing),
            (cuda, "-1", Choice::Nothing),
        ] {
            assert_eq!(choice(name, value), wanted, "{name}={value}");
        }
    }
}
