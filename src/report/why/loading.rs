//! Who loads a program or library.

use schemars::JsonSchema;
use serde::Serialize;

use super::path::PathName;
use crate::base::text::{escape, printable};
use crate::cuda::links::{Links, ObjectId, Resolution, SearchStep};
use crate::report::vocabulary;
use crate::report::words::Word;
use crate::rootfs::{NodeId, Rootfs};

/// Files listed as loading it; the counts are complete.
const MOST: usize = 50;

/// How an ELF file is loaded.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyLoading {
    /// needed, dlopen or unreferenced.
    #[schemars(transform = vocabulary::usage)]
    #[serde(rename = "use")]
    pub usage: Word,
    /// Why it is loaded without another file, such as `the image's entrypoint`; null if it is not.
    pub root: Option<String>,
    /// From this file to the process that loads it, both included; only this file if it is unreferenced.
    pub chain: Vec<WhyStep>,
    /// Files whose NEEDED entries resolve to it, the first ones.
    pub needed_by: Vec<PathName>,
    /// Number of them.
    pub needed_by_count: u64,
    /// Files that open it at run time, the first ones.
    pub opened_by: Vec<PathName>,
    /// Number of them.
    pub opened_by_count: u64,
    /// Other files with the same soname.
    pub copies: Vec<PathName>,
}

/// A file on the way to the process that loads the first one.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyStep {
    /// The file.
    pub path: PathName,
    /// How it loads the file before it; null for the first.
    pub how: Option<String>,
    /// Why it is loaded without another file; null if it is not.
    pub root: Option<String>,
}

/// How the loader found a file.
pub fn search_step(step: &SearchStep, links: &Links, rootfs: &Rootfs) -> String {
    match step {
        SearchStep::Loaded => "already loaded in the process".to_owned(),
        SearchStep::Path => "absolute path".to_owned(),
        SearchStep::Rpath(of, folder) => {
            let name = links
                .objects
                .get(of.0 as usize)
                .map_or_else(|| "an object".to_owned(), |object| escape(rootfs.node(object.node).name()));
            format!("RPATH of {name}: {}", printable(folder))
        }
        SearchStep::LibraryPath(folder) => format!("LD_LIBRARY_PATH: {}", printable(folder)),
        SearchStep::Runpath(folder) => format!("RUNPATH: {}", printable(folder)),
        SearchStep::Cache(folder) => format!("ldconfig cache: {}", printable(folder)),
        SearchStep::Default(folder) => format!("default loader path: {}", printable(folder)),
        SearchStep::Table(says) => printable(says),
    }
}

/// The object of a node, by any of its names.
pub(super) fn object_of(links: &Links, rootfs: &Rootfs, node: NodeId) -> Option<ObjectId> {
    let content = rootfs.node(node).content()?;
    links.ids().find(|id| rootfs.node(links.object(*id).node).content() == Some(content))
}

pub(super) fn loading(links: &Links, rootfs: &Rootfs, id: ObjectId, copies: Vec<PathName>) -> WhyLoading {
    let object = links.object(id);
    let path = |id: &ObjectId| PathName(rootfs.node(links.object(*id).node).path());
    let ids = links.chain(id);
    let mut chain = Vec::with_capacity(ids.len());
    for (place, at) in ids.iter().enumerate() {
        let reached = place.checked_sub(1).and_then(|before| links.object(ids[before]).reached.as_ref());
        let how = reached.map(|reached| {
            let verb = if reached.opened { "opens" } else { "needs" };
            let step = search_step(&reached.step, links, rootfs);
            format!("{verb} {}, resolved by {step}", printable(&reached.name))
        });
        let root = links.object(*at).root.as_ref().map(|root| printable(&root.why));
        chain.push(WhyStep { path: path(at), how, root });
    }
    WhyLoading {
        usage: object.usage.as_str().into(),
        root: object.root.as_ref().map(|root| printable(&root.why)),
        chain,
        needed_by: object.needed_by.iter().take(MOST).map(path).collect(),
        needed_by_count: object.needed_by.len() as u64,
        opened_by: object.opened_by.iter().take(MOST).map(path).collect(),
        opened_by_count: object.opened_by.len() as u64,
        copies,
    }
}

/// All objects that need one of `start`, directly or through others, without `start`; by object id.
pub(super) fn dependents(links: &Links, start: &[ObjectId]) -> Vec<ObjectId> {
    let mut seen = vec![false; links.objects.len()];
    let mut open: Vec<ObjectId> = start.to_vec();
    for id in start {
        seen[id.0 as usize] = true;
    }
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        for by in &links.object(id).needed_by {
            if !std::mem::replace(&mut seen[by.0 as usize], true) {
                found.push(*by);
                open.push(*by);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Of the files that open `id`: how many do without it.
pub(super) fn optional_openers(links: &Links, id: ObjectId) -> usize {
    let opens = |by: &&ObjectId| {
        links.object(**by).opens.iter().any(|open| {
            open.optional && matches!(open.found, Resolution::Found { object, .. } if object == id)
        })
    };
    links.object(id).opened_by.iter().filter(opens).count()
}
