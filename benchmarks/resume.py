"""A large class whose grading is killed twice, against an undisturbed run with the same seed.

    python -m benchmarks.resume                          1,000 submissions, killed at two random moments
    python -m benchmarks.resume --submissions 100 --lesson 04_apply

Every learner hands in one lesson, answers drawn from accepted answers and mutants. The coordinator is
sent SIGKILL while it grades; what it had started has to end by itself, the next run has to go on. Then
every score of every cell must be that of the undisturbed run, and each submission marked once.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from rich.console import Console

from nbproof.course_file import read_course

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")
SEED = 20260


def make_class(folder: Path, lesson: str, number: int, seed: int) -> None:
    """A course whose ``submitted/`` holds ``number`` learners of all sorts."""
    import nbformat

    from nbproof.authoring.simulate import LEARNERS, as_handed_in, hand_in
    from nbproof.lesson.from_text import read_lesson

    for name in ("source", "release", "lessons"):
        shutil.copytree(ROOT / name / lesson, folder / name / lesson)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    read, chance = read_lesson(COURSE, folder / "lessons" / lesson), random.Random(seed)
    for learner in range(number):
        kind = LEARNERS[learner % len(LEARNERS)]
        answers = {}
        for exercise in read.exercises:
            right = [one for one in exercise.candidates if one.role in ("reference", "accepted")]
            wrong = [one for one in exercise.candidates if one.role == "mutant"]
            if chance.random() < kind.effort:
                answers[exercise.id] = as_handed_in(chance.choice(right if chance.random() < kind.skill else wrong))
        path = folder / "submitted" / f"{kind.name}{learner:04d}" / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(hand_in(folder / "release" / lesson / f"{lesson}.ipynb", answers), path)


def command(folder: Path) -> list[str]:
    """The command whose run is killed."""
    told = ["--no-feedback", "--quiet", "--seed", str(SEED), "--json", str(folder / "grade.json")]
    return [sys.executable, "-m", "course", "grade", "--course", str(folder), *told]


def journals(folder: Path) -> dict[str, int]:
    """Learner -> when the verdict was written, of all that are there."""
    return {path.parent.parent.name: path.stat().st_mtime_ns for path in folder.glob("autograded/*/*/.verdict.json")}


def scores(folder: Path, lesson: str) -> dict[tuple[str, str], float | None]:
    """(learner, cell) -> automatic marks, from the gradebook."""
    from nbgrader.api import Gradebook

    from nbproof.gradebook.reader import marks_in
    from nbproof.places import course_config

    course_id = course_config(folder).CourseDirectory.course_id
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", course_id) as book:
        return {
            (key.learner, cell): mark.auto
            for key, one in marks_in(book, lesson).items()
            for cell, mark in one.cells.items()
        }


def killed_at(folder: Path, after: int, say: Console) -> dict[str, int]:
    """Start a run, kill it with no warning once ``after`` verdicts are there and a little later; what was there then."""
    process = psutil.Popen(command(folder), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(journals(folder)) < after and process.poll() is None:
        time.sleep(0.05)
    time.sleep(random.Random(after).uniform(0, 0.3))
    family = process.children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    gone, alive = psutil.wait_procs(family, timeout=10)
    say.print(
        f"killed with {len(journals(folder))} verdicts there; {len(gone)} processes ended with it, {len(alive)} live on"
    )
    if alive:
        raise SystemExit("a killed run left processes behind")
    return journals(folder)


def main() -> int:
    """See the module's text; 0 where both runs agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--lesson", default="01_module_anatomy")
    parser.add_argument("--seed", type=int, default=0, help="of the class and of the moments")
    arguments = parser.parse_args()
    say, chance = Console(stderr=True, highlight=False), random.Random(arguments.seed)
    number, lesson = arguments.submissions, arguments.lesson
    with tempfile.TemporaryDirectory() as name:
        disturbed, calm = Path(name, "disturbed"), Path(name, "calm")
        say.print(f"handing in: {number} submissions of {lesson}")
        make_class(disturbed, lesson, number, arguments.seed)
        shutil.copytree(disturbed, calm)
        from nbproof.run.digests import grader_digest

        code = grader_digest(COURSE)
        start = time.perf_counter()
        moments = sorted(chance.sample(range(number // 20, number - number // 20), 2))
        seen = [killed_at(disturbed, moment, say) for moment in moments]
        subprocess.run(command(disturbed), cwd=ROOT, check=False)
        say.print(f"killed twice, then to its end: {time.perf_counter() - start:.0f} s")
        last = journals(disturbed)
        twice = {who for before in seen for who, stamp in before.items() if last.get(who) != stamp}
        start = time.perf_counter()
        subprocess.run(command(calm), cwd=ROOT, check=False)
        say.print(f"undisturbed: {time.perf_counter() - start:.0f} s")
        ours, theirs = scores(disturbed, lesson), scores(calm, lesson)
        told = [json.loads((folder / "grade.json").read_text()) for folder in (disturbed, calm)]
        grader_digest.cache_clear()
        if grader_digest(COURSE) != code:
            say.print("the course's checking code was changed meanwhile: the figures below mean little")
    different = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    print(
        f"{number} submissions, killed after {moments[0]} and {moments[1]}: {len(last)} verdicts, {len(twice)} graded twice"
    )
    print(f"{len(theirs)} cells, {len(different)} with other marks than in the undisturbed run")
    for one in told:
        ended = Counter(exercise["status"] for sub in one["submissions"] for exercise in sub["exercises"])
        print(f"exit code {one['exit_code']}, {one['totals']['submissions']} submissions, {dict(ended)}")
    fine = (
        not different
        and not twice
        and len(last) == number
        and told[0]["totals"]["exercises"] == told[1]["totals"]["exercises"]
    )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
