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
    let is_named = [&b"test_"[..], b"_test_"].iter().any(|start| name.starts_with(start));
    name.ends_with(b".py") && (is_named || parts.any(|folder| folder == b"tests"))
}

/// Whether the command, or a text of the application, runs tests.
pub(super) fn are_run(facts: &Facts<'_>) -> bool {
    const RUNNERS: [&str; 6] = ["nose2", "nosetests", "py.test", "pytest", "tox", "nox"];
    let is_runner = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        RUNNERS.contains(&name)
            || word.ends_with("unittest")
            || word.ends_with("runtests")
            || word.split('.').any(|part| part == "tests")
    };
    facts.command().iter().any(|text| text.split_whitespace().any(is_runner))
        || facts.inventory.mentions.iter().any(|mention| mention.programs.iter().any(|name| is_runner(name)))
}
