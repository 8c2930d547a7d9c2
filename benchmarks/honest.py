"""Honest notebooks, right answers written as people write them, through stock nbgrader and through the engine.

    python -m benchmarks.honest                            100 notebooks through the engine: full marks?
    python -m benchmarks.honest --stock                    through stock nbgrader as well: some seconds a notebook
    python -m benchmarks.honest --lesson 04_apply --kind "helper above"

Each notebook holds right answers to a whole lesson, in one of some 60 kinds: helpers above, below, in the exercise
before, in a file, classes over several cells, names of demos, answers in cells of their own, scratch cells that fail.
Stock nbgrader runs everything, so its marks say whether *Run All* passes. Ends with 1 if the engine gives less than
stock for a test cell; without --stock, less than full marks.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from rich.console import Console

from benchmarks.bench import STOCK, forget, run
from benchmarks.honest_draft import Draft
from benchmarks.honest_kinds import KINDS
from benchmarks.parity import cell_scores
from nbproof.authoring.simulate import as_handed_in
from nbproof.course_file import read_course
from nbproof.errors import UsageError
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Lesson

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")


@dataclass(frozen=True)
class Planned:
    """One notebook to be made."""

    learner: str
    lesson: Lesson
    kind: str
    turn: int
    """Which of the right answers to each exercise it holds."""


def plan(lessons: Sequence[Lesson], kinds: Sequence[str], count: int) -> list[Planned]:
    """``count`` notebooks: every kind in turn, each time in another lesson and with other answers."""
    made = []
    for number in range(count):
        turn, place = divmod(number, len(kinds))
        lesson = lessons[(place + turn * (1 + len(lessons) // 2)) % len(lessons)]
        made.append(Planned(f"n{number:03d}", lesson, kinds[place], turn))
    return made


def write(one: Planned, folder: Path) -> None:
    """Hand it in."""
    release = ROOT / "release" / one.lesson.slug / f"{one.lesson.slug}.ipynb"
    draft = Draft(nbformat.read(release, as_version=4))
    for exercise in one.lesson.exercises:
        right = [found for found in exercise.candidates if found.role in ("reference", "accepted")]
        text = "\n".join(
            line
            for line in as_handed_in(right[one.turn % len(right)]).splitlines()
            if not line.strip().startswith("###")
        )
        KINDS[one.kind](draft, exercise.id, text)
        draft.done.append(exercise.id)
    path = folder / "submitted" / one.learner / one.lesson.slug / f"{one.lesson.slug}.ipynb"
    path.parent.mkdir(parents=True)
    for name, text in draft.files.items():
        file = path.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    nbformat.write(draft.notebook, path)


def make_course(folder: Path, planned: Sequence[Planned]) -> None:
    """A course in which these notebooks are handed in."""
    for slug in {one.lesson.slug for one in planned}:
        for name in ("source", "release"):
            shutil.copytree(ROOT / name / slug, folder / name / slug)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for one in planned:
        write(one, folder)


ENGINE = ("-m", "course", "grade", "--no-feedback")


def grade(planned: Sequence[Planned], how: tuple[str, ...]) -> dict[str, float]:
    """learner/test cell -> marks. ``how``: what Python is to run."""
    with tempfile.TemporaryDirectory() as name:
        make_course(Path(name), planned)
        run([sys.executable, *how], Path(name))
        found = cell_scores(Path(name))
        forget(Path(name))
    return found


def full_marks(planned: Sequence[Planned]) -> dict[str, float]:
    """learner/test cell -> what it can earn."""
    return {
        f"{one.learner}/{cell.grade_id}": cell.points
        for one in planned for exercise in one.lesson.exercises for cell in exercise.tests
    }  # fmt: skip


def by_stock(planned: Sequence[Planned], portion: int = 4) -> Iterator[dict[str, float]]:
    """The marks of stock nbgrader, some notebooks at a time, two processes."""
    parts = [planned[start : start + portion] for start in range(0, len(planned), portion)]
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda part: grade(part, (STOCK, ".")), parts)


def told(one: Planned, wanted: Mapping[str, float], got: Mapping[str, float], words: tuple[str, str]) -> list[str]:
    """A line for each test cell of a notebook in which the two differ."""
    keys = [key for key in wanted if key.split("/")[0] == one.learner]
    return [
        f"  {one.learner} {one.lesson.slug} ({one.kind}) {key.split('/')[1]}: "
        f"{words[0]} {wanted[key]:g}, {words[1]} {got.get(key, -1):g}"
        for key in keys if wanted[key] != got.get(key, -1)
    ]  # fmt: skip


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notebooks", type=int, default=100, metavar="N", help="how many (default: 100)")
    parser.add_argument("--lesson", action="append", default=[], metavar="LESSON", help="of these only (default: all)")
    parser.add_argument("--kind", action="append", default=[], metavar="KIND", help="of these only (default: all)")
    parser.add_argument("--stock", action="store_true", help="grade with stock nbgrader, too")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="write the course to a new folder, and grade nothing"
    )
    parser.add_argument("--kinds", action="store_true", help="list the kinds, and grade nothing")
    asked = parser.parse_args()
    if asked.kinds:
        print(*KINDS, sep="\n")
        return 0
    unknown = [kind for kind in asked.kind if kind not in KINDS]
    if unknown or asked.notebooks < 1:
        parser.error(f"no kind {unknown[0]!r}: see --kinds" if unknown else "--notebooks wants at least 1")
    try:
        lessons = [read_lesson(COURSE, folder) for folder in find_lessons(ROOT, asked.lesson)]
    except UsageError as error:
        parser.error(str(error))
    planned = plan(lessons, asked.kind or list(KINDS), asked.notebooks)
    if asked.write:
        asked.write.mkdir(parents=True)
        make_course(asked.write, planned)
        return 0
    return compare(planned, asked.stock)


def compare(planned: Sequence[Planned], stock: bool) -> int:
    """Grade and tell; 1 if the engine gives less than it should."""
    say = Console(highlight=False, soft_wrap=True).print
    full = full_marks(planned)
    say(f"engine: {len(planned)} notebooks of {len({one.kind for one in planned})} kinds")
    ours = grade(planned, ENGINE)
    short = [line for one in planned for line in told(one, full, ours, ("full marks", "engine"))]
    equal = sum(full[key] == ours.get(key) for key in full)
    say(f"engine: full marks in {equal} of {len(full)} test cells", *short, sep="\n", markup=False)
    if not stock:
        return 1 if short else 0
    theirs: dict[str, float] = {}
    say(f"stock nbgrader: {len(planned)} notebooks, some seconds each")
    for found in by_stock(planned):
        theirs |= found
        say(f"  {len({key.split('/')[0] for key in theirs})} of {len(planned)}")
    equal = sum(theirs.get(key) == ours.get(key) for key in full)
    lower = sum(ours.get(key, 0) < theirs.get(key, 0) for key in full)
    differ = [line for one in planned for line in told(one, theirs, ours, ("stock", "engine"))]
    say(f"{equal} of {len(full)} test cells have the same marks; in {lower} the engine's are lower", *differ, sep="\n",
        markup=False)  # fmt: skip
    return 1 if lower else 0


if __name__ == "__main__":
    sys.exit(main())
