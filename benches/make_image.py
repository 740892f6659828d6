#!/usr/bin/env python3
"""Makes a big realistic container image, without downloads, in one streaming pass.

    python3 benches/make_image.py --bytes 2G --files 40000 --layers 4 \
        --oci-gzip DIR --docker-archive FILE

All outputs named hold the same layers. The content is drawn from a seed and from the shared
libraries and Python sources of this machine (or from nothing but the seed with --no-sources), so
the same arguments give the same bytes on the same machine.

The shape is that of a CUDA image for Python: a base system of small files; CUDA layers of few huge
libraries; site-packages layers of many small files and some huge libraries; a last layer that
overwrites, deletes and links.

With --wheels DIR the huge libraries are those of the CUDA wheels there (tests/fetch_wheels.sh), each
once, as long as one fits into its layer; 1.6 GB of them. Others are synthetic: ELF files with a
section table, machine code in .text and .rodata, and in .nv_fatbin containers whose payload is as
dense as compressed GPU code, so that gzip makes about half of them, at the cost of real ones.
"""

import argparse
import glob
import hashlib
import json
import mmap
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile

EPOCH = 1_700_000_000
BLOCK = 512
CHUNK = 1 << 18


def parse_size(text):
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    text = text.strip().lower().removesuffix("ib").removesuffix("b")
    if text and text[-1] in units:
        return int(float(text[:-1]) * units[text[-1]])
    return int(text)


# Content ------------------------------------------------------------------------------------------

# Entries of a container: kind (1 is PTX, 2 a cubin) and architecture.
ENTRIES = [(2, 75), (2, 80), (2, 86), (2, 89), (2, 90), (2, 100), (2, 120), (1, 120)]
# Sections of a synthetic library after the empty first: name, type, flags, link, size of an entry.
SECTIONS = [
    (b".dynstr", 3, 2, 0, 0),
    (b".dynsym", 11, 2, 1, 24),
    (b".dynamic", 6, 3, 1, 16),
    (b".rodata", 1, 2, 0, 0),
    (b".text", 1, 6, 0, 0),
    (b".nv_fatbin", 1, 2, 0, 0),
    (b".shstrtab", 3, 0, 0, 0),
]


def wheel_libraries(folder):
    """Shared libraries of at least 4 MB in the wheels of a folder, each content once: size, wheel, member."""
    found, seen = [], set()
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.whl"))):
        with zipfile.ZipFile(path) as wheel:
            for item in wheel.infolist():
                if item.file_size < 4 << 20 or (item.CRC, item.file_size) in seen:
                    continue
                with wheel.open(item) as file:
                    if file.read(4) == b"\x7fELF":
                        seen.add((item.CRC, item.file_size))
                        found.append((item.file_size, path, item.filename))
    return sorted(found, reverse=True)


def wheel_member(path, name):
    """Pieces of a file in a wheel."""
    with zipfile.ZipFile(path) as wheel, wheel.open(name) as file:
        while piece := file.read(CHUNK):
            yield piece


def library_sources(given):
    """Large ELF files of this machine, at most about 700 MB of them."""
    paths = list(given)
    if not paths:
        try:
            root = subprocess.run(
                ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
            ).stdout.strip()
            paths += glob.glob(os.path.join(glob.escape(root), "lib", "lib*"))
        except (OSError, subprocess.CalledProcessError):
            pass
        paths += glob.glob("/usr/lib/*/lib*.so*") + glob.glob("/usr/lib/*/lib/lib*.so*")
    found, seen = [], set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen or not os.path.isfile(real) or os.path.getsize(real) < 8 << 20:
            continue
        seen.add(real)
        with open(real, "rb") as file:
            if file.read(4) == b"\x7fELF":
                found.append((os.path.getsize(real), real))
    found.sort(reverse=True)
    kept, total = [], 0
    for size, path in found:
        if total < 700 << 20:
            kept.append(path)
            total += size
    return kept


def text_source():
    """The Python standard library as one run of bytes."""
    root = os.path.dirname(os.__file__)
    parts, total = [], 0
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "**", "*.py"), recursive=True)):
        if "site-packages" in path or total > 16 << 20:
            continue
        with open(path, "rb") as file:
            data = file.read()
        parts.append(data)
        total += len(data)
    return b"".join(parts)


class Content:
    """Streams of bytes of three kinds: code (ELF files), dense (compressed GPU code), text."""

    def __init__(self, seed, sources, use_sources):
        self.rng = random.Random(seed)
        self.maps = []
        if use_sources:
            for path in library_sources(sources):
                with open(path, "rb") as file:
                    self.maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self.text = text_source() if use_sources else b""
        if not self.maps:
            self.maps = [self.invented_code(16 << 20)]
        if len(self.text) < 1 << 20:
            self.text = self.invented_text(4 << 20)
        # About 7.2 bits of entropy a byte: what is left after LZ4 of machine code.
        table = list(range(256))
        for index in range(96):
            table[160 + index] = (index * index) % 24
        self.skew = bytes(table)
        # Small files come from a window that stays in memory.
        self.small_code = bytes(self.maps[0][: 32 << 20])

    def invented_code(self, size):
        """Machine-code-like bytes from a dictionary of instruction patterns with random operands."""
        rng = self.rng
        words = [rng.randbytes(rng.randint(2, 7)) for _ in range(2000)]
        out = bytearray()
        while len(out) < size:
            run = [words[int(rng.paretovariate(0.6)) % 2000] for _ in range(64)]
            run.append(rng.randbytes(64))
            run.append(bytes(rng.randint(0, 24)))
            rng.shuffle(run)
            out += b"".join(run)
        return bytes(out)

    def invented_text(self, size):
        rng = self.rng
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        words = [
            "".join(letters[int(rng.paretovariate(0.8)) % 26] for _ in range(rng.randint(2, 9)))
            for _ in range(3000)
        ]
        out = []
        total = 0
        while total < size:
            line = "    " * rng.randint(0, 3) + " ".join(
                words[int(rng.paretovariate(0.5)) % 3000] for _ in range(rng.randint(2, 11))
            )
            out.append(line)
            total += len(line) + 1
        return "\n".join(out).encode()

    def small(self, size, kind):
        """The whole content of a small file."""
        source = self.text if kind == "text" else self.small_code
        out = b""
        while len(out) < size:
            want = size - len(out)
            start = self.rng.randrange(max(1, len(source) - want))
            out += source[start : start + want]
        return out

    def dense(self, size):
        """Bytes as dense as compressed GPU code, which still holds plain stretches: headers, relocations, padding."""
        while size > 0:
            take = min(size, CHUNK)
            size -= take
            plain = take // 16
            yield self.rng.randbytes(take - plain).translate(self.skew)
            if plain:
                yield self.code(plain)

    def stretch(self, size):
        """Machine code."""
        while size > 0:
            take = min(size, CHUNK)
            size -= take
            yield self.code(take)

    def containers(self, size):
        """Fat binary containers of `size` bytes in all, each with one entry for every architecture."""
        rng = self.rng
        while size >= 16 + 64 + 8:
            payload = min(rng.randrange(8 << 10, 96 << 10, 8), (size - 16) // len(ENTRIES) // 8 * 8 - 64)
            entries = ENTRIES if payload > 8 else ENTRIES[:1]
            payload = max(payload, 8)
            length = len(entries) * (64 + payload)
            if size - 16 - length < 16 + len(ENTRIES) * 128:
                # The rest is too short for another container.
                length, entries = size - 16, ENTRIES[:1]
                payload = length - 64
            yield struct.pack("<IHHQ", 0xBA55ED50, 1, 16, length)
            for kind, arch in entries:
                # LZ4, as toolkits before CUDA 13 write it.
                minor = 8 if arch >= 100 else 7
                yield struct.pack(
                    "<HHIIIIIHHIIIQQQ",
                    *(kind, 0x0101, 64, payload, 0, payload, 0, minor, 1, arch, 0, 0, 0x2011, 0, payload * 4),
                )
                yield from self.dense(payload)
            size -= 16 + length

    def huge(self, size, dense_share, name):
        """Pieces of a huge library, with `dense_share` of its bytes in the section of GPU code."""
        if size < 64 << 10:
            yield from self.stretch(size)
            return
        strings = b"\0" + name.encode() + b"\0libc.so.6\0" + b"".join(b"function_%d\0" % n for n in range(512))
        symbols = bytes(24) + b"".join(
            struct.pack("<IBBHQQ", strings.index(b"function_%d\0" % n), 0x12, 0, 5, 0, 0) for n in range(512)
        )
        tags = [(14, 1), (1, strings.index(b"libc.so.6")), (5, 0x1000), (6, 0x4000), (10, len(strings)), (11, 24), (0, 0)]
        dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
        names = b"\0" + b"".join(item[0] + b"\0" for item in SECTIONS)
        table = 64 * (len(SECTIONS) + 1)
        rest = size - 0x8000 - len(names) - 8 - table
        fatbin = int(rest * dense_share) // 8 * 8
        constants = (rest - fatbin) // 8 // 8 * 8
        code = (rest - fatbin - constants) // 8 * 8
        # Name, type, flags, offset, size, link, info, alignment, size of an entry.
        places = [(0x1000, len(strings)), (0x4000, len(symbols)), (0x7F00, len(dynamic)), (0x8000, constants)]
        places += [(0x8000 + constants, code), (0x8000 + constants + code, fatbin)]
        names_at = 0x8000 + constants + code + fatbin
        places.append((names_at, len(names)))
        table_at = size - table
        head = b"\x7fELF\x02\x01\x01" + bytes(9)
        head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, table_at, 0, 64, 56, 2, 64, len(SECTIONS) + 1, len(SECTIONS))
        head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, names_at, names_at, 0x1000)
        head += struct.pack("<IIQQQQQQ", 2, 6, 0x7F00, 0x7F00, 0x7F00, len(dynamic), len(dynamic), 8)
        for at, part in [(0x1000, strings), (0x4000, symbols), (0x7F00, dynamic), (0x8000, b"")]:
            head += bytes(at - len(head)) + part
        yield head
        yield from self.stretch(constants)
        yield from self.stretch(code)
        left = fatbin
        for piece in self.containers(fatbin):
            left -= len(piece)
            yield piece
        yield bytes(left) + names + bytes(table_at - names_at - len(names))
        yield bytes(64) + b"".join(
            struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1, kind, flags, at, at, length, link, 0, 8, entry)
            for (name, kind, flags, link, entry), (at, length) in zip(SECTIONS, places)
        )

    def code(self, size):
        source = self.rng.choices(self.maps, weights=[len(item) for item in self.maps])[0]
        start = self.rng.randrange(max(1, len(source) - size))
        data = source[start : start + size]
        return data if len(data) == size else data + bytes(size - len(data))


# Outputs ------------------------------------------------------------------------------------------


def gzip_command():
    if shutil.which("pigz"):
        return ["pigz", "-6", "-n", "-c"]
    if shutil.which("igzip"):
        return ["igzip", "-3", "-c"]
    return ["gzip", "-6", "-n", "-c"]


COMPRESSORS = {
    "gzip": (gzip_command, "application/vnd.oci.image.layer.v1.tar+gzip"),
    "zstd": (lambda: ["zstd", "-3", "-q", "-c"], "application/vnd.oci.image.layer.v1.tar+zstd"),
    "none": (None, "application/vnd.oci.image.layer.v1.tar"),
}


def digest_of(path):
    hasher = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.hexdigest()


class OciOut:
    """An OCI layout folder with layers of one compression."""

    def __init__(self, folder, compression):
        self.folder, self.compression = folder, compression
        self.blobs = os.path.join(folder, "blobs", "sha256")
        os.makedirs(self.blobs, exist_ok=True)
        self.layers = []

    def begin(self):
        self.path = os.path.join(self.blobs, "partial")
        self.out = open(self.path, "wb")
        command = COMPRESSORS[self.compression][0]
        self.process = None
        self.sink = self.out
        if command:
            self.process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=self.out)
            self.sink = self.process.stdin

    def write(self, data):
        self.sink.write(data)

    def end(self, diff_id):
        if self.process:
            self.process.stdin.close()
            if self.process.wait() != 0:
                sys.exit(f"error: {self.process.args[0]} failed")
        self.out.close()
        size = os.path.getsize(self.path)
        hexed = diff_id if self.compression == "none" else digest_of(self.path)
        os.replace(self.path, os.path.join(self.blobs, hexed))
        self.layers.append(
            {
                "mediaType": COMPRESSORS[self.compression][1],
                "digest": "sha256:" + hexed,
                "size": size,
            }
        )

    def blob(self, data, media_type):
        hexed = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.blobs, hexed), "wb") as file:
            file.write(data)
        return {"mediaType": media_type, "digest": "sha256:" + hexed, "size": len(data)}

    def finish(self, config):
        described = self.blob(config, "application/vnd.oci.image.config.v1+json")
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": described,
            "layers": self.layers,
        }
        entry = self.blob(json.dumps(manifest).encode(), manifest["mediaType"])
        entry["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
        with open(os.path.join(self.folder, "index.json"), "w", encoding="ascii") as file:
            json.dump({"schemaVersion": 2, "manifests": [entry]}, file)
        with open(os.path.join(self.folder, "oci-layout"), "w", encoding="ascii") as file:
            json.dump({"imageLayoutVersion": "1.0.0"}, file)


class DockerOut:
    """A docker-archive with plain layers, written in one go: member sizes are patched in afterwards."""

    def __init__(self, path, form):
        self.file, self.form = open(path, "wb"), form
        self.names = []

    def header(self, name, size):
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, 0, 0o644
        return info.tobuf(tarfile.GNU_FORMAT)

    def begin(self):
        self.start = self.file.tell()
        self.file.write(bytes(BLOCK))
        self.size = 0

    def write(self, data):
        self.file.write(data)
        self.size += len(data)

    def end(self, diff_id):
        self.file.write(bytes(-self.size % BLOCK))
        back = self.file.tell()
        name = f"blobs/sha256/{diff_id}" if self.form == "blobs" else f"{diff_id}/layer.tar"
        self.file.seek(self.start)
        self.file.write(self.header(name, self.size))
        self.file.seek(back)
        self.names.append((name, diff_id, self.size))

    def member(self, name, data):
        self.file.write(self.header(name, len(data)) + data + bytes(-len(data) % BLOCK))

    def finish(self, config):
        hexed = hashlib.sha256(config).hexdigest()
        config_name = f"blobs/sha256/{hexed}" if self.form == "blobs" else f"{hexed}.json"
        self.member(config_name, config)
        manifest = {
            "Config": config_name,
            "RepoTags": ["cutaway.test/bench:latest"],
            "Layers": [name for name, _, _ in self.names],
        }
        if self.form == "blobs":
            layer_type = COMPRESSORS["none"][1]
            described = [
                {"mediaType": layer_type, "digest": f"sha256:{diff_id}", "size": size}
                for _, diff_id, size in self.names
            ]
            manifest["LayerSources"] = {item["digest"]: item for item in described}
            oci = {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": {
                    "mediaType": "application/vnd.oci.image.config.v1+json",
                    "digest": f"sha256:{hexed}",
                    "size": len(config),
                },
                "layers": described,
            }
            data = json.dumps(oci).encode()
            digest = hashlib.sha256(data).hexdigest()
            self.member(f"blobs/sha256/{digest}", data)
            index = {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.index.v1+json",
                "manifests": [
                    {
                        "mediaType": oci["mediaType"],
                        "digest": f"sha256:{digest}",
                        "size": len(data),
                        "annotations": {
                            "io.containerd.image.name": "cutaway.test/bench:latest",
                            "org.opencontainers.image.ref.name": "latest",
                        },
                    }
                ],
            }
            self.member("index.json", json.dumps(index).encode())
            self.member("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        self.member("manifest.json", json.dumps([manifest]).encode())
        self.file.write(bytes(2 * BLOCK))
        self.file.close()


class LayerWriter:
    """Writes tar members to every output and keeps the diff id."""

    def __init__(self, outputs):
        self.outputs, self.hasher, self.size = outputs, hashlib.sha256(), 0
        self.pending = bytearray()
        for output in outputs:
            output.begin()

    def push(self, data):
        self.pending += data
        if len(self.pending) >= 1 << 20:
            self.flush()

    def flush(self):
        data = bytes(self.pending)
        self.pending.clear()
        self.hasher.update(data)
        self.size += len(data)
        for output in self.outputs:
            output.write(data)

    def member(self, path, kind=tarfile.REGTYPE, size=0, link="", mode=0o644, mtime=EPOCH):
        info = tarfile.TarInfo(path)
        info.type, info.size, info.linkname, info.mode, info.mtime = kind, size, link, mode, mtime
        self.push(info.tobuf(tarfile.PAX_FORMAT))

    def file(self, path, data, mode=0o644):
        self.member(path, size=len(data), mode=mode)
        self.push(data)
        self.push(bytes(-len(data) % BLOCK))

    def stream(self, path, size, pieces):
        self.member(path, size=size, mode=0o755)
        for piece in pieces:
            self.push(piece)
        self.push(bytes(-size % BLOCK))

    def end(self):
        self.push(bytes(2 * BLOCK))
        self.flush()
        diff_id = self.hasher.hexdigest()
        for output in self.outputs:
            output.end(diff_id)
        return diff_id


# Shape --------------------------------------------------------------------------------------------

PLACES = {
    "base": ["usr/bin", "usr/lib/x86_64-linux-gnu", "usr/share/doc", "usr/share/zoneinfo", "etc", "var/lib/dpkg/info"],
    "cuda": ["usr/local/cuda-12.4/include", "usr/local/cuda-12.4/nvvm", "usr/local/cuda-12.4/share"],
    "site": ["opt/venv/lib/python3.11/site-packages"],
    "app": ["srv/app", "srv/app/models", "home/app/.cache"],
}
LIBRARY_PLACES = {
    "base": "usr/lib/x86_64-linux-gnu",
    "cuda": "usr/local/cuda-12.4/targets/x86_64-linux/lib",
    "site": "opt/venv/lib/python3.11/site-packages/nvidia/lib",
    "app": "srv/app/lib",
}
LIBRARIES = ["cublasLt", "cudnn_adv", "cusparse", "cufft", "nccl", "torch_cuda", "cusolver", "npp", "curand", "nvrtc"]
# Shares of the bytes and of the files of one layer of a kind, and the part of its bytes in huge files.
WEIGHTS = {"base": (1.0, 3.0, 0.10), "cuda": (9.0, 0.5, 0.98), "site": (9.0, 8.0, 0.80), "app": (1.0, 1.0, 0.60)}


def layer_kinds(count):
    if count == 1:
        return ["site"]
    if count == 2:
        return ["base", "site"]
    middle = ["cuda" if index % 2 == 0 else "site" for index in range(count - 2)]
    if count == 3:
        middle = ["site"]
    return ["base", *middle, "app"]


def parts(path):
    return path.split("/")


class Shape:
    def __init__(self, content, seed, libraries):
        self.content, self.rng = content, random.Random(seed + 1)
        self.known = []
        self.big = []
        # Real libraries that no layer has yet.
        self.libraries = libraries

    def folders(self, layer, made, path):
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in made:
                made.add(folder)
                layer.member(folder + "/", tarfile.DIRTYPE, mode=0o755)

    def name(self, kind, index):
        """A path of a small file; every 400th is too long for a plain header."""
        rng = self.rng
        place = rng.choice(PLACES[kind])
        if kind == "site":
            package = f"package_{int(rng.paretovariate(0.7)) % 400:03}"
            sub = rng.choice(["", "core/", "ops/native/", "testing/_internal/"])
            name = f"{place}/{package}/{sub}module_{index:06}.{rng.choice(['py', 'pyc', 'pyi', 'h'])}"
        else:
            name = f"{place}/part_{rng.randrange(64):02}/file_{index:06}"
        if index % 400 == 399:
            folder, _, last = name.rpartition("/")
            name = f"{folder}/{'a_rather_long_folder_name_' * 5}/{'deep_' * 30}/{last}"
        elif index % 977 == 0:
            name += "_größe"
        return name

    def write(self, layer, index, kind, files, size, last):
        rng, content = self.rng, self.content
        made, here, here_big = set(), [], []
        share = WEIGHTS[kind][2]
        small_bytes = max(int(size * (1 - share)), 0)
        mean = max(small_bytes // max(files, 1), 64)

        if index > 0:
            self.remove(layer, made)

        # Huge libraries between the small files, so that both alternate in the stream.
        huge, left = [], max(size - small_bytes, 0)
        while left > 0:
            if fitting := [entry for entry in self.libraries if entry[0] <= left]:
                entry = rng.choice(fitting)
                self.libraries.remove(entry)
            else:
                entry = (min(left, max(int(left * rng.uniform(0.15, 0.5)), 4 << 20)), None, None)
            huge.append(entry)
            left -= entry[0]
        spots = sorted(rng.randrange(max(files, 1)) for _ in huge)
        dense = {"base": 0.05, "cuda": 0.42, "site": 0.32, "app": 0.3}[kind]

        # In the order of paths, as tools write a layer.
        paths = sorted((self.name(kind, index * 1_000_000 + number) for number in range(files)), key=parts)
        for number, path in enumerate(paths):
            while spots and spots[0] <= number:
                spots.pop(0)
                self.huge(layer, made, here_big, kind, index, huge.pop(0), dense)
            self.folders(layer, made, path)
            roll = rng.random()
            if here and roll < 0.01:
                layer.member(path, tarfile.LNKTYPE, link=rng.choice(here))
            elif roll < 0.03:
                layer.member(path, tarfile.SYMTYPE, link=f"file_{rng.randrange(files):06}")
            else:
                take = min(int(rng.lognormvariate(0, 1.2) * mean * 0.49), mean * 40)
                text = path.endswith((".py", ".pyi", ".h")) or kind in ("base", "app")
                layer.file(path, content.small(take, "text" if text else "code"))
                here.append(path)
        for take in huge:
            self.huge(layer, made, here_big, kind, index, take, dense)
        if here_big:
            path = here_big[0][0] + ".link"
            layer.member(path, tarfile.LNKTYPE, link=here_big[0][0], mode=0o755)
        if last:
            self.overwrite(layer, made)
        self.known += here
        self.big += here_big

    def huge(self, layer, made, here_big, kind, index, entry, dense):
        size, wheel, member = entry
        number = len(here_big)
        name = f"lib{LIBRARIES[number % len(LIBRARIES)]}.so.{index}.{number}"
        if wheel:
            name, pieces = os.path.basename(member), wheel_member(wheel, member)
        else:
            pieces = self.content.huge(size, dense, name)
        path = f"{LIBRARY_PLACES[kind]}/{name}"
        self.folders(layer, made, path)
        layer.stream(path, size, pieces)
        here_big.append((path, size))

    def remove(self, layer, made):
        """Whiteouts of one in three hundred files so far, of a library, and an opaque folder."""
        rng = self.rng
        gone = set(rng.sample(self.known, len(self.known) // 300))
        for path in sorted(gone, key=parts):
            folder, _, name = path.rpartition("/")
            if len(name) < 200:
                self.folders(layer, made, path)
                layer.file(f"{folder}/.wh.{name}", b"")
        self.known = [path for path in self.known if path not in gone]
        small = [entry for entry in self.big if entry[1] < 64 << 20]
        if small:
            path = rng.choice(small)[0]
            folder, _, name = path.rpartition("/")
            self.folders(layer, made, path)
            layer.file(f"{folder}/.wh.{name}", b"")
            self.big = [entry for entry in self.big if entry[0] != path]
        folder = "usr/share/doc/part_00"
        if any(path.startswith(folder + "/") for path in self.known):
            self.folders(layer, made, folder + "/x")
            layer.file(f"{folder}/.wh..wh..opq", b"")
            self.known = [path for path in self.known if not path.startswith(folder + "/")]

    def overwrite(self, layer, made):
        """One in two hundred small files written again, and the smallest library (a chmod, as it were)."""
        rng = self.rng
        for path in sorted(rng.sample(self.known, len(self.known) // 200), key=parts):
            self.folders(layer, made, path)
            layer.file(path, self.content.small(rng.randrange(1, 20_000), "text"), mode=0o755)
        if self.big:
            path, size = min(self.big, key=lambda entry: entry[1])
            size = min(size, 64 << 20)
            self.folders(layer, made, path)
            layer.stream(path, size, self.content.huge(size, 0.2, os.path.basename(path)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=parse_size, default=parse_size("1G"), help="content in all, such as 2G (default 1G)")
    parser.add_argument("--files", type=int, default=20_000, help="small files in all (default 20000)")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", action="append", default=[], metavar="ELF", help="take machine code from this file")
    parser.add_argument("--no-sources", action="store_true", help="invent all content from the seed")
    parser.add_argument("--wheels", metavar="DIR", help="take huge libraries from the wheels there, as far as they fit")
    parser.add_argument("--oci-gzip", metavar="DIR")
    parser.add_argument("--oci-zstd", metavar="DIR")
    parser.add_argument("--oci-plain", metavar="DIR")
    parser.add_argument("--docker-archive", metavar="FILE")
    parser.add_argument("--docker-form", choices=["manifest", "blobs"], default="manifest", help="manifest.json alone, or the form of Docker 25")
    options = parser.parse_args()
    if not 1 <= options.layers <= 120 or options.bytes > 10 << 30 or options.files > 300_000:
        parser.error("at most 120 layers, 10G and 300000 files")

    outputs = []
    for folder, compression in [
        (options.oci_gzip, "gzip"),
        (options.oci_zstd, "zstd"),
        (options.oci_plain, "none"),
    ]:
        if folder:
            if os.path.exists(os.path.join(folder, "index.json")):
                parser.error(f"{folder} holds an image already")
            outputs.append(OciOut(folder, compression))
    if options.docker_archive:
        outputs.append(DockerOut(options.docker_archive, options.docker_form))
    if not outputs:
        parser.error("name at least one output")

    content = Content(options.seed, options.source, not options.no_sources)
    libraries = wheel_libraries(options.wheels) if options.wheels else []
    shape = Shape(content, options.seed, libraries)
    kinds = layer_kinds(options.layers)
    all_bytes = sum(WEIGHTS[kind][0] for kind in kinds)
    all_files = sum(WEIGHTS[kind][1] for kind in kinds)
    diff_ids, history = [], []
    for index, kind in enumerate(kinds):
        layer = LayerWriter(outputs)
        files = int(options.files * WEIGHTS[kind][1] / all_files)
        size = int(options.bytes * WEIGHTS[kind][0] / all_bytes)
        shape.write(layer, index, kind, files, size, index == len(kinds) - 1 and index > 0)
        diff_ids.append("sha256:" + layer.end())
        history.append({"created": "2024-01-01T00:00:00Z", "created_by": f"RUN make {kind} # layer {index}"})
        print(f"layer {index} ({kind}): {layer.size} bytes", file=sys.stderr)
    config = json.dumps(
        {
            "created": "2024-01-01T00:00:00Z",
            "architecture": "amd64",
            "os": "linux",
            "config": {"Env": ["PATH=/usr/bin:/bin"], "Cmd": ["python3"], "WorkingDir": "/srv/app"},
            "rootfs": {"type": "layers", "diff_ids": diff_ids},
            "history": history,
        }
    ).encode()
    for output in outputs:
        output.finish(config)


if __name__ == "__main__":
    main()
