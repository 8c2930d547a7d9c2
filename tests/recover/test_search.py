"""Whose answer a piece of code is: nothing of one exercise is ever graded as another's, and what is not certain waits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from nbproof.cells import CellKind
from nbproof.cli.class_table import RunReport, is_incomplete, print_class
from nbproof.lesson.from_notebook import name_of
from nbproof.lesson.lesson import Cell
from nbproof.marking.blueprint import fill_in, read_blueprint
from nbproof.places import course_config
from nbproof.recover.answers import Answers
from nbproof.recover.matching import ReleasedNotebook
from nbproof.recover.notebook_bytes import Damaged, ExportedCell, cells_in, read_attachments, read_file
from nbproof.recover.search import find_answers, find_answers_in_bytes
from nbproof.report.records import read_class
from nbproof.report.statistics import fault_rows
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.values.words import ENGLISH
from tests import COURSE
from tests.report.made import class_of

_PROSE = "## {name}: a long text about this exercise, longer than anything that two lessons share by chance, and more"


def _stub(name: str) -> str:
    return f"def {name}(x):\n    # TODO: what {name} does\n    pass\n\n\n# TODO: use {name}\npass"


def _released(name: str, stub: str) -> list[Cell]:
    test = f"# check {name}\nfrom nbproof.checks.check import check\n\ncheck('{name}', ThatItIsRightInAllCasesThatThereAre)"
    return [
        Cell(CellKind.PROSE, _PROSE.format(name=name), id=f"p-{name}"),
        Cell(CellKind.ANSWER, stub, grade_id=name, id=f"a-{name}"),
        Cell(CellKind.TEST, test, grade_id=f"test_{name}", id=f"t-{name}", exercise=name),
    ]


HANDOUT = ReleasedNotebook(
    "01_x",
    (
        Cell(CellKind.SETUP, "import torch\nfrom torch import nn", grade_id="setup", id="s"),
        *_released("first", _stub("first")),
        *_released("hooked", "answer = []\n\n\ndef hook(module):\n    # TODO: one\n    pass"),
        *_released("hooked_too", "def hook(module):\n    # TODO: two\n    pass\n\n\ndef other(module):\n    pass"),
        Cell(CellKind.SHOW, "draw_everything(first, 'in colours')"),
    ),
)
ANSWERS = {
    "first": "def first(x):\n    return x + 1\n\n\nfirst(2)",
    "hooked": "answer = []\n\n\ndef hook(module):\n    answer.append(module)",
    "hooked_too": "def hook(module):\n    return 1\n\n\ndef other(module):\n    return hook",
}


def _sound(*untouched: str, ids: bool = True) -> list[ExportedCell]:
    texts = {**ANSWERS, **{name: HANDOUT.stubs[name] for name in untouched}}
    return [
        ExportedCell(
            cell.grade_id or None if ids else None,
            texts.get(cell.grade_id, cell.source),
            "markdown" if cell.kind == "prose" else "code",
        )
        for cell in HANDOUT.cells
    ]


def _place(name: str) -> int:
    return next(number for number, cell in enumerate(HANDOUT.cells) if cell.grade_id == name)


def _without(found: Answers, *names: str) -> dict[str, str]:
    return {name: text for name, text in found.answers.items() if name not in names}


def test_short_cells_without_ids_are_of_the_lesson_that_has_all_of_its_tests() -> None:
    tests = (
        Cell(CellKind.TEST, "assert f(1) == 2", grade_id="test_f", id="t"),
        Cell(CellKind.TEST, "assert f(2) == 3", grade_id="test_g", id="u"),
    )
    short = ReleasedNotebook("01_x", (Cell(CellKind.ANSWER, "def f(x):\n    pass", grade_id="f", id="f"), *tests))
    answer = ExportedCell(None, "def f(x):\n    return x + 1")
    released = [ExportedCell(None, one.source) for one in tests]
    assert "return x + 1" in find_answers(short, [answer, *released], ENGLISH).answers["f"]
    with pytest.raises(Damaged, match="another notebook"):
        find_answers(short, [answer, *released[:1]], ENGLISH)


def test_a_sound_notebook_is_taken_as_it_is_whatever_stands_below_an_answer() -> None:
    cells = _sound()
    assert find_answers(HANDOUT, cells, ENGLISH) == Answers(ANSWERS)
    cells.insert(_place("first") + 1, ExportedCell(None, "def first(x):\n    return 'another try'"))
    assert find_answers(HANDOUT, cells, ENGLISH).answers == ANSWERS


def test_answers_without_ids_are_found_also_where_exercises_share_names() -> None:
    for order in (1, -1):
        found = find_answers(HANDOUT, _sound(ids=False)[::order], ENGLISH)
        assert found.answers == ANSWERS
        assert set(found.recovered) == set(ANSWERS)


@pytest.mark.parametrize("gone", list(ANSWERS))
@pytest.mark.parametrize("ids", [True, False])
def test_an_answer_is_never_anothers(gone: str, ids: bool) -> None:
    cells = _sound(ids=ids)
    del cells[_place(gone)]
    found = find_answers(HANDOUT, cells, ENGLISH)
    assert "missing" in found.lost[gone]
    assert _without(found, gone) == {name: text for name, text in ANSWERS.items() if name != gone}


def test_below_the_untouched_stub_cells_run_where_they_stand() -> None:
    """Both exercises ask for ``hook``, and neither cell was written in: each answer stands below its own."""
    mine = {
        "hooked": ["answer = []", "def hook(module):\n    answer.append(module)"],
        "hooked_too": ["def hook(module):\n    return 1", "def other(module):\n    return hook"],
    }
    cells = _sound(*mine)
    for name, texts in mine.items():
        place = next(number for number, cell in enumerate(cells) if cell.grade_id == name)
        cells[place + 1 : place + 1] = [ExportedCell(None, text) for text in texts]
    found = find_answers(HANDOUT, cells, ENGLISH)
    assert (found.lost, set(found.recovered)) == ({}, set(mine))
    for name, texts in mine.items():
        assert [one.source for one in found.own if one.after == _place(name)] == texts


def test_of_two_versions_the_one_that_the_check_sees_counts() -> None:
    cells = _sound()
    place = _place("first")
    cells.insert(place, cells[place]._replace(source="def first(x):\n    return 0"))
    cells.append(cells[place]._replace(source="def first(x):\n    return 9"))
    found = find_answers(HANDOUT, cells, ENGLISH)
    assert found.answers["first"] == ANSWERS["first"]
    assert "more than once" in found.recovered["first"]
    # What stands above it runs before it: a copy of the cell may only try the answer.
    assert [(one.source, one.after) for one in found.own] == [("def first(x):\n    return 0", _place("first") - 1)]


def test_what_a_learner_wrote_into_a_test_cell_runs_before_the_check() -> None:
    mine, before = "hook = hook or 1", _place("test_hooked") - 1
    for source, runs in (
        ("{mine}\n{test}", True),
        ("{test}\n{mine}", True),
        ("assert True", False),
        ("# check hooked\nx = 1", False),
    ):
        cells = _sound()
        test = cells[before + 1].source
        cells[before + 1] = cells[before + 1]._replace(source=source.format(mine=mine, test=test))
        own = [(one.source, one.after) for one in find_answers(HANDOUT, cells, ENGLISH).own]
        assert own == ([(mine, before)] if runs else [])


def test_code_in_the_cell_for_a_written_answer_runs() -> None:
    handout = ReleasedNotebook("01_x", (*HANDOUT.cells, Cell(CellKind.WRITTEN, "Why?", grade_id="why", id="w")))
    found = find_answers(handout, [*_sound(), ExportedCell("why", "shared = 1")], ENGLISH)
    assert [one.source for one in found.own] == ["shared = 1"]


@pytest.mark.parametrize("above", [True, False])
def test_an_answer_below_its_check_waits_if_the_todo_cell_holds_comments_only(above: bool) -> None:
    cells = _sound("first")
    place = _place("first")
    cells[place] = cells[place]._replace(source=f"{cells[place].source}\n# see the other cell")
    cells.insert(place + (1 if above else 2), ExportedCell(None, ANSWERS["first"]))
    assert set(find_answers(HANDOUT, cells, ENGLISH).lost) == (set() if above else {"first"})


def test_two_versions_without_a_check_below_wait_for_a_person() -> None:
    cells = _sound()[: _place("first") + 1]
    cells += [cells[-1]._replace(source="def first(x):\n    return 9")]
    found = find_answers(HANDOUT, cells, ENGLISH)
    assert "more than once" in found.lost["first"]
    assert "# def first(x):\n#     return 9" in found.answers["first"]


_FIRST = ANSWERS["first"]


PLAY = {
    "calls": "first(3)\nprint(hook(None))",
    "binds other names": "x = first\nmodel = 3\nhook_of_mine = hook",
    "defines again what is answered": ANSWERS["hooked"],
    "talks": "# I do not know what first is; def first is missing\n'def first(x)'",
}


@pytest.mark.parametrize("kind", PLAY)
@pytest.mark.parametrize("at", [1, _place("hooked") + 1, len(HANDOUT.cells)])
def test_who_only_plays_has_not_answered(kind: str, at: int) -> None:
    cells = _sound("first", "hooked_too")
    cells.insert(at, ExportedCell(None, PLAY[kind]))
    found = find_answers(HANDOUT, cells, ENGLISH)
    # Both exercises ask for a hook: in the part of the second, below its TODO cell, it may be either.
    doubtful = kind == "defines again what is answered" and at == len(HANDOUT.cells)
    assert set(found.lost) == ({"hooked_too"} if doubtful else set())
    assert found.answers["first"] == HANDOUT.stubs["first"]


def test_two_answers_at_the_end_wait_also_if_the_last_exercise_binds_the_names_of_one() -> None:
    handout = ReleasedNotebook("01_x", (*HANDOUT.cells, *_released("last", HANDOUT.stubs["hooked"])))
    last = [ExportedCell("last", ANSWERS["hooked"]), ExportedCell("test_last", handout.cells[-1].source)]
    cells = [*_sound("first", "hooked"), *last]
    assert find_answers(handout, [*cells, ExportedCell(None, ANSWERS["hooked"])], ENGLISH).lost == {}
    both = ExportedCell(None, f"{ANSWERS['first']}\n\n{ANSWERS['hooked']}")
    assert set(find_answers(handout, [*cells, both], ENGLISH).lost) == {"first", "hooked"}


def test_of_an_empty_stub_the_tests_say_what_is_asked_for() -> None:
    """As nbgrader's own courses have it: the TODO cell says only that something is to be written."""
    cells = (
        Cell(CellKind.SETUP, "import numpy as np", grade_id="setup", id="s"),
        Cell(CellKind.PROSE, _PROSE.format(name="squares"), id="p"),
        Cell(CellKind.ANSWER, "# YOUR CODE HERE\nraise NotImplementedError()", grade_id="a", id="a"),
        Cell(
            CellKind.TEST, "assert np.allclose(squares, [1, 4]), len(squares)", grade_id="test_a", id="t", exercise="a"
        ),
    )
    handout = ReleasedNotebook("ps1", cells)
    own = [
        ExportedCell(cell.grade_id or None, cell.source, "markdown" if cell.grade_id == "" else "code")
        for cell in cells
    ]
    assert find_answers(handout, [*own, ExportedCell(None, "cubes = [1, 8]\nprint(squares)")], ENGLISH).lost == {}
    assert (
        "a person has to look"
        in find_answers(handout, [*own, ExportedCell(None, "squares = [1, 4]")], ENGLISH).lost["a"]
    )


@pytest.mark.parametrize(
    ("files", "own", "waits"),
    [
        ({"work/week 1.py": f"import torch\n\n{_FIRST}"}, "", True),
        ({"mine.py": _FIRST}, "from mine import *", False),
        ({"mine.py": "def helper(x):\n    return x"}, "", False),
    ],
)
def test_an_answer_in_a_file_that_nothing_imports_waits(files: dict[str, str], own: str, waits: bool) -> None:
    found = find_answers(HANDOUT, [*_sound("first"), ExportedCell(None, own)], ENGLISH, files)
    assert set(found.lost) == ({"first"} if waits else set())
    assert not waits or (
        "the file work/week 1.py" in found.lost["first"] and "# def first(x):" in found.answers["first"]
    )


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_certain_is_in_every_place_where_a_person_looks(room: Rehearsal) -> None:
    path = room.hand_in("ada", RIGHT)
    notebook = json.loads(path.read_text())
    named = {name_of(cell): cell for cell in notebook["cells"]}
    # The second TODO cell was merged into the first one, and the cell lost its id.
    named["first"].update(metadata={}, id="lost", source=f"{RIGHT['first']}\n\n{RIGHT['second']}")
    notebook["cells"].remove(named["second"])
    path.write_text(json.dumps(notebook))
    for _ in range(2):  # as it is graded, and from what is kept of it
        (score,) = room.grade().marks.values()
        ended = {one.id: (one.status, one.score) for one in score.verdict.exercises}
        assert ended["first"] == ended["second"] == ("uncertain", 0.0)
        assert ended["third"][0] == "passed"
        assert set(score.missing(ENGLISH)) == {"first", "second"}
        assert "of" in score.missing(ENGLISH)["first"]
    with room.gradebook() as book:
        grade = book.find_grade("test_first", LESSON, LESSON, "ada")
        assert (grade.auto_score, grade.needs_manual_grade) == (0.0, True)
    for_people = json.loads(room.autograded("ada").read_text())
    shown = {name_of(cell): cell for cell in for_people["cells"]}
    assert "# " + RIGHT["second"].splitlines()[0] in "".join(shown["second"]["source"])
    assert "a person has to look" in json.dumps(shown["test_second"]["outputs"])
    console = Console(width=300, file=io.StringIO(), color_system=None)
    told = RunReport(class_of([score]), 1.0)
    print_class(console, told)
    assert "! uncertain: submitted/ada/" in console.file.getvalue()  # type: ignore[attr-defined]
    assert is_incomplete(told)
    assert _uncertain(room.root) == ["first", "second"]
    with room.gradebook() as book:
        book.find_grade("test_first", LESSON, LESSON, "ada").manual_score = POINTS["first"]
        book.db.commit()
    (score,) = room.grade().marks.values()
    assert set(score.missing(ENGLISH)) == {"second"}, "a person has marked the first one"
    assert _uncertain(room.root) == ["second"]


def _uncertain(course: Path) -> list[str]:
    return [one["exercise"] for one in fault_rows(read_class(COURSE, course, [LESSON])) if one["kind"] == "uncertain"]


@pytest.mark.filterwarnings("ignore")
def test_nothing_but_answers_is_taken(small_lesson: Path, hand_in: Callable[..., Path]) -> None:
    notebook = json.loads(hand_in("eve", RIGHT).read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
        if name_of(cell).startswith("test_"):
            cell["source"] = "assert True"
            cell["metadata"]["nbgrader"]["points"] = 1000
    source = small_lesson / "source" / LESSON / f"{LESSON}.ipynb"
    blueprint = read_blueprint(COURSE, source, course_config(small_lesson))
    rebuilt = find_answers_in_bytes(blueprint.handout, json.dumps(notebook).encode(), ENGLISH)
    text = json.dumps(fill_in(blueprint, rebuilt))
    assert rebuilt.answers == RIGHT
    assert not [word for word in ("skip-execution", "assert True", "1000", "HIDDEN") if word in text]


@pytest.mark.filterwarnings("ignore")
def test_another_learners_folder_is_not_read_through_a_link_and_files_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("secret")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "data.csv").write_text("1")
    (mine / "link.csv").symlink_to(tmp_path / "secret.csv")
    (mine / "up").symlink_to(tmp_path)
    assert read_attachments(mine, mine / "x.ipynb", 1000) == {"data.csv": b"1"}
    with pytest.raises(Damaged):
        read_file(mine / "link.csv", 1000)
    (mine / "big.bin").write_bytes(b"x" * 2000)
    with pytest.raises(Damaged, match="more than"):
        read_file(mine / "big.bin", 1000)
    assert read_attachments(mine, mine / "x.ipynb", 1000) == {"data.csv": b"1"}


def test_a_file_too_many_is_named_and_not_dropped_in_silence(tmp_path: Path) -> None:
    for number in range(1_001):
        (tmp_path / f"{number:04}.txt").touch()
    refused: list[Damaged] = []
    assert len(read_attachments(tmp_path, tmp_path / "x.ipynb", 1000, refused)) < 1_001
    assert [str(why) for why in refused] == ["0999.txt and all after it, for there are more than 1,000 files"]


@pytest.mark.parametrize("worksheets", [3, [[]], [{"cells": "x"}], None])
def test_a_notebook_of_format_3_is_upgraded_or_said_to_be_none(worksheets: object) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Part A"], "metadata": {}},
        {
            "cell_type": "code",
            "input": ["x = 1\n", "y = 2"],
            "metadata": {"nbgrader": {"grade_id": "todo"}},
            "outputs": [],
        },
    ]
    whole = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}
    read, said = cells_in(json.dumps(whole).encode())
    assert [(cell.grade_id, cell.kind, cell.source) for cell in read] == [
        (None, "markdown", "## Part A"),
        ("todo", "code", "x = 1\ny = 2"),
    ]
    assert said == ""
    with pytest.raises(Damaged):
        cells_in(json.dumps({**whole, "worksheets": worksheets, "cell_type": 1}).encode())
