#!/usr/bin/env python3
"""Tries real MCP servers through the program and prints a row for each: mcp_table.py AVOCET ROOT SPECS

SPECS is a JSON list of servers that the settings below ROOT name already: name, transport, call (tool and
input), prompt, resource, slow (tool and input of a call that takes long), process (a word of the command
line of its process). `ROOT/work` is the folder, `ROOT/avocet` the settings.
"""
import json, os, signal, subprocess, sys, time

avocet, root, specs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
failed = False


def run(replies, prompt, allow=None, while_running=None):
    """The events of one run, its errors, and whether it ended by itself."""
    file = f"{root}/replies"
    with open(file, "w") as out:
        out.write("\n---\n".join(json.dumps(reply) for reply in replies))
    command = [avocet, "--trust", f"{root}/work", "--model", f"scripted:{file}", "-p", prompt, "--json"]
    command += ["--allow", allow] if allow else []
    environment = {**os.environ, "HOME": f"{root}/home", "AVOCET_HOME": f"{root}/avocet"}
    with open(f"{root}/out", "w") as out:
        process = subprocess.Popen(command, cwd=f"{root}/work", env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
    # The server has told of its progress: the call runs.
    while while_running and process.poll() is None and '"step_output"' not in open(f"{root}/out").read():
        time.sleep(0.1)
    if while_running:
        while_running(process)
    _, errors = process.communicate(timeout=120)
    events = [json.loads(line) for line in open(f"{root}/out") if line.startswith("{")]
    return events, errors, process.returncode


def step(name, tool, value):
    commands = [{"tool": f"mcp.{name}.{tool}", "input": value}]
    return {"type": "cmd", "message": "x", "data": {"commands": commands}}


DONE = {"type": "chat", "message": "Done.", "data": {}}


def first(events, kind):
    return next((event for event in events if event["event"] == kind), {})


def below(parent, word):
    """The processes below another one with a word in their command lines."""
    found = []
    for child in subprocess.run(["pgrep", "-P", str(parent)], text=True, capture_output=True).stdout.split():
        try:
            line = open(f"/proc/{child}/cmdline").read().replace("\0", " ")
        except OSError:
            continue
        found += ([int(child)] if word in line else []) + below(child, word)
    return found


def call(name, spec):
    tool, value = spec["call"]
    events, errors, _ = run([step(name, tool, value), DONE], "go", f"mcp.{name}.{tool}")
    seen = first(events, "observed")
    if seen.get("exit_code") != 0:
        return "FAILED " + (seen.get("stderr") or errors)[:200]
    return f"{seen['duration_ms']} ms"


def prompt(name, spec):
    events, errors, code = run([DONE], f"/{name}:{spec['prompt']}")
    return "ok" if code == 0 and first(events, "message").get("text") == "Done." or code == 0 and "Done." in json.dumps(events) else "FAILED " + errors[:200]


def resource(name, spec):
    events, errors, code = run([DONE], f"what does @{name}:{spec['resource']} say")
    return "ok" if code == 0 and spec["resource"] in json.dumps(events) and not errors.strip() else "FAILED " + errors[:200]


def cancel(name, spec):
    """Ctrl-C in a call: the run ends at once, and the server with it."""
    tool, value = spec["slow"]

    running = []

    def interrupt(process):
        running.extend(below(process.pid, spec["process"]) if "process" in spec else [])
        process.send_signal(signal.SIGINT)
        running.append(time.time())

    run([step(name, tool, value), DONE], "go", f"mcp.{name}.{tool}", interrupt)
    took = time.time() - running.pop()
    left = [pid for pid in running if os.path.exists(f"/proc/{pid}")]
    return f"ended in {took:.1f} s" if took < 8 and not left else f"FAILED {took:.1f} s, left: {left}"


def kill(name, spec):
    """Its process is killed in a call: one failed step, and the turn goes on."""
    tool, value = spec["slow"]

    def end(process):
        for server in below(process.pid, spec["process"]):
            os.kill(server, signal.SIGKILL)

    events, errors, code = run([step(name, tool, value), DONE], "go", f"mcp.{name}.{tool}", end)
    seen = first(events, "observed")
    has_gone_on = code in (0, 3) and "Done." in json.dumps(events[-6:])
    return "told: " + seen.get("stderr", "")[:60].strip() if seen.get("exit_code") == 1 and has_gone_on else f"FAILED {code} {errors[:200]} {seen}"


for spec in specs:
    name = spec["name"]
    started = time.time()
    environment = {**os.environ, "HOME": f"{root}/home", "AVOCET_HOME": f"{root}/avocet"}
    tried = subprocess.run([avocet, "--trust", f"{root}/work", "mcp", "test", name], text=True,
                           cwd=f"{root}/work", env=environment, capture_output=True)
    took = (time.time() - started) * 1000
    lines = tried.stdout.splitlines()
    row = [name, spec["transport"], f"{took:.0f} ms", lines[1].strip() if len(lines) > 1 else "FAILED " + tried.stderr]
    for kind, work in (("call", call), ("prompt", prompt), ("resource", resource), ("slow", cancel), ("slow", kill)):
        row.append(f"{work.__name__}: {work(name, spec)}" if kind in spec and (work is not kill or "process" in spec) else f"{work.__name__}: -")
    failed = failed or any("FAILED" in cell for cell in row)
    print(" | ".join(row), flush=True)
sys.exit(failed)
