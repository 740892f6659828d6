//! Names of what is read at run time, and the words in files and commands that imply it.

/// Names of what is read, each with the predicate of a sentence about its reader.
const NAMES: [(&str, &str); 19] = [
    ("builder-resources", "builds TensorRT engines with the builder resources"),
    ("cmake", "builds with CMake, make or similar"),
    ("compiler", "runs a C or C++ compiler, which reads the system headers"),
    ("cudadevrt", "links libcudadevrt into compiled kernels"),
    ("cudart-static", "may link with nvcc, which uses the static CUDA runtime"),
    ("cupti", "profiles with CUPTI"),
    ("debugger", "runs a debugger"),
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
    ("profiler", "runs a profiler"),
    ("ptxas", "assembles kernels with ptxas"),
];

/// Read by nvcc besides nvcc itself.
pub(super) const WITH_NVCC: [&str; 5] = ["ptxas", "libdevice", "headers", "cudadevrt", "cudart-static"];

/// Names implied by words in files and commands.
pub(super) const WORDS: [(&str, &[&str]); 43] = [
    ("cc", &["compiler", "libraries"]),
    ("c++", &["compiler", "libraries"]),
    ("c99", &["compiler", "libraries"]),
    ("ld", &["compiler", "libraries"]),
    ("gfortran", &["compiler", "libraries"]),
    ("cargo", &["compiler", "cmake"]),
    ("rustc", &["compiler"]),
    ("go", &["compiler"]),
    ("pkg-config", &["cmake"]),
    ("nvcc", &["nvcc"]),
    ("cpp_extension", &["nvcc", "compiler", "ninja", "headers-torch"]),
    ("load_inline", &["nvcc", "compiler", "ninja", "headers-torch"]),
    ("RawKernel", &["headers"]),
    ("ptxas", &["ptxas"]),
    ("nvlink", &["ptxas"]),
    ("fatbinary", &["ptxas"]),
    ("cudafe++", &["nvcc"]),
    ("cuobjdump", &["nvcc"]),
    ("nvdisasm", &["nvcc"]),
    ("nvprune", &["nvcc"]),
    ("cicc", &["nvcc"]),
    ("libdevice", &["libdevice"]),
    ("libnvvm", &["libnvvm"]),
    ("libcudadevrt", &["cudadevrt"]),
    ("cuda_runtime.h", &["headers"]),
    ("cuda_fp16.h", &["headers"]),
    ("gcc", &["compiler", "libraries"]),
    ("g++", &["compiler", "libraries"]),
    ("clang", &["compiler", "libraries"]),
    ("cc1", &["compiler"]),
    ("ninja", &["ninja"]),
    ("cmake", &["cmake", "make", "ninja", "compiler", "libraries"]),
    ("make", &["make", "cmake", "compiler", "libraries"]),
    ("git", &["git"]),
    ("gdb", &["debugger"]),
    ("cuda-gdb", &["debugger"]),
    ("compute-sanitizer", &["debugger"]),
    ("strace", &["debugger"]),
    ("valgrind", &["debugger"]),
    ("nsys", &["profiler"]),
    ("ncu", &["profiler"]),
    ("nvprof", &["profiler"]),
    ("perf", &["profiler"]),
];

pub(super) fn known(name: &str) -> Option<(&'static str, &'static str)> {
    NAMES.iter().find(|(known, _)| *known == name).copied()
}

/// The name of a tool without its version and target: `x86_64-linux-gnu-gcc-13` is `gcc`.
pub(in crate::findings) fn tool_name(name: &str) -> &str {
    let name = name.rsplit_once("-linux-gnu-").map_or(name, |(_, tool)| tool);
    match name.rsplit_once('-') {
        Some((tool, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => tool,
        _ => name,
    }
}
