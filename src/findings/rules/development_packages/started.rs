//! Packages for development that the image's command starts all the same.

use std::collections::BTreeMap;

use super::Contents;
use crate::base::text::printable;
use crate::cuda::catalog::normalized_python_name;
use crate::cuda::{DevelopmentList, DevelopmentPackages};
use crate::findings::facts::Facts;
use crate::rootfs::NodeId;

/// The first package that the command starts: by its name, by a program of it, or by a script of the project. With
/// what starts it, as the beginning of a sentence.
pub(super) fn started<'p>(
    facts: &Facts<'_>,
    found: &DevelopmentPackages,
    packages: &'p [Contents],
) -> Option<(&'p str, String)> {
    let programs = programs(facts, found, packages);
    let health = facts.input.image.health_check.join(" ");
    let mut open = vec![
        (health, "The health check starts".to_owned()),
        (facts.command().join(" "), "The image's command starts".to_owned()),
    ];
    let mut scripts = found.scripts.clone();
    while let Some((text, starts)) = open.pop() {
        let runs_scripts = words(&text).any(|word| RUNNERS.contains(&last_part(word)));
        for word in words(&text) {
            if let Some(package) = named(word).find_map(|name| programs.get(name)) {
                return Some((packages.get(*package)?.name.as_str(), starts));
            }
            if !runs_scripts {
                continue;
            }
            for script in [word.to_owned(), format!("pre{word}"), format!("post{word}")] {
                let Some(text) = scripts.remove(&script) else { continue };
                open.push((text, format!("The script {} of package.json starts", printable(&script))));
            }
        }
    }
    None
}

/// Programs and options that start scripts of `package.json`.
const RUNNERS: [&str; 5] = ["npm", "yarn", "pnpm", "bun", "--run"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={},<>".contains(c));
    words.filter(|word| !word.is_empty())
}

fn last_part(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// What a word may name: a program by its path; a package, or a file of it, as `ts-node/register`, `@scope/name` and
/// `node_modules/tsx/dist/cli.mjs`.
fn named(word: &str) -> impl Iterator<Item = &str> {
    let inside = word.rsplit("node_modules/").next().unwrap_or(word);
    let mut slashes = inside.match_indices('/').map(|(at, _)| at);
    let scope = usize::from(inside.starts_with('@'));
    let package = slashes.nth(scope).and_then(|end| inside.get(..end)).unwrap_or(inside);
    [last_part(word), package].into_iter()
}

/// By the name of a program, and of a package: index of the package.
fn programs(
    facts: &Facts<'_>,
    found: &DevelopmentPackages,
    packages: &[Contents],
) -> BTreeMap<String, usize> {
    let mut programs = BTreeMap::new();
    let mut owner: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (place, package) in packages.iter().enumerate() {
        match found.packages {
            DevelopmentList::Npm(_) => {
                owner.extend(package.files.iter().map(|file| (*file, place)));
                programs.insert(package.name.clone(), place);
            }
            DevelopmentList::Pip(_) => {
                let nodes = package.files.iter().map(|file| facts.node(*file));
                let of_bin = nodes.filter(|node| node.parent().name() == b"bin");
                programs
                    .extend(of_bin.map(|node| (String::from_utf8_lossy(node.name()).into_owned(), place)));
                let name = normalized_python_name(&package.name);
                programs.insert(name.replace('-', "_"), place);
                programs.insert(name, place);
            }
        }
    }
    let links = facts.paths.child(found.folder, b".bin").filter(|_| !owner.is_empty());
    for link in links.into_iter().flat_map(|bin| facts.node(bin).children()) {
        let target = facts.paths.link(link.id());
        let target = target.and_then(|target| facts.paths.lookup_from(link.parent().id(), target));
        if let Some(place) = target.and_then(|target| owner.get(&target)) {
            programs.insert(String::from_utf8_lossy(link.name()).into_owned(), *place);
        }
    }
    programs
}
