#!/bin/sh
# Measures a study of this checkout and writes what came out into its README:
#
#   scripts/study.sh NAME
#
# A study of functions has study.toml, one of programs claims.toml; a study may have both, and
# measure, which writes tables that no claim gives. What lacks a tool or a right (exit status 2)
# keeps its old data.
set -eu

name=$1
study=studies/$name
made=target/tiebreak/measured
export TIEBREAK=target/release/tiebreak
rm -rf "$made"
mkdir -p "$made" docs/measured

# keep STATUS DATA COMMAND...: the command's data is written into its block, if the command came to
# an end and left any.
keep() {
    status=$1 data=$2
    shift 2
    [ "$status" -le 3 ] || exit "$status"
    [ -s "$made/${data##*/}" ] || return 0
    mv "$made/${data##*/}" "$data"
    cargo xtask splice "$@"
}

if [ -e "$study/study.toml" ]; then
    data=docs/measured/study-$name.json
    status=0
    "$TIEBREAK" study run "$name" --json "$made/${data##*/}" || status=$?
    keep "$status" "$data" tiebreak study run "$name"
fi
if [ -e "$study/claims.toml" ]; then
    data=docs/measured/claims-$name.json
    status=0
    "$TIEBREAK" check "$study/claims.toml" --json "$made/${data##*/}" || status=$?
    keep "$status" "$data" tiebreak check "$study/claims.toml"
fi
if [ -x "$study/measure" ]; then
    status=0
    "$study/measure" "$made" || status=$?
    [ "$status" -ne 2 ] || exit 0
    [ "$status" -eq 0 ] || exit "$status"
    for picture in "$made/$name"-*.svg; do
        [ ! -e "$picture" ] || mv "$picture" docs/measured/
    done
    for table in "$made/$name"-*.csv; do
        table=${table##*/"$name"-}
        keep "$status" "docs/measured/$name-$table" "$study/measure # ${table%.csv}"
    done
fi
