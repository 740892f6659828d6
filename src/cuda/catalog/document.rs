//! A catalogue file as parsed: all tables that a file may contain, checked and merged.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::bases::{BaseImageRule, Distribution, Release};
use super::deployment::{Codec, LazyFormat, Node, Profile, Startup};
use super::entry::{CatalogEntry, CatalogError};
use super::frameworks::Framework;
use super::graphs::{GraphCapture, GraphFeature, GraphSwitch};
use super::hardware::{
    Architecture, CudnnSupport, DriverBranch, Machine, MajorVersion, ReleasedToolkit, Service, Target,
};
use super::libraries::{HostLibrary, LibraryComponent};
use super::names::pattern;
use super::opens::{ExternalLibrary, Open};
use super::packages::{CudaSuffix, Maker, PackageRule};
use super::places::{DevelPath, PathClass, ToolFolder, ToolkitRoot};
use super::platforms::{Accelerator, PythonPackage, TorchWheel};
use super::weights::WeightFormat;

/// Maximum size of a catalogue file, in bytes; each built-in file is smaller than 64 KiB.
pub const FILE_BYTES: usize = 1 << 20;

/// Maximum length of a pattern or glob, in bytes; longer lists are split into several patterns.
const PATTERN_TEXT_BYTES: usize = 1 << 10;

macro_rules! document {
    ($($field:ident: $entry:ty = $table:literal,)*) => {
        /// All tables; entries are in file order.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct Document {
            $(#[serde(rename = $table)] pub(super) $field: Vec<$entry>,)*
        }

        impl Document {
            fn check(&self, file: &str) -> Result<(), CatalogError> {
                $(check(file, $table, &self.$field)?;)*
                Ok(())
            }

            /// Merges `newer` into this document: entries with a known key replace the old ones, others are
            /// appended.
            pub(super) fn merge(&mut self, newer: Self) {
                $(merge(&mut self.$field, newer.$field);)*
            }

            /// Table, key and source of every entry.
            #[cfg(test)]
            pub(super) fn entries(&self) -> Vec<(&'static str, String, &str)> {
                let mut all = Vec::new();
                $(all.extend(self.$field.iter().map(|entry| ($table, entry.key(), entry.source())));)*
                all
            }
        }
    };
}

document! {
    components: LibraryComponent = "component",
    host_libraries: HostLibrary = "host_library",
    opens: Open = "open",
    external_libraries: ExternalLibrary = "external_library",
    frameworks: Framework = "framework",
    architectures: Architecture = "architecture",
    toolkits: ReleasedToolkit = "toolkit",
    majors: MajorVersion = "major",
    driver_branches: DriverBranch = "driver_branch",
    targets: Target = "target",
    machines: Machine = "machine",
    services: Service = "service",
    cudnn_support: CudnnSupport = "cudnn_support",
    weight_formats: WeightFormat = "weight_format",
    toolkit_roots: ToolkitRoot = "toolkit_root",
    devel_paths: DevelPath = "devel_path",
    tool_folders: ToolFolder = "tool_folder",
    path_classes: PathClass = "path_class",
    package_rules: PackageRule = "package_rule",
    makers: Maker = "maker",
    cuda_suffixes: CudaSuffix = "cuda_suffix",
    base_images: BaseImageRule = "base_image",
    distributions: Distribution = "distribution",
    releases: Release = "release",
    profiles: Profile = "profile",
    nodes: Node = "node",
    codecs: Codec = "codec",
    lazy_formats: LazyFormat = "lazy_format",
    graph_captures: GraphCapture = "graph_capture",
    graph_features: GraphFeature = "graph_feature",
    graph_switches: GraphSwitch = "graph_switch",
    accelerators: Accelerator = "accelerator",
    python_packages: PythonPackage = "python_package",
    torch_wheels: TorchWheel = "torch_wheel",
    startups: Startup = "startup",
}

impl Document {
    /// Parses and checks one file.
    pub(super) fn checked(file: &str, text: &str) -> Result<Self, CatalogError> {
        let document = Self::parse(file, text)?;
        document.check(file)?;
        Ok(document)
    }

    /// Parses one file, whose entries were checked before.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, CatalogError> {
        if text.len() > FILE_BYTES {
            return Err(CatalogError::TooLarge {
                file: file.to_owned(),
                bytes: text.len(),
                limit: FILE_BYTES,
            });
        }
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
            CatalogError::Syntax { file: file.to_owned(), line, column, message: error.message().to_owned() }
        })
    }
}

fn check<E: CatalogEntry>(file: &str, table: &'static str, entries: &[E]) -> Result<(), CatalogError> {
    let mut keys = BTreeSet::new();
    for entry in entries {
        let key = entry.key();
        let fault = |message: String| CatalogError::CatalogEntry {
            file: file.to_owned(),
            table,
            key: key.clone(),
            message,
        };
        if entry.source().trim().is_empty() {
            return Err(fault("empty source".to_owned()));
        }
        for text in entry.patterns() {
            short(text).map_err(&fault)?;
            pattern(text).map_err(|error| fault(error.to_string()))?;
        }
        for text in entry.globs() {
            short(text).map_err(&fault)?;
        }
        if let Some(message) = entry.fault() {
            return Err(fault(message));
        }
        if keys.contains(&key) {
            return Err(fault("duplicate entry".to_owned()));
        }
        keys.insert(key);
    }
    Ok(())
}

fn short(text: &str) -> Result<(), String> {
    let limit = PATTERN_TEXT_BYTES;
    if text.len() > limit { Err(format!("pattern longer than {limit} bytes")) } else { Ok(()) }
}

fn merge<E: CatalogEntry>(known: &mut Vec<E>, newer: Vec<E>) {
    let mut places: BTreeMap<String, usize> =
        known.iter().enumerate().map(|(place, entry)| (entry.key(), place)).collect();
    for entry in newer {
        let place = *places.entry(entry.key()).or_insert(known.len());
        match known.get_mut(place) {
            Some(old) => *old = entry,
            None => known.push(entry),
        }
    }
}
