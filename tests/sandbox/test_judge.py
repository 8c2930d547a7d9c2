"""The judge is bounded: what an answer brings may cost its learner that exercise, and nobody else; nothing unasked is taken."""

from __future__ import annotations

import json
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nbproof.checks.check_cells import probe_part
from nbproof.display.words import ENGLISH
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.judge import Judge
from nbproof.marking.marker import mark
from nbproof.marking.results import Verdict
from nbproof.nbgrader_setup import course_config
from nbproof.recover.answers import Answers
from nbproof.sandbox import evidence_wire, judging, wire
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineFailed, JudgeFailed
from nbproof.sandbox.worker_handle import NoRoom
from nbproof.testing import Bench
from nbproof.testing.small import POINTS, RIGHT
from nbproof.values.compare import first_difference
from nbproof.values.evidence import Parts, TensorRecord, Unreadable, snapshot
from nbproof.values.results import Outcome

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
    "memory bit by bit": "kept = []\n    while True: kept.append(bytes(1_000_000))",
    "memory that is asked for again": (
        "kept = []\n    while True:\n        try: kept.append(bytes(1_000))\n        except MemoryError: pass"
    ),
    "time": "while True: pass",
    "time in one call": "return str(sum(range(10**12)))",
    "depth": "return spends(got)",
    "its process": "import os; os._exit(0)",
}


def _with_test(
    blueprint: Blueprint, spends: str, truth: str = 'return {"result": Matches(spends, "something")}'
) -> Blueprint:
    source = SPENDS.format(spends=spends, truth=truth)
    test = replace(blueprint.tests["test_first"], source=source, probe=probe_part(source), shown=probe_part(source))
    return replace(blueprint, tests={**blueprint.tests, "test_first": test})


def _mark(engine: Engine, blueprint: Blueprint, judge: Judge | None = None) -> Verdict:
    rebuilt = Answers({**blueprint.stubs, **RIGHT})
    return mark(engine, blueprint, judge or Judge(blueprint, seed=7), rebuilt, "ada", {})


def _by_id(verdict: Verdict) -> dict[str, Outcome]:
    return {exercise.id: exercise for exercise in verdict.exercises}


@pytest.mark.parametrize("how", HOW)
def test_what_cannot_be_compared_ends_its_exercise_and_nothing_else(
    engine: Engine, blueprint: Blueprint, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "EVIDENCE_SECONDS", 1.0)
    costly = _with_test(blueprint, HOW[how])
    judge = Judge(costly, seed=7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2):  # the judge that comes after the one that was ended knows all it has to
        found = _by_id(_mark(engine, costly, judge))
        assert found["first"].status == "failed"
        assert found["first"].score == 0
        assert {name: one.score for name, one in found.items() if name != "first"} == {"second": 1.0, "third": 1.0}
    # Depth is a wrong answer as any that a test of the author's stumbles over; the rest is told as what it is.
    assert ("cannot be compared" in ENGLISH.outcome(found["first"])) is (how != "depth")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_what_an_error_over_evidence_leaves_behind_meets_no_other_learner(engine: Engine, blueprint: Blueprint) -> None:
    spends = "import torch\n    try: return str(len(bytes(10**10)))\n    finally: torch.left_behind = True"
    costly = _with_test(blueprint, spends)
    looks = _with_test(blueprint, 'import torch\n    return "left" if hasattr(torch, "left_behind") else None')
    asked, judge = engine.judge, Judge(looks, seed=7)
    assert _by_id(_mark(engine, looks, judge))["first"].status == "passed"
    before = asked.generation
    assert _by_id(_mark(engine, costly))["first"].score == 0
    assert _by_id(_mark(engine, looks, judge))["first"].status == "passed"
    assert asked.generation > before


def test_a_judge_that_was_ended_leaves_the_marks_of_others(engine: Engine, blueprint: Blueprint) -> None:
    costly, honest = _with_test(blueprint, HOW["memory at once"]), Judge(blueprint, seed=7)
    assert _mark(engine, blueprint, honest).score == sum(POINTS.values())
    _mark(engine, costly)
    engine.judge.end()
    assert _mark(engine, blueprint, honest).score == sum(POINTS.values())


def test_an_error_of_the_instructors_is_no_learners_failure(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "return 1 / 0")
    with pytest.raises(JudgeFailed, match="test_first: ZeroDivisionError"):
        _mark(engine, broken)


def test_a_truth_that_ends_the_judge_ends_the_run_in_words(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "import os; os._exit(1)")
    with pytest.raises(EngineFailed, match="the judge's process ended over a truth"):
        _mark(engine, broken)


def test_a_judge_that_finds_no_room_tries_again(
    engine: Engine, blueprint: Blueprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.judge.end()
    forked, roles = engine._forked_once, []

    def flaky(role: str, *rest: Any) -> Any:
        roles.append(role)
        if roles == ["judge"]:
            raise NoRoom("a process ended before its first word")
        return forked(role, *rest)

    monkeypatch.setattr(engine, "_forked_once", flaky)
    assert _mark(engine, blueprint).score == sum(POINTS.values())
    assert roles[:2] == ["judge", "judge"]


def test_the_judge_is_as_sealed_as_what_it_judges(engine: Engine, blueprint: Blueprint) -> None:
    looks = 'import os; return f\'{os.listdir("/proc")} {os.path.exists("ROOT")} {os.environ.get("HOME")}\''.replace(
        "ROOT", str(ROOT / "source")
    )
    found = _by_id(_mark(engine, _with_test(blueprint, looks)))
    assert "[] False" in ENGLISH.outcome(found["first"])


@pytest.fixture
def blueprint(bench: Bench) -> Blueprint:
    return bench.blueprint


@pytest.fixture(scope="module")
def legacy() -> Iterator[Blueprint]:
    (path,) = ROOT.glob("source/03_*/03_*.ipynb")
    yield read_blueprint(path, course_config(ROOT))


def test_an_answer_whose_shapes_multiply_costs_its_learner_that_exercise(engine: Engine, legacy: Blueprint) -> None:
    # It ended the run for a whole class: 240 KB that a check multiplied into 6 GB, in the coordinator.
    answer = "answer = [[torch.tensor([5.]), torch.tensor([1.])], [torch.ones(30_000, 1), torch.ones(1, 30_000)]]"
    answers = {**legacy.stubs, "legacy_autopsy": answer}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = _by_id(mark(engine, legacy, Judge(legacy, seed=7), Answers(answers), "ada", {}))
    assert (found["legacy_autopsy"].status, found["legacy_autopsy"].score) == ("failed", 0)
    assert {one.status for name, one in found.items() if name != "legacy_autopsy"} == {"not answered"}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.fixture
def ends():  # type: ignore[no-untyped-def]
    one, other = socket.socketpair()
    yield one, other
    one.close()
    other.close()


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -2.5, "text", [], {}, [1, [2.5, None]], {"a": [torch.tensor([[0.5, 2.0, -1.0]]), "b"]},
        torch.empty(0, 3), torch.tensor(2), torch.tensor([[0.1], [0.2]], dtype=torch.float64),
        torch.tensor([True, False]), torch.tensor([0.5, 3.0]).to(torch.bfloat16), torch.tensor([1 + 2j, 3 - 1j]),
        [torch.tensor([0.1]), torch.tensor([0.2, 0.3])],
    ],
    ids=repr,
)  # fmt: skip
def test_evidence_comes_back_as_it_was(value: object) -> None:
    evidence = snapshot(value)
    data, payload = evidence_wire.encode(evidence)
    assert evidence_wire.decode(json.loads(json.dumps(data)), payload) == evidence
    assert first_difference(evidence_wire.decode(data, payload), value) is None


def test_what_is_unreadable_stays_unreadable() -> None:
    data, payload = evidence_wire.encode(Unreadable("a function"))
    assert evidence_wire.decode(data, payload) == Unreadable("a function")


def test_no_name_of_a_learners_class_is_obeyed_by_a_terminal() -> None:
    said = [Unreadable("object", "Net\x1b[2J\nhonest: ok"), Parts("a table\x1b[2J", {})]
    back: Any = evidence_wire.decode(*evidence_wire.encode(said))
    assert back[0].of.isprintable() and back[1].noun.isprintable()


@pytest.mark.parametrize(
    ("data", "payload"),
    [
        ({"t": ["float32", [2], 4]}, b"1234"),  # bytes do not fit the shape
        ({"t": ["float32", [2], 8]}, b"1234"),  # bytes are missing
        ({"t": ["float32", [-1], 4]}, b"1234"),
        ({"t": ["float32", [True], 4]}, b"1234"),
        ({"t": ["object", [1], 8]}, b"12345678"),
        ({"t": ["__class__", [1], 8]}, b"12345678"),
        ({"t": ["float32", [1]]}, b"1234"),
        ({"t": 3}, b""),
        ({"l": {"a": 1}}, b""),
        ({"d": [["a"]]}, b""),
        ({"x": 1}, b""),
        ({"l": [], "d": []}, b""),
        ([1, 2], b""),
        (None, b"bytes that belong to nothing"),
        ({"l": [0] * 30_000}, b""),
    ],
)
def test_a_lie_is_a_wire_error(data: object, payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.decode(data, payload)


def test_deep_nesting_is_a_wire_error() -> None:
    data: object = None
    for _ in range(500):
        data = {"l": [data]}
    with pytest.raises(wire.WireError):
        evidence_wire.decode(data, b"")


def test_frames_arrive_whole(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    wire.send(one, {"op": "x"}, b"payload")
    assert wire.receive(other) == ({"op": "x"}, b"payload")


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">II", wire.MAX_HEADER + 1, 0),
        struct.pack(">II", 10, wire.MAX_FRAME),
        struct.pack(">II", 3, 0) + b"{x}",
        struct.pack(">II", 4, 0) + b"[12]",
        struct.pack(">II", 5000, 0) + b"[" * 5000,
    ],
    ids=["header too long", "payload too long", "not JSON", "not an object", "deep"],
)
def test_a_broken_frame_is_a_wire_error(ends, frame: bytes) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    one.sendall(frame)
    with pytest.raises(wire.WireError):
        wire.receive(other, time.monotonic() + 2)


def test_silence_is_late_and_a_dead_peer_is_closed(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    with pytest.raises(wire.Late):
        wire.receive(other, time.monotonic() + 0.05)
    one.sendall(b"\0\0\0")
    one.close()
    with pytest.raises(wire.Closed):
        wire.receive(other, time.monotonic() + 2)


def test_the_watch_ticks_while_waiting(ends) -> None:  # type: ignore[no-untyped-def]
    ticks = []
    with pytest.raises(wire.Late):
        wire.receive(ends[1], time.monotonic() + 0.35, lambda: ticks.append(1))
    assert len(ticks) >= 2


def test_a_record_of_nan_is_not_equal_to_anything_wanted() -> None:
    evidence = evidence_wire.decode(*evidence_wire.encode(snapshot(torch.tensor([float("nan")]))))
    assert isinstance(evidence, TensorRecord)
    assert first_difference(evidence, torch.tensor([float("nan")])) is not None


def test_a_header_that_costs_fifty_times_its_length_is_not_parsed(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    text = b'{"outputs": [' + b"[]," * 1_600_000 + b"0]}"
    threading.Thread(target=one.sendall, args=(struct.pack(">II", len(text), 0) + text,), daemon=True).start()
    with pytest.raises(wire.WireError, match="too many parts"):
        wire.receive(other, time.monotonic() + 20)


@pytest.mark.parametrize(
    "data",
    [b"", b"abc", struct.pack(">I", 2) + b"[", struct.pack(">I", 4) + b"{x}]", struct.pack(">I", 5_000_000) + b"0" * 5_000_000,
     struct.pack(">I", 3_000_000) + b"[]," * 1_000_000, struct.pack(">I", 9_000) + b"[" * 9_000,
     struct.pack(">I", 5_000) + b"9" * 5_000, struct.pack(">I", 4) + b"nullrest"],
    ids=["nothing", "no length", "cut off", "not JSON", "too long", "too many parts", "deep", "endless number", "bytes left"],
)  # fmt: skip
def test_evidence_that_was_never_packed_is_a_wire_error(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.opened(data)


def test_what_was_packed_is_opened() -> None:
    evidence = snapshot({"a": [torch.ones(2, 3), 1, None, "text"], "b": {"c": 1.5}})
    assert evidence_wire.opened(evidence_wire.packed(evidence)) == evidence
