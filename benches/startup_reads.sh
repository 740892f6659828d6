#!/usr/bin/env bash
# Compares what start-up is said to read with what it does: unpacks an image, drops its files from the page cache, runs
# its command in a chroot, and asks which of their pages are there again. By hand only.
#
#   benches/startup_reads.sh CUTAWAY IMAGE WORK [READAHEAD_KIB...]     default: as the disk is set
#
# IMAGE is an OCI layout, FOLDER:TAG, whose command ends by itself, such as `python3 -c "import torch"`. Requires root
# (chroot, readahead of the disk), umoci, fincore, python3.
set -euo pipefail
[[ $# -ge 3 ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cutaway=$(realpath "$1")
for tool in umoci fincore chroot python3; do
    command -v "$tool" >/dev/null || { echo "not installed: $tool" >&2; exit 2; }
done
mkdir -p "$3"
exec python3 "$(dirname "$(realpath "$0")")/startup_reads.py" "$cutaway" "$2" "$(realpath "$3")" "${@:4}"
