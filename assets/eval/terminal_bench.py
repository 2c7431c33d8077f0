"""Runs Avocet as an agent of the older Terminal-Bench, the package `terminal-bench`.

    pip install terminal-bench
    PYTHONPATH=. tb run -d terminal-bench-core==0.1.1 -m anthropic/claude-sonnet-5 \\
        --agent-import-path assets.eval.terminal_bench:Avocet --agent-kwarg binary=avocet

`binary` is the program that is copied into each container; the one of musl runs in all of them. The
key comes from the provider's usual variable, such as ANTHROPIC_API_KEY; another server is
`--agent-kwarg base_url=https://host/v1`, with its key in AVOCET_API_KEY.

Written for terminal-bench 0.2.18; harbor.py is for Terminal-Bench 2.
"""

import json
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from terminal_bench.agents.base_agent import AgentResult
from terminal_bench.agents.failure_mode import FailureMode
from terminal_bench.agents.installed_agents.abstract_installed_agent import AbstractInstalledAgent
from terminal_bench.terminal.models import TerminalCommand
from terminal_bench.terminal.tmux_session import TmuxSession

FOLDER = "/installed-agent"
EVENTS = f"{AbstractInstalledAgent.CONTAINER_AGENT_LOGS_PATH}/avocet.jsonl"
LOG = f"{AbstractInstalledAgent.CONTAINER_AGENT_LOGS_PATH}/avocet.log"
SERVERS = {
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "xai": "https://api.x.ai/v1",
}


class Avocet(AbstractInstalledAgent):
    def __init__(self, model_name: str, binary: str | None = None, base_url: str | None = None, **kwargs):
        super().__init__(**kwargs)
        provider, _, model = model_name.partition("/")
        if base_url:
            self._model, self._url, key = model_name, base_url, "AVOCET_API_KEY"
        elif provider in SERVERS:
            self._model, self._url, key = model, SERVERS[provider], f"{provider.upper()}_API_KEY"
        else:
            raise ValueError(f"{model_name}: name one of {', '.join(SERVERS)} before a slash, or give base_url")
        if key not in os.environ:
            raise ValueError(f"{key} is not set")
        self._key = os.environ[key]
        self._binary = binary or shutil.which("avocet")
        if not self._binary:
            raise ValueError("no program to copy: --agent-kwarg binary=FILE")

    @staticmethod
    def name() -> str:
        return "avocet"

    @property
    def _env(self) -> dict[str, str]:
        return {"AVOCET_API_KEY": self._key, "AVOCET_LANG": "en"}

    @property
    def _install_agent_script_path(self) -> Path:
        return self._folder / "install.sh"

    def _run_agent_commands(self, instruction: str) -> list[TerminalCommand]:
        # The message comes on standard input, where a leading `/` or `!` is text.
        command = (
            f"{FOLDER}/avocet -p -y --json --container=\"$(cat /proc/sys/kernel/hostname)\""
            f" --model {shlex.quote(self._model)} --base-url {shlex.quote(self._url)}"
            f" < {FOLDER}/instruction.txt > {EVENTS} 2> {LOG}; echo $? > {FOLDER}/status"
        )
        return [TerminalCommand(command=command, max_timeout_sec=float("inf"), block=True)]

    def perform_task(
        self, instruction: str, session: TmuxSession, logging_dir: Path | None = None
    ) -> AgentResult:
        with tempfile.TemporaryDirectory() as folder:
            self._folder = Path(folder)
            self._install_agent_script_path.write_text(f"chmod 755 {FOLDER}/avocet && {FOLDER}/avocet --version\n")
            message = self._folder / "instruction.txt"
            message.write_text(self._render_instruction(instruction), encoding="utf-8")
            session.copy_to_container(message, container_dir=FOLDER, container_filename=message.name)
            session.copy_to_container(Path(self._binary), container_dir=FOLDER, container_filename="avocet")
            result = super().perform_task(instruction, session, logging_dir)
        if result.failure_mode != FailureMode.AGENT_INSTALLATION_FAILED:
            count(result, session)
        return result


def count(result: AgentResult, session: TmuxSession) -> None:
    """Takes over the tokens and the kind of failure. A refused step (3) and a limit (4) are none."""
    ended = session.container.exec_run(["grep", '"event":"turn_ended"', EVENTS]).output.decode(errors="replace")
    for line in ended.splitlines():
        usage = json.loads(line)["usage"]
        result.total_input_tokens += usage["input_tokens"]
        result.total_output_tokens += usage["output_tokens"]
    status = session.container.exec_run(["cat", f"{FOLDER}/status"]).output.decode().strip()
    if status in ("0", "3", "4"):
        result.failure_mode = FailureMode.NONE
    elif '"key":"model.TOO_LONG"' in ended:
        result.failure_mode = FailureMode.CONTEXT_LENGTH_EXCEEDED
    else:
        result.failure_mode = FailureMode.UNKNOWN_AGENT_ERROR
