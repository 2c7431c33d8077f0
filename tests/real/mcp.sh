#!/usr/bin/env bash
# Tries the official MCP servers, from npm and PyPI, in a made-up home: a row for each with its start, its
# tools, a call as a step, a prompt, a resource, a call that is cancelled and one in which the server is
# killed. They are installed below REAL, once. Run by hand:
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
    "$python/bin/pip" install --quiet mcp-server-git mcp-server-time mcp-server-fetch
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

run mcp add fetch -- "$python/bin/mcp-server-fetch"

# One of them over HTTP as well, in the transport of today and in the older one, on this machine only.
everything=$modules/server-everything/dist/index.js
PORT=3921 node -r "$here/loopback.cjs" "$everything" streamableHttp > "$root/http.log" 2>&1 &
http=$!
PORT=3922 node -r "$here/loopback.cjs" "$everything" sse > "$root/sse.log" 2>&1 &
sse=$!
trap 'kill $http $sse 2> /dev/null || true; rm -rf "$root"' EXIT
run mcp add http --url http://127.0.0.1:3921/mcp
run mcp add sse --url http://127.0.0.1:3922/sse
for port in 3921 3922; do
    until (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do sleep 0.2; done
done

slow='"slow": ["trigger-long-running-operation", {"duration": 60, "steps": 60}]'
offers='"prompt": "args-prompt city=Oslo", "resource": "demo://resource/dynamic/text/1"'
failed=0
python3 "$here/mcp_table.py" "$avocet" "$root" '[
    {"name": "everything", "transport": "stdio", "call": ["echo", {"message": "hi"}], '"$offers, $slow"',
        "process": "server-everything/dist/index.js stdio"},
    {"name": "http", "transport": "HTTP", "call": ["echo", {"message": "hi"}], '"$offers, $slow"'},
    {"name": "sse", "transport": "SSE", "call": ["echo", {"message": "hi"}], '"$offers, $slow"'},
    {"name": "filesystem", "transport": "stdio", "call": ["list_directory", {"path": "'"$root/work"'"}]},
    {"name": "memory", "transport": "stdio", "call": ["read_graph", {}]},
    {"name": "thinking", "transport": "stdio", "call": ["sequentialthinking",
        {"thought": "a", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}]},
    {"name": "git", "transport": "stdio", "call": ["git_status", {"repo_path": "'"$root/work"'"}]},
    {"name": "time", "transport": "stdio", "call": ["get_current_time", {"timezone": "UTC"}]},
    {"name": "fetch", "transport": "stdio"}
]' || failed=1
pgrep -f "$root" && { echo "a server is left" >&2; failed=1; }
exit "$failed"
