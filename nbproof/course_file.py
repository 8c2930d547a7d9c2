"""What the tool has to know of a course: ``course.toml``.

It lies in the course's folder, or, if the course has a package of its own that its lessons import, in that package. A command
reads the course where it starts (:func:`find_course`), and hands it on: it is an argument. Only a notebook asks which course its
process works for (:func:`the_course`): a course's package says so when it is imported (:func:`use_course`).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.errors import UsageError

__all__ = [
    "Course",
    "find_course",
    "is_nbgraders",
    "read_course",
    "the_course",
    "use_course",
    "used",
]

_NAME = "course.toml"
_BUDGET = ("words", "demands", "mutants", "check_lines", "min_accepted", "min_mutants", "hidden_share")
"""What ``[budget]`` may say, for all lessons, and in a table of its name for one."""


@dataclass(frozen=True)
class Course:
    """One course, as its ``course.toml`` tells it."""

    package: str
    """What lessons import it as; empty if the course has no package of its own."""
    folder: Path
    """Where ``course.toml`` lies: the package, or the course's folder."""
    says: str
    """What the course is called, for people."""
    name: str = ""
    """The same for files: what learners get is called so, and where their progress is kept."""
    leaves: tuple[str, ...] = ()
    """Libraries with values of their own, besides Python's: ``torch``, ``numpy``, ``pandas``, or what a package
    next door brings (:data:`nbproof.doors.LEAVES`)."""
    warm: tuple[str, ...] = ()
    """Modules that lessons import, so that they are there before a process is forked for a submission. One that is not
    installed is passed over; ``course.pictures.*`` means all that are in a package."""
    picture: str = ""
    """The module with ``difference_html(got, wanted)`` and ``draw_place(place)``, which show what was brought beside what was
    wanted; empty if a course has no such pictures."""

    wheel: str = ""
    """The address of the wheel that learners install if the course is not there, as in Colab; empty if there is none."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    """How much an exercise may be (:mod:`nbproof.authoring.statements`)."""
    truths: tuple[str, ...] = ()
    """Modules that only truths use: what computes a wanted value is never where a learner's code runs."""

    errors: tuple[Mapping[str, str], ...] = ()
    """Which ``hint`` an error of a learner's code calls for: that of the first entry that fits. Its pattern ``text`` fits the
    beginning of the error's text. If it has patterns ``line`` (of the learner's code) and ``inside`` (the library's function
    that raised it), these fit as well."""
    nothing_came: str = ""
    """The hint for an empty list that should hold something; empty if that can mean anything."""

    language: str = ""
    """What tells learners what checks found: a language of an installed package (:data:`nbproof.doors.LANGUAGES`), or a module
    with ``WORDS`` in it; English, if a course names none."""

    def __hash__(self) -> int:
        """The hash of its folder: caches have one entry a course."""
        return hash(self.folder)

    @property
    def file(self) -> Path:
        """Its ``course.toml``."""
        return self.folder / _NAME

    @property
    def root(self) -> Path:
        """The course's folder, which holds its lessons."""
        return self.folder.parent if self.package else self.folder

    @property
    def own_code(self) -> tuple[str, ...]:
        """The folder of the course's package, if it has one. A course's folder holds what no learner may see."""
        return (str(self.folder),) if self.package else ()

    @property
    def commands(self) -> str:
        """What ``python -m`` runs here: the course's package if it has commands, else the tool."""
        return self.package if (self.folder / "__main__.py").exists() else "nbproof"

    def lies_in(self, root: Path) -> bool:
        """Whether this folder holds the course itself, or one as it is; False if it only holds lessons."""
        mark = f"{self.package}/__init__.py" if self.package else _NAME
        return (root / mark).exists()

    @property
    def handed_out(self) -> Path:
        """What learners have of ``lessons/``, in a wheel or a class's bundle. In a clone there is no such folder."""
        return self.folder / "handed_out"

    @property
    def texts(self) -> Path:
        """Where checks and hints are read: what was handed out, or, in a clone, ``lessons/`` itself."""
        return self.handed_out if self.handed_out.is_dir() else self.beside("lessons")

    def budget_of(self, lesson: str) -> dict[str, Any]:
        """How much an exercise of this lesson may be."""
        return {**self.budget, **self.budget.get(lesson, {})}

    @property
    def withheld(self) -> tuple[Path, ...]:
        """Files of the course that no process with a learner's code sees: they know what is wanted, and why."""
        # Compiled modules lie in __pycache__, under names that depend on the interpreter.
        return (self.handed_out, *map(self.file_of, self.truths), self.folder / "__pycache__")

    def file_of(self, module: str) -> Path:
        """Where a module of the course's package lies."""
        return self.folder.parent.joinpath(*module.split(".")).with_suffix(".py")

    def refuse_missing_modules(self) -> None:
        """Raise UsageError if a module that its file names for truths or for pictures is not there. Imports none of them."""
        named = [("truths", module) for module in self.truths]
        top = self.picture.partition(".")[0]
        if top and (top == self.package or importlib.util.find_spec(top) is None):
            named.append(("picture", self.picture))
        for key, module in named:
            path = self.file_of(module)
            if not (path.is_file() or path.with_suffix("").is_dir()):
                raise UsageError(
                    f"{_NAME}: {key} names {module}, and there is no such module",
                    str(path),
                    f"write another name in {self.file}: {key}, or take it out",
                )

    def pictures(self) -> Any:
        """The module of :attr:`picture`; None if a course has no such pictures. Importing it may take seconds."""
        return importlib.import_module(self.picture) if self.picture else None

    def released_in(self, root: Path) -> Path:
        """Where the notebooks for learners lie: in the course's folder, or, if ``root`` has none, in the installed package."""
        return self.folder / "release" if self.package and not (root / "release").is_dir() else root / "release"

    def source_of(self, lesson: str) -> Path:
        """The instructor's notebook of a lesson, in the course's folder. A class's learners do not have it."""
        return self.beside("source", lesson, f"{lesson}.ipynb")

    def beside(self, *parts: str) -> Path:
        """What lies in the course's folder, or, if the course is installed elsewhere, above the folder that one works in."""
        try:
            here = Path.cwd()
        except FileNotFoundError:  # the folder is gone
            here = self.root
        places = [folder.joinpath(*parts) for folder in (self.root, here, *here.parents[:2])]
        return next((place for place in places if place.exists()), places[0])

    def warm_up(self) -> None:
        """Import the course first, for it may have to mend what others import; then what :attr:`warm` names."""
        self.enter()
        for name in self.warm:
            if importlib.util.find_spec(name.split(".")[0]) is None:
                continue
            module = importlib.import_module(name.removesuffix(".*"))
            folders = module.__path__ if name.endswith(".*") else ()
            for one in pkgutil.iter_modules(folders):
                importlib.import_module(f"{module.__name__}.{one.name}")

    def enter(self) -> None:
        """Import the course's package, if it has one, also if it is not installed but only lies there."""
        if not self.package:
            return
        if str(self.folder.parent) not in sys.path:
            sys.path.append(str(self.folder.parent))
        importlib.import_module(self.package)


_INHERITED = "NBPROOF_COURSE"
"""The environment variable that tells a process which course the one that started it works for: where its course.toml lies."""
used = [os.environ.get(_INHERITED, "")]
"""The course's folder, kept here as well: a learner's code may change the environment, so that is not asked again."""


def use_course(file: str) -> None:
    """Work for the course that has its ``course.toml`` beside this file. Reads nothing before it is asked."""
    used[0] = os.environ[_INHERITED] = str(Path(file).resolve().parent)


def the_course() -> Course:
    """The course that this process works for. Raises UsageError if there is none, or if its file cannot be read.

    Only calls from a notebook ask for it. Everything else gets the course as an argument.
    """
    if not used[0]:
        course = find_course(Path())
        use_course(str(course.file))
        course.enter()
    return read_course(Path(used[0]))


def read_course(folder: Path) -> Course:
    """The course with its ``course.toml`` in this folder. Raises UsageError if that cannot be read."""
    return _read(str(folder.resolve()))


def is_nbgraders(root: Path) -> bool:
    """Whether nbgrader works in this folder: it is configured there, or an assignment lies where it has them unless told."""
    return any((root / f"nbgrader_config.{ending}").is_file() for ending in ("py", "json")) or any(
        next(root.glob(f"{step}/*/*.ipynb"), None) is not None for step in ("source", "release")
    )


def find_course(root: Path) -> Course:
    """The course in this folder: its ``course.toml`` lies there, or in a package there.

    In a folder within a course, such as its ``demo``, it is that course. Where there is none it is a course of nbgrader's, to
    which ``course.toml`` has nothing to add. Raises UsageError if it is not that either, or if there is more than one.
    """
    root = root.resolve()
    # A package is imported from the named folder only: nobody expects code of a folder above to run.
    above = (folder / _NAME for folder in root.parents)
    found = [root / _NAME] if (root / _NAME).is_file() else sorted(root.glob(f"*/{_NAME}"))
    found = found or [path for path in above if path.is_file() and not (path.parent / "__init__.py").exists()][:1]
    if not found and is_nbgraders(root):
        found = [root / _NAME]
    if len(found) != 1:
        what = "more than one course" if found else "no course"
        nothing = f"no folder holds a {_NAME}, an nbgrader_config.py, or an assignment in source/ or release/"
        raise UsageError(
            f"{what} here: {', '.join(str(one.parent) for one in found) or nothing}",
            str(root),
            "cd into the course's folder, or add --course FOLDER",
        )
    return read_course(found[0].parent)


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", lambda value: isinstance(value, str)),
    "tuple[str, ...]": ("a list of texts, such as ['one', 'two']", lambda value: _is_list_of(str, value)),
    "tuple[Mapping[str, str], ...]": ("a list of tables", lambda value: _is_list_of(dict, value)),
    "Mapping[str, Any]": ("a table", lambda value: isinstance(value, dict)),
}
"""What may stand in the file, by the type of the field that it becomes."""
_ERROR = {"text": True, "hint": True, "line": False, "inside": False}
"""The keys of an entry of ``errors``: whether it has to have them."""


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, kind) for one in value)


def _refuse_wrong_entries(entries: Mapping[str, Any], path: Path) -> None:
    """Raise UsageError for the first entry that is not as :class:`Course` says. ``entries``: what the file holds."""
    kinds = {one.name: str(one.type) for one in fields(Course) if one.name not in ("package", "folder")}
    _refuse_unknown(entries, kinds, path)
    for key, value in entries.items():
        wanted, fits = _KINDS[kinds[key]]
        if not fits(value):
            raise _wrong(path, key, value, wanted)
    _refuse_wrong_errors(entries.get("errors", ()), path)
    _refuse_wrong_budgets(entries.get("budget", {}), path)


def _refuse_wrong_errors(entries: Sequence[Mapping[str, Any]], path: Path) -> None:
    for number, entry in enumerate(entries, 1):
        place = f"errors, entry {number}"
        _refuse_unknown(entry, _ERROR, path, place)
        for key, is_needed in _ERROR.items():
            value = entry.get(key)
            if not isinstance(value, str) and (is_needed or key in entry):
                raise _wrong(path, f"{place}, {key}", value, "a text")
            if key != "hint" and not _is_pattern(value or ""):
                raise _wrong(path, f"{place}, {key}", value, "a regular expression")


def _refuse_wrong_budgets(budget: Mapping[str, Any], path: Path) -> None:
    shared = {key: value for key, value in budget.items() if not isinstance(value, dict)}
    of_lessons = {f"budget, {name}": table for name, table in budget.items() if isinstance(table, dict)}
    for place, table in {"budget": shared, **of_lessons}.items():
        _refuse_unknown(table, _BUDGET, path, place)
        for key, value in table.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise _wrong(path, f"{place}, {key}", value, "a number")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _refuse_unknown(table: Mapping[str, Any], known: Collection[str], path: Path, place: str = "") -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1)
            cure = f"call it {near[0]}, or delete it" if near else "delete it"
            where = f"in {place}" if place else "there"
            raise UsageError(
                f"{_NAME}: nothing is called {key!r} {where}",
                f"{path}: {place or key}",
                f"{cure}; what may be there: {', '.join(known)}",
            )


def _wrong(path: Path, key: str, value: object, wanted: str) -> UsageError:
    there = "there is none" if value is None else f"there is {value!r:.80}"
    return UsageError(f"{_NAME}: {key} has to be {wanted}, and {there}", f"{path}: {key}", f"write {wanted} there")


@cache
def _read(place: str) -> Course:
    folder = Path(place)
    path = folder / _NAME
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        _refuse_wrong_entries(told, path)
        package = folder.name if (folder / "__init__.py").exists() else ""
        name = folder.parent.name if package else folder.name
        told = {"name": name, "says": told.get("name", name), **told}
        lists = {one: tuple(value) for one, value in told.items() if isinstance(value, list)}
        return Course(**{**told, **lists, "package": package, "folder": folder})
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{_NAME} cannot be read: {error}", str(path), "correct that file, which is TOML in UTF-8"
        ) from None
