//! System packages: development packages, driver packages, maintainers, CUDA major versions.

use regex::bytes::{Regex, RegexSet};
use serde::Deserialize;

use super::entry::{CatalogEntry, CatalogError, entry, texts};
use super::names::{NamePatterns, pattern, whole_name_set};
use super::{Catalog, normalized_python_name};

/// What a package rule says about a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackageKind {
    /// CUDA development files.
    CudaDevel,
    /// Compilers and other build tools.
    BuildTool,
    /// The driver, which the host supplies.
    Driver,
    /// A package of NVIDIA's CUDA repository, identified by name only.
    CudaRepository,
}

/// A rule for system packages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageRule {
    /// Identifier.
    pub id: String,
    /// What the rule says about the package.
    pub kind: PackageKind,
    /// Package managers to which it applies; all if empty.
    #[serde(default)]
    pub managers: Vec<String>,
    /// Regular expressions for whole package names.
    pub patterns: Vec<String>,
    /// Regular expressions for whole names that are excluded.
    #[serde(default)]
    pub except: Vec<String>,
    /// Category of findings.
    pub category: Option<String>,
    /// Value in `reads_devel` of frameworks that read this content.
    pub read_as: Option<String>,
    /// Whether it is a metapackage.
    #[serde(default)]
    pub meta: bool,
    /// Source of the fact.
    pub source: String,
}

/// Maintainer or vendor of the packages of NVIDIA's CUDA repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maker {
    /// Regular expression for the maintainer or vendor field.
    pub pattern: String,
    /// Source of the fact.
    pub source: String,
}

/// A rule for the CUDA major version in package names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaSuffix {
    /// Regular expression for the name; its first group is the major version.
    pub pattern: String,
    /// Source of the fact.
    pub source: String,
}

entry!(PackageRule, |it| it.id.clone(), patterns: |it| texts(it.patterns.iter().chain(&it.except)));
entry!(Maker, |it| it.pattern.clone(), patterns: |it| vec![&it.pattern]);
entry!(CudaSuffix, |it| it.pattern.clone(), patterns: |it| vec![&it.pattern]);

/// Lookup index of the package tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    rules: NamePatterns,
    except: Vec<RegexSet>,
    makers: Vec<Regex>,
    suffixes: Vec<Regex>,
}

impl Index {
    pub(super) fn new(
        rules: &[PackageRule],
        makers: &[Maker],
        suffixes: &[CudaSuffix],
    ) -> Result<Self, CatalogError> {
        let fault = CatalogError::patterns;
        let except = rules.iter().map(|rule| whole_name_set(&rule.except).map_err(fault("package_rule")));
        let makers = makers.iter().map(|maker| pattern(&maker.pattern).map_err(fault("maker")));
        let suffixes = suffixes.iter().map(|suffix| pattern(&suffix.pattern).map_err(fault("cuda_suffix")));
        Ok(Self {
            except: except.collect::<Result<_, _>>()?,
            rules: NamePatterns::new("package_rule", rules.iter().map(|rule| &rule.patterns))?,
            makers: makers.collect::<Result<_, _>>()?,
            suffixes: suffixes.collect::<Result<_, _>>()?,
        })
    }
}

impl Catalog {
    /// The rules that match a system package, in file order.
    pub fn package_rules<'a>(&'a self, manager: &str, name: &str) -> impl Iterator<Item = &'a PackageRule> {
        let fits = |at: &usize| {
            let excepted = self.packages.except.get(*at).is_some_and(|set| set.is_match(name.as_bytes()));
            let rule = self.document.package_rules.get(*at);
            let for_it =
                |rule: &PackageRule| rule.managers.is_empty() || rule.managers.iter().any(|m| m == manager);
            !excepted && rule.is_some_and(for_it)
        };
        let mut owners: Vec<usize> = self.packages.rules.find(name.as_bytes()).filter(fits).collect();
        owners.dedup();
        owners.into_iter().filter_map(|at| self.document.package_rules.get(at))
    }

    /// The rule that classifies a system package as a development package; CUDA rules first.
    pub fn is_devel_package(&self, manager: &str, name: &str) -> Option<&PackageRule> {
        let of = |kind| self.package_rules(manager, name).find(|rule| rule.kind == kind);
        of(PackageKind::CudaDevel).or_else(|| of(PackageKind::BuildTool))
    }

    /// The rule that classifies a system package as the driver.
    pub fn is_driver_package(&self, manager: &str, name: &str) -> Option<&PackageRule> {
        self.package_rules(manager, name).find(|rule| rule.kind == PackageKind::Driver)
    }

    /// Whether a system package comes from NVIDIA's CUDA repository: by its maintainer, or by its name if the
    /// database has no maintainer.
    pub fn is_nvidia_package(&self, name: &str, maker: Option<&str>) -> bool {
        if let Some(maker) = maker.filter(|maker| !maker.trim().is_empty()) {
            return self.packages.makers.iter().any(|regex| regex.is_match(maker.as_bytes()));
        }
        self.package_rules("", name).any(|rule| rule.kind == PackageKind::CudaRepository)
    }

    /// CUDA major version in a package name, such as 12 for `nvidia-cublas-cu12`.
    pub fn cuda_of_package_name(&self, name: &str) -> Option<u32> {
        let name = normalized_python_name(name);
        let captured = |regex: &Regex| {
            let captures = regex.captures(name.as_bytes())?;
            str::from_utf8(captures.get(1)?.as_bytes()).ok()?.parse().ok()
        };
        self.packages.suffixes.iter().find_map(captured)
    }
}

/// Whether a system package has headers or libraries that all compiled programs are made with: those of a compiler, of the
/// C library, of the kernel and of Python.
pub fn is_of_compilers(name: &str) -> bool {
    const STARTS: [&str; 17] = [
        "g++",
        "gcc",
        "glibc-",
        "kernel-headers",
        "libc-dev",
        "libclang-common-",
        "libc6-dev",
        "libcrypt-dev",
        "libgcc-",
        "libgfortran-",
        "libnsl-dev",
        "libomp-",
        "libstdc++-",
        "libtirpc-dev",
        "libxcrypt-devel",
        "linux-",
        "musl-dev",
    ];
    let of_python = ["libpython3", "python3"].iter().any(|start| name.starts_with(start));
    STARTS.iter().any(|start| name.starts_with(start))
        || of_python && (name.ends_with("-dev") || name.ends_with("-devel"))
}
