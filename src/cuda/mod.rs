//! In: the merged view, the facts of its files, config and history, a catalogue.
//! Out: an [`Inventory`]: packages, libraries, GPU code, links, duplicates, frameworks, the base image.
//! Must not know: how layers are read, what may be removed, how results are shown.

mod base_image;
pub mod catalog;
mod classes;
pub mod compat;
mod context;
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
mod rules;
mod runs;
mod stack;
mod string_references;
mod toolkits;
mod value;
mod weights;

pub use context::{FileContents, Inode, Input};
pub use inventory::{Wanted, inventory};
pub use loader_path::{SearchFolder, is_compat_path, is_stub_path, search_folders, shown_folder};
pub use names::{arch_name, compression_name, kind_label, kind_name};
pub use packages::Owners;
pub use runs::{Fit, fit, is_tegra};
pub use value::{
    BaseImage, Class, ClassBytes, Component, Displaced, Duplicate, Flavor, ForwardCompat, Framework, GpuCode,
    GpuCodeSum, GpuHolder, HolderKind, Identical, Inventory, Level, Library, LowerBase, Package, Pick, Role,
    Searched, StackLevel, Strategy, StringReference, SuppliedBy, Supplier, Toolkit, Use, VersionSource,
    WeightFile,
};
