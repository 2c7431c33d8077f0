#!/usr/bin/env python3
"""Runs the public scripts of the language with canned replies, and compares the messages they send
with those of the published engine.

    python3 tests/real/public_scripts.py AVOCET FOLDER [REFERENCE.json [MENDED.json]]

FOLDER has the repositories offline-ai/cli and offline-ai/ai-shell, each in a folder of its own.
REFERENCE.json is what tests/real/public_scripts_reference.mjs has recorded: for each script its
messages by call. MENDED.json is what the same has recorded with `--mended`, without the faults of
the engine that it names. It needs the network for neither.
"""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLIES = ["reply one", "reply two", "reply three"]
OBJECT = '{"reasoning": "it lists", "command": "ls", "answer": "5", "safe": true}'
CATALOG = '{"summary": "a guide", "files": [{"title": "One", "filepath": "cli.md", "description": "d"}]}'
LANGUAGES = '[{"name": "English", "value": "en"}, {"name": "French", "value": "fr"}]'
ARGS = {
    "content": "some text", "target": "English", "lang": "English", "language": "English",
    "name": "Dobby", "command": "ls", "error": "not found",
}
# The repository has the script that loads a file, and not its loader.
LOADER = """import fs from 'fs/promises'
export async function loadFile(params) {
  return await fs.readFile(params?.content ?? this?.content ?? params, 'utf8')
}
"""
calls = []


def example(schema):
    """A value of a JSON schema."""
    if not isinstance(schema, dict):
        return "five"
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: example(part) for name, part in schema.get("properties", {}).items()}
    if kind in ("array", "list"):
        return [example(schema.get("items") or {})]
    return {"number": 5, "integer": 5, "boolean": True}.get(kind, "five")


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", json.dumps({"object": "list", "data": [{"id": "mock", "object": "model"}]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        calls.append(asked["messages"])
        form = asked.get("response_format") or {}
        text = REPLIES[min(len(calls), len(REPLIES)) - 1]
        wanted = json.dumps(asked["messages"])
        if form and "ISO 639-1" in wanted:
            text = LANGUAGES
        elif form and "filepath" in wanted:
            text = CATALOG
        elif form.get("type") == "json_schema":
            text = json.dumps(example(form["json_schema"].get("schema", {})))
        elif form:
            text = OBJECT
        parts = [{"choices": [{"index": 0, "delta": {"content": text}}]},
                 {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
        lines = [f"data: {json.dumps(part)}\n\n" for part in parts] + ["data: [DONE]\n\n"]
        self.answer("text/event-stream", "".join(lines))

    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def plain(messages):
    """Messages as both engines mean them: one system message, neighbours of a role joined."""
    out = []
    for message in messages:
        content = message.get("content") or ""
        if isinstance(content, list):
            content = " ".join(part.get("text", "") for part in content)
        content = re.sub(r"\s+", " ", str(content)).strip()
        # What the language adds about the output (`autoBuildOutputPrompt`), and the engine does not.
        if message["role"] == "system":
            content = re.sub(r" Output \((?:JSON|YAML|text)\): \* .*$", "", content)
        # The end of a conversation is drawn by lot.
        content = re.sub(r"(?:Good bye|Bye-bye|Bye)\. (?:It was a pleasure|Have a)[\w ]+\.", "Bye.", content)
        if not content:
            continue
        if out and out[-1][0] == message["role"]:
            out[-1][1] += " " + content
        else:
            out.append([message["role"], content])
    return out


def run(command, environment):
    """Runs it with a terminal: yes to the first confirmation, no to the others, and a text to
    anything else that is asked."""
    own, other = pty.openpty()
    with tempfile.TemporaryFile("w+") as out:
        started = subprocess.Popen(command, env=environment, stdin=other, stdout=out, stderr=other)
        os.close(other)
        ended = False
        until = time.monotonic() + 120
        said, answered, confirmations = b"", 0, [b"yes\n"]
        while not ended:
            ended = started.poll() is not None
            while select.select([own], [], [], 0 if ended else 0.1)[0]:
                try:
                    said += os.read(own, 65536)
                except OSError:
                    break
                if said.rstrip(b" ").endswith(b">"):
                    asked = said[answered:]
                    if b"1 yes" in asked:
                        os.write(own, confirmations.pop(0) if confirmations else b"no\n")
                    else:
                        known = [word for word in (b"Exit", b"English") if word in asked]
                        numbers = re.findall(rb"(?m)^\s*(\d+) \S", asked)
                        os.write(own, (known + numbers[-1:] + [b"why"])[0] + b"\n")
                    answered = len(said)
            if time.monotonic() > until:
                started.kill()
                raise subprocess.TimeoutExpired(command, 120)
        os.close(own)
        out.seek(0)
        return started.returncode, out.read() + said.decode(errors="replace")


def is_same(known, sent, why):
    """Whether the engine has sent these messages, or has ended with this error."""
    if known is None:
        return False
    if "error" in known:
        return why is not None and known["error"] in why
    return why is None and [plain(messages) for messages in known["calls"]] == sent


def main():
    avocet, folder = sys.argv[1:3]
    references = [json.load(open(name)) for name in sys.argv[3:5]]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    copy = tempfile.mkdtemp()
    shutil.copytree(folder, os.path.join(copy, "scripts"), symlinks=True, dirs_exist_ok=True)
    folder = os.path.join(copy, "scripts")
    scripts = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if name.endswith(".ai.yaml") and name != ".ai.yaml"
    )
    # What it changes in its copy comes last.
    scripts.sort(key=lambda path: path.endswith("/guide.ai.yaml"))
    home = tempfile.mkdtemp()
    environment = {**os.environ, "AVOCET_HOME": home, "HOME": home, "AVOCET_API_KEY": "none"}
    failed, same, differing = [], [0] * len(references), []
    for script in scripts:
        calls.clear()
        name = os.path.relpath(script, folder)
        args = {**ARGS, "content": "README.md"} if name.endswith("lib/file.ai.yaml") else ARGS
        command = [avocet, "run", script, json.dumps(args), "--base-url", url, "--model", "mock"]
        root = os.path.join(folder, name.split(os.sep)[0])
        # The scripts of the library come before those that are built in, as for the engine.
        library = os.path.join(root, "lib")
        loader = os.path.join(library, "load-file.js")
        if os.path.exists(os.path.join(library, "file.ai.yaml")) and not os.path.exists(loader):
            open(loader, "w").write(LOADER)
        # `json` is in the library of the other repository, which the published program brings along.
        for folder_of_scripts in dict.fromkeys([library, os.path.join(folder, "cli", "lib")]):
            command += ["-s", folder_of_scripts]
        command += [ "--cwd", root, "--trust", root, "-y", "--json"]
        try:
            code, said = run(command, environment)
            why = None if code == 0 else said.strip()[-400:]
        except subprocess.TimeoutExpired:
            why = "it did not end"
        sent = [plain(messages) for messages in calls]
        alike = [is_same(reference.get(name), sent, why) for reference in references]
        same = [count + is_it for count, is_it in zip(same, alike)]
        ended = f"{len(sent)} calls" if why is None else f"it ends with an error: {why}"
        if why and not any(alike):
            failed.append(name)
            print(f"FAILED  {name}: {why}")
        elif not references:
            print(f"ran     {name}: {ended}")
        elif alike[0]:
            print(f"same    {name}: {ended}")
        elif alike[-1]:
            print(f"mended  {name}: {ended}")
        else:
            differing.append(name)
            print(f"DIFFERS {name}")
            print("   here  ", json.dumps(sent, ensure_ascii=False)[:1200])
            known = references[-1].get(name, {"calls": []})
            engine = json.dumps([plain(it) for it in known["calls"]], ensure_ascii=False)[:1200]
            print("   engine", engine, known.get("error", ""))
    counts = ", ".join(f"{count} {how}" for count, how in zip(same, [
        "with the messages of the engine as published", "with those of the engine without its named faults"]))
    print(f"{len(scripts) - len(failed)} of {len(scripts)} ran: {counts}; {len(differing)} with others")
    sys.exit(len(failed) > 4)


main()
