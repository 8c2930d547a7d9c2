"""Makes a cell's outputs harmless, as a worker sends them: instructors who are logged in read graded notebooks.

Learner code may have written every byte of it. So nothing is trusted: forms, sizes, text. HTML is not kept at all: a few lines
of it can make any program that cleans it work without end. The text of the same output says what was shown. If there is none,
the words of the HTML stand there, and a sentence says what is left out.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable
from html import unescape
from typing import Any

from nbproof.text import readable

__all__ = ["MOST_PIXELS", "Outputs"]

_PNG = b"\x89PNG\r\n\x1a\n"
_MOVING = (b"acTL", b"fcTL", b"fdAT")
MOST_PIXELS = 20_000_000
"""Pixels of all pictures of a submission together; decoded, each has four bytes."""
_NO_PNG = "[a picture is left out, for it is no plain PNG; the submitted notebook has it]"
_TOO_LARGE = "[a picture is left out, for there is no room for more; the submitted notebook has it]"
_FOR_A_BROWSER = "[HTML, JavaScript or a widget is left out; the submitted notebook has it]"
_SHOWN = {"text/plain", "text/markdown"}
_TAG = re.compile(r"<[^<>]*>?|&#\w{20,};?")
"""A tag, or a number of a sign that is too long: Python does not even read one of thousands of digits."""
_MOST_HTML = 20_000
"""Characters of HTML in which words are looked for."""
_CUT = "\n[output cut off: more than a graded notebook may hold]\n"


class Outputs:
    """Cleans the outputs of one submission; ``limit`` characters of them are kept."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.pixels_left = MOST_PIXELS

    def clean(self, outputs: list[Any], number: int) -> tuple[dict[str, Any], ...]:
        """The outputs of cell ``number`` in the few forms that a graded notebook shows. All others are dropped."""
        forms: dict[object, Callable[[dict[str, Any], int], dict[str, Any] | None]] = {
            "stream": self._stream,
            "error": self._error,
            "display_data": self._display,
            "execute_result": self._display,
        }
        kept = []
        for output in outputs[:2000]:
            kind = output.get("output_type") if isinstance(output, dict) else None
            if isinstance(kind, str) and kind in forms:
                made = forms[kind](output, number)
                if made is not None:
                    kept.append(made)
        return tuple(kept)

    def _text(self, value: object, most: int) -> str:
        """At most ``most`` characters of a text, as far as the budget goes; empty if ``value`` is no text."""
        if not isinstance(value, str) or self.left <= 0:
            return ""
        kept = value[: min(most, self.left)]
        self.left -= len(kept)
        if len(kept) < min(len(value), most):
            kept += _CUT
        return readable(kept)

    def _stream(self, output: dict[str, Any], number: int) -> dict[str, Any] | None:
        text = self._text(output.get("text"), 10**9)
        if output.get("name") not in ("stdout", "stderr") or not text:
            return None
        return {"output_type": "stream", "name": output["name"], "text": text}

    def _error(self, output: dict[str, Any], number: int) -> dict[str, Any] | None:
        lines = output.get("traceback")
        if not isinstance(lines, list):
            return None
        names = {key: self._text(output.get(key), 5_000) for key in ("ename", "evalue")}
        return {"output_type": "error", **names, "traceback": [self._text(line, 5_000) for line in lines[:300]]}

    def _display(self, output: dict[str, Any], number: int) -> dict[str, Any] | None:
        data = output.get("data")
        if not isinstance(data, dict):
            return None
        picture, why = self._picture(data)
        # Markdown has a hundred ways to write a link: it is shown as it was written.
        plain = self._text(data.get("text/markdown") or data.get("text/plain"), 10**9)
        if why == _FOR_A_BROWSER:
            words = " ".join(unescape(_TAG.sub(" ", str(data.get("text/html", ""))[:_MOST_HTML])).split())
            # `<IPython.core.display.HTML object>` says nothing of what was shown. A table's text does.
            why = f"{words}\n{why}".strip() if plain[:1] in ("", "<") else ""
        plain = "\n".join(filter(None, (plain, self._text(why, 10**9))))
        shown = {kind: text for kind, text in (("image/png", picture), ("text/plain", plain)) if text}
        made: dict[str, Any] = {"output_type": output["output_type"], "data": shown, "metadata": {}}
        if output["output_type"] == "execute_result":
            made["execution_count"] = number
        return made if shown else None

    def _picture(self, data: dict[Any, Any]) -> tuple[str, str]:
        """The PNG of an output, in base64, and a sentence about a picture, or something else, that is left out."""
        if not any(str(kind).startswith("image/") for kind in data):
            why = _FOR_A_BROWSER if data.keys() - _SHOWN else ""
            return "", why
        # Pages put a picture's text into an attribute, as it is. Half a picture is none.
        text = re.sub(r"[^A-Za-z0-9+/=\s].*", "", str(data.get("image/png", "")), flags=re.DOTALL)
        # What there is no room for is not even looked at.
        pixels = _pixels_of(text) if len(text) <= self.left else self.pixels_left + 1
        if pixels == 0:
            return "", _NO_PNG
        if pixels > self.pixels_left:
            return "", _TOO_LARGE
        self.pixels_left -= pixels
        self.left -= len(text)
        return text, ""


def _pixels_of(text: str) -> int:
    """The number of pixels of a PNG in base64, by its headers: nothing of it is decoded. 0 if it is no PNG, or moves.

    20 kB can decode to 500 MB, in the browser of a person who opens a graded notebook.
    """
    try:
        data = base64.b64decode(text)
        width, height = struct.unpack_from(">II", data, 16)
        at = len(_PNG)
        kinds = list[bytes]()
        while kinds[-1:] != [b"IEND"]:
            length, kind = struct.unpack_from(">I4s", data, at)
            kinds.append(kind)
            at += 12 + length
    except (binascii.Error, struct.error, ValueError):
        return 0
    plain = data.startswith(_PNG) and kinds[0] == b"IHDR" and kinds.count(b"IHDR") == 1
    return width * height if plain and not set(_MOVING) & set(kinds) else 0
