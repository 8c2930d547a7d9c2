"""Who of a Dask cluster's workers may mark, and who is there at all."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from nbproof.course_file import the_course
from nbproof.dask import tasks
from nbproof.dask.address import Address
from nbproof.run.digests import versions
from nbproof.text import counted

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Crew"]

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
            tasks.prepare,
            self.run,
            self.setup,
            versions(),
            (the_course().package, str(the_course().folder)),
            key=f"prepare-{uuid.uuid4().hex}",
            pure=False,
            workers=[address],
            allow_other_workers=False,
            priority=10,
        )
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
