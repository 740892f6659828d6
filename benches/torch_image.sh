#!/usr/bin/env bash
# The inventory of a real image of 5 GB: torch over CUDA 12.8. Judged by an independent walk, and measured.
#
#   benches/torch_image.sh [--small] [--cutaway BINARY] [--baseline BINARY] [-n ROUNDS] [--image DIR]
#                          [--wheels DIR] [--plain]
#
# Downloads some 5 GB from PyPI, so it is no part of the tests. Takes up to 8 GB of disk below $TMPDIR, all of
# it given back at the end, unless --image names a folder: then the image is made there, or taken from there.
# --baseline is another build of cutaway, such as one from before a change. --plain also stores the layers
# uncompressed, which takes the image's unpacked size of some 10 GB more. Linux on x86-64 only.
# The exit status is 1 when report and walk differ.
set -euo pipefail
# What is measured or held against the truth is reading.
export CUTAWAY_NO_CACHE=1
here=$(cd "$(dirname "$0")" && pwd)

usage() { sed -n '2,11s/^# \{0,1\}//p' "$0"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }
note() { printf '%s\n' "$*" >&2; }

cutaway='' baseline='' rounds=3 image='' plain='' differs=0 make=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --small) make+=(--small); shift; continue ;;
        --plain) plain=yes; shift; continue ;;
        -h | --help) usage; exit 0 ;;
        --cutaway) cutaway=${2:?} ;;
        --baseline) baseline=${2:?} ;;
        -n) rounds=${2:?} ;;
        --image) image=${2:?} ;;
        --wheels) make+=(--wheels "${2:?}") ;;
        *) usage >&2; fail "unknown option $1" ;;
    esac
    shift 2
done
[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the wheels are for Linux on x86-64"

work=$(mktemp -d "${TMPDIR:-/tmp}/cutaway-torch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [[ -z $cutaway ]]; then
    note "building cutaway (release)"
    cargo build --release --quiet --manifest-path "$here/../Cargo.toml"
    cutaway=${CARGO_TARGET_DIR:-$here/../target}/release/cutaway
fi
for program in "$cutaway" ${baseline:+"$baseline"}; do
    [[ -x $program ]] || fail "$program is no program"
done

image=${image:-$work/image}
if [[ ! -e $image/index.json ]]; then
    python3 "$here/torch_image.py" --oci "$image" "${make[@]}"
fi

# Everything below takes a reference: the same checks and costs for both ways of storing the layers.
check() { # REFERENCE
    local status=0
    printf '\n### %s\n\n' "${1%%:*}"
    "$cutaway" report "$1" --platform linux/amd64 --format json -o "$work/report.json" || status=$?
    printf 'cutaway ends with status %s\n' "$status"
    python3 "$here/torch_compare.py" "$work/report.json" "$work/walk.json" || differs=1
}
costs() { # REFERENCE TITLE ROW...
    local reference=$1 title=$2
    shift 2
    local rows=("cutaway=$(printf '%q report %q --platform linux/amd64 -o /dev/null' "$cutaway" "$reference")")
    local against=()
    if [[ -n $baseline ]]; then
        rows+=("baseline=$(printf '%q report %q --platform linux/amd64 -o /dev/null' "$baseline" "$reference")")
        against+=(--against baseline)
    fi
    rows+=("$@")
    [[ $# == 0 ]] || against+=(--against "${1%%=*}")
    printf '\n'
    python3 "$here/interleave.py" -n "$rounds" --title "$title" "${against[@]}" "${rows[@]}"
}

note "walking the image in Python"
python3 "$here/../tests/oracle/cuda.py" --platform linux/amd64 "oci:$image" >"$work/walk.json"
check "oci:$image"

blobs=$(
    python3 - "$image" <<'PYTHON'
import json, os, shlex, sys
root = sys.argv[1]
def blob(digest):
    return os.path.join(root, "blobs", *digest.split(":", 1))
with open(os.path.join(root, "index.json")) as file:
    entry = json.load(file)["manifests"][0]
with open(blob(entry["digest"])) as file:
    print(" ".join(shlex.quote(blob(layer["digest"])) for layer in json.load(file)["layers"]))
PYTHON
)
rows=()
# The `$file` in single quotes is for the shell that runs igzip once for each blob.
# shellcheck disable=SC2016
if command -v igzip >/dev/null; then
    rows+=("igzip -dc=$(printf "sh -c 'for file in %s; do igzip -dc \"\$file\"; done'" "$blobs")")
fi
rows+=("gzip -dc=gzip -dc $blobs" "sha256sum=sha256sum $blobs")
costs "oci:$image" 'gzip layers' "${rows[@]}"

if [[ -n $plain ]]; then
    command -v skopeo >/dev/null || fail "--plain needs skopeo"
    note "storing the layers uncompressed"
    mkdir "$work/tmp"
    TMPDIR=$work/tmp skopeo copy --quiet --insecure-policy "oci:$image" \
        "docker-archive:$work/plain.tar:cutaway.test/torch:latest"
    check "docker-archive:$work/plain.tar"
    costs "docker-archive:$work/plain.tar" 'docker-archive, plain layers' "cat=cat $work/plain.tar"
fi
exit "$differs"
