//! Places: toolkit folders, content for building, folders of tools, classes of paths.

use std::borrow::Cow;

use regex::bytes::Regex;
use serde::Deserialize;

use super::Catalog;
use super::document::{CatalogError, Document, Entry, texts};
use super::names::{Glob, Globs, pattern};

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

/// Where a CUDA toolkit may lie.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolkitRoot {
    /// Absolute folder; a star is any text within one part.
    pub pattern: String,
    /// Where the fact comes from.
    pub source: String,
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
    /// Where the fact comes from.
    pub source: String,
}

const fn yes() -> bool {
    true
}

/// Folders of tools that packages start by themselves: what lies there is no root of its own.
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

/// What paths are for when neither a package nor their content tells.
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

/// An [`Entry`] by its key, its patterns and its globs.
macro_rules! entry {
    ($entry:ty, $key:expr, $patterns:expr, $globs:expr) => {
        impl Entry for $entry {
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

/// Globs of one table, by scope, each with its entry.
#[derive(Clone, Debug, Default)]
struct Rules {
    system: Globs,
    toolkit: Globs,
    python: Globs,
    except: Vec<Vec<Glob>>,
}

impl Rules {
    fn new<'a>(
        entries: impl Iterator<Item = (PathScope, &'a [String], &'a [String])>,
    ) -> Result<Self, CatalogError> {
        let compile = |glob: &String| Glob::new(glob).map_err(CatalogError::patterns("path"));
        let mut rules = Self::default();
        for (at, (scope, patterns, except)) in entries.enumerate() {
            let list = match scope {
                PathScope::System => &mut rules.system,
                PathScope::Toolkit => &mut rules.toolkit,
                PathScope::Python => &mut rules.python,
            };
            for glob in patterns {
                list.push(compile(glob)?, at);
            }
            rules.except.push(except.iter().map(compile).collect::<Result<_, _>>()?);
        }
        Ok(rules)
    }

    fn find(&self, path: &Scoped<'_>) -> Option<usize> {
        let inner = path.toolkit.as_deref().map(|rest| (&self.toolkit, rest));
        let python = path.python.map(|rest| (&self.python, rest));
        let all = [python, inner, Some((&self.system, path.absolute))];
        all.into_iter().flatten().find_map(|(rules, text)| {
            let excepted =
                |at: usize| self.except.get(at).is_some_and(|list| list.iter().any(|e| e.is_match(text)));
            rules.find(text, |at| !excepted(at))
        })
    }
}

/// A path as each scope sees it.
struct Scoped<'a> {
    absolute: &'a [u8],
    toolkit: Option<Cow<'a, [u8]>>,
    python: Option<&'a [u8]>,
}

/// Whether a folder called `cuda-` something goes on with a number: `/opt/cuda-server` is no toolkit.
fn names_a_version(root: &[u8]) -> bool {
    let name = root.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name.strip_prefix(b"cuda-").is_none_or(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

/// What makes the lookups of this file cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Literal beginning, number of parts, and glob of each root.
    roots: Vec<(Vec<u8>, usize, Glob)>,
    /// `None` only in an empty catalogue.
    python: Option<Regex>,
    devel: Rules,
    tools: Rules,
    classes: Rules,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let fault = CatalogError::patterns;
        let mut index = Self {
            python: Some(pattern("/(?:site|dist)-packages/").map_err(fault("path"))?),
            devel: Rules::new(document.devel_paths.iter().map(|d| (d.scope, &*d.patterns, &*d.except)))?,
            tools: Rules::new(document.tool_folders.iter().map(|t| (t.scope, &*t.patterns, &[][..])))?,
            classes: Rules::new(document.path_classes.iter().map(|c| (c.scope, &*c.patterns, &[][..])))?,
            ..Self::default()
        };
        for root in &document.toolkit_roots {
            let literal = root.pattern.split('*').next().unwrap_or_default();
            let parts = root.pattern.matches('/').count();
            let glob = Glob::new(&root.pattern).map_err(fault("toolkit_root"))?;
            index.roots.push((literal.as_bytes().to_vec(), parts, glob));
        }
        Ok(index)
    }

    fn split_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.roots.iter().find_map(|(literal, parts, glob)| {
            if !path.starts_with(literal) {
                return None;
            }
            let mut slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let end = slashes.nth(*parts).unwrap_or(path.len());
            let (root, rest) = path.split_at_checked(end)?;
            let fits = glob.is_match(root) && names_a_version(root);
            fits.then(|| (root, rest.get(1..).unwrap_or_default()))
        })
    }

    fn scoped<'a>(&self, path: &'a [u8]) -> Scoped<'a> {
        let toolkit = self.split_root(path).map(|(_, rest)| plain_toolkit_path(rest));
        let python = self.python.as_ref().and_then(|regex| regex.find(path));
        let python = python.and_then(|found| path.get(found.end()..));
        Scoped { absolute: path, toolkit, python }
    }
}

/// `targets/x86_64-linux/lib/a` and `lib64/a` are both `lib/a`.
fn plain_toolkit_path(rest: &[u8]) -> Cow<'_, [u8]> {
    let target = rest.strip_prefix(b"targets/");
    let inner = target.and_then(|inner| inner.get(inner.iter().position(|byte| *byte == b'/')? + 1..));
    let rest = inner.unwrap_or(rest);
    match rest.strip_prefix(b"lib64/") {
        Some(below) => Cow::Owned([b"lib/", below].concat()),
        None => Cow::Borrowed(rest),
    }
}

impl Catalog {
    /// Splits an absolute path into the root of a CUDA toolkit and what follows it, without the slash.
    pub fn toolkit_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.places.split_root(path)
    }

    /// The rule by which an absolute path is content for building.
    pub fn is_devel_path(&self, path: &[u8]) -> Option<&DevelPath> {
        self.document.devel_paths.get(self.places.devel.find(&self.places.scoped(path))?)
    }

    /// Whether a file lies in a folder of tools that packages start by themselves, by its absolute path.
    pub fn is_tool(&self, path: &[u8]) -> bool {
        self.places.tools.find(&self.places.scoped(path)).is_some()
    }

    /// What a path is for, as a class of the contract, when neither a package nor its content tells.
    pub fn class_of_path(&self, path: &[u8]) -> Option<&str> {
        let at = self.places.classes.find(&self.places.scoped(path))?;
        self.document.path_classes.get(at).map(|class| class.class.as_str())
    }
}
