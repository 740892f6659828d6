#!/usr/bin/env bash
# Downloads the wheels of wheels.txt into a cache, if they are not there yet, and checks what is there.
#
#   tests/fetch_wheels.sh [NAME...]      all, or those with these names on PyPI
#
# The cache is $CUTAWAY_WHEELS, or cutaway/wheels in the user's cache folder. CUTAWAY_NO_WHEELS=1 leaves them
# out. What cannot be had is named; the tests that need it skip. The exit status is 0 all the same, but for a
# cache folder that cannot be made.
set -euo pipefail
cd "$(dirname "$0")"

cache=${CUTAWAY_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/cutaway/wheels}
lost=0

note() { printf 'wheels: %s\n' "$*" >&2; }

is_right() { # FILE BYTES SHA256
    [[ -f $1 && $(stat -c %s "$1") == "$2" ]] && sha256sum --check --status <<<"$3  $1"
}

# A wheel comes under its final name only when it is whole and the one that is meant.
fetch() { # NAME VERSION BYTES SHA256 FILE
    local file=$5 platform
    # The first of the platforms that the file's name lists; pip takes a wheel for another machine only when told.
    platform=${file%.whl}
    platform=${platform##*-}
    platform=${platform%%.*}
    note "downloading $1 $2 ($(($3 / 1000000)) MB)"
    printf '%s==%s --hash=sha256:%s\n' "$1" "$2" "$4" >"$work/wanted.txt"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 \
        --no-deps --only-binary=:all: --platform "$platform" --require-hashes --dest "$work" \
        --requirement "$work/wanted.txt" >"$work/log" 2>&1; then
        note "could not download $file: $(tail -n 1 "$work/log")"
        return 1
    fi
    if ! is_right "$work/$file" "$3" "$4"; then
        note "$file is not the wheel that is listed"
        return 1
    fi
    mv "$work/$file" "$cache/$file"
}

if [[ ${CUTAWAY_NO_WHEELS:-} == 1 ]]; then
    note "left out, as CUTAWAY_NO_WHEELS is 1"
    exit 0
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/partial.XXXXXX")
trap 'rm -rf "$work"' EXIT

while read -r name version bytes sum file; do
    if [[ -z $name || $name == '#'* || ($# -gt 0 && " $* " != *" $name "*) ]]; then
        continue
    fi
    if is_right "$cache/$file" "$bytes" "$sum"; then
        continue
    fi
    # What was cut short or changed would only mislead.
    rm -f "$cache/$file"
    if ! python3 -m pip --version >/dev/null 2>&1; then
        note "missing, and there is no pip to download it with: $file"
        lost=$((lost + 1))
        continue
    fi
    fetch "$name" "$version" "$bytes" "$sum" "$file" || lost=$((lost + 1))
done <wheels.txt
if [[ $lost -gt 0 ]]; then
    note "$lost could not be had; the tests that need them are skipped, or fail where CUTAWAY_REQUIRE_TOOLS is 1"
fi
