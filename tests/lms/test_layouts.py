"""What says whose a file is, which lesson's, and when it came: the layouts that an LMS hands over, and a file's content."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path

import pytest

from nbproof.run.hand_ins import Guess, LessonBook
from nbproof_lms import collect
from nbproof_lms.csv_table import Sheet
from nbproof_lms.owners import Upload, find_owners
from nbproof_lms.roster import Member, enrol
from nbproof_lms.system import systems
from tests import COURSE
from tests.lms.conftest import Collecting
from tests.lms.uploads import LESSONS, everything, notebook, zipped

A, B = notebook("01_first", "of a"), notebook("01_first", "of b")

LAYOUTS = {
    "canvas": ({"doejane_123_456_01_first.ipynb": A, "roebob_LATE_124_457_homework-2.ipynb": B}, "doejane", "roebob"),
    "canvas, a learner's zip": (
        {"doejane_123_456_hand in.zip": zipped({"work/01_first.ipynb": A}), "roebob_124_457_x.ipynb": B}, "doejane", "roebob",
    ),
    "moodle, folders": (
        {"Jane Doe_123_assignsubmission_file_/x.ipynb": A, "Bob Roe_124_assignsubmission_file/01_first.ipynb": B},
        "Jane Doe", "Bob Roe",
    ),
    "moodle, flat": (
        {"Jane Doe_123_assignsubmission_file_x.ipynb": A, "Bob O'Roe_124_assignsubmission_file_01_first.ipynb": B},
        "Jane Doe", "Bob O'Roe",
    ),
    "moodle, blind": (
        {"Participant_123_assignsubmission_file_/x.ipynb": A, "Participant_124_assignsubmission_file_/x.ipynb": B},
        "Participant 123", "Participant 124",
    ),
    "learner/lesson": ({"jane/01_first/01_first.ipynb": A, "bob/01_first/x.ipynb": B}, "jane", "bob"),
    "lesson/learner": ({"01_first/jane/a.ipynb": A, "01_first/bob/a.ipynb": B}, "jane", "bob"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("upload", ["upload.zip", "folder"])
def test_every_layout_is_filed_byte_for_byte(name: str, upload: str, collecting: Collecting, course: Path) -> None:
    files, jane, bob = LAYOUTS[name]
    collected = collecting(files, upload)
    assert not collected.needs_person, collected
    found = everything(course / "submitted")
    notebooks = {path: data for path, data in found.items() if path.endswith(".ipynb")}
    assert notebooks == {f"{jane}/01_first/01_first.ipynb": A, f"{bob}/01_first/01_first.ipynb": B}


def test_a_folder_around_the_learners_that_nobody_knows_is_collected_as_it_is_said(
    collecting: Collecting, course: Path, tmp_path: Path
) -> None:
    enrol(course, [Member("jane"), Member("bob")])
    asked = collecting({"Abgaben/jane/a.ipynb": A, "Abgaben/bob/a.ipynb": B}, "came").needs_person
    assert {one.why.partition("; ")[2] for one in asked} == {
        "if it holds the learners' folders, collect that folder by itself"
    }
    assert not collect(COURSE, course, [tmp_path / "came" / "came" / "Abgaben"]).needs_person
    assert {path.parts[-3] for path in course.glob("submitted/*/*/*.ipynb")} == {"jane", "bob"}


def test_a_folder_that_may_not_be_read_is_not_passed_over(
    collecting: Collecting, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the system says no by another mouth."""
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "cem" and allowed(path, mode))
    files = {"jane/a.ipynb": A, "bob/a.ipynb": B, "cem/a.ipynb": B}
    assert {one.name for one in collecting(files, "came").needs_person} >= {"cem"}


def test_canvas_own_totals_are_no_columns_for_a_lesson() -> None:
    rows = [
        ["Student", "ID", "01_first (7)", "Final Score"],
        ["    Points Possible", "", "4", "(read only)"],
        ["Ada", "1", "", ""],
    ]
    table = systems()["Canvas"].grade_table(Sheet(Path(), rows, "utf-8", ",", "\n"))
    assert table is not None and list(table.lessons.values()) == ["01_first (7)"]


def test_hostile_names_are_read_in_no_time() -> None:
    for part in ("1" * 200 + "x", "a_" * 120, "_1" * 120, " - " * 80, "copy of " * 30):
        place = (part, part, f"{part}.ipynb")
        find_owners(Upload("upload.zip", [(place, "01_first")], list(LESSONS), tuple(systems().values())))


ROOT = Path(__file__).parent.parent.parent
RELEASED = sorted((ROOT / "release").glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def real() -> LessonBook:
    return LessonBook(COURSE, ROOT)


def _guess(book: LessonBook, data: bytes, tmp_path: Path) -> Guess:
    path = tmp_path / "handed in"
    path.write_bytes(data)
    return book.guess(path)


def _without_metadata(data: bytes) -> bytes:
    cells = [{"cell_type": cell["cell_type"], "source": "".join(cell["source"])} for cell in json.loads(data)["cells"]]
    return json.dumps({"cells": cells}).encode()


DAMAGE = {
    "cut off": lambda data: data[: len(data) // 2],
    "metadata lost": _without_metadata,
    "utf-16 without a mark": lambda data: data.decode().encode("utf-16-be"),
    "a page of HTML": lambda data: html.escape(
        "\n".join("".join(c["source"]) for c in json.loads(data)["cells"])
    ).encode(),
    "a script": lambda data: "\n".join("# " + line for c in json.loads(data)["cells"] for line in c["source"]).encode(),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_lesson_is_recognised(damage: str, real: LessonBook, tmp_path: Path) -> None:
    for path in (RELEASED[0], RELEASED[-1]):
        assert _guess(real, path.read_bytes(), tmp_path) == Guess(path.stem, (), notebook=True, untouched=True)
        guess = _guess(real, DAMAGE[damage](path.read_bytes()), tmp_path)
        assert (guess.lesson, guess.others) == (path.stem, ())


@pytest.mark.parametrize(
    "data",
    [
        b"", b"%PDF-1.7 hooks", b'{"cells": []}', b"[" * 100_000,
        b"An essay on hooks, apply, gradients, modules and test_nets, with register_forward_hook and named_parameters.",
        b"import torch\nmodel = torch.nn.Linear(1, 1)\nmodel.register_full_backward_hook(print)\n" * 50,
        *(path.read_bytes() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]),
    ],
)  # fmt: skip
def test_what_is_of_no_lesson_is_told_so(data: bytes, real: LessonBook, tmp_path: Path) -> None:
    assert _guess(real, data, tmp_path).lesson == ""


def test_one_answer_is_enough_and_two_lessons_are_not_clear(course: Path, tmp_path: Path) -> None:
    book = LessonBook(COURSE, course)
    assert _guess(book, notebook("02_other", 1, only="count_it"), tmp_path).lesson == "02_other"
    both = _guess(book, notebook("01_first", 1) + notebook("02_other", 1), tmp_path)
    assert (both.lesson, both.others) == ("", ("01_first", "02_other"))


def test_long_and_tricky_files_take_no_time(real: LessonBook, tmp_path: Path) -> None:
    for data in (b"a" * (3 << 20), b"_a" * (1 << 20), b"\\u0041" * (1 << 19), b"#" * (3 << 20), b'"' * (1 << 20)):
        assert not _guess(real, data, tmp_path).lesson
