//! Names of what is read at run time, and the words in files and commands that imply it.

use std::collections::BTreeSet;

use crate::formats::string_references::{BUILDING, Scanner, Sort};

/// Names of what is read, each with the predicate of a sentence about its reader.
const NAMES: [(&str, &str); 30] = [
    ("autotools", "runs autotools, m4, bison or flex"),
    ("bazel", "runs bazel"),
    ("build-records", "reads records of a build"),
    ("builder-resources", "builds TensorRT engines with the builder resources"),
    ("cargo-output", "opens intermediate output of cargo"),
    ("ccache", "runs ccache"),
    ("cmake", "builds with CMake, make or similar"),
    ("compiler", "runs a C or C++ compiler, which reads the system headers"),
    ("cudadevrt", "links libcudadevrt into compiled kernels"),
    ("cudart-static", "links the static CUDA runtime"),
    ("cupti", "profiles with CUPTI"),
    ("debugger", "runs a debugger"),
    ("documentation", "reads documentation of packages"),
    ("dpkg-dev", "builds packages of Debian"),
    ("git", "runs git"),
    ("headers", "compiles kernels against the CUDA headers"),
    ("headers-numpy", "compiles extensions against the NumPy headers"),
    ("headers-torch", "compiles extensions against the headers in its own package"),
    ("libdevice", "links libdevice into compiled kernels"),
    ("libnvvm", "compiles kernels with libnvvm"),
    ("libraries", "compiles or links against installed libraries"),
    ("make", "runs make"),
    ("ninja", "builds extensions with ninja"),
    ("nvcc", "compiles CUDA code with nvcc"),
    ("object-files", "loads or links object files"),
    ("patchelf", "runs patchelf"),
    ("profiler", "runs a profiler"),
    ("ptxas", "assembles kernels with ptxas"),
    ("rpmbuild", "builds packages of rpm"),
    ("swig", "runs swig"),
];

/// Names of what nvcc reads or runs: it hands each source to the C++ compiler of the system, which reads the headers of
/// the system and links its libraries.
pub(super) const WITH_NVCC: [&str; 7] =
    ["compiler", "cudadevrt", "cudart-static", "headers", "libdevice", "libraries", "ptxas"];

/// Words in files and commands, separated by spaces, with the names of what they imply; the first is the name of the
/// program itself.
const WORDS: [(&str, &[&str]); 38] = [
    ("cc c++ c99 ld gfortran gcc g++ clang as c89 cpp -config", &["compiler", "libraries"]),
    // verify and compile of cffi run the C compiler, as CCompiler of distutils does, and what reads the variable CC.
    ("cffi ffi.compile ffi.set_source ffi.verify ccompiler CC CXX FC", &["compiler", "libraries"]),
    (
        "_compilation cppimport Cython.Build cython.inline cython_inline cythonize mkmf mypyc nuitka pycc pymc pytensor pyximport tinygrad \
         use_cpp --mjit",
        &["compiler", "libraries"],
    ),
    ("/usr/include /usr/lib", &["libraries"]),
    ("autowrap f2py ufuncify", &["compiler", "libraries", "headers-numpy", "ninja"]),
    ("build_ext ext_modules LDSHARED LDCXXSHARED", &["compiler", "libraries"]),
    ("Config{cc} Config{ld} Config{make} CBuilder SHLIB", &["compiler", "libraries", "make"]),
    // Whatever the packages are built with.
    (
        "bundler/inline bunx corepack CPAN::Shell cpanm DependencyInstaller Gem.install install install.packages \
         luarocks Makefile.PL node-gyp npm npx pip._internal pip.main pnpm ProjectBuilder rebuild setup.py wheel yarn",
        &["compiler", "libraries", "make", "cmake", "ninja", "autotools", "git", "patchelf", "swig"],
    ),
    ("CMakeCache.txt compile_commands.json config.log", &["build-records"]),
    ("share/doc share/man", &["documentation"]),
    (".o\" .o'", &["object-files"]),
    ("debug/build debug/deps release/build release/deps", &["cargo-output"]),
    ("cargo", &["compiler", "cmake"]),
    (
        "rustc go cc1 addr2line ar c++filt dwp elfedit gcov gofmt gp-archive gp-collect gp-display \
         gprof gprofng lld llvm lto-dump nm objcopy objdump ranlib readelf size strings strip \
         gencat memusage mtrace sotruss sprof rpcgen",
        &["compiler"],
    ),
    ("pkg-config ccmake cpack ctest pkgconf pkgconfig", &["cmake"]),
    ("NVCC", &["nvcc", "compiler", "libraries"]),
    ("nvcc cudafe++ cuobjdump nvdisasm nvprune cicc bin2c cu++filt tileiras", &["nvcc"]),
    (
        "cpp_extension load_inline",
        &["nvcc", "compiler", "libraries", "headers", "cudart-static", "ninja", "headers-torch"],
    ),
    ("RawKernel cuda_runtime.h cuda_fp16.h", &["headers"]),
    ("ptxas nvlink fatbinary", &["ptxas"]),
    ("libdevice", &["libdevice"]),
    ("libnvvm", &["libnvvm"]),
    ("libcudadevrt", &["cudadevrt"]),
    ("ninja", &["ninja", "compiler", "libraries"]),
    ("cmake", &["cmake", "make", "ninja", "compiler", "libraries"]),
    ("/waf meson scons", &["cmake", "ninja", "compiler", "libraries"]),
    ("make gmake", &["make", "cmake", "compiler", "libraries"]),
    ("git git-receive-pack git-shell git-upload-archive git-upload-pack scalar", &["git"]),
    ("gdb cuda-gdb compute-sanitizer strace valgrind gcore gdbserver gstack lldb ltrace vgdb", &["debugger"]),
    ("nsys ncu nvprof perf", &["profiler"]),
    (
        "aclocal autoconf autoheader autom4te automake autoreconf autoscan autoupdate bison flex \
         ifnames libtool libtoolize m4 yacc",
        &["autotools"],
    ),
    ("bazel", &["bazel", "compiler", "libraries"]),
    ("ccache", &["ccache", "compiler", "libraries"]),
    ("make-first-existing-target", &["make"]),
    ("dpkg-", &["dpkg-dev", "make", "compiler", "libraries"]),
    ("rpmbuild", &["rpmbuild", "make", "compiler", "libraries"]),
    ("swig", &["swig"]),
    ("patchelf", &["patchelf"]),
];

/// Words of commands that build packages which count in this command.
pub(super) fn building(command: &str) -> Vec<&'static str> {
    let text = format!("#!/bin/sh\n{command}\n");
    let Some(mut scanner) = Scanner::new(Sort::Script, text.len() as u64) else { return Vec::new() };
    scanner.push(text.as_bytes());
    scanner.finish().words.into_iter().filter(|word| BUILDING.contains(word)).collect()
}

/// A known word, and the names of what it implies.
pub(super) fn implied(word: &str) -> Option<(&'static str, &'static [&'static str])> {
    let mut all = WORDS.iter().flat_map(|(words, reads)| words.split(' ').map(move |known| (known, *reads)));
    all.find(|(known, _)| *known == word)
}

/// Names that are implied only by words for which libraries are not searched.
const NOT_IN_LIBRARIES: [&str; 8] =
    ["autotools", "bazel", "ccache", "compiler", "dpkg-dev", "patchelf", "rpmbuild", "swig"];

/// Whether libraries are not searched for the words that imply this name: one that starts programs may
/// mention it unnoticed.
pub(in crate::findings) fn is_not_searched_in_libraries(name: &str) -> bool {
    NOT_IN_LIBRARIES.contains(&name)
}

/// The names under which a program is read: those of the words that the search finds in a mention of the
/// program. Empty if files are not searched for it.
pub(in crate::findings) fn searched_terms(name: &str) -> BTreeSet<&'static str> {
    let text = format!("/usr/bin/{name} -x\n");
    let Some(mut scanner) = Scanner::new(Sort::Script, text.len() as u64) else { return BTreeSet::new() };
    scanner.push(text.as_bytes());
    let words = scanner.finish().words;
    let reads = words.iter().filter_map(|word| implied(word));
    reads.filter_map(|(_, reads)| reads.first().copied()).collect()
}

/// Whether files are searched for the name of a file: that of a shared library or of a build tool.
pub fn is_searched_for(name: &[u8]) -> bool {
    let is_tool = |name: &str| !searched_terms(tool_name(name)).is_empty();
    name.windows(3).any(|part| part == b".so") || std::str::from_utf8(name).is_ok_and(is_tool)
}

/// A word as shown in sentences.
pub(super) fn told(word: &str) -> &str {
    match word {
        "-config" => "python3-config",
        ".o\"" | ".o'" => "object files",
        "/usr/include" => "headers in /usr/include",
        "/usr/lib" => "static libraries in /usr/lib",
        "CC" => "the variable CC",
        "CXX" => "the variable CXX",
        "FC" => "the variable FC",
        "NVCC" => "the variable NVCC",
        "/waf" => "waf",
        "debug/build" => "target/debug/build",
        "debug/deps" => "target/debug/deps",
        "dpkg-" => "a tool of dpkg-dev",
        "install" => "an installation of packages, which may compile them",
        "npm" | "rebuild" => "an installation by npm, which may compile packages",
        "bunx" | "corepack" | "npx" | "pnpm" | "yarn" => {
            "an installation of packages of Node, which may compile them"
        }
        "release/build" => "target/release/build",
        "release/deps" => "target/release/deps",
        "share/doc" => "/usr/share/doc",
        "share/man" => "/usr/share/man",
        word => word,
    }
}

pub(super) fn known(name: &str) -> Option<(&'static str, &'static str)> {
    NAMES.iter().find(|(known, _)| *known == name).copied()
}

/// The searched word for a program that a command or a variable names. An option of a command is none: `-config x.yaml`.
pub(super) fn program_word(text: &str) -> &str {
    let name = text.rsplit('/').next().unwrap_or(text);
    match name.strip_prefix("python").and_then(|rest| rest.strip_suffix("-config")) {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => "-config",
        _ if name.starts_with('-') => "",
        _ => tool_name(name),
    }
}

/// The name of a tool without its version and target: `x86_64-linux-gnu-gcc-13` is `gcc`.
pub(in crate::findings) fn tool_name(name: &str) -> &str {
    let name = name.rsplit_once("-linux-gnu-").map_or(name, |(_, tool)| tool);
    match name.rsplit_once('-') {
        Some((tool, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => tool,
        _ => name,
    }
}
