"""What a teacher sees in the terminal, in a pipe and in the JSON: small classes whole, large ones in short."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from nbproof import terminal
from nbproof.cli.class_table import (
    RunReport,
    class_as_json,
    error_as_json,
    print_class,
    print_problems,
    summary_line,
    write_json,
)
from nbproof.cli.grade_command import watching
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Lateness, Mark, join_marks
from nbproof.marking.results import Verdict
from nbproof.values.results import Outcome, Status
from tests import COURSE
from tests.report.made import class_of, refused, scored


def _ended(name: str, status: str, score: float, most: float) -> Outcome:
    return Outcome(name, Status(status), (), {f"test_{name}": score}, {f"test_{name}": most})


def _score(number: int, recovered: Mapping[str, str] | None = None, **more: Any) -> Mark:
    told, learner = (_ended("a", "passed", 2, 2), _ended("b", "failed", number % 2, 1)), f"learner{number:03d}"
    verdict = Verdict(learner, "01_small", 7, told, {}, {}, dict(recovered or {}))
    return replace(join_marks({(learner, "01_small"): verdict}, {})[learner, "01_small"], **more)


def _told(given: Sequence[Mark], notes: Sequence[str] = ()) -> RunReport:
    return RunReport(class_of(given, notes), 12.0)


def _printed(told: RunReport, everybody: bool = False) -> str:
    console = Console(width=100, file=io.StringIO(), color_system=None)
    print_class(console, told, everybody)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_small_class_is_shown_whole() -> None:
    text = _printed(_told([_score(1), _score(2, penalty=0.5), _score(3, recovered={"a": "found"})]))
    assert all(f"learner00{number}" in text for number in (1, 2, 3))
    assert "(l) 1.5" in text
    assert "(r) 3" in text
    assert "graded 3, unchanged 0, 12.0 s, seed 7" in [line[:38] for line in text.splitlines()]


def test_a_large_class_is_shown_whole_only_if_that_is_asked_for() -> None:
    broken = refused("zoe", "01_small", "it is not a notebook")
    told = _told(
        [*(_score(number) for number in range(300)), broken], ["passed over submitted/x/y: no lesson has this name"]
    )
    text = _printed(told)
    assert len(text.splitlines()) < 30
    assert "! not graded: submitted/zoe/01_small: it is not a notebook" in text
    assert "passed over submitted/x/y" in text
    assert "learner007" not in text
    assert "learner007" in _printed(told, everybody=True)
    assert summary_line(told).startswith("graded 300, unchanged 0, not graded 1")


def test_tests_that_can_be_forged_are_told_in_a_quiet_run_too() -> None:
    told = _told([_score(1)])
    told = replace(told, graded=replace(told.graded, plain_tests={"01_small": 3}))
    console = Console(width=100, file=io.StringIO(), color_system=None)
    print_problems(console, told)
    assert "01_small: 3 plain test cells" in console.file.getvalue()  # type: ignore[attr-defined]
    assert _printed(told).count("can be forged") == 1
    told = replace(told, graded=replace(told.graded, plain_tests={"ps/a": 3, "ps/b": 1, "qs/a": 1}))
    assert _printed(told).count("can be forged") == 2 and "ps: 4 plain test cells" in _printed(told)


def test_names_cannot_paint_the_terminal() -> None:
    for name in ("[red]eve[/]", "x_y-z.", "a:smile:", "[x]", "x\\", "=1+1", "007", "🎓 ada"):
        text = _printed(_told([scored(name, "[b]_1-b.", 1, 3)]))
        assert f"│ {name} " in text and "┃ [b]_1-b. ┃" in text


def test_the_json_says_what_the_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    broken = refused("zoe", "01_small", "it is not a notebook")
    told = _told([_score(1, penalty=0.5, late=Lateness(60.0)), _score(2, fresh=False), broken], ["a note"])
    write_json("-", class_as_json(told, 1))
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["exit_code"], data["seed"], data["error"]) == (3, 1, 7, None)
    totals = data["totals"]
    assert (totals["submissions"], totals["graded"], totals["unchanged"], totals["not_graded"]) == (3, 1, 1, 1)
    assert totals["exercises"]["passed"] == totals["exercises"]["failed"] == 2
    assert [one["problem"] for one in data["submissions"]] == [None, None, "it is not a notebook"]
    assert data["submissions"][0]["late_penalty"] == 0.5
    assert data["submissions"][0]["exercises"][0]["id"] == "a"
    assert data["submissions"][2]["score"] is None
    assert data["passed_over"] == ["a note"]
    error = error_as_json(COURSE, UsageError("fact", "place", "next"), seconds=1)
    assert error["error"] == {"fact": "fact", "place": "place", "next": "next"}


def _verdict(status: str) -> Verdict:
    return Verdict("ada", "01_small", 1, (_ended("a", status, 0, 0),), {}, {})


def test_a_pipe_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "EVERY", 0.0)
    with watching() as watch:
        watch.planned(6, 5, ["as --force asks, 6 submissions graded again"])
        for status in ("passed", "timeout", "passed", "passed", "passed"):
            watch.started("ada/01_small")
            watch.marked("ada/01_small", _verdict(status))
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["as --force asks, 6 submissions graded again", "grading 6 submissions; 5 need no grading"]
    told = dict.fromkeys(line.partition(", about ")[::2] for line in lines[2:])
    assert [(done, bool(left)) for done, left in told] == [(f"grading: {at} of 6", at == 5) for at in range(1, 6)]
    with watching(quiet=True) as watch:
        watch.planned(3, 0, ["a reason"])
        watch.marked("ada/01_small", _verdict("passed"))
    assert capsys.readouterr().err == ""
