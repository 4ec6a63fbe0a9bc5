#!/bin/sh
# The receipt of contestants in Rust: cargo's version, and which sources of kit/sync and of the
# study event-count, whose events this one uses. As the receipt is a part of what a build is kept
# by, what changed there is built anew.
set -eu
cd "$(dirname "$0")/../.."
sources=$(find kit/sync/src kit/sync/Cargo.toml studies/event-count/contestants -type f \
    ! -path '*/target/*' | LC_ALL=C sort)
# shellcheck disable=SC2086 # the names have no blanks
echo "$(cargo --version), kit/sync and events $(cat $sources | sha256sum | cut -c 1-12)"
