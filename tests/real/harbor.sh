#!/usr/bin/env bash
# Runs one of our tasks with Harbor's own package and the adapter of assets/eval/harbor.py, without
# Docker and without a model: the environment is a bare root by bubblewrap, the replies are recorded.
# Then runs that fail: a limit, a wrong key, a busy server, too late. Needs python 3.12, bubblewrap and PyPI.
# Run by hand:
#
#   tests/real/harbor.sh        AVOCET=target/debug/avocet  REAL=~/real  PYTHON=python3.13
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/python_package.sh" harbor bin/harbor harbor==0.26.0
root=$(mktemp -d)
servers=()
stop() {
    for server in "${servers[@]}"; do kill "$server" 2> /dev/null || true; done
    rm -rf "$root"
}
trap stop EXIT

# The task: what it begins with, what it asks for, and its check, as Harbor has them.
ours=$repository/assets/eval/python-quotes task=$root/task
mkdir -p "$task/tests"
cp -R "$ours/files" "$task/environment"
touch "$task/environment/Dockerfile"
cp "$ours/check/test_rows.py" "$task/tests/"
sed -n 's/^prompt = "\(.*\)"$/\1/p' "$ours/task.toml" > "$task/instruction.md"
cat > "$task/task.toml" << 'END'
schema_version = "1.4"
[environment]
workdir = "/app"
[agent]
timeout_sec = 60.0
END
cat > "$task/tests/test.sh" << 'END'
cp /tests/test_rows.py /app/
cd /app && python3 -m unittest -q && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
END
# What a million tokens cost.
mkdir "$task/environment/.home"
printf '[models.recorded]\nprice_input = 1.0\nprice_cached = 0.1\nprice_output = 10.0\n' > "$task/environment/.home/config.toml"

serve() { # FILE [STATUS]: sets `port`
    exec {output}< <(exec python3 "$here/recorded_model.py" "$@")
    servers+=($!)
    read -r port <&"$output"
}

# The archive, as people download it.
mkdir "$root/avocet-0.0.0-test"
cp "$avocet" "$root/avocet-0.0.0-test/avocet"
tar -C "$root" -czf "$root/avocet.tar.gz" avocet-0.0.0-test

run() { # NAME KEY [OPTION]...: a job; the result of its only trial is printed
    local name=$1 key=$2
    shift 2
    LITELLM_LOCAL_MODEL_COST_MAP=true PYTHONDONTWRITEBYTECODE=1 RECORDED_KEY=$key PYTHONPATH=$repository:$here "$real/harbor/bin/harbor" run -q -y \
        --job-name "$name" -o "$root/jobs" -p "$task" -e bare_environment:BareRoot \
        -a assets.eval.harbor:Avocet --ak binary="$root/avocet.tar.gz" -m recorded \
        --ae AVOCET_HOME=/app/.home --base-url "http://127.0.0.1:$port" --api-key-name RECORDED_KEY "$@" > "$root/$name.log" 2>&1 ||
        { cat "$root/$name.log" >&2; return 1; }
    cat "$root/jobs/$name"/task__*/result.json
}
expect() { # NAME EXPRESSION: of the result on standard input
    python3 -c "
import json, sys
result = json.load(sys.stdin)
usage, ending, failure = result['agent_result'], result['agent_result']['metadata'], result['exception_info']
reward = (result['verifier_result'] or {}).get('rewards')
assert ($2), json.dumps([usage, reward, failure], indent=1)
print('$1: passed')"
}

serve "$ours/replies"
run solved sk-test | expect solved "failure is None and reward == {'reward': 1.0} and ending == {'ending': 'done'}
    and usage['n_input_tokens'] == 3600 and usage['n_cache_tokens'] == 3000
    and usage['n_output_tokens'] == 240 and usage['cost_usd'] == 0.0033"
python3 - "$root"/jobs/solved/task__*/agent/trajectory.json << 'PY'
import json, sys
trajectory = json.load(open(sys.argv[1]))
names = [call["function_name"] for step in trajectory["steps"] for call in step.get("tool_calls", [])]
assert names == ["file.read", "file.write"], trajectory
assert [step["source"] for step in trajectory["steps"]] == ["user"] + 3 * ["agent"], trajectory
of_replies = [step["metrics"] for step in trajectory["steps"] if step["source"] == "agent"]
for name in ["prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"]:
    total = sum(metrics[name] for metrics in of_replies)
    assert abs(total - trajectory["final_metrics"]["total_" + name]) < 1e-9, (name, trajectory)
PY

serve "$ours/replies"
run limit sk-test --ak max_steps=1 |
    expect limit "failure is None and reward == {'reward': 0.0} and 'limit' in ending['ending']"

serve "$ours/replies"
run wrong_key sk-other | expect wrong_key "failure['exception_type'] == 'AgentAuthenticationError'"

serve "$ours/replies" 429
run busy sk-test | expect busy "failure['exception_type'] == 'ApiRateLimitError'"

serve "$ours/replies" 0
run late sk-test --agent-timeout-multiplier 0.05 |
    expect late "failure['exception_type'] == 'AgentTimeoutError' and ending == {'ending': 'cut off'}"
