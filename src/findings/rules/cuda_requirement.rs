//! The driver requirement that is checked before a container starts.

use crate::base::text::printable;
use crate::cuda::compat::require::{Requirement, is_true};
use crate::cuda::{Role, Use};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "cuda-requirement",
    title: "Driver requirement",
    category: Category::Configuration,
    severity: Severity::Low,
    fix: "Set NVIDIA_REQUIRE_CUDA to the CUDA version of the libraries.",
    page: include_str!("../../../assets/manual/rules/cuda-requirement.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if facts.variable("NVIDIA_DISABLE_REQUIRE").is_some_and(is_true) {
        drafts.push(disabled());
    }
    let Some((needed, evidence, user)) = needed_major(facts) else { return drafts };
    match facts.variable("NVIDIA_REQUIRE_CUDA").filter(|value| !value.trim().is_empty()) {
        Some(value) => drafts.extend(too_little(value, needed, &evidence, user)),
        // With CUDA_VERSION alone, the container toolkit requires that version.
        None if facts.variable("CUDA_VERSION").is_some() => {}
        None => drafts.push(missing(needed, &evidence, user)),
    }
    drafts
}

/// The highest CUDA major version of the libraries in use, with its evidence.
fn needed_major(facts: &Facts<'_>) -> Option<(u32, String, User)> {
    let used = facts.inventory.libraries.iter().filter(|library| {
        let usage = facts.inventory.links.object(library.object).usage;
        library.role == Role::Runtime && usage != Use::Unreferenced && &*library.component != "driver"
    });
    let best = used
        .filter_map(|library| Some((library.cuda_major.as_ref()?, library)))
        // Of several with that major version, the first of the list.
        .fold(None, |best: Option<(u32, _, _)>, ((major, why), library)| match best {
            Some((known, ..)) if known >= *major => best,
            _ => Some((*major, why, library)),
        });
    let (major, why, library) = best?;
    let path = facts.shown(library.node);
    Some((
        major,
        format!("{path} is in use and needs CUDA {major} ({})", printable(why)),
        User::Object(library.object),
    ))
}

fn disabled() -> Draft {
    let title = "Driver check disabled".to_owned();
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Medium);
    draft.reason = "NVIDIA_DISABLE_REQUIRE is set: the container starts on every driver and fails later if the driver is too old.".into();
    draft.proof.push("the image sets NVIDIA_DISABLE_REQUIRE to a true value".to_owned());
    draft.question = Some("Must the image start on drivers that the check rejects?".to_owned());
    draft.fix = "Remove NVIDIA_DISABLE_REQUIRE, and require the CUDA version of the libraries.".into();
    draft.users.push(User::Setting("ENV NVIDIA_DISABLE_REQUIRE".to_owned()));
    draft.subjects = vec!["ENV NVIDIA_DISABLE_REQUIRE".to_owned()];
    draft
}

fn missing(needed: u32, evidence: &str, user: User) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Unsure, "No driver requirement".to_owned());
    draft.severity = Some(Severity::Info);
    draft.reason = format!(
        "CUDA {needed} libraries are in use, and no check rejects a node with a driver that is too old."
    );
    draft.proof.push("the image sets neither NVIDIA_REQUIRE_CUDA nor CUDA_VERSION".to_owned());
    draft.proof.push(evidence.to_owned());
    draft.question = Some("Do all nodes have a recent enough driver?".to_owned());
    draft.fix = format!("Set NVIDIA_REQUIRE_CUDA=\"cuda>={needed}.0\".");
    draft.users.push(user);
    draft.subjects = vec!["ENV NVIDIA_REQUIRE_CUDA".to_owned()];
    draft
}

fn too_little(value: &str, needed: u32, evidence: &str, user: User) -> Option<Draft> {
    let requirement = Requirement::parse(value);
    let least = requirement.least_cuda()?;
    let major = least.first().copied().filter(|major| *major < needed)?;
    let version: Vec<String> = least.iter().map(u32::to_string).collect();
    let title = format!(
        "NVIDIA_REQUIRE_CUDA accepts drivers for CUDA {major}, but CUDA {needed} libraries are in use"
    );
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Medium);
    draft.reason = format!(
        "A driver for CUDA {} passes the check but is too old for CUDA {needed} libraries without forward compatibility.",
        version.join(".")
    );
    draft.proof.push(format!("NVIDIA_REQUIRE_CUDA is satisfied by cuda>={}", version.join(".")));
    draft.proof.push(evidence.to_owned());
    draft.question = Some(
        "Do all nodes have a newer driver, or does the service work without the newer CUDA libraries?"
            .to_owned(),
    );
    draft.fix =
        format!("Set NVIDIA_REQUIRE_CUDA=\"cuda>={needed}.0\", or build on a CUDA {needed} base image.");
    draft.users.push(user);
    draft.users.push(User::Setting("ENV NVIDIA_REQUIRE_CUDA".to_owned()));
    draft.subjects = vec!["ENV NVIDIA_REQUIRE_CUDA".to_owned()];
    Some(draft)
}
