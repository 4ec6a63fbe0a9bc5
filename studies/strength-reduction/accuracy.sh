#!/bin/sh
# How far the forms are from the exact value: the largest error in units in the last place, for
# 2000 elements and for a million. `sh studies/strength-reduction/accuracy.sh` from anywhere.
set -eu
study=$(cd "$(dirname "$0")" && pwd)
program=$(mktemp)
trap 'rm -f "$program"' EXIT

show() { # name, source, flags
    name=$1 source=$2
    shift 2
    "${CC:-clang}" -std=c2x "$@" -DACCURACY -Wno-unused-function \
        -I "$study/../../kit/abi/include" "$study/$source" -o "$program"
    printf '%-8s%s\n' "$name" "$("$program")"
}

printf '%-8s %10s %10s\n' form level-1 million
show A form-a.c -O2 -ffp-contract=off
show B form-b.c -O2 -ffp-contract=off
show lanes lanes.c -O2 -march=native -ffp-contract=off
show fma fma.c -O2 -march=native -ffp-contract=fast
