//! Simulates all processes, first their NEEDED entries and then their opened libraries, and records the
//! results.

use std::collections::{BTreeMap, VecDeque};

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::names::{NameId, NumberMap};
use super::paths::{file_name, folder_of};
use super::process::{Fallback, OpenedFile, Process};
use super::record::Record;
use super::resolver_state::{ResolverState, STEPS, Step};
use super::roots::{RootEntry, Scripts, find};
use super::{Binary, Environment, Links, OpenRule, Paths, Rules};
use crate::cuda::Use;
use crate::rootfs::NodeId;

/// Maximum number of libraries loaded by modules, for all packages folders together; large images have some
/// thousands.
const COMPANIONS: usize = 1 << 20;

/// Resolves NEEDED entries and opened libraries of `binaries`, and which objects the roots reach.
///
/// `scripts` returns the first bytes of a file that starts with `#!`. The returned sentences describe names
/// of the image's config that could not be resolved, and limits that were reached.
pub fn resolve(
    binaries: &[Binary<'_>],
    paths: &Paths<'_>,
    environment: &Environment,
    rules: &dyn Rules,
    scripts: &dyn Fn(NodeId) -> Option<Vec<u8>>,
) -> (Links, Vec<String>) {
    resolve_within(STEPS, binaries, paths, environment, rules, scripts)
}

/// As [`resolve`], with another step limit.
pub(super) fn resolve_within(
    steps: u64,
    binaries: &[Binary<'_>],
    paths: &Paths<'_>,
    environment: &Environment,
    rules: &dyn Rules,
    scripts: &dyn Fn(NodeId) -> Option<Vec<u8>>,
) -> (Links, Vec<String>) {
    let mut problems = Vec::new();
    let mut state = ResolverState::new(binaries, paths, environment, steps);
    let roots = find(&mut state, rules, scripts as &Scripts<'_>, &mut problems);
    let record = Record::new(&state);
    let preload_folders = rules.preload_folders();
    let mut run = Run {
        state,
        rules,
        roots,
        record,
        python: None,
        preload_folders,
        site_folders: HashMap::new(),
        tables: HashMap::new(),
        companions: HashMap::new(),
        neighbours: BTreeMap::new(),
    };
    run.companions();
    run.needed();
    run.opened();
    let displaced = run.displaced();
    run.unreached();
    run.hardware_copies(&mut problems);
    if run.state.exhausted() {
        problems.push("the search for libraries stopped at its limit: links are incomplete".to_owned());
    }
    let mut links = run.record.finish(&run.state, rules);
    // After an abort, unsimulated processes may load any of them.
    if !run.state.exhausted() {
        (links.displaced, links.preloaders) = displaced;
    }
    (links, problems)
}

/// By Python and packages folder: library name, file, and the package that loads it.
pub(super) type Neighbours = BTreeMap<(Option<u32>, NameId), Vec<(NameId, OpenedFile, NameId)>>;

pub(super) struct Run<'a, 'r> {
    pub(super) state: ResolverState<'a>,
    pub(super) rules: &'r dyn Rules,
    pub(super) roots: Vec<RootEntry>,
    pub(super) record: Record,
    /// The last used Python with its process, before any module is loaded.
    pub(super) python: Option<(u32, Process)>,
    pub(super) preload_folders: Vec<String>,
    /// The folders of [`Rules::preload_folders`] below a packages folder.
    pub(super) site_folders: HashMap<NameId, Rc<[NodeId]>>,
    /// Libraries that a package loads before its own, by packages folder and package.
    pub(super) tables: HashMap<(NameId, NameId), Fallback>,
    /// Libraries that the modules of a packages folder load, by Python and folder.
    pub(super) companions: HashMap<(Option<u32>, NameId), Fallback>,
    /// Those of the libraries that are in the packages folder itself, with the package that loads them.
    pub(super) neighbours: Neighbours,
}

impl Run<'_, '_> {
    /// The process of a root, with all NEEDED entries resolved.
    pub(super) fn process(&mut self, root: &RootEntry, alone: bool, before: Option<&Fallback>) -> Process {
        let mut fallbacks = Vec::new();
        if let Some(package) = root.package
            && !alone
        {
            fallbacks.push(self.table(package));
            fallbacks.extend(self.companions.get(&(root.python, package.0)).map(Rc::clone));
        }
        let Some(python) = root.python else {
            let mut process = Process::new(&mut self.state, root.object, fallbacks);
            process.before = before.map(Rc::clone);
            process.run(&mut self.state);
            return process;
        };
        // Modules of one Python are consecutive, so the Python's own libraries are loaded once. It is a root
        // itself, so its resolutions are recorded there.
        if self.python.as_ref().is_none_or(|(known, _)| *known != python) {
            let mut process = Process::new(&mut self.state, python, Vec::new());
            process.run(&mut self.state);
            process.resolved.clear();
            self.python = Some((python, process));
        }
        let Some((_, base)) = &self.python else { return Process::new(&mut self.state, python, fallbacks) };
        // The process of a Python with thousands of libraries is copied for each module.
        self.state.steps_left = self.state.steps_left.saturating_sub(base.loaded.len() as u64);
        let mut process = base.fork(fallbacks);
        process.before = before.map(Rc::clone);
        process.open_object(&mut self.state, root.object);
        process.run(&mut self.state);
        process
    }

    /// Collects the libraries that the modules of each packages folder load: modules that need libraries of
    /// other packages are imported after those packages.
    fn companions(&mut self) {
        let mut libraries: HashMap<(Option<u32>, NameId), NumberMap<NameId, OpenedFile>> = HashMap::new();
        let mut count = 0;
        for at in 0..self.roots.len() {
            let root = self.roots[at].clone();
            let Some((site, package)) = root.package else { continue };
            let process = self.process(&root, true, None);
            let known = libraries.entry((root.python, site)).or_default();
            let neighbours = self.neighbours.entry((root.python, site)).or_default();
            for loaded in &process.loaded {
                if count >= COMPANIONS {
                    break;
                }
                let place = OpenedFile { step: Step::Loaded, ..loaded.place };
                let path = &self.state.binary(place.object).path;
                let in_site = path.starts_with(self.state.names.get(site));
                for name in [Some(loaded.name), self.state.sonames[place.object as usize]] {
                    count += 1;
                    let name = name.unwrap_or(loaded.name);
                    known.entry(name).or_insert(place);
                    if in_site {
                        neighbours.push((name, place, package));
                    }
                }
            }
        }
        self.companions = libraries.into_iter().map(|(key, known)| (key, Rc::new(known))).collect();
    }

    /// Phase one: objects reached by NEEDED entries, root by root.
    fn needed(&mut self) {
        for (at, entry) in self.roots.iter().enumerate() {
            self.record.root(entry.object, &entry.root, at);
        }
        for at in 0..self.roots.len() {
            let root = self.roots[at].clone();
            let process = self.process(&root, false, None);
            self.record.resolutions(process.resolved.iter());
            self.record.mapped(&process, 0, at, Use::Needed);
        }
    }

    /// Phase two: libraries opened by reached objects, in the process that reached the opener first.
    fn opened(&mut self) {
        let mut openers = self.openers();
        let mut at_work: Vec<bool> = vec![false; self.roots.len()];
        for object in self.state.objects().filter(|object| openers.contains_key(object)) {
            if let Some(owner) = self.record.owner[object as usize] {
                at_work[owner] = true;
            }
        }
        // Opened libraries belong to the process that opens them, so one pass reaches the fixed point.
        for owner in (0..self.roots.len()).filter(|owner| at_work[*owner]) {
            let root = self.roots[owner].clone();
            let mut process = self.process(&root, false, None);
            let mut caller = 0;
            // Calls are optional: their libraries are loaded last.
            let mut calls: VecDeque<(usize, OpenRule)> = VecDeque::new();
            loop {
                if let Some(loaded) = process.loaded.get(caller) {
                    let object = loaded.place.object;
                    if self.record.owner[object as usize] == Some(owner)
                        && let Some(rules) = openers.remove(&object)
                    {
                        for rule in rules {
                            if rule.call.is_some() {
                                calls.push_back((caller, rule));
                            } else {
                                self.apply(&mut process, caller, &rule, &root, owner);
                            }
                        }
                    }
                    caller += 1;
                } else if let Some((caller, rule)) = calls.pop_front() {
                    self.apply(&mut process, caller, &rule, &root, owner);
                } else {
                    break;
                }
            }
        }
    }

    /// Open rules by object; those of a package belong to the first of its modules.
    pub(super) fn openers(&self) -> HashMap<u32, Vec<OpenRule>> {
        let mut openers: HashMap<u32, Vec<OpenRule>> = HashMap::new();
        let mut packages = HashSet::new();
        for object in self.state.objects() {
            self.rules_of(object, &mut openers);
        }
        for entry in &self.roots {
            if let Some(package) = entry.package
                && packages.insert(package)
            {
                let mut rules = self.rules.package_opens(self.state.names.get(package.1));
                rules.retain(|rule| !rule.needed_only);
                // A package loads libraries of other packages before its own modules open any.
                let own = openers.entry(entry.object).or_default();
                rules.append(own);
                *own = rules;
            }
        }
        openers.retain(|_, rules| !rules.is_empty());
        openers
    }

    fn rules_of(&self, object: u32, openers: &mut HashMap<u32, Vec<OpenRule>>) {
        let binary = self.state.binary(object);
        let rules = self.rules.opens(file_name(&binary.path), binary.soname);
        if !rules.is_empty() {
            openers.insert(object, rules);
        }
    }

    /// Resolves unreferenced objects too, each in a process of its own.
    fn unreached(&mut self) {
        for object in self.state.objects() {
            if self.record.resolved[object as usize] || self.state.needs[object as usize].is_empty() {
                continue;
            }
            let mut process = Process::new(&mut self.state, object, Vec::new());
            process.run(&mut self.state);
            let mut resolved = process.resolved;
            resolved.retain(|of| !self.record.resolved[of.object as usize]);
            self.record.resolutions(resolved.iter());
        }
    }

    /// Gives copies for newer processors the usage of the baseline copy.
    fn hardware_copies(&mut self, problems: &mut Vec<String>) {
        let mut copies = 0;
        for object in self.state.objects() {
            let path = &self.state.binary(object).path;
            let folder = folder_of(path);
            let above = folder_of(folder);
            if file_name(above) != b"glibc-hwcaps" {
                continue;
            }
            copies += 1;
            let plain = [folder_of(above), b"/", file_name(path)].concat();
            let soname = self.state.binary(object).soname.unwrap_or_default();
            let by_soname = [folder_of(above), b"/", soname].concat();
            let step = Step::Default(self.state.names.id(folder));
            let original = [plain, by_soname]
                .iter()
                .find_map(|path| self.state.object_by_path(NodeId::ROOT, path))
                .filter(|original| self.record.is_used(*original));
            if let Some(original) = original {
                self.record.same_as(object, original, step);
            }
        }
        if copies > 0 {
            problems.push(format!(
                "{copies} libraries in glibc-hwcaps folders are loaded on newer processors only; links shown are those \
                of the baseline copies"
            ));
        }
    }
}
