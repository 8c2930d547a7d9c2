"""One run over a class: what is planned, marked, journalled, written to the gradebook, penalised, scored."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.gradebook.graded_notebook import graded_notebook
from nbproof.gradebook.marks import GradedClass, Mark, marks
from nbproof.gradebook.penalties import Penalties
from nbproof.gradebook.storage_errors import is_busy, is_one_files, is_one_submissions, masked
from nbproof.gradebook.writer import Writer
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Damaged
from nbproof.marking.hand_in import HandIn, read_hand_in
from nbproof.marking.results import Verdict
from nbproof.run.digests import LessonState
from nbproof.run.intake import Intake, Submission
from nbproof.run.journal import Entry, Journal, RunState
from nbproof.run.plan import Job, digest_of_bytes, handed_in_digest, plan, told
from nbproof.run.pool import Pool, PoolMaker, marked
from nbproof.run.references import ReferenceJob, References
from nbproof.run.suspects import InProgress, Standing, tried_last
from nbproof.run.watch import Watch

__all__ = ["BUSY_SECONDS", "ClassRun", "PoolMaker"]

BUSY_SECONDS = 10.0
"""After the gradebook was found busy: so long nothing more is written to it, and marking goes on."""


@dataclass
class ClassRun:
    """Used once."""

    root: Path
    state: RunState
    lessons: Mapping[str, LessonState]
    limits: GradingLimits
    writer: Writer
    penalties: Penalties
    watch: Watch
    references: References
    _problems: dict[Key, Verdict] = field(default_factory=dict)
    """Of what cannot be graded, or written down."""
    _done: dict[Key, Verdict] = field(default_factory=dict)
    """In short."""
    _fresh: set[Key] = field(default_factory=set)
    """What this run marked."""
    _behind: list[tuple[Verdict, Path, Mapping[str, str]]] = field(default_factory=list)
    """Journalled, while another program held the gradebook."""
    _busy_until: float = 0.0
    _dropped: set[Key] = field(default_factory=set)
    """Of lessons whose reference answers fail."""
    _marked: dict[Key, str] = field(default_factory=dict)
    """Digest of the bytes that were marked, which may have been handed in anew while the run went on."""

    def go(self, intake: Intake, made: PoolMaker, force: bool) -> GradedClass:
        """Plan, mark, write; see :func:`nbproof.run.batch.grade_class`."""
        self._journal, self._in_progress = Journal(self.root), InProgress(self.root)
        try:
            return self._whole(intake, made, force)
        except BaseException:
            # Whatever ends it: should the gradebook fail now, what ended the run is told all the same.
            with contextlib.suppress(Exception):
                self.watch.stopped(self._reached(intake).values())
            raise

    def _reached(self, intake: Intake) -> dict[Key, Mark]:
        """What has its verdict, and the gradebook holds all of it; and what cannot be graded."""
        held = self._held()
        reached = {key for key, verdict in self._done.items() if key in held and held[key].agrees_with(verdict)}
        reached |= set(self._problems)
        # The gradebook may hold others too, of an earlier run.
        mine = tuple(one for one in intake.submissions if one.key in reached)
        return self._marks(replace(intake, submissions=mine))

    def _whole(self, intake: Intake, made: PoolMaker, force: bool) -> GradedClass:
        jobs = self._plan(intake, force)
        reasons = told(jobs)
        plain: dict[str, int] = {}
        self.watch.planned(len(jobs), len(self._done), reasons)
        if jobs:
            if force:
                self.state.forced |= {_in_state(one.submission.key) for one in jobs}
            self.state.begin()
            lessons = sorted({one.submission.lesson for one in jobs})
            blueprints = {name: self.lessons[name].blueprint for name in lessons}
            plain = {name: len(one.plain) for name, one in blueprints.items() if one.plain}
            try:
                with made(blueprints, self.state.seed, self.limits) as pool:
                    self.mark(jobs, lessons, pool, force)
            finally:
                # A run that comes to here was not killed, by nothing that was handed in.
                self._in_progress.end()
        self._catch_up()
        self._assign_penalties()
        for one in intake.submissions:
            self.state.forced.discard(_in_state(one.key))
        self.state.complete()
        return GradedClass(
            self._marks(intake),
            seed=self.state.seed,
            gradebook=masked(self.writer.db_url),
            reasons=reasons,
            plain_tests=plain,
            unfit=dict(self.references.failed),
            anyway=self.references.anyway,
        )

    def _plan(self, intake: Intake, force: bool) -> list[Job]:
        """What has to be marked. What need not is noted, and written down where the gradebook does not have it all."""
        held = {lesson: self.writer.held(lesson) for lesson in {one.lesson for one in intake.submissions}}
        jobs = []
        for one in intake.submissions:
            key = one.key
            if one.problem:
                self._problems[key] = _refused(key, one.problem)
                continue
            entry = self._journal.read(*key)
            handed_in = handed_in_digest(one, self.state.key, self.limits.for_lesson(one.key.lesson))
            asked = force or self._is_owed(key, entry)
            job = plan(one, handed_in, entry, self.lessons[one.lesson].source, asked)
            if job is not None:
                jobs.append(job)
                continue
            assert entry is not None
            self._done[key] = entry.verdict.in_short()
            have = held[one.lesson].get(one.learner)
            if have is None or not have.agrees_with(entry.verdict) or not self.writer.is_stamped(have, *key, one.path):
                # The run that marked it was cut off before the gradebook had it all.
                self._write(entry.verdict, one, entry.verdict.answers)
        return jobs

    def _is_owed(self, key: Key, entry: Entry | None) -> bool:
        """Whether a run with ``--force`` set out to mark it, and was cut off before."""
        forced = _in_state(key) in self.state.forced
        return forced and entry is not None and entry.verdict.seed != self.state.seed

    def mark(self, jobs: Sequence[Job], lessons: Sequence[str], pool: Pool, force: bool) -> None:
        """Raises ReferencesFail if no lesson is left."""
        first = self.references.jobs(lessons)
        suspects = [job for job in jobs if self._in_progress.of(job) is not None]
        others = [job for job in jobs if job not in suspects]
        # Marked while the reference answers still were: believed when those have passed.
        waiting: dict[str, list[tuple[Job, Verdict]]] = defaultdict(list)
        for tried in (lambda: [*first, *others], lambda: self.references.second_tries):
            for job, verdict in marked(pool, tried(), self._read, self.state.seed):
                lesson = job.submission.lesson
                if isinstance(job, ReferenceJob):
                    self.watch.tried(job.submission.key.name)
                    self.references.note(job, verdict)
                    self._stop_if_nothing_is_fit(lessons)
                else:
                    waiting[lesson].append((job, verdict))
                if not self.references.is_pending(lesson):
                    for one, reached in waiting.pop(lesson, []):
                        self._take(one, reached)
        for job in suspects:
            again = course_command(shlex.join(["grade", "--force", "--only", job.submission.key.name]))
            verdict = tried_last(job, self._in_progress, self._read, pool.alone, self.state.seed, force, again)
            self._take(job, verdict)

    def _read(self, job: Job) -> HandIn:
        """For :data:`nbproof.run.pool.Reader`: noted before it is marked. Raises Damaged also if its lesson is unfit."""
        self.watch.started(job.submission.key.name)
        if isinstance(job, ReferenceJob):
            return job.hand_in
        self._in_progress.write(job, Standing.STARTED)
        one = job.submission
        if one.lesson in self.references.unfit:
            raise Damaged("its lesson's reference answers fail")
        hand_in = read_hand_in(one.key, one.path, self.limits.for_lesson(one.key.lesson))
        # Folders that are synchronised change while a run goes on.
        self._marked[one.key] = digest_of_bytes(hand_in, self.state.key)
        return hand_in

    def _stop_if_nothing_is_fit(self, lessons: Sequence[str]) -> None:
        if self.references.unfit.keys() >= set(lessons):
            self.references.refuse(course_command("grade --anyway", self.root))

    def _take(self, job: Job, verdict: Verdict) -> None:
        key = job.submission.key
        if job.submission.lesson in self.references.unfit:
            self._dropped.add(key)
            self._in_progress.done(key)
            return
        if verdict.problem:
            self._problems[key] = verdict
        else:
            self._finish(job, verdict)
        self._in_progress.done(key)
        self.watch.marked(job.submission.key.name, verdict)

    def _finish(self, job: Job, verdict: Verdict) -> None:
        """Journal a verdict, and write it to the gradebook."""
        lesson = self.lessons[job.submission.lesson]
        key = job.submission.key
        earlier = self._journal.read(*key)
        try:
            # Plain json, on one line: nbformat's writer copies and indents, thirty times slower.
            text = json.dumps(graded_notebook(lesson.blueprint, verdict), ensure_ascii=False)
            entry = Entry(self._marked.get(key, job.handed_in), lesson.source, verdict)
            self._journal.write(entry, text.encode(errors="replace"))
        except OSError as error:
            if not is_one_files(error):
                raise
            self._problems[key] = _refused(key, f"graded, but {error.filename} cannot be written: {error.strerror}")
            return
        self._done[key] = verdict.in_short()
        self._fresh.add(key)
        self._write(verdict, job.submission, earlier.verdict.answers if earlier else {})

    def _write(self, verdict: Verdict, submission: Submission, earlier: Mapping[str, str]) -> None:
        key = submission.key
        if time.monotonic() < self._busy_until:
            self._behind.append((verdict, submission.path, earlier))
            return
        try:
            self.writer.write(verdict, self.lessons[submission.lesson].blueprint, submission.path, earlier)
        except Exception as error:
            if is_busy(error):
                self._busy_until = time.monotonic() + BUSY_SECONDS
                self._behind.append((verdict, submission.path, earlier))
            elif is_one_submissions(error):
                told = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
                self._problems[key] = _refused(key, f"graded, but the gradebook does not take it: {told}")
            else:
                raise

    def _catch_up(self) -> None:
        """Write what had to wait. Raises what the gradebook says if it is still busy."""
        for verdict, path, earlier in self._behind:
            self.writer.write(verdict, self.lessons[verdict.lesson].blueprint, path, earlier)

    def _assign_penalties(self) -> None:
        """Have nbgrader decide wherever something is late, or was."""
        asked = []
        for key, have in self._submissions().items():
            if self.penalties.concerns(have, self.state.penalties.get(_in_state(key))):
                self.penalties.assign(
                    key.learner, min(one.lesson for one in self._done if one.assignment == key.lesson)
                )
                asked.append(key)
        if not asked:
            return
        after = self._submissions()
        for key in asked:
            self.state.penalties[_in_state(key)] = self.penalties.basis(after[key])
        self.state.save()

    def _submissions(self) -> dict[Key, Mark]:
        """By assignment: what the gradebook holds of each of which a notebook has its verdict."""
        done = {Key(one.learner, one.assignment) for one in self._done}
        names = {one.lesson for one in done}
        held = {Key(learner, name): one for name in names for learner, one in self.writer.held(name).items()}
        return {key: one for key, one in held.items() if key in done}

    def _held(self) -> dict[Key, Mark]:
        """What the gradebook holds of what has its verdict."""
        lessons = {lesson for _, lesson in self._done}
        held = {Key(learner, name): one for name in lessons for learner, one in self.writer.held(name).items()}
        return {key: one for key, one in held.items() if key in self._done}

    def _marks(self, intake: Intake) -> dict[Key, Mark]:
        held, verdicts = self._held(), {}
        for one in intake.submissions:
            key = one.key
            if key in self._dropped:
                continue
            verdicts[key] = self._problems.get(key) or self._done[key]
            if key not in self._problems and key not in held:
                verdicts[key] = _refused(key, "graded, but the gradebook does not hold it")
        most: dict[str, float] = {}
        with contextlib.suppress(KeyError):
            most = self.writer.lessons()
        return marks(verdicts, held, self.writer.late, self._fresh, most)


def _refused(key: Key, why: str) -> Verdict:
    return Verdict.refused(*key, 0, why)


def _in_state(key: Key) -> str:
    """As ``.course/run.json`` has it."""
    return f"{key.lesson}/{key.learner}"
