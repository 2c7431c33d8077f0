#!/usr/bin/env bash
# Walks a made-up home from within an approved step, as this user and, where this is root, as
# the user `nobody`: tries to read and write every place that tests/system/wall.rs lists, and counts
# what it reached. Only files below a new temporary folder are touched. Run by hand:
#
#   tests/real/wall.sh        AVOCET=target/debug/avocet  MODES="work read off"
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=${AVOCET:-$here/../../target/debug/avocet}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

places() { # TABLE
    sed -n "/^const $1:/,/^];/p" "$here/../system/wall.rs" | grep -o '"[^"]*"' | tr -d '"'
}
mapfile -t secrets < <(places SECRETS)
mapfile -t later < <(places RUN_LATER)

walk() { # FOLDER MODE
    local at=$1 mode=$2 name
    local home=$at/home work=$at/home/code/shop
    mkdir -p "$work" "$at/avocet" "$at/tmp"
    printf '[safety]\nsandbox = "%s"\n' "$mode" > "$at/avocet/config.toml"
    git -C "$work" init -q
    for name in "${secrets[@]}" "${later[@]}"; do
        mkdir -p "$(dirname "$home/$name")"
        [ -d "$home/$name" ] || echo SECRET > "$home/$name"
    done
    {
        for name in "${secrets[@]}"; do
            printf "cat '%s' > /dev/null 2>&1 && echo 'read %s'\n" "$home/$name" "$name"
        done
        for name in "${secrets[@]}" "${later[@]}"; do
            printf "(echo x >> '%s') 2> /dev/null && echo 'wrote %s'\n" "$home/$name" "$name"
        done
        for name in config hooks/pre-push commondir info/attributes; do
            printf "mkdir -p .git/%s; printf '[core]\\n\\tfsmonitor = ./evil\\n' > .git/%s\n" "$(dirname "$name")" "$name"
        done
        echo 'echo done'
    } > "$work/attack.sh"
    cat > "$at/replies" <<'END'
{"type":"cmd","message":"x","data":{"commands":[{"program":"bash","args":["-c","bash attack.sh > reached"]}],"expected_effect":""}}
---
{"type":"chat","message":"Done.","data":{}}
END
    (cd "$work" && env -i HOME="$home" AVOCET_HOME="$at/avocet" TMPDIR="$at/tmp" PATH=/usr/bin:/bin \
        "$avocet" --trust "$work" --model "scripted:$at/replies" -p go --approve-steps) > "$at/log" 2>&1 ||
        true # The question about what was put back gets no answer, which is a failure.
    grep -qx 'done' "$work/reached" || { cat "$at/log" >&2; return 1; }
    local all=$((${#secrets[@]} * 2 + ${#later[@]})) steers=0
    for name in hooks/pre-push commondir info/attributes; do
        [ ! -e "$work/.git/$name" ] || steers=$((steers + 1))
    done
    ! grep -q evil "$work/.git/config" || steers=$((steers + 1))
    echo "$(id -un), sandbox = \"$mode\": $(grep -c '^read\|^wrote' "$work/reached" || true) of $all places reached," \
        "$steers of 4 files of the repository changed"
    grep '^read\|^wrote' "$work/reached" | head -n "${SHOWN:-0}" || true
}

if [ "${1:-}" = walk ]; then
    walk "$2" "$3"
    exit
fi
for mode in ${MODES:-work read off}; do
    mkdir "$root/$mode"
    walk "$root/$mode/own" "$mode"
    if [ "$(id -u)" = 0 ]; then
        cp "$avocet" "$root/avocet"
        mkdir "$root/$mode/nobody"
        cp -r "$here/.." "$root/$mode/tests"
        chown nobody "$root/$mode/nobody"
        AVOCET=$root/avocet setpriv --reuid=nobody --regid=nogroup --clear-groups \
            "$root/$mode/tests/real/wall.sh" walk "$root/$mode/nobody" "$mode"
    fi
done
