"""What the judge's process does: truths, comparison, hints and the data of pictures, in a sealed fork of the warm
interpreter.

No learner's code runs here, but what it brought is read here: any of it may be made to cost memory or time. So this is
a process that can be ended at any moment. The process that asks (:mod:`nbproof.sandbox.judging`) watches its time
from outside; it bounds its memory itself.
"""

from __future__ import annotations

import contextlib
import resource
import socket
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from nbproof.checks.case import Case
from nbproof.checks.check import Check, judge, listing
from nbproof.course_file import Course
from nbproof.sandbox import wire
from nbproof.sandbox.evidence_wire import opened
from nbproof.sandbox.packed_place import pack
from nbproof.values.leaf import leaves_of
from nbproof.values.results import ProbeError, ProbeResult

__all__ = ["serve"]

_MOST_WORDS = 4_000
"""Most characters of each text of a finding: no sentence is longer, even if a learner made it so."""


def serve(channel: socket.socket, course: Course) -> None:
    """Answer questions until the process that asks hangs up."""
    wire.receive(channel)
    wire.send(channel, {"hello": True})
    court = _Court(course)
    while True:
        try:
            header, payload = wire.receive(channel)
        except wire.Closed:
            return
        wire.send(channel, {"id": header["id"], **court.answer(header, payload)})


@dataclass
class _Court:
    """The checks that it was told of, and the truths that it has computed."""

    course: Course
    tasks: dict[tuple[str, str, str], type[Check]] = field(default_factory=dict)
    known: dict[tuple[str, str, str, int], tuple[Any, Mapping[str, object]]] = field(default_factory=dict)
    """Truths and their mistakes: the same for a whole class, so computed once."""

    def answer(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """The answer to one question. An error of the instructor's code is told, and ends nothing."""
        try:
            if header["op"] == "open":
                return self.open(header)
            if header["op"] == "truth":
                return self.prepare(header)
            return self.judge(header, payload)
        except MemoryError:
            return {"beyond": "memory"}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {str(error)[:500]}"}

    def open(self, header: dict[str, Any]) -> dict[str, Any]:
        """Take a lesson's test cells; tell what checks they hold, what each asks and how many cases it has."""
        for name, text in header["modules"].items():
            _take(name, text)
        plan: dict[str, list[tuple[str, str, int]]] = {}
        for name, source in header["tests"].items():
            with listing() as listed:
                # The instructor's own test cell, in a namespace that holds nothing else.
                exec(compile(source, f"<{name}>", "exec"), {"__name__": name})  # noqa: S102
            self.tasks |= {(header["lesson"], name, task.__name__): task for _, task in listed}
            plan[name] = [(task.__name__, " ".join((task.__doc__ or "").split()), task.cases) for _, task in listed]
        return {"plan": plan}

    def prepare(self, header: dict[str, Any]) -> dict[str, Any]:
        """Compute a truth, before anything that a learner brought is there to be charged for it."""
        key = (header["lesson"], header["test"], header["check"], header["seed"])
        if key not in self.known:
            task, case = self.tasks[key[:3]](), Case(header["seed"], self.course)
            self.known[key] = (task.truth(case), dict(task.mistakes(case)))
        return {}

    def judge(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """The finding on what a probe brought."""
        truth, mistakes = self.known[header["lesson"], header["test"], header["check"], header["seed"]]
        task = self.tasks[header["lesson"], header["test"], header["check"]]()
        task.truth = lambda case: truth  # type: ignore[method-assign]
        task.mistakes = lambda case: mistakes  # type: ignore[method-assign]
        trouble = None if header["trouble"] is None else ProbeError(**header["trouble"])
        with _within(header["room"]):
            try:
                evidence = None if trouble is not None else opened(payload, leaves_of(self.course))
            except wire.WireError as error:
                return {"protocol": str(error)[:200]}
            finding = judge(task, Case(header["seed"], self.course), ProbeResult(evidence, trouble, header["printed"]))
            picture = pack(finding.compared) if header["draw"] else None
        return {"finding": _bounded(asdict(replace(finding, compared=None, picture=picture)))}


def _take(name: str, text: str) -> None:
    """Have a module of the course's that lies in no tree that is shown to anybody."""
    if name not in sys.modules:
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"<{name}>", "exec"), vars(module))  # noqa: S102 (the instructor's own code)


def _bounded(told: dict[str, Any]) -> dict[str, Any]:
    """The same with no text that is longer than a sentence may be."""
    for name, value in told.items():
        if isinstance(value, str):
            told[name] = value[:_MOST_WORDS]
        elif isinstance(value, dict) and name != "picture":
            _bounded(value)
    return told


@contextlib.contextmanager
def _within(room: int) -> Iterator[None]:
    """Within this block no more address space than ``room`` bytes: a larger demand is refused, and raises."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (room if hard < 0 else min(room, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
