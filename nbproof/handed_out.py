"""The texts that learners have beside their notebooks: the visible checks of each exercise, and the hints.

They are written in ``lessons/``, and in a clone they are read there: nothing is derived from them that could be of yesterday.
What is shipped to learners, a wheel or a class's bundle, has a folder ``handed_out`` of the same form in the place of
``lessons/``: without solutions, without hidden checks, and with ``outline.json``, which a clone reads off ``source/``.

=======================================  ==========================================================================
``<lesson>/<exercise>/checks.py``        the checks; in ``lessons/`` those that learners do not get stand below a line
``<lesson>/hints.toml``                  the ways into the exercises of the lesson, and what goes wrong in it
``hints.toml``                           what goes wrong in any lesson
=======================================  ==========================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from nbproof.errors import LessonError
from nbproof.files import digest_of

__all__ = [
    "CHECKS",
    "HIDDEN",
    "HINTS",
    "OUTLINE",
    "NamedCell",
    "checks_files",
    "digest_of_visible",
    "hint_files",
    "key_of",
    "read_named_cells",
    "visible_in",
    "visible_texts",
]

CHECKS, HINTS, OUTLINE = "checks.py", "hints.toml", "outline.json"

HIDDEN = "# --- Hidden checks: graders run them, learners do not get them. ---"
"""The line between what learners get and what they do not. In the hidden region of a notebook the lines above it fetch
the names of the visible text, for people who run the notebook as it is."""

_MARKER = re.compile(r"# ?%%(?P<name>.*)")
_NAME = re.compile(r"[A-Za-z0-9_]+")


def key_of(exercise: str, part: str = "") -> str:
    """The key of an exercise's checks, or of the checks of one part."""
    return f"{exercise}/{part}" if part else exercise


def checks_files(texts: Path) -> dict[str, Path]:
    """Exercise -> its file of checks, in ``lessons/`` or in what was handed out."""
    return {path.parent.name: path for path in sorted(texts.glob(f"*/*/{CHECKS}"))}


def hint_files(texts: Path) -> list[Path]:
    """The files of hints there: those of any lesson first."""
    return [*texts.glob(HINTS), *sorted(texts.glob(f"*/{HINTS}"))]


def visible_texts(texts: Path, exercise: str) -> dict[str, str]:
    """Key -> text of the checks that learners have of an exercise; nothing if it has none here.

    ``texts``: ``lessons/``, or what was handed out (:attr:`nbproof.course_file.Course.texts`).
    """
    path = checks_files(texts).get(exercise)
    return visible_in(exercise, path) if path is not None else {}


def visible_in(exercise: str, path: Path) -> dict[str, str]:
    """Key -> text of the checks that learners have, from the file that holds them. Raises LessonError."""
    return {key_of(exercise, cell.name): cell.visible.strip("\n") for cell in read_named_cells(path)}


def digest_of_visible(texts: Path, lesson: str) -> str:
    """A digest that changes with the checks that learners have of a lesson."""
    files = sorted((texts / lesson).glob(f"*/{CHECKS}"))
    cells = chain.from_iterable(map(read_named_cells, files))
    return digest_of(*(cell.visible.encode() for cell in cells))


@dataclass(frozen=True)
class NamedCell:
    """A cell ``# %% name``. A file without such a line is one cell, with an empty name."""

    name: str
    source: str
    """Without blank lines at its end, and without a newline there."""
    path: Path
    line: int
    """The line of the file where its text begins."""

    @property
    def place(self) -> str:
        """Where the cell begins: its marker, if it has one."""
        return f"{self.path}:{self.line - bool(self.name)}"

    @property
    def visible(self) -> str:
        """The part of checks that learners get: it stands above the line :data:`HIDDEN`."""
        return self._halves[0]

    @property
    def hidden(self) -> str:
        """The part of checks that learners do not get: it stands below that line."""
        return self._halves[1]

    @property
    def _halves(self) -> tuple[str, str]:
        lines = self.source.split("\n")
        end = lines.index(HIDDEN) if HIDDEN in lines else len(lines)
        return "\n".join(lines[:end]), "\n".join(lines[end + 1 :])


def read_named_cells(path: Path) -> tuple[NamedCell, ...]:
    """The cells of a file, in its order; none if there is no file. Raises LessonError for one without a name of its own."""
    if not path.exists():
        return ()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(f"it cannot be read: {error}", str(path), "save it as UTF-8 text") from None
    markers = [(at, found["name"].strip()) for at, line in enumerate(lines) if (found := _MARKER.match(line))]
    if not markers:
        return (NamedCell("", _ending("\n".join(lines)), path, 1),)
    for at, line in enumerate(lines[: markers[0][0]]):
        if line.strip() and not line.startswith("#"):  # JupyterLab writes a header of comments
            raise LessonError("text that is in no cell", f"{path}:{at + 1}", "put a '# %% name' above it")
    ends = [at for at, _ in markers[1:]] + [len(lines)]
    cells: dict[str, NamedCell] = {}
    for (at, name), end in zip(markers, ends, strict=True):
        cell = NamedCell(name, _ending("\n".join(lines[at + 1 : end])), path, at + 2)
        if not _NAME.fullmatch(name):
            cure = "write '# %% name', in letters, digits and _"
            raise LessonError(f"a cell without a name: {lines[at]!r}", f"{path}:{at + 1}", cure)
        if name in cells:
            places = f"{cell.place} and {cells[name].place}"
            raise LessonError(f"two cells are called {name!r}", places, "rename one of them")
        cells[name] = cell
    return tuple(cells.values())


def _ending(text: str) -> str:
    """The text without the blank lines at its end. Spaces within its last line stay."""
    return re.sub(r"(\n[ \t]*)+\Z", "", text)
