"""A check from end to end: probe beside the learner's code, truth apart from it, equal inputs for both, a verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from course.models import Add
from nbproof.checks.case import Case, seeds_of
from nbproof.checks.check import Check, bring, check, collecting, judge_here
from nbproof.display.help import all_hints
from nbproof.display.panel import html_of, text_of
from nbproof.values.results import CheckFailed, Finding
from nbproof.values.words import ENGLISH
from tests import COURSE

CELL = Callable[..., dict[str, Any]]


class Sum(Check):
    """After one call `answer` holds the sum."""

    poison = ("x1", "output")
    blame: ClassVar[dict[str, str]] = {"x1": "edits_in_place"}

    def probe(self, nb: Any, case: Case) -> object:
        nb.list("answer").clear()
        x1 = case.tensor("x1", 3)
        nb.module("add")(x1, case.tensor("x2", 3))
        return {"answer": nb.list("answer"), "x1": x1}

    def truth(self, case: Case) -> dict[str, Any]:
        x1 = case.tensor("x1", 3)
        return {"answer": [Add()(x1, case.tensor("x2", 3))], "x1": x1}

    def mistakes(self, case: Case) -> dict[str, object]:
        return {"uses_old_output": {"answer": [case.tensor("x1", 3)]}}


class Secret(Sum):
    """The same, but the sum stays a secret."""

    secret = True


RIGHT = """
from course.models import Add
add, answer = Add(), []
def hook(module, args, output):
    answer.append(output)
add.register_forward_hook(hook)
"""


def verdict(task: Check, namespace: dict[str, Any], seed: int = 1) -> Finding:
    case = Case(seed, COURSE)
    return judge_here(task, case, bring(task, namespace, case))


@pytest.mark.parametrize(
    ("before", "after", "sentence", "hint", "line"),
    [
        ("(output)", "(args[0])", "answer[0] is tensor(", "uses_old_output", ""),
        ("(output)", "(output * x1)", "answer[0] is tensor([nan, nan, nan])", "reads_globals", ""),
        ("add.register", "nn.Identity().register", "answer has 0 items, wanted 1", "hook_never_ran", ""),
        ("    answer.append(output)", "    output[9]", "IndexError: ", None, "line 5 of your cell: output[9]"),
        ("module, args, output", "output", "TypeError: hook() takes 1 positional argument", "hook_arguments", ""),
        ("(output)", "(outptu)", "NameError: name 'outptu'", "undefined_name", "line 5 of "),
        ("answer.append(output)", "raise SystemExit(0)", "SystemExit: 0", None, "line 5 of "),
        ("Add(), []", "Add(), ()", "`answer` is a tuple, wanted a list.", None, ""),
    ],
)
def test_a_wrong_answer_is_told_what_and_where(
    cell: CELL, before: str, after: str, sentence: str, hint: str | None, line: str
) -> None:
    finding = verdict(Sum(), cell("from torch import nn\n" + RIGHT.lstrip("\n").replace(before, after)))
    assert not finding.passed
    assert ENGLISH.finding(finding).startswith(sentence)
    assert finding.hint == hint
    assert ENGLISH.line(finding).startswith(line)


def test_an_interrupt_is_the_learners_own_wish(cell: CELL) -> None:
    with pytest.raises(KeyboardInterrupt):
        verdict(Sum(), cell(RIGHT.replace("answer.append(output)", "raise KeyboardInterrupt")))


@pytest.mark.parametrize("got", ["(output + 1)", "(float('nan') * output)", "(1)"])
def test_a_secret_check_tells_no_wanted_value_anywhere(cell: CELL, got: str) -> None:
    finding = verdict(Secret(), cell(RIGHT.replace("(output)", got)))
    numbers = [f"{number:.3f}"[:-1] for number in Secret().truth(Case(1, COURSE))["answer"][0].tolist()]
    assert not finding.passed
    for text in (repr(finding), text_of(COURSE, finding), html_of(COURSE, "forward", [finding])):
        assert not any(number in text for number in numbers)


def run_check(exercise: str, *tasks: type[Check], namespace: dict[str, Any]) -> None:
    """Call check() as a test cell does: from the namespace of the notebook."""
    exec("check(exercise, *tasks)", namespace | {"check": check, "exercise": exercise, "tasks": tasks})


def test_every_case_has_to_pass(cell: CELL) -> None:
    class Third(Check):
        """Passes on two seeds of three."""

        cases = 3

        def probe(self, nb: Any, case: Case) -> object:
            return case.seed

        def truth(self, case: Case) -> object:
            return case.seed if case.seed != 5003 else -1

    assert seeds_of(Third.cases, 5) == [5001, 5002, 5003]
    with collecting(COURSE, 5) as found:
        run_check("three", Third, namespace={})
    assert [(f.passed, f.seed) for f in found] == [(False, 5003)]


def test_check_raises_on_the_first_wrong_check_and_shows_no_chain(cell: CELL) -> None:
    with pytest.raises(CheckFailed) as caught:
        run_check("forward", Sum, Secret, namespace=cell(RIGHT.replace("(output)", "(outptu)")))
    assert caught.value.finding.check == "Sum"
    assert caught.value.__suppress_context__
    assert str(caught.value).splitlines() == [
        "NameError: name 'outptu' is not defined",
        "  line 5 of your cell: answer.append(outptu)",
        "  asked: After one call `answer` holds the sum.",
        f"  looks like: {all_hints(COURSE)['undefined_name'].name}. {all_hints(COURSE)['undefined_name'].question}",
    ]


class Right(Check):
    """It is three."""

    def probe(self, nb, case):
        return {"x": nb.x}

    def truth(self, case):
        return {"x": 3}


def test_errors_of_one_check_are_looked_at_before_the_general_ones() -> None:
    class Own(Right):
        """It is three."""

        errors: ClassVar[dict[str, str]] = {r"NameError: name 'z'": "wrong_order"}

        def probe(self, nb, case):
            return {"x": z}  # noqa: F821

    with collecting(COURSE) as findings:
        check("three", Own)
    assert findings[0].hint == "wrong_order"
    with collecting(COURSE) as findings:
        check("three", type("Other", (Own,), {"errors": {}}))
    assert findings[0].hint == "undefined_name"


SEEDS = range(1, 40)


def test_a_draw_depends_on_seed_and_name_only() -> None:
    state, first = torch.get_rng_state(), Case(5, COURSE)
    first.tensor("other", 100)
    for draw in (
        lambda case, name: case.tensor(name, 3, 4, requires_grad=True),
        lambda case, name: case.build(name, nn.Linear, 2, 3).weight,
    ):
        one, other = draw(first, "x"), draw(Case(5, COURSE), "x")
        assert torch.equal(one, other) and one is not other and one.is_leaf and one.requires_grad
        assert not torch.equal(one, draw(Case(5, COURSE), "y")) and not torch.equal(one, draw(Case(6, COURSE), "x"))
    assert torch.equal(torch.get_rng_state(), state)
    for seed in SEEDS:
        assert len({*Case(seed, COURSE).shape("s", 3, 2, 6)}) == 3 and len({*Case(seed, COURSE).words("names", 4)}) == 4
        assert sorted(Case(seed, COURSE).shuffled("order", "abcdef")) == list("abcdef")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_no_element_is_near_zero(dtype: torch.dtype) -> None:
    drawn = torch.stack([Case(seed, COURSE).tensor("x", 20, dtype=dtype) for seed in SEEDS])
    assert drawn.dtype == dtype
    assert float(drawn.double().abs().min()) >= 0.5
    assert bool((drawn < 0).any()) == dtype.is_signed
    assert bool((Case(1, COURSE).tensor("x", 50, positive=True, dtype=dtype) > 0).all())


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
