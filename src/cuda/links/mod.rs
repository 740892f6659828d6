//! In: the ELF facts of all binaries of the merged view, its paths, the image's environment, rules of a
//! catalogue.
//! Out: [`Links`]: which file needs, opens and loads which, and how the dynamic loader finds each.
//! Must not know: where ELF facts and rules come from, what a library is for, or what may be removed.
//!
//! The loader is that of glibc (`elf/dl-load.c`, `ld.so(8)`), or of musl for programs with its interpreter.
//! Each root is a separate process. Assumptions of the model:
//!
//! - `/etc/ld.so.cache` is what `ldconfig` would write for the image: the NVIDIA container toolkit runs it at
//!   container start. The image's own, possibly stale cache is not read, and the links that `ldconfig`
//!   creates for sonames count as present.
//! - `$ORIGIN` is the folder in which a library was opened, so a symbolic link to a file does not change it
//!   (glibc uses the opened name); for a program it is the folder of the file itself, as in `/proc/self/exe`.
//! - `$PLATFORM` is the plain name of the machine (`x86_64`, `aarch64`).
//! - Copies for newer processors (`glibc-hwcaps`) are not preferred; they count as used if the baseline copy
//!   is used.
//! - Programs are not set-user-id, and run in the working folder and environment of the image.
//! - Extension modules are loaded into the Python of their folder, each in its own process; a library that
//!   such a module needs and does not find may have been loaded before by other modules of the same packages
//!   folder.

mod displaced;
mod expand;
mod names;
mod opens;
mod paths;
mod process;
mod python;
mod record;
mod resolver_state;
mod roots;
mod search;
mod shell;
mod system;
mod usage;
mod value;

#[cfg(test)]
mod tests;

use crate::rootfs::NodeId;

pub use paths::{Paths, file_name, folder_of, site_root};
pub(crate) use roots::{DEFAULT_PATH, SHELLS};
pub(crate) use shell::commands;
pub use usage::resolve;
pub use value::{Links, Need, Object, ObjectId, Open, Reached, Resolution, Root, RootKind, SearchStep};

/// Facts of an ELF executable or shared object that the loader uses. One for each inode.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "facts of a file header, each on its own")]
pub struct Binary<'a> {
    /// One of its names.
    pub node: NodeId,
    /// Path of `node`.
    pub path: Vec<u8>,
    /// `e_machine`.
    pub machine: u16,
    /// Whether it is a 64-bit file.
    pub class64: bool,
    /// Whether its byte order is little endian.
    pub little_endian: bool,
    /// Whether it is a shared object: `ET_DYN` without interpreter, not PIE.
    pub is_library: bool,
    /// Whether it can be executed: it has an interpreter, or is `ET_EXEC` or PIE.
    pub executable: bool,
    /// `DT_SONAME`.
    pub soname: Option<&'a [u8]>,
    /// `DT_NEEDED`, in order.
    pub needed: &'a [Vec<u8>],
    /// `DT_RPATH`.
    pub rpath: Option<&'a [u8]>,
    /// `DT_RUNPATH`.
    pub runpath: Option<&'a [u8]>,
    /// `PT_INTERP`.
    pub interpreter: Option<&'a [u8]>,
    /// `DF_1_NODEFLIB`: the default folders are not searched.
    pub no_default_lib: bool,
}

/// Facts that determine the search path of a process in the image.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Folders of `LD_LIBRARY_PATH`, as returned by [`split_library_path`].
    pub ld_library_path: Vec<Vec<u8>>,
    /// Names in `LD_PRELOAD`, then those in `/etc/ld.so.preload`.
    pub ld_preload: Vec<Vec<u8>>,
    /// Folders of `PATH`; empty if unset, for which the engines' default applies.
    pub path: Vec<Vec<u8>>,
    /// Entrypoint in the image config.
    pub entrypoint: Vec<Vec<u8>>,
    /// Command in the image config.
    pub cmd: Vec<Vec<u8>>,
    /// Working folder; empty for the root.
    pub working_dir: Vec<u8>,
    /// Folders of `/etc/ld.so.conf` in order, with its includes: for the glibc loader.
    pub conf_folders: Vec<Vec<u8>>,
    /// Folders of `/etc/ld-musl-*.path` in order: for the musl loader, instead of the default ones.
    pub musl_folders: Vec<Vec<u8>>,
    /// Whether the C library is musl, for binaries whose loader no program determines.
    pub musl: bool,
}

/// Libraries that a file or package opens at run time.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "facts of a line of the table, each on its own")]
pub struct OpenRule {
    /// Arguments of `dlopen`, each of which is opened. `*` matches any bytes.
    pub names: Vec<String>,
    /// Whether the opener runs without them.
    pub optional: bool,
    /// Whether nothing is opened: the names only add search locations for the NEEDED entries of a package's
    /// modules.
    pub needed_only: bool,
    /// The call that opens them; `None` if loading the opener is sufficient.
    pub call: Option<String>,
    /// Source of the fact.
    pub source: String,
    /// Whether the opener's own folder is searched first.
    pub same_folder: bool,
    /// Whether the folders of [`Rules::preload_folders`] are searched before the loader's search path instead
    /// of after it.
    pub packages_first: bool,
}

/// Facts that the loader model takes from a catalogue.
pub trait Rules {
    /// Whether the host's driver supplies a library.
    fn is_host(&self, name: &[u8]) -> bool;
    /// Libraries that a file opens at run time.
    fn opens(&self, file_name: &[u8], soname: Option<&[u8]>) -> Vec<OpenRule>;
    /// Libraries that a Python package, given by the name of its folder, opens when imported.
    fn package_opens(&self, package: &[u8]) -> Vec<OpenRule>;
    /// Folders below a packages folder in which Python packages search for libraries of other packages, such
    /// as `nvidia/*/lib`.
    fn preload_folders(&self) -> Vec<String>;
    /// Whether a file belongs to a toolkit or to the tools of a wheel; such files are not roots.
    fn is_toolkit_or_tool(&self, path: &[u8]) -> bool;
    /// Whether a library may be opened by name without an entry in the dlopen table: it is not a known
    /// component and belongs to the application, to a Python package that may import it or open it by path,
    /// or is in a plugin folder. Libraries that another library in the same folder opens optionally are
    /// excluded.
    fn is_of_application(&self, binary: &Binary<'_>) -> bool;
    /// Whether a development package owns the file.
    fn is_devel_owned(&self, node: NodeId) -> bool;
}

/// The folders of a search path in the environment, split as by the loader (`:` and `;`). An empty folder is
/// the working folder; an empty value has no folders.
pub fn split_library_path(value: &[u8]) -> Vec<Vec<u8>> {
    if value.is_empty() {
        return Vec::new();
    }
    value.split(|byte| matches!(byte, b':' | b';')).map(<[u8]>::to_vec).collect()
}
