import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.models import Add
from course.probing import hook_counts, other_forward
from course.truths import ANYTHING, other_than
from course.traces import gradients_left


def rescale_inputs(case, *shape):
    """`x1`, `x2`, and a factor between 0.2 and 0.9."""
    return case.tensor("x1", *shape), case.tensor("x2", *shape), case.integer("factor", 2, 9) / 10


# Errors that tell what the hook does not expect.
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"IndexError: (tuple|list) index out of range": "rescale_by_place_only",
    r"ValueError: not enough values to unpack": "rescale_by_place_only",
    r"KeyError: 'x[12]'": "rescale_by_name_only",
    r"TypeError: .*got multiple values for argument": "rescale_handed_over_twice",
    r"RuntimeError: forward pre-hook must return None or a tuple of": "rescale_no_pair",
    r"TypeError: .*argument after \*\* must be a mapping": "rescale_no_pair",
    r"RuntimeError: a (view of a )?leaf Variable that requires grad": "rescale_writes_into_x2",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|forward)'": "function_uses_global",
}


class ByPlace(Check):
    """`module(x1, x2)` works with `factor * x2` until the handle is removed; the caller's tensors stay as they were."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 4)
        module = Add()
        handle = nb.function("rescale_argument")(module, factor)
        found = {"output": module(x1, x2), "x1": x1, "x2": x2, "hooks": sum(hook_counts(module).values())}
        found["output of a second call"] = module(x1, x2)
        found["a handle is returned"] = callable(getattr(handle, "remove", None))
        if found["a handle is returned"]:
            handle.remove()
            found["output after handle.remove()"] = module(x1, x2)
        return found

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "output": x1 + factor * x2, "x1": x1, "x2": x2, "hooks": ANYTHING, "a handle is returned": True,
            "output of a second call": x1 + factor * x2,
            "output after handle.remove()": x1 + x2,
        }

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "returns_nothing": {"output": x1 + x2, "hooks": 0, "a handle is returned": False},
            "hook_never_ran": {"output": x1 + x2, "hooks": 0},
            "rescale_writes_into_x2": {"x2": other_than(x2)},
            "rescale_other_argument": {
                "output": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 + x2 + factor, x1 * factor)
            },
            "rescale_without_effect": {"output": x1 + x2},
            "runs_only_once": {"output": x1 + factor * x2, "output of a second call": x1 + x2},
            "rescale_other_forward": {"output": x1 + factor * x2, "hooks": 0},
            "rescale_no_handle": {"a handle is returned": False},
            "handle_of_another": {"output after handle.remove()": x1 + factor * x2},
        }


class ByName(Check):
    """`module(x1, x2=x2)`, `module(x1=x1, x2=x2)` and `module(x2=x2, x1=x1)` work with `factor * x2` as well."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 4)
        module = Add()
        nb.function("rescale_argument")(module, factor)
        return {
            "module(x1, x2=x2)": module(x1, x2=x2),
            "module(x1=x1, x2=x2)": module(x1=x1, x2=x2),
            "module(x2=x2, x1=x1)": module(x2=x2, x1=x1),
            "x2": x2,
        }

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        output = x1 + factor * x2
        names = ("module(x1, x2=x2)", "module(x1=x1, x2=x2)", "module(x2=x2, x1=x1)")
        return {**dict.fromkeys(names, output), "x2": x2}

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "rescale_writes_into_x2": {"x2": other_than(x2)},
            "rescale_by_place_only": {"module(x1, x2=x2)": x1 + x2},
            "rescale_other_argument": {
                "module(x2=x2, x1=x1)": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 * factor + x2 * factor)
            },
        }


class AnyForwardWithGradients(Check):
    """Right for any forward of `x1` and `x2`, and gradients flow back to both, to `x2` through the factor."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def run(self, case, call):
        factor = case.integer("factor", 2, 9) / 10
        x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3, requires_grad=True)
        output = call(x1, x2, factor)
        output.backward(case.tensor("upstream", 2, 3))
        return {"output": output, "x1.grad": x1.grad, "x2.grad": x2.grad}

    def probe(self, nb, case):
        def call(x1, x2, factor):
            with other_forward(Add(), lambda self, x1, x2: x1**2 * x2**3) as module:
                nb.function("rescale_argument")(module, factor)
                return module(x1, x2=x2) if case.seed % 2 else module(x1, x2)

        return self.run(case, call)

    def truth(self, case):
        return self.run(case, lambda x1, x2, factor: x1**2 * (factor * x2) ** 3)

    def mistakes(self, case):
        x1, x2, factor = case.tensor("x1", 2, 3), case.tensor("x2", 3), case.integer("factor", 2, 9) / 10
        right = self.truth(case)
        return {
            "formula_of_visible_forward": {
                "output": AnyOf(x1 + factor * x2, x1**2 * x2**3 - (1 - factor) * x2),
            },
            "rescale_cuts_gradient": {"output": right["output"], "x2.grad": other_than(right["x2.grad"])},
        }


class EachModuleItsFactor(Check):
    """Two modules have two factors, one of them 0, a third has none; hooks of others stay, and so does the dtype."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 3)
        first, second, third, off, of_others = Add(), Add(), Add(), Add(), Add()
        of_others.register_forward_pre_hook(lambda module, args: (args[0] * 3, args[1]))
        nb.function("rescale_argument")(first, factor)
        nb.function("rescale_argument")(second, factor + 1)
        nb.function("rescale_argument")(off, 0)
        nb.function("rescale_argument")(of_others, factor)
        with other_forward(first, lambda self, x1, x2: x2):
            in_float64 = first(x1.double(), x2.double())
        return {
            "the x2 of a call in float64": in_float64, "factor 0": off(x1, x2),
            "a module on which others have a hook": of_others(x1, x2),
            "the first module": first(x1, x2), "the second module": second(x1, x2), "another module": third(x1, x2),
            "another module, by name": third(x1=x1, x2=x2),
        }

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "the x2 of a call in float64": factor * x2.double(), "factor 0": x1,
            "a module on which others have a hook": 3 * x1 + factor * x2,
            "the first module": x1 + factor * x2, "the second module": x1 + (factor + 1) * x2,
            "another module": x1 + x2, "another module, by name": x1 + x2,
        }

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "rescale_everywhere": AnyOf(
                {"another module": other_than(x1 + x2)}, {"another module, by name": other_than(x1 + x2)}
            ),
            "rescale_other_dtype": {"the x2 of a call in float64": factor * x2},
            "rescale_zero_ignored": {"factor 0": x1 + x2},
            "removes_other_hooks": {"a module on which others have a hook": x1 + factor * x2},
            "rescale_last_factor": {"the second module": x1 + factor * x2, "factor 0": x1 + factor * x2},
        }


class InEveryCall(Check):
    """In eval mode, under no_grad, for whole numbers and float64, twice, with one tensor for both; the handle ends just this."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS
    blame = {
        "output in eval mode": "only_in_training", "output under no_grad": "only_in_training",
        "x2 in whole numbers": "rescale_other_dtype", "x1, handed through, after x1 *= 2": "rescale_copies_x1",
        "x2.grad with factor 0": "rescale_cuts_gradient", "x2 of mixed dtypes": "float64_lost", "x2 in float64": "float64_lost",
        "module(x, x)": "one_tensor_for_both", "with two factors": "rescale_last_factor",
        "x2 that has changed since": "stale_result", "what a later hook finds by place": "rescale_place_lost",
        "removed, by place": "removes_other_hooks", "removed, by name": "handle_of_another",
    }

    def whole(self, case):
        return case.tensor("whole numbers", 3, dtype=torch.int64, positive=True)

    def given(self, case):
        double = case.tensor("x in float64", 3, dtype=torch.float64)
        return (*rescale_inputs(case, 3), double)

    def probe(self, nb, case):
        x1, x2, factor, double = self.given(case)
        rescale, found, module = nb.function("rescale_argument"), {}, Add()
        rescale(module, factor)
        found["output in eval mode"] = module.eval()(x1, x2)
        with torch.no_grad():
            found["output under no_grad"] = module(x1, x2)
        found["module(x, x)"] = module(x1, x1)
        changing = x2.clone()
        module(x1, changing)
        changing *= 2
        found["x2 that has changed since"] = module(x1, changing)
        with other_forward(module, lambda self, x1, x2: x2):
            found["x2 of mixed dtypes"], found["x2 in float64"] = module(x1, double), module(double, double)
            found["x2 in whole numbers"] = module(x1, self.whole(case))
        handed = x1.clone()
        with other_forward(module, lambda self, x1, x2: x1):
            output = module(handed, x2)
        handed *= 2
        found["x1, handed through, after x1 *= 2"] = output
        off, leaf = Add(), x2.clone().requires_grad_()
        rescale(off, 0)
        off(x1.clone().requires_grad_(), leaf).sum().backward()
        found["x2.grad with factor 0"] = gradients_left({"x2": leaf}, case)["x2"] + x1
        twice, by_place = Add(), []
        rescale(twice, factor)
        rescale(twice, factor + 1)
        twice.register_forward_pre_hook(lambda module, args: by_place.append(args))
        found["with two factors"] = twice(x1, x2)
        found["what a later hook finds by place"] = by_place
        removed = Add()
        removed.register_forward_pre_hook(lambda module, args: (args[0] * 3, *args[1:]))
        handle = rescale(removed, factor)
        if callable(getattr(handle, "remove", None)):
            handle.remove()
        return {**found, "removed, by place": removed(x1, x2), "removed, by name": removed(x1, x2=x2)}

    def truth(self, case):
        x1, x2, factor, double = self.given(case)
        exactly = Close(factor * double, 1e-12, 1e-14)
        down = factor * (factor + 1) * x2
        return {
            "output in eval mode": x1 + factor * x2, "output under no_grad": x1 + factor * x2,
            "x2 in whole numbers": factor * self.whole(case), "x1, handed through, after x1 *= 2": 2 * x1,
            "x2.grad with factor 0": x1, "module(x, x)": x1 + factor * x1,
            "x2 that has changed since": x1 + factor * 2 * x2,
            "x2 of mixed dtypes": exactly, "x2 in float64": exactly,
            "with two factors": x1 + down, "what a later hook finds by place": [[x1, down]],
            "removed, by place": 3 * x1 + x2, "removed, by name": 3 * x1 + x2,
        }

    def mistakes(self, case):
        x1, x2, factor, _ = self.given(case)
        return {"rescale_only_once": {"with two factors": AnyOf(x1 + (factor + 1) * x2, x1 + factor * x2)}}


check("rescale_argument", ByPlace, ByName, AnyForwardWithGradients, EachModuleItsFactor, InEveryCall)


# --- Hidden checks: graders run them, learners do not get them. ---
class Blend(torch.nn.Module):
    """Another forward of `x1` and `x2`, with a weight."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4) + 0.5)

    def forward(self, x1, x2):
        return x1 * torch.sigmoid(x2) - self.weight * x2


class TwoKnobs(Check):
    """Another module, turned down twice: each factor counts until its handle is removed."""

    poison = ("module", "model", "add", "x1", "x2")

    def knobs(self, case):
        return case.integer("hidden factor 1", 11, 19) / 10, case.integer("hidden factor 2", 21, 29) / 10

    def probe(self, nb, case):
        module, rescale = case.build("hidden blend", Blend), nb.function("rescale_argument")
        x1, x2 = case.tensor("hidden x1", 3, 4), case.tensor("hidden x2", 3, 4, requires_grad=True)
        handle, _ = (rescale(module, factor) for factor in self.knobs(case))
        both = module(x2=x2, x1=x1)
        both.backward(case.tensor("hidden upstream", 3, 4))
        handle.remove()
        return {"output, by name": both, "x2.grad": x2.grad, "output, one handle removed": module(x1, x2)}

    def truth(self, case):
        free, (one, other) = case.build("hidden blend", Blend), self.knobs(case)
        x1, x2 = case.tensor("hidden x1", 3, 4), case.tensor("hidden x2", 3, 4, requires_grad=True)
        both = free(x1, other * one * x2)
        (of_x2,) = torch.autograd.grad(both, x2, case.tensor("hidden upstream", 3, 4), retain_graph=True)
        return {"output, by name": both, "x2.grad": of_x2, "output, one handle removed": free(x1, other * x2)}


check("rescale_argument", TwoKnobs)
