#!/usr/bin/env python3
"""An independent listing of the CUDA content of a container image, to judge Cutaway's by.

    python3 tests/oracle/cuda.py [--order] IMAGE

IMAGE is written as for walk.py, whose merged view is used. Every visible file with an ELF header, and every
static archive, is copied to a temporary file; `readelf` tells sections and the dynamic section, and the GPU
code in them is walked here, from header to header. Prints JSON; names are those of the report where it has
the same thing. Nothing is decompressed but the layers.
"""

import argparse
import csv
import hashlib
import json
import mmap
import os
import platform as machine
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True  # no folder of compiled files beside the sources

import walk  # noqa: E402

# GPU code ------------------------------------------------------------------------------------------

CONTAINER = b"\x50\xed\x55\xba"
KINDS = {1: ("ptx", "compute_"), 2: ("sass", "sm_"), 8: ("lto", "lto_")}
# Sections that are containers from end to end; other sections may hold some between other things.
PURE = (".nv_fatbin", "__nv_relfatbin")


class Broken(Exception):
    """Not a container of GPU code."""


def container(data, at, end):
    """The end of the container at that place and its entries: (key, bytes, unpacked bytes, arch number)."""
    if end - at < 16:
        raise Broken("no room for a header")
    magic, version, head, size = struct.unpack_from("<4sHHQ", data, at)
    if magic != CONTAINER or version != 1 or head < 16 or size > end - at - head:
        raise Broken(f"no container at {at}")
    at, stop, entries = at + head, at + head + size, []
    while at < stop:
        if stop - at < 64:
            raise Broken(f"no room for an entry at {at}")
        kind, _, head, size = struct.unpack_from("<HHIQ", data, at)
        minor, major, arch = struct.unpack_from("<HHI", data, at + 24)
        (flags,) = struct.unpack_from("<Q", data, at + 40)
        (unpacked,) = struct.unpack_from("<Q", data, at + 56)
        if head < 64 or head > 1 << 16 or head + size > stop - at or arch > 10_000:
            raise Broken(f"no entry at {at}")
        name, prefix = KINDS.get(kind, ("other", "other_"))
        suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
        # What is obfuscated (0x10000: link-time code) cannot be unpacked by either.
        coding = {0: "none", 0x2000: "lz4", 0x8000: "zstd"}.get(flags & 0x1A000, "other")
        isa = f"{major}.{minor}" if name == "ptx" else None
        entries.append(((f"{prefix}{arch}{suffix}", name, isa, coding), head + size, unpacked or size, arch))
        at += head + size
    return stop, entries


def pure(data, start, end, found):
    """All containers of a section that holds nothing else but zeros between them."""
    at = start
    while at < end:
        if not any(data[at : at + 8]):
            at += 8
            continue
        at, entries = container(data, at, end)
        found.append(entries)


def scattered(data, start, end, found):
    """Containers between other things; how many bytes they take. A decoy is a container that does not parse."""
    taken, at = 0, start
    while (at := data.find(CONTAINER, at, end)) >= 0:
        try:
            if at % 8:
                raise Broken("containers are aligned")
            stop, entries = container(data, at, end)
            if not entries:
                raise Broken("containers are not empty")
        except Broken:
            at += 4
            continue
        found.append(entries)
        taken += stop - at
        at = stop
    return taken


def ledger(containers):
    rows = {}
    for key, size, unpacked, _ in (entry for entries in containers for entry in entries):
        row = rows.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] += size
        row[2] += unpacked
    names = ("arch", "kind", "isa", "compression", "entries", "bytes", "uncompressed_bytes")
    order = sorted(rows.items(), key=lambda item: tuple(part or "" for part in item[0]))
    return [dict(zip(names, (*key, *row))) for key, row in order]


def gpu_facts(data, sections, order):
    """Sections are (name, type, start, size)."""
    containers, holding, gpu_bytes, faults = [], [], 0, []
    for name, kind, start, size in sections:
        if kind == "NOBITS" or size == 0:
            continue
        end, found = min(start + size, len(data)), []
        if name in PURE:
            taken = size
            try:
                pure(data, start, end, found)
            except Broken as error:
                faults.append(f"{name}: {error}")
        else:
            taken = scattered(data, start, end, found)
        if not taken:
            continue
        gpu_bytes += taken
        containers += found
        holding.append({"name": name, "offset": start, "size": size, "containers": len(found)})
        if order:
            holding[-1]["order"] = [f"{key[1]} {arch}" for entries in found for key, _, _, arch in entries]
    rows = ledger(containers)
    facts = {
        "gpu_sections": holding,
        "gpu_section_bytes": gpu_bytes,
        "containers": len(containers),
        "entries": sum(row["entries"] for row in rows),
        "gpu_code": rows,
        "overhead_bytes": gpu_bytes - sum(row["bytes"] for row in rows),
    }
    if faults:
        facts["faults"] = faults
    return facts


# Files ---------------------------------------------------------------------------------------------

SECTION = re.compile(r"^\s*\[\s*\d+\]\s+(\S+)\s+([A-Z_]\S*)\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)\s")
DYNAMIC = re.compile(r"\((NEEDED|SONAME|RPATH|RUNPATH)\)[^\[]*\[(.*)\]$")


def read_elf(path, data, order):
    """What readelf says of a file, and the GPU code in it."""
    output = subprocess.run(
        ["readelf", "-hSdW", path], capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=False
    ).stdout.decode("utf-8", "replace")
    sections, dynamic = [], {"NEEDED": [], "SONAME": [], "RPATH": [], "RUNPATH": []}
    for line in output.splitlines():
        if match := SECTION.match(line):
            name, kind, start, size = match.groups()
            sections.append((name, kind, int(start, 16), int(size, 16)))
        elif match := DYNAMIC.search(line):
            dynamic[match[1]].append(match[2])
    kind = re.search(r"^\s*Type:\s+(\w+)", output, re.MULTILINE)
    return {
        "kind": kind[1] if kind else "unknown",
        "soname": next(iter(dynamic["SONAME"]), None),
        "needed": dynamic["NEEDED"],
        "rpath": ":".join(dynamic["RPATH"]),
        "runpath": ":".join(dynamic["RUNPATH"]),
        **gpu_facts(data, sections, order),
    }


def object_sections(data, start, size):
    """The sections of a 64-bit ELF object within a file, by its section header table."""
    if size < 64:
        return
    (table,) = struct.unpack_from("<Q", data, start + 40)
    entry, count, names = struct.unpack_from("<HHH", data, start + 58)
    headers = []
    for index in range(count):
        at = table + index * entry
        if at + 64 > size:
            return
        headers.append(struct.unpack_from("<II16xQQ", data, start + at))
    for name, kind, offset, length in headers:
        if kind != 8 and offset + length <= size and names < count:
            at = start + headers[names][2] + name
            yield data[at : data.find(b"\0", at)].decode("ascii", "replace"), "PROGBITS", start + offset, length


def read_archive(data, order):
    """The GPU code of the objects in a static archive."""
    at, sections = 8, []
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        if data[at + 60 : at + 66] == b"\x7fELF\x02\x01":
            sections += object_sections(data, at + 60, size)
        at += 60 + size + size % 2
    # Only what the compiler puts there; embedded containers of other kinds are no matter of archives.
    return {"kind": "AR", **gpu_facts(data, [row for row in sections if row[0] in PURE], order)}


def read_file(stream, order):
    """The facts of one member of a layer, or None when it is neither ELF nor an archive."""
    head = stream.read(8)
    if head[:4] != b"\x7fELF" and head != b"!<arch>\n":
        return None
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        with mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ) as data:
            facts = read_archive(data, order) if head[:1] == b"!" else read_elf(copy.name, data, order)
            facts["sha256"] = hashlib.sha256(data).hexdigest()
    return facts


# The merged view -----------------------------------------------------------------------------------


class Merge(walk.Merge):
    """Walk's merged view, whose inodes know the facts of the member that made them."""

    def place(self, parts, node, layer):
        if not hasattr(node, "facts"):
            # Inodes come to be in the order of their members.
            node.facts = next(self.facts)
        super().place(parts, node, layer)


def read_layer(part, order):
    """Members as walk.py has them, and for each that makes an inode its facts."""
    plain, members, facts = walk.Plain(part), [], []
    archive = tarfile.open(
        fileobj=plain, mode="r|", tarinfo=walk.Info, encoding="utf-8", errors="surrogateescape", bufsize=1 << 20
    )
    archive.fault = None
    while (info := archive.next()) is not None:
        archive.members = []
        parts = walk.clean(info.name)
        if parts and parts[-1].startswith(".wh."):
            members.append(("whiteout", parts, 0, None))
        elif info.isdir():
            members.append(("directory", parts, 0, None))
        elif info.islnk():
            members.append(("hardlink", parts, 0, walk.clean(info.linkname)))
        elif info.issym():
            members.append(("symlink", parts, 0, None))
            facts.append({"target": info.linkname})
        elif info.isreg():
            members.append(("file", parts, info.size, None))
            with archive.extractfile(info) as body:
                if "ld.so.conf" in "/".join(parts) or parts[-2:-1] and parts[-2].endswith(".dist-info"):
                    facts.append({"text": body.read().decode("utf-8", "replace")})
                else:
                    facts.append(read_file(body, order) if info.size >= 64 else None)
        else:
            members.append(("other", parts, 0, None))
            facts.append(None)
    plain.close()
    return members, facts


def config_of(store):
    """The config of an image that is the only one of its source."""
    if store.has("index.json"):
        entry = json.loads(store.text("index.json"))["manifests"][0]
        document = json.loads(store.text(walk.blob_name(entry["digest"])))
        return json.loads(store.text(walk.blob_name(document["config"]["digest"])))
    return json.loads(store.text(json.loads(store.text("manifest.json"))[0]["Config"]))


# Components ----------------------------------------------------------------------------------------

# The start of a file's name after `lib`, longest first where one begins another.
COMPONENTS = """
cudart:cudart cublas:cublas cublas:cublasLt cublas:nvblas cudnn:cudnn cufft:cufft cufft:cufftw curand:curand
cusolver:cusolver cusolver:cusolverMg cusparse:cusparse cusparselt:cusparseLt cufile:cufile cufile:cufile_rdma
nccl:nccl nvjpeg:nvjpeg nvrtc:nvrtc nvrtc:nvrtc-builtins nvjitlink:nvJitLink nvfatbin:nvfatbin nvvm:nvvm
cupti:cupti cupti:nvperf_host cupti:nvperf_target cupti:checkpoint cupti:pcsamplingutil nvtx:nvToolsExt nvtx:nvtx3interop
nvshmem:nvshmem_host nvshmem:nvshmem cutensor:cutensor cutensor:cutensorMg tensorrt:nvinfer tensorrt:nvonnxparser
torch:torch torch:torch_cpu torch:torch_cuda torch:torch_cuda_linalg torch:torch_global_deps torch:torch_python
torch:torch_nvshmem torch:c10 torch:c10_cuda torch:caffe2_nvrtc torch:shm tensorflow:tensorflow_cc
tensorflow:tensorflow_framework onnxruntime:onnxruntime triton:triton triton:proton
triton:triton_amd_codegen opencl:OpenCL driver:cuda driver:nvidia-ml
driver:cudadebugger driver:nvidia-ptxjitcompiler driver:nvidia-nvvm
"""
EXACT = {name: component for component, name in (pair.split(":") for pair in COMPONENTS.split())}
STARTS = {
    "cudnn_": "cudnn", "npp": "npp", "nvshmem_": "nvshmem", "nvinfer_": "tensorrt", "onnxruntime_": "onnxruntime",
    "nvidia-": "driver", "nvrtc": "nvrtc", "cutensor": "cutensor",
}  # fmt: skip
NAME = re.compile(r"^lib(.+?)(?:-[0-9a-f]{8})?(?:\.alt)?\.so(?:\.[0-9.]+)?$")
HOST = re.compile(
    r"^lib(cuda|cudadebugger|nvcuvid|dxcore|nvoptix|nvidia-[a-z0-9-]+|GLX_nvidia|EGL_nvidia)\.so(\.[0-9.]+)?$"
)


def component_of(name):
    match = NAME.match(name or "")
    if not match:
        return "nvshmem" if re.match(r"nvshmem_(bootstrap|transport)_\w+\.so", name or "") else None
    stem = match[1]
    return EXACT.get(stem) or next((value for start, value in STARTS.items() if stem.startswith(start)), None)


# Search paths --------------------------------------------------------------------------------------

DEFAULT = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]
DEFAULT += [f"{root}/{triple}" for root in ("/lib", "/usr/lib") for triple in ("x86_64-linux-gnu", "aarch64-linux-gnu")]


class View:
    """Looks paths up in the merged view, through symbolic links."""

    def __init__(self, root):
        self.root = root

    def find(self, path, depth=0):
        node, at = self.root, []
        parts = [part for part in path.split("/") if part not in ("", ".")]
        while parts:
            part = parts.pop(0)
            if part == "..":
                at = at[:-1]
                node = self.find("/" + "/".join(at), depth)
                continue
            if not isinstance(node, walk.Dir) or part not in node:
                return None
            below = node[part]
            if not isinstance(below, walk.Dir) and below.kind == "symlink":
                if depth > 40:
                    return None
                target = below.facts["target"]
                start = "" if target.startswith("/") else "/" + "/".join(at) + "/"
                return self.find("/".join([start + target, *parts]), depth + 1)
            node, at = below, [*at, part]
        return node

    def names(self, folder):
        node = self.find(folder)
        return {name for name in node if self.is_object(f"{folder}/{name}")} if isinstance(node, walk.Dir) else set()

    def is_object(self, path):
        node = self.find(path)
        return isinstance(node, walk.Inode) and bool(node.facts) and "needed" in node.facts


def conf_folders(view):
    """The folders of ld.so.conf, and of ld.so.conf.d when that is included, as it is everywhere."""

    def text(node):
        return node.facts.get("text", "") if isinstance(node, walk.Inode) and node.facts else ""

    texts = [text(view.find("/etc/ld.so.conf"))]
    folder = view.find("/etc/ld.so.conf.d")
    if "include" in texts[0] and isinstance(folder, walk.Dir):
        texts += [text(node) for name, node in folder.items() if name.endswith(".conf")]
    lines = [line.split("#")[0].strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith("/")]


def expand(paths, folder):
    paths = paths.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", folder)
    return [path for path in paths.split(":") if path.startswith("/")]


def linked(folder):
    """Names of all symbolic links."""
    for name, node in folder.items():
        if isinstance(node, walk.Dir):
            yield from linked(node)
        elif node.kind == "symlink":
            yield name


def unresolved(view, objects, environment):
    """NEEDED names that nothing supplies, by two measures that a real loader lies between.

    `own`: not in the folders that this object's own search names; the loader may still find it through a
    search path of what loads the object, or have it loaded already. `any`: no ELF file of the image has it
    as its name or soname, and no link has it, so that nothing can supply it.
    """
    shared = DEFAULT + conf_folders(view) + [path for path in environment.split(":") if path.startswith("/")]
    known, everywhere = {}, set(linked(view.root))

    def names(folder):
        if folder not in known:
            known[folder] = view.names(folder)
        return known[folder]

    for path, facts in objects:
        everywhere.add(path.rsplit("/", 1)[1])
        everywhere.add(facts["soname"])
    own, nowhere = [], []
    for path, facts in objects:
        folder = path.rsplit("/", 1)[0]
        folders = expand(facts["rpath"], folder) + expand(facts["runpath"], folder) + shared
        for name in facts["needed"]:
            if HOST.match(name):
                continue
            if not any(name in names(place) for place in folders):
                own.append({"path": path, "name": name})
            if name not in everywhere:
                nowhere.append({"path": path, "name": name})
    return {"own": own, "any": nowhere}


# Packages ------------------------------------------------------------------------------------------


def wheels(view, merge):
    """Installed wheels: name, version, and what their lists of files name in the merged view."""
    rows = []
    for path, node in sorted(merge.paths()):
        if not path.endswith(".dist-info") or not isinstance(node, walk.Dir) or "METADATA" not in node:
            continue
        fields = dict(line.partition(": ")[::2] for line in node["METADATA"].facts["text"].split("\n\n")[0].split("\n"))
        row = {"name": fields.get("Name"), "version": fields.get("Version"), "bytes": None, "files": None}
        if "RECORD" in node:
            listed = {line[0] for line in csv.reader(node["RECORD"].facts["text"].splitlines()) if line}
            found = [view.find(f"{path}/../{name}") for name in listed]
            found = [file for file in found if isinstance(file, walk.Inode) and file.kind == "file"]
            row.update(files=len(found), bytes=sum({id(file): file.size for file in found}.values()))
        rows.append(row)
    return sorted(rows, key=lambda row: (row["name"] or "", row["version"] or ""))


# Output --------------------------------------------------------------------------------------------


def by_arch(files):
    sums = {}
    for row in (row for file in files for row in file["gpu_code"]):
        part = sums.setdefault((row["arch"], row["kind"]), [0, 0])
        part[0] += row["bytes"]
        part[1] += row["uncompressed_bytes"]
    return [
        {"arch": arch, "kind": kind, "bytes": size, "uncompressed_bytes": unpacked}
        for (arch, kind), (size, unpacked) in sorted(sums.items())
    ]


def listing(merge, environment):
    files, first = [], {}
    for path, node in sorted(merge.paths()):
        if not isinstance(node, walk.Inode) or node.kind != "file" or not node.facts or "sha256" not in node.facts:
            continue
        files.append({"path": path, "bytes": node.size, "layer": node.layer, **node.facts})
        files[-1]["hardlink_of"] = first.setdefault(id(node), path)
        if files[-1]["hardlink_of"] == path:
            files[-1]["hardlink_of"] = None
    objects = [(file["path"], file) for file in files if file["kind"] in ("DYN", "EXEC") and not file["hardlink_of"]]
    view = View(merge.root)
    lost = unresolved(view, objects, environment)

    libraries, holders = [], {"executables": [], "archives": []}
    for file in files:
        name = file["path"].rsplit("/", 1)[1]
        # A renamed copy is still what it says it is.
        component = component_of(name) or component_of(file.get("soname"))
        if file["kind"] == "AR":
            holders["archives"].append(file)
        elif ".so" in name and file["kind"] == "DYN" and (component or file["entries"]):
            file["component"] = component or "other"
            file["role"] = next((part for part in ("stub", "compat") if f"/{part}" in file["path"]), "runtime")
            libraries.append(file)
        elif file["entries"]:
            holders["executables"].append(file)
    once = [file for file in libraries if not file["hardlink_of"]]
    components, sonames = {}, {}
    for file in once:
        part = components.setdefault(file["component"], {"name": file["component"], "bytes": 0, "libraries": 0})
        part["bytes"] += file["bytes"]
        part["libraries"] += 1
        if file["soname"] and file["role"] == "runtime":
            sonames.setdefault(file["soname"], []).append(file)
    duplicates = [
        {
            "soname": soname,
            "paths": [file["path"] for file in group],
            "identical": len({file["sha256"] for file in group}) == 1,
        }
        for soname, group in sorted(sonames.items())
        if len(group) > 1
    ]
    sums = {"libraries": by_arch(once)}
    for holder, group in holders.items():
        sums[holder] = by_arch([file for file in group if not file["hardlink_of"]])
    for file in files:
        for name in ("path", "hardlink_of"):
            file[name] = file[name] and walk.shown(file[name])
    holding = {id(file) for group in (libraries, *holders.values()) for file in group}
    return {
        "libraries": libraries,
        "holders": {name: [file for file in group if file["entries"]] for name, group in holders.items()},
        "others": [file["path"] for file in files if id(file) not in holding],
        "components": sorted(components.values(), key=lambda part: (-part["bytes"], part["name"])),
        "gpu_code": sums,
        "duplicates": duplicates,
        "unresolved": lost,
        "packages": wheels(view, merge),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--order", action="store_true", help="list kind and architecture of every entry, in order")
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine.machine(), machine.machine())
    parser.add_argument("--platform", default=f"linux/{arch}")
    parser.add_argument("image")
    options = parser.parse_args()
    try:
        store, layers, _ = walk.image_layers(options.image, options.platform)
        variables = (config_of(store).get("config") or {}).get("Env") or []
    except (walk.Unreadable, OSError, KeyError, ValueError, tarfile.TarError) as error:
        print(f"error: {options.image}: {error!r}", file=sys.stderr)
        sys.exit(2)
    merge = Merge()
    for index, (_, name) in enumerate(layers):
        members, facts = read_layer(store.part(name)[0], options.order)
        merge.facts = iter(facts)
        merge.layer(index, members)
    environment = dict(line.partition("=")[::2] for line in variables).get("LD_LIBRARY_PATH", "")
    json.dump(listing(merge, environment), sys.stdout)
    print()


if __name__ == "__main__":
    main()
