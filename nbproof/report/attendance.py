"""Who of the class handed in what: who nothing, who only what cannot be graded, who late."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbproof.collect.earlier import Undecided, Useless, undecided, useless
from nbproof.collect.members import Member
from nbproof.collect.roster import members_of
from nbproof.command import course_command
from nbproof.gradebook.reader import opened_gradebook
from nbproof.marking.results import Score
from nbproof.report.records import people_in
from nbproof.text import printable

__all__ = [
    "Attendance",
    "attend",
    "how_late",
    "late_lines",
    "latecomers",
    "lines_of",
    "people_of",
    "some",
    "undecided_lines",
]

_SHOWN = 20


@dataclass(frozen=True)
class Attendance:
    """The class against what it handed in. Lessons that nobody handed in are not asked about."""

    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lesson -> who handed in nothing for it."""
    useless: tuple[Useless, ...] = ()
    """What came from learners of whom nothing could be graded."""
    undecided: tuple[Undecided, ...] = ()
    """Of whom another copy than the one that is graded may be the last."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What people are called whose id does not say so."""

    def called(self, learner: str) -> str:
        """An id, and whose it is."""
        return f"{learner} ({self.names[learner]})" if learner in self.names else learner


def people_of(root: Path) -> dict[str, Member]:
    """Everybody of the class: on the roster, in the gradebook, with a folder in ``submitted/``. Raises CourseError."""
    found: dict[str, Member] = {}
    with opened_gradebook(root) as book:
        for one in people_in(book) if book is not None else ():
            found[one.id] = Member(one.id, one.name, one.email)
    for member in members_of(root):
        before = found.get(member.learner, member)
        found[member.learner] = Member(
            member.learner, member.name or before.name, member.email or before.email, member.also
        )
    for path in (root / "submitted").glob("*"):
        if path.is_dir() and path.name[:1] != "." and path.name.isprintable():
            found.setdefault(path.name, Member(path.name))
    return dict(sorted(found.items()))


def attend(
    root: Path, everybody: Mapping[str, Member], handed_in: Collection[tuple[str, str]], lessons: Sequence[str]
) -> Attendance:
    """``handed_in``: (learner, lesson) of all that lies in ``submitted/``. ``lessons``: those that are asked about."""
    others = tuple(one for one in useless(root, handed_in) if not one.lesson or one.lesson in lessons)
    came = {lesson for _, lesson in handed_in} | {one.lesson for one in others}
    told = {(one.learner, one.lesson) for one in others}
    people = sorted({*everybody, *(one.learner for one in others)})
    missing = {
        lesson: tuple(
            who for who in people
            if (who, lesson) not in handed_in and (who, lesson) not in told and (who, "") not in told
        )
        for lesson in lessons if lesson in came
    }  # fmt: skip
    names = {who: one.name for who, one in everybody.items() if one.name not in {"", who}}
    asked = undecided(root, {(learner, lesson) for learner, lesson in handed_in if lesson in lessons})
    return Attendance({lesson: who for lesson, who in missing.items() if who}, others, asked, names)


def lines_of(attendance: Attendance, root: Path) -> list[str]:
    """For a terminal: of each lesson who handed in nothing; learners of whom nothing counts, or perhaps another copy."""
    called = attendance.called
    lines = [f"nothing handed in: {lesson}: {some([*map(called, who)])}" for lesson, who in attendance.missing.items()]
    return (
        lines
        + [
            f"! nothing that can be graded: {called(one.learner)}{': ' + one.lesson if one.lesson else ''}: {one}"
            for one in attendance.useless
        ]
        + undecided_lines(attendance.undecided, root, attendance.names)
    )


def undecided_lines(waiting: Sequence[Undecided], root: Path, names: Mapping[str, str]) -> list[str]:
    """For a terminal: of whom nobody knows which copy is the last, with a command for each copy."""
    lines = []
    for one in waiting[:_SHOWN]:
        called = f"{one.learner} ({names[one.learner]})" if one.learner in names else one.learner
        lines.append(
            f"! another copy waits: {called}: {one.lesson}: nothing says whether it came later than the one in "
            "submitted/, which is graded. Say which one counts:"
        )
        for copy in one.copies:
            words = (
                f"collect {shlex.quote(str(root / copy))} --learner {shlex.quote(one.learner)} --lesson {one.lesson}"
            )
            lines.append(f"    {course_command(words, root)}")
    if len(waiting) > _SHOWN:
        lines.append(f"! another copy waits: and {len(waiting) - _SHOWN} more")
    return [printable(line) for line in lines]


def late_lines(scores: Sequence[Score]) -> list[str]:
    """Who was late, how late, and what that costs."""
    late = [score for score in scores if score.late and not score.problem]
    return [
        f"(l) late: {lesson}: {latecomers(score for score in late if score.lesson == lesson)}"
        for lesson in sorted({score.lesson for score in late})
    ]


def latecomers(late: Iterable[Score]) -> str:
    """Who was how late, the latest first, and what it costs; of whom only the LMS tells that, together."""
    told, together = [], defaultdict[str, list[str]](list)
    for one in sorted(late, key=lambda one: (-one.seconds_late, one.learner)):
        how, cost = (
            how_late(one.seconds_late, one.said_late, one.extended),
            f" (-{one.penalty:g})" if one.penalty else "",
        )
        if one.said_late:
            together[how].append(one.learner + cost)
        else:
            told.append(f"{one.learner} {how}{cost}")
    lists = [some(told)] if told else []
    return "; ".join([*lists, *(f"{some(names)} {how}" for how, names in together.items())])


def how_late(seconds: float, said: bool = False, extended: bool = False) -> str:
    """In words. ``said``: only the LMS's word tells of it. ``extended``: the learner had more time than the class."""
    if said and seconds > 0:
        return "at least 1 s (the LMS says late, not when)"
    if said and extended:
        return "(the LMS says so, not when: perhaps within the extension)"
    if said:
        return "(the LMS says so, no due date is set)"
    minutes = int(seconds // 60)
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    told = [f"{count} {unit}" for count, unit in parts if count][:2]
    return " ".join(told) or f"{seconds:.0f} s"


def some(names: Sequence[str]) -> str:
    """Names for a terminal, of very many the first."""
    shown = [printable(name) for name in names[:_SHOWN]]
    return ", ".join(shown) + (
        f" and {len(names) - _SHOWN} more (report and --json name all)" if len(names) > _SHOWN else ""
    )
