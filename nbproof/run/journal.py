"""What outlives a run: its seed and key, each verdict whole, what it is marking, why something could not be graded, what
learners were handed; the lock that lets one run at a time write in a course's folder: two would write the same journals and
gradebook; and what a run tells while it goes on.

Verdicts lie in ``autograded/<learner>/<assignment>/``, in ``.verdict.json`` or, where there are several notebooks, in a file
for each; the rest lies in ``.course/``.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from nbproof.files import digest_of, read_dict, replace_file
from nbproof.gradebook.marks import Mark
from nbproof.key import Key, notebook_of
from nbproof.lesson.from_notebook import read_cells
from nbproof.marking.results import Verdict
from nbproof.places import places
from nbproof.sandbox.exceptions import GradingError

__all__ = [
    "JOURNAL",
    "InProgress",
    "RunState",
    "Stood",
    "Watch",
    "answer_digests",
    "answers_before",
    "forget",
    "is_noted",
    "journal_of",
    "journalled_verdict",
    "keep_version",
    "note_answers",
    "note_problems",
    "note_settled",
    "only_run",
    "problems_of",
    "settled_in",
    "verdict_in",
    "write_verdict",
]


JOURNAL = ".verdict.json"
"""In the folder of a submission that a run has graded to its end."""
_MOST_BYTES = 64 << 20


class Stood(NamedTuple):
    """What counted for a submission before a run marked it."""

    score: float
    penalty: float
    came: str
    """The time of the hand-in that the gradebook had, as text."""
    digest: str
    """Of what was handed in; empty if nothing tells it."""


class RunState:
    """``.course/run.json``: the seed of a run that was not completed, the key of the journals, which version of each
    lesson the gradebook knows, and which names of the roster."""

    def __init__(self, root: Path, seed: int | None = None) -> None:
        self._path = root / ".course" / "run.json"
        kept = read_dict(self._path)
        self.registered: dict[str, str] = kept.get("registered", {})
        self.references: dict[str, str] = kept.get("references", {})
        """Lesson and level of isolation -> digest of everything that the lesson's reference answers earned full marks with."""
        self.named: dict[str, dict[str, str | None]] = kept.get("named", {})
        """Learner -> what of the names and addresses in the gradebook came from the roster."""
        # A folder that was graded before states had numbers at random has one number.
        numbers = kept.get("gradebook", [])
        self.gradebook: list[int] = numbers if isinstance(numbers, list) else [numbers]
        """The number of the gradebook's state that a command left behind last; two, if it was ended while it gave the second."""
        # Journals lie where `nbgrader autograde` copies a submission's own files to: a learner must not be able to write one.
        self.key = str(kept.get("key") or secrets.token_hex(16))
        self._open: int | None = kept.get("open")
        stood = kept.get("stood", {})
        self.stood: dict[str, Stood | None] = {**stood, **{name: Stood(*one) for name, one in stood.items() if one}}
        """By name, what a run had to mark, and what counted for it; None for what had no mark."""
        self.told: dict[str, tuple[str, float]] = {name: (one[0], one[1]) for name, one in kept.get("told", {}).items()}
        """By name, the earlier hand-in that people were told of, which would have more marks: its folder, and how many more."""
        self.seed: int = seed if seed is not None else self._open or secrets.randbelow(10**9) + 1

    @property
    def is_unfinished(self) -> bool:
        """Whether a run has begun to mark and not come to its end."""
        return self._open is not None

    def plan(self, stood: Mapping[str, Stood | None]) -> None:
        """Take down what is to be marked. A run that goes on with one that was cut off has that one's plan as well."""
        self.stood = {**stood, **self.stood}

    def begin(self) -> None:
        """Keep the seed: a run that is cut off goes on with it."""
        self._open = self.seed
        self.save()

    def complete(self) -> None:
        """The next run takes a seed and a plan of its own."""
        self._open, self.stood = None, {}
        self.save()

    def number(self, give: Callable[[int], None]) -> None:
        """Give the gradebook's state a number. It is random: two copies of a course would count alike."""
        self.gradebook = [*self.gradebook, secrets.randbelow(2**31 - 1) + 1]
        self.save()
        give(self.gradebook[-1])
        self.gradebook = self.gradebook[-1:]
        self.save()

    def save(self) -> None:
        """Write everything to the file."""
        state = {
            name: getattr(self, name)
            for name in ("key", "registered", "references", "named", "gradebook", "stood", "told")
        }
        _write(self._path, state | {"open": self._open})


class InProgress:
    """``.course/marking.json``: what a run is marking, for the next run should this one be killed.

    A note that is there when a run begins is of a run that nobody ended on purpose: its submission may have ended it. The
    kernel keeps the notes even if this process is killed. A power cut may lose them, but no submission causes a power cut.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / ".course" / "marking.json"
        self._notes: dict[str, dict[str, Any]] = read_dict(self._path)

    def note(self, key: Key, digest: str, *, set_aside: bool = False) -> None:
        """Note that a submission is being marked; or, with ``set_aside``, that it ended the process that marked it alone."""
        self._notes[key.name] = {"digest": digest, "set_aside": set_aside}
        self._save()

    def is_noted(self, key: Key, digest: str) -> bool:
        """Whether just this submission is noted; False if it was handed in anew."""
        return bool(self._notes.get(key.name, {}).get("digest") == digest)

    def is_set_aside(self, key: Key, digest: str) -> bool:
        """Whether a note says that just this submission ended the process that marked it alone."""
        return self.is_noted(key, digest) and bool(self._notes[key.name]["set_aside"])

    def done(self, key: Key) -> None:
        """What came of it is written down."""
        if not self._notes.get(key.name, {}).get("set_aside", True):
            del self._notes[key.name]
            self._save()

    def end(self) -> None:
        """The run ends as runs do, if only by Ctrl-C: no submission that was in progress ended it."""
        self._notes = {name: note for name, note in self._notes.items() if note["set_aside"]}
        self._save()

    def _save(self) -> None:
        _write(self._path, self._notes)


def settled_in(root: Path) -> dict[str, dict[str, Any]]:
    """``.course/settled.json``: what a person has seen, by name, with the digest of what was handed in, and its learner."""
    return read_dict(root / ".course" / "settled.json")


def note_settled(root: Path, notes: Mapping[str, dict[str, Any]]) -> None:
    """Keep these notes, and no others. Raises OSError."""
    _write(root / ".course" / "settled.json", notes)


def is_noted(noted: Mapping[str, Mapping[str, Any]], name: str, digest: str) -> bool:
    """Whether just this was settled; False if it is another one now."""
    return name in noted and noted[name]["digest"] == digest


def _write(path: Path, kept: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    replace_file(path, json.dumps(kept, indent=1))


def journal_of(root: Path, learner: str, lesson: str) -> Path:
    """Where the verdict on a submission is kept, if a run has graded it."""
    notebook = places(root).notebook("autograded", learner, lesson)
    name = f"{JOURNAL}.{notebook.stem}" if "/" in lesson else JOURNAL
    return notebook.with_name(name)


def write_verdict(root: Path, verdict: Verdict, notebook: bytes) -> None:
    """Write the graded notebook, then the verdict: where a verdict lies, everything is written."""
    key = verdict.learner, verdict.lesson
    journal = journal_of(root, *key)
    journal.parent.mkdir(parents=True, exist_ok=True)
    replace_file(places(root).notebook("autograded", *key), notebook)
    replace_file(journal, json.dumps(asdict(verdict)).encode())


def note_answers(root: Path, verdict: Verdict, waits: Collection[str]) -> None:
    """Keep digests of the answers, and the cells that wait for a person, where nobody else who grades takes them away.

    Stock nbgrader deletes a graded folder with its journal, and has every mark of a person wait. Raises OSError.
    """
    path = _answers_of(root, Key(verdict.learner, verdict.lesson))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps({"answers": answer_digests(verdict), "waits": sorted(waits)}))


def answers_before(root: Path, verdict: Verdict) -> dict[str, Any]:
    """What :func:`note_answers` has kept; else which of the answers stand in the notebook that stock nbgrader graded as well."""
    key = Key(verdict.learner, verdict.lesson)
    kept, graded = read_dict(_answers_of(root, key)), places(root).notebook("autograded", *key)
    if kept or not graded.is_file() or graded.stat().st_size > _MOST_BYTES:
        return kept
    there = {(cell.grade_id, cell.source.strip()) for cell in read_cells(graded)}
    if not there:
        return kept  # it is no notebook
    same = answer_digests(verdict).items()
    return {"answers": {name: told for name, told in same if (name, verdict.answers[name].strip()) in there}}


def answer_digests(verdict: Verdict) -> dict[str, str]:
    """grade_id -> digest of the answer in that cell."""
    return {name: digest_of(text.encode(errors="replace")) for name, text in verdict.answers.items()}


def _answers_of(root: Path, key: Key) -> Path:
    return root / ".course" / "answers" / key.learner / key.assignment / f"{notebook_of(key.lesson)}.json"


def journalled_verdict(root: Path, learner: str, lesson: str) -> Verdict | None:
    """The verdict that a run has kept of a submission; None if there is none, or if the file holds anything else."""
    return verdict_in(journal_of(root, learner, lesson), Key(learner, lesson))


def verdict_in(path: Path, key: Key) -> Verdict | None:
    """The verdict in a file, if it is on this submission; else None."""
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return None
        kept = json.loads(path.read_bytes())
        # Runs of earlier versions have put the verdict beside the digests.
        verdict = Verdict.from_dict({**kept.pop("verdict", {}), **kept})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return verdict if (verdict.learner, verdict.lesson) == key else None


def note_problems(root: Path, marks: Iterable[Mark]) -> None:
    """Keep the problems of these, and forget those that are no longer there. Raises OSError."""
    kept = problems_of(root) | {one.key: one.verdict for one in marks}
    _write_problems(root, {key: one for key, one in kept.items() if one.problem})


def forget(root: Path, learners: Collection[str]) -> None:
    """Forget the problems of these learners, what is settled of theirs, and all else that names them. Raises OSError."""
    state = RunState(root)
    for learner in learners:
        state.named.pop(learner, None)
    state.stood = {name: one for name, one in state.stood.items() if Key.of(name).learner not in learners}
    state.told = {name: one for name, one in state.told.items() if Key.of(name).learner not in learners}
    state.save()
    marking = root / ".course" / "marking.json"
    marked = read_dict(marking).items()
    _write(marking, {name: one for name, one in marked if name.partition("/")[0] not in learners})
    note_settled(root, {name: one for name, one in settled_in(root).items() if one["learner"] not in learners})
    _write_problems(root, {key: one for key, one in problems_of(root).items() if key.learner not in learners})


def _write_problems(root: Path, kept: Mapping[Key, Verdict]) -> None:
    problems = [
        {
            "learner": one.learner,
            "lesson": one.lesson,
            "problem": one.problem,
            "grader_failed": one.grader_failed,
            "handed_in": one.handed_in,
        }
        for _, one in sorted(kept.items())
    ]
    _write(root / ".course" / "problems.json", {"problems": problems})


def problems_of(root: Path) -> dict[Key, Verdict]:
    """What was not graded, and why, with the digest of what was handed in."""
    kept = read_dict(root / ".course" / "problems.json").get("problems", [])
    found = [Verdict(**{"handed_in": "", **one}) for one in kept]
    return {Key(one.learner, one.lesson): one for one in found}


def keep_version(root: Path, lesson: str, notebook: bytes = b"") -> list[Path]:
    """Keep what learners may hold of a lesson: in a later version it is nobody's answer. ``notebook``: what lies in release/,
    if it is not given. Returns all versions; a person may put one there as well. Raises OSError.
    """
    release, folder = places(root).notebook("release", ".", lesson), root / ".course" / "handed_out" / lesson
    if not notebook and release.is_file():
        notebook = release.read_bytes()
    path = folder / f"{digest_of(notebook)[:16]}.ipynb"
    if notebook and not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, notebook)
    return sorted(folder.glob("*.ipynb"))


@contextlib.contextmanager
def only_run(root: Path) -> Iterator[None]:
    """Hold the course's lock. It ends with the process, however that ends: no stale lock is ever left.

    Raises GradingError if another run holds it, or if the folder cannot be written.
    """
    path = root / ".course" / "lock"
    lock = FileLock(path, timeout=0, mode=0o666)
    try:
        path.parent.mkdir(exist_ok=True)
        lock.acquire()
    except Timeout:
        raise GradingError(
            "another run is grading this course",
            str(root.resolve()),
            "wait until it has ended, then run the same command again",
        ) from None
    except OSError as error:
        # It knows databases, and takes long to import.
        from nbproof.gradebook.storage_errors import trouble_with_disk

        raise trouble_with_disk(error, root) or GradingError(
            f"no lock can be made: {error.strerror}",
            str(path.absolute()),
            "move away what lies there, then run the same command again",
        ) from None
    try:
        yield
    finally:
        lock.release()


class Watch:
    """Follows a run: this one counts, and says nothing."""

    total: int = 0
    done: int = 0
    marks: tuple[Mark, ...] = ()
    """Of a run that did not come to its end: what it has reached, and the gradebook holds."""

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        """``total`` submissions are to be marked, ``kept`` need not; ``reasons``: what is graded again, and why."""
        self.total = total

    def started(self, name: str) -> None:
        """``learner/lesson`` is being marked now; the first ones are ``reference answers/lesson``."""

    def marked(self, name: str, verdict: Verdict) -> None:
        """``learner/lesson`` has its verdict, and it is written down."""
        self.done += 1

    def stopped(self, marks: Iterable[Mark]) -> None:
        """The run ends before its end."""
        self.marks = tuple(marks)
