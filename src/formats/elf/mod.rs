//! In: an ELF file, as a stream or as ranges of a seekable file.
//! Out: facts from its headers: names, needed libraries, search paths, notes, and locations of GPU code.
//! Must not know: layers, paths in an image, library identities. Both readers give equal facts.

mod captured_ranges;
mod dynamic;
mod gpu_code;
mod layout;
mod listing;
mod notes;
mod parse;
mod ranges;
mod scan;
mod sections;
pub mod shrink;
mod stream_scanner;

use serde::{Deserialize, Serialize};

use super::binary::Problem;
use super::fatbin::{GpuFacts, Suffix};

pub use gpu_code::{GpuCodeLocator, locate_gpu_code};
pub use listing::{ElfListing, SectionRow, Segment, listing};
pub(in crate::formats) use ranges::read;
pub(in crate::formats) use scan::ElfScan;

/// The first bytes of every ELF file.
pub(in crate::formats) const MAGIC: &[u8; 4] = b"\x7fELF";

/// Machine number of files that are for no machine (`EM_NONE`).
const MACHINE_NONE: u16 = 0;
/// Machine number of GPU code (`EM_CUDA`).
pub const MACHINE_CUDA: u16 = 190;

/// ELF file type (`e_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElfKind {
    /// An object for the linker.
    Relocatable,
    /// A program at a fixed address.
    Executable,
    /// A shared object, or a program that can be loaded anywhere.
    SharedObject,
    /// A core dump.
    Core,
    /// Another type.
    Other(u16),
    /// The header was not readable.
    #[default]
    Unknown,
}

/// Required versions of one library (`.gnu.version_r`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionNeed {
    /// Name of the library.
    pub file: Vec<u8>,
    /// Versions such as `GLIBC_2.34`, in the order of the file.
    pub versions: Vec<Vec<u8>>,
}

/// Facts from the headers of an ELF file. Names are unescaped bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a bit of the file")]
pub struct ElfFacts {
    /// Whether it is a 64-bit file.
    pub class64: bool,
    /// Whether its numbers are little endian.
    pub little_endian: bool,
    /// `e_machine`: 62 is x86-64, 183 is 64-bit ARM, 190 is a cubin.
    pub machine: u16,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// What the file is.
    pub kind: ElfKind,
    /// `e_flags`.
    pub flags: u32,
    /// `DT_SONAME`.
    pub soname: Option<Vec<u8>>,
    /// `DT_NEEDED`, in order.
    pub needed: Vec<Vec<u8>>,
    /// `DT_RPATH`.
    pub rpath: Option<Vec<u8>>,
    /// `DT_RUNPATH`.
    pub runpath: Option<Vec<u8>>,
    /// Interpreter of a program (`PT_INTERP`).
    pub interpreter: Option<Vec<u8>>,
    /// `DF_1_PIE`: a position-independent program.
    pub pie: bool,
    /// `DF_1_NODEFLIB`: the loader does not search its standard folders.
    pub no_default_lib: bool,
    /// Whether there is no dynamic table, and so no needed library.
    pub is_static: bool,
    /// The linker's build id note.
    pub build_id: Option<Vec<u8>>,
    /// Required versions of needed libraries.
    pub version_needs: Vec<VersionNeed>,
    /// Whether `version_needs` is complete; false where a stream cannot store the tables.
    pub version_needs_known: bool,
    /// JSON text of the note `.note.cuda.fwd_compatibility`, which lists the drivers that the `libcuda.so` of a
    /// compatibility package supports. Only files of that name are searched for it.
    pub forward_compat: Option<String>,
    /// GPU code inside.
    pub gpu: Option<Box<GpuFacts>>,
    /// Architecture and suffix of a cubin, from `e_flags`. CUDA 13 does not always set the suffix there.
    pub cubin: Option<(u32, Option<Suffix>)>,
    /// Format violations and reached limits.
    pub problems: Vec<Problem>,
}

impl ElfFacts {
    /// Approximate size in memory, in bytes, referenced data included.
    pub fn kept_bytes(&self) -> usize {
        let name = |name: &Vec<u8>| size_of::<Vec<u8>>() + name.len();
        let paths = [&self.soname, &self.rpath, &self.runpath, &self.interpreter, &self.build_id];
        let paths: usize = paths.into_iter().flatten().map(Vec::len).sum();
        let needed: usize = self.needed.iter().map(name).sum();
        let versions: usize = (self.version_needs.iter())
            .map(|need| {
                name(&need.file) + size_of::<Vec<u8>>() + need.versions.iter().map(name).sum::<usize>()
            })
            .sum();
        let note = self.forward_compat.as_ref().map_or(0, String::len);
        let gpu = self.gpu.as_ref().map_or(0, |gpu| size_of::<GpuFacts>() + gpu.kept_bytes());
        let problems: usize = self.problems.iter().map(Problem::kept_bytes).sum();
        size_of::<Self>() + paths + needed + versions + note + gpu + problems
    }
}

/// Body of a fuzz target: must never panic, and the parts of the file must add up.
#[cfg(feature = "fuzzing")]
pub fn fuzz_elf(data: &[u8]) {
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(data);
    super::binary::fuzz_file(&file, b"libcuda.so.1");
}

#[cfg(test)]
mod tests;
