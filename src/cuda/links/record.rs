//! Results of the simulated processes, collected by object and converted to [`Links`].

use hashbrown::HashMap;

use super::names::NameId;
use super::process::{Loaded, Process, Resolved};
use super::resolver_state::{ResolverState, Step};
use super::{Links, Need, Object, ObjectId, Open, Reached, Resolution, Root, Rules, SearchStep};
use crate::cuda::Use;

/// Maximum number of resolutions of a NEEDED entry, in different processes; real images have two or three.
const PLACES: usize = 16;

/// Resolution of a name: object and search step; `None` if not in the image.
type Found = Option<(u32, Step)>;

/// An opened name.
pub(super) struct Opened {
    pub(super) name: Vec<u8>,
    pub(super) found: Found,
    pub(super) optional: bool,
    pub(super) source: String,
}

/// The first edge to an object.
#[derive(Clone, Copy)]
struct Reach {
    from: u32,
    name: NameId,
    step: Step,
    opened: bool,
}

/// Results by object.
pub(super) struct Record {
    needs: Vec<Vec<Vec<Found>>>,
    opens: Vec<Vec<Opened>>,
    usage: Vec<Use>,
    reached: Vec<Option<Reach>>,
    roots: Vec<Option<Root>>,
    /// The process that loaded the object first, as root index.
    pub(super) owner: Vec<Option<usize>>,
    /// Whether its NEEDED entries were resolved in some process.
    pub(super) resolved: Vec<bool>,
}

impl Record {
    pub(super) fn new(state: &ResolverState<'_>) -> Self {
        let count = state.binaries.len();
        Self {
            needs: state.needs.iter().map(|needs| vec![Vec::new(); needs.len()]).collect(),
            opens: (0..count).map(|_| Vec::new()).collect(),
            usage: vec![Use::Unreferenced; count],
            reached: vec![None; count],
            roots: vec![None; count],
            owner: vec![None; count],
            resolved: vec![false; count],
        }
    }

    pub(super) fn root(&mut self, object: u32, root: &Root, process: usize) {
        let object = object as usize;
        self.roots[object] = Some(root.clone());
        self.usage[object] = Use::Needed;
        self.owner[object] = Some(process);
    }

    /// Whether the object is reachable.
    pub(super) fn is_used(&self, object: u32) -> bool {
        self.usage[object as usize] != Use::Unreferenced
    }

    /// Adds resolutions of NEEDED entries.
    pub(super) fn resolutions<'r>(&mut self, resolved: impl Iterator<Item = &'r Resolved>) {
        for Resolved { object, need, found } in resolved {
            self.resolved[*object as usize] = true;
            let places = &mut self.needs[*object as usize][*need];
            let leads = |found: &Found| found.map(|(object, _)| object);
            // The search step may differ between processes: the first one is recorded.
            if places.len() < PLACES && !places.iter().any(|known| leads(known) == leads(found)) {
                places.push(*found);
            }
        }
    }

    /// Adds the objects that a process loaded from index `first` on.
    pub(super) fn mapped(&mut self, process: &Process, first: usize, owner: usize, usage: Use) {
        for loaded in &process.loaded[first..] {
            let object = loaded.place.object as usize;
            let Some(from) = loaded.asked_by else { continue };
            if self.usage[object] != Use::Unreferenced {
                continue;
            }
            self.usage[object] = usage;
            self.owner[object] = Some(owner);
            let Loaded { name, opened, .. } = *loaded;
            self.reached[object] = Some(Reach { from, name, step: loaded.place.step, opened });
        }
    }

    pub(super) fn opened(&mut self, object: u32, opened: Opened) {
        let opens = &mut self.opens[object as usize];
        let leads = |found: &Found| found.map(|(object, _)| object);
        // Another import order may have the same result.
        let same = |known: &Opened| known.name == opened.name && leads(&known.found) == leads(&opened.found);
        if !opens.iter().any(same) {
            opens.push(opened);
        }
    }

    /// Gives an unreferenced object the usage of another one.
    pub(super) fn same_as(&mut self, copy: u32, original: u32, step: Step) {
        let (copy, original) = (copy as usize, original as usize);
        let Some(reach) = self.reached[original] else { return };
        if self.usage[copy] == Use::Unreferenced {
            self.usage[copy] = self.usage[original];
            self.reached[copy] = Some(Reach { step, ..reach });
        }
    }

    /// Converts the results to [`Links`].
    pub(super) fn finish(self, state: &ResolverState<'_>, rules: &dyn Rules) -> Links {
        let mut hosts: HashMap<Vec<u8>, bool> = HashMap::new();
        let mut resolution = |name: &[u8], found: Found| match found {
            Some((object, step)) => {
                Resolution::Found { object: ObjectId(object), step: search_step(state, step) }
            }
            None if *hosts.entry(name.to_vec()).or_insert_with(|| rules.is_host(name)) => Resolution::Host,
            None => Resolution::Missing,
        };
        let mut links = Links::default();
        let mut needed_by = vec![Vec::new(); state.binaries.len()];
        let mut opened_by = vec![Vec::new(); state.binaries.len()];
        let parts = self.needs.into_iter().zip(self.opens).zip(self.reached).zip(self.roots).zip(self.usage);
        for (id, ((((needs, opens), reached), root), usage)) in state.objects().zip(parts) {
            for (object, _) in needs.iter().flatten().flatten() {
                needed_by[*object as usize].push(ObjectId(id));
            }
            for (object, _) in opens.iter().filter_map(|open| open.found) {
                opened_by[object as usize].push(ObjectId(id));
            }
            let need = |(name, places): (&NameId, Vec<Found>)| Need {
                name: state.names.shown(*name),
                found: places.into_iter().map(|found| resolution(state.names.get(*name), found)).collect(),
            };
            let needs = state.needs[id as usize].iter().zip(needs).map(need).collect();
            let open = |open: Opened| Open {
                name: crate::base::text::escape(&open.name),
                found: resolution(&open.name, open.found),
                optional: open.optional,
                source: open.source,
            };
            links.objects.push(Object {
                node: state.binary(id).node,
                needs,
                needed_by: Vec::new(),
                opens: opens.into_iter().map(open).collect(),
                opened_by: Vec::new(),
                root,
                usage,
                reached: reached.map(|reach| Reached {
                    from: ObjectId(reach.from),
                    name: state.names.shown(reach.name),
                    step: search_step(state, reach.step),
                    opened: reach.opened,
                }),
            });
        }
        for ((object, needed_by), opened_by) in links.objects.iter_mut().zip(needed_by).zip(opened_by) {
            object.needed_by = sorted(needed_by);
            object.opened_by = sorted(opened_by);
        }
        links
    }
}

fn sorted(mut ids: Vec<ObjectId>) -> Vec<ObjectId> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn search_step(state: &ResolverState<'_>, step: Step) -> SearchStep {
    let shown = |text| state.names.shown(text);
    match step {
        Step::Loaded => SearchStep::Loaded,
        Step::Path => SearchStep::Path,
        Step::Rpath(object, text) => SearchStep::Rpath(ObjectId(object), shown(text)),
        Step::LibraryPath(text) => SearchStep::LibraryPath(shown(text)),
        Step::Runpath(text) => SearchStep::Runpath(shown(text)),
        Step::Cache(text) => SearchStep::Cache(shown(text)),
        Step::Default(text) => SearchStep::Default(shown(text)),
        Step::Table(text) => SearchStep::Table(shown(text)),
    }
}
