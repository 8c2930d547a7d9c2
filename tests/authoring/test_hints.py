"""Hints are written beside what they are about, and lead somewhere without giving anything away."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.hinting import check_hints, given_away, place_of, unused_hints
from nbproof.cells import CellKind
from nbproof.course_file import read_course
from nbproof.display.help import Hint, read_hints
from nbproof.errors import LessonError
from nbproof.lesson.lesson import Candidate, Cell, Exercise, Lesson
from tests import COURSE
from tests.authoring.tiny import Sketch, write_lesson

STEPS = 'question = "q?"\nidea = "i."\nread = "r"\n'
WAY_IN = f"[way_in.catch]\n{STEPS}"


def hint(key: str) -> str:
    return f'[{key}]\nname = "n"\n{STEPS}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write_lesson(tmp_path, "00_tiny", [Sketch(), Sketch("again")])
    (folder / "hints.toml").write_text(f"{WAY_IN}\n{hint('mine')}{hint('ours')}")
    (folder.parent / "hints.toml").write_text(f"# Of all.\n{hint('everybodys')}")
    return tmp_path


def test_hints_of_both_places_are_gathered(root: Path) -> None:
    lessons = root / "lessons"
    misconceptions, ways_in = read_hints(lessons)
    assert misconceptions == {key: Hint(key, "n", "q?", "i.", "r") for key in ("everybodys", "mine", "ours")}
    assert ways_in == {"catch": Hint("catch", "catch", "q?", "i.", "r")}
    assert place_of(lessons, "ours") == f"{lessons / '00_tiny' / 'hints.toml'}:11"
    assert place_of(lessons, "catch") == f"{lessons / '00_tiny' / 'hints.toml'}:1"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('[x]\nname = "n"\nquestion = "q?"\nidea = "i."', "the hint 'x' has no 'read'"),
        (hint("everybodys"), "the hint 'everybodys' is defined twice"),
        (WAY_IN.replace("catch", "nothing"), "a way in, and no exercise that it leads into"),
    ],
)
def test_an_incomplete_or_repeated_hint_is_refused_with_its_file(text: str, fact: str, root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "hints.toml"
    path.write_text(text)
    with pytest.raises(LessonError) as caught:
        build(COURSE, root, say=lambda line: None)
    assert caught.value.fact.startswith(fact)
    assert caught.value.place.startswith(str(path))
    assert caught.value.next_command


def test_a_hint_that_nothing_names_is_named_until_it_is_deleted(root: Path) -> None:
    (root / "lessons" / "00_tiny" / "catch" / "wrong.py").write_text("# %% other\n# hint: ours\n")
    path = root / "lessons" / "00_tiny" / "hints.toml"
    (root / ".venv").mkdir()
    (root / ".venv" / "library.py").write_text("mine")
    unused = [*unused_hints(read_course(root), root / "lessons")]
    assert [one.fact for one in unused] == ["nothing names the hint 'mine', so nobody sees it"]
    assert unused[0].place == f"{path}:6" and unused[0].next_command.startswith("delete it")
    path.write_text(path.read_text().replace(hint("mine"), ""))
    assert not [*unused_hints(read_course(root), root / "lessons")]


ANSWER = """def clip(grad):
    floor = -1.0
    ### BEGIN SOLUTION
    return grad.clamp(floor, 1.0)
    ### END SOLUTION"""
ACCEPTED = "def clip(grad):\n    return torch.min(grad, torch.tensor(1.0))"


def lesson_with() -> Lesson:
    prose = Cell(
        CellKind.PROSE, "# Seven\n\n## What `clamp` does\n\n### Exercise: Clip it\ntext `grad.clip_(0, 1)`", "p"
    )
    answer = Cell(CellKind.ANSWER, ANSWER, "place", "clip")
    accepted = Candidate("other", "accepted", ACCEPTED)
    exercise = Exercise(COURSE, "clip", "07_seven", answer, (), (accepted,), ())
    return Lesson(COURSE, "07_seven", Path("lesson.py"), (prose, answer), (exercise,))


def hint_with(idea: str, read: str = "The statement") -> Hint:
    return Hint("h", "name", "Question?", idea, read)


def test_a_line_of_a_solution_in_a_hint_is_found() -> None:
    for idea in ("Write return grad.clamp(floor, 1.0) there.", "`return torch.min(grad, torch.tensor(1.0))` does it."):
        (found,) = given_away(lesson_with(), [hint_with(idea)])
        assert "'h' holds a line of a solution of clip" in found.fact
    assert list(given_away(lesson_with(), [hint_with("floor = -1.0 is given, def clip(grad): too.")])) == []


def test_a_hint_leads_to_a_section_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"h": hint_with("An idea.", "Lesson 07, 'Clip it' and 'What `clamp` does'; Lesson 09, 'x'")}
    monkeypatch.setattr("nbproof.authoring.hinting.all_hints", lambda course: told)
    monkeypatch.setattr("nbproof.authoring.hinting.exercise_hints", lambda course: {})
    assert list(check_hints(lesson_with())) == []
    told["h"] = hint_with("An idea.", "Lesson 07, 'Clip it' and 'That'")
    (found,) = check_hints(lesson_with())
    assert "points to a section that is not there" in found.fact
