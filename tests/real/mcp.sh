#!/usr/bin/env bash
# Tries the official MCP servers, from npm and PyPI, in a made-up home: `avocet mcp test` for each, and
# a call of one as a step. They are installed below REAL, once. Run by hand:
#
#   tests/real/mcp.sh        AVOCET=target/debug/avocet  REAL=~/real
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=${AVOCET:-$here/../../target/debug/avocet}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
real=${REAL:-$(mktemp -d)}
npm=$real/npm-mcp python=$real/mcp
if [ ! -d "$npm/node_modules" ]; then
    mkdir -p "$npm"
    (cd "$npm" && npm init -y && npm install --no-audit --no-fund \
        @modelcontextprotocol/server-{everything,filesystem,memory,sequential-thinking}) > "$real/npm.log"
fi
if [ ! -x "$python/bin/mcp-server-time" ]; then
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet mcp-server-git mcp-server-time
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/home" "$root/work"
git -C "$root/work" init -q
run() { (cd "$root/work" && HOME="$root/home" AVOCET_HOME="$root/avocet" "$avocet" --trust "$root/work" "$@"); }

modules=$npm/node_modules/@modelcontextprotocol
run mcp add everything -- node "$modules/server-everything/dist/index.js" stdio
run mcp add filesystem -- node "$modules/server-filesystem/dist/index.js" "$root/work"
run mcp add memory --env MEMORY_FILE_PATH="$root/work/memory.json" -- node "$modules/server-memory/dist/index.js"
run mcp add thinking -- node "$modules/server-sequential-thinking/dist/index.js"
run mcp add git -- "$python/bin/mcp-server-git" --repository "$root/work"
run mcp add time -- "$python/bin/mcp-server-time"

failed=0
for server in everything filesystem memory thinking git time; do
    started=$(date +%s%N)
    if run mcp test "$server" > "$root/$server.log" 2>&1; then
        echo "$server: $(sed -n 2p "$root/$server.log"), $((($(date +%s%N) - started) / 1000000)) ms"
    else
        echo "$server: $(cat "$root/$server.log")"
        failed=1
    fi
done

cat > "$root/replies" <<'END'
{"type":"cmd","message":"x","data":{"commands":[{"tool":"mcp.time.get_current_time","input":{"timezone":"UTC"}}]}}
---
{"type":"chat","message":"Done.","data":{}}
END
run --model "scripted:$root/replies" --allow mcp.time.get_current_time -p 'what time is it?' --json > "$root/call.log" 2>&1 || failed=1
grep -q 'timezone' "$root/call.log" || { cat "$root/call.log"; failed=1; }
pgrep -f "$root" && { echo "a server is left" >&2; failed=1; }
exit "$failed"
