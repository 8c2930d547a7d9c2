"""Help in three steps: in order, no further than asked, about what went wrong last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from course import hint
from nbproof.checks.diagnosis import ERRORS
from nbproof.display.help import Hint, all_hints, steps
from nbproof.display.session import SESSION
from nbproof.values.results import Finding
from nbproof.values.words import ENGLISH
from tests import COURSE

WAY_IN = Hint("adding", "adding", "How are two things added?", "There is a sign for it.", "Lesson 01, 'Signs'")
NAMED = "wrong_order"


def fail(hint: str | None = NAMED, exercise: str = "adding") -> None:
    SESSION.remember(exercise, Finding("Sum", "The sum is right.", False, hint=hint))


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(SESSION, "last", None)
    monkeypatch.setattr(SESSION, "steps", {})
    monkeypatch.setattr("nbproof.display.help.exercise_hints", lambda course: {"adding": WAY_IN})
    yield


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str]):
    return lambda *arguments: hint(*arguments) or capsys.readouterr().out


def test_each_call_shows_one_step_more(asked) -> None:
    fail()
    told = [text for _, text in steps(all_hints(COURSE)[NAMED], ENGLISH)]
    for count in (1, 2, 3, 3):
        said = asked()
        assert "adding: Looks like the right values in the wrong order." in said
        assert [text in said for text in told] == [number < count for number in range(3)]
        assert ("for the next step" in said) == (count < 3)


def test_an_unknown_mistake_gets_the_way_into_the_exercise(asked) -> None:
    fail(None)
    said = asked()
    assert "A way in." in said
    assert WAY_IN.question in said
    assert WAY_IN.idea not in said
    fail("no_such_hint")
    assert WAY_IN.idea in asked()


def test_an_exercise_without_a_way_in_is_known_all_the_same(asked) -> None:
    assert "`weight_grad` has no hints." in asked("weight_grad")
    assert WAY_IN.question in asked("adding")
    assert "No check has run yet" in asked()


def test_after_success_there_is_nothing_to_help_with_and_steps_start_again(asked) -> None:
    fail()
    asked()
    fail("hook_never_ran")
    assert "1 of 3" in asked(), "another mistake starts anew"
    fail()
    assert "2 of 3" in asked()
    SESSION.remember("adding", Finding("Sum", "The sum is right.", True))
    assert "has passed" in asked()
    fail()
    assert "1 of 3" in asked()


BY_THE_ENGINE = {"hook_never_ran", "reads_globals", "wrong_order"}


def test_what_the_engine_names_exists() -> None:
    assert {one["hint"] for one in (*COURSE.errors, *ERRORS)} | BY_THE_ENGINE <= set(all_hints(COURSE))
