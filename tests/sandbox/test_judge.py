"""The judge is bounded: what an answer brings may cost its learner that exercise, and nobody else; nothing unasked is taken."""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nbproof.marking.blueprint import Blueprint
from nbproof.marking.judge_client import Judge
from nbproof.marking.marker import mark
from nbproof.recover.answers import Answers
from nbproof.sandbox import evidence_wire, judging, wire
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineFailed, JudgeFailed
from nbproof.testing import Bench
from nbproof.testing.small import RIGHT
from nbproof.values.evidence import Parts, Unreadable, snapshot
from nbproof.values.results import Outcome
from nbproof.values.words import ENGLISH
from tests.leaves import LEAVES

ROOT = Path(__file__).parent.parent.parent

SPENDS = '''
import time

import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import Matches


def spends(got):
    {spends}


class Reads(Check):
    """It brings something."""

    cases = 1

    def probe(self, nb, case):
        return {{"result": nb.function("first")(case.tensor("x", 3))}}

    def truth(self, case):
        {truth}


check("first", Reads)
'''

HOW = {
    "memory at once": "return str(len(bytes(10**10)))",
    "memory that is asked for again": (
        "kept = []\n    while True:\n        try: kept.append(bytes(1_000))\n        except MemoryError: pass"
    ),
    "time in one call": "return str(sum(range(10**12)))",
    "its process": "import os; os._exit(0)",
}


def _with_test(
    blueprint: Blueprint, spends: str, truth: str = 'return {"result": Matches(spends, "something")}'
) -> Blueprint:
    source = SPENDS.format(spends=spends, truth=truth)
    test = replace(blueprint.tests["test_first"], source=source, shown=source)
    return replace(blueprint, cells=tuple(test if cell.grade_id == "test_first" else cell for cell in blueprint.cells))


def _mark(engine: Engine, blueprint: Blueprint, judge: Judge | None = None) -> dict[str, Outcome]:
    """What came of each exercise, answered right."""
    rebuilt = Answers({**blueprint.stubs, **RIGHT})
    verdict = mark(engine, blueprint, judge or Judge(blueprint, 7, engine.judge), rebuilt, "ada", {})
    return {exercise.id: exercise for exercise in verdict.exercises}


@pytest.mark.parametrize("how", HOW)
def test_what_cannot_be_compared_ends_its_exercise_and_nothing_else(
    engine: Engine, blueprint: Blueprint, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "EVIDENCE_SECONDS", 1.0)
    costly = _with_test(blueprint, HOW[how])
    judge = Judge(costly, 7, engine.judge)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2):  # the judge that comes after the one that was ended knows all it has to
        found = _mark(engine, costly, judge)
        assert found["first"].status == "failed"
        assert found["first"].score == 0
        assert {name: one.score for name, one in found.items() if name != "first"} == {"second": 1.0, "third": 1.0}
    assert "cannot be compared" in ENGLISH.outcome(found["first"])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_what_an_error_over_evidence_leaves_behind_meets_no_other_learner(engine: Engine, blueprint: Blueprint) -> None:
    spends = "import torch\n    try: return str(len(bytes(10**10)))\n    finally: torch.left_behind = True"
    costly = _with_test(blueprint, spends)
    looks = _with_test(blueprint, 'import torch\n    return "left" if hasattr(torch, "left_behind") else None')
    asked, judge = engine.judge, Judge(looks, 7, engine.judge)
    assert _mark(engine, looks, judge)["first"].status == "passed"
    before = asked.generation
    assert _mark(engine, costly)["first"].score == 0
    assert _mark(engine, looks, judge)["first"].status == "passed"
    assert asked.generation > before


def test_an_error_of_the_instructors_is_no_learners_failure(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "return 1 / 0")
    with pytest.raises(JudgeFailed, match="test_first: ZeroDivisionError"):
        _mark(engine, broken)


def test_a_truth_that_ends_the_judge_ends_the_run_in_words(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "import os; os._exit(1)")
    with pytest.raises(
        EngineFailed, match=r"the judge's process ended over a truth.*\n.*\n.*mend the truth of that check"
    ):
        _mark(engine, broken)
    assert _mark(engine, blueprint)["first"].status == "passed"


def test_the_judge_is_as_sealed_as_what_it_judges(engine: Engine, blueprint: Blueprint) -> None:
    looks = 'import os; return f\'{os.listdir("/proc")} {os.path.exists("ROOT")} {os.environ.get("HOME")}\''.replace(
        "ROOT", str(ROOT / "source")
    )
    found = _mark(engine, _with_test(blueprint, looks))
    assert "[] False" in ENGLISH.outcome(found["first"])


@pytest.fixture
def blueprint(bench: Bench) -> Blueprint:
    return bench.blueprint


@pytest.fixture
def ends():  # type: ignore[no-untyped-def]
    one, other = socket.socketpair()
    yield one, other
    one.close()
    other.close()


@pytest.mark.parametrize(
    "value",
    [
        [None, True, 3, -2.5, "text", [], {}, [1, [2.5, None]]],
        {"a": [torch.tensor([[0.5, 2.0, -1.0]]), "b"], "b": [torch.empty(0, 3), torch.tensor(2)]},
        [torch.tensor([True, False]), torch.tensor([0.5, 3.0]).to(torch.bfloat16), torch.tensor([1 + 2j, 3 - 1j])],
        {"unreadable": Unreadable("a function")},
    ],
    ids=["plain", "nested", "dtypes", "unreadable"],
)
def test_evidence_comes_back_as_it_was(value: object) -> None:
    evidence = snapshot(value)
    assert evidence_wire.unpack(evidence_wire.pack(evidence), LEAVES) == evidence


def test_no_name_of_a_learners_class_is_obeyed_by_a_terminal() -> None:
    said = [Unreadable("object", "Net\x1b[2J\nhonest: ok"), Parts("a table\x1b[2J", {})]
    back: Any = evidence_wire.decode(*evidence_wire.encode(said), LEAVES)
    assert back[0].of.isprintable() and back[1].noun.isprintable()


@pytest.mark.parametrize(
    ("data", "payload"),
    [
        ({"t": ["float32", [2], 4]}, b"1234"),  # bytes do not fit the shape
        ({"t": ["float32", [-1], 4]}, b"1234"),
        ({"t": ["object", [1], 8]}, b"12345678"),
        ({"d": [["a"]]}, b""),
        (None, b"bytes that belong to nothing"),
        ({"l": [0] * 30_000}, b""),
    ],
)
def test_a_lie_is_a_wire_error(data: object, payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.decode(data, payload, LEAVES)


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">II", wire.MAX_HEADER + 1, 0),
        struct.pack(">II", 10, wire.MAX_FRAME),
        struct.pack(">II", 3, 0) + b"{x}",
        struct.pack(">II", 4, 0) + b"[12]",
        struct.pack(">II", 5000, 0) + b"[" * 5000,
        struct.pack(">II", 6_400_015, 0) + b'{"outputs": [' + b"[]," * 2_133_333 + b"0]}",
    ],
    ids=["header too long", "payload too long", "not JSON", "not an object", "deep", "fifty times its length"],
)
def test_a_broken_frame_is_a_wire_error(ends, frame: bytes) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    threading.Thread(target=one.sendall, args=(frame,), daemon=True).start()
    with pytest.raises(wire.WireError):
        wire.receive(other, time.monotonic() + 20)


def test_silence_is_late_and_a_dead_peer_is_closed(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    with pytest.raises(wire.Late):
        wire.receive(other, time.monotonic() + 0.05)
    one.sendall(b"\0\0\0")
    one.close()
    with pytest.raises(wire.Closed):
        wire.receive(other, time.monotonic() + 2)


@pytest.mark.parametrize(
    "data",
    [b"", b"abc", struct.pack(">I", 2) + b"[", struct.pack(">I", 4) + b"{x}]", struct.pack(">I", 5_000_000) + b"0" * 5_000_000,
     struct.pack(">I", 3_000_000) + b"[]," * 1_000_000, struct.pack(">I", 9_000) + b"[" * 9_000,
     struct.pack(">I", 5_000) + b"9" * 5_000, struct.pack(">I", 4) + b"nullrest"],
    ids=["nothing", "no length", "cut off", "not JSON", "too long", "too many parts", "deep", "endless number", "bytes left"],
)  # fmt: skip
def test_evidence_that_was_never_packed_is_a_wire_error(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.unpack(data, LEAVES)
