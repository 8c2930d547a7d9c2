"""What was got against what was wanted: the first difference, in words.

Pure functions on plain data (:mod:`course.evidence`). The order is count, type, shape, dtype,
finiteness, then values, because the first of these that is wrong explains the ones after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from course.evidence import Evidence, TensorRecord, Unreadable, snapshot

__all__ = ["AnyOf", "Close", "Difference", "Matches", "first_difference", "in_words"]

_RTOL, _ATOL = 1.3e-6, 1e-5


@dataclass(frozen=True)
class Difference:
    """The first place where got and wanted part."""

    where: str
    """The place, as the learner would write it: ``answer[1]``."""
    kind: str
    """count, missing, extra, type, shape, dtype, nonfinite, value, text or asked."""
    got: str
    wanted: str
    detail: str = ""

    def sentence(self, reveal: bool = True) -> str:
        """One sentence: ``answer[1] has shape (3,), wanted (3, 1)``. Without ``reveal`` the wanted value stays out."""
        verb = {"shape": "has shape", "dtype": "has dtype", "count": "has", "missing": "is"}.get(self.kind, "is")
        # Shape, dtype, count and type tell the form of the answer, not the answer.
        tell = reveal or self.kind not in ("value", "text")
        wanted = f", wanted {self.wanted}" if tell and self.wanted else (", which is not right" if not tell else "")
        detail = f" ({self.detail})" if self.detail and tell else ""
        return f"{self.where} {verb} {self.got}{wanted}{detail}"


@dataclass(frozen=True)
class AnyOf:
    """Wanted is any one of these. A difference is told against the first."""

    options: tuple[object, ...]

    def __init__(self, *options: object) -> None:
        object.__setattr__(self, "options", options)


@dataclass(frozen=True)
class Close:
    """A wanted number or tensor with a tolerance of its own."""

    value: object
    rtol: float = _RTOL
    atol: float = _ATOL


@dataclass(frozen=True)
class Matches:
    """Wanted is whatever ``test`` accepts: plain data in; None, or what is wrong in words, out."""

    test: Callable[[Evidence], str | None]
    says: str


def in_words(value: Evidence, limit: int = 160) -> str:
    """A short, readable form of plain data: ``tensor([5., 6.])``."""
    text = _words(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _words(value: Evidence) -> str:
    if isinstance(value, TensorRecord):
        if len(value.data) > 2**20:
            return f"a tensor of shape {value.shape}"
        text = repr(value.tensor())
        return " ".join(text.split())
    if isinstance(value, Unreadable):
        return value.what
    if isinstance(value, list):
        shown = ", ".join(in_words(item, 60) for item in value[:6])
        return f"[{shown}{', ...' if len(value) > 6 else ''}]"
    if isinstance(value, dict):
        shown = ", ".join(f"{key!r}: {in_words(item, 60)}" for key, item in list(value.items())[:6])
        return f"{{{shown}{', ...' if len(value) > 6 else ''}}}"
    return repr(value)


def _kind(value: Evidence) -> str:
    if isinstance(value, TensorRecord):
        return f"a tensor of shape {value.shape}"
    if isinstance(value, Unreadable):
        return value.what
    if isinstance(value, list):
        return f"a list of {_count(len(value))}"
    if isinstance(value, dict):
        return f"a dict of {_count(len(value))}"
    if value is None:
        return "None"
    name = {"str": "text", "bool": "a bool", "int": "an int", "float": "a float"}[type(value).__name__]
    return f"{name}, {in_words(value, 60)}"


def _count(number: int) -> str:
    return f"{number} item" if number == 1 else f"{number} items"


def first_difference(got: Evidence, wanted: object, where: str = "the result") -> Difference | None:
    """The first difference between ``got`` (a snapshot) and ``wanted``, or None where there is none.

    ``wanted`` is what a truth returns: tensors, numbers, text, None, nested in lists, tuples and
    dicts, with :class:`AnyOf`, :class:`Close` and :class:`Matches` where one value is too narrow.
    Tensors compare by shape, dtype, finiteness, then ``torch.testing.assert_close``'s rule.
    """
    if isinstance(wanted, AnyOf):
        differences = [first_difference(got, option, where) for option in wanted.options]
        return None if any(d is None for d in differences) else differences[0]
    if isinstance(wanted, Matches):
        wrong = wanted.test(got)
        return None if wrong is None else Difference(where, "asked", wrong, wanted.says)
    if isinstance(wanted, Close):
        return _leaf(got, snapshot(wanted.value), where, wanted.rtol, wanted.atol)
    if isinstance(wanted, Mapping):
        return _in_mapping(got, wanted, where)
    if isinstance(wanted, (list, tuple)):
        return _in_sequence(got, wanted, where)
    return _leaf(got, snapshot(wanted), where)


def _in_mapping(got: Evidence, wanted: Mapping[str, object], where: str) -> Difference | None:
    if not isinstance(got, dict):
        return Difference(where, "type", _kind(got), f"a dict of {_count(len(wanted))}")
    # The top of a probe's result is a dict of names that the learner knows: answer, x1.grad.
    top = where == "the result"
    for key, value in wanted.items():
        place = str(key) if top else f"{where}[{key!r}]"
        if key not in got:
            return Difference(place, "missing", "missing", "" if top else f"a key {key!r}")
        found = first_difference(got[key], value, place)
        if found is not None:
            return found
    for key in got:
        if key not in wanted:
            return Difference(f"{where}[{key!r}]", "extra", "an extra key", f"only {sorted(map(str, wanted))}")
    return None


def _in_sequence(got: Evidence, wanted: list[object] | tuple[object, ...], where: str) -> Difference | None:
    if not isinstance(got, list):
        return Difference(where, "type", _kind(got), f"a list of {_count(len(wanted))}")
    if len(got) != len(wanted):
        return Difference(where, "count", _count(len(got)), str(len(wanted)), f"got {in_words(got)}" if got else "")
    for index, (one, other) in enumerate(zip(got, wanted, strict=True)):
        found = first_difference(one, other, f"{where}[{index}]")
        if found is not None:
            return found
    return None


def _leaf(got: Evidence, wanted: Evidence, where: str, rtol: float = _RTOL, atol: float = _ATOL) -> Difference | None:
    if isinstance(wanted, TensorRecord):
        if not isinstance(got, TensorRecord):
            return Difference(where, "type", _kind(got), f"a tensor of shape {wanted.shape}")
        return _between_tensors(got, wanted, where, rtol, atol)
    if type(got) is not type(wanted):
        # 2 is a fair way to write 2.0, but True is not a number and 2.5 is not a count.
        if not (isinstance(wanted, float) and type(got) is int):
            return Difference(where, "type", _kind(got), _kind(wanted))
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        if not abs(got - wanted) <= atol + rtol * abs(wanted):
            return Difference(where, "value", repr(got), repr(wanted))
        return None
    if got != wanted:
        kind = "text" if isinstance(wanted, str) else "value"
        return Difference(where, kind, in_words(got), in_words(wanted))
    return None


def _between_tensors(
    got: TensorRecord, wanted: TensorRecord, where: str, rtol: float, atol: float
) -> Difference | None:
    if got.shape != wanted.shape:
        return Difference(where, "shape", str(got.shape), str(wanted.shape))
    if got.dtype != wanted.dtype:
        return Difference(where, "dtype", got.dtype, wanted.dtype)
    if got.data == wanted.data and not _holds_nan(wanted):
        return None
    one, other = got.tensor(), wanted.tensor()
    if other.is_floating_point():
        bad = one.isfinite().logical_not() & other.isfinite()
        if bool(bad.any()):
            place = _first_index(bad)
            return Difference(where, "nonfinite", in_words(got), in_words(wanted), f"not finite at index {place}")
        if other.dtype in (torch.float16, torch.bfloat16):
            rtol = max(rtol, 1e-2)
    close = torch.isclose(one, other, rtol=rtol, atol=atol, equal_nan=False)
    if bool(close.all()):
        return None
    bad = close.logical_not()
    detail = ""
    if one.numel() > 1:
        detail = f"{int(bad.sum())} of {one.numel()} elements differ, first at index {_first_index(bad)}"
        if other.is_floating_point():
            detail += f", largest error {float((one - other)[bad].abs().max()):.3g}"
    return Difference(where, "value", in_words(got), in_words(wanted), detail)


def _holds_nan(record: TensorRecord) -> bool:
    tensor = record.tensor()
    return tensor.is_floating_point() and bool(tensor.isnan().any())


def _first_index(mask: torch.Tensor) -> str:
    index = mask.nonzero()[0].tolist()
    return str(index[0]) if len(index) == 1 else str(tuple(index))
