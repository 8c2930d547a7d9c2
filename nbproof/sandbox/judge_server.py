"""The judge's process: it makes truths, comparisons, hints and the data of pictures, in a sealed fork of the warm interpreter.

No learner's code runs here, but what it brought is read here: any of it may be made to cost memory or time. So this is
a process that can be ended at any moment. The process that asks (:mod:`nbproof.sandbox.judging`) watches its time
from outside; it bounds its memory itself.
"""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

from nbproof.checks.case import Case
from nbproof.checks.check import Check, judge, listing
from nbproof.course_file import Course
from nbproof.sandbox import wire
from nbproof.sandbox.evidence_wire import unpack
from nbproof.sandbox.packed_place import pack
from nbproof.values.leaf import leaves_of
from nbproof.values.results import ProbeError, ProbeResult

__all__ = ["serve"]

_MOST_WORDS = 4_000
"""Most characters of each text of a finding: no sentence is longer, even if a learner made it so."""
_MOST_PASSES = 20_000
"""Most answers that are remembered: some 20 MB."""


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
    """Holds the checks of the lessons that it has opened, and the truths that it has computed."""

    course: Course
    tasks: dict[tuple[str, str, str], type[Check]] = field(default_factory=dict)
    known: dict[tuple[str, str, str, int], tuple[Any, Mapping[str, object]]] = field(default_factory=dict)
    """Truths and their mistakes: the same for a whole class, so computed once."""
    passes: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    """Digest of a question -> the answer, where that is a pass: right answers mostly bring the same bytes."""

    def answer(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """The answer to one question. An error of the instructor's code becomes an answer, and ends nothing."""
        try:
            if header["op"] == "open":
                return self.open(header)
            if header["op"] == "truth":
                return self.prepare(header)
            return self.judged(header, payload)
        except MemoryError:
            return {"beyond": "memory"}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {str(error)[:500]}"}

    def open(self, header: dict[str, Any]) -> dict[str, Any]:
        """Take a lesson's test cells. The answer lists their checks, with what each asks and its number of cases."""
        for name, text in header["modules"].items():
            _take(name, text)
        plan: dict[str, list[tuple[str, str, int]]] = {}
        for name, source in header["tests"].items():
            with listing() as calls:
                # The instructor's own test cell, in a namespace that holds nothing else.
                exec(compile(source, f"<{name}>", "exec"), {"__name__": name})  # noqa: S102
            self.tasks |= {(header["lesson"], name, task.__name__): task for _, task in calls}
            plan[name] = [(task.__name__, " ".join((task.__doc__ or "").split()), task.cases) for _, task in calls]
        return {"plan": plan}

    def prepare(self, header: dict[str, Any]) -> dict[str, Any]:
        """Compute a truth, before anything that a learner brought is there to be charged for it."""
        key = (header["lesson"], header["test"], header["check"], header["seed"])
        if key not in self.known:
            task = self.tasks[key[:3]]()
            case = Case(header["seed"], self.course)
            self.known[key] = (task.truth(case), dict(task.mistakes(case)))
        return {}

    def judged(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """The finding on what a probe brought; looked up where the very same has passed before."""
        question = json.dumps({**header, "id": "", "room": 0}, sort_keys=True).encode()
        key = sha256(question + payload).digest()
        if key in self.passes:
            return self.passes[key]
        answer = self.judge(header, payload)
        if answer.get("finding", {}).get("passed") and len(self.passes) < _MOST_PASSES:
            self.passes[key] = answer
        return answer

    def judge(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """The finding on what a probe brought."""
        truth, mistakes = self.known[header["lesson"], header["test"], header["check"], header["seed"]]
        task = self.tasks[header["lesson"], header["test"], header["check"]]()
        task.truth = lambda case: truth  # type: ignore[method-assign]
        task.mistakes = lambda case: mistakes  # type: ignore[method-assign]
        trouble = None if header["trouble"] is None else ProbeError(**header["trouble"])
        with _within(header["room"]):
            try:
                evidence = None if trouble is not None else unpack(payload, leaves_of(self.course))
            except wire.WireError as error:
                return {"protocol": str(error)[:200]}
            finding = judge(task, Case(header["seed"], self.course), ProbeResult(evidence, trouble, header["printed"]))
            picture = pack(finding.compared) if header["draw"] else None
        return {"finding": _bounded(asdict(replace(finding, compared=None, picture=picture)))}


def _take(name: str, text: str) -> None:
    """Make a module of the course from its text: its file lies in no tree that a sandbox shows."""
    if name not in sys.modules:
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"<{name}>", "exec"), vars(module))  # noqa: S102 (the instructor's own code)


def _bounded(finding: dict[str, Any]) -> dict[str, Any]:
    """Cut each text of a finding to the length that a sentence may have."""
    for name, value in finding.items():
        if isinstance(value, str):
            finding[name] = value[:_MOST_WORDS]
        elif isinstance(value, dict) and name != "picture":
            _bounded(value)
    return finding


@contextlib.contextmanager
def _within(room: int) -> Iterator[None]:
    """Within this block the process gets no more address space than ``room`` bytes: a larger demand raises MemoryError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = room if hard < 0 else min(room, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
