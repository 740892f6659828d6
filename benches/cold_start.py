"""Measures pulls from a throttled registry and compares them with the estimate; see cold_start.sh."""

import concurrent.futures
import functools
import hashlib
import http.server
import io
import itertools
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import threading
import time

# MB/s of the two links: 400 Mbit/s, and faster than one core unpacks gzip.
RATES = [50, 400]
LAYERS = 5
ROUNDS = 3
# skopeo downloads six blobs at a time (containers/image, copy: maxParallelDownloads).
SLOTS = 6
SOURCES = ["/usr", "/opt"]
COMMANDS = {"gzip": ["gzip", "-6", "-c"], "zstd": ["zstd", "-q", "-3", "-c"]}
# umoci decompresses and writes in turns; GNU tar starts a decoder and writes meanwhile, as far as the pipe holds enough.
OVERLAP = {"gzip": (0, 0), "zstd": (0, 1)}
if "CODEC" in os.environ:
    COMMANDS = {codec: command for codec, command in COMMANDS.items() if codec == os.environ["CODEC"]}
# Of the layers that characterise a tool: bytes of a large file, number of small ones and the most bytes of one.
ONE_FILE = 200_000_000
SMALL_FILES = 10_000
SMALL = 64 << 10


def digest(path):
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def machine():
    """Folders of this machine with their files, in an order that is the same on every run and mixes libraries,
    programs and small files."""
    folders = []
    for source in SOURCES:
        for folder, inside, names in os.walk(source):
            inside.sort()
            paths = [os.path.join(folder, name) for name in sorted(names)]
            files = [(path, os.path.getsize(path)) for path in paths
                     if os.path.isfile(path) and not os.path.islink(path)]
            if files:
                folders.append(files)
    return sorted(folders, key=lambda files: hashlib.sha256(os.path.dirname(files[0][0]).encode()).digest())


def choose(megabytes):
    """Folders with about so many bytes; none with a file of more than a fifth of it."""
    chosen, size = [], 0
    for files in machine():
        files = [(path, length) for path, length in files if length <= megabytes * 2e5]
        here = sum(length for _, length in files)
        if files and size + here <= megabytes * 1.02e6:
            chosen.append([path for path, _ in files])
            size += here
    if size < megabytes * 0.8e6:
        sys.exit(f"this machine has too few files for {megabytes} MB")
    return chosen


def pack(tar, files):
    """The files and the folders that contain them."""
    known = set()
    for path in files:
        for parent in [*reversed(pathlib.Path(path).parents)][1:]:
            if parent not in known:
                known.add(parent)
                tar.add(parent, arcname=str(parent).lstrip("/"), recursive=False)
        tar.add(path, arcname=path.lstrip("/"), recursive=False)


def chosen_layers(megabytes):
    """What writes the layers of an image of so many bytes."""
    folders = choose(megabytes)
    return [lambda tar, part=folders[number::LAYERS]: pack(tar, [path for files in part for path in files])
            for number in range(LAYERS)]


def one_file(tar, wanted):
    """A layer with one large file of the contents of others: decompression and writing."""
    content = bytearray()
    for path in (path for files in machine() for path, length in files if wanted(path, length)):
        content += pathlib.Path(path).read_bytes()
        if len(content) >= ONE_FILE:
            break
    del content[ONE_FILE:]
    member = tarfile.TarInfo("large")
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


# Contents that decoders take different times for.
CONTENTS = {
    "large-libraries": lambda path, length: ".so" in path and length > 20e6,
    "programs": lambda path, length: (".so" in path or "/bin/" in path) and 1e5 < length < 20e6,
    "texts": lambda path, length: path.endswith((".py", ".h", ".hpp", ".txt", ".json", ".md")),
    "archives": lambda path, length: path.endswith((".gz", ".xz", ".zip", ".whl", ".jar", ".png", ".pyz")),
}


def one_entry(tar):
    """A layer with an empty file: what a layer costs."""
    tar.addfile(tarfile.TarInfo("empty"))


def small_files(tar):
    """A layer with small files of this machine only, five to a folder."""
    small = (path for files in machine() for path, length in files if length <= SMALL)
    for number, path in enumerate(itertools.islice(small, SMALL_FILES)):
        folder = f"{number // 50}/{number // 5 % 10}"
        if number % 5 == 0:
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
        content = pathlib.Path(path).read_bytes()
        member = tarfile.TarInfo(f"{folder}/{number}")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))


def build(folder, write_layers):
    """An OCI layout for each compression, with equal layers: `folder-gzip`, `folder-zstd`."""

    def store(layout, path):
        name = digest(path)
        kept = layout / "blobs/sha256" / name.split(":")[1]
        os.rename(path, kept)
        return {"digest": name, "size": kept.stat().st_size}

    def store_json(layout, media, value):
        path = layout / "json"
        path.write_text(json.dumps(value))
        return {"mediaType": media, **store(layout, path)}

    layouts = {codec: folder.with_name(f"{folder.name}-{codec}") for codec in COMMANDS}
    for layout in layouts.values():
        (layout / "blobs/sha256").mkdir(parents=True)

    def layer(number):
        plain = folder.with_name(f"{folder.name}-{number}.tar")
        with tarfile.open(plain, "w") as tar:
            write_layers[number](tar)
        layers = {}
        for codec, command in COMMANDS.items():
            packed = layouts[codec] / f"{number}.packed"
            with open(plain, "rb") as source, open(packed, "wb") as target:
                subprocess.run(command, stdin=source, stdout=target, check=True)
            media = f"application/vnd.oci.image.layer.v1.tar+{codec}"
            layers[codec] = {"mediaType": media, **store(layouts[codec], packed)}
        diff_id = digest(plain)
        plain.unlink()
        return layers, diff_id

    with concurrent.futures.ThreadPoolExecutor() as pool:
        layers, diff_ids = zip(*pool.map(layer, range(len(write_layers))))
    config = {"architecture": "amd64", "os": "linux", "config": {},
              "rootfs": {"type": "layers", "diff_ids": list(diff_ids)}}
    for codec, layout in layouts.items():
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": store_json(layout, "application/vnd.oci.image.config.v1+json", config),
                    "layers": [one[codec] for one in layers]}
        descriptor = store_json(layout, manifest["mediaType"], manifest)
        descriptor["annotations"] = {"org.opencontainers.image.ref.name": "t"}
        (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [descriptor]}))


class Link:
    """A link of so many bytes a second, shared by all connections."""

    def __init__(self, rate):
        self.rate, self.lock, self.free = rate, threading.Lock(), time.monotonic()

    def send(self, size):
        with self.lock:
            now = time.monotonic()
            self.free = max(self.free, now - 0.01) + size / self.rate
            wait = self.free - now
        if wait > 0:
            time.sleep(wait)


def serve(folder, rate):
    """A registry with one image, on a free port of the loopback interface."""
    link = Link(rate)
    index = json.loads((folder / "index.json").read_text())
    manifest = index["manifests"][0]

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.answer(False)

        def do_GET(self):
            self.answer(True)

        def answer(self, body):
            if self.path == "/v2/":
                return self.reply(b"{}", "application/json", body)
            kind, name = self.path.rsplit("/", 2)[-2:]
            if kind == "manifests":
                name, media = manifest["digest"], manifest["mediaType"]
            else:
                media = "application/octet-stream"
            path = folder / "blobs/sha256" / name.removeprefix("sha256:")
            if "/" in name or not path.exists():
                self.send_error(404)
                return None
            self.send_response(200)
            self.send_header("Content-Type", media)
            self.send_header("Docker-Content-Digest", name)
            self.send_header("Content-Length", str(path.stat().st_size))
            self.end_headers()
            if body:
                with open(path, "rb") as file:
                    while block := file.read(64 << 10):
                        link.send(len(block))
                        self.wfile.write(block)
            return None

        def reply(self, text, media, body):
            self.send_response(200)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if body:
                self.wfile.write(text)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def pull(port, layout):
    """Seconds to pull."""
    os.sync()
    start = time.monotonic()
    subprocess.run(["skopeo", "copy", "-q", "--src-tls-verify=false", f"docker://127.0.0.1:{port}/image:t",
                    f"oci:{layout}:t"], check=True)
    took = time.monotonic() - start
    shutil.rmtree(layout)
    return took


def unpack(layout, bundle, codec):
    """Seconds to unpack. Nothing is deleted before the end of all rounds: ext4 passes over the inodes of files that
    were just deleted, one by one, and takes a hundred times as long for each folder."""
    os.sync()
    start = time.monotonic()
    if codec == "gzip":
        # `raw unpack` leaves out the manifest of the bundle, for which `unpack` hashes every file; engines make none.
        subprocess.run(["umoci", "--log=error", "raw", "unpack", "--image", f"{layout}:t", str(bundle)], check=True,
                       stdout=subprocess.DEVNULL)
    else:
        bundle.mkdir()
        index = json.loads((layout / "index.json").read_text())
        blob = lambda one: layout / "blobs/sha256" / one["digest"].split(":")[1]
        for layer in json.loads(blob(index["manifests"][0]).read_text())["layers"]:
            subprocess.run(["tar", "--zstd", "-xf", blob(layer), "-C", bundle], check=True)
    return time.monotonic() - start


def unpacked(layout, bundles, codec, rounds):
    """Median of the seconds to unpack."""
    return statistics.median(unpack(layout, bundles / f"{layout.name}-{number}", codec) for number in range(rounds))


def uncompressed(bundle):
    """MB of the files of an unpacked image, each with its header."""
    return sum(path.stat().st_size + 512 for path in bundle.rglob("*") if path.is_file()) / 1e6


def stored(layout):
    """MB of the blobs of a layout."""
    return sum(path.stat().st_size for path in (layout / "blobs/sha256").iterdir()) / 1e6


def exact(value):
    return f"{{ low = {value}, high = {value} }}"


def middle(measured):
    return math.sqrt(measured["low"] * measured["high"])


def fit(points):
    """Least squares of seconds by MB of output and of input: `seconds = a * output + b * input`, none negative."""
    oo, oi, ii = (sum(one[x] * one[y] for one in points) for x, y in ((0, 0), (0, 1), (1, 1)))
    so, si = (sum(one[2] * one[x] for one in points) for x in (0, 1))
    a, b = ((so * ii - si * oi) / (oo * ii - oi * oi), (si * oo - so * oi) / (oo * ii - oi * oi))
    return (a, b) if a > 0 and b > 0 else (so / oo, 0)


def characterise(codec, seconds, sizes, rates):
    """Speed of the tool's decoder relative to the rates of `cutaway calibrate`, smallest and largest by content, the
    share of it that grows with the input, and the relative speed of its creation of files: by the formula of the manual,
    solved for layers with one file of each content, which takes longer to decompress than to write, and one of small
    files, which takes longer to create."""
    write, start = middle(rates["write_mb_s"]), seconds["one-entry"] / LAYERS
    alone = 1 - sum(OVERLAP[codec]) / 2
    points = {name: (*sizes[name], seconds[name] - start - alone * sizes[name][0] / write) for name in CONTENTS}
    by_output, by_input = fit(list(points.values()))
    known, at_half = middle(rates[f"{codec}_inflate_mb_s"]), by_output + by_input / 2
    share = by_input / 2 / at_half
    off = {name: (by_output * output + by_input * stored) / took for name, (output, stored, took) in points.items()}
    speed = [end(off.values()) / at_half / known for end in (min, max)]
    output, stored = sizes["small-files"]
    inflate = output * by_output + stored * by_input
    files = SMALL_FILES * 1.2 / (seconds["small-files"] - start - alone * inflate - output / write)
    known_files = middle(rates["files_per_s"])
    contents = ", ".join(f"{name} {points[name][0] / points[name][2]:.0f} MB/s" for name in points)
    print(f"{codec}: {contents}; {speed[0]:.2f} to {speed[1]:.2f} of the measured rate, of which {share:.2f} grow with "
          f"the input; {files:.0f} files/s, {files / known_files:.2f} of it; {seconds['start']:.2f} s for an image of "
          f"empty layers", file=sys.stderr)
    return speed, share, files / known_files


def catalog(rate, codec, speed, start):
    ratio = {"gzip": 1, "zstd": 0.95}[codec]
    return f"""[[node]]
id = "cloud"
name = "Throttled registry"
network_mb_s = {exact(rate)}
connection_mb_s = {exact(rate)}
slots = {SLOTS}
pipelined = false
write_mb_s = {exact(1)}
files_per_s = {exact(1)}
engine_files = {exact(speed[2])}
layer_seconds = {exact(0)}
read_mb_s = {exact(1)}
start_seconds = {exact(start)}
source = "benches/cold_start.sh"

[[codec]]
id = "{codec}"
inflate_mb_s = {exact(1)}
input_share = {speed[1]}
gzip_ratio = {exact(ratio)}
tar_ratio = {exact(ratio / 2)}
engine_speed = {{ low = {speed[0][0]}, high = {speed[0][1]} }}
engine_overlap = {{ low = {OVERLAP[codec][0]}, high = {OVERLAP[codec][1]} }}
source = "benches/cold_start.sh"
"""


def predict(cutaway, work, folder, text):
    """Seconds of pull and unpacking: low, middle, high. The image has no command, so nothing is read at start-up."""
    file = work / "catalog.toml"
    file.write_text(text)
    report = subprocess.run([cutaway, "report", f"oci:{folder}", "--no-cache", "--format", "json", "--rates",
                             "calibrated", "--catalog", file], check=True, capture_output=True, text=True).stdout
    found = next(one for one in json.loads(report)["cold_start"]["scenarios"] if one["name"] == "pull")
    return [found[f"total_{end}seconds"] for end in ("low_", "", "high_")]


def main():
    cutaway, work = sys.argv[1], pathlib.Path(sys.argv[2])
    sizes = [int(size) for size in sys.argv[3:]] or [50, 200, 500, 1000, 3000, 6000]
    bundles = work / "bundles"
    bundles.mkdir()
    for name, wanted in CONTENTS.items():
        build(work / name, [functools.partial(one_file, wanted=wanted)])
    build(work / "small-files", [small_files])
    build(work / "one-entry", [one_entry] * LAYERS)
    tools = {codec: {name: unpacked(work / f"{name}-{codec}", bundles, codec, ROUNDS)
                     for name in ("one-entry", *CONTENTS, "small-files")} for codec in COMMANDS}
    contents = {codec: {name: (uncompressed(bundles / f"{name}-{codec}-0"), stored(work / f"{name}-{codec}"))
                     for name in (*CONTENTS, "small-files")} for codec in COMMANDS}
    for codec in COMMANDS:
        # What each image costs, whatever it holds: five layers asked for and unpacked.
        server = serve(work / f"one-entry-{codec}", RATES[-1] * 1e6)
        tools[codec]["start"] = tools[codec]["one-entry"] + statistics.median(
            pull(server.server_port, work / "pulled") for _ in range(ROUNDS))
        server.shutdown()
        server.server_close()
    measured = []
    for size in sizes:
        rounds = ROUNDS if size <= 1000 else 1
        build(work / f"image-{size}", chosen_layers(size))
        for codec in COMMANDS:
            layout = work / f"image-{size}-{codec}"
            seconds = unpacked(layout, bundles, codec, rounds)
            print(f"{size} MB, {codec}: {seconds:.1f} s to unpack", file=sys.stderr, flush=True)
            for rate in RATES:
                server = serve(layout, rate * 1e6)
                pulled = statistics.median(pull(server.server_port, work / "pulled") for _ in range(rounds))
                server.shutdown()
                server.server_close()
                measured.append((size, codec, layout, rate, pulled, seconds))
    # After everything is unpacked: what it deletes would slow the creation of files.
    os.environ["CUTAWAY_RATES_FILE"] = str(work / "measured.json")
    print(subprocess.run([cutaway, "calibrate", "--dir", str(work)], check=True, capture_output=True,
                         text=True).stdout, file=sys.stderr)
    rates = json.loads((work / "measured.json").read_text())
    speeds = {codec: characterise(codec, tools[codec], contents[codec], rates) for codec in COMMANDS}
    print("| image | compression | link | pull | unpack | total | estimate | off by | in the interval |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for size, codec, layout, rate, pulled, seconds in measured:
        low, middle, high = predict(cutaway, work, layout, catalog(rate, codec, speeds[codec], tools[codec]["start"]))
        total = pulled + seconds
        print(f"| {size} MB, {stored(layout):.0f} MB compressed | {codec} | {rate} MB/s | {pulled:.1f} s "
              f"| {seconds:.1f} s | {total:.1f} s | {middle:.1f} s ({low:.1f} to {high:.1f}) "
              f"| {(middle / total - 1) * 100:+.0f} % | {'yes' if low <= total <= high else 'no'} |", flush=True)


main()
