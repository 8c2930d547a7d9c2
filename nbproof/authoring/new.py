"""Make a course that works at once, or an exercise that keeps the author contract at once. Authors change it step by step.

All is copied from the files in ``templates/``. A file that is there is never overwritten.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from string import Template

from nbproof.course_file import Course
from nbproof.doors import LEAVES, package_of
from nbproof.errors import UsageError, disk_trouble
from nbproof.lesson.from_text import find_lessons, read_lessons

__all__ = ["FIRST", "filled", "new_course", "new_exercise", "written"]

FIRST = ("01_first", "last_word_first")
"""The lesson of a new course, and its exercise."""

_TEMPLATES = Path(__file__).parent / "templates"
_ID = re.compile(r"[a-z][a-z0-9_]*")
_IMPORTS = {"torch": "import torch\n\n", "numpy": "import numpy as np\n\n", "pandas": "import pandas as pd\n\n"}
"""How a lesson imports what plugs in."""

_KNOWN_LEAVES = {"numpy": ("numpy",), "pandas": ("numpy", "pandas"), "torch": ("torch",)}
"""A library -> the leaf types that a course on it needs: columns are made of arrays."""


def new_course(folder: Path, title: str = "", leaves: Sequence[str] = ()) -> list[Path]:
    """Write a course of one lesson with one exercise into ``folder``; returns the files. Raises UsageError if one is there.

    ``leaves``: leaf types, the tool's own or those of installed packages.
    """
    name = re.sub(r"\W+", "_", folder.resolve().name.lower()).strip("_") or "course"
    lesson, exercise = FIRST
    libraries = dict.fromkeys(chain.from_iterable(_KNOWN_LEAVES.get(one, (one,)) for one in leaves))
    # A package next door brings its library.
    brought = {one: package_of(found[0]) for one, found in LEAVES.installed().items()}
    needed = [brought.get(one, one) for one in leaves]
    words = {
        "name": name,
        "title": _title(title, name),
        "leaves": ", ".join(f'"{leaf}"' for leaf in libraries),
        "imports": "".join(_IMPORTS.get(one, f"import {one}\n\n") for one in leaves),
        "requirements": "\n".join(needed),
    }
    within = {"lesson.py": f"lessons/{lesson}/lesson.py", "hints.toml": "lessons/hints.toml", "gitignore": ".gitignore"}
    texts = {within.get(name, name): text for name, text in filled("course", words)}
    for part, text in filled("exercise", _words_of_exercise(exercise)):
        file = part if part == "lesson.py" else f"{exercise}/{part}"
        beside = f"lessons/{lesson}/{file}"
        texts[beside] = texts.get(beside, "") + text
    return written({folder / place: text for place, text in texts.items()}, folder)


def new_exercise(course: Course, root: Path, lesson: str, name: str) -> list[Path]:
    """Add an exercise to a lesson: its folder, and its cells at the lesson's end.

    Returns the files that were written. Raises UsageError, before anything is written, if the name is no id or is taken.
    """
    (folder,) = find_lessons(root, [lesson])
    if not _ID.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} cannot be the id of an exercise, and the name of its function",
            str(folder),
            "use letters a-z, digits and _, a letter first, and no keyword of Python",
        )
    for other in read_lessons(course, root):
        there = other.path.parent / name
        if name in [cell.grade_id for cell in other.cells] or (there == folder / name and there.exists()):
            place = there if there.exists() else other.path
            raise UsageError(f"the name {name!r} is taken", str(place), "choose another name, or change that one")
    texts = dict(filled("exercise", _words_of_exercise(name)))
    path = folder / "lesson.py"
    before, cells = path.read_text(encoding="utf-8"), texts.pop("lesson.py")
    made = written({folder / name / part: text for part, text in texts.items()}, folder)
    path.write_text(f"{before.rstrip()}\n{cells.rstrip()}\n", encoding="utf-8", newline="\n")
    return [path, *made]


def _title(given: str, name: str) -> str:
    """The given title, or one made of the name. It will stand in quotation marks of both kinds, in TOML and in hints.

    Raises UsageError for a title that these quotation marks cannot hold.
    """
    if set(given) & set("\"'\\\n"):
        raise UsageError("a title with quotation marks, a backslash or more than one line", given, "leave them out")
    return given or name.replace("_", " ").capitalize()


def _words_of_exercise(name: str) -> dict[str, str]:
    return {"name": name, "title": _title("", name)}


def filled(kind: str, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and text of each file that the templates of this kind make."""
    for path in sorted((_TEMPLATES / kind).glob("*.txt")):
        yield path.name.removesuffix(".txt"), Template(path.read_text(encoding="utf-8")).substitute(words)


def written(texts: Mapping[Path, str], folder: Path) -> list[Path]:
    there = next((path for path in texts if path.exists() or path.is_symlink()), None)
    if there is not None:
        raise UsageError(
            "something is there already, and nothing was changed", str(there), "name another folder, or move it away"
        )
    with disk_trouble(UsageError, "it cannot be written", folder.absolute(), "name a folder where you may write"):
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
    return list(texts)
