"""A learning-management system is one file in nbproof_lms/systems/: what it tells is all that collecting and grade files need."""

from __future__ import annotations

import csv
import io
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nbproof.gradebook.marks import Person
from nbproof.run.intake import take_in, unread_times
from nbproof_lms.collected_table import cures
from nbproof_lms.grade_files import grade_file
from nbproof_lms.roster import Member, enrol, import_roster, members_of
from nbproof_lms.system import LmsEntry, System, systems
from tests import COURSE, main
from tests.lms.conftest import Collecting
from tests.lms.uploads import everything, notebook
from tests.report.made import scored

A, B, C = (notebook("01_first", letter) for letter in "abc")
TWO = (("jdoe", A), ("roej", B))
ROOT = Path(__file__).parent.parent.parent


def test_each_module_is_one_system_and_nothing_else_names_the_new_one() -> None:
    modules = {path.stem for path in (ROOT / "nbproof_lms/systems").glob("[a-z]*.py")}
    own = [system for system in systems().values() if type(system).__module__.startswith("nbproof_lms.")]
    assert {system.name.casefold() for system in own} == modules >= {"brightspace", "canvas", "moodle"}
    named = [
        path for path in ROOT.glob("nbproof*/**/*.py") if re.search("brightspace", path.read_text(), re.IGNORECASE)
    ]
    assert {path.name for path in named} <= {"brightspace.py", "grade_files.py"}


@pytest.mark.parametrize("form", ["{}/x.ipynb", "{} - x.ipynb"])
def test_a_download_of_brightspace_is_filed_with_its_times(form: str, collecting: Collecting, course: Path) -> None:
    jane, bob = "4711-880 - Jane Doe - Oct 3, 2026 1149 PM", "4712-881 - Bob O'Roe - October 4, 2026 905 AM"
    again = "4711-899 - Jane Doe - Oct 5, 2026 1200 AM"
    files = {form.format(head): data for head, data in ((jane, A), (bob, B), (again, C))}
    collected = collecting({**files, "index.html": b"<p>Submissions</p>"})
    found = {path: data for path, data in everything(course / "submitted").items() if path.endswith(".ipynb")}
    assert found == {"Jane Doe/01_first/01_first.ipynb": C, "Bob O'Roe/01_first/01_first.ipynb": B}
    stamp = (course / "submitted/Bob O'Roe/01_first/timestamp.txt").read_text()
    assert stamp == "2026-10-04 09:05:00.000000 UTC"
    assert not collected.needs_person


@pytest.mark.parametrize(
    ("entry", "numbers"), [("1-9 - Ada King - Nov 9, 2026 1100 AM/x.ipynb", False), ("kingada_1_9_x.ipynb", True)]
)
def test_of_two_with_one_name_the_numbers_are_asked_for_where_a_table_has_them(
    entry: str, numbers: bool, collecting: Collecting, course: Path
) -> None:
    enrol(course, [Member("ada", "Ada King"), Member("ada2", "Ada King")])
    (told,) = cures(collecting({entry: A}), course, [])
    assert (
        "--names CSV says who" in told
        and ("where CSV is the table with the numbers of that download" in told) is numbers
    )
    step = re.split(r" -m \w+ ", told)[1].replace("NAME", "ada2")
    assert main(shlex.split(step)) == 0
    assert (course / "submitted/ada2/01_first/01_first.ipynb").read_bytes() == A


class Blackboard(System):
    """It gives its learners no number: ``Lesson one_jdoe_attempt_2026-11-20-10-00-00_work.ipynb``."""

    name = "Blackboard"
    patterns = (re.compile(r"[^_]+_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})_(?P<file>.+)"),)

    def entry(self, found: re.Match[str]) -> LmsEntry | None:
        when = datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S").replace(tzinfo=UTC)
        return LmsEntry(found["name"], found["file"], when=when)


@pytest.mark.parametrize("roster", [[], [Member("jdoe", "Jane Doe"), Member("roej", "Jo Roe")]])
def test_an_lms_without_numbers_tells_two_learners_apart_by_name(
    roster: list[Member], collecting: Collecting, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("collecting", "collected_table"):
        monkeypatch.setattr(f"nbproof_lms.{module}.systems", lambda: {"Blackboard": Blackboard()})
    enrol(course, roster)
    names = {f"Lesson one_{who}_attempt_2026-11-20-10-00-0{at}_x.ipynb": data for at, (who, data) in enumerate(TWO)}
    assert not collecting(names).needs_person
    for who, data in TWO:
        assert (course / f"submitted/{who}/01_first/01_first.ipynb").read_bytes() == data


@pytest.mark.parametrize("name", [".{1,90}?", ".+?", ".*?"])
def test_a_name_that_can_be_split_at_two_places_is_nobodys_however_a_pattern_is_written(name: str) -> None:
    class Loose(System):
        name = "Loose"

        def entry(self, found: re.Match[str]) -> LmsEntry:
            return LmsEntry(found["name"], found["file"])

    system = Loose()
    system.patterns = (re.compile(rf"(?P<name>{name})_\d+_(?P<file>.+)"),)  # type: ignore[misc]
    entries = system.read("doe_12_x.ipynb"), system.read("doe_12_x_34_y.ipynb")
    assert [entry is not None and not entry.unsure for entry in entries] == [True, False]


@pytest.mark.parametrize("time", ["3 October, 2026 2349", "03 Oct 2026 1149 PM", "October 3, 2026 2349"])
def test_its_times_are_as_the_school_writes_them(time: str, collecting: Collecting, course: Path) -> None:
    files = {f"4711-880 - Jane Doe - {time} - x.ipynb": A, "4712-881 - Bob Roe - 3 août, 2026 2349/x.ipynb": B}
    assert not collecting(files).needs_person
    assert (course / "submitted/Jane Doe/01_first/timestamp.txt").read_text() == "2026-10-03 23:49:00.000000 UTC"
    # In a language that nobody here reads: the run asks.
    stamp = "submitted/Bob Roe/01_first/timestamp.txt"
    assert (course / stamp).read_text() == "3 août, 2026 2349"
    (line,) = unread_times(course, take_in(COURSE, course, ["01_first"]))
    assert line.startswith(f"not known whether it is late: {stamp} cannot be read for certain")


@pytest.mark.parametrize("kept", ["ada", "#ada"])
def test_the_sign_before_its_ids_is_no_part_of_them(kept: str, course: Path, tmp_path: Path) -> None:
    """Another system has the same ids without it; a roster that has it already keeps it."""
    enrol(course, [Member(kept, "Lee, Ada")])
    for name, text in (
        (
            "b.csv",
            "OrgDefinedId,Username,Last Name,First Name,End-of-Line Indicator\n#30,#ada,Lee,Ada,#\n#31,#bob,Roe,Bob,#\n",
        ),
        ("c.csv", 'Student,ID,SIS User ID,SIS Login ID\n"Lee, Ada",901,30,ada\n"Roe, Bob",902,31,bob\n'),
    ):
        (tmp_path / name).write_text(text)
        import_roster(course, tmp_path / name)
    ada, bob = members_of(course)
    assert (ada.learner, bob.learner) == (kept, "bob")
    assert ada.numbers == {"901"} and {"ada", "30"} <= ada.ids


def test_its_table_of_grades_is_filled(tmp_path: Path) -> None:
    table = tmp_path / "grades.csv"
    head = "01 First Points Grade <Numeric MaxPoints:20 Weight:10>"
    table.write_text(f"OrgDefinedId,Username,{head},End-of-Line Indicator\n#s1,#ada,,#\n#s2,#bob,3,#\n")
    grades = {("ada", "01_first"): scored("", "", 5.0, 10.0)}
    made = grade_file(systems()["Brightspace"], table, grades, [Person("ada")], {"01_first": "First"})
    rows = list(csv.reader(io.StringIO(made.data.decode())))
    assert rows[0] == ["OrgDefinedId", "Username", head, "End-of-Line Indicator"]
    assert rows[1:] == [["#s1", "#ada", "10", "#"], ["#s2", "#bob", "3", "#"]]
    told = "rows of nobody in the class are left as they are: 's2 bob'"
    assert made.notes == ("01_first: scaled from 10 points to the 20 of the LMS", told)
