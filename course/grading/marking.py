"""Mark one submission: drive a worker through its cells, judge what it brings, name how each exercise ended."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course.grading import wire
from course.grading.cell_names import CellNames
from course.grading.engine import Engine, Worker
from course.grading.exceptions import WorkerLost
from course.grading.judge import Judge
from course.grading.outputs import Outputs
from course.grading.own_cells import OwnCell
from course.grading.plain import plain_run, shown_of
from course.grading.program import Program, Step, needed, own_name, program
from course.grading.rebuild import Blueprint, Rebuilt
from course.grading.results import CellRun, SubmissionVerdict
from course.grading.verdicts import Progress, Verdicts, says_out_of_memory
from course.grading.worker_answers import brought_by, error_told, names_told
from course.grading.written import written_in

__all__ = ["mark"]

_ROOM = 100_000
"""Bytes that a plain test cell may print, whatever was printed before."""
_NOT_DEFINED = re.compile(r"['`](\w+)['`] is not defined")


def mark(
    engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, learner: str, files: dict[str, bytes],
    only: Collection[str] = (), skip: Collection[str] = (),
) -> SubmissionVerdict:  # fmt: skip
    """The verdict on a rebuilt submission. Whatever the learner's code does ends in a status, not in an exception.

    ``only``: exercises to be tested, all where it is empty; the verdict holds no others, but their cells run, because
    later ones may need them. ``skip``: exercises whose cells do not run either, because they are known to do harm.
    """
    # As with stock nbgrader the instructor's files take the place of a learner's of the same name.
    files = {**blueprint.files, **{name: data for name, data in files.items() if name not in blueprint.files}}
    marking = _Marking(engine, blueprint, judge, rebuilt, files, only, skip)
    verdict = marking.run(learner)
    if marking.may_miss_something() and verdict.seconds < engine.limits.submission_seconds / 3:
        # Before anything is marked wrong for a name, or a file, that is not there: in a notebook all would have run.
        # Its verdict stands, whichever is better: who could have the better of two tries could hand in two answers.
        verdict = _Marking(engine, blueprint, judge, rebuilt, files, only, skip, all_of_it=True).run(learner)
    return verdict


class _Marking:
    def __init__(
        self, engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, files: dict[str, bytes],
        only: Collection[str], skip: Collection[str], all_of_it: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.blueprint, self.judge, self.rebuilt, self.files = engine, blueprint, judge, rebuilt, files
        self.limits = engine.limits
        self.verdicts = Verdicts(blueprint, judge, rebuilt, engine.limits)
        self.outputs = Outputs(self.limits.output_bytes + 1_000)
        self.exercises = {name: Progress(name) for name in blueprint.exercises}
        self.only = set(only) or set(blueprint.exercises)
        # What a plain test rests on, nobody can see.
        self.skip, self.all_of_it = skip, all_of_it or bool(blueprint.plain)
        self.secrets = tuple(line for test in blueprint.plain.values() for line in test.secrets)
        self.program: Program | None = None
        self.order: list[Step] = []
        self.runs: dict[str, CellRun] = {}
        self.peak = 0.0
        self.replay = True
        self.harmful: set[str] = set()
        """Steps, of those that nobody marks, that took the process with them."""
        self.own_seconds = self.limits.submission_seconds / 3
        """What is left for all cells that nobody marks."""
        self.missing: set[str] = set()
        """Names that were not there."""
        self.raised = False
        """Whether an answer, or a check of it, ended with an error."""
        self.own: Sequence[OwnCell] = ()

    def run(self, learner: str) -> SubmissionVerdict:
        self.engine.wait_until_ready()
        self.judge.sit(self.engine.judge)
        start = time.monotonic()
        self.until = start + self.limits.submission_seconds
        position = 0
        while self.program is None or position < len(self.order):
            try:
                with self.engine.worker(self.files) as worker:
                    try:
                        if self.program is None:
                            self._plan(worker)
                        if self._catch_up(worker, position):
                            position = self._go_on(worker, position)
                    finally:
                        self.peak = max(self.peak, worker.peak_mb)
            except WorkerLost:
                position = self._after_a_loss(position)
            if time.monotonic() > self.until:
                self._give_up(position)
                break
        tested = {test.exercise for test in self.blueprint.tests.values()} & self.only
        verdicts = tuple(self.verdicts.of(progress) for name, progress in self.exercises.items() if name in tested)
        return SubmissionVerdict(
            learner, self.blueprint.lesson, self.judge.seed, verdicts, dict(self.rebuilt.answers), self.runs,
            dict(self.rebuilt.recovered), time.monotonic() - start, self.peak,
            written=written_in(self.blueprint.written, self.rebuilt.answers), lost=dict(self.rebuilt.lost),
            damage=self.rebuilt.damage, newer=self.rebuilt.newer, own=self._ran(),
        )  # fmt: skip

    def _ran(self) -> tuple[OwnCell, ...]:
        """The learner's own cells that ran; of a setup cell, what was added to it."""
        ran = {name for kind, name in self.order if kind == "own"}
        return tuple(
            one if one.place is None or self.blueprint.shows(one.place) else replace(one, place=None)
            for number, one in enumerate(self.own)
            if own_name(number) in ran
        )

    def may_miss_something(self) -> bool:
        """Whether an error may come from a cell that did not run: any of the learner's own, or one that binds a name.

        A wrong value is no reason: who could have another try at it could hand in two answers.
        """
        left_out = self.program.left_out if self.program else frozenset()
        ran = {name for kind, name in self.order if kind == "own"}
        own = any(one.source.strip() and own_name(number) not in ran for number, one in enumerate(self.own))
        return (self.raised and own) or bool(self.missing & left_out) or ("*" in left_out and bool(self.missing))

    def _plan(self, worker: Worker) -> None:
        """Choose what runs. The texts are taken apart where they would run, before any of them has."""
        rebuilt, stubs = self.rebuilt, self.blueprint.stubs
        worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
        sources = {name: rebuilt.answers[name] for name in stubs}
        sources |= {own_name(number): one.source for number, one in enumerate(rebuilt.own)}
        edited = {
            number: (one.source, self.blueprint.handout.cells[one.place].source)
            for number, one in enumerate(rebuilt.own)
            if one.place is not None and not self.blueprint.shows(one.place)
        }
        request = {"op": "names", "cells": list(sources.values()), "edited": list(edited.values())}
        answer, _ = worker.request(request, {"names": list, "added": list})
        names, added = names_told(answer, len(sources), len(edited))
        # Of a setup cell that was edited only what was added runs: the rest of it is the instructor's.
        texts = dict(zip(edited, added, strict=True))
        own = [replace(one, source=texts.get(number, one.source)) for number, one in enumerate(rebuilt.own)]
        self._follow(own, dict(zip(sources, names, strict=True)))

    def _follow(self, own: Sequence[OwnCell], names: Mapping[str, CellNames]) -> None:
        self.own = own
        self.program = program(self.blueprint, self.rebuilt.answers, own, names, self.all_of_it)
        self.order = needed(self.program.steps, self.blueprint, self.only, self.skip)

    def _after_a_loss(self, position: int) -> int:
        """Where to go on after a worker was lost in what is nobody's answer."""
        if self.program is None:
            # Whatever cannot even be taken apart runs as it stands.
            self.all_of_it = True
            self._follow([one for one in self.rebuilt.own if one.place is None], {})
            return position
        before = {name for kind, name in self.order if kind in ("own", "show")}
        if before - self.harmful:
            # A setup cell was lost, for which something of the learner's that ran before it may be the cause.
            self.harmful |= before
            return position
        self.replay = False
        return max(position, next((i for i, (kind, _) in enumerate(self.order) if kind == "answer"), 0))

    def _catch_up(self, worker: Worker, position: int) -> bool:
        """Bring a fresh fork to ``position``: all cells before, without answers and own cells that did harm.

        False if one of those ends the process this time: another fork goes without it.
        """
        for kind, name in self.order[:position]:
            worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
            if kind == "setup":
                self._execute(worker, self.blueprint.setup[name])
                continue
            try:
                if kind in ("own", "show"):
                    self._aside(worker, name)
                elif kind == "answer" and self.replay and self.exercises[name].is_harmless():
                    self._execute(worker, self.rebuilt.answers[name])
                elif kind == "test" and self.replay and self._is_harmless_and_plain(name):
                    # Cells below may need what it has defined.
                    self._execute(worker, self.blueprint.tests[name].source)
            except WorkerLost:
                if kind in ("own", "show"):
                    self.harmful.add(name)
                self.replay = self.replay and kind in ("own", "show")
                return False
        return True

    def _is_harmless_and_plain(self, test: str) -> bool:
        exercise = self.exercises[self.blueprint.tests[test].exercise]
        return test in self.blueprint.plain and exercise.is_harmless()

    def _aside(self, worker: Worker, name: str) -> None:
        """Run a cell that nobody marks, within the time that is left for all of them."""
        if name in self.harmful or self.own_seconds <= 0:
            return
        assert self.program is not None
        start = time.monotonic()
        worker.deadline = min(start + min(self.limits.exercise_seconds, self.own_seconds), self.until)
        try:
            answer = self._execute(worker, self.program.texts[name])
        finally:
            self.own_seconds -= time.monotonic() - start
        if says_out_of_memory(error_told(answer.get("error"))):
            self.harmful.add(name)

    def _go_on(self, worker: Worker, position: int) -> int:
        """Run cells from ``position`` until all are done or an exercise takes the worker with it; where to go on."""
        order = self.order
        touched = self.program.touched if self.program else frozenset()
        full = False
        while position < len(order):
            kind, name = order[position]
            if full and kind == "answer":
                # What fills the memory stays in it: the next exercise gets a fork of its own.
                return position
            if kind == "setup":
                worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
                self._execute(worker, self.blueprint.setup[name])
                position += 1
                continue
            if kind in ("own", "show"):
                try:
                    self._aside(worker, name)
                except WorkerLost:
                    self.harmful.add(name)
                    return position + 1
                position += 1
                continue
            exercise = self.exercises[name if kind == "answer" else self.blueprint.tests[name].exercise]
            start = time.monotonic()
            worker.deadline = min(start + self.limits.exercise_seconds - exercise.seconds, self.until)
            try:
                if kind == "answer":
                    self.runs[name] = run = self._cell(worker, self.rebuilt.answers[name])
                    exercise.error = run.error
                    self.raised = self.raised or bool(run.error)
                    self._note_missing(run.error)
                elif exercise.id not in self.only:
                    if name in self.blueprint.plain:
                        self._execute(worker, self.blueprint.tests[name].source)
                    else:
                        self._define(worker, name)
                elif name in self.blueprint.plain:
                    self._plain_test(worker, exercise, name)
                elif not self.verdicts.is_untouched(exercise.id) or exercise.id in touched:
                    self._test(worker, exercise, name)
            except WorkerLost as loss:
                exercise.loss = loss
                exercise.seconds += time.monotonic() - start
                return self._next_exercise(position, exercise.id)
            exercise.seconds += time.monotonic() - start
            full = full or exercise.ran_out_of_memory()
            position += 1
        return position

    def _next_exercise(self, position: int, lost: str) -> int:
        """The next cell that is not a test of the exercise that was lost."""
        order = self.order
        position += 1
        while position < len(order):
            kind, name = order[position]
            if not (kind == "test" and self.blueprint.tests[name].exercise == lost):
                break
            position += 1
        return position

    def _give_up(self, position: int) -> None:
        """The submission's time is over: whatever was not reached timed out."""
        for kind, name in self.order[position:]:
            if kind == "test" and name in self.blueprint.plain:
                exercise = self.exercises[self.blueprint.tests[name].exercise]
                exercise.loss = exercise.loss or WorkerLost("timeout", "the submission's time was over")
            elif kind == "answer" and self.exercises[name].loss is None and not self.exercises[name].findings:
                self.exercises[name].loss = WorkerLost("timeout", "the submission's time was over")

    def _execute(self, worker: Worker, source: str, **more: int) -> dict[str, Any]:
        number = len(self.runs) + len(self.blueprint.setup) + 1
        answer, _ = worker.request({"op": "cell", "source": source, "count": number, **more}, {"outputs": list})
        return {**answer, "number": number}

    def _cell(self, worker: Worker, source: str) -> CellRun:
        answer = self._execute(worker, source)
        run = CellRun(self.outputs.clean(answer["outputs"], answer["number"]), error_told(answer.get("error")))
        return shown_of(run, self.secrets)

    def _plain_test(self, worker: Worker, exercise: Progress, name: str) -> None:
        """Run a test cell as a notebook does. Only its outputs count, by nbgrader's rule."""
        test = self.blueprint.tests[name]
        assert test.plain is not None
        answer = self._execute(worker, test.source, room=_ROOM)
        shown = () if test.plain.hidden else self.outputs.clean(answer["outputs"], answer["number"])
        exercise.plain[name] = run = plain_run(test.plain, test.points, answer, shown)
        self.runs[name] = shown_of(CellRun(run.outputs), self.secrets)

    def _test(self, worker: Worker, exercise: Progress, name: str) -> None:
        part = self.blueprint.tests[name].probe
        # Anew: where a setup cell was lost, its exercises are run once more.
        findings = exercise.findings[name] = []
        failed: set[str] = set()
        for check, seed in self.judge.plan(name):
            if check in failed:
                continue
            request = {"op": "probe", "test": name, "check": check, "seed": seed}
            if name not in worker.knows:
                worker.knows.add(name)
                request["source"] = part.source
            answer, payload = worker.request(request, {"printed": str})
            began = time.monotonic()
            try:
                brought = brought_by(answer, payload)
                # What could not be judged within the limits once is not tried again: it costs seconds each time.
                finding = exercise.beyond or self.judge.verdict(
                    name, exercise.id, check, seed, brought, draw=not failed
                )
            except wire.WireError as error:
                raise WorkerLost("protocol", str(error)) from None
            if finding.beyond:
                exercise.beyond = finding
                finding = replace(finding, check=check, asked=self.judge.asked(name)[check], seed=seed)
            # The judge's time is not the learner's: the first of a class waits for every truth.
            spent = time.monotonic() - began
            worker.deadline += spent
            self.until += spent
            exercise.seconds -= spent
            findings.append(finding)
            if not finding.passed:
                failed.add(check)
            self.raised = self.raised or brought.trouble is not None
            if brought.trouble is not None and brought.trouble.kind in ("NameError", "Unanswered"):
                self._note_missing(brought.trouble.message)

    def _note_missing(self, said: str) -> None:
        found = _NOT_DEFINED.search(said)
        if found:
            self.missing.add(found[1])

    def _define(self, worker: Worker, name: str) -> None:
        """As a notebook would, have a test cell's names there for the cells below it. Nothing is tested."""
        source = self.blueprint.tests[name].probe.source
        worker.knows.add(name)
        worker.request({"op": "define", "test": name, "source": source}, {"defined": bool})
