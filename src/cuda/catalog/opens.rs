//! What libraries and Python packages open at run time.

use std::collections::HashMap;

use regex::bytes::Regex;
use serde::Deserialize;

use super::document::{CatalogEntry, CatalogError, Document};
use super::names::{glob_pattern, library_stem, numbers, pattern};
use super::{Catalog, LibraryName, normalized_python_name, split_library_name};

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
    /// Whether the names are only where the package finds what its modules need (NEEDED): it opens nothing itself, so
    /// that which version is loaded stands in its modules.
    #[serde(default)]
    pub needed_only: bool,
    /// The call that opens them, such as `onnxruntime.preload_dlls()`; `None` when loading the opener does.
    pub call: Option<String>,
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

impl CatalogEntry for Open {
    fn key(&self) -> String {
        let who = self.opener.as_deref().or(self.package.as_deref()).unwrap_or_default();
        let kind = match (self.needed_only, self.optional) {
            (true, _) => " (needed)",
            (false, true) => " (optional)",
            (false, false) => "",
        };
        format!("{who}{kind}")
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn globs(&self) -> Vec<&str> {
        let who = self.opener.iter().chain(&self.package);
        who.chain(&self.names).chain(&self.folders).map(String::as_str).collect()
    }
}

impl CatalogEntry for ExternalLibrary {
    fn key(&self) -> String {
        self.name.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
}

/// What makes the lookups of this file cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Entries by the stem of their opener.
    openers: HashMap<Vec<u8>, Vec<usize>>,
    wild: Vec<(Regex, usize)>,
    packages: Vec<(Regex, usize)>,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let mut index = Self::default();
        let compile = |glob: &str| pattern(&glob_pattern(glob)).map_err(CatalogError::patterns("open"));
        for (at, open) in document.opens.iter().enumerate() {
            if let Some(opener) = &open.opener {
                let stem = library_stem(opener.as_bytes()).unwrap_or(opener.as_bytes());
                match str::from_utf8(stem) {
                    Ok(stem) if stem.contains('*') => index.wild.push((compile(stem)?, at)),
                    _ => index.openers.entry(stem.to_vec()).or_default().push(at),
                }
            }
            if let Some(package) = &open.package {
                index.packages.push((compile(package)?, at));
            }
        }
        Ok(index)
    }
}

impl Catalog {
    /// What the library of that file name or soname opens at run time, in the order of the file.
    pub fn opens_of<'a>(&'a self, file_name: &[u8]) -> impl Iterator<Item = &'a Open> + use<'a> {
        let mut found = Vec::new();
        if let Some(LibraryName { stem, version, .. }) = split_library_name(file_name) {
            found.extend(self.opens.openers.get(stem).into_iter().flatten().copied());
            let wild = self.opens.wild.iter().filter(|(regex, _)| regex.is_match(stem));
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
        let packages = self.opens.packages.iter();
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
