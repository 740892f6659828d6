#!/usr/bin/env bash
# Builds what `cutaway dockerfile` proposes, and starts it.
#
#   tests/rewrite/build.sh WORK CUTAWAY [CASE...]     the cases are the folders of tests/rewrite/cases
#
# WORK is a folder for what is built, CUTAWAY the program. For each case the original is built, the program is
# asked, its best proposal is built in the same context and judged by judge.py: what the loader finds, what the
# application prints, how large the image is. One line a case; the exit status is 1 when one fails, 2 when nothing
# could be tried. Images stay in WORK as OCI layouts: oci:WORK/originals:CASE and oci:WORK/built:CASE.
#
# The base images are stand-ins (see bases.sh and packages.py) in a registry on the loopback; nothing is asked of
# any real one. apt asks for packages of Debian where this machine does. The stand-ins are kept in
# $CUTAWAY_REWRITE_CACHE, else in the user's cache folder: 2.2 GB. Needs root, or sudo without a password.
# CUTAWAY_REWRITE_ONLY=originals builds only those; CUTAWAY_REWRITE_ALL=1 tries all proposals, not only the best;
# CUTAWAY_REWRITE_CLEAN=1 leaves nothing in WORK.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# -ge 2 ]] || { sed -n '2,18s/^# \{0,1\}//p' "$0" >&2; exit 2; }
home_cache=${XDG_CACHE_HOME:-$HOME/.cache}/cutaway
: "${CUTAWAY_REWRITE_CACHE:=$home_cache/rewrite}" "${CUTAWAY_WHEELS:=$home_cache/wheels}"
if [[ $(id -u) != 0 ]]; then
    exec sudo -n env "PATH=$PATH:/usr/sbin:/sbin" "CUTAWAY_REWRITE_CACHE=$CUTAWAY_REWRITE_CACHE" \
        "CUTAWAY_WHEELS=$CUTAWAY_WHEELS" "CUTAWAY_REWRITE_ONLY=${CUTAWAY_REWRITE_ONLY:-}" \
        "CUTAWAY_REWRITE_ALL=${CUTAWAY_REWRITE_ALL:-}" "CUTAWAY_REWRITE_CLEAN=${CUTAWAY_REWRITE_CLEAN:-}" \
        "$here/build.sh" "$@"
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
for tool in buildah skopeo debootstrap docker-registry python3 gcc ar dpkg-deb flock unzip; do
    command -v "$tool" >/dev/null || fail "not installed: $tool"
done
[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the libraries are for Linux on x86-64"
if [[ $# -eq 0 ]]; then
    mapfile -t cases < <(cd "$here/cases" && printf '%s\n' *)
else
    cases=("$@")
fi
mkdir -p "$work/log" "$work/originals" "$work/built"
# shellcheck disable=SC2317
finish() {
    stop_registry
    stop_index
    if [[ -n ${store:-} ]]; then release_store; fi
    rm -rf "$work/distribution" "$work/context" "$work/rootfs"
    if [[ ${CUTAWAY_REWRITE_CLEAN:-} == 1 ]]; then
        rm -rf "$work"/{store,originals,built,run,log,policy.json,registries.conf,registry.yml,pip.conf,index.port}
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

# build NAME CASE DOCKERFILE LAYOUT TAG LOG: an image in the storage, and as oci:LAYOUT:TAG.
build() {
    bud "localhost/$1" "$here/cases/$2" "$3" >"$6" 2>&1 &&
        save "localhost/$1" "$4" "$5" >>"$6" 2>&1
}

# start NAME PREFIX: a container of an image; what it says and what it is go into files for judge.py.
start() {
    local container words
    container=$(buildah from --quiet --pull-never --signature-policy "$work/policy.json" "localhost/$1")
    buildah inspect --type image "localhost/$1" >"$2.config"
    buildah mount "$container" >"$2.root"
    mapfile -d '' -t words < <(python3 "$here/judge.py" command "$2.config")
    buildah run --isolation chroot "$container" -- "${words[@]}" >"$2.out" 2>&1
}

report() { "$cutaway" report "$1" --format json >"$2" 2>"$2.errors"; }

# One line of the table, and what else there is to say below it.
row() { # RESULT CASE SECONDS TEXT
    printf '%-14s %-5s %4s s  %s\n' "$2" "$1" "$3" "$4"
    if [[ $1 != ok ]]; then failed=1; fi
}

# A proposal is built in the context of its original, started and judged.
proposal() { # CASE NUMBER
    local case=$1 number=$2 folder=$work/run/$1 begun=$SECONDS log=$work/log/$1.$2 result=ok words
    local name=$1-$2 file=$work/built/$1.$2.Dockerfile
    python3 "$here/judge.py" dockerfile "$folder/proposals.json" "$number" >"$file"
    if ! build "built/$name" "$case" "$file" "$work/built" "$name" "$log"; then
        row FAIL "$case" $((SECONDS - begun)) "proposal $number does not build: $(tail -n 1 "$log")"
    elif ! start "built/$name" "$folder/$number"; then
        row FAIL "$case" $((SECONDS - begun)) "proposal $number does not start: $(tail -n 1 "$folder/$number.out")"
    elif ! report "oci:$work/built:$name" "$folder/$number.report"; then
        words=$(tail -n 1 "$folder/$number.report.errors")
        row FAIL "$case" $((SECONDS - begun)) "no report of proposal $number: $words"
    else
        words=$(python3 "$here/judge.py" compare "$here/cases/$case" "$folder" "$number" 2>&1) || result=FAIL
        row "$result" "$case" $((SECONDS - begun)) "$words"
    fi
}

try() { # CASE
    local case=$1 folder=$work/run/$1 log=$work/log/$1.original begun=$SECONDS count words number result=ok
    local dockerfile=$here/cases/$1/Dockerfile
    rm -rf "$folder" "$work/built/$case".*
    mkdir -p "$folder"
    note "$case: the original"
    if ! build "original/$case" "$case" "$dockerfile" "$work/originals" "$case" "$log"; then
        row FAIL "$case" $((SECONDS - begun)) "the original does not build: $(tail -n 1 "$log")"
        return
    fi
    cp "$dockerfile" "$work/originals/$case.Dockerfile"
    if [[ ${CUTAWAY_REWRITE_ONLY:-} == originals ]]; then
        row ok "$case" $((SECONDS - begun)) "original"
        return
    fi
    note "$case: what is proposed"
    if ! "$cutaway" dockerfile "oci:$work/originals:$case" --dockerfile "$dockerfile" --format json \
        >"$folder/proposals.json" 2>"$folder/errors"; then
        row FAIL "$case" $((SECONDS - begun)) "cutaway dockerfile: $(tail -n 1 "$folder/errors")"
        return
    fi
    if [[ ! -e $here/cases/$case/expected ]]; then
        words=$(python3 "$here/judge.py" nothing "$folder/proposals.json" 2>&1) || result=FAIL
        row "$result" "$case" $((SECONDS - begun)) "$words"
        return
    fi
    if ! start "original/$case" "$folder/original"; then
        row FAIL "$case" $((SECONDS - begun)) "the original does not start: $(tail -n 1 "$folder/original.out")"
        return
    fi
    if ! report "oci:$work/originals:$case" "$folder/original.report"; then
        words=$(tail -n 1 "$folder/original.report.errors")
        row FAIL "$case" $((SECONDS - begun)) "no report of the original: $words"
        return
    fi
    count=$(python3 "$here/judge.py" count "$folder/proposals.json")
    if [[ $count == 0 ]]; then row FAIL "$case" $((SECONDS - begun)) "nothing is proposed"; fi
    if [[ ${CUTAWAY_REWRITE_ALL:-} != 1 && $count -gt 1 ]]; then count=1; fi
    for ((number = 0; number < count; number++)); do
        note "$case: proposal $number"
        proposal "$case" "$number"
    done
    release_containers
}

failed=0
for case in "${cases[@]}"; do
    [[ -f $here/cases/$case/Dockerfile ]] || fail "no case $case"
    try "$case"
done
exit "$failed"
