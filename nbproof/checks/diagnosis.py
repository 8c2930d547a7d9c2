"""Finds the misconception behind a difference, or behind an error.

Only what is certain gets a name: the text of an error fits one cause, or a wrong value equals
what a known mistake would have brought. For the rest the first difference has to speak.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nbproof.course_file import Course
from nbproof.values.compare import AnyOf, Close, Difference, Differs, Matches, is_same
from nbproof.values.evidence import Evidence, Parts, TensorRecord
from nbproof.values.results import UNANSWERED

__all__ = ["ERRORS", "hint_for_difference", "hint_for_error"]

ERRORS: tuple[Mapping[str, str], ...] = (
    {"text": r"(NameError|UnboundLocalError): ", "hint": "undefined_name"},
    {"text": r"NotImplementedError: *$", "hint": "not_started"},
    {"text": rf"{UNANSWERED}: $", "hint": "cell_stopped"},
)
"""Patterns for every course that has such a hint. Its ``course.toml`` has more patterns."""

_NUMERIC = (Differs.NONFINITE, Differs.SHAPE, Differs.DTYPE, Differs.VALUE)
_MOST_ITEMS = 200
"""The longest list that is compared with the wanted one in another order."""


def hint_for_error(
    course: Course,
    kind: str,
    message: str,
    line: str = "",
    inside: str = "",
    first: Mapping[str, str] | None = None,
) -> str | None:
    """The id of the hint for an exception that learner code raised; None if the text fits no known cause.

    If a name is something else than asked for, ``message`` is its class; empty if it is not there.
    ``line`` and ``inside`` say where it was raised (:class:`nbproof.values.results.ProbeError`): Python words it in the
    same way whether a library calls a function, or the learner. ``first`` are the patterns of one check
    (:attr:`nbproof.checks.check.Check.errors`), which know better than those of all, and may stand anywhere in the text.
    """
    text = f"{kind}: {message}".replace("\n", " ")
    for pattern, hint in (first or {}).items():
        if re.search(pattern, text):
            return hint
    places = {"line": line, "inside": inside}
    for one in (*course.errors, *ERRORS):
        if re.match(one["text"], text) and all(
            re.fullmatch(one[key], places[key]) for key in places.keys() & one.keys()
        ):
            return one["hint"]
    return None


def hint_for_difference(
    course: Course,
    evidence: Evidence,
    difference: Difference,
    wanted: object,
    mistakes: Mapping[str, object],
    blame: Mapping[str, str],
    poisoned: bool,
) -> str | None:
    """The id of the hint for a wrong result; None if no misconception is certain.

    ``mistakes`` maps hint ids to what that mistake would have brought (fields that a mistake leaves
    out are not compared; AnyOf if it shows in more than one way), ``blame`` maps a field of the
    result to the one misconception that makes it wrong, ``poisoned`` says that the notebook's
    variables were NaN meanwhile.
    """
    for hint, brought in mistakes.items():
        if _brings(evidence, brought, wanted):
            return hint
    field = re.split(r"\[", difference.where, maxsplit=1)[0]
    if poisoned and difference.kind in _NUMERIC and _holds_nan(_at(evidence, field)):
        return "reads_globals"
    for name, hint in blame.items():
        if _is_part_of(difference.where, name, _at(evidence, name)):
            return hint
    if difference.kind is Differs.COUNT and difference.got == "0" and difference.where == field:
        return course.nothing_came or None
    if isinstance(evidence, dict) and isinstance(wanted, Mapping):
        evidence = evidence.get(field)
        wanted = wanted.get(field)
    return "wrong_order" if _is_permuted(evidence, wanted) else None


def _is_part_of(where: str, name: str, value: Evidence) -> bool:
    """Whether a place lies in the field of this name and value."""
    inside = r"\[|\.|$" if isinstance(value, Parts) else r"\[|$"
    return re.match(rf"{re.escape(name)}({inside})", where) is not None


def _at(evidence: Evidence, field: str) -> Evidence:
    return evidence.get(field) if isinstance(evidence, dict) else evidence


def _holds_nan(value: Evidence) -> bool:
    if isinstance(value, TensorRecord):
        array = value.tensor()
        return bool((array != array).any())
    if isinstance(value, dict):
        return any(map(_holds_nan, value.values()))
    if isinstance(value, list):
        return any(map(_holds_nan, value))
    return isinstance(value, float) and value != value


def _brings(evidence: Evidence, brought: object, wanted: object) -> bool:
    """Whether this is what a mistake brings, and at least one of the mistake's fields is wrong.

    On some inputs a mistake brings a right result. Then it explains nothing. A field that is only looked at (Matches, such as
    ANYTHING of course.truths) always tells.
    """
    if isinstance(brought, AnyOf):
        return any(_brings(evidence, option, wanted) for option in brought.options)
    if not isinstance(brought, Mapping) or not isinstance(evidence, dict):
        return is_same(evidence, brought)
    if any(key not in evidence or not is_same(evidence[key], brought[key], str(key)) for key in brought):
        return False
    known = wanted if isinstance(wanted, Mapping) else {}
    return any(key not in known or _tells(evidence[key], known[key], str(key)) for key in brought)


def _tells(got: Evidence, wanted: object, field: str) -> bool:
    return isinstance(wanted, Matches) or not is_same(got, wanted, field)


def _is_permuted(got: Evidence, wanted: object) -> bool:
    """Whether a list holds the wanted items in another order."""
    if isinstance(wanted, AnyOf):
        return any(_is_permuted(got, option) for option in wanted.options)
    if isinstance(wanted, Close):
        items = wanted.value if isinstance(wanted.value, (list, tuple)) else ()
        wanted = [Close(item, wanted.rtol, wanted.atol) for item in items]
    if not isinstance(wanted, (list, tuple)) or not isinstance(got, list) or len(got) != len(wanted):
        return False
    return 0 < len(got) <= _MOST_ITEMS and all(map(_is_told_apart, got)) and _is_rearranged(got, wanted)


def _is_told_apart(item: Evidence) -> bool:
    # Yes and no in another order are other answers, not the same ones in another order.
    return isinstance(item, (TensorRecord, str, int)) and type(item) is not bool


def _is_rearranged(got: Sequence[Evidence], wanted: Sequence[object]) -> bool:
    left = list(wanted)
    for item in got:
        match = next((index for index, other in enumerate(left) if is_same(item, other)), None)
        if match is None:
            return False
        del left[match]
    return True
