#!/usr/bin/env python3
"""Compares the CUDA part of a report with the independent walk, and prints what differs.

    python3 benches/torch_compare.py REPORT.json WALK.json

The walk is the output of tests/oracle/cuda.py on the same image. The exit status is 1 when they differ.
"""

import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table(rows, *columns):
    return {tuple(str(row[column]) for column in columns) for row in rows}


def differences(report, walk):
    cuda = report["cuda"]

    def same(what, ours, theirs):
        print(f"{what}: {len(ours)} in the report, {len(theirs)} in the walk, {len(ours & theirs)} alike")
        for rows, where in [(ours - theirs, "report"), (theirs - ours, "walk")]:
            for row in sorted(rows):
                yield f"{what}: only in the {where}: {' '.join(row)}"

    facts = ["path", "soname", "component", "bytes", "layer", "hardlink_of", "overhead_bytes", "gpu_section_bytes"]
    yield from same("libraries", table(cuda["libraries"], *facts), table(walk["libraries"], *facts))

    code = ["arch", "kind", "isa", "compression", "entries", "bytes", "uncompressed_bytes"]

    def ledger(libraries):
        return {(library["path"], *row) for library in libraries for row in table(library["gpu_code"], *code)}

    yield from same("rows of GPU code", ledger(cuda["libraries"]), ledger(walk["libraries"]))
    sums = ["name", "bytes", "libraries"]
    yield from same("components", table(cuda["components"], *sums), table(walk["components"], *sums))

    holders = ["libraries", "executables", "archives"]
    ours = {(row["arch"], row["kind"], name, row["by_holder"][name]) for row in cuda["gpu_code"] for name in holders}
    theirs = {(row["arch"], row["kind"], name, row["bytes"]) for name in holders for row in walk["gpu_code"][name]}
    yield from same(
        "sums of GPU code",
        {tuple(map(str, row)) for row in ours if row[3]},
        {tuple(map(str, row)) for row in theirs if row[3]},
    )

    # What is stored plain was not read for this, so that the report does not know.
    truth = {row["soname"]: row["identical"] for row in walk["duplicates"]}

    def groups(rows):
        for row in rows:
            alike = truth.get(row["soname"]) if row["identical"] is None else row["identical"]
            yield (row["soname"], str(alike), *sorted(row["paths"]))

    yield from same("duplicates", set(groups(cuda["duplicates"])), set(groups(walk["duplicates"])))
    print(f"duplicates not compared: {sum(row['identical'] is None for row in cuda['duplicates'])}")
    wheels = [row for row in report["packages"] if row["manager"] == "pip"]
    facts = ["name", "version", "files", "bytes"]
    yield from same("wheels", table(wheels, *facts), table(walk["packages"], *facts))

    lost = [table(rows, "path", "name") for rows in (cuda["unresolved"], *walk["unresolved"].values())]
    print(f"unresolved names: {len(lost[0])} in the report, between {len(lost[2])} and {len(lost[1])} in the walk")
    yield from (f"unresolved: only in the walk: {' '.join(row)}" for row in sorted(lost[2] - lost[0]))
    yield from (f"unresolved: the walk finds it: {' '.join(row)}" for row in sorted(lost[0] - lost[1]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    report, walk = load(sys.argv[1]), load(sys.argv[2])
    base, toolkit = report["image"]["base"] or {}, report["cuda"]["toolkit"] or {}
    print(f"base {base.get('reference')} of {base.get('layers')} layers, toolkit {toolkit.get('version')}")
    for row in report["cuda"]["frameworks"]:
        print(f"{row['name']} {row['version']} for CUDA {row['cuda_version']}: {row['strategy']}")
    print(f"warnings: {', '.join(sorted(row['code'] for row in report['warnings'])) or 'none'}")
    found = list(differences(report, walk))
    for line in found[:60]:
        print(line)
    print(f"{len(found)} differences")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
