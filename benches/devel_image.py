#!/usr/bin/env python3
"""Makes an image as people build it on nvidia/cuda's devel image, and a listing by hand of what in it only builds.

    python3 benches/devel_image.py --oci DIR --listing FILE --needed FILE [--kind devel|runtime|jit] [--wheels DIR]
                                   [--paths FILE] [--files N] [--scale N] [--nsight N] [--small]

devel: a distribution with compilers (this machine's own packages of dpkg, with their papers), CUDA 13.0 for
development, an application in C and Python. runtime: jax in a virtual environment with all that it needs, and
no toolkit. jit: the devel image with jax, whose wheels lack ptxas and libdevice, so that it takes the toolkit's.
What PyPI has of CUDA 13.0 is real; what only NVIDIA's packages hold (static libraries, debugger, Nsight) is made
here under the real names, 1/SCALE of the real size. --paths takes lines `BYTES<TAB>PATH`, as
`find /usr/local/cuda/ -type f -printf '%s\\t%p\\n'` prints them in a devel image, for more of the real names.

--listing gets `CATEGORY<TAB>BYTES<TAB>PATH` of every file that only builds, --needed the paths that the
application needs. Both come from the rules below, which know nothing of cutaway: by folder and ending, as the
packages of CUDA, gcc and cmake lay their files out. `a|b` says that either category is right. Linux on x86-64
with dpkg only.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no folder of compiled files beside the sources

from torch_image import SITE, VENV, Layer, Wheel, add_venv, digest_of, pip, target_options  # noqa: E402

ROOT = "usr/local/cuda-13.0"
TARGET = f"{ROOT}/targets/x86_64-linux"
TRIPLE = "usr/lib/x86_64-linux-gnu"
VERSION = "13-0"
NVIDIA = "cudatools <cudatools@nvidia.com>"

# Wheels with the packages of Ubuntu that hold the same: at run time, for development. SHA-256 pins each.
WHEELS = """
nvidia-cuda-runtime 13.0.96 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548 cuda-cudart cuda-cudart-dev
nvidia-nvjpeg 13.0.1.86 f658a05c48702219b3db52e194c2ea1ff0ccd3fbf2b75127b4a573074cc22fd5 libnvjpeg libnvjpeg-dev
nvidia-cuda-crt 13.0.88 2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4 cuda-crt cuda-crt
nvidia-cuda-nvcc 13.0.88 56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03 cuda-nvcc cuda-nvcc
nvidia-nvvm 13.0.88 c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0 libnvvm libnvvm
nvidia-cuda-cccl 13.0.85 e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649 cuda-cccl cuda-cccl
nvidia-cuda-cupti 13.0.85 4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8 cuda-cupti cuda-cupti-dev
nvidia-cuda-sanitizer-api 13.0.85 b1efff95f63b6fe40dc83801d598550542364393957775912a1abf396904331c cuda-sanitizer cuda-sanitizer
nvidia-curand 10.4.0.35 1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc libcurand libcurand-dev
nvidia-nvjitlink 13.0.88 13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b libnvjitlink libnvjitlink-dev
nvidia-cuda-nvrtc 13.0.88 ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575 cuda-nvrtc cuda-nvrtc-dev
nvidia-nccl-cu13 2.27.7 b28a524abd8389b76a4a3f133c76a7aaa7005e47fcaa9d9603b90103927a3f93 libnccl2 libnccl-dev
nvidia-cudnn-cu13 9.13.1.26 a0f434a881ce8b35afe3a328634db1da4a3852fc6dfbe89577f3e78400ee10d0 libcudnn9-cuda-13 libcudnn9-dev-cuda-13
"""
# What jax brings of its own.
JAX = """
jax 0.10.2 724d73c4678d8b06f6a6ab4db1b8a2fea8cd4f1e2c2564f99601634ec7b8d1c6
jaxlib 0.10.2 1faca3c5d4662cb4a6130a68105d68bb520764817e165d6eebfd6786c0d1f30f
jax-cuda13-pjrt 0.12.0.1 5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90
jax-cuda13-plugin 0.10.2 4dfbac70e6258c66e9f2c17df170e05cc86580d8fa25ed78d670491084581382
"""
SMALL = ("nvidia-cuda-runtime", "nvidia-nvjpeg", "nvidia-cuda-crt", "nvidia-cuda-nvcc")

# Static libraries and tools that no wheel has, with the size of the real ones in MB.
STATIC = """
cublasLt_static:831 cublas_static:119 cufft_static:294 cufftw_static:1 cusparse_static:203 cusolver_static:166
cusolver_lapack_static:21 cusolver_metis_static:1 metis_static:1 curand_static:133 nvJitLink_static:136 nvrtc_static:123
nvrtc-builtins_static:4 nvptxcompiler_static:89 nppif_static:68 nppig_static:30 nppist_static:30 nppial_static:18
npps_static:12 nppc_static:1 cupti_static:46 nvperf_host_static:41 cufile_static:26 cufilt:1 culibos:1 nvjpeg_static:7
nvfatbin_static:2
"""
STUBS = """
cuda nvidia-ml cublas cublasLt cufft curand cusolver cusparse nppc npps nvJitLink nvjpeg nvrtc nvfatbin
""".split()
TOOLS = """
cuda-gdb-python3.11-tui:16 cuda-gdb-python3.12-tui:16 cuda-gdb-minimal:15 cuda-gdbserver:1 cuobjdump:1 nvdisasm:5
nvprune:1 cu++filt:1
"""
DISTRIBUTION = """
base-files bash coreutils dash findutils grep sed tar gzip tzdata ca-certificates libgcc-s1
libstdc++6 python3.11-minimal libpython3.11-stdlib
"""
BUILDING = """
gcc-12 g++-12 cpp-12 libgcc-12-dev libstdc++-12-dev libc6-dev linux-libc-dev binutils binutils-x86-64-linux-gnu make cmake
cmake-data git gdb libpython3.11-dev zlib1g-dev libexpat1-dev
"""

# The listing by hand --------------------------------------------------------------------------------

TOOLKIT_BIN = (
    "nvcc nvcc.profile __nvcc_device_query cudafe++ fatbinary nvlink bin2c ptxas cuobjdump nvdisasm nvprune cu++filt crt"
).split()
CUDA_PACKAGES = r"/lib(cudnn|nccl|nvinfer|nvonnxparser)"


def toolkit_category(rest):
    """What a path below a toolkit's root is for, when it only builds; the order is that of the categories."""
    parts, name = rest.split("/"), rest.rsplit("/", 1)[-1]
    if rest.startswith("lib/stubs/"):
        return "stubs"
    if name.endswith((".a", ".o")):
        return "static-libraries"
    if parts[0] == "include" or rest.startswith(("nvvm/include/", "extras/CUPTI/include/")):
        return "headers"
    if rest.startswith(("compute-sanitizer/", "extras/Debugger/")) and "include" in parts:
        return "headers|debuggers"
    if rest.startswith("extras/CUPTI/samples/"):
        return "profilers|docs-samples"
    profilers = r"lib/lib(cupti|nvperf_|pcsamplingutil|checkpoint|cuinj64|accinj64)|bin/(nvprof|nvvp|ncu|nsys|nsight)"
    if re.match(profilers + "|extras/CUPTI/|nsight-|libnvvp/|nsightee_plugins/", rest):
        return "profilers"
    if re.match("bin/(cuda-gdb|compute-sanitizer)|extras/Debugger/|share/gdb/|compute-sanitizer/", rest):
        return "debuggers"
    if rest.startswith("nvvm/libnvvm-samples/"):
        return "docs-samples"
    if parts[0] == "nvvm" or (parts[0] == "bin" and len(parts) > 1 and parts[1] in TOOLKIT_BIN):
        return "compilers"
    if rest.startswith(("lib/cmake/", "lib/pkgconfig/", "pkgconfig/")):
        return "build-metadata"
    if parts[0] in ("doc", "docs", "share", "man", "samples", "tools", "src") or rest.startswith(
        ("extras/demo_suite/", "nvml/example/", "nvml/doc/")
    ):
        return "docs-samples"
    return None


SYSTEM = [
    (r"/(var/lib/apt/lists|var/cache/apt/archives|root/\.cache/(pip|uv|ccache))/.+", "package-caches"),
    (r"/srv/app/(build/|\.git/|.*\.o$|.*/CMakeFiles/)", "build-artifacts"),
    (r"/usr/lib/.*\.(a|la)$", "static-libraries|compilers|headers"),
    (r"/usr/lib/(x86_64-linux-gnu|gcc)/.*\.o$", "static-libraries|headers|build-artifacts|compilers"),
    (r"/usr/include/.", "headers"),
    (r"/usr/lib/gcc/.*/(include|include-fixed|install-tools|plugin)/", "headers|compilers"),
    (r"/opt/nvidia/nsight-(compute|systems)/.", "profilers"),
    (r"/usr/bin/(gdb|gcore|gdb-add-index|gdbtui)$", "debuggers|build-tools"),
    (r"/usr/share/(gdb|gcc)/", "debuggers|compilers|headers"),
    (r"/usr/lib/.*/(pkgconfig|cmake)/", "build-metadata|build-tools"),
    (r"/usr/lib/(pkgconfig)/", "build-metadata"),
    (r"/usr/share/(cmake-[^/]*|aclocal|pkgconfig)/", "build-metadata|build-tools"),
    (r"/usr/lib/gcc/.", "compilers"),
    (r"/usr/bin/(x86_64-linux-gnu-.*|gcc.*|g\+\+.*|c\+\+|cc|cpp.*|ld.*|as)$", "compilers"),
    (r"/usr/bin/(make|cmake|ctest|cpack|ninja|git.*)$", "build-tools"),
    (r"/usr/lib/git-core/.", "build-tools"),
    (r"/usr/share/(doc|man|info)/.", "docs-samples"),
]


def category(path):
    """The category of an absolute path that only builds, else None. Licences stay, whatever folder they lie in."""
    name = path.rsplit("/", 1)[-1]
    if name in ("copyright", "EULA.txt", "LICENSE", "version.json"):
        return None
    match = re.match(r"/usr/local/cuda(?:-[\d.]+)?/(.+)", path)
    if match:
        return toolkit_category(re.sub("^lib64/", "lib/", re.sub("^targets/[^/]+/", "", match[1])))
    return next((kind for pattern, kind in SYSTEM if re.match(pattern, path)), None)


# Parts of the image ---------------------------------------------------------------------------------


def filler(name, size):
    """Bytes that are always the same for a name, and compress about as machine code does."""
    seed, out = hashlib.sha256(name.encode()).digest(), bytearray()
    while len(out) < size:
        seed = hashlib.sha256(seed).digest()
        out += seed + seed[:8] * 3
    return bytes(out[:size])


def archive(name, size):
    """A static archive of one member that is no object: linkers look into none here."""
    body = filler(name, max(size - 68, 60) & ~1)
    return b"!<arch>\n" + f"{'part.o/':<16}{'0':<12}{'0':<6}{'0':<6}{'644':<8}{len(body):<10}`\n".encode() + body


class Compiler:
    """ELF files of our own, by this machine's gcc: programs, shared libraries, and with `shared=None` objects."""

    def __init__(self, work):
        self.work = work

    def build(self, name, size=0, shared=True, needs=(), exports=(), rpath=None):
        names = exports or [re.sub(r"\W", "_", name) + "_here"]
        source = "".join(f"int {one}(void) {{ return 0; }}\n" for one in names)
        if shared is False:
            source += "int main(void) { return 0; }\n"
        source += f'__asm__(".section .rodata\\n.incbin \\"{self.work}/filler\\"\\n.text");\n' if size else ""
        with open(f"{self.work}/one.c", "w", encoding="ascii") as file:
            file.write(source)
        with open(f"{self.work}/filler", "wb") as file:
            file.write(filler(name, size))
        out = f"{self.work}/one.out"
        how = ["gcc", "-O1", f"{self.work}/one.c", "-o", out, "-Wl,--no-as-needed,--unresolved-symbols=ignore-all"]
        how += {True: ["-shared", "-fPIC", f"-Wl,-soname,{name}"], None: ["-c"], False: []}[shared]
        how += [f"-Wl,-rpath,{rpath}"] if rpath else []
        for need in needs:
            stub = f"{self.work}/{need}"
            if not os.path.exists(stub):
                empty = ["-shared", "-nostdlib", "-x", "c", "/dev/null"]
                subprocess.run(["gcc", *empty, "-o", stub, f"-Wl,-soname,{need}"], check=True)
            how.append(stub)
        subprocess.run(how, check=True)
        with open(out, "rb") as file:
            return file.read()


class Painter(Layer):
    """A layer that keeps what it holds."""

    def __init__(self, blobs, name, history):
        super().__init__(blobs, name, history)
        self.sizes = {}

    def file(self, path, data, package=None, mode=0o644):
        if path in self.sizes:
            return
        self.own(path, package)
        self.writer.file(path, data, mode)
        self.sizes[path] = len(data)

    def stream(self, path, size, pieces, package=None):
        if path in self.sizes:
            return
        super().stream(path, size, pieces, package)
        self.sizes[path] = size


def stanzas():
    """The machine's own package database: name to stanza."""
    with open("/var/lib/dpkg/status", encoding="utf-8", errors="replace") as file:
        parts = file.read().split("\n\n")
    return {match[1]: part for part in parts if (match := re.match(r"Package: (\S+)", part))}


def with_dependencies(names, known):
    """These packages and what they need, as far as it is installed here."""
    found, waiting = [], list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name not in known:
            continue
        found.append(name)
        for field in re.findall(r"^(?:Pre-)?Depends: (.*)$", known[name], re.M):
            for choice in field.split(","):
                options = [re.sub(r"[ (:].*", "", one.strip()) for one in choice.split("|")]
                waiting += [next((one for one in options if one in known), "")][:1]
    return sorted(found)


def list_of(package):
    """Where dpkg lists the files of a package, and what it lists."""
    name = (glob.glob(f"/var/lib/dpkg/info/{package}.list") + glob.glob(f"/var/lib/dpkg/info/{package}:*.list"))[0]
    with open(name, encoding="utf-8") as file:
        return name, file.read().splitlines()


def add_distribution(layer, known, names, is_clean):
    """Files of this machine's packages under the paths that dpkg lists, and their papers."""
    links = {}
    for name in ("bin", "lib", "lib64", "sbin"):
        layer.link(name, f"usr/{name}")
    for package in names:
        listed, lines = list_of(package)
        for path in lines:
            # Where bin and lib are links now, dpkg still lists the old paths.
            target = re.sub(r"^/(bin|lib|lib64|sbin)/", r"/usr/\1/", path)[1:]
            if os.path.islink(path) and target not in ("bin", "lib", "lib64", "sbin"):
                links.setdefault(target, os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    layer.file(target, file.read(), mode=0o755 if os.access(path, os.X_OK) else 0o644)
        layer.file(f"var/lib/dpkg/info/{os.path.basename(listed)}", ("\n".join(lines) + "\n").encode())
    for path, target in sorted(links.items()):
        if path not in layer.sizes:
            layer.link(path, target)
    for pair in ("gcc gcc-12", "g++ g++-12", "cc gcc", "c++ g++", "python3 python3.11"):
        alternative, target = pair.split()
        if f"usr/bin/{alternative}" not in links:
            layer.link(f"usr/bin/{alternative}", target)
    if "etc/os-release" not in layer.sizes and "usr/lib/os-release" not in layer.sizes:
        layer.file("etc/os-release", b'NAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="12"\n')
    layer.file("var/lib/dpkg/status", ("\n\n".join(known[name] for name in names) + "\n\n").encode())
    if not is_clean:
        layer.file("var/lib/apt/lists/deb.example.org_dists_Packages", filler("lists", 3 << 20))
    layer.file("etc/ld.so.conf", b"include /etc/ld.so.conf.d/*.conf\n")
    layer.file("etc/ld.so.conf.d/x86_64-linux-gnu.conf", b"/usr/local/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu\n")


def place(name, wheel, version):
    """Where the packages of CUDA put a file of a wheel: path, whether it is for development, links."""
    match = re.match(r"nvidia/(?:cu13|cudnn|nccl)/(lib|include|bin|nvvm)/(.+)", name)
    if not match:
        return None
    kind, rest = match[1], match[2]
    outside = wheel.startswith(("nvidia-cudnn", "nvidia-nccl"))
    if wheel == "nvidia-cuda-sanitizer-api":
        # The wheel has its libraries twice; the package once, in a folder of its own.
        folder = f"{ROOT}/compute-sanitizer/" + ("include/" if kind == "include" else "")
        return None if kind == "lib" else (folder + rest, True, [])
    if rest == "libnvvm.so.4":
        folder = f"{ROOT}/nvvm/lib64"
        links = [(True, f"{folder}/{rest}", f"{rest}.0.0"), (True, f"{folder}/libnvvm.so", rest)]
        return f"{folder}/{rest}.0.0", True, links
    if kind == "lib" and ".so" in rest:
        folder = TRIPLE if outside else f"{TARGET}/lib"
        stem, _, major = rest.partition(".so.")
        full = f"{stem}.so.{version}" if major and version.startswith(major + ".") else rest
        is_devel = wheel == "nvidia-cuda-cupti"
        links = [] if full == rest else [(is_devel, f"{folder}/{rest}", full)]
        if f"{stem}.so" not in (full, rest):
            links.append((True, f"{folder}/{stem}.so", rest))
        return f"{folder}/{full}", is_devel, links
    if kind == "lib":
        return f"{TARGET}/lib/{rest}", True, []
    if kind == "include":
        return (f"usr/include/{rest}" if outside else f"{TARGET}/include/{rest}"), True, []
    return f"{ROOT}/{kind}/{rest}", True, []


def wheel_of(line, caches, work):
    """A pinned wheel: from a cache, or downloaded."""
    name, version, digest = line.split()[:3]
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    known = [path for folder in caches for path in glob.glob(f"{folder}/{pattern}")]
    path = next((path for path in known if digest_of(path) == digest), None)
    if path is None:
        wanted = os.path.join(work, "wanted.txt")
        with open(wanted, "w", encoding="ascii") as out:
            out.write(f"{name}=={version} --hash=sha256:{digest}\n")
        how = ["--quiet", "--no-cache-dir", "--no-deps", "--require-hashes", "--dest", work]
        pip("download", *how, *target_options(), "-r", wanted)
        path = glob.glob(f"{work}/{pattern}")[0]
    return Wheel(os.path.basename(path), digest, f"{name}=={version}", lambda _: [path], work)


def add_wheels(layer, wheels, caches, work, versions):
    """Wheels of CUDA, laid out as NVIDIA's packages do it."""
    for line in wheels:
        name, version, _, runtime, devel = line.split()
        tail = "" if runtime.startswith(("libnccl", "libcudnn")) else f"-{VERSION}"
        for package in (runtime + tail, devel + tail):
            versions[package] = (f"{version}-1", NVIDIA)
        with wheel_of(line, caches, work) as wheel:
            for info in wheel.files():
                spot = place(info.filename, name, version)
                if spot is None:
                    continue
                path, is_devel, links = spot
                layer.stream(path, info.file_size, wheel.pieces(info), (devel if is_devel else runtime) + tail)
                for is_devel, link, target in links:
                    layer.link(link, target, (devel if is_devel else runtime) + tail)


def add_environment(layer, lines, caches, work):
    """Wheels in a virtual environment, as pip leaves them there."""
    layer.link(f"{VENV}/bin/python3", "/usr/bin/python3.11")
    layer.file(f"{VENV}/pyvenv.cfg", b"home = /usr/bin\nversion = 3.11\n")
    for line in lines:
        with wheel_of(line, caches, work) as wheel:
            add_venv(wheel, layer)
    layer.file("srv/app/jit.py", b"import jax.numpy as jnp\n\nprint(jnp.power(jnp.arange(3.0), 2.5))\n")


def add_made(layer, build, options, versions):
    """What no wheel has: made here, under the real names."""
    megabyte = (1 << 20) // options.scale

    def own(package):
        name = f"{package}-{VERSION}"
        versions[name] = ("13.0.88-1", NVIDIA)
        return name

    for word in STATIC.split():
        stem, size = word.split(":")
        library = re.sub(r"(_lapack|_metis)?_static.*|LT?$", "", stem.replace("cublasLt", "cublas"))
        package = f"lib{library.lower()}-dev" if stem.startswith(("cu", "nv", "npp")) else "libcusolver-dev"
        layer.file(f"{TARGET}/lib/lib{stem}.a", archive(stem, int(size) * megabyte), own(package))
    for stem in STUBS:
        stub = build.build(f"lib{stem}.so.1", exports=[f"{stem.replace('-', '_')}_stub"])
        layer.file(f"{TARGET}/lib/stubs/lib{stem}.so", stub, own("cuda-driver-dev"))
    for word in TOOLS.split():
        name, size = word.split(":")
        package = "cuda-gdb" if name.startswith("cuda-gdb") else {"cu++filt": "cuda-cuxxfilt"}.get(name, f"cuda-{name}")
        layer.file(f"{ROOT}/bin/{name}", build.build(name, int(size) * megabyte, shared=False), own(package), 0o755)
    cublas, lt = "libcublas.so.13", "libcublasLt.so.13"
    made = (lt, 541, []), (cublas, 54, [lt]), ("libcufft.so.12", 286, []), ("libcusolver.so.12", 141, [cublas, lt])
    for name, size, needs in made:
        full = f"{name}.1.0.3"
        owner = own("lib" + name[3:].split(".")[0].lower().replace("lt", ""))
        layer.file(f"{TARGET}/lib/{full}", build.build(name, size * megabyte, needs=needs, rpath="$ORIGIN"), owner)
        layer.link(f"{TARGET}/lib/{name}", full, owner)
    nsight = "opt/nvidia/nsight-compute/2025.3.1"
    versions["nsight-compute-2025.3.1"] = ("2025.3.1.4-1", NVIDIA)
    for number in range(options.nsight):
        kind = ("sections/part", "section") if number % 3 else ("host/target-linux-x64/lib", "so.1")
        path = f"{nsight}/{kind[0]}{number}.{kind[1]}"
        layer.file(path, filler(path, (1300 << 20) // options.scale // options.nsight), "nsight-compute-2025.3.1")
    layer.file(f"{nsight}/ncu", build.build("ncu", 1 << 20, shared=False), "nsight-compute-2025.3.1", 0o755)
    for name, target in (("ncu", "ncu"), ("ncu-ui", "ncu-ui")):
        script = f'#!/bin/sh\nexec /{nsight}/{target} "$@"\n'
        layer.file(f"{ROOT}/bin/{name}", script.encode(), own("cuda-nsight-compute"), 0o755)
    for folder, ending, count, package in (
        ("extras/CUPTI/doc/html/api/structCUpti_", "html", 390, "cuda-cupti-dev"),
        ("compute-sanitizer/docs/api/structSanitizer_", "html", 100, "cuda-sanitizer"),
        ("share/gdb/syscalls/arch", "xml", 65, "cuda-gdb"),
        ("doc/man/man3/cufile_", "3", 14, "libcufile-dev"),
        ("nvml/example/example", "c", 4, "cuda-nvml-dev"),
        ("targets/x86_64-linux/lib/cmake/cub/cub-part", "cmake", 13, "cuda-cccl"),
    ):
        for number in range(count):
            path = f"{ROOT}/{folder}{number}.{ending}"
            layer.file(path, f"<!-- {path} -->\n".encode() * 400, own(package))
    if options.paths:
        add_listed(layer, build, options, own)
    for number in range(6):
        name = f"usr/lib/pkgconfig/cu{('blas', 'fft', 'rand', 'solver', 'sparse', 'dart')[number]}-13.0.pc"
        layer.file(name, b"Name: cuda\nVersion: 13.0\n", own("cuda-cudart-dev"))
    version = json.dumps({"cuda": {"name": "CUDA SDK", "version": "13.0.2"}})
    layer.file(f"{ROOT}/version.json", version.encode(), own("cuda-toolkit-config-common"))
    layer.file(f"etc/ld.so.conf.d/988_cuda-13.conf", f"/{TARGET}/lib\n".encode(), own("cuda-cudart"))


def add_listed(layer, build, options, own):
    """Real names from a list, for what is not there yet."""
    with open(options.paths, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    for size, path in rows:
        path = re.sub(r"^/usr/local/cuda/lib64/", f"{TARGET}/lib/", path)
        path = re.sub(r"^/usr/local/cuda/include/", f"{TARGET}/include/", path)
        path = re.sub(r"^/usr/local/cuda/", f"{ROOT}/", path).lstrip("/")
        name = os.path.basename(path)
        # Libraries of the run time come from wheels; what a list has three times is a file and two links.
        if not path.startswith(ROOT) or path in layer.sizes or "/compat/" in path or re.search(r"/lib/[^/]*\.so", path):
            continue
        small = max(int(size) // options.scale, 16) if int(size) > 1 << 16 else int(size)
        if name.endswith(".a"):
            data = archive(name, small)
        elif ".so" in name:
            data = build.build(name, small)
        else:
            data = f"// {path}\n".encode() + filler(path, small) if size != "0" else b""
        owner = own("libcufile" if "/gds/" in path else "cuda-nvcc" if "/bin/" in path else "cuda-cccl")
        layer.file(path, data[:small] if ".so" not in name else data, owner)


APP = b"""import ctypes, json, sqlite3, ssl

def handler(event):
    curand = ctypes.CDLL("libcurand.so.10")
    return json.dumps({"ok": bool(curand), "event": event})

if __name__ == "__main__":
    print(handler({}))
"""
START = b"#!/bin/bash\nset -e\npython3 /srv/app/client.py &\nexec /srv/app/bin/serve --port 8000\n"


def add_application(layer, build, files, kind):
    needs = ["libcublas.so.13", "libcurand.so.10", "libcudart.so.13", "libnvjpeg.so.13"]
    if kind == "runtime":
        layer.file("srv/app/start.sh", f"#!/bin/bash\nexec /{VENV}/bin/python3 /srv/app/jit.py\n".encode(), mode=0o755)
        return
    layer.file("srv/app/bin/serve", build.build("serve", 4 << 20, shared=False, needs=needs), mode=0o755)
    layer.file("srv/app/client.py", APP)
    layer.file("srv/app/start.sh", START, mode=0o755)
    layer.file("srv/app/build/serve.o", build.build("serve.o", 2 << 20, shared=None))
    layer.file("srv/app/.git/objects/pack/pack-1.pack", filler("pack", 5 << 20))
    layer.file("srv/app/.git/HEAD", b"ref: refs/heads/main\n")
    layer.file("root/.cache/pip/http-v2/0/1/body", filler("pip", 6 << 20))
    for number in range(max(files, 0)):
        layer.file(f"srv/app/static/{number % 97}/{number}.json", json.dumps({"number": number}).encode() * 20)


# The layout -----------------------------------------------------------------------------------------

ENVIRONMENT = {
    "PATH": "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
    "NVARCH": "x86_64",
    "NVIDIA_REQUIRE_CUDA": "cuda>=13.0 brand=tesla,driver>=535,driver<536",
    "CUDA_VERSION": "13.0.2",
    "LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    "LIBRARY_PATH": "/usr/local/cuda/lib64/stubs",
}


def finish(folder, layers, kind):
    """Config, manifest and index of the layout."""

    def blob(value):
        data = json.dumps(value).encode()
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(folder, "blobs/sha256", digest), "wb") as file:
            file.write(data)
        return {"digest": "sha256:" + digest, "size": len(data)}

    config = {
        "created": "2026-01-01T00:00:00Z",
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Env": [f"{name}={value}" for name, value in (ENVIRONMENT if kind != "runtime" else {}).items()],
            "Entrypoint": ["/srv/app/start.sh"],
            "WorkingDir": "/srv/app",
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer.blob.diff_id for layer in layers]},
        "history": [{"created": "2026-01-01T00:00:00Z", "created_by": layer.history} for layer in layers],
    }
    kind = "application/vnd.oci.image"
    rows = [
        {"mediaType": f"{kind}.layer.v1.tar+gzip", "digest": "sha256:" + layer.blob.digest, "size": layer.blob.size}
        for layer in layers
    ]
    described = {"mediaType": f"{kind}.config.v1+json", **blob(config)}
    manifest = {"schemaVersion": 2, "mediaType": f"{kind}.manifest.v1+json", "config": described, "layers": rows}
    entry = {"mediaType": manifest["mediaType"], **blob(manifest)}
    entry["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    index = {"schemaVersion": 2, "manifests": [entry]}
    for name, value in [("index.json", index), ("oci-layout", {"imageLayoutVersion": "1.0.0"})]:
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            json.dump(value, file)


def needed(layers, runtime, kind):
    """What the application needs: itself, the libraries that it names, Python, and its packages' own needs."""
    names = r"lib(cublas|cublasLt|curand|cudart|nvjpeg)\.so\.\d"
    jit = rf"/({ROOT}|{SITE}/nvidia/cu13)/(bin/ptxas|nvvm/libdevice/.*)$"
    for path in sorted({path for layer in layers for path in layer.sizes}):
        absolute = "/" + path
        if kind != "devel" and re.match(jit, absolute):
            yield absolute
        elif not category(absolute) and (
            re.match(r"srv/app/(bin|static|client|start|jit)", path)
            or re.search(f"/{names}", absolute)
            or absolute in runtime
            or (path.startswith(SITE) and re.search(r"\.(so[.\d]*|py)$", path))
        ):
            yield absolute


def build(options):
    blobs = os.path.join(options.oci, "blobs/sha256")
    os.makedirs(blobs)
    known = stanzas()
    run_time = with_dependencies(DISTRIBUTION.split(), known)
    everything = run_time
    if not options.small and options.kind != "runtime":
        everything = with_dependencies([*DISTRIBUTION.split(), *BUILDING.split()], known)
    with tempfile.TemporaryDirectory(dir=options.oci) as work:
        os.environ["TMPDIR"] = work
        compiler, versions = Compiler(work), {}
        install = "RUN /bin/sh -c apt-get update && apt-get install -y"
        base = Painter(blobs, "distribution", "/bin/sh -c #(nop) ADD file:0123456789abcdef in / ")
        add_distribution(base, known, everything, options.kind == "runtime")
        layers = [base]
        wheels = [line for line in WHEELS.split("\n") if line and (not options.small or line.split()[0] in SMALL)]
        if options.kind != "runtime":
            devel = Painter(blobs, "devel", f"{install} cuda-libraries-dev-13-0 cuda-minimal-build-13-0 # buildkit")
            devel.link("usr/local/cuda", "cuda-13.0")
            devel.link(f"{ROOT}/lib64", "targets/x86_64-linux/lib")
            devel.link(f"{ROOT}/include", "targets/x86_64-linux/include")
            add_wheels(devel, wheels, options.wheels, work, versions)
            add_made(devel, compiler, options, versions)
            devel.database("\n\n".join(known[name] for name in everything) + "\n\n", versions)
            layers.append(devel)
        if options.kind != "devel":
            history = f"RUN /bin/sh -c /{VENV}/bin/pip install jax jax-cuda13-plugin # buildkit"
            venv = Painter(blobs, "environment", history)
            lines = [line for line in JAX.split("\n") if line]
            if options.kind == "runtime":
                # cuDNN and NCCL are large, and others of the same kind are there.
                lines += [line for line in wheels if not re.match("nvidia-(cudnn|nccl|cuda-sanitizer)", line)]
            add_environment(venv, lines, options.wheels, work)
            layers.append(venv)
        app = Painter(blobs, "application", "COPY . /srv/app # buildkit")
        files = options.files if options.kind == "devel" else 0
        add_application(app, compiler, files - sum(len(layer.sizes) for layer in layers) - 7, options.kind)
        layers.append(app)
        for layer in layers:
            layer.end()
    finish(options.oci, layers, options.kind)
    runtime = set()
    for package in run_time:
        runtime |= {re.sub(r"^/(bin|lib|lib64|sbin)/", r"/usr/\1/", line) for line in list_of(package)[1]}
    total, count = 0, 0
    with open(options.listing, "w", encoding="utf-8") as out:
        for layer in layers:
            for path, size in sorted(layer.sizes.items()):
                if kind := category("/" + path):
                    total, count = total + size, count + 1
                    out.write(f"{kind}\t{size}\t/{path}\n")
    with open(options.needed, "w", encoding="utf-8") as out:
        out.writelines(f"{path}\n" for path in needed(layers, runtime, options.kind))
    files, size = sum(len(layer.sizes) for layer in layers), sum(sum(layer.sizes.values()) for layer in layers)
    print(f"{options.oci}: {files:,} files, {size:,} bytes; {count:,} files of {total:,} bytes only build", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oci", required=True, metavar="DIR", help="where the image goes; must not be there")
    parser.add_argument("--listing", required=True, metavar="FILE", help="gets what only builds")
    parser.add_argument("--needed", required=True, metavar="FILE", help="gets what the application needs")
    parser.add_argument("--kind", default="devel", choices=["devel", "runtime", "jit"])
    parser.add_argument("--wheels", action="append", default=[], metavar="DIR", help="take wheels from here")
    parser.add_argument("--paths", metavar="FILE", help="sizes and paths of a devel image")
    parser.add_argument("--files", type=int, default=17_000, help="how many files the image has at least")
    parser.add_argument("--scale", type=int, default=16, help="made files have 1/SCALE of the real size")
    parser.add_argument("--nsight", type=int, default=1_500, help="files of Nsight Compute")
    parser.add_argument("--small", action="store_true", help="a few small wheels and no compilers, to try the script")
    options = parser.parse_args()
    if os.path.exists(options.oci):
        parser.error(f"{options.oci} is there")
    if shutil.which("gcc") is None or not os.path.exists("/var/lib/dpkg/status"):
        parser.error("this needs gcc and a machine of Debian or Ubuntu")
    try:
        build(options)
    except BaseException:
        shutil.rmtree(options.oci, ignore_errors=True)
        raise


if __name__ == "__main__":
    main()
