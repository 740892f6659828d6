"""An image of an installed Python package and of what it requires, and an image's files in a folder again."""

import concurrent.futures
import gzip
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import tarfile
import zlib

CHUNK = 8 << 20
# A distribution of at least this size gets a layer of its own.
OWN_LAYER = 200 << 20
KIND = "application/vnd.oci.image"


# What is installed ----------------------------------------------------------------------------------


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(names, path):
    """The distributions that `names` require, extras included, as far as they are installed."""
    installed = {}
    for found in importlib.metadata.distributions(path=path):
        if found.metadata["Name"]:
            installed.setdefault(normal(found.metadata["Name"]), found)
    for name in names:
        if normal(name) not in installed:
            sys.exit(f"error: {name} is not installed in {path}")
    seen, waiting = set(), [(normal(name), frozenset()) for name in names]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen or name not in installed:
            continue
        seen.add((name, extras))
        for line in installed[name].requires or []:
            wanted, _, marker = line.partition(";")
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
            if extra and normal(extra[1]) not in extras:
                continue
            match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?", wanted)
            chosen = frozenset(normal(one.strip()) for one in (match[2] or "").split(",") if one.strip())
            waiting.append((normal(match[1]), chosen))
    return {name: installed[name] for name in sorted({name for name, _ in seen})}


def files_of(distribution):
    """Every file that RECORD names below the folder of packages: (path there, path on disk)."""
    root = os.path.realpath(distribution.locate_file(""))
    for file in distribution.files or []:
        path = os.path.normpath(os.path.join(root, str(file)))
        if path.startswith(root + os.sep) and os.path.lexists(path):
            yield os.path.relpath(path, root), path


def inside(root, path):
    return os.path.realpath(path).startswith(root + os.sep)


# A layout -------------------------------------------------------------------------------------------


class Hashed:
    """A file being written, with its digest and its size."""

    def __init__(self, path):
        self.file, self.sum, self.size = open(path, "wb"), hashlib.sha256(), 0

    def write(self, data):
        self.sum.update(data)
        self.size += len(data)
        return self.file.write(data)

    def close(self):
        self.file.close()
        return self.sum.hexdigest()


def layer(blobs, prefix, files):
    """One layer, uncompressed: links stay links, and one to a file outside the folder becomes that file."""
    part = os.path.join(blobs, "partial")
    out = Hashed(part)
    folders = set()
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT, bufsize=1 << 20) as tar:
        for root, name, path in files:
            full = f"{prefix}/{name}"
            parts = full.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if folder not in folders:
                    folders.add(folder)
                    entry = tarfile.TarInfo(folder)
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(entry)
            if os.path.islink(path) and not inside(root, path) and os.path.isfile(path):
                path = os.path.realpath(path)
            entry = tar.gettarinfo(path, arcname=full)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            if entry.isreg():
                with open(path, "rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    digest = out.close()
    os.replace(part, os.path.join(blobs, digest))
    return {"mediaType": f"{KIND}.layer.v1.tar", "digest": "sha256:" + digest, "size": out.size}


def make(out, names, path=None, prefix=None):
    """Writes the layout. Gives back what is in it, and where in the image the packages lie."""
    path = path or [one for one in sys.path if one.endswith(("site-packages", "dist-packages"))]
    prefix = prefix or f"opt/venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    blobs = os.path.join(out, "blobs/sha256")
    os.makedirs(blobs)
    small, groups, taken, listed = [], [], set(), []
    for name, distribution in closure(names, path).items():
        root = os.path.realpath(distribution.locate_file(""))
        files = [(root, short, full) for short, full in files_of(distribution) if short not in taken]
        if not files:
            print(f"note: {name} has no list of its files", file=sys.stderr)
        taken.update(short for _, short, _ in files)
        size = sum(os.stat(full).st_size for _, _, full in files if os.path.isfile(full))
        listed.append({"name": name, "version": distribution.version, "files": len(files), "bytes": size})
        if size >= OWN_LAYER:
            groups.append((name, files))
        else:
            small.extend(files)
    groups.append(("the rest", small))
    layers, history = [], []
    for name, files in groups:
        layers.append(layer(blobs, prefix, sorted(files, key=lambda one: one[1])))
        history.append({"created_by": f"RUN pip install {name}", "created": "2026-01-01T00:00:00Z"})

    def document(value, kind):
        data = json.dumps(value).encode()
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(blobs, digest), "wb") as file:
            file.write(data)
        return {"mediaType": f"{KIND}.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    settings = {
        "Entrypoint": ["/opt/venv/bin/python3"],
        "Env": [f"PYTHONPATH=/{prefix}", "PATH=/opt/venv/bin:/usr/bin:/bin"],
    }
    config = {
        "created": "2026-01-01T00:00:00Z",
        "os": "linux",
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine),
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [one["digest"] for one in layers]},
        "history": history,
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{KIND}.manifest.v1+json",
        "config": document(config, "config.v1+json"),
        "layers": layers,
    }
    index = {"schemaVersion": 2, "manifests": [document(manifest, "manifest.v1+json")]}
    for name, value in [("index.json", index), ("oci-layout", {"imageLayoutVersion": "1.0.0"})]:
        with open(os.path.join(out, name), "w", encoding="ascii") as file:
            json.dump(value, file)
    return {"prefix": prefix, "packages": listed, "layers": len(layers), "bytes": sum(one["size"] for one in layers)}


# Its files again ------------------------------------------------------------------------------------


class Stream:
    """The plain bytes of a layer, hashed, and deflated beside that to tell what they cost to pull."""

    def __init__(self, source, pool):
        self.source, self.pool = source, pool
        self.sum, self.kept, self.jobs, self.deflated = hashlib.sha256(), bytearray(), [], 0

    def read(self, size):
        data = self.source.read(size)
        self.sum.update(data)
        self.kept += data
        if len(self.kept) >= CHUNK:
            self.measure()
        return data

    def measure(self):
        self.jobs.append(self.pool.submit(lambda part: len(zlib.compress(part, 6)), bytes(self.kept)))
        self.kept.clear()
        while len(self.jobs) > 64:
            self.deflated += self.jobs.pop(0).result()

    def end(self):
        while self.read(1 << 20):
            pass
        self.measure()
        self.deflated += sum(job.result() for job in self.jobs)
        return "sha256:" + self.sum.hexdigest()


def unpack(layout, folder):
    """Unpacks all layers of the one image of a layout, each checked against its diff-id."""

    def blob(digest):
        return os.path.join(layout, "blobs", *digest.split(":", 1))

    def document(path):
        with open(path, "rb") as file:
            return json.load(file)

    manifests = document(os.path.join(layout, "index.json"))["manifests"]
    if len(manifests) != 1:
        sys.exit(f"error: {layout}: {len(manifests)} images in place of one")
    manifest = document(blob(manifests[0]["digest"]))
    config = document(blob(manifest["config"]["digest"]))
    diff_ids = config["rootfs"]["diff_ids"]
    if len(diff_ids) != len(manifest["layers"]):
        sys.exit(f"error: {layout}: {len(manifest['layers'])} layers and {len(diff_ids)} diff-ids")
    os.makedirs(folder)
    blob_bytes = plain_bytes = deflated = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for described, diff_id in zip(manifest["layers"], diff_ids):
            path = blob(described["digest"])
            blob_bytes += os.path.getsize(path)
            kind = described["mediaType"]
            if not kind.endswith(("tar", "tar+gzip")):
                sys.exit(f"error: a layer of type {kind}: only plain tar and gzip are read here")
            opened = gzip.open(path) if kind.endswith("+gzip") else open(path, "rb")
            with opened as source:
                stream = Stream(source, pool)
                with tarfile.open(fileobj=stream, mode="r|", bufsize=1 << 20) as tar:
                    if hasattr(tarfile, "tar_filter"):
                        tar.extraction_filter = tarfile.tar_filter
                    for entry in tar:
                        # Whiteouts are not applied: nothing is deleted in these images but what a plan names.
                        if not os.path.basename(entry.name).startswith(".wh."):
                            tar.extract(entry, folder)
                            plain_bytes += entry.size if entry.isreg() else 0
                found = stream.end()
            if found != diff_id:
                sys.exit(f"error: {layout}: a layer is {found} in place of {diff_id}")
            deflated += stream.deflated
    return {
        "layers": len(diff_ids),
        "blob_bytes": blob_bytes,
        "file_bytes": plain_bytes,
        "deflated_bytes": deflated,
        "disk_bytes": on_disk(folder),
        "environment": config["config"].get("Env", []),
        "annotations": manifest.get("annotations", {}),
    }


def on_disk(folder):
    """Allocated bytes of a folder, each inode once."""
    seen, total = set(), 0
    for root, folders, files in os.walk(folder):
        for name in files + folders:
            found = os.lstat(os.path.join(root, name))
            if found.st_ino not in seen:
                seen.add(found.st_ino)
                total += found.st_blocks * 512
    return total
