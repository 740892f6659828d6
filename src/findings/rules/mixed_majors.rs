//! Two major versions of one library in one process.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::text::and_more;
use crate::cuda::catalog::split_library_name;
use crate::cuda::links::{Links, ObjectId, Resolution, RootKind};
use crate::cuda::{Role, Use};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "mixed-majors",
    title: "Mixed major versions of a library",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Use one CUDA major version for everything in one process.",
    page: include_str!("../../../assets/manual/rules/mixed-majors.md"),
};

const COMPONENTS: [&str; 4] = ["cudart", "cublas", "cudnn", "nccl"];

/// Maximum chains listed per pair.
const WAYS: usize = 3;

/// The libraries of one component by major version.
type Majors = BTreeMap<u32, Vec<ObjectId>>;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for component in COMPONENTS {
        let mut majors = Majors::new();
        for library in &facts.inventory.libraries {
            let used = facts.inventory.links.object(library.object).usage != Use::Unreferenced;
            if &*library.component != component || library.role != Role::Runtime || !used {
                continue;
            }
            let name =
                library.soname.as_deref().map_or_else(|| facts.node(library.node).name(), str::as_bytes);
            if let Some(major) = split_library_name(name).and_then(|name| name.version.first().copied()) {
                majors.entry(major).or_default().push(library.object);
            }
        }
        if majors.len() > 1 {
            drafts.push(draft(facts, component, &majors));
        }
    }
    drafts
}

fn draft(facts: &Facts<'_>, component: &str, majors: &Majors) -> Draft {
    let links = &facts.inventory.links;
    // By root: the chain to each major version.
    let mut reached: BTreeMap<ObjectId, BTreeMap<u32, Vec<ObjectId>>> = BTreeMap::new();
    for (major, libraries) in majors {
        for library in libraries {
            for (root, way) in roots_of(links, *library, majors) {
                reached.entry(root).or_default().entry(*major).or_insert(way);
            }
        }
    }
    let both: Vec<_> = reached.iter().filter(|(_, ways)| ways.len() > 1).collect();
    let list: Vec<String> = majors.keys().map(u32::to_string).collect();
    let list = list.join(" and ");
    let way = |way: &[ObjectId]| {
        let steps: Vec<String> = way.iter().map(|step| facts.shown(links.object(*step).node)).collect();
        steps.join(" ← ")
    };
    let mut draft;
    if both.is_empty() {
        draft = Draft::new(&RULE, Verdict::Unsure, format!("{component} {list} in different programs"));
        let modules = |major: &u32| {
            reached.iter().any(|(root, ways)| {
                let kind = links.object(*root).root.as_ref().map(|root| root.kind);
                kind == Some(RootKind::Extension) && ways.contains_key(major)
            })
        };
        let in_python = majors.keys().filter(|major| modules(major)).count() > 1;
        draft.severity = Some(if in_python { Severity::Low } else { Severity::Info });
        draft.reason = format!(
            "Both major versions of {component} are used, but no program loads both through required libraries."
        );
        draft.question = Some(if in_python {
            "Does each Python process import modules of one major version only?".to_owned()
        } else {
            "Do these programs need different versions of CUDA?".to_owned()
        });
        for major in majors.keys() {
            let ways = reached.values().filter_map(|ways| ways.get(major));
            draft.proof.extend(ways.take(WAYS).map(|steps| format!("{component} {major}: {}", way(steps))));
        }
    } else {
        draft = Draft::new(&RULE, Verdict::Unsure, format!("{component} {list} in one process"));
        let first = both.first().map(|(root, _)| facts.shown(links.object(**root).node)).unwrap_or_default();
        let more = and_more(both.len(), 1);
        draft.reason = format!("{first}{more} loads both major versions of {component} into one process.");
        draft.question = Some(format!("Does {first} need both, and work with both loaded?"));
        for (root, ways) in both.iter().take(WAYS) {
            for (major, steps) in *ways {
                draft.proof.push(format!("{component} {major}: {}", way(steps)));
            }
            draft.users.push(User::Object(**root));
        }
    }
    for library in majors.values().flatten() {
        let node = links.object(*library).node;
        draft.subjects.push(facts.shown(node));
        let inode = facts.node(node).content();
        draft.items.extend(inode.map(|inode| item(&facts.classification, facts.rootfs, inode)));
    }
    draft.subjects.sort();
    draft
}

/// Roots that always load a library, each with its chain: the library first. Chains follow NEEDED and required dlopens;
/// an opener of several major versions loads the first that exists.
fn roots_of(links: &Links, library: ObjectId, majors: &Majors) -> Vec<(ObjectId, Vec<ObjectId>)> {
    let mut from: BTreeMap<ObjectId, ObjectId> = BTreeMap::new();
    let mut known = BTreeSet::from([library]);
    let mut open = vec![library];
    let mut roots = Vec::new();
    let mut next = 0;
    while let Some(at) = open.get(next).copied() {
        next += 1;
        let object = links.object(at);
        if object.root.is_some() {
            roots.push(at);
        }
        let openers = object.opened_by.iter().filter(|opener| {
            let opens = &links.object(**opener).opens;
            let leads = opens.iter().any(|open| !open.optional && leads_to(&open.found, at));
            leads && !chooses(links, **opener, at, majors)
        });
        for user in object.needed_by.iter().chain(openers) {
            if known.insert(*user) {
                from.insert(*user, at);
                open.push(*user);
            }
        }
    }
    let way = |root: ObjectId| {
        let mut way = vec![root];
        while let Some(step) = way.last().and_then(|last| from.get(last)) {
            way.push(*step);
        }
        way.reverse();
        (root, way)
    };
    roots.into_iter().map(way).collect()
}

fn leads_to(found: &Resolution, wanted: ObjectId) -> bool {
    matches!(found, Resolution::Found { object, .. } if *object == wanted)
}

/// Whether an opener opens several major versions of what it opens here.
fn chooses(links: &Links, opener: ObjectId, wanted: ObjectId, majors: &Majors) -> bool {
    let of_component = majors.values().flatten().any(|library| *library == wanted);
    let opens =
        |library: &ObjectId| links.object(opener).opens.iter().any(|open| leads_to(&open.found, *library));
    of_component && majors.values().filter(|libraries| libraries.iter().any(opens)).count() > 1
}
