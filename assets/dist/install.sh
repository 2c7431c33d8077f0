#!/bin/sh
# Installs Avocet from an archive, after its checksum has been compared.
#
#   sh install.sh --from https://example.com/releases/v0.1.0
#   sh install.sh --from ./target/archives --prefix /usr/local
#
# --from     a folder, or the address of one, that holds the archives and their .sha256 files
# --version  the version to install (default: the one this script came with)
# --prefix   where to: bin, share/man and completions go below it (default: ~/.local)
# --target   the archive's target (default: the one of this machine)
# --key      the public key of the releases: their signature is verified too, with minisign
set -eu

version=0.1.0
from=${AVOCET_FROM:-}
prefix=${HOME:-/usr/local}/.local
target=
key=

say() { printf '%s\n' "$*" >&2; }
fail() { say "avocet was not installed: $*"; exit 1; }
needs() { [ "$#" -gt 1 ] || fail "$1 needs a value"; }

while [ "$#" -gt 0 ]; do
  case $1 in
    --from) needs "$@"; from=$2; shift 2 ;;
    --version) needs "$@"; version=$2; shift 2 ;;
    --prefix) needs "$@"; prefix=$2; shift 2 ;;
    --target) needs "$@"; target=$2; shift 2 ;;
    --key) needs "$@"; key=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1" ;;
  esac
done
[ -n "$from" ] || fail "say with --from where the archives are"

if [ -z "$target" ]; then
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "no archive is available for this processor ($(uname -m))" ;;
  esac
  case $(uname -s) in
    Darwin) target=$machine-apple-darwin ;;
    Linux)
      # The archive of musl runs on any Linux; that of glibc only where glibc is new enough.
      target=$machine-unknown-linux-musl ;;
    *) fail "no archive is available for this system ($(uname -s))" ;;
  esac
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=avocet-$version-$target

case $from in
  https://* | http://127.0.0.1[:/]* | http://localhost[:/]*)
    if command -v curl >/dev/null 2>&1; then
      fetch() { curl -fsSL --proto-redir =https --max-redirs 5 -o "$work/$1" "$from/$1"; }
    elif command -v wget >/dev/null 2>&1; then
      # The wget of BusyBox has fewer options, and may not check certificates.
      if wget --help 2>&1 | grep -q BusyBox; then
        case $from in https://*) fail "the wget of BusyBox may not check certificates; install curl" ;; esac
        fetch() { wget -q -O "$work/$1" "$from/$1"; }
      else
        fetch() { wget -q --max-redirect=5 -O "$work/$1" "$from/$1"; }
      fi
    else
      fail "neither curl nor wget is here"
    fi ;;
  http://*) fail "$from is not https" ;;
  *) fetch() { cp "${from#file://}/$1" "$work/$1"; } ;;
esac

if ! fetch "$name.tar.gz" 2>"$work/why"; then
  fallback=$(printf '%s' "$target" | sed 's/-musl$/-gnu/')
  [ "$fallback" != "$target" ] || fail "$from/$name.tar.gz could not be read: $(cat "$work/why")"
  name=avocet-$version-$fallback
  fetch "$name.tar.gz" || fail "$from has no archive for $target or $fallback"
fi
sums=$name.tar.gz.sha256
if [ -n "$key" ]; then
  command -v minisign >/dev/null 2>&1 || fail "minisign is not here, so the signature cannot be verified"
  sums=SHA256SUMS
  fetch $sums.minisig || fail "$from/$sums.minisig could not be read"
fi
fetch "$sums" || fail "$from/$sums could not be read"
if [ -n "$key" ]; then
  # The signature names the version, so that the sums of another release do not pass for this one.
  signed=$(minisign -V -Q -P "$key" -m "$work/$sums") || fail "$from/$sums is not signed with this key"
  [ "$signed" = "avocet $version" ] || fail "$from/$sums is signed as $signed, not as avocet $version"
fi

expected=$(sed -n "s/^\([0-9a-f]*\) [ *]$name\.tar\.gz\$/\1/p" < "$work/$sums")
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum < "$work/$name.tar.gz" | cut -d ' ' -f 1)
elif command -v shasum >/dev/null 2>&1; then
  found=$(shasum -a 256 < "$work/$name.tar.gz" | cut -d ' ' -f 1)
else
  fail "neither sha256sum nor shasum is here, so the archive cannot be verified"
fi
[ "${#expected}" -eq 64 ] || fail "$sums holds no checksum of $name.tar.gz"
[ "$found" = "$expected" ] || fail "the checksum of $name.tar.gz is $found, and should be $expected"

tar -C "$work" -xzf "$work/$name.tar.gz" || fail "$name.tar.gz could not be unpacked"
"$work/$name/avocet" --version >/dev/null 2>&1 || fail "the program of $name does not run on this machine"

put() { mkdir -p "$2" && cp -R "$work/$name/$1" "$2/"; }
# A program that is running cannot be written over; its name can be given to another.
mkdir -p "$prefix/bin"
cp "$work/$name/avocet" "$prefix/bin/.avocet.new"
mv -f "$prefix/bin/.avocet.new" "$prefix/bin/avocet"
put man/. "$prefix/share/man/man1"
put completions/_avocet "$prefix/share/zsh/site-functions"
put completions/avocet.fish "$prefix/share/fish/vendor_completions.d"
mkdir -p "$prefix/share/bash-completion/completions"
cp "$work/$name/completions/avocet.bash" "$prefix/share/bash-completion/completions/avocet"

# From where `avocet self update` takes the next one.
mkdir -p "$prefix/share/avocet"
case $from in
  *://* | /*) origin=$from ;;
  *) origin=$(pwd)/$from ;;
esac
printf '%s\n' "$origin" > "$prefix/share/avocet/from"

say "$("$prefix/bin/avocet" --version) is installed as $prefix/bin/avocet"
case ":${PATH:-}:" in
  *":$prefix/bin:"*) ;;
  *) say "Add $prefix/bin to PATH to start it as \`avocet\`." ;;
esac
