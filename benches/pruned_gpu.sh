#!/usr/bin/env bash
# Work on a real GPU before and after `cutaway slim --target`, compared bit for bit.
#
#   benches/pruned_gpu.sh CUTAWAY [--steps STEP,...] [--target 9.0] [--wrong-target 8.0] [--slim-args '--shrink']
#                         [--work DIR] [--out DIR] [--seconds N] [--only WORK...]
#
# Needs an NVIDIA GPU of the target, an installed torch, python3 and some 20 GB below $TMPDIR. Nothing else, and no
# network. Steps, all by default, each of which can be a call of its own as long as --work stays:
#   image    packs the installed torch and all that it requires into an OCI layout, and unpacks that
#   slim     writes the image for the target, with an empty plan; unpacks it; nothing but the files that the
#            report names may differ
#   work     runs work.py on both copies in fresh processes, CUDA_MODULE_LOADING lazy and eager. What differs
#            between runs of the original is named and not counted. Goes on where a call of --seconds ended
#   startup  import and first kernel, ten times each, alternating
#   wrong    the same for another target, whose code this GPU cannot run: error 209 and no wrong result
#   report   prints a table
# table.md and result.json go to --out (or $OUT). The exit status is 1 when anything differs. For trying the
# script out: --device cpu, --package NAME, --site DIR.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in
    '' | -h | --help) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
cutaway=$1
shift
exec python3 "$here/pruned_gpu/prove.py" --cutaway "$cutaway" "$@"
