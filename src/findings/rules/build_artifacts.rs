//! What a build left behind.

mod judge;

use std::collections::BTreeMap;

use super::common;
use crate::cuda::links::ObjectId;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Item, Severity, Verdict};
use judge::{Because, git, judge};

pub(super) static RULE: Rule = Rule {
    id: "build-artifacts",
    title: "Build artifacts",
    category: Category::BuildArtifacts,
    severity: Severity::Medium,
    fix: "Build in a stage of its own, and copy out of it only what runs.",
    finds: "What a build left behind: object files (told by their ELF header, not by their name), build trees of CMake, cargo and setuptools, logs of ninja and autotools, `.git` folders, wheels and source archives, caches of known tools in `node_modules/.cache`, and core dumps.",
    matters: "Nobody reads them when the service runs, and they are often larger than what was built. A `.git` folder also holds every file that was ever deleted from the repository.",
    example: r"```dockerfile
COPY . /app
RUN pip wheel -w /wheels /app && pip install /wheels/*.whl
RUN cmake -S /app/kernels -B /app/build && cmake --build /app/build
```",
    remedy: r"Name what is copied, keep `.git` and `build` out with a `.dockerignore`, and build in a stage:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY kernels /src
RUN cmake -S /src -B /build && cmake --install /build --prefix /out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /usr/local/
```

A build folder may hold the very program that the image runs. What something loads, or the entrypoint starts, is told as `needed`, and other programs and resources in such folders as a question. Object files of the C library and of gcc (`crt1.o`) belong to the compiler, and what torch and FlashInfer compile at run time is left alone.",
    source: "Manuals of CMake, ninja, cargo, setuptools, git and libtool, as the catalogue names them in `leftovers.toml`.",
};

/// What is told of together, by the id of its rule in the catalogue, and what it is called.
const KINDS: [(&str, &str); 11] = [
    ("artifact-git", "Git repositories"),
    ("artifact-cmake", "CMake build files"),
    ("artifact-cargo", "Cargo build files"),
    ("artifact-temp", "Temporary files of setuptools"),
    ("artifact-ninja", "Ninja build files"),
    ("artifact-autotools", "Logs and caches of autotools"),
    ("artifact-objects", "Object files"),
    ("artifact-wheel", "Wheels"),
    ("artifact-sdist", "Source archives"),
    ("artifact-node", "Caches of Node tools"),
    ("artifact-core", "Core dumps"),
];

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(usize, Because), Group> = BTreeMap::new();
    let of_git = git(facts);
    for file in facts.census.files.iter().filter(|file| file.category == Category::BuildArtifacts) {
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

fn draft(facts: &Facts<'_>, id: &str, title: &str, because: Because, group: Group) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Safe, title.to_owned());
    draft.items = group.items;
    if id == "artifact-git" {
        "Keep .git out of the build context with a .dockerignore, or clone and delete it in one instruction."
            .clone_into(&mut draft.fix);
    }
    match because {
        Because::Hidden => common::tell_hidden(&mut draft),
        Because::Loaded => {
            draft.verdict = Verdict::Needed;
            draft.title.push_str(", in use");
            "Something that runs loads these programs or libraries from the build folder."
                .clone_into(&mut draft.reason);
            common::tell_chains(facts, &group.loaded, &mut draft);
            "Install them to where they belong, and leave the build folder behind."
                .clone_into(&mut draft.fix);
        }
        Because::Asked { title, reason, question, users } => {
            draft.verdict = Verdict::Unsure;
            draft.title.push_str(title);
            draft.proof.push(reason.clone());
            draft.reason = reason;
            draft.question = Some(question);
            draft.users = users;
        }
        Because::Free(statements) => {
            "A build leaves these files behind, and nothing reads them when the service runs."
                .clone_into(&mut draft.reason);
            draft.proof = statements;
        }
    }
    draft
}
