"""Help in three steps: in order, no further than asked, and about what went wrong last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import nbproof.display.help
from course import hint
from nbproof.display.help import Hint, all_hints, remember, steps
from nbproof.values.results import CheckResult

WAY_IN = Hint("adding", "adding", "How are two things added?", "There is a sign for it.", "Lesson 01, 'Signs'")
NAMED = "wrong_order"


def failed(hint: str | None = NAMED, exercise: str = "adding") -> CheckResult:
    return CheckResult(exercise, "Sum", "The sum is right.", False, 1, "it is 2, wanted 3", hint=hint)


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(nbproof.display.help, "_last", None)
    monkeypatch.setattr(nbproof.display.help, "_shown", {})
    monkeypatch.setattr("nbproof.display.help.exercise_hints", lambda: {"adding": WAY_IN})
    yield


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str]):
    def ask(*arguments: str) -> str:
        hint(*arguments)
        return capsys.readouterr().out

    return ask


def test_each_call_shows_one_step_more(asked) -> None:
    remember(failed())
    told = [text for _, text in steps(all_hints()[NAMED])]
    for count in (1, 2, 3, 3):
        said = asked()
        assert "adding: Looks like the right values in the wrong order." in said
        assert [text in said for text in told] == [number < count for number in range(3)]
        assert ("for the next step" in said) == (count < 3)


def test_another_mistake_starts_anew_and_the_old_one_is_not_forgotten(asked) -> None:
    remember(failed())
    asked()
    asked()
    remember(failed("hook_never_ran"))
    assert "1 of 3" in asked()
    remember(failed())
    assert "3 of 3" in asked()


def test_an_unknown_mistake_gets_the_way_into_the_exercise(asked) -> None:
    remember(failed(None))
    said = asked()
    assert "A way in." in said
    assert WAY_IN.question in said
    assert WAY_IN.idea not in said
    remember(failed("no_such_hint"))
    assert WAY_IN.idea in asked()


def test_help_to_begin_is_there_before_any_check(asked) -> None:
    assert WAY_IN.question in asked("adding")
    assert WAY_IN.idea in asked("adding")


@pytest.mark.parametrize(("name", "near"), [("ading", 'hint("adding")'), ("zzz", "panel")])
def test_a_name_that_does_not_exist(asked, name: str, near: str) -> None:
    said = asked(name)
    assert f"No exercise is called `{name}`" in said
    assert near in said


def test_before_any_check_it_says_what_to_do(asked) -> None:
    assert "No check has run yet" in asked()


def test_after_success_there_is_nothing_to_help_with_and_steps_start_again(asked) -> None:
    remember(failed())
    asked()
    asked()
    remember(CheckResult("adding", "Sum", "The sum is right.", True, 1))
    assert "has passed" in asked()
    remember(failed())
    assert "1 of 3" in asked()


def test_an_exercise_without_hints_is_said(asked) -> None:
    remember(failed(None, "other"))
    assert "has no hints" in asked()
