//! What the image requires of the driver before it starts.

use crate::base::text::printable;
use crate::cuda::compat::require::{Requirement, is_true};
use crate::cuda::{Role, Use};
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "cuda-requirement",
    title: "Requirement on the driver",
    category: Category::Configuration,
    severity: Severity::Low,
    fix: "Set NVIDIA_REQUIRE_CUDA to the CUDA version that the libraries need.",
    finds: "Images with CUDA libraries in use that require no driver (`NVIDIA_REQUIRE_CUDA`), that require an older CUDA than their libraries need, or that switch the check off (`NVIDIA_DISABLE_REQUIRE`).",
    matters: "The container toolkit compares the requirement with the driver before it starts a container, and says what is missing. Without it, or with too little, the container starts and the first CUDA call fails with error 35, `CUDA driver version is insufficient for CUDA runtime version`, on nodes that a scheduler takes for good ones.",
    example: r"```dockerfile
FROM python:3.12-slim
# Brings the libraries of CUDA 13.
RUN pip install torch
```",
    remedy: r#"```dockerfile
FROM python:3.12-slim
RUN pip install torch
ENV NVIDIA_REQUIRE_CUDA="cuda>=13.0"
```

Libraries of one major run on every driver of that major (525 for 12, 580 for 13) as long as no PTX has to be compiled, so `cuda>=12.0` is enough for most. NVIDIA's base images set it; where wheels on top are of a later major, it says too little."#,
    source: "libnvidia-container, src/dsl.c; nvidia-container-toolkit documentation, constraints; CUDA compatibility guide.",
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if facts.variable("NVIDIA_DISABLE_REQUIRE").is_some_and(is_true) {
        drafts.push(disabled());
    }
    let Some((needed, evidence, user)) = needed_major(facts) else { return drafts };
    match facts.variable("NVIDIA_REQUIRE_CUDA").filter(|value| !value.trim().is_empty()) {
        Some(value) => drafts.extend(too_little(value, needed, &evidence, user)),
        // Where only CUDA_VERSION is set, the toolkit requires that version.
        None if facts.variable("CUDA_VERSION").is_some() => {}
        None => drafts.push(missing(needed, &evidence, user)),
    }
    drafts
}

/// The highest major version of CUDA whose libraries are in use, and what says so.
fn needed_major(facts: &Facts<'_>) -> Option<(u32, String, User)> {
    let used = facts.inventory.libraries.iter().filter(|library| {
        let usage = facts.inventory.links.object(library.object).usage;
        library.role == Role::Runtime && usage != Use::Unreferenced && &*library.component != "driver"
    });
    let best = used
        .filter_map(|library| Some((library.cuda_major.as_ref()?, library)))
        // The first of the list where several are of that major.
        .fold(None, |best: Option<(u32, _, _)>, ((major, why), library)| match best {
            Some((known, ..)) if known >= *major => best,
            _ => Some((*major, why, library)),
        });
    let (major, why, library) = best?;
    let path = facts.shown(library.node);
    Some((
        major,
        format!("{path} is in use and is of CUDA {major} ({})", printable(why)),
        User::Object(library.object),
    ))
}

fn disabled() -> Draft {
    let title = "The check of the driver is switched off".to_owned();
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Medium);
    draft.reason = "NVIDIA_DISABLE_REQUIRE is set: the container starts on every driver, and fails later on those that are too old.".into();
    draft.proof.push(
        "the environment of the image has NVIDIA_DISABLE_REQUIRE, with a value that means yes".to_owned(),
    );
    draft.question = Some("Must the image start with a driver that the check refuses?".to_owned());
    draft.fix = "Take NVIDIA_DISABLE_REQUIRE out, and require what the libraries need.".into();
    draft.users.push(User::Setting("ENV NVIDIA_DISABLE_REQUIRE".to_owned()));
    draft.subjects = vec!["ENV NVIDIA_DISABLE_REQUIRE".to_owned()];
    draft
}

fn missing(needed: u32, evidence: &str, user: User) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Unsure, "The image requires no driver".to_owned());
    draft.severity = Some(Severity::Info);
    draft.reason = format!(
        "Libraries of CUDA {needed} are in use, and nothing refuses a node whose driver is too old for them."
    );
    draft
        .proof
        .push("neither NVIDIA_REQUIRE_CUDA nor CUDA_VERSION is in the environment of the image".to_owned());
    draft.proof.push(evidence.to_owned());
    draft.question = Some("Are all nodes known to have a driver that is new enough?".to_owned());
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
        "NVIDIA_REQUIRE_CUDA lets drivers for CUDA {major} pass, and libraries of CUDA {needed} are in use"
    );
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Medium);
    draft.reason = format!(
        "A driver for CUDA {} passes the check and is too old for the libraries of CUDA {needed}, unless forward compatibility helps.",
        version.join(".")
    );
    draft.proof.push(format!("NVIDIA_REQUIRE_CUDA is satisfied by cuda>={}", version.join(".")));
    draft.proof.push(evidence.to_owned());
    draft.question = Some(
        "Do all nodes have a later driver, or does the service do without the library of the later CUDA?"
            .to_owned(),
    );
    draft.fix = format!("Set NVIDIA_REQUIRE_CUDA=\"cuda>={needed}.0\", or build on a base of CUDA {needed}.");
    draft.users.push(user);
    draft.users.push(User::Setting("ENV NVIDIA_REQUIRE_CUDA".to_owned()));
    draft.subjects = vec!["ENV NVIDIA_REQUIRE_CUDA".to_owned()];
    Some(draft)
}
