//! The driver capabilities that the image requests.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::redact;
use crate::base::text::{elide_end, elide_middle, printable};
use crate::cuda::Use;
use crate::cuda::links::Resolution;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "driver-capabilities",
    title: "Driver capabilities",
    category: Category::Configuration,
    severity: Severity::Medium,
    fix: "Request only what is used: NVIDIA_DRIVER_CAPABILITIES=compute,utility for CUDA.",
    page: include_str!("../../../assets/manual/rules/driver-capabilities.md"),
};

/// The toolkit's default when the variable is unset.
const DEFAULT: [&str; 2] = ["compute", "utility"];

/// A driver library that something needs or opens.
struct CapabilityRequest {
    /// The request as a statement.
    statement: String,
    user: User,
    /// Whether it is optional for its opener.
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
        || "NVIDIA_DRIVER_CAPABILITIES is unset: the default is compute,utility".to_owned(),
        |shown| format!("the image sets {shown}"),
    );
    let mut drafts = Vec::new();
    drafts.extend(too_narrow(&asked, &given, &statement));
    drafts.extend(too_wide(&asked, &named, &statement));
    drafts
}

/// Maximum requests recorded per capability.
const MOST: usize = 64;

/// Requests for driver libraries, by capability.
fn asked(facts: &Facts<'_>) -> BTreeMap<String, Vec<CapabilityRequest>> {
    let links = &facts.inventory.links;
    let mut asked: BTreeMap<String, Vec<CapabilityRequest>> = BTreeMap::new();
    let mut add = |name: &str, who: String, user: User, optional: bool| {
        if let Some(capability) = capability(facts, name) {
            let verb = if optional { "may open" } else { "loads" };
            let list = asked.entry(capability.to_owned()).or_default();
            // There may be many requests, and few are shown: one firm request is enough.
            let firm = list.iter().filter(|one| !one.optional).count();
            if list.len() < MOST || (!optional && firm < MOST) {
                let statement = format!("{} {verb} {}", elide_middle(&who, 200), printable(name));
                list.push(CapabilityRequest { statement, user, optional });
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

/// The capability that mounts a library; none for libraries that only some mount modes provide.
fn capability<'a>(facts: &Facts<'a>, name: &str) -> Option<&'a str> {
    facts.catalog.driver_capability(name.as_bytes()).filter(|capability| *capability != "any")
}

fn too_narrow(
    asked: &BTreeMap<String, Vec<CapabilityRequest>>,
    given: &BTreeSet<&str>,
    statement: &str,
) -> Option<Draft> {
    let lacks = |capability: &&String| !given.contains("all") && !given.contains(capability.as_str());
    let firm = |who: &[CapabilityRequest]| who.iter().any(|one| !one.optional);
    let missing: Vec<(&String, &Vec<CapabilityRequest>)> =
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
        "Without {} the container toolkit does not mount driver libraries that the image loads.",
        names.join(" and "),
    );
    draft.proof.push(statement.to_owned());
    for (_, who) in &missing {
        for one in who.iter().filter(|one| !one.optional).take(4) {
            draft.proof.push(one.statement.clone());
            draft.users.push(one.user.clone());
        }
    }
    draft.question = Some("Do all hosts mount the whole driver, as with CDI?".to_owned());
    let mut wanted: BTreeSet<&str> = given.clone();
    wanted.extend(&names);
    let wanted: Vec<&str> = wanted.into_iter().collect();
    draft.fix = format!("Set NVIDIA_DRIVER_CAPABILITIES={}.", wanted.join(","));
    draft.subjects = vec!["ENV NVIDIA_DRIVER_CAPABILITIES".to_owned()];
    Some(draft)
}

fn too_wide(
    asked: &BTreeMap<String, Vec<CapabilityRequest>>,
    named: &BTreeSet<String>,
    statement: &str,
) -> Option<Draft> {
    const BEYOND: [&str; 5] = ["compat32", "display", "graphics", "ngx", "video"];
    let all = named.contains("all");
    let idle: Vec<&str> = BEYOND
        .into_iter()
        .filter(|name| all || named.contains(*name))
        // Display output uses the libraries of graphics.
        .filter(|name| !asked.contains_key(if *name == "display" { "graphics" } else { *name }))
        .collect();
    // An image that uses a part of what `all` adds has a reason to set it.
    let excused = all && idle.len() + 2 < BEYOND.len();
    if idle.is_empty() || excused {
        return None;
    }
    let title = if all {
        "NVIDIA_DRIVER_CAPABILITIES requests the whole driver".to_owned()
    } else {
        format!("NVIDIA_DRIVER_CAPABILITIES requests unused {}", idle.join(", "))
    };
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(Severity::Low);
    draft.reason = format!("Nothing in the image is known to use the libraries of {}.", idle.join(", "));
    draft.proof.push(statement.to_owned());
    draft.proof.push(format!(
        "no reachable program or library needs, opens or mentions a library of {}",
        idle.join(", ")
    ));
    draft.question = Some("Does the service decode video or render graphics?".to_owned());
    let mut wanted: BTreeSet<&str> = DEFAULT.into_iter().collect();
    wanted.extend(asked.keys().map(String::as_str));
    let wanted: Vec<&str> = wanted.into_iter().collect();
    draft.fix = format!("Set NVIDIA_DRIVER_CAPABILITIES={}.", wanted.join(","));
    draft.subjects = vec!["ENV NVIDIA_DRIVER_CAPABILITIES".to_owned()];
    Some(draft)
}
