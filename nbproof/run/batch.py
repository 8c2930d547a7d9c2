"""Grade a class: plan what has to be marked, mark it in parallel, write it down one after another.

Every verdict is first journalled whole in ``autograded/<learner>/<lesson>/``, then written to the
gradebook. A run that is cut off at any point goes on from the journal: what is there is not
graded again, and the seed of the run is kept until the run is complete. What was being marked when a
run was killed is tried last, alone.
"""

from __future__ import annotations

import contextlib
import glob
import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.gradebook.graded_notebook import copy_receipts, graded_notebook
from nbproof.gradebook.marks import ClassLesson, GradedClass, Mark, join_marks, lacks
from nbproof.gradebook.reader import is_another, left_behind, lessons_in, marks_in, read_marks
from nbproof.gradebook.registry import has_notebooks
from nbproof.gradebook.storage_errors import (
    is_one_files,
    is_one_submissions,
    masked,
    trouble_with_disk,
    trouble_with_gradebook,
)
from nbproof.gradebook.writer import Penalties, Writer
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.plain import undecided
from nbproof.marking.results import Verdict
from nbproof.marking.verdicts import as_it_counts_now
from nbproof.places import course_config, places
from nbproof.recover.notebook_bytes import Damaged, HandIn
from nbproof.run.digests import LessonState
from nbproof.run.earlier import better_ones, keep_earlier, untold
from nbproof.run.intake import (
    Intake,
    gradable_lessons,
    handed_in_digest,
    reasons_to_regrade,
    to_be_marked,
    unread_times,
)
from nbproof.run.journal import (
    InProgress,
    RunState,
    Stood,
    Watch,
    answer_digests,
    answers_before,
    journalled_verdict,
    note_answers,
    note_problems,
    only_run,
    write_verdict,
)
from nbproof.run.pool import Pool, PoolMaker, local_pool, marked, verdict_or_error
from nbproof.run.references import References
from nbproof.sandbox.exceptions import GradingError
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.launch import Launched, refuse_if_exposed
from nbproof.text import printable, some_of

__all__ = ["follow_marks", "grade_class", "register_lessons"]


def grade_class(
    course: Course,
    root: Path,
    intake: Intake,
    lessons: list[str],
    *,
    force: bool = False,
    isolation: Isolation | None = None,
    workers: int | None = None,
    seed: int | None = None,
    launched: Launched | None = None,
    pool: PoolMaker | None = None,
    watch: Watch | None = None,
    anyway: bool = False,
    config: Config | None = None,
    late: frozenset[Key] = frozenset(),
) -> GradedClass:
    """Mark every submission that changed since it was last graded (all with ``force``), and write it down.

    `course grade` and `nbgrader autograde` both call this. ``pool``: who marks, in place of an engine of the run's own.
    ``config``: nbgrader's, if it is not just as the course's file has it. ``late``: (learner, lesson) of what is late by the word
    of an LMS that does not say when it came.
    """
    if isolation is None:
        isolation = isolation_or_refuse().level if pool is None else Isolation.FULL
    if isolation is not Isolation.NONE:
        refuse_if_exposed(course, root)
    watch = watch or Watch()
    config = config or course_config(root)
    coursedir = NbGraderAPI(config=config).coursedir
    limits = GradingLimits.read(config, places(root).lessons())
    state = RunState(root, seed)
    made = pool or partial(local_pool, course, isolation=isolation, workers=workers, launched=launched)
    states = {name: LessonState.of(course, root, name, config, limits) for name in lessons}
    try:
        with (
            trouble_with_gradebook(coursedir.db_url),
            Writer(coursedir.db_url, coursedir.course_id, late, places(root).zone) as writer,
        ):
            writer.end_minutes()
            penalties = Penalties(root, config, coursedir.db_url)
            intake, refused, changed = _gradable(intake, states, state, writer)
            references = References(states, state, isolation)
            run = _ClassRun(course, root, state, states, limits, writer, penalties, watch, references, anyway, changed)
            graded = replace(run.go(intake, made, force), refused=refused)
        with contextlib.suppress(OSError):  # a report that comes later tells them then as not graded yet
            note_problems(root, graded.marks.values())
        return graded
    except OSError as error:
        raise trouble_with_disk(error, root) or error from None


def _gradable(
    intake: Intake, states: Mapping[str, LessonState], state: RunState, writer: Writer
) -> tuple[Intake, dict[str, str], tuple[str, ...]]:
    """Three things: the submissions of lessons that the gradebook takes; lesson -> why it does not take the others; and a line
    for each change that it has followed.

    Raises CourseError if it takes no lesson.
    """
    handed_in = {one.key.lesson for one in intake.submissions}
    refused, changed = _unregistered({name: one for name, one in states.items() if name in handed_in}, state, writer)
    if refused and refused.keys() == handed_in:
        raise next(iter(refused.values()))
    kept = tuple(one for one in intake.submissions if one.key.lesson not in refused)
    return replace(intake, submissions=kept), {name: one.fact for name, one in refused.items()}, changed


@dataclass
class _ClassRun:
    """One run over a class. It is used once."""

    course: Course
    root: Path
    state: RunState
    lessons: Mapping[str, LessonState]
    limits: GradingLimits
    writer: Writer
    penalties: Penalties
    watch: Watch
    references: References
    anyway: bool
    """Whether a lesson is graded although its reference answers lose marks."""
    changed: tuple[str, ...] = ()
    """What the gradebook has followed, a line each."""
    _verdicts: dict[Key, Verdict] = field(default_factory=dict)
    """In short; of what cannot be graded, or written down, why."""
    _fresh: set[Key] = field(default_factory=set)
    """What this run marked."""
    _lacked: list[str] = field(default_factory=list)
    """What was graded before this run, and the gradebook did not have, or not with these marks."""
    _recounted: Counter[str] = field(default_factory=Counter)
    """Lesson -> how many submissions keep their verdicts although the lesson's points or texts have changed."""
    _beside: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What is to be said of files that lie beside notebooks -> the learners, or the files, that it is said of."""
    _stood: dict[Key, Stood | None] = field(default_factory=dict)
    """What counted before this run, or before the one that it goes on with."""
    _marked: dict[Key, str] = field(default_factory=dict)
    """Digest of the bytes that were marked, which may have been handed in anew while the run went on."""

    def go(self, intake: Intake, made: PoolMaker, force: bool) -> GradedClass:
        """Plan, mark and write down everything; see :func:`grade_class`."""
        try:
            return self._whole(intake, made, force)
        except BaseException:
            # If the gradebook fails now as well, the error that ended the run is told all the same.
            with contextlib.suppress(Exception):
                self.watch.stopped(self._marks().values())
            raise

    def _whole(self, intake: Intake, made: PoolMaker, force: bool) -> GradedClass:
        self._in_progress = InProgress(self.root)
        jobs = self._plan(intake, force)
        lost = [*self._lost()]
        follow = "points or texts changed, marks and graded notebooks follow"
        reasons = (
            *self.changed,
            *reasons_to_regrade(jobs),
            *(f"{one}: {follow} ({count}); nothing ran again" for one, count in self._recounted.items() if count),
        )
        lessons = sorted({one.key.lesson for one in jobs})
        blueprints = {name: self.lessons[name].blueprint for name in lessons}
        self.watch.planned(len(jobs), sum(not one.problem for one in self._verdicts.values()), reasons)
        failed = self._mark_all(jobs, blueprints, made, force) if jobs else {}
        self._write_absent(intake.absent)
        names = {assignment_of(lesson) for _, lesson in self._verdicts}
        unsettled = self.penalties.assign(marks_in(self.writer, *names), self.lessons)
        self.state.number(self.writer.number)
        marks = self._marks()
        remarks = (
            *lost,
            *self._fallen(marks),
            *self._changed(marks),
            *self._undated(marks),
            *left_behind(self.writer, {*map(assignment_of, places(self.root).lessons())}),
            *(f"{told}: {some_of([*dict.fromkeys(names)], 8)}" for told, names in self._beside.items()),
            *filter(None, (undecided(name, one.plain) for name, one in blueprints.items())),
        )
        self.state.complete()
        return GradedClass(
            self.course,
            marks,
            lessons=tuple(ClassLesson(name, name, most) for name, most in lessons_in(self.writer).items()),
            notes=(*unread_times(self.root, intake), *unsettled),
            seed=self.state.seed,
            gradebook=masked(self.writer.db_url),
            reasons=reasons,
            plain_tests={name: len(one.plain) for name, one in blueprints.items() if one.plain},
            remarks=remarks,
            unfit=failed,
            given_away=self.references.given_away,
            anyway=self.anyway,
        )

    def _write_absent(self, absent: Sequence[Key]) -> None:
        """Write down notebooks that did not come, although another one of their assignment was graded."""
        came = {(key.learner, key.assignment) for key, one in self._verdicts.items() if not one.problem}
        for key in absent:
            if (key.learner, key.assignment) in came:
                self.writer.write_absent(key)

    def _lost(self) -> Iterator[str]:
        """A line on a gradebook that is not the one of the last run: nothing but a copy of it has what people gave."""
        # One of them is what a run was writing down when it broke off.
        lacked = len(self._lacked) > self.state.is_unfinished
        if lacked or is_another(self.writer, self.state.gradebook):
            due, extend, leave, open_it = (
                course_command(words, self.root)
                for words in (
                    "roster due LESSON DATE",
                    "roster extend LEARNER LESSON DATE",
                    "roster remove LEARNER",
                    "formgrader",
                )
            )
            what, end = "is not the one that the last command left, but an older one, or one of another folder:", ""
            if lacked:
                names = some_of(self._lacked, 8)
                what = f"lacked what was graded, and has it again: {names}; if it is a new one, or an older one,"
                end = f" If you took these learners out of it, this takes one out for good: {leave}"
            yield (
                f"the gradebook {what} the marks, comments, due dates and extensions that people gave since are not in it: put a "
                f"copy of the last one in place of {masked(self.writer.db_url)} and grade again, or give them again: {due}; "
                f"{extend}; {open_it}.{end}"
            )

    def _fallen(self, marks: Mapping[Key, Mark]) -> Iterator[str]:
        """A line for each submission with fewer marks than an earlier hand-in would have today: the marks, and how that one
        counts again. And one for those that have lost marks otherwise."""
        better = {one.key: one for one in better_ones(self.root, marks.values(), self.penalties)}
        for one in untold(better.values(), self.state.told):
            yield one.line(self.root)
        asked = {key for key, now in marks.items() if not now.problem}
        told = {name: one for name, one in self.state.told.items() if Key.of(name) not in asked}
        self.state.told = told | {key.name: (one.place.name, one.gain) for key, one in better.items()}
        fewer: dict[bool, list[str]] = {True: [], False: []}
        for key, before, now in self._again(marks):
            is_other = self._is_other_work(key, before)
            is_told = key in better if is_other else not self._is_marked_otherwise(key, before, now)
            if now.score < before.score and not is_told:
                step = _step(now, before.score, now.score)
                if is_other:
                    step += self._whole_before(key)
                fewer[is_other].append(step)
        for is_other, steps in fewer.items():
            if steps:
                yield f"{_FEWER[is_other]}: {', '.join(steps)}"

    def _whole_before(self, key: Key) -> str:
        """The command that has all count which was handed in before, of an assignment of several notebooks; else nothing."""
        told = glob.escape(f"{key.learner}/{key.assignment}")
        folders = sorted(self.root.glob(f"collected/*/replaced/{told}*"))
        if "/" not in key.lesson or not folders:
            return ""
        step = shlex.join(["grade", "--from", str(folders[-1]), "--learner", key.learner])
        return f" (all that was handed in before: {course_command(step, self.root)})"

    def _changed(self, marks: Mapping[Key, Mark]) -> Iterator[str]:
        """A line for those with another late penalty, though they have handed in nothing new."""
        same = [(one, now) for key, one, now in self._again(marks) if not self._is_other_work(key, one)]
        others = (
            (one, now)
            for one, now in same
            if now.penalty != one.penalty and not self._is_marked_otherwise(now.key, one, now)
        )
        moved = grouped((self._why_others(one, now), _taken_off(one, now)) for one, now in others)
        for why, steps in moved.items():
            yield f"late penalties, which are points taken off, are others, and nothing new came: {', '.join(steps)}. {why}"

    def _undated(self, marks: Mapping[Key, Mark]) -> Iterator[str]:
        """A line for those graded now that nothing dates, where something was due; first those that had a time before."""
        today = datetime.now(UTC).replace(tzinfo=None)
        found: dict[bool, list[str]] = {True: [], False: []}
        for key in sorted(self._fresh):
            late = marks[key].late
            if late.handed_in is None and late.due is not None and late.due < today and not late.said:
                before = self._stood.get(key)
                found[before is not None and before.came != str(None)].append(key.name)
        if names := [*found[True], *found[False]]:
            yield (
                f"nothing says when these were handed in, so they count as in time, and they were due: {some_of(names, 8)}. "
                "If one came late, write when into its timestamp.txt in submitted/, such as 2026-11-20 18:00 UTC, and grade again"
            )

    def _again(self, marks: Mapping[Key, Mark]) -> Iterator[tuple[Key, Stood, Mark]]:
        """Each submission that had a mark before and has one now, with both."""
        for key, before in self._stood.items():
            if before is not None and key in marks and not marks[key].problem:
                yield key, before, marks[key]

    def _is_marked_otherwise(self, key: Key, before: Stood, now: Mark) -> bool:
        """Whether this run marked it, and its marks are others even without the penalties."""
        return key.name in self.state.stood and before.score + before.penalty != now.score + now.penalty

    def _is_other_work(self, key: Key, before: Stood) -> bool:
        """Whether something was handed in since what counted before."""
        return before.digest not in ("", self._verdicts[key].handed_in)

    def _why_others(self, before: Stood, now: Mark) -> str:
        """Why the penalty is another one, as far as that is known: sentences."""
        # Where an LMS says only that it was late, the time follows the due date.
        if before.came != str(now.late.handed_in) and now.key not in self.writer.late:
            return "timestamp.txt tells another time than before"
        or_else = f", or a mark, or the penalty in nbgrader_config.py ({_PENALTY})" if now.late.seconds > 0 else ""
        return (
            f"A due date or an extension has moved{or_else}: {course_command('roster', self.root)} shows the dates. Where "
            "nbgrader or formgrader moves a due date, extensions move with it"
        )

    def _mark_all(
        self, jobs: Sequence[HandIn], blueprints: Mapping[str, Blueprint], made: PoolMaker, force: bool
    ) -> dict[str, str]:
        """Lesson -> why its reference answers lose marks; nothing of these is marked. Raises GradingError if that is all."""
        self.state.begin()
        try:
            with made(blueprints, self.state.seed, self.limits) as pool:
                failed = self.references.shortfalls(list(blueprints), pool, self.watch)
                unfit = {} if self.anyway else failed
                if unfit.keys() >= blueprints.keys():
                    self.references.refuse(unfit, course_command("grade --anyway", self.root))
                self._mark([one for one in jobs if one.key.lesson not in unfit], pool, force)
        finally:
            # A run that comes to here was not killed, by nothing that was handed in.
            self._in_progress.end()
        return failed

    def _plan(self, intake: Intake, force: bool) -> list[HandIn]:
        """What has to be marked. What need not is noted, and written down where the gradebook does not have it all."""
        held = marks_in(self.writer, *{one.key.lesson for one in intake.submissions})
        jobs, behind = [], list[tuple[HandIn, Verdict]]()
        for one in intake.submissions:
            key = one.key
            if one.problem:
                self._refuse(key, one.problem, "not read")
                continue
            kept = self._kept(key)
            have = held.get(key)
            if lacks(have, kept):
                self._lacked.append(key.name)
            self._stood[key] = _stood(have, kept)
            digest = handed_in_digest(one, self.state.key, self.limits.for_lesson(key.lesson))
            lesson = self.lessons[key.lesson]
            job = to_be_marked(replace(one, digest=digest), kept, lesson.source, force)
            if job is not None:
                jobs.append(job)
                continue
            assert kept is not None
            is_behind = kept.shown != lesson.registered
            is_behind_lms = kept.late != (key in self.writer.late)
            lacks_some = have is None or lacks(have, kept) or not self.writer.is_stamped(have, *key, one.path)
            if is_behind or is_behind_lms or lacks_some:
                # Points or texts are others, an LMS calls it late since, or the run that marked it was cut off before the
                # gradebook had it all.
                self._recounted[key.lesson] += is_behind
                behind.append((one, kept))
            else:
                self._verdicts[key] = kept.in_short()
        recounted = [one for one, kept in behind if kept.shown != self.lessons[one.key.lesson].registered]
        self.state.plan({one.key.name: self._stood[one.key] for one in (*jobs, *recounted)})
        self.state.save()
        for one, kept in behind:
            verdict = as_it_counts_now(self.lessons[one.key.lesson].blueprint, kept)
            self._write_down(verdict, one.path, answer_digests(verdict))
        self._stood |= {Key.of(name): one for name, one in self.state.stood.items()}
        return jobs

    def _kept(self, key: Key) -> Verdict | None:
        """The verdict of an earlier run; None if it, or the graded notebook, is gone: then the submission is graded."""
        there = places(self.root).notebook("autograded", *key).is_file()
        return journalled_verdict(self.root, *key) if there else None

    def _mark(self, jobs: Sequence[HandIn], pool: Pool, force: bool) -> None:
        """Mark these. What was being marked when an earlier run was killed comes last, and alone."""
        suspects = [one for one in jobs if self._in_progress.is_noted(one.key, one.digest)]
        others = [one for one in jobs if one not in suspects]
        for job, verdict in marked(pool, others, self._read, self.state.seed):
            self._take(job, verdict)
        for job in suspects:
            self._take(job, self._tried_alone(job, pool, force))

    def _tried_alone(self, job: HandIn, pool: Pool, force: bool) -> Verdict:
        """Mark one in a process of its own. If it ends that, it is left alone until it is handed in anew, or ``force`` asks."""
        key = job.key
        why = "it ended the process that marked it, so it was set aside"
        if force or not self._in_progress.is_set_aside(key, job.digest):
            found = verdict_or_error(lambda: pool.alone(self._read(job)))
            if isinstance(found, Verdict):
                return found
            if isinstance(found, (Damaged, OSError)):
                return Verdict(*key, self.state.seed, problem=str(found))
            self._in_progress.note(key, job.digest, set_aside=True)
            why = "it was being marked when a run was killed; tried again alone, it ended that process, too, so it was set aside"
        again = course_command(shlex.join(["grade", "--force", "--only", key.name]))
        why += f". Look at what was handed in; to try it once more: {again}"
        return Verdict(*key, self.state.seed, problem=why)

    def _read(self, one: HandIn) -> HandIn:
        """Read a submission, as :data:`nbproof.run.pool.Reader`, and note it before it is marked."""
        self.watch.started(one.key.name)
        self._in_progress.note(one.key, one.digest)
        hand_in = one.read(self.limits.for_lesson(one.key.lesson))
        # Folders that are synchronised change while a run goes on.
        self._marked[one.key] = hand_in.digest_with(self.state.key)
        return hand_in

    def _take(self, job: HandIn, verdict: Verdict) -> None:
        """Journal a verdict, and write it to the gradebook."""
        key = job.key
        verdict = replace(verdict, handed_in=self._marked.get(key, job.digest))
        if verdict.problem:
            self._verdicts[key] = verdict
        else:
            earlier = journalled_verdict(self.root, *key)
            self._fresh.add(key)
            if earlier is not None:
                replaces = earlier if earlier.handed_in not in ("", verdict.handed_in) else None
                self._write_down(verdict, job.path, answer_digests(earlier), replaces=replaces)
            else:
                before = answers_before(self.root, verdict)
                self._write_down(verdict, job.path, before.get("answers", {}), before.get("waits"))
        self._in_progress.done(key)
        self.watch.marked(key.name, verdict)

    def _write_down(
        self,
        verdict: Verdict,
        path: Path,
        earlier: Mapping[str, str],
        waited: Collection[str] | None = None,
        replaces: Verdict | None = None,
    ) -> None:
        """Keep the answers that it ``replaces``. Then write the graded notebook and the verdict, then the gradebook, as
        :meth:`Writer.write` says.

        Raises what disk or gradebook say if that is not about this submission alone.
        """
        key, lesson = Key(verdict.learner, verdict.lesson), self.lessons[verdict.lesson]
        verdict = replace(verdict, source=lesson.source, shown=lesson.registered, late=key in self.writer.late)
        try:
            if replaces is not None:
                stood = self._stood.get(key)
                came = stood.came if stood is not None and stood.came != str(None) else ""
                keep_earlier(self.root, replaces, lesson.blueprint, came)
            # Plain json, on one line: nbformat's writer copies and indents, thirty times slower.
            text = json.dumps(graded_notebook(lesson.blueprint, verdict), ensure_ascii=False)
            write_verdict(self.root, verdict, text.encode(errors="replace"))
            beside = copy_receipts(self.root, *key, "autograded", lesson.config)
        except OSError as error:
            if not is_one_files(error):
                raise
            return self._refuse(key, f"graded, but {error.filename} cannot be written: {error.strerror}")
        for name, is_ours in beside.items():
            if is_ours:
                told = f"{key.assignment}/{name}: the lesson's own counts, and not what these handed in"
                self._beside[told].append(printable(key.learner))
            else:
                told = "not put into autograded/, as a browser may run it"
                self._beside[told].append(printable(f"{key.learner}/{key.assignment}/{name}"))
        self._verdicts[key] = verdict.in_short()
        try:
            now, is_another = answer_digests(verdict), replaces is not None
            waits = self.writer.write(verdict, lesson.blueprint, path, now, earlier, waited, is_another)
            note_answers(self.root, verdict, waits)
        except Exception as error:
            if not is_one_submissions(error):
                raise
            why = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
            self._refuse(key, f"graded, but the gradebook does not take it: {why}")

    def _refuse(self, key: Key, why: str, handed_in: str = "") -> None:
        self._verdicts[key] = Verdict(*key, problem=why, handed_in=handed_in or self._marked.get(key, ""))

    def _marks(self) -> dict[Key, Mark]:
        """The marks of all submissions that have a verdict."""
        held = marks_in(self.writer, *{lesson for _, lesson in self._verdicts})
        for key, verdict in self._verdicts.items():
            if not verdict.problem and lacks(held.get(key), verdict):
                self._refuse(key, "graded, but the gradebook does not hold it yet")
        return join_marks(self._verdicts, held, self.writer.late, self._fresh, lessons_in(self.writer))


def _stood(have: Mark | None, kept: Verdict | None) -> Stood | None:
    """What counts before a run. ``kept``: the last run's verdict."""
    if have is None:
        return None
    digest = kept.handed_in if kept else ""
    return Stood(have.score, have.penalty, str(have.late.handed_in), digest)


def _step(mark: Mark, before: float, now: float) -> str:
    return f"{printable(mark.key.name)}: {before:g} → {now:g}"


_FEWER = {
    True: "fewer marks with a new hand-in, and by today's dates and penalty none in collected/graded/ alone would have more",
    False: "fewer marks for the same work, which was graded again, or has other points",
}


_PENALTY = "penalty_method, plugin_class"
"""What sets the penalty there."""


def _taken_off(before: Stood | Mark, now: Mark) -> str:
    return f"{_step(now, before.penalty, now.penalty)} (marks {before.score:g} → {now.score:g})"


def follow_marks(root: Path, late: frozenset[Key]) -> tuple[tuple[CourseError, ...], tuple[str, ...]]:
    """Have late penalties follow due dates that moved, and marks that people gave, since a run. Returns what is in the way, and
    lines: if penalties are others now, which the next run finds as they are, and on earlier hand-ins that would have more marks
    now, until a run has told that.

    A plug-in that fails for one assignment is named by the next run. ``late``: as in :func:`grade_class`.
    """
    try:
        config = course_config(root)
        course = NbGraderAPI(config=config).coursedir
        penalties = Penalties(root, config, course.db_url)
        lessons = gradable_lessons(root, [])
        names = {assignment_of(one) for one in lessons}
        with only_run(root), trouble_with_gradebook(course.db_url):
            state = RunState(root)
            before = held = read_marks(root, names)
            if held:
                with Writer(course.db_url, course.course_id, late) as writer:
                    if is_another(writer, state.gradebook):  # who reads marks says so
                        return (), ()
                    writer.follow_due()
                    state.number(writer.number)
                held = read_marks(root, names)
            penalties.assign(held, lessons)
            after = read_marks(root, names)
            better = untold(better_ones(root, read_marks(root, lessons).values(), penalties), state.told)
            fallen = [one.line(root) for one in better]
    except CourseError as error:
        return (error,), ()
    except OSError as error:
        if told := trouble_with_disk(error, root):
            return (told,), ()
        raise
    return (), (*_moved(root, before, after), *fallen)


def _moved(root: Path, before: Mapping[Key, Mark], after: Mapping[Key, Mark]) -> Iterator[str]:
    """A line, if late penalties are others now."""
    both = ((before[key], now) for key, now in after.items() if key in before)
    moved = [_taken_off(*one) for one in both if one[0].penalty != one[1].penalty]
    if moved:
        shows = f"{course_command('roster', root)} shows due dates and extensions, nbgrader_config.py the penalty ({_PENALTY})"
        yield f"late penalties, which are points taken off, are others now: {', '.join(moved)}; {shows}"


def _renamed(lesson: str, ids: Mapping[str, str]) -> str:
    """A line on answers that stand under another question than learners wrote them for. ``ids``: those of before -> of today."""
    moved = ", ".join(f"{old} is {new} now" for old, new in ids.items())
    return (
        f"{lesson}: questions have other ids than in a version that learners have ({moved}). Answers go by id, so those of that "
        f"version count for another question: give each question its id of before, then: {course_command('grade')}"
    )


def register_lessons(states: Mapping[str, LessonState], state: RunState, writer: Writer) -> tuple[str, ...]:
    """Have the gradebook know these lessons as they are now; what it has followed, a line each.

    Raises CourseError for those that cannot be graded.
    """
    refused, changed = _unregistered(states, state, writer)
    for name, why in refused.items():
        raise CourseError(f"{name}: {why.fact}", why.place, why.next_command)
    return changed


def _unregistered(
    states: Mapping[str, LessonState], state: RunState, writer: Writer
) -> tuple[dict[str, CourseError], tuple[str, ...]]:
    """Lesson -> why it cannot be graded, for all lessons of an assignment that nbgrader does not take; and lines on changes."""
    changed = [
        name
        for name, one in states.items()
        if state.registered.get(name) != one.registered
        or not has_notebooks(writer, assignment_of(name), one.path.parent)
    ]
    failed: dict[str, CourseError] = {}
    notes: list[str] = []
    for assignment in dict.fromkeys(map(assignment_of, changed)):
        names = [name for name in states if assignment_of(name) == assignment]
        try:
            for name in names:
                if ids := states[name].renamed:
                    notes.append(_renamed(name, ids))
            notes.append(
                writer.register(
                    states[names[0]].course, states[names[0]].config, assignment, states[names[0]].path.parent
                )
            )
        except GradingError:
            raise
        except CourseError as error:
            failed |= dict.fromkeys(names, error)
            continue
        state.registered |= {name: states[name].registered for name in names}
        state.save()
    return failed, tuple(filter(None, notes))
