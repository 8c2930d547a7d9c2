"""``python -m course check``: nothing holds that was not looked at, and what was left out is said.

Also which verdicts rest on what a process says about itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nbproof.authoring.build import build
from nbproof.authoring.checkup import Checkup, check_up
from nbproof.authoring.contract import Record
from nbproof.authoring.hearsay import rests_on_hearsay
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.checks.case import Case
from nbproof.checks.check import Check
from nbproof.cli.contract_table import Found
from nbproof.cli.main import main
from nbproof.command import course_command
from nbproof.errors import UsageError, Violation
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import snapshot
from tests.authoring.tiny import Sketch, write_lesson


@pytest.fixture(scope="module")
def two_lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("two")
    write_lesson(root, "00_tiny", [Sketch(), Sketch("again")])
    write_lesson(root, "01_other", [Sketch("other")])
    build(root, say=lambda line: None)
    return root


@pytest.fixture
def two(two_lessons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, of which no candidate is run, and whose exercises have no way in: other tests are about that."""
    monkeypatch.setattr("nbproof.authoring.checkup.check_hints", lambda lessons: [])
    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", _all_sound)
    return Path(shutil.copytree(two_lessons, tmp_path / "course"))


def _all_sound(
    pairs: list[tuple[Lesson, Exercise]], step: Callable[[int, int, str], None], told: Callable[[Lesson, Record], None]
) -> list[Record]:
    records = [Record(exercise) for _, exercise in pairs]
    for (lesson, _), record in zip(pairs, records, strict=True):
        told(lesson, record)
    return records


def looked(root: Path, *names: str) -> Checkup:
    return check_up(root, names, lambda done, of, name: None)


def stale(root: Path) -> None:
    path = root / "release" / "00_tiny" / "00_tiny.ipynb"
    path.write_text(path.read_text().replace("A tiny lesson", "My lesson"))


def leaking(root: Path) -> None:
    path = root / "release" / "00_tiny" / "00_tiny.ipynb"
    path.write_text(path.read_text().replace("pass  # TODO: your code", "answer.append(output)"))


def no_heading(root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "lesson.py"
    path.write_text(path.read_text().replace("# ### Exercise: again", "# ## Again", 1))


BREAKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "stale": (stale, "release/00_tiny is outdated"),
    "leaking": (leaking, "the release shows a private line: answer.append(output)"),
    "no heading": (no_heading, "again: no heading above its TODO cell says its title, difficulty and minutes"),
}


@pytest.mark.parametrize(
    ("name", "broken"), [*(("again", broken) for broken in BREAKS), ("catch", "stale"), ("00_tiny", "stale")]
)
def test_no_exercise_is_sound_in_a_lesson_that_is_broken(
    name: str, broken: str, two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, fact = BREAKS[broken]
    change(two)
    assert main(["check", "--course", str(two), name]) == 1
    out = capsys.readouterr().out
    assert fact in out
    assert "lesson broken" in out
    assert "holds" not in out


def test_another_lesson_is_not_told_of_it(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    no_heading(two)
    assert main(["check", "--course", str(two), "other"]) == 0
    out = capsys.readouterr().out
    assert "holds" in out
    assert "broken" not in out
    assert "not looked at: 1 other lesson: 00_tiny" in out


def test_what_is_looked_at_and_what_not_is_said(two: Path) -> None:
    one = looked(two, "again")
    assert one.looked_at == ("1 exercise with 12 candidates; prose, hints and derived notebooks of 00_tiny")
    whole = f"what concerns the course as a whole, such as the share of mutants with a hint: {course_command('check')}"
    assert one.left_out == (
        f"the candidates of 1 other exercise of 00_tiny: {course_command('check 00_tiny')}",
        "1 other lesson: 01_other",
        whole,
    )
    assert looked(two, "00_tiny").left_out == ("1 other lesson: 01_other", whole)
    assert looked(two, "00_tiny", "other").left_out == (whole,)
    every = looked(two)
    assert every.left_out == ()
    assert every.looked_at.startswith("3 exercises with 36 candidates; ")


def test_a_lesson_of_which_nbgrader_makes_no_release_does_not_end_the_check(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nbproof.authoring.build.NbGraderAPI.generate_assignment",
        lambda self, *args, **kwargs: {"success": False, "error": None, "log": "nbgrader's reason"},
    )
    found = looked(two, "again")
    (violation,) = found.others
    assert violation.fact == "nbgrader cannot make the release: nbgrader's reason"
    assert violation.next_command == f"mend what it names, then: {course_command('build 00_tiny')}"
    assert found.broken_lessons == {"00_tiny"}


def test_a_name_with_a_slip_is_answered_with_the_right_one(two: Path) -> None:
    with pytest.raises(UsageError) as caught:
        looked(two, "agian")
    assert caught.value.next_command == "did you mean again? choose from: 00_tiny, 01_other, again, catch, other"
    assert main(["check", "--course", str(two), "agian"]) == 2


def test_a_course_whose_configuration_cannot_be_read_is_said_before_anything_runs(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (two / "nbgrader_config.py").write_text("import no_such_module\n")
    ran: list[str] = []
    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", lambda *given, **named: ran.append("candidates"))
    with pytest.raises(UsageError, match="cannot be read: ModuleNotFoundError"):
        looked(two, "again")
    assert ran == []


def test_what_was_found_is_told_at_once(
    two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Violation("nobody breaks it", "lesson.py:7", "break it")
    monkeypatch.setattr("nbproof.authoring.checkup.unbroken", lambda lesson, exercise: [broken])
    tell = Found.tell

    def told(found: Found, record: Record, of: int) -> None:
        tell(found, record, of)
        raise KeyboardInterrupt

    monkeypatch.setattr("nbproof.cli.contract_table.Found.tell", told)
    assert main(["check", "--course", str(two), "00_tiny"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "[1/2] catch: 12 candidates, 0.0 s: 1 violation",
        "error: nobody breaks it",
        "  at:   lesson.py:7",
        "  next: break it",
    ]


def test_facts_cannot_paint_the_terminal(
    two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "nbproof.authoring.checkup.check_hints", lambda lessons: [Violation("got [/] and [2.0]", "x", "y")]
    )
    assert main(["check", "--course", str(two), "other"]) == 1
    assert "error: got [/] and [2.0]" in capsys.readouterr().out


class Told(Check):
    """Brings a count, a flag, a number and a tensor."""

    def truth(self, case: Case) -> object:
        return {
            "hooks": 0,
            "modes": {"a": True, "b": AnyOf(False, True)},
            "macs": case.integer("macs", 1, 10**9),
            "x": Close(case.tensor("x", 3)),
            "grads": {"a": case.tensor("a", 2), "b": None},
            "list": [case.tensor("a", 2), "text"],
            "any": Matches(lambda got: None, "anything"),
        }


RIGHT = Told().truth(Case(1))
assert isinstance(RIGHT, dict)
_X = torch.tensor([1.0, 2.0, 3.0])
_EVIDENCE = {**RIGHT, "x": RIGHT["x"].value, "modes": {"a": True, "b": False}, "any": 3}


@pytest.mark.parametrize(
    ("field", "got", "rests"),
    [
        ("hooks", 3, True),
        ("macs", 7, False),
        ("x", _X, False),
        ("grads", {"a": RIGHT["grads"]["a"], "b": _X}, True),
        ("grads", {"a": _X, "b": None}, False),
        ("list", [RIGHT["grads"]["a"], "text", 1], False),
    ],
)
def test_what_is_equal_for_all_seeds_and_no_tensor_is_hearsay(field: str, got: object, rests: bool) -> None:
    assert rests_on_hearsay(Told(), 1, snapshot({**_EVIDENCE, field: got})) is rests


def test_a_missing_field_stays_missing_and_a_claim_is_believed() -> None:
    evidence = {name: value for name, value in _EVIDENCE.items() if name != "hooks"}
    assert not rests_on_hearsay(Told(), 1, snapshot(evidence))

    class Claimed(Told):
        """The same, where the count is the answer itself."""

        claims = ("hooks",)

    assert not rests_on_hearsay(Claimed(), 1, snapshot({**_EVIDENCE, "hooks": 3}))
