#!/usr/bin/env bash
# Tries real language servers, from npm, PyPI and what is installed: an edit that breaks a file of each
# language, and what comes back with its result after how long. They are installed below REAL, once.
# Run by hand:
#
#   tests/real/lsp.sh        AVOCET=target/debug/avocet  REAL=~/real
#
# RUST_ANALYZER='["FILE", "ARGUMENT"]' is a rust-analyzer that is not installed in a folder of PATH.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=${AVOCET:-$here/../../target/debug/avocet}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
real=${REAL:-$(mktemp -d)}
npm=$real/npm-lsp python=$real/lsp
if [ ! -d "$npm/node_modules" ]; then
    mkdir -p "$npm"
    (cd "$npm" && npm init -y && npm install --no-audit --no-fund \
        typescript@5 typescript-language-server@4 pyright) > "$real/npm-lsp.log"
fi
if [ ! -x "$python/bin/basedpyright-langserver" ]; then
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet basedpyright
fi

root=$(mktemp -d)
trap '[ -n "${KEEP:-}" ] || rm -rf "$root"' EXIT; [ -z "${KEEP:-}" ] || echo "$root"
mkdir -p "$root/avocet"
# The server for Python, and its folder.
settings() {
cat > "$root/avocet/config.toml" <<END
[lsp.typescript-language-server]
command = ["$npm/node_modules/.bin/typescript-language-server", "--stdio"]
[lsp.$1]
command = ["$2/$1-langserver", "--stdio"]
END
[ -z "${RUST_ANALYZER:-}" ] || printf '[lsp.rust-analyzer]\ncommand = %s\n' "$RUST_ANALYZER" >> "$root/avocet/config.toml"
}

# name, file, the text before, what is replaced by what
try() {
    local name=$1 file=$2 before=$3 old=$4 new=$5 work=$root/$1
    mkdir -p "$work/$(dirname "$file")"
    printf '%b' "$before" > "$work/$file"
    [ -z "${6:-}" ] || printf '%b' "$7" > "$work/$6"
    git -C "$work" init -q
    local edit='{"type":"cmd","message":"x","data":{"commands":[{"tool":"file.edit","input":{"path":"'$file'","edits":[{"old":"'$old'","new":"'$new'"}]}}]}}'
    # Two files in turn: the second edit meets a server that runs.
    local back='{"type":"cmd","message":"x","data":{"commands":[{"tool":"file.edit","input":{"path":"'$file'","edits":[{"old":"'$new'","new":"'$old'"}]}}]}}'
    local look='{"type":"cmd","message":"x","data":{"commands":[{"tool":"exec","input":{"program":"sleep","args":["'${WAIT:-20}'"]}}]}}'
    {
        printf '{"type":"cmd","message":"x","data":{"commands":[{"tool":"file.read","input":{"path":"%s"}}]}}\n---\n' "$file"
        printf '%s\n---\n%s\n---\n%s\n---\n' "$look" "$edit" "$back"
        printf '{"type":"chat","message":"Done."}\n'
    } > "$root/$name.replies"
    (cd "$work" && AVOCET_HOME="$root/avocet" "$avocet" --trust "$work" --mode edits --approve-steps \
        --model "scripted:$root/$name.replies" -p "$name" --json \
        < /dev/null > "$root/$name.events" 2> "$root/$name.errors") || cat "$root/$name.errors"
    python3 - "$name" "$root/$name.events" <<'END'
import json, sys
name, events = sys.argv[1:]
for line in open(events):
    event = json.loads(line)
    if event["event"] == "observed" and "file.edit" in line:
        note = (event.get("note") or {}).get("text", "nothing new")
        print(f"{name}: {event['duration_ms']} ms: {note}")
END
}

settings pyright "$npm/node_modules/.bin"
try pyright a.py 'def f(a: int) -> int:\n    return a\n' 'return a' 'return b'
settings basedpyright "$python/bin"
try basedpyright a.py 'def f(a: int) -> int:\n    return a\n' 'return a' 'return b'
try typescript a.ts 'export function f(a: number): number {\n  return a;\n}\n' 'return a' 'return String(a)' package.json '{}\n'
if command -v clangd > /dev/null; then
    try clangd a.c 'int f(int a) {\n  return a;\n}\n' 'return a' 'return b'
fi
if [ -n "${RUST_ANALYZER:-}" ] || rust-analyzer --version > /dev/null 2>&1; then
    try rust src/lib.rs 'pub fn f(a: u8) -> u8 {\n    a\n}\n' '    a' '    b' Cargo.toml '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
fi
if command -v gopls > /dev/null; then
    try go a.go 'package a\n\nfunc F(a int) int {\n\treturn a\n}\n' 'return a' 'return b' go.mod 'module a\n\ngo 1.20\n'
fi
