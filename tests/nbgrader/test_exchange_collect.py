"""Collecting from nbgrader's exchange: the file system says whose work it is and when it came, and nothing leads elsewhere."""

from __future__ import annotations

import getpass
import logging
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from traitlets.config import Config

from nbproof.nbgrader.exchange import CollectFromOwners
from nbproof.places import course_config
from tests import ROOT

ME = getpass.getuser()
LESSON = "01_module_anatomy"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows"),
]


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty one, which nbgrader takes seconds to make."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    course_config(ROOT)
    Gradebook(f"sqlite:///{path}", "pytorch_hooks").close()
    return path


@pytest.fixture
def inbound(tmp_path: Path, gradebook: Path) -> Path:
    (tmp_path / "course").mkdir()
    shutil.copy(gradebook, tmp_path / "course")
    folder = tmp_path / "exchange" / "pytorch_hooks" / "inbound"
    folder.mkdir(parents=True)
    folder.parent.parent.chmod(0o777)
    return folder


def _handed_in(inbound: Path, learner: str, when: str, **files: str) -> Path:
    place = inbound / f"{learner}+{LESSON}+{when}+secret"
    place.mkdir()
    for name, text in files.items():
        (place / f"{name}.ipynb").write_text(text)
    return place


def _now(years: int = 0) -> str:
    now = datetime.now(UTC)
    return f"{now.replace(year=now.year + years):%Y-%m-%d %H:%M:%S.%f} UTC"


def _collect(tmp_path: Path, **options: bool | str) -> Path:
    course = tmp_path / "course"
    config = course_config(ROOT)
    config.CourseDirectory.merge({"root": str(course), "assignment_id": LESSON})
    config.Exchange.root = str(tmp_path / "exchange")
    config.ExchangeCollect = Config(options)
    config.Exchange.cache = str(tmp_path / "cache")
    directory = CourseDirectory(config=config)
    CollectFromOwners(coursedir=directory, config=config, log=logging.getLogger("collect")).start()
    return course / "submitted"


def test_the_last_work_of_its_owner_is_taken_and_work_under_another_name_refused(
    inbound: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _handed_in(inbound, "ada", _now(1), **{LESSON: "forged"})
    _handed_in(inbound, ME, "no date", **{LESSON: "forged"})
    (inbound / f"{ME}+{LESSON}+{_now(2)}+link").symlink_to(tmp_path)
    (inbound / f"{ME}+{LESSON}+{_now(2)}+file").write_text("")
    when = _now()
    _handed_in(inbound, ME, when, **{LESSON: "mine"})
    submitted = _collect(tmp_path)
    assert [path.name for path in submitted.iterdir()] == [ME]
    assert (submitted / ME / LESSON / f"{LESSON}.ipynb").read_text() == "mine"
    assert (submitted / ME / LESSON / "timestamp.txt").read_text() == when
    assert caplog.text.count("not collected") == 4
    # An instructor who put it there for a learner says so, as with nbgrader's own.
    assert (_collect(tmp_path, check_owner=False) / "ada").exists()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_the_time_in_a_folders_name_is_read_in_the_zone_of_the_exchange(
    inbound: Path, tmp_path: Path, zone: str
) -> None:
    now = parse_utc(_now()).replace(tzinfo=UTC)
    _handed_in(inbound, ME, f"{now.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S.%f %Z}", **{LESSON: "mine"})
    told = (_collect(tmp_path, timezone=zone) / ME / LESSON / "timestamp.txt").read_text()
    assert parse_utc(told).replace(tzinfo=UTC) == now


def test_what_leads_elsewhere_is_left_out(inbound: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "source.ipynb").write_text("the solution")
    place = _handed_in(inbound, ME, _now())
    (place / f"{LESSON}.ipynb").symlink_to(tmp_path / "solutions" / "source.ipynb")
    (place / "data").symlink_to(tmp_path / "solutions")
    (place / "more").mkdir()
    (place / "more" / "numbers.csv").write_text("1")
    os.mkfifo(place / "pipe")
    folder = _collect(tmp_path) / ME / LESSON
    assert {path.name for path in folder.rglob("*")} == {"more", "numbers.csv", "timestamp.txt"}
    assert caplog.text.count("left out") == 2


def test_a_date_that_is_claimed_does_not_count(inbound: Path, tmp_path: Path) -> None:
    place = _handed_in(inbound, ME, "2001-01-01 00:00:00.000000 UTC", **{LESSON: "late"})
    os.utime(place / f"{LESSON}.ipynb", (0, 0))
    told = parse_utc((_collect(tmp_path) / ME / LESSON / "timestamp.txt").read_text())
    assert told.year == datetime.now(UTC).year


def test_a_folder_that_cannot_be_copied_costs_nobody_else(
    inbound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _handed_in(inbound, "ada", _now(), **{LESSON: "hers"})
    _handed_in(inbound, "ben", _now(), **{LESSON: "his"})
    monkeypatch.setattr("nbproof.nbgrader.exchange.owner_of", lambda path: Path(path).name.partition("+")[0])
    real = CollectFromOwners.copy_plain_files

    def copy(self: CollectFromOwners, src: Path, dest: Path) -> None:
        if "ada" in src.name:
            raise PermissionError(13, "gone meanwhile")
        real(self, src, dest)

    monkeypatch.setattr(CollectFromOwners, "copy_plain_files", copy)
    assert [path.name for path in _collect(tmp_path).glob("*/*/*.ipynb")] == [f"{LESSON}.ipynb"]
    assert "gone meanwhile" in caplog.text
