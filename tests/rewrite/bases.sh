# shellcheck shell=bash
# Sourced by build.sh: makes the stand-ins of base images once, into a registry's folder in the cache.

# The packages of Debian come from where this machine has them; nothing of that is written down here.
machine_sources() { # ROOTFS
    local codename
    codename=$(. /etc/os-release && echo "${ID:-}-${VERSION_CODENAME:-}")
    if [[ $codename == debian-bookworm ]]; then
        rm -f "$1/etc/apt/sources.list"
        local file
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian*.{sources,list}; do
            if [[ -f $file ]]; then cp "$file" "$1$file"; fi
        done
    fi
    # Proxies and the like.
    apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)' \
        >"$1/etc/apt/apt.conf.d/90machine" || true
}

machine_mirror() {
    if [[ $(. /etc/os-release && echo "${ID:-}") == debian ]]; then
        cat /etc/apt/sources.list /etc/apt/sources.list.d/debian*.sources 2>/dev/null |
            sed -n -E 's#^(URIs:|deb( \[[^]]*\])?) *(https?://[^ ]*debian/?)( .*)?$#\3#p' | head -n 1 || true
    fi
}

# Debian's smallest system, as a tar file; made once.
distribution() {
    local mirror root=$work/distribution
    if [[ -f $cache/bookworm.tar ]]; then return; fi
    note "debootstrap of bookworm"
    mirror=$(machine_mirror)
    debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/log/debootstrap" 2>&1 ||
        fail "debootstrap: $(tail -n 2 "$work/log/debootstrap")"
    # What images of distributions leave out, and how they keep apt from leaving its files behind.
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/var/log/*.log
    find "$root/usr/share/doc" -mindepth 2 -type f ! -name copyright -delete
    rm -rf "$root"/usr/share/{man,info,locale}/*
    cat >"$root/etc/apt/apt.conf.d/docker-clean" <<'CONF'
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb || true"; };
APT::Update::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb || true"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
CONF
    machine_sources "$root"
    # Python's packages come out of a folder that build.sh mounts, whatever is asked for: uv's from there, pip's from
    # an index on the loopback, whose address build.sh mounts over pip.conf. All of that is there already, so that
    # mounting leaves nothing in the layers.
    mkdir -p "$root/var/wheels" "$root$repository_inside" "$root/etc/uv"
    printf '[global]\nno-index = true\nfind-links = /var/wheels\nbreak-system-packages = true\n' >"$root/etc/pip.conf"
    printf 'no-index = true\nfind-links = ["/var/wheels"]\n' >"$root/etc/uv/uv.toml"
    tar -C "$root" -cf "$cache/bookworm.tar.partial" .
    mv "$cache/bookworm.tar.partial" "$cache/bookworm.tar"
    rm -rf "$root"
}

as_ubuntu() { # ROOTFS
    cat >"$1/usr/lib/os-release" <<'PAPERS'
PRETTY_NAME="Ubuntu 22.04.5 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.5 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=jammy
PAPERS
}

# What the stand-ins depend on; another answer makes them anew.
bases_stamp() {
    find "$here/packages.py" "$here/wheels.py" "$here/bases.sh" "$here/bases" -type f -print0 | sort -z | xargs -0 cat | sha256sum
}

make_bases() {
    local stamp context=$work/context name
    stamp=$(bases_stamp)
    if [[ -f $cache/stamp && $(<"$cache/stamp") == "$stamp" ]]; then return; fi
    rm -rf "$cache/stamp" "$cache/registry" "$cache/repository" "$cache/wheels"
    distribution
    note "wheels"
    python3 "$here/wheels.py" "$wheels" "$cache/wheels" 2>"$work/log/wheels" ||
        fail "wheels.py: $(tail -n 1 "$work/log/wheels")"
    note "packages with NVIDIA's names"
    python3 "$here/packages.py" "$wheels" "$cache/repository" 2>"$work/log/packages" ||
        fail "packages.py: $(tail -n 1 "$work/log/packages")"
    cp -r "$here/bases" "$context"
    mkdir "$work/rootfs"
    tar -C "$work/rootfs" -xf "$cache/bookworm.tar"
    ln "$cache/bookworm.tar" "$context/debian.tar" 2>/dev/null || cp "$cache/bookworm.tar" "$context/debian.tar"
    as_ubuntu "$work/rootfs"
    tar -C "$work/rootfs" -cf "$context/ubuntu.tar" .
    rm -rf "$work/rootfs"
    start_registry "$cache/registry"
    start_index
    while read -r name image; do
        make_base "$name" "$image" "$context"
    done <<'IMAGES'
debian docker.io/library/debian:bookworm-slim
ubuntu docker.io/library/ubuntu:22.04
python docker.io/library/python:3.11-slim-bookworm
cuda-base docker.io/nvidia/cuda:12.9.1-base-ubuntu22.04
cuda-runtime docker.io/nvidia/cuda:12.9.1-runtime-ubuntu22.04
cuda-devel docker.io/nvidia/cuda:12.9.1-devel-ubuntu22.04
IMAGES
    stop_registry
    stop_index
    rm -rf "$context"
    printf '%s' "$stamp" >"$cache/stamp"
}

make_base() { # NAME IMAGE CONTEXT
    note "stand-in of $2"
    # The storage keeps it, so that the builds need not fetch it when the registry has the same.
    bud "$2" "$3" "$3/$1.Dockerfile" --pull=false >"$work/log/$1" 2>&1 || fail "$1: $(tail -n 5 "$work/log/$1")"
    publish "$2" "${2#*/}" >>"$work/log/$1" 2>&1 || fail "push of $2: $(tail -n 2 "$work/log/$1")"
}

# Stand-ins that few cases use, made when one does.
make_tools() { # CASE...
    local name image host
    while read -r name image host; do
        if [[ -d $cache/registry/docker/registry/v2/repositories/${image%%:*} ]]; then continue; fi
        if ! (cd "$here/cases" && grep -q "$image" "${@/%//Dockerfile}"); then continue; fi
        cp -r "$here/bases" "$work/context"
        if [[ $name == uv ]]; then
            python3 "$here/wheels.py" programs "$cache"/wheels/uv-*.whl "$work/context"
        fi
        make_base "$name" "$host/$image" "$work/context"
        rm -rf "$work/context"
    done <<'IMAGES'
micromamba mambaorg/micromamba:2.0.5 docker.io
uv astral-sh/uv:0.9.9 ghcr.io
IMAGES
}
