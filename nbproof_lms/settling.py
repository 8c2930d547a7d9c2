"""``settle``: what a person has seen of what cannot be graded, or has no place, and no run asks about again.

It is noted by its name and the digest of what was handed in (``.course/settled.json``): other bytes are asked about.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.records import read_class
from nbproof.run.intake import digest_below, is_noted, lessons_with_source, take_in
from nbproof.run.journal import note_settled, only_run, settled_in
from nbproof.text import printable
from nbproof_lms.attendance import Useless, known_of, people_of, useless
from nbproof_lms.outcome import lines_in

__all__ = ["run_settle", "seen_in"]


def seen_in(root: Path, marks: Iterable[Mark], others: Iterable[Useless] = ()) -> frozenset[Key]:
    """What of these a person has settled, and is still the same."""
    noted = settled_in(root)
    asked = {key: _digest(root, key) for key in (one.key for one in marks) if key.name in noted}
    asked |= {one.key: one.sha256 for one in others}
    return frozenset(key for key, digest in asked.items() if is_noted(noted, key.name, digest))


def _digest(root: Path, key: Key) -> str:
    return digest_below(places(root).folder("submitted", *key))


@dataclass(frozen=True)
class _Trouble:
    """``name``: what it is noted by: learner and lesson, a path in submitted/, or one in an upload. ``place``: where it lies."""

    name: str
    digest: str
    learner: str
    said: str
    place: str = ""


def _troubles(root: Path) -> Iterator[_Trouble]:
    """All that a run, or `collect`, asks a person about, and that no other command settles."""
    lessons = lessons_with_source(root, [])
    intake = take_in(root, lessons, lessons)
    for path, why in intake.passed.items():
        yield _Trouble(path, digest_below(root / path), Path(path).parent.name, why)
    handed_in = {one.key for one in intake.submissions}
    marks = read_class(root, [], told=known_of(root)).marks if handed_in else {}
    for key in sorted(handed_in & marks.keys()):
        said = marks[key].problem or "; ".join(f"{name}: {why}" for name, why in marks[key].missing.items())
        if said and not marks[key].behind:
            yield _Trouble(key.name, _digest(root, key), key.learner, said, f"submitted/{key.name}")
    for one in useless(root, handed_in):
        yield _Trouble(one.key.name, one.sha256, one.learner, str(one))
    for line in lines_in(root):
        if line.needs_person and line.status != "waits":
            yield _Trouble(line.name, line.sha256, line.learner, f"{line.status}: {line.why}", line.place)


def run_settle(arguments: Namespace) -> int:
    """Say what will be settled, then note it; without names say what there is. 0. Raises UsageError if a name fits nothing."""
    root: Path = arguments.course
    asked = set(arguments.names)
    with only_run(root):
        noted = settled_in(root)
        every = {one.name: one for one in _troubles(root)}.values()
        called = {one: {one.name, one.place, one.learner} - {""} for one in every}
        if unknown := asked.difference(*called.values()):
            fact = f"nothing that waits for you is called {min(unknown)!r}"
            raise UsageError(fact, str(root.resolve()), f"{course_command('settle', root)} lists what does")
        chosen = [one for one in every if asked & called[one]] or every
        before = {one for one in chosen if is_noted(noted, one.name, one.digest)}
        if asked:
            noted = {name: note for name, note in noted.items() if name not in {one.name for one in chosen}}
        if asked and not arguments.undo:
            noted |= {
                one.name: {"digest": one.digest, "learner": one.learner, "open": arguments.open} for one in chosen
            }
        people = people_of(root)
        for one in chosen:
            now = _told(arguments, one in before)
            whose = people[one.learner].contact if one.learner in people else one.learner or "nobody's"
            print(printable(f"{one.name}  ({whose})  {now}: {one.said}"))
        note_settled(root, noted)
    return 0


def _told(arguments: Namespace, is_settled: bool) -> str:
    if not arguments.names:
        return "settled" if is_settled else "waits for you"
    if arguments.undo:
        return "asked about again"
    return "seen, and left open" if arguments.open else "seen: what has no mark counts 0"
