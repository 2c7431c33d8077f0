#!/usr/bin/env bash
# Tries the language server of scripts in editors, set up with the lines of `avocet help scripts`: the fault
# of a script that is opened, and the inputs of a called script while its call is typed. Run by hand, in tmux:
#
#   tests/real/script_editors.sh      AVOCET=target/debug/avocet  NVIM="nvim …"  HELIX=hx  PICTURES=FOLDER
#
# Debian has Neovim 0.7 and 0.10, and Helix as `hx`; NVIM may name several, and an empty one is left out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=$(realpath "${AVOCET:-$here/../../target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
help=$here/../../assets/help/en/scripts.md

root=$(mktemp -d)
pictures=${PICTURES:-$root}
name=none
screen() { tmux -L "$(basename "$root")-$name" "$@"; }
trap 'screen kill-server 2> /dev/null || true; rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/work" "$root/config/helix"
ln -s "$avocet" "$root/bin/avocet"
sed -n '/^```lua/,/^```$/p' "$help" | sed '/^```/d' > "$root/init.lua"
# Before 0.8 an editor does not ask a server by itself.
printf 'vim.o.swapfile = false\nvim.o.omnifunc = "v:lua.vim.lsp.omnifunc"\n' >> "$root/init.lua"
sed -n '/^```toml/,/^```$/p' "$help" | sed -n '/language-server.avocet/,$p' | sed '/^```/d' > "$root/config/helix/languages.toml"
printf '[editor]\nend-of-line-diagnostics = "hint"\n' > "$root/config/helix/config.toml"
printf -- '---\ntitle: Greets\ninput: [{person: {required: true, description: who is greeted}}]\n---\nuser: "Greet {{person}}"\n' \
    > "$root/work/greet.ai.yaml"

failed=0
# wait_for PICTURE TEXT: until the text is on the screen, half a minute at most.
wait_for() {
    for _ in $(seq 60); do
        screen capture-pane -p > "$pictures/$1.txt" || true
        if grep -qF -- "$2" "$pictures/$1.txt"; then
            echo "ok      $1"
            return
        fi
        sleep 0.5
    done
    echo "FAILED  $1: no $2"
    cat "$pictures/$1.txt"
    failed=1
}
# try NAME PROGRAM… -- KEY…: opens a script with a fault, and types a call with the keys that ask for proposals.
try() {
    name=$1; shift
    program=()
    while [ "$1" != -- ]; do program+=("$1"); shift; done
    shift
    printf '$prnt: x\n"hello"\n' > "$root/work/main.ai.yaml"
    screen new-session -d -x 110 -y 30 -c "$root/work" env PATH="$root/bin:$PATH" HOME="$root" AVOCET_HOME="$root/avocet" \
        XDG_CONFIG_HOME="$root/config" XDG_DATA_HOME="$root/data" XDG_STATE_HOME="$root/state" \
        XDG_CACHE_HOME="$root/cache" LC_ALL=C.UTF-8 "${program[@]}" main.ai.yaml
    wait_for "$name-fault" 'Did you mean `$print`'
    screen send-keys "$@"
    wait_for "$name-inputs" 'person'
    screen kill-server
}
for nvim in ${NVIM-nvim}; do
    version=$("$nvim" --version | sed -n '1s/^NVIM v\([0-9]*\.[0-9]*\).*/\1/p')
    try "nvim-$version" "$nvim" -u "$root/init.lua" -- Go '-> greet(' C-x C-o
done
[ -z "${HELIX-hx}" ] || try helix "${HELIX-hx}" -- Go '-> greet('
exit "$failed"
