//! Libraries: which component a name belongs to, what the host supplies, what opens what at run time.

use std::collections::HashMap;

use regex::bytes::{Regex, RegexSet};
use serde::Deserialize;

use super::document::{CatalogError, Document, Entry, texts};
use super::names::{glob_pattern, library_stem, numbers, pattern, split_library_name, whole_name_set};
use super::{Catalog, LibraryName, normalized_python_name};

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
    /// Sonames that tell the major version of CUDA.
    #[serde(default, rename = "soname")]
    pub sonames: Vec<SonameRule>,
    /// Regular expressions that fit the whole name of a package that holds it, of any manager. Names of
    /// Python distributions are compared as PEP 503 does.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Whether the host's driver supplies it.
    #[serde(default)]
    pub driver: bool,
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

/// Where the opener looks first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// As `dlopen` with a bare name does: what is loaded, RPATH, `LD_LIBRARY_PATH`, RUNPATH, the cache.
    #[default]
    Loader,
    /// The opener's own folder, then as the loader does.
    SameFolder,
    /// [`Open::folders`] below the folder of Python packages, then as the loader does.
    SitePackages,
}

/// What a library or a Python package opens at run time, beyond its NEEDED entries.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The library that opens: a stem (`libcublasLt`, stars allowed), or one with the first numbers of its
    /// version (`libcudnn.so.9`).
    pub opener: Option<String>,
    /// Or the Python distribution that does so when it is imported, in the form of PEP 503; stars allowed.
    pub package: Option<String>,
    /// Names that are opened, in order. `{major}` is the first number of the opener's version, `*` any text.
    pub names: Vec<String>,
    /// Whether the opener does without: one that is missing is no fault then.
    #[serde(default)]
    pub optional: bool,
    /// Where it looks first.
    #[serde(default)]
    pub search: Search,
    /// Folders below that of Python packages, stars allowed, for [`Search::SitePackages`].
    #[serde(default)]
    pub folders: Vec<String>,
    /// What it is opened for, in a sentence.
    pub why: String,
    /// Where the fact comes from.
    pub source: String,
}

impl Open {
    /// The names that are opened by a library of that name, in order, each once. Names that need a version
    /// which the opener's name does not have match any version instead.
    pub fn names_for(&self, opener: &[u8]) -> Vec<OpenName> {
        let major = split_library_name(opener).and_then(|name| name.version.first().copied());
        let mut names: Vec<OpenName> = Vec::with_capacity(self.names.len());
        for name in &self.names {
            let text =
                name.replace("{major}", &major.map_or_else(|| "*".to_owned(), |major| major.to_string()));
            if !names.iter().any(|known| known.text == text) {
                let wild = if text.contains('*') { pattern(&glob_pattern(&text)).ok() } else { None };
                names.push(OpenName { text, wild });
            }
        }
        names
    }
}

/// One name that is opened, ready to be compared.
#[derive(Clone, Debug)]
pub struct OpenName {
    /// The name, with `*` where any text fits.
    pub text: String,
    wild: Option<Regex>,
}

impl OpenName {
    /// Whether several names fit.
    pub fn is_wild(&self) -> bool {
        self.wild.is_some()
    }

    /// Whether a file name or soname is meant.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.wild.as_ref().map_or_else(|| name == self.text.as_bytes(), |wild| wild.is_match(name))
    }
}

/// A library outside the components that the dlopen table names, and who supplies it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalLibrary {
    /// Its stem.
    pub name: String,
    /// Who supplies it, such as a package of the distribution.
    pub supplier: String,
    /// Where the fact comes from.
    pub source: String,
}

impl Entry for LibraryComponent {
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

impl Entry for HostLibrary {
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

impl Entry for Open {
    fn key(&self) -> String {
        let who = self.opener.as_deref().or(self.package.as_deref()).unwrap_or_default();
        format!("{who}{}", if self.optional { " (optional)" } else { "" })
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn globs(&self) -> Vec<&str> {
        let who = self.opener.iter().chain(&self.package);
        who.chain(&self.names).chain(&self.folders).map(String::as_str).collect()
    }
}

impl Entry for ExternalLibrary {
    fn key(&self) -> String {
        self.name.clone()
    }
    fn source(&self) -> &str {
        &self.source
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
    openers: HashMap<Vec<u8>, Vec<usize>>,
    wild_openers: Vec<(Regex, usize)>,
    opening_packages: Vec<(Regex, usize)>,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let components = document.components.iter();
        let mut index = Self {
            components: Stems::new("component", components.clone().map(|c| (&*c.libraries, &*c.patterns)))?,
            packages: Stems::new("component", components.map(|c| (&[][..], &*c.packages)))?,
            hosts: Stems::new(
                "host_library",
                document.host_libraries.iter().map(|h| (&*h.libraries, &*h.patterns)),
            )?,
            ..Self::default()
        };
        let compile = |glob: &str| pattern(&glob_pattern(glob)).map_err(CatalogError::patterns("open"));
        for (at, open) in document.opens.iter().enumerate() {
            if let Some(opener) = &open.opener {
                let stem = library_stem(opener.as_bytes()).unwrap_or(opener.as_bytes());
                match str::from_utf8(stem) {
                    Ok(stem) if stem.contains('*') => index.wild_openers.push((compile(stem)?, at)),
                    _ => index.openers.entry(stem.to_vec()).or_default().push(at),
                }
            }
            if let Some(package) = &open.package {
                index.opening_packages.push((compile(package)?, at));
            }
        }
        Ok(index)
    }
}

impl Catalog {
    /// All components, in the order of the file.
    pub fn components(&self) -> &[LibraryComponent] {
        &self.document.components
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

    /// What the library of that file name or soname opens at run time, in the order of the file.
    pub fn opens_of<'a>(&'a self, file_name: &[u8]) -> impl Iterator<Item = &'a Open> + use<'a> {
        let mut found = Vec::new();
        if let Some(LibraryName { stem, version, .. }) = split_library_name(file_name) {
            found.extend(self.libraries.openers.get(stem).into_iter().flatten().copied());
            let wild = self.libraries.wild_openers.iter().filter(|(regex, _)| regex.is_match(stem));
            found.extend(wild.map(|(_, at)| *at));
            found.retain(|at| self.opener_has_version(*at, &version));
            found.sort_unstable();
        }
        found.into_iter().filter_map(|at| self.document.opens.get(at))
    }

    fn opener_has_version(&self, at: usize, version: &[u32]) -> bool {
        let opener = self.document.opens.get(at).and_then(|open| open.opener.as_deref()).unwrap_or_default();
        // A name without a version, as `libfoo.so`, may be any.
        let asked =
            opener.split_once(".so.").map(|(_, suffix)| numbers(suffix.as_bytes())).unwrap_or_default();
        version.is_empty() || version.starts_with(&asked)
    }

    /// What a Python distribution opens when it is imported, in the order of the file.
    pub fn opens_of_package<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Open> + use<'a> {
        let name = normalized_python_name(name);
        let packages = self.libraries.opening_packages.iter();
        packages
            .filter(move |(regex, _)| regex.is_match(name.as_bytes()))
            .filter_map(|(_, at)| self.document.opens.get(*at))
    }

    /// All that is known to be opened at run time.
    pub fn opens(&self) -> &[Open] {
        &self.document.opens
    }

    /// Who supplies a library outside the components, by its file name, soname or stem.
    pub fn external_library(&self, name: &[u8]) -> Option<&ExternalLibrary> {
        let stem = library_stem(name).unwrap_or(name);
        self.document.external_libraries.iter().find(|library| library.name.as_bytes() == stem)
    }
}
