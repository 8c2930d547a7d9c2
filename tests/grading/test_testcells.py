"""The worker's half of a test cell knows nothing of what is wanted."""

from __future__ import annotations

import ast

from nbproof.checks.test_cells import probe_part
from tests import the_lessons

CELL = '''
import torch
from torch import nn
from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf

SHAPE = (2, 3)
WANTED = 42
LIMIT = WANTED + 1


def used_by_probe(case):
    return case.tensor("x", *SHAPE)


def used_by_truth(case):
    return torch.ones(LIMIT)


class First(Check):
    """What is asked, which may tell too much."""

    poison = ("x1",)
    blame = {"answer": "hint"}
    secret = True

    def probe(self, nb, case):
        return self.helper(used_by_probe(case))

    def helper(self, x):
        return x * 2

    def truth(self, case):
        return AnyOf(used_by_truth(case), self.for_truth())

    def for_truth(self):
        return nn.Linear(1, 1)

    def mistakes(self, case):
        return {"m": WANTED}


check("exercise", First)

### BEGIN HIDDEN TESTS
class Second(First):
    cases = 3

    def truth(self, case):
        return super().truth(case)


check("exercise", Second)
### END HIDDEN TESTS
'''


def test_only_what_a_probe_uses_is_left() -> None:
    part = probe_part(CELL)
    assert part.checks == ("First", "Second")
    for private in (
        "truth",
        "mistakes",
        "WANTED",
        "LIMIT",
        "used_by_truth",
        "for_truth",
        "AnyOf",
        "too much",
        "blame",
        "nn",
        "secret",
    ):
        assert private not in part.source, private
    for public in ("used_by_probe", "SHAPE", "helper", "poison", "cases = 3", "class Second(First)"):
        assert public in part.source, public


def test_the_half_runs_on_its_own() -> None:
    namespace: dict[str, object] = {}
    exec(compile(probe_part(CELL).source, "half", "exec"), namespace)
    assert {"First", "Second"} <= set(namespace)


def test_no_truth_of_a_lesson_goes_to_the_worker() -> None:
    cells = [cell for lesson in the_lessons() for exercise in lesson.exercises for cell in exercise.tests]
    assert len(cells) > 50
    wrong = {}
    for cell in cells:
        part = probe_part(cell.source)
        nodes = [one for one in ast.walk(ast.parse(part.source)) if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
        names = {node.name for node in nodes}
        if names & {"truth", "mistakes"} or not part.checks or not set(part.checks) <= names:
            wrong[cell.grade_id] = sorted(names)
        exec(compile(part.source, cell.grade_id, "exec"), {"__name__": "half"})
    assert wrong == {}
