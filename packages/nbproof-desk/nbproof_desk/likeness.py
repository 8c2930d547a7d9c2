"""Which answers are like which: so that a marker reads them one after another. A suggestion, and never a mark.

Two texts are alike as far as they share sequences of three signs (Dice's coefficient), which spelling mistakes and other endings
change little. What a text holds of these is one large number: for a thousand texts half a million pairs are compared, however
long the texts are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

__all__ = ["alike_together"]

_ALIKE = 0.5
"""How much two texts share at least to stand together, from 0 to 1."""
_LONGEST = 4_000
"""Signs of a text that are looked at."""
_BITS = 2_048


def alike_together(texts: Sequence[str]) -> list[int]:
    """The indices of the texts, ordered so that each stands below one that it is like, as far as there is one.

    What is like none of those above comes in the order of the texts.
    """
    traces = list(map(_trace, texts))
    counts = [one.bit_count() for one in traces]
    shared = [0.0] * len(texts)
    like: list[int] = [-1] * len(texts)
    below: dict[int, list[int]] = defaultdict(list)
    left = list(range(len(texts)))
    while left:
        at = max(left, key=shared.__getitem__)
        if shared[at] < _ALIKE / 2:
            at = left[0]
            like[at] = -1
        below[like[at]].append(at)
        left.remove(at)
        trace, count = traces[at], counts[at]
        for other in left:
            share = (trace & traces[other]).bit_count() / (count + counts[other])
            if share > shared[other]:
                shared[other], like[other] = share, at
    order, stack = [], below[-1][::-1]
    while stack:
        at = stack.pop()
        order.append(at)
        stack += below[at][::-1]
    return order


def _trace(text: str) -> int:
    """A number with a bit for each sequence of three signs in the text; two sequences may have the same one."""
    padded = f" {text[:_LONGEST]} "
    pieces = {padded[at : at + 3] for at in range(len(padded) - 2)} or {padded}
    trace = 0
    for piece in pieces:
        trace |= 1 << crc32(piece.encode("utf-8", "replace")) % _BITS
    return trace
