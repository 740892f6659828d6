//! Files left by a build.

mod judge;
mod sources;

use std::collections::BTreeMap;

use super::common;
use crate::cuda::links::ObjectId;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};
use judge::{ArtifactReason, judge};
use sources::git;

pub(super) static RULE: Rule = Rule {
    id: "build-artifacts",
    title: "Build artifacts",
    category: Category::BuildArtifacts,
    severity: Severity::Medium,
    fix: "Build in a separate stage and copy only the results.",
    page: include_str!("../../../assets/manual/rules/build-artifacts.md"),
};

/// Kinds of artifacts: the id of the catalogue rule, and the title.
const KINDS: [(&str, &str); 11] = [
    ("artifact-git", "Git repositories"),
    ("artifact-cmake", "CMake build files"),
    ("artifact-cargo", "Cargo build files"),
    ("artifact-temp", "setuptools temporary files"),
    ("artifact-ninja", "Ninja build files"),
    ("artifact-autotools", "autotools logs and caches"),
    ("artifact-objects", "Object files"),
    ("artifact-wheel", "Wheels"),
    ("artifact-sdist", "Source archives"),
    ("artifact-node", "Node tool caches"),
    ("artifact-core", "Core dumps"),
];

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(usize, ArtifactReason), Group> = BTreeMap::new();
    let of_git = git(facts);
    for file in facts.classification.files.iter().filter(|file| file.category == Category::BuildArtifacts) {
        let Some((id, because, loaded)) = judge(facts, file, &of_git) else { continue };
        let Some(kind) = KINDS.iter().position(|(known, _)| *known == id) else { continue };
        let group = groups.entry((kind, because)).or_default();
        group.items.push(file.item);
        group.loaded.extend(loaded);
    }
    let drafts = groups.into_iter().filter_map(|((kind, because), group)| {
        let (id, title) = KINDS.get(kind)?;
        Some(draft(facts, id, title, because, group))
    });
    drafts.collect()
}

fn draft(facts: &Facts<'_>, id: &str, title: &str, because: ArtifactReason, group: Group) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Safe, title.to_owned());
    draft.items = group.items;
    if id == "artifact-git" {
        "Exclude .git with a .dockerignore, or clone and delete it in one RUN.".clone_into(&mut draft.fix);
    }
    match because {
        ArtifactReason::Hidden => common::describe_shadowed(&mut draft),
        ArtifactReason::Loaded => {
            draft.verdict = Verdict::Needed;
            draft.title.push_str(", in use");
            "Reachable programs load these files from the build folder.".clone_into(&mut draft.reason);
            common::add_chains(facts, &group.loaded, &mut draft);
            "Install them outside the build folder, and do not ship the build folder."
                .clone_into(&mut draft.fix);
        }
        ArtifactReason::Asked { title, reason, question, users } => {
            draft.verdict = Verdict::Unsure;
            draft.title.push_str(title);
            draft.proof.push(reason.clone());
            draft.reason = reason;
            draft.question = Some(question);
            draft.users = users;
        }
        ArtifactReason::Free(statements) => {
            "Left by a build. Nothing reads these files at run time.".clone_into(&mut draft.reason);
            draft.proof = statements;
        }
    }
    draft
}
