#!/bin/sh
# The receipt of contestants that use kit/sync: cargo's version, and which sources of the kit. As
# the receipt is a part of what a build is kept by, a changed kit is built anew.
set -eu
cd "$(dirname "$0")/../../kit/sync"
sources=$(find src Cargo.toml -type f | LC_ALL=C sort)
# shellcheck disable=SC2086 # the names have no blanks
echo "$(cargo --version), kit/sync $(cat $sources | sha256sum | cut -c 1-12)"
