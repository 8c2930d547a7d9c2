"""A check from end to end: probe beside the learner's code, truth apart from it, equal inputs for both, a verdict."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from course.models import Add
from nbproof.checks.case import Case
from nbproof.checks.check import CHECK_LINE, Check, bring, check, collecting, judge_here, listing, seeds_of
from nbproof.display.help import all_hints
from nbproof.display.outline import OutlinedExercise, fingerprint
from nbproof.display.panel import html_of, text_of
from nbproof.display.progress import entries
from nbproof.display.session import SESSION
from nbproof.display.words import ENGLISH
from nbproof.values.compare import Close
from nbproof.values.results import CheckFailed, Finding, ProbeError, ProbeResult

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
    case = Case(seed)
    return judge_here(task, case, bring(task, namespace, case))


def test_a_right_answer_passes(cell: CELL) -> None:
    finding = verdict(Sum(), cell(RIGHT))
    assert finding.passed
    assert (finding.check, finding.asked) == ("Sum", "After one call `answer` holds the sum.")


@pytest.mark.parametrize(
    ("before", "after", "sentence", "hint", "line"),
    [
        ("(output)", "(args[0])", "answer[0] is tensor(", "uses_old_output", ""),
        ("(output)", "(output * x1)", "answer[0] is tensor([nan, nan, nan])", "reads_globals", ""),
        ("add.register", "nn.Identity().register", "answer has 0 items, wanted 1", "hook_never_ran", ""),
        ("    answer.append(output)", "    output[9]", "IndexError: ", None, "line 5 of your cell: output[9]"),
        ("module, args, output", "output", "TypeError: hook() takes 1 positional argument", "hook_arguments", ""),
        (
            "(output)",
            "(outptu)",
            "NameError: name 'outptu'",
            "undefined_name",
            "line 5 of your cell: answer.append(outptu)",
        ),
        (
            "answer.append(output)",
            "raise SystemExit(0)",
            "SystemExit: 0",
            None,
            "line 5 of your cell: raise SystemExit(0)",
        ),
        ("answer.append(output)", "raise NotImplementedError", "NotImplementedError", "not_started", "line 5 of "),
        ("Add(), []", "Add(), ()", "`answer` is a tuple, wanted a list.", None, ""),
        ("(output)", "(args[0].zero_() + output)", "x1 is tensor([0., 0., 0.])", "edits_in_place", ""),
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


def test_an_exception_beyond_exception_costs_the_check_and_no_more(cell: CELL) -> None:
    source = RIGHT.replace("answer.append(output)", "raise type('Odd', (BaseException,), {})('hm')")
    assert ENGLISH.finding(verdict(Sum(), cell(source))) == "Odd: hm"


def test_what_is_printed_in_the_probe_comes_with_the_finding(cell: CELL, capsys: pytest.CaptureFixture[str]) -> None:
    finding = verdict(Sum(), cell(RIGHT.replace("(output)", "(print('got', len(args), '\\ud800'))")))
    assert finding.printed == "got 2 \\ud800\n"
    assert capsys.readouterr() == ("", "")


def test_an_answer_made_for_the_comparison_is_read_as_data(cell: CELL) -> None:
    source = RIGHT + "class Yes:\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
    assert not verdict(Sum(), cell(source.replace("(output)", "(Yes())"))).passed


def test_warnings_and_prints_of_a_truth_reach_nobody(cell: CELL, capfd: pytest.CaptureFixture[str]) -> None:
    class Loud(Sum):
        """Warns."""

        def truth(self, case: Case) -> dict[str, Any]:
            warnings.warn("deprecated", stacklevel=1)
            print("wanted: the answer")
            os.write(2, b"C++")
            return super().truth(case)

    assert verdict(Loud(), cell(RIGHT)).passed
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("got", ["(output + 1)", "(float('nan') * output)", "(1)", "(None)"])
def test_a_secret_check_tells_no_wanted_value_anywhere(cell: CELL, got: str) -> None:
    finding = verdict(Secret(), cell(RIGHT.replace("(output)", got)))
    numbers = [f"{number:.3f}"[:-1] for number in Secret().truth(Case(1))["answer"][0].tolist()]
    assert not finding.passed
    for text in (repr(finding), text_of(finding), html_of("forward", [finding])):
        assert not any(number in text for number in numbers)


def test_a_check_that_is_no_secret_tells_what_was_wanted(cell: CELL) -> None:
    finding = verdict(Sum(), cell(RIGHT.replace("(output)", "(output + 1)")))
    for number in Sum().truth(Case(1))["answer"][0].tolist():
        assert f"{number:.3f}"[:-1] in ENGLISH.finding(finding)


def test_judging_needs_no_namespace() -> None:
    case, trouble = (
        Case(1),
        ProbeError("TypeError", "hook() takes 1 positional argument but 3 were given", inside="inner"),
    )
    finding = judge_here(Sum(), case, ProbeResult(trouble=trouble, printed="x"))
    assert (finding.hint, finding.printed, finding.passed) == ("hook_arguments", "x", False)


def run_check(exercise: str, *tasks: type[Check], namespace: dict[str, Any]) -> None:
    """Call check() as a test cell does: from the namespace of the notebook."""
    exec("check(exercise, *tasks)", namespace | {"check": check, "exercise": exercise, "tasks": tasks})


def test_check_says_that_all_is_well(cell: CELL, capsys: pytest.CaptureFixture[str]) -> None:
    run_check("forward", Sum, Secret, namespace=cell(RIGHT))
    assert capsys.readouterr().out == "forward: passed (2 of 2 checks)\n"


def test_check_raises_on_the_first_wrong_check_and_shows_no_chain(cell: CELL) -> None:
    with pytest.raises(CheckFailed, match=r"answer has 0 items, wanted 1\n  asked: After one call") as caught:
        run_check("forward", Sum, Secret, namespace=cell(RIGHT.replace("answer.append", "list")))
    assert caught.value.finding.check == "Sum"
    assert caught.value.__suppress_context__


def test_every_case_has_to_pass(cell: CELL) -> None:
    class Third(Check):
        """Passes on two seeds of three."""

        cases = 3

        def probe(self, nb: Any, case: Case) -> object:
            return case.seed

        def truth(self, case: Case) -> object:
            return case.seed if case.seed != 5003 else -1

    assert seeds_of(Third, 5) == [5001, 5002, 5003]
    with collecting(5) as found:
        run_check("three", Third, namespace={})
    assert [(f.passed, f.seed) for f in found] == [(False, 5003)]


def test_collecting_gathers_without_raising_and_ends_with_its_block(cell: CELL) -> None:
    wrong = cell(RIGHT.replace("answer.append", "list"))
    with collecting(2) as found:
        run_check("forward", Sum, Secret, namespace=wrong)
        with collecting(3) as inner:
            run_check("forward", Sum, namespace=wrong)
    assert [(f.check, f.seed) for f in found] == [("Sum", 2001), ("Secret", 2001)]
    assert [f.seed for f in inner] == [3001]
    with pytest.raises(CheckFailed):
        run_check("forward", Sum, namespace=wrong)


def test_listing_runs_nothing() -> None:
    with listing() as tasks:
        run_check("forward", Sum, Secret, namespace={})
    assert tasks == [("forward", Sum), ("forward", Secret)]


def test_the_seed_of_a_kernel_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Seed(Check):
        """Brings its seed."""

        cases = 1

        def probe(self, nb: Any, case: Case) -> object:
            return case.seed

        def truth(self, case: Case) -> object:
            return Close(7001, atol=0)

    monkeypatch.setenv("COURSE_SEED", "7")
    run_check("seed", Seed, namespace={})


SCRIPT = '''
import os
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("""
from nbproof.checks.check import Check, check
class Three(Check):
    "Three is asked for."
    def probe(self, nb, case): return {"answer": nb.answer}
    def truth(self, case): return {"answer": 3}
answer = 4
""")
shell.run_cell("check('three', Three)")
os.environ["NBGRADER_EXECUTION"] = "validate"
shell.run_cell("check('three', Three)")
'''


@pytest.mark.slow
def test_in_ipython_a_failed_check_is_a_few_lines_and_no_traceback(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
    environment |= {"IPYTHONDIR": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True)
    told = "CheckFailed: answer is 4, wanted 3"
    assert [line for line in done.stdout.splitlines() if line] == [told, told, "  asked: Three is asked for."]
    assert done.stderr == ""


def test_without_ipython_the_exception_is_the_text(cell: CELL) -> None:
    with pytest.raises(CheckFailed) as caught:
        run_check("forward", Sum, namespace=cell(RIGHT.replace("(output)", "(outptu)")))
    assert str(caught.value).splitlines() == [
        "NameError: name 'outptu' is not defined",
        "  line 5 of your cell: answer.append(outptu)",
        "  asked: After one call `answer` holds the sum.",
        f"  looks like: {all_hints()['undefined_name'].name}. {all_hints()['undefined_name'].question}",
    ]


class Right(Check):
    """It is three."""

    def probe(self, nb, case):
        return {"x": nb.x}

    def truth(self, case):
        return {"x": 3}


TODO = "x = None\npass  # TODO: your code"
TESTED = f"{CHECK_LINE}\ncheck('three', Right)"


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch):
    """A person's notebook: run(answer) runs this TODO cell, then the check."""
    history = [""]
    shell = types.SimpleNamespace(has_trait=lambda name: True, user_ns={"In": history})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(
        sys.modules, "IPython.display", types.SimpleNamespace(display=lambda *args, **kwargs: None)  # type: ignore[arg-type]
    )  # fmt: skip
    outlined = OutlinedExercise("three", "Three", "easy", 1, 1.0, (("Right",),), (0,), fingerprint(TODO))
    monkeypatch.setattr("nbproof.display.outline.exercise_named", lambda name: outlined)
    monkeypatch.setattr(SESSION, "last", None)

    def run(answer: str | None) -> None:
        space: dict[str, object] = {"check": check, "Right": Right}
        for text in [answer, TESTED] if answer is not None else [TESTED]:
            history.append(text)
            with contextlib.suppress(CheckFailed, NameError):
                exec(text, space)

    return run


def test_a_person_who_checks_an_answer_finds_it_in_the_diary(at_work) -> None:
    at_work("x = 2")
    assert entries()["three"].solved is None
    assert SESSION.last is not None
    assert not SESSION.last.passed
    at_work("x = 3")
    assert entries()["three"].solved is not None
    assert entries()["three"].tries == 2
    assert SESSION.last.passed


def test_run_all_on_a_cell_as_it_was_handed_out_is_no_try(at_work) -> None:
    at_work(TODO)
    at_work(TODO + "  \n")
    assert entries() == {}
    # The check cell a second time: the TODO cell before it is what counts.
    at_work(None)
    assert entries() == {}
    at_work(TODO + "\nx = 3")
    assert entries()["three"].tries == 1


@pytest.mark.parametrize("who", ["autograde", "validate"])
def test_nothing_is_written_down_while_nbgrader_runs_the_notebook(
    at_work, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", who)
    at_work("x = 3")
    assert entries() == {}


def test_a_diary_that_cannot_be_written_costs_a_check_nothing(at_work, diary: Path) -> None:
    diary.mkdir()
    at_work("x = 3")
    assert SESSION.last is not None
    assert SESSION.last.passed


def test_errors_of_one_check_are_looked_at_before_the_general_ones() -> None:
    class Own(Right):
        """It is three."""

        errors: ClassVar[dict[str, str]] = {r"NameError: name 'z'": "wrong_order"}

        def probe(self, nb, case):
            return {"x": z}  # noqa: F821

    with collecting() as findings:
        check("three", Own)
    assert findings[0].hint == "wrong_order"
    with collecting() as findings:
        check("three", type("Other", (Own,), {"errors": {}}))
    assert findings[0].hint == "undefined_name"


def test_below_a_panel_the_error_is_one_line_and_elsewhere_it_tells(at_work, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = CheckFailed(Finding("Right", "It is three.", False), "x is 2, wanted 3\n  asked: It is three.")
    assert failed._render_traceback_() == ["CheckFailed: not yet, see above"]
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert failed._render_traceback_() == ["CheckFailed: x is 2, wanted 3\n  asked: It is three."]
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))  # type: ignore[arg-type]
    assert failed._render_traceback_() == ["CheckFailed: x is 2, wanted 3"]


SEEDS = range(1, 40)


def test_a_draw_depends_on_seed_and_name_only() -> None:
    first = Case(5)
    one, other = (Case(5).tensor("x", 3, 4, requires_grad=True) for _ in range(2))
    assert torch.equal(one, other) and one is not other and one.is_leaf and one.requires_grad
    first.tensor("other", 100)
    first.integer("n", 1, 9)
    assert torch.equal(first.tensor("x", 3), Case(5).tensor("x", 3))
    assert not torch.equal(Case(5).tensor("x", 3), Case(5).tensor("y", 3))
    assert not torch.equal(Case(5).tensor("x", 3), Case(6).tensor("x", 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_no_element_is_near_zero(dtype: torch.dtype) -> None:
    drawn = torch.stack([Case(seed).tensor("x", 20, dtype=dtype) for seed in SEEDS])
    assert drawn.dtype == dtype
    assert float(drawn.double().abs().min()) >= 0.5
    assert bool((drawn < 0).any()) == dtype.is_signed
    assert bool((Case(1).tensor("x", 50, positive=True, dtype=dtype) > 0).all())


def test_drawing_leaves_the_global_generator_alone() -> None:
    state = torch.get_rng_state()
    case = Case(3)
    case.tensor("x", 3)
    case.build("net", nn.Linear, 2, 2)
    assert torch.equal(torch.get_rng_state(), state)


def test_built_models_are_equal_and_share_nothing() -> None:
    one, other = (Case(3).build("net", nn.Linear, 2, 3) for _ in range(2))
    assert torch.equal(one.weight, other.weight)
    assert one.weight.data_ptr() != other.weight.data_ptr()
    assert not torch.equal(one.weight, Case(4).build("net", nn.Linear, 2, 3).weight)


def test_shapes_tell_rows_from_columns() -> None:
    for seed in SEEDS:
        shape = Case(seed).shape("s", 3, 2, 6)
        assert len(set(shape)) == 3
        assert min(shape) >= 2


def test_words_differ_from_each_other_and_between_seeds() -> None:
    drawn = [tuple(Case(seed).words("names", 4)) for seed in SEEDS]
    assert all(len(set(words)) == 4 for words in drawn)
    assert len(set(drawn)) > len(drawn) / 2


def test_shuffling_keeps_the_items() -> None:
    assert sorted(Case(2).shuffled("order", "abcdef")) == list("abcdef")
    assert len({tuple(Case(seed).shuffled("order", "abcdef")) for seed in SEEDS}) > 10
