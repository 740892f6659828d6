# shellcheck shell=bash
# Sourced by build.sh: buildah with a storage of its own, and a registry on the loopback that stands for Docker Hub.
# Expects $work (a folder) and $cache; uses no configuration of this machine's containers.

fail() { printf 'error: %s\n' "$*" >&2; exit 2; }
note() { printf 'rewrite: %4d s  %s\n' "$SECONDS" "$*" >&2; }

# Where the packages lie for apt inside the builds, as NVIDIA's local installer has it.
repository_inside=/var/cuda-repo-ubuntu2204-12-9-local

buildah() { command buildah --root "$store/root" --runroot "$store/run" --storage-driver "$driver" "$@"; }

# bud TAG FOLDER DOCKERFILE [OPTION...]: builds as a user would, with the networks of this machine.
bud() {
    local tag=$1 folder=$2 file=$3
    shift 3
    buildah bud --isolation chroot --layers --signature-policy "$work/policy.json" --identity-label=false \
        --volume "$cache/repository:$repository_inside:ro" --volume "$cache/wheels:/var/wheels:ro" \
        --volume "$work/pip.conf:/etc/pip.conf:ro" \
        --tag "$tag" --file "$file" "$@" "$folder"
}

# How skopeo names an image of the storage.
stored() { printf 'containers-storage:[%s@%s/root+%s/run]%s' "$driver" "$store" "$store" "$1"; }

# publish IMAGE NAME: into the registry. Layers stay as they are: packing them would take longer than the rest.
publish() {
    skopeo --policy "$work/policy.json" copy --quiet --dest-tls-verify=false --preserve-digests \
        "$(stored "$1")" "docker://127.0.0.1:$port/$2"
}

# save IMAGE FOLDER TAG: into an OCI layout, as it is.
save() {
    skopeo --policy "$work/policy.json" copy --quiet --dest-oci-accept-uncompressed-layers \
        "$(stored "$1")" "oci:$2:$3"
}

# The newest storage that works here: overlay shares the layers, vfs copies them.
open_store() { # FOLDER
    store=$1
    mkdir -p "$store"
    for driver in overlay vfs; do
        if buildah images >/dev/null 2>"$work/log/storage"; then
            return
        fi
        rm -rf "$store"
        mkdir -p "$store"
    done
    fail "buildah cannot keep images here: $(tail -n 1 "$work/log/storage")"
}

# Containers stay mounted for judge.py until they are no longer wanted.
release_containers() {
    buildah umount --all >/dev/null 2>&1 || true
    buildah rm --all >/dev/null 2>&1 || true
}

# Lets go of all that buildah has mounted in the storage.
release_store() {
    release_containers
    umount "$store/root/overlay" 2>/dev/null || true
}

# Starts the registry at a port that the kernel picks.
start_registry() { # FOLDER
    local log=$work/log/registry
    port=
    mkdir -p "$1"
    rm -f "$log"
    cat >"$work/registry.yml" <<YML
version: 0.1
log: {level: info}
storage: {filesystem: {rootdirectory: $1}}
http: {addr: "127.0.0.1:0"}
YML
    docker-registry serve "$work/registry.yml" >"$log" 2>&1 &
    registry=$!
    for _ in {1..100}; do
        port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$log" 2>/dev/null | head -n 1 || true)
        if [[ -n $port ]]; then break; fi
        kill -0 "$registry" 2>/dev/null || fail "the registry does not run: $(tail -n 1 "$log")"
        sleep 0.1
    done
    [[ -n $port ]] || fail "the registry does not listen"
    printf '{"default": [{"type": "insecureAcceptAnything"}]}\n' >"$work/policy.json"
    cat >"$work/registries.conf" <<CONF
unqualified-search-registries = ["docker.io"]
short-name-mode = "permissive"
[[registry]]
prefix = "docker.io"
location = "127.0.0.1:$port"
insecure = true
[[registry]]
prefix = "ghcr.io/astral-sh"
location = "127.0.0.1:$port/astral-sh"
insecure = true
CONF
    local other
    for other in nvcr.io gcr.io ghcr.io quay.io public.ecr.aws registry.k8s.io mcr.microsoft.com; do
        printf '[[registry]]\nlocation = "%s"\nblocked = true\n' "$other" >>"$work/registries.conf"
    done
    export CONTAINERS_REGISTRIES_CONF=$work/registries.conf
}

stop_registry() {
    if [[ -n ${registry:-} ]]; then
        kill "$registry" 2>/dev/null || true
        wait "$registry" 2>/dev/null || true
        registry=
    fi
}

# Starts the index of Python's packages at a port that the kernel picks, and says where pip finds it.
start_index() {
    rm -f "$work/index.port"
    python3 "$here/index.py" "$cache/wheels" "$work/index.port" >"$work/log/index" 2>&1 &
    index=$!
    for _ in {1..100}; do
        if [[ -f $work/index.port ]]; then break; fi
        sleep 0.1
    done
    [[ -f $work/index.port ]] || fail "the index does not run: $(tail -n 1 "$work/log/index")"
    # pip caches what comes over HTTP from trusted hosts only.
    printf '[global]\nindex-url = http://127.0.0.1:%s/simple\ntrusted-host = 127.0.0.1\nbreak-system-packages = true\n' \
        "$(<"$work/index.port")" >"$work/pip.conf"
}

stop_index() {
    if [[ -n ${index:-} ]]; then
        kill "$index" 2>/dev/null || true
        wait "$index" 2>/dev/null || true
        index=
    fi
}
