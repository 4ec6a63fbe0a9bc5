#!/bin/sh
# Tests the NEON forms of kit/simd by an emulator of AArch64. What this machine lacks is said on one
# line, and that is no failure.
set -eu

cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
target=aarch64-unknown-linux-gnu
root=/usr/aarch64-linux-gnu

skip() {
    echo "neon: skipped: $1"
    exit 0
}

has_target() {
    rustc --print target-libdir --target "$target" 2>/dev/null | xargs -I '{}' test -d '{}'
}

command -v aarch64-linux-gnu-gcc >/dev/null || skip "no linker (scripts/setup.sh test)"
command -v qemu-aarch64 >/dev/null || skip "no emulator (scripts/setup.sh test)"
if ! has_target && command -v rustup >/dev/null; then
    timeout 120 rustup target add "$target" >/dev/null 2>&1 || true
fi
has_target || skip "no standard library (rustup target add $target)"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"
"$CARGO" test --quiet --locked --package tiebreak-simd --lib --tests --target "$target"
