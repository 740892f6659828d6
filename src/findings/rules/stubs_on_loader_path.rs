//! Stub libraries on the loader path.

use std::collections::BTreeMap;

use crate::base::text::{elide_middle, escape, printable};
use crate::cuda::links::{ObjectId, Resolution};
use crate::cuda::{SearchFolder, Use, is_stub_path, search_folders, shown_folder};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};
use crate::formats::binary::FileFacts;
use crate::rootfs::NodeKind;

pub(super) static RULE: Rule = Rule {
    id: "stubs-on-loader-path",
    title: "Stubs on the loader path",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Pass the stubs folder to the linker only (`-L`, or LIBRARY_PATH in the build stage).",
    page: include_str!("../../../assets/manual/rules/stubs-on-loader-path.md"),
};

/// Folders of `LD_LIBRARY_PATH`, then those of the loader configuration, by file.
pub(super) fn loader_folders(facts: &Facts<'_>) -> Vec<SearchFolder> {
    let value = facts.variable("LD_LIBRARY_PATH").unwrap_or_default();
    search_folders(value, &facts.paths, facts.input.layers)
}

/// Maximum users of stubs listed.
const MOST_USERS: usize = 1_000;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = folders(facts);
    drafts.extend(run_paths(facts));
    drafts.extend(names(facts));
    drafts.extend(resolved(facts));
    drafts
}

/// Stubs folders on the search path of every process.
fn folders(facts: &Facts<'_>) -> Vec<Draft> {
    let mut by_place: BTreeMap<String, Vec<SearchFolder>> = BTreeMap::new();
    for folder in loader_folders(facts) {
        let real = facts.paths.real_path(&folder.path);
        if is_stub_path(&folder.path) || real.as_deref().is_some_and(is_stub_path) {
            by_place.entry(folder.by.clone()).or_default().push(folder);
        }
    }
    let mut drafts = Vec::new();
    for (by, folders) in by_place {
        let mut draft = Draft::new(&RULE, Verdict::Safe, format!("Stubs in {by}"));
        let there = folders.iter().any(|folder| !facts.paths.children_of(&folder.path).is_empty());
        let of_conf = folders.iter().any(|folder| folder.file.is_some());
        let named_one = folders.iter().any(|folder| {
            let names = facts.paths.children_of(&folder.path);
            names.iter().any(|node| facts.node(*node).name() == b"libcuda.so.1")
        });
        draft.reason = if !there {
            draft.verdict = Verdict::Unsure;
            draft.severity = Some(Severity::Low);
            draft.question = Some("Is a toolkit mounted there when the container starts?".to_owned());
            format!("{by} contains a stubs folder that does not exist in this image.")
        } else if of_conf {
            format!(
                "{by} contains a stubs folder: ldconfig, which the container toolkit runs at every start, caches the stub as libcuda.so.1."
            )
        } else if named_one {
            format!(
                "{by} contains a stubs folder with libcuda.so.1: every program loads the stub instead of the driver."
            )
        } else {
            draft.severity = Some(Severity::Medium);
            format!(
                "{by} contains a stubs folder: programs that open libcuda.so or another library without its version load a stub."
            )
        };
        for folder in &folders {
            draft.proof.push(format!("{by} contains {}", shown_folder(&folder.path)));
            draft.users.push(match folder.file {
                Some(file) => User::File(file),
                None => User::Setting(by.clone()),
            });
        }
        draft.subjects = vec![by.clone()];
        draft.fix = format!("Remove {} from {by}.", shown_folder(&folders[0].path));
        drafts.push(draft);
    }
    drafts
}

/// RPATH and RUNPATH of reachable files.
fn run_paths(facts: &Facts<'_>) -> Option<Draft> {
    let mut draft = Draft::new(&RULE, Verdict::Safe, "Stubs in RPATH or RUNPATH".to_owned());
    for id in facts.inventory.links.ids() {
        let object = facts.inventory.links.object(id);
        if object.usage == Use::Unreferenced && object.root.is_none() {
            continue;
        }
        let Some(inode) = facts.node(object.node).content() else { continue };
        let Some(FileFacts::Elf(elf)) = facts.binary(inode) else { continue };
        // The loader ignores DT_RPATH if DT_RUNPATH exists.
        let (kind, path) = match (&elf.runpath, &elf.rpath) {
            (Some(path), _) => ("RUNPATH", path),
            (None, Some(path)) => ("RPATH", path),
            (None, None) => continue,
        };
        let mut stubs = path.split(|byte| *byte == b':').filter(|folder| is_stub_path(folder));
        if let Some(folder) = stubs.next() {
            if draft.users.len() >= MOST_USERS {
                break;
            }
            let who = elide_middle(&facts.shown(object.node), 200);
            draft.proof.push(format!("{kind} of {who} contains {}", shown_folder(folder)));
            draft.subjects.push(who);
            draft.users.push(User::Object(id));
            draft.items.push(item(&facts.classification, facts.rootfs, inode));
        }
    }
    draft.subjects.dedup();
    draft.severity = Some(Severity::Medium);
    draft.reason = "Reachable files search a stubs folder for their libraries first.".into();
    draft.fix =
        "Link with -L and without -rpath for that folder, or remove it with patchelf --set-rpath.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

/// Driver library names outside stubs folders that are stubs.
fn names(facts: &Facts<'_>) -> Option<Draft> {
    const DRIVER: [&[u8]; 2] = [b"libcuda.so.1", b"libnvidia-ml.so.1"];
    let mut draft = Draft::new(&RULE, Verdict::Safe, "Stub installed as driver library".to_owned());
    let named = facts
        .nodes_named(|name| name.starts_with(b"lib") && DRIVER.iter().any(|one| stem(one) == stem(name)));
    let named = || named.iter().map(|id| facts.node(*id));
    let stubs: Vec<_> = named()
        .filter(|node| node.kind() == NodeKind::File && is_stub_path(&node.path()))
        .filter_map(|node| facts.hash(node.content()?))
        .collect();
    for node in named().filter(|node| DRIVER.contains(&node.name())) {
        let path = node.path();
        // A stub in its own folder is harmful only if that folder is searched, which is reported above.
        if is_stub_path(&path) {
            continue;
        }
        let leads = facts.paths.real_path(&path).filter(|real| is_stub_path(real));
        let copied = node.kind() == NodeKind::File
            && node.content().and_then(|inode| facts.hash(inode)).is_some_and(|hash| stubs.contains(&hash));
        let what = match (&leads, copied) {
            (Some(real), _) => format!("links to {}", escape(real)),
            (None, true) => "is identical to a stub".to_owned(),
            (None, false) => continue,
        };
        draft.proof.push(format!("{} {what}", escape(&path)));
        draft.subjects.push(escape(&path));
        draft.users.push(User::File(node.id()));
    }
    draft.reason = "A driver library is a stub here: programs that load it by this name get no driver, even if the host driver is mounted elsewhere.".into();
    draft.fix = "Do not add it: the container toolkit mounts the host driver.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

/// `libcuda` of `libcuda.so.1`.
fn stem(name: &[u8]) -> &[u8] {
    let end = name.windows(3).position(|part| part == b".so").unwrap_or(name.len());
    &name[..end]
}

/// Reachable files whose NEEDED entries resolve to a stub.
fn resolved(facts: &Facts<'_>) -> Option<Draft> {
    let links = &facts.inventory.links;
    let mut draft =
        Draft::new(&RULE, Verdict::Safe, "Programs and libraries that resolve to stubs".to_owned());
    for id in links.ids().filter(|id| is_used(facts, *id)) {
        for need in &links.object(id).needs {
            for found in &need.found {
                let Resolution::Found { object, .. } = found else { continue };
                let stub = facts.path(links.object(*object).node);
                if is_stub_path(&stub) && draft.users.len() < MOST_USERS {
                    let who = elide_middle(&facts.shown(links.object(id).node), 200);
                    let name = printable(&need.name);
                    draft.proof.push(format!("{who} needs {name}, which resolves to {}", escape(&stub)));
                    draft.subjects.push(name);
                    draft.users.push(User::Object(id));
                }
            }
        }
    }
    draft.subjects.sort();
    draft.subjects.dedup();
    draft.reason = "These files resolve to stubs: every call into them fails.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

fn is_used(facts: &Facts<'_>, id: ObjectId) -> bool {
    let object = facts.inventory.links.object(id);
    object.usage != Use::Unreferenced || object.root.is_some()
}
