#!/bin/sh
# Tests kit/sync by means that need another build of it. What this machine lacks is skipped, with
# the reason on one line.
#
#   scripts/sync.sh short                   all of them, in the short form; `make test` leaves out
#                                           miri and musl, which take minutes
#   scripts/sync.sh full loom               the long form of one
#
#   loom       every interleaving that the language's memory model allows, of small cases
#   miri       the unit tests, interpreted: undefined behaviour, data races, leaks
#   musl       all tests on a C library without rseq
#   static     the tests of per-CPU data in a program with glibc in it
#   sanitize   the tests of reclamation under AddressSanitizer, with its check for leaks
#
# CARGO says which cargo, NIGHTLY (+nightly if not said) which toolchain Miri and the sanitizer use.
# What is said has to be there: a cargo or toolchain that is not ends it with 70, a wrong word with
# 64, before anything runs.
set -eu

cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
ASKED_NIGHTLY=${NIGHTLY:-}
NIGHTLY=${NIGHTLY:-+nightly}
TARGETS=${CARGO_TARGET_DIR:-target}
MACHINE=$(uname -m)
ADD_SECONDS=120 # for rustup to fetch what is missing

case ${1:-} in
    short | full) length=$1 ;;
    *)
        echo "sync: say short or full, then any of loom, miri, musl, static, sanitize" >&2
        exit 64
        ;;
esac
shift
[ $# -gt 0 ] || set -- loom miri musl static sanitize
for job in "$@"; do
    case $job in
        loom | miri | musl | static | sanitize) ;;
        *)
            echo "sync: no job is called '$job'; say loom, miri, musl, static or sanitize" >&2
            exit 64
            ;;
    esac
done
if ! "$CARGO" --version >/dev/null 2>&1; then
    echo "sync: CARGO: '$CARGO' does not run" >&2
    exit 70
fi
if [ -n "$ASKED_NIGHTLY" ] && ! "$CARGO" "$NIGHTLY" --version >/dev/null 2>&1; then
    echo "sync: NIGHTLY: there is no toolchain '$NIGHTLY' for '$CARGO' (it begins with a +)" >&2
    exit 70
fi

# skip JOB REASON
skip() {
    echo "sync: $1: skipped: $2"
}

# tests PATTERN: --test options for the files and folders of kit/sync/tests that match.
tests() {
    for path in kit/sync/tests/$1; do
        name=$(basename "$path" .rs)
        if [ -f "$path" ] || [ -f "$path/main.rs" ]; then echo "--test $name"; fi
    done
}

# add WORD...: asks rustup for what is missing, for a limited time.
add() {
    command -v rustup >/dev/null && timeout "$ADD_SECONDS" rustup "$@" >/dev/null 2>&1
}

has_miri() {
    "$CARGO" "$NIGHTLY" miri --version >/dev/null 2>&1
}

has_nightly() {
    "$CARGO" "$NIGHTLY" --version >/dev/null 2>&1
}

# The check for leaks stops the process as a debugger does, which some containers forbid.
can_check_leaks() {
    program=$TARGETS/sync-sanitize/empty
    mkdir -p "$(dirname "$program")"
    echo 'fn main() {}' >"$program.rs"
    rustc "$NIGHTLY" -Zsanitizer=address --target "$1" -o "$program" "$program.rs" 2>/dev/null &&
        ASAN_OPTIONS=detect_leaks=1 "$program" >/dev/null 2>&1
}

has_target() {
    rustc --print target-libdir --target "$1" 2>/dev/null | xargs -I '{}' test -d '{}'
}

run_loom() {
    chosen=$(tests 'loom_*.rs')
    if [ -z "$chosen" ]; then
        skip loom "there are no tests for it"
        return
    fi
    preemptions=2
    ignored=
    if [ "$length" = full ]; then
        preemptions=3
        ignored=--include-ignored
    fi
    # shellcheck disable=SC2086 # the words of $chosen and $ignored are arguments
    CARGO_TARGET_DIR=$TARGETS/sync-loom RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" \
        LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-$preemptions} \
        "$CARGO" test --quiet --release --locked --package tiebreak-sync $chosen -- $ignored
}

run_miri() {
    toolchain=${NIGHTLY#+}
    has_miri || add component add miri rust-src --toolchain "$toolchain" || true
    if ! has_miri; then
        install="rustup toolchain install $toolchain --component miri,rust-src"
        skip miri "no Miri ($install)"
        return
    fi
    seeds=
    [ "$length" = short ] || seeds=-Zmiri-many-seeds=0..16
    CARGO_TARGET_DIR=$TARGETS/sync-miri MIRIFLAGS="${MIRIFLAGS:-} $seeds" \
        "$CARGO" "$NIGHTLY" miri test --quiet --locked --package tiebreak-sync --lib
}

run_musl() {
    target=$MACHINE-unknown-linux-musl
    if ! has_target "$target" && ! { add target add "$target" && has_target "$target"; }; then
        skip musl "no such target (rustup target add $target)"
        return
    fi
    # The explorer asks nothing of the C library.
    chosen=$(tests '*' | grep -v -e ' loom_' -e ' tso$' || true)
    # shellcheck disable=SC2086 # the words of $chosen and $release are arguments
    CARGO_TARGET_DIR=$TARGETS/sync-musl \
        "$CARGO" test --quiet --locked $release --package tiebreak-sync --target "$target" \
        --lib $chosen
}

run_static() {
    target=$MACHINE-unknown-linux-gnu
    if ! has_target "$target"; then
        skip static "this is no machine with glibc"
        return
    fi
    # shellcheck disable=SC2086 # the word of $release is an argument
    CARGO_TARGET_DIR=$TARGETS/sync-static RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" \
        "$CARGO" test --quiet --locked $release --package tiebreak-sync --target "$target" \
        --lib per_cpu
}

run_sanitize() {
    target=$MACHINE-unknown-linux-gnu
    if ! has_nightly; then
        skip sanitize "no nightly Rust (rustup toolchain install ${NIGHTLY#+})"
        return
    fi
    leaks=1
    if ! can_check_leaks "$target"; then
        skip "sanitize, leaks" "the check does not work here"
        leaks=0
    fi
    chosen=$(tests 'reclamation*')
    # shellcheck disable=SC2086 # the words of $chosen and $release are arguments
    CARGO_TARGET_DIR=$TARGETS/sync-sanitize RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address" \
        ASAN_OPTIONS="detect_leaks=$leaks ${ASAN_OPTIONS:-}" \
        "$CARGO" "$NIGHTLY" test --quiet --locked $release --package tiebreak-sync \
        --target "$target" --lib $chosen
}

release=
if [ "$length" = full ]; then
    export TIEBREAK_FULL=1
    release=--release
fi
for job in "$@"; do
    echo "sync: $job"
    "run_$job"
done
