"""An answer that stands anywhere but in its TODO cell waits for a person; who only plays has answered nothing."""

from __future__ import annotations

import pytest

from nbproof.cells import CellKind
from nbproof.recover.answers import Answers
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import HandedOut, Handout
from nbproof.recover.search import find_answers
from nbproof.recover.waiting import in_files
from tests.recover.test_search import ANSWERS, HANDOUT, place_of, sound


def _found(handout: Handout, cells: list[ExportedCell]) -> Answers:
    """As grading does it: the quick look, and where that is not enough the search."""
    answers = as_handed_in(handout, cells)
    return find_answers(handout, cells) if answers is None else Answers(answers)


def _untouched(*names: str) -> list[ExportedCell]:
    cells = sound()
    for name in names:
        cells[place_of(name)] = cells[place_of(name)]._replace(source=HANDOUT.stubs[name])
    return cells


def _fenced(text: str) -> str:
    return f"This is mine:\n\n```python\n{text}\n```"


def _commented(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


_FIRST = ANSWERS["first"]
_NEW = {
    "below the check": (place_of("first") + 2, ExportedCell(None, _FIRST)),
    "above the heading": (1, ExportedCell(None, _FIRST)),
    "at the end": (len(HANDOUT.cells), ExportedCell(None, f"1 + 1\n\n{_FIRST}")),
    "fenced in text": (place_of("first") + 2, ExportedCell(None, _fenced(_FIRST), "markdown")),
    "as text": (len(HANDOUT.cells), ExportedCell(None, _FIRST, "markdown")),
    "in a raw cell": (len(HANDOUT.cells), ExportedCell(None, _FIRST, "raw")),
    "commented out": (place_of("first") + 2, ExportedCell(None, _commented(_FIRST))),
    "as a lambda": (place_of("first") + 2, ExportedCell(None, "first = lambda x: x + 1")),
    "imported from a file": (place_of("first") + 2, ExportedCell(None, "from mine import helper, first")),
    "in a string": (place_of("first") + 2, ExportedCell(None, f"'''\n{_FIRST}\n'''")),
}


@pytest.mark.parametrize("place", _NEW)
@pytest.mark.parametrize("todo", ["untouched", "missing"])
def test_a_new_cell_that_defines_what_is_asked_for_waits_for_a_person(place: str, todo: str) -> None:
    cells = _untouched("first")
    at, new = _NEW[place]
    cells.insert(at, new)
    if todo == "missing":
        cells = [cell for cell in cells if cell.name != "first"]
    found = _found(HANDOUT, cells)
    if "first" in found.recovered:  # where the cell is gone, code that alone defines what is asked for is the answer
        assert todo == "missing"
        assert found.answers["first"] in (_FIRST, new.source)
    else:
        assert "a person has to look" in found.lost["first"]
        last = [line for line in new.source.splitlines() if _says_something(line)][-1]
        assert last.lstrip("# ") in found.answers["first"]
    assert {name: found.answers[name] for name in ("hooked", "hooked_too")} == {
        name: ANSWERS[name] for name in ("hooked", "hooked_too")
    }


def _says_something(line: str) -> bool:
    """Whether a line is more than a mark of the text around it."""
    return any(sign.isalpha() for sign in line) and not line.startswith("```")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("setup", "setup"), ("test", "test_hooked"), ("another's TODO cell", "hooked"), ("the same cell", "first")],
)
def test_an_answer_in_a_cell_that_is_made_for_something_else_waits(kind: str, name: str) -> None:
    cells = _untouched("first")
    at = place_of(name)
    own = _commented(_FIRST) if kind == "the same cell" else f"{cells[at].source}\n\n{_FIRST}"
    cells[at] = cells[at]._replace(source=own)
    found = _found(HANDOUT, cells)
    assert "a person has to look" in found.lost["first"]
    assert "# def first(x):" in found.answers["first"].replace("# #", "#")


def test_an_answer_in_a_cell_that_shows_something_waits() -> None:
    cells = _untouched("first")
    cells[-1] = cells[-1]._replace(source=f"{_FIRST}\n{cells[-1].source}")
    assert "a person has to look" in _found(HANDOUT, cells).lost["first"]


PLAY = {
    "calls": "first(3)\nprint(hook(None))",
    "binds other names": "x = first\nmodel = 3\nhook_of_mine = hook",
    "defines another function": "def mine(module):\n    def hook(module):\n        return first\n    return hook",
    "defines again what is answered": ANSWERS["hooked"],
    "talks": "# I do not know what first is; def first is missing\n'def first(x)'",
}


@pytest.mark.parametrize("kind", PLAY)
@pytest.mark.parametrize("at", [1, place_of("hooked") + 1, place_of("hooked") + 2, len(HANDOUT.cells)])
def test_who_only_plays_has_not_answered(kind: str, at: int) -> None:
    cells = _untouched("first", "hooked_too")
    cells.insert(at, ExportedCell(None, PLAY[kind]))
    found = _found(HANDOUT, cells)
    # Both exercises ask for a hook: in the part of the second, below its TODO cell, it may be either.
    doubtful = kind == "defines again what is answered" and at == len(HANDOUT.cells)
    assert set(found.lost) == ({"hooked_too"} if doubtful else set())
    assert found.answers["first"] == HANDOUT.stubs["first"]
    assert doubtful or found.answers["hooked_too"] == HANDOUT.stubs["hooked_too"]


BESIDE = {
    "two versions": ("def first(x):\n    return x", "def first(x):\n    return x + 1"),
    "an import": ("from mine import first",),
    "a list that is filled": ("for module in modules:\n    answer.append(module)",),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_code_between_the_todo_cell_and_its_check_runs_where_it_stands(kind: str) -> None:
    name = "hooked" if "list" in kind else "first"
    cells = _untouched(name)
    cells[place_of(name) + 1 : place_of(name) + 1] = [ExportedCell(None, text) for text in BESIDE[kind]]
    found = _found(HANDOUT, cells)
    assert found.lost == {}
    assert found.answers[name] == HANDOUT.stubs[name]
    assert "ran there" in found.recovered[name]


def test_of_an_empty_stub_the_tests_say_what_is_asked_for() -> None:
    """As nbgrader's own courses have it: the TODO cell says only that something is to be written."""
    prose = "## {0}: a long text about this exercise, longer than anything that two lessons share by chance, and more"
    handout = Handout(
        "ps1",
        (
            HandedOut(CellKind.SETUP, "setup", "s", "import numpy as np"),
            HandedOut(CellKind.PROSE, "", "p", prose.format("squares")),
            HandedOut(CellKind.ANSWER, "a", "a", "# YOUR CODE HERE\nraise NotImplementedError()"),
            HandedOut(CellKind.TEST, "test_a", "t", "assert np.allclose(squares, [1, 4]), len(squares)", "a"),
        ),
    )
    cells = [
        ExportedCell(cell.name or None, cell.source, "markdown" if cell.kind == "prose" else "code")
        for cell in handout.cells
    ]
    assert _found(handout, [*cells, ExportedCell(None, "cubes = [1, 8]\nprint(squares)")]).lost == {}
    assert "a person has to look" in _found(handout, [*cells, ExportedCell(None, "squares = [1, 4]")]).lost["a"]


@pytest.mark.parametrize(
    ("files", "own", "waits"),
    [
        ({"mine.py": _FIRST}, "", True),
        ({"work/week 1.py": f"import torch\n\n{_FIRST}"}, "", True),
        ({"mine.py": _FIRST}, "from mine import *", False),
        ({"mine.py": "def helper(x):\n    return x", "first.txt": _FIRST}, "", False),
        ({"mine.py": ANSWERS["hooked"]}, "", False),
    ],
)
def test_an_answer_in_a_file_that_nothing_imports_waits(files: dict[str, str], own: str, waits: bool) -> None:
    answers = {**ANSWERS, "first": HANDOUT.stubs["first"]}
    found = in_files(HANDOUT, answers, (), own, {name: text.encode() for name, text in files.items()})
    assert set(found) == ({"first"} if waits else set())
    assert not waits or ("a person has to look" in found["first"][0] and "# def first(x):" in found["first"][1])
    assert in_files(HANDOUT, answers, ("first",), own, {name: text.encode() for name, text in files.items()}) == {}
