"""Grade a class: take in what was handed in, mark it in parallel, write it down one after another.

Every verdict is first journalled whole in ``autograded/<learner>/<lesson>/``, then written to the
gradebook. A run that is cut off at any point goes on from the journal: what is there is not
graded again, and the seed of the run is kept until the run is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI

from course.grading.gradebook import Writer, register
from course.grading.graded import graded_notebook
from course.grading.intake import Intake, Submission
from course.grading.launch import Launched, refuse_if_exposed
from course.grading.pool import Job, LocalPool, Pool
from course.grading.rebuild import Blueprint, Damaged, read_blueprint, read_file
from course.grading.results import GradedClass, Score, SubmissionVerdict
from course.limits import GradingLimits
from course.nbgrader_setup import course_config

__all__ = ["grade_class"]

_JOURNAL = ".verdict.json"


def grade_class(
    root: Path,
    intake: Intake,
    lessons: list[str],
    *,
    force: bool = False,
    isolated: bool = True,
    workers: int | None = None,
    seed: int | None = None,
    launched: Launched | None = None,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> GradedClass:
    """Mark every submission that changed since it was last graded (all with ``force``), and write it down."""
    if isolated:
        refuse_if_exposed(root)
    config = course_config(root)
    coursedir = NbGraderAPI(config=config).coursedir
    run = _Run(root, seed)
    digests = {lesson: _hash(_source(root, lesson).read_bytes()) for lesson in lessons}
    with Writer(coursedir.db_url, coursedir.course_id) as writer:
        known = writer.lessons()
    for lesson in lessons:
        if lesson not in known or run.registered.get(lesson) != digests[lesson]:
            register(config, lesson)
            run.note_registered(lesson, digests[lesson])
    blueprints = {lesson: read_blueprint(_source(root, lesson), config) for lesson in lessons}
    limits = GradingLimits(config=config)
    pool = LocalPool(
        blueprints, run.seed, limits, isolated=isolated, workers=workers or os.cpu_count() or 1, launched=launched
    )
    class_run = _ClassRun(root, run, blueprints, digests, limits, pool)
    with Writer(coursedir.db_url, coursedir.course_id) as writer:
        scores, graded = class_run.go(intake, writer, force, step)
    run.complete()
    return GradedClass(tuple(scores), run.seed, coursedir.db_url, tuple(graded))


def _source(root: Path, lesson: str) -> Path:
    return root / "source" / lesson / f"{lesson}.ipynb"


def _hash(*parts: bytes) -> str:
    seen = hashlib.sha256()
    for part in parts:
        seen.update(len(part).to_bytes(8, "big") + part)
    return seen.hexdigest()


class _Run:
    """What outlives a run that is cut off: its seed, and which lessons the gradebook knows in which version."""

    def __init__(self, root: Path, seed: int | None) -> None:
        self._path = root / ".course" / "run.json"
        try:
            kept: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        self.registered: dict[str, str] = dict(kept.get("registered") or {})
        # Journals lie where `nbgrader autograde` copies a submission's own files to: a learner must not be able to write one.
        self.key = str(kept.get("key") or secrets.token_hex(16))
        open_seed = kept.get("open")
        self.seed = (
            seed if seed is not None else open_seed if isinstance(open_seed, int) else secrets.randbelow(10**9) + 1
        )
        self._save(open_run=True)

    def note_registered(self, lesson: str, digest: str) -> None:
        self.registered[lesson] = digest
        self._save(open_run=True)

    def complete(self) -> None:
        self._save(open_run=False)

    def _save(self, open_run: bool) -> None:
        state = {
            "key": self.key,
            "registered": self.registered,
            "seed": self.seed,
            "open": self.seed if open_run else None,
        }
        self._path.parent.mkdir(exist_ok=True)
        _replace(self._path, json.dumps(state, indent=1).encode())


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    os.replace(fresh, path)


class _ClassRun:
    def __init__(
        self, root: Path, run: _Run, blueprints: dict[str, Blueprint], digests: dict[str, str], limits: GradingLimits,
        pool: Pool,
    ) -> None:  # fmt: skip
        self.root, self.run, self.blueprints, self.digests = root, run, blueprints, digests
        self.limits, self.pool = limits, pool

    def go(
        self, intake: Intake, writer: Writer, force: bool, step: Callable[[int, int, str], None]
    ) -> tuple[list[Score], list[tuple[str, str]]]:
        scores: dict[tuple[str, str], Score] = {}
        jobs = []
        for submission in intake.submissions:
            key = (submission.learner, submission.lesson)
            most = self.blueprints[submission.lesson].max_score
            if submission.problem:
                scores[key] = Score(*key, 0.0, most, submission.problem)
                continue
            job = Job(submission, self._digest(submission))
            old = None if force else self._journalled(job)
            if old is None:
                jobs.append(job)
            else:
                if not writer.holds(old):
                    # Marked, but the run was cut off before the gradebook had it all.
                    writer.write(old, self.blueprints[submission.lesson], submission.path)
                have = writer.score(*key)
                scores[key] = Score(
                    *key, have or 0.0, most, statuses=_statuses(old), fresh=False, waiting=writer.waiting(*key)
                )
        graded = []
        for done, (job, verdict) in enumerate(self.pool.marked(jobs), 1):
            key = (job.submission.learner, job.submission.lesson)
            most = self.blueprints[job.submission.lesson].max_score
            if verdict.problem:
                scores[key] = Score(*key, 0.0, most, verdict.problem)
            else:
                earlier = self._earlier_answers(job.submission)
                self._journal(job, verdict)
                writer.write(verdict, self.blueprints[key[1]], job.submission.path, earlier)
                graded.append(key)
                have = writer.score(*key)
                scores[key] = Score(
                    *key, verdict.score if have is None else have, most, statuses=_statuses(verdict),
                    waiting=writer.waiting(*key),
                )  # fmt: skip
            step(done, len(jobs), "/".join(key))
        return [scores[key] for key in sorted(scores)], graded

    def _digest(self, submission: Submission) -> str:
        try:
            data = read_file(submission.path, self.limits.notebook_mb << 20)
        except Damaged as damage:
            data = str(damage).encode()
        return _hash(self.run.key.encode(), data, self.digests[submission.lesson].encode())

    def _folder(self, submission: Submission) -> Path:
        return self.root / "autograded" / submission.learner / submission.lesson

    def _journalled(self, job: Job) -> SubmissionVerdict | None:
        folder = self._folder(job.submission)
        try:
            kept = json.loads((folder / _JOURNAL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        graded = folder / f"{job.submission.lesson}.ipynb"
        if kept.get("digest") != job.digest or not graded.exists():
            return None
        return SubmissionVerdict.from_dict(kept["verdict"])

    def _earlier_answers(self, submission: Submission) -> dict[str, str]:
        """What was graded last for this learner and lesson, whatever became of it since."""
        try:
            kept = json.loads((self._folder(submission) / _JOURNAL).read_text(encoding="utf-8"))
            return dict(kept["verdict"]["answers"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _journal(self, job: Job, verdict: SubmissionVerdict) -> None:
        folder = self._folder(job.submission)
        folder.mkdir(parents=True, exist_ok=True)
        blueprint = self.blueprints[verdict.lesson]
        # Plain json, on one line: nbformat's writer copies and indents, thirty times slower.
        text = json.dumps(graded_notebook(blueprint, verdict), ensure_ascii=False)
        _replace(folder / f"{verdict.lesson}.ipynb", text.encode(errors="replace"))
        # Last: where the journal is, everything is.
        _replace(folder / _JOURNAL, json.dumps({"digest": job.digest, "verdict": verdict.as_dict()}).encode())


def _statuses(verdict: SubmissionVerdict) -> tuple[str, ...]:
    return tuple(exercise.status for exercise in verdict.exercises)
