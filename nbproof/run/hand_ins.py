"""Which notebook of a learner's folder counts for which lesson: its cells tell, or else its name. Nothing runs, and whatever is
passed over is named.

The rules are those of ``collect``: content comes before names, and what was handed out and came back with nothing filled in
replaces no work. But nothing dates a file of a folder. So, of several copies of a lesson, the one counts that holds all that the
others hold; if none does, the one with the lesson's name, and a person is to look at the others. Where that one is untouched, or
missing, a person decides.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from nbproof.key import Key, notebook_of
from nbproof.recover.notebook_bytes import Damaged, HandIn, files_below, read_file
from nbproof.run.contents import Guess, LessonBook
from nbproof.text import printable, some_of

__all__ = ["Folder"]

_BECAME = (".json", ".zip", ".gz", ".tgz", ".html", ".htm", ".py", ".md", ".txt", ".download")
"""What a notebook may have become; it is looked at only if there is no other."""
_MOST = 20
"""Notebooks of a folder that are looked into. Of the others the name tells."""
_MOST_BYTES, _MOST_TOGETHER = 2 << 20, 8 << 20
"""Bytes of one of these notebooks, and of all: the process that grades reads them itself."""
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
    needs_look: bool = False
    """Whether one of them holds answers that are not in the one that counts."""
    _contents: dict[Path, bytes] = field(default_factory=dict)
    """Of the notebooks that are looked into."""

    def hand_ins(self) -> list[HandIn]:
        """The file to grade of each lesson, or why there is none, in words. Of several lessons some may not be there."""
        found = [one for one in map(self._hand_in, self.lessons) if one is not None]
        if not any(one.problem for one in found):
            self._pass_over({one.path for one in found})
        return found

    def _pass_over(self, taken: set[Path]) -> None:
        told = taken.union(*self.passed.values())
        for path in filter(_is_notebook, self._files):
            if path not in told:
                self.passed[self._why_not(path)].append(path)

    def named(self, paths: Sequence[Path]) -> str:
        """Files as a line tells them."""
        return some_of([printable(str(path.relative_to(self.place))) for path in paths], _NAMED)

    def _hand_in(self, lesson: str) -> HandIn | None:
        key, exact = Key(self.learner, lesson), self._exact(lesson)
        try:
            _refuse_links((self.place.parent, self.place, exact))
            mine = [path for path, whose in self._whose.items() if whose == lesson] or self._by_default(lesson)
            return self._best(mine, key) if mine or len(self.lessons) == 1 else None
        except _Undecided as why:
            return HandIn(key, exact, str(why))
        except OSError as error:
            return HandIn(key, exact, f"{exact.name} cannot be read: {error.strerror}")

    def _exact(self, lesson: str) -> Path:
        return self.place / f"{notebook_of(lesson)}.ipynb"

    @cached_property
    def _files(self) -> list[Path]:
        return list(files_below(self.place))

    @cached_property
    def _guesses(self) -> Mapping[Path, Guess]:
        """What is in the notebooks. Where each has a lesson's name, or one is alone, there is nothing to ask: none is opened.

        Copies that Jupyter made by itself are looked at only if there is nothing else.
        """
        found = [path for path in self._files if _is_notebook(path)]
        found = [path for path in found if not path.stem.endswith("-checkpoint")] or found
        told = {*found} <= {*map(self._exact, self.lessons)} or len(found) == len(self.lessons) == 1
        left = _MOST_TOGETHER
        for path in () if told else found[:_MOST]:
            # What cannot be read, or is too large, is known by its name alone.
            with contextlib.suppress(Damaged, OSError):
                self._contents[path] = read_file(path, min(left, _MOST_BYTES))
                left -= len(self._contents[path])
        return {path: self.book.guess_of(self._contents[path]) if path in self._contents else Guess() for path in found}

    @cached_property
    def _whose(self) -> Mapping[Path, str]:
        """Notebook -> the lesson that it is of, of any assignment; empty if neither cells nor name tell."""
        return {path: guess.lesson or _by_name(path, self.lessons) for path, guess in self._guesses.items()}

    def _by_default(self, lesson: str) -> list[Path]:
        """The only notebook of any name, where there is one lesson; or else the only file that a notebook may have become."""
        exact, alone = self._exact(lesson), len(self.lessons) == 1
        if self._whose:
            if self._whose.get(exact, lesson) not in self.lessons:
                return [exact]
            free = [path for path, guess in self._guesses.items() if not (self._whose[path] or guess.others)]
            return free if alone and len(free) == 1 else []
        became = [path for path in self._files if path.name.lower().endswith(_BECAME)]
        for fits in (became, self._saved()):
            named = [path for path in fits if _by_name(path, self.lessons) == lesson]
            if len(named) == 1:
                return named
        return became if alone and len(became) == 1 else []

    def _saved(self) -> Iterator[Path]:
        """What Jupyter saved by itself: no link of a learner's leads there."""
        folder = self.place / ".ipynb_checkpoints"
        return iter(()) if folder.is_symlink() else files_below(folder)

    def _best(self, mine: Sequence[Path], key: Key) -> HandIn:
        """That of the copies which counts. Raises _Undecided."""
        exact = self._exact(key.lesson)
        if not mine:
            shown = self.named(sorted(self._files))
            what = f"only {shown}: leave one notebook there" if shown else "the folder holds no notebook"
            raise _Undecided(f"no {exact.name} in it; {what}")
        unknown = [path for path, whose in self._whose.items() if not whose and path not in mine]
        # Of what was not read the name stands for what is in it: that is in no other.
        held = {path: self.book.answers(self._contents.get(path, bytes(path)), key.lesson) for path in mine}
        best, why = self._ranked(held, exact)
        others = [path for path in mine if path != best]
        if unknown and not held[best]:
            told = (
                f"{self.named([best])} is as it was handed out, and nothing says whose answers another notebook holds"
            )
            raise _Undecided(f"{told}: {self.named(unknown)}; leave one there")
        if not others:
            return HandIn(key, best)
        self.passed[why] += others
        return HandIn(key, best, remark=f"{self.named(others)} was there as well; {why}")

    def _ranked(self, held: Mapping[Path, Counter[str]], exact: Path) -> tuple[Path, str]:
        """The one that holds all that the others hold, or else that of the lesson's name; and why it counts."""
        whole = [path for path, mine in held.items() if all(other <= mine for other in held.values())]
        if not (whole or held.get(exact)):
            told = "nothing says which copy counts, for they hold different answers"
            raise _Undecided(f"{told}: {self.named([*held])}; leave one there")
        if whole:
            best = min(whole, key=lambda path: (path != exact, path))
            return best, f"{self.named([best])} counts, which holds all that stands there"
        self.needs_look = True
        other = "another notebook there holds other answers: look, and leave one there"
        return exact, f"{exact.name} counts, which has the right name; {other}"

    def _why_not(self, path: Path) -> str:
        if path not in self._whose:
            return "Jupyter saved it by itself"
        whose = self._guesses[path].others or tuple(filter(None, [self._whose[path]]))
        return (
            f"its cells are of {' and '.join(whose)}"
            if whose
            else "none of its cells is of a lesson, or it is too large to tell"
        )


class _Undecided(Exception):
    """Nothing of a lesson can be graded; the text says why."""


def _refuse_links(way: Sequence[Path]) -> None:
    """Raise _Undecided for a link on the way to a notebook, or what is neither a file nor a folder at its end."""
    for place in way:
        if place.is_symlink():
            raise _Undecided(f"{place.name} is a symbolic link, and not the file itself")
    if way[-1].exists() and not way[-1].is_dir() and not way[-1].is_file():
        raise _Undecided(f"{way[-1].name} is not a regular file")


def _is_notebook(path: Path) -> bool:
    return path.name.strip().casefold().endswith(".ipynb")


def _by_name(path: Path, lessons: Sequence[str]) -> str:
    """The lesson that has its name in the file's, as in "problem1-Copy1" or "Copy of Problem1 (2)"; of several the longest."""
    name = _plain(path.name)
    stems = {lesson: re.escape(_plain(notebook_of(lesson))) for lesson in lessons}
    fits = [lesson for lesson, stem in stems.items() if re.search(rf"(?<![^\W_]){stem}(?![^\W_])", name)]
    return max(fits, key=lambda lesson: len(notebook_of(lesson)), default="")


def _plain(name: str) -> str:
    """As systems see it that know no letter case, and write letters with marks in one way or the other."""
    return normalize("NFC", name).casefold()
