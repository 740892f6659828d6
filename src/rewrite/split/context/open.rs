//! What of the findings with a question stays in a smaller stage.

use hashbrown::HashSet;

use crate::cuda::catalog;
use crate::findings::{Answer, Category, Finding, User, Verdict};
use crate::rewrite::input::Input;
use crate::rootfs::NodeId;

/// Whether the image defines what it runs: a command that is more than a shell.
pub(super) fn starts_something(input: &Input<'_>) -> bool {
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "nvidia_entrypoint.sh"];
    let config = input.image.run_config();
    let words = config.into_iter().flat_map(|config| [config.entrypoint(), config.cmd()]).flatten().flatten();
    let mut words = words.map(|word| word.rsplit('/').next().unwrap_or_default());
    words.any(|word| !word.is_empty() && !SHELLS.contains(&word))
}

/// Findings whose question was answered with yes. Who compiles at run time needs the headers and libraries of the compilers,
/// too, unless their own question was answered otherwise: compilers only recommend those of the C library. Those of other
/// libraries have a question of their own.
pub(super) fn used<'f>(input: &Input<'f>) -> HashSet<&'f str> {
    let findings = input.findings;
    let answered = findings.list.iter().filter(|one| input.plan.answer(&one.id) == Some(Answer::Used));
    let answered: Vec<&Finding> = answered.collect();
    let compilers = answered.iter().filter(|one| one.category == Category::Compilers);
    let with_them = compilers
        .flat_map(|one| findings.answered_with(&one.id))
        .filter(|one| matches!(one.category, Category::Headers | Category::StaticLibraries))
        .filter(|one| input.plan.answer(&one.id).is_none() && is_of_compilers(input, one));
    answered.iter().copied().chain(with_them).map(|one| one.id.as_str()).collect()
}

/// Whether all files of a finding come with compilers.
fn is_of_compilers(input: &Input<'_>, finding: &Finding) -> bool {
    let owner = |node: NodeId| input.inventory.packages.get(input.inventory.owners.of(node)?);
    let mut owners = finding.items.iter().map(|item| item.node.and_then(owner));
    owners.all(|package| package.is_some_and(|package| catalog::is_of_compilers(&package.name)))
}

/// Whether a file of the image, a setting or a reachable program indicates a use of a finding. A package that could use
/// it is weaker evidence, and so are `tests`, which a service does not run.
pub(super) fn is_named(finding: &Finding, tests: &HashSet<NodeId>) -> bool {
    finding.users.iter().any(|user| match user {
        User::Package(..) => false,
        User::File(node) => !tests.contains(node),
        User::Object(_) | User::Setting(_) => true,
    })
}

/// Files of tests and of packages for development, unless the user said that they are used.
pub(super) fn tests(input: &Input<'_>) -> HashSet<NodeId> {
    let findings = input.findings.list.iter().filter(|one| {
        matches!(one.rule.id, "python-tests" | "development-packages")
            && one.verdict != Verdict::Needed
            && input.plan.answer(&one.id) != Some(Answer::Used)
    });
    findings.flat_map(|one| &one.items).filter_map(|item| item.node).collect()
}
