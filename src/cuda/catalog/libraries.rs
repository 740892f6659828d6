//! Libraries: which component a name belongs to, and what the host supplies.

use std::collections::HashMap;

use regex::bytes::RegexSet;
use serde::Deserialize;

use super::document::{CatalogEntry, CatalogError, Document, texts};
use super::names::{library_stem, split_library_name, whole_name_set};
use super::{Catalog, normalized_python_name};

/// A component of CUDA, or of what runs on it, by the contract's name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryComponent {
    /// Its name, such as `cublas`.
    pub name: String,
    /// Stems of its libraries, such as `libcublasLt`.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Regular expressions that fit the whole stem of further ones.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Sonames that determine the major version of CUDA.
    #[serde(default, rename = "soname")]
    pub sonames: Vec<SonameRule>,
    /// Regular expressions that fit the whole name of a package that holds it, of any manager. Names of
    /// Python distributions are compared as PEP 503 does.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Whether the host's driver supplies it.
    #[serde(default)]
    pub driver: bool,
    /// The SM number that it begins with, such as 80: on older GPUs its callers do without it.
    #[serde(default)]
    pub needs_sm: Option<u32>,
    /// Where the facts come from.
    pub source: String,
}

/// A soname and the major versions of CUDA that have it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SonameRule {
    /// The soname, such as `libcufft.so.11`.
    pub name: String,
    /// The major versions, such as 12; several where the soname did not change.
    pub cuda: Vec<u32>,
}

impl LibraryComponent {
    /// The major versions of CUDA that a soname or file name of this component belongs to: empty when it does
    /// not tell, several when versions share it. `libcufft.so.11.2.1.3` counts as `libcufft.so.11`.
    pub fn cuda_of_soname(&self, soname: &[u8]) -> &[u32] {
        let Some(asked) = split_library_name(soname) else { return &[] };
        let fits = |rule: &&SonameRule| {
            split_library_name(rule.name.as_bytes())
                .is_some_and(|known| known.stem == asked.stem && asked.version.starts_with(&known.version))
        };
        self.sonames.iter().find(fits).map_or(&[], |rule| &rule.cuda)
    }
}

/// Libraries and programs that a driver capability brings in from the host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLibrary {
    /// The value of `NVIDIA_DRIVER_CAPABILITIES`; `any` for those that only some ways of mounting bring.
    pub capability: String,
    /// Stems of the libraries.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Regular expressions that fit the whole stem of further ones.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Stems that `patterns` fit and that the driver does not have all the same.
    #[serde(default)]
    pub except: Vec<String>,
    /// Programs that come with them.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Where the facts come from.
    pub source: String,
}

impl CatalogEntry for LibraryComponent {
    fn key(&self) -> String {
        self.name.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn patterns(&self) -> Vec<&str> {
        self.patterns.iter().chain(&self.packages).map(String::as_str).collect()
    }
}

impl CatalogEntry for HostLibrary {
    fn key(&self) -> String {
        self.capability.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn patterns(&self) -> Vec<&str> {
        texts(&self.patterns)
    }
}

/// Stems and patterns, and the entry that each belongs to.
#[derive(Clone, Debug, Default)]
struct Stems {
    exact: HashMap<Vec<u8>, usize>,
    set: RegexSet,
    owners: Vec<usize>,
}

impl Stems {
    fn new<'a>(
        table: &'static str,
        entries: impl Iterator<Item = (&'a [String], &'a [String])>,
    ) -> Result<Self, CatalogError> {
        let mut exact = HashMap::new();
        let (mut patterns, mut owners) = (Vec::new(), Vec::new());
        for (index, (stems, more)) in entries.enumerate() {
            exact.extend(stems.iter().map(|stem| (stem.clone().into_bytes(), index)));
            patterns.extend_from_slice(more);
            owners.resize(patterns.len(), index);
        }
        let set = whole_name_set(&patterns).map_err(CatalogError::patterns(table))?;
        Ok(Self { exact, set, owners })
    }

    fn find(&self, stem: &[u8]) -> Option<usize> {
        let by_pattern = || self.owners.get(self.set.matches(stem).iter().next()?).copied();
        self.exact.get(stem).copied().or_else(by_pattern)
    }
}

/// What makes the lookups of this file cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    components: Stems,
    packages: Stems,
    hosts: Stems,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let components = document.components.iter();
        Ok(Self {
            components: Stems::new("component", components.clone().map(|c| (&*c.libraries, &*c.patterns)))?,
            packages: Stems::new("component", components.map(|c| (&[][..], &*c.packages)))?,
            hosts: Stems::new(
                "host_library",
                document.host_libraries.iter().map(|h| (&*h.libraries, &*h.patterns)),
            )?,
        })
    }
}

impl Catalog {
    /// All components, in the order of the file.
    pub fn components(&self) -> &[LibraryComponent] {
        &self.document.components
    }

    /// A component by its name.
    pub fn component(&self, name: &str) -> Option<&LibraryComponent> {
        self.document.components.iter().find(|component| component.name == name)
    }

    /// The component that a library's file name or soname belongs to; hashes of auditwheel do not matter.
    pub fn component_of(&self, file_name: &[u8]) -> Option<&LibraryComponent> {
        self.document.components.get(self.libraries.components.find(library_stem(file_name)?)?)
    }

    /// The component that a package of any manager holds at run time.
    pub fn component_of_package(&self, name: &str) -> Option<&LibraryComponent> {
        let find = |name: &str| self.libraries.packages.find(name.as_bytes());
        self.document.components.get(find(name).or_else(|| find(&normalized_python_name(name)))?)
    }

    /// Whether the host's driver supplies the library of that file name or soname.
    pub fn is_driver(&self, file_name: &[u8]) -> bool {
        self.driver_capability(file_name).is_some()
    }

    /// The driver capability that brings the library of that file name or soname into a container.
    pub fn driver_capability(&self, file_name: &[u8]) -> Option<&str> {
        let stem = library_stem(file_name)?;
        let host = self.document.host_libraries.get(self.libraries.hosts.find(stem)?)?;
        let excepted = host.except.iter().any(|except| except.as_bytes() == stem);
        (!excepted).then_some(host.capability.as_str())
    }

    /// What the host supplies, by capability.
    pub fn host_libraries(&self) -> &[HostLibrary] {
        &self.document.host_libraries
    }
}
