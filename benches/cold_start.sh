#!/usr/bin/env bash
# Compares the cold-start model with measured pulls: images of this machine's own files are pulled by skopeo from a
# registry on the loopback interface, throttled to two rates, and unpacked: gzip by umoci, zstd by GNU tar (umoci 0.4
# reads no zstd). Predictions use the rates of `cutaway calibrate` in the same folder, and the speed of the two tools
# relative to these, which layers of other content determine. Prints the table of assets/manual/cold-start.md. By
# hand only: nothing else should run on the machine, and nothing have been deleted on its disk for some minutes.
#
#   benches/cold_start.sh CUTAWAY WORK [SIZE_MB...]      default sizes: 50 200 500 1000 3000 6000
#                                                        CODEC=gzip or CODEC=zstd: only these
#
# Requires root (owners of unpacked files), skopeo, umoci, tar, zstd, gzip, python3, and 40 GB on an empty folder's disk.
set -euo pipefail
[[ $# -ge 2 ]] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cutaway=$(realpath "$1")
work=$2
shift 2
for tool in skopeo umoci tar zstd python3; do
    command -v "$tool" >/dev/null || { echo "not installed: $tool" >&2; exit 2; }
done
mkdir -p "$work"
exec python3 "$(dirname "$(realpath "$0")")/cold_start.py" "$cutaway" "$(realpath "$work")" "$@"
