"""Which lesson a file belongs to, and which notebook of a learner's folder counts for which: the cells tell, or else the name.

By its cells: by the ids of exercises in it that only one lesson has. That needs no whole notebook, so a truncated one or one that
was saved as a page is recognised as well. Where several lessons have all its ids, the texts decide that were handed out with one
of them. Nothing runs, and each file that is passed over is named.

The rules are those of ``collect``: content comes before names, and what was handed out and came back with nothing filled in
replaces no work. But nothing dates a file of a folder. So, of several copies of a lesson, the one counts that holds all that the
others hold; if none does, the one with the lesson's name, and a person is to look at the others. Where that one is untouched, or
missing, a person decides.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from itertools import chain, islice
from operator import or_
from pathlib import Path
from unicodedata import normalize

from nbproof.cells import CellKind
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import CourseError, UsageError
from nbproof.key import Key, notebook_of
from nbproof.lesson.from_notebook import cells_of, read_cells
from nbproof.lesson.lesson import Cell
from nbproof.places import course_config, places
from nbproof.recover.notebook_bytes import Damaged, HandIn, files_below, read_file
from nbproof.text import printable, some_of

__all__ = ["Folder", "Guess", "LessonBook", "known_lessons"]

_LARGEST = 32 << 20
"""How many bytes of a file are looked at."""
_HEAD = 1 << 20
_PARSED = 2 << 20
"""Bytes of a notebook that is parsed: JSON can take fifty times its size in memory."""
_MOST_WORDS, _MOST_MARKS = 1_500_000, 10_000
"""Most words and ids of a file that are looked at: 32 MB of pictures hold so many words, and no notebook has so many ids."""
_ID = re.compile(rb"[A-Za-z0-9_-]+")
_NOTEBOOK = re.compile(rb'[\xef\xbb\xbf\xff\xfe \r\n\t]*\{.*?"(?:cells|cell_type|nbformat)"', re.DOTALL)
_MARK = re.compile(rb'"grade_id\\*":\s*\\*"([A-Za-z0-9_-]+)')


@dataclass(frozen=True)
class Guess:
    """What a file's content says. ``lesson`` is empty if it says nothing, or not clearly.

    ``others``: where several lessons fit, or much of several is in it: these. ``notebook``: it begins like one: JSON with
    cells, whole or cut off. ``untouched``: each cell in it is as it was handed out.
    """

    lesson: str = ""
    others: tuple[str, ...] = ()
    notebook: bool = False
    untouched: bool = False


def known_lessons(root: Path) -> list[str]:
    """The lessons that have an instructor's notebook. Raises UsageError if there is none."""
    here = places(root)
    if known := here.lessons():
        return known
    put = "put what learners are handed, or the instructor's version, there; or add --course FOLDER, for another course"
    then = course_command("build") if (root / "lessons").is_dir() else put
    fact = f"{here.base('source')} holds no ASSIGNMENT/NOTEBOOK.ipynb with cells of nbgrader's"
    raise UsageError("there is nothing to grade against", fact, then)


@dataclass(frozen=True)
class LessonBook:
    """What each lesson's notebook holds that no other does."""

    course: Course
    root: Path

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """Lesson -> its released notebook, or the instructor's if there is none."""
        here = places(self.root)
        paths = {name: here.notebook("release", ".", name) for name in known_lessons(self.root)}
        return paths | {name: here.source(name) for name, path in paths.items() if not path.exists()}

    @cached_property
    def _exercises(self) -> dict[str, frozenset[bytes]]:
        """Lesson -> the ids of its exercises."""
        return {name: _ids(path) for name, path in sorted(self._paths.items())}

    @cached_property
    def _known(self) -> frozenset[bytes]:
        """The ids of all exercises."""
        return frozenset().union(*self._exercises.values())

    @cached_property
    def _released(self) -> Callable[[str], Counter[str]]:
        """Of a lesson: what stands in its cells, and in those of versions before. Each is read when it is first asked for."""
        return cache(self._read_released)

    def _read_released(self, lesson: str) -> Counter[str]:
        path = self._paths[lesson]
        texts = _texts(path.read_bytes())
        if path == places(self.root).source(lesson):
            # The lesson's own fault, which grading tells.
            with contextlib.suppress(CourseError):
                from nbproof.marking.blueprint import read_blueprint  # slow to import

                texts |= _counted(read_blueprint(self.course, path, course_config(self.root), lesson).handout.cells)
        return texts | self._former(lesson, texts)

    def _former(self, lesson: str, released: Counter[str]) -> Counter[str]:
        """What stands in versions that learners may hold all the same; a solution that was handed out is an answer still."""
        texts, source = Counter[str](), places(self.root).source(lesson)
        for path in (self.root / ".course" / "handed_out" / lesson).glob("*.ipynb"):
            texts |= _texts(path.read_bytes())
        solution = source.read_bytes() if source.exists() else b""
        solved = _texts(solution).keys() - released.keys()
        return Counter({text: count for text, count in texts.items() if text not in solved})

    @cached_property
    def lessons(self) -> dict[str, frozenset[bytes]]:
        """By name: the ids that no other lesson has. Raises UsageError if there is nothing to compare with."""
        counts = Counter(chain.from_iterable(self._exercises.values()))
        alone = {one for one, count in counts.items() if count == 1}
        return {name: ids & alone for name, ids in self._exercises.items()}

    def has_own_ids(self, lesson: str) -> bool:
        """Whether no other lesson has an id of this one's."""
        return self.lessons[lesson] == self._exercises[lesson]

    def guess(self, path: Path) -> Guess:
        """The lesson of the file at ``path``."""
        data = b""
        # Nothing of what cannot be read: grading says so.
        with contextlib.suppress(OSError), path.open("rb") as file:
            data = file.read(_LARGEST)
        return self.guess_of(data)

    def guess_of(self, data: bytes) -> Guess:
        """What these bytes tell of the lesson that they belong to."""
        data = data.replace(b"\0", b"")  # without zeros UTF-16 reads as UTF-8 does: ids are plain letters
        notebook = _NOTEBOOK.match(data[:_HEAD]) is not None
        marked = {one[1] for one in islice(_MARK.finditer(data), _MOST_MARKS)}
        words = marked or self._known.intersection(one[0] for one in islice(_ID.finditer(data), _MOST_WORDS))
        counts = {name: len(ids & words) for name, ids in self.lessons.items()}
        if marked and not any(counts.values()):
            counts |= dict.fromkeys(self._alike(data, marked), 1)
        best = max(counts, key=lambda name: counts[name])
        # A text may speak of exercises, as a readme does, and answer none of them.
        enough = 1 if marked else max(2, len(self.lessons[best]) / 2)
        if counts[best] < enough:
            return Guess(notebook=notebook)
        others = tuple(name for name in counts if name != best and counts[name] * 2 > counts[best])
        if others:
            return Guess("", (best, *others), notebook)
        return Guess(best, (), notebook, untouched=not self.answers(data, best))

    def _alike(self, data: bytes, marked: set[bytes]) -> Sequence[str]:
        """The lessons that share these ids, as far as neither texts nor all ids together tell which of them it is."""
        ids = {name: mine & marked for name, mine in self._exercises.items() if mine & marked}
        own = {*_texts(data)}
        found = self._nearest(own, [*ids])
        there = frozenset[bytes]().union(*ids.values())
        # What cannot be parsed is one text here, and may have lost cells.
        whole = [name for name in found if self._exercises[name] == there] if len(own) > 1 else []
        return whole or found

    def _nearest(self, own: set[str], names: Sequence[str]) -> Sequence[str]:
        """The lessons that share the most texts with a notebook. A text that all of them have says nothing."""
        shared = Counter(chain.from_iterable(self._released(name) for name in names))
        telling = {text for text in own if shared[text] < len(names)}
        counts = {name: len(telling & self._released(name).keys()) for name in names}
        near = [name for name in names if counts[name] * 2 > max(counts.values())]
        return self._nearest(own, near) if near and len(near) < len(names) else names

    def answers(self, data: bytes, lesson: str) -> Counter[str]:
        """Texts of cells in a learner's notebook that were not handed out with this lesson -> how often each stands there."""
        released = self._released(lesson)
        return Counter({text: count for text, count in _texts(data).items() if text not in released})


def _texts(data: bytes) -> Counter[str]:
    """The texts of a notebook's cells -> how often each stands there. A notebook that cannot be read gets one text of its own."""
    if not data.strip():
        return Counter()
    try:
        if len(data) <= _PARSED:
            return _counted(cells_of(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return Counter([hashlib.sha256(data).hexdigest()])


def _counted(cells: Iterable[Cell]) -> Counter[str]:
    """The texts of these cells -> how often each stands there."""
    return Counter(filter(None, (cell.source.strip() for cell in cells)))


def _ids(path: Path) -> frozenset[bytes]:
    """The ids of what learners are to fill in; none if the notebook is damaged, which grading says."""
    kinds = (CellKind.ANSWER, CellKind.MANUAL, CellKind.WRITTEN)
    return frozenset(cell.grade_id.encode() for cell in read_cells(path) if cell.kind in kinds)


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
    """What one learner has put into the folder of an assignment. ``lessons``: all that belong to it. It is used once."""

    place: Path
    learner: str
    lessons: Sequence[str]
    book: LessonBook
    passed: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    """Why notebooks do not count -> these notebooks."""
    needs_look: bool = False
    """Whether one of them holds answers that are not in the one that counts."""
    _contents: dict[Path, bytes] = field(default_factory=dict)
    """The bytes of the notebooks that are looked into."""

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
        """The names of these files for a line that people read."""
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
            return HandIn(key, exact, f"{Path(error.filename or exact).name} cannot be read: {error.strerror}")

    def _exact(self, lesson: str) -> Path:
        return self.place / f"{notebook_of(lesson)}.ipynb"

    @cached_property
    def _files(self) -> list[Path]:
        refused: list[OSError] = []
        found = list(files_below(self.place, refused))
        for error in refused:
            raise error
        return found

    @cached_property
    def _guesses(self) -> Mapping[Path, Guess]:
        """What is in the notebooks. Where each has a lesson's name, or one is alone, there is nothing to ask: none is opened, if
        grading can tell by the ids of cells that they are another lesson's.

        Copies that Jupyter made by itself are looked at only if there is nothing else.
        """
        found = [path for path in self._files if _is_notebook(path)]
        found = [path for path in found if not path.stem.endswith("-checkpoint")] or found
        left = _MOST_TOGETHER
        opened = [] if self._is_named(found) else found[:_MOST]
        for path in opened:
            # What cannot be read, or is too large, is known by its name alone.
            with contextlib.suppress(Damaged, OSError):
                self._contents[path] = read_file(path, min(left, _MOST_BYTES))
                left -= len(self._contents[path])
        guesses = {path: self.book.guess_of(data) for path, data in self._contents.items()}
        return dict.fromkeys(found, Guess()) | guesses

    def _is_named(self, found: Sequence[Path]) -> bool:
        """Whether names tell what these notebooks are, or, later, ids of cells."""
        named = {*found} <= {*map(self._exact, self.lessons)} or len(found) == len(self.lessons) == 1
        return named and all(map(self.book.has_own_ids, self.lessons))

    @cached_property
    def _whose(self) -> Mapping[Path, str]:
        """Notebook -> the lesson that it is of, of any assignment; empty if neither cells nor name tell."""
        return {path: guess.lesson or _by_name(path, self.lessons) for path, guess in self._guesses.items()}

    def _by_default(self, lesson: str) -> list[Path]:
        """The only notebook of any name, where there is one lesson; or else the only file that a notebook may have become."""
        if self._whose:
            return self._unclaimed(lesson)
        became = [path for path in self._files if path.name.lower().endswith(_BECAME)]
        for fits in (became, self._saved()):
            named = [path for path in fits if _by_name(path, self.lessons) == lesson]
            if len(named) == 1:
                return named
        return became if len(self.lessons) == len(became) == 1 else []

    def _unclaimed(self, lesson: str) -> list[Path]:
        """The only notebook that no lesson claims, where there is one lesson. Raises _Undecided if the notebook of the lesson's
        name is of another one."""
        exact = self._exact(lesson)
        whose = self._whose.get(exact, lesson)
        if whose not in self.lessons:
            if self.book.has_own_ids(lesson):
                return [exact]
            raise _Undecided(f"its cells are of {whose}, and {lesson} wants a notebook of its own")
        others = {path: guess.others for path, guess in self._guesses.items() if not self._whose[path]}
        free = [path for path, fit in others.items() if not fit or lesson in fit]
        return free if len(self.lessons) == len(free) == 1 else []

    def _saved(self) -> Iterator[Path]:
        """What Jupyter saved by itself: no link of a learner's leads there."""
        folder = self.place / ".ipynb_checkpoints"
        return iter(()) if folder.is_symlink() else files_below(folder)

    def _best(self, mine: Sequence[Path], key: Key) -> HandIn:
        """The copy that counts. Raises _Undecided if nothing tells that."""
        exact = self._exact(key.lesson)
        if not mine:
            shown = self.named(sorted(self._files))
            what = f"only {shown}: leave one notebook there" if shown else "the folder holds no notebook"
            raise _Undecided(f"no {exact.name} in it; {what}")
        unknown = self._unknown() - {*mine}
        # Of what was not read the name stands for what is in it: that is in no other.
        held = {path: self.book.answers(self._contents.get(path, bytes(path)), key.lesson) for path in mine}
        best, why = self._ranked(held, exact)
        others = [path for path in mine if path != best]
        if unknown and not held[best]:
            told = (
                f"{self.named([best])} is as it was handed out, and nothing says which lesson another notebook answers"
            )
            raise _Undecided(f"{told}: {self.named(sorted(unknown))}; leave one there")
        if not others:
            return HandIn(key, best)
        self.passed[why] += others
        return HandIn(key, best, remark=f"{self.named(others)} was there as well; {why}")

    def _ranked(self, held: Mapping[Path, Counter[str]], exact: Path) -> tuple[Path, str]:
        """The one that holds all that the others hold, or else that of the lesson's name; and why it counts."""
        everything = reduce(or_, held.values())
        whole = [path for path, mine in held.items() if everything <= mine]
        if not (whole or held.get(exact)):
            told = "nothing says which copy counts, for they hold different answers"
            raise _Undecided(f"{told}: {self.named([*held])}; leave one there")
        if whole:
            best = min(whole, key=lambda path: (path != exact, path))
            return best, f"{self.named([best])} counts, which holds all that stands there"
        self.needs_look = True
        other = "another notebook there holds other answers: look, and leave one there"
        return exact, f"{exact.name} counts, which has the right name; {other}"

    def _unknown(self) -> set[Path]:
        """The notebooks that nothing is known of: neither their lesson, nor that they were once part of the assignment."""
        return {path for path, whose in self._whose.items() if not (whose or self._is_withdrawn(path))}

    def _is_withdrawn(self, path: Path) -> bool:
        """Whether a notebook of this name was part of the assignment once: journal.keep_version has it."""
        versions = self.book.root / ".course" / "handed_out" / self.place.name / path.stem
        return path.parent == self.place and versions.is_dir()

    def _why_not(self, path: Path) -> str:
        if path not in self._whose:
            return "Jupyter saved it by itself"
        whose = self._guesses[path].others or tuple(filter(None, [self._whose[path]]))
        if whose:
            return f"its cells are of {' and '.join(whose)}"
        if self._is_withdrawn(path):
            return "it was taken out of the assignment"
        return "none of its cells is of a lesson, or it is too large to tell"


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
    """A name for comparison: systems change letter case, and write letters with marks in two ways."""
    return normalize("NFC", name).casefold()
