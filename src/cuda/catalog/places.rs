//! Path rules: toolkit roots, development files, tool folders, path classes.

use serde::Deserialize;

use super::Catalog;
use super::entry::{CatalogEntry, entry, texts};
use super::names::file_name;
use crate::formats::glob::glob_match;

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
    pub read_as: Option<String>,
    /// Condition in addition to the path; `None` derives it from scope and category.
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

entry!(ToolkitRoot, |it| it.pattern.clone(), globs: |it| vec![&it.pattern]);
entry!(DevelPath, |it| it.id.clone(), globs: |it| texts(it.patterns.iter().chain(&it.except)));
entry!(ToolFolder, |it| it.patterns.join(" "), globs: |it| texts(&it.patterns));
entry!(PathClass, |it| format!("{} {:?}", it.class, it.scope), globs: |it| texts(&it.patterns));

/// Lookup index of the toolkit roots.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    roots: Vec<Root>,
}

/// A prepared [`ToolkitRoot`].
#[derive(Clone, Debug)]
struct Root {
    pattern: String,
    /// The pattern up to its first star.
    literal: Vec<u8>,
    /// Number of path components.
    parts: usize,
    /// Whether a number must follow `cuda-`: `/opt/cuda-server` is not a toolkit.
    versioned: bool,
}

impl Index {
    pub(super) fn new(roots: &[ToolkitRoot]) -> Self {
        let root = |ToolkitRoot { pattern, .. }: &ToolkitRoot| Root {
            literal: pattern.split('*').next().unwrap_or_default().as_bytes().to_vec(),
            parts: pattern.matches('/').count(),
            versioned: file_name(pattern.as_bytes()).starts_with(b"cuda-*"),
            pattern: pattern.clone(),
        };
        Self { roots: roots.iter().map(root).collect() }
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
            let fits = glob_match(root.pattern.as_bytes(), folder) && (!root.versioned || version());
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
}
