#!/usr/bin/env bash
# Compiles RocksDB once and prints the folder of its library. Cargo would compile it again for each
# profile and each selection of packages, a quarter of an hour each time.
#   scripts/rocksdb.sh TARGET_DIR
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target=${1:?say where the target directory is}

version_in() { awk '/^name = "librocksdb-sys"/ { getline; gsub(/[" ]/, ""); print substr($0, 9) }' "$1"; }
wanted=$(version_in "$here/../Cargo.lock")
given=$(version_in "$here/rocksdb/Cargo.lock")
if [ "$wanted" != "$given" ]; then
  echo "rocksdb: Cargo.lock wants librocksdb-sys $wanted, scripts/rocksdb/Cargo.lock has $given; update the latter" >&2
  exit 1
fi

library="$target/rocksdb/$given"
if [ ! -f "$library/librocksdb.a" ]; then
  echo "rocksdb: compiling RocksDB, once (about 15 minutes on 2 cores) ..." >&2
  build="$target/rocksdb/build"
  # From inside of the project, so that its compiler flags for the processor hold here too.
  (cd "$here" && ROCKSDB_COMPILE=1 CARGO_TARGET_DIR="$build" \
    cargo build --release --locked --manifest-path rocksdb/Cargo.toml) >&2
  mkdir -p "$library"
  # Found under its name only when it is whole.
  cp "$(ls -t "$build"/release/build/librocksdb-sys-*/out/librocksdb.a | head -1)" "$library/librocksdb.a.new"
  mv "$library/librocksdb.a.new" "$library/librocksdb.a"
  rm -rf "$build"
fi
# The linker looks there first, so that programs hold what they need of the C++ library themselves: that
# is 1 MiB less in memory than all of it, and they run where it is not installed.
cxx=$("${CXX:-c++}" -print-file-name=libstdc++.a 2>/dev/null || true)
if [ -f "$cxx" ]; then ln -sfn "$cxx" "$library/libstdc++.a"; fi
echo "$library"
