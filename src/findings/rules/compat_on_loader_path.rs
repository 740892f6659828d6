//! The forward-compatibility driver on the loader path.

use std::collections::BTreeMap;

use super::stubs_on_loader_path::loader_folders;
use crate::cuda::{SearchFolder, is_compat_path, shown_folder};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "compat-on-loader-path",
    title: "Forward-compatibility driver on the loader path",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Remove the folder from the path: the container toolkit adds it when the host driver needs it.",
    page: include_str!("../../../assets/manual/rules/compat-on-loader-path.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut by_place: BTreeMap<String, Vec<SearchFolder>> = BTreeMap::new();
    for folder in loader_folders(facts) {
        let real = facts.paths.real_path(&folder.path);
        if is_compat_path(&folder.path) || real.as_deref().is_some_and(is_compat_path) {
            by_place.entry(folder.by.clone()).or_default().push(folder);
        }
    }
    by_place.into_iter().map(|(by, folders)| draft(facts, &by, &folders)).collect()
}

fn draft(facts: &Facts<'_>, by: &str, folders: &[SearchFolder]) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("Forward-compatibility driver in {by}"));
    let names: Vec<String> = folders.iter().map(|folder| shown_folder(&folder.path)).collect();
    let holds_driver = folders.iter().any(|folder| {
        let files = facts.paths.children_of(&folder.path);
        files.iter().any(|node| facts.node(*node).name().starts_with(b"libcuda.so"))
    });
    let decides = facts.variable("_CUDA_COMPAT_PATH").is_some()
        && facts.command().iter().any(|word| word.ends_with("/nvidia_entrypoint.sh"));
    if decides && folders.iter().all(|folder| folder.file.is_none()) {
        draft.verdict = Verdict::Needed;
        draft.reason = "The entrypoint of NVIDIA's framework images enables the forward-compatibility driver only when the host driver is older.".into();
        draft.proof.push("the entrypoint is nvidia_entrypoint.sh, and _CUDA_COMPAT_PATH is set".to_owned());
    } else if holds_driver {
        draft.reason = format!(
            "{by} contains the forward-compatibility driver folder, so it is loaded on every host: error 803 with a driver as new or newer, 804 on GeForce."
        );
        draft.question = Some("Does this image run only on data center GPUs with an older driver and a container toolkit before 1.17?".to_owned());
    } else {
        draft.severity = Some(Severity::Low);
        draft.reason = format!(
            "{by} contains the forward-compatibility driver folder, but the image has no libcuda there."
        );
        draft.question = Some("Is a forward-compatibility driver mounted there?".to_owned());
    }
    for library in &facts.inventory.libraries {
        let Some(note) = &library.forward_compat else { continue };
        let drivers: Vec<String> = note.driver.iter().map(u32::to_string).collect();
        if let Some(version) = &note.cuda_version {
            let version = crate::base::text::printable(version);
            let path = facts.shown(library.node);
            draft
                .proof
                .push(format!("{path} enables CUDA {version} on driver branches {}", drivers.join(", ")));
        }
    }
    for folder in folders {
        draft.proof.push(format!("{by} contains {}", shown_folder(&folder.path)));
        draft.users.push(match folder.file {
            Some(file) => User::File(file),
            None => User::Setting(by.to_owned()),
        });
    }
    draft.subjects = vec![by.to_owned()];
    draft.fix = format!(
        "Remove {} from {by}: the container toolkit adds it when the host driver needs it.",
        names.join(" and ")
    );
    draft
}
