//! Places and packages: toolkit folders, content for building, classes of paths, who made a package.

use std::borrow::Cow;

use regex::bytes::{Regex, RegexSet};
use serde::Deserialize;

use super::document::{CatalogError, Document, Entry, texts};
use super::names::{Glob, pattern, whole_name_set};
use super::{Catalog, normalized_python_name};

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

/// What a rule about packages says of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackageKind {
    /// CUDA content for building.
    CudaDevel,
    /// Compilers and other things for building.
    BuildTool,
    /// The driver, which the host supplies.
    Driver,
    /// Of NVIDIA's CUDA repository, by its name alone.
    CudaRepository,
}

/// A rule about packages of the system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageRule {
    /// Its name.
    pub id: String,
    /// What it says.
    pub kind: PackageKind,
    /// The managers that it is for; all when empty.
    #[serde(default)]
    pub managers: Vec<String>,
    /// Regular expressions that fit the whole name.
    pub patterns: Vec<String>,
    /// The same, for names that are not meant.
    #[serde(default)]
    pub except: Vec<String>,
    /// The contract's category of findings.
    #[serde(default)]
    pub category: Option<String>,
    /// What it counts as in `reads_devel` of frameworks.
    #[serde(default)]
    pub read_as: Option<String>,
    /// Whether it only pulls in others.
    #[serde(default)]
    pub meta: bool,
    /// Where the fact comes from.
    pub source: String,
}

/// Who makes the packages of NVIDIA's CUDA repository, as package databases say it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maker {
    /// Regular expression over the maintainer or vendor.
    pub pattern: String,
    /// Where the fact comes from.
    pub source: String,
}

/// How names of packages tell the major version of CUDA.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaSuffix {
    /// Regular expression over the name, whose first group is the major version.
    pub pattern: String,
    /// Where the fact comes from.
    pub source: String,
}

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

entry!(ToolkitRoot, |it| it.pattern.clone(), |_| Vec::new(), |it| vec![&it.pattern]);
entry!(DevelPath, |it| it.id.clone(), |_| Vec::new(), |it| both(&it.patterns, &it.except));
entry!(ToolFolder, |it| it.patterns.join(" "), |_| Vec::new(), |it| texts(&it.patterns));
entry!(PathClass, |it| format!("{} {:?}", it.class, it.scope), |_| Vec::new(), |it| texts(&it.patterns));
entry!(PackageRule, |it| it.id.clone(), |it| both(&it.patterns, &it.except), |_| Vec::new());
entry!(Maker, |it| it.pattern.clone(), |it| vec![&it.pattern], |_| Vec::new());
entry!(CudaSuffix, |it| it.pattern.clone(), |it| vec![&it.pattern], |_| Vec::new());

fn both<'a>(patterns: &'a [String], except: &'a [String]) -> Vec<&'a str> {
    patterns.iter().chain(except).map(String::as_str).collect()
}

/// Globs of one table, by scope, each with its entry.
#[derive(Clone, Debug, Default)]
struct Rules {
    system: Vec<(Glob, usize)>,
    toolkit: Vec<(Glob, usize)>,
    python: Vec<(Glob, usize)>,
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
                list.push((compile(glob)?, at));
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
            let fits = |(glob, at): &&(Glob, usize)| {
                let excepted =
                    || self.except.get(*at).is_some_and(|list| list.iter().any(|e| e.is_match(text)));
                glob.is_match(text) && !excepted()
            };
            rules.iter().find(fits).map(|(_, at)| *at)
        })
    }
}

/// A path as each scope sees it.
struct Scoped<'a> {
    absolute: &'a [u8],
    toolkit: Option<Cow<'a, [u8]>>,
    python: Option<&'a [u8]>,
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
    packages: RegexSet,
    package_owners: Vec<usize>,
    package_except: Vec<RegexSet>,
    makers: Vec<Regex>,
    suffixes: Vec<Regex>,
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
        let mut names = Vec::new();
        for (at, rule) in document.package_rules.iter().enumerate() {
            names.extend_from_slice(&rule.patterns);
            index.package_owners.resize(names.len(), at);
            index.package_except.push(whole_name_set(&rule.except).map_err(fault("package_rule"))?);
        }
        index.packages = whole_name_set(&names).map_err(fault("package_rule"))?;
        for maker in &document.makers {
            index.makers.push(pattern(&maker.pattern).map_err(fault("maker"))?);
        }
        for suffix in &document.cuda_suffixes {
            index.suffixes.push(pattern(&suffix.pattern).map_err(fault("cuda_suffix"))?);
        }
        Ok(index)
    }

    fn split_root<'a>(&self, path: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.roots.iter().find_map(|(literal, parts, glob)| {
            if !path.starts_with(literal) {
                return None;
            }
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let end = slashes.skip(*parts).next().unwrap_or(path.len());
            let (root, rest) = path.split_at_checked(end)?;
            glob.is_match(root).then(|| (root, rest.get(1..).unwrap_or_default()))
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

    /// The rules that fit a package of the system, in the order of the file.
    pub fn package_rules<'a>(&'a self, manager: &str, name: &str) -> impl Iterator<Item = &'a PackageRule> {
        let mut owners: Vec<usize> = self.places.packages.matches(name.as_bytes()).iter().collect();
        owners
            .iter_mut()
            .for_each(|at| *at = self.places.package_owners.get(*at).copied().unwrap_or(usize::MAX));
        owners.dedup();
        owners.retain(|at| {
            let excepted =
                self.places.package_except.get(*at).is_some_and(|set| set.is_match(name.as_bytes()));
            let rule = self.document.package_rules.get(*at);
            let managed =
                rule.is_some_and(|r| r.managers.is_empty() || r.managers.iter().any(|m| m == manager));
            managed && !excepted
        });
        owners.into_iter().filter_map(|at| self.document.package_rules.get(at))
    }

    /// The rule by which a package of the system is there for building: CUDA's before others.
    pub fn is_devel_package(&self, manager: &str, name: &str) -> Option<&PackageRule> {
        let of = |kind| self.package_rules(manager, name).find(|rule| rule.kind == kind);
        of(PackageKind::CudaDevel).or_else(|| of(PackageKind::BuildTool))
    }

    /// The rule by which a package of the system is the driver.
    pub fn is_driver_package(&self, manager: &str, name: &str) -> Option<&PackageRule> {
        self.package_rules(manager, name).find(|rule| rule.kind == PackageKind::Driver)
    }

    /// Whether a package of the system comes from NVIDIA's CUDA repository: by its maker, or by its name when
    /// the database does not say who made it.
    pub fn is_nvidia_package(&self, name: &str, maker: Option<&str>) -> bool {
        if let Some(maker) = maker.filter(|maker| !maker.trim().is_empty()) {
            return self.places.makers.iter().any(|regex| regex.is_match(maker.as_bytes()));
        }
        self.package_rules("", name).any(|rule| rule.kind == PackageKind::CudaRepository)
    }

    /// The major version of CUDA that a package's name tells, such as 12 for `nvidia-cublas-cu12`.
    pub fn cuda_of_package_name(&self, name: &str) -> Option<u32> {
        let name = normalized_python_name(name);
        let captured = |regex: &Regex| {
            let captures = regex.captures(name.as_bytes())?;
            str::from_utf8(captures.get(1)?.as_bytes()).ok()?.parse().ok()
        };
        self.places.suffixes.iter().find_map(captured)
    }
}
