#!/usr/bin/env python3
"""An independent walk over a container image, to judge Cutaway's figures by.

    python3 tests/oracle/walk.py [--tree] [--largest N] [--platform os/arch[/variant]] IMAGE

IMAGE is oci:DIR[:TAG], oci-archive:FILE[:TAG], docker-archive:FILE[:REF], dir:DIR, a path to one of these,
rootfs:DIR (an unpacked one: totals and tree only), or tar:FILE... (bare layers, bottom first). Python's
standard library reads tar and gzip; zstd goes through the `zstd` command.
Written from the rules, naively: the merged view is a tree of nested dictionaries. The names in the
output are those of the report's schema.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import platform as machine
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile


class Unreadable(Exception):
    """The image as a whole cannot be read."""


# Streams ------------------------------------------------------------------------------------------


class Part(io.RawIOBase):
    """A range of a file, as a stream of its own."""

    def __init__(self, path, start=0, size=None):
        self.file = open(path, "rb")
        self.file.seek(start)
        self.left = os.path.getsize(path) - start if size is None else size

    def readable(self):
        return True

    def readinto(self, buffer):
        count = min(len(buffer), self.left)
        data = self.file.read(count)
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)

    def close(self):
        self.file.close()
        super().close()


def compression_of(head):
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:4] == b"\x28\xb5\x2f\xfd" or (head[1:4] == b"\x2a\x4d\x18" and head[:1] and head[0] & 0xF0 == 0x50):
        return "zstd"
    return "none"


class Plain:
    """The decompressed bytes of a stream; zstd through the command."""

    def __init__(self, raw):
        self.raw = io.BufferedReader(raw, 1 << 20)
        self.compression = compression_of(self.raw.peek(4)[:4])
        self.process = None
        if self.compression == "gzip":
            self.stream = gzip.GzipFile(fileobj=self.raw)
        elif self.compression == "zstd":
            if not shutil.which("zstd"):
                raise Unreadable("the zstd command is missing")
            # A file between keeps the two ends from waiting for each other.
            packed = tempfile.TemporaryFile()
            shutil.copyfileobj(self.raw, packed)
            packed.seek(0)
            self.process = subprocess.Popen(
                ["zstd", "-dcq", "--memory=128MB"], stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self.stream = self.process.stdout
        else:
            self.stream = self.raw

    def read(self, size):
        return self.stream.read(size)

    def close(self):
        if self.process:
            self.stream.close()
            if self.process.wait() not in (0, -13):
                raise OSError("zstd: the stream is damaged")
        self.raw.close()


class Counted:
    """Counts and hashes what is read; a damaged stream ends where it is damaged."""

    def __init__(self, inner):
        self.inner, self.size, self.hasher, self.damage = inner, 0, hashlib.sha256(), None

    def read(self, size):
        if self.damage:
            return b""
        try:
            data = self.inner.read(size)
        except (OSError, EOFError, ValueError, ArithmeticError, gzip.zlib.error) as error:
            self.damage = str(error)
            return b""
        self.size += len(data)
        self.hasher.update(data)
        return data


# Sources ------------------------------------------------------------------------------------------


class Folder:
    def __init__(self, path):
        self.path = path

    def has(self, name):
        return os.path.isfile(os.path.join(self.path, name))

    def text(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def part(self, name):
        path = os.path.join(self.path, name)
        return Part(path), os.path.getsize(path)


class Archive:
    """A tar that holds an image. A compressed one is unpacked to a temporary file first."""

    def __init__(self, path):
        with open(path, "rb") as file:
            packed = compression_of(file.read(4)) != "none"
        self.path = path
        if packed:
            plain = Plain(Part(path))
            self.held = tempfile.NamedTemporaryFile()
            shutil.copyfileobj(plain, self.held)
            plain.close()
            self.held.flush()
            self.path = self.held.name
        self.members = {}
        with tarfile.open(self.path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            for info in archive:
                self.members[os.path.normpath(info.name).lstrip("/")] = info

    def find(self, name):
        name = os.path.normpath(name).lstrip("/")
        for _ in range(16):
            info = self.members.get(name)
            if info is None or info.isreg():
                return info
            # Old docker versions write a layer that occurs twice as a link.
            base = "" if info.islnk() else os.path.dirname(name)
            name = os.path.normpath(os.path.join(base, info.linkname)).lstrip("/")
        return None

    def has(self, name):
        return self.find(name) is not None

    def part(self, name):
        info = self.find(name)
        if info is None:
            raise FileNotFoundError(name)
        return Part(self.path, info.offset_data, info.size), info.size

    def text(self, name):
        part, size = self.part(name)
        with part:
            return part.read(size)


def blob_name(digest):
    algorithm, _, hexed = digest.partition(":")
    return f"blobs/{algorithm}/{hexed}"


def fits(entry, wanted):
    have = entry.get("platform") or {}
    parts = wanted.split("/")
    if have.get("os") != parts[0] or have.get("architecture") != parts[1]:
        return False
    return len(parts) < 3 or have.get("variant") == parts[2]


def is_index(entry):
    return entry.get("mediaType", "").endswith(("image.index.v1+json", "manifest.list.v2+json"))


def oci_image(store, tag, wanted):
    """Layers of an OCI layout: (digest, part, size) from the bottom up."""
    entries = json.loads(store.text("index.json"))["manifests"]
    if tag:
        names = ("org.opencontainers.image.ref.name", "io.containerd.image.name")
        entries = [
            entry
            for entry in entries
            if entry["digest"] == tag.lstrip("@") or tag in [(entry.get("annotations") or {}).get(name) for name in names]
        ]
    entries = [entry for entry in entries if "unknown" not in (entry.get("platform") or {}).values()]
    while True:
        if len(entries) > 1:
            entries = [entry for entry in entries if fits(entry, wanted)]
        if len(entries) != 1:
            raise Unreadable(f"{len(entries)} manifests fit")
        document = json.loads(store.text(blob_name(entries[0]["digest"])))
        if not is_index(entries[0]) and "manifests" not in document:
            break
        entries = [entry for entry in document["manifests"] if "unknown" not in (entry.get("platform") or {}).values()]
        if len(entries) == 1 and entries[0].get("platform") and not fits(entries[0], wanted):
            raise Unreadable("no manifest fits")
    config = json.loads(store.text(blob_name(document["config"]["digest"])))
    layers = [(layer["digest"], blob_name(layer["digest"])) for layer in document["layers"]]
    return layers, config["rootfs"]["diff_ids"]


def dir_image(store):
    document = json.loads(store.text("manifest.json"))
    config = json.loads(store.text(document["config"]["digest"].partition(":")[2]))
    layers = [(layer["digest"], layer["digest"].partition(":")[2]) for layer in document["layers"]]
    return layers, config["rootfs"]["diff_ids"]


def docker_image(store, reference):
    if store.has("manifest.json"):
        entries = json.loads(store.text("manifest.json"))
        if reference:
            entries = [entry for entry in entries if reference in (entry.get("RepoTags") or [])]
        if len(entries) != 1:
            raise Unreadable(f"{len(entries)} images fit")
        config = json.loads(store.text(entries[0]["Config"]))
        return [(None, name) for name in entries[0]["Layers"]], config["rootfs"]["diff_ids"]
    # The form before Docker 1.10: a chain of images by parent.
    names = json.loads(store.text("repositories"))
    tops = {top for tags in names.values() for top in tags.values()}
    if len(tops) != 1:
        raise Unreadable(f"{len(tops)} images fit")
    chain, at = [], tops.pop()
    while at:
        chain.append((None, f"{at}/layer.tar"))
        at = json.loads(store.text(f"{at}/json")).get("parent")
    chain.reverse()
    return chain, [None] * len(chain)


def split_tag(rest):
    """FILE[:TAG]: the longest prefix that exists is the file."""
    if os.path.exists(rest):
        return rest, None
    at = len(rest)
    while (at := rest.rfind(":", 0, at)) > 0:
        if os.path.exists(rest[:at]):
            return rest[:at], rest[at + 1 :]
    return rest, None


def image_layers(reference, wanted):
    """(store, [(digest, name)], diff_ids)"""
    transport, _, rest = reference.partition(":")
    path, tag = split_tag(rest)
    if os.path.exists(reference):
        path, tag = reference, None
        store = Folder(path) if os.path.isdir(path) else Archive(path)
        if isinstance(store, Archive) and (store.has("manifest.json") or store.has("repositories")):
            return store, *docker_image(store, None)
        if store.has("index.json"):
            return store, *oci_image(store, None, wanted)
        return store, *dir_image(store)
    if transport == "oci":
        store = Folder(path)
        return store, *oci_image(store, tag, wanted)
    if transport == "oci-archive":
        store = Archive(path)
        return store, *oci_image(store, tag, wanted)
    if transport == "docker-archive":
        store = Archive(path)
        return store, *docker_image(store, tag)
    if transport == "dir":
        store = Folder(path)
        return store, *dir_image(store)
    raise Unreadable(f"transport {transport}")


# One layer ----------------------------------------------------------------------------------------


class Info(tarfile.TarInfo):
    """tarfile's own reader, but global extended headers do not count, and faults are remembered."""

    @classmethod
    def fromtarfile(cls, archive):
        try:
            return super().fromtarfile(archive)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):
            raise
        except tarfile.HeaderError as error:
            archive.fault = str(error)
            raise

    def _proc_pax(self, archive):
        if self.type != tarfile.XGLTYPE:
            return super()._proc_pax(archive)
        archive.fileobj.read(self._block(self.size))
        try:
            following = self.fromtarfile(archive)
        except tarfile.HeaderError as error:
            raise tarfile.SubsequentHeaderError(str(error)) from None
        return following


def clean(name):
    """The parts of a path: inside the root, no `.`, `..` resolved by name."""
    parts = []
    for part in name.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def read_layer(part, size, index):
    """The figures of a layer and its members in order: (kind, parts, size, link parts)."""
    raw = Counted(part)

    class Source(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            data = raw.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)

    plain = Plain(Source())
    stream = Counted(plain)
    figures = dict.fromkeys(
        ["content_bytes", "entries", "files", "directories", "symlinks", "hardlinks", "whiteouts", "others"], 0
    )
    members, fault = [], None

    def count(info):
        figures["entries"] += 1
        parts = clean(info.name)
        if parts and parts[-1].startswith(".wh."):
            figures["whiteouts"] += 1
            members.append(("whiteout", parts, 0, None))
        elif info.isreg():
            figures["files"] += 1
            figures["content_bytes"] += info.size
            members.append(("file", parts, info.size, None))
        elif info.isdir():
            figures["directories"] += 1
            members.append(("directory", parts, 0, None))
        elif info.issym():
            figures["symlinks"] += 1
            members.append(("symlink", parts, 0, None))
        elif info.islnk():
            figures["hardlinks"] += 1
            members.append(("hardlink", parts, 0, clean(info.linkname)))
        else:
            figures["others"] += 1
            members.append(("other", parts, 0, None))

    try:
        archive = tarfile.open(
            fileobj=stream, mode="r|", tarinfo=Info, encoding="utf-8", errors="surrogateescape", bufsize=1 << 18
        )
    except tarfile.ReadError as error:
        # An empty stream is an empty layer.
        if stream.size:
            fault = str(error)
    else:
        archive.fault = None
        last = None
        try:
            while (info := archive.next()) is not None:
                archive.members = []
                count(info)
                last = info
        except tarfile.TarError as error:
            # `umoci insert` stops right after the last body: only padding is missing, nothing of the content.
            padding = -last.size % 512 if last and last.isreg() and not last.issparse() else 0
            if not 0 < archive.offset - stream.size <= padding:
                fault = str(error)
        fault = fault or archive.fault
    while stream.read(1 << 20):
        pass
    try:
        plain.close()
    except OSError as error:
        stream.damage = stream.damage or str(error)
    fault = fault or stream.damage
    figures.update(
        index=index,
        compression=plain.compression,
        compressed_bytes=size,
        uncompressed_bytes=stream.size,
        diff_id="sha256:" + stream.hasher.hexdigest(),
        blob_digest="sha256:" + raw.hasher.hexdigest(),
        fault=fault,
    )
    return figures, members


# The merged view ----------------------------------------------------------------------------------


class Inode:
    """What the names of a file share: a regular file, a symbolic link, or something else."""

    def __init__(self, kind, layer, size=0):
        self.kind, self.layer, self.size, self.names = kind, layer, size, 0


class Dir(dict):
    """Name to Inode or Dir."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer


class Merge:
    def __init__(self):
        self.root = Dir(0)
        self.wasted, self.hides = [], []
        self.dangling = 0

    def lose(self, node, layer):
        """All names under node go, at the hand of layer."""
        stack = [node]
        while stack:
            node = stack.pop()
            if isinstance(node, Dir):
                stack += node.values()
                continue
            node.names -= 1
            if node.names == 0:
                self.wasted[node.layer] += node.size
                self.hides[layer] += node.size

    def find(self, parts):
        node = self.root
        for part in parts:
            if not isinstance(node, Dir):
                return None
            node = node.get(part)
        return node

    def folder(self, parts, layer):
        """The folder of that path, made where it is missing, in the place of what is none."""
        node = self.root
        for part in parts:
            below = node.get(part)
            if not isinstance(below, Dir):
                if below is not None:
                    self.lose(below, layer)
                below = node[part] = Dir(layer)
            node = below
        return node

    def place(self, parts, node, layer):
        if not parts:
            # Nothing can take the place of the root.
            if isinstance(node, Inode) and node.names == 0:
                self.wasted[node.layer] += node.size
                self.hides[layer] += node.size
            return
        # First the new name: a link may replace the folder or file that its target lies in or is.
        node.names += 1
        folder = self.folder(parts[:-1], layer)
        old = folder.pop(parts[-1], None)
        if old is not None:
            self.lose(old, layer)
        folder[parts[-1]] = node

    def layer(self, index, members):
        self.wasted.append(0)
        self.hides.append(0)
        for kind, parts, _, _ in members:
            if kind != "whiteout":
                continue
            folder = self.find(parts[:-1])
            if not isinstance(folder, Dir):
                continue
            if parts[-1] == ".wh..wh..opq":
                for node in folder.values():
                    self.lose(node, index)
                folder.clear()
            else:
                node = folder.pop(parts[-1][len(".wh.") :], None)
                if node is not None:
                    self.lose(node, index)
        for kind, parts, size, link in members:
            if kind == "whiteout":
                continue
            if kind == "directory":
                self.folder(parts, index)
            elif kind == "hardlink":
                target = self.find(link)
                if isinstance(target, Inode):
                    if target is not self.find(parts):
                        self.place(parts, target, index)
                else:
                    # Nothing to link to: what is at the path, if anything, stays.
                    self.dangling += 1
            else:
                self.place(parts, Inode(kind, index, size if kind == "file" else 0), index)

    def paths(self):
        """(path, node) of everything below the root."""
        stack = [("", self.root)]
        while stack:
            path, folder = stack.pop()
            for name, node in folder.items():
                below = f"{path}/{name}"
                yield below, node
                if isinstance(node, Dir):
                    stack.append((below, node))


BIDI = {0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}


def shown(path):
    """A path as reports write it."""
    out = []
    for character in path:
        code = ord(character)
        if character == "\\":
            out.append("\\\\")
        elif 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif code < 0x20 or 0x7F <= code < 0xA0 or code in BIDI:
            out.append("".join(f"\\x{byte:02x}" for byte in character.encode()))
        else:
            out.append(character)
    return "".join(out)


def unpacked(root):
    """Totals and tree of a folder that holds an unpacked image; nothing is followed."""
    tree, inodes, files = {}, {}, 0
    base = os.fsencode(root.rstrip("/"))
    for folder, folders, names in os.walk(base):
        for name in folders + names:
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            kind, size = "other", 0
            if stat.S_ISREG(facts.st_mode):
                kind, size = "file", facts.st_size
                files += 1
                inodes[facts.st_dev, facts.st_ino] = size
            elif stat.S_ISDIR(facts.st_mode):
                kind = "directory"
            elif stat.S_ISLNK(facts.st_mode):
                kind = "symlink"
            tree[shown(path[len(base) :].decode("utf-8", "surrogateescape"))] = {"type": kind, "size": size}
    return {"totals": {"merged_files": files, "merged_bytes": sum(inodes.values())}, "tree": tree}


# Output -------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", action="store_true", help="add the merged view: path to type, size, layer")
    parser.add_argument("--largest", type=int, default=0, metavar="N", help="add the N largest files of the merged view")
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine.machine(), machine.machine())
    parser.add_argument("--platform", default=f"linux/{arch}")
    parser.add_argument("image", nargs="+")
    options = parser.parse_args()

    if options.image[0].startswith("rootfs:"):
        json.dump(unpacked(options.image[0][len("rootfs:") :]), sys.stdout)
        return

    try:
        if options.image[0].startswith("tar:"):
            paths = [options.image[0][4:], *options.image[1:]]
            store = Folder("/")
            layers = [(None, os.path.abspath(path)) for path in paths]
            diff_ids = [None] * len(layers)
        else:
            store, layers, diff_ids = image_layers(options.image[0], options.platform)
    except (Unreadable, OSError, KeyError, ValueError, tarfile.TarError) as error:
        print(f"error: {options.image[0]}: {error!r}", file=sys.stderr)
        sys.exit(2)

    merge, rows, complete = Merge(), [], True
    for index, (digest, name) in enumerate(layers):
        try:
            part, size = store.part(name)
        except OSError as error:
            print(f"error: layer {index}: {error}", file=sys.stderr)
            sys.exit(2)
        row, members = read_layer(part, size, index)
        row["digest"] = digest
        if diff_ids[index] not in (None, row["diff_id"]):
            row["fault"] = row["fault"] or "the tar stream has not the diff id of the config"
        if digest not in (None, row["blob_digest"]):
            row["fault"] = row["fault"] or "the blob has not the digest of the manifest"
        complete = complete and row["fault"] is None
        merge.layer(index, members)
        rows.append(row)

    files, inodes, tree = [], {}, {}
    for path, node in merge.paths():
        if isinstance(node, Dir):
            kind, size = "directory", 0
        else:
            kind, size = node.kind, node.size
            if kind == "file":
                files.append((size, path, node.layer))
                inodes[id(node)] = size
        if options.tree:
            tree[shown(path)] = {"type": kind, "size": size, "layer": node.layer}
    for row in rows:
        row["wasted_bytes"] = merge.wasted[row["index"]]
        row["hides_bytes"] = merge.hides[row["index"]]

    def total(name):
        return sum(row[name] for row in rows)

    result = {
        "totals": {
            "complete": complete,
            "layers": len(rows),
            "compressed_bytes": total("compressed_bytes"),
            "uncompressed_bytes": total("uncompressed_bytes"),
            "content_bytes": total("content_bytes"),
            "merged_files": len(files),
            "merged_bytes": sum(inodes.values()),
            "wasted_bytes": total("wasted_bytes"),
        },
        "layers": rows,
        "dangling": merge.dangling,
    }
    # The rule that holds on every image, here too.
    assert total("content_bytes") == result["totals"]["merged_bytes"] + total("wasted_bytes")
    if options.largest:
        files.sort(key=lambda file: (-file[0], file[1]))
        result["largest_files"] = [
            {"path": shown(path), "bytes": size, "layer": layer} for size, path, layer in files[: options.largest]
        ]
    if options.tree:
        result["tree"] = tree
    json.dump(result, sys.stdout)
    print()


if __name__ == "__main__":
    main()
