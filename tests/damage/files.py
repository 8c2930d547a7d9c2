"""Made damage to files: encodings, archives, exports, broken JSON, and what is no notebook at all."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import random
import re
import tarfile
import urllib.parse
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbproof.cells import text_of

__all__ = ["FILES", "Written"]

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


def _of(change: Callable[[str, random.Random], bytes | str]) -> Written:
    def write(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
        made = change(_text(notebook), pick)
        return (made.encode() if isinstance(made, str) else made), set()

    return Written(write)


def _refused(content: bytes | str) -> Written:
    data = content.encode() if isinstance(content, str) else content
    return Written(lambda notebook, pick: (data, set()), refused=True)


def _name(cell: dict[str, Any]) -> str:
    grading = cell.get("metadata", {}).get("nbgrader")
    return str(grading.get("grade_id")) if isinstance(grading, dict) else ""


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


def _old(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cells.append({
                "cell_type": "code", "collapsed": False, "input": text_of(cell).splitlines(keepends=True),
                "language": "python", "metadata": cell["metadata"], "outputs": [],
            })  # fmt: skip
        else:
            cells.append({"cell_type": "markdown", "metadata": cell["metadata"], "source": text_of(cell)})
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": cells, "metadata": {}}],
    }
    return json.dumps(old, indent=1).encode(), set()


def _exported(kind: str) -> Written:
    def write(notebook: Notebook, pick: random.Random) -> tuple[bytes, set[str]]:
        import nbformat

        told = {"language_info": {"name": "python", "file_extension": ".py"}} if kind != "plain script" else {}
        node = nbformat.from_dict({**notebook, "metadata": {**told}, "nbformat": 4, "nbformat_minor": 4})
        for cell in node.cells:
            cell.pop("id", None)
        if ":" in kind or kind == "md":
            import jupytext

            return str(jupytext.writes(node, fmt=kind)).encode(), set()
        from nbconvert import HTMLExporter, MarkdownExporter, PythonExporter, ScriptExporter

        exporter: Any = {
            "html": lambda: HTMLExporter(), "html classic": lambda: HTMLExporter(template_name="classic"),
            "script": PythonExporter, "plain script": ScriptExporter, "markdown": MarkdownExporter,
        }[kind]()  # fmt: skip
        try:
            body, _ = exporter.from_notebook_node(node)
        except SyntaxError:  # nbconvert looks into the code, and stumbles over halves of split cells
            body = nbformat.writes(node)
        # Where it does not know the language, nbconvert writes no text.
        gone = (
            {_name(cell) for cell in notebook["cells"] if cell["cell_type"] != "code"}
            if kind == "plain script"
            else set()
        )
        return str(body).encode(), gone

    return Written(write)


def _conflict(text: str, pick: random.Random) -> str:
    """Execution counts and outputs changed on both sides."""

    def both(match: re.Match[str]) -> str:
        if pick.random() < 0.5:
            return match[0]
        ours, theirs = match[0], match[0].replace("null", str(pick.randrange(1, 90)))
        return f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> 3f2a1bc (fix)\n"

    return re.sub(r'^ *"execution_count": null,\n', both, text, flags=re.MULTILINE)


def _zip(names: dict[str, bytes | None]) -> Callable[[str, random.Random], bytes]:
    def write(text: str, pick: random.Random) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in names.items():
                archive.writestr(name, text.encode() if content is None else content)
        return buffer.getvalue()

    return write


def _tar(text: str, pick: random.Random) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("homework/lesson.ipynb")
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _commas(text: str, pick: random.Random) -> str:
    return re.sub(r"\n( *)([\]}])", lambda m: f",\n{m[1]}{m[2]}" if pick.random() < 0.5 else m[0], text)


def _without_commas(text: str, pick: random.Random) -> str:
    return re.sub(r"^( *\}),$", lambda m: m[1] if pick.random() < 0.3 else m[0], text, flags=re.MULTILINE)


def _raw_breaks(text: str, pick: random.Random) -> str:
    """Line feeds and tabs in strings as themselves."""
    return text.replace('\\n",\n', '\n",\n').replace("\\t", "\t")


_LOGIN = (
    "<!DOCTYPE html><html><head><title>Log in to the site | University</title></head><body>"
    '<form action="/login"><input name="user"><input type="password" name="pass"></form></body></html>'
)
_ERROR = "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1><p>Moodle</p></body></html>"
_OTHER = json.dumps({
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Week 3: bicycles and how to mend them\n"]},
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "bicycle", "solution": True, "grade": False}},
         "execution_count": None, "outputs": [], "source": ["def wheels(bicycle):\n", "    return 2\n"]},
    ],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
})  # fmt: skip

FILES: dict[str, Written] = {
    "BOM": _of(lambda text, pick: b"\xef\xbb\xbf" + text.encode()),
    "UTF-16": _of(lambda text, pick: text.encode("utf-16")),
    "UTF-16 without BOM": _of(lambda text, pick: text.encode("utf-16-le")),
    "UTF-32": _of(lambda text, pick: text.encode("utf-32")),
    "Windows-1252": _of(lambda text, pick: text.encode("cp1252", "replace")),
    "GB18030": _of(lambda text, pick: text.encode("gb18030", "replace")),
    "CRLF": _of(lambda text, pick: text.replace("\n", "\r\n")),
    "old Mac lines": _of(lambda text, pick: text.replace("\n", "\r")),
    "one line": _of(lambda text, pick: json.dumps(json.loads(text), separators=(",", ":"))),
    "trailing garbage": _of(lambda text, pick: text + "\n--boundary1234--\n}}]\0"),
    "leading garbage": _of(lambda text, pick: "Content-Type: application/x-ipynb+json\r\n\r\n" + text),
    "zero bytes behind": _of(lambda text, pick: text.encode() + b"\0" * 5000),
    "truncated": Written(_truncated),
    "last brackets lost": _of(lambda text, pick: text.rstrip().removesuffix("}").rstrip()),
    "raw line feeds in strings": _of(_raw_breaks),
    "NaN": _of(lambda text, pick: text.replace('"execution_count": null', '"execution_count": NaN')),
    "trailing commas": _of(_commas),
    "commas lost": _of(_without_commas),
    "bad escapes": _of(lambda text, pick: text.replace('"source": [', '"path": "C:\\data\\x",\n   "source": [')),
    "twice in one file": _of(lambda text, pick: text + text),
    "another notebook behind": _of(lambda text, pick: text + "\n" + _OTHER),
    "nbformat 3": Written(_old),
    "JSON in JSON": _of(lambda text, pick: json.dumps(text)),
    "answer of a web service": _of(lambda text, pick: json.dumps({"type": "notebook", "content": json.loads(text)})),
    "only the cells": _of(lambda text, pick: json.dumps(json.loads(text)["cells"])),
    "written by Python": _of(lambda text, pick: repr(json.loads(text))),
    "gzip": _of(lambda text, pick: gzip.compress(text.encode(), mtime=0)),
    "bzip2": _of(lambda text, pick: bz2.compress(text.encode())),
    "xz": _of(lambda text, pick: lzma.compress(text.encode())),
    "zip": _of(_zip({"homework.ipynb": None})),
    "zip of a Mac": _of(
        _zip({"h/homework.ipynb": None, "__MACOSX/h/._homework.ipynb": b"\0\5\x16\7", "h/.DS_Store": b"x"})
    ),
    "tar": _of(_tar),
    "base64": _of(lambda text, pick: base64.encodebytes(text.encode())),
    "percent-encoded": _of(lambda text, pick: urllib.parse.quote(text)),
    "escaped for HTML": _of(lambda text, pick: html.escape(text)),
    "in a web page": _of(lambda text, pick: f"<html><head></head><body><pre>{html.escape(text)}</pre></body></html>"),
    "curly quotes by Word": _of(lambda text, pick: re.sub(r'"([^"\n]*)"', "“\\1”", text)),
    "git conflict": _of(_conflict),
    "nbconvert script": _exported("script"),
    "nbconvert plain script": _exported("plain script"),
    "nbconvert markdown": _exported("markdown"),
    "nbconvert page": _exported("html"),
    "nbconvert classic page": _exported("html classic"),
    "jupytext percent": _exported("py:percent"),
    "jupytext light": _exported("py:light"),
    "jupytext without marks": _exported("py:nomarker"),
    "jupytext markdown": _exported("md"),
    "empty": _refused(b""),
    "white space": _refused(b"\n \n"),
    "zero bytes": _refused(b"\0" * 4096),
    "another lesson": _refused(_OTHER),
    "login page": _refused(_LOGIN),
    "error page": _refused(_ERROR),
    "link": _refused("https://colab.research.google.com/drive/1AbCdEf?usp=sharing\n"),
    "Google Drive shortcut": _refused('{"url": "https://docs.google.com/open?id=1", "doc_id": "1", "email": "a@b.c"}'),
    "git LFS pointer": _refused("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
    "PNG": _refused(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20),
    "PDF": _refused(b"%PDF-1.7\n" + bytes(range(256)) * 20),
    "Word": _refused(_zip({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"})("", random.Random(0))),
    "old Word": _refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000),
    "RTF": _refused(b"{\\rtf1\\ansi def f(x): return x}"),
    "essay": _refused("Dear teacher,\nmy computer broke, so I tell you what I would have written.\n"),
    "zip without a notebook": _refused(_zip({"a.txt": b"hello"})("", random.Random(0))),
    "zip with two notebooks": _refused(_zip({"a.ipynb": b"{}", "b.ipynb": b"{}"})("", random.Random(0))),
    "other JSON": _refused('{"name": "ada", "score": 100}'),
    "no cells": _refused('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),
}
