"""Lets the adapter of assets/eval/terminal_bench.py do a task in a bare root, with the session that the
package's harness would give it. The container is all that is ours.

terminal_bench_session.py PROGRAM URL TASK: TASK has `files`, `task.toml` and `check`
"""

import io
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from types import SimpleNamespace

from bare_root import Root
from terminal_bench.agents.agent_factory import AgentFactory
from terminal_bench.terminal.tmux_session import TmuxSession


class Container:
    """The part of Docker's container that a session uses."""

    attrs = {}

    def __init__(self, root):
        self.root = root

    def exec_run(self, words, user="", **_):
        done = subprocess.run(self.root.command(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return SimpleNamespace(exit_code=done.returncode, output=done.stdout)

    def put_archive(self, folder, data):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(self.root.at(folder), filter="data")
        return True


program, url, task = sys.argv[1], sys.argv[2], Path(sys.argv[3])
prompt = tomllib.loads((task / "task.toml").read_text(encoding="utf-8"))["prompt"]
root = Root()
session = None
try:
    shutil.copytree(task / "files", root.at("/app"), dirs_exist_ok=True)
    session = TmuxSession("agent", Container(root), disable_recording=True)
    session.start()
    agent = AgentFactory.get_agent(
        import_path="assets.eval.terminal_bench:Avocet", model_name="recorded", binary=program, base_url=url
    )
    result = agent.perform_task(prompt, session)
    shutil.copytree(task / "check", root.at("/app"), dirs_exist_ok=True)
    check = session.container.exec_run(["python3", "-m", "unittest", "-q"])
    print(result.failure_mode.value, result.total_input_tokens, result.total_output_tokens, check.exit_code)
finally:
    if session:
        session.container.exec_run(["tmux", "kill-server"])
    root.remove()
