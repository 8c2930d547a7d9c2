"""Compares what was got with what was wanted: finds the first difference, as data, and what a picture of both is drawn from.

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
    "FirstMismatch",
    "Matches",
    "Place",
    "first_difference",
    "first_mismatch",
    "is_same",
    "is_single",
    "place_of",
    "plainly",
    "tolerance_of",
    "worth_drawing",
]

_TOP = ""  # the place of the result as a whole
_RTOL = 1.3e-6
_ATOL = 1e-5
_INEXACT = ("float", "bfloat", "complex")

# The rule of torch.testing.assert_close. A dtype that is not listed and not exact has that of float32.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}


def tolerance_of(dtype: str) -> tuple[float, float]:
    """The (rtol, atol) for comparing values of this dtype, unless a Close says otherwise."""
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
"""The kinds that tell the form of the answer, not the answer."""


@dataclass(frozen=True)
class Detail:
    """What tells more about a difference than the two sides; a field is empty if it does not apply."""

    got: str = ""
    """One element, or the items of a list that has too many or too few."""
    wanted: str = ""
    """The element that was wanted in its place."""
    index: tuple[int, ...] = ()
    """The index of that element."""
    differ: int = 0
    """How many elements differ."""
    of: int = 0
    """How many elements there are."""


@dataclass(frozen=True)
class Difference:
    """The first place where got and wanted differ, as data: :mod:`nbproof.values.words` makes sentences of it."""

    where: str
    """The place, as the learner would write it: ``answer[1]``; in a result without a name ``[1]``, or nothing."""
    kind: Differs
    got: str
    """A value, its sort, a shape, a dtype, a number of items, or keys."""
    wanted: str | None
    """The same on the other side; None if nobody may see it; empty if there is nothing to tell."""
    detail: Detail | None = None

    def withheld(self) -> Difference:
        """The same difference without what was wanted, if that is the answer itself."""
        return self if self.kind in _FORM else replace(self, wanted=None, detail=None)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Difference:
        """Make it from the dictionary that ``dataclasses.asdict`` has made of it."""
        detail = data["detail"] and Detail(**data["detail"] | {"index": tuple(data["detail"]["index"])})
        return cls(**data | {"kind": Differs(data["kind"]), "detail": detail})


@dataclass(frozen=True)
class AnyOf:
    """Any one of these is right. A difference is told against the first of the answer's own type, or else against the first."""

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
    """Every answer that ``test`` accepts is right."""

    test: Callable[[Evidence], str | None]
    """It takes plain data, and returns None, or a text that says what is wrong."""
    says: str
    """A text that says what is wanted."""


@dataclass(frozen=True)
class Place:
    """What was got at one place, beside what was wanted there."""

    where: str
    """The place, as in :class:`Difference`."""
    got: Evidence
    wanted: object
    tolerance: tuple[float, float] | None = None
    """(rtol, atol) of the Close around it; None if there is no Close."""

    def at(self, step: str, got: Evidence, wanted: object) -> Place:
        """The place of a part; ``step``: what a learner writes to get from the whole to the part, such as ``[1]``."""
        return Place(self.where + step, got, wanted, self.tolerance)


@dataclass(frozen=True)
class FirstMismatch:
    """The first place where two values differ, without texts of them: a text of an array takes longer than comparing it."""

    place: Place
    kind: Differs
    texts: tuple[str, str] | None = None
    """Texts for both sides, if the values themselves are not shown."""
    key: str = ""
    """The key of a dict that is missing, or one too many."""
    unlike: Unlike | None = None
    around: Place | None = None
    """The place that is best seen as a whole, though one part of it differs."""

    def as_difference(self, words: Language) -> Difference:
        """The same with short texts of both sides."""
        place = self.place
        if self.texts is not None:
            got, wanted = self.texts
        elif self.kind is Differs.TYPE:
            got = sort_and_value(place.got, words)
            wanted = _sort_of_wanted(place.wanted, words)
        elif isinstance(place.wanted, Matches):
            got = sort_and_value(place.got, words)
            wanted = place.wanted.says
        else:
            got = shown(place.got, words)
            wanted = shown(snapshot(place.wanted), words)
        return Difference(place.where, self.kind, got, wanted, self._detail(words))

    def _detail(self, words: Language) -> Detail | None:
        got = self.place.got
        unlike = self.unlike
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


def _sort_of_wanted(wanted: object, words: Language) -> str:
    if isinstance(wanted, tuple):  # a shape, or a pair: a list in its place is right as well, but is not asked for
        return words.sort("tuple", words.counted("items", len(wanted)))
    return sort_of(snapshot(wanted), words)


def first_difference(got: Evidence, wanted: object, words: Language, where: str = _TOP) -> Difference | None:
    """Find the first difference between ``got`` (a snapshot) and ``wanted``; None if there is none.

    ``words``: the language that it is told in. ``where``: a name for both.

    ``wanted`` is what a truth returns: arrays, numbers, text, None, nested in lists, tuples and
    dicts, with :class:`AnyOf`, :class:`Close` and :class:`Matches` if one value is too narrow.
    Arrays compare by shape, dtype, finiteness, then ``torch.testing.assert_close``'s rule: exactly
    if they hold integers or bools. Raises TypeError for a wanted value that no answer can equal.
    """
    mismatch = first_mismatch(Place(where, got, wanted))
    return None if mismatch is None else mismatch.as_difference(words)


def is_same(got: Evidence, wanted: object, where: str = _TOP) -> bool:
    """Whether :func:`first_difference` finds none. It is quicker, as it makes no text of one."""
    return first_mismatch(Place(where, got, wanted)) is None


def first_mismatch(place: Place) -> FirstMismatch | None:
    """Find where the two sides of a place differ first; None if they are the same. Raises as :func:`first_difference` does."""
    wanted = place.wanted
    if isinstance(wanted, AnyOf):
        return _from_all_of(place, wanted)
    if isinstance(wanted, Matches):
        return _asked(place, wanted)
    if isinstance(wanted, Close):
        return first_mismatch(replace(place, wanted=wanted.value, tolerance=(wanted.rtol, wanted.atol)))
    if isinstance(wanted, Mapping) and not isinstance(wanted, Parts):
        return _in_mapping(place, wanted)
    if isinstance(wanted, (list, tuple)):
        return _in_sequence(place, wanted)
    return _leaf(place, snapshot(wanted))


def _from_all_of(place: Place, wanted: AnyOf) -> FirstMismatch | None:
    mismatches = []
    for option in wanted.options:
        mismatch = first_mismatch(replace(place, wanted=option))
        if mismatch is None:
            return None
        mismatches.append(mismatch)
    return min(mismatches, key=lambda one: (one.kind, one.place.where) == (Differs.TYPE, place.where))


def _asked(place: Place, wanted: Matches) -> FirstMismatch | None:
    try:
        wrong = wanted.test(place.got)
    except Exception as error:  # a test that expects a list may be handed None: that is a wrong answer, no accident
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            raise MemoryError(place.where) from None  # the judge has to tell it: nothing is known of the answer
        return FirstMismatch(place, Differs.ASKED)
    return None if wrong is None else FirstMismatch(place, Differs.ASKED, (wrong, wanted.says))


def _in_mapping(place: Place, wanted: Mapping[object, object]) -> FirstMismatch | None:
    got = place.got
    if not isinstance(got, dict):
        return FirstMismatch(place, Differs.TYPE)
    values = {key_text(key): value for key, value in wanted.items()}
    if place.where == _TOP:
        return _in_fields(place, got, values)
    if got.keys() != values.keys():
        return _between_keys(place, got, values)
    for key, value in wanted.items():
        text = key_text(key)
        written = key if isinstance(key, (str, int)) else text
        mismatch = first_mismatch(place.at(f"[{written!r}]", got[text], value))
        if mismatch is not None:
            return mismatch
    return None


def _between_keys(place: Place, got: Mapping[str, object], wanted: Mapping[str, object]) -> FirstMismatch:
    """The first key that one of the two dicts has not; a missing one comes before one too many."""
    texts = (in_words(list(got)), in_words(list(wanted)))
    missing = [key for key in wanted if key not in got]
    if missing:
        return FirstMismatch(place, Differs.KEY_MISSING, texts, repr(missing[0]))
    extra = [key for key in got if key not in wanted]
    return FirstMismatch(place, Differs.KEY_EXTRA, texts, repr(extra[0]))


def _in_fields(place: Place, got: dict[str, Evidence], wanted: dict[str, object]) -> FirstMismatch | None:
    """Compare the top of a probe's result: a dict of names that the learner knows, ``answer`` or ``x1.grad``."""
    for key, value in wanted.items():
        if key not in got:
            return FirstMismatch(place.at(key, None, value), Differs.MISSING, ("", ""), around=place)
        mismatch = first_mismatch(place.at(key, got[key], value))
        if mismatch is not None:
            return mismatch
    extra = next((key for key in got if key not in wanted), None)
    if extra is None:
        return None
    short = extra if len(extra) <= 80 else f"{extra[:77]}..."
    return FirstMismatch(place.at(short, got[extra], None), Differs.EXTRA, ("", in_words(list(wanted))), around=place)


def _in_sequence(place: Place, wanted: list[object] | tuple[object, ...]) -> FirstMismatch | None:
    got = place.got
    if not isinstance(got, list):
        return FirstMismatch(place, Differs.TYPE)
    if len(got) != len(wanted):
        return FirstMismatch(place, Differs.COUNT, (str(len(got)), str(len(wanted))))
    for index, (one, other) in enumerate(zip(got, wanted, strict=True)):
        mismatch = first_mismatch(place.at(f"[{index}]", one, other))
        if mismatch is not None:
            return replace(mismatch, around=place) if all(map(_is_wordy, (*got, *wanted))) else mismatch
    return None


def _is_wordy(item: object) -> bool:
    """Whether a list's item is a word or a number, or a few of them: ('enter', 'fc'). Such lists are seen as wholes."""
    if isinstance(item, (list, tuple)):
        return len(item) <= 4 and all(map(is_single, item))
    return is_single(item)


def is_single(item: object) -> bool:
    """Whether something is one word or one number."""
    return item is None or isinstance(item, (str, bool, int, float))


def _in_parts(place: Place, wanted: Parts) -> FirstMismatch | None:
    got = place.got
    if not isinstance(got, Parts) or got.noun.split(" of ")[0] != wanted.noun.split(" of ")[0]:
        return FirstMismatch(place, Differs.TYPE)
    for step, part in wanted.items():
        if step not in got:
            return FirstMismatch(place.at(step, None, part), Differs.VALUE, around=place)
        mismatch = first_mismatch(place.at(step, got[step], part))
        if mismatch is not None:
            return replace(mismatch, around=place)
    return None


def _leaf(place: Place, wanted: Evidence) -> FirstMismatch | None:
    got = place.got
    if isinstance(wanted, Unreadable):
        fact = f"{place.where} should be {in_words(wanted)}, which no answer can equal: use plain data, or Matches"
        raise TypeError(fact)
    if isinstance(wanted, Parts):
        return _in_parts(place, wanted)
    if isinstance(wanted, TensorRecord):
        return _between_arrays(place, wanted)
    if type(wanted) is int and place.tolerance is not None:
        wanted = float(wanted)
        place = replace(place, wanted=wanted)
    if not _has_type_of(got, wanted):
        return FirstMismatch(place, Differs.TYPE)
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return _between_numbers(place, got, wanted)
    kind = Differs.TEXT if isinstance(wanted, str) else Differs.VALUE
    return None if got == wanted else FirstMismatch(place, kind)


def _has_type_of(got: Evidence, wanted: Evidence) -> bool:
    """Whether both have one type. 2 is a fair way to write 2.0, but True is not a number and 2.5 is not a count."""
    return type(got) is type(wanted) or (type(wanted) is float and type(got) is int)


def _between_numbers(place: Place, got: float, wanted: float) -> FirstMismatch | None:
    rtol, atol = place.tolerance or (_RTOL, _ATOL)
    if math.isfinite(wanted) and not math.isfinite(got):
        return FirstMismatch(place, Differs.NONFINITE)
    alike = math.isclose(got, wanted, rel_tol=0, abs_tol=atol + rtol * abs(wanted))
    return None if alike else FirstMismatch(place, Differs.VALUE)


def _between_arrays(place: Place, wanted: TensorRecord) -> FirstMismatch | None:
    got = place.got
    if not isinstance(got, TensorRecord) or got.leaf is not wanted.leaf:
        return FirstMismatch(place, Differs.TYPE)
    if got.shape != wanted.shape:
        return FirstMismatch(place, Differs.SHAPE, (str(got.shape), str(wanted.shape)))
    if got.dtype != wanted.dtype:
        return FirstMismatch(place, Differs.DTYPE, (got.dtype, wanted.dtype))
    usual = tolerance_of(wanted.dtype) if wanted.dtype.startswith(_INEXACT) else None
    unlike = wanted.leaf.first_unlike(got, wanted, place.tolerance or usual)
    if unlike is None:
        return None
    kind = Differs.VALUE if unlike.count else Differs.NONFINITE
    return FirstMismatch(place, kind, unlike=unlike)


def _digits(number: object) -> str:
    return f"{number:.9g}" if isinstance(number, (float, complex)) else repr(number)


def place_of(got: object, wanted: object) -> Place | None:
    """The place of the first array, text, number or list of words that differs; None if nothing can be pointed at.

    If ``got``, any value, and ``wanted`` do not differ, it is the place of the whole.
    """
    whole = Place("", snapshot(got), wanted)
    mismatch = first_mismatch(whole)
    if isinstance(wanted, Matches) or (mismatch is not None and mismatch.kind is Differs.ASKED):
        return None
    return whole if mismatch is None else mismatch.around or mismatch.place


def plainly(wanted: object) -> object:
    """What was wanted, without the rules for comparing it: of an AnyOf the first option, of a Matches what it asks for."""
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
    """How many elements, lines or items it has; a long text counts as two."""
    if isinstance(side, TensorRecord):
        return math.prod(side.shape)
    if isinstance(side, str):
        return 2 if len(side) > 40 or "\n" in side else 1
    return len(side) if isinstance(side, (list, dict)) else 1
