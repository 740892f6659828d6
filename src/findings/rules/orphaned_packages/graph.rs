//! Dependencies between installed packages, as `apt autoremove` follows them.

use hashbrown::HashMap;

use crate::cuda::Package;

/// System packages with their dependencies, as indexes in the inventory's list.
pub(super) struct Graph<'a> {
    packages: &'a [Package],
    /// Dependencies that keep a package installed: `Depends`, `Pre-Depends`, and weaker kinds that count.
    keeps: Vec<Vec<usize>>,
    /// Suggestions.
    suggests: Vec<Vec<usize>>,
}

/// Maximum dependencies followed: those of 100,000 packages in practice. Beyond, names are provided by too
/// many packages.
const EDGES: usize = 4 << 20;

impl<'a> Graph<'a> {
    /// `owner` returns the package that owns a path: rpm and apk can depend on files. `None` when there are too many
    /// dependencies.
    pub(super) fn new(packages: &'a [Package], owner: &dyn Fn(&str) -> Option<usize>) -> Option<Self> {
        let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (place, package) in packages.iter().enumerate().filter(|(_, package)| package.is_of_system()) {
            let names = package.provides.iter().chain([&package.name]);
            for name in names {
                let of = places.entry((package.manager, name.as_str())).or_default();
                if of.last() != Some(&place) {
                    of.push(place);
                }
            }
        }
        let mut left = EDGES;
        let mut resolve = |package: &Package, names: &[&[String]]| {
            let mut found: Vec<usize> = Vec::new();
            let names = names.iter().copied().flatten();
            for name in names.flat_map(|name| words(package.manager, name)) {
                match places.get(&(package.manager, name)) {
                    Some(of) => {
                        left = left.checked_sub(of.len())?;
                        found.extend(of);
                    }
                    None if name.starts_with('/') => found.extend(owner(name)),
                    None => {}
                }
            }
            found.sort_unstable();
            found.dedup();
            Some(found)
        };
        let (mut keeps, mut suggests) = (vec![Vec::new(); packages.len()], vec![Vec::new(); packages.len()]);
        let lists = packages.iter().zip(&mut keeps).zip(&mut suggests);
        for ((package, keeps), suggests) in lists.filter(|((package, _), _)| package.is_of_system()) {
            *keeps = resolve(package, &[package.depends.as_slice(), package.recommends.as_slice()])?;
            *suggests = resolve(package, &[package.suggests.as_slice()])?;
        }
        Some(Self { packages, keeps, suggests })
    }

    /// Packages that a package depends on or recommends.
    pub(super) fn keeps(&self, package: usize) -> &[usize] {
        self.keeps.get(package).map(Vec::as_slice).unwrap_or_default()
    }

    /// Packages that a package suggests.
    pub(super) fn suggests(&self, package: usize) -> &[usize] {
        self.suggests.get(package).map(Vec::as_slice).unwrap_or_default()
    }

    /// Packages that are no longer needed without those of `removed`: not a root, and not reachable from a root. By
    /// index.
    pub(super) fn unneeded(&self, removed: &[bool], is_root: impl Fn(usize) -> bool) -> Vec<bool> {
        let is = |list: &[bool], place: usize| list.get(place).copied().unwrap_or_default();
        let mut kept: Vec<bool> =
            (0..self.packages.len()).map(|place| !is(removed, place) && is_root(place)).collect();
        let mut open: Vec<usize> = (0..kept.len()).filter(|place| is(&kept, *place)).collect();
        while let Some(at) = open.pop() {
            for next in self.keeps(at) {
                if !is(removed, *next)
                    && let Some(known) = kept.get_mut(*next).filter(|known| !**known)
                {
                    *known = true;
                    open.push(*next);
                }
            }
        }
        let system = self.packages.iter().map(Package::is_of_system);
        kept.into_iter()
            .zip(removed)
            .zip(system)
            .map(|((kept, gone), system)| system && !kept && !gone)
            .collect()
    }

    /// For each package of `inside` the package that leads to it from a removed package, nearest first: a removed
    /// package, or another one of `inside`.
    pub(super) fn ways(&self, removed: &[bool], inside: &[bool]) -> HashMap<usize, usize> {
        let mut ways = HashMap::new();
        let mut open: std::collections::VecDeque<usize> =
            (0..removed.len()).filter(|place| removed.get(*place) == Some(&true)).collect();
        while let Some(at) = open.pop_front() {
            for next in self.keeps(at).iter().chain(self.suggests(at)) {
                if inside.get(*next) == Some(&true) && !ways.contains_key(next) {
                    ways.insert(*next, at);
                    open.push_back(*next);
                }
            }
        }
        ways
    }
}

/// The names in a dependency. rpm has conditions such as `(a if b)`, whose parts may all be needed.
fn words<'n>(manager: &str, name: &'n str) -> Vec<&'n str> {
    if manager == "rpm" && name.starts_with('(') {
        return name.split_whitespace().map(|word| word.trim_matches(['(', ')'])).collect();
    }
    vec![name]
}
