//! Which packages of the system a smaller stage installs, and by which names.

use std::collections::BTreeSet;

use super::keep::Keep;
use super::shell::is_package_word;
use super::steps::Steps;
use super::world::World;

/// Packages that are compared with each other, to name few.
const MOST_COMPARED: usize = 60;

/// Packages that only install packages of Python: a stage that copies what they installed does without.
const OF_PYTHON: [&str; 6] = ["pip", "venv", "setuptools", "wheel", "virtualenv", "pipx"];

/// Packages that instructions name and that stay, by their places in the inventory; and names of those that do not.
pub(super) struct Asked {
    pub(super) kept: Vec<usize>,
    pub(super) dropped: BTreeSet<String>,
}

/// Sorts the packages that instructions name. With `copies` the stage gets its packages of languages from another
/// one, and needs nothing that installs them.
pub(super) fn asked(world: &World<'_>, steps: &Steps<'_, '_>, copies: bool) -> Asked {
    let programs = steps.programs();
    let mut asked = Asked { kept: Vec::new(), dropped: BTreeSet::new() };
    for (step, name) in steps.asked() {
        let opaque = steps.is_opaque(step);
        match world.by_name.get(name.as_str()) {
            Some(place) if opaque || is_kept(world, *place, &programs, copies) => {
                if !asked.kept.contains(place) {
                    asked.kept.push(*place);
                }
            }
            // Removed again, or the name of several: it is repeated as it is written.
            None if opaque || !world.is_builders(&name) => {}
            _ => {
                asked.dropped.insert(name);
            }
        }
    }
    // An instruction that is repeated as a whole brings all that it brought.
    for (at, step) in steps.list.iter().enumerate() {
        if step.installs() && !step.compiles && steps.is_opaque(at) {
            let packages = world.input.inventory.packages.iter().enumerate();
            let brought = packages
                .filter(|(_, package)| step.layers.contains(&package.layer) && package.root.is_none());
            asked.kept.extend(brought.map(|(place, _)| place));
        }
    }
    asked.kept.sort_unstable();
    asked.kept.dedup();
    asked
}

fn is_kept(world: &World<'_>, place: usize, programs: &BTreeSet<&str>, copies: bool) -> bool {
    if world.is_built_for(place) {
        return true;
    }
    let package = &world.input.inventory.packages[place];
    let name = package.name.as_str();
    if copies && name.starts_with("python3") && OF_PYTHON.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    // What instructions that stay call by its name; pip clones what it installs from a repository.
    if !copies && (programs.contains(name) || name == "git" && world.installs_from_repositories()) {
        return true;
    }
    if world.is_builders(name) {
        return false;
    }
    let (built, all) = world.share(place, &world.built);
    // A build stage has what only a question keeps; on a base without one it is what the instructions ask for.
    built == 0 || built * 2 < all
}

/// Names of packages that are to be installed beside those that instructions name: files that stay need them, and
/// none of the others brings them.
pub(super) fn added(keep: &Keep<'_, '_>, kept: &[usize]) -> Vec<String> {
    let world = keep.world;
    let brought = world.with_dependencies(kept.iter().copied());
    let few = keep.named.len() <= MOST_COMPARED;
    let closures: Vec<(usize, BTreeSet<usize>)> = (keep.named.iter().filter(|_| few))
        .map(|place| (*place, world.with_dependencies([*place])))
        .collect();
    let closure = |place: usize| closures.iter().find(|(known, _)| *known == place).map(|(_, all)| all);
    let comes_with = |place: usize| {
        closures.iter().any(|(other, all)| {
            *other != place && all.contains(&place) && !closure(place).is_some_and(|own| own.contains(other))
        })
    };
    let mut added = Vec::new();
    for place in &keep.named {
        let package = &world.input.inventory.packages[*place];
        let is_there = brought.contains(place) || package.layer < keep.base.layers;
        if !is_there && !comes_with(*place) && is_package_word(&package.name) {
            added.push(package.name.clone());
        }
    }
    added.sort_unstable();
    added
}
