#!/bin/sh
# Do the strings lie in one contiguous read-only block, made by the compiler alone? Looks into the
# object files of strings/: the two symbols must be all that an object defines, their bytes the
# strings with an end each, and their section read-only data. `sh studies/byte-table/check.sh`.
set -eu
study=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

for tool in nm objdump objcopy; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool (binutils) is not here"; exit 0; }
done
printf 'foo\0foobar\0strings at compile time\0' >"$folder/strings"
printf 'one\0two\0one block, five strings\0\0!\0' >"$folder/more_strings"

# Why an object is refused; nothing if it is as it should be.
fault() { # object
    defined=$(nm --defined-only "$1" | sed 's/.* //' | sort | tr '\n' ' ')
    # shellcheck disable=SC2086
    for symbol in strings more_strings; do
        set -- "$1" $(objdump -t "$1" | awk -v it="$symbol" '$NF == it && NF >= 5 {
            print $1, $(NF - 2), $(NF - 1); exit }')
        [ $# -eq 4 ] || { echo "there is no symbol $symbol"; return; }
        objdump -h "$1" | grep -A1 " $3 " | grep -q 'READONLY.*DATA' ||
            { echo "$symbol is in $3, which is not read-only data"; return; }
        objcopy -O binary --only-section="$3" "$1" "$1.section"
        dd if="$1.section" of="$1.bytes" bs=1 skip="$((0x$2))" count="$((0x$4))" 2>/dev/null
        cmp -s "$1.bytes" "$folder/$symbol" || { echo "$symbol has other bytes"; return; }
        set -- "$1"
    done
    [ "$defined" = "more_strings strings " ] || echo "it defines more than the strings: $defined"
}

check() { # form, what is expected, compiler and its words
    form=$1 expected=$2
    shift 2
    command -v "$1" >/dev/null || { echo "$form: skipped, $1 is not here"; return; }
    object=$folder/$form.o
    "$@" || { echo "$form: $1 fails"; failed=1; return; }
    why=$(fault "$object")
    if [ -z "$why" ]; then found=contiguous; else found=refused; fi
    [ "$found" = "$expected" ] || failed=1
    echo "$form by $1 $level: $found${why:+, $why}"
}

for level in -O0 -O2; do
    for cxx in g++ clang++; do
        check recursion contiguous "$cxx" -std=c++11 "$level" -fPIC -c \
            "$study/strings/recursion.cpp" -o "$folder/recursion.o"
        check fold contiguous "$cxx" -std=c++17 "$level" -fPIC -c \
            "$study/strings/fold.cpp" -o "$folder/fold.o"
        check scattered refused "$cxx" -std=c++11 "$level" -fPIC -c \
            "$study/strings/scattered.cpp" -o "$folder/scattered.o"
    done
    for cc in gcc clang; do
        check literal contiguous "$cc" "$level" -fPIC -c \
            "$study/strings/literal.c" -o "$folder/literal.o"
    done
    check const_fn contiguous rustc --edition 2024 --crate-type lib --emit obj \
        -C "opt-level=${level#-O}" -C debuginfo=0 \
        "$study/strings/const_fn.rs" -o "$folder/const_fn.o"
    check template contiguous ldc2 -betterC "$level" -relocation-model=pic -c \
        "$study/strings/template.d" "-of=$folder/template.o"
done
exit "$failed"
