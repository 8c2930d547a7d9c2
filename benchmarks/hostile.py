"""Evidence made to cost its judge memory or time, derived from what a check wants by changing some of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import torch

from nbproof.values.compare import AnyOf, Close, Matches

__all__ = ["KINDS", "hostile", "plain"]


def plain(wanted: object, chance: random.Random) -> Any:
    """What an answer would bring that has what is wanted. Where a function decides, anything."""
    if isinstance(wanted, AnyOf):
        return plain(chance.choice(wanted.options), chance)
    if isinstance(wanted, Close):
        return plain(wanted.value, chance)
    if isinstance(wanted, Matches):
        return chance.choice([0, 3, "text", [], ["one", "two"], {"a": True}, torch.ones(3), None])
    if isinstance(wanted, Mapping):
        return {key: plain(value, chance) for key, value in wanted.items()}
    return [plain(item, chance) for item in wanted] if isinstance(wanted, (list, tuple)) else wanted


def _row_or_column(value: Any, chance: random.Random) -> Any:
    size = chance.choice([300, 3_000, 30_000])
    return torch.ones(*chance.choice([(size, 1), (1, size), (size,), (1, 1, size), (size, 1, 1)]))


def _one_long_side(value: Any, chance: random.Random) -> Any:
    sides = [1] * 12
    sides[chance.randrange(12)] = 10
    return torch.ones(sides)


def _rows_and_columns(value: Any, chance: random.Random) -> Any:
    """Side by side: what multiplies them makes the square of what was brought."""
    size = chance.choice([3_000, 30_000])
    return _each(value, lambda at: torch.ones((size, 1) if at % 2 else (1, size)))


def _long_sides(value: Any, chance: random.Random) -> Any:
    """Side by side, each long in a dimension of its own: their sum has ten times as many elements for each."""
    return _each(value, lambda at: torch.ones([10 if place == at % 12 else 1 for place in range(12)]))


def _each(value: Any, made: Callable[[int], Any]) -> Any:
    if isinstance(value, dict):
        return {key: made(at) for at, key in enumerate(value)}
    return [made(at) for at in range(len(value))] if isinstance(value, list) else made(0)


def _large(value: Any, chance: random.Random) -> Any:
    return torch.ones(
        chance.choice([2**18, 2**20, 2**23]), dtype=chance.choice([torch.float32, torch.uint8, torch.float64])
    )


def _expanded(value: Any, chance: random.Random) -> Any:
    return torch.ones(1).expand(*chance.choice([(2**40,), (2**20, 2**20), (10**5, 10**4)]))


def _same_shape(value: Any, chance: random.Random) -> Any:
    if not isinstance(value, torch.Tensor):
        return chance.choice([float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, complex(1, 2), -0.0])
    odd = chance.choice([float("nan"), float("inf"), -float("inf"), 0.0, 1e38])
    mask = torch.rand(value.shape) < chance.random()
    return torch.where(mask, torch.full(value.shape, odd), torch.zeros(value.shape)).to(value.dtype)


_DTYPES = (  # noqa: SIM905
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 complex32 "
    "float8_e4m3fn float8_e5m2"
).split()


def _other_dtype(value: Any, chance: random.Random) -> Any:
    shape = value.shape if isinstance(value, torch.Tensor) else chance.choice([(), (0,), (3,), (0, 5), (2, 0, 2**30)])
    return torch.zeros(shape, dtype=getattr(torch, chance.choice(_DTYPES)))


def _odd_layout(value: Any, chance: random.Random) -> Any:
    shape = value.shape if isinstance(value, torch.Tensor) and value.numel() else (3,)
    made: list[Callable[[], torch.Tensor]] = [
        lambda: torch.ones(shape).to_sparse(),
        lambda: torch.ones(shape, device="meta"),
        lambda: torch.quantize_per_tensor(torch.ones(shape), 0.1, 0, torch.qint8),
        lambda: torch.ones(shape, dtype=torch.complex64).conj(),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        lambda: torch.ones(shape).requires_grad_() * 2,
    ]
    return chance.choice(made)()


def _deep(value: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice([5, 11, 12, 13, 500, 5_000])):
        value = [value] if chance.random() < 0.8 else {"a": value}
    return value


def _wide(value: Any, chance: random.Random) -> Any:
    one = chance.choice([value, 0, "a", None, [], True, 1.5, ("a", 1), torch.ones(1), {}, [1, True]])
    return [one] * chance.choice([201, 2_000, 9_000, 19_000, 1_000_000])


def _more_of_the_same(value: Any, chance: random.Random) -> Any:
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return (items * chance.choice([2, 30, 200, 5_000]))[:15_000]


def _as_many(value: Any, chance: random.Random) -> Any:
    """As long as it should be, each item costly."""
    if isinstance(value, (list, dict)) and value:
        items = [_any_kind(one, chance) for one in (value.values() if isinstance(value, dict) else value)]
        return dict(zip(value, items, strict=True)) if isinstance(value, dict) else items
    return _any_kind(value, chance)


def _many_keys(value: Any, chance: random.Random) -> Any:
    kinds: list[Callable[[int], object]] = [
        str,
        lambda n: n,
        lambda n: (n, "a"),
        lambda n: "x" * 10 + str(n),
        lambda n: n / 3,
    ]
    made = chance.choice(kinds)
    keys = {made(number): value for number in range(chance.choice([3, 200, 9_000, 19_000]))}
    return {**(value if isinstance(value, dict) else {}), **keys}


def _long_number(value: Any, chance: random.Random) -> Any:
    number = chance.choice([10**10_000, -(10**10_000), 2**63, 2**63 - 1, -(2**63), 10**18, 10**9, -1])
    return chance.choice([number, [number] * 3, {number: number}, {"a": number}])


def _long_text(value: Any, chance: random.Random) -> Any:
    line = chance.choice(
        ["2, 3 ", "(1,", "a.", " ", "1x", "\x1b[0m", "\udc80", "conv1: (2, 3) ", "Linear(", "\n", "0.weight "]
    )
    text = line * (chance.choice([40, 400, 2_000, 40_000, 190_000]) // len(line))
    return chance.choice([text, [text], [text[:1_900]] * 100, text.splitlines(), {text: 1}])


def _alias(value: Any, chance: random.Random) -> Any:
    itself: list[Any] = []
    itself.extend([itself] * chance.choice([1, 2, 10]))
    shared = [value] * 30
    return chance.choice([itself, [shared] * 30, [[shared] * 30] * 15])


def _nudged(value: Any, chance: random.Random) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
        return value * (1 + 0.01 * torch.rand(value.shape, dtype=value.dtype))
    if isinstance(value, list):
        return chance.sample(value, len(value))
    if isinstance(value, dict):
        return dict(chance.sample(list(value.items()), len(value)))
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, (int, float)) else f"{value} "


def _other_type(value: Any, chance: random.Random) -> Any:
    return chance.choice(
        [None, True, 0, 2, -1.5, "", "a, b", [], {}, set(), object(), torch.float32, print, torch.nn.ReLU(), [[]]]
    )


KINDS: dict[str, Callable[[Any, random.Random], Any]] = {
    kind.__name__.strip("_").replace("_", " "): kind
    for kind in (
        _row_or_column, _rows_and_columns, _one_long_side, _long_sides,
        _large, _expanded, _same_shape, _other_dtype, _odd_layout, _deep, _wide,
        _more_of_the_same, _as_many, _many_keys, _long_number, _long_text, _alias, _nudged, _other_type,
    )
}  # fmt: skip


_LOOKED_FOR = ("rows and columns", "long sides") * 3
"""What has ended a run is tried more often."""


def _any_kind(value: Any, chance: random.Random) -> Any:
    kinds = [kind for kind in KINDS.values() if kind is not _as_many]
    return chance.choice(kinds)(value, chance)


_DEEPEST = 50
"""Levels of a value that are changed: a value may be thousands deep by now."""


def _places(value: Any, path: tuple[Any, ...] = (), side_by_side: bool = False) -> list[tuple[Any, ...]]:
    """Paths into a value; ``side_by_side``: only those to two or more that stand together."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    found = [path] if not side_by_side or len(inner) > 1 else []
    for key, part in inner[:300]:
        if len(found) < 300 and len(path) < _DEEPEST:
            found += _places(part, (*path, key), side_by_side)
    return found


def _changed(value: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: _changed(value[key], tuple(rest), change)}
    return [_changed(one, tuple(rest), change) if at == key else one for at, one in enumerate(value)]


def hostile(wanted: object, chance: random.Random) -> tuple[str, Any]:
    """(the kinds of change, an answer): what is wanted, changed in one to four places; in all fields alike, at times."""
    value = plain(wanted, chance)
    names = []
    for _ in range(chance.choice([1, 1, 2, 4])):
        name = chance.choice([*KINDS, *_LOOKED_FOR])
        names.append(name)
        kind = KINDS[name]
        try:
            if isinstance(value, dict) and chance.random() < 0.3:
                value = {key: kind(one, chance) for key, one in value.items()}
                continue
            # Most of what a check looks into stands below the fields of the result.
            places = [
                path for path in _places(value, side_by_side=name in _LOOKED_FOR) if path or chance.random() < 0.1
            ] or [()]
            value = _changed(value, chance.choice(places), lambda one, kind=kind: kind(one, chance))  # type: ignore[misc]
        except (RecursionError, RuntimeError, MemoryError, TypeError):
            continue  # what no learner can make either, such as a change of what is nested too deep already
    return " + ".join(names), value
