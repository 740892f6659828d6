//! In: the ELF facts of all binaries of the merged view, its paths, the image's environment, rules of a catalogue.
//! Out: [`Links`]: which file needs, opens and reaches which, and how the dynamic loader finds each.
//! Must not know: where ELF facts and rules come from, what a library is for, or what may be removed.
//!
//! The loader is that of glibc (`elf/dl-load.c`, `ld.so(8)`), or of musl where a program names it as its
//! interpreter. Every root is a process of its own. What the model takes for granted:
//!
//! - `/etc/ld.so.cache` is what `ldconfig` would write for the image: the NVIDIA container toolkit runs it
//!   when a container starts. A stale cache in the image is not read, and the links that `ldconfig` makes
//!   for sonames count as if they were there.
//! - `$ORIGIN` is the folder in which a library was opened, so a symbolic link to a file does not move it
//!   (glibc takes the name that it opened); for a program it is the folder of the file itself, as the
//!   kernel says in `/proc/self/exe`.
//! - `$PLATFORM` is the plain name of the machine (`x86_64`, `aarch64`).
//! - Copies for newer processors (`glibc-hwcaps`) are not preferred; they count as used when the copy
//!   for all processors is.
//! - Programs are not set-user-id, and run in the working folder and environment of the image.
//! - Extension modules are loaded into the Python of their folder, each alone; what such a module needs
//!   and does not find may have been loaded before by other modules of the same packages folder.

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

pub use paths::{Paths, file_name, fits, folder_of, site_root};
pub(crate) use roots::{DEFAULT_PATH, SHELLS, WRAPPERS};
pub(crate) use shell::{commands, is_assignment};
pub use usage::resolve;
pub use value::{Links, Need, Object, ObjectId, Open, Reached, Resolution, Root, RootKind, SearchStep};

/// What the loader looks at in an ELF executable or shared object. One for each inode.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "facts of a file header, each on its own")]
pub struct Binary<'a> {
    /// The file, by one of its names.
    pub node: NodeId,
    /// The path of that name.
    pub path: Vec<u8>,
    /// `e_machine`.
    pub machine: u16,
    /// Whether it is a 64-bit file.
    pub class64: bool,
    /// Whether its numbers are little endian.
    pub little_endian: bool,
    /// A shared object: `ET_DYN` without interpreter, and not PIE.
    pub is_library: bool,
    /// It can be run: it has an interpreter, or is `ET_EXEC`, or PIE.
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
    /// `DF_1_NODEFLIB`: the default folders are not looked into.
    pub no_default_lib: bool,
}

/// What decides where a process of the image looks.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Parts of `LD_LIBRARY_PATH`, as [`split_library_path`] gives them.
    pub ld_library_path: Vec<Vec<u8>>,
    /// Names in `LD_PRELOAD`, then those in `/etc/ld.so.preload`.
    pub ld_preload: Vec<Vec<u8>>,
    /// Parts of `PATH`; when there are none, what engines set.
    pub path: Vec<Vec<u8>>,
    /// The entrypoint of the image's config.
    pub entrypoint: Vec<Vec<u8>>,
    /// The command of the image's config.
    pub cmd: Vec<Vec<u8>>,
    /// The working folder; empty for the root.
    pub working_dir: Vec<u8>,
    /// Folders of `/etc/ld.so.conf`, in order, its includes in place: for the loader of glibc.
    pub conf_folders: Vec<Vec<u8>>,
    /// Folders of `/etc/ld-musl-*.path`, in order: for the loader of musl, instead of the standard ones.
    pub musl_folders: Vec<Vec<u8>>,
    /// Whether musl is the C library of what no program tells the loader of.
    pub musl: bool,
}

/// What a file or package opens at run time.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "facts of a line of the table, each on its own")]
pub struct OpenRule {
    /// Names as given to `dlopen`; each of them is opened. `*` stands for any bytes.
    pub names: Vec<String>,
    /// Whether the opener does without.
    pub optional: bool,
    /// Whether nothing is opened: the names are where a package finds what its modules need.
    pub needed_only: bool,
    /// The call that opens them, when loading the opener alone does not.
    pub call: Option<String>,
    /// Where the fact comes from.
    pub source: String,
    /// Whether the opener looks into its own folder first.
    pub same_folder: bool,
    /// Whether the opener looks into the folders of [`Rules::preload_folders`] before the loader does, and not
    /// after it.
    pub packages_first: bool,
}

/// What the loader itself cannot know.
pub trait Rules {
    /// Whether a library is supplied by the host's driver.
    fn is_host(&self, name: &[u8]) -> bool;
    /// What a file opens at run time.
    fn opens(&self, file_name: &[u8], soname: Option<&[u8]>) -> Vec<OpenRule>;
    /// What a Python package opens when it is imported, by the name of its folder.
    fn package_opens(&self, package: &[u8]) -> Vec<OpenRule>;
    /// Where Python packages look for libraries of others, below their packages folder, such as
    /// `nvidia/*/lib`.
    fn preload_folders(&self) -> Vec<String>;
    /// Whether a file belongs to a toolkit or to a wheel's tools: nothing there is a root.
    fn is_toolkit_or_tool(&self, path: &[u8]) -> bool;
    /// Whether a library is there to be opened by name, which no NEEDED entry tells: it is no known component and
    /// belongs to whoever made the image, to a Python package that may import it or open it by its path, or lies
    /// in a folder of plugins. What an opener beside it opens and does without is none.
    fn is_of_application(&self, binary: &Binary<'_>) -> bool;
    /// Whether a package that is only for building owns the file.
    fn is_devel_owned(&self, node: NodeId) -> bool;
}

/// The parts of a search path of the environment, split as the loader does (`:` and `;`). An empty part
/// is the working folder; an empty value has no parts.
pub fn split_library_path(value: &[u8]) -> Vec<Vec<u8>> {
    if value.is_empty() {
        return Vec::new();
    }
    value.split(|byte| matches!(byte, b':' | b';')).map(<[u8]>::to_vec).collect()
}
