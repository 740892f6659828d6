#!/bin/sh
# Installs Cutaway from this folder, or removes it again.
#
#   ./install.sh [--uninstall] [PREFIX]       PREFIX is ~/.local by default; /usr/local for all users
set -eu
here=$(cd "$(dirname "$0")" && pwd)
remove=0
if [ "${1:-}" = --uninstall ]; then
    remove=1
    shift
fi
case ${1:-} in
    -*) sed -n '4p' "$0" >&2; exit 2 ;;
esac
prefix=${1:-${HOME:?HOME is not set}/.local}

cd "$here"
find bin share -type f | while IFS= read -r file; do
    if [ "$remove" = 1 ]; then
        rm -f "$prefix/$file"
    else
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that runs is replaced, not written to.
        cp -p "$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    fi
done

# Menus and file types are indexed where the desktop has the tools for it.
for tool in "update-mime-database $prefix/share/mime" "update-desktop-database $prefix/share/applications" \
    "gtk-update-icon-cache --quiet --ignore-theme-index $prefix/share/icons/hicolor"; do
    if command -v "${tool%% *}" >/dev/null; then
        # shellcheck disable=SC2086 -- a command and its arguments
        $tool || echo "note: ${tool%% *} failed" >&2
    fi
done
if [ "$remove" = 1 ]; then
    echo "Removed Cutaway from $prefix. Settings and cache stay: see cutaway explain settings."
    exit 0
fi
echo "Installed $prefix/bin/cutaway"
case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "note: $prefix/bin is not in PATH" >&2 ;;
esac
