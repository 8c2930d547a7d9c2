"""Which lines of a course are secret, and whether a text holds one of them.

Secret is every line of a reference solution, a hidden test, a mark scheme, an accepted answer or a mutant that does
not stand where learners may read it as well. Lines are compared with their white space evened out; shorter ones than
:data:`_SHORTEST` characters are everybody's. What a learner has written is theirs: it is passed as ``own``. Imports
nothing heavy: all code that writes pages for learners needs it.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from nbproof.cells import private_lines
from nbproof.course_file import Course
from nbproof.grouping import grouped
from nbproof.handed_out import HIDDEN, checks_files, read_named_cells
from nbproof.lesson.exercise_folder import RIGHT, WRONG
from nbproof.lesson.from_notebook import cells_of

__all__ = [
    "Secrets",
    "public_text",
    "read_secrets",
    "text_of",
    "text_of_page",
]

_SHORTEST = 12
"""Characters of the shortest line that counts: ``return norm`` has eleven."""

_WHOLE = 24
"""Characters of the shortest line that is looked for within longer ones; ``sorted(words)`` stands in many sentences."""


class Secrets:
    """The secret lines of a course. It finds them in any text, also as a part of a longer line."""

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        self.origins: dict[str, str] = {}
        for line, origin in lines:
            plain = _even(line)
            if len(plain) >= _SHORTEST and re.search(r"\w{3}", plain):
                self.origins.setdefault(plain, origin)
        # A text holds a line only if it holds its first letters: one look at each place of the text instead of one
        # search a line.
        self._by_start = grouped((line[:_SHORTEST], line) for line in self.origins)

    def __len__(self) -> int:
        return len(self.origins)

    def only(self, wanted: Callable[[str, str], bool]) -> Secrets:
        """The secret lines that ``wanted`` accepts: it gets the line, and where the line comes from."""
        return Secrets((line, origin) for line, origin in self.origins.items() if wanted(line, origin))

    def found_in(self, text: str, own: str = "") -> list[str]:
        """The secret lines that stand in a text and not in ``own``, in order of the text's lines."""
        found: dict[str, None] = {}
        kept = ""
        for line in text.splitlines():
            plain = _even(line)
            for secret in self.within(plain):
                if (plain == secret or len(secret) >= _WHOLE) and secret not in found:
                    kept = kept or "\n".join(map(_even, own.splitlines())) or " "
                    if secret not in kept:
                        found[secret] = None
        return list(found)

    def within(self, plain: str) -> Iterator[str]:
        """The secret lines that stand within a line. The white space of that line is evened out already."""
        for start in {plain[at : at + _SHORTEST] for at in range(len(plain) - _SHORTEST + 1)} & self._by_start.keys():
            yield from (secret for secret in self._by_start[start] if secret in plain)

    def taken_out(self, text: str, own: str = "") -> str:
        """The text with a remark in place of every line that holds a secret one."""
        if not text or not self.found_in(text, own):
            return text
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if self.found_in(line, own):
                lines[number] = "[a line of the tests or of a solution: not shown]"
        return "\n".join(lines)


def _even(line: str) -> str:
    return " ".join(line.split())


def read_secrets(course: Course, root: Path, lessons: Sequence[str] = (), *, candidates: bool = True) -> Secrets:
    """The secret lines of these lessons (none named: all) from ``source/``, and from ``lessons/`` with ``candidates``.

    A line is public if ``source/`` shows it outside of its regions. The release does not decide: it may be what leaks.
    """
    folders = sorted(path for path in (root / "source").glob("*") if not lessons or path.name in lessons)
    secret: list[tuple[str, str]] = []
    for folder in folders:
        for name, source in _sources(folder):
            secret += [(line, f"source/{folder.name}: {name}") for line in sorted(private_lines(source)[1])]
    if candidates:
        secret += chain.from_iterable(_candidates(root / "lessons" / folder.name) for folder in folders)
    found = Secrets(secret)
    public = [HIDDEN, *public_text(course, root).splitlines()]
    everybodys = set(chain.from_iterable(found.within(_even(text)) for text in public))
    return found.only(lambda line, origin: line not in everybodys)


def public_text(course: Course, root: Path) -> str:
    """All lines of ``source/`` that learners may see."""
    shown: list[str] = []
    for folder in sorted((root / "source").glob("*")):
        shown += chain.from_iterable(sorted(private_lines(source)[0]) for _, source in _sources(folder))
    return "\n".join([*shown, *_visible(course, root)])


def _visible(course: Course, root: Path) -> Iterator[str]:
    """The lines of the checks that learners have."""
    texts = root / "lessons" if (root / "lessons").is_dir() else course.texts
    for path in checks_files(texts).values():
        for cell in read_named_cells(path):
            yield from cell.visible.splitlines()


def _candidates(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob(f"*/{RIGHT}")) + sorted(folder.glob(f"*/{WRONG}")):
        file = path.relative_to(folder.parent.parent)  # of ten thousand lines: taken once
        for cell in read_named_cells(path):
            origin = f"{file}: {cell.name}"
            yield from ((line, origin) for line in cell.source.splitlines())


def text_of(name: str, data: bytes) -> str:
    """What somebody reads who opens a file: a page's words, all texts of a notebook or of JSON, else the text itself."""
    text = data.decode("utf-8", errors="replace")
    if name.endswith((".ipynb", ".json")):
        with contextlib.suppress(ValueError):
            return "\n".join(_texts_in(json.loads(text)))
    return text_of_page(text) if name.endswith((".html", ".htm")) else text


_TAG = re.compile(r"<!--.*?-->|<[a-zA-Z/!][^<>]*>", re.DOTALL)
_DATA = re.compile(r"data:[a-z]+/[a-z+]+;base64,[A-Za-z0-9+/=\s]*")


def text_of_page(page: str) -> str:
    """All of an HTML page that is text: first what stands between its tags, then the tags, where attributes are."""
    page = _DATA.sub("data:", page)
    return html.unescape(_TAG.sub("", page)) + "\n" + html.unescape("\n".join(_TAG.findall(page)))


def _texts_in(value: Any) -> Iterator[str]:
    """Every text anywhere in a notebook: sources, outputs, metadata. nbformat stores a long one as a list of lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts_in(inner)
    elif isinstance(value, list):
        if value and all(isinstance(inner, str) for inner in value):
            yield "".join(value)
        else:
            for inner in value:
                yield from _texts_in(inner)


def _sources(folder: Path) -> Iterator[tuple[str, str]]:
    """The grade_id and source of each cell of the notebooks in a folder of ours."""
    for path in sorted(folder.glob("*.ipynb")):
        yield from ((cell.grade_id, cell.source) for cell in cells_of(path.read_bytes()))
