"""The texts of the hints: complete, and leading to an idea instead of giving one away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.checks.diagnosis import _ERRORS
from nbproof.course_file import CourseFile, the_course
from nbproof.display.help import Hint, all_hints, exercise_hints, known_hint
from nbproof.errors import HintError

HINTS = [*all_hints().values(), *exercise_hints().values()]
BY_THE_ENGINE = {"hook_never_ran", "reads_globals", "wrong_order"}


def test_every_hint_reads_well_in_its_sentence() -> None:
    """``Looks like <name>. <question>``"""
    assert len(HINTS) > 500
    found = {hint.id: wrong for hint in HINTS if (wrong := list(_reads_badly(hint)))}
    assert found == {}


def _reads_badly(hint: Hint) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", hint.id):
        yield "its id is no identifier in small letters"
    if hint.name.strip() != hint.name or hint.name.endswith("."):
        yield f"its name stands within a sentence: {hint.name!r}"
    if not hint.question.endswith("?"):
        yield f"its question does not ask: {hint.question!r}"
    if not hint.idea.endswith((".", "`", "?")):
        yield f"its idea does not end: {hint.idea!r}"
    if not hint.read:
        yield "it leads nowhere"
    if re.search(r"[\n{}]", hint.name + hint.question + hint.idea + hint.read):
        yield "it holds a line end or a brace"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"id": "Not so"}, "its id"), ({"name": " a name"}, "its name"), ({"name": "a name."}, "its name"),
        ({"question": "No question."}, "its question"), ({"idea": "No end"}, "its idea"), ({"read": ""}, "it leads"),
        ({"read": "{place}"}, "it holds"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)  # fmt: skip
def test_a_hint_that_reads_badly_is_found(broken: dict[str, str], says: str) -> None:
    (said,) = _reads_badly(replace(all_hints()["hook_never_ran"], **broken))
    assert said.startswith(says)


def test_what_the_engine_names_exists() -> None:
    assert {one["hint"] for one in (*the_course().errors, *_ERRORS)} | BY_THE_ENGINE <= set(all_hints())


def test_no_two_error_patterns_are_the_same() -> None:
    patterns = [str(one) for one in (*the_course().errors, *_ERRORS)]
    assert len(set(patterns)) == len(patterns)


def test_only_hints_of_the_course_are_told() -> None:
    """What an error gives away anywhere, not every course has words for."""
    assert [known_hint(one) for one in (None, "hook_never_ran", "no_such_hint")] == [None, "hook_never_ran", None]


@pytest.mark.parametrize("text", [None, "{", "[]", '{"exercises": []}', '{"misconceptions": [{"id": "x"}]}'])
def test_hints_that_cannot_be_read_are_told_with_what_to_do(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hints").mkdir()
    if text is not None:
        (tmp_path / "hints.json").write_text(text)
    monkeypatch.setattr("nbproof.display.help.the_course", lambda: CourseFile("course", tmp_path, ""))
    with pytest.raises(HintError) as caught:
        all_hints()
    assert caught.value.fact.startswith("the hints cannot be read: ")
    assert caught.value.place == str(tmp_path / "hints.json")
    assert caught.value.next_command.startswith("if lessons/ is there: ")
