"""A bare root as an environment of Harbor, without Docker. A task's `environment/` is copied to /app,
but for its Dockerfile."""

import asyncio
import shutil
import subprocess

from bare_root import Root
from harbor.environments.base import BaseEnvironment, ExecResult


class BareRoot(BaseEnvironment):
    @staticmethod
    def type() -> str:
        return "bare-root"

    def _validate_definition(self):
        if shutil.which("bwrap") is None:
            raise FileNotFoundError("bwrap: install bubblewrap")

    async def start(self, force_build: bool) -> None:
        self.root = Root()
        await self.upload_dir(self.environment_dir, "/app")
        self.root.at("/app/Dockerfile").unlink(missing_ok=True)

    async def stop(self, delete: bool):
        self.root.remove()

    async def upload_file(self, source_path, target_path):
        self.root.at(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self.root.at(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self.root.at(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        shutil.copy(self.root.at(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self.root.at(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        # What is killed takes all its processes along.
        alone = ["--die-with-parent", "--unshare-pid"]
        words = self.root.command(["bash", "-c", command], cwd or "/app", self._merge_env(env), alone)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), timeout_sec)
        finally:
            if process.returncode is None:
                process.kill()
        return ExecResult(
            stdout=stdout.decode(errors="replace"),
            stderr=stderr.decode(errors="replace"),
            return_code=process.returncode,
        )
