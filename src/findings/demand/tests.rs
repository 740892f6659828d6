//! Tests that Python packages bring. A service does not run them.

use crate::cuda::links::site_root;
use crate::findings::facts::Facts;
use crate::rootfs::NodeId;

/// Whether a file of a Python package is one of its tests.
pub(super) fn is_one(facts: &Facts<'_>, node: NodeId) -> bool {
    let path = facts.path(node);
    let Some((_, inside)) = site_root(&path) else { return false };
    let mut parts = inside.rsplit(|byte| *byte == b'/');
    let name = parts.next().unwrap_or_default();
    name.ends_with(b".py")
        && (name.starts_with(b"test_") || name.starts_with(b"_test_"))
        && parts.any(|folder| matches!(folder, b"test" | b"tests"))
}

/// Whether the command, or a file of the application other than its own tests, names something that runs tests.
pub(super) fn are_run(facts: &Facts<'_>) -> bool {
    const RUNNERS: [&str; 3] = [".tests", "pytest", "unittest"];
    const PROGRAMS: [&str; 5] = ["nose2", "nosetests", "nox", "py.test", "tox"];
    let is_program = |word: &str| PROGRAMS.contains(&word.rsplit('/').next().unwrap_or(word));
    let is_runner = |word: &str| {
        is_program(word) || word.ends_with("runtests") || RUNNERS.iter().any(|runner| word.contains(runner))
    };
    let own = facts.inventory.mentions.iter().filter(|mention| !mention.of_package);
    let mut own = own.filter(|mention| !super::is_aside(&facts.shown(mention.node)));
    facts.command().iter().any(|text| text.split_whitespace().any(is_runner))
        || own.any(|mention| {
            mention.words.iter().any(|word| RUNNERS.contains(word))
                || mention.programs.iter().any(|name| is_program(name))
        })
}
