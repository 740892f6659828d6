//! Dependencies between ELF files, and their resolution.

use std::collections::BTreeMap;

use crate::cuda::Use;
use crate::rootfs::NodeId;

/// An ELF object of the merged view, as index in [`Links::objects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// All ELF executables and shared objects of the merged view, each inode once, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Objects by [`ObjectId`].
    pub objects: Vec<Object>,
    /// Used objects that are not loaded if the other packages of the extension modules' folder were imported,
    /// and made their preloading calls, before. Sorted.
    pub displaced: Vec<ObjectId>,
    /// Libraries that Python packages load from their packages folder, and the imports or calls that load
    /// them, such as `onnxruntime.preload_dlls()` or `importing torch`.
    pub preloaders: BTreeMap<ObjectId, Vec<String>>,
}

/// An ELF object with its dependencies and users.
#[derive(Clone, Debug)]
pub struct Object {
    /// File of the merged view.
    pub node: NodeId,
    /// Its NEEDED entries, in order.
    pub needs: Vec<Need>,
    /// Objects with a NEEDED entry that resolves to this one; sorted.
    pub needed_by: Vec<ObjectId>,
    /// Libraries that it opens at run time, from the dlopen table.
    pub opens: Vec<Open>,
    /// Objects that open it, sorted; a Python package is represented by its first module.
    pub opened_by: Vec<ObjectId>,
    /// Why it is a root; `None` if it is not.
    pub root: Option<Root>,
    /// Whether it is reachable from a root.
    pub usage: Use,
    /// The first edge that reached it, for the path back to a root.
    pub reached: Option<Reached>,
}

/// A NEEDED entry.
#[derive(Clone, Debug)]
pub struct Need {
    /// Name in the entry, escaped.
    pub name: String,
    /// Resolutions. Several if processes with different search paths load the object; the first one is that
    /// of the first root.
    pub found: Vec<Resolution>,
}

/// Resolution of a library name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A file of the image.
    Found {
        /// The resolved object.
        object: ObjectId,
        /// The part of the search that found it.
        step: SearchStep,
    },
    /// A driver library that the host supplies.
    Host,
    /// Not found.
    Missing,
}

/// The part of the loader's search that found a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Loaded before in the same process, under this name or soname.
    Loaded,
    /// The name contains a slash.
    Path,
    /// `DT_RPATH` of this object (the loading one, or one of those that loaded it); expanded folder.
    Rpath(ObjectId, String),
    /// `LD_LIBRARY_PATH` of the image's environment.
    LibraryPath(String),
    /// `DT_RUNPATH` of the loading object; expanded folder.
    Runpath(String),
    /// A folder of `ld.so.conf`, which `ldconfig` adds to the cache.
    Cache(String),
    /// A default folder of the loader.
    Default(String),
    /// Source of the entry in the dlopen table.
    Table(String),
}

/// An applied entry of the dlopen table.
#[derive(Clone, Debug)]
pub struct Open {
    /// The opened name, escaped.
    pub name: String,
    /// Its resolution; [`Resolution::Missing`] is not an error if `optional`.
    pub found: Resolution,
    /// Whether the opener runs without it.
    pub optional: bool,
    /// Source of the fact.
    pub source: String,
}

/// Why an object is a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Kind of the root.
    pub kind: RootKind,
    /// Reason, such as `the image's entrypoint`.
    pub why: String,
}

/// Kinds of roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RootKind {
    /// The entrypoint or command, or the interpreter of one.
    Entrypoint,
    /// Another executable outside toolkits, tool folders of wheels and development packages.
    Executable,
    /// A Python extension module, or an application library that is opened by name.
    Extension,
    /// Listed in `LD_PRELOAD` or `ld.so.preload`.
    Preload,
}

/// An edge on the path to a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The object that needs or opens it.
    pub from: ObjectId,
    /// The name under which it was needed or opened.
    pub name: String,
    /// The part of the search that found it.
    pub step: SearchStep,
    /// Whether it is opened at run time instead of needed.
    pub opened: bool,
}

impl Need {
    /// Whether no process finds it and the host does not supply it. `false` if it was not searched for.
    pub fn is_missing(&self) -> bool {
        !self.found.is_empty() && self.found.iter().all(|found| *found == Resolution::Missing)
    }
}

impl Links {
    /// By object id: whether it is reachable from roots through NEEDED entries and non-optional opens.
    pub fn firmly_used(&self) -> Vec<bool> {
        self.firmly_reached(|_, _| true)
    }

    /// As [`Self::firmly_used`], only from roots that pass `is_start`.
    pub fn firmly_reached(&self, is_start: impl Fn(&Object, &Root) -> bool) -> Vec<bool> {
        let starts = |object: &Object| object.root.as_ref().is_some_and(|root| is_start(object, root));
        let mut firm: Vec<bool> = self.objects.iter().map(starts).collect();
        let mut open: Vec<usize> = (0..firm.len()).filter(|at| firm[*at]).collect();
        while let Some(at) = open.pop() {
            let object = &self.objects[at];
            let needed = object.needs.iter().flat_map(|need| &need.found);
            let opened = object.opens.iter().filter(|open| !open.optional).map(|open| &open.found);
            for found in needed.chain(opened) {
                if let Resolution::Found { object: ObjectId(to), .. } = found
                    && let Some(known) = firm.get_mut(*to as usize).filter(|known| !**known)
                {
                    *known = true;
                    open.push(*to as usize);
                }
            }
        }
        firm
    }

    /// The object with this id.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..crate::base::convert::index32(self.objects.len())).map(ObjectId)
    }

    /// The path from an object to the root that loads it, both included. Only the object if it is
    /// unreferenced.
    pub fn chain(&self, id: ObjectId) -> Vec<ObjectId> {
        let mut chain = vec![id];
        while let Some(reached) = &self.object(chain[chain.len() - 1]).reached {
            // Edges always lead to a root; the limit guards against a cycle.
            if chain.len() > self.objects.len() {
                break;
            }
            chain.push(reached.from);
        }
        chain
    }
}
