//! Stubs where the loader looks: libraries to link against, without code.

use std::collections::BTreeMap;

use crate::base::text::{elide_middle, escape, printable};
use crate::cuda::links::{ObjectId, Resolution};
use crate::cuda::{SearchFolder, Use, is_stub_path, search_folders, shown_folder};
use crate::findings::census::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity, User, Verdict};
use crate::formats::binary::FileFacts;
use crate::rootfs::NodeKind;

pub(super) static RULE: Rule = Rule {
    id: "stubs-on-loader-path",
    title: "Stubs on the loader path",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Name the folder of the stubs to the linker only (`-L`, or LIBRARY_PATH in the build stage).",
    finds: "A folder of stubs in `LD_LIBRARY_PATH`, in the loader's configuration (`/etc/ld.so.conf`), or in the RPATH or RUNPATH of something that is used; a `libcuda.so.1` or `libnvidia-ml.so.1` outside that folder that is a stub or leads to one; something that is used whose library is a stub.",
    matters: "A stub has the names of the driver and no code. Where the loader meets it before the driver of the host, every call fails: error 34, `CUDA driver is a stub library`, or `CUDA driver version is insufficient`. The container toolkit runs ldconfig when a container starts, so a folder in the loader's configuration is enough.",
    example: r"```dockerfile
ENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LD_LIBRARY_PATH
RUN ln -s /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/x86_64-linux-gnu/libcuda.so.1
```",
    remedy: r"```dockerfile
RUN gcc service.c -L/usr/local/cuda/lib64/stubs -lcuda -o /usr/local/bin/service
```

`LIBRARY_PATH` with the stubs, as NVIDIA's devel images set it, is read by the linker only and does no harm. Take out links that were made for a build in the same `RUN` that made them.",
    source: "ld.so(8), gcc(1) on LIBRARY_PATH; CUDA driver API, CUDA_ERROR_STUB_LIBRARY; nvidia-container-toolkit issues 185 and 668.",
};

/// Folders of `LD_LIBRARY_PATH`, then those of the loader's configuration, by file.
pub(super) fn loader_folders(facts: &Facts<'_>) -> Vec<SearchFolder> {
    let value = facts.variable("LD_LIBRARY_PATH").unwrap_or_default();
    search_folders(value, &facts.paths, facts.input.layers)
}

/// Of those who need a stub: how many are told.
const MOST_USERS: usize = 1_000;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = folders(facts);
    drafts.extend(run_paths(facts));
    drafts.extend(names(facts));
    drafts.extend(resolved(facts));
    drafts
}

/// Folders of stubs where every process looks.
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
            format!("{by} names a folder of stubs, which this image does not have.")
        } else if of_conf {
            format!(
                "{by} names a folder of stubs: ldconfig, which the container toolkit runs at every start, puts the stub into the loader's cache as libcuda.so.1."
            )
        } else if named_one {
            format!(
                "{by} names a folder of stubs that holds libcuda.so.1: every program gets the stub and not the driver."
            )
        } else {
            draft.severity = Some(Severity::Medium);
            format!(
                "{by} names a folder of stubs: whatever opens libcuda.so or another library without its version gets a stub."
            )
        };
        for folder in &folders {
            draft.proof.push(format!("{by} names {}", shown_folder(&folder.path)));
            draft.users.push(match folder.file {
                Some(file) => User::File(file),
                None => User::Setting(by.clone()),
            });
        }
        draft.subjects = vec![by.clone()];
        draft.fix = format!("Take {} out of {by}.", shown_folder(&folders[0].path));
        drafts.push(draft);
    }
    drafts
}

/// RPATH and RUNPATH of what is used.
fn run_paths(facts: &Facts<'_>) -> Option<Draft> {
    let mut draft =
        Draft::new(&RULE, Verdict::Safe, "Stubs in the run path of libraries and programs".to_owned());
    for id in facts.inventory.links.ids() {
        let object = facts.inventory.links.object(id);
        if object.usage == Use::Unreferenced && object.root.is_none() {
            continue;
        }
        let Some(inode) = facts.node(object.node).content() else { continue };
        let Some(FileFacts::Elf(elf)) = facts.binary(inode) else { continue };
        // The loader does not look at DT_RPATH where there is DT_RUNPATH.
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
            draft.proof.push(format!("{kind} of {who} names {}", shown_folder(folder)));
            draft.subjects.push(who);
            draft.users.push(User::Object(id));
            draft.items.push(item(&facts.census, facts.rootfs, inode));
        }
    }
    draft.subjects.dedup();
    draft.severity = Some(Severity::Medium);
    draft.reason = "What is used looks for its libraries in a folder of stubs first.".into();
    draft.fix =
        "Link with -L and without -rpath for that folder, or take it out with patchelf --set-rpath.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

/// Names of the driver outside the folder of stubs that are stubs.
fn names(facts: &Facts<'_>) -> Option<Draft> {
    const DRIVER: [&[u8]; 2] = [b"libcuda.so.1", b"libnvidia-ml.so.1"];
    let mut draft = Draft::new(&RULE, Verdict::Safe, "A stub under the name of the driver".to_owned());
    let named = facts
        .nodes_named(|name| name.starts_with(b"lib") && DRIVER.iter().any(|one| stem(one) == stem(name)));
    let named = || named.iter().map(|id| facts.node(*id));
    let stubs: Vec<_> = named()
        .filter(|node| node.kind() == NodeKind::File && is_stub_path(&node.path()))
        .filter_map(|node| facts.hash(node.content()?))
        .collect();
    for node in named().filter(|node| DRIVER.contains(&node.name())) {
        let path = node.path();
        // In the folder of stubs itself it does harm when that folder is looked into, which is told above.
        if is_stub_path(&path) {
            continue;
        }
        let leads = facts.paths.real_path(&path).filter(|real| is_stub_path(real));
        let copied = node.kind() == NodeKind::File
            && node.content().and_then(|inode| facts.hash(inode)).is_some_and(|hash| stubs.contains(&hash));
        let what = match (&leads, copied) {
            (Some(real), _) => format!("leads to {}", escape(real)),
            (None, true) => "has the bytes of a stub".to_owned(),
            (None, false) => continue,
        };
        draft.proof.push(format!("{} {what}", escape(&path)));
        draft.subjects.push(escape(&path));
        draft.users.push(User::File(node.id()));
    }
    draft.reason = "A library of the driver is a stub here: what loads it by this name gets no driver, wherever the host's own is mounted later.".into();
    draft.fix = "Do not put it in: the container toolkit brings the driver of the host.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

/// `libcuda` of `libcuda.so.1`.
fn stem(name: &[u8]) -> &[u8] {
    let end = name.windows(3).position(|part| part == b".so").unwrap_or(name.len());
    &name[..end]
}

/// What is used and gets a stub by its NEEDED entries.
fn resolved(facts: &Facts<'_>) -> Option<Draft> {
    let links = &facts.inventory.links;
    let mut draft =
        Draft::new(&RULE, Verdict::Safe, "Stubs that programs and libraries are given".to_owned());
    for id in links.ids().filter(|id| is_used(facts, *id)) {
        for need in &links.object(id).needs {
            for found in &need.found {
                let Resolution::Found { object, .. } = found else { continue };
                let stub = facts.path(links.object(*object).node);
                if is_stub_path(&stub) && draft.users.len() < MOST_USERS {
                    let who = elide_middle(&facts.shown(links.object(id).node), 200);
                    let name = printable(&need.name);
                    draft.proof.push(format!("{who} needs {name} and finds {}", escape(&stub)));
                    draft.subjects.push(name);
                    draft.users.push(User::Object(id));
                }
            }
        }
    }
    draft.subjects.sort();
    draft.subjects.dedup();
    draft.reason = "By the loader's rules these get stubs: every call into them fails.".into();
    (!draft.subjects.is_empty()).then_some(draft)
}

fn is_used(facts: &Facts<'_>, id: ObjectId) -> bool {
    let object = facts.inventory.links.object(id);
    object.usage != Use::Unreferenced || object.root.is_some()
}
