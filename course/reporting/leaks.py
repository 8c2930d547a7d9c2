"""Whether something that learners get to read holds a line of a solution or of a hidden test.

Secret is every line of a reference solution, a hidden test, a mark scheme, an accepted answer or a mutant that does
not stand in a released notebook as well. Lines are compared with their white space evened out; shorter ones than
:data:`SHORTEST` characters are everybody's. What a learner has written is theirs: it is passed as ``own``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.authoring.regions import private_lines

__all__ = ["SHORTEST", "Leak", "Secrets", "leaks_in", "public_text", "read_secrets", "text_of", "text_of_page"]

SHORTEST = 12
"""Characters of the shortest line that counts: ``return grad`` has eleven."""

_WHOLE = 24
"""Characters of the shortest line that is looked for within longer ones; ``torch.no_grad()`` stands in many sentences."""

_KEY = SHORTEST


@dataclass(frozen=True)
class Leak:
    """A secret line where it should not be."""

    place: str
    line: str
    origin: str
    """Where the line comes from."""


class Secrets:
    """The secret lines of a course; finds them in any text, whatever stands before or after them on a line."""

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        self.origins: dict[str, str] = {}
        for line, origin in lines:
            plain = _even(line)
            if len(plain) >= SHORTEST and re.search(r"\w{3}", plain):
                self.origins.setdefault(plain, origin)
        # A text holds a line only if it holds its first letters: one look at each place of the text instead of one
        # search a line.
        self._by_start: dict[str, list[str]] = {}
        for line in self.origins:
            self._by_start.setdefault(line[:_KEY], []).append(line)

    def __len__(self) -> int:
        return len(self.origins)

    def found_in(self, text: str, own: str = "") -> list[str]:
        """The secret lines that stand in a text and not in ``own``, in order of the text's lines."""
        found: dict[str, None] = {}
        kept = ""
        for line in text.splitlines():
            plain = _even(line)
            for start in {plain[at : at + _KEY] for at in range(len(plain) - _KEY + 1)} & self._by_start.keys():
                for secret in self._by_start[start]:
                    whole = len(secret) < _WHOLE
                    if (plain == secret if whole else secret in plain) and secret not in found:
                        kept = kept or "\n".join(map(_even, own.splitlines())) or " "
                        if secret not in kept:
                            found[secret] = None
        return list(found)

    def taken_out(self, text: str, own: str = "") -> str:
        """The text with a remark in place of every line that holds a secret one."""
        if not text or not self.found_in(text, own):
            return text
        return "\n".join(
            "[a line of the tests or of a solution: not shown]" if self.found_in(line, own) else line
            for line in text.splitlines()
        )


def _even(line: str) -> str:
    return " ".join(line.split())


def read_secrets(root: Path, lessons: Sequence[str] = (), *, candidates: bool = True, released: bool = True) -> Secrets:
    """The secret lines of these lessons (none named: all) from ``source/``, and from ``lessons/`` with ``candidates``.

    Without ``released`` the release cannot vouch for itself: public is what ``source/`` shows outside of its regions.
    """
    folders = sorted(path for path in (root / "source").glob("*") if not lessons or path.name in lessons)
    notebooks = (root / "release").glob("*/*.ipynb") if released else ()
    public = {_even(line) for path in notebooks for line in _lines_of(path)}
    found: list[tuple[str, str]] = []
    for folder in folders:
        for path in sorted(folder.glob("*.ipynb")):
            for cell in _cells(path):
                known, private = private_lines(_source(cell))
                public |= {_even(line) for line in known}
                name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
                found += [(line, f"source/{folder.name}: {name}") for line in sorted(private)]
        if candidates:
            found += list(_candidates(root / "lessons" / folder.name))
    shown = "\n".join(public)
    return Secrets((line, origin) for line, origin in found if _even(line) not in shown)


def public_text(root: Path) -> str:
    """All lines of ``source/`` that learners may see."""
    cells = (cell for path in sorted((root / "source").glob("*/*.ipynb")) for cell in _cells(path))
    return "\n".join(line for cell in cells for line in sorted(private_lines(_source(cell))[0]))


def _candidates(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("accepted/*/*.py")) + sorted(folder.glob("mutants/*/*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield line, str(path.relative_to(folder.parent.parent))


def leaks_in(place: str, text: str, secrets: Secrets, own: str = "") -> list[Leak]:
    """The leaks in a text that stands at ``place``."""
    return [Leak(place, line, secrets.origins[line]) for line in secrets.found_in(text, own)]


def text_of(path: Path) -> str:
    """What somebody reads who opens a file: a page's words, a notebook's cells and outputs, else the text itself."""
    data = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".ipynb":
        return "\n".join(_lines_of(path, data))
    return text_of_page(data) if path.suffix in (".html", ".htm") else data


_TAG = re.compile(r"<!--.*?-->|<[a-zA-Z/!][^<>]*>", re.DOTALL)
_DATA = re.compile(r"data:[a-z]+/[a-z+]+;base64,[A-Za-z0-9+/=\s]*")


def text_of_page(page: str) -> str:
    """All of an HTML page that is text: first what stands between its tags, then the tags, where attributes are."""
    page = _DATA.sub("data:", page)
    return html.unescape(_TAG.sub("", page)) + "\n" + html.unescape("\n".join(_TAG.findall(page)))


def _lines_of(path: Path, data: str | None = None) -> Iterator[str]:
    for cell in _cells(path, data):
        yield from _source(cell).splitlines()
        for output in cell.get("outputs", []):
            yield from json.dumps(output, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"').splitlines()


def _cells(path: Path, data: str | None = None) -> list[dict[str, Any]]:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8") if data is None else data)
        return [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    except (ValueError, KeyError, TypeError):
        return [{"source": data or path.read_text(encoding="utf-8", errors="replace")}]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)
