"""A PostgreSQL server for tests: the machine's own, or the one that the package pgserver brings."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
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
    data = str(folder / "data")
    try:
        made = subprocess.run(
            [programs / "initdb", "-D", data, "-U", "teacher", "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8",
             "--locale=C", "--no-sync"],
            capture_output=True, text=True, cwd=folder, **other,
        )  # fmt: skip
        if made.returncode:
            yield f"initdb fails: {made.stderr.strip().splitlines()[-1]}"
            return
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-p", str(port), "-k", str(folder), "-h", "127.0.0.1", "-F"],
                stdout=subprocess.DEVNULL, stderr=log, cwd=folder, **other,
            )  # fmt: skip
        try:
            yield Server(port) if _answers(port) else f"postgres does not start: {(folder / 'log').read_text()[-300:]}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answers(port: int, seconds: float = 60) -> bool:
    import psycopg

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(Server(port).url("postgres"), connect_timeout=2).close()
            return True
        time.sleep(0.1)
    return False
