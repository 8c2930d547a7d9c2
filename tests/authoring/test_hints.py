"""Hints are written beside what they are about, and lead somewhere without giving anything away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.contract import select
from nbproof.authoring.hinting import check_hints, given_away, place_of
from nbproof.authoring.lesson import Candidate, Cell, Exercise, Lesson
from nbproof.cells import CellKind
from nbproof.display.help import Hint, read_hints
from nbproof.errors import HintError
from tests import ROOT
from tests.authoring.tiny import Sketch, write_lesson

STEPS = 'question = "q?"\nidea = "i."\nread = "r"\n'
WAY_IN = f"[way_in.catch]\n{STEPS}"


def hint(key: str) -> str:
    return f'[{key}]\nname = "n"\n{STEPS}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write_lesson(tmp_path, "00_tiny", [Sketch(hints=f"{WAY_IN}\n{hint('mine')}"), Sketch("again")])
    with (folder / "hints.toml").open("a") as file:
        file.write(hint("ours"))
    (tmp_path / "lessons" / "hints.toml").write_text(f"# Of all.\n{hint('everybodys')}")
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "__init__.py").write_text("")
    return tmp_path


def test_hints_of_both_places_are_gathered(root: Path) -> None:
    lessons = root / "lessons"
    misconceptions, ways_in = read_hints(lessons)
    assert misconceptions == {key: Hint(key, "n", "q?", "i.", "r") for key in ("everybodys", "mine", "ours")}
    assert ways_in == {"catch": Hint("catch", "catch", "q?", "i.", "r")}
    assert place_of(lessons, "everybodys") == f"{lessons / 'hints.toml'}:2"
    assert place_of(lessons, "ours") == f"{lessons / '00_tiny' / 'hints.toml'}:11"
    assert place_of(lessons, "catch") == f"{lessons / '00_tiny' / 'hints.toml'}:1"
    assert place_of(lessons, "mine") == f"{lessons / '00_tiny' / 'hints.toml'}:6"
    assert place_of(lessons, "nowhere") == str(lessons)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('[x]\nname = "n"\nquestion = "q?"\nidea = "i."', "the hint 'x' has no 'read'"),
        ("[x]\nname = n", "the file is no TOML: "),
        (hint("everybodys"), "the hint 'everybodys' is defined twice"),
        (WAY_IN.replace("catch", "nothing"), "a way in, and no exercise that it leads into"),
    ],
)
def test_an_incomplete_or_repeated_hint_is_refused_with_its_file(text: str, fact: str, root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "hints.toml"
    path.write_text(text)
    with pytest.raises(HintError) as caught:
        build(root, say=lambda line: None)
    assert caught.value.fact.startswith(fact)
    assert caught.value.place.startswith(str(path))
    assert caught.value.next_command


ANSWER = """def clip(grad):
    floor = -1.0
    ### BEGIN SOLUTION
    return grad.clamp(floor, 1.0)
    ### END SOLUTION"""
ACCEPTED = "def clip(grad):\n    return torch.min(grad, torch.tensor(1.0))"


def lesson_with(**changes: object) -> Lesson:
    prose = Cell(
        CellKind.PROSE, "# Seven\n\n## What `clamp` does\n\n### Exercise: Clip it\ntext `grad.clip_(0, 1)`", "p"
    )
    answer = Cell(CellKind.ANSWER, ANSWER, "place", "clip")
    accepted = Candidate("other", "accepted", ACCEPTED)
    exercise = Exercise("clip", "07_seven", answer, (), (accepted,), ())
    return Lesson("07_seven", Path("lesson.py"), (prose, answer), (exercise,))


def hint_with(idea: str, read: str = "The statement") -> Hint:
    return Hint("h", "name", "Question?", idea, read)


@pytest.mark.parametrize(
    "idea",
    [
        "Write return grad.clamp(floor, 1.0) there.",
        "`return torch.min(grad, torch.tensor(1.0))` does it.",
    ],
)
def test_a_line_of_a_solution_in_a_hint_is_found(idea: str) -> None:
    (found,) = given_away(lesson_with(), [hint_with(idea)])
    assert "'h' holds a line of a solution of clip" in found.fact


@pytest.mark.parametrize(
    "idea", ["A tensor can be clamped from both sides.", "floor = -1.0 is given, def clip(grad): too."]
)
def test_ideas_and_what_learners_have_anyway_are_no_solution(idea: str) -> None:
    assert list(given_away(lesson_with(), [hint_with(idea)])) == []


def facts(monkeypatch: pytest.MonkeyPatch, read: str, ways_in: dict[str, Hint]) -> list[str]:
    monkeypatch.setattr("nbproof.authoring.hinting.all_hints", lambda: {"h": hint_with("An idea.", read)})
    monkeypatch.setattr("nbproof.authoring.hinting.exercise_hints", lambda: ways_in)
    return [violation.fact for violation in check_hints([lesson_with()])]


ONE_WAY_IN = {"clip": hint_with("An idea.")}


@pytest.mark.parametrize(
    "read",
    ["The error message", "Lesson 07, 'Clip it' and 'What `clamp` does'; Lesson 09, 'x'"],
)
def test_a_hint_that_leads_somewhere(monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    assert facts(monkeypatch, read, ONE_WAY_IN) == []


@pytest.mark.parametrize("read", ["Lesson 07, 'What clip does'", "Lesson 07, 'Clip it' and 'That'"])
def test_a_section_that_is_not_there_is_found(monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    (fact,) = facts(monkeypatch, read, ONE_WAY_IN)
    assert "points to a section that is not there" in fact


def test_an_exercise_without_a_way_in_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbproof.authoring.hinting.all_hints", dict)
    monkeypatch.setattr("nbproof.authoring.hinting.exercise_hints", lambda: {"other": hint_with("An idea.")})
    lesson = lesson_with()
    (clip,) = lesson.exercises
    two = replace(lesson, exercises=(clip, replace(clip, id="other")))
    assert [one.fact for one in check_hints([two])] == ["clip has no way in"]
    assert facts(monkeypatch, "x", {}) == []  # a lesson has a way into each of its exercises, or into none


def test_the_help_of_this_course_keeps_the_contract() -> None:
    lessons = list({lesson.slug: lesson for lesson, _ in select(ROOT, [])}.values())
    assert [violation.fact for violation in check_hints(lessons)] == []
