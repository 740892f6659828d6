//! Relevance of string references in unknown Python packages.

use crate::cuda::catalog::normalized_python_name;
use crate::cuda::packages::Packages;
use crate::formats::string_references::STARTS;

/// Words that count in packages, too. Others, such as names of C compilers, occur in many packages that use
/// them only for building.
pub(super) const OF_PACKAGES: [&str; 11] = [
    "nvcc",
    "ptxas",
    "nvlink",
    "fatbinary",
    "cicc",
    "libdevice",
    "libnvvm",
    "cpp_extension",
    "load_inline",
    "cuda_runtime.h",
    "preload_dlls",
];

/// Names of build tools. They count in sources that start programs.
const BUILDS: [&str; 9] = ["gcc", "g++", "clang", "cc", "gfortran", "make", "cmake", "ninja", "cargo"];

/// Packages that help to build others or compile on request: their needs are known from elsewhere, or are
/// irrelevant at run time.
const HELPERS: [&str; 38] = [
    "build",
    "cffi",
    "cmake",
    "conan",
    "conda",
    "cython",
    "distlib",
    "distro",
    "flit",
    "flit-core",
    "hatch",
    "hatchling",
    "ipython",
    "maturin",
    "meson",
    "meson-python",
    "mypy",
    "nanobind",
    "ninja",
    "numpy",
    "packaging",
    "pbr",
    "pip",
    "pkgconfig",
    "platformdirs",
    "poetry",
    "poetry-core",
    "psutil",
    "pybind11",
    "pythran",
    "scikit-build",
    "scikit-build-core",
    "scikit-learn",
    "scipy",
    "setuptools",
    "uv",
    "virtualenv",
    "wheel",
];

/// Whether a package is one of [`HELPERS`].
pub(super) fn is_helper(packages: &Packages, owner: Option<usize>) -> bool {
    let package = owner.and_then(|owner| packages.list.get(owner));
    package.is_some_and(|package| HELPERS.contains(&normalized_python_name(&package.name).as_str()))
}

/// Whether a word counts in a source of a package; `words` are all words of that source.
pub(super) fn counts(word: &str, words: &[&'static str], is_helper: bool) -> bool {
    let starts = || !is_helper && words.iter().any(|word| STARTS.contains(word));
    OF_PACKAGES.contains(&word) || BUILDS.contains(&word) && starts()
}
