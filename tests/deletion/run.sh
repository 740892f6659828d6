#!/usr/bin/env bash
# The deletion test: deletes everything that Cutaway calls safe from real images, and asks again what worked before.
#
#   tests/deletion/run.sh WORK CUTAWAY [CASE...]      the cases are the folders of tests/deletion/cases
#
# For each case the image is built from its Dockerfile with buildah, `cutaway report` is asked, and two containers
# are made. In the first one ask.py records what works: every ELF file's libraries by the image's own loader, every
# Python module (a fresh process for each top-level name), every module of Perl, Node.js and R, every program on PATH
# with --version or --help, the image's command, and the commands of the case (its file `asks`). In the second one all
# paths of all safe findings are deleted, then the same is recorded. What worked and fails is a fault, and so is a
# difference between the planned and the freed bytes. One line a case with figures, one line a fault; the exit status
# is 1 when there is a fault, 2 when there is none but not every image could be built. What was recorded stays in
# WORK/run/CASE.
#
# Packages come from where this machine has them: Debian's by apt, PyPI's by pip and uv, npm's by npm. The base images
# are those of tests/rewrite/bases.sh, kept in $CUTAWAY_REWRITE_CACHE, else in the user's cache folder; those with CUDA
# are made when a case asks for them. Needs root, or sudo without a password. Without names all cases run, which takes
# hours and 20 GB; `quick` stands for the cases of tests/all/deletion.rs.
# CUTAWAY_DELETION_SLIM=1 asks the image that `cutaway slim` writes instead of one whose paths were deleted, after
# trees.py has compared both. CUTAWAY_DELETION_CLEAN=1 leaves nothing in WORK; CUTAWAY_DELETION_KEEP=1 keeps each image as oci:WORK/images:CASE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rewrite=$here/../rewrite
quick=(uv-venv conda-prefix names)
[[ $# -ge 2 ]] || { sed -n '2,23s/^# \{0,1\}//p' "$0" >&2; exit 2; }
home_cache=${XDG_CACHE_HOME:-$HOME/.cache}/cutaway
: "${CUTAWAY_REWRITE_CACHE:=$home_cache/rewrite}" "${CUTAWAY_WHEELS:=$home_cache/wheels}"
if [[ $(id -u) != 0 ]]; then
    exec sudo -n env "PATH=$PATH:/usr/sbin:/sbin" "CUTAWAY_REWRITE_CACHE=$CUTAWAY_REWRITE_CACHE" \
        "CUTAWAY_WHEELS=$CUTAWAY_WHEELS" "CUTAWAY_DELETION_CLEAN=${CUTAWAY_DELETION_CLEAN:-}" \
        "CUTAWAY_DELETION_KEEP=${CUTAWAY_DELETION_KEEP:-}" "CUTAWAY_DELETION_SLIM=${CUTAWAY_DELETION_SLIM:-}" \
        "$here/run.sh" "$@"
fi
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C.UTF-8 CUTAWAY_NO_CACHE=1
mkdir -p "$1" "$CUTAWAY_REWRITE_CACHE"
work=$(cd "$1" && pwd)
cache=$(cd "$CUTAWAY_REWRITE_CACHE" && pwd)
wheels=$CUTAWAY_WHEELS
cutaway=$(realpath "$2")
shift 2
# shellcheck source=../rewrite/engine.sh
. "$rewrite/engine.sh"
# shellcheck source=../rewrite/bases.sh
. "$rewrite/bases.sh"
note() { printf 'deletion: %4d s  %s\n' "$SECONDS" "$*" >&2; }
[[ -x $cutaway ]] || fail "$cutaway is no program"
for tool in buildah skopeo debootstrap python3 unshare flock; do
    command -v "$tool" >/dev/null || fail "not installed: $tool"
done
[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the images are for Linux on x86-64"
case ${1:-all} in
all) mapfile -t cases < <(cd "$here/cases" && printf '%s\n' *) ;;
quick) cases=("${quick[@]}") ;;
*) cases=("$@") ;;
esac
mkdir -p "$work/log" "$work/run" "$work/images" "$work/before"
# shellcheck disable=SC2317
finish() {
    stop_registry
    if [[ -n ${store:-} ]]; then release_store; fi
    rm -rf "$work/distribution" "$work/context" "$work/rootfs"
    if [[ ${CUTAWAY_DELETION_CLEAN:-} == 1 ]]; then
        rm -rf "$work"/{store,images,slim,run,before,log,machine,policy.json,registries.conf,registry.yml}
    fi
}
trap finish EXIT
trap 'exit 130' INT TERM
trap 'note "line $LINENO of ${BASH_SOURCE[0]} failed"' ERR

# How programs in the builds reach this machine's package indexes: its certificates, and no configuration
# of pip and uv. They are arguments of the build, declared in every stage; none becomes part of an image's environment.
machine_settings() {
    local bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} name
    mkdir -p "$work/machine"
    settings=(PIP_CONFIG_FILE=/dev/null PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore
        PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_DEFAULT_TIMEOUT=180 UV_NO_CONFIG=1 UV_HTTP_TIMEOUT=180
        DEBIAN_FRONTEND=noninteractive)
    if [[ -f $bundle ]]; then
        cp "$bundle" "$work/machine/certificates.pem"
        for name in PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS npm_config_cafile; do
            settings+=("$name=/run/machine/certificates.pem")
        done
    fi
    for name in PIP_INDEX_URL UV_DEFAULT_INDEX npm_config_registry; do
        if [[ -n ${!name:-} ]]; then settings+=("$name=${!name}"); fi
    done
    printf '{"default": [{"type": "insecureAcceptAnything"}]}\n' >"$work/policy.json"
    printf 'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "permissive"\n' >"$work/registries.conf"
    export CONTAINERS_REGISTRIES_CONF=$work/registries.conf
}

# build TAG FOLDER DOCKERFILE
build() {
    local names=("${settings[@]%%=*}")
    # The images with CUDA name a folder of packages that is not in them.
    local packages=()
    if [[ -d $cache/repository ]]; then packages=(--volume "$cache/repository:$repository_inside:ro"); fi
    sed -E "/^FROM /a ARG ${names[*]}" "$3" >"$work/machine/Dockerfile"
    buildah bud --isolation chroot --layers --pull=never --signature-policy "$work/policy.json" --identity-label=false \
        --volume "$work/machine:/run/machine:ro" "${packages[@]}" "${settings[@]/#/--build-arg=}" --tag "$1" \
        --file "$work/machine/Dockerfile" "$2"
}

# The smallest base is a tar file; those with CUDA and Python come from the registry that the rewrite tests fill.
provide_bases() { # DOCKERFILE
    local image
    while read -r image; do
        case $image in
        debian:*)
            if ! buildah inspect --type image "docker.io/library/$image" >/dev/null 2>&1; then
                distribution
                rm -rf "$work/context"
                mkdir "$work/context"
                ln "$cache/bookworm.tar" "$work/context/debian.tar" 2>/dev/null ||
                    cp "$cache/bookworm.tar" "$work/context/debian.tar"
                build "docker.io/library/$image" "$work/context" "$rewrite/bases/debian.Dockerfile" \
                    >"$work/log/debian" 2>&1 || fail "$image: $(tail -n 2 "$work/log/debian")"
                rm -rf "$work/context"
            fi
            ;;
        localhost/deletion/*)
            local other=${image#localhost/deletion/}
            buildah inspect --type image "$image" >/dev/null 2>&1 || make_image "$other" || return 1
            ;;
        *)
            if ! buildah inspect --type image "docker.io/$image" >/dev/null 2>&1 &&
                ! buildah inspect --type image "docker.io/library/$image" >/dev/null 2>&1; then
                (
                    trap 'stop_registry; stop_index' EXIT
                    here=$rewrite
                    make_bases
                ) || exit 2
                start_registry "$cache/registry"
                buildah pull --quiet --signature-policy "$work/policy.json" "docker.io/$image" >"$work/log/pull" 2>&1 ||
                    fail "$image: $(tail -n 2 "$work/log/pull")"
                stop_registry
            fi
            ;;
        esac
    done < <(sed -n -E 's/^FROM ([^ ]+[:/][^ ]+).*/\1/p' "$1")
}

make_image() { # CASE
    provide_bases "$here/cases/$1/Dockerfile"
    note "$1: building"
    build "localhost/deletion/$1" "$here/cases/$1" "$here/cases/$1/Dockerfile" >"$work/log/$1" 2>&1
}

container() { buildah from --quiet --pull-never --signature-policy "$work/policy.json" "localhost/deletion/$1"; }
# What works in a container of the image.
ask() { # ROOT CONFIG CASE OUT [BEFORE]
    unshare --mount --pid --net --ipc --uts --fork --kill-child -- \
        python3 "$here/ask.py" ask "$1" "$2" "$(asks_of "$3")" "$4" ${5:+"$5"}
}

asks_of() { if [[ -f $here/cases/$1/asks ]]; then echo "$here/cases/$1/asks"; else echo /dev/null; fi; }

row() { # RESULT CASE SECONDS TEXT
    printf '%-16s %-5s %4s s  %s\n' "$2" "$1" "$3" "$4"
    case $1 in
    ok) ;;
    SKIP) skipped=1 ;;
    *) failed=1 ;;
    esac
}

try() { # CASE
    local case=$1 folder=$work/run/$1 begun=$SECONDS log=$work/log/$1 first second root words key result=ok
    rm -rf "$folder"
    mkdir -p "$folder"
    if ! make_image "$case"; then
        row SKIP "$case" $((SECONDS - begun)) "does not build: $(grep -v Warning "$log" | tail -n 3 | tr '\n' ' ')"
        return
    fi
    buildah inspect --type image "localhost/deletion/$case" >"$folder/config.json"
    note "$case: asking Cutaway"
    save "localhost/deletion/$case" "$work/images" "$case" >>"$log" 2>&1 || fail "$case: $(tail -n 1 "$log")"
    if ! "$cutaway" report "oci:$work/images:$case" --format json >"$folder/report.json" 2>"$folder/errors"; then
        row FAIL "$case" $((SECONDS - begun)) "cutaway report: $(tail -n 1 "$folder/errors")"
        return
    fi
    if [[ ${CUTAWAY_DELETION_SLIM:-} == 1 ]]; then
        note "$case: writing the slim image"
        rm -rf "$work/slim"
        if ! "$cutaway" slim "oci:$work/images:$case" -o "oci:$work/slim:$case" --format json >"$folder/slim.json" \
            2>"$folder/errors"; then
            row FAIL "$case" $((SECONDS - begun)) "cutaway slim: $(grep error "$folder/errors" | tail -n 1)"
            return
        fi
    fi
    if [[ ${CUTAWAY_DELETION_KEEP:-} != 1 ]]; then rm -rf "$work/images"; fi
    # What works in an image need not be asked again for another program CUTAWAY. After a change of ask.py, remove it.
    key=$(buildah inspect --type image --format '{{.FromImageID}}' "localhost/deletion/$case" |
        cat - "$(asks_of "$case")" | sha256sum | cut -c 1-32)
    if [[ ! -f $work/before/$key.json ]]; then
        note "$case: before"
        first=$(container "$case")
        root=$(buildah mount "$first")
        ask "$root" "$folder/config.json" "$case" "$work/before/$key.partial" 2>"$folder/before.log" ||
            fail "$case: $(tail -n 1 "$folder/before.log")"
        mv "$work/before/$key.partial" "$work/before/$key.json"
        buildah umount "$first" >/dev/null
        buildah rm "$first" >/dev/null
    fi
    ln -f "$work/before/$key.json" "$folder/before.json"
    if [[ ${CUTAWAY_DELETION_SLIM:-} == 1 ]]; then
        note "$case: comparing with the slim image, and after"
        first=$(container "$case")
        second=$(buildah from --quiet --signature-policy "$work/policy.json" "oci:$work/slim:$case")
        root=$(buildah mount "$second")
        python3 "$here/trees.py" "$(buildah mount "$first")" "$root" "$folder/slim.json" "$folder/deleted.json" \
            >"$folder/trees.log" 2>"$folder/deleted.log" ||
            row FAIL "$case" $((SECONDS - begun)) "$(tail -n 1 "$folder/deleted.log"): $(head -n 3 "$folder/trees.log")"
        buildah umount "$first" >/dev/null
        buildah rm "$first" >/dev/null
        rm -rf "$work/slim"
    else
        note "$case: deleting, and after"
        second=$(container "$case")
        root=$(buildah mount "$second")
        python3 "$here/ask.py" delete "$root" "$folder/report.json" "$folder/deleted.json" 2>"$folder/deleted.log" ||
            fail "$case: $(tail -n 1 "$folder/deleted.log")"
    fi
    ask "$root" "$folder/config.json" "$case" "$folder/after.json" "$folder/before.json" 2>"$folder/after.log" ||
        fail "$case: $(tail -n 1 "$folder/after.log")"
    buildah umount "$second" >/dev/null
    buildah rm "$second" >/dev/null
    words=$(python3 "$here/ask.py" judge "$folder" 2>&1) || result=FAIL
    row "$result" "$case" $((SECONDS - begun)) "$words"
}

# One at a time: the cache is shared.
exec 9>"$cache/lock"
flock 9
machine_settings
open_store "$work/store"
failed=0 skipped=0
for case in "${cases[@]}"; do
    [[ -f $here/cases/$case/Dockerfile ]] || fail "no case $case"
    try "$case"
done
if [[ $skipped == 1 && $failed == 0 ]]; then
    echo "error: not all images could be built" >&2
    exit 2
fi
exit "$failed"
