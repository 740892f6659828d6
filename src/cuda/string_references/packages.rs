//! Relevance of string references in unknown Python packages.

use crate::cuda::catalog::normalized_python_name;
use crate::cuda::packages::Packages;
use crate::formats::string_references::STARTS;

/// Words that count in packages, too. Others, such as names of C compilers, occur in many packages that use
/// them only for building.
pub(super) const OF_PACKAGES: [&str; 13] = [
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
    "autowrap",
    "ufuncify",
];

/// Programs of Node.js and its package managers.
pub const NODEJS: [&str; 10] =
    ["corepack", "node", "node-gyp", "nodejs", "npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"];

pub(super) fn is_of_nodejs(name: &[u8]) -> bool {
    NODEJS.iter().any(|program| program.as_bytes() == name)
}

/// Names of build tools. They count in sources that start programs.
const BUILDS: [&str; 10] =
    ["gcc", "g++", "clang", "cc", "gfortran", "make", "cmake", "ninja", "cargo", "install"];

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

/// Whether a package is one of [`HELPERS`]; that of a file in an `archive` of uv by the folder of its module.
pub(super) fn is_helper(packages: &Packages, owner: Option<usize>, archive: Option<&[u8]>) -> bool {
    let is_one = |name: &str| HELPERS.contains(&normalized_python_name(name).as_str());
    let package = owner.and_then(|owner| packages.list.get(owner));
    match package {
        Some(package) => is_one(&package.name),
        None => archive.and_then(archived).is_some_and(|name| is_one(&name)),
    }
}

/// Sources of packages that name tools and run none in a service, by package, folder and name; without a name all in the
/// folder, without a folder all.
const WITHOUT_TOOLS: [(&str, &[u8], &[u8]); 22] = [
    // URL schemes.
    ("bleach", b"_vendor", b"parse.py"),
    // A test outside of a folder for tests.
    ("debugpy", b"pydevd_attach_to_process", b""),
    // Commands of `hf`, which update it and install its extensions.
    ("huggingface-hub", b"cli", b""),
    // Commands for the developers of extensions.
    ("jupyter-builder", b"jupyter_builder", b""),
    // Commands for developers and tests.
    ("orbax-checkpoint", b"oss", b"run_tests.py"),
    ("spacy", b"cli", b""),
    ("weasel", b"cli", b""),
    // What torch requires it for compiles nothing. `autowrap` and `ufuncify` of an application are searched for.
    ("sympy", b"", b""),
    // These ask git about their own source tree only, which an installed package is not: Versioneer in pandas, and pyarrow,
    // where the wheel does not say its version.
    ("jax", b"jax", b"version.py"),
    ("jaxlib", b"jaxlib", b"version.py"),
    ("jupyter-server", b"jupyter_server", b"_sysinfo.py"),
    ("numba", b"scripts", b"generate_lower_listing.py"),
    ("numba", b"testing", b"main.py"),
    ("optree", b"optree", b"version.py"),
    ("pandas", b"pandas", b"_version.py"),
    ("pyarrow", b"pyarrow", b"__init__.py"),
    ("pydantic", b"_internal", b"_git.py"),
    ("websockets", b"websockets", b"version.py"),
    ("xarray", b"util", b"print_versions.py"),
    // `"git" in torch.__version__`
    ("torch", b"_inductor", b"config.py"),
    // GIT is a model.
    ("transformers", b"auto", b""),
    ("transformers", b"git", b""),
];

/// Whether a file is one of [`WITHOUT_TOOLS`].
pub(super) fn is_without_tools(
    packages: &Packages,
    owner: Option<usize>,
    folder: &[u8],
    name: &[u8],
) -> bool {
    let package = owner.and_then(|owner| packages.list.get(owner));
    package.is_some_and(|package| {
        let package = normalized_python_name(&package.name);
        let is_it = |(known, at, file): &(&str, &[u8], &[u8])| {
            package == *known && (at.is_empty() || folder == *at) && (file.is_empty() || name == *file)
        };
        WITHOUT_TOOLS.iter().any(is_it)
    })
}

/// The folder of an archive of uv, `/root/.cache/uv/archive-v0/HASH`, of a file in it.
pub(super) fn archive_of(path: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(path, b"/archive-v")? + 1;
    let mut slashes = memchr::memchr_iter(b'/', &path[start..]).map(|at| start + at);
    path.get(..slashes.nth(1)?)
}

/// The module folder of a file such as `/root/.cache/uv/archive-v0/HASH/hatchling/cli.py`.
fn archived(path: &[u8]) -> Option<String> {
    let start = memchr::memmem::find(path, b"/archive-v")?;
    let mut parts = path[start + 1..].split(|byte| *byte == b'/').skip(2);
    let (folder, _file) = (parts.next()?, parts.next()?);
    String::from_utf8(folder.to_vec()).ok()
}

/// Whether a word counts in a source of a package; `words` are all words of that source.
pub(super) fn counts(word: &str, words: &[&'static str], is_helper: bool) -> bool {
    let starts = || words.iter().any(|word| STARTS.contains(word));
    // The name of git is looked up in one file and used in another.
    OF_PACKAGES.contains(&word) || !is_helper && (word == "git" || BUILDS.contains(&word) && starts())
}
