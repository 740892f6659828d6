//! Frameworks and services: recognition by packages and files, and their CUDA version.

use serde::Deserialize;

use super::entry::{CatalogEntry, CatalogError, entry, texts};
use super::names::{NamePatterns, pattern, whole};
use super::{Catalog, normalized_python_name};

/// Level of a framework in the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameworkLevel {
    /// Inference or API server.
    Server,
    /// Model code and pipelines.
    Model,
    /// General frameworks, such as torch and tensorflow.
    Framework,
    /// Kernel libraries and their compilers.
    Kernels,
}

/// A GPU framework, kernel library or server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framework {
    /// Identifier, such as `torch`.
    pub name: String,
    /// Level in the stack.
    pub level: FrameworkLevel,
    /// Regular expressions for whole names of its Python distributions, normalised as in PEP 503.
    #[serde(default)]
    pub pip: Vec<String>,
    /// Regular expressions for whole names of its conda packages.
    #[serde(default)]
    pub conda: Vec<String>,
    /// Regular expressions for whole names of its dpkg, rpm and apk packages.
    #[serde(default)]
    pub system: Vec<String>,
    /// Globs of absolute paths that identify it without an owning package.
    #[serde(default)]
    pub files: Vec<String>,
    /// Stems of its GPU libraries, such as `libtorch_cuda`.
    #[serde(default)]
    pub core_libraries: Vec<String>,
    /// Criteria for a build without CUDA.
    #[serde(default)]
    pub cpu: CpuBuild,
    /// Whether it links libcudart (and more) statically, so that missing libraries prove nothing.
    #[serde(default)]
    pub static_cuda: bool,
    /// Methods to find its CUDA version, the most reliable first.
    #[serde(default)]
    pub cuda_from: Vec<CudaFrom>,
    /// Development files that it reads at run time: `compiler`, `headers`, `nvcc`, `ptxas`, `libdevice`,
    /// `libnvvm`, `cudadevrt`, `ninja`, `builder-resources`.
    #[serde(default)]
    pub reads_devel: Vec<String>,
    /// Development files that it reads at run time only if a feature such as `torch.compile` is used.
    #[serde(default)]
    pub asks_devel: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

/// Criteria for a build without CUDA.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuBuild {
    /// Regular expressions for its version, such as `\+cpu`.
    #[serde(default)]
    pub versions: Vec<String>,
    /// Regular expressions for whole names of distributions without CUDA.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Whether it has no CUDA if none of its core libraries is present and its files contain no GPU code.
    #[serde(default)]
    pub without_core_library: bool,
    /// Regular expressions for the version of a build for other devices, such as `\+rocm`.
    #[serde(default)]
    pub other_devices: Vec<String>,
}

/// Method to find the CUDA version that a framework was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CudaClue {
    /// The first group of `pattern` (and the second, as the minor version), matched against the file `path`
    /// below `site-packages`. Only `torch/version.py` is read.
    VersionFile,
    /// The first group of `pattern` (and the second, as the minor version), matched against the package name.
    PackageName,
    /// As [`Self::PackageName`], matched against the package version.
    PackageVersion,
    /// The soname version of `library` among the NEEDED entries of the core libraries.
    Soname,
}

/// A method to find the CUDA version, and its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaFrom {
    /// Method.
    pub clue: CudaClue,
    /// Regular expression with one or two groups.
    pub pattern: Option<String>,
    /// File below `site-packages`, for [`CudaClue::VersionFile`].
    pub path: Option<String>,
    /// Library stem, for [`CudaClue::Soname`].
    pub library: Option<String>,
}

impl Framework {
    /// CUDA version from a package name and version, such as `12` or `12.8`.
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

    /// CUDA version from the text of a file, for methods that read this path.
    pub fn cuda_of_file(&self, path: &str, text: &[u8]) -> Option<String> {
        let ways = self.cuda_from.iter().filter(|way| way.path.as_deref() == Some(path));
        ways.filter(|way| way.clue == CudaClue::VersionFile).find_map(|way| way.captured(text))
    }

    /// Whether package name or version identify a build without CUDA. `false` proves nothing.
    pub fn is_cpu_build(&self, name: &str, version: &str) -> bool {
        let name = normalized_python_name(name);
        fits(&self.cpu.versions, version) || fits_whole(&self.cpu.packages, &name)
    }

    /// Whether it may contain GPU code itself; model code and servers mostly depend on other packages for it.
    pub fn may_hold_code(&self) -> bool {
        matches!(self.level, FrameworkLevel::Framework | FrameworkLevel::Kernels)
            || !self.core_libraries.is_empty()
            || !self.cuda_from.is_empty()
            || self.static_cuda
    }

    /// Whether the package version identifies a build for devices other than NVIDIA's.
    pub fn is_for_other_devices(&self, version: &str) -> bool {
        fits(&self.cpu.other_devices, version)
    }
}

// Matched for few packages only, so that patterns are compiled on use.
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

entry!(
    Framework,
    |it| it.name.clone(),
    patterns: |it| {
        let names = it.pip.iter().chain(&it.conda).chain(&it.system);
        let cpu = it.cpu.versions.iter().chain(&it.cpu.packages).chain(&it.cpu.other_devices);
        texts(names.chain(cpu).chain(it.cuda_from.iter().filter_map(|way| way.pattern.as_ref())))
    },
    globs: |it| texts(&it.files)
);

/// Lookup index of the framework table.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pip: NamePatterns,
    conda: NamePatterns,
    system: NamePatterns,
}

impl Index {
    pub(super) fn new(frameworks: &[Framework]) -> Result<Self, CatalogError> {
        let names = |list: fn(&Framework) -> &Vec<String>| {
            NamePatterns::new("framework", frameworks.iter().map(list))
        };
        Ok(Self {
            pip: names(|one| &one.pip)?,
            conda: names(|one| &one.conda)?,
            system: names(|one| &one.system)?,
        })
    }
}

impl Catalog {
    /// All frameworks, in file order.
    pub fn frameworks(&self) -> &[Framework] {
        &self.document.frameworks
    }

    /// A framework by its name.
    pub fn framework(&self, name: &str) -> Option<&Framework> {
        self.document.frameworks.iter().find(|framework| framework.name == name)
    }

    /// The framework of a package, by manager (`pip`, `conda`; any other value is a system package manager)
    /// and name.
    pub fn framework_of_package(&self, manager: &str, name: &str) -> Option<&Framework> {
        let index = &self.frameworks;
        let at = match manager {
            "pip" => index.pip.find(normalized_python_name(name).as_bytes()).next(),
            "conda" => index.conda.find(name.as_bytes()).next(),
            _ => index.system.find(name.as_bytes()).next(),
        };
        self.document.frameworks.get(at?)
    }
}
