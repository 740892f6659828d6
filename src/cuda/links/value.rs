//! Which file needs which, and how each is found.

use std::collections::BTreeMap;

use crate::cuda::Use;
use crate::rootfs::NodeId;

/// An ELF object of the merged view, by its place in [`Links::objects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// All ELF executables and shared objects of the merged view, each inode once, by path.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The objects.
    pub objects: Vec<Object>,
    /// Objects that only extension modules load, and that are not loaded when the other packages of the modules' folder
    /// were imported before, or have called what loads their libraries. Sorted.
    pub displaced: Vec<ObjectId>,
    /// Libraries that are loaded in place of the displaced ones, and by what, such as `onnxruntime.preload_dlls()` or
    /// `importing torch`.
    pub preloaders: BTreeMap<ObjectId, Vec<String>>,
}

/// One ELF object with what it asks for and who asks for it.
#[derive(Clone, Debug)]
pub struct Object {
    /// The file.
    pub node: NodeId,
    /// Its NEEDED entries, in order.
    pub needs: Vec<Need>,
    /// Objects whose NEEDED entries are resolved to this one; sorted.
    pub needed_by: Vec<ObjectId>,
    /// What it opens at run time, by the catalogue's dlopen table.
    pub opens: Vec<Open>,
    /// Objects and packages that open it; sorted.
    pub opened_by: Vec<ObjectId>,
    /// Why it is loaded on its own account.
    pub root: Option<Root>,
    /// Whether something that runs reaches it.
    pub usage: Use,
    /// The first step that reached it, on the way back to a root.
    pub reached: Option<Reached>,
}

/// One NEEDED entry.
#[derive(Clone, Debug)]
pub struct Need {
    /// The name as it is written, escaped.
    pub name: String,
    /// Where the loader finds it. Several where processes with other search paths load the object; the
    /// first is that of the first root.
    pub found: Vec<Resolution>,
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// To a file of the image.
    Found {
        /// The file.
        object: ObjectId,
        /// How the loader came to it.
        step: SearchStep,
    },
    /// To a driver library that the host supplies.
    Host,
    /// Nowhere.
    Missing,
}

/// The part of the loader's search that found a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Loaded before in the same process, under this name or soname.
    Loaded,
    /// The name holds a slash.
    Path,
    /// `DT_RPATH` of this object (the loading one, or one of those that loaded it), expanded folder.
    Rpath(ObjectId, String),
    /// `LD_LIBRARY_PATH` of the image's environment.
    LibraryPath(String),
    /// `DT_RUNPATH` of the loading object, expanded folder.
    Runpath(String),
    /// A folder of `ld.so.conf`, which `ldconfig` puts into the cache.
    Cache(String),
    /// A folder that the loader always looks into.
    Default(String),
    /// From the catalogue's dlopen table: the entry and its source.
    Table(String),
}

/// One line of the dlopen table, applied.
#[derive(Clone, Debug)]
pub struct Open {
    /// The name that is opened.
    pub name: String,
    /// Where it leads; [`Resolution::Missing`] is no fault when `optional`.
    pub found: Resolution,
    /// Whether the opener does without.
    pub optional: bool,
    /// Where the fact comes from.
    pub source: String,
}

/// Why an object is loaded on its own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// What kind of root it is.
    pub kind: RootKind,
    /// In a sentence, such as `the image's entrypoint`.
    pub why: String,
}

/// Kinds of roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RootKind {
    /// The entrypoint or command, or the interpreter of one.
    Entrypoint,
    /// Another executable outside toolkits, wheels' tool folders and devel packages.
    Executable,
    /// An extension module of Python, or a library of the application that something opens by name.
    Extension,
    /// Named by `LD_PRELOAD` or `ld.so.preload`.
    Preload,
}

/// A step towards a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The object that asks for it.
    pub from: ObjectId,
    /// The name it asks for.
    pub name: String,
    /// How the file was found.
    pub step: SearchStep,
    /// Whether it is opened at run time rather than needed.
    pub opened: bool,
}

impl Need {
    /// Whether no process finds it and no host supplies it. False when it was not looked for.
    pub fn is_missing(&self) -> bool {
        !self.found.is_empty() && self.found.iter().all(|found| *found == Resolution::Missing)
    }
}

impl Links {
    /// By object: whether roots reach it by NEEDED entries and by what openers do not do without.
    pub fn firmly_used(&self) -> Vec<bool> {
        self.firmly_reached(|_, _| true)
    }

    /// The same from some of the roots only.
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

    /// An object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..crate::base::convert::index32(self.objects.len())).map(ObjectId)
    }

    /// The way from an object back to the root that loads it: the object itself first, the root last.
    /// Only the object when nothing reaches it.
    pub fn chain(&self, id: ObjectId) -> Vec<ObjectId> {
        let mut chain = vec![id];
        while let Some(reached) = &self.object(chain[chain.len() - 1]).reached {
            // The steps lead to a root by the way they are made; a loop would be a fault of ours.
            if chain.len() > self.objects.len() {
                break;
            }
            chain.push(reached.from);
        }
        chain
    }
}
