"""Python's syntax trees, in a process whose threads mark several submissions at once."""

from __future__ import annotations

import ast
import threading
import warnings
from functools import lru_cache

__all__ = ["parsed"]

_ONE_AT_A_TIME = threading.Lock()


@lru_cache(maxsize=64)
def parsed(source: str) -> ast.Module:
    """The syntax tree of a text, with the errors of ``ast.parse``; what the text would be warned of is not told.

    Nobody changes a tree: the same text again has the same one.
    One thread at a time: Python 3.11 counts the depth of all trees in one number, and raises SystemError where a collection of
    garbage lets another thread build one in between (CPython's issue 106905). Filters of warnings are the process's, too.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
