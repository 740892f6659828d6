#!/usr/bin/env python3
"""Makes an image like those that people deploy: torch in a venv, on top of CUDA 12.8 as its devel image has it.

    python3 benches/torch_image.py --oci DIR [--small] [--wheels DIR]

All libraries are real, from PyPI. The venv holds torch 2.9.1 with everything that it requires; the layers
below hold wheels of CUDA 12.8 laid out as the packages of Ubuntu do it: versioned names with links, headers
and static libraries apart, a package database, the environment of nvidia/cuda. Wheels are downloaded one by
one, written into all layers that want them, and deleted, so that the disk holds the image and one wheel.
--small takes three small wheels instead, to try the script itself. Linux on x86-64 only: the C library,
Python's interpreter and what they need are copied from this machine.
"""

import argparse
import csv
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True  # no folder of compiled files beside the sources

from make_image import LayerWriter, digest_of  # noqa: E402

PYTHON = "3.11"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 16, -1)] + ["manylinux2014_x86_64"]
VENV = "opt/venv"
SITE = f"{VENV}/lib/python{PYTHON}/site-packages"
CUDA = "12.8"
TOOLKIT = f"usr/local/cuda-{CUDA}"
TARGET = f"{TOOLKIT}/targets/x86_64-linux"
TRIPLE = "usr/lib/x86_64-linux-gnu"

VENV_WANTS = ["torch==2.9.1", "uvicorn==0.38.0"]
# Wheels of the toolkit and the packages of Ubuntu that hold the same: at run time, for development.
TOOLKIT_WHEELS = {
    "nvidia-cuda-runtime-cu12==12.8.90": ("cuda-cudart", "cuda-cudart-dev"),
    "nvidia-cuda-nvrtc-cu12==12.8.93": ("cuda-nvrtc", "cuda-nvrtc-dev"),
    "nvidia-cuda-cupti-cu12==12.8.90": ("cuda-cupti", "cuda-cupti-dev"),
    "nvidia-cuda-nvcc-cu12==12.8.93": ("cuda-nvvm", "cuda-nvcc"),
    "nvidia-nvtx-cu12==12.8.90": ("cuda-nvtx", "cuda-nvtx"),
    "nvidia-cublas-cu12==12.8.4.1": ("libcublas", "libcublas-dev"),
    "nvidia-cufft-cu12==11.3.3.83": ("libcufft", "libcufft-dev"),
    "nvidia-curand-cu12==10.3.9.90": ("libcurand", "libcurand-dev"),
    "nvidia-nvjitlink-cu12==12.8.93": ("libnvjitlink", "libnvjitlink-dev"),
    "nvidia-npp-cu12==12.3.3.100": ("libnpp", "libnpp-dev"),
    "nvidia-nvjpeg-cu12==12.3.5.92": ("libnvjpeg", "libnvjpeg-dev"),
}
SMALL_VENV = ["nvidia-nvjpeg-cu12==12.3.5.92", "uvicorn==0.38.0"]
SMALL_TOOLKIT = ["nvidia-nvjpeg-cu12==12.3.5.92", "nvidia-cuda-runtime-cu12==12.8.90"]

DISTRO = "libc libm libdl libpthread librt libutil libgcc_s libstdc++ libz libexpat libgomp".split()


# Wheels --------------------------------------------------------------------------------------------


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: pip {' '.join(arguments[:3])}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def target_options():
    options = ["--only-binary=:all:", "--python-version", PYTHON, "--implementation", "cp", "--abi", "cp311"]
    options += ["--abi", "abi3", "--abi", "none"]
    return options + [part for name in PLATFORMS for part in ("--platform", name)]


def resolve(wants, work):
    """What pip would install: (file, SHA-256, requirement), without downloading it."""
    report = os.path.join(work, "report.json")
    none = os.path.join(work, "none")
    how = ["--quiet", "--dry-run", "--ignore-installed", "--target", none, "--report", report]
    pip("install", *how, *target_options(), *wants)
    with open(report, encoding="utf-8") as file:
        plan = json.load(file)["install"]
    found = []
    for item in plan:
        info, meta = item["download_info"], item["metadata"]
        digest = info["archive_info"]["hashes"]["sha256"]
        found.append((info["url"].rsplit("/", 1)[1], digest, f"{meta['name']}=={meta['version']}"))
    return found


class Wheel:
    """A wheel on disk for as long as it is needed."""

    def __init__(self, file, digest, want, caches, work):
        self.path, self.mine = next((path for path in caches(file) if digest_of(path) == digest), None), False
        if self.path is None:
            wanted = os.path.join(work, "wanted.txt")
            with open(wanted, "w", encoding="ascii") as out:
                out.write(f"{want} --hash=sha256:{digest}\n")
            how = ["--quiet", "--no-cache-dir", "--no-deps", "--require-hashes", "--dest", work]
            pip("download", *how, *target_options(), "-r", wanted)
            self.path, self.mine = os.path.join(work, file), True
        self.zip = zipfile.ZipFile(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.zip.close()
        if self.mine:
            os.remove(self.path)

    def files(self):
        return [info for info in self.zip.infolist() if not info.is_dir()]

    def pieces(self, info):
        with self.zip.open(info) as file:
            while piece := file.read(1 << 20):
                yield piece


# The image -----------------------------------------------------------------------------------------


class Blob:
    """A gzip layer in the making; several grow at the same time."""

    def __init__(self, folder, name):
        self.folder, self.path = folder, os.path.join(folder, name)

    def begin(self):
        self.out = open(self.path, "wb")
        command = ["pigz", "-1", "-n", "-c"] if shutil.which("pigz") else ["gzip", "-1", "-n", "-c"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.out)

    def write(self, data):
        self.process.stdin.write(data)

    def end(self, diff_id):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("error: the compressor failed")
        self.out.close()
        self.diff_id, self.digest, self.size = diff_id, digest_of(self.path), os.path.getsize(self.path)
        os.replace(self.path, os.path.join(self.folder, self.digest))


class Layer:
    """A layer with the packages that it brings."""

    def __init__(self, blobs, name, history):
        self.name, self.history = name, history
        self.blob = Blob(blobs, f"partial-{name}")
        self.writer = LayerWriter([self.blob])
        self.made, self.lists, self.status = set(), {}, []

    def folders(self, path):
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in self.made:
                self.made.add(folder)
                self.writer.member(folder + "/", b"5", mode=0o755)

    def own(self, path, package):
        self.folders(path)
        if package:
            self.lists.setdefault(package, set()).add("/" + path)

    def file(self, path, data, package=None):
        self.own(path, package)
        self.writer.file(path, data)

    def stream(self, path, size, pieces, package=None):
        self.own(path, package)
        self.writer.stream(path, size, pieces)

    def link(self, path, target, package=None):
        self.own(path, package)
        self.writer.member(path, b"2", link=target)

    def database(self, before, versions):
        """The package database with what this layer adds; it comes back for the next layer."""
        text = before
        for package, paths in sorted(self.lists.items()):
            version, maker = versions[package]
            text += (
                f"Package: {package}\nStatus: install ok installed\nPriority: optional\nSection: libs\n"
                f"Installed-Size: 1\nMaintainer: {maker}\nArchitecture: amd64\nVersion: {version}\n"
                f"Description: {package}\n\n"
            )
            self.file(f"var/lib/dpkg/info/{package}.list", "".join(f"{path}\n" for path in sorted(paths)).encode())
        self.file("var/lib/dpkg/status", text.encode())
        return text

    def end(self):
        self.writer.end()
        print(f"layer {self.name}: {self.blob.size:,} of {self.writer.size:,} bytes", file=sys.stderr)


def copied(path):
    with open(path, "rb") as file:
        return file.read()


def distro(layer, versions):
    """A base system: enough that what the wheels need beside CUDA is there."""
    for name in ("bin", "lib", "lib64", "sbin"):
        layer.link(name, f"usr/{name}")
    layer.file("etc/os-release", b'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n')
    layer.file("etc/ld.so.conf", b"include /etc/ld.so.conf.d/*.conf\n")
    layer.file("etc/ld.so.conf.d/x86_64-linux-gnu.conf", b"/usr/local/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu\n")
    loader = "ld-linux-x86-64.so.2"
    for name in DISTRO:
        for path in glob.glob(f"/{TRIPLE}/{name}.so.[0-9]"):
            package = "libc6" if "libc-" in os.path.realpath(path) or name in DISTRO[:6] else name.lower() + "1"
            versions[package] = ("1.0", "Ubuntu Developers <ubuntu-devel-discuss@lists.ubuntu.com>")
            layer.file(f"{TRIPLE}/{os.path.basename(path)}", copied(path), package)
    layer.file(f"{TRIPLE}/{loader}", copied(f"/{TRIPLE}/{loader}"), "libc6")
    layer.link(f"usr/lib64/{loader}", f"../lib/x86_64-linux-gnu/{loader}", "libc6")
    versions["python3"] = ("3.11.2-1", versions["libc6"][1])
    layer.file(f"usr/bin/python{PYTHON}", copied(os.path.realpath("/usr/bin/python3")), "python3")


def toolkit_place(name, version):
    """Where a file of a toolkit wheel lies in an image: (whether it is for development, path, links)."""
    parts = name.split("/")
    if parts[0] != "nvidia" or len(parts) < 4 or parts[-1] == "__init__.py":
        return None
    kind, rest, base = parts[2], "/".join(parts[3:]), parts[-1]
    if kind == "lib" and ".so" in base:
        stem, _, major = base.partition(".so.")
        full = f"{stem}.so.{version}" if major and version.startswith(major + ".") else base
        links = [] if full == base else [(False, f"{TARGET}/lib/{base}", full)]
        return False, f"{TARGET}/lib/{full}", [*links, (True, f"{TARGET}/lib/{stem}.so", base)]
    if kind == "lib":
        return True, f"{TARGET}/lib/{rest}", []
    if kind == "include":
        return True, f"{TARGET}/include/{rest}", []
    if kind in ("bin", "nvvm"):
        return True, f"{TOOLKIT}/{kind}/{rest}", []
    return None


def venv_place(name):
    """Where pip puts a file of a wheel."""
    match = re.match(r"[^/]+\.data/(purelib|platlib|scripts|data|headers)/(.*)", name)
    if not match:
        return f"{SITE}/{name}"
    roots = {"scripts": f"{VENV}/bin", "data": VENV, "headers": f"{VENV}/include"}
    return f"{roots.get(match[1], SITE)}/{match[2]}"


def add_toolkit(wheel, version, packages, runtime, devel, versions):
    suffix = "-" + CUDA.replace(".", "-")
    names = [name + suffix for name in packages]
    for name in names:
        versions[name] = (f"{version}-1", "cudatools <cudatools@nvidia.com>")
    for info in wheel.files():
        place = toolkit_place(info.filename, version)
        if place is None:
            continue
        for_devel, path, links = place
        layer = devel if for_devel else runtime
        layer.stream(path, info.file_size, wheel.pieces(info), names[for_devel])
        for for_devel, path, target in links:
            (devel if for_devel else runtime).link(path, target, names[for_devel])


def add_venv(wheel, venv):
    for info in wheel.files():
        path = venv_place(info.filename)
        if not info.filename.endswith(".dist-info/RECORD"):
            venv.stream(path, info.file_size, wheel.pieces(info))
            continue
        # pip notes what it adds, and where it moved files.
        folder = os.path.dirname(info.filename)
        venv.file(f"{SITE}/{folder}/INSTALLER", b"pip\n")
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        for name, *rest in csv.reader(wheel.zip.read(info).decode().splitlines()):
            rows.writerow([os.path.relpath(venv_place(name), SITE), *rest])
        rows.writerow([f"{folder}/INSTALLER", "", ""])
        venv.file(path, out.getvalue().encode())


MAKER = "NVIDIA CORPORATION <cudatools@nvidia.com>"
# What the image sets, by the layer that it is set after: the distribution's, the runtime's, the compilers'.
ENVIRONMENT = [
    {
        "PATH": f"/{VENV}/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
        "NVARCH": "x86_64",
        "NVIDIA_REQUIRE_CUDA": "cuda>=12.8 brand=tesla,driver>=470,driver<471 brand=tesla,driver>=535,driver<536",
        "NV_CUDA_CUDART_VERSION": "12.8.90-1",
        "CUDA_VERSION": "12.8.1",
        "LD_LIBRARY_PATH": "/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
        "NV_CUDA_LIB_VERSION": "12.8.1-1",
        "NV_LIBCUBLAS_VERSION": "12.8.4.1-1",
    },
    {
        "NVIDIA_PRODUCT_NAME": "CUDA",
        "NV_CUDA_CUDART_DEV_VERSION": "12.8.90-1",
        "NV_LIBCUBLAS_DEV_VERSION": "12.8.4.1-1",
    },
    {"LIBRARY_PATH": "/usr/local/cuda/lib64/stubs"},
]


def finish(folder, layers):
    """The config, the manifest and the index of the layout."""

    def blob(value):
        data = json.dumps(value).encode()
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(folder, "blobs/sha256", digest), "wb") as file:
            file.write(data)
        return {"digest": "sha256:" + digest, "size": len(data)}

    created = "2026-01-01T00:00:00Z"
    history = []
    for layer, variables in zip(layers, [*ENVIRONMENT, {}, {}]):
        history.append({"created": created, "created_by": layer.history, "comment": "buildkit.dockerfile.v0"})
        lines = [f"ENV {name}={value}" for name, value in variables.items()]
        history += [{"created": created, "created_by": line, "empty_layer": True} for line in lines]
    config = {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Env": [f"{name}={value}" for variables in ENVIRONMENT for name, value in variables.items()],
            "Entrypoint": [f"/{VENV}/bin/python3"],
            "Cmd": ["-m", "uvicorn", "main:app"],
            "WorkingDir": "/srv/app",
            "Labels": {"maintainer": MAKER, "org.opencontainers.image.version": "22.04"},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer.blob.diff_id for layer in layers]},
        "history": history,
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


def build(options):
    blobs = os.path.join(options.oci, "blobs/sha256")
    os.makedirs(blobs)
    free = shutil.disk_usage(options.oci).free
    if free < (1 if options.small else 9) << 30:
        sys.exit(f"error: {options.oci}: only {free >> 20} MiB free; the image and one wheel take up to 8 GiB")

    def caches(file):
        return [path for path in (os.path.join(folder, file) for folder in options.wheels) if os.path.isfile(path)]

    with tempfile.TemporaryDirectory(dir=options.oci) as work:
        # pip keeps a second copy of what it downloads, for a while.
        os.environ["TMPDIR"] = work
        toolkit = {want: TOOLKIT_WHEELS[want] for want in (SMALL_TOOLKIT if options.small else TOOLKIT_WHEELS)}
        plan = {}
        for use, wants in [("venv", SMALL_VENV if options.small else VENV_WANTS), ("toolkit", list(toolkit))]:
            for row in resolve(wants if use == "venv" else ["--no-deps", *wants], work):
                plan.setdefault(row, set()).add(use)

        versions, layers = {}, []
        install = "RUN |1 TARGETARCH=amd64 /bin/sh -c apt-get update && apt-get install -y"
        for name, history in [
            ("distro", "/bin/sh -c #(nop) ADD file:0123456789abcdef in / "),
            ("runtime", f"{install} cuda-libraries-12-8 # buildkit"),
            ("devel", f"{install} cuda-libraries-dev-12-8 # buildkit"),
            ("venv", f"RUN /bin/sh -c /{VENV}/bin/pip install {' '.join(VENV_WANTS)} # buildkit"),
            ("app", "COPY . /srv/app # buildkit"),
        ]:
            layers.append(Layer(blobs, name, history))
        base, runtime, devel, venv, app = layers
        distro(base, versions)
        runtime.link("usr/local/cuda", "/etc/alternatives/cuda")
        runtime.link("etc/alternatives/cuda", f"/{TOOLKIT}")
        runtime.link(f"{TOOLKIT}/lib64", "targets/x86_64-linux/lib")
        runtime.link(f"{TOOLKIT}/include", "targets/x86_64-linux/include")
        runtime.file(f"etc/ld.so.conf.d/988_cuda-{CUDA.split('.')[0]}.conf", f"/{TARGET}/lib\n".encode())
        venv.link(f"{VENV}/bin/python3", f"/usr/bin/python{PYTHON}")
        venv.file(f"{VENV}/pyvenv.cfg", f"home = /usr/bin\nversion = {PYTHON}\n".encode())
        app.file("srv/app/main.py", b"import torch\n\nasync def app(*_):\n    torch.zeros(1).cuda()\n")

        # The largest first, while there is most room.
        first = ("torch-", "nvidia_cudnn", "nvidia_cublas", "nvidia_nccl")
        for (file, digest, want), uses in sorted(plan.items(), key=lambda item: not item[0][0].startswith(first)):
            print(f"{file}: {', '.join(sorted(uses))}", file=sys.stderr)
            with Wheel(file, digest, want, caches, work) as wheel:
                if "toolkit" in uses:
                    name, _, version = want.partition("==")
                    add_toolkit(wheel, version, toolkit[f"{name}=={version}"], runtime, devel, versions)
                if "venv" in uses:
                    add_venv(wheel, venv)
        status = ""
        for layer in (base, runtime, devel):
            status = layer.database(status, versions)
        for layer in layers:
            layer.end()
    finish(options.oci, layers)
    total = sum(layer.blob.size for layer in layers)
    print(f"{options.oci}: {total:,} bytes in {len(layers)} layers", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oci", required=True, metavar="DIR", help="where the image goes; must not be there")
    parser.add_argument("--small", action="store_true", help="three small wheels instead of torch and its libraries")
    parser.add_argument("--wheels", action="append", default=[], metavar="DIR", help="take wheels from here")
    options = parser.parse_args()
    if os.path.exists(options.oci):
        parser.error(f"{options.oci} is there")
    try:
        build(options)
    except BaseException:
        shutil.rmtree(options.oci, ignore_errors=True)
        raise


if __name__ == "__main__":
    main()
