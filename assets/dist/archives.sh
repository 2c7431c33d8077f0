#!/bin/sh
# Builds the archives that people install: the program, its completions and its manual pages,
# and their checksums. Usage: assets/dist/archives.sh [TARGET]...
#
# Without a target it builds for this machine. Others need their standard library
# (`rustup target add TARGET`) and a C compiler for them: musl-gcc for the targets of musl, and a
# Mac, or a cross compiler with its SDK, for those of macOS.
#
# Where the standard library for musl cannot be had, RUSTFLAGS="-C target-feature=+crt-static" links
# glibc into the program of *-linux-gnu, which then runs on any Linux as well.
#
# PROGRAM=FILE packs a program that was built already and runs here, for the one TARGET.
set -eu
cd "$(dirname "$0")/../.."

host=${PROGRAM:+${1:?name the target of $PROGRAM}}
host=${host:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
out=${OUT:-target/archives}
[ "$#" -gt 0 ] || set -- "$host"
mkdir -p "$out"

sums() { if command -v sha256sum >/dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# What makes the program smaller, where the linker knows it: the same machine code once (2 %), and
# addresses that are set at the start in a bit each, not 24 bytes (7 %), which glibc reads since 2.36.
linked() {
  set -- "$1" -Wl,--icf=all
  libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
  case $1/${libc#glibc } in
    *-linux-gnu/2.3[6-9]* | *-linux-gnu/2.[4-9][0-9]*) set -- "$@" -Wl,-z,pack-relative-relocs ;;
  esac
  target=$1
  shift
  for flag in "$@"; do
    echo 'fn main() {}' |
      rustc --target "$target" -C link-arg="$flag" -o "$extras/try" - 2>/dev/null &&
      printf ' -C link-arg=%s' "$flag"
  done
  rm -f "$extras/try"
}

# How a stack is left takes less room where frames have a pointer (C code is never left by a panic),
# and what several functions do alike without a call becomes a function (1 %). A panic names a file
# of a package by its path below the registry, not in the builder's home.
smaller() {
  printf '%s' '-C force-frame-pointers=yes -C llvm-args=-enable-machine-outliner=always'
  cargo fetch --locked --target "$1" >&2
  for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
    printf ' --remap-path-prefix=%s=' "$registry"
  done
}
export CFLAGS="${CFLAGS:-} -fno-asynchronous-unwind-tables"

# Completions and manual pages are the same everywhere; the program that runs here writes them,
# which is why it is always built.
built=
extras=$(mktemp -d)
trap 'rm -rf "$extras"' EXIT

for target in "$host" "$@"; do
  case " $built " in *" $target "*) continue ;; esac
  built="$built $target"
  program=${PROGRAM:-target/$target/dist/avocet}
  [ -n "${PROGRAM:-}" ] ||
    RUSTFLAGS="${RUSTFLAGS:-} $(smaller "$target")$(linked "$target")" cargo build --locked --profile dist --target "$target"
  if [ "$target" = "$host" ]; then
    mkdir -p "$extras/completions"
    "$program" completions bash > "$extras/completions/avocet.bash"
    "$program" completions zsh > "$extras/completions/_avocet"
    "$program" completions fish > "$extras/completions/avocet.fish"
    "$program" man --dir "$extras/man"
    case " $* " in *" $host "*) ;; *) continue ;; esac
  fi
  name=avocet-$version-$target
  rm -rf "${extras:?}/$name"
  mkdir "$extras/$name"
  cp "$program" "$extras/$name/avocet"
  cp README.md LICENSE-MIT LICENSE-APACHE "$extras/$name/"
  cp -R "$extras/completions" "$extras/man" "$extras/$name/"
  tar -C "$extras" -czf "$out/$name.tar.gz" "$name"
  (cd "$out" && sums "$name.tar.gz" > "$name.tar.gz.sha256")
  echo "$out/$name.tar.gz"
done
