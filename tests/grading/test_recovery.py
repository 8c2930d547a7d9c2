"""Whose answer a piece of code is: nothing of one exercise is ever graded as another's."""

from __future__ import annotations

import pytest

from nbproof.recover.exported import ExportedCell
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.recovery import Found, find_answers
from nbproof.recover.released import HandedOut, Handout
from nbproof.recover.unpacking import Damaged

_PROSE = "## {name}: a long text about this exercise, longer than anything that two lessons share by chance, and more"


def _stub(name: str) -> str:
    return f"def {name}(x):\n    # TODO: what {name} does\n    pass\n\n\n# TODO: use {name}\npass"


def _released(name: str, stub: str) -> list[HandedOut]:
    test = f"# check {name}\nfrom nbproof.checks.check import check\n\ncheck('{name}', ThatItIsRightInAllCasesThatThereAre)"
    return [
        HandedOut("prose", "", f"p-{name}", _PROSE.format(name=name)),
        HandedOut("answer", name, f"a-{name}", stub),
        HandedOut("test", f"test_{name}", f"t-{name}", test, name),
    ]


HANDOUT = Handout(
    "01_x",
    (
        HandedOut("setup", "setup", "s", "import torch\nfrom torch import nn"),
        *_released("first", _stub("first")),
        *_released("hooked", "answer = []\n\n\ndef hook(module):\n    # TODO: one\n    pass"),
        *_released("hooked_too", "def hook(module):\n    # TODO: two\n    pass\n\n\ndef other(module):\n    pass"),
        HandedOut("show", "", "", "draw_everything(first, 'in colours')"),
    ),
)
ANSWERS = {
    "first": "def first(x):\n    return x + 1\n\n\nfirst(2)",
    "hooked": "answer = []\n\n\ndef hook(module):\n    answer.append(module)",
    "hooked_too": "def hook(module):\n    return 1\n\n\ndef other(module):\n    return hook",
}


def _cells(*, ids: bool = True) -> list[ExportedCell]:
    return [
        ExportedCell(
            cell.name or None if ids else None,
            ANSWERS.get(cell.name, cell.source),
            "markdown" if cell.kind == "prose" else "code",
        )
        for cell in HANDOUT.cells
    ]


def _at(name: str) -> int:
    return next(number for number, cell in enumerate(HANDOUT.cells) if cell.name == name)


def test_a_sound_notebook_takes_the_quick_way() -> None:
    assert as_handed_in(HANDOUT, _cells()) == ANSWERS


def test_answers_without_ids_are_found_also_where_exercises_share_names() -> None:
    for order in (1, -1):
        found = find_answers(HANDOUT, _cells(ids=False)[::order])
        assert found.answers == ANSWERS
        assert set(found.recovered) == set(ANSWERS)


@pytest.mark.parametrize("gone", list(ANSWERS))
def test_an_answer_is_never_anothers(gone: str) -> None:
    for ids in (True, False):
        cells = _cells(ids=ids)
        del cells[_at(gone)]
        found = find_answers(HANDOUT, cells)
        assert gone in found.lost
        assert {name: text for name, text in found.answers.items() if name != gone} == {
            name: text for name, text in ANSWERS.items() if name != gone
        }


def test_a_copied_cell_in_which_another_exercise_was_answered_is_the_others() -> None:
    cells = _cells()
    # The cell of `first` was copied over that of `hooked`, and the answer written into it.
    cells[_at("hooked")] = cells[_at("hooked")]._replace(name="first")
    assert find_answers(HANDOUT, cells).answers == ANSWERS


def _found_with(*new: str, stub: bool = True, at: int = 1) -> Found:
    cells = _cells()
    place = _at("first")
    if stub:
        cells[place] = cells[place]._replace(source=HANDOUT.stubs["first"])
    cells[place + at : place + at] = [ExportedCell(None, text) for text in new]
    assert as_handed_in(HANDOUT, cells) is None
    return find_answers(HANDOUT, cells)


def test_an_answer_below_the_untouched_stub_counts() -> None:
    found = _found_with("1 + 1", "def helper(x):\n    return x", "def first(x):\n    return helper(x)")
    assert found.answers["first"] == "def helper(x):\n    return x\n\ndef first(x):\n    return helper(x)"
    assert "below" in found.recovered["first"]


def test_below_the_untouched_stub_the_place_tells_whose_a_shared_name_is() -> None:
    """Both exercises ask for ``hook``, and neither cell was written in: each answer stands below its own."""
    mine = {"hooked": ["answer = []", "def hook(module):\n    answer.append(module)"]}
    mine["hooked_too"] = ["def hook(module):\n    return 1", "def other(module):\n    return hook"]
    for pieces in ({"hooked_too": mine["hooked_too"]}, {"hooked": mine["hooked"]}, mine):
        cells = _cells()
        for name, texts in pieces.items():
            place = next(number for number, cell in enumerate(cells) if cell.name == name)
            cells[place] = cells[place]._replace(source=HANDOUT.stubs[name])
            cells[place + 1 : place + 1] = [ExportedCell(None, text) for text in texts]
        found = find_answers(HANDOUT, cells)
        for name, answer in ANSWERS.items():
            assert "".join(found.answers[name].split()) == "".join(answer.split())


def test_an_answer_in_its_cell_counts_whatever_stands_below() -> None:
    cells = _cells()
    cells.insert(_at("first") + 1, ExportedCell(None, "def first(x):\n    return 'another try'"))
    answers = as_handed_in(HANDOUT, cells) or find_answers(HANDOUT, cells).answers
    assert answers == ANSWERS


def test_of_two_versions_the_one_that_the_check_sees_counts() -> None:
    cells = _cells()
    place = _at("first")
    cells.insert(place, cells[place]._replace(source="def first(x):\n    return 0"))
    cells.append(cells[place]._replace(source="def first(x):\n    return 9"))
    found = find_answers(HANDOUT, cells)
    assert found.answers["first"] == ANSWERS["first"]
    assert "more than once" in found.recovered["first"]


@pytest.mark.parametrize("ids", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("line", range(1, 6))
def test_a_split_cell_is_whole_again(ids: tuple[bool, bool], line: int) -> None:
    cells = _cells()
    place = _at("first")
    lines = ANSWERS["first"].split("\n")
    halves = ["\n".join(part).strip("\n") for part in (lines[:line], lines[line:])]
    cells[place : place + 1] = [
        ExportedCell("first" if own else None, half) for half, own in zip(halves, ids, strict=True) if half
    ]
    answers = as_handed_in(HANDOUT, cells) or find_answers(HANDOUT, cells).answers
    assert [row for row in answers["first"].split("\n") if row] == [row for row in lines if row]


def test_a_foreign_notebook_is_refused() -> None:
    cells = [ExportedCell("bicycle", "def first(x):\n    return 2"), ExportedCell(None, "# Bicycles", "markdown")]
    with pytest.raises(Damaged, match="'Bicycles'"):
        find_answers(HANDOUT, cells)


def test_code_alone_is_no_foreign_notebook() -> None:
    cells = [ExportedCell(None, "\n\n".join(ANSWERS.values()))]
    assert find_answers(HANDOUT, cells).answers == ANSWERS
