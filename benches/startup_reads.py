"""Compares the files and bytes that start-up is said to read with the page cache; see startup_reads.sh."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

MODULES_APART = re.compile(r"/(site-packages|dist-packages|test|tests|testing|idlelib|tkinter|lib2to3|ensurepip)/")


def run(*command, **further):
    return subprocess.run(command, check=True, capture_output=True, text=True, **further).stdout


def regular_files(root):
    """Each file of the tree once: path in the container, and size."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            if os.path.isfile(path) and not os.path.islink(path):
                found.setdefault((facts.st_dev, facts.st_ino), (path[len(root):], facts.st_size))
    return dict(found.values())


def drop(root, files):
    os.sync()
    for path in files:
        file = os.open(root + path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def resident(root, files):
    """Bytes of each file in the page cache."""
    paths, pages = list(files), {}
    for start in range(0, len(paths), 500):
        some = paths[start:start + 500]
        lines = run("fincore", "-b", "-n", "-o", "RES", "--", *[root + path for path in some]).split()
        assert len(lines) == len(some), "a line for each file"
        pages.update((path, min(int(size), files[path])) for path, size in zip(some, lines) if int(size))
    return pages


def start(root, config):
    """Runs the command of the image until it ends."""
    mounted = []
    try:
        for kind, folder in (("proc", "proc"), ("sysfs", "sys")):
            place = os.path.join(root, folder)
            os.makedirs(place, exist_ok=True)
            run("mount", "-t", kind, kind, place)
            mounted.append(place)
        command = (config.get("Entrypoint") or []) + (config.get("Cmd") or [])
        environment = dict(one.split("=", 1) for one in config.get("Env") or [])
        ended = subprocess.run(["chroot", root, *command], env=environment, capture_output=True, text=True)
        if ended.returncode:
            print(f"the command ended with {ended.returncode}: {ended.stderr[-300:]}", file=sys.stderr)
    finally:
        for place in mounted:
            run("umount", place)


def config_of(layout, tag):
    blob = lambda one: json.loads((layout / "blobs/sha256" / one["digest"].split(":")[1]).read_text())
    named = [one for one in json.loads((layout / "index.json").read_text())["manifests"]
             if one.get("annotations", {}).get("org.opencontainers.image.ref.name") == tag]
    return blob(blob(named[0])["config"]).get("config", {})


def disk_of(folder):
    """The file that has the readahead of the disk below a folder, in KiB."""
    number = os.stat(folder).st_dev
    disk = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return next(one for one in (disk / "queue/read_ahead_kb", disk.parent / "queue/read_ahead_kb") if one.exists())


def main():
    cutaway, image, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    layout, tag = image.rsplit(":", 1)
    report = json.loads(run(cutaway, "report", f"oci:{image}", "--no-cache", "--format", "json"))
    said = report["cold_start"]["startup"]
    if said is None:
        sys.exit("what start-up reads is unknown for this image")
    root = str(work / "root")
    shutil.rmtree(root, ignore_errors=True)
    run("umoci", "--log=error", "raw", "unpack", "--image", image, root)
    config, files = config_of(pathlib.Path(layout), tag), regular_files(root)
    libraries = set(said["paths"])
    folders = {f"/{name.split(' ')[0].replace('-', '_')}/" for name in said["frameworks"]} | {"/numpy/", "/torchgen/"}

    def predicted(path):
        if path in libraries:
            return True
        if not path.endswith((".py", ".pyc")):
            return False
        place, inside = re.split(r"(?<=-packages)(?=/)", path)[0], re.split(r"(?<=-packages)(?=/)", path)[-1]
        if place != path:
            return any(inside.startswith(folder) for folder in folders) and not MODULES_APART.search(inside)
        return bool(re.search(r"/lib/python[0-9.]+/", path)) and not MODULES_APART.search(path)

    setting = disk_of(work)
    before = setting.read_text()
    sizes = [int(size) for size in sys.argv[4:]] or [int(before)]
    print("| readahead | read | of it in predicted files | predicted files by traced files "
          "| share of libraries | share of modules |")
    print("|---:|---:|---:|---:|---:|---:|")
    try:
        for size in sizes:
            setting.write_text(str(size))
            drop(root, files)
            there = resident(root, files)
            start(root, config)
            read = {path: pages - there.get(path, 0) for path, pages in resident(root, files).items()}
            read = {path: pages for path, pages in read.items() if pages > 0}
            total = sum(read.values())
            inside = sum(pages for path, pages in read.items() if predicted(path))
            of_libraries = sum(pages for path, pages in read.items() if path in libraries)
            whole = sum(files.get(path, 0) for path in libraries) + said["module_bytes"]
            traced = sum(files[path] for path in read)
            modules = (inside - of_libraries) / said["module_bytes"] if said["module_bytes"] else None
            print(f"| {size} KiB | {total / 1e6:.1f} MB | {inside / total * 100:.1f} % | {whole / traced:.2f} "
                  f"| {of_libraries / said['library_bytes']:.2f} | {'-' if modules is None else f'{modules:.2f}'} |",
                  flush=True)
            missed = sorted(((pages, path) for path, pages in read.items() if not predicted(path)), reverse=True)
            for pages, path in missed[:5]:
                print(f"not predicted: {pages} {path}", file=sys.stderr)
    finally:
        setting.write_text(before)
    shutil.rmtree(root, ignore_errors=True)


main()
