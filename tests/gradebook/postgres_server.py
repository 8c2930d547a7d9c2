"""A PostgreSQL server for tests: the machine's own, or the one that the package pgserver brings."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PASSWORD = "s3cret-of-the-teacher"
_NOBODY = 65534


@dataclass(frozen=True)
class Server:
    """Listens on this machine; its superuser is ``teacher``."""

    port: int

    def url(self, database: str, password: str = PASSWORD) -> str:
        """As in nbgrader_config.py."""
        return f"postgresql://teacher:{password}@127.0.0.1:{self.port}/{database}"


def _programs() -> Path | None:
    """The folder of initdb and postgres."""
    found = [Path(initdb).resolve().parent] if (initdb := shutil.which("initdb")) else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    spec = find_spec("pgserver")
    if spec is not None and spec.submodule_search_locations:
        found.append(Path(next(iter(spec.submodule_search_locations)), "pginstall", "bin"))
    return next((folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextlib.contextmanager
def server() -> Iterator[Server | str]:
    """A fresh server, or the reason why there is none. It never runs as root, which PostgreSQL refuses."""
    programs = _programs()
    if programs is None:
        yield "no initdb here, and no package pgserver"
        return
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    other: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if other:
        for path in (folder, secret):
            os.chown(path, _NOBODY, _NOBODY)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    data, log = str(folder / "data"), folder / "log"
    initdb = ["initdb", "-D", data, "-U", "teacher", "--pwfile", str(secret), "-A", "scram-sha-256", "-E", "UTF8"]
    start = ["pg_ctl", "-D", data, "-l", str(log), "-w", "-o", f"-p {port} -k {folder} -h 127.0.0.1 -F", "start"]
    try:
        for name, *options in ([*initdb, "--locale=C", "--no-sync"], start):
            made = subprocess.run(
                [programs / name, *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
                **other,
            )
            if made.returncode:
                yield f"{name} fails: {made.stderr.strip()[-300:]}"
                return
        yield Server(port)
    finally:
        stop = [programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"]
        subprocess.run(stop, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **other)
        shutil.rmtree(folder, ignore_errors=True)
