#!/usr/bin/env bash
# Installs a .deb into a new Debian in a folder, and starts what it installed: version, a report, and the window.
#
#   packaging/test_deb.sh DEB WORK [SUITE]
#
# Requires root, debootstrap and a Debian mirror (MIRROR, http://deb.debian.org/debian by default). WORK is kept, and a
# later run uses the system in it again.
set -euo pipefail
[[ $# -ge 2 ]] || { sed -n '4p' "$0" >&2; exit 2; }
deb=$(realpath "$1") suite=${3:-bookworm}
mkdir -p "$2"
work=$(realpath "$2") mirror=${MIRROR:-http://deb.debian.org/debian}
system=$work/$suite

if [[ ! -e $system/.done ]]; then
    debootstrap --variant=minbase --include=ca-certificates,xvfb,xauth,libgl1-mesa-dri,imagemagick,xdotool \
        "$suite" "$system" "$mirror" >"$work/debootstrap.log"
    touch "$system/.done"
fi
mount --bind /proc "$system/proc"
mount --bind /dev "$system/dev"
trap 'umount "$system/proc" "$system/dev"' EXIT
inside() { chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

cp "$deb" "$system/cutaway.deb"
inside apt-get install --yes --quiet=2 /cutaway.deb >"$work/install.log" 2>&1 || { tail "$work/install.log"; exit 1; }
inside dpkg --verify cutaway
inside cutaway --version
inside cutaway report sample:devel --format json >"$work/report.json"
grep --quiet '"complete": true' "$work/report.json"
for file in man/man1/cutaway.1.gz man/man1/cutaway-report.1.gz applications/cutaway.desktop mime/packages/cutaway.xml \
    icons/hicolor/scalable/apps/cutaway.svg bash-completion/completions/cutaway; do
    [[ -s $system/usr/share/$file ]] || { echo "error: /usr/share/$file is not installed" >&2; exit 1; }
done

# The window, with what the package recommends and nothing of this machine.
cat >"$system/window.sh" <<'WINDOW'
set -eu
cutaway sample:devel 2>/tmp/errors & pid=$!
for _ in $(seq 150); do
    window=$(xdotool search --onlyvisible --pid $pid 2>/dev/null | tail -1)
    [ -n "$window" ] && [ "$(xdotool getwindowname "$window")" = "sample:devel – Cutaway" ] && break
    kill -0 $pid || { cat /tmp/errors >&2; exit 1; }
    sleep 0.2
done
sleep 2
import -window root /tmp/window.png
colours=$(identify -format %k /tmp/window.png)
kill $pid
echo "window: $colours colours"
[ "$colours" -gt 60 ]
WINDOW
inside env LIBGL_ALWAYS_SOFTWARE=1 LANG=C.UTF-8 xvfb-run -a -s '-screen 0 1200x800x24 -noreset' bash /window.sh
cp "$system/tmp/window.png" "$work/window.png"
inside apt-get remove --yes --quiet=2 cutaway >>"$work/install.log" 2>&1
[[ ! -e $system/usr/bin/cutaway ]] || { echo "error: not removed" >&2; exit 1; }
echo "passed: $(basename "$deb") on $suite"
