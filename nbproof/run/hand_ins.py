"""Which notebook of a learner's folder counts for which lesson: its cells tell, or else its name. Nothing runs, and whatever is
passed over is named.

The rules are those of ``collect``: content comes before names, and what was handed out and came back with nothing filled in
replaces no work. But nothing dates a file of a folder. So, of several copies of a lesson, the one counts that holds all that the
others hold; if none does, a person decides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from nbproof.errors import UsageError
from nbproof.key import Key, notebook_of
from nbproof.recover.notebook_bytes import HandIn, files_below
from nbproof.run.contents import Guess, LessonBook
from nbproof.text import printable, some_of

__all__ = ["Folder"]

_BECAME = (".json", ".zip", ".gz", ".tgz", ".html", ".htm", ".py", ".md", ".txt", ".download")
"""What a notebook may have become; it is looked at only if there is no other."""
_MOST = 20
"""Notebooks of a folder that are looked into. Of the others the name tells."""
_NAMED = 5
"""Files that a line names."""


@dataclass
class Folder:
    """What one learner has put into the folder of an assignment. ``lessons``: all that belong to it. Used once."""

    place: Path
    learner: str
    lessons: Sequence[str]
    book: LessonBook
    passed: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    """Why a notebook does not count -> those of which it is true."""

    def hand_ins(self) -> list[HandIn]:
        """The file to grade of each lesson, or why there is none, in words. Of several lessons some may not be there."""
        found = {lesson: self._refused(lesson) for lesson in self.lessons}
        if not all(found.values()):
            chosen = {lesson: self._chosen(lesson) for lesson, one in found.items() if one is None}
            found |= chosen
            self._pass_over({one.path for one in chosen.values() if one is not None})
        return [one for one in found.values() if one is not None]

    def _exact(self, lesson: str) -> Path:
        return self.place / f"{notebook_of(lesson)}.ipynb"

    def _refused(self, lesson: str) -> HandIn | None:
        """Where a link stands, or something that is no file, there is nothing to choose."""
        path, told = self._exact(lesson), ""
        try:
            for place in (self.place.parent, self.place, path):
                if place.is_symlink():
                    told = f"{place.name} is a symbolic link; hand in the file itself"
                    break
            else:
                if path.exists() and not path.is_dir() and not path.is_file():
                    told = f"{path.name} is not a regular file"
        except OSError as error:
            told = f"{path.name} cannot be read: {error.strerror}"
        return HandIn(Key(self.learner, lesson), path, told) if told else None

    @cached_property
    def _files(self) -> list[Path]:
        return list(files_below(self.place))

    @cached_property
    def _notebooks(self) -> list[Path]:
        """All of any name; copies that Jupyter made by itself only if there are no others."""
        found = [path for path in self._files if _is_notebook(path)]
        return [path for path in found if not path.stem.endswith("-checkpoint")] or found

    def _checkpoints(self) -> list[Path]:
        folder = self.place / ".ipynb_checkpoints"
        return [] if folder.is_symlink() else [path for path in files_below(folder) if _is_notebook(path)]

    @cached_property
    def _guesses(self) -> Mapping[Path, Guess]:
        """What is in them. Where each has the name of a lesson, or one is alone, there is nothing to ask, and none is opened."""
        others = set(self._notebooks) - {*map(self._exact, self.lessons)}
        if not others or len(self._notebooks) == len(self.lessons) == 1:
            return {}
        return {path: _guess(self.book, path) for path in self._notebooks[:_MOST]}

    def _guess(self, path: Path) -> Guess:
        return self._guesses.get(path, Guess())

    @cached_property
    def _whose(self) -> Mapping[Path, str]:
        """Notebook -> the lesson that it is of, of any assignment; empty if neither cells nor name tell."""
        return {path: self._guess(path).lesson or _by_name(path, self.lessons) for path in self._notebooks}

    def _chosen(self, lesson: str) -> HandIn | None:
        key, exact = Key(self.learner, lesson), self._exact(lesson)
        mine = [path for path in self._notebooks if self._whose[path] == lesson] or self._by_default(lesson)
        if not mine:
            return None if len(self.lessons) > 1 else HandIn(key, exact, self._why_none(exact))
        best = self._best(mine, lesson)
        if best is None:
            told = (
                f"nothing says which copy counts, for they hold different answers: {self.named(mine)}; leave one there"
            )
            return HandIn(key, exact, told)
        if unknown := self._unknown(best, lesson):
            told = (
                f"{self.named([best])} is as it was handed out, and nothing says whose answers another notebook holds: "
            )
            return HandIn(key, exact, f"{told}{self.named(unknown)}; leave one there")
        if len(mine) == 1:
            return HandIn(key, best)
        others = [path for path in mine if path != best]
        self.passed[f"{self.named([best])} counts, which holds all that stands there"] += others
        remark = (
            f"{self.named(others)} was there as well; {self.named([best])} counts, which holds all that stands there"
        )
        return HandIn(key, best, remark=remark)

    def _by_default(self, lesson: str) -> list[Path]:
        """The only notebook of any name, where there is one lesson; or else the only file that a notebook may have become."""
        exact = self._exact(lesson)
        free = [path for path in self._notebooks if not self._whose[path] and not self._guess(path).others]
        if exact in self._notebooks and self._whose[exact] not in self.lessons:
            return [exact]
        if len(self.lessons) == 1 and len(free) == 1:
            return free
        if self._notebooks:
            return []
        fits = [path for path in self._files if path.name.lower().endswith(_BECAME)]
        named, saved = (
            [path for path in some if _by_name(path, self.lessons) == lesson] for some in (fits, self._checkpoints())
        )
        choices = (named, saved, fits) if len(self.lessons) == 1 else (named, saved)
        return next((choice for choice in choices if len(choice) == 1), [])

    def _best(self, mine: Sequence[Path], lesson: str) -> Path | None:
        """The one that holds all that the others hold; of the same, that of the lesson's name. None if no one does."""
        if len(mine) == 1:
            return mine[0]
        held = {path: _answers(self.book, path, lesson) for path in mine}
        whole = [path for path in mine if all(other <= held[path] for other in held.values())]
        return min(whole, key=lambda path: (path != self._exact(lesson), path), default=None)

    def _unknown(self, best: Path, lesson: str) -> list[Path]:
        """Notebooks of which nothing tells, where the one that would count has nothing filled in."""
        unknown = [path for path in self._guesses if path != best and not self._whose[path]]
        return [] if unknown and _answers(self.book, best, lesson) else unknown

    def _pass_over(self, taken: Collection[Path]) -> None:
        """Say of each notebook that is left why."""
        told = {*taken}.union(*self.passed.values())
        if saved := [path for path in self._files if _is_notebook(path) and path not in {*self._notebooks, *told}]:
            self.passed["Jupyter saved them by itself"] += saved
        for path in (path for path in self._notebooks if path not in told):
            whose, others = self._whose[path], self._guess(path).others
            why = "none of its cells is of a lesson"
            if whose or others:
                why = f"its cells are of {' and '.join(others or [whose])}"
            self.passed[why].append(path)

    def _why_none(self, exact: Path) -> str:
        shown = self.named(sorted(self._files))
        what = f"only {shown}: leave one notebook there" if shown else "the folder holds no notebook"
        return f"no {exact.name} in it; {what}"

    def named(self, paths: Sequence[Path]) -> str:
        """Files as a line tells them."""
        return some_of([printable(str(path.relative_to(self.place))) for path in paths], _NAMED)


def _is_notebook(path: Path) -> bool:
    return path.name.strip().casefold().endswith(".ipynb")


def _guess(book: LessonBook, path: Path) -> Guess:
    try:
        return book.guess(path)
    except (OSError, UsageError):  # or there is no lesson to compare with
        return Guess()


def _answers(book: LessonBook, path: Path, lesson: str) -> Counter[str]:
    try:
        return book.answers(path, lesson)
    except OSError:
        return Counter([str(path)])


def _by_name(path: Path, lessons: Sequence[str]) -> str:
    """The lesson that has its name in the file's, as in "problem1-Copy1" or "Copy of Problem1 (2)"; of several the longest."""
    name = _plain(path.name)
    stems = {lesson: re.escape(_plain(notebook_of(lesson))) for lesson in lessons}
    fits = [lesson for lesson, stem in stems.items() if re.search(rf"(?<![^\W_]){stem}(?![^\W_])", name)]
    return max(fits, key=lambda lesson: len(notebook_of(lesson)), default="")


def _plain(name: str) -> str:
    """As systems see it that know no letter case, and write letters with marks in one way or the other."""
    return normalize("NFC", name).casefold()
