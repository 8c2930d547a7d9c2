"""Made damage to files: encodings, archives, exports, broken JSON, and what is no notebook at all."""

from __future__ import annotations

import html
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbproof.lesson.from_notebook import text_of

Notebook = dict[str, Any]
Write = Callable[[Notebook, random.Random], tuple[bytes, set[str]]]


@dataclass(frozen=True)
class Written:
    """How the bytes are made, and whether they can be graded."""

    write: Write
    refused: bool = False


def _text(notebook: Notebook) -> str:
    """As Jupyter saves it: indented by one, sources as lists of lines, keys in order."""
    lines = {
        **notebook,
        "cells": [{**cell, "source": text_of(cell).splitlines(keepends=True)} for cell in notebook["cells"]],
    }
    return json.dumps(lines, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _of(change: Callable[[str, random.Random], bytes | str], refused: bool = False) -> Written:
    def write(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
        return _bytes(change(_text(notebook), pick)), set()

    return Written(write, refused)


def _asked_again(change: Callable[[str], bytes | str]) -> Written:
    """A notebook is in it, and nobody is certain to get it out as it was."""
    return _of(lambda text, pick: change(text), refused=True)


def _refused(content: bytes | str) -> Written:
    return Written(lambda notebook, pick: (_bytes(content), set()), refused=True)


def _bytes(made: bytes | str) -> bytes:
    return made.encode() if isinstance(made, str) else made


def _truncated(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
    """The upload broke off: what comes later is gone, and the cell in which it broke off as well."""
    text = _text(notebook)
    cut = int(len(text) * pick.uniform(0.3, 0.9))
    kept = text[:cut]
    lost = set()
    at = 0
    for cell in notebook["cells"]:
        # The end of this cell's object: its source as it was written, and the brace below.
        source = json.dumps(text_of(cell).splitlines(keepends=True), indent=1, ensure_ascii=False)
        written = source.replace("\n", "\n   ")
        place = text.find(f'"source": {written}', at)
        at = place + len(written) if place >= 0 else at
        grading = cell.get("metadata", {}).get("nbgrader")
        if isinstance(grading, dict) and grading.get("solution") and (place < 0 or at + 10 > cut):
            lost.add(str(grading.get("grade_id")))
    return kept.encode(), lost


def _by_jupytext(kind: str) -> Written:
    def write(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
        import jupytext
        import nbformat

        told = {"language_info": {"name": "python", "file_extension": ".py"}}
        node = nbformat.from_dict({**notebook, "metadata": told, "nbformat": 4, "nbformat_minor": 4})
        for cell in node.cells:
            cell.pop("id", None)
        return str(jupytext.writes(node, fmt=kind)).encode(), set()

    return Written(write)


def _conflict(text: str) -> str:
    """Execution counts and outputs changed on both sides."""
    ours = re.compile(r'^ *"execution_count": null,\n', re.MULTILINE)
    return ours.sub(lambda at: f"<<<<<<< HEAD\n{at[0]}=======\n{at[0]}>>>>>>> 3f2a1bc (fix)\n", text)


def _zip(text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("homework.ipynb", text)
    return buffer.getvalue()


def _as_script(text: str) -> str:
    """As nbconvert writes a script: without ids, and with the prose as comments below the code."""
    code = [text_of(cell) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "#!/usr/bin/env python\n# coding: utf-8\n\n" + "".join(f"# In[ ]:\n\n\n{source}\n\n\n" for source in code)


def _commas(text: str, pick: random.Random) -> str:
    return re.sub(r"\n( *)([\]}])", lambda m: f",\n{m[1]}{m[2]}" if pick.random() < 0.5 else m[0], text)


def _raw_breaks(text: str, pick: random.Random) -> str:
    """Line feeds and tabs in strings as themselves."""
    return text.replace('\\n",\n', '\n",\n').replace("\\t", "\t")


FILES: dict[str, Written] = {
    "BOM": _of(lambda text, pick: b"\xef\xbb\xbf" + text.encode()),
    "UTF-16": _of(lambda text, pick: text.encode("utf-16")),
    "UTF-16 without BOM": _of(lambda text, pick: text.encode("utf-16-le")),
    "Windows-1252": _of(lambda text, pick: text.encode("cp1252", "replace")),
    "CRLF": _of(lambda text, pick: text.replace("\n", "\r\n")),
    "one line": _of(lambda text, pick: json.dumps(json.loads(text), separators=(",", ":"))),
    "trailing garbage": _of(lambda text, pick: text + "\n--boundary1234--\n}}]\0"),
    "leading garbage": _of(lambda text, pick: "Content-Type: application/x-ipynb+json\r\n\r\n" + text),
    "truncated": Written(_truncated),
    "last brackets lost": _of(lambda text, pick: text.rstrip().removesuffix("}").rstrip()),
    "raw line feeds in strings": _of(_raw_breaks),
    "trailing commas": _of(_commas),
    "twice in one file": _asked_again(lambda text: text + text),
    "answer of a web service": _asked_again(lambda text: json.dumps({"type": "notebook", "content": json.loads(text)})),
    "written by Python": _of(lambda text, pick: repr(json.loads(text))),
    "zip": _asked_again(_zip),
    "in a web page": _asked_again(
        lambda text: f"<html><head></head><body><pre>{html.escape(text)}</pre></body></html>"
    ),
    "git conflict": _asked_again(_conflict),
    "nbconvert script": _asked_again(_as_script),
    "jupytext percent": _by_jupytext("py:percent"),
    "jupytext markdown": _by_jupytext("md"),
    "empty": _refused(b""),
    "PNG": _refused(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20),
    "essay": _refused("Dear teacher,\nmy computer broke, so I tell you what I would have written.\n"),
    "no cells": _refused('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),
}
