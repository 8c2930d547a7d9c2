"""The texts of the hints: complete, and leading to an idea instead of giving one away."""

from __future__ import annotations

import re

import pytest

from course.course_file import CourseFile
from course.diagnosis import _ERRORS
from course.errors import HintError
from course.hints import Hint, _tables, all_hints, exercise_hints, hint_named

HINTS = [*all_hints().values(), *exercise_hints().values()]
BY_THE_ENGINE = {"hook_never_ran", "reads_globals", "wrong_order"}


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: hint.id)
def test_a_hint_reads_well_in_its_sentence(hint: Hint) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", hint.id)
    # "Looks like <name>. <question>"
    assert hint.name.strip() == hint.name
    assert not hint.name.endswith(".")
    assert hint.question.endswith("?")
    assert hint.idea.endswith((".", "`", "?"))
    assert hint.read
    assert not re.search(r"[\n{}]", hint.name + hint.question + hint.idea + hint.read)


def test_what_the_engine_names_exists() -> None:
    assert {hint for _, hint in _ERRORS} | BY_THE_ENGINE <= set(all_hints())


def test_no_two_error_patterns_are_the_same() -> None:
    patterns = [pattern for pattern, _ in _ERRORS]
    assert len(set(patterns)) == len(patterns)


def test_hints_are_found_by_id() -> None:
    assert hint_named(None) is None
    found = hint_named("hook_never_ran")
    assert found is not None
    assert found.id == "hook_never_ran"
    with pytest.raises(KeyError):
        hint_named("no_such_hint")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"a.toml": '[x]\nname = "n"\nquestion = "q?"\nidea = "i."'},
            r"the hint 'x' has no 'read'\n  at:   course/hints/a\.toml",
        ),
        (
            {"a.toml": "[x]\nname = n"},
            r"the file is no TOML: .*line 2.*\n  at:   course/hints/a\.toml\n  next: mend it",
        ),
        ({"a.toml": "{x}", "b.toml": "{x}"}, r"the hint 'x' is defined twice\n  at:   course/hints/b\.toml"),
    ],
)
def test_an_incomplete_or_repeated_hint_is_refused(
    files: dict[str, str], said: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = '[x]\nname = "n"\nquestion = "q?"\nidea = "i."\nread = "r"'
    (tmp_path / "hints").mkdir()
    for name, text in files.items():
        (tmp_path / "hints" / name).write_text(text.replace("{x}", whole))
    monkeypatch.setattr("course.hints.the_course", lambda: CourseFile("course", tmp_path, ""))
    with pytest.raises(HintError, match=said):
        _tables.__wrapped__()
