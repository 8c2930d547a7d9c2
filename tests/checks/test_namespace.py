"""The calm around a probe, errors told in the learner's own lines, and the misconception behind a difference or an error.

Only what is certain gets a name.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as internals
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from nbproof.checks.case import Case
from nbproof.checks.check import Check, bring
from nbproof.checks.diagnosis import hint_for_difference, hint_for_error
from nbproof.checks.namespace import Notebook, Unanswered, trouble_of, undisturbed
from nbproof.values.compare import AnyOf, Matches, first_difference
from nbproof.values.evidence import snapshot
from nbproof.values.results import ProbeError
from nbproof.values.words import ENGLISH
from tests import COURSE
from tests.leaves import LEAVES

CASE = Case(1, COURSE)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda nb: nb.answer, "`answer` is not defined. Run the exercise's TODO cell, then this cell again."),
        (lambda nb: nb.list("n"), "`n` is an int, wanted a list."),
        (lambda nb: nb.function("n"), "`n` is an int, wanted a function."),
        (lambda nb: nb.module("none"), "`none` is None, wanted an nn.Module."),
    ],
)
def test_missing_and_misused_names_are_told_in_plain_words(ask: Callable[[Notebook], object], said: str) -> None:
    with pytest.raises(Unanswered) as caught:
        ask(Notebook({"n": 3, "none": None}, LEAVES))
    assert ENGLISH.trouble(trouble_of(caught.value, __file__, COURSE)) == said


def test_nothing_reaches_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    handler, logger = logging.StreamHandler(sys.stderr), logging.getLogger("a learner's")
    logger.addHandler(handler)
    try:
        with undisturbed({}, (), CASE):
            warnings.warn("a warning", stacklevel=1)
            print("python", file=sys.stderr)
            os.write(2, b"C++")
            logger.warning("a record")
        assert capfd.readouterr().err == ""
        os.write(2, b"C++ again, ")
        logger.warning("a record again")
        assert capfd.readouterr().err == "C++ again, a record again\n"
    finally:
        logger.removeHandler(handler)
    with pytest.warns(UserWarning, match="seen again"):
        warnings.warn("seen again", stacklevel=1)


def test_prints_are_gathered_up_to_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    with undisturbed({}, (), CASE) as printed:
        print("hello")
        for _ in range(100):
            print("x" * 10_000)
    assert printed.getvalue().startswith("hello\n")
    assert len(printed.getvalue()) <= 100_000
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_everything_is_put_back(error: type[BaseException] | None) -> None:
    namespace: dict[str, Any] = {"x1": 1, "answer": []}
    handle = nn.modules.module.register_module_forward_hook(lambda module, args, output: output + 1)
    state = torch.get_rng_state()
    torch.set_default_dtype(torch.float64)
    kind = internals._global_is_full_backward_hook
    try:
        with torch.no_grad(), pytest.raises(error) if error else warnings.catch_warnings():
            with undisturbed(namespace, ("x1", "output"), CASE):
                assert torch.is_grad_enabled()
                assert torch.get_default_dtype() == torch.float32
                assert float(nn.Identity()(torch.zeros(1))) == 0.0
                torch.rand(3)
                torch.set_grad_enabled(False)
                torch.set_default_dtype(torch.float16)
                nn.modules.module.register_module_full_backward_hook(lambda *args: None)
                namespace["x1"] = "overwritten"
                if error:
                    raise error
            assert not torch.is_grad_enabled()
        assert torch.get_default_dtype() == torch.float64
        assert torch.equal(torch.get_rng_state(), state)
        assert namespace == {"x1": 1, "answer": []}
        assert not internals._global_backward_hooks
        assert internals._global_is_full_backward_hook == kind
        assert float(nn.Identity()(torch.zeros(1))) == 1.0
    finally:
        torch.set_default_dtype(torch.float32)
        handle.remove()


LEFT_ON = {
    "autocast": "torch.autocast('cpu').__enter__()",
    "autocast, switched on": "torch.set_autocast_enabled('cpu', True)",
    "inference mode": "mode = torch.inference_mode(); mode.__enter__()",
    "no gradients": "torch.set_grad_enabled(False)",
    "another dtype": "torch.set_default_dtype(torch.float64)",
    "a default device": "torch.set_default_device('meta')",
    "a default type": "torch.set_default_tensor_type(torch.DoubleTensor)",
    "determinism": "torch.use_deterministic_algorithms(True)",
    "lower precision": "torch.set_float32_matmul_precision('medium')",
    "warnings as errors": "warnings.simplefilter('error')",
}
BEFORE_AND_WITHIN = """
import json, os, sys, torch, warnings
from nbproof.checks.case import Case
from nbproof.checks.namespace import undisturbed
from nbproof.course_file import read_course
from pathlib import Path

CASE = Case(1, read_course(Path(sys.argv[1])))

def state():
    modes = torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled(), torch.is_grad_enabled()
    kinds = torch.get_default_dtype(), torch.get_float32_matmul_precision(), str(torch.zeros(1).device)
    return *modes, *kinds, torch.get_deterministic_debug_mode()

def brought():
    x = torch.ones(2, 3, requires_grad=True)
    torch.nn.functional.linear(x, torch.full((2, 3), 1.001)).sum().backward()
    warnings.warn("as ever")
    return x.grad.tolist(), state()

def tried(setting):
    with undisturbed({}, (), CASE):
        fresh = brought()
    outside = state()
    with undisturbed({}, (), CASE):
        exec(setting)
    assert state() == outside
    exec(setting)
    left_on = state()
    with undisturbed({}, (), CASE):
        assert brought() == fresh, brought()
    assert state() == left_on

torch.set_num_threads(1)
for name, setting in json.loads(sys.argv[2]).items():
    child = os.fork()
    if child == 0:
        try: tried(setting)
        except BaseException as error: print(name, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print("tried", flush=True)
"""


@pytest.mark.slow
def test_what_somebody_has_left_on_for_everybody_is_set_aside() -> None:
    place = str(COURSE.folder)
    command = [sys.executable, "-c", BEFORE_AND_WITHIN, place, json.dumps(LEFT_ON)]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "tried\n"


@pytest.mark.parametrize("kind", [TorchFunctionMode, TorchDispatchMode])
def test_modes_are_set_aside_and_what_a_probe_leaves_on_is_taken_off(kind: type[Any]) -> None:
    class Doubles(kind):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {})) * 2 if func is torch.sin else func(*args, **(kwargs or {}))

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {})) * 2 if "sin" in str(func) else func(*args, **(kwargs or {}))

    class Sine(Check):
        """It has a sine."""

        def probe(self, nb: Notebook, case: Case) -> Any:
            return nb.function("answer")(torch.ones(2))

    one = torch.ones(2).sin()
    with Doubles():
        assert bring(Sine(), {"answer": torch.sin}, CASE).evidence == snapshot(one)
        assert torch.equal(torch.sin(torch.ones(2)), one * 2)
    left = bring(Sine(), {"answer": lambda x: Doubles().__enter__() and x}, CASE)
    assert left.trouble is None
    assert torch.equal(torch.sin(torch.ones(2)), one)
    assert bring(Sine(), {"answer": lambda x: torch.set_default_device("cpu")}, CASE).trouble is None


def test_hooks_for_saved_tensors_are_set_aside_and_put_back_in_order() -> None:
    def halved(share: float) -> torch.autograd.graph.saved_tensors_hooks:
        return torch.autograd.graph.saved_tensors_hooks(lambda saved: saved * share, lambda kept: kept)

    def gradient() -> float:
        x = torch.ones(1, requires_grad=True)
        (x * x).backward()
        return float(x.grad)

    with halved(0.5):
        with halved(0.25):
            with undisturbed({}, (), CASE):
                assert gradient() == 2.0
                halved(0.0).__enter__()
                assert gradient() == 0.0
            assert gradient() == 0.5
        assert gradient() == 1.0
    assert gradient() == 2.0


def trouble(cell: Callable[..., dict[str, Any]], source: str) -> ProbeError:
    """The trouble that a learner's function ``f`` brings."""
    namespace = cell(source)
    try:
        namespace["f"]()
    except BaseException as error:
        return trouble_of(error, __file__, COURSE)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("source", "line", "inside"),
    [
        ("def f():\n    x = torch.ones(2)\n    return x.climp_(0)", "4: return x.climp_(0)", ""),
        (
            "net = torch.nn.ReLU()\nnet.register_forward_hook(lambda output: output)\ndef f():\n    net(torch.ones(1))",
            "5: net(torch.ones(1))",
            "inner|_call_impl",
        ),
    ],
    ids=["an error", "a hook"],
)
def test_an_error_is_told_with_the_learners_own_line_and_where_torch_called_it(
    cell: Callable[..., dict[str, Any]], source: str, line: str, inside: str
) -> None:
    told = trouble(cell, f"import torch\n{source}\n")
    assert told.place == line
    assert re.fullmatch(inside, told.inside)


T = torch.tensor
NAN = float("nan")


def hint(
    got: object,
    wanted: object,
    mistakes: Mapping[str, object] | None = None,
    blame: Mapping[str, str] | None = None,
    poisoned: bool = False,
) -> str | None:
    evidence = snapshot(got)
    difference = first_difference(evidence, wanted, ENGLISH)
    assert difference is not None
    return hint_for_difference(COURSE, evidence, difference, wanted, mistakes or {}, blame or {}, poisoned)


DOUBLED = {"doubled": {"answer": [T([4.0])]}, "negated": {"answer": [T([-2.0])]}}
GROWS, BOTH = {"accumulates": {"x.grad": 6.0}}, {"answer": 1.0, "x.grad": 3.0}
LOOKED_AT = {"answer": 1.0, "hooks": Matches(lambda got: None, "anything")}
BLAME = {"x1": "wrong_x1", "x1.grad": "wrong_grad"}


@pytest.mark.parametrize(
    ("got", "wanted", "known", "named"),
    [
        ({"answer": [T([-2.0])]}, {"answer": [T([2.0])]}, {"mistakes": DOUBLED}, "negated"),
        # A mistake names only the fields that tell.
        ({"answer": 1.0, "x.grad": 6.0}, BOTH, {"mistakes": GROWS}, "accumulates"),
        # One that brings what is right explains nothing.
        ({"answer": 1.0, "x.grad": 9.0}, BOTH, {"mistakes": {"harmless_here": {"answer": 1.0}}}, None),
        ({"answer": 2.0, "hooks": 2}, LOOKED_AT, {"mistakes": {"registered_twice": {"hooks": 2}}}, "registered_twice"),
        # A whole field that is empty is a hook that never ran.
        ({"answer": []}, {"answer": [T([1.0])]}, {}, "hook_never_ran"),
        ({"answer": T([1.0, NAN])}, {"answer": T([1.0, 2.0])}, {"poisoned": True}, "reads_globals"),
        ({"answer": NAN}, {"answer": 2.0}, {}, None),
        # Infinity is not the poison; nan in another field does not explain this one.
        ({"answer": T([float("inf")])}, {"answer": T([1.0])}, {"poisoned": True}, None),
        ({"answer": 1.0, "b": T([NAN])}, {"answer": 2.0, "b": T([1.0])}, {"poisoned": True}, None),
        # Blame goes by the whole name of a field.
        ({"x1.grad": [1.0, 3.0], "x1": 1.0}, {"x1.grad": [1.0, 2.0], "x1": 1.0}, {"blame": BLAME}, "wrong_grad"),
        # Another order in another field does not explain this one.
        ({"answer": 1, "names": ["b", "a"]}, {"answer": 2, "names": ["a", "b"]}, {}, None),
    ],
)
def test_only_a_certain_misconception_gets_a_name(
    got: object, wanted: object, known: dict[str, Any], named: str | None
) -> None:
    assert hint(got, wanted, **known) == named


@pytest.mark.parametrize(
    ("got", "wanted", "permuted"),
    [
        ([T([1.0]), T([2.0])], [T([2.0]), T([1.0])], True),
        (["b", "a"], AnyOf(["x", "y"], ["a", "b"]), True),
        (["a", "a", "b"], ["a", "b", "b"], False),
        ([True, False], [False, True], False),
    ],
)
def test_the_right_values_in_the_wrong_order(got: object, wanted: object, permuted: bool) -> None:
    assert hint({"answer": got}, {"answer": wanted}) == ("wrong_order" if permuted else None)


DROPPED = "Add.forward() missing 1 required positional argument: 'x2'"


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (("TypeError", "hook() takes 1 positional argument but 3 were given", "", "_call_impl"), "hook_arguments"),
        # The learner's own calls, and a model's forward, are no hooks.
        (("TypeError", "scale() takes 1 positional argument but 2 were given"), None),
        (("TypeError", "Add.forward() takes 3 positional arguments but 4 were given", "", "_call_impl"), None),
        (("TypeError", DROPPED, "", "_call_impl"), "drops_argument"),
        (("TypeError", DROPPED, "line 2: add(x1)", "_call_impl"), None),
        (("NotImplementedError", ""), "not_started"),
    ],
)
def test_an_error_gets_a_name_where_only_one_cause_fits(error: tuple[str, ...], named: str | None) -> None:
    assert hint_for_error(COURSE, *error) == named


# What torch really says, so that a new version of it cannot silence a hint unnoticed.
REAL = {
    "overwrites_saved": "x = torch.ones(2, requires_grad=True); y = x.exp(); y.mul_(2); y.sum().backward()",
    "tensor_for_parameter": "m = nn.Linear(2, 2); m.weight = torch.ones(2, 2)",
    "full_hook_return": "m = nn.Linear(2, 2); m.register_full_backward_hook(lambda m, i, o: (i[0], i[0]));"
    "m(torch.ones(2, requires_grad=True)).sum().backward()",
    "in_place_after_full_hook": "m = nn.Linear(2, 2); m.register_full_backward_hook(lambda m, i, o: None);"
    "m(torch.ones(1, 2)).relu_()",
    "hook_arguments": "w = torch.ones(2, requires_grad=True); w.register_hook(lambda a, b: a); w.sum().backward()",
}


@pytest.mark.parametrize("named", REAL)
def test_torchs_own_messages_are_recognised(named: str) -> None:
    try:
        exec(compile(REAL[named], "<cell>", "exec"), {"torch": torch, "nn": torch.nn})
    except Exception as error:
        told = trouble_of(error, __file__, COURSE)
    assert hint_for_error(COURSE, told.kind, told.message, told.place, told.inside) == named
