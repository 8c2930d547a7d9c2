"""How nbgrader is configured for a course, and where everything lies then: its ``CourseDirectory`` decides, and nobody else.

What is *marked* is a notebook, and is called a lesson here; what is *handed in* is an assignment, a folder of one or more of
them. Where an assignment has one notebook, called like it, the lesson has the same name: ``02_hooks``. Every other lesson is
called by both, as in ``ps1/problem1``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from os.path import isfile
from pathlib import Path
from traceback import walk_tb

from jupyter_core.paths import jupyter_config_path
from traitlets.config import Config, JSONFileConfigLoader, PyFileConfigLoader

from nbproof.course_file import is_nbgraders
from nbproof.errors import CourseError, UsageError
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of, notebook_of

__all__ = ["Places", "config_of", "course_config", "places"]

_FILES = {"nbgrader_config.py": PyFileConfigLoader, "nbgrader_config.json": JSONFileConfigLoader}
_OLDER = {"Exchange": ("course_id",)} | dict.fromkeys(
    ("NbGraderConfig", "BasicConfig", "BaseNbGraderApp", "BaseApp", "NbGrader"),
    (
        "course_id",
        "directory_structure",
        "source_directory",
        "release_directory",
        "submitted_directory",
        "autograded_directory",
        "feedback_directory",
        "db_url",
        "ignore",
    ),
)
"""What stood elsewhere before there was a CourseDirectory: nbgrader still reads it there."""


def course_config(root: Path) -> Config:
    """The configuration of the course in ``root``, as ``nbgrader`` started there would read it.

    Raises UsageError if nbgrader has nothing to work with there, or if the configuration cannot be read. Also puts the
    interpreter's own folder first on PATH: nbgrader starts ``alembic`` by its bare name, which is not found when Python was
    started as ``.venv/bin/python`` without activating the environment.
    """
    if not is_nbgraders(root):
        raise UsageError(
            "no course of nbgrader's here: neither nbgrader_config.py nor an assignment in source/ or release/",
            str(root.resolve()),
            "cd into the course's folder, or add --course FOLDER",
        )
    tools = os.path.dirname(os.path.abspath(sys.executable))
    if tools not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = tools + os.pathsep + os.environ.get("PATH", "")
    from sqlalchemy.exc import SAWarning

    # nbgrader adds rows in an order that SQLAlchemy 2 remarks on; the rows are right.
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
    # So are old notebooks, with cells that have no ids, and what they are changed to.
    warnings.filterwarnings("ignore", message="Cell is missing an id field|Non-unique cell id")
    # What nbgrader says there is said in an error of ours.
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    config = config_of(root)
    if not config.CourseDirectory.get("db_url"):
        _refuse_another_address(root.resolve())
    return config


def _refuse_another_address(home: Path) -> None:
    """Raise UsageError if nbgrader would look for the folder's gradebook elsewhere."""
    from sqlalchemy.engine import make_url

    place = str(home / "gradebook.db")
    if make_url(f"sqlite:///{place}").database != place:
        odd = next(one for one in reversed((home, *home.parents)) if re.search("[?%]", one.name))
        raise UsageError(
            "the course cannot lie in a folder with ? or % in its name: nbgrader would make its gradebook elsewhere",
            str(odd),
            f"mv {shlex.quote(str(odd))} {shlex.quote(str(odd.with_name(re.sub('[?%]', '_', odd.name))))}; then run the same "
            "command there again",
        )


def config_of(root: Path) -> Config:
    """The configuration of any folder. Where it has none, it is that of this machine and its user."""
    home = root.resolve()
    config = Config()
    for path in _files(home):
        try:
            config.merge(_FILES[path.name](path.name, path=str(path.parent)).load_config())
        except CourseError:  # the course's package is imported there
            raise
        except Exception as error:  # an instructor's own code can raise any kind
            fact = f"{path.name} cannot be read: {type(error).__name__}: {error}"
            at = [
                f", line {line}"
                for frame, line in walk_tb(error.__traceback__)
                if frame.f_code.co_filename == str(path)
            ]
            raise UsageError(fact, f"{path}{''.join(at[-1:])}", "mend that line") from None
    config.CourseDirectory.root = str(home)
    config.NbGrader.logfile = ""
    _translate(config, home)
    return config


def _translate(config: Config, home: Path) -> None:
    """Translate older names of options, and paths that are relative to the folder that nbgrader starts in."""
    for section, names in _OLDER.items():
        for name in set(names) & config[section].keys():
            config.CourseDirectory.setdefault(name, config[section].pop(name))
    url = str(config.CourseDirectory.get("db_url", ""))
    if url.startswith("sqlite:///") and not url.startswith("sqlite:////"):
        config.CourseDirectory.db_url = f"sqlite:///{home / url.removeprefix('sqlite:///')}"
    for part in ("header", "footer"):
        if config.IncludeHeaderFooter.get(part):
            config.IncludeHeaderFooter[part] = str(home / config.IncludeHeaderFooter[part])


def _stamp(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes with every file that a configuration is read from."""
    found = ((path, path.stat()) for path in _files(root))
    return tuple((str(path), one.st_mtime_ns, one.st_size) for path, one in found)


def _files(root: Path) -> list[Path]:
    """The files with settings. What a later file sets replaces what an earlier one has set."""
    folders = [*map(Path, reversed(jupyter_config_path())), root]
    paths = (folder / name for folder, name in product(folders, _FILES))
    return list(filter(isfile, paths))  # in a folder that may not be read is none: Path.is_file raises


_STEPS = ("source", "release", "submitted", "autograded", "feedback")
_GRADED = re.compile(rb'"grade_id"|"(?:grade|solution)": *true')
"""In the bytes of a notebook with a cell of nbgrader's: a broken one may lack its id."""
_LEARNER, _ASSIGNMENT = "{student_id}", "{assignment_id}"
_STRUCTURE = os.path.join("{nbgrader_step}", _LEARNER, _ASSIGNMENT)


def _is_graded(notebook: Path) -> bool:
    return notebook.is_file() and _GRADED.search(notebook.read_bytes()) is not None


@dataclass(frozen=True)
class Places:
    """Where everything lies in one course."""

    root: Path
    steps: tuple[str, ...] = _STEPS
    """What the folders of nbgrader's steps are called, from source to feedback."""
    structure: str = _STRUCTURE
    zone: str = "UTC"
    """The time zone of nbgrader's exchange."""

    def base(self, step: str) -> Path:
        """The folder of a step, with all that is in it."""
        above = self.structure.partition(_LEARNER)[0]
        return self.root / above.format(nbgrader_step=self.steps[_STEPS.index(step)])

    def folder(self, step: str, learner: str, lesson: str) -> Path:
        """Where an assignment lies at a step. ``learner`` is ``.`` for the instructor's own."""
        parts = {"student_id": learner, "assignment_id": assignment_of(lesson)}
        return self.root / self.structure.format(nbgrader_step=self.steps[_STEPS.index(step)], **parts)

    def notebook(self, step: str, learner: str, lesson: str) -> Path:
        """Where a notebook lies at a step."""
        return self.folder(step, learner, lesson) / f"{notebook_of(lesson)}.ipynb"

    def source(self, lesson: str) -> Path:
        """The notebook that a lesson is graded by: the instructor's; what was released, where there is none of its assignment."""
        own = self.notebook("source", ".", lesson)
        is_own = self._is_built or own.exists() or any(map(_is_graded, own.parent.glob("*.ipynb")))
        return own if is_own else self.notebook("release", ".", lesson)

    def is_released_only(self, lesson: str) -> bool:
        """Whether nobody has the instructor's version of it here."""
        return self.source(lesson) != self.notebook("source", ".", lesson)

    def is_edited(self, lesson: str) -> bool:
        """Whether its text in lessons/ has no notebook, or is newer than that. What a newer text says may be the same."""
        notebook, folder = self.notebook("source", ".", lesson), self.root / "lessons" / lesson
        if lesson not in self.written():
            return False
        return not notebook.exists() or any(
            path.lstat().st_mtime > notebook.stat().st_mtime for path in folder.rglob("*")
        )

    def written(self) -> list[str]:
        """The lessons that lessons/ holds the text of. Who grades without a clone has right answers there, and no text."""
        return sorted(path.parent.name for path in self.root.glob("lessons/*/lesson.py"))

    @property
    def _is_built(self) -> bool:
        # What an author's lessons are built into is complete, or to be built.
        return (self.root / "lessons").is_dir()

    def lessons(self) -> list[str]:
        """The lessons that can be graded: each notebook with a cell of nbgrader's, in source/, or else in release/."""
        found = {} if self._is_built else self._notebooks("release")
        for assignment, notebooks in self._notebooks("source").items():
            # What the instructor has taken out of source/ is no part of an assignment any more. Notes there take nothing out.
            released = [f"{assignment}/{one}" for one in found.get(assignment, ())]
            if not released or not all(map(self.is_released_only, released)):
                found[assignment] = notebooks
        lessons = (self._lessons_of(one, stems) for one, stems in found.items() if one[0] != ".")
        return sorted(chain.from_iterable(lessons))

    def _notebooks(self, step: str) -> dict[str, list[str]]:
        """Assignment -> the names of its notebooks at a step."""
        return grouped((path.parent.name, path.stem) for path in sorted(self.base(step).glob("*/*.ipynb")))

    def _lessons_of(self, assignment: str, notebooks: list[str]) -> list[str]:
        if notebooks == [assignment]:
            return [assignment]
        names = [f"{assignment}/{notebook}" for notebook in notebooks]
        return [name for name in names if _is_graded(self.source(name))]

    def handed_in(self, step: str = "submitted") -> Iterator[Path]:
        """The folders of assignments at a step, in order, as far as they can be read."""
        for outer in self.outer(step):
            with contextlib.suppress(OSError):
                yield from filter(Path.is_dir, self.inner(outer))

    def outer(self, step: str) -> list[Path]:
        """The folders of learners at a step."""
        return sorted(path for path in self.base(step).glob("*") if path.is_dir() and path.name[:1] != ".")

    def inner(self, outer: Path) -> list[Path]:
        """What lies in such a folder. Raises OSError."""
        return sorted(path for path in outer.iterdir() if path.name[:1] != ".")

    def lessons_in(self, folder: Path, known: Iterable[str]) -> list[Key]:
        """What may lie in the folder of an assignment at a step, of these lessons."""
        return [Key(folder.parent.name, lesson) for lesson in known if assignment_of(lesson) == folder.name]

    def learners(self) -> list[str]:
        """Everybody who has a folder in submitted/."""
        return [path.name for path in self.outer("submitted")]

    @property
    def private(self) -> list[Path]:
        """What no learner's code may read."""
        own = (self.root / name for name in ("lessons", ".course", "nbgrader_config.py", "gradebook.db"))
        return [*map(self.base, _STEPS), *own]


def places(root: Path) -> Places:
    """The places of the course in this folder. Raises UsageError if its configuration cannot be used."""
    return _made(root, _stamp(root))


@lru_cache(maxsize=64)
def _made(root: Path, stamp: object) -> Places:
    config = config_of(root)
    told = config.CourseDirectory
    structure = str(told.get("directory_structure", _STRUCTURE))
    if structure.replace("\\", "/").split("/")[-2:] != [_LEARNER, _ASSIGNMENT]:
        raise UsageError(
            f"assignments lie where this grader does not find them: {structure!r}",
            "c.CourseDirectory.directory_structure in nbgrader_config.py",
            "let it end with {student_id}/{assignment_id}",
        )
    return Places(
        root,
        tuple(str(told.get(f"{step}_directory", step)) for step in _STEPS),
        structure,
        config.Exchange.get("timezone", "UTC"),
    )
