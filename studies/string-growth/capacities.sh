#!/bin/sh
# Lists the capacities of each library's string and checks what its growth costs. Fails if the model
# does not hold.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

echo "libstdc++ ($(g++ --version | head -n 1)):"
g++ -O2 capacities.cpp -o "$folder/libstdcxx"
"$folder/libstdcxx"
echo "libc++ ($(clang++ --version | head -n 1)):"
clang++ -O2 -stdlib=libc++ capacities.cpp -o "$folder/libcxx"
"$folder/libcxx"
echo "Rust ($(rustc --version)):"
rustc --edition 2024 -O capacities.rs -o "$folder/rust"
"$folder/rust"
