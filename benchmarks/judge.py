"""What does hostile evidence cost? Every check of every exercise against answers that are made to cost memory and time.

    python -m benchmarks.judge [--tries N] [--exercise ID ...] [--seed S]

Each answer is what the check wants, changed in some places: rows and columns that broadcast, tensors that are large, empty,
odd or nothing but a claim, nests, lists of a million, numbers of ten thousand digits, NaN. It is judged as at home (copied,
compared, explained, drawn, shown) and as while grading (packed, opened, compared, packed for a picture), in this process,
without any limit, which is what the limits of the judge's own process are for. Printed are the worst memory and time of
one answer. Exit code 1 where one costs more than 300 MB or 5 seconds of processor time, or raises.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile import hostile
from course.pictures.difference import difference_html
from nbproof.checks.case import Case
from nbproof.checks.check import Check, judge, judge_here, listing
from nbproof.course_file import read_course
from nbproof.display.panel import html_of, text_of
from nbproof.marking.blueprint import read_blueprint
from nbproof.places import course_config
from nbproof.sandbox import evidence_wire, wire
from nbproof.sandbox.judging import EVIDENCE_MB, EVIDENCE_SECONDS
from nbproof.sandbox.packed_place import pack
from nbproof.terminal import progress
from nbproof.values.evidence import snapshot
from nbproof.values.leaf import leaves_of, warm_up
from nbproof.values.results import ProbeResult

__all__ = ["Cost", "Target", "main", "targets", "tried"]

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")
_SPARE = 6 << 30
"""Bytes that an answer may take before it is refused: enough to be seen, too little to end the machine."""


@dataclass(frozen=True)
class Target:
    """One check, with what it wants."""

    lesson: str
    exercise: str
    task: Check
    case: Case
    wanted: object


@dataclass(frozen=True)
class Cost:
    """What judging one answer took."""

    target: Target
    kinds: str
    way: str
    """At home, or while grading."""
    megabytes: float
    seconds: float
    raised: str = ""

    @property
    def is_too_much(self) -> bool:
        """Whether it breaks the promise."""
        return bool(self.raised) or self.megabytes > EVIDENCE_MB or self.seconds > EVIDENCE_SECONDS

    def __str__(self) -> str:
        who = f"{self.target.exercise}/{type(self.target.task).__name__}"
        return f"{self.megabytes:6.0f} MB {self.seconds:6.2f} s  {who}, {self.way}: {self.kinds} {self.raised}".rstrip()


def targets(exercises: frozenset[str] = frozenset()) -> Iterator[Target]:
    """Every check of the course, or of these exercises, with its truth for one seed."""
    for path in sorted(ROOT.glob("source/*/*.ipynb")):
        blueprint = read_blueprint(COURSE, path, course_config(ROOT))
        for name, test in blueprint.checks.items():
            if exercises and test.exercise not in exercises:
                continue
            with listing() as listed:
                exec(compile(test.source, f"<{name}>", "exec"), {"__name__": name})
            for exercise, made in listed:
                task, case = made(), Case(7001, COURSE)
                truth, mistakes = task.truth(case), dict(task.mistakes(case))
                task.truth = lambda case, truth=truth: truth  # type: ignore[method-assign, misc]
                task.mistakes = lambda case, mistakes=mistakes: mistakes  # type: ignore[method-assign, misc]
                yield Target(blueprint.slug, exercise, task, case, truth)


def _at_home(target: Target, value: object, draw: bool) -> None:
    finding = judge_here(target.task, target.case, ProbeResult(snapshot(value)))
    picture = difference_html(*finding.compared) if draw and finding.compared is not None else ""
    html_of(COURSE, target.exercise, [finding], picture=picture)
    text_of(COURSE, finding)


def _while_grading(target: Target, value: object) -> Callable[[], None]:
    data = evidence_wire.pack(snapshot(value))  # in the learner's process

    def judged() -> None:
        try:
            evidence = evidence_wire.unpack(data, leaves_of(COURSE))
        except wire.WireError:
            return
        pack(judge(target.task, target.case, ProbeResult(evidence)).compared)

    return judged


def tried(target: Target, chance: random.Random) -> Iterator[Cost]:
    """Judge one hostile answer to a check, at home and while grading."""
    kinds, value = hostile(target.wanted, chance)
    draw = chance.random() < 0.2  # most of the time of a try is matplotlib's
    yield _measured(target, kinds, "at home", lambda: _at_home(target, value, draw))
    try:
        judged = _while_grading(target, value)
    except (RecursionError, MemoryError, RuntimeError, ValueError):
        return  # a probe's error, which a learner is told as such
    yield _measured(target, kinds, "while grading", judged)


def _measured(target: Target, kinds: str, way: str, judged: Callable[[], None]) -> Cost:
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from now on
    before, began, raised = _memory("VmRSS"), time.process_time(), ""
    try:
        judged()
    except Exception as error:
        raised = f"{type(error).__name__}: {str(error)[:200]}"
    return Cost(target, kinds, way, _memory("VmHWM") - before, time.process_time() - began, raised)


def _memory(name: str) -> float:
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(name + ":"))
    return int(line.split()[1]) / 1024


def main(arguments: list[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judge", description=(__doc__ or "").split("\n\n")[0],
        epilog="Exit code 0: nothing costs more than 300 MB or 5 seconds; 1: something does, and is listed.",
    )  # fmt: skip
    parser.add_argument(
        "--tries", type=int, default=1_000, help="hostile answers, all checks in turn (default: %(default)s)"
    )
    parser.add_argument(
        "--exercise", action="append", default=[], metavar="ID", help="this exercise only; may be given again"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the answers (default: %(default)s)")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    # One thread, as the judge has: several spin while they wait for each other, and their time would count as the answer's.
    warm_up(COURSE)
    chosen = list(targets(frozenset(given.exercise)))
    if not chosen:
        print(f"error: no exercise is called {', '.join(given.exercise)}", file=sys.stderr)
        return 2
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _SPARE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    costs: list[Cost] = []
    with progress("judging") as step:
        for number in range(given.tries):
            target = chosen[number % len(chosen)]
            found = list(tried(target, random.Random(f"{given.seed}/{number}")))
            costs = sorted([*costs, *found], key=lambda one: (one.is_too_much, one.megabytes + one.seconds * 60))[-400:]
            step(number + 1, given.tries, target.exercise)
    too_much = [one for one in costs if one.is_too_much]
    print(f"{given.tries} hostile answers to {len(chosen)} checks of {len({one.exercise for one in chosen})} exercises")
    print(f"most memory: {max(costs, key=lambda one: one.megabytes)}")
    print(f"most time:   {max(costs, key=lambda one: one.seconds)}")
    for one in too_much[-40:]:
        print(f"too much:    {one}")
    return 1 if too_much else 0


if __name__ == "__main__":
    sys.exit(main())
