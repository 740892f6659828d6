//! What packages of Python that nobody knows say, and which of it counts.

use crate::cuda::catalog::normalized_python_name;
use crate::cuda::packages::Packages;
use crate::formats::string_references::STARTS;

/// Words that count in packages, too. Others, such as the names of compilers of C, stand in many that help to
/// build and never do at run time.
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

/// Words of those who compile or build. In a source that starts programs they count.
const BUILDS: [&str; 9] = ["gcc", "g++", "clang", "cc", "gfortran", "make", "cmake", "ninja", "cargo"];

/// Packages that help to build others, or compile when they are asked to: what they need is told apart, or is no
/// matter at run time.
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

/// Whether a package is one of them.
pub(super) fn is_helper(packages: &Packages, owner: Option<usize>) -> bool {
    let package = owner.and_then(|owner| packages.list.get(owner));
    package.is_some_and(|package| HELPERS.contains(&normalized_python_name(&package.name).as_str()))
}

/// Whether a word counts in a source of a package that holds all of `words`.
pub(super) fn counts(word: &str, words: &[&'static str], is_helper: bool) -> bool {
    let starts = || !is_helper && words.iter().any(|word| STARTS.contains(word));
    OF_PACKAGES.contains(&word) || BUILDS.contains(&word) && starts()
}
