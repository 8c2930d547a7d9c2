"""Python text as tokens, for texts that need not be Python: whatever is wrong with it, no sign is lost.

Python's ``tokenize`` gives up where an answer does not parse, as half of the wrong ones do. Every pattern is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["LONGEST", "tokens"]

LONGEST = 20_000
"""Characters of one text that are looked at."""
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*+)
    |(?P<string>[rbufRBUF]{0,2}(?:
        \"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z) | '{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
        | \"(?:[^\"\\\n]|\\.)*+\"? | '(?:[^'\\\n]|\\.)*+'?))
    |(?P<number>\d[\w.]*+)
    |(?P<name>[^\W\d]\w*+)
    |(?P<newline>\n)
    |(?P<space>[^\S\n]++)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of every token; what is joined makes the source again, cut at :data:`LONGEST` characters."""
    for found in _TOKEN.finditer(source[:LONGEST]):
        yield str(found.lastgroup), found.group()
