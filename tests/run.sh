#!/usr/bin/env bash
# The whole check: format, lints, dependencies, tests. Stops at the first step that fails.
#
# The lints come before the tests because they fail sooner. They need type information of the
# dependencies only (a pass without code generation); the one full build of the dependencies is that
# of `cargo test`, which also has the features `fuzzing` and `wgpu`.
set -euo pipefail
cd "$(dirname "$0")/.."

started=$SECONDS
summary=""
log=$(mktemp)
trap 'rm -f "$log"' EXIT

step() {
    local title=$1 begun=$SECONDS
    shift
    printf '==> %s: %s\n' "$title" "$*"
    "$@"
    printf '==> %s: done in %d s\n' "$title" $((SECONDS - begun))
}

check_dependencies() {
    if cargo deny --version >/dev/null 2>&1; then
        cargo deny --locked --log-level error check --hide-inclusion-graph bans licenses sources
    elif [[ ${CUTAWAY_REQUIRE_TOOLS:-} == 1 ]]; then
        echo "error: cargo-deny is not installed and could not be" >&2
        return 1
    else
        echo "SKIPPED: cargo-deny is not installed" >&2
    fi
}

# Runs all tests and closes with one line that adds up the results of all test binaries.
run_tests() {
    cargo test --locked --no-fail-fast "$@" | tee "$log"
    summary=$(awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
        END { printf "%d passed, %d failed, %d skipped", passed, failed, ignored }' "$log")
}

# On CI nothing may be skipped for want of a tool.
if [[ ${CI:-} == true ]]; then
    export CUTAWAY_REQUIRE_TOOLS=1
fi
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

step setup tests/setup.sh
step format cargo fmt --check
step lints cargo clippy --all-targets --locked -- -D warnings
step 'lints without the window' cargo clippy --lib --bins --no-default-features --locked -- -D warnings
step 'lints with the GPU check alone' cargo clippy --lib --bins --no-default-features --features gpu --locked -- -D warnings
step dependencies check_dependencies
step tests run_tests "$@"
printf '==> all steps passed in %d s\n%s\n' $((SECONDS - started)) "$summary"
