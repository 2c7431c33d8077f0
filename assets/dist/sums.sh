#!/bin/sh
# Writes SHA256SUMS of all files of a release, and signs it. Usage: assets/dist/sums.sh FOLDER
#
# KEY=FILE signs with this secret key of minisign, which asks for its password; without it the sums
# are not signed.
set -eu
cd "${1:?name the folder with the files}"

rm -f SHA256SUMS SHA256SUMS.minisig
set --
for file in *; do
  case $file in *.sha256) ;; *) set -- "$@" "$file" ;; esac
done
if command -v sha256sum > /dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi > .SHA256SUMS
mv .SHA256SUMS SHA256SUMS
# The signature covers this comment, so that the sums of an older release do not pass for a newer.
version=$(sed -n 's/.*  avocet-\(.*\)-\(x86_64\|aarch64\)-.*\.tar\.gz$/\1/p' SHA256SUMS | sort -u)
if [ "$(printf '%s' "$version" | grep -c .)" -ne 1 ]; then
  echo "the archives are not of one version: $version" >&2
  exit 1
fi
[ -z "${KEY:-}" ] || minisign -S -s "$KEY" -m SHA256SUMS -t "avocet $version" > /dev/null
echo "$PWD/SHA256SUMS"
