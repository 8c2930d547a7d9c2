"""What says whose a file is, which lesson's, and when it came: the layouts that an LMS hands over, and a file's content."""

from __future__ import annotations

import gzip
import html
import json
from pathlib import Path

import pytest

from nbproof_lms.contents import Guess, LessonBook
from nbproof_lms.members import Member
from nbproof_lms.roster import enrol
from nbproof_lms.system import read_time, systems
from nbproof_lms.whose import FilePlace, Upload, owners
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
    "classroom": ({"Jane Doe - 01_first.ipynb": A, "Copy of Bob Roe - homework.ipynb": B}, "Jane Doe", "Bob Roe"),
    "blackboard": (
        {"ps1_jane_attempt_2026-01-30-20-30-10_problem1.ipynb": A, "ps1_bob_attempt_2026-01-30-20-31-10_x.ipynb": B},
        "jane", "bob",
    ),
    "blackboard, with its texts": (
        {
            "ps 1_jane_attempt_2026-01-30-20-30-10.txt": b"Name: Jane Doe (jane)",
            "ps 1_jane_attempt_2026-01-30-20-30-10_problem1.ipynb": A,
            "ps 1_bob_attempt_2026-01-30-20-31-10.txt": b"Name: Bob Roe (bob)",
            "ps 1_bob_attempt_2026-01-30-20-31-10_x.ipynb": B,
            "ps 1_cy_attempt_2026-01-30-20-31-10.txt": b"Name: Cy (cy)",
            "ps 1_di_attempt_2026-01-30-20-31-10.txt": b"Name: Di (di)",
            "ps 1_ed_attempt_2026-01-30-20-31-10.txt": b"Name: Ed (ed)",
        },
        "jane", "bob",
    ),
    "learner/lesson": ({"jane/01_first/01_first.ipynb": A, "bob/01_first/x.ipynb": B}, "jane", "bob"),
    "week 7/learner": ({"week 7/jane/a.ipynb": A, "week 7/bob/a.ipynb": B}, "jane", "bob"),
    "submissions/learner": ({"submissions/jane/a.ipynb": A, "submissions/bob/a.ipynb": B}, "jane", "bob"),
    "lesson/learner": ({"01_first/jane/a.ipynb": A, "01_first/bob.ipynb": B}, "jane", "bob"),
    "lesson_learner": ({"01_first_jane.ipynb": A, "01-first-bob (2).ipynb": B}, "jane", "bob"),
    "learner_lesson": ({"jane_01_first.ipynb": A, "bob 01 first - Copy.ipynb": B}, "jane", "bob"),
    "learner.ipynb": ({"jane.ipynb": A, "bob.ipynb.txt": B}, "jane", "bob"),
    "learners' zips": ({"jane.zip": zipped({"01_first.ipynb": A}), "bob.zip": zipped({"a/b.ipynb": B})}, "jane", "bob"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("upload", ["upload.zip", "folder", "CS101 - Lab 3.zip"])
def test_every_layout_is_filed_byte_for_byte(name: str, upload: str, collecting: Collecting, course: Path) -> None:
    files, jane, bob = LAYOUTS[name]
    collected = collecting(files, upload)
    assert not collected.needs_person, collected
    found = everything(course / "submitted")
    notebooks = {path: data for path, data in found.items() if path.endswith(".ipynb")}
    assert notebooks == {f"{jane}/01_first/01_first.ipynb": A, f"{bob}/01_first/01_first.ipynb": B}


@pytest.mark.parametrize(
    "name",
    ["Untitled.ipynb", "02_other.ipynb", "homework 3 (final).ipynb", "Untitled/notebook-2.ipynb", "x/../a.ipynb"],
)
def test_a_name_that_says_nothing_is_nobody(name: str, collecting: Collecting, course: Path) -> None:
    collected = collecting({name: A, "jane/x.ipynb": B, "bob/x.ipynb": B})
    assert not any(line.learner for line in collected.lines if line.name == name)
    assert {path.name for path in (course / "submitted").iterdir()} == {"jane", "bob"}


@pytest.mark.parametrize(
    "roster", [[], [Member("zoe", "Zoe Zed")], [Member("ann", "Ann Li"), Member("jd", "Doe, Jane")]]
)
def test_two_learners_of_one_name_are_not_one(roster: list[Member], collecting: Collecting, course: Path) -> None:
    enrol(course, roster)
    for files in (
        {"doejane_1_5_a.ipynb": A, "doejane_2_6_a.ipynb": B},
        {"x/Ann Li_1_assignsubmission_file_/a.ipynb": A, "x/Ann Li_2_assignsubmission_file_/a.ipynb": B},
    ):
        collected = collecting(files)
        assert [line.status for line in collected.lines if line.kept.endswith("ipynb")] == ["no learner known"] * 2
    assert not (course / "submitted").exists()


def test_a_number_of_moodle_means_something_in_its_own_download_only(collecting: Collecting, course: Path) -> None:
    other = notebook("02_other", 1)
    collecting({"Ann Li_1_assignsubmission_file_/a.ipynb": A}, "one.zip")
    collecting({"Ann Li_9_assignsubmission_file_/a.ipynb": other}, "two.zip")
    assert sorted(path.name for path in (course / "submitted/Ann Li").iterdir()) == ["01_first", "02_other"]
    collecting({"liann_1_5_a.ipynb": A}, "three.zip")
    collected = collecting({"liann_7_5_a.ipynb": other}, "four.zip")
    assert [line.status for line in collected.lines if line.name.endswith("ipynb")] == ["no learner known"]


@pytest.mark.parametrize(
    "files",
    [
        {"Müller/a.ipynb": A, "Muller/a.ipynb": B, "Mu\u0308ller/b.ipynb": A},
        {"A/jane/x.ipynb": A, "A/bob/x.ipynb": B, "B/eve/x.ipynb": A},
    ],
    ids=["accents", "groups"],
)
def test_names_and_folders_that_may_be_two_things_are_asked_about(
    files: dict[str, bytes], collecting: Collecting
) -> None:
    endings = {line.name: line.status for line in collecting(files).lines}
    assert [endings[name] for name in list(files)[:2]] == ["no learner known"] * 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2016-01-30-20-30-10", "2016-01-30T20:30:10+00:00"), ("2026-11-20 23:59", "2026-11-20T23:59:00+00:00"),
        ("2026-11-20 23:59 +0100", "2026-11-20T22:59:00+00:00"), ("2026-11-20T23:59:00+01:00", "2026-11-20T22:59:00+00:00"),
        ("2026-11-20", "2026-11-20T00:00:00+00:00"), ("x_20261120_235900.ipynb", "2026-11-20T23:59:00+00:00"),
        ("2026-13-40 99:99", None), ("soon", None), ("", None),
    ],
)  # fmt: skip
def test_times_as_people_write_them(text: str, told: str | None) -> None:
    found = read_time(text)
    assert (found and found.isoformat()) == told


def test_hostile_names_are_read_in_no_time() -> None:
    for part in (
        "1" * 200 + "x",
        "a_" * 120,
        "_1" * 120,
        " - " * 80,
        "(1)" * 80,
        "x.zip" * 50,
        "copy of " * 30,
        "+" * 240,
    ):
        place = FilePlace((part, part, f"{part}.ipynb"), "01_first")
        owners(Upload("upload.zip", [place], list(LESSONS), tuple(systems().values())))


ROOT = Path(__file__).parent.parent.parent
RELEASED = sorted((ROOT / "release").glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def real() -> LessonBook:
    return LessonBook(ROOT)


def _guess(book: LessonBook, data: bytes, tmp_path: Path) -> Guess:
    path = tmp_path / "handed in"
    path.write_bytes(data)
    return book.guess(path)


def _without_metadata(data: bytes) -> bytes:
    cells = [{"cell_type": cell["cell_type"], "source": "".join(cell["source"])} for cell in json.loads(data)["cells"]]
    return json.dumps({"cells": cells}).encode()


DAMAGE = {
    "cut off": lambda data: data[: len(data) // 2],
    "beginning lost": lambda data: data[len(data) * 4 // 5 :],
    "metadata lost": _without_metadata,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16 without a mark": lambda data: data.decode().encode("utf-16-be"),
    "windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "escaped": lambda data: json.dumps(json.loads(data), ensure_ascii=True).encode(),
    "a page of HTML": lambda data: html.escape(
        "\n".join("".join(c["source"]) for c in json.loads(data)["cells"])
    ).encode(),
    "a script": lambda data: "\n".join("# " + line for c in json.loads(data)["cells"] for line in c["source"]).encode(),
    "pictures first": lambda data: data.replace(
        b'"cells": [', b'"big": "' + b"iVBORw0" * 400_000 + b'", "cells": [', 1
    ),
    "zeros within": lambda data: data[:3000] + b"\0" * 5000 + data[3000:],
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
        b"", b"\0" * 5000, b"%PDF-1.7 hooks", b'{"cells": []}', b"[" * 100_000, b"\xff\xfe", b"\xff" * 1000,
        gzip.compress(b"x" * 999, mtime=0),
        b"An essay on hooks, apply, gradients, modules and test_nets, with register_forward_hook and named_parameters.",
        b"import torch\nmodel = torch.nn.Linear(1, 1)\nmodel.register_full_backward_hook(print)\n" * 50,
        *(path.read_bytes() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]),
    ],
)  # fmt: skip
def test_what_is_of_no_lesson_is_told_so(data: bytes, real: LessonBook, tmp_path: Path) -> None:
    assert _guess(real, data, tmp_path).lesson == ""


def test_one_answer_is_enough_and_two_lessons_are_not_clear(course: Path, tmp_path: Path) -> None:
    book = LessonBook(course)
    assert _guess(book, notebook("02_other", 1, only="count_it"), tmp_path).lesson == "02_other"
    both = _guess(book, notebook("01_first", 1) + notebook("02_other", 1), tmp_path)
    assert (both.lesson, both.others) == ("", ("01_first", "02_other"))


def test_long_and_tricky_files_take_no_time(real: LessonBook, tmp_path: Path) -> None:
    for data in (b"a" * (3 << 20), b"_a" * (1 << 20), b"\\u0041" * (1 << 19), b"#" * (3 << 20), b'"' * (1 << 20)):
        assert not _guess(real, data, tmp_path).lesson
