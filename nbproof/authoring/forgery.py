"""What learners have earns nothing: each test cell has a hidden check that no visible truth answers.

Learners have the visible checks, truths and all. So a text that knows nothing of the exercise can run them beside the
probe of a hidden check, on its very case, and send what they want as evidence. The author contract tries just that: it makes
evidence of every visible truth, and of every part of one, and a hidden check has to refuse it. Of the hidden check
it takes what the learner's process has as well: the settings and helpers of its probe, and each value that is the same
for all seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from nbproof.authoring.hearsay import is_hearsay, narrowed
from nbproof.cells import visible_of
from nbproof.checks.case import Case
from nbproof.checks.check import Check, listing, seeds_of
from nbproof.checks.test_cells import probe_part
from nbproof.values.compare import AnyOf, Matches, is_same
from nbproof.values.evidence import Evidence, key_text, snapshot

__all__ = ["Guard", "guards"]


@dataclass(frozen=True)
class Guard:
    """What guards the marks of one test cell."""

    grade_id: str
    constant: str = ""
    """Why its wanted value is the same for everybody, if it is exempt."""
    flaw: str = ""
    """Why it guards nothing; empty if it holds."""


def guards(tests: Iterable[tuple[str, str]]) -> Iterator[Guard]:
    """Whether each test cell of one exercise, given as (grade_id, whole text), has a hidden check that holds."""
    cells = [_Cell.read(grade_id, source) for grade_id, source in tests]
    shown = [task for cell in cells for task in cell.shown]
    for cell in cells:
        if not cell.hidden:
            yield Guard(cell.grade_id, flaw=f"{cell.grade_id} has no hidden check, on which its marks could rest")
            continue
        constant = next((task.constant for task in cell.hidden if task.constant), "")
        answers = [_answered(task, cell.halves.get(task.__name__, Check), shown) for task in cell.hidden]
        forged = "" if constant or not all(answers) else f"{cell.grade_id}/{cell.hidden[0].__name__}: {answers[0]}"
        yield Guard(cell.grade_id, constant, forged)


@dataclass(frozen=True)
class _Cell:
    """The checks of one test cell; ``halves``: what the learner's process has of them."""

    grade_id: str
    shown: tuple[type[Check], ...]
    hidden: tuple[type[Check], ...]
    halves: dict[str, type[Check]]

    @classmethod
    def read(cls, grade_id: str, source: str) -> _Cell:
        shown = _checks_of(visible_of(source), grade_id)
        names = {task.__name__ for task in shown}
        hidden = tuple(task for task in _checks_of(source, grade_id) if task.__name__ not in names)
        space: dict[str, object] = {"__name__": grade_id}
        exec(compile(probe_part(source).source, grade_id, "exec"), space)  # noqa: S102 (authors' own code)
        halves = {key: one for key, one in space.items() if isinstance(one, type) and issubclass(one, Check)}
        return cls(grade_id, shown, hidden, halves)


def _checks_of(source: str, name: str) -> tuple[type[Check], ...]:
    with listing() as listed:
        exec(compile(source, name, "exec"), {"__name__": name})  # noqa: S102 (authors' own code)
    return tuple(task for _, task in listed)


def _answered(hidden: type[Check], half: type[Check], shown: Iterable[type[Check]]) -> str:
    """How what learners have passes a hidden check under some seed, in words; empty if it never does."""
    for seed in seeds_of(hidden, 1):
        pieces = list(_pieces(_known_truths(half, shown, seed)))
        wanted = hidden().truth(Case(seed))
        # Three others: small numbers are sometimes the same for two seeds.
        others = [hidden().truth(Case(seed + number)) for number in (1, 2, 3)]
        for option in _options(wanted):
            if _made_of(option, others, pieces, hidden.claims):
                return "evidence made of the truths that learners have passes it, so its marks need no answer"
    return ""


def _known_truths(half: type[Check], shown: Iterable[type[Check]], seed: int) -> Iterator[object]:
    """What the visible checks want on a hidden check's case: as they are, and with the settings of its probe."""
    for task in shown:
        made = [task]
        with suppress(TypeError):
            made.append(type(task.__name__, (half, task), {"truth": task.truth}))
        for one in made:
            with suppress(Exception):  # a truth that does not fit this case tells nothing
                yield one().truth(Case(seed))


def _pieces(truths: Iterable[object]) -> Iterator[Evidence]:
    """Each truth, and each field of it, as evidence."""
    for truth in truths:
        for option in _options(truth):
            yield snapshot(narrowed(option))
            if isinstance(option, Mapping):
                for value in option.values():
                    yield from (snapshot(narrowed(one)) for one in _options(value))


def _options(wanted: object) -> Iterator[object]:
    """What a wanted value allows; of one that only a function knows what that function holds on to."""
    if isinstance(wanted, AnyOf):
        for option in wanted.options:
            yield from _options(option)
    elif isinstance(wanted, Matches):
        yield wanted
        for cell in getattr(wanted.test, "__closure__", None) or ():
            yield from _options(cell.cell_contents)
    else:
        yield wanted


def _made_of(wanted: object, others: list[object], pieces: list[Evidence], claims: tuple[str, ...]) -> bool:
    """Whether some piece is what is wanted, or each field of it is some piece, or the same for all seeds."""
    if any(is_same(piece, wanted) for piece in pieces):
        return True
    if not isinstance(wanted, Mapping):
        return False
    for key, value in wanted.items():
        known = key_text(key) not in claims and all(_is_known(key, value, other) for other in others)
        if not known and not any(is_same(piece, value) for piece in pieces):
            return False
    return True


def _is_known(key: object, value: object, other: object) -> bool:
    return isinstance(other, Mapping) and key in other and is_hearsay(value, other[key])
