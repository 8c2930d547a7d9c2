"""What outlives a run: its seed and key, each verdict whole, and why it could not grade what it could not.

Verdicts lie in ``autograded/<learner>/<assignment>/``, in ``.verdict.json`` or, where there are several notebooks, in a file
for each; what could not be graded in ``.course/problems.json``, for reports that are written later.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.places import places

__all__ = [
    "JOURNAL",
    "Entry",
    "Journal",
    "RunState",
    "forget_problems",
    "handed_in_of",
    "journal_of",
    "journalled_verdict",
    "note_problems",
    "problems_of",
]


JOURNAL = ".verdict.json"
"""In the folder of a submission that a run has graded to its end."""
_MOST_BYTES = 64 << 20
_HANDED_IN = re.compile(rb'\{"handed_in": "(\w+)"')


class RunState:
    """``.course/run.json``: the seed of a run that was not completed, the key of the journals, which version of each
    lesson the gradebook knows."""

    def __init__(self, root: Path, seed: int | None = None) -> None:
        self._path = root / ".course" / "run.json"
        self._kept = _as_dict(self._path)
        self.registered = self._words("registered")
        self.penalties = self._words("penalties")
        self.references = self._words("references")
        """Lesson, and where -> digest of all that its reference answers earned full marks with."""
        forced = self._kept.get("forced")
        self.forced = set(map(str, forced)) if isinstance(forced, list) else set()
        """``<lesson>/<learner>`` of what a run with ``--force`` set out to mark, until one has."""
        # Journals lie where `nbgrader autograde` copies a submission's own files to: a learner must not be able to write one.
        self.key = str(self._kept.get("key") or secrets.token_hex(16))
        before = self._kept.get("open")
        self._open = before if isinstance(before, int) else None
        self.seed = seed if seed is not None else self._open or secrets.randbelow(10**9) + 1

    def _words(self, name: str) -> dict[str, str]:
        kept = self._kept.get(name)
        return dict(kept) if isinstance(kept, dict) else {}

    def begin(self) -> None:
        """Keep the seed: a run that is cut off goes on with it."""
        self._open = self.seed
        self.save()

    def complete(self) -> None:
        """The next run takes a seed of its own."""
        self._open = None
        self.save()

    def save(self) -> None:
        """Write it all down."""
        names = ("key", "registered", "seed", "penalties", "references")
        state = {name: getattr(self, name) for name in names} | {"open": self._open, "forced": sorted(self.forced)}
        self._path.parent.mkdir(exist_ok=True)
        replace_file(self._path, json.dumps(state, indent=1).encode())


def _as_dict(path: Path) -> dict[str, Any]:
    """A file of JSON that holds one; empty if it cannot be read, or holds anything else."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


@dataclass(frozen=True)
class Entry:
    """A verdict, and digests of all that it was reached from: if both are the same, nothing has changed."""

    handed_in: str
    """Of the submission's bytes and the journals' key."""
    source: str
    """Of everything that the instructor's side consists of, and of what grades it."""
    verdict: Verdict


def journal_of(root: Path, learner: str, lesson: str) -> Path:
    """Where the verdict on a submission is kept, if a run has graded it."""
    notebook = places(root).notebook("autograded", learner, lesson)
    return notebook.with_name(f"{JOURNAL}.{notebook.stem}" if "/" in lesson else JOURNAL)


def journalled_verdict(root: Path, learner: str, lesson: str) -> Verdict | None:
    """What a run has found of a submission; None if it has not, or if that cannot be read."""
    read = _read(root, learner, lesson)
    return read[1] if read is not None else None


def handed_in_of(root: Path, learner: str, lesson: str) -> str:
    """Digest of what was handed in and graded; empty if no run of ours has graded it. The journal begins with it."""
    try:
        with journal_of(root, learner, lesson).open("rb") as file:
            found = _HANDED_IN.match(file.read(300))
    except OSError:
        return ""
    return found[1].decode() if found else ""


def _read(root: Path, learner: str, lesson: str) -> tuple[dict[str, Any], Verdict] | None:
    """A journal, whole, and the verdict in it. Whatever else stands in a file of that name is none."""
    path = journal_of(root, learner, lesson)
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return None
        kept: dict[str, Any] = json.loads(path.read_bytes())
        verdict = Verdict.from_dict(kept["verdict"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return (kept, verdict) if (verdict.learner, verdict.lesson) == (learner, lesson) else None


class Journal:
    """Reads and writes the entries of a course."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, learner: str, lesson: str) -> Entry | None:
        """None if there is none, or if it cannot be read: the submission is graded then."""
        read = _read(self._root, learner, lesson)
        if read is None or not places(self._root).notebook("autograded", learner, lesson).is_file():
            return None
        kept, verdict = read
        try:
            return Entry(kept["handed_in"], kept["source"], verdict)
        except KeyError:
            return None

    def write(self, entry: Entry, notebook: bytes) -> None:
        """The graded notebook, then the entry: where the entry is, everything is."""
        verdict = entry.verdict
        journal = journal_of(self._root, verdict.learner, verdict.lesson)
        journal.parent.mkdir(parents=True, exist_ok=True)
        replace_file(places(self._root).notebook("autograded", verdict.learner, verdict.lesson), notebook)
        replace_file(journal, json.dumps(asdict(entry)).encode())


def note_problems(root: Path, marks: Iterable[Mark]) -> None:
    """Keep the problems of these, and forget those that are no longer there. Raises OSError."""
    kept = problems_of(root)
    for one in marks:
        kept.pop(one.key, None)
        if one.problem:
            kept[one.key] = one.verdict
    _write(root, kept)


def forget_problems(root: Path, learners: Collection[str]) -> None:
    """Forget the problems of these learners. Raises OSError."""
    kept = problems_of(root)
    if any(learner in learners for learner, _ in kept):
        _write(root, {key: one for key, one in kept.items() if key[0] not in learners})


def _write(root: Path, kept: Mapping[Key, Verdict]) -> None:
    problems = [
        {"learner": key.learner, "lesson": key.lesson, "problem": one.problem, "grader_failed": one.grader_failed}
        for key, one in sorted(kept.items())
    ]
    path = root / ".course" / "problems.json"
    path.parent.mkdir(exist_ok=True)
    replace_file(path, json.dumps({"problems": problems}, indent=1))


def problems_of(root: Path) -> dict[Key, Verdict]:
    """What was not graded, and why."""
    try:
        kept = json.loads((root / ".course" / "problems.json").read_text(encoding="utf-8"))
        found = [(Key(one["learner"], one["lesson"]), one["problem"], one["grader_failed"]) for one in kept["problems"]]
        return {key: Verdict.refused(*key, 0, why, grader_failed=flaw) for key, why, flaw in found}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
