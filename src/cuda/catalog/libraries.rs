//! CUDA components of libraries, and libraries that the host supplies.

use hashbrown::HashMap;
use serde::Deserialize;

use super::entry::{CatalogEntry, CatalogError, entry, texts};
use super::names::{NamePatterns, library_stem, split_library_name};
use super::{Catalog, normalized_python_name};

/// A component of CUDA or of its ecosystem, with its name in the report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryComponent {
    /// Name, such as `cublas`.
    pub name: String,
    /// Stems of its libraries, such as `libcublasLt`.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Regular expressions for whole stems of further libraries.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Sonames that determine the CUDA major version.
    #[serde(default, rename = "soname")]
    pub sonames: Vec<SonameRule>,
    /// Regular expressions for whole names of packages that contain it, for all managers. Names of Python
    /// distributions are normalised as in PEP 503.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Whether the host's driver supplies it.
    #[serde(default)]
    pub driver: bool,
    /// Lowest supported SM number, such as 80; on older GPUs its callers run without it.
    pub needs_sm: Option<u32>,
    /// Source of the facts.
    pub source: String,
}

/// A soname and the CUDA major versions that use it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SonameRule {
    /// Soname, such as `libcufft.so.11`.
    pub name: String,
    /// CUDA major versions, such as 12; several if the soname did not change.
    pub cuda: Vec<u32>,
}

impl LibraryComponent {
    /// CUDA major versions of a soname or file name of this component: empty if unknown, several if they use
    /// the same soname. `libcufft.so.11.2.1.3` matches `libcufft.so.11`.
    pub fn cuda_of_soname(&self, soname: &[u8]) -> &[u32] {
        let Some(asked) = split_library_name(soname) else { return &[] };
        let fits = |rule: &&SonameRule| {
            split_library_name(rule.name.as_bytes())
                .is_some_and(|known| known.stem == asked.stem && asked.version.starts_with(&known.version))
        };
        self.sonames.iter().find(fits).map_or(&[], |rule| &rule.cuda)
    }
}

/// Host libraries and programs that a driver capability mounts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLibrary {
    /// Value of `NVIDIA_DRIVER_CAPABILITIES`; `any` for libraries that only some runtimes mount.
    pub capability: String,
    /// Stems of the libraries.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Regular expressions for whole stems of further libraries.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Stems that match `patterns` but do not belong to the driver.
    #[serde(default)]
    pub except: Vec<String>,
    /// Programs of the capability.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

entry!(LibraryComponent, |it| it.name.clone(), patterns: |it| texts(it.patterns.iter().chain(&it.packages)));
entry!(HostLibrary, |it| it.capability.clone(), patterns: |it| texts(&it.patterns));

/// Stems and patterns, with the index of their entry.
#[derive(Clone, Debug, Default)]
struct Stems {
    exact: HashMap<Vec<u8>, usize>,
    patterns: NamePatterns,
}

impl Stems {
    fn new<'a>(
        table: &'static str,
        entries: impl Iterator<Item = (&'a Vec<String>, &'a Vec<String>)> + Clone,
    ) -> Result<Self, CatalogError> {
        let stems = entries
            .clone()
            .enumerate()
            .flat_map(|(index, (stems, _))| stems.iter().map(move |stem| (stem.clone().into_bytes(), index)));
        Ok(Self {
            exact: stems.collect(),
            patterns: NamePatterns::new(table, entries.map(|(_, patterns)| patterns))?,
        })
    }

    fn find(&self, stem: &[u8]) -> Option<usize> {
        self.exact.get(stem).copied().or_else(|| self.patterns.find(stem).next())
    }
}

/// Lookup index of the library tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    components: Stems,
    packages: NamePatterns,
    hosts: Stems,
}

impl Index {
    pub(super) fn new(components: &[LibraryComponent], hosts: &[HostLibrary]) -> Result<Self, CatalogError> {
        Ok(Self {
            components: Stems::new("component", components.iter().map(|c| (&c.libraries, &c.patterns)))?,
            packages: NamePatterns::new("component", components.iter().map(|c| &c.packages))?,
            hosts: Stems::new("host_library", hosts.iter().map(|h| (&h.libraries, &h.patterns)))?,
        })
    }
}

impl Catalog {
    /// All components, in file order.
    pub fn components(&self) -> &[LibraryComponent] {
        &self.document.components
    }

    /// The component with this name.
    pub fn component(&self, name: &str) -> Option<&LibraryComponent> {
        self.document.components.iter().find(|component| component.name == name)
    }

    /// The component of a library by file name or soname, with or without auditwheel's hash.
    pub fn component_of(&self, file_name: &[u8]) -> Option<&LibraryComponent> {
        self.document.components.get(self.libraries.components.find(library_stem(file_name)?)?)
    }

    /// The component whose run-time libraries a package contains, for all managers.
    pub fn component_of_package(&self, name: &str) -> Option<&LibraryComponent> {
        let find = |name: &str| self.libraries.packages.find(name.as_bytes()).next();
        self.document.components.get(find(name).or_else(|| find(&normalized_python_name(name)))?)
    }

    /// Whether the host's driver supplies the library with this file name or soname.
    pub fn is_driver(&self, file_name: &[u8]) -> bool {
        self.driver_capability(file_name).is_some()
    }

    /// The driver capability that mounts the library with this file name or soname.
    pub fn driver_capability(&self, file_name: &[u8]) -> Option<&str> {
        let stem = library_stem(file_name)?;
        let host = self.document.host_libraries.get(self.libraries.hosts.find(stem)?)?;
        let excepted = host.except.iter().any(|except| except.as_bytes() == stem);
        (!excepted).then_some(host.capability.as_str())
    }

    /// Host libraries and programs, by driver capability.
    pub fn host_libraries(&self) -> &[HostLibrary] {
        &self.document.host_libraries
    }
}
