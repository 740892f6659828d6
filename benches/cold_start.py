"""Measures pulls from a throttled registry and compares them with the estimate; see cold_start.sh."""

import hashlib
import http.server
import json
import os
import pathlib
import shutil
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
SOURCES = ["/usr/lib", "/usr/share", "/usr/bin"]


def digest(path):
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def choose(megabytes):
    """Files of this machine of about so many bytes, divided into layers: libraries, programs and small files."""
    files, size = [], 0
    for source in SOURCES:
        found = []
        for folder, folders, names in os.walk(source):
            folders.sort()
            found += [os.path.join(folder, name) for name in sorted(names)]
        share = 0
        # Evenly spread, so that every size of image has large and small files.
        step = 7 if megabytes < 300 else 1
        for path in found[::step]:
            facts = os.lstat(path)
            if not os.path.isfile(path) or os.path.islink(path) or facts.st_size > megabytes * 2e5:
                continue
            if share + facts.st_size > megabytes * 1e6 / len(SOURCES):
                continue
            files.append(path)
            share += facts.st_size
        size += share
    return files, size


def build(folder, megabytes, codec):
    """An OCI layout with LAYERS layers of the chosen files."""
    blobs = folder / "blobs/sha256"
    if (folder / "index.json").exists():
        return
    blobs.mkdir(parents=True)

    def store(path):
        name = digest(path)
        os.rename(path, blobs / name.split(":")[1])
        return name, (blobs / name.split(":")[1]).stat().st_size

    def store_json(value):
        path = folder / "json"
        path.write_text(json.dumps(value))
        return store(path)

    files, _ = choose(megabytes)
    layers, diff_ids = [], []
    for number in range(LAYERS):
        plain, packed = folder / "layer.tar", folder / "layer.packed"
        with tarfile.open(plain, "w") as tar:
            for path in files[number::LAYERS]:
                tar.add(path, arcname=path.lstrip("/"), recursive=False)
        diff_ids.append(digest(plain))
        command = ["zstd", "-q", "-3", "-c"] if codec == "zstd" else [shutil.which("pigz") or "gzip", "-6", "-c"]
        with open(plain, "rb") as source, open(packed, "wb") as target:
            subprocess.run(command, stdin=source, stdout=target, check=True)
        plain.unlink()
        name, size = store(packed)
        media = f"application/vnd.oci.image.layer.v1.tar+{codec}"
        layers.append({"mediaType": media, "digest": name, "size": size})
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": diff_ids}}
    name, size = store_json(config)
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": name, "size": size},
        "layers": layers,
    }
    name, size = store_json(manifest)
    descriptor = {"mediaType": manifest["mediaType"], "digest": name, "size": size,
                  "annotations": {"org.opencontainers.image.ref.name": "t"}}
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [descriptor]}))


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


def measure(port, work, codec):
    """Seconds to pull and to unpack."""
    layout, bundle = work / "pulled", work / "bundle"
    for folder in (layout, bundle):
        shutil.rmtree(folder, ignore_errors=True)
    os.sync()
    start = time.monotonic()
    subprocess.run(["skopeo", "copy", "-q", "--src-tls-verify=false", f"docker://127.0.0.1:{port}/image:t",
                    f"oci:{layout}:t"], check=True)
    pulled = time.monotonic()
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
    return pulled - start, time.monotonic() - pulled


def node(rate):
    exact = lambda value: f"{{ low = {value}, high = {value} }}"
    return f"""[[node]]
id = "cloud"
name = "Throttled registry"
network_mb_s = {exact(rate)}
connection_mb_s = {exact(rate)}
slots = {SLOTS}
pipelined = false
write_mb_s = {exact(1)}
files_per_s = {exact(1)}
layer_seconds = {exact(0)}
read_mb_s = {exact(1)}
start_seconds = {exact(0)}
source = "benches/cold_start.sh"
"""


def predict(cutaway, work, folder, rate):
    """Seconds of pull and unpacking: low, middle, high. The image has no command, so nothing is read at start-up."""
    catalog = work / "rates.toml"
    catalog.write_text(node(rate))
    report = subprocess.run([cutaway, "report", f"oci:{folder}", "--no-cache", "--format", "json", "--rates",
                             "calibrated", "--catalog", catalog], check=True, capture_output=True, text=True).stdout
    pull = next(one for one in json.loads(report)["cold_start"]["scenarios"] if one["name"] == "pull")
    return [pull[f"total_{end}seconds"] for end in ("low_", "", "high_")]


def main():
    cutaway, work = sys.argv[1], pathlib.Path(sys.argv[2])
    sizes = [int(size) for size in sys.argv[3:]] or [50, 200, 1000]
    os.environ["CUTAWAY_RATES_FILE"] = str(work / "measured.json")
    print(subprocess.run([cutaway, "calibrate", "--dir", str(work)], check=True, capture_output=True,
                         text=True).stdout, file=sys.stderr)
    print("| image | compression | link | pull | unpack | total | predicted | off by | in the interval |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for size in sizes:
        for codec in ("gzip", "zstd"):
            folder = work / f"image-{size}-{codec}"
            build(folder, size, codec)
            stored = sum(path.stat().st_size for path in (folder / "blobs/sha256").iterdir()) / 1e6
            for rate in RATES:
                server = serve(folder, rate * 1e6)
                rounds = sorted((measure(server.server_port, work, codec) for _ in range(ROUNDS)), key=sum)
                server.shutdown()
                server.server_close()
                pull, unpack = rounds[len(rounds) // 2]
                low, middle, high = predict(cutaway, work, folder, rate)
                total = pull + unpack
                print(f"| {size} MB, {stored:.0f} MB compressed | {codec} | {rate} MB/s | {pull:.1f} s | {unpack:.1f} s "
                      f"| {total:.1f} s | {middle:.1f} s ({low:.1f} to {high:.1f}) | {(middle / total - 1) * 100:+.0f} % "
                      f"| {'yes' if low <= total <= high else 'no'} |", flush=True)
    shutil.rmtree(work / "pulled", ignore_errors=True)
    shutil.rmtree(work / "bundle", ignore_errors=True)


main()
