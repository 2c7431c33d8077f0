#!/bin/sh
# Makes packages of archives that archives.sh built: .deb, npm and PyPI. Each carries the program;
# none downloads anything when it is installed. They are written beside the archives.
#
#   assets/dist/packages.sh target/archives/avocet-0.1.0-*.tar.gz
#
# Give all archives of a release at once, one for each system and processor: the npm package
# `avocet-agent` depends on those of the systems. Needs GNU tar, python3 and dpkg-deb.
#
# PACKAGE     the name on npm and PyPI (default: avocet-agent; `avocet` is taken)
# MAINTAINER  who the .deb names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
package=${PACKAGE:-avocet-agent}
maintainer=${MAINTAINER:-The Avocet authors <avocet@invalid.invalid>}
about='A full-screen coding agent for the terminal'
[ "$#" -gt 0 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The newest version of glibc that a program needs. Packed addresses need 2.36.
glibc() { grep -aoE 'GLIBC_(2\.[0-9]+|ABI_DT_RELR)' "$1" | sed 's/ABI_DT_RELR/2.36/; s/GLIBC_//' | sort -uV | tail -n 1; }

pack() { tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -czf "$2" "$3"; }

deb() {
  case $machine in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
  root=$work/deb
  doc=$root/usr/share/doc/avocet
  rm -rf "$root"
  mkdir -p "$root/DEBIAN" "$doc" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" \
    "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
  install -D -m 755 "$from/avocet" "$root/usr/bin/avocet"
  install -m 644 "$from"/man/*.1 "$root/usr/share/man/man1"
  gzip -9n "$root"/usr/share/man/man1/*.1
  install -m 644 "$from/completions/avocet.bash" "$root/usr/share/bash-completion/completions/avocet"
  install -m 644 "$from/completions/_avocet" "$root/usr/share/zsh/vendor-completions"
  install -m 644 "$from/completions/avocet.fish" "$root/usr/share/fish/vendor_completions.d"
  debversion=$(printf '%s' "$version" | tr - '~')
  {
    printf 'avocet (%s) unstable; urgency=medium\n\n  * Release %s.\n\n' "$debversion" "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n > "$doc/changelog.gz"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: 2026 The Avocet authors\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n'
    sed -n '5,$p' "$from/LICENSE-MIT" | sed 's/^$/./; s/^/ /'
    printf '\nLicense: Apache-2.0\n The text is in /usr/share/common-licenses/Apache-2.0.\n'
  } > "$doc/copyright"
  mkdir -p "$root/usr/share/lintian/overrides"
  {
    echo '# Names that the safety policy knows; the program uses neither.'
    echo 'avocet: missing-depends-on-sensible-utils'
    echo 'avocet: uses-dpkg-database-directly'
  } > "$root/usr/share/lintian/overrides/avocet"
  if [ -n "$libc" ]; then depends="Depends: libc6 (>= $libc), libgcc-s1 (>= 4.2)"; else depends=; fi
  {
    printf 'Package: avocet\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$debversion" "$arch" "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -k -s --apparent-size "$root/usr" | cut -f 1)"
    [ -z "$depends" ] || echo "$depends"
    printf 'Recommends: git, ripgrep\nSection: devel\nPriority: optional\nDescription: %s\n' "${about#A }"
    printf ' You talk to a model, and it proposes steps. Read-only steps run on their own,\n'
    printf ' other steps ask first, and what would destroy work is refused with a reason.\n'
  } > "$root/DEBIAN/control"
  (cd "$root" && find usr -type f | sort | xargs md5sum > DEBIAN/md5sums)
  chmod -R u=rwX,go=rX "$root"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/avocet_${version}_$arch.deb" > /dev/null
  echo "$out/avocet_${version}_$arch.deb"
}

# The package of one system, which the one that people install depends on.
npm_system() {
  case $system in apple-*) os=darwin ;; *) os=linux ;; esac
  case $machine in x86_64) cpu=x64 ;; *) cpu=arm64 ;; esac
  name=$package-$os-$cpu
  rm -rf "$work/npm"
  mkdir -p "$work/npm/package/bin"
  cp "$from/avocet" "$work/npm/package/bin/"
  cp "$from"/LICENSE-* "$work/npm/package/"
  if [ -n "$libc" ]; then only=', "libc": ["glibc"]'; else only=; fi
  cat > "$work/npm/package/package.json" << END
{"name": "$name", "version": "$version", "description": "$about, for $os-$cpu", "license": "MIT OR Apache-2.0",
 "os": ["$os"], "cpu": ["$cpu"]$only, "preferUnplugged": true}
END
  pack "$work/npm" "$out/$name-$version.tgz" package
  printf '%s"%s": "%s"' "${systems:+, }" "$name" "$version" >> "$work/systems"
  systems=some
  echo "$out/$name-$version.tgz"
}

npm_main() {
  rm -rf "$work/npm"
  mkdir -p "$work/npm/package"
  cp "$from"/LICENSE-* "$from/README.md" "$work/npm/package/"
  install -m 755 "$here/npm/avocet.js" "$work/npm/package/"
  cat > "$work/npm/package/package.json" << END
{"name": "$package", "version": "$version", "description": "$about", "license": "MIT OR Apache-2.0",
 "bin": {"avocet": "avocet.js"}, "engines": {"node": ">=16"}, "optionalDependencies": {$(cat "$work/systems")}}
END
  pack "$work/npm" "$out/$package-$version.tgz" package
  echo "$out/$package-$version.tgz"
}

systems=
for archive in "$@"; do
  file=${archive##*/}
  machine=$(printf '%s' "$file" | sed -n 's/^avocet-.*-\(x86_64\|aarch64\)-.*\.tar\.gz$/\1/p')
  [ -n "$machine" ] || { echo "$file is not the name of an archive" >&2; exit 2; }
  version=${file#avocet-}
  version=${version%-"$machine"-*}
  system=${file##*-"$machine"-}
  system=${system%.tar.gz}
  out=$(cd "$(dirname "$archive")" && pwd)
  tar -C "$work" -xzf "$archive"
  from=$work/${file%.tar.gz}
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$from/avocet")}
  export SOURCE_DATE_EPOCH
  case $system in *-linux-gnu) libc=$(glibc "$from/avocet") ;; *) libc= ;; esac
  case $system in *-linux-*) deb ;; esac
  npm_system
  python3 "$here/wheel.py" "$from" "$package" "$version" "$machine" "$system" "$libc" "$out"
done
npm_main
