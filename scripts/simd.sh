#!/bin/sh
# Tests kit/simd where this CPU, or its compiler, does not: each of
#
#   scripts/simd.sh neon     the NEON forms, by an emulator of AArch64
#   scripts/simd.sh miri     short texts, interpreted: accesses out of a slice, what is undefined
#
# What this machine lacks is said on one line, and that is no failure. CARGO says which cargo.
set -eu

cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
target=aarch64-unknown-linux-gnu
root=/usr/aarch64-linux-gnu

skip() {
    echo "simd: $1: skipped: $2"
}

has_target() {
    rustc --print target-libdir --target "$target" 2>/dev/null | xargs -I '{}' test -d '{}'
}

run_neon() {
    if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
        skip neon "no linker (scripts/setup.sh test)"
        return
    fi
    if ! command -v qemu-aarch64 >/dev/null; then
        skip neon "no emulator (scripts/setup.sh test)"
        return
    fi
    if ! has_target && command -v rustup >/dev/null; then
        timeout 120 rustup target add "$target" >/dev/null 2>&1 || true
    fi
    if ! has_target; then
        skip neon "no standard library (rustup target add $target)"
        return
    fi
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root" \
        "$CARGO" test --quiet --locked --package tiebreak-simd --lib --tests --target "$target"
}

# Miri runs the forms for SSSE3 and AVX2 too, and none for AVX-512.
run_miri() {
    if ! "$CARGO" +nightly miri --version >/dev/null 2>&1; then
        skip miri "no Miri (rustup toolchain install nightly --component miri,rust-src)"
        return
    fi
    for features in "" +ssse3,+popcnt +avx2,+bmi1,+lzcnt,+popcnt; do
        [ -z "$features" ] || [ "$(uname -m)" = x86_64 ] || continue
        CARGO_TARGET_DIR=target/simd-miri RUSTFLAGS="${features:+-Ctarget-feature=$features}" \
            "$CARGO" +nightly miri test --quiet --locked --package tiebreak-simd --test short
    done
}

[ $# -gt 0 ] || set -- neon miri
for job in "$@"; do
    case $job in
        neon | miri) ;;
        *)
            echo "simd: no job is called '$job'; say neon or miri" >&2
            exit 64
            ;;
    esac
done
for job in "$@"; do
    echo "simd: $job"
    "run_$job"
done
