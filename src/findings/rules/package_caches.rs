//! Package manager caches and model hub folders.

mod links;

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::common;
use crate::base::convert::index32;
use crate::base::size::{grouped, human};
use crate::base::text::printable;
use crate::cuda::Inode;
use crate::cuda::links::ObjectId;
use crate::findings::classification::{By, ClassifiedFile};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, User, Verdict};
use crate::rootfs::NodeId;
use links::Links;

pub(super) static RULE: Rule = Rule {
    id: "package-caches",
    title: "Package caches",
    category: Category::PackageCaches,
    severity: Severity::Medium,
    fix: "Delete them in the RUN that installs, or use a cache mount.",
    page: include_str!("../../../assets/manual/rules/package-caches.md"),
};

/// A cache, by the id of its catalogue rule.
struct Kind {
    id: &'static str,
    title: &'static str,
    /// The part of its path that settings mention.
    marker: &'static str,
    /// Programs that read it if the image starts them.
    programs: &'static [&'static str],
    fix: &'static str,
}

macro_rules! kinds {
    ($($id:literal, $title:literal, $marker:literal, [$($program:literal),*], $fix:literal;)*) => {
        [$(Kind { id: $id, title: $title, marker: $marker, programs: &[$($program),*], fix: $fix }),*]
    };
}

static KINDS: [Kind; 23] = kinds![
    "cache-apt", "apt lists and archives", "/var/lib/apt/lists", ["apt", "apt-cache", "apt-get", "aptitude"],
        "End the installing RUN with `apt-get clean && rm -rf /var/lib/apt/lists/*`.";
    "cache-yum", "dnf and yum caches", "/var/cache/dnf", [], "End the installing RUN with `dnf clean all`.";
    "cache-apk", "apk cache", "/var/cache/apk", [], "Install with `apk add --no-cache`.";
    "cache-zypper", "zypper cache", "/var/cache/zypp", [], "End the installing RUN with `zypper clean --all`.";
    "cache-pacman", "pacman cache", "/var/cache/pacman", [], "End the installing RUN with `pacman -Scc --noconfirm`.";
    "cache-pip", "pip download cache", ".cache/pip", [], "Install with `pip install --no-cache-dir`, or with `RUN --mount=type=cache,target=/root/.cache/pip`.";
    "cache-uv", "uv cache", ".cache/uv", ["uv", "uvx"], "Install with `uv sync --no-cache`, or with `RUN --mount=type=cache,target=/root/.cache/uv` and UV_LINK_MODE=copy.";
    "cache-poetry", "poetry cache", ".cache/pypoetry", ["poetry"], "Install with `poetry install --no-cache`, or with a cache mount.";
    "cache-pipenv", "pipenv cache", ".cache/pipenv", ["pipenv"], "End the installing RUN with `pipenv --clear`.";
    "cache-virtualenv", "virtualenv app data", "/virtualenv", ["virtualenv"],
        "End the RUN that creates the environment with `rm -rf ~/.cache/virtualenv ~/.local/share/virtualenv`.";
    "cache-conda", "conda package cache", "/pkgs", [], "End the installing RUN with `conda clean --all --yes`.";
    "cache-npm", "npm cache", "/.npm", ["npx"], "End the installing RUN with `npm cache clean --force`, or use a cache mount.";
    "cache-yarn", "yarn cache", ".cache/yarn", [], "End the installing RUN with `yarn cache clean`, or use a cache mount.";
    "cache-pnpm", "pnpm store", "pnpm", ["pnpm"], "Use a cache mount for the store: `RUN --mount=type=cache,target=/root/.local/share/pnpm/store`.";
    "cache-cargo", "cargo registry", "cargo/registry", ["cargo"], "Build in a separate stage and copy the program.";
    "cache-go", "Go module and build cache", "go/pkg/mod", ["go"], "Build in a separate stage and copy the program.";
    "cache-bazel", "Bazel output", ".cache/bazel", ["bazel", "bazelisk"], "Build in a separate stage and copy the program.";
    "cache-ccache", "Compiler cache (ccache)", "ccache", [], "Keep it in a cache mount: `RUN --mount=type=cache,target=/root/.cache/ccache`.";
    "cache-maven", "Maven repository", ".m2", ["mvn", "mvnw", "java"], "Build in a separate stage and copy the archive.";
    "cache-gradle", "Gradle caches", ".gradle", ["gradle", "gradlew", "java"], "Build in a separate stage and copy the archive.";
    "hub-huggingface", "Hugging Face models and datasets", ".cache/huggingface", [],
        "Keep what the service loads and delete the rest in the RUN that downloads, or mount the models at run time.";
    "hub-torch", "PyTorch Hub models", ".cache/torch", [],
        "Keep what the service loads and delete the rest in the RUN that downloads, or mount the models at run time.";
    "hub-modelscope", "ModelScope models", ".cache/modelscope", [],
        "Keep what the service loads and delete the rest in the RUN that downloads, or mount the models at run time.";
];

/// Variables that set a cache location: they do not make anything read the cache.
const OF_MANAGERS: [&str; 9] = [
    "CARGO_HOME",
    "GOPATH",
    "GOMODCACHE",
    "PATH",
    "npm_config_cache",
    "PNPM_HOME",
    "GRADLE_USER_HOME",
    "CCACHE_DIR",
    "MAVEN_CONFIG",
];

/// Variables that disable Hugging Face downloads.
const OFFLINE: [&str; 3] = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CacheReason {
    Hidden,
    Loaded,
    Linked,
    Free,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let files: Vec<&ClassifiedFile<'_>> =
        facts.classification.files.iter().filter(|file| file.category == Category::PackageCaches).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let inside: HashSet<Inode> = files.iter().map(|file| (file.item.layer, file.item.entry)).collect();
    let of_cache = |id: ObjectId| {
        let inode = facts.node(facts.inventory.links.object(id).node).content();
        inode.is_some_and(|inode| inside.contains(&inode))
    };
    let links = Links::of(facts);
    let mut groups: BTreeMap<(u32, CacheReason), Group> = BTreeMap::new();
    let mut marked: HashMap<(u32, Option<NodeId>), bool> = HashMap::new();
    for file in files {
        let Some(kind) = kind_of(file) else { continue };
        let inode = (file.item.layer, file.item.entry);
        let object = facts.object_of(inode).map(|(id, _)| id);
        let loaded = object.filter(|id| common::is_loaded_from_outside(facts, *id, &of_cache));
        let link = links.files.get(&inode).copied();
        let because = match (file.item.node, loaded, link) {
            (None, ..) => CacheReason::Hidden,
            (_, Some(_), _) => CacheReason::Loaded,
            (_, None, Some(_)) => CacheReason::Linked,
            _ => CacheReason::Free,
        };
        let folder = file.item.node.map(|node| facts.paths.parent(node));
        if !*marked.entry((kind, folder)).or_insert_with(|| is_cache(facts, kind, file)) {
            continue;
        }
        let group = groups.entry((kind, because)).or_default();
        group.items.push(file.item);
        group.loaded.extend(loaded);
        group.links.extend(link.filter(|_| because == CacheReason::Linked));
        group.programs += usize::from(object.is_some());
    }
    let drafts = groups.into_iter().filter_map(|((kind, because), group)| {
        Some(draft(facts, KINDS.get(kind as usize)?, because, group, &links))
    });
    drafts.collect()
}

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
    links: Vec<NodeId>,
    /// Number of programs and libraries among them.
    programs: usize,
}

/// Whether a folder is the cache that its path suggests; shadowed files are not checked.
fn is_cache(facts: &Facts<'_>, kind: u32, file: &ClassifiedFile<'_>) -> bool {
    // By rule: the folder on the way to a file, and markers in it or next to it.
    let (name, marks): (&[u8], &[&[u8]]) = match KINDS.get(kind as usize).map(|kind| kind.id) {
        Some("cache-conda") => (b"pkgs", &[b"urls.txt", b"urls", b"cache", b"../conda-meta"]),
        Some("cache-go") => (b"mod", &[b"cache"]),
        _ => return true,
    };
    let Some(node) = file.item.node else { return true };
    if common::holds(&facts.path(node), b"/.cache/go-build/") {
        return true;
    }
    let mut folder = facts.paths.parent(node);
    while folder != NodeId::ROOT {
        if facts.node(folder).name() == name {
            let is_marked = |mark: &&[u8]| facts.paths.lookup_from(folder, mark).is_some();
            if marks.iter().any(is_marked) {
                return true;
            }
        }
        folder = facts.paths.parent(folder);
    }
    false
}

fn kind_of(file: &ClassifiedFile<'_>) -> Option<u32> {
    let By::Path(rule) = file.by else { return None };
    KINDS.iter().position(|kind| kind.id == rule.id).map(index32)
}

fn draft(facts: &Facts<'_>, kind: &Kind, because: CacheReason, group: Group, links: &Links) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Safe, kind.title.to_owned());
    kind.fix.clone_into(&mut draft.fix);
    draft.items = group.items;
    match because {
        CacheReason::Hidden => common::describe_shadowed(&mut draft),
        CacheReason::Loaded => {
            draft.verdict = Verdict::Needed;
            draft.title.push_str(", in use");
            "Reachable programs load these files from the cache.".clone_into(&mut draft.reason);
            common::add_chains(facts, &group.loaded, &mut draft);
        }
        CacheReason::Linked => linked(facts, group.links, &mut draft),
        CacheReason::Free if kind.id.starts_with("hub-") => hub(facts, kind, &mut draft),
        CacheReason::Free => free(facts, kind, group.programs, links, &mut draft),
    }
    draft
}

/// Sets the verdict for files to which symbolic links outside the cache lead.
fn linked(facts: &Facts<'_>, mut links: Vec<NodeId>, draft: &mut Draft) {
    const NAMED: usize = 5;
    draft.verdict = Verdict::Needed;
    draft.title.push_str(", used through symbolic links");
    "Symbolic links outside the cache lead to these files: the installed packages are only links."
        .clone_into(&mut draft.reason);
    links.sort_unstable();
    links.dedup();
    for link in links.iter().take(NAMED) {
        draft.proof.push(format!("{} links into the cache", facts.shown(*link)));
        draft.users.push(User::File(*link));
    }
    if let Some(more) = links.len().checked_sub(NAMED).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more links"));
    }
    "Install copies instead of links (UV_LINK_MODE=copy for uv), then remove the cache."
        .clone_into(&mut draft.fix);
}

/// Models exist to be loaded: no evidence in the image makes them removable.
fn hub(facts: &Facts<'_>, kind: &Kind, draft: &mut Draft) {
    let is_on = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
    let offline = OFFLINE.iter().find(|name| facts.variable(name).is_some_and(is_on));
    if let (Some(name), "hub-huggingface") = (offline, kind.id) {
        draft.verdict = Verdict::Needed;
        draft.reason = format!("ENV {name} disables downloads: models are loaded from this folder only.");
        draft.proof.push(format!("ENV {name} is set in the image's config"));
        draft.users.push(User::Setting(format!("ENV {name}")));
        return;
    }
    draft.verdict = Verdict::Unsure;
    draft.severity = Some(Severity::Info);
    "A service may load its models from this folder at start. Which ones is not recorded in the image."
        .clone_into(&mut draft.reason);
    if kind.id == "hub-huggingface" {
        draft.proof.push(format!("none of the variables {} disables downloads", OFFLINE.join(", ")));
    }
    draft.proof.push("models that the service loads: unknown".to_owned());
    draft.question =
        Some("Does the service load these models from the image, without downloading them?".to_owned());
}

fn free(facts: &Facts<'_>, kind: &Kind, programs: usize, links: &Links, draft: &mut Draft) {
    "Only package managers read these files, during installation.".clone_into(&mut draft.reason);
    tell_links(facts, kind, draft);
    let mut ask = |why: String, question: String| {
        draft.verdict = Verdict::Unsure;
        draft.reason.clone_from(&why);
        draft.proof.push(why);
        draft.question = Some(question);
    };
    let name_of = |word: &&str| word.rsplit('/').next().is_some_and(|name| kind.programs.contains(&name));
    let mut parts =
        facts.commands().flat_map(|(text, who)| text.split_whitespace().map(move |word| (word, who)));
    let in_variable = || {
        let pairs = facts.environment().iter().filter_map(|pair| pair.split_once('='));
        let mut pairs = pairs.map(|(name, value)| (name, value.split_whitespace()));
        pairs.find_map(|(name, mut words)| {
            let program = words.next().filter(&name_of)?;
            words.next().map(|_| (printable(name), program))
        })
    };
    if let Some((program, who)) = parts.find(|(word, _)| name_of(word)) {
        let program = printable(program);
        ask(
            format!("{} starts {program}, which reads this cache.", who.replacen("the", "The", 1)),
            format!("Does {program} need this cache to start the service?"),
        );
    } else if let Some((variable, program)) = in_variable() {
        let program = printable(program);
        ask(
            format!("ENV {variable} starts {program}, which reads this cache."),
            format!("Does {program} need this cache to start the service?"),
        );
    } else if let Some((file, program)) = named_program(facts, kind) {
        ask(
            format!("{file} mentions {program}, which reads this cache."),
            format!("Does {file} run {program} in the container?"),
        );
    } else if kind.id == "cache-npm"
        && let Some(who) = installs_offline(facts)
    {
        ask(
            format!("{who} starts npm, which may install packages from this cache."),
            format!("Does {who} install packages with npm when the container starts?"),
        );
    } else if let Some(setting) = setting(facts, kind) {
        ask(
            format!("{setting} mentions a path in this cache."),
            format!("Does the service read this path? Set by: {setting}."),
        );
    } else if links.through.contains(kind.id) || !links.complete {
        ask(
            "Symbolic links outside lead through this cache, or not all could be followed.".to_owned(),
            "Does the service follow one of these links into the cache?".to_owned(),
        );
    } else if let Some(package) = update_checker(facts, kind) {
        ask(
            format!("{package} is installed, which reads the lists of packages."),
            format!("Does the service use {package}?"),
        );
    } else if let Some(java) = java(facts, kind) {
        ask(
            format!("{java} is installed, and a class path may contain archives of this cache."),
            "Does a start script add archives of this cache to a class path?".to_owned(),
        );
    } else if kind.id == "cache-bazel" && programs > 0 {
        ask(
            "The output contains programs built by Bazel.".to_owned(),
            "Does the service run a program from there?".to_owned(),
        );
    } else {
        draft.proof.push("no symbolic link outside the cache leads to any of them".to_owned());
        if programs > 0 {
            draft.proof.push(format!(
                "0 of their {programs} programs and libraries are loaded from outside the cache"
            ));
        }
        draft.proof.push(format!(
            "neither the image's command nor a variable, except those of package managers, mentions a path with {}",
            kind.marker
        ));
        if kind.id == "cache-apt" {
            draft
                .proof
                .push("no installed package is known to read the lists in a running container".to_owned());
        }
    }
}

/// Adds how many files of a cache are hard links of installed files, and what the others free.
fn tell_links(facts: &Facts<'_>, kind: &Kind, draft: &mut Draft) {
    let linked = facts.classification.linked_outside(kind.id);
    let alone = draft.items.len() as u64;
    if linked == 0 {
        draft.proof.push("none of them is a hard link to a file outside the cache".to_owned());
        return;
    }
    let (all, freed) = (grouped(linked + alone), human(draft.items.iter().map(|item| item.bytes).sum()));
    let statement = format!(
        "{} of {all} files are hard-linked to installed files: removing them from the cache frees 0 B; the other {} free {freed}",
        grouped(linked),
        grouped(alone),
    );
    draft.reason = format!("{} {statement}.", draft.reason);
    draft.proof.push(statement);
}

/// The command or a file of the application that installs packages with npm.
fn installs_offline(facts: &Facts<'_>) -> Option<String> {
    let command = facts.command().join(" ");
    let words: Vec<&str> = command.split_whitespace().collect();
    let installs = |pair: &[&str]| {
        pair[0].rsplit('/').next() == Some("npm") && matches!(pair[1], "add" | "ci" | "i" | "install")
    };
    if words.windows(2).any(installs) {
        return Some("the image's command".to_owned());
    }
    let file = facts.inventory.mentions.iter().find(|mention| {
        !mention.of_package
            && mention.words.contains(&"npm")
            && memchr::memmem::find(&facts.path(mention.node), b"/node_modules/").is_none()
    })?;
    Some(facts.shown(file.node))
}

/// A file of the application that mentions a program of the cache, and the program.
fn named_program(facts: &Facts<'_>, kind: &Kind) -> Option<(String, &'static str)> {
    facts.inventory.mentions.iter().find_map(|mention| {
        // Most of these programs are none of the searched words. npx in scripts of packages is left out of these.
        let by_name = !mention.of_package && !matches!(kind.id, "cache-npm" | "cache-maven" | "cache-gradle");
        let is_started = |program: &&str| {
            mention.words.contains(program) || by_name && mention.programs.iter().any(|name| name == program)
        };
        Some((facts.shown(mention.node), *kind.programs.iter().find(|program| is_started(program))?))
    })
}

/// An installed package that reads apt's lists in a running container: it tells of updates, or which package has a file.
fn update_checker(facts: &Facts<'_>, kind: &Kind) -> Option<String> {
    const CHECKERS: [&str; 9] = [
        "apt-file",
        "apt-show-versions",
        "apticron",
        "command-not-found",
        "cron-apt",
        "monitoring-plugins-basic",
        "packagekit",
        "prometheus-node-exporter-collectors",
        "update-notifier-common",
    ];
    let packages = facts.inventory.packages.iter().filter(|package| package.manager == "dpkg");
    let mut names = packages.map(|package| package.name.as_str()).filter(|_| kind.id == "cache-apt");
    names.find(|name| CHECKERS.contains(name)).map(str::to_owned)
}

/// An installed Java that could run archives of the cache.
fn java(facts: &Facts<'_>, kind: &Kind) -> Option<String> {
    if !kind.programs.contains(&"java") {
        return None;
    }
    let links = &facts.inventory.links;
    let java = links.objects.iter().find(|object| facts.node(object.node).name() == b"java")?;
    Some(facts.shown(java.node))
}

/// A setting of the image that mentions a path in a cache.
fn setting(facts: &Facts<'_>, kind: &Kind) -> Option<String> {
    for pair in facts.environment() {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let of_manager = OF_MANAGERS.contains(&name) || name.to_ascii_uppercase().contains("CACHE");
        if !of_manager && value.contains(kind.marker) {
            return Some(format!("ENV {}", printable(name)));
        }
    }
    let mut named = facts.commands().filter(|(text, _)| text.contains(kind.marker));
    named.next().map(|(_, who)| who.replacen("the", "The", 1))
}
