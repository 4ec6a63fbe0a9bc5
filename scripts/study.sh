#!/bin/sh
# Measures a study of this checkout and writes what came out into its README:
#
#   scripts/study.sh NAME
#
# A study of functions has a study.toml, one of programs claims.toml and, for tables that no claim
# gives, measure. What lacks a tool or a right (exit status 2 of measure) keeps its old table.
set -eu

name=$1
study=studies/$name
made=target/tiebreak
mkdir -p "$made" docs/measured

splice() {
    cargo xtask splice "$@"
}

# keep FILE STATUS DATA COMMAND...: the command's data is written into its block, if the command
# came to an end.
keep() {
    file=$1 status=$2 data=$3
    shift 3
    [ "$status" -le 3 ] || exit "$status"
    mv "$file" "$data"
    splice "$@"
}

if [ -e "$study/study.toml" ]; then
    status=0
    target/release/tiebreak study run "$name" --json "$made/$name.json" || status=$?
    keep "$made/$name.json" "$status" "docs/measured/study-$name.json" tiebreak study run "$name"
fi
if [ -e "$study/claims.toml" ]; then
    status=0
    target/release/tiebreak check "$study/claims.toml" --json "$made/$name.json" || status=$?
    keep "$made/$name.json" "$status" "docs/measured/claims-$name.json" \
        tiebreak check "$study/claims.toml"
fi
if [ -x "$study/measure" ]; then
    status=0
    "$study/measure" docs/measured || status=$?
    [ "$status" -eq 2 ] && exit
    [ "$status" -eq 0 ] || exit "$status"
    for table in docs/measured/"$name"-*.csv; do
        table=${table##*/"$name"-}
        splice "$study/measure # ${table%.csv}"
    done
fi
