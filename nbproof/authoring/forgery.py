"""What learners have earns nothing: each test cell has a hidden check that no visible truth answers.

Learners have the visible checks, truths and all. So a text that knows nothing of the exercise can run them beside the
probe of a hidden check, on its very case, and send what they want as evidence. The author contract tries just that: it makes
evidence of every visible truth, and of every part of one, and a hidden check has to refuse it. Of the hidden check
it takes what the learner's process has as well: the settings and helpers of its probe, and each value that is the same
for all seeds.

Such a text can also hand in what it has as the learner's own function: a helper as it is, or hung as a hook on what the
function is given, or a truth that is told to work on that. It needs no helper with the learner's own parameters: any
function that stands in the visible checks, inside others as well, can be called with what is given, and with something
for each parameter that is left. The contract tries these as well.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, cycle
from types import CellType, CodeType, FunctionType
from typing import Any

from nbproof.authoring.hearsay import is_hearsay, narrowed
from nbproof.cells import visible_of
from nbproof.checks.case import Case
from nbproof.checks.check import Check, bring, listing, seeds_of
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
    answered: bool = False
    """Whether what is wrong is that a visible check has the shape of an answer."""


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
        answered = not constant and not all(answers)
        if answered:
            answers = [_handed_in(task, cells) for task in cell.hidden]
        forged = "" if constant or not all(answers) else f"{cell.grade_id}/{cell.hidden[0].__name__}: {answers[0]}"
        yield Guard(cell.grade_id, constant, forged, answered and bool(forged))


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


_Answer = Callable[..., object]


def _handed_in(hidden: type[Check], cells: Iterable[_Cell]) -> str:
    """Which part of the visible checks passes a hidden check as the learner's function, in words; empty if none does."""
    seed = seeds_of(hidden, 1)[0]
    asked = _Asked()
    _bring(hidden, asked, seed)
    wanted = hidden().truth(Case(seed)) if asked.calls else None
    for name, answer in _answers(cells, asked.calls):
        if any(is_same(evidence, wanted) for evidence in _bring(hidden, answer, seed)):
            return f"{name}, which learners have, passes it as the answer"
    return ""


class _Asked:
    """In the place of the learner's function: it notes what it is given, and answers nothing."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *given: object, **named: object) -> None:
        self.calls.append((given, named))


class _Handed(dict[str, Any]):
    """A notebook in which every name is one and the same answer."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, name: str) -> _Answer:
        return self._answer


def _bring(hidden: type[Check], answer: _Answer, seed: int) -> Iterable[Evidence]:
    """What a hidden check's probe brings of this answer: nothing if it raises, be it what the stop button raises."""
    with suppress(KeyboardInterrupt):
        brought = bring(hidden(), _Handed(answer), Case(seed))
        return (brought.evidence,) if brought.trouble is None else ()
    return ()


def _answers(
    cells: Iterable[_Cell], calls: list[tuple[tuple[Any, ...], dict[str, Any]]]
) -> Iterator[tuple[str, _Answer]]:
    """What of the visible checks can be called as the learner's function is called."""
    if not calls:
        return
    given, named = calls[0]
    first = given[0] if given else None
    kinds = [kind for kind in dir(first) if kind.startswith("register_") and kind.endswith("hook")]
    tasks = [task for cell in cells for task in cell.shown]
    for name, helper in _helpers(tasks):
        if _takes(helper, *given, **named):
            yield name, helper
        if kinds and not isinstance(helper, type) and any(_takes(helper, *range(number)) for number in (1, 2, 3)):
            for kind in kinds:
                yield f"{name} by {kind}", partial(_hang, helper, kind)
                if hasattr(first, "__mul__"):
                    yield f"{name} by {kind}", partial(_hang_apart, helper, kind)
    for task in tasks:
        yield from _retargeted(task)
    for part in _parts(tasks):
        yield from part.answers(len(given) + len(named))


def _takes(helper: _Answer, *given: object, **named: object) -> bool:
    with suppress(TypeError, ValueError):
        inspect.signature(helper).bind(*given, **named)
        return True
    return False


def _helpers(tasks: Iterable[type[Check]]) -> Iterator[tuple[str, _Answer]]:
    """The functions, classes and methods that the visible checks have beside probe, truth and mistakes; each once."""
    seen: set[object] = set()
    for task in tasks:
        for name, function in inspect.getmembers(task, inspect.isfunction):
            space = function.__globals__
            if function in seen or space.get("__name__") != task.__module__:
                continue
            seen.add(function)
            if name not in ("probe", "truth", "mistakes") and not name.startswith("__"):
                yield f"{task.__name__}.{name}", getattr(task(), name)
            yield from _inside(f"{task.__name__}.{name}", function.__code__, space)
    for space in {task.__module__: task.truth.__globals__ for task in tasks}.values():
        for name, value in list(space.items()):
            if callable(value) and value not in (Check, *tasks):
                yield name, value
            if isinstance(value, FunctionType) and value.__globals__ is space:
                yield from _inside(name, value.__code__, space)


def _inside(name: str, code: CodeType, space: dict[str, Any]) -> Iterator[tuple[str, _Answer]]:
    """The functions that this one defines, but for those that hold on to its variables."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            whole = f"{name}.{part.co_name}"
            if _is_function(part) and not part.co_freevars:
                yield whole, FunctionType(part, space)
            yield from _inside(whole, part, space)


_Filler = Callable[[object], object]
_FILLERS: tuple[_Filler, ...] = (lambda first: None, lambda first: [], lambda first: first)
"""What stands for a name for which nothing is there, given the first argument."""


@dataclass(frozen=True)
class _Part:
    """A function in the text of the visible checks, as its code: no other function has to run for it."""

    name: str
    code: CodeType
    space: dict[str, Any]
    task: type[Check]
    usual: Mapping[str, object]
    """Its defaults, where they are known: those of an inner function come to be as the outer one runs."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names."""
        return self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount]

    def answers(self, given: int) -> Iterator[tuple[str, _Answer]]:
        """The answers that deal it so many arguments, surplus ones cut off, and fill the rest.

        They are dealt to its parameters, and to the variables that it takes from the function around it.
        """
        names = [name for name in (*self.code.co_freevars, *self.parameters) if name not in ("self", self.code.co_name)]
        for order in combinations(names, min(given, len(names))) if names else ():
            missing = {*names} - {*order, *self.usual, "case"}
            for filler in _FILLERS if missing else _FILLERS[:1]:
                yield self.name, partial(self._called, order, filler)

    def _called(self, order: tuple[str, ...], filler: _Filler, *given: object, **named: object) -> object:
        """What it returns, or the first argument if that is None."""
        cells = {name: CellType() for name in self.code.co_freevars}
        function = FunctionType(self.code, self.space, None, None, tuple(cells.values()))
        known = {"case": Case(1), "self": self.task(), self.code.co_name: function, **self.usual}
        dealt = (*given, *named.values())
        known |= zip(order, dealt, strict=False)
        for name, cell in cells.items():
            cell.cell_contents = known[name] if name in known else filler(dealt[0])
        values = {name: known[name] if name in known else filler(dealt[0]) for name in self.parameters}
        positional = [values.pop(name) for name in self.parameters[: self.code.co_argcount]]
        returned = function(*positional, **values)
        return dealt[0] if returned is None else returned


def _parts(tasks: Iterable[type[Check]]) -> Iterator[_Part]:
    """Each function of the visible checks and of the course's modules that they use, and each one inside another."""
    seen: set[CodeType] = set()
    for task in tasks:
        own = [(f"{task.__name__}.{name}", one) for name, one in inspect.getmembers(task, inspect.isfunction)]
        for name, function in [*own, *task.truth.__globals__.items()]:
            if isinstance(function, FunctionType) and not function.__module__.startswith("nbproof."):
                signed = inspect.signature(function).parameters.items()
                usual = {key: one.default for key, one in signed if one.default is not one.empty}
                for part in _all_inside(_Part(name, function.__code__, function.__globals__, task, usual)):
                    if part.code not in seen:
                        seen.add(part.code)
                        yield part


def _all_inside(whole: _Part) -> Iterator[_Part]:
    """A function, and those that it defines."""
    yield whole
    for code in whole.code.co_consts:
        if isinstance(code, CodeType) and _is_function(code):
            yield from _all_inside(_Part(f"{whole.name}.{code.co_name}", code, whole.space, whole.task, {}))


def _is_function(code: CodeType) -> bool:
    """No comprehension, nor a class's body."""
    named = code.co_name == "<lambda>" or code.co_name.isidentifier()
    return named and bool(code.co_flags & inspect.CO_OPTIMIZED)


def _hang(helper: _Answer, kind: str, value: Any, *others: object, **named: object) -> object:
    """An answer that hangs a helper as a hook on its first argument, which it returns."""
    getattr(value, kind)(helper)
    return value


def _hang_apart(helper: _Answer, kind: str, value: Any, *others: object, **named: object) -> object:
    """The same with a new value that is equal to the argument."""
    return _hang(helper, kind, value * 1)


def _retargeted(task: type[Check]) -> Iterator[tuple[str, _Answer]]:
    """Answers that let a visible truth work on what they are given, and return what it wants, or a field of that."""
    fields = [None]
    with suppress(Exception):
        wanted = task().truth(Case(seeds_of(task, 1)[0]))
        fields += wanted if isinstance(wanted, Mapping) else ()
    own = {name for name, _ in inspect.getmembers(task, inspect.isfunction)} - {"probe", "truth", "mistakes"}
    for field in fields:
        ways: dict[str, _Answer] = {"case": partial(_told_by_its_case, task, field)}
        for name in sorted(own & {*task.truth.__code__.co_names}):
            ways[name] = partial(_told, task, name, field)
        for name, answer in ways.items():
            yield f"the truth of {task.__name__} with another {name}", answer
            yield f"a call, and the truth of {task.__name__} with another {name}", partial(_beside_a_call, answer)


def _told(task: type[Check], name: str, field: object, *given: object, **named: object) -> object:
    what: object = given[0] if len(given) == 1 else given
    with suppress(Exception):  # a method that takes something else brings no names
        usual = getattr(task(), name)(Case(1))
        what = dict(zip(usual, given, strict=False)) if isinstance(usual, Mapping) else what
    wanted: Any = type(task.__name__, (task,), {name: lambda *others: what})().truth(Case(1))
    return narrowed(wanted if field is None else wanted[field])


def _told_by_its_case(task: type[Check], field: object, *given: object, **named: object) -> object:
    wanted: Any = task().truth(_StandIn(given))
    return narrowed(wanted if field is None else wanted[field])


def _beside_a_call(answer: _Answer, first: Any, *others: Any, **named: Any) -> object:
    """An answer of two parts: what the first argument makes of the others, and what a truth says of equal ones."""
    told = answer(*copy.deepcopy((first, *others)), **named)
    return first(*others, **named), told


class _StandIn(Case):
    """A case that builds nothing: it hands out what it was given, the first as what is built, the others as tensors.

    As a number it hands out how long the first of these tensors is.
    """

    def __init__(self, given: tuple[Any, ...]) -> None:
        super().__init__(1)
        self._first, self._others = given[0], cycle(given[1:] or given)
        self._sized = (given[1:] or given)[0]

    def build(self, *what: object, **more: object) -> Any:
        """What was given first."""
        return self._first

    def tensor(self, *what: object, **more: object) -> Any:
        """What was given next."""
        return next(self._others)

    def integer(self, name: str, low: int, high: int) -> int:
        """The length of what was given, where it has one."""
        try:
            return len(self._sized)
        except TypeError:
            return super().integer(name, low, high)
