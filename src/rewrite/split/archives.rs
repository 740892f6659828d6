//! Packages that a building `RUN` installs from files, such as `dpkg -i tool.deb`: no repository has them, so the final
//! stage copies what they contain.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::context::SplitContext;
use super::shell::{Work, package_name, package_words};
use super::steps::{Kind, Steps};
use crate::rewrite::tidy::Call;

/// Packages from files, by their indexes in the inventory. A `RUN` that is repeated as a whole installs its own.
pub(super) fn packages(context: &SplitContext<'_>, steps: &Steps<'_, '_>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (at, step) in steps.list.iter().enumerate() {
        let Kind::Run(works) = &step.kind else { continue };
        let Some(run) = steps.run(at).filter(|_| step.compiles && steps.installs_archives(at)) else {
            continue;
        };
        // apt gives the dependencies of a file from its repositories.
        let calls = run.commands.iter().zip(works).filter(|(_, work)| **work == Work::Install);
        let asked: Vec<_> =
            calls.filter_map(|(command, _)| Call::of(command)).map(|call| package_words(&call)).collect();
        let by_name = asked.iter().flatten().filter_map(|word| context.by_name.get(package_name(&word.text)));
        let of_repositories = context.with_dependencies(by_name.copied());
        let brought: BTreeSet<usize> = (context.by_name.values().copied())
            .filter(|place| step.layers.contains(&context.input.inventory.packages[*place].layer))
            .filter(|place| !of_repositories.contains(place))
            .collect();
        let needs = |place: &usize| context.depends(*place).iter().copied();
        // dpkg gets nothing from repositories; apt does, for files and with `-f`.
        let gets = |call: &Call<'_>| {
            let mut given = call.words.iter().map(|word| word.text.as_bytes());
            // `-yf` has both options, `*.deb` or `$DEB` a file.
            let has_f =
                |word: &[u8]| word.starts_with(b"-") && !word.starts_with(b"--") && word.contains(&b'f');
            let is_file =
                |word: &[u8]| word.ends_with(b".deb") || word.contains(&b'/') || word.contains(&b'$');
            given.any(|word| {
                matches!(word, b"--fix-broken" | b"--fix-missing") || has_f(word) || is_file(word)
            })
        };
        let calls = run.commands.iter().zip(works).filter(|(_, work)| **work == Work::Install);
        let by_apt = calls.filter_map(|(command, _)| Call::of(command)).any(|call| gets(&call));
        let needed: BTreeSet<usize> =
            if by_apt { brought.iter().flat_map(needs).collect() } else { BTreeSet::new() };
        // `dpkg -i lib_1.deb tool_1.deb`: each of them is from a file.
        let files = run.commands.iter().flat_map(|command| &command.words).map(|word| word.text.as_str());
        let files = files.filter_map(|text| text.strip_suffix(".deb"));
        let named: HashSet<&str> = files
            .map(|text| text.rsplit('/').next().unwrap_or(text))
            .map(|name| name.split('_').next().unwrap_or(name))
            .collect();
        let is_named = |place: &usize| named.contains(context.input.inventory.packages[*place].name.as_str());
        found.extend(brought.iter().filter(|place| !needed.contains(*place) || is_named(place)));
    }
    found
}
