"""Makes the wheel of one system for packages.sh: the program and its manual pages.

wheel.py FOLDER NAME VERSION MACHINE SYSTEM GLIBC OUT
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

folder, name, version, machine, system, libc, out = sys.argv[1:]
source = Path(folder)
# 0.2.0-rc.1 is 0.2.0rc1 there.
version = version.replace("-", "").replace("rc.", "rc")
if system.startswith("apple"):
    tag = "macosx_11_0_arm64" if machine == "aarch64" else "macosx_10_12_x86_64"
elif libc:
    tag = f"manylinux_{libc.replace('.', '_')}_{machine}"
else:
    # A static program runs with any libc.
    tag = f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
stem = f"{name.replace('-', '_')}-{version}"
date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]

metadata = f"""Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: A full-screen coding agent for the terminal
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
wheel = "Wheel-Version: 1.0\nGenerator: avocet\nRoot-Is-Purelib: false\n"
wheel += "".join(f"Tag: py3-none-{part}\n" for part in tag.split("."))

files = {f"{stem}.data/scripts/avocet": (source / "avocet").read_bytes()}
for page in sorted((source / "man").glob("*.1")):
    files[f"{stem}.data/data/share/man/man1/{page.name}"] = page.read_bytes()
info = f"{stem}.dist-info"
files[f"{info}/METADATA"] = metadata.encode() + (source / "README.md").read_bytes()
files[f"{info}/WHEEL"] = wheel.encode()
for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
    files[f"{info}/licenses/{licence}"] = (source / licence).read_bytes()


def record() -> bytes:
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{info}/RECORD,,\n"]).encode()


files[f"{info}/RECORD"] = record()
target = Path(out) / f"{stem}-py3-none-{tag}.whl"
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
    for path, content in files.items():
        entry = zipfile.ZipInfo(path, date)
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
print(target)
