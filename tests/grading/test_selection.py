"""``--only``: the names that a teacher would say, and near matches where there is no such name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.errors import UsageError
from nbproof.run.changes import select
from nbproof.run.intake import Intake, Submission
from tests.grading.conftest import LESSON

LEARNERS = ("ada", "adam", "ben", "second")


def _chosen(course: Path, *only: str) -> tuple[set[str], frozenset[str]]:
    one = Intake(tuple(Submission(name, LESSON, course / name) for name in LEARNERS), ())
    chosen = select(course, one, [LESSON], only)
    return {submission.learner for submission in chosen.intake.submissions}, chosen.exercises


@pytest.mark.parametrize(
    ("only", "learners", "exercises"),
    [
        ((), set(LEARNERS), set()),
        (("ada",), {"ada"}, set()),
        (("ada*",), {"ada", "adam"}, set()),
        (("ada", "ben"), {"ada", "ben"}, set()),
        ((f"ben/{LESSON}",), {"ben"}, set()),
        ((f"{LESSON}/ben",), {"ben"}, set()),
        (("ad?m/*",), {"adam"}, set()),
        (("first",), set(LEARNERS), {"first"}),
        (("first", "third"), set(LEARNERS), {"first", "third"}),
        (("thi*", "ben"), {"ben"}, {"third"}),
        (("second/*",), {"second"}, set()),
        (("*",), set(LEARNERS), set()),
    ],
)
def test_names_choose(small_lesson: Path, only: tuple[str, ...], learners: set[str], exercises: set[str]) -> None:
    assert _chosen(small_lesson, *only) == (learners, exercises)


@pytest.mark.parametrize(
    ("only", "fact", "next_command"),
    [
        ("adaa", "no learner and no exercise is called 'adaa'", "did you mean ada"),
        ("frist", "no learner and no exercise is called 'frist'", "did you mean first?"),
        ("nobody", "no learner and no exercise is called 'nobody'", "choose from the learners in submitted/"),
        (f"bne/{LESSON}", "no learner is called 'bne'", "did you mean ben?"),
        ("ben/07_none", "ben has not handed in '07_none'", f"from ben there is: {LESSON}"),
        ("second", "'second' is the name of a learner and of an exercise", "for the learner: --only 'second/*'"),
    ],
)
def test_an_unknown_name_is_told_what_is_near(small_lesson: Path, only: str, fact: str, next_command: str) -> None:
    with pytest.raises(UsageError) as told:
        _chosen(small_lesson, only)
    assert told.value.fact == fact
    assert next_command in told.value.next_command
    assert told.value.exit_code == 2
