#!/usr/bin/env python3
"""Compares the root filesystem of an image with that of its slim image.

    trees.py BEFORE AFTER SLIM.json OUT.json

BEFORE and AFTER are mounted root filesystems, SLIM.json is what `cutaway slim --format json` printed. They must differ
by exactly the removed paths: every other path has the same kind, mode, owner, times, size, device, extended attributes,
link target, content and hard links. OUT.json is what `ask.py delete` writes: what is gone, by finding, and the bytes.
No code of Cutaway is used. Each difference is a line; the exit status is 1 when there is one."""

import hashlib
import json
import os
import stat
import sys

from ask import path_of


def entries(root):
    """Every path below root, as bytes, with its status; folders before what is in them."""
    root = os.fsencode(root)
    pending = [b""]
    while pending:
        folder = pending.pop()
        with os.scandir(root + b"/" + folder) as found:
            for entry in found:
                path = folder + (b"/" if folder else b"") + entry.name
                status = entry.stat(follow_symlinks=False)
                yield path, status
                if stat.S_ISDIR(status.st_mode):
                    pending.append(path)


def facts(root, path, status):
    """What must stay the same."""
    full = os.fsencode(root) + b"/" + path
    mode = status.st_mode
    known = {"mode": oct(mode), "owner": (status.st_uid, status.st_gid), "time": status.st_mtime_ns}
    if stat.S_ISREG(mode):
        known["size"] = status.st_size
        with open(full, "rb") as file:
            known["content"] = hashlib.file_digest(file, "sha256").hexdigest()
    elif stat.S_ISLNK(mode):
        known["link"] = os.readlink(full)
    elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        known["device"] = status.st_rdev
    try:
        names = sorted(os.listxattr(full, follow_symlinks=False))
        known["attributes"] = [(name, os.getxattr(full, name, follow_symlinks=False)) for name in names]
    except OSError as error:
        known["attributes"] = str(error)
    return known


def inodes(tree, paths):
    """The groups of paths that are one file."""
    groups = {}
    for path in paths:
        status = tree[path]
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            groups.setdefault((status.st_dev, status.st_ino), set()).add(path)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def main():
    before_root, after_root, slim, out = sys.argv[1:]
    with open(slim, encoding="utf-8") as file:
        slim = json.load(file)
    before, after = dict(entries(before_root)), dict(entries(after_root))
    # What an upper layer shadows is in no tree.
    lines = [line for line in slim["removed"] if not line["shadowed"]]
    removed = {os.fsencode(path_of(line["path"])).lstrip(b"/"): line["finding"] for line in lines}
    faults = [f"is new: {os.fsdecode(path)}" for path in after.keys() - before.keys()]
    gone = before.keys() - after.keys()
    faults += [f"is gone and no finding has it: {os.fsdecode(path)}" for path in gone - removed.keys()]
    faults += [f"is removed and still there: {os.fsdecode(path)}" for path in removed.keys() & after.keys()]
    kept = before.keys() & after.keys()
    for path in sorted(kept):
        one, other = facts(before_root, path, before[path]), facts(after_root, path, after[path])
        faults += [
            f"{os.fsdecode(path)}: {name} was {one.get(name)}, is {other.get(name)}"
            for name in one.keys() | other.keys()
            if one.get(name) != other.get(name)
        ]
    if inodes(before, kept) != inodes(after, kept):
        several = inodes(before, kept) ^ inodes(after, kept)
        faults += [f"hard links differ: {sorted(map(os.fsdecode, group))}" for group in several]
    sizes = {}
    for path, status in before.items():
        if stat.S_ISREG(status.st_mode):
            sizes.setdefault((status.st_dev, status.st_ino), (status.st_size, []))[1].append(path)
    freed = sum(size for size, paths in sizes.values() if all(path in gone for path in paths))
    planned = slim["before"]["merged_bytes"] - slim["after"]["merged_bytes"]
    paths = {"/" + os.fsdecode(path): removed.get(path, "") for path in gone}
    with open(out, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump({"freed": freed, "planned": planned, "absent": 0, "findings": [], "paths": paths}, file)
    for fault in faults[:40]:
        print(fault)
    print(f"{len(before):,} entries, {len(gone):,} removed, {freed:,} bytes, {len(faults)} differences", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
