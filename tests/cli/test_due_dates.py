"""``roster due`` and ``roster extend``: what is said, what nbgrader's gradebook holds, what collecting makes of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import MissingEntry

from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON
from nbproof_lms.roster_command import read_due
from tests import main

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SAWarning")


def _due_of(course: Path, learner: str) -> datetime:
    with Rehearsal(course, LESSON).gradebook() as book:
        found: datetime = book.find_submission(LESSON, learner).duedate
        return found


@pytest.fixture
def roster(course: Path) -> Callable[..., int]:
    """The command on a course with ada and bob in its class, of whom nobody has handed in."""
    (course / "roster.csv").write_text("learner,name,email\nada,Ada A,\nbob,Bob B,\n")
    return lambda *words: main(["roster", *words, "--course", str(course)])


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20", "2026-11-20T23:59:59"),
        ("2026-11-20 18:00", "2026-11-20T18:00:00"),
        ("2026-11-20T18:00:30Z", "2026-11-20T18:00:30"),
        ("2026-11-20 23:59 UTC", "2026-11-20T23:59:59"),
        ("20.11.2026", "2026-11-20T23:59:59"),
        ("Nov 20 2026 5pm", "2026-11-20T17:00:00"),
        ("2026-11-20T23:59+01:00", "2026-11-20T22:59:59"),
        ("2026-11-20 18:00+01:00", "2026-11-20T17:00:00"),
        ("2026-07-20 Europe/Berlin", "2026-07-20T21:59:59"),
    ],
)
def test_a_day_alone_means_its_last_second_and_no_zone_means_utc(text: str, moment: str) -> None:
    assert read_due(text, "--due") == datetime.fromisoformat(moment).replace(tzinfo=UTC)


def test_a_learner_gets_more_time_before_anything_was_handed_in(
    course: Path, roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert roster("due", LESSON, "2026-11-20") == 0
    assert roster("extend", "ada", LESSON, "2026-11-30") == 0
    told = capsys.readouterr().out
    assert f"ada: {LESSON} is due 2026-11-30 23:59 UTC; for the class 2026-11-20 23:59 UTC" in told
    # No zip tells of an extension; one that was handed out is not replaced.
    assert told.count("next: ") == 1 and f"bundle {LESSON} --out {LESSON}.zip" in told
    assert _due_of(course, "ada") == datetime(2026, 11, 30, 23, 59, 59)
    assert roster() == 0
    told = capsys.readouterr().out
    assert f"due:       {LESSON}: 2026-11-20 23:59 UTC" in told
    assert f"extension: {LESSON}: ada until 2026-11-30 23:59 UTC" in told
    assert roster("extend", "ada", LESSON, "none") == 0
    with Rehearsal(course, LESSON).gradebook() as book, pytest.raises(MissingEntry):
        book.find_submission(LESSON, "ada")
    assert roster("extend", "ada", LESSON, "none") == 0, "there is none to take away, and that is no error"


@pytest.mark.parametrize("authored", [True, False])
def test_the_next_step_is_the_one_that_comes_next(
    authored: bool, course: Path, roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    if not authored:
        shutil.rmtree(course / "lessons")
    assert roster("due", LESSON, "2026-11-20") == 0
    told = capsys.readouterr().out
    assert (f" bundle {LESSON}" if authored else f"nbgrader generate_assignment {LESSON}") in told
    assert " grade " not in told
    for when in ("2206-11-20", "none", "2016-11-20"):
        assert roster("due", LESSON, when) == 0
    told = capsys.readouterr().out
    assert "has no due date now\n" in told and told.count("next: ") == 2
    assert re.search(r"23:59 UTC \(past: \d+ days ago\)\n", told) and re.search(r"23:59 UTC \(in \d{5} days\)\n", told)
    Rehearsal(course, LESSON).hand_in("ada", {})
    assert roster("extend", "ada", LESSON, "2026-11-30") == 0
    told = capsys.readouterr().out
    assert f" grade {LESSON}" in told and "bundle" not in told


@pytest.mark.usefixtures("one_engine")
def test_what_nothing_dates_is_named_once_it_was_due(
    course: Path, roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, and first those whose time of before nothing tells any more. The time that a person writes there counts."""
    room = Rehearsal(course, LESSON)

    def told(*learners: str, time: str = "") -> str:
        for learner in learners:
            stamp = room.hand_in(learner, {"first": f"total = sum(values)  # {len(time)}"}).with_name("timestamp.txt")
            stamp.unlink(missing_ok=True)
            if time:
                stamp.write_text(time)
        main(["grade", "--no-feedback", "--course", str(course)])
        said = "".join(capsys.readouterr()).replace("\n", " ")
        return said.partition("and they were due: ")[2].partition(".")[0]

    assert roster("due", LESSON, "2206-11-20") == 0
    assert told("ada") == ""
    assert roster("due", LESSON, "2026-11-20") == 0
    assert told("zoe", time="2026-11-21 10:00:00 UTC") == ""
    assert told("bob", "zoe") == f"zoe/{LESSON}, bob/{LESSON}"
    assert told() == ""
    assert told("zoe", time="2026-11-21 10:00:00 UTC") == ""


def test_a_later_due_date_of_the_class_moves_nobody_s_own(
    course: Path, roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    roster("due", LESSON, "2026-11-20")
    roster("extend", "ada", LESSON, "2026-11-30")
    roster("extend", "bob", LESSON, "2026-11-21")
    # A shell splits a time without quotes.
    assert roster("extend", "ada", "bob", LESSON, "2026-11-30", "18:00", "Europe/Berlin") == 0
    assert f"bob: {LESSON} is due 2026-11-30 17:00 UTC" in capsys.readouterr().out
    roster("extend", "ada", LESSON, "2026-11-30")
    roster("extend", "bob", LESSON, "2026-11-21")
    assert roster("due", LESSON, "2026-11-25", "18:00") == 0
    told = capsys.readouterr().out
    assert "2026-11-25 18:00" in told
    assert f"roster extend bob {LESSON} '2026-11-21 23:59 UTC'" in told.replace("\n", " ")
    assert _due_of(course, "ada") == datetime(2026, 11, 30, 23, 59, 59)
    roster("due", LESSON, "none")
    capsys.readouterr()
    roster()
    assert "extension" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "order"), [("due 2026-11-20", "LESSON WHEN"), ("extend ada 2026-11-30", "NAME LESSON WHEN")]
)
def test_where_a_word_is_missing_their_order_is_said(
    words: str, order: str, roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert roster(*words.split()) == 2
    assert f"WHEN; that, or a word before it, is missing: the order is {order}\n" in capsys.readouterr().err


def test_what_cannot_be_is_said_with_the_next_command(
    roster: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert roster("extend", "ada", LESSON, "2026-11-30") == 2
    assert f"roster due {LESSON} 2026-11-20" in capsys.readouterr().err
    roster("due", LESSON, "2026-11-20")
    capsys.readouterr()
    for words, said in (
        (("extend", "adda", LESSON, "2026-11-30"), "'adda' is no learner's id, and may mean: ada Ada A"),
        (("extend", "ada", LESSON, "2026-11-20"), "not later than for the class"),
        (("extend", "ada", "09_none", "2026-11-30"), "no lesson is called '09_none'"),
        (("extend", "ada", "09_none", "2026-11-30", "18:00"), "no lesson is called '2026-11-30'"),
        (("due", "2026-11-20", LESSON), f"'2026-11-20' stands before {LESSON}"),
        (("extend", LESSON, "ada", "2026-11-30"), f"no learner is named before {LESSON}"),
        (("extend", "ada", LESSON, "2026-11-20", "at", "noon"), "'2026-11-20 at noon' is no time"),
        (("due", LESSON, "Fri 20 Nov"), "it does not say the year\n"),
        (("due", LESSON, "2026-11"), "it does not say the day\n"),
        (("due", LESSON, "23:59"), "it holds no date\n"),
        (("due", LESSON, "2026-11-20 24:00"), "hours are 00 to 23"),
        *(
            (("due", LESSON, text), f"{text!r} is no time, or not for certain")
            for text in (
                "soon",
                "next friday",
                "tomorrow",
                "03/04/2026",
                "Nov 20 5pm",
                "2026-11-20 CEST",
                "9999-12-31 23:59 -2300",
            )
        ),
    ):
        assert roster(*words) == 2
        assert said in capsys.readouterr().err
