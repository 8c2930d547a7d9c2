"""The author contract: the proof that an exercise's tests accept every right answer and no wrong one.

Per exercise: the reference and each accepted answer earn full marks, the untouched stub none, each
mutant less than full; each hidden check is the only killer of at least one mutant; two runs with
other seeds agree; nothing reaches stderr; the checks are sound in themselves. Per lesson, in
:mod:`course.authoring.release`: the derived notebooks are fresh, and leak nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course.authoring.forks import run_trials
from course.authoring.lesson import Candidate, Exercise, Lesson, find_lessons, read_lesson
from course.authoring.regions import visible_of
from course.authoring.release import Violation, check_release
from course.authoring.trial import Outcome, Trial
from course.command import course_command
from course.errors import LessonError, UsageError
from course.hints import all_hints

__all__ = ["MIN_ACCEPTED", "MIN_MUTANTS", "Record", "Violation", "check_contract", "check_release", "select"]

MIN_ACCEPTED = 4
MIN_MUTANTS = 6


@dataclass
class Record:
    """What the contract found on one exercise."""

    exercise: Exercise
    accepted: int = 0
    killed: int = 0
    hinted: int = 0
    """Mutants that get the hint they declare, be it none."""
    named: int = 0
    """Mutants that get a hint of their own."""
    seconds: float = 0.0
    violations: list[Violation] = field(default_factory=list)

    def broken(self, fact: str, candidate: Candidate | None = None, next_command: str = "") -> None:
        """Note a violation, placed at the candidate's file, or at the exercise's cell."""
        place = str(candidate.path) if candidate is not None and candidate.path else self.exercise.answer.place
        again = next_command or course_command(f"check {self.exercise.id}")
        self.violations.append(Violation(f"{self.exercise.id}: {fact}", place, again))


def select(root: Path, names: list[str]) -> list[tuple[Lesson, Exercise]]:
    """The exercises of the named lessons, or those named themselves; all where nothing is named.

    Raises UsageError for an unknown name, LessonError for a broken lesson, unless only others are named.
    """
    lessons, broken = [], []
    for folder in find_lessons(root):
        try:
            lessons.append(read_lesson(folder))
        except LessonError as error:
            if not names or folder.name in names:
                raise
            broken.append(error)
    pairs = [(lesson, exercise) for lesson in lessons for exercise in lesson.exercises]
    seen: dict[str, str] = {}
    for _, exercise in pairs:
        if exercise.id in seen:
            raise LessonError(
                f"the exercise id {exercise.id!r} is used in two lessons",
                f"{exercise.answer.place} and {seen[exercise.id]}",
                "rename one of them",
            )
        seen[exercise.id] = exercise.answer.place
    known = {lesson.slug for lesson in lessons} | set(seen)
    for name in names:
        if name not in known:
            if broken:
                raise broken[0]
            raise UsageError(
                f"no lesson or exercise is called {name!r}",
                str(root / "lessons"),
                "choose from: " + ", ".join(sorted(known)),
            )
    return [(lesson, exercise) for lesson, exercise in pairs if not names or {lesson.slug, exercise.id} & set(names)]


def check_contract(
    pairs: list[tuple[Lesson, Exercise]],
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
    limit: float = 60.0,
    mutant_seeds: tuple[int, ...] = (1, 2),
) -> list[Record]:
    """Run every candidate of these exercises; the records hold what was found.

    ``step`` is told of progress; after ``limit`` seconds a candidate is cut off. ``mutant_seeds``: the runs of each
    mutant, for whoever runs them with other seeds elsewhere.
    """
    jobs = [(number, candidate) for number, (_, exercise) in enumerate(pairs) for candidate in exercise.candidates]
    trials = [_trial(*pairs[number], candidate, limit, mutant_seeds) for number, candidate in jobs]
    records = [Record(exercise) for _, exercise in pairs]
    outcomes: dict[int, list[tuple[Candidate, Outcome]]] = {number: [] for number in range(len(pairs))}
    for done, (index, outcome) in enumerate(run_trials(trials), 1):
        number, candidate = jobs[index]
        outcomes[number].append((candidate, outcome))
        records[number].seconds += outcome.seconds
        step(done, len(jobs), f"{pairs[number][1].id}/{candidate.name}")
    for number, record in enumerate(records):
        _judge(record, outcomes[number])
    return records


def _trial(
    lesson: Lesson, exercise: Exercise, candidate: Candidate, limit: float, mutant_seeds: tuple[int, ...] = (1, 2)
) -> Trial:
    position = lesson.cells.index(exercise.tests[-1])
    setup = tuple(cell.source for cell in lesson.cells[:position] if cell.kind == "setup")
    tests = tuple((cell.grade_id, cell.source) for cell in exercise.tests)
    if candidate.role == "mutant":
        return Trial(exercise.id, setup, candidate.source, tests, limit=limit, seeds=mutant_seeds)
    if candidate.role != "reference":
        return Trial(exercise.id, setup, candidate.source, tests, limit=limit)
    released = tuple((name, visible_of(source)) for name, source in tests if visible_of(source) != source)
    return Trial(exercise.id, setup, candidate.source, tests, released, apart=True, limit=limit)


def _judge(record: Record, outcomes: list[tuple[Candidate, Outcome]]) -> None:
    exercise = record.exercise
    if len(exercise.accepted) < MIN_ACCEPTED:
        record.broken(f"{len(exercise.accepted)} accepted answers, at least {MIN_ACCEPTED} are needed")
    if len(exercise.mutants) < MIN_MUTANTS:
        record.broken(f"{len(exercise.mutants)} mutants, at least {MIN_MUTANTS} are needed")
    sole: set[str] = set()
    for candidate, outcome in sorted(outcomes, key=lambda pair: pair[0].name):
        failing = [outcome.failing(index) for index in range(max(1, len(outcome.findings)))]
        if len({frozenset(found) for found in failing}) > 1:
            parts = " and ".join(str(sorted(found) or "none") for found in failing)
            record.broken(f"{candidate.role} {candidate.name}: two seeds disagree, failing checks {parts}", candidate)
        for flaw in outcome.flaws:
            record.broken(flaw)
        if candidate.role in ("reference", "accepted"):
            _judge_right(record, candidate, outcome, failing)
        elif candidate.role == "stub":
            everything = {cell.grade_id for cell in exercise.tests}
            kept = everything - outcome.cells_lost(0) if not outcome.ended else set()
            if kept:
                record.broken(f"the untouched stub earns marks in {', '.join(sorted(kept))}")
            # A stub may stop its own cell, never the tests.
            if outcome.ended:
                record.broken(f"the stub's trial was cut off: {outcome.ended}")
        else:
            _judge_mutant(record, candidate, outcome, failing)
            if len(failing[0]) == 1:
                sole |= failing[0]
    for name in _hidden_checks(exercise):
        if name not in sole:
            record.broken(
                f"the hidden check {name} is not the only killer of any mutant: add one that it alone finds, or drop it"
            )


def _judge_right(record: Record, candidate: Candidate, outcome: Outcome, failing: list[set[str]]) -> None:
    who = "the reference solution" if candidate.role == "reference" else f"accepted answer {candidate.name}"
    if outcome.ended:
        record.broken(f"{who}: its trial was cut off: {outcome.ended}", candidate)
    elif outcome.errors:
        record.broken(f"{who} raises: {outcome.errors[0]}", candidate)
    elif any(failing):
        first = next(f for verdicts in outcome.findings for found in verdicts.values() for f in found if not f.passed)
        record.broken(f"{who} loses marks in {first.check}: {first.sentence} {first.line}".rstrip(), candidate)
    elif not all(found for verdicts in outcome.findings for found in verdicts.values()):
        record.broken(f"{who}: a test cell calls no check, so it cannot fail", candidate)
    elif outcome.stderr and candidate.role == "reference":
        record.broken(f"{who} writes to stderr: {outcome.stderr.strip().splitlines()[0][:200]}", candidate)
    else:
        record.accepted += candidate.role == "accepted"


def _judge_mutant(record: Record, candidate: Candidate, outcome: Outcome, failing: list[set[str]]) -> None:
    if not all(failing):
        record.broken(f"the mutant {candidate.name} survives: {candidate.misconception}", candidate)
        return
    if any(error.startswith("answer: SyntaxError") for error in outcome.errors):
        record.broken(f"the mutant {candidate.name} is not Python, so it dies of that: {outcome.errors[0]}", candidate)
        return
    record.killed += 1
    if candidate.hint is not None and candidate.hint not in all_hints():
        record.broken(
            f"the mutant {candidate.name} expects the hint {candidate.hint!r}, which does not exist", candidate
        )
        return
    found = [f for verdicts in outcome.findings[:1] for cell in verdicts.values() for f in cell if not f.passed]
    shown = found[0].hint if found else None
    if shown == candidate.hint:
        record.hinted += 1
        record.named += shown is not None
    else:
        record.broken(
            f"the mutant {candidate.name} gets the hint {shown}, expected {candidate.hint}"
            + (f" ({found[0].check}: {found[0].sentence} {found[0].line})" if found else ""),
            candidate,
        )


def _hidden_checks(exercise: Exercise) -> Iterator[str]:
    """test_id/Check of every check class between the hidden-test markers."""
    for cell in exercise.tests:
        lines = cell.source.splitlines()
        inside, hidden = False, set()
        for number, line in enumerate(lines, 1):
            if line.strip() == "### BEGIN HIDDEN TESTS":
                inside = True
            elif line.strip() == "### END HIDDEN TESTS":
                inside = False
            elif inside:
                hidden.add(number)
        for node in ast.walk(ast.parse(cell.source)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "check" and node.lineno in hidden:
                for argument in node.args[1:]:
                    if isinstance(argument, ast.Name):
                        yield f"{cell.grade_id}/{argument.id}"
