"""Runs Avocet as an agent of Harbor, for Terminal-Bench 2 and other data sets.

    pip install harbor
    export PYTHONPATH=. AVOCET_BINARY=avocet-0.1.0-x86_64-unknown-linux-musl.tar.gz
    harbor run -d terminal-bench@2.0 -a assets.eval.harbor:Avocet -m anthropic/claude-sonnet-5

The program, or the archive that holds it, is uploaded into each environment; the one of musl runs in
all of them. The key comes from the provider's usual variable, or from `--api-key-name`; another
server is `--base-url`. Options: `--ak max_cost=2`, `--ak max_steps=100`, `--effort high`.

Written for Harbor 0.26.
"""

import json
import os
import shlex
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, override
from urllib.parse import urlsplit

from harbor.agents.agent_auth_resolution import ModelConnectionSpec
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed import base as errors
from harbor.agents.installed.base import BaseInstalledAgent, ErrorPattern, with_prompt_template
from harbor.agents.options import Cli, InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.model_api_format import ModelApiFormat
from harbor.models.trajectories import (
    Agent,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    SubagentTrajectoryRef,
    ToolCall,
    Trajectory,
)
from harbor.utils.trajectory_utils import format_trajectory_json
from pydantic import Field

FOLDER = "/installed-agent"
EVENTS = "avocet.jsonl"

# What Harbor calls the reasons for which a model gives no answer. The names are Avocet's, from the
# event that ends the turn.
MODEL_ERRORS = {
    "BUSY|BUSY_UNTIL": errors.ApiRateLimitError,
    "FAULTY|REPORTED|LOADING": errors.ApiInternalServerError,
    "STALLED": errors.ApiResponseStalledError,
    "BROKEN": errors.ApiConnectionClosedError,
    "UNREACHABLE|PROXY_DEAD": errors.NetworkConnectionError,
    "KEY_WRONG|KEY_MISSING|KEY_UNUSABLE|FORBIDDEN|FORBIDDEN_ALL|NOT_CONNECTED": errors.AgentAuthenticationError,
    "UNPAID": errors.ApiUsageLimitError,
    "NO_MODEL|NO_MODEL_NEAR": errors.ModelNotFoundError,
    "TOO_LONG": errors.ContextWindowExceededError,
    "REJECTED|NO_ENDPOINT|FOREIGN|WEB_PAGE|TOO_LARGE": errors.UnknownApiError,
}


class AvocetOptions(InstalledAgentOptions):
    binary: str | None = Field(
        default=None,
        description="The program, or an archive that holds it. Default: $AVOCET_BINARY, or the one on PATH.",
    )
    reasoning_effort: Annotated[str | None, Cli("--effort")] = None
    max_cost: Annotated[float | None, Cli("--max-cost")] = Field(
        default=None, description="What a task may cost, in dollars."
    )
    max_steps: Annotated[int | None, Cli("--max-steps")] = Field(
        default=None, description="How many steps a task may take."
    )


class Avocet(BaseInstalledAgent):
    capabilities = AgentCapabilities(
        atif=True, base_url=True, reasoning_effort=True, resume=True, skills=True
    )
    options_model = AvocetOptions
    options: AvocetOptions
    MODEL_CONNECTION = ModelConnectionSpec(
        supported_api_formats=[
            ModelApiFormat.OPENAI_CHAT_COMPLETIONS,
            ModelApiFormat.OPENAI_RESPONSES,
            ModelApiFormat.ANTHROPIC_MESSAGES,
            ModelApiFormat.GOOGLE_GENERATE_CONTENT,
        ],
        default_api_format_by_provider={"minimax": ModelApiFormat.OPENAI_CHAT_COMPLETIONS},
        api_key_destination_names={"default": "AVOCET_API_KEY"},
        base_url_destination_names={"default": None},
    )
    ERROR_PATTERNS = [
        ErrorPattern(rf'"key":"model\.({names})"', error) for names, error in MODEL_ERRORS.items()
    ]

    @staticmethod
    @override
    def name() -> str:
        return "avocet"

    @override
    def get_version_command(self) -> str | None:
        return f"PATH={FOLDER}:$PATH avocet --version"

    @override
    def parse_version(self, stdout: str) -> str:
        return stdout.split()[-1]

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        source = self.options.binary or os.environ.get("AVOCET_BINARY") or shutil.which("avocet")
        if not source:
            raise ValueError("no program to upload: set AVOCET_BINARY, or `--ak binary=FILE`")
        with tempfile.TemporaryDirectory() as folder:
            await environment.upload_file(extract(Path(source), Path(folder)), f"{FOLDER}/avocet")
        await self.exec_as_root(environment, f"chmod 755 {FOLDER}/avocet && {FOLDER}/avocet --version")

    @override
    async def configure(self, environment: BaseEnvironment) -> None:
        if self.skills_dir:
            skills = '"${AVOCET_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/avocet}/skills"'
            source = shlex.quote(self.skills_dir)
            await self.exec_as_agent(environment, f"mkdir -p {skills} && cp -R {source}/. {skills}/")

    def arguments(self) -> list[str]:
        """The words of the command line that depend on the model and the options."""
        if not self.model_name:
            raise ValueError("name a model: `-m PROVIDER/MODEL`")
        connection = self.model_connection
        url = connection.user_supplied_base_url or connection.inference_base_url
        model = (connection.model_id or self.model_name) if url else self.model_name
        words = ["--model", model, *shlex.split(self.build_cli_flags())]
        if url:
            words += ["--base-url", with_version(url, connection.provider)]
        if self._resume:
            words.append("--continue")
        return words

    @override
    @with_prompt_template
    async def run(
        self, instruction: str, environment: BaseEnvironment, context: AgentContext
    ) -> None:
        events = shlex.quote(str(self.environment_logs_dir / EVENTS))
        log = shlex.quote(str(self.environment_logs_dir / "avocet.log"))
        key = self.model_connection.api_key
        # The message comes on standard input, where a leading `/` or `!` is text. A step that was
        # refused (3) and a limit (4) end the work, and what was done is checked; all other codes are
        # errors, whose reason is in the event that ends the turn.
        await self.exec_as_agent(
            environment,
            f"status=0; printf %s {shlex.quote(instruction)} | PATH={FOLDER}:$PATH avocet -p -y --json"
            f" --container=\"$(cat /proc/sys/kernel/hostname)\" {shlex.join(self.arguments())}"
            f" >{events} 2>{log} || status=$?;"
            " case $status in 0 | 3 | 4) exit 0 ;; esac;"
            f" grep '\"event\":\"turn_ended\"' {events} | tail -n 1; tail -n 5 {log} >&2; exit $status",
            env={"AVOCET_LANG": "en"} | ({"AVOCET_API_KEY": key} if key else {}),
        )

    @override
    def populate_context_post_run(self, context: AgentContext) -> None:
        try:
            lines = (self.logs_dir / EVENTS).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        trajectory = self.trajectory(parse(lines))
        if trajectory is None:
            return
        total = trajectory.final_metrics or FinalMetrics()
        context.n_input_tokens = total.total_prompt_tokens
        context.n_output_tokens = total.total_completion_tokens
        context.n_cache_tokens = total.total_cached_tokens
        context.cost_usd = total.total_cost_usd
        context.metadata = trajectory.extra
        path = self.logs_dir / "trajectory.json"
        path.write_text(format_trajectory_json(trajectory.to_json_dict()), encoding="utf-8")

    @override
    def convert_trajectory(self, logs_dir: Path) -> Trajectory | None:
        try:
            text = (logs_dir / EVENTS).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        return self.trajectory(parse(text.splitlines()))

    def trajectory(self, events: list[dict[str, Any]]) -> Trajectory | None:
        agent = Agent(name=self.name(), version=self.version() or "unknown", model_name=self.model_name)
        return convert(events, agent)


def extract(source: Path, folder: Path) -> Path:
    """The program itself, from an archive if it is in one."""
    if not tarfile.is_tarfile(source):
        return source
    with tarfile.open(source) as archive:
        member = next((m for m in archive.getmembers() if m.isfile() and Path(m.name).name == "avocet"), None)
        if member is None:
            raise ValueError(f"{source} holds no program `avocet`")
        member.name = "avocet"
        archive.extract(member, folder, filter="data")
    return folder / "avocet"


def with_version(url: str, provider: str | None) -> str:
    """Avocet's addresses end in the version of the API, which Harbor's leave out for some hosts."""
    if urlsplit(url).path.strip("/"):
        return url
    return url.rstrip("/") + ("/v1beta" if provider == "gemini" else "/v1")


def parse(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The events of a run. The last line of one that was killed may be cut."""
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def convert(events: list[dict[str, Any]], agent: Agent, name: str | None = None) -> Trajectory | None:
    """The trajectory of a run, or of one of its subagents under the name of the step that began it."""
    steps = Steps()
    ended: list[dict[str, Any]] = []
    session = None
    subagents: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["event"] == "facts":
            session = event.get("session") or session
        elif event["event"] == "subagent":
            subagents.setdefault(event["agent"], []).append(event["happened"])
        elif event["event"] == "turn_ended":
            ended.append(event)
        else:
            steps.add(event)
    children = [convert(of_agent, agent, step) for step, of_agent in subagents.items()]
    children = [child for child in children if child is not None]
    steps.refer({child.trajectory_id for child in children})
    if not steps.all:
        return None
    ending = ended[-1].get("ending") if ended else "cut off"
    return Trajectory(
        session_id=session,
        trajectory_id=name,
        agent=agent,
        steps=steps.all,
        final_metrics=final_metrics([turn["usage"] for turn in ended]) if ended else None,
        extra=None if name else {"ending": ending},
        subagent_trajectories=children or None,
    )


def metrics(usage: dict[str, Any]) -> Metrics:
    cost = usage.get("cost_micros")
    return Metrics(
        prompt_tokens=usage["input_tokens"],
        completion_tokens=usage["output_tokens"],
        cached_tokens=usage.get("cached_tokens", 0),
        cost_usd=cost / 1_000_000 if cost else None,
    )


def final_metrics(usages: list[dict[str, Any]]) -> FinalMetrics:
    def total(field: str) -> int:
        return sum(usage.get(field, 0) for usage in usages)

    extra = {
        "cache_write_tokens": total("cache_write_tokens"),
        "reasoning_tokens": total("reasoning_tokens"),
        "estimated": any(usage.get("estimated") for usage in usages),
    }
    cost = total("cost_micros")
    return FinalMetrics(
        total_prompt_tokens=total("input_tokens"),
        total_completion_tokens=total("output_tokens"),
        total_cached_tokens=total("cached_tokens"),
        total_cost_usd=cost / 1_000_000 if cost else None,
        extra={field: value for field, value in extra.items() if value} or None,
    )


class Steps:
    """Builds the steps of a trajectory: one for each message of the user and each reply."""

    def __init__(self) -> None:
        self.all: list[Step] = []
        self.thoughts: list[str] = []

    def add(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "turn_started" | "steered":
                self.append("user", event["text"])
            case "compacted":
                self.append("system", json.dumps(event["summary"], ensure_ascii=False))
            case "thought":
                self.thoughts.append(event["text"])
            case "replied":
                step = self.append("agent", event["message"])
                step.reasoning_content = "".join(self.thoughts) or None
                step.metrics = metrics(event["usage"]) if event.get("usage") else None
                self.thoughts = []
            case "step_started":
                self.call(event)
            case "observed":
                self.observe(event)

    def append(self, source: str, message: str) -> Step:
        self.all.append(Step(step_id=len(self.all) + 1, source=source, message=message))
        return self.all[-1]

    def call(self, event: dict[str, Any]) -> Step:
        """The reply that proposed a step, with the step as its call."""
        reply = self.all[-1] if self.all and self.all[-1].source == "agent" else self.append("agent", "")
        calls = reply.tool_calls or []
        identifier = event["step"]["id"]
        if all(call.tool_call_id != identifier for call in calls):
            name, arguments = work(event["step"]["work"])
            risk = {key: event["risk"][key] for key in ("tier", "rule")} if event.get("risk") else None
            calls.append(
                ToolCall(tool_call_id=identifier, function_name=name, arguments=arguments, extra=risk)
            )
        reply.tool_calls = calls
        return reply

    def observe(self, event: dict[str, Any]) -> None:
        reply = self.call(event)
        output = "\n".join(text for text in (event["stdout"], event["stderr"]) if text)
        extra = {key: event[key] for key in ("outcome", "exit_code", "duration_ms", "truncated")}
        result = ObservationResult(source_call_id=event["step"]["id"], content=output, extra=extra)
        reply.observation = reply.observation or Observation(results=[])
        reply.observation.results.append(result)

    def refer(self, subagents: set[str | None]) -> None:
        for step in self.all:
            for result in step.observation.results if step.observation else []:
                if result.source_call_id in subagents:
                    reference = SubagentTrajectoryRef(trajectory_id=result.source_call_id)
                    result.subagent_trajectory_ref = [reference]


def work(step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of what a step does."""
    kind, content = next(iter(step.items()))
    if kind == "tool":
        return content["name"], content["input"] if isinstance(content["input"], dict) else {}
    return kind, content
