#!/usr/bin/env bash
# The findings on images of 2 to 3 GB with real CUDA content, judged by a listing made by hand and by an
# independent walk.
#
#   benches/devel_image.sh [--cutaway BINARY] [--images DIR] [--wheels DIR] [--paths FILE] [KIND...]
#
# KIND is devel (2.4 GB, 17,000 files and more), runtime or jit; all of them when none is named. What the wheels
# cache lacks is downloaded from PyPI, up to 1.2 GB, so it is no part of the tests. Takes up to 4 GB of disk below
# $TMPDIR, all of it given back at the end, unless --images names a folder: then images are made there, or taken
# from there. --paths takes sizes and names of a devel image's files (see devel_image.py). Linux on x86-64 with
# dpkg only. The exit status is 1 when fewer than 99 % of the devel image's bytes that only build are found in
# the right category, when something that the application needs is called safe, or when a sum does not come out.
set -euo pipefail
# What is measured or held against the truth is reading.
export CUTAWAY_NO_CACHE=1
here=$(cd "$(dirname "$0")" && pwd)

usage() { sed -n '2,13s/^# \{0,1\}//p' "$0"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }

cutaway='' images='' make=() kinds=() differs=0
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --cutaway) cutaway=${2:?} ;;
        --images) images=${2:?} ;;
        --wheels | --paths) make+=("$1" "${2:?}") ;;
        devel | runtime | jit) kinds+=("$1"); shift; continue ;;
        *) usage >&2; fail "unknown option $1" ;;
    esac
    shift 2
done
[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the wheels are for Linux on x86-64"
[[ ${#kinds[@]} -gt 0 ]] || kinds=(devel runtime jit)

work=$(mktemp -d "${TMPDIR:-/tmp}/cutaway-devel.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
images=${images:-$work}
mkdir -p "$images"
make+=(--wheels "${CUTAWAY_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/cutaway/wheels}")

if [[ -z $cutaway ]]; then
    cargo build --release --quiet --manifest-path "$here/../Cargo.toml"
    cutaway=${CARGO_TARGET_DIR:-$here/../target}/release/cutaway
fi
[[ -x $cutaway ]] || fail "$cutaway is no program"

for kind in "${kinds[@]}"; do
    image=$images/$kind
    if [[ ! -e $image/index.json ]]; then
        python3 "$here/devel_image.py" --kind "$kind" --oci "$image" --listing "$image.tsv" \
            --needed "$image.needed" "${make[@]}"
    fi
    status=0
    "$cutaway" report "oci:$image" --platform linux/amd64 --format json -o "$work/$kind.json" || status=$?
    printf '\n### %s: cutaway ends with status %s\n' "$kind" "$status"
    judge=(--needed "$image.needed" --root /usr/bin/python3.11 --platform linux/amd64)
    case $kind in
        devel) judge+=(--listing "$image.tsv" --root /srv/app/bin/serve) ;;
        jit) judge+=(--root /srv/app/bin/serve) ;;
    esac
    python3 "$here/../tests/oracle/findings.py" "${judge[@]}" "$work/$kind.json" "oci:$image" || differs=1
    [[ $images == "$work" ]] && rm -rf "$image"
done
exit "$differs"
