"""An environment of Harbor without Docker: a folder as the root, with the system's programs in it,
by bubblewrap. A task's `environment/` is copied to /app, but for its Dockerfile."""

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult

FOLDERS = "app etc installed-agent logs/agent logs/verifier logs/artifacts root run solution tests tmp usr"
SYSTEM = "/etc/alternatives /etc/hosts /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache"


class BareRoot(BaseEnvironment):
    @staticmethod
    def type() -> str:
        return "bare-root"

    def _validate_definition(self):
        if shutil.which("bwrap") is None:
            raise FileNotFoundError("bwrap: install bubblewrap")

    async def start(self, force_build: bool) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="bare-root-"))
        for folder in FOLDERS.split():
            (self.root / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib64"):
            (self.root / link).symlink_to(f"usr/{link}")
        # What podman leaves in a container.
        (self.root / "run/.containerenv").touch()
        await self.upload_dir(self.environment_dir, "/app")
        (self.root / "app/Dockerfile").unlink(missing_ok=True)

    async def stop(self, delete: bool):
        shutil.rmtree(self.root)

    def at(self, path) -> Path:
        return self.root / str(path).lstrip("/")

    async def upload_file(self, source_path, target_path):
        self.at(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self.at(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self.at(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        shutil.copy(self.at(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self.at(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        words = f"bwrap --die-with-parent --unshare-pid --unshare-user --uid 0 --gid 0 --bind {self.root} /"
        words = words.split() + "--ro-bind /usr /usr --proc /proc --dev /dev --clearenv".split()
        for file in SYSTEM.split():
            words += ["--ro-bind-try", file, file]
        values = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin", **(self._merge_env(env) or {})}
        for name, value in values.items():
            words += ["--setenv", name, value]
        words += ["--chdir", cwd or "/app", "bash", "-c", command]
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
