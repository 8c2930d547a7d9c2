"""What travels to a worker arrives as it was: lessons, hand-ins, verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.recover.notebook_bytes import HandIn
from nbproof.sandbox.isolation import Isolation
from tests import COURSE, ROOT, SLUGS

pytest.importorskip("nbproof_dask", reason="a Dask cluster is NOT tested: nbproof-dask is not installed")

from nbproof_dask.parcels import Answer, Said, Work, hand_in_as_bytes, hand_in_of, verdict_as_bytes, verdict_of


def test_lessons_arrive_with_the_course_and_nothing_that_learners_or_graders_keep(tmp_path: Path) -> None:
    read = {slug: read_blueprint(COURSE, COURSE.source_of(slug), course_config(ROOT)) for slug in SLUGS[-2:]}
    sent = Work.of(read, 7, GradingLimits(memory_mb=512), Isolation.REDUCED, {"A": "b"})
    got = Work.read(sent.as_bytes())
    assert got == sent
    there = got.unpacked(tmp_path)
    course = next(iter(there.values())).course
    assert course.folder == tmp_path / ROOT.name / "course"
    assert replace(course, folder=COURSE.folder) == COURSE
    for slug, one in there.items():
        exercises = tuple(replace(exercise, course=COURSE) for exercise in one.exercises)
        assert replace(one, course=COURSE, exercises=exercises) == read[slug]
    assert {path.name for path in (tmp_path / ROOT.name).iterdir()} == {"course", "lessons", "source"}
    assert {path.name for path in (tmp_path / ROOT.name / "lessons").rglob("*.*")} == {"hints.toml"}


def test_a_hand_in_arrives_without_the_place_where_it_lies() -> None:
    one = HandIn(
        Key("ada", "ps1/a"), Path("/home/x"), digest="d", remark="r", notebook=b"\0\xff", files={"a/\udcff\ud800": b"1"}
    )
    assert hand_in_of(hand_in_as_bytes(one)) == replace(one, path=Path(), digest="")


def test_a_verdict_and_an_answer_arrive() -> None:
    verdict = Verdict("ada", "01", 7, problem="none", written=(), titles={"a": "ü"})
    answer = Answer(Said.VERDICT, verdict_as_bytes(verdict))
    assert Answer.of(answer.as_bytes()) == answer
    assert verdict_of(answer.data) == verdict
    with pytest.raises(TypeError):
        Answer.of({"said": "verdict"})
