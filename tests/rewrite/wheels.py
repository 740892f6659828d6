#!/usr/bin/env python3
"""Fills a folder with the wheels that the builds install: the real ones, and stand-ins of large ones.

    python3 wheels.py WHEELS FOLDER
    python3 wheels.py programs WHEEL FOLDER     the programs of one wheel

WHEELS has those of tests/wheels.txt, which FOLDER gets as links. torch with most of the wheels that it requires,
triton, cupy-cuda12x and poetry are made here: the layout, the requirements and the way to find CUDA's libraries are those of the real ones, the code is our
own and small. Needs gcc.
"""

import base64
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True

EXTENSION = "cpython-311-x86_64-linux-gnu.so"

TORCH = '''"""A stand-in of torch: finds CUDA where the real one does, and computes nothing."""

import ctypes
import os

__version__ = "2.9.1"
_C = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "_C.%s"))
_C.torch_device_error.restype = ctypes.c_char_p


class version:
    cuda = "12.9"
    curand = _C.torch_curand_version()


class cuda:
    @staticmethod
    def error():
        return _C.torch_device_error().decode()

    @staticmethod
    def is_available():
        return cuda.error() == "cudaSuccess"
''' % EXTENSION
TORCH_CUDA = """
extern int cudaGetDeviceCount(int *count);
extern const char *cudaGetErrorName(int error);
extern int curandGetVersion(int *version);
const char *torch_device_error(void) { int count = 0; return cudaGetErrorName(cudaGetDeviceCount(&count)); }
int torch_curand_version(void) { int version = 0; curandGetVersion(&version); return version; }
"""

TRITON = '''"""A stand-in of triton: compiles a launcher with the system's compiler, and PTX with ptxas."""

import ctypes
import os
import shutil
import subprocess
import sysconfig
import tempfile

__version__ = "3.5.1"
LAUNCHER = "#include <Python.h>\\nint launch(int grid) { return grid + (PY_MAJOR_VERSION == 3); }\\n"


def _run(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]}: {done.stderr}")


class Kernel:
    def __init__(self, launch, cubin):
        self.launch, self.cubin = launch, cubin


def compile(name, ptx):
    cc = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if not cc:
        raise RuntimeError("Failed to find C compiler. Please specify via CC environment variable.")
    ptxas = os.environ.get("TRITON_PTXAS_PATH")
    ptxas = ptxas or os.path.join(os.path.dirname(__file__), "backends", "nvidia", "bin", "ptxas")
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        with open(at("main.c"), "w") as file:
            file.write(LAUNCHER)
        with open(at(name + ".ptx"), "w") as file:
            file.write(ptx)
        include = sysconfig.get_paths()["include"]
        _run([cc, at("main.c"), "-O3", "-shared", "-fPIC", "-I" + include, "-o", at("launcher.so")])
        _run([ptxas, "-lineinfo", "-v", "--gpu-name=sm_90", at(name + ".ptx"), "-o", at(name + ".cubin")])
        with open(at(name + ".cubin"), "rb") as file:
            cubin = file.read()
        return Kernel(ctypes.CDLL(at("launcher.so")).launch, cubin)
'''

CUPY = '''"""A stand-in of cupy: its extensions are linked to libraries of the toolkit, wherever the loader finds them."""

import ctypes
import os

__version__ = "13.3.0"
_libs = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cupy_backends", "cuda", "libs")


def _library(name):
    return ctypes.CDLL(os.path.join(_libs, name + ".%s"))


def curand_version():
    return _library("curand").backend_version()


def nvrtc_version():
    version = _library("nvrtc").backend_version()
    return f"{version // 1000}.{version %% 1000 // 10}"
''' % EXTENSION
CUPY_CURAND = """
extern int curandGetVersion(int *version);
int backend_version(void) { int version = 0; curandGetVersion(&version); return version; }
"""
CUPY_NVRTC = """
extern int nvrtcVersion(int *major, int *minor);
int backend_version(void) { int major = 0, minor = 0; nvrtcVersion(&major, &minor); return major * 1000 + minor * 10; }
"""

POETRY = '''"""A stand-in of Poetry: installs what poetry.lock lists for the groups that are wanted, and keeps a cache."""

import os
import re
import subprocess
import sys
import tempfile
import tomllib


def environment():
    if os.environ.get("POETRY_VIRTUALENVS_CREATE", "true").lower() in ("false", "0"):
        return sys.executable
    folder = os.path.abspath(".venv")
    if os.environ.get("POETRY_VIRTUALENVS_IN_PROJECT", "false").lower() not in ("true", "1"):
        folder = os.path.expanduser("~/.cache/pypoetry/virtualenvs/project-py3.11")
    if not os.path.exists(folder):
        print(f"Creating virtualenv {folder}")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return os.path.join(folder, "bin", "python")


def install(options):
    groups = {"main", "dev"}
    if "--only" in options:
        groups = set(options[options.index("--only") + 1].split(","))
    elif "--without" in options:
        groups -= set(options[options.index("--without") + 1].split(","))
    with open("poetry.lock", "rb") as file:
        packages = [package for package in tomllib.load(file)["package"] if groups & set(package["groups"])]
    python = environment()
    pip = [python, "-m", "pip", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
    cache = os.path.join(os.environ.get("POETRY_CACHE_DIR") or os.path.expanduser("~/.cache/pypoetry"), "artifacts")
    with tempfile.TemporaryDirectory() as passing:
        folder = passing if "--no-cache" in options else cache
        os.makedirs(folder, exist_ok=True)
        for package in packages:
            name = f"{package['name']}=={package['version']}"
            print(f"  - Installing {name}")
            subprocess.run([*pip, "download", "--no-deps", "--dest", folder, name], check=True)
            subprocess.run([*pip, "install", "--no-deps", "--no-index", "--find-links", folder, name], check=True)
    if "--no-root" not in options:
        sys.exit("a stand-in, which installs no root package: use --no-root")


def main():
    words = sys.argv[1:]
    if "--version" in words:
        print("Poetry (version 2.1.4)")
    elif words[:1] == ["install"]:
        install(words[1:])
    elif words[:1] != ["config"]:
        sys.exit(f"a stand-in, which does not know {words}")
'''


class Wheel:
    """A wheel that is being filled."""

    def __init__(self, folder, name, version, tag, requires=()):
        self.name, self.info = name, f"{name}-{version}.dist-info"
        self.record, self.path = [], os.path.join(folder, f"{name}-{version}-{tag}.whl")
        self.archive = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
        self.add(f"{self.info}/METADATA", metadata)
        pure = str(tag.endswith("-any")).lower()
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wheels.py\nRoot-Is-Purelib: {pure}\nTag: {tag}\n")

    def add(self, path, data, mode=0o644):
        if isinstance(data, str):
            data = data.encode()
        # The same wheel from each run.
        entry = zipfile.ZipInfo(path, (2025, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{path},sha256={digest},{len(data)}\n")
        return self

    def finish(self):
        self.record.append(f"{self.info}/RECORD,,\n")
        self.archive.writestr(f"{self.info}/RECORD", "".join(self.record))
        self.archive.close()


class Workshop:
    """Compiles what goes into the wheels, against libraries of the real ones."""

    def __init__(self, wheels, work):
        self.wheels, self.work = wheels, work

    def extract(self, wheel, inside):
        """A library of a wheel, for linking; its folder comes back."""
        found = sorted(glob.glob(os.path.join(self.wheels, wheel)))
        if not found:
            sys.exit(f"no wheel {wheel} in {self.wheels}; tests/fetch_wheels.sh gets it")
        with zipfile.ZipFile(found[-1]) as archive:
            return os.path.dirname(archive.extract(inside, self.work))

    def compile(self, name, kilobytes, text, *options):
        """A file that gcc makes; its bytes come back."""
        path = os.path.join(self.work, name)
        filler = f"__attribute__((used)) static char filler[{kilobytes * 1024}] = {{1}};\n" if kilobytes else ""
        command = ["gcc", "-O1", "-x", "c", "-", "-x", "none", "-o", path, *options]
        subprocess.run(command, input=filler + text, text=True, check=True)
        with open(path, "rb") as file:
            return file.read()


# Wheels that torch requires beside cudart and curand, which are real: name, version, folder, libraries with their size.
NVIDIA = """
cublas 12.9.1.4 cublas libcublasLt.so.12:40000 libcublas.so.12:9000
cudnn 9.10.2.21 cudnn libcudnn.so.9:100 libcudnn_graph.so.9:3000 libcudnn_ops.so.9:9000
cufft 11.4.1.4 cufft libcufft.so.11:20000
cufile 1.14.1.1 cufile libcufile.so.0:1200
cusolver 11.7.5.82 cusolver libcusolver.so.11:12000
cusparse 12.5.10.65 cusparse libcusparse.so.12:15000
nccl 2.27.5 nccl libnccl.so.2:24000
nvjitlink 12.9.41 nvjitlink libnvJitLink.so.12:8000
nvtx 12.9.79 nvtx libnvtx3interop.so.1:30
cuda-cupti 12.9.79 cuda_cupti libcupti.so.12:7000
cuda-nvrtc 12.9.41 cuda_nvrtc libnvrtc.so.12:9000
"""


def nvidia(shop, folder):
    """The wheels of NVIDIA; what torch requires of them, their folders, and where the libraries are for linking."""
    requires, places, names = [], [], []
    for row in NVIDIA.split("\n")[1:-1]:
        name, version, place, *libraries = row.split()
        tag = "py3-none-manylinux2014_x86_64"
        wheel = Wheel(folder, f"nvidia_{name.replace('-', '_')}_cu12", version, tag)
        for library in libraries:
            library, _, kilobytes = library.partition(":")
            text = f"int {re.sub(r'[^a-z0-9]', '_', library, flags=re.IGNORECASE)}_stand_in(void) {{ return 1; }}"
            data = shop.compile(library, int(kilobytes), text, "-shared", "-fPIC", f"-Wl,-soname,{library}")
            wheel.add(f"nvidia/{place}/lib/{library}", data, 0o755)
        wheel.finish()
        requires.append(f"nvidia-{name}-cu12=={version}")
        places.append(place)
        names += [library.partition(":")[0] for library in libraries if "cudnn_" not in library]
    return requires, places, names


def torch(shop, folder, cudart, curand):
    requires, places, names = nvidia(shop, folder)
    requires += ["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-curand-cu12==10.3.10.19"]
    requires = [f"{requirement}; platform_system == 'Linux'" for requirement in requires]
    wheel = Wheel(folder, "torch", "2.9.1", "cp311-cp311-manylinux_2_28_x86_64", requires)
    places = [f"$ORIGIN/../../nvidia/{place}/lib" for place in [*places, "cuda_runtime", "curand"]]
    linking = [f"-L{cudart}", f"-L{curand}", f"-L{shop.work}", "-Wl,--no-as-needed", f"-Wl,-rpath,{':'.join(places)}"]
    linking += [f"-l:{name}" for name in [*names, "libcudart.so.12", "libcurand.so.10"]]
    cuda = shop.compile("libtorch_cuda.so", 16000, TORCH_CUDA, "-shared", "-fPIC", "-Wl,-soname,libtorch_cuda.so", *linking)
    linking = [f"-L{shop.work}", "-Wl,--no-as-needed", "-l:libtorch_cuda.so", "-Wl,-rpath,$ORIGIN/lib"]
    linking.append(f"-Wl,-rpath-link,{cudart}:{curand}:{shop.work}")
    wheel.add("torch/__init__.py", TORCH)
    wheel.add("torch/lib/libtorch_cuda.so", cuda, 0o755)
    wheel.add(f"torch/_C.{EXTENSION}", shop.compile("_C.so", 0, "", "-shared", "-fPIC", *linking), 0o755)
    for number in range(40):
        wheel.add(f"torch/include/ATen/part{number}.h", f"// part {number}\n" * 400)
    wheel.add("torch/share/cmake/Torch/TorchConfig.cmake", "# a stand-in\n")
    wheel.finish()


def triton(shop, folder):
    wheel = Wheel(folder, "triton", "3.5.1", "cp311-cp311-manylinux_2_28_x86_64")
    wheel.add("triton/__init__.py", TRITON)
    ptxas = shop.compile("ptxas", 6000, "int main(void) { return 1; }")
    wheel.add("triton/backends/nvidia/bin/ptxas", ptxas, 0o755)
    wheel.finish()


def cupy(shop, folder, curand, nvrtc):
    wheel = Wheel(folder, "cupy_cuda12x", "13.3.0", "cp311-cp311-manylinux2014_x86_64")
    wheel.add("cupy/__init__.py", CUPY)
    wheel.add("cupy_backends/__init__.py", "").add("cupy_backends/cuda/__init__.py", "")
    for name, text, place, library in (
        ("curand", CUPY_CURAND, curand, "libcurand.so.10"),
        ("nvrtc", CUPY_NVRTC, nvrtc, "libnvrtc.so.12"),
    ):
        data = shop.compile(name, 3000, text, "-shared", "-fPIC", f"-L{place}", f"-l:{library}")
        wheel.add(f"cupy_backends/cuda/libs/{name}.{EXTENSION}", data, 0o755)
    wheel.finish()


def poetry(folder):
    wheel = Wheel(folder, "poetry", "2.1.4", "py3-none-any")
    wheel.add("poetry/__init__.py", '__version__ = "2.1.4"\n').add("poetry/console.py", POETRY)
    wheel.add(f"{wheel.info}/entry_points.txt", "[console_scripts]\npoetry = poetry.console:main\n")
    wheel.finish()


def programs(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if ".data/scripts/" in name:
                path = os.path.join(folder, os.path.basename(name))
                with open(path, "wb") as file:
                    file.write(archive.read(name))
                os.chmod(path, 0o755)


def main():
    if sys.argv[1] == "programs":
        return programs(*sys.argv[2:])
    wheels, folder = sys.argv[1:]
    os.makedirs(folder)
    for name in sorted(os.listdir(wheels)):
        if name.endswith(".whl"):
            source, target = os.path.join(wheels, name), os.path.join(folder, name)
            try:
                os.link(source, target)
            except OSError:
                # Another file system: a copy.
                subprocess.run(["cp", source, target], check=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        shop = Workshop(wheels, work)
        cudart = shop.extract("nvidia_cuda_runtime_cu12-12.9.79-*.whl", "nvidia/cuda_runtime/lib/libcudart.so.12")
        curand = shop.extract("nvidia_curand_cu12-10.3.10.19-*.whl", "nvidia/curand/lib/libcurand.so.10")
        nvrtc = shop.extract("nvidia_cuda_nvrtc_cu12-12.9.86-*.whl", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
        torch(shop, folder, cudart, curand)
        triton(shop, folder)
        cupy(shop, folder, curand, nvrtc)
        poetry(folder)


if __name__ == "__main__":
    main()
