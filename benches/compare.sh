#!/usr/bin/env bash
# Compares `cutaway report` with other tools on the same files and prints Markdown tables.
#
#   benches/compare.sh --gzip OCI_DIR --archive DOCKER_TAR --zstd OCI_DIR [-n ROUNDS] [--cutaway BINARY]
#
# Images: benches/make_image.py makes them. Any of the three may be left out; without all of them a 2 GB
# image is made in a temporary folder. Rivals that are not installed are left out and named on stderr.
# All commands of a table run in turn, after one warm-up round, from a warm page cache; the figures are
# medians. On a noisy machine look at CPU, not at wall time, and at the spread of the calibration loop.

# The `$file` in single quotes is for the shells that `each` starts.
# shellcheck disable=SC2016
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }
note() { printf '%s\n' "$*" >&2; }

rounds=5 gzip_image='' archive='' zstd_image='' cutaway=''
while [[ $# -gt 0 ]]; do
    case $1 in
        --gzip) gzip_image=${2:?} ;;
        --archive) archive=${2:?} ;;
        --zstd) zstd_image=${2:?} ;;
        -n) rounds=${2:?} ;;
        --cutaway) cutaway=${2:?} ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; fail "unknown option $1" ;;
    esac
    shift 2
done
[[ $rounds -ge 1 ]] || fail "-n takes a number of rounds"

work=$(mktemp -d "${TMPDIR:-/tmp}/cutaway-compare.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [[ -z $cutaway ]]; then
    note "building cutaway (release)"
    cargo build --release --quiet --manifest-path "$here/../Cargo.toml"
    cutaway=${CARGO_TARGET_DIR:-$here/../target}/release/cutaway
fi
[[ -x $cutaway ]] || fail "$cutaway is no program"

if [[ -z $gzip_image$archive$zstd_image ]]; then
    note "making an image of 2 GB in $work"
    gzip_image=$work/gzip archive=$work/plain.tar zstd_image=$work/zstd
    python3 "$here/make_image.py" --bytes 2G --files 40000 --layers 5 \
        --oci-gzip "$gzip_image" --oci-zstd "$zstd_image" --docker-archive "$archive"
fi

# The layer blobs of an OCI layout, bottom first, quoted for a shell.
layers_of() {
    python3 - "$1" <<'PYTHON'
import json, os, shlex, sys
root = sys.argv[1]
def blob(digest):
    return os.path.join(root, "blobs", *digest.split(":", 1))
with open(os.path.join(root, "index.json")) as file:
    entry = json.load(file)["manifests"][0]
with open(blob(entry["digest"])) as file:
    manifest = json.load(file)
print(" ".join(shlex.quote(os.path.abspath(blob(layer["digest"]))) for layer in manifest["layers"]))
PYTHON
}

# Adds a command to the next table if its program is there.
commands=()
row() { # NAME PROGRAM COMMAND
    if command -v "$2" >/dev/null; then
        commands+=("$1=$3")
    else
        note "left out: $1 ($2 is not installed)"
    fi
}
each() { printf "sh -c 'for file in %s; do %s; done'" "$1" "$2"; }
table() { # TITLE, the remaining arguments go to interleave.py
    local title=$1
    shift
    printf '\n### %s\n\n' "$title"
    python3 "$here/interleave.py" -n "$rounds" --title "$title" "$@" "${commands[@]}"
    commands=()
}
report() { printf '%q report %q -o /dev/null' "$cutaway" "$1"; }
# What cutaway itself counts as read from the image, next to the size of its files.
own_count() { # REFERENCE BYTES
    local line
    line=$("$cutaway" report "$1" -v -o /dev/null 2>&1 | grep -oE 'read [0-9]+ bytes' | tail -n 1 || true)
    printf '\nThe image takes %s bytes' "$2"
    if [[ -n $line ]]; then printf '; cutaway says it %s' "$line"; fi
    printf '.\n'
}
total() { eval "stat -c %s $1" | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

printf 'Machine: %s, %s cores, %s\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -sr)"

if [[ -n $gzip_image ]]; then
    blobs=$(layers_of "$gzip_image")
    commands=("cutaway report=$(report "oci:$gzip_image")")
    row 'igzip -dc' igzip "$(each "$blobs" 'igzip -dc "$file"')"
    row 'gzip -dc' gzip "gzip -dc $blobs"
    row 'pigz -dc' pigz "pigz -dc $blobs"
    row 'sha256sum' sha256sum "sha256sum $blobs"
    against=(--against 'cutaway report')
    if command -v igzip >/dev/null; then against=(--against 'igzip -dc'); fi
    # The denominator of the budget: bare inflate with a backend of flate2, and SHA-256 of the blobs.
    if [[ -n ${INFLATE_BENCH:-} ]]; then
        commands+=("inflate and SHA-256=$INFLATE_BENCH both $blobs")
        against+=(--against 'inflate and SHA-256')
    else
        note "INFLATE_BENCH is not set to a build of benches/inflate: no row for bare inflate and SHA-256"
    fi
    table "gzip layers" "${against[@]}"
    own_count "oci:$gzip_image" "$(total "$blobs")"
fi

if [[ -n $archive ]]; then
    mkdir "$work/layers"
    note "extracting the layers of $archive"
    tar -C "$work/layers" -xf "$archive"
    layers=$(
        python3 - "$work/layers" <<'PYTHON'
import json, os, shlex, sys
root = sys.argv[1]
with open(os.path.join(root, "manifest.json")) as file:
    print(" ".join(shlex.quote(os.path.join(root, name)) for name in json.load(file)[0]["Layers"]))
PYTHON
    )
    # A tar that writes to /dev/null may skip what it would do, so the list goes through a pipe.
    commands=("cutaway report=$(report "docker-archive:$archive")")
    row 'tar -tf, each layer' tar "$(each "$layers" 'tar -tf "$file" | cat')"
    row 'tar -tf, the archive' tar "tar -tf $(printf %q "$archive")"
    row 'bsdtar -tf, each layer' bsdtar "$(each "$layers" 'bsdtar -tf "$file" | cat')"
    row 'cat' cat "cat $(printf %q "$archive")"
    table "docker-archive, plain layers" --against 'tar -tf, each layer'
    own_count "docker-archive:$archive" "$(total "$(printf %q "$archive")")"
    rm -rf "$work/layers"
fi

if [[ -n $zstd_image ]]; then
    blobs=$(layers_of "$zstd_image")
    commands=("cutaway report=$(report "oci:$zstd_image")")
    row 'zstd -dc' zstd "zstd -dcq $blobs"
    row 'sha256sum' sha256sum "sha256sum $blobs"
    table "zstd layers" --against 'zstd -dc'
    own_count "oci:$zstd_image" "$(total "$blobs")"
fi
