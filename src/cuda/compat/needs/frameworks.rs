//! Framework of a file.

use hashbrown::HashMap;

use super::look::Look;
use crate::cuda::catalog::split_library_name;
use crate::cuda::links::folder_of;
use crate::cuda::{Framework, Strategy};
use crate::rootfs::NodeId;

/// The frameworks of the inventory that use CUDA, indexed by package and folder.
pub(super) struct Frameworks {
    /// Framework index by package index.
    packages: HashMap<usize, usize>,
    /// Framework indexes by folder, for frameworks without a package of their own.
    folders: HashMap<Vec<u8>, Vec<usize>>,
}

impl Frameworks {
    pub(super) fn new(look: &Look<'_>) -> Self {
        let list = &look.inventory.frameworks;
        let uses_cuda = |framework: &Framework| framework.strategy != Strategy::None;
        let by_place: HashMap<(&str, &[u8]), usize> = list
            .iter()
            .enumerate()
            .filter(|(_, framework)| uses_cuda(framework))
            .map(|(place, framework)| ((&*framework.name, &framework.path[..]), place))
            .collect();
        let packages: HashMap<usize, usize> = look
            .inventory
            .packages
            .iter()
            .enumerate()
            .filter_map(|(place, package)| {
                let rule = look.catalog.framework_of_package(package.manager, &package.name)?;
                let root = package.root.as_deref().filter(|root| !root.is_empty()).unwrap_or(b"/");
                Some((place, *by_place.get(&(rule.name.as_str(), root))?))
            })
            .collect();
        let mut folders: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (place, framework) in list.iter().enumerate().filter(|(_, framework)| uses_cuda(framework)) {
            if framework.package.is_none_or(|package| packages.get(&package) != Some(&place)) {
                folders.entry(framework.path.clone()).or_default().push(place);
            }
        }
        Self { packages, folders }
    }

    /// Index of the framework of a file.
    pub(super) fn of(&self, look: &Look<'_>, node: NodeId) -> Option<usize> {
        let owner = look.inventory.owners.of(node);
        if let Some(place) = owner.and_then(|owner| self.packages.get(&owner)) {
            return Some(*place);
        }
        if self.folders.is_empty() {
            return None;
        }
        let path = look.path(node);
        let mut folder = folder_of(&path);
        loop {
            let mut places = self.folders.get(folder).into_iter().flatten().copied();
            let is_its = |place: &usize| {
                let framework = look.inventory.frameworks.get(*place);
                framework.is_some_and(|one| one.package == owner && is_core(look, one, node))
            };
            if let Some(place) = places.find(is_its) {
                return Some(place);
            }
            if folder.len() < 2 {
                return None;
            }
            folder = folder_of(folder);
        }
    }
}

/// Whether a file is a core library of a framework, by its name.
pub(super) fn is_core(look: &Look<'_>, framework: &Framework, node: NodeId) -> bool {
    let stem = split_library_name(look.rootfs.node(node).name()).map(|name| name.stem);
    let rule = look.catalog.framework(&framework.name);
    rule.zip(stem).is_some_and(|(rule, stem)| rule.core_libraries.iter().any(|core| core.as_bytes() == stem))
}

/// Name and unchanged version: `torch 2.9.1+cu128`.
pub(super) fn whole_name(framework: &Framework) -> String {
    match &framework.version {
        Some(version) => format!("{} {version}", framework.name),
        None => framework.name.to_string(),
    }
}
