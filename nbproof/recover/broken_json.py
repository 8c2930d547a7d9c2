"""Reads JSON that is broken: cut off, with commas or quotes too many or too few, with notebooks one after another.

Linear in the length of the text. What is open where the text ends is marked as :class:`CutList`, :class:`CutDict`
or :class:`CutText`.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

__all__ = ["CutDict", "CutList", "CutText", "TooDeep", "value_at", "values_in"]


class CutList(list[Any]):
    """A list in which the text ends."""


class CutDict(dict[str, Any]):
    """An object in which the text ends."""


class CutText(str):
    """A string in which the text ends."""

    __slots__ = ()


class TooDeep(Exception):
    """More brackets one in another than any notebook has."""


_DEEPEST = 60
_MOST_VALUES = 50
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SINGLE = re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL)
_BETWEEN = re.compile(r"[\s,;\x00\ufeff]*+")
_WORD = re.compile(r"[^\s,:;\[\]{}\"']++")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


def values_in(text: str) -> list[Any]:
    """The objects and lists of a text, one after another; what stands between them is passed over. Raises TooDeep."""
    reader = _Reader(text)
    found: list[Any] = []
    position = 0
    while len(found) < _MOST_VALUES:
        starts = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
        if not starts:
            break
        reader.position = min(starts)
        found.append(reader.value(0))
        position = reader.position
    return found


def value_at(text: str, position: int) -> Any:
    """The object, list or string that begins at ``position``. Raises TooDeep."""
    reader = _Reader(text)
    reader.position = position
    return reader.value(0)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise TooDeep
        sign = self.text[self.position : self.position + 1]
        if sign == "{":
            return self.object(depth)
        if sign == "[":
            return self.list(depth)
        if sign in ('"', "'"):
            return self.string()
        match = _WORD.match(self.text, self.position)
        if match is None:
            # A closing bracket too many, a colon without a key.
            self.position += 1
            return None
        self.position = match.end()
        return _WORDS.get(match[0], match[0])

    def skip(self) -> str:
        """Pass over space and commas; the next sign, empty at the end."""
        match = _BETWEEN.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self.text[self.position : self.position + 1]

    def object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        found: dict[str, Any] = {}
        while sign := self.skip():
            if sign == "}":
                self.position += 1
                return found
            if sign == "]":
                # The closing brace is missing: the list around it ends here.
                return found
            key = self.value(depth + 1)
            if self.skip() != ":":
                continue
            self.position += 1
            if not self.skip():
                break
            value = self.value(depth + 1)
            if isinstance(key, str) and not isinstance(key, CutText):
                found.setdefault(str(key), value)
        return CutDict(found)

    def list(self, depth: int) -> list[Any]:
        self.position += 1
        found: list[Any] = []
        while sign := self.skip():
            if sign == "]":
                self.position += 1
                return found
            if sign == "}":
                return found
            if sign == ":":
                self.position += 1
                continue
            found.append(self.value(depth + 1))
        return CutList(found)

    def string(self) -> str:
        quote = self.text[self.position]
        match = (_STRING if quote == '"' else _SINGLE).match(self.text, self.position)
        assert match is not None
        token, self.position = match[0], match.end()
        if self.text[self.position : self.position + 1] != quote:
            self.position = len(self.text)
            return CutText(_unescaped(token[1:]))
        self.position += 1
        return _literal(token + quote)


def _literal(token: str) -> str:
    try:
        value = json.loads(token, strict=False) if token[0] == '"' else ast.literal_eval(token)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return _unescaped(token[1:-1])
    return value if isinstance(value, str) else ""


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        sign = match[1]
        if len(sign) == 5:
            return chr(int(sign[1:], 16))
        return _SIMPLE.get(sign, match[0])

    return _ESCAPE.sub(one, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
