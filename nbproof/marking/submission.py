"""Mark one submission: have its cells run, judge what they brought, name how each exercise ended."""

from __future__ import annotations

from collections.abc import Mapping

from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.execution import Execution
from nbproof.marking.judge import Judge
from nbproof.marking.manual_answers import written_in
from nbproof.marking.results import SubmissionVerdict
from nbproof.marking.verdicts import Progress, Verdicts, in_few_words, known_lines
from nbproof.sandbox import wire
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.values.results import first_wrong

__all__ = ["mark"]


def mark(
    engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, learner: str, files: dict[str, bytes]
) -> SubmissionVerdict:
    """The verdict on a rebuilt submission. Whatever the learner's code does ends in a status, not in an exception."""
    # As with stock nbgrader the instructor's files take the place of a learner's of the same name.
    files = {**blueprint.files, **{name: data for name, data in files.items() if name not in blueprint.files}}
    judge.sit(engine.judge)

    # What a plain test rests on, nobody can see.
    run = Execution(engine, blueprint, judge, rebuilt, files, all_of_it=bool(blueprint.plain))
    run.run()
    seconds, peak = run.seconds, run.peak
    if run.misses_something:
        # Before anything is marked wrong for a name that is not there: in a notebook all would have run. Nothing has been
        # judged, and nothing that is hidden has been asked. All that was brought is thrown away.
        run = Execution(engine, blueprint, judge, rebuilt, files, all_of_it=True)
        run.run()
        seconds, peak = seconds + run.seconds, max(peak, run.peak)
    _judge(blueprint, judge, rebuilt, run.exercises)
    verdicts = Verdicts(blueprint, judge, rebuilt, run.limits)
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
        own=run.own,
    )


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
