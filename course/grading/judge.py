"""The trusted verdict: truths, comparison and hints, in a process that no learner's code has ever been in."""

from __future__ import annotations

import threading
from typing import Any

from course.case import Case
from course.checking import Check, decide, listing, seeds_of
from course.grading.rebuild import Blueprint
from course.results import Brought, Finding

__all__ = ["Judge"]


_one_at_a_time = threading.Lock()


class Judge:
    """The checks of one lesson, ready to be asked. Seeds are the same for a whole class, so a truth is computed once a run."""

    def __init__(self, blueprint: Blueprint, seed: int) -> None:
        self.seed = seed
        self._tasks: dict[str, list[type[Check]]] = {}
        self._known: dict[tuple[str, str, int], _Known] = {}
        for name, test in blueprint.tests.items():
            if test.plain is not None:  # never at home: it is to run beside the learner's code
                continue
            with listing() as listed:
                # The instructor's own test cell, in a namespace that holds nothing else.
                exec(compile(test.source, f"<{name}>", "exec"), {"__name__": name})  # noqa: S102
            self._tasks[name] = [task for _, task in listed]

    def plan(self, test: str) -> list[tuple[str, int]]:
        """(check, seed) of every case of a test cell."""
        return [(task.__name__, seed) for task in self._tasks[test] for seed in seeds_of(task, self.seed)]

    def asked(self, test: str) -> dict[str, str]:
        """What each check of a test cell asks."""
        return {task.__name__: " ".join((task.__doc__ or "").split()) for task in self._tasks[test]}

    def verdict(self, test: str, exercise: str, check: str, seed: int, brought: Brought) -> Finding:
        """The finding on what a probe brought."""
        task = next(one for one in self._tasks[test] if one.__name__ == check)()
        # One at a time: seeded models draw from torch's one global generator.
        with _one_at_a_time:
            known = self._known.setdefault((test, check, seed), _Known(task, Case(seed)))
            task.truth = known.truth  # type: ignore[method-assign]
            task.mistakes = known.mistakes  # type: ignore[method-assign]
            return decide(task, exercise, Case(seed), brought)


class _Known:
    """A truth and its mistakes, computed when they are first needed, and once."""

    def __init__(self, task: Check, case: Case) -> None:
        self._truth, self._mistakes, self._case = task.truth, task.mistakes, case
        self._kept: dict[str, Any] = {}

    def truth(self, case: Case) -> Any:
        if "truth" not in self._kept:
            self._kept["truth"] = self._truth(self._case)
        return self._kept["truth"]

    def mistakes(self, case: Case) -> Any:
        if "mistakes" not in self._kept:
            self._kept["mistakes"] = dict(self._mistakes(self._case))
        return self._kept["mistakes"]
