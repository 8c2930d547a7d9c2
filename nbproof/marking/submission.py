"""Mark one submission: drive workers through its cells, judge what they brought, name how each exercise ended.

Everything that may be shown comes first: cells with their outputs, and the checks that learners have. Hidden checks are
asked when the last output has been taken: in the same process, with each exercise's variables as they were, if nothing
that ran since works on them; else in a fresh one, which runs the cells again and whose outputs nobody takes. What those
bring is told in words of a known form (:mod:`nbproof.marking.verdicts`). ``docs/engine.md`` says why.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbproof.cells import CellKind
from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.execution import Execution, error_told, names_told
from nbproof.marking.judge import Judge
from nbproof.marking.manual_answers import written_in
from nbproof.marking.plain import hidden_run, plain_run, shown_of
from nbproof.marking.program import Program, needed, own_name, program
from nbproof.marking.results import CellRun, SubmissionVerdict
from nbproof.marking.verdicts import Progress, Verdicts, in_few_words, known_lines, says_out_of_memory
from nbproof.recover.pieces import OwnCell
from nbproof.sandbox import wire
from nbproof.sandbox.cell_names import CellNames
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.outputs import Outputs
from nbproof.sandbox.worker_handle import Worker
from nbproof.values.results import first_wrong

__all__ = ["mark"]

_ROOM = 100_000
"""Bytes that a plain test cell may print, whatever was printed before."""
_NOT_DEFINED = re.compile(r"['`](\w+)['`] is not defined")


def mark(
    engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, learner: str, files: dict[str, bytes]
) -> SubmissionVerdict:
    """The verdict on a rebuilt submission. Whatever the learner's code does ends in a status, not in an exception."""
    # As with stock nbgrader the instructor's files take the place of a learner's of the same name.
    files = {**blueprint.files, **{name: data for name, data in files.items() if name not in blueprint.files}}
    judge.sit(engine.judge)

    def shown(all_of_it: bool) -> _Shown:
        exercises = {name: Progress(name) for name in blueprint.exercises}
        return _Shown(engine, blueprint, judge, rebuilt, files, exercises, all_of_it)

    # What a plain test rests on, nobody can see.
    run = shown(all_of_it=bool(blueprint.plain))
    run.run()
    seconds, peak = run.seconds, run.peak
    if run.may_miss_something() and seconds < engine.limits.submission_seconds / 3:
        # Before anything is marked wrong for a name, or a file, that is not there: in a notebook all would have run.
        # Nothing has been judged, and nothing that is hidden has been asked. All that was brought is thrown away.
        run = shown(all_of_it=True)
        run.run()
        seconds, peak = seconds + run.seconds, max(peak, run.peak)
    for name, exercise in run.exercises.items():
        exercise.seconds += run.spent[name]
    hidden = _Hidden(run)
    if hidden.order:
        hidden.run()
        seconds, peak = seconds + hidden.seconds, max(peak, hidden.peak)
    _judge(blueprint, judge, rebuilt, run.exercises)
    verdicts = Verdicts(blueprint, judge, rebuilt, engine.limits)
    tested = {test.exercise for test in blueprint.tests.values()}
    return SubmissionVerdict(
        learner,
        blueprint.lesson,
        judge.seed,
        tuple(verdicts.of(progress) for name, progress in run.exercises.items() if name in tested),
        dict(rebuilt.answers),
        run.runs,
        dict(rebuilt.recovered),
        round(seconds, 1),
        float(round(peak)),
        written=written_in(blueprint.written, rebuilt.answers),
        lost=dict(rebuilt.lost),
        damage=rebuilt.damage,
        newer=rebuilt.newer,
        own=run.own_that_ran(),
    )


class _Shown(Execution):
    """What may be shown of a submission: its cells with their outputs, the checks that learners have."""

    def __init__(
        self,
        engine: Engine,
        blueprint: Blueprint,
        judge: Judge,
        rebuilt: Rebuilt,
        files: dict[str, bytes],
        exercises: Mapping[str, Progress],
        all_of_it: bool,
    ) -> None:
        super().__init__(engine, blueprint, judge, rebuilt, files, exercises)
        self.all_of_it = all_of_it
        self.outputs = Outputs(self.limits.output_bytes + 1_000)
        self.secrets = tuple(line for test in blueprint.plain.values() for line in test.secrets)
        self.program: Program | None = None
        self.runs: dict[str, CellRun] = {}
        self.missing: set[str] = set()
        """Names that were not there."""
        self.raised = False
        """Whether an answer, or a check of it, ended with an error."""
        self.own: Sequence[OwnCell] = ()

    def own_that_ran(self) -> tuple[OwnCell, ...]:
        """The learner's own cells that ran; of a setup cell, what was added to it."""
        ran = {name for kind, name in self.order if kind is CellKind.OWN}
        return tuple(
            one if one.place is None or self.blueprint.shows(one.place) else replace(one, place=None)
            for number, one in enumerate(self.own)
            if own_name(number) in ran
        )

    def may_miss_something(self) -> bool:
        """Whether an error may come from a cell that did not run: any of the learner's own, or one that binds a name.

        Known before anything has been judged: whoever wants the second run can have it, and learns nothing by it.
        """
        left_out = self.program.left_out if self.program else frozenset()
        ran = {name for kind, name in self.order if kind is CellKind.OWN}
        own = any(one.source.strip() and own_name(number) not in ran for number, one in enumerate(self.own))
        return (self.raised and own) or bool(self.missing & left_out) or ("*" in left_out and bool(self.missing))

    def prepare(self, worker: Worker) -> None:
        """Choose what runs. The texts are taken apart where they would run, before any of them has."""
        rebuilt, stubs = self.rebuilt, self.blueprint.stubs
        self.allow(worker, self.limits.exercise_seconds)
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

    def prepare_without(self) -> None:
        """Whatever cannot even be taken apart runs as it stands."""
        self.all_of_it = True
        self._follow([one for one in self.rebuilt.own if one.place is None], {})

    def _follow(self, own: Sequence[OwnCell], names: Mapping[str, CellNames]) -> None:
        self.own = own
        self.program = program(self.blueprint, self.rebuilt.answers, own, names, self.all_of_it)
        self.order = needed(self.program.steps)
        self.texts, self.touched = self.program.texts, self.program.touched

    def answer(self, worker: Worker, exercise: Progress) -> None:
        """Run a TODO cell and take its outputs."""
        number = len(self.runs) + len(self.blueprint.setup) + 1
        answer = self.execute(worker, self.rebuilt.answers[exercise.id], number)
        run = CellRun(self.outputs.clean(answer["outputs"], number), error_told(answer.get("error")))
        self.runs[exercise.id] = run = shown_of(run, self.secrets)
        exercise.error, exercise.out_of_memory = run.error, says_out_of_memory(run.error)
        self.raised = self.raised or bool(run.error)
        self._note_missing(run.error)

    def test(self, worker: Worker, exercise: Progress, name: str) -> None:
        """Ask the checks that learners have; of a plain test cell, run the lines that they have."""
        test = self.blueprint.tests[name]
        if test.plain is not None:
            number = len(self.runs) + len(self.blueprint.setup) + 1
            answer = self.execute(worker, test.shown_source, number, room=_ROOM)
            shown = () if test.hides else self.outputs.clean(answer["outputs"], number)
            exercise.plain[name] = ran = plain_run(test.plain, test.points, answer, shown)
            exercise.out_of_memory = exercise.out_of_memory or says_out_of_memory(ran.sentence)
            self.runs[name] = shown_of(CellRun(ran.outputs), self.secrets)
        elif self.is_asked(name):
            self.probe(worker, exercise, name, test.shown, test.shown.checks)
            for reply in exercise.replies.get(name, ()):
                trouble = reply.trouble
                self.raised = self.raised or trouble is not None
                if trouble is not None and trouble.kind in ("NameError", "Unanswered"):
                    self._note_missing(trouble.message)
            if test.hides:
                worker.request({"op": "keep", "test": name}, {"kept": bool})

    def _note_missing(self, said: str) -> None:
        found = _NOT_DEFINED.search(said)
        if found:
            self.missing.add(found[1])

    def finish(self, worker: Worker) -> None:
        """Ask what is hidden in this process, if that is as good as in a fresh one. From here on nothing is shown."""
        if self.program is None or not self.program.apart or self.may_miss_something():
            return
        # Of an exercise's time its cells and all its hidden checks take together; of the latter, nothing is noted in `spent`.
        left = {name: self.limits.exercise_seconds - seconds for name, seconds in self.spent.items()}
        for name in waiting(self):
            exercise = self.exercises[self.blueprint.tests[name].exercise]
            if exercise.loss is not None or name in self.blueprint.plain:
                continue
            start = time.monotonic()
            try:
                self.allow(worker, left[exercise.id])
                answer, _ = worker.request({"op": "back", "test": name}, {"back": bool})
                if not answer["back"]:
                    return
                ask_hidden(self, worker, exercise, name)
            except WorkerLost as loss:
                exercise.loss = loss
                return
            left[exercise.id] -= time.monotonic() - start


class _Hidden(Execution):
    """What is hidden, in a process that runs the cells again: nothing that it prints or says of itself is shown."""

    def __init__(self, shown: _Shown) -> None:
        super().__init__(shown.engine, shown.blueprint, shown.judge, shown.rebuilt, shown.files, shown.exercises)
        self.texts, self.touched = shown.texts, shown.touched
        self.harmful = shown.harmful - shown.exercises.keys()
        self.wanted = waiting(shown)
        last = max((place for place, (_, name) in enumerate(shown.order) if name in self.wanted), default=-1)
        self.order = shown.order[: last + 1]

    def answer(self, worker: Worker, exercise: Progress) -> None:
        """Run a TODO cell once more, for those that have not done harm."""
        if exercise.is_harmless():
            answer = self.execute(worker, self.rebuilt.answers[exercise.id])
            exercise.out_of_memory = says_out_of_memory(error_told(answer.get("error")))

    def test(self, worker: Worker, exercise: Progress, name: str) -> None:
        """Ask what is hidden."""
        if name not in self.wanted:
            self.define(worker, name)
        elif exercise.loss is None:
            ask_hidden(self, worker, exercise, name)


def waiting(run: Execution) -> list[str]:
    """The test cells of which hidden checks have yet to be asked, of exercises that have lost nothing so far."""
    return [
        name for kind, name in run.order
        if kind is CellKind.TEST and run.blueprint.tests[name].hides and run.is_asked(name)
        and run.exercises[run.blueprint.tests[name].exercise].loss is None
        and name not in run.exercises[run.blueprint.tests[name].exercise].asked_all
    ]  # fmt: skip


def ask_hidden(run: Execution, worker: Worker, exercise: Progress, name: str) -> None:
    """Ask the hidden checks of a test cell; a plain one runs whole, and its score is what counts."""
    test, start = run.blueprint.tests[name], time.monotonic()
    try:
        if test.plain is None:
            run.probe(worker, exercise, name, test.probe, test.hidden_checks)
        else:
            answer = run.execute(worker, test.source, room=_ROOM)
            exercise.plain[name] = hidden_run(exercise.plain.get(name), test.points, answer)
    finally:
        # Of a few digits, as everything that hidden lines could be told by.
        exercise.seconds += round(time.monotonic() - start, 1)
    exercise.asked_all.add(name)


def _judge(blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, exercises: Mapping[str, Progress]) -> None:
    """Judge what was brought. By now no worker is there any more that could learn of it."""
    lines = known_lines(rebuilt)
    for exercise in exercises.values():
        for name, replies in exercise.replies.items():
            test = blueprint.tests[name]
            findings = exercise.findings[name] = []
            for brought in replies:
                hidden = brought.check in test.hidden_checks
                draw = not hidden and first_wrong(findings) is None
                try:
                    # What could not be judged within the limits once is not tried again: it costs seconds each time.
                    finding = judge.unjudged(name, brought) if exercise.beyond else judge.verdict(name, brought, draw)
                except wire.WireError:
                    exercise.loss = exercise.loss or WorkerLost("protocol", "what it brought has no known form")
                    continue
                exercise.beyond = finding.unjudged is not None
                findings.append(in_few_words(finding, test.probe.asks, lines) if hidden else finding)
            exercise.replies[name] = []
