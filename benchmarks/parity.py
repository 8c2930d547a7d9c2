"""Every candidate of the lessons through stock nbgrader and through the engine: are the marks the same, cell by cell?

    python -m benchmarks.parity                    all lessons (long: stock takes some seconds a submission)
    python -m benchmarks.parity 02_tensor_hooks    one lesson
    python -m benchmarks.parity --honest           right answers and stubs only

The n-th submission of a lesson holds the n-th candidate of each of its exercises: the reference, the stub,
every accepted answer and every mutant are handed in once. Stock grades in two processes at a time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from rich.console import Console

from benchmarks.bench import STOCK, forget, run
from nbproof.authoring.simulate import as_handed_in, hand_in
from nbproof.course_file import read_course
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Lesson

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")

_READ = """
import json
from nbgrader.api import Gradebook
book = Gradebook("sqlite:///gradebook.db")
print(json.dumps({
    f"{submission.student.id}/{grade.name}": grade.score
    for assignment in book.assignments
    for submission in assignment.submissions
    for notebook in submission.notebooks
    for grade in notebook.grades
}))
"""


def make_course(folder: Path, lesson: Lesson, honest: bool = False) -> int:
    """A course with this lesson and its candidates handed in; returns the number of submissions."""
    for name in ("source", "release"):
        shutil.copytree(ROOT / name / lesson.slug, folder / name / lesson.slug)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    handed = {
        exercise.id: [one for one in exercise.candidates if one.role != "mutant" or not honest]
        for exercise in lesson.exercises
    }
    count = max(map(len, handed.values()))
    release = folder / "release" / lesson.slug / f"{lesson.slug}.ipynb"
    for number in range(count):
        answers = {name: as_handed_in(ones[number]) for name, ones in handed.items() if number < len(ones)}
        path = folder / "submitted" / f"n{number:03d}" / lesson.slug / f"{lesson.slug}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(hand_in(release, answers), path)
    return count


def cell_scores(folder: Path) -> dict[str, float]:
    """learner/test cell -> marks, as the gradebook has them."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _READ], cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(json.loads(told.stdout.splitlines()[-1]))


def compare(slug: str, honest: bool = False) -> tuple[int, int, dict[str, tuple[float, float]]]:
    """Submissions, test cells, and those where stock and engine differ."""
    lesson = read_lesson(COURSE, ROOT / "lessons" / slug)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = make_course(folder, lesson, honest)
        run([sys.executable, "-m", "course", "grade", "--no-feedback"], folder)
        ours = cell_scores(folder)
        forget(folder)
        run([sys.executable, STOCK, str(folder)], folder)
        stock = cell_scores(folder)
    keys = sorted(set(ours) | set(stock))
    different = {
        key: (stock.get(key, -1), ours.get(key, -1)) for key in keys if stock.get(key, -1) != ours.get(key, -1)
    }
    return count, len(keys), different


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all")
    parser.add_argument("--honest", action="store_true", help="right answers and stubs only")
    asked = parser.parse_args()
    slugs = [folder.name for folder in find_lessons(ROOT, asked.lessons)]
    say = Console(highlight=False).print
    wrong = 0
    with ThreadPoolExecutor(2) as pool:
        for slug, (count, cells, different) in zip(
            slugs, pool.map(compare, slugs, [asked.honest] * len(slugs)), strict=True
        ):
            say(f"{slug}: {count} submissions, {cells - len(different)} of {cells} test cells have the same marks")
            for key, (stock, engine) in different.items():
                say(f"  {key}: stock {stock:g}, engine {engine:g}")
            wrong += len(different)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
