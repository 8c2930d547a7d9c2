"""Whose answer a piece of code is: nothing of one exercise is ever graded as another's."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from nbproof.cells import CellKind
from nbproof.cli.class_table import Told, is_incomplete, print_class
from nbproof.recover.answers import Answers
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import Damaged, ExportedCell
from nbproof.recover.released import HandedOut, Handout
from nbproof.recover.search import find_answers
from nbproof.report.records import read_class
from nbproof.report.statistics import fault_rows
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.pool import PoolMaker
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests.report.made import class_of

_PROSE = "## {name}: a long text about this exercise, longer than anything that two lessons share by chance, and more"


def _stub(name: str) -> str:
    return f"def {name}(x):\n    # TODO: what {name} does\n    pass\n\n\n# TODO: use {name}\npass"


def _released(name: str, stub: str) -> list[HandedOut]:
    test = f"# check {name}\nfrom nbproof.checks.check import check\n\ncheck('{name}', ThatItIsRightInAllCasesThatThereAre)"
    return [
        HandedOut(CellKind.PROSE, "", f"p-{name}", _PROSE.format(name=name)),
        HandedOut(CellKind.ANSWER, name, f"a-{name}", stub),
        HandedOut(CellKind.TEST, f"test_{name}", f"t-{name}", test, name),
    ]


HANDOUT = Handout(
    "01_x",
    (
        HandedOut(CellKind.SETUP, "setup", "s", "import torch\nfrom torch import nn"),
        *_released("first", _stub("first")),
        *_released("hooked", "answer = []\n\n\ndef hook(module):\n    # TODO: one\n    pass"),
        *_released("hooked_too", "def hook(module):\n    # TODO: two\n    pass\n\n\ndef other(module):\n    pass"),
        HandedOut(CellKind.SHOW, "", "", "draw_everything(first, 'in colours')"),
    ),
)
ANSWERS = {
    "first": "def first(x):\n    return x + 1\n\n\nfirst(2)",
    "hooked": "answer = []\n\n\ndef hook(module):\n    answer.append(module)",
    "hooked_too": "def hook(module):\n    return 1\n\n\ndef other(module):\n    return hook",
}


def sound(*, ids: bool = True) -> list[ExportedCell]:
    return [
        ExportedCell(
            cell.name or None if ids else None,
            ANSWERS.get(cell.name, cell.source),
            "markdown" if cell.kind == "prose" else "code",
        )
        for cell in HANDOUT.cells
    ]


def place_of(name: str) -> int:
    return next(number for number, cell in enumerate(HANDOUT.cells) if cell.name == name)


def test_a_sound_notebook_takes_the_quick_way_and_what_stands_below_an_answer_changes_nothing() -> None:
    cells = sound()
    assert as_handed_in(HANDOUT, cells) == ANSWERS
    cells.insert(place_of("first") + 1, ExportedCell(None, "def first(x):\n    return 'another try'"))
    assert (as_handed_in(HANDOUT, cells) or find_answers(HANDOUT, cells).answers) == ANSWERS


@pytest.mark.parametrize("blank", list(ANSWERS))
@pytest.mark.parametrize("text", ["", "\n"])
def test_so_does_one_with_an_answer_that_nobody_has_begun(blank: str, text: str) -> None:
    cells = sound()
    place = place_of(blank)
    cells[place] = cells[place]._replace(source=text and f"{HANDOUT.stubs[blank]}{text}")
    quick = as_handed_in(HANDOUT, cells)
    assert quick == find_answers(HANDOUT, cells).answers == ANSWERS | {blank: HANDOUT.stubs[blank]}


def test_a_blank_answer_is_looked_for_where_a_text_of_the_lesson_was_changed() -> None:
    cells = sound()
    cells[place_of("first")] = cells[place_of("first")]._replace(source=HANDOUT.stubs["first"])
    place = next(at for at, cell in enumerate(HANDOUT.cells) if cell.kind is CellKind.TEST)
    cells[place] = cells[place]._replace(source=f"{ANSWERS['first']}\n{cells[place].source}")
    assert as_handed_in(HANDOUT, cells) is None


def test_answers_without_ids_are_found_also_where_exercises_share_names() -> None:
    for order in (1, -1):
        found = find_answers(HANDOUT, sound(ids=False)[::order])
        assert found.answers == ANSWERS
        assert set(found.recovered) == set(ANSWERS)


@pytest.mark.parametrize("gone", list(ANSWERS))
def test_an_answer_is_never_anothers(gone: str) -> None:
    for ids in (True, False):
        cells = sound(ids=ids)
        del cells[place_of(gone)]
        found = find_answers(HANDOUT, cells)
        assert gone in found.lost
        assert {name: text for name, text in found.answers.items() if name != gone} == {
            name: text for name, text in ANSWERS.items() if name != gone
        }


def test_a_copied_cell_in_which_another_exercise_was_answered_is_the_others() -> None:
    cells = sound()
    # The cell of `first` was copied over that of `hooked`, and the answer written into it.
    cells[place_of("hooked")] = cells[place_of("hooked")]._replace(name="first")
    assert find_answers(HANDOUT, cells).answers == ANSWERS


def _found_with(*new: str, stub: bool = True, at: int = 1) -> Answers:
    cells = sound()
    place = place_of("first")
    if stub:
        cells[place] = cells[place]._replace(source=HANDOUT.stubs["first"])
    cells[place + at : place + at] = [ExportedCell(None, text) for text in new]
    assert as_handed_in(HANDOUT, cells) is None
    return find_answers(HANDOUT, cells)


def _as_run(found: Answers, name: str) -> str:
    """The learner's code of one exercise in the order in which it runs: the TODO cell, and their cells around it."""
    place = place_of(name)
    own = [[one.source for one in found.own if one.after == at] for at in (place - 1, place)]
    return "\n".join([*own[0], found.answers[name], *own[1]])


def test_an_answer_below_the_untouched_stub_counts() -> None:
    found = _found_with("1 + 1", "def helper(x):\n    return x", "def first(x):\n    return helper(x)")
    assert found.answers["first"] == "def first(x):\n    return helper(x)"
    assert [one.source for one in found.own] == ["1 + 1", "def helper(x):\n    return x"]
    assert "below" in found.recovered["first"]


def test_below_the_untouched_stub_cells_run_where_they_stand() -> None:
    """Both exercises ask for ``hook``, and neither cell was written in: each answer stands below its own."""
    mine = {"hooked": ["answer = []", "def hook(module):\n    answer.append(module)"]}
    mine["hooked_too"] = ["def hook(module):\n    return 1", "def other(module):\n    return hook"]
    for pieces in ({"hooked_too": mine["hooked_too"]}, {"hooked": mine["hooked"]}, mine):
        cells = sound()
        for name, texts in pieces.items():
            place = next(number for number, cell in enumerate(cells) if cell.name == name)
            cells[place] = cells[place]._replace(source=HANDOUT.stubs[name])
            cells[place + 1 : place + 1] = [ExportedCell(None, text) for text in texts]
        found = find_answers(HANDOUT, cells)
        assert found.lost == {}
        for name, texts in pieces.items():
            assert _as_run(found, name) == "\n".join([HANDOUT.stubs[name], *texts])


def test_of_two_versions_the_one_that_the_check_sees_counts() -> None:
    cells = sound()
    place = place_of("first")
    cells.insert(place, cells[place]._replace(source="def first(x):\n    return 0"))
    cells.append(cells[place]._replace(source="def first(x):\n    return 9"))
    found = find_answers(HANDOUT, cells)
    assert found.answers["first"] == ANSWERS["first"]
    assert "more than once" in found.recovered["first"]


def test_a_foreign_notebook_is_refused() -> None:
    cells = [ExportedCell("bicycle", "def first(x):\n    return 2"), ExportedCell(None, "# Bicycles", "markdown")]
    with pytest.raises(Damaged, match="'Bicycles'"):
        find_answers(HANDOUT, cells)


def test_code_of_several_exercises_in_one_cell_waits_for_a_person() -> None:
    cells = [ExportedCell(None, "\n\n".join(ANSWERS.values()))]
    found = find_answers(HANDOUT, cells)
    assert found.recovered == {}
    for name, answer in ANSWERS.items():
        assert "cell 1 of 1" in found.lost[name]
        assert "a person has to look" in found.lost[name]
        assert all(f"# {line}".rstrip() in found.answers[name].splitlines() for line in answer.splitlines())
        assert all(line.startswith("#") for line in found.answers[name].splitlines())


@pytest.mark.parametrize("untouched", [True, False])
def test_an_answer_within_another_exercises_cell_waits_for_a_person(untouched: bool) -> None:
    """``hooked_too`` was written below ``hooked``, in its cell. Both define ``hook``: neither is certain any more."""
    cells = sound()
    both = "\n\n".join([ANSWERS["hooked"], ANSWERS["hooked_too"]])
    cells[place_of("hooked")] = cells[place_of("hooked")]._replace(source=both)
    if untouched:
        cells[place_of("hooked_too")] = cells[place_of("hooked_too")]._replace(source=HANDOUT.stubs["hooked_too"])
    else:
        del cells[place_of("hooked_too")]
    assert as_handed_in(HANDOUT, cells) is None
    found = find_answers(HANDOUT, cells)
    assert set(found.lost) == {"hooked", "hooked_too"}
    assert found.answers["first"] == ANSWERS["first"]


def test_two_versions_without_a_check_below_wait_for_a_person() -> None:
    cells = sound()[: place_of("first") + 1]
    cells += [cells[-1]._replace(source="def first(x):\n    return 9")]
    found = find_answers(HANDOUT, cells)
    assert "more than once" in found.lost["first"]
    assert "# def first(x):\n#     return 9" in found.answers["first"]


@pytest.mark.parametrize("gone", [("hooked",), ("hooked", "hooked_too")])
def test_without_place_a_name_that_two_exercises_ask_for_is_nobodys(gone: tuple[str, ...]) -> None:
    cells = [cell for cell in sound() if cell.name not in gone]
    cells.insert(1, ExportedCell(None, ANSWERS["hooked"]))
    found = find_answers(HANDOUT, cells)
    assert (set(found.recovered) == {"hooked"}) == (gone == ("hooked",))
    assert ("hooked" in found.lost) == (gone != ("hooked",))
    assert found.answers["first"] == ANSWERS["first"]


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_certain_is_in_every_place_where_a_person_looks(
    course: Path, hand_in: Callable[..., Path], pool: PoolMaker
) -> None:
    path = hand_in("ada", RIGHT)
    notebook = json.loads(path.read_text())
    named = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in notebook["cells"]}
    # The second TODO cell was merged into the first one, and the cell lost its id.
    named["first"].update(metadata={}, id="lost", source=f"{RIGHT['first']}\n\n{RIGHT['second']}")
    notebook["cells"].remove(named["second"])
    path.write_text(json.dumps(notebook))
    for _ in range(2):  # as it is graded, and from what is kept of it
        (score,) = grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], pool=pool).marks.values()
        ended = {one.id: (one.status, one.score) for one in score.verdict.exercises}
        assert ended["first"] == ended["second"] == ("uncertain", 0.0)
        assert ended["third"][0] == "passed"
        assert set(score.missing) == {"first", "second"}
        assert "of" in score.missing["first"]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        grade = book.find_grade("test_first", LESSON, LESSON, "ada")
        assert (grade.auto_score, grade.needs_manual_grade) == (0.0, True)
    for_people = json.loads((course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text())
    shown = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in for_people["cells"]}
    assert "# " + RIGHT["second"].splitlines()[0] in "".join(shown["second"]["source"])
    assert "a person has to look" in json.dumps(shown["test_second"]["outputs"])
    console = Console(width=300, file=io.StringIO(), color_system=None)
    told = Told(class_of([score]), 1.0)
    print_class(console, told)
    assert "! uncertain: submitted/ada/" in console.file.getvalue()  # type: ignore[attr-defined]
    assert is_incomplete(told)
    assert _uncertain(course) == ["first", "second"]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.find_grade("test_first", LESSON, LESSON, "ada").manual_score = POINTS["first"]
        book.db.commit()
    (score,) = grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], pool=pool).marks.values()
    assert set(score.missing) == {"second"}, "a person has marked the first one"
    assert _uncertain(course) == ["second"]


def _uncertain(course: Path) -> list[str]:
    return [one["exercise"] for one in fault_rows(read_class(course, [LESSON])) if one["kind"] == "uncertain"]
