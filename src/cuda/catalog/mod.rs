//! In: the TOML files of `assets/catalog`, and user files in the same format.
//! Out: facts about CUDA independent of an image: names, versions, paths, rules expressed as data.
//! Must not know: images, layers, the merged view; it reads no files itself.
//!
//! Every entry has a source. Names and paths of images are untrusted input.

mod bases;
mod deployment;
mod document;
mod drivers;
mod entry;
mod frameworks;
mod graphs;
mod hardware;
mod libraries;
mod names;
mod opens;
mod packages;
mod places;
mod platforms;
#[cfg(test)]
mod tests;
mod walk;
mod weights;

use std::sync::OnceLock;

pub use bases::{BaseFacts, BaseImageRule, Distribution, Release, ValueRule};
pub use deployment::{Codec, DriverDelivery, Interval, LazyFormat, Node, Profile, ProfileMachine, Startup};
pub use document::FILE_BYTES;
pub use entry::CatalogError;
pub use frameworks::{CpuBuild, CudaClue, CudaFrom, Framework, FrameworkLevel};
pub use graphs::{GraphActivation, GraphCapture, GraphEffect, GraphFeature, GraphSwitch};
pub use hardware::{
    Architecture, ArchitectureSuffix, CudnnSupport, DriverBranch, GpuClass, Machine, MachineSize,
    MajorVersion, ReleasedToolkit, Service, Target,
};
pub use libraries::{HostLibrary, LibraryComponent, SonameRule};
pub use names::{LibraryName, major_minor, normalized_python_name, numbers, split_library_name};
pub use opens::{ExternalLibrary, Open, Search};
pub use packages::is_of_compilers;
pub use packages::{CudaSuffix, Maker, PackageKind, PackageRule};
pub use places::{DevelPath, Evidence, PathClass, PathScope, ToolFolder, ToolkitRoot};
pub use platforms::{Accelerator, AcceleratorNames, NvccUse, PythonCuda, PythonPackage, TorchWheel};
pub use walk::{FolderState, PathRules, Walker};
pub use weights::{Magic, WeightFormat};

use document::Document;

/// The built-in files, as name in error messages and text.
const BUILTIN: [(&str, &str); 16] = [
    ("components.toml", include_str!("../../../assets/catalog/components.toml")),
    ("driver.toml", include_str!("../../../assets/catalog/driver.toml")),
    ("dlopen.toml", include_str!("../../../assets/catalog/dlopen.toml")),
    ("frameworks.toml", include_str!("../../../assets/catalog/frameworks.toml")),
    ("architectures.toml", include_str!("../../../assets/catalog/architectures.toml")),
    ("toolkits.toml", include_str!("../../../assets/catalog/toolkits.toml")),
    ("targets.toml", include_str!("../../../assets/catalog/targets.toml")),
    ("cudnn.toml", include_str!("../../../assets/catalog/cudnn.toml")),
    ("weights.toml", include_str!("../../../assets/catalog/weights.toml")),
    ("files.toml", include_str!("../../../assets/catalog/files.toml")),
    ("leftovers.toml", include_str!("../../../assets/catalog/leftovers.toml")),
    ("packages.toml", include_str!("../../../assets/catalog/packages.toml")),
    ("base_images.toml", include_str!("../../../assets/catalog/base_images.toml")),
    ("deployment.toml", include_str!("../../../assets/catalog/deployment.toml")),
    ("graphs.toml", include_str!("../../../assets/catalog/graphs.toml")),
    ("platforms.toml", include_str!("../../../assets/catalog/platforms.toml")),
];

/// All facts independent of an image, with their lookup indexes.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    document: Document,
    libraries: libraries::Index,
    frameworks: frameworks::Index,
    opens: opens::Index,
    packages: packages::Index,
    places: places::Index,
    net: walk::Net,
    weights: weights::Index,
    fault: Option<String>,
}

impl Catalog {
    /// The built-in catalogue. A test checks its files. If they are invalid, the catalogue is empty and
    /// [`Self::fault`] returns the reason, so that a report can include a warning instead of a panic.
    pub fn builtin() -> &'static Self {
        static BUILT: OnceLock<Catalog> = OnceLock::new();
        BUILT.get_or_init(|| {
            // A test checks the entries: at every start, that would be nearly half of the instructions for the catalogue.
            Self::build(Document::default(), &BUILTIN, Document::parse)
                .unwrap_or_else(|error| Self { fault: Some(error.to_string()), ..Self::default() })
        })
    }

    /// The built-in catalogue with further files, given as `(name, text)`, merged in order. A file may
    /// contain any tables; an entry with a known key replaces the old one, others are appended.
    ///
    /// # Errors
    /// A file is too large, is not valid TOML, has an unknown table or key, an entry without a source, a
    /// duplicate key, or a pattern that is invalid or too large.
    pub fn with_user_files(files: &[(&str, &str)]) -> Result<Self, CatalogError> {
        Self::build(Self::builtin().document.clone(), files, Document::checked)
    }

    fn build(
        mut document: Document,
        files: &[(&str, &str)],
        parse: fn(&str, &str) -> Result<Document, CatalogError>,
    ) -> Result<Self, CatalogError> {
        for (name, text) in files {
            document.merge(parse(name, text)?);
        }
        Ok(Self {
            libraries: libraries::Index::new(&document.components, &document.host_libraries)?,
            frameworks: frameworks::Index::new(&document.frameworks)?,
            opens: opens::Index::new(&document.opens),
            packages: packages::Index::new(
                &document.package_rules,
                &document.makers,
                &document.cuda_suffixes,
            )?,
            places: places::Index::new(&document.toolkit_roots),
            net: walk::Net::new(&document)?,
            weights: weights::Index::new(&document.weight_formats),
            document,
            fault: None,
        })
    }

    /// Why the built-in catalogue is empty; `None` in every tested build.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}
