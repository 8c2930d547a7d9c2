"""A Dask cluster from outside: where its scheduler listens, who of its workers may mark, and in words what is wrong with it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nbproof.command import with_extra
from nbproof.course_file import the_course
from nbproof.dask import tasks
from nbproof.errors import UsageError
from nbproof.files import counted
from nbproof.run.digests import versions
from nbproof.sandbox.exceptions import ClusterLost

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Address", "Crew"]


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
                f"nobody listens there: {reason}", f"--dask {self.text}",
                f"start a scheduler (dask scheduler --port {self.port}) and workers (dask worker {self.text}): see {_GUIDE}",
            ) from None  # fmt: skip
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
            fact, f"--dask {self.text}",
            next_command or "check that scheduler and workers run; then grade again: the run goes on where it stopped",
        )  # fmt: skip


def _noted_in(path: Path) -> str:
    import json

    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"this scheduler file cannot be read: {_short(error)}", str(path),
            "start the scheduler with --scheduler-file, on a folder that both machines see",
        ) from None  # fmt: skip


def _short(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__


_ANSWER_SECONDS = 20.0
"""A scheduler that is silent for so long is lost."""


class Crew:
    """Who of the cluster's workers may mark. Each is tried before it is asked; that takes what joins later in, too."""

    def __init__(
        self, client: Client, address: Address, setup: bytes, patience: float, say: Callable[[str], None]
    ) -> None:
        self.client, self.address, self.setup, self.patience, self.say = client, address, setup, patience, say
        self.run = uuid.uuid4().hex
        self.tried: Callable[[], None] = lambda: None
        """Called, from another thread, when it is time to look."""
        self.fit: dict[str, int] = {}
        """Address of a worker -> its threads."""
        self.unfit: dict[str, str] = {}
        self.trying: dict[str, Future] = {}
        self._alone_since = time.monotonic()
        self._told_waiting = False

    def look(self) -> bool:
        """Note who came, who left and who turned out fit; whether that changed who may mark."""
        before = dict(self.fit)
        there = self._there()
        for gone in [address for address in (*self.fit, *self.unfit, *self.trying) if address not in there]:
            self._forget(gone)
        for address in there:
            if address not in self.fit and address not in self.unfit and address not in self.trying:
                self.trying[address] = self._try(address)
        for address, future in list(self.trying.items()):
            if future.done():
                del self.trying[address]
                reason = self._verdict_on(address, future)
                if reason:
                    self.refuse(address, reason)
                else:
                    self.fit[address] = there[address]
        self._tell(before)
        return self.fit != before

    def _try(self, address: str) -> Future:
        future = self.client.submit(
            tasks.prepare, self.run, self.setup, versions(), (the_course().package, str(the_course().folder)),
            key=f"prepare-{uuid.uuid4().hex}",
            pure=False, workers=[address], allow_other_workers=False, priority=10,
        )  # fmt: skip
        future.add_done_callback(lambda _: self.tried())
        return future

    def _there(self) -> dict[str, int]:
        if self.client.status != "running":
            raise self.address.lost("the connection to the scheduler broke")
        try:
            found = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=_ANSWER_SECONDS)
        except Exception as error:
            raise self.address.lost(f"the scheduler does not answer ({type(error).__name__})") from None
        return {str(address): int(threads) for address, threads in found.items()}

    def _forget(self, address: str) -> None:
        self.fit.pop(address, None)
        self.unfit.pop(address, None)
        future = self.trying.pop(address, None)
        if future is not None:
            future.cancel(force=True)

    def again(self, address: str) -> None:
        """A worker no longer knows of the run: try it once more."""
        self.fit.pop(address, None)

    def refuse(self, address: str, reason: str) -> None:
        """Ask this worker no more."""
        self.fit.pop(address, None)
        if address in self.unfit:
            return
        self.unfit[address] = reason
        self.say(f"not used: worker {address}: {reason}")

    def _verdict_on(self, address: str, future: Future) -> str:
        try:
            told = future.result(timeout=_ANSWER_SECONDS)
            if told.get("reduced"):
                self.say(f"worker {address}: {told['reduced']}")
            return str(told["unfit"])
        except ImportError as error:
            return f"it has no course package ({error}); install it there as here"
        except Exception as error:
            said = " ".join(str(error).split())
            if "deserialization of the task graph" in said:
                raise self.address.lost(
                    "the scheduler has no course package, or another Python",
                    "start the scheduler in an environment like this one: see docs/more_machines.md, 'A cluster by hand'",
                ) from None
            return f"trying it failed ({type(error).__name__}: {said[:200]})"

    def _tell(self, before: dict[str, int]) -> None:
        now = time.monotonic()
        came, left = self.fit.keys() - before.keys(), before.keys() - self.fit.keys() - self.unfit.keys()
        if left and self.fit.keys() - came:
            they = "it was" if len(left) == 1 else "they were"
            self.say(f"lost {counted(len(left), 'Dask worker')}; what {they} marking goes to the others")
        elif left:
            self.say(f"lost {counted(len(left), 'Dask worker')}, and none is there now; every verdict so far is kept")
        if came:
            self.say(
                f"marking on {counted(len(self.fit), 'Dask worker')}, {counted(sum(self.fit.values()), 'submission')} at a time"
            )
        if self.fit:
            self._alone_since, self._told_waiting = now, False
            return
        if self.unfit and not self.trying:
            raise self.address.lost(
                "no worker of the cluster can be used: " + "; ".join(sorted(set(self.unfit.values()))[:3]),
                "make the workers' environment like this one, restart them, and grade again "
                "(docs/more_machines.md, 'A cluster by hand')",
            )
        if now - self._alone_since > self.patience and not self.trying:
            raise self.address.lost(
                f"no Dask worker came within {self.patience:g} s",
                f"start one on each machine (dask worker {self.address.text}), or wait longer with --wait; "
                "then grade again: the run goes on where it stopped",
            )
        if not self.trying and not self._told_waiting and now - self._alone_since > 1.0:
            self._told_waiting = True
            self.say(
                f"no worker at {self.address.text}: waiting up to {self.patience:g} s (--wait) for\n"
                f"  dask worker {self.address.text}"
            )

    def dismiss(self) -> None:
        """End the engines of this run. If that cannot be said, they end by themselves, later."""
        with contextlib.suppress(Exception):
            for future in self.trying.values():
                future.cancel(force=True)
            if self.fit and self.client.status == "running":
                self.client.run(tasks.finish, self.run, workers=list(self.fit), wait=False, on_error="ignore")
