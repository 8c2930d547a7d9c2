"""The part of the author contract that is about help: it is there, it leads somewhere, and it gives nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbproof.authoring.contract import Record
from nbproof.authoring.exercise_folder import HINTS
from nbproof.authoring.hint_texts import WAY_IN, place_of
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.cells import CellKind, private_lines
from nbproof.command import course_command
from nbproof.display.help import Hint, all_hints, exercise_hints
from nbproof.errors import Violation

__all__ = ["SHARE", "check_hints", "check_share", "given_away", "share_named"]

SHARE = 0.95
"""Of all mutants, how many must be told which misconception they are."""

_SHORTEST = 12
"""Characters without spaces: `return None` is nobody's solution, `max(floor,min(value,cap))` is."""


def share_named(records: Sequence[Record]) -> float:
    """The share of mutants that get a hint of their own, the one that they declare; 1.0 if there are none."""
    mutants = sum(len(record.exercise.mutants) for record in records)
    return sum(record.named for record in records) / mutants if mutants else 1.0


def check_share(records: Sequence[Record]) -> Iterator[Violation]:
    """Whether enough mutants are told their misconception."""
    share = share_named(records)
    unnamed = [one for record in records for one in record.exercise.mutants if one.hint is None]
    # One that gets another hint than it declares is told for itself.
    if share < SHARE and unnamed:
        shown = ", ".join(one.place for one in unnamed[:3])
        yield Violation(
            f"{share:.1%} of the mutants get a hint of their own, at least {SHARE:.0%} are asked for",
            f"{len(unnamed)} declare none, such as {shown}",
            "give each a hint in the lesson's hints.toml, and name it in `mistakes`, `blame` or `errors` of a check",
        )


def check_hints(lessons: Sequence[Lesson]) -> Iterator[Violation]:
    """What is wrong with the help for these lessons."""
    for lesson in lessons:
        for exercise in lesson.exercises:
            if exercise.id not in exercise_hints():
                yield Violation(
                    f"{exercise.id} has no way in",
                    f"{lesson.path.parent / HINTS}: no [{WAY_IN}.{exercise.id}]",
                    f"write one: question, idea, read; then: {course_command('build')}",
                )
    titles = {lesson.slug[:2]: _titles(lesson) for lesson in lessons}
    hints = [*all_hints().values(), *exercise_hints().values()]
    for hint in hints:
        for number, names in re.findall(r"Lesson (\d\d), ([^;]+)", hint.read):
            for name in re.findall(r"'((?:[^']|'(?=\w))+)'", names):
                if number in titles and name not in titles[number]:
                    yield Violation(
                        f"the hint {hint.id!r} points to a section that is not there: {hint.read}",
                        _place(lessons, hint),
                        f"the sections of lesson {number} are: {', '.join(sorted(titles[number]))}",
                    )
    for lesson in lessons:
        yield from given_away(lesson, hints)


def _titles(lesson: Lesson) -> set[str]:
    """The headings below the lesson's title, as they are written and without their code marks."""
    prose = "\n".join(cell.source for cell in lesson.cells if cell.kind is CellKind.PROSE)
    written = {title.strip() for title in re.findall(r"^#{2,4} (?:Exercise: )?(.+)$", prose, re.MULTILINE)}
    return written | {title.replace("`", "") for title in written}


def given_away(lesson: Lesson, hints: Sequence[Hint]) -> Iterator[Violation]:
    """Hints that hold a line of a solution of this lesson, be it the reference or an accepted answer."""
    public = {_bare(line) for cell in lesson.cells for line in private_lines(cell.source)[0]}
    told = [(hint, _bare(f"{hint.name} {hint.question} {hint.idea} {hint.read}")) for hint in hints]
    for exercise in lesson.exercises:
        for line in sorted(_solving_lines(exercise)):
            bare = _bare(line)
            if len(bare) < _SHORTEST or bare in public:
                continue
            for hint in [hint for hint, text in told if bare in text]:
                yield Violation(
                    f"the hint {hint.id!r} holds a line of a solution of {exercise.id}: {line}",
                    _place([lesson], hint),
                    f"lead to the idea, in words; then: {course_command('build')}",
                )


def _solving_lines(exercise: Exercise) -> set[str]:
    """The lines of its solutions that do something."""
    lines = set(private_lines(exercise.answer.source)[1])
    for accepted in exercise.accepted:
        lines |= set(map(str.strip, accepted.source.splitlines()))
    return {line for line in lines if not line.startswith("#") and re.search(r"[(=\[]", line)}


def _place(lessons: Sequence[Lesson], hint: Hint) -> str:
    """Where the hint is written: ``<slug>/lesson.py`` lies two folders below lessons' own."""
    return place_of(lessons[0].path.parent.parent.parent, hint.id)


def _bare(text: str) -> str:
    return re.sub(r"[\s`]+", "", text)
