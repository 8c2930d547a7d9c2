"""Times are read where they mean one moment, and never guessed."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.utils import parse_utc

from nbproof.gradebook.graded_notebook import copy_receipts
from nbproof.gradebook.receipts import TIME
from nbproof.moments import moment_in
from nbproof.run.intake import gradable_lessons, take_in, unread_times
from tests import COURSE
from tests.run.test_any_course import SQUARES, hand_in, written

AT_TEN = "2026-03-04 10:00:00"


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04 10:00:00.000000 UTC", "2026-03-04 10:00:00", "2026-03-04T10:00:00Z", "20260304T100000Z", "4 March 2026 10:00",
        "2026-03-04 11:00:00 +0100", "2026-03-04 11:00:00.000000 +01", "2026-03-04 10:00 GMT",
        "2026-03-04 11:00:00 Europe/Berlin", "2026-03-04 10:00 AM", "Mar 4, 2026 at 10am", "2026-03-04 05:00:00 -0500",
    ],
)  # fmt: skip
def test_a_moment_in_any_form(text: str) -> None:
    """nbgrader's own parser reads some of these hours away."""
    assert f"{moment_in(text):%Y-%m-%d %H:%M:%S}" == AT_TEN


@pytest.mark.parametrize(
    "text",
    [
        "03/04/2026 10:00", "04.03.26 10:00", "Mar 4 10:00", "2026-03-04", "10:00", "2026-03-04 10:00 CEST", "1772618400",
        "2026-03-04 10:00 EST", "2026-03-04 10:00 GMT+3", "2026-03-04 10:00:00 Nowhere/Land", "yesterday",
        "9999-12-31 23:59:59 -2300", "0001-01-01 00:00 +2300", "2026-02-30 10:00", "\ufffd",
        "2026-10-25 02:30 Europe/Berlin", "2026-03-29 02:30 Europe/Berlin", "2026-11-01 01:30:00 America/New_York",
    ],
)  # fmt: skip
def test_what_may_mean_several_moments_or_none_is_not_guessed(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!Unknown|String|.*%s)\w"):
        moment_in(text)


@pytest.mark.parametrize(
    ("home", "text", "moment"),
    [
        ("Europe/Berlin", "2026-03-04 11:00:00.000000 CET", AT_TEN),
        ("Europe/Berlin", "Wed Jul  1 12:00:00 CEST 2026", "2026-07-01 10:00:00"),
        ("Europe/Berlin", "2026-10-25 02:30:00 CEST", "2026-10-25 00:30:00"),
        ("Europe/Berlin", "2026-10-25 02:30:00 CET", "2026-10-25 01:30:00"),
        ("America/New_York", "2026-03-04 05:00:00.000000 EST", AT_TEN),
        ("America/New_York", "2026-07-01 06:00:00.000000 EDT", "2026-07-01 10:00:00"),
        ("Asia/Kolkata", "2026-03-04 15:30:00 IST", AT_TEN),
        ("Europe/Berlin", "2026-03-04 10:00:00 UTC", AT_TEN),
        ("Europe/Berlin", "2026-03-04 10:00:00", AT_TEN),
        ("Europe/Berlin", "2026-03-04 11:00:00 CEST", ""),
        ("Europe/Berlin", "2026-03-04 11:00:00 EST", ""),
        ("America/New_York", "2026-03-04 11:00:00 CET", ""),
        ("no/zone", "2026-03-04 11:00:00 CET", ""),
    ],
)
def test_short_names_are_those_of_the_zone_that_is_configured(home: str, text: str, moment: str) -> None:
    with contextlib.nullcontext() if moment else pytest.raises(ValueError, match=r"C?E[SD]?T"):
        assert f"{moment_in(text, home=home):%Y-%m-%d %H:%M:%S}" == moment


@pytest.mark.parametrize(("zone", "summer"), [("Europe/Berlin", "CEST"), ("America/New_York", "EDT")])
def test_times_of_nbgraders_exchange_are_read_in_its_zone(tmp_path: Path, zone: str, summer: str) -> None:
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    path = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    (path.parent / TIME).write_text(f"2026-07-01 12:00:00.000000 {summer}")
    intake = take_in(COURSE, tmp_path, ["ps1"])
    assert [summer in note for note in unread_times(tmp_path, intake)] == [True]
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\nc.Exchange.timezone = {zone!r}\n")
    assert list(unread_times(tmp_path, intake)) == []
    (tmp_path / "autograded" / "ada" / "ps1").mkdir(parents=True)
    copy_receipts(tmp_path, "ada", "ps1", "autograded")
    told = parse_utc((tmp_path / "autograded" / "ada" / "ps1" / TIME).read_text())
    assert told == datetime(2026, 7, 1, {"CEST": 10, "EDT": 16}[summer])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2026-07-01 12:00:00.948203 America/Los_Angeles", True),
        ("2026-07-01 12:00:00 UTC", True),
        ("2026-07-01 12:00:00.5 UTC\n", False),
        ("2026-07-01 12:00:00.000000 +0200", False),
        ("1 July 2026, 12:00", False),
    ],
)
def test_a_time_that_nbgrader_reads_as_we_do_stays_as_it_was_handed_in(tmp_path: Path, text: str, kept: bool) -> None:
    """Of another form nbgrader reads the same moment, which is written in its own."""
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    stamp = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb").with_name(TIME)
    stamp.write_text(text)
    made = tmp_path / "autograded" / "ada" / "ps1" / TIME
    made.parent.mkdir(parents=True)
    copy_receipts(tmp_path, "ada", "ps1", "autograded")
    assert (made.read_text() == text) is kept
    assert parse_utc(made.read_text()) == moment_in(text.strip()).replace(tzinfo=None)


def test_a_time_that_cannot_be_read_is_named_with_what_to_write_and_counts_neither_way(tmp_path: Path) -> None:
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    path = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    stamp, lessons = path.parent / TIME, gradable_lessons(tmp_path, [])
    stamp.write_text("03/04/2026 10:00")
    intake = take_in(COURSE, tmp_path, lessons)
    assert len(intake.submissions) == 1
    (note,) = unread_times(tmp_path, intake)
    assert "submitted/ada/ps1/timestamp.txt cannot be read for certain" in note
    (tmp_path / "autograded" / "ada" / "ps1").mkdir(parents=True)
    copy_receipts(tmp_path, "ada", "ps1", "autograded")
    assert (tmp_path / "autograded" / "ada" / "ps1" / TIME).read_text() == ""
    stamp.write_text(note.partition("write it as ")[2].partition(",")[0])  # as it says
    assert list(unread_times(tmp_path, intake)) == []
    copy_receipts(tmp_path, "ada", "ps1", "autograded")
    told = parse_utc((tmp_path / "autograded" / "ada" / "ps1" / TIME).read_text())
    assert told == datetime(2026, 11, 20, 18)
    # Where nobody has said one, only `nbgrader release_feedback` wants a file.
    stamp.unlink()
    (tmp_path / "feedback" / "ada" / "ps1").mkdir(parents=True)
    copy_receipts(tmp_path, "ada", "ps1", "feedback")
    copy_receipts(tmp_path, "ada", "ps1", "autograded")
    assert not (tmp_path / "autograded" / "ada" / "ps1" / TIME).exists()
    assert (tmp_path / "feedback" / "ada" / "ps1" / TIME).read_text() == ""
