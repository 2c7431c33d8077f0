#!/usr/bin/env bash
# Builds everything that people install from one program, and installs it: the archive with its sums
# and their signature, the .deb, the npm package and the wheel, each from the files made here. Then
# installs the archive in bare roots: Debian's (by debootstrap, as root), BusyBox's, and those that
# ROOTS names. Needs bubblewrap, and tries what else is here: minisign, lintian, node, debootstrap.
# Run by hand; the program that is to be released is the static one of musl:
#
#   tests/real/packages.sh        AVOCET=target/x86_64-unknown-linux-musl/dist/avocet
#                                 ROOTS="alpine=minirootfs.tar.gz fedora=rootfs.tar"  REAL=~/real
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
dist=$repository/assets/dist
avocet=$(realpath "${AVOCET:-$repository/target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
real=${REAL:-$(mktemp -d)}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
out=$root/out
has() { command -v "$1" > /dev/null; }
passed() { printf '%-28s passed%s\n' "$1" "${2:+: $2}"; }
quiet() { "$@" > "$root/log" 2>&1 || { cat "$root/log" >&2; return 1; }; }
skipped() { printf '%-28s not tried: %s\n' "$1" "$2"; }

version=$("$avocet" --version)
version=${version#avocet }
libraries=$(ldd "$avocet" 2> /dev/null | grep -o '/[^ ]*' || true)
target=$(uname -m)-unknown-linux-musl
[ -z "$libraries" ] || target=$(uname -m)-unknown-linux-gnu
echo "avocet $version, $target"

# What is installed answers with a scripted model, and its step makes a file.
cat > "$root/replies" << 'END'
{"type":"cmd","message":"I write.","data":{"commands":[{"tool":"file.write","input":{"path":"made.txt","content":"new\n"}}],"expected_effect":""}}
---
{"type":"chat","message":"Done.","data":{"format":"plain"}}
END
works() { # PROGRAM: runs a task with it in a new folder
    local folder
    folder=$(mktemp -d -p "$root")
    [ "$("$1" --version)" = "avocet $version" ]
    AVOCET_HOME=$folder/.home quiet "$1" -p go -y --cwd "$folder" --model "scripted:$root/replies"
    grep -qx new "$folder/made.txt"
}

PROGRAM=$avocet OUT=$out "$dist/archives.sh" "$target" > /dev/null
sh "$dist/packages.sh" "$out/avocet-$version-$target.tar.gz" > /dev/null

if has minisign; then
    minisign -G -W -p "$root/key.pub" -s "$root/key" > /dev/null
    KEY=$root/key sh "$dist/sums.sh" "$out" > /dev/null
    (cd "$out" && sha256sum --quiet -c SHA256SUMS)
    comment=$(minisign -V -Q -p "$root/key.pub" -m "$out/SHA256SUMS")
    [ "$comment" = "avocet $version" ]
    sed 's/^./0/' "$out/SHA256SUMS" > "$root/forged"
    if minisign -V -q -p "$root/key.pub" -m "$root/forged" -x "$out/SHA256SUMS.minisig" 2> /dev/null; then exit 1; fi
    passed "sums and signature"
else
    sh "$dist/sums.sh" "$out" > /dev/null
    skipped signature minisign
fi
(cd "$out" && du -h --apparent-size -- *.tar.gz *.deb *.tgz *.whl)

install_archive() { sh "$dist/install.sh" --from "$out" --version "$version" --prefix "$root/archive" "$@" 2> /dev/null; }
install_archive
works "$root/archive/bin/avocet"
passed archive
if has minisign; then
    rm -r "$root/archive"
    minisign -G -W -p "$root/other.pub" -s "$root/other" > /dev/null
    if install_archive --key "$(tail -n 1 "$root/other.pub")"; then exit 1; fi
    [ ! -e "$root/archive" ]
    install_archive --key "$(tail -n 1 "$root/key.pub")"
    works "$root/archive/bin/avocet"
    passed "archive with a signature"
fi

deb=$(ls "$out"/*.deb)
dpkg-deb -x "$deb" "$root/deb"
works "$root/deb/usr/bin/avocet"
(cd "$root/deb" && dpkg-deb -I "$deb" md5sums | md5sum --quiet -c)
passed .deb "$(dpkg-deb -f "$deb" Depends)"
if has lintian; then lintian --fail-on error,warning "$deb" && passed lintian; else skipped lintian lintian; fi

if has npm; then
    mkdir "$root/npm"
    npm install --offline --silent --no-audit --no-fund --ignore-scripts --prefix "$root/npm" \
        "$out/avocet-agent-linux-"*.tgz "$out/avocet-agent-$version.tgz"
    program=$root/npm/node_modules/.bin/avocet
    works "$program"
    status=0
    "$program" --no-such-option 2> /dev/null || status=$?
    [ "$status" = 2 ]
    # A signal to the starter ends the program, and is how it ends itself.
    mkfifo "$root/never"
    "$program" serve --stdio < "$root/never" > /dev/null 2>&1 &
    starter=$!
    exec {never}> "$root/never"
    child=
    until [ -n "$child" ]; do child=$(pgrep -P "$starter" || true); done
    kill -TERM "$starter"
    wait "$starter" || status=$?
    exec {never}>&-
    [ "$status" = 143 ] && ! kill -0 "$child" 2> /dev/null
    passed npm "$(node --version)"
else
    skipped npm node
fi

python3 -m venv "$root/venv"
"$root/venv/bin/pip" install -q --no-index --disable-pip-version-check "$out"/*.whl
works "$root/venv/bin/avocet"
[ -s "$root/venv/share/man/man1/avocet.1" ]
passed wheel "$(basename "$out"/*.whl)"

# In a bare root: the installer, with what the root has, and the task.
inside() { # ROOT COMMAND...
    local at=$1
    shift
    bwrap --bind "$at" / --ro-bind "$out" /out --ro-bind "$dist/install.sh" /install.sh \
        --ro-bind "$root/replies" /replies --proc /proc --dev /dev --tmpfs /tmp --unshare-pid --die-with-parent \
        --unshare-user --uid 0 --gid 0 --clearenv --setenv HOME /root --setenv PATH /root/.local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
        --chdir /tmp "$@"
}
bare() { # NAME ROOT
    mkdir -p "$2"/{out,proc,dev,tmp,root}
    touch "$2/install.sh" "$2/replies"
    [ -z "$libraries" ] || [ -e "$2/lib/$(uname -m)-linux-gnu/libc.so.6" ] || [ -e "$2/lib64/libc.so.6" ] || {
        # Only the static program runs everywhere.
        echo "($1 gets this machine's glibc, since the program is not static)"
        local library
        for library in $libraries; do install -D "$library" "$2/$library"; done
    }
    quiet inside "$2" sh /install.sh --from /out --version "$version"
    # As in a container of podman.
    mkdir -p "$2/run" && touch "$2/run/.containerenv"
    quiet inside "$2" sh -c 'avocet -p go -y --container --model scripted:/replies && grep -qx new made.txt'
    quiet inside "$2" avocet doctor
    passed "in $1" "$(inside "$2" avocet --version)"
}

mkdir -p "$root/busybox/bin"
if has busybox && ! ldd "$(command -v busybox)" > /dev/null 2>&1; then
    cp "$(command -v busybox)" "$root/busybox/bin/busybox"
    for applet in $(busybox --list | grep -vx busybox); do ln -s busybox "$root/busybox/bin/$applet"; done
    bare "BusyBox's root" "$root/busybox"
else
    skipped "in BusyBox's root" busybox-static
fi

if has debootstrap && [ "$(id -u)" = 0 ]; then
    [ -e "$real/debian.tar" ] || {
        debootstrap --variant=minbase stable "$root/bootstrap" > "$real/debootstrap.log"
        tar -C "$root/bootstrap" -cf "$real/debian.tar" .
        rm -rf "$root/bootstrap"
    }
    mkdir "$root/debian"
    tar -C "$root/debian" -xf "$real/debian.tar"
    bare Debian "$root/debian"
    # Recommended packages need the network.
    quiet inside "$root/debian" dpkg -i "/out/$(basename "$deb")"
    quiet inside "$root/debian" /usr/bin/avocet --version
    quiet inside "$root/debian" dpkg -r avocet
    [ ! -e "$root/debian/usr/bin/avocet" ]
    passed "dpkg in Debian"
else
    skipped "in Debian" "debootstrap, as root"
fi
for given in ${ROOTS:-}; do
    mkdir "$root/${given%%=*}"
    tar -C "$root/${given%%=*}" -xf "${given#*=}"
    bare "${given%%=*}" "$root/${given%%=*}"
done
