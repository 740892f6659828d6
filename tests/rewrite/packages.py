#!/usr/bin/env python3
"""Writes a repository of Debian packages with NVIDIA's names: what the stand-ins of nvidia/cuda are made of.

    python3 packages.py WHEELS REPOSITORY

The packages are those that the images of CUDA 12.9.1 on Ubuntu install, with the folders, links, loader
configuration and versions of NVIDIA's own. cudart, curand, nvrtc, nvjpeg and the C++ headers are real, out of the
wheels of tests/wheels.txt. What no small wheel has (static libraries, compilers, profilers, the driver for forward
compatibility, cuBLAS and its like) is made here: files of the right kind and name with contents of our own, far
smaller than the real ones. Needs gcc, ar and dpkg-deb.
"""

import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True

MAINTAINER = "cudatools <cudatools@nvidia.com>"
TOOLKIT = "usr/local/cuda-12.9"
LIB = f"{TOOLKIT}/targets/x86_64-linux/lib"
INCLUDE = f"{TOOLKIT}/targets/x86_64-linux/include"
TRIPLE = "usr/lib/x86_64-linux-gnu"
CUDART, CURAND, NVRTC, NVJPEG, CCCL = "12.9.79", "10.3.10.19", "12.9.86", "12.4.0.76", "12.9.27"

# The links of the toolkit go through alternatives.
LINKS = """#!/bin/sh
set -e
if [ "$1" = configure ]; then
    update-alternatives --install /usr/local/cuda cuda /usr/local/cuda-12.9 129
    update-alternatives --install /usr/local/cuda-12 cuda-12 /usr/local/cuda-12.9 129
fi
"""
# What CMake and people ask a compiler for CUDA; it compiles nothing.
NVCC = r"""
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        if (strstr(words[i], "__cmake_determine_cuda")) { puts("#$ TOP=/usr/local/cuda-12.9"); return 0; }
        if (!strcmp(words[i], "--version") || !strcmp(words[i], "-V")) {
            puts("nvcc: a stand-in\nCuda compilation tools, release 12.9, V12.9.86");
            return 0;
        }
    }
    fputs("nvcc: a stand-in, which compiles nothing\n", stderr);
    return 1;
}
"""
# It writes what it is asked for, so that a compiler at run time can be tried without a GPU.
PTXAS = r"""
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    const char *output = "elf.o";
    for (int i = 1; i + 1 < count; i++) if (!strcmp(words[i], "-o")) output = words[i + 1];
    FILE *file = count > 1 ? fopen(output, "w") : NULL;
    return file && fputs("a stand-in of a cubin\n", file) >= 0 && !fclose(file) ? 0 : 1;
}
"""
# Parts of the interfaces that need no GPU; the headers are our own, the names those of the libraries.
CUBLAS = "int cublasGetProperty(int part, int *value) { *value = part == 0 ? 12 : part == 1 ? 9 : 1; return 0; }\n"
CUBLAS_HEADER = """#pragma once
#include <library_types.h>
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
cublasStatus_t cublasGetProperty(libraryPropertyType part, int *value);
"""
CUPTI = "int cuptiGetVersion(unsigned *version) { *version = 26; return 0; }\n"
CUPTI_HEADER = """#pragma once
#include <stdint.h>
typedef enum { CUPTI_SUCCESS = 0 } CUptiResult;
CUptiResult cuptiGetVersion(uint32_t *version);
"""
# What host code needs of crt/host_defines.h, which only the compiler's wheel has.
HOST_DEFINES = """#pragma once
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
"""


class Package:
    """A package that is being filled."""

    def __init__(self, repository, name, version, depends=""):
        self.repository, self.name, self.version, self.depends = repository, name, version, depends
        self.root = os.path.join(repository.work, name)
        os.makedirs(self.root)
        repository.packages.append(self)

    def place(self, path):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def text(self, path, text, mode=0o644):
        full = self.place(path)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(full, mode)
        return self

    def link(self, path, target):
        os.symlink(target, self.place(path))
        return self

    def member(self, wheel, inside, path):
        """A file out of a wheel."""
        with self.repository.wheel(wheel) as archive, archive.open(inside) as source:
            with open(self.place(path), "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        return self

    def headers(self, wheel, folder):
        """All headers of a wheel."""
        with self.repository.wheel(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(folder)]
            names = [name for name in names if not name.endswith((".py", "/"))]
        for name in names:
            self.member(wheel, name, f"{INCLUDE}/{name[len(folder):]}")
        return self

    def library(self, stem, version, kilobytes, folder=LIB, code="", soname=None, needs=()):
        """A shared library of our own with its link: `libSTEM.so.MAJOR -> libSTEM.so.VERSION`."""
        soname = soname or f"lib{stem}.so.{version.split('.')[0]}"
        full = f"{folder}/lib{stem}.so.{version}"
        code += f"int {stem}_stand_in(void) {{ return 1; }}"
        needs = [f"-l:{name}" for name in needs]
        linking = ["-Wl,--no-as-needed", f"-L{os.path.join(self.root, folder)}", *needs] if needs else []
        compile_c(self.place(full), kilobytes, code, f"-Wl,-soname,{soname}", linking)
        if soname != os.path.basename(full):
            self.link(f"{folder}/{soname}", os.path.basename(full))
        return self

    def archive(self, stem, kilobytes):
        """A static library of our own."""
        with tempfile.TemporaryDirectory() as work:
            part = os.path.join(work, f"{stem}.o")
            compile_c(part, kilobytes, f"int {stem}_static_stand_in(void) {{ return 1; }}", "-c")
            subprocess.run(["ar", "rcs", self.place(f"{LIB}/lib{stem}.a"), part], check=True)
        return self

    def stub(self, name):
        path = self.place(f"{LIB}/stubs/lib{name}.so")
        compile_c(path, 0, "int stub(void) { return 34; }", f"-Wl,-soname,lib{name}.so.1")
        return self

    def program(self, path, kilobytes, text="int main(void) { return 0; }"):
        compile_c(self.place(path), kilobytes, text, None)
        return self

    def finish(self):
        """The .deb file; its entry of the repository's index comes back."""
        size = sum(
            os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(self.root) for name in names
        )
        fields = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": "amd64",
            "Maintainer": MAINTAINER,
            "Installed-Size": str(size // 1024 + 1),
            "Depends": self.depends,
            "Section": "devel",
            "Priority": "optional",
            "Description": f"stand-in of {self.name}",
        }
        control = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
        self.text("DEBIAN/control", control)
        if glob.glob(os.path.join(self.root, "**", "lib*.so.*"), recursive=True):
            self.text("DEBIAN/triggers", "activate-noawait ldconfig\n")
        os.chmod(os.path.join(self.root, "DEBIAN"), 0o755)
        file = f"{self.name}_{self.version}_amd64.deb".replace(":", "%3a")
        full = os.path.join(self.repository.folder, file)
        command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", self.root, full]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(self.root)
        with open(full, "rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        return f"{control}Filename: ./{file}\nSize: {os.path.getsize(full)}\nSHA256: {digest}\n\n"


def compile_c(path, kilobytes, text, option, linking=()):
    """A file that gcc makes: a shared library, an object with `-c`, or a program when there is no option."""
    filler = f"char filler[{max(kilobytes, 1) * 1024}] = {{1}};\n"
    command = ["gcc", "-O1", "-x", "c", "-", "-o", path]
    if option == "-c":
        command.append("-c")
    elif option:
        command += ["-shared", "-fPIC", "-nostdlib", option, *linking]
    subprocess.run(command, input=filler + text, text=True, check=True)


class Repository:
    """All packages, and where they go."""

    def __init__(self, wheels, folder, work):
        self.wheels, self.folder, self.work, self.packages = wheels, folder, work, []

    def package(self, name, version, depends=""):
        return Package(self, name, version, depends)

    def of_toolkit(self, name, version, depends="cuda-toolkit-12-9-config-common"):
        return Package(self, f"{name}-12-9", f"{version}-1", depends)

    def wheel(self, name):
        found = sorted(glob.glob(os.path.join(self.wheels, name)))
        if not found:
            sys.exit(f"no wheel {name} in {self.wheels}; tests/fetch_wheels.sh gets it")
        return zipfile.ZipFile(found[-1])

    def finish(self):
        with open(os.path.join(self.folder, "Packages"), "w", encoding="utf-8") as index:
            index.writelines(package.finish() for package in self.packages)


RUNTIME = f"nvidia_cuda_runtime_cu12-{CUDART}-*.whl"
RAND = f"nvidia_curand_cu12-{CURAND}-*.whl"
COMPILER = f"nvidia_cuda_nvrtc_cu12-{NVRTC}-*.whl"
CORE = f"nvidia_cuda_cccl_cu12-{CCCL}-*.whl"
JPEG = f"nvidia_nvjpeg_cu12-{NVJPEG}-*.whl"


def real(package, wheel, inside, name, version):
    """A real library with its link, under the names that the packages give it."""
    major = inside.rsplit(".so.", 1)[1]
    package.member(wheel, inside, f"{LIB}/{name}.so.{version}")
    return package.link(f"{LIB}/{name}.so.{major}", f"{name}.so.{version}")


def base(r):
    """What the base image installs."""
    r.package("cuda-keyring", "1.1-1").text(
        "etc/apt/sources.list.d/cuda-ubuntu2204-x86_64.list",
        "deb [trusted=yes] file:/var/cuda-repo-ubuntu2204-12-9-local ./\n",
    )
    common = r.package("cuda-toolkit-config-common", f"{CUDART}-1")
    common.text("etc/ld.so.conf.d/000_cuda.conf", "/usr/local/cuda/targets/x86_64-linux/lib\n")
    major = r.package("cuda-toolkit-12-config-common", f"{CUDART}-1")
    major.text("etc/ld.so.conf.d/988_cuda-12.conf", "/usr/local/cuda-12/targets/x86_64-linux/lib\n")
    depends = "cuda-toolkit-config-common, cuda-toolkit-12-config-common"
    config = r.package("cuda-toolkit-12-9-config-common", f"{CUDART}-1", depends)
    config.link(f"{TOOLKIT}/lib64", "targets/x86_64-linux/lib")
    config.text(f"{TOOLKIT}/version.json", '{"cuda": {"name": "CUDA SDK", "version": "12.9.1"}}\n')
    config.text("DEBIAN/postinst", LINKS, 0o755)
    real(r.of_toolkit("cuda-cudart", CUDART), RUNTIME, "nvidia/cuda_runtime/lib/libcudart.so.12", "libcudart", CUDART)
    driver = r.package("cuda-compat-12-9", "575.57.08-0ubuntu1")
    driver.library("cuda", "575.57.08", 6000, f"{TOOLKIT}/compat")
    os.remove(driver.place(f"{TOOLKIT}/compat/libcuda.so.575"))
    driver.link(f"{TOOLKIT}/compat/libcuda.so.1", "libcuda.so.575.57.08")
    driver.link(f"{TOOLKIT}/compat/libcuda.so", "libcuda.so.1")
    driver.library("nvidia_ptxjitcompiler", "575.57.08", 2000, f"{TOOLKIT}/compat")


def runtime(r):
    """What the runtime image installs."""
    names = "curand cublas cufft cufile cusolver cusparse npp nvjitlink nvjpeg nvfatbin".split()
    names = ["cuda-cudart", "cuda-opencl", "cuda-nvrtc", *[f"lib{name}" for name in names]]
    depends = ", ".join(f"{name}-12-9" for name in names)
    r.package("cuda-libraries-12-9", "12.9.1-1", depends)
    nvrtc = r.of_toolkit("cuda-nvrtc", NVRTC)
    # The wheel's second build of NVRTC, 114 MB under the name `alt`, is left out: nothing here opens it.
    real(nvrtc, COMPILER, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "libnvrtc", NVRTC)
    builtins = "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9"
    real(nvrtc, COMPILER, builtins, "libnvrtc-builtins", NVRTC)
    real(r.of_toolkit("libcurand", CURAND), RAND, "nvidia/curand/lib/libcurand.so.10", "libcurand", CURAND)
    real(r.of_toolkit("libnvjpeg", NVJPEG), JPEG, "nvidia/nvjpeg/lib/libnvjpeg.so.12", "libnvjpeg", NVJPEG)
    cublas = r.of_toolkit("libcublas", "12.9.1.4").library("cublasLt", "12.9.1.4", 40000)
    cublas.library("cublas", "12.9.1.4", 9000, code=CUBLAS, needs=["libcublasLt.so.12"])
    cublas.library("nvblas", "12.9.1.4", 700)
    r.of_toolkit("libcufft", "11.4.1.4").library("cufft", "11.4.1.4", 20000).library("cufftw", "11.4.1.4", 900)
    r.of_toolkit("libcufile", "1.14.1.1").library("cufile", "0", 1200).library("cufile_rdma", "1", 40)
    solver = r.of_toolkit("libcusolver", "11.7.5.82").library("cusolver", "11.7.5.82", 12000)
    solver.library("cusolverMg", "11.7.5.82", 6000)
    r.of_toolkit("libcusparse", "12.5.10.65").library("cusparse", "12.5.10.65", 15000)
    npp = r.of_toolkit("libnpp", "12.4.1.87")
    for part in "c ial icc if im st".split():
        npp.library(f"npp{part}", "12.4.1.87", 1500)
    r.of_toolkit("libnvjitlink", NVRTC).library("nvJitLink", NVRTC, 8000)
    r.of_toolkit("libnvfatbin", "12.9.82").library("nvfatbin", "12.9.82", 300)
    r.of_toolkit("cuda-opencl", "12.9.19").library("OpenCL", "1.0.0", 30)
    r.of_toolkit("cuda-nvtx", CUDART).library("nvToolsExt", "1.0.0", 40)
    r.package("libnccl2", "2.27.3-1+cuda12.9").library("nccl", "2.27.3", 24000, TRIPLE)


def devel(r):
    """What the devel image installs."""
    tools = "cuda-cupti cuda-cupti-dev cuda-gdb cuda-sanitizer cuda-nvdisasm cuda-cuobjdump cuda-nvprune".split()
    r.package("cuda-command-line-tools-12-9", "12.9.1-1", ", ".join(f"{name}-12-9" for name in tools))
    parts = "cuda-nvcc cuda-crt cuda-nvvm cuda-cudart-dev cuda-cccl cuda-driver-dev".split()
    r.package("cuda-minimal-build-12-9", "12.9.1-1", ", ".join(f"{name}-12-9" for name in parts))
    parts = "cublas cufft cufile curand cusolver cusparse npp nvjitlink nvjpeg nvfatbin".split()
    parts = ["cuda-nvrtc-dev", "cuda-profiler-api", *[f"lib{part}-dev" for part in parts]]
    r.package("cuda-libraries-dev-12-9", "12.9.1-1", ", ".join(f"{name}-12-9" for name in parts))

    dev = r.of_toolkit("cuda-cudart-dev", CUDART, "cuda-cudart-12-9, cuda-driver-dev-12-9, cuda-cccl-12-9")
    dev.headers(RUNTIME, "nvidia/cuda_runtime/include/").link(f"{TOOLKIT}/include", "targets/x86_64-linux/include")
    for name in "libcudadevrt.a", "libcudart_static.a", "libculibos.a":
        dev.member(RUNTIME, f"nvidia/cuda_runtime/lib/{name}", f"{LIB}/{name}")
    dev.link(f"{LIB}/libcudart.so", "libcudart.so.12")
    dev.text("usr/lib/pkgconfig/cudart-12.9.pc", "Name: cudart\nVersion: 12.9\nLibs: -lcudart\n")
    r.of_toolkit("cuda-driver-dev", CUDART).stub("cuda")
    cccl = r.of_toolkit("cuda-cccl", CCCL).headers(CORE, "nvidia/cuda_cccl/include/")
    for name in "cub", "thrust":
        cccl.text(f"{LIB}/cmake/{name}/{name}-config.cmake", f"# {name}\n")
    crt = r.of_toolkit("cuda-crt", NVRTC).text(f"{INCLUDE}/crt/host_defines.h", HOST_DEFINES)
    crt.text(f"{INCLUDE}/crt/host_config.h", "#pragma once\n")
    for name in "host_defines host_runtime device_functions math_functions".split():
        crt.text(f"{INCLUDE}/crt/stand_in_{name}.h", f"// {name}\n" * 1000)

    nvcc = r.of_toolkit("cuda-nvcc", NVRTC, "build-essential, cuda-nvvm-12-9, cuda-crt-12-9")
    nvcc.program(f"{TOOLKIT}/bin/nvcc", 4000, NVCC).text(f"{TOOLKIT}/bin/nvcc.profile", "TOP = $(_HERE_)/..\n")
    nvcc.program(f"{TOOLKIT}/bin/ptxas", 12000, PTXAS)
    for name in "fatbinary:900 nvlink:12000 cudafe++:5000 bin2c:80".split():
        nvcc.program(f"{TOOLKIT}/bin/{name.split(':')[0]}", int(name.split(":")[1]))
    nvvm = r.of_toolkit("cuda-nvvm", NVRTC).program(f"{TOOLKIT}/nvvm/bin/cicc", 20000)
    nvvm.library("nvvm", "4.0.0", 16000, f"{TOOLKIT}/nvvm/lib64")
    nvvm.text(f"{TOOLKIT}/nvvm/libdevice/libdevice.10.bc", "BC\u00c0\u00de" + "." * 400000)
    r.of_toolkit("cuda-cuobjdump", NVRTC).program(f"{TOOLKIT}/bin/cuobjdump", 200)
    r.of_toolkit("cuda-nvprune", NVRTC).program(f"{TOOLKIT}/bin/nvprune", 100)
    r.of_toolkit("cuda-nvdisasm", NVRTC).program(f"{TOOLKIT}/bin/nvdisasm", 3000)
    r.of_toolkit("cuda-gdb", "12.9.79").program(f"{TOOLKIT}/bin/cuda-gdb-minimal", 9000)
    sanitizer = r.of_toolkit("cuda-sanitizer", "12.9.79")
    sanitizer.program(f"{TOOLKIT}/compute-sanitizer/compute-sanitizer", 8000)
    wrapper = f'#!/bin/sh\nexec /{TOOLKIT}/compute-sanitizer/compute-sanitizer "$@"\n'
    sanitizer.text(f"{TOOLKIT}/bin/compute-sanitizer", wrapper, 0o755)
    # Not among the libraries of the toolkit, so that no loader configuration of NVIDIA's packages finds it.
    place = f"{TOOLKIT}/extras/CUPTI/lib64"
    cupti = r.of_toolkit("cuda-cupti", CUDART)
    cupti.library("cupti", "2025.2.1", 7000, place, CUPTI, "libcupti.so.12")
    cupti = r.of_toolkit("cuda-cupti-dev", CUDART, "cuda-cupti-12-9").archive("cupti_static", 9000)
    cupti.link(f"{place}/libcupti.so", "libcupti.so.12")
    cupti.text(f"{TOOLKIT}/extras/CUPTI/include/cupti.h", CUPTI_HEADER)
    cupti.text(f"{TOOLKIT}/extras/CUPTI/samples/activity/activity.cu", "// sample\n" * 500)
    r.of_toolkit("cuda-nvml-dev", CUDART).stub("nvidia-ml").text(f"{INCLUDE}/nvml.h", "// nvml\n" * 4000)
    r.of_toolkit("cuda-nvprof", CUDART).program(f"{TOOLKIT}/bin/nvprof", 3000)
    r.of_toolkit("cuda-profiler-api", CUDART).text(f"{INCLUDE}/cuda_profiler_api_stand_in.h", "// profiler\n" * 100)
    r.of_toolkit("cuda-nvrtc-dev", NVRTC, "cuda-nvrtc-12-9").headers(COMPILER, "nvidia/cuda_nvrtc/include/").archive(
        "nvrtc_static", 15000
    ).link(f"{LIB}/libnvrtc.so", "libnvrtc.so.12")
    r.of_toolkit("libcurand-dev", CURAND, "libcurand-12-9").headers(RAND, "nvidia/curand/include/").archive(
        "curand_static", 20000
    ).link(f"{LIB}/libcurand.so", "libcurand.so.10").stub("curand")
    r.of_toolkit("libnvjpeg-dev", NVJPEG, "libnvjpeg-12-9").headers(JPEG, "nvidia/nvjpeg/include/").archive(
        "nvjpeg_static", 1500
    ).link(f"{LIB}/libnvjpeg.so", "libnvjpeg.so.12")
    for row in (
        "cublas 12.9.1.4 12 cublas:16000 cublasLt:40000",
        "cufft 11.4.1.4 11 cufft:20000 cufftw:20",
        "cufile 1.14.1.1 0 cufile:2000",
        "cusolver 11.7.5.82 11 cusolver:14000",
        "cusparse 12.5.10.65 12 cusparse:16000",
        "npp 12.4.1.87 12 nppc:60 nppial:2000 nppicc:1600 nppif:4000",
        "nvjitlink 12.9.86 12 nvJitLink:9000",
        "nvfatbin 12.9.82 12 nvfatbin:300",
    ):
        name, version, major, *archives = row.split()
        package = r.of_toolkit(f"lib{name}-dev", version, f"lib{name}-12-9")
        package.text(f"{INCLUDE}/{name}_stand_in.h", f"// {name}\n" * 3000)
        if name == "cublas":
            package.text(f"{INCLUDE}/cublas_v2.h", CUBLAS_HEADER)
        for word in archives:
            stem, kilobytes = word.split(":")
            package.archive(f"{stem}_static", int(kilobytes)).link(f"{LIB}/lib{stem}.so", f"lib{stem}.so.{major}")
    nccl = r.package("libnccl-dev", "2.27.3-1+cuda12.9", "libnccl2").text("usr/include/nccl.h", "// nccl\n" * 800)
    nccl.link(f"{TRIPLE}/libnccl.so", "libnccl.so.2")
    r.of_toolkit("cuda-nsight-compute", "12.9.1", "nsight-compute-2025.2.1").text(
        f"{TOOLKIT}/bin/ncu", '#!/bin/sh\nexec /opt/nvidia/nsight-compute/2025.2.1/ncu "$@"\n', 0o755
    )
    nsight = r.package("nsight-compute-2025.2.1", "2025.2.1.3-1")
    place = "opt/nvidia/nsight-compute/2025.2.1"
    nsight.program(f"{place}/ncu", 4000)
    for number in range(60):
        nsight.program(f"{place}/host/target-linux-x64/part{number}.so", 800)
        nsight.text(f"{place}/sections/part{number}.section", f"# section {number}\n" * 100)


def main():
    wheels, folder = sys.argv[1:]
    os.makedirs(folder)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        repository = Repository(wheels, folder, work)
        for part in base, runtime, devel:
            part(repository)
        repository.finish()


if __name__ == "__main__":
    main()
