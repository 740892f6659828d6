//! In: the merged view, the facts of its files, config and history, a catalogue.
//! Out: an [`Inventory`]: packages, libraries, GPU code, links, duplicates, frameworks, the base image.
//! Must not know: how layers are read, what may be removed, how results are shown.
//!
//! # Design
//!
//! **Facts during the pass.** `layer/capture.rs` sees every regular file once. A stream cannot be read again,
//! so `formats/binary` has two ways to the same facts: a scan that is pushed bytes in order and retains a
//! bounded window (the first 4 MiB of an ELF file, the tables named by its headers, strings that may be
//! needed later), and a reader by ranges. Tests require equal results. Small relevant files (package
//! databases, `METADATA`, `ld.so.conf`, `version.json`; `formats/document.rs` has the list) are stored
//! completely, compressed with zstd. What `formats` cannot resolve is reported as such; it never guesses.
//!
//! **GPU code** is found by the magic of its containers and walked by the sizes in their headers; nothing is
//! decompressed. Entries and overhead of a section add up to its size in the section table, or the difference
//! is a warning. All other data of a program or library is searched too: cuBLAS and cuDNN have containers in
//! `.cask_resource`, cuFFT 11 has all of its code in `.ldata`, CUPTI some in `.rodata`. A stream is searched
//! as it passes; in a seekable layer this waits for the second pass, and covers files that are CUDA or need
//! it.
//!
//! **Identity is proven with BLAKE3**, over every file as it passes; files of 64 KiB and more and all
//! libraries are compared, small ones only to detect that an upper layer repeats a file. XXH3 is nearly four
//! times as fast and proves nothing: every equal pair would have to be read again, which for a gzip layer
//! means decompressing it again. BLAKE3 costs about a twentieth of decompression, and SHA-256 a fifth. Where
//! bytes do not pass, files of equal size are distinguished by samples in the second pass, and those with
//! equal samples by all of their bytes.
//!
//! **Mentions.** `formats/string_references` finds words in scripts, settings, programs and libraries: build
//! tools, CUDA headers, names of shared libraries. A word counts where it can be meant: alone, outside
//! comments, and `make`, `git` and `perf` only as a command. A stream is searched completely as it passes; in
//! a seekable layer, the second pass reads the files that `cuda/string_references.rs` classifies as the
//! application's: above the base image, outside system and toolkit folders, and not owned by a package that
//! is known to be foreign. Files named by the command, and Python packages installed from a folder, are
//! always included; sources of packages unknown to the catalogue are searched for CUDA tools if the image has
//! a compiler or CUDA libraries. Both forms cover the same files within the same bounds, and
//! `Inventory::searched` counts the files that were not covered. Files that only a build system reads (a
//! `CMakeCache.txt` names every build tool) count if something else names a build system; for programs of the
//! distribution's packages only CUDA's own tools count. A mention does not prove use; its absence does not
//! prove the opposite.
//!
//! **The second pass** (`analysis/bodies.rs`) follows the publication of the first inventory, reads single
//! files of seekable layers only, can be cancelled, and its bytes are counted separately (`-v`). The
//! inventory is then computed again from scratch: it is a pure function of facts and takes milliseconds.
//!
//! **Links** (`cuda/links`) follow glibc's `_dl_map_object` per process: RPATH up the chain of loading
//! objects, `LD_LIBRARY_PATH` of the image's environment, RUNPATH, the `ldconfig` cache, default folders;
//! musl has its own rules. A process is the entrypoint or another program, or an extension module in its
//! Python. Dependencies beyond NEEDED come from the dlopen table of the catalogue; an entry preserves the
//! major version of what is opened, or takes it from NEEDED (`needed_only`). The first library of a name
//! serves the whole process, so a toolkit's copy loaded only by Python packages is not loaded if one of them
//! loads a wheel's copy before (`duplicates/displaced`): a question, because the image does not determine the
//! order. `Links::chain` is the path from a file to the root that loads it.
//!
//! **Pruning** (`cuda/pruning`) decides by entry headers which GPU code a set of targets can run, because the
//! driver decides by them alone: it has no fallback from an entry that it chose. What stays moves up inside its
//! container and zeros follow; containers keep their start, since wrappers and private indexes point at it. The
//! check of the new file knows which entries stay, and neither the plan of its bytes nor their writer.
//!
//! **The catalogue** (`assets/catalog`, `cuda/catalog`) has components, sonames, the dlopen table,
//! frameworks, architectures, toolkits, targets, weights, paths and packages, and fingerprints of base
//! images; each entry names its source, and tests check all of it. `--catalog FILE` adds or replaces entries.
//!
//! **Owners.** dpkg, rpm and apk own a file before conda, and conda before pip: a distribution's Python
//! package is the distribution's. A package's layer is the lowest whose database has that version, shadowed
//! databases included, because every later `apt-get` rewrites the database.
//!
//! **Needs** (`cuda/compat/needs`) are the image's requirements on any machine, computed once from inventory,
//! config and loader paths: CUDA versions with their requirers, files with GPU code with their weight, cuDNN,
//! forward-compatibility drivers, other libraries in the driver's place, the relevant variables. A verdict is
//! a function of needs and a target (`cuda/compat/judge`), so that another target does not read the image. A
//! deciding file must run for certain; others make a verdict no worse than `unknown`. `needs_sm` of a
//! component in the catalogue excludes it where its callers have a fallback.

mod base_image;
pub mod catalog;
mod classes;
pub mod compat;
mod context;
mod development;
mod duplicates;
mod frameworks;
mod gpu_code;
mod inventory;
mod libraries;
pub mod links;
mod loader;
mod loader_path;
mod names;
mod packages;
pub mod pruning;
mod rules;
mod runs;
mod stack;
mod string_references;
mod toolkits;
mod value;
mod weights;

pub use crate::formats::fatbin::arch_name;
pub use context::{FileContents, Inode, Input};
pub use development::{DevelopmentList, DevelopmentPackages, NpmPackage, PackageManagers};
pub use inventory::{Wanted, inventory};
pub use loader_path::{SearchFolder, is_compat_path, is_stub_path, search_folders, shown_folder};
pub use names::{compression_name, kind_label, kind_name};
pub use packages::Owners;
pub use runs::{Fit, fit, is_tegra};
pub use string_references::NODEJS;
pub use value::{
    BaseImage, Class, ClassBytes, Component, Displaced, Duplicate, Flavor, ForwardCompat, Framework, GpuCode,
    GpuCodeSum, GpuHolder, HolderKind, Identical, Inventory, Level, Library, LowerBase, Package, Pick, Role,
    Searched, StackLevel, Strategy, StringReference, SuppliedBy, Supplier, Toolkit, Use, VersionSource,
    WeightFile,
};

pub use names::{CODE_KINDS, MANAGERS};
