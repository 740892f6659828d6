//! The searched words.

/// Searched words: build and profiling tools, CUDA headers, and framework calls that compile code or load libraries;
/// then the other lists of this module.
pub const WORDS: [&str; 216] = joined(&[&TOOLS, &CARGO_BUILDS, &TREE_SCRIPTS, &STARTS]);

const TOOLS: [&str; 198] = [
    "nvcc",
    "ptxas",
    "nvlink",
    "fatbinary",
    "cudafe++",
    "cuobjdump",
    "nvdisasm",
    "nvprune",
    "cicc",
    "libdevice",
    "libnvvm",
    "libcudadevrt",
    "cpp_extension",
    "load_inline",
    "RawKernel",
    "cuda_runtime.h",
    "cuda_fp16.h",
    "gcc",
    "g++",
    "clang",
    "cc1",
    "ninja",
    "cmake",
    "make",
    "git",
    "gdb",
    "cuda-gdb",
    "compute-sanitizer",
    "nsys",
    "ncu",
    "nvprof",
    "perf",
    "strace",
    "valgrind",
    "pkg-config",
    "CUDA_HOME",
    "preload_dlls",
    // From here on: tools searched in texts and in programs, not in libraries.
    "-config",
    "aclocal",
    "addr2line",
    "ar",
    "as",
    "autoconf",
    "autoheader",
    "autom4te",
    "automake",
    "autoreconf",
    "autoscan",
    "autoupdate",
    "bazel",
    "bin2c",
    "bison",
    "c++",
    "c++filt",
    "c89",
    "c99",
    "cargo",
    "cc",
    "ccache",
    "ccmake",
    "cpack",
    "cpp",
    "ctest",
    "cu++filt",
    "dpkg-",
    "dwp",
    "elfedit",
    "flex",
    "gcore",
    "gcov",
    "gdbserver",
    "gencat",
    "gfortran",
    "git-receive-pack",
    "git-shell",
    "git-upload-archive",
    "git-upload-pack",
    "gmake",
    "go",
    "gofmt",
    "gp-archive",
    "gp-collect",
    "gp-display",
    "gprof",
    "gprofng",
    "gstack",
    "ifnames",
    "ld",
    "libtool",
    "libtoolize",
    "lld",
    "lldb",
    "llvm",
    "ltrace",
    "lto-dump",
    "m4",
    "make-first-existing-target",
    "memusage",
    "mtrace",
    "nm",
    "objcopy",
    "objdump",
    "patchelf",
    "pkgconf",
    "ranlib",
    "readelf",
    "rpcgen",
    "rpmbuild",
    "rustc",
    "scalar",
    "size",
    "sotruss",
    "sprof",
    "strings",
    "strip",
    "swig",
    "tileiras",
    "vgdb",
    "yacc",
    // Build systems whose recipes name no compiler. Searched in texts only.
    "/waf",
    "meson",
    "scons",
    // Package managers.
    "uv",
    "uvx",
    // Python modules that compile when they are called or imported. Searched in texts only.
    "_compilation",
    "autowrap",
    "cffi",
    "cppimport",
    "Cython.Build",
    "cython.inline",
    "cython_inline",
    "cythonize",
    "f2py",
    "mypyc",
    "nuitka",
    "pycc",
    "pymc",
    "pytensor",
    "pyximport",
    "tinygrad",
    "ufuncify",
    "use_cpp",
    // Commands that build packages where there is no wheel, gem or binary for them. Searched in texts only.
    "build_ext",
    "bundler/inline",
    "bunx",
    "corepack",
    "CPAN::Shell",
    "cpanm",
    "DependencyInstaller",
    "ext_modules",
    "ffi.compile",
    "ffi.set_source",
    "ffi.verify",
    "Gem.install",
    "install",
    "install.packages",
    "luarocks",
    "Makefile.PL",
    "mkmf",
    "node-gyp",
    "npm",
    "npx",
    "pip._internal",
    "pip.main",
    "pnpm",
    "ProjectBuilder",
    "rebuild",
    "setup.py",
    "wheel",
    "yarn",
    // How Python and Perl were built, which extensions repeat, and what compiles those of Perl and R. Searched in texts only.
    "LDSHARED",
    "LDCXXSHARED",
    "Config{cc}",
    "Config{ld}",
    "Config{make}",
    "CBuilder",
    "SHLIB",
    // The variables that name compilers, and folders of documentation. Searched in texts only.
    "CC",
    "CXX",
    "FC",
    "NVCC",
    "share/doc",
    "share/man",
    // What runs tests. Searched in texts only.
    ".tests",
    "pytest",
    "unittest",
    // Paths of headers and static libraries. Searched in texts only.
    "/usr/include",
    "/usr/lib",
    // Records of builds, and the folder of pkg-config's files. Searched in texts only.
    "CMakeCache.txt",
    "compile_commands.json",
    "config.log",
    "pkgconfig",
    // The function of Python that looks for a library outside of the loader's cache with the tools of a compiler.
    "find_library",
    // Where that function looks besides. Searched in texts only.
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    // Names of object files, at the end of a string. Searched in texts only.
    ".o\"",
    ".o'",
    // The folder of npm's packages. Searched in texts only.
    "node_modules",
];

/// Folders in which cargo's build scripts are and write, and those of intermediate output. A program opens what is there
/// by a compiled path.
pub const CARGO_BUILDS: [&str; 4] = ["debug/build", "debug/deps", "release/build", "release/deps"];

/// Whether a setting or a command names a folder with intermediate output of cargo.
pub fn names_intermediate(text: &str) -> bool {
    text.contains("/deps") || CARGO_BUILDS.iter().any(|folder| text.contains(folder))
}

/// Scripts and folders of a source tree: they say nothing about what those start. The folders of tests are searched in
/// texts only, the scripts in texts and programs.
pub const TREE_SCRIPTS: [&str; 8] = [
    "/bootstrap",
    "/configure",
    "autogen.sh",
    "config.status",
    "run-tests.php",
    "sh configure",
    "test/",
    "tests/",
];

/// Words of commands that build packages: what precedes and follows them decides.
pub const BUILDING: [&str; 13] = [
    "bunx", "corepack", "cpanm", "install", "luarocks", "node-gyp", "npm", "npx", "pnpm", "rebuild",
    "setup.py", "wheel", "yarn",
];

/// Words that indicate that a source starts programs.
pub const STARTS: [&str; 6] = ["Popen", "ccompiler", "distutils", "execv", "os.system", "subprocess"];

/// All words of some lists, `N` in number.
const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            words[count] = lists[list][place];
            (count, place) = (count + 1, place + 1);
        }
        list += 1;
    }
    assert!(count == N, "the number of words");
    words
}

/// One of [`WORDS`].
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) text: &'static str,
}

impl Word {
    /// Whether it is also an English word, and counts only as a command.
    pub(super) fn is_english(self) -> bool {
        matches!(
            self.text,
            "make" | "git" | "perf" | "bison" | "cargo" | "cythonize" | "meson" | "ninja" | "scons"
        ) || self.is_weak()
    }

    /// Whether it looks like the name of a program, not of a module, a function or a path.
    pub(super) fn is_program(self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'+' | b'-'))
    }

    /// Whether it is the name of a variable that names a compiler.
    pub(super) fn is_variable(self) -> bool {
        matches!(self.text, "CC" | "CXX" | "FC" | "NVCC")
    }

    /// Whether it is common in texts that start no program, even quoted and at the start of a line.
    pub(super) fn is_weak(self) -> bool {
        const WEAK: [&str; 17] = [
            "ar", "as", "c++", "c89", "c99", "cc", "cpp", "flex", "go", "ld", "nm", "scalar", "size",
            "strings", "strip", "uv", "uvx",
        ];
        WEAK.contains(&self.text)
    }

    /// Whether it is a value in sources of any kind: `['as', 'size']`.
    pub(super) fn is_common(self) -> bool {
        matches!(self.text, "as" | "scalar" | "size" | "strings")
    }

    /// Whether it is so short that random bytes may match.
    pub(super) fn is_short(self) -> bool {
        self.text.len() <= 3
    }
}

/// Serialises words as their indexes in [`WORDS`].
pub(super) mod numbers {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::{Error as _, Serialize as _, Serializer};

    use super::WORDS;

    pub(in crate::formats::string_references) fn serialize<S: Serializer>(
        words: &[&'static str],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let place = |word: &&str| WORDS.iter().position(|known| known == word);
        let places: Option<Vec<u8>> = words.iter().map(|word| u8::try_from(place(word)?).ok()).collect();
        places.ok_or_else(|| S::Error::custom("not a searched word"))?.serialize(serializer)
    }

    pub(in crate::formats::string_references) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<&'static str>, D::Error> {
        let places = Vec::<u8>::deserialize(deserializer)?;
        let words: Option<Vec<&'static str>> =
            places.iter().map(|place| WORDS.get(usize::from(*place)).copied()).collect();
        let in_order = places.is_sorted_by(|one, next| one < next);
        words.filter(|_| in_order).ok_or_else(|| D::Error::custom("not a searched word"))
    }
}
