"""Where a Dask scheduler listens: read what a person typed, reach it, and say in words what is wrong."""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nbproof.command import with_extra
from nbproof.errors import UsageError
from nbproof.sandbox.exceptions import ClusterLost

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Address"]

_PORT = 8786
_CONNECT_SECONDS = 5.0
_GUIDE = "docs/more_machines.md"


@dataclass(frozen=True)
class Address:
    """``tcp://host:8786`` or ``tls://host:8786``."""

    protocol: str
    host: str
    port: int

    @property
    def text(self) -> str:
        """As Dask writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}:{self.port}"

    @classmethod
    def of(cls, typed: str) -> Address:
        """``host``, ``host:port``, ``tcp://host:port``, ``tls://host:port``, or the file that ``dask scheduler
        --scheduler-file`` writes. Raises UsageError.
        """
        if typed.endswith(".json") and "://" not in typed:
            return cls.of(_noted_in(Path(typed)))
        whole = typed.strip() if "://" in typed else f"tcp://{typed.strip()}"
        try:
            parts = urlsplit(whole)
            host, port = parts.hostname or "", parts.port or _PORT
            rest = parts.path.strip("/") or parts.query or parts.fragment or parts.username
        except ValueError:
            host, port, rest = "", 0, None
        if not re.fullmatch(r"[\w.:%-]+", host) or rest or parts.scheme not in ("tcp", "tls"):
            raise UsageError(
                f"this is not the address of a Dask scheduler: {typed!r:.100}",
                "--dask ADDRESS",
                f"the scheduler prints its own when it starts, such as tcp://192.168.1.20:{_PORT}",
            )
        return cls(parts.scheme, host, port)

    def client(self) -> Client:
        """A connection to the scheduler, within seconds. Raises UsageError without dask, ClusterLost if nobody answers."""
        try:
            from distributed import Client
        except ImportError:
            raise UsageError(
                "dask is not installed here",
                "--dask ADDRESS",
                with_extra("dask"),
            ) from None
        try:
            socket.create_connection((self.host, self.port), _CONNECT_SECONDS).close()
        except OSError as error:
            reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            raise ClusterLost(
                f"nobody listens there: {reason}",
                f"--dask {self.text}",
                f"start a scheduler (dask scheduler --port {self.port}) and workers (dask worker {self.text}): see {_GUIDE}",
            ) from None
        try:
            who = asyncio.run(asyncio.wait_for(self._identity(), _CONNECT_SECONDS))
        except Exception as error:
            raise ClusterLost(
                f"something listens there, but it does not answer as a Dask scheduler ({_short(error)})",
                f"--dask {self.text}",
                self._hint(),
            ) from None
        if who != "Scheduler":
            raise ClusterLost(
                f"a Dask {who.lower()} listens there, not a scheduler", f"--dask {self.text}", self._hint()
            )
        return Client(self.text, timeout=2 * _CONNECT_SECONDS, set_as_default=False, name="nbproof")

    async def _identity(self) -> str:
        """Who answers. Dask's own client waits forever if somebody listens and is silent."""
        from distributed import Security
        from distributed.core import rpc

        async with rpc(self.text, connection_args=Security().get_connection_args("client")) as there:
            return str((await there.identity()).get("type"))

    def _hint(self) -> str:
        if self.protocol == "tls":
            return f"give this machine the cluster's certificates, in Dask's configuration: see {_GUIDE}, 'Secure it'"
        return f"the scheduler's port is usually {_PORT}, its dashboard's 8787; a scheduler with TLS wants tls://"

    def lost(self, fact: str, next_command: str = "") -> ClusterLost:
        """The cluster cannot be used any more."""
        return ClusterLost(
            fact,
            f"--dask {self.text}",
            next_command or "check that scheduler and workers run; then grade again: the run goes on where it stopped",
        )


def _noted_in(path: Path) -> str:
    import json

    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"this scheduler file cannot be read: {_short(error)}",
            str(path),
            "start the scheduler with --scheduler-file, on a folder that both machines see",
        ) from None


def _short(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__
