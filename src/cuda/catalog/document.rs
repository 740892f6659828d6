//! A catalogue file as parsed: all tables that a file may contain, checked and merged.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::bases::{BaseImageRule, Distribution, Release};
use super::frameworks::Framework;
use super::hardware::{
    Architecture, CudnnSupport, DriverBranch, Machine, MajorVersion, ReleasedToolkit, Service, Target,
};
use super::libraries::{HostLibrary, LibraryComponent};
use super::names::{Glob, pattern};
use super::opens::{ExternalLibrary, Open};
use super::packages::{CudaSuffix, Maker, PackageRule};
use super::places::{DevelPath, PathClass, ToolFolder, ToolkitRoot};
use super::weights::WeightFormat;

/// Maximum size of a catalogue file, in bytes; each built-in file is smaller than 64 KiB.
pub const FILE_BYTES: usize = 1 << 20;

/// Maximum length of a pattern or glob, in bytes; longer lists are split into several patterns.
const PATTERN_TEXT_BYTES: usize = 1 << 10;

/// Why a catalogue file was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The file exceeds [`FILE_BYTES`].
    #[error("cannot read the catalog {file}: {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// File name.
        file: String,
        /// File size, in bytes.
        bytes: usize,
        /// Maximum size, in bytes.
        limit: usize,
    },
    /// Invalid TOML, or an unknown or missing key.
    #[error("invalid {file}, line {line}, column {column}: {message}")]
    Syntax {
        /// File name.
        file: String,
        /// Line, starting at 1.
        line: usize,
        /// Column in characters, starting at 1.
        column: usize,
        /// Message of the TOML parser.
        message: String,
    },
    /// An entry is invalid.
    #[error("cannot use {table} {key:?} of the catalog {file}: {message}")]
    CatalogEntry {
        /// File name.
        file: String,
        /// Name of the table.
        table: &'static str,
        /// Key of the entry.
        key: String,
        /// Reason.
        message: String,
    },
    /// The patterns of a table exceed the size limit when compiled together.
    #[error("cannot compile the patterns of {table} in the catalog: {message}")]
    Patterns {
        /// Name of the table.
        table: &'static str,
        /// Message of the regex compiler.
        message: String,
    },
}

impl CatalogError {
    pub(super) fn patterns(table: &'static str) -> impl Fn(regex::Error) -> Self {
        move |error| Self::Patterns { table, message: error.to_string() }
    }
}

/// An entry of a catalogue table.
pub(super) trait CatalogEntry {
    /// Unique key within the table.
    fn key(&self) -> String;
    /// Source of the facts; never empty.
    fn source(&self) -> &str;
    /// Regular expressions of the entry.
    fn patterns(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Globs of the entry.
    fn globs(&self) -> Vec<&str> {
        Vec::new()
    }
}

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
}

impl Document {
    /// Parses and checks one file.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, CatalogError> {
        if text.len() > FILE_BYTES {
            return Err(CatalogError::TooLarge {
                file: file.to_owned(),
                bytes: text.len(),
                limit: FILE_BYTES,
            });
        }
        let document: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
            CatalogError::Syntax { file: file.to_owned(), line, column, message: error.message().to_owned() }
        })?;
        document.check(file)?;
        Ok(document)
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
            Glob::new(text).map_err(|error| fault(error.to_string()))?;
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

/// The items as string slices.
pub(super) fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}
