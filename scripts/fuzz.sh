#!/bin/sh
# Fuzzes what reads text of users or bytes of peers, and the kernels: each target of fuzz/ for some
# seconds, from its seeds in fuzz/corpus. Fails if a target fails; the input that made it fail is
# then in fuzz/artifacts.
# Where fuzzing is not possible it says why and succeeds.
#
#   scripts/fuzz.sh [SECONDS]      20 if not said
set -eu

seconds=${1:-20}
targets="claim file http mqtt simd study websocket"

case $seconds in
    '' | *[!0-9]* | 0)
        echo "fuzz: '$seconds' is not a number of seconds such as 20" >&2
        exit 64
        ;;
esac

skip() {
    echo "fuzz: skipped: $1"
    exit 0
}

cd "$(dirname "$0")/../fuzz"

command -v cargo >/dev/null || skip "there is no cargo"
command -v c++ >/dev/null || skip "there is no C++ compiler; scripts/setup.sh fuzz installs one"
if ! said=$(cargo fetch --locked --quiet 2>&1); then
    case $said in
        *"lock file"*)
            echo "fuzz: fuzz/Cargo.lock is stale: run 'cargo metadata' in fuzz/, commit it" >&2
            exit 1
            ;;
    esac
    skip "the crates that fuzzing needs cannot be had"
fi

# libFuzzer is built from the C++ sources that come with its crate.
echo '#include <vector>' | c++ -x c++ -fsyntax-only - 2>/dev/null ||
    skip "the C++ compiler has no standard library; scripts/setup.sh fuzz installs one"

host=$(rustc -vV | sed -n 's/^host: //p')

# What cargo-fuzz passes, but the sanitisers: those need a nightly compiler. So wrong answers are
# looked for, and no wrong access: only kit/simd has unsafe code, and its tests look for those.
# Stable Rust takes all of it.
instrument() {
    flags="-Cpasses=sancov-module"
    for coverage in level=4 inline-8bit-counters pc-table trace-compares; do
        flags="$flags -Cllvm-args=-sanitizer-coverage-$coverage"
    done
    echo "$flags -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1 --cfg fuzzing"
}

# run TARGET: new inputs go to target/, so that the corpus keeps to its seeds.
run() {
    echo "fuzz: $1 for $seconds s"
    mkdir -p "target/corpus/$1" "artifacts/$1"
    "target/$host/release/$1" "target/corpus/$1" "corpus/$1" "-dict=$1.dict" \
        "-artifact_prefix=artifacts/$1/" "-max_total_time=$seconds" -max_len=1500 -timeout=5 \
        -verbosity=0 -print_final_stats=1
}

RUSTFLAGS=$(instrument) cargo build --locked --release --target "$host" --bins
for target in $targets; do
    run "$target"
done
echo "fuzz: nothing found"
