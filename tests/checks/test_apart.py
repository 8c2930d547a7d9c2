"""A check does not break an answer that uses a name of the test cell's for something else."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def run(source):
    result = shell.run_cell(source)
    error = result.error_before_exec or result.error_in_exec
    return "" if error is None else f"{type(error).__name__}: {error}"
print("setup", run("import course"))
ANSWER = '''
def walk(x):
    return x + 1

LIMIT = 10

def answer(x):
    return walk(x) + LIMIT
'''
TEST = '''# Run this cell to check your answer.
from nbproof.checks.check import Check, check
print("the text runs")

LIMIT = 1000

def walk(case):
    return case.integer("x", 1, 9)

class Values(Check):
    "It adds eleven."
    def probe(self, nb, case):
        return {"result": nb.function("answer")(walk(case)), "limit": LIMIT}
    def truth(self, case):
        return {"result": walk(case) + 11, "limit": 1000}

check("eleven", Values)

'''
print("answer", run(ANSWER))
for _ in range(2):
    print("test", run(TEST))
    print("after", run("assert walk(1) == 2 and LIMIT == 10"))
print("wrong", run(ANSWER.replace("+ LIMIT", "+ 7")), run(TEST)[:11])
# Names that the check uses itself, also a builtin's.
print("shadowed", run("isinstance = Values = check = 0\\ndef answer(x): return x + 11"), run(TEST))
print("shadowed", run("assert Values == check == 0"))
"""


@pytest.mark.slow
def test_a_learners_name_stays_the_learners() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    lines = [line.rstrip() for line in done.stdout.splitlines() if not line.startswith("eleven")]
    said = [line for line in lines if line.split(" ")[0] in ("setup", "answer", "test", "after", "wrong", "shadowed")]
    assert said == [
        "setup", "answer", "test", "after", "test", "after", "wrong  CheckFailed", "shadowed", "shadowed",
    ], done.stdout + done.stderr  # fmt: skip
    assert done.stdout.count("the text runs") == 4
