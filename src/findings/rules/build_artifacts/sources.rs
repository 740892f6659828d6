//! The verdict on repositories, wheels and source archives.

use super::super::common::{name_of, searched};
use super::judge::{ArtifactReason, asked, is_below};
use crate::base::text::{counted, elide_end, printable};
use crate::cuda::catalog::normalized_python_name;
use crate::findings::classification::ClassifiedFile;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::User;
use crate::rootfs::NodeId;

/// Shells, which run the script in their arguments.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ash", "zsh"];

/// Maximum words of the command and folders of the search path that are checked.
const WORDS: usize = 64;

/// A repository is read by git, and by packages that query git for a version.
pub(super) fn git(facts: &Facts<'_>) -> ArtifactReason {
    const ASK_GIT: [&str; 22] = [
        "aim",
        "clearml",
        "comet-ml",
        "dagshub",
        "dulwich",
        "dunamai",
        "dvc",
        "gitpython",
        "hatch-vcs",
        "mlflow",
        "nbdime",
        "neptune",
        "pbr",
        "poetry-dynamic-versioning",
        "pygit2",
        "sacred",
        "sentry-sdk",
        "setuptools-git-versioning",
        "setuptools-scm",
        "versioneer",
        "versioningit",
        "wandb",
    ];
    // Users of notebooks work in the repositories that they opened.
    const NOTEBOOKS: [&str; 4] = ["jupyter-server", "jupyterlab", "notebook", "code-server"];
    // That some Python package may run git does not mean that it reads this repository.
    let is_of_python = |node: NodeId| {
        let owner = facts.owner(node).and_then(|owner| facts.inventory.packages.get(owner));
        owner.is_some_and(|package| matches!(package.manager, "pip" | "conda"))
    };
    let named = facts.demands.on("git", None).filter_map(|place| facts.demands.get(place));
    let named = named.filter(|demand| match demand.user {
        User::Package(..) => false,
        User::File(node) => !is_of_python(node),
        _ => true,
    });
    let mut users: Vec<User> = named.map(|demand| demand.user.clone()).collect();
    let asks = |name: &str| {
        ASK_GIT.contains(&name)
            || NOTEBOOKS.contains(&name)
            || name.split('-').any(|part| part == "git" || part == "vcs")
    };
    let package = facts.inventory.packages.iter().find(|package| {
        matches!(package.manager, "pip" | "conda" | "npm") && asks(&normalized_python_name(&package.name))
    });
    users.extend(package.map(|package| {
        User::Package(
            format!("{} {}", package.name, package.version),
            package.root.clone().unwrap_or_default(),
        )
    }));
    users.sort();
    users.dedup();
    let who = match users.first().cloned() {
        Some(User::Package(name, _)) => format!("{name} is installed"),
        Some(User::File(node)) => format!("{} mentions git", facts.shown(node)),
        Some(_) => "the image's command mentions git".to_owned(),
        None if facts.inventory.searched.programs_left_out > 0 => {
            return asked(
                ", with programs that were not searched",
                format!(
                    "{} of the application not searched for git. Libraries such as go-git read a repository without it.",
                    counted(facts.inventory.searched.programs_left_out, "file")
                ),
                "Does the service read its version or history from this repository at run time?".to_owned(),
            );
        }
        None => {
            return ArtifactReason::Free(vec![
                searched(facts, "git"),
                "no installed package queries git for a version".to_owned(),
            ]);
        }
    };
    ArtifactReason::Asked {
        title: ", possibly queried at run time",
        reason: format!("Only git reads a .git folder, and {who}."),
        question: "Does the service query git for its version or history at run time?".to_owned(),
        users,
    }
}

/// A wheel or source archive: useless once installed.
pub(super) fn archive(facts: &Facts<'_>, id: &str, file: &ClassifiedFile<'_>, path: &[u8]) -> ArtifactReason {
    let name = String::from_utf8_lossy(name_of(path)).into_owned();
    let stem = name.strip_suffix(".whl").or_else(|| name.strip_suffix(".tar.gz")).unwrap_or(&name);
    // A wheel is NAME-VERSION-..., with no dash in its name; a source archive ends with the version.
    let (project, version) = if id == "artifact-wheel" {
        let mut parts = stem.split('-');
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
    } else {
        stem.rsplit_once('-').unwrap_or((stem, ""))
    };
    let wanted = normalized_python_name(project);
    let installed = facts.installed.contains(&(wanted, version.to_owned()));
    let by_settings = file.item.node.is_some_and(|node| facts.named.user(facts, node).is_some());
    let script = starting_script(facts);
    // A folder `dist` may contain anything; next to a project it is the project's output.
    let built = id == "artifact-wheel" || is_below(facts, file, b"dist", &[b"pyproject.toml", b"setup.py"]);
    if installed && !by_settings && built && script.is_none() {
        return ArtifactReason::Free(vec![
            "the same version of each package is already installed".to_owned(),
            "neither the image's command nor its environment mentions them".to_owned(),
            "the image's command runs no shell script that could install them again".to_owned(),
        ]);
    }
    if installed && let Some(script) = script {
        return asked(
            ", possibly installed by a start script",
            format!(
                "The same versions are already installed. The image's command starts {script}, which was not searched for these archives."
            ),
            format!("Does {script} install one of them when the container starts?"),
        );
    }
    asked(
        ", not installed",
        "These versions are not installed, or a setting mentions the archives.".to_owned(),
        "Is one of them installed, read or served at run time?".to_owned(),
    )
}

/// A shell or shell script that the image's command starts.
fn starting_script(facts: &Facts<'_>) -> Option<String> {
    let folders = facts.input.image.search_path();
    let words = facts.commands().flat_map(|(text, _)| text.split_whitespace());
    for word in words.take(WORDS) {
        if SHELLS.contains(&word.rsplit('/').next().unwrap_or(word)) {
            return Some(elide_end(&printable(word), MAX_SHOWN_CHARS));
        }
        let found = if word.contains('/') {
            facts.paths.lookup(word.as_bytes())
        } else {
            let mut paths = folders.split(':').take(WORDS).map(|folder| format!("{folder}/{word}"));
            paths.find_map(|path| facts.paths.lookup(path.as_bytes()))
        };
        let script = found.filter(|node| {
            let line = facts
                .node(*node)
                .content()
                .and_then(|(layer, entry)| facts.layer(layer)?.facts.script(entry));
            line.is_some_and(|line| memchr::memmem::find(line, b"sh").is_some())
        });
        if let Some(script) = script {
            return Some(elide_end(&facts.shown(script), MAX_SHOWN_CHARS));
        }
    }
    None
}
