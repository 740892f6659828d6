#!/usr/bin/env python3
"""Measures `cutaway report` against other programs and the budgets, and prints the table of `assets/manual/performance.md`.

    python3 benches/budgets.py --cutaway BINARY --images DIR [-n ROUNDS] [--only NAME]... [--cores N]... [--markdown]

Called by `benches/compare.sh`, which makes the images and builds what is to be built. What is not there, an image
or a program, leaves out the rows that need it, and they are named at the end.
Everything runs on two processors, where more are there on the first two; with `--cores` once on each number of them.
Budgets are those of two processors. A last table has the wall times by number of processors.
"""

import argparse
import contextlib
import io
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

# No compiled file beside the sources.
sys.dont_write_bytecode = True

from interleave import CALIBRATION, measure, median, print_table, run

MIB = 1 << 20
CORES = 2
# Above this spread of the calibration loop (lowest to highest, of the median) wall times tell little.
NOISY = 0.15
PACKAGES = {"igzip": "isal", "pigz": "pigz", "gzip": "gzip", "zstd": "zstd", "tar": "tar", "bsdtar": "libarchive-tools"}
INFLATE = "inflate and SHA-256"


def layers_of(layout):
    """Files of the layers of an OCI layout, bottom first."""

    def blob(digest):
        return os.path.join(layout, "blobs", *digest.split(":", 1))

    with open(os.path.join(layout, "index.json"), encoding="utf-8") as file:
        entry = json.load(file)["manifests"][0]
    with open(blob(entry["digest"]), encoding="utf-8") as file:
        return [blob(layer["digest"]) for layer in json.load(file)["layers"]]


def each(files, command):
    """One run of `command`, a line of shell about "$file", for each file."""
    return ["sh", "-c", f"for file; do {command}; done", "sh", *files]


def header_bytes(path):
    """Bytes of a tar file that are headers, extension headers and the two blocks at the end."""
    with tarfile.open(path, "r:") as tar:
        total = 1024
        for member in tar:
            total += member.offset_data - member.offset
            tar.members = []
        return total


class Bench:
    """What was asked for, and the rows so far."""

    def __init__(self, options, work, cores):
        self.options, self.work, self.cores = options, work, cores
        self.rows, self.left_out, self.spreads = [], [], []
        # Wall time of each work that has one.
        self.walls = {}

    def image(self, name):
        """The path of an image, or `None` when it is not there; then its rows are left out."""
        path = os.path.abspath(os.path.join(self.options.images, name))
        if os.path.exists(os.path.join(path, "index.json")) or os.path.isfile(path):
            return path
        self.left_out.append(f"all rows of {name}: {path} is not there")
        return None

    def report(self, reference, output="/dev/null", cache=None):
        """The command that writes the JSON report; without a cache folder, everything is read anew."""
        setting = f"CUTAWAY_CACHE_DIR={cache}" if cache else "CUTAWAY_NO_CACHE=1"
        unset = "CUTAWAY_NO_CACHE" if cache else "CUTAWAY_CACHE_DIR"
        command = [self.options.cutaway, "report", reference, "--format", "json", "-o", output]
        return ["env", "-u", unset, setting, *command]

    def read_report(self, reference):
        """The report of an image, and what the program counts as read: of layers, and of single files after them."""
        path = os.path.join(self.work, "report.json")
        done = subprocess.run([*self.report(reference, path), "-v"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"error: the report of {reference} ends with status {done.returncode}\n{done.stderr}")
        numbers = [line.split("read ", 1)[1].split()[0] for line in done.stderr.splitlines() if "read " in line and " bytes" in line]
        with open(path, encoding="utf-8") as file:
            return json.load(file), [int(number) for number in numbers if number.isdigit()]

    def own_reads(self):
        """Bytes that the program reads for itself, whatever the image: those of a docker-archive of no layers."""
        config = {"os": "linux", "architecture": "amd64", "config": {}, "rootfs": {"type": "layers", "diff_ids": []}}
        manifest = [{"Config": "config.json", "RepoTags": [], "Layers": []}]
        path = os.path.join(self.work, "empty.tar")
        with tarfile.open(path, "w") as tar:
            for name, value in [("config.json", config), ("manifest.json", manifest)]:
                text = json.dumps(value).encode()
                info = tarfile.TarInfo(name)
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))
        return run(self.report(f"docker-archive:{path}")).read

    def rivals(self, row, commands):
        """The commands whose program is there."""
        found = {}
        for name, command in commands.items():
            program = name.split()[0]
            if program not in PACKAGES or shutil.which(program):
                found[name] = command
            else:
                self.left_out.append(f"{row} against {name}: Debian's package {PACKAGES[program]} is not installed")
        if INFLATE in found and not self.options.inflate:
            del found[INFLATE]
            self.left_out.append(f"{row} against {INFLATE}: benches/inflate is not built")
        return found

    def measure(self, title, commands):
        """One interleaved run of all commands."""
        costs = measure(commands, self.options.n)
        loops = [cost.cpu for cost in costs[CALIBRATION]]
        spread = (max(loops) - min(loops)) / statistics.median(loops)
        self.spreads.append((title, median(costs[CALIBRATION], "cpu"), spread))
        out = sys.stderr if self.options.markdown else sys.stdout
        print(f"\n### {title}\n", file=out)
        print_table(costs, title, [name for name in commands if name != "cutaway"][:3], out)
        print(f"\nCalibration loop: spread {spread:.0%}{', noisy' if spread > NOISY else ''}.", file=out, flush=True)
        return costs

    def row(self, work, against, measured, must=None, aim=None, unit="{:.2f} ×", cost=None):
        """A row of the table; a budget that is `None` is none."""
        if self.cores != CORES:
            must = aim = None
        verdict = "" if must is None else "within" if measured <= must else "over"
        show = lambda value: "" if value is None else unit.format(value)
        costs = ["", "", ""]
        if cost:
            self.walls[work] = median(cost, "wall")
            costs = [f"{median(cost, 'cpu'):.2f}", f"{median(cost, 'wall'):.2f}", f"{median(cost, 'peak') / MIB:.0f}"]
        self.rows.append([work, against, show(measured), show(must), show(aim), verdict, *costs])

    def claim(self, work, against, holds, wanted, otherwise):
        """A row of what holds or does not."""
        verdict = "within" if holds else "over"
        self.rows.append([work, against, wanted if holds else otherwise, wanted, "", verdict, "", "", ""])

    def ratios(self, work, costs, what, budgets):
        """A row for each rival that ran: `cutaway` as a multiple of it. Budgets by rival: what must be, and the aim."""
        ours, column = costs["cutaway"], what.lower()
        for name in costs:
            base = median(costs[name], column)
            if name in ("cutaway", CALIBRATION) or base == 0:
                continue
            must, aim = budgets.get(name, (None, None))
            against = f"{what} of " + (f"`{name}`" if name.split()[0] in PACKAGES else name)
            first = work != "the same"
            self.row(work, against, median(ours, column) / base, must, aim, cost=ours if first else None)
            work = "the same"

    def memory(self, work, report, cost):
        """64 MiB and 120 bytes an entry; the aim is 20 MiB and 100."""
        entries = sum(layer["entries"] or 0 for layer in report["layers"])
        must, aim = 64 + entries * 120 / MIB, 20 + entries * 100 / MIB
        peak = median(cost, "peak") / MIB
        self.row(f"{work}, peak memory", f"{entries:,} entries", peak, must, aim, "{:.0f} MiB")


# Groups -------------------------------------------------------------------------------------------


def gzip_group(bench):
    image = bench.image("gzip")
    if not image:
        return
    files = layers_of(image)
    work = f"gzip image, {sum(map(os.path.getsize, files)) / 1e9:.1f} GB in {len(files)} layers, first opening"
    rivals = {
        "igzip -dc": each(files, 'igzip -dc "$file"'),
        INFLATE: [bench.options.inflate, "both", *files],
        "gzip -dc": ["gzip", "-dc", *files],
        "pigz -dc": ["pigz", "-dc", *files],
    }
    costs = bench.measure("gzip layers", {"cutaway": bench.report(f"oci:{image}"), **bench.rivals("gzip image", rivals)})
    bench.ratios(work, costs, "CPU", {"igzip -dc": (1.5, 1.35), INFLATE: (1.25, None)})
    ours = costs["cutaway"]
    share = statistics.median(cost.wall / cost.cpu for cost in ours)
    bench.row("the same, layers side by side: wall", "its own CPU", share, 0.6)
    bench.memory("the same", bench.read_report(f"oci:{image}")[0], ours)


def giant_group(bench):
    for name, form, program, each_file, budget in [
        ("giant", "gzip", "igzip -dc", 'igzip -dc "$file"', (0.85, 0.7)),
        ("giant-zstd", "zstd", "zstd -dc", 'zstd -dcq "$file"', (None, None)),
    ]:
        image = bench.image(name)
        if not image:
            continue
        files = layers_of(image)
        work = f"one {form} layer of {sum(map(os.path.getsize, files)) / 1e9:.1f} GB"
        rivals = bench.rivals(work, {program: each(files, each_file)})
        costs = bench.measure(work, {"cutaway": bench.report(f"oci:{image}"), **rivals})
        bench.ratios(work, costs, "wall", {program: budget})
        bench.memory("the same", bench.read_report(f"oci:{image}")[0], costs["cutaway"])


def zstd_group(bench):
    image = bench.image("zstd")
    if not image:
        return
    files = layers_of(image)
    rivals = bench.rivals("zstd image", {"zstd -dc": ["zstd", "-dcq", *files]})
    costs = bench.measure("zstd layers", {"cutaway": bench.report(f"oci:{image}"), **rivals})
    work = f"zstd image, {sum(map(os.path.getsize, files)) / 1e9:.1f} GB in {len(files)} layers"
    bench.ratios(work, costs, "CPU", {"zstd -dc": (1.3, 1.15)})
    bench.memory("the same", bench.read_report(f"oci:{image}")[0], costs["cutaway"])


def plain_group(bench):
    archive, layout = bench.image("plain.tar"), bench.image("plain")
    if not archive or not layout:
        return
    files, reference = layers_of(layout), f"docker-archive:{archive}"
    # A tar that writes to /dev/null may skip what it would do, so the list goes through a pipe.
    rivals = {
        "tar -tf": each(files, 'tar -tf "$file" | cat'),
        "bsdtar -tf": each(files, 'bsdtar -tf "$file" | cat'),
    }
    costs = bench.measure("docker-archive, plain layers", {"cutaway": bench.report(reference), **bench.rivals("plain archive", rivals)})
    size = os.path.getsize(archive)
    work = f"uncompressed docker-archive, {size / 1e9:.1f} GB"
    bench.ratios(work, costs, "wall", {"tar -tf": (2, 1.5)})
    bench.ratios("the same", costs, "CPU", {})
    ours = costs["cutaway"]

    # What read calls returned, less what the program reads for itself, less the headers.
    headers = header_bytes(archive) + sum(map(header_bytes, files))
    beyond = max(median(ours, "read") - bench.own_reads() - headers, 0)
    report, counted = bench.read_report(reference)
    later = counted[1] if len(counted) > 1 else 0
    unit = "{:.2f} %"
    bench.row("the same, read beyond headers for the structure", f"the archive, {headers / MIB:.0f} MiB of headers", 100 * max(beyond - later, 0) / size, 0.1, unit=unit)
    bench.row("the same, read afterwards of single files", "the archive", 100 * later / size, unit=unit)
    bench.memory("the same", report, ours)


def saved_group(bench):
    archive = bench.image("saved.tar.gz")
    if not archive:
        return
    rivals = {
        "igzip -dc": ["igzip", "-dc", archive],
        INFLATE: [bench.options.inflate, "both", archive],
        "gzip -dc": ["gzip", "-dc", archive],
        "pigz -dc": ["pigz", "-dc", archive],
    }
    reference = f"docker-archive:{archive}"
    costs = bench.measure("gzip around a save archive", {"cutaway": bench.report(reference), **bench.rivals("gzip around a save archive", rivals)})
    work = f"gzip around a save archive, {os.path.getsize(archive) / 1e9:.1f} GB"
    bench.ratios(work, costs, "CPU", {"igzip -dc": (None, 1.25), INFLATE: (1.25, None)})
    bench.memory("the same", bench.read_report(reference)[0], costs["cutaway"])


def second_group(bench):
    image = bench.image("many")
    if not image:
        return
    reference, cache = f"oci:{image}", os.path.join(bench.work, "cache")
    outputs = {name: os.path.join(bench.work, f"{name}.json") for name in ("first", "second")}
    # The warm-up fills the cache.
    commands = {
        "cutaway": bench.report(reference, outputs["second"], cache),
        "first opening": bench.report(reference, outputs["first"]),
    }
    costs = bench.measure("second opening", commands)
    with open(outputs["second"], "rb") as second, open(outputs["first"], "rb") as first:
        same = second.read() == first.read()
    report, _ = bench.read_report(reference)
    entries = sum(layer["entries"] or 0 for layer in report["layers"])
    work = f"second opening, {entries:,} entries"
    ours = costs["cutaway"]
    bench.row(f"{work}, start to JSON written", "wall", 1000 * median(ours, "wall"), 150, 120, "{:.0f} ms", ours)
    # What read calls returned holds the records of the cache too; layer bytes are what goes beyond them.
    kept = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(cache) for name in names)
    documents = sum(entry.stat().st_size for entry in os.scandir(os.path.join(image, "blobs", "sha256"))) - sum(map(os.path.getsize, layers_of(image)))
    read = max(median(ours, "read") - bench.own_reads() - kept, 0)
    allowed = documents + 65536
    bench.row("the same, read beyond the cache", f"{kept / MIB:.0f} MiB kept", read / 1024, allowed / 1024, unit="{:.0f} KiB")
    bench.claim("the same, its JSON", "the first opening", same, "the same bytes", "other bytes")
    bench.memory("the same", report, ours)
    faster = median(costs["first opening"], "wall") / median(ours, "wall")
    bench.row("the first opening of it", "wall of the second", faster, cost=costs["first opening"])
    bench.memory("the first opening", report, costs["first opening"])


def registry_group(bench):
    """The same image from a registry on the loopback and from disk, and opened again."""
    missing = [name for name in ("docker-registry", "skopeo") if not shutil.which(name)]
    if missing:
        bench.left_out.append(f"all rows of registries: {', '.join(missing)} is not installed")
        return
    with Registry(bench.work) as registry:
        image = bench.image("gzip")
        if image:
            files = layers_of(image)
            remote = f"docker://{registry.push(image, 'gzip')}"
            commands = {"cutaway": bench.report(remote), "the same image from disk": bench.report(f"oci:{image}")}
            costs = bench.measure("registry on the loopback", commands)
            work = f"registry on the loopback, {sum(map(os.path.getsize, files)) / 1e9:.1f} GB in {len(files)} gzip layers"
            bench.ratios(work, costs, "CPU", {"the same image from disk": (1.15, 1.05)})
            bench.ratios("the same", costs, "wall", {})
            bench.memory("the same", bench.read_report(remote)[0], costs["cutaway"])
        image = bench.image("many")
        if image:
            remote, cache = f"docker://{registry.push(image, 'many')}", os.path.join(bench.work, "registry-cache")
            output = os.path.join(bench.work, "registry.json")
            costs = bench.measure("second opening from a registry", {"cutaway": bench.report(remote, output, cache)})
            with open(output, encoding="utf-8") as file:
                report = json.load(file)
            entries = sum(layer["entries"] or 0 for layer in report["layers"])
            ours = costs["cutaway"]
            work = f"second opening from a registry, {entries:,} entries"
            bench.row(f"{work}, start to JSON written", "wall", 1000 * median(ours, "wall"), 150, 120, "{:.0f} ms", ours)
            bench.memory("the same", report, ours)


class Registry:
    """Debian's docker-registry on the loopback, with its blobs in the bench's folder."""

    def __init__(self, work):
        self.folder = os.path.join(work, "registry")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{free.getsockname()[1]}"

    def __enter__(self):
        os.mkdir(self.folder)
        config = os.path.join(self.folder, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            # JSON is YAML.
            storage = {"filesystem": {"rootdirectory": os.path.join(self.folder, "blobs")}}
            log = {"level": "error", "accesslog": {"disabled": True}}
            json.dump({"version": "0.1", "log": log, "storage": storage, "http": {"addr": self.host}}, file)
        command = ["docker-registry", "serve", config]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{self.host}/v2/"):
                return self
            time.sleep(0.1)
        sys.exit("error: docker-registry does not answer")

    def push(self, layout, name):
        """Copies a layout there; its name there."""
        target = f"{self.host}/{name}:latest"
        copy = ["skopeo", "copy", "--quiet", "--dest-tls-verify=false", f"oci:{layout}", f"docker://{target}"]
        subprocess.run(copy, check=True)
        return target

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def parts_group(bench):
    """What the program's own bench says of the steps that no other program has."""
    image = bench.image("many")
    if not image:
        return
    if not bench.options.inventory:
        bench.left_out.append("merge, inventory and findings alone: the bench `inventory` is not built")
        return
    command = [bench.options.inventory, f"oci:{image}", str(max(bench.options.n, 5))]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    times = {}
    for line in text.splitlines():
        name, _, rest = line.strip().rpartition(" ms")[0].rpartition(" ")
        if name.strip():
            times.setdefault(name.strip(), []).append(float(rest))
    bench.row("of a second opening: merge, sizes, tree", "CPU of one thread", times["merge"][0], 100, 50, "{:.0f} ms")
    both = times["inventory"][0] + times["findings"][0]
    bench.row("of a second opening: CUDA inventory and findings", "CPU of one thread", both, 80, 40, "{:.0f} ms")


def window_group(bench):
    """What the bench `first_frame` says of the window, with and without an image."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        bench.left_out.append("all rows of the window: there is no display (xvfb-run makes one)")
        return
    if not bench.options.window:
        bench.left_out.append("all rows of the window: the bench `first_frame` is not built")
        return
    image = bench.image("gzip")
    for title, arguments in [("start to first frame", []), ("the same with an image", [f"oci:{image}"] if image else None)]:
        if arguments is None:
            continue
        text = subprocess.run([bench.options.window, *arguments], capture_output=True, text=True, check=True).stdout
        cells = [line.strip("| ").split("|") for line in text.splitlines()]
        found = {cell[0].strip(): cell[1].strip() for cell in cells if len(cell) == 2}
        bench.row(title, f"an empty eframe window, {found['empty eframe window']}", float(found["ratio"]), 1.2)


GROUPS = {
    "gzip": gzip_group,
    "giant": giant_group,
    "zstd": zstd_group,
    "plain": plain_group,
    "saved": saved_group,
    "second": second_group,
    "parts": parts_group,
    "registry": registry_group,
    "window": window_group,
}


def machine(allowed, cores):
    """Confines everything to so many of the allowed processors, and describes them."""
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    os.sched_setaffinity(0, allowed[:cores])
    return f"{model}, {len(allowed[:cores])} of {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def load():
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="rounds after the warm-up (default 5)")
    parser.add_argument("--only", action="append", default=[], choices=list(GROUPS), help="these groups only")
    parser.add_argument("--images", required=True, metavar="DIR")
    parser.add_argument("--cutaway", required=True, metavar="BINARY")
    parser.add_argument("--inflate", default="", metavar="BINARY", help="a build of benches/inflate")
    parser.add_argument("--inventory", default="", metavar="BINARY", help="a build of the bench `inventory`")
    parser.add_argument("--window", default="", metavar="BINARY", help="a build of the bench `first_frame`")
    parser.add_argument("--cores", type=int, action="append", default=[], metavar="N", help="so many processors (default 2); may be repeated")
    parser.add_argument("--markdown", action="store_true", help="the table alone on standard output")
    options = parser.parse_args()
    if options.n < 1:
        parser.error("-n takes a number of rounds from 1 on")
    allowed = sorted(os.sched_getaffinity(0))
    numbers = sorted(set(options.cores or [CORES]))
    if numbers[0] < 1:
        parser.error("--cores takes a number of processors from 1 on")
    few = [cores for cores in numbers if cores > len(allowed)]
    for cores in few:
        print(f"left out: {cores} cores: {len(allowed)} are there", file=sys.stderr)
    benches = [table(options, allowed, cores) for cores in numbers if cores not in few]
    if len(benches) > 1:
        by_cores(benches)


def table(options, allowed, cores):
    """Measures everything on so many processors, and prints the table."""
    start, where = load(), machine(allowed, cores)
    with tempfile.TemporaryDirectory(prefix="cutaway-budgets-") as work:
        bench = Bench(options, work, cores)
        for name, group in GROUPS.items():
            if not options.only or name in options.only:
                group(bench)
    if not options.markdown:
        print(f"\n### Budgets, {cores} cores\n")
    heads = ["work", "against", "measured", "budget", "aim", "", "its CPU s", "wall s", "peak MiB"]
    print("| " + " | ".join(heads) + " |")
    print("|---|---|---:|---:|---:|---|---:|---:|---:|")
    for row in bench.rows:
        print("| " + " | ".join(row) + " |")
    spread = max((spread for _, _, spread in bench.spreads), default=0)
    loops = [loop for _, loop, _ in bench.spreads]
    print(f"\nMedians of {options.n} interleaved rounds after a warm-up, from a warm page cache, on {where}.")
    print(f"Load average {start} before and {load()} after.", end=" ")
    if loops:
        print(f"Calibration loop {min(loops):.2f} to {max(loops):.2f} s, largest spread within a group {spread:.0%}.")
    if spread > NOISY:
        print("The machine is noisy: CPU ratios hold better than wall times.")
    print(flush=True)
    for line in bench.left_out:
        print(f"left out: {line}", file=sys.stderr)
    over = [row[0] for row in bench.rows if row[5] == "over"]
    print(f"{len(over)} of {sum(bool(row[5]) for row in bench.rows)} budgets are over", file=sys.stderr)
    return bench


def by_cores(benches):
    """Wall times by number of processors."""
    works = list(dict.fromkeys(work for bench in benches for work in bench.walls))
    print("| work: wall s on | " + " | ".join(f"{bench.cores} cores" for bench in benches) + " | most against least |")
    print("|---|" + "---:|" * (len(benches) + 1))
    for work in works:
        walls = [bench.walls.get(work) for bench in benches]
        known = [wall for wall in walls if wall is not None]
        share = f"{known[-1] / known[0]:.2f} ×" if len(known) > 1 else ""
        print("| " + " | ".join([work, *("" if wall is None else f"{wall:.2f}" for wall in walls), share]) + " |")


if __name__ == "__main__":
    main()
