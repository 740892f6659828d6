//! The rules about build content: what they find follows from path, content and owner, and [`crate::findings::verdict`]
//! evaluates them together.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static STUBS: Rule = Rule {
    id: "stubs",
    title: "Stub libraries",
    category: Category::Stubs,
    severity: Severity::Low,
    fix: "Keep them in a build stage: link with -L, and never copy them.",
    finds: "Libraries in `stubs` folders: they have the names of driver and CUDA libraries but no code, for linking on a machine without a driver.",
    matters: "They are small. But if the loader resolves to one instead of the driver, the first CUDA call fails with error 34, CUDA_ERROR_STUB_LIBRARY.",
    example: r"```dockerfile
COPY --from=build /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/libcuda.so.1
```",
    proven: "By path. A stub that a reachable program loads is reported by `stubs-on-loader-path`.",
    remedy: r"Link against the stub in the build stage only. The container toolkit mounts the driver:

```dockerfile
RUN g++ main.o -L/usr/local/cuda/lib64/stubs -lcuda -o service
```",
    source: "Files of CUDA 13.0.2; NVIDIA/nvidia-container-toolkit issues 185 and 668.",
};

pub(super) static STATIC_LIBRARIES: Rule = Rule {
    id: "static-libraries",
    title: "Static libraries",
    category: Category::StaticLibraries,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "Static libraries (`.a`): those of cuBLAS, cuFFT, cuSPARSE and others in a CUDA toolkit, and those of `-dev` packages in the system.",
    matters: "The loader never opens a static library. Those of CUDA 13.0 are 2.7 GB, more than all shared libraries, and every pull downloads them.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
COPY service /usr/local/bin/
```",
    proven: "By content (archive) and by the package that owns the files. Required at run time when an installed component links them at run time: Numba links `libcudadevrt.a` into compiled kernels.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Files of CUDA 13.0.2; numba-cuda 0.30.4; wheels of nvidia-cuda-runtime and triton.",
};

pub(super) static HEADERS: Rule = Rule {
    id: "headers",
    title: "Headers",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "C, C++ and CUDA headers: `/usr/include`, `include` of a CUDA toolkit, those of cuDNN, NCCL and TensorRT.",
    matters: "Only compilers read them. They are small but many: each is a file to unpack on every pull. Some frameworks compile at run time and fail without their headers.",
    example: r"```dockerfile
RUN apt-get install -y libcublas-dev-13-0
```",
    proven: "By path and by the package that owns the files. Required at run time when an installed framework reads them: CuPy, Numba and NVRTC users read the CUDA headers; torch.compile and Triton read the system and Python headers.",
    remedy: r"Install the runtime package instead of the development package (`libcublas-13-0`), and build in a separate stage:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Files of CUDA 13.0.2; cupy/cupy issue 8466; triton 3.9.0.",
};

pub(super) static PYTHON_BUILD_LEFTOVERS: Rule = Rule {
    id: "python-build-leftovers",
    title: "Headers and static libraries in Python packages",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    finds: "Include folders and static libraries in Python packages: torch, tensorflow and the NVIDIA wheels.",
    matters: "tensorflow installs 399 MB of headers, triton 50 MB of static libraries. They are for compiling extensions.",
    example: r"```dockerfile
RUN pip install tensorflow
```",
    proven: "By path. Required at run time when an installed framework reads them: torch.utils.cpp_extension reads `torch/include`.",
    remedy: r"If nothing compiles extensions, delete them in the same instruction:

```dockerfile
RUN pip install --no-cache-dir tensorflow \
 && rm -rf /usr/local/lib/python3.12/site-packages/tensorflow/include
```",
    source: "Wheels tensorflow 2.21.0, triton 3.9.0, torch 2.9.1.",
};

pub(super) static PROFILERS: Rule = Rule {
    id: "profilers",
    title: "Profilers",
    category: Category::Profilers,
    severity: Severity::Medium,
    fix: "Profile in a separate image, or with the tools of the host.",
    finds: "Nsight Compute, Nsight Systems, nvprof, the Visual Profiler, and the CUPTI libraries in their folders.",
    matters: "Nsight Compute alone is 1.3 GB. A service does not run it.",
    example: r"```dockerfile
RUN apt-get install -y cuda-toolkit-13-0
```",
    proven: "By path and by the package that owns the files. Required at run time when something loads them: a torch built on the toolkit loads its libcupti; torch wheels ship their own.",
    remedy: r"Install libraries instead of the whole toolkit, and mount a profiler when you need one:

```dockerfile
RUN apt-get install -y --no-install-recommends cuda-libraries-13-0
```",
    source: "Packages of CUDA 13.0.2; libtorch_cpu.so of torch 2.9.1.",
};

pub(super) static DEBUGGERS: Rule = Rule {
    id: "debuggers",
    title: "Debuggers",
    category: Category::Debuggers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or debug in a separate image.",
    finds: "cuda-gdb, compute-sanitizer, gdb, valgrind, strace and their files.",
    matters: "About 140 MB in a CUDA toolkit. They can inspect other processes.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
```",
    proven: "By path and by the package that owns the files. Required at run time or needs review when a file or command mentions one.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Packages cuda-gdb and cuda-sanitizer of CUDA 13.0.2.",
};

pub(super) static COMPILERS: Rule = Rule {
    id: "compilers",
    title: "Compilers",
    category: Category::Compilers,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "Compilers with their assemblers and linkers. CUDA: nvcc, cicc, cudafe++, ptxas, nvlink, fatbinary, libnvvm, libdevice, cuobjdump, nvdisasm. C and C++: gcc, g++, cc1, clang, as, ld, and the gcc folder.",
    matters: "About 260 MB for nvcc and its parts and 200 MB for gcc. A compiler in the image is also attack surface. Some frameworks compile at run time: removing what they need breaks them.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
RUN pip install torch
```",
    proven: "By path and by the package that owns the files. Required at run time when an installed framework reads them, unless it uses its own copy in a wheel: XLA (JAX, TensorFlow) runs ptxas and reads libdevice; Numba loads libnvvm; FlashInfer, DeepSpeed, SGLang and `torch.utils.cpp_extension` run nvcc; Triton and torch.compile run gcc.",
    remedy: r"Build on the runtime flavor, or on the plain distribution when wheels ship their own CUDA:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```",
    source: "Files of CUDA 13.0.2; jax-ml/jax issues 989 and 4452; wheels jax-cuda12-plugin, numba-cuda, flashinfer; file lists of gcc and binutils of Debian and Fedora; pytorch/pytorch pull request 170235 on the compiler in runtime images.",
};

pub(super) static BUILD_METADATA: Rule = Rule {
    id: "build-metadata",
    title: "Build metadata",
    category: Category::BuildMetadata,
    severity: Severity::Low,
    fix: "Keep it in the build stage.",
    finds: "Metadata with which build systems find libraries: `pkgconfig` folders, CMake packages, aclocal macros.",
    matters: "Only build systems read it. It is small, and a sign that a build stage was shipped.",
    example: r"```dockerfile
RUN apt-get install -y libssl-dev
```",
    proven: "By path and by the package that owns the files. Required at run time or needs review when something builds at run time.",
    remedy: "Install the runtime library (`libssl3`), and the `-dev` package in the build stage only.",
    source: "pkg-config and CMake documentation; files of CUDA 13.0.2.",
};

pub(super) static DOCS_SAMPLES: Rule = Rule {
    id: "docs-samples",
    title: "Documentation and samples",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Exclude them when packages are installed.",
    finds: "Documentation, manual pages and samples of CUDA and the system. Licenses are kept.",
    matters: "No service reads them. System documentation is many small files, which slows unpacking.",
    example: r"```dockerfile
RUN apt-get install -y libcudnn9-samples-cuda-13
```",
    proven: "By path and by the package that owns the files. Debian and Fedora require that packages work without their documentation.",
    remedy: r"Do not install samples, and exclude documentation in dpkg before the first install:

```dockerfile
RUN printf 'path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\npath-exclude /usr/share/man/*\n' > /etc/dpkg/dpkg.cfg.d/no-docs
```",
    source: "Files of CUDA 13.0.2; dpkg(1), path-exclude.",
};

pub(super) static PYTHON_TESTS: Rule = Rule {
    id: "python-tests",
    title: "Python tests",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    finds: "The test suite of Python's standard library (`test`, `idlelib/idle_test`, `lib2to3/tests`, `tkinter/test`, `unittest/test` and similar), and `tests` and `test` folders of installed Python packages.",
    matters: "The standard library's test suite is about 100 MB in a conda environment. pandas, scipy, scikit-learn and sympy install tens of MB of tests.",
    example: r"```dockerfile
RUN conda create -n app python=3.12 pandas scikit-learn
```",
    proven: "Always needs review: some packages import tests at run time (`test.support` of the standard library, helpers in their own `tests` folder).",
    remedy: r"If nothing imports them, delete them in the same instruction:

```dockerfile
RUN conda create -n app python=3.12 pandas scikit-learn \
 && cd /opt/conda/envs/app/lib/python3.12 && rm -rf test site-packages/pandas/tests site-packages/sklearn/tests
```

Import everything that the service uses before and after the deletion.",
    source: "CPython, Lib/test and Doc/library/test.rst; contents of the wheels pandas 2.3, scipy 1.16 and scikit-learn 1.7.",
};

pub(super) static BUILD_TOOLS: Rule = Rule {
    id: "build-tools",
    title: "Build tools",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or install and purge them in one RUN.",
    finds: "Build tools: make, cmake, ninja, autotools, bison, flex, pkg-config, ccache, git.",
    matters: "About 100 MB that a running service does not use. Exceptions: FlashInfer and torch.utils.cpp_extension run ninja, GitPython and wandb run git.",
    example: r"```dockerfile
RUN apt-get update && apt-get install -y build-essential cmake git
RUN cmake -B build && make -C build install
```",
    proven: "By path and by the package that owns the files. Required at run time when an installed component is known to run a tool; needs review when a file or command mentions one.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "File lists of Debian and Fedora; documentation of torch.utils.cpp_extension, GitPython and wandb.",
};
