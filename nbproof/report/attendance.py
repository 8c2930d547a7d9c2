"""The class compared with what it handed in, as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from nbproof.gradebook.marks import Person
from nbproof.key import Key, assignment_of

__all__ = ["Attendance", "NothingGradable", "missing_in"]


@dataclass(frozen=True)
class NothingGradable:
    """A file that a learner handed in and nobody can grade. ``lesson`` is empty if nothing says which lesson it was for."""

    learner: str
    lesson: str
    file: str
    why: str
    status: str = ""
    sha256: str = ""

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner, self.lesson)

    def __str__(self) -> str:
        if self.status == "waits":
            return f"{self.file} and another copy wait for you to say which one counts"
        return f"only {self.file} came: {self.why}"


@dataclass(frozen=True)
class Attendance:
    """The class compared with what it handed in. Assignments that nobody handed in are not asked about.

    ``missing``: lesson -> the learners who handed in nothing for it, perhaps nobody. ``nothing_gradable``: files of learners who
    handed in nothing else for a lesson. ``undecided``: copies of a lesson, as paths in the course's folder, if nothing says
    which is the last: the one that is graded meanwhile comes first, if a list has it.
    ``people``: everybody, by id. ``withdrawn``: lines on marks for what does not lie in submitted/ any more.
    ``without_place``: files of uploads that count for nobody, until a person says what becomes of them.
    """

    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nothing_gradable: tuple[NothingGradable, ...] = ()
    undecided: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()
    without_place: tuple[str, ...] = ()

    def contact(self, learner: str) -> str:
        """The id, the name and the address of a learner, as one text."""
        return self.people.get(learner, Person(learner)).contact


def missing_in(
    lessons: Sequence[str], people: Mapping[str, Person], came: Collection[Key]
) -> dict[str, tuple[str, ...]]:
    """The learners who handed in nothing, for each of these lessons. An assignment that nobody handed in has no entry.

    ``people``: the class, by id. ``came``: the keys of all that came; a file of no known lesson has an empty one.
    """
    assignments = {assignment_of(lesson) for _, lesson in came}
    return {lesson: _without(lesson, people, came) for lesson in lessons if assignment_of(lesson) in assignments}


def _without(lesson: str, people: Mapping[str, Person], came: Collection[Key]) -> tuple[str, ...]:
    """The learners who handed in nothing for a lesson, under any of their ids; a file of no known lesson may be for this one."""
    learners = {learner for learner, other in came if other in (lesson, "")}
    return tuple(one for one in sorted(people) if learners.isdisjoint(people[one].ids))
