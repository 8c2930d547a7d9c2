"""How an exercise ended, from what is known of it: without an engine, each way on its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

from nbproof.cells import CellKind
from nbproof.display.help import all_hints
from nbproof.lesson.lesson import CheckCell, PlainCell
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.judge_client import Judge
from nbproof.marking.plain import PlainRun
from nbproof.marking.results import Verdict, WrittenAnswer
from nbproof.marking.verdicts import (
    ExerciseRun,
    OutcomeMaker,
    as_it_counts_now,
    known_lines,
    named_in,
    redacted,
    says_out_of_memory,
)
from nbproof.recover.answers import Answers, OwnCell
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.usage import MAX_FILES
from nbproof.values.compare import Detail, Difference, Differs
from nbproof.values.results import UNANSWERED, UNTOLD, Cause, Finding, Outcome, ProbeError, Reason, Status
from tests import COURSE

LIMITS = GradingLimits(exercise_seconds=30, submission_seconds=180, memory_mb=2048, disk_mb=64, processes=48)
HINT = "no_such_hint"


def _cell(name: str, exercise: str, points: float) -> CheckCell:
    shown = f'check("{exercise}", First)'
    source = f'{shown}\ncheck("{exercise}", Second)'
    return CheckCell(CellKind.TEST, source, grade_id=name, points=points, shown=shown, exercise=exercise)


def _plain(name: str, exercise: str, hidden: str = "") -> PlainCell:
    about = {"grade_id": name, "points": 2, "exercise": exercise, "asked": "Asserts."}
    return PlainCell(CellKind.TEST, "", shown="assert p", hidden=hidden, **about)


TESTS = {
    "test_a": _cell("test_a", "a", 2),
    "test_a_more": _cell("test_a_more", "a", 1),
    "test_b": _cell("test_b", "b", 3),
    "test_p": _plain("test_p", "p", "assert p > 1"),
    "test_seen": _plain("test_seen", "seen"),
}
STUBS = dict.fromkeys(("a", "b", "p", "seen"), "pass  # TODO")


def _released(name: str, text: str, points: int = 0) -> nbformat.NotebookNode:
    """A TODO cell; with points, a question."""
    make = nbformat.v4.new_markdown_cell if points else nbformat.v4.new_code_cell
    grading = {"grade_id": name, "solution": True, "grade": points > 0, "points": points}
    return make(text, metadata={"nbgrader": grading})


RELEASED = [
    *(_released(name, text) for name, text in STUBS.items()),
    _released("why", "Write here.", 2),
    _released("how", "Write here.", 1),
]
BLUEPRINT = Blueprint(
    course=COURSE,
    slug="01_first",
    path=Path("01_first.ipynb"),
    cells=tuple(TESTS.values()),
    exercises=(),
    notebook=nbformat.v4.new_notebook(cells=RELEASED),
)
DONE = Answers(dict.fromkeys(STUBS, "x = 1"))


class Plan:
    """A judge that asks each test cell two checks, the first one of two cases."""

    def plan(self, test: str) -> list[tuple[str, int]]:
        return [("First", 1), ("First", 2), ("Second", 1)]

    def asked(self, test: str) -> dict[str, str]:
        return {"First": "Is it first?", "Second": "Is it second?"}


def _found(*passed: bool, **more: Any) -> list[Finding]:
    """What the three cases of a test cell found."""
    names = ("First", "First", "Second")
    return [
        Finding(name, "", right, seed, **(more if not right else {}))
        for seed, (name, right) in enumerate(zip(names, passed, strict=False))
    ]


RIGHT = {"test_a": _found(True, True, True), "test_a_more": _found(True, True, True)}
WRONG = {**RIGHT, "test_a": _found(True, False, difference=Difference("answer", Differs.VALUE, "1", "2"))}


def ended(progress: ExerciseRun, answers: Answers = DONE, named: str = "") -> Outcome:
    return OutcomeMaker(BLUEPRINT, cast(Judge, Plan()), answers, LIMITS, named).make(progress)


def said(outcome: Outcome) -> tuple[Status, float, Reason | None]:
    return outcome.status, outcome.score, outcome.reason


def test_who_passes_every_case_has_every_point() -> None:
    outcome = ended(ExerciseRun("a", findings=RIGHT, seconds=1.5))
    assert said(outcome) == (Status.PASSED, 3, None)
    assert (outcome.id, outcome.seconds) == ("a", 1.5)
    assert outcome.points == outcome.most == {"test_a": 2, "test_a_more": 1}
    # The last case of each check speaks for it.
    assert [(one.check, one.seed) for one in outcome.findings] == [("First", 1), ("Second", 2)] * 2


def test_a_case_that_fails_costs_its_own_test_cell_and_is_the_one_that_is_told() -> None:
    outcome = ended(ExerciseRun("a", findings=WRONG))
    assert said(outcome) == (Status.FAILED, 1, None)
    assert outcome.points == {"test_a": 0, "test_a_more": 1}
    # What comes after it was not asked, and is not told.
    found = [(one.check, one.passed) for one in outcome.findings]
    assert found == [("First", False), ("First", True), ("Second", True)]


def test_what_is_wrong_and_worth_nothing_is_wrong() -> None:
    worthless = replace(BLUEPRINT, cells=(replace(TESTS["test_b"], points=0),))
    progress = ExerciseRun("b", findings={"test_b": _found(False, unjudged="E")})
    assert OutcomeMaker(worthless, cast(Judge, Plan()), DONE, LIMITS).make(progress).status is Status.FAILED


def test_a_case_that_was_never_asked_is_no_right_one() -> None:
    outcome = ended(ExerciseRun("a", findings={"test_a": _found(True, True, True), "test_a_more": _found(True)}))
    assert said(outcome) == (Status.KILLED, 2, Reason(Cause.EARLY))
    assert outcome.findings_of("test_a_more") == (Finding("First", "Is it first?", False, part="test_a_more"),)


def test_only_hints_that_the_course_has_are_told() -> None:
    known = next(iter(all_hints(COURSE)))
    for hint, wanted in ((known, known), (HINT, None)):
        outcome = ended(ExerciseRun("b", findings={"test_b": _found(False, hint=hint)}))
        assert [one.hint for one in outcome.findings] == [wanted]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"out_of_memory": True, "interrupted": True}, (Status.OUT_OF_MEMORY, Reason(Cause.MEMORY, limit=2048))),
        ({"interrupted": True, "error": "E"}, (Status.TIMEOUT, Reason(Cause.EXERCISE_TIME, limit=30))),
        ({"error": "NameError: x"}, (Status.ERROR, Reason(Cause.ERROR, "NameError: x"))),
        ({"error": "SyntaxError: f-string: x"}, (Status.ERROR, Reason(Cause.ERROR, "SyntaxError: f-string: x"))),
    ],
)
def test_what_is_wrong_has_one_cause(more: dict[str, Any], wanted: tuple[Status, Reason]) -> None:
    assert said(ended(ExerciseRun("a", findings=WRONG, **more))) == (wanted[0], 1, wanted[1])


def test_an_f_string_of_a_newer_python_waits_and_no_other_error_does() -> None:
    newer = replace(DONE, python="3.14")
    for error, status in (("SyntaxError: f-string: x", Status.UNCERTAIN), ("SyntaxError: x", Status.ERROR)):
        outcome = ended(ExerciseRun("a", error=error), newer)
        assert outcome.status is status
        assert (outcome.reason == Reason(Cause.NEWER_PYTHON, "3.14")) == (status is Status.UNCERTAIN)


def test_an_error_at_a_line_of_the_learners_is_no_wrong_answer() -> None:
    trouble = ProbeError("ValueError", "no", line=3)
    assert ended(ExerciseRun("b", findings={"test_b": _found(False, trouble=trouble)})).status is Status.ERROR
    assert (
        ended(ExerciseRun("b", findings={"test_b": _found(False, trouble=replace(trouble, line=0))})).status
        is Status.FAILED
    )


@pytest.mark.parametrize(
    ("loss", "status", "reason"),
    [
        (WorkerLost("timeout", "all"), Status.TIMEOUT, Reason(Cause.NOTEBOOK_TIME, limit=180)),
        (WorkerLost("timeout"), Status.TIMEOUT, Reason(Cause.EXERCISE_TIME, limit=30)),
        (WorkerLost("memory"), Status.OUT_OF_MEMORY, Reason(Cause.MEMORY, limit=2048)),
        (WorkerLost("disk"), Status.KILLED, Reason(Cause.DISK, str(MAX_FILES), 64)),
        (WorkerLost("processes"), Status.KILLED, Reason(Cause.PROCESSES, limit=48)),
        (WorkerLost("protocol", "x"), Status.KILLED, Reason(Cause.PROTOCOL, "x")),
        (WorkerLost("died", "signal 9"), Status.KILLED, Reason(Cause.ENDED, "signal 9")),
    ],
)
def test_a_lost_process_costs_all_marks_and_says_why(loss: WorkerLost, status: Status, reason: Reason) -> None:
    outcome = ended(ExerciseRun("a", findings=RIGHT, loss=loss, seconds=2))
    assert said(outcome) == (status, 0, reason)
    assert (outcome.id, outcome.seconds, outcome.most) == ("a", 2, {"test_a": 2, "test_a_more": 1})
    assert not any(one.passed for one in outcome.findings)


def test_an_untouched_cell_is_not_answered_unless_something_was_recovered_beside_it() -> None:
    blank = Answers({**DONE.answers, "b": STUBS["b"]})
    progress = ExerciseRun("b", findings={"test_b": _found(False, unjudged="E")})
    assert said(ended(progress, blank)) == (Status.NOT_ANSWERED, 0, None)
    assert ended(progress, replace(blank, recovered={"b": "below"})).status is Status.FAILED
    # What earns marks was answered, wherever it stands.
    assert ended(ExerciseRun("a", findings=WRONG), Answers({**STUBS, "b": "x"})).status is Status.FAILED


def test_an_answer_that_is_lost_or_uncertain_has_no_marks_of_a_program() -> None:
    lost = replace(DONE, lost={"a": "two cells may be it"})
    assert said(ended(ExerciseRun("a", findings=RIGHT), lost)) == (
        Status.UNCERTAIN,
        0,
        Reason(Cause.LOST, "two cells may be it"),
    )
    gone = Answers(STUBS, lost={"a": "no cell"})
    assert said(ended(ExerciseRun("a"), gone)) == (Status.NOT_ANSWERED, 0, Reason(Cause.LOST, "no cell"))


@pytest.mark.parametrize(
    ("rigged", "named", "reason"),
    [
        (True, "nbproof.sandbox", Reason(Cause.RIGGED)),
        (False, "nbproof.sandbox", Reason(Cause.NAMES_ENGINE, "nbproof.sandbox")),
    ],
)
def test_marks_that_may_rest_on_a_rig_wait(rigged: bool, named: str, reason: Reason) -> None:
    outcome = ended(ExerciseRun("a", findings=RIGHT, rigged=rigged), named=named)
    assert said(outcome) == (Status.UNCERTAIN, 0, reason)
    assert outcome.points == {"test_a": 0, "test_a_more": 0}
    without_marks = ended(
        ExerciseRun("b", findings={"test_b": _found(False, unjudged="E")}, rigged=rigged), named=named
    )
    assert without_marks.status is Status.FAILED


def test_plain_cells_keep_their_scores_but_those_that_took_their_process_along() -> None:
    runs = {"test_p": PlainRun(2), "test_seen": PlainRun(2)}
    half = ended(ExerciseRun("p", plain={"test_p": PlainRun(1, "half")}))
    assert said(half) == (Status.FAILED, 1, None)
    for exercise, test, loss, asked, score in (
        ("p", "test_p", None, set(), 2),
        ("p", "test_p", WorkerLost("memory"), {"test_p"}, 2),
        ("p", "test_p", WorkerLost("memory"), set(), 0),
        ("seen", "test_seen", WorkerLost("memory"), set(), 2),
    ):
        outcome = ended(ExerciseRun(exercise, plain=runs, loss=loss, asked_all=asked))
        assert (outcome.score, outcome.points) == (score, {test: score})


def test_what_is_left_to_be_asked() -> None:
    assert ExerciseRun("a").is_harmless()
    assert ExerciseRun("a").has_to_be_asked("test_a")
    assert not ExerciseRun("a", asked_all={"test_a"}).has_to_be_asked("test_a")
    for progress in (ExerciseRun("a", loss=WorkerLost("died")), ExerciseRun("a", out_of_memory=True)):
        assert not progress.is_harmless()
        assert progress.has_to_be_asked("test_a") == (progress.loss is None)


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (["x = 1", "import nbproof.sandbox.wire"], "nbproof.sandbox"),
        (["from nbproof   import\tcheck, values"], "nbproof import check, values"),
        (["from nbproof import check", "course.run"], ""),
        ([], ""),
    ],
)
def test_parts_of_the_engine_are_named(texts: list[str], named: str) -> None:
    assert named_in(texts) == named


def test_memory_that_ran_out_is_known_by_its_words() -> None:
    for word in ("MemoryError", "DefaultCPUAllocator: x", "can't allocate memory", "OSError: Cannot allocate memory"):
        assert says_out_of_memory(f"it said {word} here")
    assert not says_out_of_memory("ValueError: memory")


def _outcome(points: float, most: float, status: Status, right: bool) -> Outcome:
    return Outcome("a", status, (Finding("First", "", right, part="test_a"),), {"test_a": points}, {"test_a": most})


@pytest.mark.parametrize(
    ("kept", "now"),
    [
        (_outcome(1, 1, Status.PASSED, True), 2),
        (_outcome(5, 9, Status.FAILED, False), 2),
        (_outcome(1, 9, Status.FAILED, False), 1),
        (_outcome(9, 9, Status.FAILED, False), 2),
        (_outcome(0, 0, Status.PASSED, True), 2),
        (_outcome(0, 0, Status.UNCERTAIN, True), 0),
        (_outcome(1, 1, Status.UNCERTAIN, True), 2),
    ],
)
def test_points_that_changed_are_counted_anew(kept: Outcome, now: float) -> None:
    verdict = Verdict(
        "ada",
        "01_first",
        exercises=(kept,),
        answers={"why": "as it was handed out once", "how": "Because."},
        written=(WrittenAnswer("why", 1, False), WrittenAnswer("how", 1, True)),
    )
    counted = as_it_counts_now(BLUEPRINT, verdict)
    assert counted.exercises == (replace(kept, points={"test_a": now}, most={"test_a": 2}),)
    assert counted.answers == {"why": "Write here.", "how": "Because."}
    assert counted.written == (WrittenAnswer("why", 2, False), WrittenAnswer("how", 1, True))
    assert counted.learner == "ada"
    renamed = replace(verdict, titles={"a": "as it was called once"})
    assert as_it_counts_now(BLUEPRINT, renamed).titles == BLUEPRINT.titles


def test_every_line_that_was_handed_in_is_known() -> None:
    answers = Answers({"a": "x = 1\n\n  y = 2  "}, own=(OwnCell("z = 3", 0), OwnCell("\n", 1)))
    assert known_lines(answers) == {"x = 1", "y = 2", "z = 3"}


SECRET = Finding("Second", "", False, printed="secret", picture={"secret": 1}, compared=("secret", "secret"))
HIDDEN = replace(SECRET, hidden=True, printed="", picture=None, compared=None)


def test_of_a_hidden_difference_only_its_place_is_told() -> None:
    difference = Difference("answer[1]", Differs.VALUE, "secret", "2", Detail("secret", "2"))
    told = redacted(COURSE, replace(SECRET, difference=difference), (), ())
    assert told == replace(HIDDEN, difference=Difference("answer[1]", Differs.VALUE, "something else", "2"))
    assert told.compared is None
    nothing = replace(difference, kind=Differs.MISSING, got="")
    assert redacted(COURSE, replace(SECRET, difference=nothing), (), ()).difference == replace(nothing, detail=None)
    for gone in (None, replace(difference, kind=Differs.EXTRA, where="secret")):
        assert redacted(COURSE, replace(SECRET, difference=gone), (), ()) == HIDDEN


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (ProbeError("ValueError", "secret", 3, "x = 1", "secret", "secret", "secret"), ProbeError("ValueError", "", 3, "x = 1")),
        (ProbeError("SecretError", "secret", 3, "secret"), ProbeError("", "", 3)),
        (ProbeError("print", "secret"), ProbeError("", "")),
        (ProbeError(UNANSWERED, "Tensor", 2, name="answer"), ProbeError(UNANSWERED, "Tensor", 2, name="answer")),
        (ProbeError(UNANSWERED, "list", name="answer", wanted="w"), ProbeError(UNANSWERED, "list", name="answer")),
        (ProbeError(UNANSWERED, "", name="answer"), ProbeError(UNANSWERED, "", name="answer")),
        (ProbeError(UNANSWERED, "Secret", name="answer"), ProbeError(UNANSWERED, UNTOLD, name="answer")),
        (ProbeError(UNANSWERED, "list", name="secret"), ProbeError("", "")),
        (ProbeError("ValueError", "list", name="answer"), ProbeError("ValueError", "")),
    ],
)  # fmt: skip
def test_of_a_hidden_error_only_what_everybody_knows_is_told(trouble: ProbeError, told: ProbeError) -> None:
    found = redacted(COURSE, replace(SECRET, trouble=trouble), ("answer",), ("x = 1",))
    assert found == replace(HIDDEN, trouble=told)
