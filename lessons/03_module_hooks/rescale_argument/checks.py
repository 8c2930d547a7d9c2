import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.models import Add
from course.probing import hook_counts, other_forward
from course.truths import ANYTHING, other_than, such_that
from course.traces import gradients_left


def rescale_inputs(case, *shape):
    """`x1`, `x2`, and a factor between 0.6 and 0.9: never the 0.5 of the example."""
    return case.tensor("x1", *shape), case.tensor("x2", *shape), case.integer("factor", 6, 9) / 10


def what_it_is(returned):
    return "a handle" if callable(getattr(returned, "remove", None)) else "no handle"


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
    """`module(x1, x2)` works with `factor * x2` until the handle is removed."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 4)
        module = Add()
        handle = nb.function("rescale_argument")(module, factor)
        found = {"output": module(x1, x2), "x1": x1, "x2": x2, "hooks": sum(hook_counts(module).values())}
        found["output of a second call"] = module(x1, x2)
        found["what rescale_argument returned"] = what_it_is(handle)
        if found["what rescale_argument returned"] == "a handle":
            handle.remove()
            found["output after handle.remove()"] = module(x1, x2)
        return found

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "output": x1 + factor * x2, "x1": x1, "x2": x2, "hooks": ANYTHING, "what rescale_argument returned": "a handle",
            "output of a second call": x1 + factor * x2,
            "output after handle.remove()": x1 + x2,
        }

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 4)

        def of_one_factor(got):
            """`x2` is multiplied by one number, which is another one."""
            one, *others = ((got.tensor() - x1) / x2).tolist()
            return abs(one - factor) > 0.01 and all(abs(one - other) < 1e-4 for other in others)

        return {
            "returns_nothing": {"output": x1 + x2, "hooks": 0, "what rescale_argument returned": "no handle"},
            "hook_never_ran": {"output": x1 + x2, "hooks": 0},
            "rescale_writes_into_x2": {"x2": other_than(x2)},
            "rescale_other_argument": {
                "output": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 + x2 + factor, x1 * factor)
            },
            "rescale_without_effect": {"output": x1 + x2},
            "rescale_other_factor": {"output": such_that(of_one_factor)},
            "runs_only_once": {"output": x1 + factor * x2, "output of a second call": x1 + x2},
            "rescale_other_forward": {"output": x1 + factor * x2, "hooks": 0},
            "rescale_no_handle": {"what rescale_argument returned": "no handle"},
            "handle_of_another": {"output after handle.remove()": x1 + factor * x2},
        }


class ByName(Check):
    """`x2` passed by name is scaled as well."""

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
            "rescale_other_argument": AnyOf(
                {"module(x1, x2=x2)": factor * x1 + x2},
                {"module(x2=x2, x1=x1)": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 * factor + x2 * factor)},
            ),
        }


class AnyForwardWithGradients(Check):
    """Right for any forward, and gradients flow back through the factor."""

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


class TwoModules(Check):
    """Two modules have two factors, and a third works as before."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 3)
        first, second, third = Add(), Add(), Add()
        nb.function("rescale_argument")(first, factor)
        nb.function("rescale_argument")(second, factor + 1)
        return {"the first module": first(x1, x2), "the second module": second(x1, x2=x2), "another module": third(x1, x2)}

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "the first module": x1 + factor * x2, "the second module": x1 + (factor + 1) * x2, "another module": x1 + x2,
        }

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "rescale_last_factor": AnyOf(
                {"the second module": x1 + factor * x2}, {"the first module": x1 + (factor + 1) * x2}
            ),
        }


check("rescale_argument", ByPlace, ByName, AnyForwardWithGradients, TwoModules)


# --- Hidden checks: graders run them, learners do not get them. ---
class Blend(torch.nn.Module):
    """Another forward of `x1` and `x2`: layers, as many as the case says, mix the two."""

    def __init__(self, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x1, x2):
        for layer in self.layers:
            x1 = torch.sigmoid(layer(x1)) * x2
        return x1


class TwoKnobs(Check):
    """Another module, scaled twice: each factor counts until its handle is removed."""

    poison = ("module", "model", "add", "x1", "x2")

    def probe(self, nb, case):
        module = case.build("hidden blend", Blend, case.integer("hidden depth", 1, 3))
        rescale = nb.function("rescale_argument")
        factors = [case.integer(f"hidden factor {number}", 11, 29) / 10 for number in (1, 2)]
        x1, x2 = case.tensor("hidden x1", 3, 4), case.tensor("hidden x2", 3, 4, requires_grad=True)
        handle, _ = (rescale(module, factor) for factor in factors)
        both = module(x1, x2)
        both.backward(case.tensor("hidden upstream", 3, 4))
        by_name = module(x2=x2, x1=x1)
        handle.remove()
        return {
            "output, by name": by_name, "x2.grad": x2.grad, "x2": x2,
            "output, one handle removed": module(x1, x2), "output, one handle removed, by name": module(x1, x2=x2),
        }

    def truth(self, case):
        free = case.build("hidden blend", Blend, case.integer("hidden depth", 1, 3))
        one, other = (case.integer(f"hidden factor {number}", 11, 29) / 10 for number in (1, 2))
        x1, x2 = case.tensor("hidden x1", 3, 4), case.tensor("hidden x2", 3, 4, requires_grad=True)
        both, last = free(x1, other * one * x2), free(x1, other * x2)
        (of_x2,) = torch.autograd.grad(both, x2, case.tensor("hidden upstream", 3, 4), retain_graph=True)
        return {
            "output, by name": both, "x2.grad": of_x2, "x2": x2,
            "output, one handle removed": last, "output, one handle removed, by name": last,
        }

    def mistakes(self, case):
        free = case.build("hidden blend", Blend, case.integer("hidden depth", 1, 3))
        bare = free(case.tensor("hidden x1", 3, 4), case.tensor("hidden x2", 3, 4))
        return {"rescale_other_forward": {"output, one handle removed": bare}}


check("rescale_argument", TwoKnobs)
