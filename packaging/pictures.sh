#!/usr/bin/env bash
# Makes the pictures of README and manual from the real window, light and dark: of the samples, and of one large image
# if it is named.
#
#   packaging/pictures.sh CUTAWAY OUT [IMAGE]
#
# Writes OUT/NAME-THEME.png; the repository has them in assets/manual/pictures, made with the devel image of
# benches/devel_image.sh. Requires xvfb-run, xdotool and ImageMagick.
set -euo pipefail
[[ $# -ge 2 ]] || { sed -n '5p' "$0" >&2; exit 2; }
for tool in xvfb-run xdotool import convert; do
    command -v "$tool" >/dev/null || { echo "error: $tool is not installed" >&2; exit 2; }
done
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2") image=${3:-}

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export program out image home
export HOME=$home XDG_DATA_HOME=$home/data XDG_CACHE_HOME=$home/cache CUTAWAY_SETTINGS=$home/settings.toml
export LIBGL_ALWAYS_SOFTWARE=1
unset WAYLAND_DISPLAY WAYLAND_SOCKET DISPLAY DOCKER_HOST CONTAINER_HOST

cat >"$home/take.sh" <<'TAKE'
set -eu
for _ in $(seq 50); do xdotool getdisplaygeometry >/dev/null 2>&1 && break; sleep 0.2; done

# Opens an image and waits until its window no longer changes.
open() {
    "$program" "$@" 2>"$home/errors" & pid=$!
    window=
    for _ in $(seq 300); do
        window=$(xdotool search --onlyvisible --pid $pid 2>/dev/null | tail -1)
        [ -n "$window" ] && break
        kill -0 $pid 2>/dev/null || { cat "$home/errors" >&2; exit 1; }
        sleep 0.2
    done
    [ -n "$window" ] || { echo "error: no window" >&2; exit 1; }
    xdotool windowmove "$window" 0 0 windowsize "$window" 1200 800 windowfocus "$window"
    # Nothing is highlighted below the pointer.
    xdotool mousemove 1199 799
    still
}
# Waits until two pictures in a row are the same.
still() {
    for _ in $(seq 120); do
        import -window root "$home/one.png"; sleep 0.5; import -window root "$home/two.png"
        [ "$(convert "$home/one.png" rgba:- | cksum)" = "$(convert "$home/two.png" rgba:- | cksum)" ] && return
    done
    echo "note: the window does not come to rest" >&2
}
press() { xdotool key "$1"; still; }
# Saves what is shown, in few colours: a tenth of the bytes.
take() { convert "$home/two.png" +dither -colors 200 -strip "$out/$1-$theme.png"; echo "$out/$1-$theme.png"; }
close() {
    xdotool key ctrl+q
    for _ in $(seq 50); do kill -0 $pid 2>/dev/null || return 0; sleep 0.1; done
    kill $pid
}

for theme in light dark; do
    printf '[display]\ntheme = "%s"\n[engines]\nlist = false\n' "$theme" >"$CUTAWAY_SETTINGS"
    open sample:devel
    press ctrl+4
    take findings
    press ctrl+5
    take dockerfile
    close
    open sample:devel --compare sample:runtime
    press ctrl+6
    take compare
    close
    if [ -n "$image" ]; then
        open "$image"
        take overview
        press ctrl+3
        take cuda
        press ctrl+m
        take treemap
        press ctrl+2
        # A library, and why it is there.
        press ctrl+f
        xdotool type --delay 30 'libcublasLt'
        for _ in 1 2 3 4; do press Down; done
        take layers
        press ctrl+i
        take why
        close
    fi
done
TAKE
xvfb-run -a -s '-screen 0 1200x800x24 -noreset' bash "$home/take.sh"
