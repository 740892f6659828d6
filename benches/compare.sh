#!/usr/bin/env bash
# Measures `cutaway report` against other programs and against the budgets, and prints the table of assets/manual/performance.md.
#
#   benches/compare.sh [-n ROUNDS] [--only NAME]... [--cores N]... [--images DIR] [--cutaway BINARY] [--markdown] [--small]
#
# --images DIR    where the images lie; those that are not there are made, by benches/make_image.py, and stay.
#                 They take 10 GB. Without it they lie in a temporary folder and are removed at the end.
# --only NAME     gzip, giant, zstd, plain, saved, second, parts, registry or window, and only their images; may be repeated
# --cores N       on so many processors; may be repeated. Without it on 2, 4, 8 and 16, as far as they are there
# --cutaway       this program; without it a release build
# --markdown      the table alone on standard output
# --small         images of some MB, to try the script: their figures say nothing
#
# Images contain the libraries of the CUDA wheels that tests/fetch_wheels.sh stores, and synthetic ones where there are
# none (or with CUTAWAY_NO_WHEELS=1).
#
# Rivals are programs of Debian's packages isal, pigz, zstd, tar and libarchive-tools, and benches/inflate, which is
# built when cargo is there; registries take docker-registry and skopeo, the window a display (or xvfb-run). Rows whose
# rival is missing are left out and named.
set -euo pipefail
# What is measured or held against the truth is reading.
export CUTAWAY_NO_CACHE=1
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")

usage() { sed -n '2,20s/^# \{0,1\}//p' "$0"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }
note() { printf '%s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null; }

cutaway='' images='' only=() cores=() pass=() size=2G files=40000 many_size=2400M many_files=300000
while [[ $# -gt 0 ]]; do
    case $1 in
        --markdown) pass+=(--markdown); shift; continue ;;
        --small) size=50M files=2000 many_size=40M many_files=20000; shift; continue ;;
        -h | --help) usage; exit 0 ;;
        -n | --only | --cores | --images | --cutaway) [[ $# -ge 2 ]] || fail "$1 takes a value" ;;
        *) usage >&2; fail "unknown option $1" ;;
    esac
    case $1 in
        -n) pass+=(-n "$2") ;;
        --only) only+=("$2"); pass+=(--only "$2") ;;
        --cores) cores+=(--cores "$2") ;;
        --images) images=$2 ;;
        --cutaway) cutaway=$2 ;;
    esac
    shift 2
done

# Whether one of these groups is wanted.
wants() {
    [[ ${#only[@]} -gt 0 ]] || return 0
    local name
    for name; do
        [[ " ${only[*]} " != *" $name "* ]] || return 0
    done
    return 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/cutaway-compare.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
images=${images:-$work/images}
mkdir -p "$images"

# Programs ---------------------------------------------------------------------------------------

target=${CARGO_TARGET_DIR:-$root/target}
if [[ -z $cutaway ]]; then
    note "building cutaway (release)"
    cargo build --release --quiet --manifest-path "$root/Cargo.toml"
    cutaway=$target/release/cutaway
fi
[[ -x $cutaway ]] || fail "$cutaway is no program"

if wants gzip saved && has cargo; then
    note "building benches/inflate"
    if cargo build --release --quiet --manifest-path "$here/inflate/Cargo.toml" --target-dir "$target/inflate"; then
        pass+=(--inflate "$target/inflate/release/inflate-bench")
    fi
fi
if wants parts && has cargo; then
    note "building the bench inventory"
    built=$(cargo bench --quiet --no-run --no-default-features --bench inventory --message-format json \
        --manifest-path "$root/Cargo.toml" | sed -n 's/.*"executable":"\([^"]*inventory-[^"]*\)".*/\1/p' | tail -n 1) || built=''
    [[ -z $built ]] || pass+=(--inventory "$built")
fi

if wants window && has cargo && [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    note "building the bench first_frame"
    built=$(cargo bench --quiet --no-run --bench first_frame --message-format json --manifest-path "$root/Cargo.toml" |
        sed -n 's/.*"executable":"\([^"]*first_frame-[^"]*\)".*/\1/p' | tail -n 1) || built=''
    [[ -z $built ]] || pass+=(--window "$built")
fi

# Images -----------------------------------------------------------------------------------------

# Made under another name first, so that what bears the right one is whole.
making=$images/making
# The huge libraries are those of real CUDA wheels where tests/fetch_wheels.sh has stored them, as far as they fit.
wheels=${CUTAWAY_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/cutaway/wheels} from=()
if [[ -z ${CUTAWAY_NO_WHEELS:-} ]] && compgen -G "$wheels/*.whl" >/dev/null; then from=(--wheels "$wheels"); fi
make_image() { python3 "$here/make_image.py" "${from[@]}" "$@"; }
settle() { # NAME...
    local name
    for name; do
        [[ ! -e $making/$name ]] || mv "$making/$name" "$images/$name"
    done
}
rm -rf "$making"
mkdir "$making"

# One pass makes all forms of the same layers.
forms=()
wants gzip registry window && [[ ! -e $images/gzip ]] && forms+=(--oci-gzip "$making/gzip")
wants zstd && [[ ! -e $images/zstd ]] && has zstd && forms+=(--oci-zstd "$making/zstd")
wants plain && [[ ! -e $images/plain ]] && forms+=(--oci-plain "$making/plain")
wants plain saved && [[ ! -e $images/plain.tar ]] && forms+=(--docker-archive "$making/plain.tar")
if [[ ${#forms[@]} -gt 0 ]]; then
    note "making an image of $size and $files files"
    make_image --bytes "$size" --files "$files" --layers 5 "${forms[@]}"
    settle gzip zstd plain plain.tar
fi
if wants saved && [[ ! -e $images/saved.tar.gz ]]; then
    note "packing it as docker save | gzip does"
    packer=gzip
    if has pigz; then packer=pigz; fi
    "$packer" -6 -n -c "$images/plain.tar" >"$making/saved.tar.gz"
    settle saved.tar.gz
fi
forms=()
wants giant && [[ ! -e $images/giant ]] && forms+=(--oci-gzip "$making/giant")
wants giant && [[ ! -e $images/giant-zstd ]] && has zstd && forms+=(--oci-zstd "$making/giant-zstd")
if [[ ${#forms[@]} -gt 0 ]]; then
    note "making an image of one layer"
    make_image --bytes "$size" --files 2000 --layers 1 "${forms[@]}"
    settle giant giant-zstd
fi
if wants second parts registry && [[ ! -e $images/many ]]; then
    note "making an image of $many_files files"
    make_image --bytes "$many_size" --files "$many_files" --layers 8 --oci-gzip "$making/many"
    settle many
fi
rmdir "$making"

if wants zstd giant && ! has zstd; then note "left out: zstd images (Debian's package zstd is not installed)"; fi
if [[ ${#cores[@]} -eq 0 ]]; then
    cores=(--cores 2)
    for count in 4 8 16; do
        [[ $(nproc) -lt $count ]] || cores+=(--cores "$count")
    done
fi
python3 "$here/budgets.py" --images "$images" --cutaway "$cutaway" "${cores[@]}" "${pass[@]}"
