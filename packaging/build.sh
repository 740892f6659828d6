#!/usr/bin/env bash
# Builds what is shipped: a .deb and a tarball with an install script, with their checksums.
#
#   packaging/build.sh [--profile NAME] [--binary FILE] OUT
#
# The profile is `dist` by default, which takes about half an hour of processor time. --binary packs a program that was
# built before. Requires cargo-deb (`cargo install cargo-deb`) for the .deb; without it only the tarball is built, and the
# script says so and fails, unless --no-deb.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

profile=dist binary='' deb=1
while [[ ${1:-} == --* ]]; do
    case $1 in
        --profile) profile=$2; shift ;;
        --binary) binary=$(realpath "$2"); shift ;;
        --no-deb) deb=0 ;;
        *) echo "error: unknown option $1" >&2; exit 2 ;;
    esac
    shift
done
[[ $# == 1 ]] || { sed -n '3,5p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$root"

target=${CARGO_TARGET_DIR:-$root/target}
if [[ -z $binary ]]; then
    # The linker of this target merges functions with the same code. Elsewhere it is another one, which may not.
    link=()
    [[ $(uname -sm) != 'Linux x86_64' ]] || link=(-C link-arg=-Wl,--icf=all)
    cargo rustc --locked --profile "$profile" --bin cutaway -- "${link[@]}"
    binary=$target/$profile/cutaway
fi
version=$("$binary" --version | cut -d' ' -f2)
name=cutaway-$version-linux-$(uname -m)

# Man pages and completion scripts come from the program itself.
files=$root/target/package-files
rm -rf "$files"
"$binary" package-files "$files"

bytes=$(stat --format=%s "$binary")
echo "binary: $bytes bytes" >&2
if [[ $profile == dist ]] && ((bytes > 40000000)); then
    echo "error: the binary has $bytes bytes, more than 40 MB" >&2
    exit 1
fi

if [[ $deb == 1 ]]; then
    command -v cargo-deb >/dev/null || { echo "error: cargo-deb is not installed: cargo install cargo-deb" >&2; exit 2; }
    # cargo-deb looks for the program where cargo puts it.
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    mkdir -p "$place/release"
    cp "$binary" "$place/release/cutaway"
    CARGO_TARGET_DIR=$place cargo deb --no-build --no-strip --output "$out/"
fi

# The tree of the tarball is that below /usr, with the script beside it.
stage=$(mktemp -d)
trap 'rm -rf "$stage" "${place:-}"' EXIT
tree=$stage/$name
install -D -m 755 "$binary" "$tree/bin/cutaway"
cp -r "$files/share" "$tree/share"
install -D -m 644 packaging/linux/cutaway.desktop "$tree/share/applications/cutaway.desktop"
install -D -m 644 -t "$tree/share/metainfo" packaging/linux/*.metainfo.xml
install -D -m 644 packaging/linux/cutaway.mime.xml "$tree/share/mime/packages/cutaway.xml"
install -D -m 644 assets/icons/cutaway.svg "$tree/share/icons/hicolor/scalable/apps/cutaway.svg"
install -D -m 644 assets/icons/cutaway.png "$tree/share/icons/hicolor/128x128/apps/cutaway.png"
for size in 32 48 64 256; do
    install -D -m 644 "packaging/linux/cutaway-$size.png" "$tree/share/icons/hicolor/${size}x$size/apps/cutaway.png"
done
install -D -m 644 -t "$tree/share/doc/cutaway" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT
install -m 755 packaging/install.sh "$tree/install.sh"
# The same bytes from the same program: no time, owner or order of the machine.
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime='2020-01-01 00:00Z' -C "$stage" "$name" |
    gzip --no-name --best >"$out/$name.tar.gz"

(cd "$out" && sha256sum -- *.tar.gz $([[ $deb == 1 ]] && echo '*.deb') >SHA256SUMS && cat SHA256SUMS)
