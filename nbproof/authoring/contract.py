"""The author contract: the proof that an exercise's tests accept every right answer and no wrong one.

Per exercise: the reference and each accepted answer earn full marks, the untouched stub none, each
mutant less than full, and not only for what the notebook says about itself; each test cell has a hidden
check that nothing which learners have can answer; two runs with other seeds agree; nothing reaches stderr; the
checks are sound in themselves. Per lesson, in
:mod:`nbproof.authoring.checkup`: the derived notebooks are fresh, and leak nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from nbproof.authoring.forgery import Guard
from nbproof.authoring.forks import run_trials
from nbproof.authoring.statements import Demands, demands_of, over_budget, unbroken
from nbproof.authoring.trial import Trial, Tried
from nbproof.cells import CellKind, solution_of
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.display.help import all_hints, known_hint
from nbproof.errors import LessonError, refuse_unknown
from nbproof.handed_out import CHECKS
from nbproof.lesson.exercise_folder import RIGHT, WRONG
from nbproof.lesson.from_text import read_lessons
from nbproof.lesson.lesson import Candidate, CheckCell, Exercise, Lesson, PlainCell, TestCell
from nbproof.text import counted
from nbproof.values.results import Finding
from nbproof.values.words import words_of

__all__ = [
    "Record",
    "check_contract",
    "select",
    "to_run",
]

_MAX_UNSEEN = 0.05
"""Of an exercise's mutants, or one: what is hidden guards against answers made for the visible inputs, not against a trap."""


@dataclass
class Record:
    """What the contract found on one exercise."""

    exercise: Exercise
    accepted: int = 0
    killed: int = 0
    named: int = 0
    """Mutants that get a hint of their own."""
    seen: int = 0
    """Mutants that visible checks find; asserts do not count. Others get a green panel where hidden checks are withheld."""
    guarded: int = 0
    """Test cells with a hidden check that nothing learners have can answer."""
    exempt: float = 0.0
    """Points of the other test cells: what they want is the same for everybody."""
    demands: Demands = field(default_factory=Demands)
    """What the statement demands, and what of it a mutant breaks."""
    seconds: float = 0.0
    violations: list[LessonError] = field(default_factory=list)

    def broken(self, fact: str, candidate: Candidate | None = None, cure: str = "", place: str = "") -> None:
        """Note a violation, placed at the candidate's cell, or at the exercise's cell; ``cure``: what to do, if it is known."""
        own = candidate.place if candidate is not None else ""
        place = place or own or self.exercise.answer.place
        again = course_command(f"check {self.exercise.id}")
        then = f"{cure or 'mend the answer there, or its checks'}; then: {again}"
        self.violations.append(LessonError(f"{self.exercise.id}: {fact}", place, then))


def select(
    course: Course, root: Path, names: Sequence[str], lessons: Sequence[Lesson] | None = None
) -> list[tuple[Lesson, Exercise]]:
    """The exercises of the named lessons, or those named themselves; all if nothing is named.

    ``lessons``: all of them, if they are read already. Raises UsageError for an unknown name, LessonError for a broken lesson.
    """
    lessons = lessons or read_lessons(course, root)
    pairs: list[tuple[Lesson, Exercise]] = []
    for lesson in lessons:
        pairs += [(lesson, exercise) for exercise in lesson.exercises]
    known = {lesson.slug for lesson in lessons} | {exercise.id for _, exercise in pairs}
    refuse_unknown(names, "lesson or exercise", sorted(known), root / "lessons")
    return [(lesson, exercise) for lesson, exercise in pairs if not names or {lesson.slug, exercise.id} & set(names)]


def check_contract(
    pairs: list[tuple[Lesson, Exercise]],
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
    limit: float = 60.0,
    mutant_seeds: tuple[int, ...] = (1, 2),
    told: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Run every candidate of these exercises; the records hold what was found.

    ``step`` is told of progress, and ``told`` of each exercise after all its candidates have been tried. After ``limit``
    seconds a candidate is cut off. ``mutant_seeds``: each mutant runs once with each of these seeds.
    """
    jobs: list[tuple[int, Candidate]] = []
    for number, (_, exercise) in enumerate(pairs):
        jobs += [(number, candidate) for candidate in exercise.candidates]
    trials = [_trial(*pairs[number], candidate, limit, mutant_seeds) for number, candidate in jobs]
    records = [Record(exercise) for _, exercise in pairs]
    outcomes: dict[int, list[tuple[Candidate, Tried]]] = {number: [] for number in range(len(pairs))}
    for done, (index, outcome) in enumerate(run_trials(trials), 1):
        number, candidate = jobs[index]
        outcomes[number].append((candidate, outcome))
        records[number].seconds += outcome.seconds
        step(done, len(jobs), f"{pairs[number][1].id}/{candidate.name}")
        if len(outcomes[number]) == len(pairs[number][1].candidates):
            _judge(records[number], outcomes[number])
            _judge_statement(records[number], pairs[number][0])
            told(records[number])
    return records


def _trial(
    lesson: Lesson, exercise: Exercise, candidate: Candidate, limit: float, mutant_seeds: tuple[int, ...]
) -> Trial:
    # What learners could forge is tried beside the reference: that takes longer than any answer does.
    proves_checks = candidate.role == "reference"
    seeds = mutant_seeds if candidate.role == "mutant" else (1, 2)
    canary = exercise.canary if candidate.role in ("reference", "accepted") else ""
    return Trial(
        exercise.course,
        candidate.source,
        *to_run(lesson, exercise),
        seeds=seeds,
        proves_checks=proves_checks,
        canary=canary,
        limit=limit * (1 + 2 * proves_checks),
        files=lesson.files,
    )


def to_run(lesson: Lesson, exercise: Exercise) -> tuple[tuple[str, ...], tuple[TestCell, ...]]:
    """What runs before an answer, and its test cells: what is read-only; of plain nbgrader all that stands above, solved."""
    setup, below, tests = list[str](), list[str](), list[TestCell]()
    runs = (CellKind.SETUP, CellKind.SHOW, CellKind.ANSWER) if exercise.plain else (CellKind.SETUP,)
    here = setup
    for cell in lesson.cells[: lesson.cells.index(exercise.tests[-1]) + 1]:
        if cell == exercise.answer:
            here = below if exercise.plain else setup
        elif isinstance(cell, TestCell) and cell in exercise.tests:
            above = below if isinstance(cell, PlainCell) else []
            source = "\n\n".join([*above, cell.source])
            shown = "\n\n".join([*above, cell.shown])
            tests.append(replace(cell, source=source, shown=shown))
            below.clear()
        elif cell.kind in runs or (exercise.plain and isinstance(cell, TestCell) and not cell.call):
            here.append(solution_of(cell.source))
    return tuple(setup), tuple(tests)


def _judge(record: Record, outcomes: list[tuple[Candidate, Tried]]) -> None:
    exercise = record.exercise
    for flaw in chain.from_iterable(outcome.flaws for _, outcome in outcomes):
        record.broken(flaw)
    if record.violations:  # what else goes wrong follows from that
        return
    least = {"min_accepted": 0, "min_mutants": 2, **exercise.course.budget_of(exercise.lesson)}
    for what, there, key, file, line in (
        ("accepted answer", exercise.accepted, "min_accepted", RIGHT, ""),
        (
            "mutant",
            exercise.mutants,
            "min_mutants",
            WRONG,
            "# misconception: <in a few words> | hint: none, below that ",
        ),
    ):
        if len(there) < least[key]:
            cure = (
                f"write {least[key] - len(there)} more there, each as: # %% <name>, below it {line}the whole TODO cell"
            )
            place = Path(exercise.answer.place).with_name(exercise.id) / file
            record.broken(f"{counted(len(there), what)}, at least {least[key]} are needed", cure=cure, place=str(place))
    killers: dict[str, set[str]] = {}
    for candidate, outcome in sorted(outcomes, key=lambda pair: pair[0].name):
        failing = _judge_candidate(record, candidate, outcome)
        if candidate.role == "mutant":
            killers[candidate.name] = failing
    _judge_visible(record, killers)


def _judge_candidate(record: Record, candidate: Candidate, outcome: Tried) -> set[str]:
    """Note what one trial shows; returns the checks that failed under the first seed."""
    failing = [outcome.failing(index) for index in range(max(1, len(outcome.findings)))]
    if len({frozenset(found) for found in failing}) > 1:
        parts = " and ".join(str(sorted(found) or "none") for found in failing)
        record.broken(f"{candidate.role} {candidate.name}: two seeds disagree, failing checks {parts}", candidate)
    for guard in outcome.guards:
        _judge_guard(record, guard)
    if candidate.role in ("reference", "accepted"):
        _judge_right(record, candidate, outcome, failing)
    elif candidate.role == "stub":
        _judge_stub(record, outcome)
    else:
        _judge_mutant(record, candidate, outcome, failing)
    return failing[0]


def _judge_statement(record: Record, lesson: Lesson) -> None:
    exercise = record.exercise
    if not exercise.plain:  # its asserts are what they are; what they ask is not the statement's
        record.demands = demands_of(lesson, exercise)
        record.violations += unbroken(lesson, exercise)
        record.violations += over_budget(lesson, exercise, lesson.course.budget_of(lesson.slug))


def _earns_marks(found: Sequence[Finding]) -> bool:
    return bool(found) and all(one.passed for one in found)


def _end_of(outcome: Tried) -> str:
    """How a trial ended that was cut off, with the last line that its process wrote."""
    return ": ".join([outcome.ended, *outcome.stderr.strip().splitlines()[-1:]])


def _judge_stub(record: Record, outcome: Tried) -> None:
    # A stub may stop its own cell, never the tests.
    if outcome.ended:
        record.broken(f"the stub's trial was cut off: {_end_of(outcome)}")
        return
    kept = [cell for cell, found in outcome.findings[0].items() if _earns_marks(found)]
    if kept:
        record.broken(f"the untouched stub earns marks in {', '.join(sorted(kept))}")


def _judge_visible(record: Record, killers: Mapping[str, set[str]]) -> None:
    """Note whether visible and hidden checks both do their part; ``killers``: mutant -> the checks that it fails."""
    exercise = record.exercise
    hidden = set(_hidden_checks(exercise))
    for name in sorted(hidden - set().union(*killers.values())):
        record.broken(
            f"the hidden check {name} finds no mutant: nothing shows that it can fail",
            cure=f"let it ask for what the statement asks for, in {exercise.id}/{CHECKS}",
        )
    asked = sum(1 for who in killers.values() if who & hidden)
    least = exercise.course.budget_of(exercise.lesson).get("hidden_share", 0)
    if hidden and asked < least * len(killers):
        missed = sorted(name for name, who in killers.items() if not who & hidden)
        record.broken(
            f"{asked} of {len(killers)} mutants fail a hidden check, at least {least:.0%} should, because "
            "nothing else finds a learner who forges visible evidence: " + ", ".join(missed),
            cure=f"let the hidden checks in {exercise.id}/{CHECKS} see more of what an answer does, on the same scenario",
        )
    unseen = sorted(name for name, who in killers.items() if set() < who <= hidden)
    asserts = {f"{cell}/{cell}" for cell in exercise.plain}  # which of them learners see is not known
    record.seen = sum(bool(who - hidden - asserts) for who in killers.values())
    if len(unseen) > max(1, _MAX_UNSEEN * len(killers)):
        record.broken(
            f"{len(unseen)} of {len(killers)} mutants pass the visible checks, at most {_MAX_UNSEEN:.0%} may: "
            + ", ".join(unseen),
            cure=f"in {exercise.id}/{CHECKS} move what finds them above the line of the hidden checks",
        )


def _judge_guard(record: Record, guard: Guard) -> None:
    """Note whether the marks of a test cell rest on what learners do not have."""
    if guard.flaw:
        record.broken(
            guard.flaw,
            cure=f"below the line of the hidden checks in {record.exercise.id}/{CHECKS}, write a check with a truth of its own, "
            "on a scenario that no visible check has",
        )
    elif guard.constant:
        record.exempt += sum(cell.points for cell in record.exercise.tests if cell.grade_id == guard.grade_id)
    else:
        record.guarded += 1


def _judge_right(record: Record, candidate: Candidate, outcome: Tried, failing: list[set[str]]) -> None:
    who = "the reference solution" if candidate.role == "reference" else f"accepted answer {candidate.name}"
    if outcome.ended:
        record.broken(f"{who}: its trial was cut off: {_end_of(outcome)}", candidate)
    elif outcome.errors:
        record.broken(f"{who} raises: {outcome.errors[0]}", candidate)
    elif any(failing):
        first = outcome.lost()[0]
        words = words_of(record.exercise.course)
        found = f"{words.finding(first)} {words.line(first)}".rstrip()
        record.broken(f"{who} loses marks in {first.check}: {found}", candidate)
    elif not all(all(verdicts.values()) for verdicts in outcome.findings):
        record.broken(f"{who}: a test cell calls no check, so it cannot fail", candidate)
    elif outcome.stderr and candidate.role == "reference":
        record.broken(f"{who} writes to stderr: {outcome.stderr.strip().splitlines()[0][:200]}", candidate)
    else:
        record.accepted += candidate.role == "accepted"


def _judge_mutant(record: Record, candidate: Candidate, outcome: Tried, failing: list[set[str]]) -> None:
    if not all(failing):
        record.broken(
            f"the mutant {candidate.name} survives: {candidate.misconception}",
            candidate,
            f"write a check that it fails, or, if it is right, move it to {record.exercise.id}/right.py without its first line",
        )
        return
    if any(error.startswith("answer: SyntaxError") for error in outcome.errors):
        record.broken(
            f"the mutant {candidate.name} is not valid Python, and fails only for that: {outcome.errors[0]}",
            candidate,
            "mend its Python: it is to fail for its misconception",
        )
        return
    record.killed += 1
    if candidate.hint is None or candidate.hint in all_hints(record.exercise.course):
        _judge_hint(record, candidate, outcome)
        return
    record.broken(
        f"the mutant {candidate.name} expects the hint {candidate.hint!r}, which does not exist",
        candidate,
        f"write [{candidate.hint}] in lessons/{record.exercise.lesson}/hints.toml, "
        f"then: {course_command('build')}; "
        "or name another one in its first line",
    )


def _judge_hint(record: Record, candidate: Candidate, outcome: Tried) -> None:
    """Note whether a mutant gets the hint that it declares."""
    found = outcome.lost(1)
    course = record.exercise.course
    words = words_of(course)
    shown = known_hint(course, found[0].hint) if found else None
    if shown == candidate.hint:
        record.named += shown is not None
    else:
        why = f" ({found[0].check}: {words.finding(found[0])} {words.line(found[0])})" if found else ""
        record.broken(
            f"the mutant {candidate.name} gets the hint {shown}, expected {candidate.hint}{why}",
            candidate,
            f"if that is right, write 'hint: {shown or 'none'}' in its first line; otherwise name {candidate.hint or 'none'} "
            "in `mistakes`, `blame` or `errors` of that check",
        )


def _hidden_checks(exercise: Exercise) -> Iterator[str]:
    """test_id/Check of every check that learners do not have."""
    for cell in exercise.tests:
        if isinstance(cell, CheckCell):
            yield from (f"{cell.grade_id}/{name}" for name in cell.hidden_checks)
