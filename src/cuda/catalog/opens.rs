//! Libraries that other libraries and Python packages open at run time.

use hashbrown::HashMap;
use serde::Deserialize;

use super::entry::{CatalogEntry, entry, texts};
use super::names::{library_stem, numbers};
use super::{Catalog, LibraryName, normalized_python_name, split_library_name};
use crate::formats::glob::glob_match;

/// First search location of the opener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// As `dlopen` with a bare name: loaded libraries, RPATH, `LD_LIBRARY_PATH`, RUNPATH, the cache.
    #[default]
    Loader,
    /// The opener's own folder, then as [`Self::Loader`].
    SameFolder,
    /// [`Open::folders`] below `site-packages`, then as [`Self::Loader`].
    SitePackages,
}

/// Libraries that a library or a Python package opens at run time, in addition to its NEEDED entries.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The opening library: a stem (`libcublasLt`, `*` allowed), or a stem with the first numbers of its
    /// version (`libcudnn.so.9`).
    pub opener: Option<String>,
    /// The Python distribution that opens them when imported, normalised as in PEP 503; `*` allowed.
    pub package: Option<String>,
    /// Names in the order of opening. `{major}` is the first number of the opener's version, `*` any text.
    pub names: Vec<String>,
    /// Whether the package only adds the search folders for NEEDED entries of its modules and opens nothing
    /// itself; the loaded version then follows from the modules.
    #[serde(default)]
    pub needed_only: bool,
    /// The call that opens them, such as `onnxruntime.preload_dlls()`; `None` if loading the opener is
    /// sufficient.
    pub call: Option<String>,
    /// Whether the opener runs without them, so that a missing one is not an error.
    #[serde(default)]
    pub optional: bool,
    /// First search location.
    #[serde(default)]
    pub search: Search,
    /// Folders below `site-packages`, `*` allowed, for [`Search::SitePackages`].
    #[serde(default)]
    pub folders: Vec<String>,
    /// Purpose, in a sentence.
    pub why: String,
    /// Source of the fact.
    pub source: String,
}

impl Open {
    /// The names that a library with this name opens, in order and without duplicates. A `{major}` without a
    /// version in the opener's name matches any version.
    pub fn names_for(&self, opener: &[u8]) -> Vec<String> {
        let major = split_library_name(opener).and_then(|name| name.version.first().copied());
        let major = major.map_or_else(|| "*".to_owned(), |major| major.to_string());
        let mut names: Vec<String> = Vec::with_capacity(self.names.len());
        for name in self.names.iter().map(|name| name.replace("{major}", &major)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// A library of the dlopen table that belongs to no component, with its supplier.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalLibrary {
    /// Library stem.
    pub name: String,
    /// Supplier, such as a package of the distribution.
    pub supplier: String,
    /// Source of the fact.
    pub source: String,
}

entry!(
    Open,
    |it| {
        let who = it.opener.as_deref().or(it.package.as_deref()).unwrap_or_default();
        let kind = match (it.needed_only, it.optional) {
            (true, _) => " (needed)",
            (false, true) => " (optional)",
            (false, false) => "",
        };
        format!("{who}{kind}")
    },
    globs: |it| texts(it.opener.iter().chain(&it.package).chain(&it.names).chain(&it.folders))
);
entry!(ExternalLibrary, |it| it.name.clone());

/// Lookup index of the dlopen table.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Entries by the stem of their opener.
    openers: HashMap<Vec<u8>, Vec<usize>>,
    /// Globs over stems of openers, and over names of packages.
    wild: Vec<(String, usize)>,
    packages: Vec<(String, usize)>,
}

impl Index {
    pub(super) fn new(opens: &[Open]) -> Self {
        let mut index = Self::default();
        for (at, open) in opens.iter().enumerate() {
            if let Some(opener) = &open.opener {
                let stem = library_stem(opener.as_bytes()).unwrap_or(opener.as_bytes());
                match str::from_utf8(stem) {
                    Ok(stem) if stem.contains('*') => index.wild.push((stem.to_owned(), at)),
                    _ => index.openers.entry(stem.to_vec()).or_default().push(at),
                }
            }
            index.packages.extend(open.package.clone().map(|package| (package, at)));
        }
        index
    }
}

impl Catalog {
    /// The entries whose opener is the library with this file name or soname, in file order.
    pub fn opens_of<'a>(&'a self, file_name: &[u8]) -> impl Iterator<Item = &'a Open> + use<'a> {
        let mut found = Vec::new();
        if let Some(LibraryName { stem, version, .. }) = split_library_name(file_name) {
            found.extend(self.opens.openers.get(stem).into_iter().flatten().copied());
            let wild = self.opens.wild.iter().filter(|(glob, _)| glob_match(glob.as_bytes(), stem));
            found.extend(wild.map(|(_, at)| *at));
            found.retain(|at| self.opener_has_version(*at, &version));
            found.sort_unstable();
        }
        found.into_iter().filter_map(|at| self.document.opens.get(at))
    }

    fn opener_has_version(&self, at: usize, version: &[u32]) -> bool {
        let opener = self.document.opens.get(at).and_then(|open| open.opener.as_deref()).unwrap_or_default();
        // An opener without a version, such as `libfoo.so`, may be any version.
        let asked =
            opener.split_once(".so.").map(|(_, suffix)| numbers(suffix.as_bytes())).unwrap_or_default();
        version.is_empty() || version.starts_with(&asked)
    }

    /// The entries whose opener is a Python distribution, in file order.
    pub fn opens_of_package<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Open> + use<'a> {
        let name = normalized_python_name(name);
        let packages = self.opens.packages.iter();
        packages
            .filter(move |(glob, _)| glob_match(glob.as_bytes(), name.as_bytes()))
            .filter_map(|(_, at)| self.document.opens.get(*at))
    }

    /// All entries of the dlopen table.
    pub fn opens(&self) -> &[Open] {
        &self.document.opens
    }

    /// The library outside the components, by file name, soname or stem.
    pub fn external_library(&self, name: &[u8]) -> Option<&ExternalLibrary> {
        let stem = library_stem(name).unwrap_or(name);
        self.document.external_libraries.iter().find(|library| library.name.as_bytes() == stem)
    }
}
