#!/usr/bin/env python3
"""Judges the findings of a report by an independent walk over the image, and by a listing made by hand.

    python3 tests/oracle/findings.py [--listing FILE] [--needed FILE] [--coverage PERCENT] [--root PATH]...
                                     [--platform os/arch] REPORT IMAGE

REPORT is `cutaway report --format json` of IMAGE, which is written as for walk.py. Lines of --listing are
`CATEGORY<TAB>BYTES<TAB>PATH`, where `a|b` says that either category is right; --needed holds paths, one a line.

Checked without any listing: bytes and files of each finding against the members of the layers; a file of a
layer in one finding only; layers that hold no more than they have; sums by category; the plan. Then the
application's closure: what the loader takes for the entrypoint and --root, by readelf's NEEDED and the search
folders of the image, must not be in a finding that is safe. Prints JSON; the exit status is 1 when `faults` is
not empty.
"""

import argparse
import collections
import json
import os
import platform as machine
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True  # no folder of compiled files beside the sources

import cuda  # noqa: E402
import walk  # noqa: E402

BYTES = """
package-caches build-artifacts stubs static-libraries headers profilers debuggers compilers build-metadata
docs-samples build-tools driver-libraries duplicates unused-libraries overwritten
""".split()


def dynamic(stream):
    """What readelf says of the dynamic section of an ELF file; `None` for anything else."""
    head = stream.read(4)
    if head != b"\x7fELF":
        return None
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        how = {"capture_output": True, "env": {**os.environ, "LC_ALL": "C"}, "check": False}
        output = subprocess.run(["readelf", "-dW", copy.name], **how).stdout.decode("utf-8", "replace")
    rows = collections.defaultdict(list)
    for line in output.splitlines():
        if match := cuda.DYNAMIC.search(line):
            rows[match[1]].append(match[2])
    return {"needed": rows["NEEDED"], "rpath": ":".join(rows["RPATH"]), "runpath": ":".join(rows["RUNPATH"])}


def read_layer(part):
    """The members of a layer as walk.py has them, and for each that makes an inode what its dynamic section says."""
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
                is_conf = "ld.so.conf" in "/".join(parts)
                facts.append({"text": body.read().decode("utf-8", "replace")} if is_conf else dynamic(body))
        else:
            members.append(("other", parts, 0, None))
            facts.append(None)
    plain.close()
    return members, facts


class Layers:
    """All members of all layers that are regular files, and the merged view."""

    def __init__(self, image, wanted):
        store, layers, _ = walk.image_layers(image, wanted)
        self.merge, self.files, self.content = cuda.Merge(), collections.defaultdict(dict), []
        for index, (_, name) in enumerate(layers):
            members, facts = read_layer(store.part(name)[0])
            self.merge.facts = iter(facts)
            self.content.append(0)
            for kind, parts, size, _ in members:
                if kind == "file":
                    # A path twice in one layer: both count.
                    self.files["/" + "/".join(parts)].setdefault(index, []).append(size)
                    self.content[index] += size
            self.merge.layer(index, members)
        self.config = cuda.config_of(store).get("config", {})
        # By shown path, what the merged view has there.
        self.visible, inodes = {}, {}
        for path, node in self.merge.paths():
            if not isinstance(node, walk.Dir) and node.kind == "file":
                self.visible[walk.shown(path)] = node
                inodes[id(node)] = node.size
        self.merged_bytes = sum(inodes.values())
        self.shown = {walk.shown(path): by_layer for path, by_layer in self.files.items()}


# Arithmetic ----------------------------------------------------------------------------------------


def sizes_of(layers, path, allowed):
    """What a path of a finding may weigh: by the member of each layer, and by the inode that shows there."""
    found = [(index, size) for index, sizes in layers.shown.get(path, {}).items() for size in sizes if index in allowed]
    node = layers.visible.get(path)
    if node is not None and node.layer in allowed and (node.layer, node.size) not in found:
        found.append((node.layer, node.size))
    return found


def arithmetic(report, layers):
    faults, seen, by_category, by_layer = [], collections.Counter(), collections.Counter(), collections.Counter()
    verdicts, chosen = collections.Counter(), 0
    plan = report.get("plan") or {}
    for finding in report["findings"]:
        name = finding["id"]
        if finding["category"] not in BYTES:
            if finding["bytes"]:
                faults.append(f"{name}: {finding['bytes']} bytes in a category without any")
            continue
        low = high = 0
        for path in finding["paths"]:
            found = sizes_of(layers, path, finding["layers"])
            if not found:
                faults.append(f"{name}: {path} is no regular file of layers {finding['layers']}")
                continue
            seen[path] += 1
            low += min(size for _, size in found)
            high += sum(size for _, size in found)
        if not low <= finding["bytes"] <= high:
            faults.append(f"{name}: {finding['bytes']} bytes, where its files have {low} to {high}")
        shares = finding.get("layer_bytes", [])
        for field in ("bytes", "merged_bytes", "files"):
            total = sum(share[field] for share in shares)
            if shares and total != finding[field]:
                faults.append(f"{name}: {field} of its layers are {total}, not {finding[field]}")
        if finding["merged_bytes"] > finding["bytes"]:
            faults.append(f"{name}: merged_bytes above bytes")
        for share in shares:
            by_layer[share["layer"]] += share["bytes"]
        verdicts[finding["verdict"]] += finding["bytes"]
        if finding["verdict"] != "needed":
            by_category[finding["category"]] += finding["bytes"]
        if finding["verdict"] == "safe" and not finding.get("proof"):
            faults.append(f"{name}: safe without proof")
        if finding["verdict"] == "unsure" and not finding.get("question"):
            faults.append(f"{name}: unsure without a question")
        chosen += finding["merged_bytes"] if name in plan.get("findings", []) else 0
    for path, count in seen.items():
        places = sum(len(sizes) for sizes in layers.shown.get(path, {}).values())
        if count > max(places, 1):
            faults.append(f"{path}: in {count} findings, and {places} members of layers")
    for layer, total in by_layer.items():
        if total > layers.content[layer]:
            faults.append(f"layer {layer}: findings of {total} bytes, content of {layers.content[layer]}")
    sums = report["reclaimable"]
    ours = {category: total for category, total in by_category.items() if total}
    theirs = {category: total for category, total in sums["by_category"].items() if total}
    if ours != theirs:
        faults.append(f"by_category: {theirs} where findings add up to {ours}")
    for verdict in ("safe", "unsure"):
        if sums[f"{verdict}_bytes"] != verdicts[verdict]:
            faults.append(f"{verdict}_bytes: {sums[f'{verdict}_bytes']}, findings have {verdicts[verdict]}")
    if plan and plan["merged_bytes_after"] != layers.merged_bytes - chosen:
        faults.append(f"plan: {plan['merged_bytes_after']} where {layers.merged_bytes} less {chosen} is right")
    return faults


# The closure ---------------------------------------------------------------------------------------


def real(view, path, depth=0):
    """The path of the file behind links, as the merged view has it."""
    at, parts = [], [part for part in path.split("/") if part not in ("", ".")]
    node = view.root
    while parts:
        part = parts.pop(0)
        if part == "..":
            at = at[:-1]
            node = view.find("/" + "/".join(at))
            continue
        if not isinstance(node, walk.Dir) or part not in node:
            return None
        below = node[part]
        if not isinstance(below, walk.Dir) and below.kind == "symlink":
            target = below.facts["target"]
            start = "" if target.startswith("/") else "/" + "/".join(at) + "/"
            return real(view, "/".join([start + target, *parts]), depth + 1) if depth < 40 else None
        node, at = below, [*at, part]
    return "/" + "/".join(at) if isinstance(node, walk.Inode) and node.kind == "file" else None


def roots(layers, view, more):
    """The entrypoint, what scripts that it names start, and what was asked for."""
    path = next((one[5:] for one in layers.config.get("Env") or [] if one.startswith("PATH=")), "/usr/bin:/bin")
    words = [*(layers.config.get("Entrypoint") or []), *(layers.config.get("Cmd") or [])]
    found = []
    for word in [part for text in words for part in (shlex.split(text) if " " in text else [text])] + more:
        for candidate in [word] if "/" in word else [f"{folder}/{word}" for folder in path.split(":")]:
            if target := real(view, candidate):
                found.append(target)
                break
    return found


def closure(layers, more):
    """Paths that the loader takes for the roots, and Python's modules when one of them is an interpreter."""
    view = cuda.View(layers.merge.root)
    environment = layers.config.get("Env") or []
    preset = next((one.split("=", 1)[1].split(":") for one in environment if one.startswith("LD_LIBRARY_PATH=")), [])
    general = [*preset, *cuda.conf_folders(view), *cuda.DEFAULT]
    waiting, found, missing = roots(layers, view, more), set(), set()
    if any(re.search(r"/python[\d.]*$", path) for path in waiting):
        waiting += [path for path, node in layers.visible.items() if "/lib-dynload/" in path and path.endswith(".so")]
        waiting += [path for path in layers.visible if re.search(r"/(site|dist)-packages/.*\.cpython-.*\.so$", path)]
    # An own search path holds for what a file loads, and RPATH for all below it.
    queue = collections.deque((path, ()) for path in waiting)
    while queue:
        path, inherited = queue.popleft()
        if path in found:
            continue
        found.add(path)
        node = view.find(path)
        facts = node.facts if isinstance(node, walk.Inode) and node.facts else {}
        folder = path.rsplit("/", 1)[0] or "/"
        rpath = tuple(cuda.expand(facts.get("rpath", ""), folder)) if not facts.get("runpath") else ()
        own = [*rpath, *inherited, *preset, *cuda.expand(facts.get("runpath", ""), folder), *general]
        for name in facts.get("needed") or []:
            candidates = [name] if "/" in name else [f"{place}/{name}" for place in own]
            found_at = (real(view, one) for one in candidates)
            target = next((at for at in found_at if at and "needed" in (view.find(at).facts or {})), None)
            if target is None:
                missing.add(name)
            else:
                queue.append((target, (*rpath, *inherited)))
    return found, missing


# The listing ---------------------------------------------------------------------------------------


def judge_listing(report, rows, needed, coverage):
    """How much of the listing is found, and where."""
    where = {}
    for finding in report["findings"]:
        if finding["category"] in BYTES:
            for path in finding["paths"]:
                where.setdefault(path, finding)
    sums = collections.defaultdict(lambda: {"bytes": 0, "files": 0, "found": 0, "right": 0, "safe": 0})
    lost, wrong, faults = collections.Counter(), collections.Counter(), []
    for kinds, size, path in rows:
        row, finding = sums[kinds], where.get(path)
        row["bytes"] += size
        row["files"] += 1
        if finding is None:
            lost[re.sub(r"[^/]*$", "", path)] += size
            continue
        row["found"] += size
        if finding["category"] in kinds.split("|"):
            row["right"] += size
            row["safe"] += size if finding["verdict"] == "safe" else 0
        else:
            wrong[f"{re.sub(r'[^/]*$', '', path)}: {finding['category']}, not {kinds}"] += size
    total = sum(row["bytes"] for row in sums.values())
    right = sum(row["right"] for row in sums.values())
    listed = {path for _, _, path in rows}
    extra = collections.Counter()
    for path, finding in where.items():
        if path not in listed and finding["verdict"] == "safe":
            extra[f"{finding['category']}: {re.sub(r'[^/]*$', '', path)}"] += 1
    percent = 100 * right / total if total else 100.0
    if percent < coverage:
        faults.append(f"{percent:.2f} % of the listed bytes are found in the right category, fewer than {coverage} %")
    for path in sorted(needed):
        if path in where and where[path]["verdict"] == "safe":
            faults.append(f"{path} is needed, and {where[path]['id']} calls it safe")
    return faults, {
        "coverage_percent": round(percent, 3),
        "listed_bytes": total,
        "categories": dict(sorted(sums.items())),
        "not_found": dict(lost.most_common(40)),
        "wrong_category": dict(wrong.most_common(40)),
        "safe_but_not_listed": dict(extra.most_common(60)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listing", metavar="FILE")
    parser.add_argument("--needed", metavar="FILE")
    parser.add_argument("--coverage", type=float, default=99.0, metavar="PERCENT")
    parser.add_argument("--root", action="append", default=[], metavar="PATH")
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine.machine(), machine.machine())
    parser.add_argument("--platform", default=f"linux/{arch}")
    parser.add_argument("report")
    parser.add_argument("image")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    try:
        layers = Layers(options.image, options.platform)
    except (walk.Unreadable, OSError, KeyError, ValueError) as error:
        print(f"error: {options.image}: {error!r}", file=sys.stderr)
        sys.exit(2)
    faults = arithmetic(report, layers)
    found, missing = closure(layers, options.root)
    for finding in report["findings"]:
        if finding["verdict"] == "safe" and finding["category"] in BYTES:
            wrong = [path for path in finding["paths"] if path in found]
            faults += [f"{path} is in the closure, and {finding['id']} calls it safe" for path in wrong]
    result = {"closure": len(found), "unresolved": sorted(missing)}
    needed = set()
    if options.needed:
        with open(options.needed, encoding="utf-8") as file:
            needed = set(file.read().splitlines())
    if options.listing or needed:
        rows = []
        if options.listing:
            with open(options.listing, encoding="utf-8") as file:
                parts = [line.rstrip("\n").split("\t") for line in file]
                rows = [(kinds, int(size), path) for kinds, size, path in parts]
        more, listing = judge_listing(report, rows, needed, options.coverage if rows else 0)
        faults += more
        result["listing"] = listing
    json.dump({**result, "faults": faults}, sys.stdout, indent=1)
    print()
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
