#!/usr/bin/env python3
"""Asks Avocet every prompt of prompts.txt and says how the turns end, as one row of a table.

    ask.py AVOCET LABEL BASE_URL MODEL [--provider P] [--dialect D] [--limit SECONDS] [--prompt TEXT]…

A turn is lost if it does not end in time, or ends without a word to the user: no reply, no step
and no sentence of an error.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

EXITS = {0: "done", 1: "error", 4: "stopped", 5: "failed"}


def folder() -> tempfile.TemporaryDirectory:
    made = tempfile.TemporaryDirectory(prefix="avocet-real-")
    work = pathlib.Path(made.name, "work")
    work.mkdir()
    (work / "README.md").write_text("# Herons\n\nCounts herons.\n")
    (work / "main.rs").write_text('fn main() {\n    println!("3 herons");\n}\n')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(work)]
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Count herons"]):
        subprocess.run([*git, *args], check=True)
    return made


def settings(root: str, options: argparse.Namespace) -> None:
    home = pathlib.Path(root, "home")
    home.mkdir(exist_ok=True)
    text = json.dumps  # TOML writes strings in the same way
    lines = [
        "[profiles.default]",
        f"base_url = {text(options.base_url)}",
        f"provider = {text(options.provider)}",
        f"dialect = {text(options.dialect)}",
        f"high = {text(options.model)}",
    ]
    (home / "config.toml").write_text("\n".join(lines) + "\n")


def ask(root: str, options: argparse.Namespace, prompt: str) -> dict:
    work = os.path.join(root, "work")
    command = [options.avocet, "--trust", work, "--json", "-p", prompt]
    env = {**os.environ, "AVOCET_HOME": os.path.join(root, "home"), "AVOCET_API_KEY": "sk-none"}
    started = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=work, env=env, capture_output=True, timeout=options.limit
        )
        out, code, said = done.stdout, done.returncode, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        out, code, said = late.stdout or b"", None, ""
    events = []
    for line in out.decode(errors="replace").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            pass
    kinds = [event.get("event") for event in events]
    replies = [e.get("message", "") for e in events if e.get("event") == "replied"]
    words = any(reply.strip() for reply in replies)
    steps = kinds.count("observed")
    return {
        "end": "timeout" if code is None else EXITS.get(code, f"exit {code}"),
        "seconds": time.monotonic() - started,
        "streamed": "delta" in kinds,
        "repaired": "repairing" in kinds,
        "steps": steps,
        "lost": code is None or not (words or steps or said.strip()),
        "said": (replies[-1] if words else said.strip())[:100],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("avocet", "label", "base_url", "model"):
        options.add_argument(name)
    options.add_argument("--provider", default="auto")
    options.add_argument("--dialect", default="auto")
    options.add_argument("--limit", type=float, default=60)
    options.add_argument("--prompt", action="append")
    options.add_argument("--count", type=int, default=20)
    options = options.parse_args()
    options.avocet = os.path.abspath(options.avocet)
    listed = pathlib.Path(__file__).with_name("prompts.txt").read_text().splitlines()
    prompts = options.prompt or listed[: options.count]
    with folder() as root:
        settings(root, options)
        rows = []
        for prompt in prompts:
            row = ask(root, options, prompt)
            rows.append(row)
            print(f"  {row['end']:8} {row['seconds']:5.1f}s {row['steps']} steps  "
                  f"{prompt[:40]!r}: {row['said']!r}", file=sys.stderr, flush=True)
    count = lambda test: sum(1 for row in rows if test(row))
    ends = [f"{count(lambda r: r['end'] == end)} {end}" for end in sorted({r["end"] for r in rows})]
    print(f"| {options.label} | {len(rows)} | {', '.join(ends)} | {count(lambda r: r['lost'])} "
          f"| {count(lambda r: r['streamed'])} | {count(lambda r: r['repaired'])} "
          f"| {sum(r['steps'] for r in rows)} "
          f"| {statistics.median(r['seconds'] for r in rows):.1f} s |", flush=True)
    sys.exit(1 if count(lambda r: r["lost"]) else 0)


main()
