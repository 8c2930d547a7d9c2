"""A tiny lesson, sound or broken in the ways that a test asks for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbproof.cells import CellKind, visible_and_hidden
from nbproof.handed_out import HIDDEN
from nbproof.lesson import lesson as value
from tests import ROOT

HEADER = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A tiny lesson

# %% {setup}
import torch

from course.models import Add

# %%
# %matplotlib inline
print("shown")
"""

ANSWER = """\
add = Add()
answer = []


def hook(module, args, output):
    # TODO: keep the output.
    ### BEGIN SOLUTION
    answer.append(output)
    ### END SOLUTION


add.register_forward_hook(hook)
"""

TEST = '''\
import torch

from nbproof.checks.check import Check, check
from course.models import Add
from course.probing import other_forward


class Call(Check):
    """After a call `answer` holds the output."""

    poison = ("x1", "x2")

    def probe(self, nb, case):
        nb.list("answer").clear()
        nb.module("add")(case.tensor("x1", 3), case.tensor("x2", 3))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        return {"answer": [Add()(case.tensor("x1", 3), case.tensor("x2", 3))]}


check("NAME", Call)

### BEGIN HIDDEN TESTS
class OtherForward(Check):
    """The output is whatever the module returns."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        with other_forward(nb.module("add"), lambda self, x1, x2: x1 * x2):
            nb.module("add")(case.tensor("x1", 3), case.tensor("x2", 3))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        return {"answer": [case.tensor("x1", 3) * case.tensor("x2", 3)]}


check("NAME", OtherForward)
### END HIDDEN TESTS
'''

START = "add, answer = Add(), []\n"
ACCEPTED = {
    "with_lambda": START + "add.register_forward_hook(lambda module, args, output: answer.append(output))\n",
    "extends": START + "def hook(m, a, output):\n    answer.extend([output])\nadd.register_forward_hook(hook)\n",
    "keywords": START
    + "def hook(module, args, kwargs, output):\n    answer.append(output)\n"
    + "add.register_forward_hook(hook, with_kwargs=True)\n",
    "prepended": START
    + "def hook(module, args, output):\n    answer.append(output)\n"
    + "add.register_forward_hook(hook, prepend=True)\n",
}


def mutant(misconception: str, hint: str, body: str) -> str:
    return f"# misconception: {misconception} | hint: {hint}\n{START}{body}\n"


def cell_of(name: str, source: str) -> value.CheckCell:
    """A test cell with this text."""
    shown, hidden = visible_and_hidden(source)
    return value.CheckCell(CellKind.TEST, source, grade_id=name, points=2.0, shown=shown, hidden=hidden)


HOOK = "add.register_forward_hook(lambda module, args, output: answer.append({}))"
MUTANTS = {
    "never_registered": mutant("defines only", "hook_never_ran", "def hook(module, args, output): pass"),
    "two_arguments": mutant(
        "forgets the module", "hook_arguments", "add.register_forward_hook(lambda args, output: 1)"
    ),
    "misspelt": mutant("typo", "undefined_name", HOOK.format("outptu")),
    "globals": mutant("reads the notebook's variables", "reads_globals", "x1 = x2 = 1\n" + HOOK.format("x1 + x2")),
    "misspelt_method": mutant(
        "typo in a method", "unknown_method", "add.register_forward_hook(lambda m, a, output: output.clon())"
    ),
    "formula": mutant("types the visible forward", "none", HOOK.format("args[0] + args[1]")),
}


def metadata(grade_id: str, **changes: object) -> str:
    kind = {"grade": False, "locked": True, "schema_version": 3, "solution": False, "task": False}
    return "nbgrader=" + json.dumps({**kind, "grade_id": grade_id, **changes})


WRITTEN = f"""
# %% [markdown]
# ### In your own words: Twice
#
# 5 min
#
# Why does the hook run twice?

# %% [markdown] {metadata("explain_twice", grade=True, solution=True, locked=False, points=2)}
# ### BEGIN SOLUTION
# Because it is registered twice.
#
# ### BEGIN MARK SCHEME
# - 2 points: registered twice.
# ### END MARK SCHEME
# ### END SOLUTION
"""
"""A question that a person marks, to be added to a lesson's text."""


@dataclass
class Sketch:
    """An exercise to be written down: sound as it stands."""

    name: str = "catch"
    answer: str = ANSWER
    test: str = TEST
    accepted: Mapping[str, str] = field(default_factory=lambda: ACCEPTED)
    mutants: Mapping[str, str] = field(default_factory=lambda: MUTANTS)
    inline: bool = False
    """Whether the test cell holds its tests itself, instead of two lines that stand for checks.py."""

    def write(self, folder: Path) -> str:
        """Write what lies in the exercise's folder; returns its cells."""
        (folder / self.name).mkdir()
        called = self.test.replace("NAME", self.name)
        if not self.inline:
            checks = called.replace("### BEGIN HIDDEN TESTS", HIDDEN).replace("### END HIDDEN TESTS\n", "")
            (folder / self.name / "checks.py").write_text(checks)
            called = f'from course import check\ncheck("{self.name}")\n'
        for name, sources in (("right.py", self.accepted), ("wrong.py", self.mutants)):
            text = "\n".join(f"# %% {one}\n{source}" for one, source in sorted(sources.items()))
            (folder / self.name / name).write_text(text)
        answer = metadata(self.name, solution=True, locked=False)
        test = metadata(f"test_{self.name}", grade=True, points=2)
        above = f"\n# %% [markdown]\n# ### Exercise: {self.name}\n# easy · 5 min\n"
        return f"{above}\n# %% {answer}\n{self.answer}\n# %% {test}\n{called}"


def write_lesson(root: Path, slug: str, sketches: Sequence[Sketch]) -> Path:
    """Write lessons/<slug>/ below ``root``, and the configuration; returns the lesson's folder."""
    folder = root / "lessons" / slug
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    cells = [HEADER.replace("{setup}", metadata("setup_imports")), *(sketch.write(folder) for sketch in sketches)]
    (folder / "lesson.py").write_text("".join(cells))
    return folder
