#!/usr/bin/env bash
# Runs all targets side by side for SECONDS, by the one program that holds them all, and writes what came out into
# $OUT (else ./out): one line for each target, and what was found in one archive. Ends with 1 when anything was found.
# $KEEP, where it is set, is a folder for the inputs that reach most, so that the next run goes on from there; a new one
# begins with what is in keep.tar.gz, when that is here.
#
# usage: run.sh SECONDS [TARGET...]
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
    mapfile -t targets < <(ls corpus)
fi
out=$(realpath -m "${OUT:-out}")
# In memory where there is room for that: one target makes and removes files all the time.
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
program=$(mktemp)
trap 'rm -rf "$work" "$program"' EXIT
mkdir -p "$out"

gunzip -c all.gz >"$program" && chmod +x "$program" || exit 2
if ldd "$program" | grep -q 'not found'; then
    export LD_LIBRARY_PATH=$PWD/lib
fi

# A panic of the code under test is the finding; C and unsafe code are watched by the sanitizer where there is one.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_odr_violation=0:detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16}
export RUST_BACKTRACE=1

if [[ -n ${KEEP:-} ]]; then
    KEEP=$(realpath -m "$KEEP")
    if [[ ! -d $KEEP && -f keep.tar.gz ]]; then
        mkdir -p "$KEEP" && tar xzf keep.tar.gz -C "$KEEP"
    fi
fi

length_of() {
    case $1 in
    rpm_sqlite | image_archive) echo 65536 ;;
    saved_report) echo 32768 ;;
    tar_walk | gzip_layer | zstd_layer | layer_record) echo 24576 ;;
    reference | secrets) echo 1024 ;;
    *) echo 16384 ;;
    esac
}

run() {
    local target=$1 begun=$SECONDS
    local place=$work/$target
    mkdir -p "$place/corpus" "$place/tmp" "$out"
    [[ -d crashes/$target ]] && cp -n "crashes/$target"/* "$place/corpus/" 2>/dev/null
    cp "corpus/$target"/* "$place/corpus/"
    [[ -n ${KEEP:-} && -d $KEEP/$target ]] && cp -r "$KEEP/$target/." "$place/corpus/"
    local dictionary=()
    [[ -f dictionaries/$target.dict ]] && dictionary=("-dict=dictionaries/$target.dict")
    # The fuzzer ends at what it finds: it goes on from there while there is time, so that one fault hides no other.
    local status=0 ended=0 end=$((begun + seconds)) tries=0
    while ((SECONDS + 3 < end && tries < 12)); do
        TMPDIR=$place/tmp TARGET=$target "$program" "$place/corpus" "${dictionary[@]}" \
            -max_total_time=$((end - SECONDS)) -rss_limit_mb=2048 -timeout=20 -len_control=20 \
            -max_len="$(length_of "$target")" -artifact_prefix="$place/$target-" -print_final_stats=1 \
            >>"$place/log" 2>&1
        ended=$?
        ((ended == 0)) && break
        status=$ended
        tries=$((tries + 1))
        # An input of the corpus that is at fault would be met again at once.
        rm -f "$place/corpus/$(basename "$(ls -t "$place/$target"-* 2>/dev/null | head -1)" | sed 's/.*-//')"
    done
    if [[ -n ${KEEP:-} ]]; then
        mkdir -p "$KEEP/$target" && cp -r "$place/corpus/." "$KEEP/$target/"
    fi
    local runs last
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$place/log" | awk '{ sum += $1 } END { print sum }')
    last=$(grep -a -E '^#[0-9]+' "$place/log" | tail -1 | tr -s ' \t' ' ')
    printf '%-18s status %-3s faults %-3s runs %-10s seconds %-5s inputs %-6s %s\n' "$target" "$status" "$tries" "${runs:-?}" \
        $((SECONDS - begun)) "$(find "$place/corpus" -type f | wc -l)" "$last" >"$place/line"
}

pids=()
for target in "${targets[@]}"; do
    run "$target" &
    pids+=($!)
done
wait "${pids[@]}"

cat "$work"/*/line | sort >"$out/summary.txt"
found=$(cd "$work" && find . -maxdepth 2 -type f -name '*-[a-z]*-*' ! -name '*slow-unit*' ! -path '*/corpus/*' | sort)
slow=$(cd "$work" && find . -maxdepth 2 -type f -name '*slow-unit*' | sort)
failed=$(grep -l -a -E 'SUMMARY|panicked at|ERROR' "$work"/*/log 2>/dev/null)
if [[ -n $found$slow$failed ]]; then
    for log in $failed; do
        # The first lines of the fault say most.
        mkdir -p "$work/faults"
        grep -a -n -m1 -E 'panicked at|ERROR: ' "$log" >/dev/null &&
            sed -n "$(grep -a -n -m1 -E 'panicked at|ERROR: ' "$log" | cut -d: -f1),+60p" "$log" \
                >"$work/faults/$(basename "$(dirname "$log")").txt"
    done
    (cd "$work" && tar czf "$out/found.tar.gz" $found $(head -40 <<<"$slow") $([[ -d faults ]] && echo faults))
fi
# The inputs that reach most, as far as they fit: they are what a later run begins with.
(cd "$work" && tar czf corpora.tar.gz */corpus && (($(stat -c %s corpora.tar.gz) < 12 * 1024 * 1024)) &&
    cp corpora.tar.gz "$out/corpora.tar.gz")
cat "$out/summary.txt"
[[ -z $found ]]
