"""A folder as the root of programs, with those of this system in it, by bubblewrap: what the
harnesses take for a container."""

import shutil
import tempfile
from pathlib import Path

FOLDERS = "agent-logs app etc installed-agent logs/agent logs/artifacts logs/verifier root run solution tests tmp usr"
SYSTEM = "/etc/alternatives /etc/hosts /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache"


class Root:
    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="bare-root-"))
        for folder in FOLDERS.split():
            (self.path / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib64"):
            (self.path / link).symlink_to(f"usr/{link}")

    def at(self, path) -> Path:
        return self.path / str(path).lstrip("/")

    def remove(self):
        shutil.rmtree(self.path)

    def command(self, words, folder="/app", variables=None, options=()):
        """The command line that runs another one in there."""
        values = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"}
        start = f"bwrap --unshare-user --uid 0 --gid 0 --bind {self.path} / --ro-bind /usr /usr --proc /proc --dev /dev"
        start = [*start.split(), *options, "--clearenv", "--chdir", folder]
        for file in SYSTEM.split():
            start += ["--ro-bind-try", file, file]
        for name, value in (values | (variables or {})).items():
            start += ["--setenv", name, value]
        return [*start, *words]
