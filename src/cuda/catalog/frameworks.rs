//! Frameworks and services: recognition by packages and files, and their CUDA version.

use regex::bytes::RegexSet;
use serde::Deserialize;

use super::document::{CatalogEntry, CatalogError, Document};
use super::names::{Glob, Globs, pattern, whole, whole_name_set};
use super::{Catalog, normalized_python_name};

/// Level of a framework in the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameworkLevel {
    /// It answers requests.
    Server,
    /// Model code and pipelines.
    Model,
    /// torch, tensorflow and the like.
    Framework,
    /// Kernel libraries and their compilers.
    Kernels,
}

/// A framework, kernel library or server that matters to GPU work.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framework {
    /// Its name, such as `torch`.
    pub name: String,
    /// Level in the stack.
    pub level: FrameworkLevel,
    /// Regular expressions that fit the whole name of its Python distributions, in the form of PEP 503.
    #[serde(default)]
    pub pip: Vec<String>,
    /// The same for conda packages.
    #[serde(default)]
    pub conda: Vec<String>,
    /// The same for packages of dpkg, rpm and apk.
    #[serde(default)]
    pub system: Vec<String>,
    /// Globs of whole paths that identify it without an owning package.
    #[serde(default)]
    pub files: Vec<String>,
    /// Stems of the libraries that carry its GPU side, such as `libtorch_cuda`.
    #[serde(default)]
    pub core_libraries: Vec<String>,
    /// Marks of a build without CUDA.
    #[serde(default)]
    pub cpu: CpuBuild,
    /// Whether CUDA's runtime (and more) is linked into it, so that missing libraries prove nothing.
    #[serde(default)]
    pub static_cuda: bool,
    /// Sources of its CUDA version, best first.
    #[serde(default)]
    pub cuda_from: Vec<CudaFrom>,
    /// Content for building that it reads at run time: `compiler`, `headers`, `nvcc`, `ptxas`, `libdevice`,
    /// `libnvvm`, `cudadevrt`, `ninja`, `builder-resources`.
    #[serde(default)]
    pub reads_devel: Vec<String>,
    /// What it reads at run time only when one of its features is used, such as `torch.compile`.
    #[serde(default)]
    pub asks_devel: Vec<String>,
    /// Where the facts come from.
    pub source: String,
}

/// Marks of a build without CUDA.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuBuild {
    /// Regular expressions over its version, such as `\+cpu`.
    #[serde(default)]
    pub versions: Vec<String>,
    /// Regular expressions that fit the whole name of a distribution that has no CUDA.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Whether it has no CUDA when none of its core libraries is there, and what there is holds no GPU code.
    #[serde(default)]
    pub without_core_library: bool,
    /// Regular expressions over the version of a build for other devices, such as `\+rocm`.
    #[serde(default)]
    pub other_devices: Vec<String>,
}

/// A way to learn which CUDA a framework was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CudaClue {
    /// The first group of `pattern` (and the second, as the minor version), over the text of the file `path`
    /// below the folder of Python packages. Of these files only `torch/version.py` is read.
    VersionFile,
    /// The first group of `pattern` (and the second, as the minor version), over the package's name.
    PackageName,
    /// The same over the package's version.
    PackageVersion,
    /// The version of the soname of `library` among the NEEDED entries of the core libraries.
    Soname,
}

/// A way to learn which CUDA a framework was built for, and what it needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaFrom {
    /// Which way.
    pub clue: CudaClue,
    /// Regular expression with one or two groups.
    #[serde(default)]
    pub pattern: Option<String>,
    /// File, for [`CudaClue::VersionFile`].
    #[serde(default)]
    pub path: Option<String>,
    /// Stem, for [`CudaClue::Soname`].
    #[serde(default)]
    pub library: Option<String>,
}

impl Framework {
    /// CUDA version in a package's name and version, such as `12` or `12.8`.
    pub fn cuda_of_package(&self, name: &str, version: &str) -> Option<String> {
        let name = normalized_python_name(name);
        self.cuda_from.iter().find_map(|way| {
            let text = match way.clue {
                CudaClue::PackageName => &name,
                CudaClue::PackageVersion => version,
                CudaClue::VersionFile | CudaClue::Soname => return None,
            };
            way.captured(text.as_bytes())
        })
    }

    /// CUDA version in a file's text, for rules that read a file of this name.
    pub fn cuda_of_file(&self, path: &str, text: &[u8]) -> Option<String> {
        let ways = self.cuda_from.iter().filter(|way| way.path.as_deref() == Some(path));
        ways.filter(|way| way.clue == CudaClue::VersionFile).find_map(|way| way.captured(text))
    }

    /// Whether the package's name or version say that it has no CUDA. `false` proves nothing.
    pub fn is_cpu_build(&self, name: &str, version: &str) -> bool {
        let name = normalized_python_name(name);
        fits(&self.cpu.versions, version) || fits_whole(&self.cpu.packages, &name)
    }

    /// Whether it may hold GPU code itself: model code and servers mostly leave that to others.
    pub fn may_hold_code(&self) -> bool {
        matches!(self.level, FrameworkLevel::Framework | FrameworkLevel::Kernels)
            || !self.core_libraries.is_empty()
            || !self.cuda_from.is_empty()
            || self.static_cuda
    }

    /// Whether the package's version names devices other than NVIDIA's.
    pub fn is_for_other_devices(&self, version: &str) -> bool {
        fits(&self.cpu.other_devices, version)
    }
}

// These are asked for a handful of packages only, so that compiling on the spot costs nothing that shows.
fn fits(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|one| pattern(one).is_ok_and(|regex| regex.is_match(text.as_bytes())))
}

fn fits_whole(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|one| pattern(&whole(one)).is_ok_and(|regex| regex.is_match(text.as_bytes())))
}

impl CudaFrom {
    fn captured(&self, text: &[u8]) -> Option<String> {
        let captures = pattern(self.pattern.as_deref()?).ok()?.captures(text)?;
        let group = |number| captures.get(number).and_then(|found| str::from_utf8(found.as_bytes()).ok());
        let major = group(1)?;
        Some(group(2).map_or_else(|| major.to_owned(), |minor| format!("{major}.{minor}")))
    }
}

impl CatalogEntry for Framework {
    fn key(&self) -> String {
        self.name.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn patterns(&self) -> Vec<&str> {
        let names = self.pip.iter().chain(&self.conda).chain(&self.system);
        let cpu = self.cpu.versions.iter().chain(&self.cpu.packages).chain(&self.cpu.other_devices);
        let cuda = self.cuda_from.iter().filter_map(|way| way.pattern.as_ref());
        names.chain(cpu).chain(cuda).map(String::as_str).collect()
    }
    fn globs(&self) -> Vec<&str> {
        self.files.iter().map(String::as_str).collect()
    }
}

/// Patterns of one manager, and the framework that each belongs to.
#[derive(Clone, Debug, Default)]
struct Names {
    set: RegexSet,
    owners: Vec<usize>,
}

impl Names {
    fn new(document: &Document, list: impl Fn(&Framework) -> &[String]) -> Result<Self, CatalogError> {
        let (mut patterns, mut owners) = (Vec::new(), Vec::new());
        for (index, framework) in document.frameworks.iter().enumerate() {
            patterns.extend_from_slice(list(framework));
            owners.resize(patterns.len(), index);
        }
        let set = whole_name_set(&patterns).map_err(CatalogError::patterns("framework"))?;
        Ok(Self { set, owners })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.owners.get(self.set.matches(name.as_bytes()).iter().next()?).copied()
    }
}

/// What makes the lookups of this file cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pip: Names,
    conda: Names,
    system: Names,
    files: Globs,
}

impl Index {
    pub(super) fn new(document: &Document) -> Result<Self, CatalogError> {
        let mut files = Globs::default();
        for (index, framework) in document.frameworks.iter().enumerate() {
            for glob in &framework.files {
                files.push(Glob::new(glob).map_err(CatalogError::patterns("framework"))?, index);
            }
        }
        Ok(Self {
            pip: Names::new(document, |framework| &framework.pip)?,
            conda: Names::new(document, |framework| &framework.conda)?,
            system: Names::new(document, |framework| &framework.system)?,
            files,
        })
    }
}

impl Catalog {
    /// All frameworks, in the order of the file.
    pub fn frameworks(&self) -> &[Framework] {
        &self.document.frameworks
    }

    /// A framework by its name.
    pub fn framework(&self, name: &str) -> Option<&Framework> {
        self.document.frameworks.iter().find(|framework| framework.name == name)
    }

    /// The framework that a package is, by its manager (`pip`, `conda`, and any other for the system's).
    pub fn framework_of_package(&self, manager: &str, name: &str) -> Option<&Framework> {
        let at = match manager {
            "pip" => self.frameworks.pip.find(&normalized_python_name(name)),
            "conda" => self.frameworks.conda.find(name),
            _ => self.frameworks.system.find(name),
        };
        self.document.frameworks.get(at?)
    }

    /// The framework identified by a file, by its absolute path.
    pub fn framework_of_path(&self, path: &[u8]) -> Option<&Framework> {
        self.document.frameworks.get(self.frameworks.files.find(path, |_| true)?)
    }
}
