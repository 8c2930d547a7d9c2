"""What learners have earns nothing: each test cell has a hidden check that the truths of the visible ones do not answer.

Learners have the visible checks, truths and all. So a text that knows nothing of the exercise can run them on the case of a
hidden check, and send what they want as evidence: whole, or field by field. The author contract tries just that, under some
seeds: small numbers agree by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import CodeType

from nbproof.checks.case import Case, seeds_of
from nbproof.checks.check import Check, listing
from nbproof.checks.namespace import undisturbed
from nbproof.course_file import Course
from nbproof.lesson.check_cell import probe_in
from nbproof.lesson.lesson import TestCell
from nbproof.values.compare import AnyOf, Close, is_same
from nbproof.values.evidence import Evidence, TensorRecord, key_text, snapshot

__all__ = ["Guard", "called_in", "can_be_made", "compiled", "guards"]

_SEEDS = 3


@dataclass(frozen=True)
class Guard:
    """What guards the marks of one test cell."""

    grade_id: str
    constant: str = ""
    """Why its wanted value is the same for everybody, if it is exempt."""
    flaw: str = ""
    """Why it guards nothing; empty if it holds."""


def guards(course: Course, tests: Iterable[TestCell]) -> Iterator[Guard]:
    """Whether each test cell of one exercise has a hidden check that holds."""
    whole = {test.grade_id: test for test in tests}
    shown = {name: _checks_of(test.shown, name) for name, test in whole.items()}
    everything_shown = list(chain.from_iterable(shown.values()))
    for name, test in whole.items():
        names = {task.__name__ for task in shown[name]}
        hidden = [task for task in _checks_of(test.source, name) if task.__name__ not in names]
        constant = next((task.constant for task in hidden if task.constant), "")
        if not hidden:
            yield Guard(name, flaw=f"{name} has no hidden check, on which its marks could rest")
        elif constant:
            yield Guard(name, constant)
        elif _are_forged(course, hidden, _halves_of(test.source, name), everything_shown):
            first = hidden[0].__name__
            flaw = f"{name}/{first}: evidence put together of what learners have passes it, so its marks need no answer"
            yield Guard(name, flaw=flaw)
        else:
            yield Guard(name)


def _checks_of(source: str, name: str) -> list[type[Check]]:
    return [task for _, task in called_in(source, name)]


def _halves_of(source: str, name: str) -> dict[str, type[Check]]:
    """What the learner's process has of the checks of a test cell."""
    space: dict[str, object] = {"__name__": name}
    exec(compile(probe_in(source), name, "exec"), space)  # noqa: S102 (authors' own code)
    return {key: one for key, one in space.items() if isinstance(one, type) and issubclass(one, Check)}


def _are_forged(
    course: Course, hidden: list[type[Check]], halves: Mapping[str, type[Check]], shown: Sequence[type[Check]]
) -> bool:
    """Whether what learners have passes all of these hidden checks."""
    with undisturbed({}, (), Case(1, course)):  # what is tried may print, and warn, and leave something switched on
        return all(_is_forged(course, task, halves.get(task.__name__, Check), shown) for task in hidden)


@cache
def compiled(source: str, name: str) -> CodeType:
    """A test cell, ready to run: every trial of its exercise runs it."""
    return compile(source, f"<{name}>", "exec")


def called_in(source: str, name: str, names: Mapping[str, object] | None = None) -> list[tuple[str, type[Check]]]:
    """(exercise, check) of every check that a test cell calls where there are these names; none of a notebook's, if not given."""
    with listing() as tasks:
        exec(compiled(source, name), {"__name__": name, **(names or {})})  # noqa: S102 (authors' own code)
    return tasks


def _is_forged(course: Course, hidden: type[Check], half: type[Check], shown: Sequence[type[Check]]) -> bool:
    """Whether evidence put together of visible truths passes a hidden check, under each of some seeds."""
    first = seeds_of(hidden.cases, 1)[0]
    wanted = [hidden().truth(Case(first + number, course)) for number in range(_SEEDS)]
    for number, one in enumerate(wanted):
        pieces: list[Evidence] = []
        for task in shown:
            for said in _said(task, half, Case(first + number, course)):
                pieces += _pieces(said)
        others = [*wanted[:number], *wanted[number + 1 :]]
        if not can_be_made(one, pieces, others, hidden.claims):
            return False
    return True


def _said(task: type[Check], half: type[Check], case: Case) -> Iterator[object]:
    """What a visible check wants on this case, and what its mistakes bring: with its own settings, and those of ``half``."""
    kinds = [task]
    with suppress(TypeError):  # their bases do not go together
        kinds.append(type(task.__name__, (half, task), {"truth": task.truth, "mistakes": task.mistakes}))
    for kind in kinds:
        for say in (kind().truth, kind().mistakes):
            with suppress(Exception):  # it needs another case
                yield say(case)


def _parts_of(value: object) -> Sequence[object] | None:
    """What a value is made of, or allows; None if it is a leaf, as a list of numbers and texts is."""
    if isinstance(value, AnyOf):
        return value.options
    if isinstance(value, Close):
        return (value.value,)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple)) and not _is_plain(value):
        return value
    return None


def _is_plain(value: object) -> bool:
    """Whether it is made of numbers and texts alone, however deep."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, complex, str, bytes, type(None)))


def _pieces(said: object) -> Iterator[Evidence]:
    """The leaves of what somebody says."""
    parts = _parts_of(said)
    if parts is None:
        yield snapshot(said)
    for part in parts or ():
        yield from _pieces(part)


def can_be_made(
    wanted: object, pieces: Sequence[Evidence], others: Sequence[object] = (), claims: Collection[str] = ()
) -> bool:
    """Whether each leaf of what is wanted is one of these pieces. Keys and lengths cost nothing.

    ``others``: what the same check wants under other seeds. A plain leaf that all of them hold in the same place can be said
    without knowing anything, but for the fields that ``claims`` names.
    """
    if any(is_same(piece, wanted) for piece in pieces):
        return True
    parts = _parts_of(wanted)
    if parts is None:
        is_fixed = bool(others) and all(is_same(snapshot(other), wanted) for other in others)
        return is_fixed and not isinstance(snapshot(wanted), TensorRecord)
    if isinstance(wanted, AnyOf):
        return any(can_be_made(option, pieces) for option in parts)
    names = list(wanted) if isinstance(wanted, Mapping) else []
    rows = [list(_parts_of(other) or ()) for other in others]
    for at, part in enumerate(parts):
        claimed = bool(names) and key_text(names[at]) in claims
        beside = [] if claimed else [row[at] for row in rows if at < len(row)]
        if not can_be_made(part, pieces, beside):
            return False
    return True
