#!/usr/bin/env bash
# Tries Avocet against a server that takes only what the vendors' own types allow, in each format and
# both dialects, with a picture. Fails if a request is refused. Run by hand: it installs the packages
# of the vendors from PyPI into a folder of its own.
#
#   tests/real/strict.sh [FOLDER]       AVOCET=target/release/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/avocet-strict}
avocet=${AVOCET:-$here/../../target/release/avocet}
port=${STRICT_PORT:-18604}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build --release" >&2; exit 2; }

mkdir -p "$folder/work"
[ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q anthropic openai
cp "$here/../fixtures/pixel.png" "$folder/work/pixel.png"
echo "# Work" > "$folder/work/README.md"
"$folder/venv/bin/python" "$here/strict_server.py" "$port" > "$folder/strict.log" 2>&1 & server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do curl -sf -o /dev/null "http://127.0.0.1:$port/v1/models" && break; sleep 1; done

for row in "anthropic claude-sonnet-4-5" "openai gpt-5" "openai-responses gpt-5"; do
    for dialect in tools json; do
        read -r provider model <<<"$row"
        home=$(mktemp -d "$folder/home.XXXXXX")
        printf '[profiles.default]\nprovider = "%s"\ndialect = "%s"\nbase_url = "http://127.0.0.1:%s/v1"\nhigh = "%s"\n' \
            "$provider" "$dialect" "$port" "$model" > "$home/config.toml"
        AVOCET_HOME=$home AVOCET_API_KEY=sk-none "$avocet" --trust "$folder/work" --cwd "$folder/work" \
            --approve-steps -p "look around @pixel.png" > "$home/out" 2>&1 || true
        echo "$provider $dialect: $(tail -n 1 "$home/out")"
    done
done
if grep refused "$folder/strict.log"; then exit 1; fi
