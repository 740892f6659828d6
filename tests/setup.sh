#!/usr/bin/env bash
# Installs what the tests use beside cargo: programs that make and check images, a display without a
# screen, and cargo-deny. What cannot be installed here is named, and the tests that need it skip.
set -euo pipefail

# Debian and Ubuntu packages, one group a line.
packages=(
    skopeo buildah umoci zstd # make images, in the forms that other tools write
    podman crun               # an engine with a socket
    # stand-ins of base images: a distribution, and a registry on the loopback that has them
    debootstrap debian-archive-keyring docker-registry
    apache2-utils openssl     # logins and certificates for that registry
    python3 python3-pip       # an independent walk over the same images; fetches real CUDA wheels
    binutils elfutils patchelf gdb # read and change ELF files
    musl-tools                # the other loader
    patch                     # applies proposed changes
    cmark-gfm                 # reads Markdown as GitHub does
    chromium                  # shows reports
    # a display in memory, with what a window opens at run time
    xvfb xauth libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon0 libxkbcommon-x11-0
    libegl1 libgl1 libgl1-mesa-dri libvulkan1 mesa-vulkan-drivers
    imagemagick xdotool x11-utils openbox # look at the window and press its keys, as at a desktop
    weston                    # the window under Wayland
    desktop-file-utils appstream shared-mime-info libglib2.0-bin man-db # judge what packages install
)
cargo_deny_version=0.20.2

note() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

is_installed() {
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends "$@"
}

install_packages() {
    local package missing=()
    if ! command -v apt-get >/dev/null; then
        note "no apt-get here; the tests use what is installed of: ${packages[*]}"
        return
    fi
    for package in "${packages[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    if [[ ${#missing[@]} == 0 ]]; then
        return
    fi
    if ! as_root true 2>/dev/null; then
        note "missing, and neither root nor sudo without a password: apt-get install ${missing[*]}"
        return
    fi
    note "installing ${missing[*]}"
    as_root apt-get update --quiet=2 || note "apt-get update failed; using the lists that are here"
    if ! apt_install "${missing[@]}" >/dev/null; then
        # One name that this system does not have must not cost the others.
        for package in "${missing[@]}"; do
            apt_install "$package" >/dev/null || note "could not install $package"
        done
    fi
}

install_cargo_deny() {
    if cargo deny --version >/dev/null 2>&1; then
        return
    fi
    note "installing cargo-deny $cargo_deny_version"
    # Unoptimised and without its optional parts it builds in about a minute, and is quick enough.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install cargo-deny --version "$cargo_deny_version" \
        --locked --debug --no-default-features --quiet || note "could not install cargo-deny"
}

cd "$(dirname "$0")/.."
install_packages
install_cargo_deny
tests/fetch_wheels.sh || note "the real wheels are not there; the tests that need them skip"
