"""Grade with stock nbgrader: the path for machines without fork or namespaces, and the yardstick for the engine.

nbgrader's own API does the work, one submission after another. What was graded, and from which
bytes, stands in ``.course/graded.json``; a run that is cut off goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI

from nbproof.files import replace_file
from nbproof.gradebook.writer import register
from nbproof.marking.results import GradedClass, Score
from nbproof.nbgrader_setup import course_config
from nbproof.run.intake import Intake, Submission, notebook_problem

__all__ = ["grade_with_stock_nbgrader"]


def grade_with_stock_nbgrader(
    root: Path, intake: Intake, lessons: list[str], force: bool, step: Callable[[int, int, str], None]
) -> GradedClass:
    """Autograde every submission that changed since it was last graded, or all with ``force``."""
    config = course_config(root)
    # nbgrader's own preprocessors: nbgrader_config.py puts the engine in their place.
    config.pop("Autograde", None)
    api = NbGraderAPI(config=config)
    state = _State(root / ".course" / "graded.json")
    with Gradebook(api.coursedir.db_url, api.coursedir.course_id) as gradebook:
        known = {assignment.name for assignment in gradebook.assignments}
    for lesson in lessons:
        source = _source(root, lesson)
        if lesson not in known or state.changed(f"source/{lesson}", Submission("", lesson, source).digest(source)):
            register(config, lesson)
            state.note(f"source/{lesson}", Submission("", lesson, source).digest(source))
    scores = []
    for done, submission in enumerate(intake.submissions, 1):
        step(done - 1, len(intake.submissions), f"{submission.learner}/{submission.lesson}")
        scores.append(_grade(api, root, submission, state, force))
        step(done, len(intake.submissions), f"{submission.learner}/{submission.lesson}")
    graded = tuple((score.learner, score.lesson) for score in scores if score.fresh and not score.problem)
    return GradedClass(tuple(scores), 0, api.coursedir.db_url, graded)


def _source(root: Path, lesson: str) -> Path:
    return root / "source" / lesson / f"{lesson}.ipynb"


class _State:
    """What was graded from which bytes, in one small file that is replaced whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.digests: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.digests = {}

    def changed(self, key: str, digest: str) -> bool:
        return self.digests.get(key) != digest

    def note(self, key: str, digest: str) -> None:
        self.digests[key] = digest
        self.path.parent.mkdir(exist_ok=True)
        replace_file(self.path, json.dumps(self.digests, indent=1, sort_keys=True))


def _grade(api: NbGraderAPI, root: Path, submission: Submission, state: _State, force: bool) -> Score:
    learner, lesson = submission.learner, submission.lesson
    problem = submission.problem or notebook_problem(submission.path)
    if submission.path.name != f"{lesson}.ipynb" or submission.path.parent.name != lesson:
        problem = (
            problem or f"stock nbgrader wants it to be called {lesson}.ipynb, and it is called {submission.path.name}"
        )
    if problem:
        return Score(learner, lesson, 0.0, _maximum(api, lesson), problem)
    key, digest = f"{learner}/{lesson}", submission.digest(_source(root, lesson))
    graded = root / "autograded" / learner / lesson / f"{lesson}.ipynb"
    old = None if force or state.changed(key, digest) or not graded.exists() else _score(api, learner, lesson)
    if old is not None:
        return Score(learner, lesson, *old, how="unchanged")
    outcome = api.autograde(lesson, learner, force=True, create=True)
    if outcome["success"]:
        # What changed meanwhile, as in a folder that is synchronised, is graded again by the next run.
        if submission.digest(_source(root, lesson)) == digest:
            state.note(key, digest)
        score = _score(api, learner, lesson)
        if score is not None:
            return Score(learner, lesson, *score)
    return Score(learner, lesson, 0.0, _maximum(api, lesson), _reason(outcome))


def _reason(outcome: dict[str, str]) -> str:
    """The last line of nbgrader's log that names a cause."""
    lines = [line for line in (outcome.get("log") or "").splitlines() if "ERROR" in line or "Error:" in line]
    told = [line for line in lines if "traceback" not in line and "There was an error processing" not in line]
    return (told or lines or ["nbgrader gave no reason"])[0].strip()[:200]


def _score(api: NbGraderAPI, learner: str, lesson: str) -> tuple[float, float] | None:
    with Gradebook(api.coursedir.db_url, api.coursedir.course_id) as gradebook:
        try:
            submission = gradebook.find_submission(lesson, learner)
        except MissingEntry:
            return None
        return float(submission.score), float(submission.max_score)


def _maximum(api: NbGraderAPI, lesson: str) -> float:
    with Gradebook(api.coursedir.db_url, api.coursedir.course_id) as gradebook:
        return float(gradebook.find_assignment(lesson).max_score)
