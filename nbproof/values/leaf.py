"""Leaf types: libraries that bring values of their own, besides Python's. ``course.toml`` names those of a course.

A :class:`Leaf` holds all that the tool knows of such a library. One module in :mod:`nbproof.values.leaves`, or a package next
door (:data:`nbproof.doors.LEAVES`), makes it; nothing else here imports the library, and that module is imported only in a
course that names it. A process that will run a learner's code imports it before that code begins: :func:`warm_up`.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from nbproof import doors
from nbproof.command import this_python
from nbproof.course_file import Course
from nbproof.doors import LEAVES
from nbproof.errors import UsageError

if TYPE_CHECKING:
    from nbproof.values.evidence import Evidence, TensorRecord

__all__ = [
    "ITEM_SIZES",
    "Leaf",
    "Leaves",
    "Unlike",
    "known_leaves",
    "leaves_of",
    "refuse_broken_leaves",
    "refuse_missing_leaves",
    "refuse_unknown_leaves",
    "warm_up",
]

_TAKEN = "dlpu"
"""Marks on the wire that no leaf type may have (nbproof/sandbox/evidence_wire.py)."""

ITEM_SIZES: Mapping[str, int] = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
}
"""The dtypes that values may have, and the bytes of one element."""


@dataclass(frozen=True)
class Unlike:
    """The first element that differs between two values of one shape and dtype, and how many differ."""

    index: tuple[int, ...]
    got: Any
    wanted: Any
    """Both elements, as numbers of Python's own."""
    count: int
    """The number of elements that differ; 0 if this one is nan or infinite, and should not be."""
    near: bool
    """Whether the two are so near that a library prints them alike."""


class Leaf:
    """One library. Its only object has no attributes of its own: a class is put back before each probe, an object is not."""

    __slots__ = ()

    name: ClassVar[str]
    """Its name in ``course.toml``. The library is installed by that name, and the module or entry point has it, too."""
    mark: ClassVar[str]
    """One character for records of it on the wire: no other leaf type of a course has it."""
    noun: ClassVar[str]
    """The noun for one of its values: ``a tensor``; another language (nbproof/values/words.py) has its own noun."""
    folder: ClassVar[str]
    """The folder of the library's code: errors that come from there are not a learner's line."""
    kinds: ClassVar[tuple[type, ...]]
    """Classes of its values. A value of a subclass comes to :meth:`taken`, too."""
    models: ClassVar[tuple[type, ...]] = ()
    """Classes of the objects that learners build with it, such as ``torch.nn.Module``."""
    item_sizes: ClassVar[Mapping[str, int]] = ITEM_SIZES
    """The dtypes that it can compare and print."""
    warm: ClassVar[tuple[str, ...]] = ()
    """Modules of it that import themselves when they are first needed: rather before a fork than in each."""

    def prepare(self) -> None:
        """Prepare the library once, before a process forks: set one thread, and look up what it keeps. It must not compute."""

    def taken(self, value: Any, room: int) -> Evidence:
        """A value as plain data: a record, a plain value, or Unreadable. A value of more than ``room`` bytes is not copied."""
        raise NotImplementedError

    def rebuilt(self, record: TensorRecord) -> Any:
        """The value that a record was taken of."""
        raise NotImplementedError

    def first_unlike(
        self, got: TensorRecord, wanted: TensorRecord, tolerance: tuple[float, float] | None
    ) -> Unlike | None:
        """Find where two records of one shape and dtype differ first; None if they do not. nan equals nothing.

        ``tolerance``: (rtol, atol), or None to compare exactly.
        """
        raise NotImplementedError

    def drawn(self, seed: int, shape: tuple[int, ...], positive: bool, dtype: Any = None) -> Any:
        """Draw magnitudes from 0.5 to 2 (integers: 2 to 8), with either sign, unless ``positive``: the same for one seed."""
        raise NotImplementedError

    def not_a_number(self) -> Any:
        """The value that a poisoned variable holds."""
        raise NotImplementedError

    def seeded(self, seed: int) -> AbstractContextManager[None]:
        """Within this block the library's own generator starts from a seed; afterwards it goes on as before."""
        return nullcontext()

    def undisturbed(self) -> AbstractContextManager[None]:
        """Within this block its process-wide state is as in a fresh process; afterwards it is as before."""
        return nullcontext()

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _leaf, (self.name, "")


@dataclass(frozen=True)
class Leaves:
    """The leaf types of one course, in the order of its ``course.toml``."""

    types: tuple[Leaf, ...]
    place: str
    """The ``course.toml``."""

    def __iter__(self) -> Iterator[Leaf]:
        return iter(self.types)

    def named(self, name: str) -> Leaf:
        """One of them. Raises UsageError if the course does not name it."""
        for leaf in self.types:
            if leaf.name == name:
                return leaf
        raise UsageError(f"this course has no leaf type {name}", self.place, f'add it to leaves: ["{name}"]')

    def not_a_number(self) -> Any:
        """The value that a poisoned variable holds: a NaN of the first of them, or else Python's own."""
        return next((leaf.not_a_number() for leaf in self.types), math.nan)

    @contextmanager
    def seeded(self, seed: int) -> Iterator[None]:
        """Within this block the libraries' own generators start from a seed; afterwards they go on as before."""
        with ExitStack() as all_of_them:
            for leaf in self.types:
                all_of_them.enter_context(leaf.seeded(seed))
            yield


@cache
def leaves_of(course: Course) -> Leaves:
    """Its leaf types: the tool's own, or those of packages next door. Imports their libraries. Raises UsageError."""
    refuse_missing_leaves(course)
    found = tuple(_leaf(library, _toml_place(course)) for library in course.leaves)
    for leaf in found:
        rivals = [other.name for other in found if other.mark == leaf.mark]
        if len(rivals) > 1:
            fact = f"the leaf types {' and '.join(rivals)} have the same mark, {leaf.mark!r}"
            raise UsageError(
                fact, _toml_place(course), "use one of them in a course, or ask its author for another mark"
            )
    return Leaves(found, str(course.file))


_known: tuple[Leaf, ...] = ()


def known_leaves() -> tuple[Leaf, ...]:
    """Those that this process has imported, for any course: by these it knows of a value which library it is of."""
    return _known


def _leaf(library: str, place: str) -> Leaf:
    """The leaf type of a library, from now on known. ``place``: where somebody asks for it. Raises UsageError."""
    global _known
    leaf = _imported(library, place)
    if leaf not in _known:
        _known = (*_known, leaf)
    return leaf


def _imported(library: str, place: str) -> Leaf:
    if library in LEAVES.own:
        return cast(Leaf, importlib.import_module(f"nbproof.values.leaves.{library}").LEAF)
    return cast(Leaf, LEAVES.load(library, place, fits=lambda leaf: _is_leaf(leaf, library)))


def _is_leaf(leaf: object, library: str) -> bool:
    if not isinstance(leaf, Leaf) or not hasattr(leaf, "name") or not hasattr(leaf, "mark"):
        return False
    return leaf.name == library and len(leaf.mark) == 1 and leaf.mark not in _TAKEN


def refuse_unknown_leaves(course: Course) -> None:
    """Raise UsageError if this course names a leaf type that nobody has. Imports none of them."""
    others = [library for library in course.leaves if library not in LEAVES.own]
    found = LEAVES.installed() if others else {}
    for library in others:
        if library not in found:
            raise LEAVES.unknown(library, _toml_place(course), found)


def refuse_missing_leaves(course: Course) -> None:
    """Raise UsageError if nobody has a leaf type of this course, or if its library is not installed. Imports none of them."""
    refuse_unknown_leaves(course)
    for library in course.leaves:
        if importlib.util.find_spec(library) is None:
            fact = f"the leaf type {library} needs {library}, which is not installed"
            raise UsageError(fact, _toml_place(course), f"{this_python()} -m pip install {library}")


def refuse_broken_leaves(course: Course) -> None:
    """As :func:`refuse_missing_leaves`; and raise UsageError if a package's leaf type cannot be loaded. Imports only these."""
    refuse_missing_leaves(course)
    for library in course.leaves:
        if library not in LEAVES.own:
            _imported(library, _toml_place(course))


def _toml_place(course: Course) -> str:
    return f"{course.file}: leaves"


def warm_up(course: Course) -> None:
    """Import what its lessons import, all of it before a fork and before any learner's code, and compute nothing.

    The course comes first, for it may have to mend what others import.
    """
    course.enter()
    doors.modules()
    for leaf in leaves_of(course):
        with doors.answerable():
            leaf.prepare()
        for name in leaf.warm:
            importlib.import_module(name)
    course.warm_up()
    from nbproof.values.words import words_of

    words_of(course)
