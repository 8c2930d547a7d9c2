"""What learners have earns nothing: each test cell has a hidden check that nothing of it answers.

Learners have the visible checks, truths and all. So a text that knows nothing of the exercise can run them beside the
probe of a hidden check, and send what they want as evidence. The author contract tries just that, as somebody would who
knows the probe. What a forger has: pieces, which are the draws of the case, what the probe brings of an answer that does
nothing, and what visible truths and known mistakes say on this case, or of what the learner's function is given. How they
are put together: leaf by leaf (:mod:`nbproof.authoring.pieces`). Where it is tried: under some seeds, each of which has
to give way.

Such a text can also hand in what it has as the learner's own function (:mod:`nbproof.authoring.ready_answers`). The
contract tries this first: it has another cure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from nbproof.authoring.composed import UNKNOWN, Given
from nbproof.authoring.pieces import Stock
from nbproof.authoring.ready_answers import ready_answers
from nbproof.authoring.stand_ins import Answer, NotingCase, attempt, brought, copied, idle_answers, redirected
from nbproof.cells import visible_of
from nbproof.checks.case import Case
from nbproof.checks.check import Check, listing, seeds_of
from nbproof.checks.check_cells import probe_part
from nbproof.checks.namespace import Notebook, undisturbed
from nbproof.values.compare import is_same

__all__ = ["Guard", "guards"]


@dataclass(frozen=True)
class Guard:
    """What guards the marks of one test cell."""

    grade_id: str
    constant: str = ""
    """Why its wanted value is the same for everybody, if it is exempt."""
    flaw: str = ""
    """Why it guards nothing; empty if it holds."""
    answered: bool = False
    """Whether what is wrong is that a visible check has the shape of an answer."""


def guards(tests: Iterable[tuple[str, str]], solved: Mapping[str, object] = MappingProxyType({})) -> Iterator[Guard]:
    """Whether each test cell of one exercise, given as (grade_id, whole text), has a hidden check that holds.

    ``solved``: the variables of a notebook in which the exercise is solved.
    """
    cells = [_Cell.read(grade_id, source) for grade_id, source in tests]
    shown = [task for cell in cells for task in cell.shown]
    for cell in cells:
        constant = next((task.constant for task in cell.hidden if task.constant), "")
        if not cell.hidden:
            yield Guard(cell.grade_id, flaw=f"{cell.grade_id} has no hidden check, on which its marks could rest")
        elif constant:
            yield Guard(cell.grade_id, constant)
        else:
            yield _guard(cell, shown, solved)


def _guard(cell: _Cell, shown: Sequence[type[Check]], solved: Mapping[str, object]) -> Guard:
    """Whether one of the hidden checks of a test cell holds against each way."""
    first = f"{cell.grade_id}/{cell.hidden[0].__name__}"
    with undisturbed({}, (), Case(1)):  # what is tried may print, and warn, and leave something switched on
        answers = [_handed_in(task, shown, solved) for task in cell.hidden]
        if all(answers):
            return Guard(cell.grade_id, flaw=f"{first}: {answers[0]}", answered=True)
        if all(_is_forged(task, cell.halves.get(task.__name__, Check), shown, solved) for task in cell.hidden):
            flaw = f"{first}: evidence put together of what learners have passes it, so its marks need no answer"
            return Guard(cell.grade_id, flaw=flaw)
    return Guard(cell.grade_id)


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


_SEEDS = 3
"""Small numbers agree by chance, so evidence has to be put together under so many of them."""
_OTHERS = 3
"""Seeds beside each, whose truths tell what is the same for all."""


def _is_forged(
    hidden: type[Check], half: type[Check], shown: Sequence[type[Check]], solved: Mapping[str, object]
) -> bool:
    """Whether evidence put together of what learners have passes a hidden check, under each of some seeds."""
    first = seeds_of(hidden, 1)[0]
    wanted = cache(lambda seed: hidden().truth(Case(seed)))
    for seed in range(first, first + _SEEDS):
        others = [wanted(seed + number) for number in range(1, 1 + _OTHERS)]
        pieces = Stock(wanted(seed), others, hidden.claims)
        for value in _values_at_hand(hidden, half, shown, solved, seed):
            pieces.add(value)
        if not pieces.make_it():
            return False
    return True


def _values_at_hand(
    hidden: type[Check], half: type[Check], shown: Iterable[type[Check]], solved: Mapping[str, object], seed: int
) -> Iterator[object]:
    """Each value that a forger has under this seed. ``half``: what the learner's process has of the hidden check."""
    case, calls = NotingCase(seed), list[tuple[Any, ...]]()
    hidden().truth(case)
    for noting, answer in idle_answers():
        yield from brought(hidden, answer, case, solved)
        calls = max(calls, noting.calls, key=len)
    yield from case.drawn
    for task in shown:
        yield from _said(task, half, seed)
        yield from _said_of(task, calls[:_MOST_CALLS], seed)


_ROLES = ("truth", "mistakes")
_MOST_CALLS = 4
"""Of the learner's function, whose arguments are tried in the place of visible draws."""


def _said(task: type[Check], half: type[Check], seed: int) -> Iterator[object]:
    """What a visible check says on a hidden check's case: as it is, and with the settings of its probe."""
    made = [task]
    with suppress(TypeError):
        made.append(type(task.__name__, (half, task), {role: getattr(task, role) for role in _ROLES}))
    for one in made:
        for role in _ROLES:
            yield from attempt(getattr(one(), role), Case(seed))


def _said_of(task: type[Check], calls: list[tuple[Any, ...]], seed: int) -> Iterator[object]:
    """What it says of what the learner's function is given: if it cannot, then of one item of a list at a time."""
    for role in _ROLES:
        for _, say in redirected(task, role, seed):
            for given in calls:
                found = attempt(say, *copied(given))
                if not found:
                    found = tuple(one for fewer in _one_at_a_time(given) for one in attempt(say, *copied(fewer)))
                yield from found


def _one_at_a_time(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for place, one in enumerate(given):
        if isinstance(one, list) and len(one) > 1:
            yield from ((*given[:place], [item], *given[place + 1 :]) for item in one)


def _handed_in(hidden: type[Check], shown: Sequence[type[Check]], solved: Mapping[str, object]) -> str:
    """Which part of the visible checks passes a hidden check as the learner's function, in words; empty if none does."""
    seed = seeds_of(hidden, 1)[0]
    call = _first_call(hidden, seed, solved)
    if call is None:
        return ""
    wanted = hidden().truth(Case(seed))
    for name, answer in ready_answers(shown, call, _first_return(hidden, seed, solved)):
        if any(is_same(evidence, wanted) for evidence in brought(hidden, answer, Case(seed), solved)):
            return f"{name}, which learners have, passes it as the answer"
    return ""


def _first_call(hidden: type[Check], seed: int, solved: Mapping[str, object]) -> Given | None:
    """What the learner's function is given first, as it is then; None if it is not called."""
    calls: list[Given] = []

    def asked(*given: object, **named: object) -> None:
        if not calls:
            calls.append(copied((given, named)))  # before the probe changes it

    brought(hidden, asked, Case(seed), solved)
    return calls[0] if calls else None


def _first_return(hidden: type[Check], seed: int, solved: Mapping[str, object]) -> object:
    """What a right answer returns when it is called first; UNKNOWN if there is none."""
    found: list[object] = []

    def noting(function: Answer, *given: object, **named: object) -> object:
        returned = function(*given, **named)
        found.append(copied(returned))
        return returned

    book = {name: partial(noting, value) if callable(value) else value for name, value in solved.items()}
    with suppress(Exception, KeyboardInterrupt):
        hidden().probe(Notebook(book), Case(seed))
    return found[0] if found else UNKNOWN
