//! Places: toolkit folders, content for building, folders of tools, classes of paths.

use serde::Deserialize;

use super::Catalog;
use super::document::{CatalogEntry, CatalogError, Document, texts};
use super::names::{Glob, file_name};
use super::walk::Net;

/// What a path is compared from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathScope {
    /// The absolute path.
    System,
    /// What follows the root of a CUDA toolkit; `targets/*/` is left out, and `lib64/` counts as `lib/`.
    Toolkit,
    /// What follows `site-packages/` or `dist-packages/`.
    Python,
}

/// Possible roots of a CUDA toolkit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolkitRoot {
    /// Absolute folder; a star is any text within one part.
    pub pattern: String,
    /// Where the fact comes from.
    pub source: String,
}

/// What must match in addition to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Nothing: the folder belongs to one product.
    Path,
    /// The package that lists it is there for building.
    Owner,
    /// Its content is a static archive or an object file.
    Archive,
    /// Its name is that of a header.
    Header,
    /// Its name is that of a file for build systems.
    Metadata,
    /// Its name is that of a document, or a package of the system lists it.
    Document,
    /// An installed package or Python's own library holds it, and nothing else imports it.
    Test,
}

/// Content for building, by path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevelPath {
    /// Its name.
    pub id: String,
    /// What the globs are compared with.
    pub scope: PathScope,
    /// The contract's category of findings, such as `static-libraries`.
    pub category: String,
    /// Globs.
    pub patterns: Vec<String>,
    /// Globs of what is no such content all the same.
    #[serde(default)]
    pub except: Vec<String>,
    /// Whether it belongs to CUDA, and not to any compiler or framework.
    #[serde(default = "yes")]
    pub cuda: bool,
    /// What it counts as in `reads_devel` of frameworks, when some of them read it at run time.
    #[serde(default)]
    pub read_as: Option<String>,
    /// What must agree with the path; by its scope and category when nothing is said.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// Where the fact comes from.
    pub source: String,
}

const fn yes() -> bool {
    true
}

/// Folders of tools that packages start themselves: their programs are not roots.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFolder {
    /// What the globs are compared with.
    pub scope: PathScope,
    /// Globs of files.
    pub patterns: Vec<String>,
    /// Where the fact comes from.
    pub source: String,
}

/// Classes of paths without an owning package or recognised content.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathClass {
    /// The contract's class, such as `cuda-runtime`.
    pub class: String,
    /// What the globs are compared with.
    pub scope: PathScope,
    /// Globs.
    pub patterns: Vec<String>,
    /// Where the fact comes from.
    pub source: String,
}

/// An [`CatalogEntry`] by its key, its patterns and its globs.
macro_rules! entry {
    ($entry:ty, $key:expr, $patterns:expr, $globs:expr) => {
        impl CatalogEntry for $entry {
            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }
            fn source(&self) -> &str {
                &self.source
            }
            fn patterns(&self) -> Vec<&str> {
                let patterns: fn(&Self) -> Vec<&str> = $patterns;
                patterns(self)
            }
            fn globs(&self) -> Vec<&str> {
                let globs: fn(&Self) -> Vec<&str> = $globs;
                globs(self)
            }
        }
    };
}

pub(super) use entry;

entry!(ToolkitRoot, |it| it.pattern.clone(), |_| Vec::new(), |it| vec![&it.pattern]);
entry!(DevelPath, |it| it.id.clone(), |_| Vec::new(), |it| both(&it.patterns, &it.except));
entry!(ToolFolder, |it| it.patterns.join(" "), |_| Vec::new(), |it| texts(&it.patterns));
entry!(PathClass, |it| format!("{} {:?}", it.class, it.scope), |_| Vec::new(), |it| texts(&it.patterns));

pub(super) fn both<'a>(patterns: &'a [String], except: &'a [String]) -> Vec<&'a str> {
    patterns.iter().chain(except).map(String::as_str).collect()
}

/// What makes the lookups of this file cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    roots: Vec<Root>,
    net: Net,
}

/// A [`ToolkitRoot`], to be compared with.
#[derive(Clone, Debug)]
struct Root {
    /// What its pattern begins with.
    literal: Vec<u8>,
    /// How many folders there are in it.
    parts: usize,
    glob: Glob,
    /// A folder called `cuda-` something goes on with a number: `/opt/cuda-server` is no toolkit.
    versioned: bool,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let mut index = Self { roots: Vec::new(), net: Net::new(document)? };
        for ToolkitRoot { pattern, .. } in &document.toolkit_roots {
            index.roots.push(Root {
                literal: pattern.split('*').next().unwrap_or_default().as_bytes().to_vec(),
                parts: pattern.matches('/').count(),
                glob: Glob::new(pattern).map_err(CatalogError::patterns("toolkit_root"))?,
                versioned: file_name(pattern.as_bytes()).starts_with(b"cuda-*"),
            });
        }
        Ok(index)
    }

    pub(super) fn net(&self) -> &Net {
        &self.net
    }

    fn split_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.roots.iter().find_map(|root| {
            if !path.starts_with(&root.literal) {
                return None;
            }
            let mut slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let end = slashes.nth(root.parts).unwrap_or(path.len());
            let (folder, rest) = path.split_at_checked(end)?;
            let version = || file_name(folder).get(b"cuda-".len()).is_some_and(u8::is_ascii_digit);
            let fits = root.glob.is_match(folder) && (!root.versioned || version());
            fits.then(|| (folder, rest.get(1..).unwrap_or_default()))
        })
    }
}

impl Catalog {
    /// Splits an absolute path into the root of a CUDA toolkit and what follows it, without the slash.
    pub fn toolkit_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.places.split_root(path)
    }

    /// Rules about content for building, in the order of the files.
    pub fn devel_paths(&self) -> &[DevelPath] {
        &self.document.devel_paths
    }

    /// The rule by which an absolute path is content for building: of all that fit, the one whose category
    /// the report takes first, then the first. For many paths a [`Self::walker`] is faster.
    pub fn is_devel_path(&self, path: &[u8]) -> Option<&DevelPath> {
        self.path_rules(path).devel
    }

    /// Whether a file is in a folder of tools that packages start themselves, by its absolute path.
    pub fn is_tool(&self, path: &[u8]) -> bool {
        self.path_rules(path).tool
    }

    /// Class of a path, if neither a package nor its content determines one.
    pub fn class_of_path(&self, path: &[u8]) -> Option<&str> {
        self.path_rules(path).class
    }
}
