//! Path rules: toolkit roots, development files, tool folders, path classes.

use serde::Deserialize;

use super::Catalog;
use super::document::{CatalogEntry, CatalogError, Document, texts};
use super::names::{Glob, file_name};
use super::walk::Net;

/// Part of a path that globs are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathScope {
    /// The absolute path.
    System,
    /// The part below the root of a CUDA toolkit; `targets/*/` is removed, and `lib64/` counts as `lib/`.
    Toolkit,
    /// The part after `site-packages/` or `dist-packages/`.
    Python,
}

/// A possible root of a CUDA toolkit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolkitRoot {
    /// Absolute folder; `*` matches any text within one component.
    pub pattern: String,
    /// Source of the fact.
    pub source: String,
}

/// Condition in addition to a matching path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// None: the folder belongs to one product.
    Path,
    /// The owning package is a development package.
    Owner,
    /// The content is a static archive or an object file.
    Archive,
    /// The file name is that of a header.
    Header,
    /// The file name is that of build system metadata.
    Metadata,
    /// The file name is that of a document, or a system package owns the file.
    Document,
    /// The file belongs to an installed package or Python's standard library, and nothing else imports it.
    Test,
}

/// Development files, identified by path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevelPath {
    /// Identifier.
    pub id: String,
    /// Part of the path that globs are compared with.
    pub scope: PathScope,
    /// Category of findings, such as `static-libraries`.
    pub category: String,
    /// Globs.
    pub patterns: Vec<String>,
    /// Globs that are excluded.
    #[serde(default)]
    pub except: Vec<String>,
    /// Whether it belongs to CUDA, not to a compiler or framework.
    #[serde(default = "yes")]
    pub cuda: bool,
    /// Value in `reads_devel` of frameworks that read it at run time.
    #[serde(default)]
    pub read_as: Option<String>,
    /// Condition in addition to the path; `None` derives it from scope and category.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// Source of the fact.
    pub source: String,
}

const fn yes() -> bool {
    true
}

/// Folders of helper programs that packages start; these programs are not entry points of the image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFolder {
    /// Part of the path that globs are compared with.
    pub scope: PathScope,
    /// Globs of files.
    pub patterns: Vec<String>,
    /// Source of the fact.
    pub source: String,
}

/// Class of paths without an owning package or recognised content.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathClass {
    /// Class, such as `cuda-runtime`.
    pub class: String,
    /// Part of the path that globs are compared with.
    pub scope: PathScope,
    /// Globs.
    pub patterns: Vec<String>,
    /// Source of the fact.
    pub source: String,
}

/// Implements [`CatalogEntry`] with the given key, patterns and globs.
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

/// Lookup index of the path tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    roots: Vec<Root>,
    net: Net,
}

/// A compiled [`ToolkitRoot`].
#[derive(Clone, Debug)]
struct Root {
    /// The pattern up to its first star.
    literal: Vec<u8>,
    /// Number of path components.
    parts: usize,
    glob: Glob,
    /// Whether a number must follow `cuda-`: `/opt/cuda-server` is not a toolkit.
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
    /// Splits an absolute path into the root of a CUDA toolkit and the rest, without the slash.
    pub fn toolkit_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.places.split_root(path)
    }

    /// Rules for development files, in file order.
    pub fn devel_paths(&self) -> &[DevelPath] {
        &self.document.devel_paths
    }

    /// The rule that classifies an absolute path as development files: of all matching rules the one whose
    /// category comes first in the report, then the first one. For many paths [`Self::walker`] is faster.
    pub fn is_devel_path(&self, path: &[u8]) -> Option<&DevelPath> {
        self.path_rules(path).devel
    }

    /// Whether an absolute path is in a folder of helper programs that packages start.
    pub fn is_tool(&self, path: &[u8]) -> bool {
        self.path_rules(path).tool
    }

    /// Class of a path, for files without an owning package or recognised content.
    pub fn class_of_path(&self, path: &[u8]) -> Option<&str> {
        self.path_rules(path).class
    }
}
