#!/usr/bin/env python3
"""Makes an OCI layout of a folder, which starts /app/main: `oci.py OUT ROOT [NAME=VALUE...]`."""

import hashlib
import io
import json
import os
import platform
import sys
import tarfile


def main():
    out, root, *environment = sys.argv[1:]
    blobs = os.path.join(out, "blobs", "sha256")
    os.makedirs(blobs)

    def put(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(blobs, digest), "wb") as file:
            file.write(data)
        return {
            "mediaType": f"application/vnd.oci.image.{kind}",
            "digest": f"sha256:{digest}",
            "size": len(data),
        }

    def put_json(value, kind):
        return put(json.dumps(value).encode(), kind)

    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(os.listdir(root)):
            tar.add(os.path.join(root, name), arcname=name)
    layer = put(layer.getvalue(), "layer.v1.tar")
    processor = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    config = put_json(
        {
            "os": "linux",
            "architecture": processor,
            "config": {"Entrypoint": ["/app/main"], "Env": ["PATH=/usr/bin:/bin", *environment]},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        },
        "config.v1+json",
    )
    manifest = put_json({"schemaVersion": 2, "config": config, "layers": [layer]}, "manifest.v1+json")
    with open(os.path.join(out, "index.json"), "w") as file:
        json.dump({"schemaVersion": 2, "manifests": [manifest]}, file)
    with open(os.path.join(out, "oci-layout"), "w") as file:
        json.dump({"imageLayoutVersion": "1.0.0"}, file)


main()
