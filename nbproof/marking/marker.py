"""Marks one handed-in notebook after another with an engine of this machine. It does not matter who calls.

The notebook is read in a sealed fork, in which its cells run only afterwards.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, replace

from nbproof.errors import CourseError
from nbproof.marking.blueprint import Blueprint, written_in
from nbproof.marking.execution import Execution, limits_of
from nbproof.marking.judge_client import Judge
from nbproof.marking.results import Verdict
from nbproof.marking.verdicts import ExerciseRun, OutcomeMaker, known_lines, named_in, redacted
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import Damaged, HandIn
from nbproof.sandbox import wire
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.outputs import Outputs
from nbproof.sandbox.worker_handle import Worker
from nbproof.text import printable
from nbproof.values.results import first_wrong

__all__ = ["SECONDS", "Marker", "mark", "read_answers"]


_VERSION = re.compile(rb'"version": *"3\.(\d{1,3})\b')

SECONDS = 30.0
"""For reading one submission, which takes some hundredths of a second, and some tenths if it is damaged."""
_MOST_SCRIPTS, _MOST_OF_A_SCRIPT = 20, 30_000
"""Scripts beside a notebook that are looked through, and characters of each."""


def read_answers(worker: Worker, blueprint: Blueprint, data: bytes, files: Mapping[str, bytes]) -> Answers:
    """The answers in the bytes that were handed in. Raises Damaged if there are none: its text says why.

    ``worker``: a fork in which no learner's code has run. ``files``: what lies beside the notebook. What may be an answer
    there waits for a person.
    """
    scripts = sorted(name for name in blueprint.theirs(files) if name.endswith(".py"))[:_MOST_SCRIPTS]
    texts = {printable(name): files[name][:_MOST_OF_A_SCRIPT].decode("utf-8", "replace") for name in scripts}
    request = {"op": "notebook", "handout": asdict(blueprint.handout), "scripts": texts}
    try:
        worker.deadline = time.monotonic() + SECONDS
        answer, _ = worker.request(request, {"found": dict, "damaged": str}, data)
    except WorkerLost as loss:
        why = {"timeout": "takes too long", "memory": "takes too much memory"}.get(loss.cause, "ends the reader")
        raise Damaged(f"it cannot be read: reading it {why}") from None
    if answer["damaged"]:
        raise Damaged(answer["damaged"])
    try:
        return replace(Answers.from_worker(blueprint.handout, answer["found"]), python=_newer_python(data))
    except ValueError as error:
        raise Damaged(f"it cannot be read: the reader brought {error}") from None


def _newer_python(data: bytes) -> str:
    """The Python version that a notebook names, such as ``3.14``, if it is newer than the grader's; else empty."""
    minor = max((int(one) for one in _VERSION.findall(data)), default=0)
    return f"3.{minor}" if minor > sys.version_info.minor else ""


def mark(
    engine: Engine,
    blueprint: Blueprint,
    judge: Judge,
    rebuilt: Answers,
    learner: str,
    files: dict[str, bytes],
    fresh: Worker | None = None,
) -> Verdict:
    """The verdict on a rebuilt submission. If the learner's code does harm, a status says so: no exception leaves this.

    ``fresh``: a fork that holds the files, and in which no code has run; it is ended.
    """
    files = blueprint.files_with(files)
    rebuilt = replace(rebuilt, own=blueprint.with_questions(rebuilt.own))
    judge.prepare()

    # What a plain test rests on, nobody can see.
    run = Execution(engine, blueprint, judge, rebuilt, files, all_of_it=bool(blueprint.plain))
    run.run(fresh)
    seconds, peak = run.seconds, run.peak
    if run.misses_something:
        # Before anything is marked wrong for a name that is not there: in a notebook all would have run. Nothing has been
        # judged, and nothing that is hidden has been asked. All that was brought is thrown away.
        run = Execution(engine, blueprint, judge, rebuilt, files, all_of_it=True)
        run.run()
        seconds, peak = seconds + run.seconds, max(peak, run.peak)
    _judge(blueprint, judge, rebuilt, run.exercises)
    theirs = (data.decode("utf-8", "replace") for name, data in files.items() if name not in blueprint.beside)
    texts = [*rebuilt.answers.values(), *(one.source for one in rebuilt.own), *theirs]
    maker = OutcomeMaker(blueprint, judge, rebuilt, run.limits, named_in(texts))
    answers = {**rebuilt.answers, **blueprint.answers_to_tasks(rebuilt.own)}
    tested = {test.exercise for test in blueprint.tests.values()}
    return Verdict(
        learner,
        blueprint.slug,
        judge.seed,
        tuple(maker.make(one) for name, one in run.exercises.items() if name in tested),
        answers,
        run.runs,
        dict(rebuilt.recovered),
        round(seconds, 1),
        float(round(peak)),
        written=written_in(blueprint.written, answers),
        lost=dict(rebuilt.lost),
        damage=rebuilt.damage,
        own=rebuilt.own,
        pictures=_pictures(rebuilt),
        titles=blueprint.titles,
    )


def _pictures(rebuilt: Answers) -> dict[str, str]:
    """The attached pictures that may be shown: the rule is that for pictures that code makes."""
    outputs, found = Outputs(sum(map(len, rebuilt.pictures.values()))), {}
    for name, data in rebuilt.pictures.items():
        made = outputs.clean([{"output_type": "display_data", "data": {"image/png": data}}], 1)
        if made and "image/png" in made[0]["data"]:
            found[name] = data
    return found


def _judge(blueprint: Blueprint, judge: Judge, rebuilt: Answers, exercises: Mapping[str, ExerciseRun]) -> None:
    """Judge what was brought. By now no worker is there any more that could learn of it."""
    lines = known_lines(rebuilt)
    for exercise in exercises.values():
        for name, replies in exercise.replies.items():
            test = blueprint.checks[name]
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
                is_asked = finding.passed and brought.canary != b""
                exercise.rigged = exercise.rigged or (is_asked and judge.is_rigged(name, brought))
                if hidden:
                    finding = redacted(blueprint.course, finding, test.names_asked, lines)
                findings.append(finding)
            exercise.replies[name] = []


class Marker:
    """Marks hand-ins of several lessons with one engine and one seed. Several threads may call it."""

    def __init__(self, engine: Engine, blueprints: Mapping[str, Blueprint], seed: int) -> None:
        self.engine, self.blueprints, self.seed = engine, blueprints, seed
        self._judges = {name: Judge(one, seed, engine.judge) for name, one in blueprints.items()}

    def mark(self, one: HandIn) -> Verdict:
        """The verdict on a hand-in. It raises nothing for what a learner handed in."""
        learner, lesson = one.key
        try:
            blueprint = self.blueprints[lesson]
            judge = self._judges[lesson]
            # One fork reads the notebook, and is the first that runs it: to fork takes longer than to read.
            with self.engine.worker(blueprint.files_with(one.files), limits_of(self.engine, blueprint)) as fresh:
                rebuilt = read_answers(fresh, blueprint, one.notebook, one.files)
                if one.remark:
                    rebuilt = replace(rebuilt, damage="; ".join(filter(None, [one.remark, rebuilt.damage])))
                return mark(self.engine, blueprint, judge, rebuilt, learner, one.files, fresh)
        except Damaged as damage:
            return Verdict(learner, lesson, self.seed, problem=str(damage))
        except CourseError:
            raise
        except Exception as error:
            # A flaw of the grader that one submission has found is that submission's problem, not the class's.
            problem = f"the grader failed on it, please report this ({type(error).__name__}: {str(error)[:200]})"
            return Verdict(learner, lesson, self.seed, problem=problem, grader_failed=True)
