"""Hand-ins that counted until another one came: keep them, and find those that would have more marks today.

What an earlier one would have is asked by today's due dates, extensions and penalty, and with the marks that people gave: a date
that moves can make another hand-in the better one, and nothing new comes then.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.files import digest_of, replace_file
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.receipts import LATE, TIME, readable_time_in
from nbproof.gradebook.writer import Penalties, in_gradebook
from nbproof.key import Key, notebook_of
from nbproof.marking.blueprint import Blueprint, fill_in
from nbproof.marking.results import Verdict
from nbproof.marking.verdicts import counted_by
from nbproof.places import places
from nbproof.recover.answers import Answers
from nbproof.run.journal import JOURNAL, journalled_verdict, verdict_in
from nbproof.text import printable

__all__ = ["Better", "better_ones", "keep_earlier", "untold"]


def _home(root: Path, key: Key) -> Path:
    return root / "collected" / "graded" / key.learner / key.assignment


def _verdict_name(key: Key) -> str:
    """What the file with the verdict is called there. No learner's file comes there that has such a name."""
    return f"{JOURNAL}.{notebook_of(key.lesson)}"


def keep_earlier(root: Path, earlier: Verdict, blueprint: Blueprint, came: str) -> None:
    """Keep the answers that counted until now, because others came, and the files beside them.

    ``came``: the time of the hand-in that the gradebook has, in UTC as text; empty if it has none. Raises OSError for the
    notebook.
    """
    key = Key(earlier.learner, earlier.lesson)
    kept = _home(root, key) / digest_of(earlier.handed_in.encode())[:8]
    kept.mkdir(parents=True, exist_ok=True)
    but = shutil.ignore_patterns(".*", "*.ipynb")
    with contextlib.suppress(OSError):  # a path that is too long there
        shutil.copytree(places(root).folder("autograded", *key), kept, symlinks=True, ignore=but, dirs_exist_ok=True)
    (kept / LATE).unlink(missing_ok=True)
    if earlier.late:
        (kept / LATE).touch()
        (kept / TIME).unlink(missing_ok=True)
    elif came and readable_time_in(kept / TIME, places(root).zone):
        # Another notebook of the assignment may have come since, and brought its time. Where no file tells one, the gradebook's
        # is made up.
        replace_file(kept / TIME, f"{came} UTC")
    elif not came and (kept / TIME).is_file():
        # It was empty for nbgrader, because it could not be read: so it stays, and a run names it again.
        replace_file(kept / TIME, "unknown")
    # The lesson may have fewer cells by now.
    last = len(blueprint.notebook.cells) - 1
    own = tuple(replace(one, after=min(one.after, last), place=None) for one in earlier.own)
    notebook = fill_in(blueprint, Answers(earlier.answers, own=own))
    replace_file(kept / f"{notebook_of(key.lesson)}.ipynb", json.dumps(notebook))
    replace_file(kept / _verdict_name(key), json.dumps(asdict(earlier.in_short())))


@dataclass(frozen=True)
class Better:
    """An earlier hand-in that would have more marks than the last one."""

    key: Key
    place: Path
    """The folder that it is kept in."""
    score: float
    """What it would have today."""
    most: float
    """The same, if a person gave full marks for each written answer that the last one lacks."""
    now: float
    """What the last one has."""

    @property
    def gain(self) -> float:
        """How many marks more it would have, at most."""
        return self.most - self.now

    def line(self, root: Path) -> str:
        """Whose it is, both marks, and the command that makes it count."""
        step = shlex.join(
            ["grade", "--from", str(self.place), "--learner", self.key.learner, "--lesson", self.key.lesson]
        )
        earlier = f"{self.score:g}"
        if self.most > self.score:
            earlier = f"up to {self.most:g}, with written answers that are not in the new one,"
        return (
            f"fewer marks with a new hand-in: {printable(self.key.name)}: {earlier} → {self.now:g}. "
            f"If the earlier one should count: {course_command(step, root)}"
        )


def better_ones(root: Path, marks: Iterable[Mark], penalties: Penalties) -> Iterator[Better]:
    """The best earlier hand-in of each submission that has one with more marks. ``marks``: of notebooks, as they are now."""
    for mark in marks:
        found = [] if mark.problem else [*_earlier(root, mark, penalties)]
        best = max(found, key=lambda one: one.gain, default=None)
        if best is not None and best.gain > _ROUNDING:
            yield best


_ROUNDING = 1e-9


def untold(found: Iterable[Better], told: Mapping[str, tuple[str, float]]) -> Iterator[Better]:
    """Those that nobody was told of, or that would have more marks than they would have had then."""
    for one in found:
        place, gain = told.get(one.key.name, ("", 0.0))
        if place != one.place.name or one.gain > gain + _ROUNDING:
            yield one


def _earlier(root: Path, mark: Mark, penalties: Penalties) -> Iterator[Better]:
    """All earlier hand-ins, as far as it is known what they earned."""
    for home in sorted(_home(root, mark.key).glob("*")):
        kept = verdict_in(home / _verdict_name(mark.key), mark.key)
        if kept is not None:
            now = journalled_verdict(root, *mark.key)
            seconds = _seconds_late(home, mark, places(root).zone)
            scores = _scores_today(kept, mark, now)
            gone = _answered(kept) - _answered(now)
            lost = {name: one.max_score for name, one in mark.cells.items() if name in gone and one.given is None}
            score, most = (_score_of(mark, each, penalties, seconds) for each in (scores, scores | lost))
            yield Better(mark.key, home, score, most, mark.score)


def _score_of(mark: Mark, scores: Mapping[str, float], penalties: Penalties, seconds: float) -> float:
    """The marks of a submission that is so late, if its cells had these."""
    cells = {name: replace(one, auto=scores.get(name)) for name, one in mark.cells.items()}
    points = sum(one.score for one in cells.values())
    return replace(mark, cells=cells, penalty=penalties.of(mark.key, points, seconds)).score


def _answered(verdict: Verdict | None) -> set[str]:
    """The written answers in a hand-in."""
    return set() if verdict is None else {one.id for one in verdict.written if one.answered}


def _scores_today(kept: Verdict, mark: Mark, now: Verdict | None) -> dict[str, float]:
    """What tests would give each cell: by today's points and, if other tests count now, by what the same answer has now."""
    most = {name: one.max_score for name, one in mark.cells.items()}
    exercises = {one.id: counted_by(most, one) for one in kept.exercises}
    if now is not None and now.source != kept.source:
        exercises |= {one.id: one for one in now.exercises if now.answers.get(one.id) == kept.answers.get(one.id)}
    return replace(kept, exercises=tuple(exercises.values())).scores


def _seconds_late(kept: Path, mark: Mark, zone: str) -> float:
    """How late it would be, by the due date of today. Beside a notebook that came later it is as late as that one."""
    due = mark.late.due
    if due is None:
        return 0.0
    came = readable_time_in(kept / TIME, zone)
    seconds = float((kept / LATE).exists())
    if came is not None:
        seconds = max(0.0, (in_gradebook(came, due) - due).total_seconds())
    return max(seconds, mark.late.seconds) if "/" in mark.lesson else seconds
