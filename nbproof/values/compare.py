"""What was got against what was wanted: the first difference, as data.

Pure functions on plain data (:mod:`nbproof.values.evidence`). The order is count, type, shape, dtype,
finiteness, then values, because the first of these that is wrong explains the ones after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from nbproof.values.describe import in_words, sized, sort_and_value, sort_of, wordless
from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable, key_text, snapshot

__all__ = [
    "AnyOf",
    "Close",
    "Detail",
    "Difference",
    "Differs",
    "Matches",
    "first_difference",
    "is_same",
    "leaves",
    "nearest",
    "tolerance_of",
]

_TOP = ""  # the place of the result as a whole
_RTOL, _ATOL = 1.3e-6, 1e-5
_INEXACT = ("float", "bfloat", "complex")

# torch.testing.assert_close's rule. What is not listed and not exact has float32's.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}


def tolerance_of(dtype: str) -> tuple[float, float]:
    """(rtol, atol) that values of a dtype are compared with, unless a Close says otherwise."""
    return _TOLERANCES.get(dtype, (_RTOL, _ATOL))


class Differs(StrEnum):
    """What differs first."""

    COUNT = "count"
    MISSING = "missing"
    EXTRA = "extra"
    TYPE = "type"
    SHAPE = "shape"
    DTYPE = "dtype"
    ASKED = "asked"
    KEY_MISSING = "key missing"
    KEY_EXTRA = "key extra"
    NONFINITE = "nonfinite"
    VALUE = "value"
    TEXT = "text"


_FORM = (Differs.COUNT, Differs.MISSING, Differs.EXTRA, Differs.TYPE, Differs.SHAPE, Differs.DTYPE, Differs.ASKED)
"""These tell the form of the answer, not the answer."""


@dataclass(frozen=True)
class Detail:
    """What tells more of a difference than both sides do; what does not apply is empty."""

    got: str = ""
    """One element, or the items of a list that has too many or too few."""
    wanted: str = ""
    index: tuple[int, ...] = ()
    differ: int = 0
    """How many elements do, of how many."""
    of: int = 0


@dataclass(frozen=True)
class Difference:
    """The first place where got and wanted differ, as data: :mod:`nbproof.display.words` says it."""

    where: str
    """The place, as the learner would write it: ``answer[1]``; of a result without a name ``[1]``, or nothing."""
    kind: Differs
    got: str
    """What stands there: a value, what sort it is, a shape, a dtype, a number of items, keys."""
    wanted: str | None
    """None if nobody may see it; empty if there is nothing to tell."""
    detail: Detail | None = None

    def withheld(self) -> Difference:
        """Without what was wanted, where that is the answer itself."""
        return self if self.kind in _FORM else replace(self, wanted=None, detail=None)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Difference:
        """The difference that ``dataclasses.asdict`` wrote down."""
        detail = data["detail"]
        if detail is not None:
            detail = Detail(**{**detail, "index": tuple(detail["index"])})
        return cls(**{**data, "kind": Differs(data["kind"]), "detail": detail})


@dataclass(frozen=True)
class AnyOf:
    """Wanted is any one of these. A difference is told against the first of the answer's own type, or else the first."""

    options: tuple[object, ...]

    def __init__(self, *options: object) -> None:
        if not options:
            raise ValueError("AnyOf() of nothing: no answer could be right")
        object.__setattr__(self, "options", options)


@dataclass(frozen=True)
class Close:
    """A wanted number or array, or lists and dicts of them, with a tolerance of its own."""

    value: object
    rtol: float = _RTOL
    atol: float = _ATOL


@dataclass(frozen=True)
class Matches:
    """Wanted is whatever ``test`` accepts: plain data in; None, or what is wrong in words, out."""

    test: Callable[[Evidence], str | None]
    says: str


def leaves(wanted: object, where: str = "the result") -> Iterator[tuple[str, Evidence, float]]:
    """Every single value of a truth, with its place and the absolute tolerance that it is compared with."""
    atol: float | None = None
    if isinstance(wanted, Close):
        atol = wanted.atol
        wanted = wanted.value
    if isinstance(wanted, Matches):
        return
    if isinstance(wanted, (AnyOf, Mapping, list, tuple)):
        parts = wanted.options if isinstance(wanted, AnyOf) else wanted
        pairs = parts.items() if isinstance(parts, Mapping) else enumerate(parts)
        for key, part in pairs:
            inner = part if atol is None else Close(part, atol=atol)
            yield from leaves(inner, where if isinstance(wanted, AnyOf) else f"{where}[{key!r}]")
    else:
        leaf = snapshot(wanted)
        if isinstance(leaf, Parts):
            yield from _leaves_of_parts(leaf, where, atol)
            return
        usual = tolerance_of(leaf.dtype)[1] if isinstance(leaf, TensorRecord) else _ATOL
        yield where, leaf, usual if atol is None else atol


def _leaves_of_parts(parts: Parts, where: str, atol: float | None) -> Iterator[tuple[str, Evidence, float]]:
    for step, part in parts.items():
        yield from leaves(part if atol is None else Close(part, atol=atol), where + step)


def first_difference(got: Evidence, wanted: object, where: str = _TOP) -> Difference | None:
    """The first difference between ``got`` (a snapshot) and ``wanted``, or None if there is none.

    ``wanted`` is what a truth returns: arrays, numbers, text, None, nested in lists, tuples and
    dicts, with :class:`AnyOf`, :class:`Close` and :class:`Matches` if one value is too narrow.
    Arrays compare by shape, dtype, finiteness, then ``torch.testing.assert_close``'s rule: exactly
    if they hold integers or bools. Raises TypeError for a wanted value that no answer can equal.
    """
    return _compare(got, wanted, where, None)


def is_same(got: Evidence, wanted: object, where: str = _TOP) -> bool:
    """Whether :func:`first_difference` finds none; quicker, if nobody asks which."""
    return _is_alike(got, wanted, where, None)


_Tolerance: TypeAlias = tuple[float, float] | None
"""(rtol, atol) of the Close around a value; None outside of any."""


def _is_alike(got: Evidence, wanted: object, where: str, tolerance: _Tolerance) -> bool:
    with wordless():
        return _compare(got, wanted, where, tolerance) is None


def _compare(got: Evidence, wanted: object, where: str, tolerance: _Tolerance) -> Difference | None:
    if isinstance(wanted, AnyOf):
        if any(_is_alike(got, option, where, tolerance) for option in wanted.options):
            return None
        return _compare(got, nearest(got, wanted, where, tolerance), where, tolerance)
    if isinstance(wanted, Matches):
        return _asked(got, wanted, where)
    if isinstance(wanted, Close):
        return _compare(got, wanted.value, where, (wanted.rtol, wanted.atol))
    if isinstance(wanted, Mapping) and not isinstance(wanted, Parts):
        return _in_mapping(got, wanted, where, tolerance)
    if isinstance(wanted, (list, tuple)):
        return _in_sequence(got, wanted, where, tolerance)
    return _leaf(got, snapshot(wanted), where, tolerance)


def nearest(got: Evidence, wanted: AnyOf, where: str = _TOP, tolerance: _Tolerance = None) -> object:
    """The option that a difference is told against."""
    for option in wanted.options:
        with wordless():
            found = _compare(got, option, where, tolerance)
        if found is None or (found.kind, found.where) != (Differs.TYPE, where):
            return option
    return wanted.options[0]


def _asked(got: Evidence, wanted: Matches, where: str) -> Difference | None:
    try:
        wrong = wanted.test(got)
    except Exception as error:  # a test that expects a list may be handed None: that is a wrong answer, no accident
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            raise MemoryError(where) from None  # for whoever judges to tell: nothing is known of the answer
        wrong = sort_and_value(got)
    return None if wrong is None else Difference(where, Differs.ASKED, wrong, wanted.says)


def _in_mapping(got: Evidence, wanted: Mapping[object, object], where: str, tolerance: _Tolerance) -> Difference | None:
    if not isinstance(got, dict):
        return Difference(where, Differs.TYPE, sort_and_value(got), sized(dict, len(wanted)))
    values = {key_text(key): value for key, value in wanted.items()}
    if where == _TOP:
        return _in_fields(got, values, tolerance)
    missing, extra = [key for key in values if key not in got], [key for key in got if key not in values]
    if missing or extra:
        kind = Differs.KEY_MISSING if missing else Differs.KEY_EXTRA
        key = repr((missing or extra)[0])
        return Difference(where, kind, in_words(list(got)), in_words(list(values)), Detail(got=key))
    for key, value in values.items():
        found = _compare(got[key], value, f"{where}[{key!r}]", tolerance)
        if found is not None:
            return found
    return None


def _in_parts(got: Evidence, wanted: Parts, where: str, tolerance: _Tolerance) -> Difference | None:
    if not isinstance(got, Parts) or got.noun.split(" of ")[0] != wanted.noun.split(" of ")[0]:
        return Difference(where, Differs.TYPE, sort_and_value(got), sort_of(wanted))
    for step, part in wanted.items():
        if step not in got:
            return Difference(where + step, Differs.VALUE, in_words(None), in_words(snapshot(part)))
        found = _compare(got[step], part, where + step, tolerance)
        if found is not None:
            return found
    return None


def _in_fields(got: dict[str, Evidence], wanted: dict[str, object], tolerance: _Tolerance) -> Difference | None:
    """The top of a probe's result: a dict of names that the learner knows, ``answer`` or ``x1.grad``."""
    for key, value in wanted.items():
        if key not in got:
            return Difference(key, Differs.MISSING, "", "")
        found = _compare(got[key], value, key, tolerance)
        if found is not None:
            return found
    for key in got:
        if key not in wanted:
            short = key if len(key) <= 80 else f"{key[:77]}..."
            return Difference(short, Differs.EXTRA, "", in_words(list(wanted)))
    return None


def _in_sequence(
    got: Evidence, wanted: list[object] | tuple[object, ...], where: str, tolerance: _Tolerance
) -> Difference | None:
    if not isinstance(got, list):
        return Difference(where, Differs.TYPE, sort_and_value(got), sized(list, len(wanted)))
    if len(got) != len(wanted):
        detail = Detail(got=in_words(got)) if got else None
        return Difference(where, Differs.COUNT, str(len(got)), str(len(wanted)), detail)
    for index, (one, other) in enumerate(zip(got, wanted, strict=True)):
        found = _compare(one, other, f"{where}[{index}]", tolerance)
        if found is not None:
            return found
    return None


def _leaf(got: Evidence, wanted: Evidence, where: str, tolerance: _Tolerance) -> Difference | None:
    if isinstance(wanted, Unreadable):
        raise TypeError(f"{where} should be {sort_of(wanted)}, which no answer can equal: use plain data, or Matches")
    if isinstance(wanted, Parts):
        return _in_parts(got, wanted, where, tolerance)
    if isinstance(wanted, TensorRecord):
        if not isinstance(got, TensorRecord) or got.leaf is not wanted.leaf:
            return Difference(where, Differs.TYPE, sort_and_value(got), sort_of(wanted))
        return _between_arrays(got, wanted, where, tolerance)
    if type(wanted) is int and tolerance is not None:
        wanted = float(wanted)
    # 2 is a fair way to write 2.0, but True is not a number and 2.5 is not a count.
    if type(got) is not type(wanted) and not (type(wanted) is float and type(got) is int):
        return Difference(where, Differs.TYPE, sort_and_value(got), sort_of(wanted))
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return _between_numbers(got, wanted, where, tolerance or (_RTOL, _ATOL))
    if got != wanted:
        kind = Differs.TEXT if isinstance(wanted, str) else Differs.VALUE
        return Difference(where, kind, in_words(got), in_words(wanted))
    return None


def _between_numbers(got: float, wanted: float, where: str, tolerance: tuple[float, float]) -> Difference | None:
    if math.isfinite(wanted) and not math.isfinite(got):
        return Difference(where, Differs.NONFINITE, repr(got), repr(wanted))
    if math.isclose(got, wanted, rel_tol=0, abs_tol=tolerance[1] + tolerance[0] * abs(wanted)):
        return None
    return Difference(where, Differs.VALUE, repr(got), repr(wanted))


def _between_arrays(got: TensorRecord, wanted: TensorRecord, where: str, tolerance: _Tolerance) -> Difference | None:
    if got.shape != wanted.shape:
        return Difference(where, Differs.SHAPE, str(got.shape), str(wanted.shape))
    if got.dtype != wanted.dtype:
        return Difference(where, Differs.DTYPE, got.dtype, wanted.dtype)
    usual = tolerance_of(wanted.dtype) if wanted.dtype.startswith(_INEXACT) else None
    unlike = wanted.leaf.first_unlike(got, wanted, tolerance or usual)
    if unlike is None:
        return None
    if not unlike.count:
        detail = Detail(got=str(unlike.got), index=unlike.index) if unlike.index else None
        return Difference(where, Differs.NONFINITE, in_words(got), in_words(wanted), detail)
    elements = math.prod(got.shape)
    detail = Detail(_digits(unlike.got), _digits(unlike.wanted), unlike.index, unlike.count, elements)
    if elements == 1 and not unlike.near:
        detail = None  # what the library prints is enough to see this
    return Difference(where, Differs.VALUE, in_words(got), in_words(wanted), detail)


def _digits(number: object) -> str:
    return f"{number:.9g}" if isinstance(number, (float, complex)) else repr(number)
