#!/usr/bin/env bash
# What cutaway says of programs on this machine's GPU, held against what they do there.
#
#   benches/gpu_verdicts.sh CUTAWAY [--keep DIR]
#
# Builds small programs with nvcc (or $NVCC), lays each out as an image that starts it, asks
# `CUTAWAY report --target host`, and runs it: as it is, and once more with CUDA_DISABLE_PTX_JIT=1, under which a
# program fails that needs its PTX compiled. Needs nvcc of CUDA 12.9 or later, an NVIDIA GPU and python3; takes the
# first GPU only. $TARGET is asked for instead of `host`, for trying the script out.
# The exit status is 1 when verdict and truth differ, 2 when it could not be done.
set -euo pipefail
# What is measured or held against the truth is reading.
export CUTAWAY_NO_CACHE=1
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/gpu_verdicts

fail() { printf 'error: %s\n' "$*" >&2; exit 2; }

cutaway='' keep=''
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --keep) keep=${2:?}; shift 2 ;;
        -*) fail "unknown option $1" ;;
        *) cutaway=$1; shift ;;
    esac
done
[[ -x $cutaway ]] || fail "name the cutaway program: benches/gpu_verdicts.sh CUTAWAY"
cutaway=$(realpath "$cutaway")
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
command -v "$nvcc" >/dev/null || fail "there is no nvcc: set NVCC"
toolkit=${CUDA_HOME:-$(cd "$(dirname "$(realpath "$(command -v "$nvcc")")")/.." && pwd)}
export CUDA_VISIBLE_DEVICES=0 CUDA_CACHE_DISABLE=1
unset CUDA_FORCE_PTX_JIT CUDA_DISABLE_PTX_JIT

if [[ -n $keep ]]; then
    work=$keep
    mkdir -p "$work"
else
    work=$(mktemp -d "${TMPDIR:-/tmp}/cutaway-verdicts.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
fi

# A folder for the image NAME, and the code for nvcc: `sm_90`, `compute_80`, with `a` or `f`.
begin() { # NAME
    root=$work/$1/root
    rm -rf "${work:?}/$1"
    mkdir -p "$root/app"
}
code() { # CODE...
    local one
    flags=(-O2)
    for one in "$@"; do
        flags+=(-gencode "arch=compute_${one#*_},code=$one")
    done
}
# A program with such code in itself.
program() { # NAME CODE...
    begin "$1"
    code "${@:2}"
    "$nvcc" "${flags[@]}" "${extra[@]}" -DPROGRAM -o "$root/app/main" "$sources/kernel.cu" ||
        fail "nvcc cannot build $1"
}
# A program without, linked by LINKER, and a library with such code.
library() { # NAME LINKER CODE...
    begin "$1"
    code "${@:3}"
    "$nvcc" "${flags[@]}" -Xcompiler -fPIC -shared -o "$root/app/libkernel.so" "$sources/kernel.cu" ||
        fail "nvcc cannot build the library of $1"
    "$2" -o "$root/app/main" "$sources/caller.cpp" -L"$root/app" -lkernel || fail "$2 cannot build $1"
}

wrong=0 cases=0
row='%-34s %-17s %-17s %-38s %s\n'
# Judges and runs what was laid out. VARIABLES are the image's environment; the paths in them are those inside.
judge() { # NAME [VARIABLE=VALUE...]
    local name=$1 folder=$work/$1 said observed mark='' plain without status=0 variables=()
    shift
    python3 "$sources/oci.py" "$folder/image" "$root" "$@"
    "$cutaway" report "oci:$folder/image" --target "${TARGET:-host}" --format json -o "$folder/report.json" \
        2>"$folder/report.err" || status=$?
    [[ $status == 0 ]] || fail "cutaway ends with $status on $name: $(tail -n 3 "$folder/report.err")"
    said=$(python3 -c '
import json, sys
with open(sys.argv[1]) as file:
    target = json.load(file)["compatibility"]["targets"][0]
error = (target["reasons"][0].get("error") or {}) if target["verdict"] == "fails" else {}
number = error.get("code", "") if isinstance(error, dict) else error
print(target["verdict"], number or "-", target["why"], sep="\t")' "$folder/report.json")
    local verdict number why
    IFS=$'\t' read -r verdict number why <<<"$said"

    # Paths in the image's variables as they are out here, before those by which this machine finds its driver.
    local one
    for one in "$@"; do variables+=("${one%%=*}=$root${one#*=}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"); done
    plain=$(env "${variables[@]}" timeout 120 "$root/app/main" 2>&1 | tail -n 1) || true
    without=$(env "${variables[@]}" CUDA_DISABLE_PTX_JIT=1 timeout 120 "$root/app/main" 2>&1 | tail -n 1) || true
    if [[ $plain != ok ]]; then
        observed=fails
        # A number that is said must be the one that came.
        [[ $number == - || $number == "${plain%% *}" ]] || mark="said $number "
    elif [[ $without == ok ]]; then
        observed=runs
    else
        observed=runs-with-jit
    fi
    # That a compatibility driver is taken cannot be seen from here.
    [[ ${verdict/runs-with-compat/runs} == "$observed" ]] || mark=DIFFERS
    [[ -z $mark ]] || wrong=$((wrong + 1))
    cases=$((cases + 1))
    # The row is a format of our own.
    # shellcheck disable=SC2059
    printf "$row" "$name" "$verdict" "$observed" "${plain:0:38}" "$mark"
    [[ -z $mark ]] || printf '    %s\n' "$why"
}

# shellcheck disable=SC2059
printf "$row" program cutaway truth 'the program' ''
extra=(-cudart static)
while read -r name codes <&3; do
    # The codes are words.
    # shellcheck disable=SC2086
    program "$name" $codes
    judge "$name"
done 3<<'CASES'
sass-75 sm_75
sass-80 sm_80
sass-90 sm_90
sass-90a sm_90a
sass-100 sm_100
sass-100a sm_100a
sass-100f sm_100f
ptx-75 compute_75
ptx-80 compute_80
ptx-90a compute_90a
ptx-100 compute_100
ptx-100f compute_100f
sass-80-ptx-80 sm_80 compute_80
sass-80-ptx-90a sm_80 compute_90a
sass-90a-ptx-90a sm_90a compute_90a
sass-100f-ptx-75 sm_100f compute_75
several sm_75 sm_80 sm_90 sm_100 compute_100
CASES

cxx=${CXX:-g++}
library library-sass-90 "$cxx" sm_90
judge library-sass-90 LD_LIBRARY_PATH=/app
library library-sass-80 "$cxx" sm_80
judge library-sass-80 LD_LIBRARY_PATH=/app
library library-ptx-80 "$cxx" compute_80
judge library-ptx-80 LD_LIBRARY_PATH=/app
# nvcc puts a cubin without a kernel, for the oldest GPU, into a program that it links: nothing asks for it.
library empty-cubin-beside-sass-90 "$nvcc" sm_90
judge empty-cubin-beside-sass-90 LD_LIBRARY_PATH=/app

extra=(-cudart shared)
program shared-runtime sm_90
runtime=$(find -L "$toolkit" -name 'libcudart.so.[0-9][0-9]' -print -quit)
if [[ -n $runtime ]]; then
    cp -L "$runtime" "$root/app/"
    judge shared-runtime LD_LIBRARY_PATH=/app
else
    printf 'left out: shared-runtime: no libcudart below %s\n' "$toolkit"
fi

# PTX of a toolkit that is to come: error 222.
newer() { # NAME
    if python3 "$sources/newer_ptx.py" "$root/app/main" 9 9; then judge "$1"; else printf 'left out: %s\n' "$1"; fi
}
extra=(-cudart static -no-compress)
program newer-ptx compute_80
newer newer-ptx
program newer-ptx-beside-sass sm_90 compute_80
newer newer-ptx-beside-sass

# A library in the image that stands in for the driver: the toolkit's stub, and its compatibility driver.
extra=(-cudart static)
stub=$(find -L "$toolkit" -path '*/stubs/libcuda.so' -print -quit)
if [[ -n $stub ]]; then
    program stub sm_90
    mkdir -p "$root/usr/local/cuda/lib64/stubs"
    cp -L "$stub" "$root/usr/local/cuda/lib64/stubs/libcuda.so.1"
    judge stub LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs
else
    printf 'left out: stub: no stub of libcuda below %s\n' "$toolkit"
fi
if [[ -e $toolkit/compat/libcuda.so.1 ]]; then
    program compat-forced sm_90
    mkdir -p "$root/usr/local/cuda"
    cp -a "$(realpath "$toolkit/compat")" "$root/usr/local/cuda/compat"
    judge compat-forced LD_LIBRARY_PATH=/usr/local/cuda/compat
else
    printf 'left out: compat-forced: no compatibility driver in %s/compat\n' "$toolkit"
fi

printf '%s cases, %s wrong\n' "$cases" "$wrong"
[[ $wrong == 0 ]]
