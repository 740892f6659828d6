#!/usr/bin/env bash
# Builds the program that holds all targets and puts it with the corpora and run.sh into FOLDER (else ../.fuzzrun),
# ready to be carried to a machine without cargo. SANITIZER is `address` unless it says otherwise (`none` is faster).
#
# usage: build_all.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")"
folder=$(realpath -m "${1:-../.fuzzrun}")
target_dir=${CARGO_TARGET_DIR:-$PWD/target}
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
cargo +nightly fuzz build all --fuzz-dir . --target-dir "$target_dir" --sanitizer "${SANITIZER:-address}"
mkdir -p "$folder"
rm -rf "$folder"/{all,all.gz,lib,corpus,crashes,dictionaries,run.sh}
strip -o "$folder/all" "$target_dir/$host/release/all"
# libFuzzer is C++; a bare machine may not have its library.
mkdir "$folder/lib"
for library in libstdc++.so.6 libgcc_s.so.1; do
    cp -L "$(ldd "$folder/all" | awk -v name="$library" '$1 == name { print $3 }')" "$folder/lib/$library"
done
gzip -9 -f "$folder/all"
cp -r corpus "$folder/corpus"
[[ -d ../fixtures/crashes ]] && cp -r ../fixtures/crashes "$folder/crashes"
[[ -d dictionaries ]] && cp -r dictionaries "$folder/dictionaries"
cp run.sh "$folder/run.sh"
du -sh "$folder"
