#!/usr/bin/env bash
# Makes sure of what the build needs beside the Rust toolchain: a C++ compiler (RocksDB is C++) and
# libclang (its bindings are generated). Installs what is missing where it may, says so, and never
# touches anything that is there.
set -euo pipefail

fail() { printf 'prerequisites: %s\n' "$*" >&2; exit 1; }

has_cxx() { command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; }

# The library, in the places where the bindings' generator looks, cheapest first.
has_library() {
  if command -v ldconfig >/dev/null && ldconfig -p 2>/dev/null | grep -q 'libclang[-.][0-9s]'; then return 0; fi
  if command -v llvm-config >/dev/null && compgen -G "$(llvm-config --libdir)/libclang*" >/dev/null; then return 0; fi
  local place
  for place in /usr/lib/libclang* /usr/lib64/libclang* /usr/lib/llvm*/lib/libclang* /usr/lib/*-linux-*/libclang* \
    /usr/local/lib/libclang* /opt/homebrew/opt/llvm/lib/libclang* /usr/local/opt/llvm/lib/libclang* \
    /Library/Developer/CommandLineTools/usr/lib/libclang*; do
    case $place in
      *libclang-cpp*|*libclang_rt*) ;; # other libraries whose names begin alike
      *) if [ -e "$place" ]; then return 0; fi ;;
    esac
  done
  return 1
}

# Debian has the library without its headers (stddef.h and the like) in a package of its own.
has_headers() {
  command -v dpkg >/dev/null || return 0
  compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null ||
    compgen -G '/usr/lib/clang/*/include/stddef.h' >/dev/null
}

has_libclang() {
  if [ -n "${LIBCLANG_PATH:-}" ]; then return 0; fi # whoever says where it is knows
  has_library && has_headers
}

# Each package manager's command for what is missing; $@ is any of: cxx libclang.
install_command() {
  local tool=$1 names=(); shift
  local want
  for want in "$@"; do
    case $tool:$want in
      apt-get:cxx) names+=(g++) ;;          apt-get:libclang) names+=(libclang-dev) ;;
      dnf:cxx) names+=(gcc-c++) ;;          dnf:libclang) names+=(clang-devel) ;;
      pacman:cxx) names+=(gcc) ;;           pacman:libclang) names+=(clang) ;;
      brew:cxx|brew:libclang) names+=(llvm) ;;
    esac
  done
  case $tool in
    apt-get) echo "apt-get install -y --no-install-recommends ${names[*]}" ;;
    dnf) echo "dnf install -y ${names[*]}" ;;
    pacman) echo "pacman -S --needed --noconfirm ${names[*]}" ;;
    brew) echo "brew install llvm" ;;
  esac
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

command -v cargo >/dev/null || fail "cargo is not on the PATH; install Rust from https://rustup.rs"

missing=()
has_cxx || missing+=(cxx)
has_libclang || missing+=(libclang)
[ ${#missing[@]} -gt 0 ] || exit 0

if command -v apt-get >/dev/null && may_be_root; then
  line=$(install_command apt-get "${missing[@]}")
  echo "prerequisites: the build of RocksDB needs what is missing here (${missing[*]}); running: $line" >&2
  export DEBIAN_FRONTEND=noninteractive
  # The lists may be older than what the mirrors still have, or not be there at all.
  # shellcheck disable=SC2086  # the line is words, made above
  { as_root $line || { as_root apt-get update && as_root $line; }; } >&2 ||
    fail "that did not work; run it by hand: $line"
  has_cxx && has_libclang || fail "installed, but still not found: ${missing[*]}"
  exit 0
fi

for tool in apt-get dnf pacman brew; do
  if command -v "$tool" >/dev/null; then
    sudo=""; [ "$tool" = brew ] || sudo="sudo "
    fail "missing: ${missing[*]}. Run: $sudo$(install_command "$tool" "${missing[@]}")"
  fi
done
fail "missing: ${missing[*]} (a C++ compiler, the library libclang); install them with this system's package manager"
