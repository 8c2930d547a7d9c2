import warnings
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import other_than
from course.traces import gradients_left, is_a


class _OfMyLinear(Check):
    """What all checks of MyLinear have in common: the errors that only one misconception brings."""

    errors = {
        r"NameError: name '(weight|bias)'": "anatomy_read_without_self",
        r"AttributeError: 'MyLinear' object has no attribute '(weight|bias)'": "attributes_missing",
        r"TypeError: descriptor '__init__' of 'super'": "init_forgotten",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: MyLinear\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
        r"RuntimeError: unsupported operation: more than one element": "anatomy_one_number_for_all",
        r"RuntimeError: The size of tensor a \(\d+\) must match the size of tensor b": "shapes_do_not_fit",
    }

    def layer(self, nb, case, *size):
        """The learner's layer with the case's values in its parameters."""
        layer = nb.function("MyLinear")(*size)
        with torch.no_grad():
            layer.weight.copy_(case.tensor("weight", size[1], size[0]))
            layer.bias.copy_(case.tensor("bias", size[1]))
        return layer


@contextmanager
def _another_linear():
    """Within the block the forward of nn.Linear computes something else, whoever has borrowed it."""

    def forward(self, input):
        return input @ self.weight.T - 2 * self.bias

    computes = nn.Linear.forward.__code__
    nn.Linear.forward.__code__ = forward.__code__
    try:
        yield
    finally:
        nn.Linear.forward.__code__ = computes


def _those(says, test):
    """For mistakes: parameters of which ``test`` says yes."""
    return {"parameters": Matches(lambda found: None if test(found) else "others", says)}


class HasParameters(_OfMyLinear):
    """`weight` and `bias` are registered parameters of the layer itself, with the right shapes, filled with ones."""

    claims = ("isinstance(layer, nn.Linear)",)  # asked with the interpreter's own isinstance
    blame = {
        "buffers": "anatomy_more_than_asked",
        "modules inside": "linear_inside",
        "isinstance(layer, nn.Linear)": "linear_inside",
    }

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(*case.shape("size"))
        found = [name for name in ("weight", "bias") if hasattr(layer, name)]
        return {
            "attributes": ", ".join(found) or "none",
            "parameters": dict(layer.named_parameters()),
            "buffers": [name for name, _ in layer.named_buffers()],
            "modules inside": [f"{name}: {type(part).__name__}" for name, part in layer.named_modules() if name],
            "isinstance(layer, nn.Linear)": is_a(layer, nn.Linear),
            "parameters after load_state_dict": self.loaded(nb.function("MyLinear")(*case.shape("size")), case),
        }

    def loaded(self, layer, case):
        """The parameters, where a checkpoint of a weight and a bias is all that the layer needs."""
        try:
            nn.Module.load_state_dict(layer, self.saved(case))
            return {"weight": layer.weight, "bias": layer.bias}
        except Exception as error:  # told by what comes before
            return str(error)

    def saved(self, case):
        inside, outside = case.shape("size")
        return {"weight": case.tensor("weight", outside, inside), "bias": case.tensor("bias", outside)}

    def truth(self, case):
        inside, outside = case.shape("size")
        wanted = {"weight": torch.ones(outside, inside), "bias": torch.ones(outside)}
        return {
            "attributes": "weight, bias",
            "parameters": wanted,
            "buffers": [],
            "modules inside": [],
            "isinstance(layer, nn.Linear)": False,
            "parameters after load_state_dict": self.saved(case),
        }

    def mistakes(self, case):
        wanted = self.truth(case)["parameters"]
        weight, bias = wanted["weight"], wanted["bias"]

        def shapes(found):
            return [tuple(found[name].shape) for name in ("weight", "bias")] if set(found) == set(wanted) else []

        right = [tuple(weight.shape), tuple(bias.shape)]
        linear = Matches(lambda found: None if any("Linear" in one for one in found) else "no Linear", "a Linear")
        return {
            "linear_inside": {"modules inside": linear},
            "anatomy_other_names": {"attributes": "none", **_those("other names", bool)},
            "attributes_missing": {"attributes": other_than("weight, bias")},
            "sizes_of_example": {"parameters": {"weight": torch.ones(2, 3), "bias": torch.ones(2)}},
            "anatomy_not_a_parameter": {
                "attributes": "weight, bias",
                **_those("not both", lambda found: set(found) < set(wanted)),
            },
            "anatomy_more_than_asked": _those("more", lambda found: set(found) > set(wanted)),
            "weight_transposed": {"parameters": {"weight": weight.T, "bias": AnyOf(bias, weight[0])}},
            "anatomy_bias_shape": _those(
                "another bias", lambda found: shapes(found)[:1] == right[:1] and shapes(found) != right
            ),
            "anatomy_wrong_dtype": _those(
                "another dtype",
                lambda found: shapes(found) == right and {p.dtype for p in found.values()} != {"float32"},
            ),
            "wrong_start": _those("other values", lambda found: shapes(found) == right),
            "anatomy_one_number_for_all": {
                "parameters after load_state_dict": Matches(
                    lambda found: None if "more than one element" in found else "something else", "shared memory"
                )
            },
        }


class ComputesTheFormula(_OfMyLinear):
    """The output is x · weightᵀ + bias, whatever the values of the parameters, also if the weight is square, or a size is 1."""

    sizes = {"output of a square layer": (3, 3), "output of a layer with one output": (3, 1), "output of a layer with one input": (1, 3)}
    blame = {
        "output of a square layer": "anatomy_square_not_transposed",
        "output of a layer with one output": "anatomy_squeezed",
        "output of a layer with one input": "anatomy_squeezed",
    }

    def probe(self, nb, case):
        found = {"output": self.layer(nb, case, 3, 4)(case.tensor("x", 2, 3))}
        for what, size in self.sizes.items():
            try:
                found[what] = self.layer(nb, case, *size)(case.tensor("x", 2, size[0]))
            except RuntimeError as error:  # of a layer with other sizes
                found[what] = str(error)
        return found

    def truth(self, case):
        x, weight, bias = case.tensor("x", 2, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        others = {
            what: F.linear(case.tensor("x", 2, inside), case.tensor("weight", outside, inside), case.tensor("bias", outside))
            for what, (inside, outside) in self.sizes.items()
        }
        return {"output": F.linear(x, weight, bias), **others}

    def mistakes(self, case):
        x, weight, bias = case.tensor("x", 2, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        product, of_ones, ones = F.linear(x, weight), x.sum(1, keepdim=True), torch.ones(4)
        return {
            "returns_nothing": {"output": None},
            "bias_unused": {"output": product},
            "weight_reshaped": {"output": x @ weight.reshape(3, 4) + bias},
            "start_values_typed_in": {"output": AnyOf(of_ones + bias, of_ones + ones, product + ones)},
            "anatomy_other_formula": {"output": AnyOf(product * bias, product - bias, F.relu(product + bias))},
        }


class AnyLeadingShape(_OfMyLinear):
    """`x` may have any number of dimensions; `forward` uses the parameters that are there by then, in either mode."""

    shapes = ((4,), (3, 5, 4), (1, 4), (2, 1, 3, 4))
    errors = {**_OfMyLinear.errors, r"(Runtime|Value|Index|Type)Error: ": "matrix_only"}
    blame = {
        **{f"output for x of shape {shape}": "matrix_only" for shape in shapes},
        "output for x whose dimensions are swapped": "anatomy_view_of_x",
        "output in eval mode": "anatomy_kept_copy",
        "output under no_grad": "anatomy_kept_copy",
    }

    def probe(self, nb, case):
        layer, x = nb.function("MyLinear")(4, 2), case.tensor("x", 3, 4)
        self.in_either_mode(layer, case.tensor("x before", 3, 4))
        layer.weight, layer.bias = nn.Parameter(case.tensor("weight", 2, 4)), nn.Parameter(case.tensor("bias", 2))
        outputs = {f"output for x of shape {shape}": layer(case.tensor("x", *shape)) for shape in self.shapes}
        outputs["output for x whose dimensions are swapped"] = self.of_swapped(layer, case)
        return {**outputs, **self.in_either_mode(layer, x)}

    def swapped(self, case):
        """Its rows do not follow one another in memory."""
        return case.tensor("x swapped", 3, 5, 4).transpose(0, 1)

    def of_swapped(self, layer, case):
        try:
            return layer(self.swapped(case))
        except RuntimeError as error:  # told after the other shapes
            return str(error)

    def in_either_mode(self, layer, x):
        layer(x.clone())
        found = {"output in eval mode": layer.eval()(x.clone())}
        with torch.no_grad():
            found["output under no_grad"] = layer.train()(x)
        return found

    def with_parameters(self, case, weight, bias):
        output = F.linear(case.tensor("x", 3, 4), weight, bias)
        return {
            **{f"output for x of shape {s}": F.linear(case.tensor("x", *s), weight, bias) for s in self.shapes},
            "output for x whose dimensions are swapped": F.linear(self.swapped(case), weight, bias),
            "output in eval mode": output,
            "output under no_grad": output,
        }

    def truth(self, case):
        return self.with_parameters(case, case.tensor("weight", 2, 4), case.tensor("bias", 2))

    def mistakes(self, case):
        weight, bias, ones = case.tensor("weight", 2, 4), case.tensor("bias", 2), torch.ones(2, 4)
        old = [(ones, bias), (weight, ones[:, 0]), (ones, ones[:, 0])]
        one_row = Matches(lambda found: None if found.shape == (2,) else "another shape", "one row")
        return {
            "anatomy_squeezed": {"output for x of shape (1, 4)": one_row},
            "anatomy_kept_copy": AnyOf(*(self.with_parameters(case, *pair) for pair in old)),
        }


class GradientsArrive(_OfMyLinear):
    """Gradients reach the weight, the bias and `x`, in training mode and in eval mode; `x` stays as it was."""

    blame = {
        "weight.grad": "gradient_cut",
        "bias.grad": "gradient_cut",
        "x.grad": "anatomy_input_cut",
        "x afterwards": "anatomy_changes_the_rest",
        "gradient of an x that needs none": "anatomy_changes_the_rest",
        "gradient of an x that was computed": "anatomy_changes_the_rest",
    }

    def probe(self, nb, case):
        layer, x = self.layer(nb, case, 3, 2), case.tensor("x", 5, 3, requires_grad=True)
        for in_training in (True, False):
            layer.train(in_training)(x).backward(case.tensor("upstream", 5, 2))
        found = {"weight.grad": layer.weight.grad, "bias.grad": layer.bias.grad, "x.grad": x.grad}
        return {**found, **self.of_another_x(self.layer(nb, case, 3, 2), case)}

    def of_another_x(self, layer, case):
        x = case.tensor("another x", 5, 3)
        output = layer(x)
        if output.requires_grad:
            output.backward(case.tensor("upstream", 5, 2))
        computed = 2 * case.tensor("a third x", 5, 3, requires_grad=True)
        layer(computed).backward(case.tensor("upstream", 5, 2))
        left = {"gradient of an x that needs none": x, "gradient of an x that was computed": computed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # asked on purpose: what autograd does not keep
            return {"x afterwards": x.detach(), **gradients_left(left, case)}

    def truth(self, case):
        weight, bias = case.tensor("weight", 2, 3, requires_grad=True), case.tensor("bias", 2, requires_grad=True)
        leaves = weight, bias, x = weight, bias, case.tensor("x", 5, 3, requires_grad=True)
        gradients = torch.autograd.grad(2 * F.linear(x, weight, bias), leaves, case.tensor("upstream", 5, 2))
        found = dict(zip(("weight.grad", "bias.grad", "x.grad"), gradients))
        return {**found, **self.of_another_x(nn.Linear(3, 2), case)}


class InFloat64(_OfMyLinear):
    """After `.double()` the layer computes in float64."""

    errors = {**_OfMyLinear.errors, r"RuntimeError: .*dtype": "anatomy_wrong_dtype"}
    blame = {"output after .double()": "anatomy_wrong_dtype"}

    def probe(self, nb, case):
        layer = self.layer(nb, case, 3, 2).double()
        return {"output after .double()": layer(case.tensor("x", 5, 3, dtype=torch.float64))}

    def truth(self, case):
        x = case.tensor("x", 5, 3, dtype=torch.float64)
        return {"output after .double()": F.linear(x, case.tensor("weight", 2, 3).double(), case.tensor("bias", 2).double())}


class OnItsOwn(_OfMyLinear):
    """The output is the same while the forward of `nn.Linear` computes something else: MyLinear does not use it."""

    blame = {"output while nn.Linear is another": "linear_inside"}

    def probe(self, nb, case):
        with _another_linear():
            return {"output while nn.Linear is another": self.layer(nb, case, 3, 2)(case.tensor("x", 5, 3))}

    def truth(self, case):
        return {"output while nn.Linear is another": F.linear(case.tensor("x", 5, 3), case.tensor("weight", 2, 3), case.tensor("bias", 2))}


check("linear_from_parameters", HasParameters, ComputesTheFormula, AnyLeadingShape, GradientsArrive, InFloat64, OnItsOwn)


# --- Hidden checks: graders run them, learners do not get them. ---
class AfterAStep(Check):
    """A layer of any size computes x · weightᵀ + bias, and goes on so after a step of training."""

    def probe(self, nb, case):
        inside, outside = case.shape("hidden sizes", low=3, high=7)
        layer, x = nb.function("MyLinear")(inside, outside), case.tensor("hidden x", 2, 3, 2, inside)
        layer(x).backward(case.tensor("hidden upstream", 2, 3, 2, outside))
        with torch.no_grad():
            for one in layer.parameters():
                one.sub_(0.1 * one.grad)
        return {"weight": layer.weight, "bias": layer.bias, "output": layer(x)}

    def truth(self, case):
        inside, outside = case.shape("hidden sizes", low=3, high=7)
        weight = torch.ones(outside, inside, requires_grad=True)
        bias = torch.ones(outside, requires_grad=True)
        x = case.tensor("hidden x", 2, 3, 2, inside)
        upstream = case.tensor("hidden upstream", 2, 3, 2, outside)
        by_weight, by_bias = torch.autograd.grad(F.linear(x, weight, bias), (weight, bias), upstream)
        after = {"weight": weight - 0.1 * by_weight, "bias": bias - 0.1 * by_bias}
        return Close({**after, "output": F.linear(x, **after)}, rtol=1e-4, atol=1e-4)


check("linear_from_parameters", AfterAStep)
