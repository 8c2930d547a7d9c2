from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.traces import is_a
from course.truths import other_than


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


class HasParameters(_OfMyLinear):
    """`weight` and `bias` are parameters of the layer itself, with the right shapes, all ones."""

    claims = ("isinstance(layer, nn.Linear)",)  # asked with the interpreter's own isinstance
    blame = {"the list of modules inside": "linear_inside", "isinstance(layer, nn.Linear)": "linear_inside"}

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(*case.shape("size"))
        return {
            "what the module keeps": ", ".join(name for name in ("weight", "bias") if hasattr(layer, name)) or "none",
            "isinstance(layer, nn.Linear)": is_a(layer, nn.Linear),
            "the list of modules inside": [f"{name}: {type(part).__name__}" for name, part in layer.named_modules() if name],
            "parameters": dict(layer.named_parameters()),
        }

    def truth(self, case):
        inside, outside = case.shape("size")
        return {
            "what the module keeps": "weight, bias", "isinstance(layer, nn.Linear)": False, "the list of modules inside": [],
            "parameters": {"weight": torch.ones(outside, inside), "bias": torch.ones(outside)},
        }

    def mistakes(self, case):
        wanted = self.truth(case)["parameters"]
        weight, bias = wanted["weight"], wanted["bias"]

        def those(test):
            return {"parameters": Matches(lambda found: None if test(found) else "others", "this mistake")}

        def right_weight(found):
            return set(found) == set(wanted) and found["weight"].shape == weight.shape

        linear = Matches(lambda found: None if any("Linear" in one for one in found) else "no Linear", "a Linear")
        return {
            "linear_inside": {"the list of modules inside": linear},
            "anatomy_other_names": {"what the module keeps": "none", **those(bool)},
            "attributes_missing": {"what the module keeps": other_than("weight, bias")},
            "sizes_of_example": {"parameters": {"weight": torch.ones(2, 3), "bias": torch.ones(2)}},
            "anatomy_not_a_parameter": {"what the module keeps": "weight, bias", **those(lambda found: set(found) < set(wanted))},
            "weight_transposed": {"parameters": {"weight": weight.T, "bias": AnyOf(bias, weight[0])}},
            "anatomy_bias_shape": those(lambda found: right_weight(found) and found["bias"].shape != bias.shape),
            "anatomy_wrong_dtype": those(lambda found: right_weight(found) and found["weight"].dtype != "float32"),
            "wrong_start": those(right_weight),
        }


class ComputesTheFormula(_OfMyLinear):
    """The output is x · weightᵀ + bias, also when the parameters are no longer ones."""

    blame = {"output of a square layer": "anatomy_square_not_transposed", "output while nn.Linear is another": "linear_inside"}

    def probe(self, nb, case):
        layer, x, square = self.layer(nb, case, 3, 4), case.tensor("x", 2, 3), self.layer(nb, case, 3, 3)
        found = {"output": layer(x), "output of a square layer": square(x)}
        with _another_linear():
            found["output while nn.Linear is another"] = layer(x)
        return found

    def truth(self, case):
        x, of_square = case.tensor("x", 2, 3), (case.tensor("weight", 3, 3), case.tensor("bias", 3))
        output = F.linear(x, case.tensor("weight", 4, 3), case.tensor("bias", 4))
        return {"output": output, "output of a square layer": F.linear(x, *of_square), "output while nn.Linear is another": output}

    def mistakes(self, case):
        x, weight, bias = case.tensor("x", 2, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        product, of_ones, ones = F.linear(x, weight), x.sum(1, keepdim=True), torch.ones(4)
        return {
            "returns_nothing": {"output": None},
            "bias_unused": {"output": product},
            "weight_reshaped": {"output": x @ weight.reshape(3, 4) + bias},
            "start_values_typed_in": {"output": AnyOf(of_ones + bias, of_ones + ones, product + ones)},
            "anatomy_kept_copy": {"output": AnyOf(of_ones + bias, product + ones)},
            "anatomy_other_formula": {"output": AnyOf(product * bias, product - bias, F.relu(product + bias))},
        }


class AnyLeadingShape(_OfMyLinear):
    """`x` may have any number of dimensions, and `weight` may be another one by then."""

    shapes = ((4,), (3, 4), (3, 5, 4), (1, 2, 1, 4))
    errors = {**_OfMyLinear.errors, r"(Runtime|Value|Index|Type)Error: ": "matrix_only"}
    blame = {f"output for x of shape {shape}": "matrix_only" for shape in shapes}

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(4, 2)
        layer(case.tensor("x", 3, 4))
        layer.weight, layer.bias = nn.Parameter(case.tensor("weight", 2, 4)), nn.Parameter(case.tensor("bias", 2))
        return {f"output for x of shape {shape}": layer(case.tensor("x", *shape)) for shape in self.shapes}

    def outputs(self, case, weight, bias):
        return {f"output for x of shape {shape}": F.linear(case.tensor("x", *shape), weight, bias) for shape in self.shapes}

    def truth(self, case):
        return self.outputs(case, case.tensor("weight", 2, 4), case.tensor("bias", 2))

    def mistakes(self, case):
        return {"anatomy_kept_copy": self.outputs(case, torch.ones(2, 4), case.tensor("bias", 2))}


class GradientsArrive(_OfMyLinear):
    """Gradients reach the weight, the bias and `x`."""

    blame = {"weight.grad": "gradient_cut", "bias.grad": "gradient_cut", "x.grad": "anatomy_input_cut"}

    def probe(self, nb, case):
        layer, x = self.layer(nb, case, 3, 2), case.tensor("x", 5, 3, requires_grad=True)
        layer(x).backward(case.tensor("upstream", 5, 2))
        return {"weight.grad": layer.weight.grad, "bias.grad": layer.bias.grad, "x.grad": x.grad}

    def truth(self, case):
        weight, bias = case.tensor("weight", 2, 3, requires_grad=True), case.tensor("bias", 2, requires_grad=True)
        x = case.tensor("x", 5, 3, requires_grad=True)
        gradients = torch.autograd.grad(F.linear(x, weight, bias), (weight, bias, x), case.tensor("upstream", 5, 2))
        return dict(zip(("weight.grad", "bias.grad", "x.grad"), gradients))


check("linear_from_parameters", HasParameters, ComputesTheFormula, AnyLeadingShape, GradientsArrive)


# --- Hidden checks: graders run them, learners do not get them. ---
class AfterAStep(Check):
    """Layers of any size compute x · weightᵀ + bias, without `nn.Linear`, and learn."""

    def probe(self, nb, case):
        inside, outside = case.shape("hidden sizes", low=3, high=7)
        found = []
        for size in ((inside, outside), (outside, outside)):
            layer, x = nb.function("MyLinear")(*size), case.tensor("hidden x", 2, 3, size[0], requires_grad=True)
            with _another_linear():
                layer(x).backward(case.tensor("hidden upstream", 2, 3, outside))
                with torch.no_grad():
                    for one in nn.Module.parameters(layer):
                        one.sub_(0.1 * one.grad)
                found.append({"weight": layer.weight, "bias": layer.bias, "x.grad": x.grad, "output": layer(x)})
        return found

    def truth(self, case):
        inside, outside = case.shape("hidden sizes", low=3, high=7)
        found = []
        for size in ((inside, outside), (outside, outside)):
            weight, bias = torch.ones(outside, size[0], requires_grad=True), torch.ones(outside, requires_grad=True)
            leaves = weight, bias, x = weight, bias, case.tensor("hidden x", 2, 3, size[0], requires_grad=True)
            upstream = case.tensor("hidden upstream", 2, 3, outside)
            by_weight, by_bias, by_x = torch.autograd.grad(F.linear(x, weight, bias), leaves, upstream)
            after = {"weight": weight - 0.1 * by_weight, "bias": bias - 0.1 * by_bias}
            found.append({**after, "x.grad": by_x, "output": F.linear(x, **after)})
        return Close(found, rtol=1e-4, atol=1e-4)


check("linear_from_parameters", AfterAStep)
