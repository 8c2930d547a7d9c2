"""Of all that lies in a learner's folder the work counts, wherever it stands; what is passed over is named."""

import json
import os
import tracemalloc
from pathlib import Path
from unicodedata import normalize

import pytest

from nbproof.run.hand_ins import Folder, Guess, LessonBook
from nbproof.run.intake import Intake, gradable_lessons, take_in
from tests import COURSE

ALONE, SEVERAL = {"0ü_a": ("todo", "more")}, {"ps1/problem1": ("one", "two"), "ps1/problem10": ("third", "rest")}


def _text(answers: dict[str, str], *, ids: bool = True) -> str:
    cells = []
    for name, text in answers.items():
        grading = {"grade_id": name, "solution": True, "grade": False, "locked": False, "schema_version": 3}
        cells.append({"cell_type": "code", "source": text, "metadata": {"nbgrader": grading} if ids else {}})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


STUB = {lesson: _text(dict.fromkeys(ids, "pass")) for lesson, ids in (ALONE | SEVERAL).items()}
DONE = {lesson: _text(dict.fromkeys(ids, "done()")) for lesson, ids in (ALONE | SEVERAL).items()}
HALF, OTHER = _text({"todo": "done()", "more": "pass"}), _text({"todo": "done()", "more": "other()"})
NO_IDS = _text({"todo": "done()", "more": "done()"}, ids=False)
A, P1, P10 = "0ü_a", "ps1/problem1", "ps1/problem10"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for lesson, text in STUB.items():
        for step in ("source", "release"):
            _put(tmp_path / step, lesson if "/" in lesson else f"{lesson}/{lesson}", text)
    return tmp_path


def _put(folder: Path, name: str, text: str) -> None:
    path = folder / (name if Path(name).suffix.strip() else f"{name}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _taken(course: Path, assignment: str, files: dict[str, str]) -> tuple[Intake, dict[str, str]]:
    for name, text in files.items():
        _put(course / "submitted" / "ada" / assignment, name, text)
    lessons = [one for one in gradable_lessons(course, []) if one.startswith(assignment)]
    intake = take_in(COURSE, course, lessons)
    folder = course / "submitted" / "ada" / assignment
    return intake, {one.key.lesson: one.problem or str(one.path.relative_to(folder)) for one in intake.submissions}


@pytest.mark.parametrize("assignment", ["ps1", "ps2"])
def test_where_lessons_have_the_same_ids_their_texts_tell_what_a_file_is(tmp_path: Path, assignment: str) -> None:
    """Two notebooks of an assignment, or two assignments: what lies under the other one's name."""
    names = ["ps1/one", "ps1/two"] if assignment == "ps1" else ["ps1/ps1", "ps2/ps2"]
    plus, minus = (_text({"todo": "pass", "given": f"x {sign} 1"}) for sign in "+-")
    for step in ("source", "release"):
        _put(tmp_path / step, names[0], plus)
        _put(tmp_path / step, names[1], minus)
    _put(tmp_path / "submitted" / "ada", names[0], minus.replace("pass", "done()"))
    _put(tmp_path / "submitted" / "ada", names[1], plus.replace("pass", "done()"))
    intake = take_in(COURSE, tmp_path, gradable_lessons(tmp_path, []))
    counts = {one.key.lesson: one.problem or one.path.stem for one in intake.submissions}
    swapped = {"ps1/one": "two", "ps1/two": "one"}
    said = {"ps1": "its cells are of ps2, and ps1 wants a notebook of its own"}
    assert counts == swapped if assignment == "ps1" else counts["ps1"] == said["ps1"] and "of ps1" in counts["ps2"]


@pytest.mark.parametrize(
    ("files", "counts", "named"),
    [
        ({A: STUB[A], f"{A}-Copy1": DONE[A]}, f"{A}-Copy1.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], f"{A} (1)": DONE[A]}, f"{A} (1).ipynb", f"{A}.ipynb"),
        ({A: STUB[A], "my own": DONE[A]}, "my own.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], "deeper/work": DONE[A]}, "deeper/work.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], f"Kopie von {A}": NO_IDS}, f"Kopie von {A}.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], A.upper(): DONE[A]}, f"{A.upper()}.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], normalize("NFD", A): DONE[A]}, f"{normalize('NFD', A)}.ipynb", f"{A}.ipynb"),
        ({A: STUB[A], f"{A}.ipynb /work.ipynb ": DONE[A]}, f"{A}.ipynb /work.ipynb ", f"{A}.ipynb"),
        ({A: DONE[A], f"{A}-Copy1": STUB[A]}, f"{A}.ipynb", f"{A}-Copy1.ipynb"),
        ({A: DONE[A], f"{A}-Copy1": DONE[A]}, f"{A}.ipynb", f"{A}-Copy1.ipynb"),
        ({A: HALF, f"{A}-Copy1": DONE[A]}, f"{A}-Copy1.ipynb", f"{A}.ipynb"),
        ({A: DONE[A], "scratch": _text({"mine": "1"})}, f"{A}.ipynb", "scratch.ipynb"),
        ({A: DONE[A], "other": DONE[P1]}, "", ""),
        ({A: "", "work": DONE[A]}, "work.ipynb", ""),
        ({f".ipynb_checkpoints/{A}-checkpoint": DONE[A]}, f".ipynb_checkpoints/{A}-checkpoint.ipynb", ""),
        ({A: HALF, f"{A}-checkpoint": OTHER}, f"{A}.ipynb", f"{A}-checkpoint.ipynb"),
    ],
)  # fmt: skip
def test_the_copy_that_holds_the_answers_counts_and_the_other_is_named(
    course: Path, files: dict[str, str], counts: str, named: str
) -> None:
    intake, taken = _taken(course, A, files)
    if counts:
        assert taken == {A: counts}
    assert all(named in note for note in intake.notes[:1]) and bool(intake.notes) >= bool(named)
    assert not intake.passed_over


@pytest.mark.parametrize(
    "files",
    [
        {"one": DONE[A], "two": OTHER},
        {A: STUB[A], "one": DONE[A], "two": OTHER},
        {A: STUB[A], "one": _text({"mine": "done()"})},
    ],
)
def test_what_nothing_decides_waits_for_a_person(course: Path, files: dict[str, str]) -> None:
    _, taken = _taken(course, A, files)
    assert all(f"{name}.ipynb" in taken[A] for name in files if name != A) and "leave one there" in taken[A]
    # What it says to do ends it.
    for name in [*files][:-1]:
        os.unlink(course / "submitted" / "ada" / A / f"{name}.ipynb")
    assert _taken(course, A, {})[1] == {A: f"{[*files][-1]}.ipynb"}


@pytest.mark.parametrize(
    ("assignment", "lesson", "files"),
    [
        (A, A, {A: DONE[A], f"{A}-Copy1": OTHER}),
        (A, A, {A: DONE[A], "deeper/mine": OTHER, "first": STUB[A]}),
        (A, A, {A: HALF, f"{A}-Copy1": " " * (3 << 20) + DONE[A]}),
        ("ps1", P1, {"problem1": _text({"one": "1", "two": "2"}), "WMS q3": DONE[P1], "problem10": DONE[P10]}),
    ],
)
def test_the_right_name_counts_where_copies_differ_and_a_person_is_to_look_at_the_other(
    course: Path, assignment: str, lesson: str, files: dict[str, str]
) -> None:
    intake, taken = _taken(course, assignment, files)
    name, other = [*files][:2]
    assert taken[lesson] == f"{name}.ipynb" and intake.passed_over
    (note,) = intake.notes
    assert f"{other}.ipynb" in note and "holds other answers: look" in note
    (remark,) = (one.remark for one in intake.submissions if one.key.lesson == lesson)
    assert f"{other}.ipynb was there as well" in remark and "holds other answers: look" in remark
    # What it says to do ends it.
    for left in [other, *[one for one in files if files[one] == STUB[A]]]:
        os.unlink(course / "submitted" / "ada" / assignment / f"{left}.ipynb")
    intake, taken = _taken(course, assignment, {})
    assert taken[lesson] == f"{name}.ipynb" and (intake.passed_over, intake.notes) == (False, ())


class _Counting(LessonBook):
    """Notes how many bytes are looked at, and in how many notebooks."""

    def guess_of(self, data: bytes) -> Guess:
        seen = self.__dict__.setdefault("seen", [])
        seen.append(len(data))
        return super().guess_of(data)


@pytest.mark.parametrize(
    ("sizes", "most"), [([100] * 30, 20), ([1 << 20] * 15, 8), ([3 << 20, 100], 1), ([31 << 20], 0)]
)
def test_only_so_much_of_a_learners_folder_is_looked_at(course: Path, sizes: list[int], most: int) -> None:
    folder = course / "submitted" / "ada" / A
    _put(folder, A, DONE[A])
    for number, size in enumerate(sizes):
        _put(folder, f"b{number}", " " * size + DONE[A])
    book = _Counting(COURSE, course)
    (found,) = Folder(folder, "ada", [A], book).hand_ins()
    assert found.path.name == f"{A}.ipynb"
    seen = book.__dict__["seen"]
    assert len(seen) <= 1 + most and sum(seen) <= 8 << 20
    assert max(seen) <= 2 << 20


@pytest.mark.parametrize("hostile", ["[" * 500_000, "1" * 500_000, '{"cells": [' + "1e999999," * 9 + "-" * 99])
def test_json_that_is_made_to_hurt_is_an_answer_like_any_other(course: Path, hostile: str) -> None:
    text = '{"cells": [{"grade_id": "todo", "source": ' + hostile
    assert LessonBook(COURSE, course).guess_of(text.encode()) == Guess(A, (), True, False)
    assert _taken(course, A, {A: STUB[A], "work": text})[1] == {A: "work.ipynb"}


@pytest.mark.parametrize("word", ["%06x", '"grade_id":"%06x"'])
def test_words_and_ids_without_end_take_no_room(word: str, course: Path) -> None:
    book, data = LessonBook(COURSE, course), " ".join(word % number for number in range(200_000)).encode()
    book.guess_of(b"")
    tracemalloc.start()
    assert book.guess_of(data) == Guess()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000


@pytest.mark.parametrize(
    ("files", "counts"),
    [
        ({"WMS q3": DONE[P1], "problem10": DONE[P10]}, {P1: "WMS q3.ipynb", P10: "problem10.ipynb"}),
        ({"Problem1": NO_IDS, "problem10 (1)": NO_IDS}, {P1: "Problem1.ipynb", P10: "problem10 (1).ipynb"}),
        ({"ps1/problem1": DONE[P1], "ps1/problem10": NO_IDS}, {P1: "ps1/problem1.ipynb", P10: "ps1/problem10.ipynb"}),
        ({"ps1": DONE[P1]}, {P1: "ps1.ipynb"}),
        ({"problem1": STUB[P1], "ada_problem1_2": DONE[P1], "problem10": DONE[P10]},
         {P1: "ada_problem1_2.ipynb", P10: "problem10.ipynb"}),
        ({"problem1": STUB[P10], "b": DONE[P10], "c": DONE[P1]}, {P1: "c.ipynb", P10: "b.ipynb"}),
        ({"problem1.json": DONE[P1], "problem10.ipynb.txt": DONE[P10], "notes.md": "problem1"},
         {P1: "problem1.json", P10: "problem10.ipynb.txt"}),
    ],
)  # fmt: skip
def test_of_several_notebooks_each_is_found_by_its_cells_or_its_name(
    course: Path, files: dict[str, str], counts: dict[str, str]
) -> None:
    intake, taken = _taken(course, "ps1", files)
    assert taken == counts
    assert {key.lesson for key in intake.absent} == {P1, P10} - counts.keys()
    said = "\n".join(intake.notes)
    assert all(name in said for name in counts.values() if f"ps1/{Path(name).stem}" not in counts or "/" in name)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"mine": NO_IDS, "problem10": DONE[P10]}, "mine.ipynb: none of its cells is of a lesson"),
        ({"all": _text(dict.fromkeys(("one", "two", "third", "rest"), "done()"))}, "ps1/problem1 and ps1/problem10"),
        ({"away": DONE[A]}, f"away.ipynb: its cells are of {A}"),
    ],
)
def test_what_is_taken_for_nothing_is_named_with_the_reason(course: Path, files: dict[str, str], said: str) -> None:
    intake, taken = _taken(course, "ps1", files)
    assert P1 not in taken and intake.passed_over
    assert said in "\n".join(intake.notes)


def test_a_link_leads_nowhere_and_files_of_clones_are_one_line(course: Path) -> None:
    for learner in ("ada", "ben", "cai", "dee", "eve"):
        _put(course / "submitted" / learner, "README.md", "hello")
    secret = course / "elsewhere"
    _put(secret, f"{A}-checkpoint", DONE[A])
    folder = course / "submitted" / "ada" / A
    folder.mkdir()
    (folder / ".ipynb_checkpoints").symlink_to(secret)
    (folder / f"{A}-Copy1.ipynb").symlink_to(secret / f"{A}-checkpoint.ipynb")
    intake, taken = _taken(course, A, {})
    assert "holds no notebook" in taken[A]
    (note,) = intake.notes
    assert "README.md" in note and "and 2 more" in note and not intake.passed_over
