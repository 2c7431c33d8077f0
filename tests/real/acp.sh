#!/usr/bin/env bash
# Tries `avocet acp` against the official client of the Agent Client Protocol, with scripted replies: a
# step that is permitted, one that is rejected, a session that is loaded again, a command. Run by hand:
# it installs a package from npm.
#
#   tests/real/acp.sh [FOLDER]        AVOCET=target/debug/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/avocet-acp}
avocet=${AVOCET:-$here/../../target/debug/avocet}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
mkdir -p "$folder"
[ -d "$folder/node_modules/@agentclientprotocol" ] ||
    npm install --silent --no-audit --no-fund --prefix "$folder" @agentclientprotocol/sdk@2
export SDK=$folder

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/home" "$root/work"
work=$(cd "$root/work" && pwd -P)
cat > "$root/replies.txt" <<'REPLIES'
{"type":"cmd","message":"I write it.","data":{"cwd":null,"commands":[{"tool":"file.write","input":{"path":"a.txt","content":"new\n"}}],"expected_effect":""}}
---
{"type":"chat","message":"All done.","data":{"format":"plain"}}
REPLIES

failed=0
# client NAME EXPECTED OPTION…: one run, whose output has to contain the text.
client() {
    local name=$1 expected=$2
    shift 2
    env -i PATH="$PATH" SDK="$SDK" HOME="$root/home" AVOCET_HOME="$root/avocet" LANG=en_US.UTF-8 \
        node "$here/acp_client.mjs" --cwd "$work" "$@" -- \
        "$avocet" --trust "$work" --model "scripted:$root/replies.txt" acp > "$root/$name.log" 2>&1 || true
    if grep -qF -- "$expected" "$root/$name.log"; then
        echo "ok      $name"
    else
        echo "FAILED  $name: no $expected"
        cat "$root/$name.log"
        failed=1
    fi
}

client rejected 'stop "end_turn"' --reject --prompt 'write it'
[ ! -e "$work/a.txt" ] || { echo "FAILED  a rejected step ran"; failed=1; }
client permitted 'stop "end_turn"' --prompt 'write it'
[ "$(cat "$work/a.txt")" = new ] || { echo "FAILED  a permitted step did not run"; failed=1; }
grep -q '^write ' "$root/permitted.log" || { echo "FAILED  the editor did not write the file"; failed=1; }
session=$(sed -n 's/^session "\(.*\)"/\1/p' "$root/permitted.log")
rm -f "$work/a.txt"
client loaded 'user_message_chunk {"text":"write it"' --load "$session" --prompt 'again'
client command 'agent_message_chunk' --prompt '/status'
exit "$failed"
