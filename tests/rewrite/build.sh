#!/usr/bin/env bash
# Builds what `cutaway dockerfile` proposes, starts it, and judges it as a maintainer would.
#
#   tests/rewrite/build.sh [--all] WORK CUTAWAY [CASE...]     the cases are the folders of tests/rewrite/cases
#
# WORK is a folder for what is built, CUTAWAY the program. For each case the original and the reference (what an
# engineer would write by hand) are built and started, the program is asked, its first proposal (with --all each) is
# built in the same context, and all of them are built again after a change of one source file. judge.py reads the
# text, what the loader finds, what the application prints, how large the image is, and what a change costs.
# One row of a table for each, its faults below it; the exit status is 1 when one fails, 2 when nothing could be
# tried. What is built of a case is removed after it: with CUTAWAY_REWRITE_KEEP=1 the images stay, as the OCI layouts
# oci:WORK/images/CASE:original and the like, and as cached layers, so that a second run with another CUTAWAY is
# quick; that takes about 3 GB a case.
#
# The base images are stand-ins (see bases.sh, packages.py and wheels.py) in a registry on the loopback; nothing is
# asked of any real one. apt asks for packages of Debian where this machine does. The stand-ins are kept in
# $CUTAWAY_REWRITE_CACHE, else in the user's cache folder: 3 GB. Needs root, or sudo without a password.
# CUTAWAY_REWRITE_ONLY=originals builds only those, =references those and the references, =proposals no references,
# =texts only what is proposed, which is judged by its text and not built;
# CUTAWAY_REWRITE_CLEAN=1 leaves nothing in WORK.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
every=
if [[ ${1:-} == --all ]]; then every=--all; shift; fi
[[ $# -ge 2 ]] || { sed -n '2,21s/^# \{0,1\}//p' "$0" >&2; exit 2; }
home_cache=${XDG_CACHE_HOME:-$HOME/.cache}/cutaway
: "${CUTAWAY_REWRITE_CACHE:=$home_cache/rewrite}" "${CUTAWAY_WHEELS:=$home_cache/wheels}"
if [[ $(id -u) != 0 ]]; then
    exec sudo -n env "PATH=$PATH:/usr/sbin:/sbin" "CUTAWAY_REWRITE_CACHE=$CUTAWAY_REWRITE_CACHE" \
        "CUTAWAY_WHEELS=$CUTAWAY_WHEELS" "CUTAWAY_REWRITE_ONLY=${CUTAWAY_REWRITE_ONLY:-}" \
        "CUTAWAY_REWRITE_CLEAN=${CUTAWAY_REWRITE_CLEAN:-}" "CUTAWAY_REWRITE_KEEP=${CUTAWAY_REWRITE_KEEP:-}" \
        "$here/build.sh" ${every:+"$every"} "$@"
fi
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C.UTF-8 CUTAWAY_NO_CACHE=1
mkdir -p "$1" "$CUTAWAY_REWRITE_CACHE"
work=$(cd "$1" && pwd)
cache=$(cd "$CUTAWAY_REWRITE_CACHE" && pwd)
wheels=$CUTAWAY_WHEELS
cutaway=$(realpath "$2")
shift 2
# shellcheck source=engine.sh
. "$here/engine.sh"
# shellcheck source=bases.sh
. "$here/bases.sh"
[[ -x $cutaway ]] || fail "$cutaway is no program"
for tool in buildah skopeo debootstrap docker-registry python3 gcc ar dpkg-deb flock; do
    command -v "$tool" >/dev/null || fail "not installed: $tool"
done
[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the libraries are for Linux on x86-64"
if [[ $# -eq 0 ]]; then
    mapfile -t cases < <(cd "$here/cases" && printf '%s\n' *)
else
    cases=("$@")
fi
mkdir -p "$work/log" "$work/images"
# shellcheck disable=SC2317
finish() {
    stop_registry
    stop_index
    if [[ -n ${store:-} ]]; then release_store; fi
    rm -rf "$work/distribution" "$work/context" "$work/rootfs"
    if [[ ${CUTAWAY_REWRITE_CLEAN:-} == 1 ]]; then
        rm -rf "$work"/{store,images,run,log,policy.json,registries.conf,registry.yml,pip.conf,index.port}
    fi
}
trap finish EXIT
trap 'exit 130' INT TERM
trap 'note "line $LINENO of ${BASH_SOURCE[0]} failed"' ERR
# One at a time: the cache is shared.
exec 9>"$cache/lock"
flock 9
open_store "$work/store"
make_bases
start_registry "$cache/registry"
start_index
make_tools "${cases[@]}"

judge() { python3 "$here/judge.py" "$@"; }
setting() { judge setting "$here/cases/$1" "$2"; }

# build CASE NAME: an image of FOLDER/NAME.Dockerfile, in the storage and as an OCI layout.
build() {
    local case=$1 name=$2 folder=$work/run/$1
    # Each has a context of its own: a proposal may come with files, and a change is made in it.
    judge context "$here/cases/$case" "$folder/$name.context" "$folder/proposals.json" "$name" >"$folder/$name.log" 2>&1 &&
        build_again "$case" "$name" "$name"
}

# build_again CASE NAME AS: the same from the context as it is now.
build_again() {
    local folder=$work/run/$1
    bud "localhost/$1-$3" "$folder/$2.context" "$folder/$2.Dockerfile" >"$folder/$3.log" 2>&1 &&
        save "localhost/$1-$3" "$work/images/$1" "$3" >>"$folder/$3.log" 2>&1 &&
        judge layers "$work/images/$1" "$3" >"$folder/$3.layers" 2>>"$folder/$3.log"
}

# start CASE NAME: a container of an image; what it prints and what it is go into files for judge.py.
start() {
    local container words at=$work/run/$1/$2
    container=$(buildah from --quiet --pull-never --signature-policy "$work/policy.json" "localhost/$1-$2")
    buildah inspect --type image "localhost/$1-$2" >"$at.config"
    buildah mount "$container" >"$at.root"
    # Before anything writes into it.
    judge weigh "$(<"$at.root")" >"$at.bytes"
    mapfile -d '' -t words < <(judge command "$at.config")
    buildah run --isolation chroot "$container" -- "${words[@]}" >"$at.out" 2>&1
}

# What a container that failed prints last, without buildah's own words.
last_words() { grep -v -e '^Error: ' -e '^subprocess exited' -e 'level=error' "$1" | tail -n 1 || true; }

# change CASE NAME: one source file changes, and the image is built again with the layers that there are. The words
# differ, so that no build finds the layers of another.
change() {
    local folder=$work/run/$1
    [[ -n $(setting "$1" change) ]] || return 0
    judge change "$here/cases/$1" "$folder/$2.context" "$2 $started" && build_again "$1" "$2" "$2.changed"
}

# One that is built, started, changed and judged: a proposal or the reference.
candidate() { # CASE NAME
    local case=$1 name=$2 folder=$work/run/$1
    note "$case: $name"
    if ! build "$case" "$name"; then
        judge failed "$here/cases/$case" "$folder" "$name" "does not build: $(tail -n 1 "$folder/$name.log")" || failed=1
    elif ! start "$case" "$name"; then
        judge failed "$here/cases/$case" "$folder" "$name" "does not start: $(last_words "$folder/$name.out")" || failed=1
    elif ! change "$case" "$name"; then
        judge failed "$here/cases/$case" "$folder" "$name" "does not build again: $(tail -n 1 "$folder/$name.changed.log")" ||
            failed=1
    else
        judge compare "$here/cases/$case" "$folder" "$name" || failed=1
    fi
}

fault() { # CASE TEXT
    printf '| %s | | | | | | | | FAIL |\n  - %s\n' "$1" "$2"
    failed=1
}

try() { # CASE
    local case=$1 folder=$work/run/$1 count number asked=()
    rm -rf "$folder" "$work/images/$case"
    mkdir -p "$folder"
    cp "$here/cases/$case/Dockerfile" "$folder/original.Dockerfile"
    note "$case: the original"
    if ! build "$case" original; then
        fault "$case" "the original does not build: $(tail -n 1 "$folder/original.log")"
        return
    fi
    asked=(--dockerfile "$folder/original.context/Dockerfile")
    if [[ $(setting "$case" dockerfile) == false ]]; then
        asked=()
        judge buildkit "$work/images/$case" original "$folder/original.Dockerfile"
    fi
    if [[ ${CUTAWAY_REWRITE_ONLY:-} == originals ]]; then return; fi
    if [[ $(setting "$case" nothing) == true ]]; then
        ask "$case" "${asked[@]}" || return 0
        judge nothing "$folder/proposals.json" "$here/cases/$case" || failed=1
        return
    fi
    if [[ ${CUTAWAY_REWRITE_ONLY:-} == texts ]]; then
        ask "$case" "${asked[@]}" || return 0
        judge dockerfile "$folder/proposals.json" 0 >"$folder/0.Dockerfile"
        judge failed "$here/cases/$case" "$folder" 0 || failed=1
        return
    fi
    if ! start "$case" original; then
        fault "$case" "the original does not start: $(last_words "$folder/original.out")"
        return
    fi
    change "$case" original || fault "$case" "the original does not build again: $(tail -n 1 "$folder/original.changed.log")"
    if [[ -f $here/cases/$case/reference.Dockerfile && ${CUTAWAY_REWRITE_ONLY:-} != proposals ]]; then
        cp "$here/cases/$case/reference.Dockerfile" "$folder/reference.Dockerfile"
        candidate "$case" reference
    fi
    if [[ ${CUTAWAY_REWRITE_ONLY:-} != references ]] && ask "$case" "${asked[@]}"; then
        count=$(judge count "$folder/proposals.json")
        if [[ $count == 0 ]]; then fault "$case" "nothing is proposed"; fi
        if [[ -z $every && $count -gt 1 ]]; then count=1; fi
        for ((number = 0; number < count; number++)); do
            judge dockerfile "$folder/proposals.json" "$number" >"$folder/$number.Dockerfile"
            candidate "$case" "$number"
        done
    fi
}

# What is built of a case, but for the base images.
remove() { # CASE
    local images
    release_containers
    if [[ ${CUTAWAY_REWRITE_KEEP:-} == 1 ]]; then return; fi
    rm -rf "$work/images/$1" "$work/run/$1"/*.context
    mapfile -t images < <(buildah images --format '{{.Name}}:{{.Tag}}' | grep "^localhost/$1-" || true)
    if [[ ${#images[@]} -gt 0 ]]; then buildah rmi "${images[@]}" >/dev/null 2>&1 || true; fi
    buildah rmi --prune >/dev/null 2>&1 || true
}

# What the program proposes, into proposals.json.
ask() { # CASE [OPTION...]
    local case=$1 folder=$work/run/$1
    shift
    note "$case: what is proposed"
    if ! "$cutaway" dockerfile "oci:$work/images/$case:original" "$@" --format json \
        >"$folder/proposals.json" 2>"$folder/errors"; then
        fault "$case" "cutaway dockerfile: $(tail -n 1 "$folder/errors")"
        return 1
    fi
}

failed=0
started=$EPOCHSECONDS.$$
for case in "${cases[@]}"; do
    [[ -f $here/cases/$case/Dockerfile ]] || fail "no case $case"
done
printf '| case | proposal | lines | MB before | MB after | MB predicted | MB pushed after a change, original | proposal | verdict |\n'
printf '|---|---|---|---|---|---|---|---|---|\n'
for case in "${cases[@]}"; do
    try "$case"
    remove "$case"
done
exit "$failed"
