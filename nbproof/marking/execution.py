"""Run a submission's cells in workers, from top to bottom, and ask each check once, even if workers are lost on the way.

All of it is done twice. First a process runs the cells, and is asked the checks that learners have: its outputs are taken,
and what it was told every learner knows. Then, when that process has ended, a fresh one runs the cells once more and is
asked what is hidden, each check at its test cell: so variables are as they are there, and nobody takes its outputs.

What workers bring is judged when the last of them has ended: no request, no pause and no restart depends on whether a
check passed. A step that is lost is not tried again; the next fork takes the steps before it over and goes on behind it.
So nobody is asked twice. What a worker answers is taken into the forms that marking works with: learner code may have
made up every word of it.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from random import Random
from typing import Any

from nbproof.cells import CellKind
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.judge_client import Brought, Judge
from nbproof.marking.plain import hidden_run, plain_run, shown_of
from nbproof.marking.results import CellRun
from nbproof.marking.verdicts import ExerciseRun, says_out_of_memory
from nbproof.recover.answers import Answers
from nbproof.sandbox import wire
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.outputs import Outputs
from nbproof.sandbox.worker_handle import Worker
from nbproof.syntax import parsed
from nbproof.text import head_of, printable, readable
from nbproof.values.results import ProbeError

__all__ = ["Execution", "limits_of"]

_Step = tuple[CellKind, str]
"""(kind, name): setup, answer and test with their grade_id; show and own with a name made from their place."""

_MOST_KEPT = 128 << 20
"""Bytes of evidence that are kept of one submission until it is judged. Answers to all exercises of a lesson bring one."""
_GRACE = 2.0
"""Seconds that a cell which was interrupted has to end."""
_MOMENT = 1.0
"""A cell was interrupted in a statement: the seconds that this statement has when the cell runs again."""
_PATIENCE = 4
"""How much longer the instructor's setup may take than other cells before it is interrupted: what it imports takes its time on
a busy machine, and without it every answer is wrong."""
_LONGEST = 100_000
"""The grader itself looks into an answer with at most this many characters."""
_ROOM = 100_000
"""Bytes that a plain test cell may print. What other cells printed before does not count."""
_TROUBLE = [str, str, int, str, str, str, str]
"""The types of what :class:`ProbeError` holds."""
_NOT_DEFINED = re.compile(r"NameError: name '(\w+)' is not defined")

_MARKED = (CellKind.ANSWER, CellKind.TEST)


def _brought_by(check: str, seed: int, answer: dict[str, Any], payload: bytes, asked: bool) -> Brought:
    """What a probe brought: evidence, still packed, or trouble; also a canary's, if it was ``asked``.

    Raises WireError for trouble of another form.
    """
    trouble, printed = answer.get("trouble"), readable(answer["printed"][:5_000])
    if trouble is None:
        beside = payload[answer["size"] :] if asked else b""
        return Brought(check, seed, payload[: answer["size"]], printed=printed, canary=beside)
    if not (isinstance(trouble, list) and [type(one) for one in trouble] == _TROUBLE):
        raise wire.WireError("trouble of no known form")
    line = min(max(trouble.pop(2), 0), 9_999)  # of a few digits, also if it is made up
    kind, message, *told = (printable(text[:2000]) for text in trouble)
    return Brought(check, seed, b"", ProbeError(kind, message, line, *told), printed)


def _error_told(error: object) -> str:
    """The error that ended a cell, on one line; empty if there is none, or it has another form."""
    if not (isinstance(error, list) and len(error) == 2):
        return ""
    kind, message = (head_of(part, 500) for part in error)
    if message.strip():
        kind = f"{kind}: {message.splitlines()[0]}"
    return printable(kind)


def _steps(blueprint: Blueprint, rebuilt: Answers, all_of_it: bool) -> dict[_Step, str]:
    """What runs, in the notebook's order, with its text: setup cells, answers, tests, and all cells of the learner's own.

    The instructor's cells that only show something do not run. With ``all_of_it`` those that the learner has not changed do.
    """
    own: dict[tuple[int, bool], dict[_Step, str]] = {}
    changed = {one.place for one in rebuilt.own}
    for number, one in enumerate(rebuilt.own):
        if one.code and one.source.strip():
            # Of a setup cell that was changed the instructor's own text runs behind the learner's, and counts.
            side = own.setdefault((one.after, one.place is None), {})
            side[CellKind.OWN, f"own {number}"] = one.source
    texts = {CellKind.SETUP: blueprint.setup, CellKind.ANSWER: rebuilt.answers}
    found = dict(own.get((-1, True), {}))
    for place, cell in enumerate(blueprint.handout.cells):
        found |= own.get((place, False), {})
        if cell.kind is not CellKind.SHOW and cell.is_code:
            found[cell.kind, cell.grade_id] = texts.get(cell.kind, {}).get(cell.grade_id, "")
        elif cell.kind is CellKind.SHOW and all_of_it and place not in changed:
            found[cell.kind, f"shown {place}"] = cell.source
        found |= own.get((place, True), {})
    last = max(
        (at for at, (kind, name) in enumerate(found) if kind in _MARKED or name in _read_by_people(rebuilt)), default=-1
    )
    return dict(list(found.items())[: last + 1])


def _read_by_people(rebuilt: Answers) -> set[str]:
    """The steps of the learner's own cells that show outputs to a person who marks."""
    return {f"own {number}" for number, one in enumerate(rebuilt.own) if one.code and one.questions}


def _split_at(source: str, line: object) -> tuple[str, str]:
    """A cell's text up to the statement on this line, and from there on: empty where no statement is known to be there."""
    if type(line) is not int or len(source) > _LONGEST:
        return source, ""
    try:
        body = parsed(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, ""
    for statement in body:
        if statement.lineno <= line <= (statement.end_lineno or 0):
            lines = source.split("\n")
            at = statement.lineno - 1
            return "\n".join(lines[:at]), "\n".join(lines[at:])
    return source, ""


def limits_of(engine: Engine, blueprint: Blueprint) -> GradingLimits:
    """What holds for a hand-in of a lesson.

    If the course gives each cell its seconds, the whole notebook gets more in proportion, as nbgrader does.
    """
    limits = engine.limits.for_lesson(blueprint.slug)
    # The instructor's data is there before a learner's code has written anything.
    limits.disk_mb += sum(map(len, blueprint.beside.values())) >> 20
    seconds = blueprint.cell_seconds
    if seconds:
        longer = seconds / limits.exercise_seconds if math.isfinite(seconds) else 1.0
        limits.submission_seconds *= max(1.0, longer)
        limits.exercise_seconds = seconds
    return limits


class Execution:
    """One run of a submission's cells, and what it has brought."""

    def __init__(
        self,
        engine: Engine,
        blueprint: Blueprint,
        judge: Judge,
        rebuilt: Answers,
        files: dict[str, bytes],
        all_of_it: bool,
    ) -> None:
        self.engine, self.blueprint, self.judge, self.rebuilt, self.files = engine, blueprint, judge, rebuilt, files
        self.limits = limits_of(engine, blueprint)
        self._interrupts = blueprint.cell_seconds is not None
        """Whether a cell that runs too long is interrupted, and the next one runs."""
        self.texts = _steps(blueprint, rebuilt, all_of_it)
        self.order = list(self.texts)
        tested = (test.exercise for test in blueprint.tests.values())
        self.exercises = {name: ExerciseRun(name) for name in (*blueprint.stubs, *tested)}
        self.runs: dict[str, CellRun] = {}
        """What running each TODO cell has left behind, and each cell that a person reads."""
        self._read = _read_by_people(rebuilt)
        self.peak = self.seconds = 0.0
        self.misses_something = False
        """Whether nothing hidden has been asked, because everything is to run: a name was not there."""
        self._all_of_it = all_of_it
        self._missing: set[str] = set()
        """Names that were not there."""
        self._outputs = Outputs(self.limits.output_bytes + 1_000)
        self._secrets = tuple(chain.from_iterable(test.secrets for test in blueprint.plain.values()))
        self._harmful: set[str] = set()
        """Steps that took a process with them while nobody was asked anything: later forks do without."""
        self._stopped_at: dict[str, object] = {}
        """The line where a TODO cell was interrupted, as its process says."""
        self._showing = True
        """Whether no process has been sent a line that learners do not have."""
        self._kept = 0
        """Bytes that were brought and wait for the judge."""
        self._until = 0.0
        self._own_seconds = 0.0
        """What is left for all cells that nobody marks."""
        self._spent: dict[str, float] = {}
        """Seconds of each exercise."""

    def _misses_something(self) -> bool:
        """Whether a name that was not there stands in a cell that has not run: one that shows something.

        Known before anything hidden has been asked, and before anything is judged: a learner can cause another run, but learns
        nothing by it.
        """
        if self._all_of_it or not self._missing or self.seconds > self.limits.submission_seconds / 3:
            return False
        shown = "\n".join(cell.source for cell in self.blueprint.handout.cells if cell.kind is CellKind.SHOW)
        return "import *" in shown or bool(self._missing & set(re.findall(r"\w+", shown)))

    def run(self, fresh: Worker | None = None) -> None:
        """Run everything. If the learner's code takes a worker with it, the loss is noted.

        ``fresh``: a worker with these files and limits, in which no code has run. It is the first, and is ended.
        """
        self._run_all(fresh)
        for name, exercise in self.exercises.items():
            exercise.seconds += self._spent[name]
        self.misses_something = self._misses_something()
        wanted = self._waiting()
        if wanted and not self.misses_something:
            self._showing = False
            self.order = self.order[: 1 + max(at for at, (_, name) in enumerate(self.order) if name in wanted)]
            self._run_all()

    def _run_all(self, fresh: Worker | None = None) -> None:
        self.engine.wait_until_ready()
        start, seconds = time.monotonic(), self.limits.submission_seconds
        self._until = start + seconds
        self._own_seconds = seconds if self._interrupts else seconds / 3
        self._spent = dict.fromkeys(self.exercises, 0.0)
        position = 0
        while position < len(self.order):
            with ExitStack() as forked:
                worker = fresh or forked.enter_context(self.engine.worker(self.files, self.limits))
                fresh = None
                try:
                    if self._catch_up(worker, position):
                        position = self._go_on(worker, position)
                finally:
                    self.peak = max(self.peak, worker.peak_mb)
                    worker.end()
            if time.monotonic() > self._until:
                self._give_up(position)
                break
        self.seconds += time.monotonic() - start

    def _catch_up(self, worker: Worker, position: int) -> bool:
        """Bring a fresh fork to ``position``: all cells before, without those that did harm.

        False if one of those ends the process this time: another fork goes without it.
        """
        for place, (kind, name) in enumerate(self.order[:position]):
            self._allow(worker, self.limits.exercise_seconds)
            try:
                self._replay(worker, kind, name)
            except WorkerLost:
                # That it can be run once does not mean that it can be run again: no exercise loses anything by that.
                suspects = self._suspects(place) if kind is CellKind.SETUP else set()
                self._harmful |= suspects or {name}
                return False
        return True

    def _replay(self, worker: Worker, kind: CellKind, name: str) -> None:
        """Run a step that is not asked for, if it does no harm: cells below may need what it defines."""
        exercise = self._exercise_of(kind, name)
        if name in self._harmful or (exercise is not None and not exercise.is_harmless()):
            return
        if exercise is None:
            self._run_unmarked(worker, kind, name)
        elif kind is CellKind.ANSWER:
            answer = self._answer_again(worker, name)
            exercise.out_of_memory = says_out_of_memory(_error_told(answer.get("error")))
        elif name in self.blueprint.plain:
            self._execute(worker, self.blueprint.tests[name].shown)

    def _answer_again(self, worker: Worker, name: str) -> dict[str, Any]:
        """Run a TODO cell once more. If it was interrupted, the statement that did not end gets a moment only."""
        before, rest = _split_at(self.rebuilt.answers[name], self._stopped_at.get(name))
        answer = self._execute(worker, before)
        if not rest:
            return answer
        worker.interrupt_at = time.monotonic() + _MOMENT
        return self._execute(worker, rest)

    def _suspects(self, place: int) -> set[str]:
        """Which of the learner's steps may be why a setup cell was lost: all that nobody marks, else the last answer."""
        before = [(kind, name) for kind, name in self.order[:place] if name not in self._harmful]
        own = {name for kind, name in before if kind in (CellKind.OWN, CellKind.SHOW)}
        answers = [name for kind, name in before if kind is CellKind.ANSWER and self.exercises[name].is_harmless()]
        return own or set(answers[-1:])

    def _go_on(self, worker: Worker, position: int) -> int:
        """Run steps from ``position`` until all are done, or one of them takes the worker with it. Returns where to go on."""
        full = False
        while position < len(self.order):
            kind, name = self.order[position]
            if full and kind is CellKind.ANSWER:
                # What fills the memory stays in it: the next exercise gets a fork of its own.
                return position
            exercise = self._exercise_of(kind, name)
            try:
                with self._timed(worker, exercise):
                    self._step(worker, kind, name)
            except WorkerLost as loss:
                return self._after_loss(loss, position)
            full = full or (exercise is not None and exercise.out_of_memory)
            position += 1
        return position

    @contextmanager
    def _timed(self, worker: Worker, exercise: ExerciseRun | None) -> Iterator[None]:
        """Count the time of this block against the exercise's time."""
        spent = self._spent[exercise.id] if exercise is not None else 0.0
        self._allow(worker, self.limits.exercise_seconds - spent)
        worker.interrupted = False
        start = time.monotonic()
        try:
            yield
        finally:
            if exercise is not None:
                self._spent[exercise.id] += time.monotonic() - start
                exercise.interrupted = exercise.interrupted or worker.interrupted

    def _step(self, worker: Worker, kind: CellKind, name: str) -> None:
        exercise = self._exercise_of(kind, name)
        if exercise is None or not (self._showing or name in self._waiting()):
            self._replay(worker, kind, name)
        elif not self._showing:
            self.ask_hidden(worker, name)
        elif kind is CellKind.ANSWER:
            self._answer(worker, exercise)
        else:
            self._test(worker, exercise, name)

    def _exercise_of(self, kind: CellKind, name: str) -> ExerciseRun | None:
        if kind not in _MARKED:
            return None
        exercise = name if kind is CellKind.ANSWER else self.blueprint.tests[name].exercise
        return self.exercises[exercise]

    def _after_loss(self, loss: WorkerLost, position: int) -> int:
        """Note which exercise loses by it. Returns the position where the next worker goes on."""
        kind, name = self.order[position]
        exercise = self._exercise_of(kind, name)
        if exercise is not None:
            exercise.loss = loss
            return self._skip_tests_of(position + 1, exercise.id)
        if kind is not CellKind.SETUP:
            self._harmful.add(name)
            return position + 1
        # The instructor's cell does no harm: what ran before it does. It is not asked again, it pays.
        suspects = self._suspects(position)
        for one in suspects & self.exercises.keys():
            self.exercises[one].loss = loss
        self._harmful |= suspects or {name}
        return position

    def _skip_tests_of(self, position: int, lost: str) -> int:
        """The next step that is not a test of the exercise that was lost."""
        while position < len(self.order):
            kind, name = self.order[position]
            if not (kind is CellKind.TEST and self.blueprint.tests[name].exercise == lost):
                break
            position += 1
        return position

    def _give_up(self, position: int) -> None:
        """The submission's time is over: every exercise that was not reached timed out."""
        waiting = self._waiting()
        for kind, name in self.order[position:]:
            exercise = self._exercise_of(kind, name)
            if exercise is None or exercise.loss is not None:
                continue
            if name in waiting or (self._showing and (kind is CellKind.ANSWER or self._is_asked(name))):
                exercise.loss = WorkerLost("timeout", "the submission's time was over")

    def _is_asked(self, test: str) -> bool:
        """Whether there is anything to be asked: not of what waits for a person, nor of a TODO cell as it was handed out,
        unless there are cells of the learner's own, which may hold its answer."""
        exercise = self.blueprint.tests[test].exercise
        if self.rebuilt.waits(self.blueprint.stubs, exercise):
            return False
        untouched = self.rebuilt.is_untouched(self.blueprint.stubs, exercise)
        has_own = any(kind is CellKind.OWN for kind, _ in self.texts)
        return test in self.blueprint.plain or has_own or not untouched

    def _waiting(self) -> list[str]:
        """The test cells that have hidden checks still to be asked, of exercises that have lost nothing so far."""
        tests = {name: self.blueprint.tests[name] for kind, name in self.order if kind is CellKind.TEST}
        return [
            name
            for name, test in tests.items()
            if test.hides and self._is_asked(name) and self.exercises[test.exercise].has_to_be_asked(name)
        ]

    # What a worker is asked.

    def _allow(self, worker: Worker, seconds: float) -> None:
        """Let the next request take so many seconds, and no longer than the submission may."""
        now = time.monotonic()
        worker.deadline = min(now + seconds, self._until)
        if self._interrupts:
            worker.interrupt_at = min(now + max(seconds, self.limits.exercise_seconds), self._until)
            worker.deadline = worker.interrupt_at + _GRACE

    def _execute(self, worker: Worker, source: str, number: int = 1, **more: int) -> dict[str, Any]:
        """Run a text as a notebook would."""
        request = {"op": "cell", "source": source, "count": number, "history": self._interrupts, **more}
        answer, _ = worker.request(request, {"outputs": list})
        if worker.interrupted:
            answer["error"] = ["CellTimeoutError", f"it was interrupted after {self.limits.exercise_seconds:g} s"]
        return answer

    def _answer(self, worker: Worker, exercise: ExerciseRun) -> None:
        """Run a TODO cell and take its outputs."""
        number = len(self.runs) + len(self.blueprint.setup) + 1
        answer = self._execute(worker, self.rebuilt.answers[exercise.id], number)
        run = CellRun(self._outputs.clean(answer["outputs"], number), _error_told(answer.get("error")))
        self.runs[exercise.id] = run = shown_of(run, self._secrets)
        exercise.error, exercise.out_of_memory = run.error, says_out_of_memory(run.error)
        self._note_missing(answer.get("missing"))
        if worker.interrupted:
            self._stopped_at[exercise.id] = answer.get("line")

    def _test(self, worker: Worker, exercise: ExerciseRun, name: str) -> None:
        """Ask the checks that learners have; of a plain test cell, run the lines that they have."""
        plain = self.blueprint.plain.get(name)
        if plain is not None:
            number = len(self.runs) + len(self.blueprint.setup) + 1
            answer = self._execute(worker, plain.shown, number, room=_ROOM)
            shown = () if plain.hides else self._outputs.clean(answer["outputs"], number)
            exercise.plain[name] = ran = plain_run(plain, answer, shown)
            exercise.out_of_memory = exercise.out_of_memory or says_out_of_memory(ran.sentence)
            self.runs[name] = shown_of(CellRun(ran.outputs), self._secrets)
            if worker.interrupted:
                # Its hidden lines stand behind those that did not end.
                exercise.asked_all.add(name)
        elif self._is_asked(name):
            test = self.blueprint.checks[name]
            self._probe(worker, exercise, name, test.shown_probe, test.shown_checks, "")
            for reply in exercise.replies.get(name, ()):
                if reply.trouble is not None and not reply.trouble.wanted:
                    # torch makes an error of its own of one in a callback, and quotes it.
                    missing = {reply.trouble.name, *_NOT_DEFINED.findall(reply.trouble.message)}
                    self._missing |= missing - {""}

    def _note_missing(self, name: object) -> None:
        if isinstance(name, str) and name:
            self._missing.add(name)

    def ask_hidden(self, worker: Worker, name: str) -> None:
        """Ask the hidden checks of a test cell; a plain one runs whole, and its score is what counts."""
        plain, start = self.blueprint.plain.get(name), time.monotonic()
        exercise = self.exercises[self.blueprint.tests[name].exercise]
        try:
            if plain is None:
                test = self.blueprint.checks[name]
                self._probe(worker, exercise, name, test.probe, test.hidden_checks, test.canary)
            else:
                answer = self._execute(worker, plain.source, room=_ROOM)
                exercise.plain[name] = hidden_run(exercise.plain.get(name), plain, answer)
        finally:
            # Of a few digits, as everything that hidden lines could be told by.
            exercise.seconds += round(time.monotonic() - start, 1)
        exercise.asked_all.add(name)

    def _probe(
        self, worker: Worker, exercise: ExerciseRun, name: str, probe: str, checks: Collection[str], canary: str
    ) -> None:
        """Ask all cases of these checks of a test cell, one after another, and keep what is brought.

        Behind one of them the ``canary``, a wrong answer, is asked the same. Which one follows from the seed, and from what no
        learner's process has seen before.
        """
        planned = [one for one in self.judge.plan(name) if one[0] in checks]
        watched = Random(f"{self.judge.seed} {self.blueprint.tests[name].source}").randrange(max(1, len(planned)))
        for number, (check, seed) in enumerate(planned):
            beside = canary if number == watched else ""
            request: dict[str, Any] = {"op": "probe", "test": name, "check": check, "seed": seed, "canary": beside}
            if number == 0:
                request["source"] = probe
            answer, payload = worker.request(request, {"printed": str, "size": int})
            try:
                brought = _brought_by(check, seed, answer, payload, bool(beside))
            except wire.WireError as error:
                raise WorkerLost("protocol", str(error)) from None
            exercise.replies.setdefault(name, []).append(brought)
            self._kept += brought.size
            if self._kept > _MOST_KEPT:
                raise WorkerLost("protocol", f"it brought more than {_MOST_KEPT >> 20} MB in all")
            if brought.trouble is not None and says_out_of_memory(brought.trouble.message):
                exercise.out_of_memory = True

    def _run_unmarked(self, worker: Worker, kind: CellKind, name: str) -> None:
        """Run a cell that nobody marks; all but the instructor's setup within the time that is left for all of them."""
        if kind is CellKind.SETUP:
            if self._interrupts:
                self._allow(worker, _PATIENCE * self.limits.exercise_seconds)
            self._execute(worker, self.texts[kind, name])
            return
        if self._own_seconds <= 0:
            return
        start = time.monotonic()
        self._allow(worker, min(self.limits.exercise_seconds, self._own_seconds))
        try:
            answer = self._execute(worker, self.texts[kind, name])
        finally:
            self._own_seconds -= time.monotonic() - start
        error = _error_told(answer.get("error"))
        self._note_missing(answer.get("missing"))
        if name in self._read and self._showing and name not in self.runs:
            number = len(self.runs) + len(self.blueprint.setup) + 1
            run = CellRun(self._outputs.clean(answer["outputs"], number), error)
            self.runs[name] = shown_of(run, self._secrets)
        if says_out_of_memory(error):
            self._harmful.add(name)
