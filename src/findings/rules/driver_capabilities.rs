//! Which parts of the driver the image asks the host for.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::redact;
use crate::base::text::{elide_end, elide_middle, printable};
use crate::cuda::Use;
use crate::cuda::links::Resolution;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "driver-capabilities",
    title: "Driver capabilities",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Ask for what is used: NVIDIA_DRIVER_CAPABILITIES=compute,utility for CUDA.",
    finds: "`NVIDIA_DRIVER_CAPABILITIES` that lacks what the libraries of the image load (compute for libcuda, utility for NVML, video for NVDEC and NVENC, graphics for OpenGL and OptiX), or that asks for parts of the driver that nothing in the image is known to load.",
    matters: "The container toolkit mounts libraries of the driver by this list. What is missing fails when it is loaded: without `compute` there is no libcuda.so.1, and every CUDA call says that the driver is insufficient. What is too much puts the graphics driver into the reach of the service.",
    example: r"```dockerfile
ENV NVIDIA_DRIVER_CAPABILITIES=utility
```",
    remedy: r"```dockerfile
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
```

This is what NVIDIA's base images set, and what the toolkit takes when the variable is not there. Add `video` for hardware decoding and encoding, `graphics` for rendering. Hosts that use CDI mount all parts whatever it says.",
    source: "libnvidia-container, src/nvc_info.c; nvidia-container-toolkit documentation, driver capabilities; nvidia/cuda Dockerfiles.",
};

/// What the toolkit gives when the variable is not there.
const DEFAULT: [&str; 2] = ["compute", "utility"];

/// A library of the driver that something asks for.
struct Asked {
    /// Who asks for what, in words.
    statement: String,
    user: User,
    /// Whether its opener does without.
    optional: bool,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let value = facts.variable("NVIDIA_DRIVER_CAPABILITIES");
    let asked = asked(facts);
    let named: BTreeSet<String> = match value {
        Some(value) => value
            .split(',')
            .map(|part| part.trim().to_ascii_lowercase())
            .filter(|part| !part.is_empty())
            .collect(),
        None => BTreeSet::new(),
    };
    let given: BTreeSet<&str> = if named.is_empty() {
        DEFAULT.into_iter().collect()
    } else {
        named.iter().map(String::as_str).collect()
    };
    let shown = value.map(|value| {
        let pair = redact::assignment(&format!("NVIDIA_DRIVER_CAPABILITIES={value}"));
        elide_end(&printable(&pair), 100)
    });
    let statement = shown.map_or_else(
        || "NVIDIA_DRIVER_CAPABILITIES is not set: compute and utility are given".to_owned(),
        |shown| format!("the environment of the image has {shown}"),
    );
    let mut drafts = Vec::new();
    drafts.extend(too_narrow(&asked, &given, &statement));
    drafts.extend(too_wide(&asked, &named, &statement));
    drafts
}

/// Of those who ask for one capability: how many are kept.
const MOST: usize = 64;

/// By capability: who asks for libraries of it.
fn asked(facts: &Facts<'_>) -> BTreeMap<String, Vec<Asked>> {
    let links = &facts.inventory.links;
    let mut asked: BTreeMap<String, Vec<Asked>> = BTreeMap::new();
    let mut add = |name: &str, who: String, user: User, optional: bool| {
        if let Some(capability) = capability(facts, name) {
            let verb = if optional { "may open" } else { "loads" };
            let list = asked.entry(capability.to_owned()).or_default();
            // Many may ask, of which few are told: one firm one is enough to know.
            let firm = list.iter().filter(|one| !one.optional).count();
            if list.len() < MOST || (!optional && firm < MOST) {
                let statement = format!("{} {verb} {}", elide_middle(&who, 200), printable(name));
                list.push(Asked { statement, user, optional });
            }
        }
    };
    for id in links.ids() {
        let object = links.object(id);
        if object.usage == Use::Unreferenced && object.root.is_none() {
            continue;
        }
        let who = || facts.shown(object.node);
        for need in object.needs.iter().filter(|need| need.found.contains(&Resolution::Host)) {
            add(&need.name, who(), User::Object(id), false);
        }
        for open in object.opens.iter().filter(|open| open.found == Resolution::Host) {
            add(&open.name, who(), User::Object(id), open.optional);
        }
    }
    for mention in &facts.inventory.mentions {
        for name in &mention.libraries {
            add(name, facts.shown(mention.node), User::File(mention.node), true);
        }
    }
    asked
}

/// The capability that brings a library; none for what only some ways of mounting bring.
fn capability<'a>(facts: &Facts<'a>, name: &str) -> Option<&'a str> {
    facts.catalog.driver_capability(name.as_bytes()).filter(|capability| *capability != "any")
}

fn too_narrow(
    asked: &BTreeMap<String, Vec<Asked>>,
    given: &BTreeSet<&str>,
    statement: &str,
) -> Option<Draft> {
    let lacks = |capability: &&String| !given.contains("all") && !given.contains(capability.as_str());
    let firm = |who: &[Asked]| who.iter().any(|one| !one.optional);
    let missing: Vec<(&String, &Vec<Asked>)> =
        asked.iter().filter(|(capability, who)| lacks(capability) && firm(who)).collect();
    if missing.is_empty() {
        return None;
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
    let title = format!("NVIDIA_DRIVER_CAPABILITIES lacks {}", names.join(", "));
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    let of_cuda = names.contains(&"compute");
    draft.severity = Some(if of_cuda { Severity::High } else { Severity::Medium });
    draft.reason = format!(
        "Without {} the container toolkit does not mount libraries of the driver that are loaded here.",
        names.join(" and "),
    );
    draft.proof.push(statement.to_owned());
    for (_, who) in &missing {
        for one in who.iter().filter(|one| !one.optional).take(4) {
            draft.proof.push(one.statement.clone());
            draft.users.push(one.user.clone());
        }
    }
    draft.question = Some("Do all hosts mount the whole driver, as those with CDI do?".to_owned());
    let mut wanted: BTreeSet<&str> = given.clone();
    wanted.extend(&names);
    let wanted: Vec<&str> = wanted.into_iter().collect();
    draft.fix = format!("Set NVIDIA_DRIVER_CAPABILITIES={}.", wanted.join(","));
    draft.subjects = vec!["ENV NVIDIA_DRIVER_CAPABILITIES".to_owned()];
    Some(draft)
}

fn too_wide(
    asked: &BTreeMap<String, Vec<Asked>>,
    named: &BTreeSet<String>,
    statement: &str,
) -> Option<Draft> {
    const BEYOND: [&str; 5] = ["compat32", "display", "graphics", "ngx", "video"];
    let all = named.contains("all");
    let idle: Vec<&str> = BEYOND
        .into_iter()
        .filter(|name| all || named.contains(*name))
        // What draws on a display loads the libraries of graphics.
        .filter(|name| !asked.contains_key(if *name == "display" { "graphics" } else { *name }))
        .collect();
    // Whoever uses a part of what `all` adds has a reason to write it.
    let excused = all && idle.len() + 2 < BEYOND.len();
    if idle.is_empty() || excused {
        return None;
    }
    let title = if all {
        "NVIDIA_DRIVER_CAPABILITIES asks for the whole driver".to_owned()
    } else {
        format!("NVIDIA_DRIVER_CAPABILITIES asks for {} too", idle.join(", "))
    };
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Low);
    draft.reason = format!("Nothing in this image is known to load what {} bring.", idle.join(", "));
    draft.proof.push(statement.to_owned());
    draft
        .proof
        .push(format!("no program or library in use needs, opens or names a library of {}", idle.join(", ")));
    draft.question = Some("Does the service decode video, or draw?".to_owned());
    let mut wanted: BTreeSet<&str> = DEFAULT.into_iter().collect();
    wanted.extend(asked.keys().map(String::as_str));
    let wanted: Vec<&str> = wanted.into_iter().collect();
    draft.fix = format!("Set NVIDIA_DRIVER_CAPABILITIES={}.", wanted.join(","));
    draft.subjects = vec!["ENV NVIDIA_DRIVER_CAPABILITIES".to_owned()];
    Some(draft)
}
