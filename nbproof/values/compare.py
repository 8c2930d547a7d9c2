"""What was got against what was wanted: the first difference, as data, and what a picture of both is drawn from.

Pure functions on plain data (:mod:`nbproof.values.evidence`). The order is count, type, shape, dtype,
finiteness, then values, because the first of these that is wrong explains the ones after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from nbproof.values.describe import in_words, shown, sort_and_value, sort_of
from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable, key_text, snapshot
from nbproof.values.leaf import Unlike

if TYPE_CHECKING:
    from nbproof.values.words import Language

__all__ = [
    "AnyOf",
    "Close",
    "Detail",
    "Difference",
    "Differs",
    "Matches",
    "Parting",
    "Place",
    "first_difference",
    "is_same",
    "is_single",
    "parting",
    "place_of",
    "plainly",
    "tolerance_of",
    "worth_drawing",
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
    """The first place where got and wanted differ, as data: :mod:`nbproof.values.words` says it."""

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
        detail = data["detail"] and Detail(**data["detail"] | {"index": tuple(data["detail"]["index"])})
        return cls(**data | {"kind": Differs(data["kind"]), "detail": detail})


@dataclass(frozen=True)
class AnyOf:
    """Wanted is any one of these. A difference is told against the first of the answer's own type, or else the first."""

    options: tuple[object, ...]

    def __init__(self, *options: object) -> None:
        object.__setattr__(self, "options", options)


@dataclass(frozen=True)
class Close:
    """A wanted number or array, or lists and dicts of them, with a tolerance of its own."""

    value: object
    rtol: float = _RTOL
    atol: float = _ATOL


@dataclass(frozen=True)
class Matches:
    """Every answer that ``test`` accepts is right. ``test`` takes plain data, and returns None, or in words what is wrong."""

    test: Callable[[Evidence], str | None]
    says: str


@dataclass(frozen=True)
class Place:
    """Something that was brought, beside what was wanted there."""

    where: str
    got: Evidence
    wanted: object
    tolerance: tuple[float, float] | None = None
    """(rtol, atol) of the Close around it; None outside of any."""

    def at(self, step: str, got: Evidence, wanted: object) -> Place:
        """A part of it."""
        return Place(self.where + step, got, wanted, self.tolerance)


@dataclass(frozen=True)
class Parting:
    """Where two values differ first, not yet in words: finding words for an array takes longer than comparing it."""

    place: Place
    kind: Differs
    said: tuple[str, str] | None = None
    """Both sides in words, where these are no values."""
    key: str = ""
    """The one of a dict that is missing, or one too many."""
    unlike: Unlike | None = None
    around: Place | None = None
    """What is best seen as a whole, though one part of it differs."""

    def told(self, words: Language) -> Difference:
        """The same in short words."""
        place = self.place
        if self.said is not None:
            got, wanted = self.said
        elif self.kind is Differs.TYPE:
            got, wanted = sort_and_value(place.got, words), sort_of(snapshot(place.wanted), words)
        elif isinstance(place.wanted, Matches):
            got, wanted = sort_and_value(place.got, words), place.wanted.says
        else:
            got, wanted = shown(place.got, words), shown(snapshot(place.wanted), words)
        return Difference(place.where, self.kind, got, wanted, self._detail(words))

    def _detail(self, words: Language) -> Detail | None:
        got, unlike = self.place.got, self.unlike
        if self.kind is Differs.COUNT and got:
            return Detail(got=shown(got, words))
        if self.key:
            return Detail(got=self.key)
        if unlike is None or not isinstance(got, TensorRecord):
            return None
        if not unlike.count:
            return Detail(got=str(unlike.got), index=unlike.index) if unlike.index else None
        elements = math.prod(got.shape)
        if elements == 1 and not unlike.near:
            return None  # what the library prints is enough to see this
        return Detail(_digits(unlike.got), _digits(unlike.wanted), unlike.index, unlike.count, elements)


def first_difference(got: Evidence, wanted: object, words: Language, where: str = _TOP) -> Difference | None:
    """The first difference between ``got`` (a snapshot) and ``wanted``, told in a language; None if there is none.

    ``wanted`` is what a truth returns: arrays, numbers, text, None, nested in lists, tuples and
    dicts, with :class:`AnyOf`, :class:`Close` and :class:`Matches` if one value is too narrow.
    Arrays compare by shape, dtype, finiteness, then ``torch.testing.assert_close``'s rule: exactly
    if they hold integers or bools. Raises TypeError for a wanted value that no answer can equal.
    """
    found = parting(Place(where, got, wanted))
    return None if found is None else found.told(words)


def is_same(got: Evidence, wanted: object, where: str = _TOP) -> bool:
    """Whether :func:`first_difference` finds none; quicker, if nobody asks which."""
    return parting(Place(where, got, wanted)) is None


def parting(place: Place) -> Parting | None:
    """Where both sides part first, as data; None if they do not."""
    wanted = place.wanted
    if isinstance(wanted, AnyOf):
        return _from_all_of(place, wanted)
    if isinstance(wanted, Matches):
        return _asked(place, wanted)
    if isinstance(wanted, Close):
        return parting(replace(place, wanted=wanted.value, tolerance=(wanted.rtol, wanted.atol)))
    if isinstance(wanted, Mapping) and not isinstance(wanted, Parts):
        return _in_mapping(place, wanted)
    if isinstance(wanted, (list, tuple)):
        return _in_sequence(place, wanted)
    return _leaf(place, snapshot(wanted))


def _from_all_of(place: Place, wanted: AnyOf) -> Parting | None:
    found = []
    for option in wanted.options:
        one = parting(replace(place, wanted=option))
        if one is None:
            return None
        found.append(one)
    return min(found, key=lambda one: (one.kind, one.place.where) == (Differs.TYPE, place.where))


def _asked(place: Place, wanted: Matches) -> Parting | None:
    try:
        wrong = wanted.test(place.got)
    except Exception as error:  # a test that expects a list may be handed None: that is a wrong answer, no accident
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            raise MemoryError(place.where) from None  # the judge has to tell it: nothing is known of the answer
        return Parting(place, Differs.ASKED)
    return None if wrong is None else Parting(place, Differs.ASKED, (wrong, wanted.says))


def _in_mapping(place: Place, wanted: Mapping[object, object]) -> Parting | None:
    got, values = place.got, {key_text(key): value for key, value in wanted.items()}
    if not isinstance(got, dict):
        return Parting(place, Differs.TYPE)
    if place.where == _TOP:
        return _in_fields(place, got, values)
    missing, extra = [key for key in values if key not in got], [key for key in got if key not in values]
    if missing or extra:
        kind = Differs.KEY_MISSING if missing else Differs.KEY_EXTRA
        return Parting(place, kind, (in_words(list(got)), in_words(list(values))), repr((missing or extra)[0]))
    for key, value in wanted.items():
        text = key_text(key)
        shown = key if isinstance(key, (str, int)) else text
        found = parting(place.at(f"[{shown!r}]", got[text], value))
        if found is not None:
            return found
    return None


def _in_fields(place: Place, got: dict[str, Evidence], wanted: dict[str, object]) -> Parting | None:
    """The top of a probe's result: a dict of names that the learner knows, ``answer`` or ``x1.grad``."""
    for key, value in wanted.items():
        if key not in got:
            return Parting(place.at(key, None, value), Differs.MISSING, ("", ""), around=place)
        found = parting(place.at(key, got[key], value))
        if found is not None:
            return found
    extra = next((key for key in got if key not in wanted), None)
    if extra is None:
        return None
    short = extra if len(extra) <= 80 else f"{extra[:77]}..."
    return Parting(place.at(short, got[extra], None), Differs.EXTRA, ("", in_words(list(wanted))), around=place)


def _in_sequence(place: Place, wanted: list[object] | tuple[object, ...]) -> Parting | None:
    got = place.got
    if not isinstance(got, list):
        return Parting(place, Differs.TYPE)
    if len(got) != len(wanted):
        return Parting(place, Differs.COUNT, (str(len(got)), str(len(wanted))))
    for index, (one, other) in enumerate(zip(got, wanted, strict=True)):
        found = parting(place.at(f"[{index}]", one, other))
        if found is not None:
            return replace(found, around=place) if all(map(_is_wordy, (*got, *wanted))) else found
    return None


def _is_wordy(item: object) -> bool:
    """Whether a list's item is a word or a number, or a few of them: ('enter', 'fc'). Such lists are seen as wholes."""
    if isinstance(item, (list, tuple)):
        return len(item) <= 4 and all(map(is_single, item))
    return is_single(item)


def is_single(item: object) -> bool:
    """Whether something is one word or one number."""
    return item is None or isinstance(item, (str, bool, int, float))


def _in_parts(place: Place, wanted: Parts) -> Parting | None:
    got = place.got
    if not isinstance(got, Parts) or got.noun.split(" of ")[0] != wanted.noun.split(" of ")[0]:
        return Parting(place, Differs.TYPE)
    for step, part in wanted.items():
        if step not in got:
            return Parting(place.at(step, None, part), Differs.VALUE, around=place)
        found = parting(place.at(step, got[step], part))
        if found is not None:
            return replace(found, around=place)
    return None


def _leaf(place: Place, wanted: Evidence) -> Parting | None:
    got, tolerance = place.got, place.tolerance
    if isinstance(wanted, Unreadable):
        said = f"{place.where} should be {in_words(wanted)}, which no answer can equal: use plain data, or Matches"
        raise TypeError(said)
    if isinstance(wanted, Parts):
        return _in_parts(place, wanted)
    if isinstance(wanted, TensorRecord):
        return _between_arrays(place, wanted)
    if type(wanted) is int and tolerance is not None:
        wanted = float(wanted)
        place = replace(place, wanted=wanted)
    # 2 is a fair way to write 2.0, but True is not a number and 2.5 is not a count.
    if type(got) is not type(wanted) and not (type(wanted) is float and type(got) is int):
        return Parting(place, Differs.TYPE)
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return _between_numbers(place, got, wanted)
    kind = Differs.TEXT if isinstance(wanted, str) else Differs.VALUE
    return None if got == wanted else Parting(place, kind)


def _between_numbers(place: Place, got: float, wanted: float) -> Parting | None:
    rtol, atol = place.tolerance or (_RTOL, _ATOL)
    if math.isfinite(wanted) and not math.isfinite(got):
        return Parting(place, Differs.NONFINITE)
    alike = math.isclose(got, wanted, rel_tol=0, abs_tol=atol + rtol * abs(wanted))
    return None if alike else Parting(place, Differs.VALUE)


def _between_arrays(place: Place, wanted: TensorRecord) -> Parting | None:
    got = place.got
    if not isinstance(got, TensorRecord) or got.leaf is not wanted.leaf:
        return Parting(place, Differs.TYPE)
    if got.shape != wanted.shape:
        return Parting(place, Differs.SHAPE, (str(got.shape), str(wanted.shape)))
    if got.dtype != wanted.dtype:
        return Parting(place, Differs.DTYPE, (got.dtype, wanted.dtype))
    usual = tolerance_of(wanted.dtype) if wanted.dtype.startswith(_INEXACT) else None
    unlike = wanted.leaf.first_unlike(got, wanted, place.tolerance or usual)
    if unlike is None:
        return None
    return Parting(place, Differs.VALUE if unlike.count else Differs.NONFINITE, unlike=unlike)


def _digits(number: object) -> str:
    return f"{number:.9g}" if isinstance(number, (float, complex)) else repr(number)


def place_of(got: object, wanted: object) -> Place | None:
    """The first array, text, number or list of words that differs; None if nothing can be pointed at."""
    whole = Place("", snapshot(got), wanted)
    found = parting(whole)
    if isinstance(wanted, Matches) or (found is not None and found.kind is Differs.ASKED):
        return None
    return whole if found is None else found.around or found.place


def plainly(wanted: object) -> object:
    """What was wanted, without what tells the comparison how to compare: the first of several, what a test asks for."""
    if isinstance(wanted, AnyOf):
        return plainly(wanted.options[0])
    if isinstance(wanted, Close):
        return plainly(wanted.value)
    if isinstance(wanted, Matches):
        return f"{wanted.says}"
    if isinstance(wanted, Mapping):
        return {key: plainly(value) for key, value in wanted.items()}
    return [plainly(item) for item in wanted] if isinstance(wanted, (list, tuple)) else wanted


def worth_drawing(place: Place) -> bool:
    """Whether a picture tells more than a sentence: not for single numbers and words, nor for values of another type."""
    plain = [snapshot(plainly(side)) for side in (place.got, place.wanted)]
    return len({type(side) for side in plain}) == 1 and any(_count(side) > 1 for side in plain)


def _count(side: Evidence) -> int:
    if isinstance(side, TensorRecord):
        return math.prod(side.shape)
    if isinstance(side, str):
        return 2 if len(side) > 40 or "\n" in side else 1
    return len(side) if isinstance(side, (list, dict)) else 1
