#!/usr/bin/env bash
# Lets the adapter for the package `terminal-bench` solve one of our tasks with recorded replies, in the
# package's own terminal session but without Docker, and fail with a wrong key. Needs python 3.12,
# bubblewrap, tmux and PyPI. Run by hand:
#
#   tests/real/terminal_bench.sh        AVOCET=target/debug/avocet  REAL=~/real  PYTHON=python3.12
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/python_package.sh" terminal-bench bin/tb terminal-bench==0.2.18
task=$repository/assets/eval/python-quotes
exec {output}< <(exec python3 "$here/recorded_model.py" "$task/replies")
server=$!
trap 'kill "$server"' EXIT
read -r port <&"$output"

try() { # KEY EXPECTED: the failure, tokens in and out, the status of the check
    local got
    got=$(AVOCET_API_KEY=$1 LITELLM_LOCAL_MODEL_COST_MAP=true PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$repository \
        "$real/terminal-bench/bin/python" "$here/terminal_bench_session.py" "$avocet" "http://127.0.0.1:$port/v1" "$task" |
        tail -n 1)
    [ "$got" = "$2" ] || { echo "$got, not $2" >&2; return 1; }
    echo "$got: passed"
}
try sk-other "unknown_agent_error 0 0 1"
try sk-test "none 3600 240 0"
