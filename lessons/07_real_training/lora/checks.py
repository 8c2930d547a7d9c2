from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import other_than, such_that

POISON = ("linear", "A", "B", "net", "attention", "tokens", "pictures", "labels", "weight")
ERRORS = {
    r"RuntimeError: .*(expected (m1 and m2|scalar type)|same dtype|to have the same dtype)": "lora_dtype",
    r"RuntimeError: a leaf Variable that requires grad": "leaf_in_place",
    r"(TypeError: .*NoneType|AttributeError: 'NoneType' object)": "lora_no_bias",
    r"(AttributeError: 'LoRA' object has no attribute '[AB]'|TypeError: LoRA)": "lora_names",
    r"(AttributeError: '\w+' object has no attribute '(weight|bias)'|TypeError: '\w+' object is not callable)": "lora_no_linear",
}


def of_another_size(got, wanted):
    factor = (got * wanted).sum() / wanted.square().sum()
    return abs(factor - 1) > 0.01 and torch.allclose(got, factor * wanted, rtol=1e-2, atol=1e-3)


class LoraCheck(Check):
    """What the checks of this exercise share: the linear layer, and the LoRA that stands for it."""

    poison = POISON
    errors = ERRORS

    def sizes(self, case):
        return case.shape("sizes", 3, 3, 8)  # in, out, batch

    def linear(self, case, **options):
        inside, out, _ = self.sizes(case)
        return case.build("linear", nn.Linear, inside, out, **options)

    def x(self, case, **options):
        return case.tensor("x", 2, self.sizes(case)[2], self.sizes(case)[0], **options)

    def factors(self, case, rank, **options):
        inside, out, _ = self.sizes(case)
        return case.tensor("A", rank, inside, **options).detach(), case.tensor("B", out, rank, **options).detach()

    def filled(self, lora, case, rank, **options):
        """Give the LoRA other values of A and B, as training does."""
        with torch.no_grad():
            for own, value in zip((lora.A, lora.B), self.factors(case, rank, **options)):
                own.copy_(value)
        return lora


class StartsAsTheLayer(LoraCheck):
    """At first it computes what the layer does, with two parameters of the right shapes."""

    claims = ("A at first",)

    def probe(self, nb, case):
        lora = nb.function("LoRA")(self.linear(case), 2)
        other = nb.function("LoRA")(self.linear(case), 2)
        names = {name: tuple(one.shape) for name, one in lora.named_parameters() if name in ("A", "B")}
        drawn = "random" if lora.A.any() and not torch.equal(lora.A, other.A) else "not random"
        return {"output": lora(self.x(case)), "the dict of its parameters' shapes": names, "A at first": drawn, "B": lora.B}

    def truth(self, case):
        inside, out, _ = self.sizes(case)
        return {"output": self.linear(case)(self.x(case)), "the dict of its parameters' shapes": {"A": (2, inside), "B": (out, 2)}, "A at first": "random", "B": torch.zeros(out, 2)}

    def mistakes(self, case):
        inside, out, _ = self.sizes(case)
        return {
            "lora_correction_alone": {"output": torch.zeros(2, self.sizes(case)[2], out)},
            "lora_not_parameters": {"the dict of its parameters' shapes": Matches(lambda got: None if len(got) < 2 else "two", "fewer than two")},
            "lora_transposed": {"the dict of its parameters' shapes": {"A": (inside, 2), "B": (2, out)}},
            "lora_never_starts": {"A at first": "not random", "B": torch.zeros(out, 2)},
            "lora_which_is_zero": {"B": other_than(torch.zeros(out, 2))},
        }


class Correction(LoraCheck):
    """It computes linear(x) + x @ A.T @ B.T, with a bias and without."""

    def probe(self, nb, case):
        lora, x = nb.function("LoRA"), self.x(case)
        found = {f"output, bias={bias}": self.filled(lora(self.linear(case, bias=bias), 3), case, 3)(x) for bias in (True, False)}
        double = self.filled(nb.function("LoRA")(self.linear(case).double(), 3), case, 3)
        return {**found, "output in float64": double(self.x(case).double())}

    def truth(self, case, factor=1.0):
        a, b = self.factors(case, 3)
        found = {}
        for bias in (True, False):
            found[f"output, bias={bias}"] = self.linear(case, bias=bias)(self.x(case)) + factor * self.x(case) @ (b @ a).T
        double = self.linear(case).double()(self.x(case).double()) + factor * self.x(case).double() @ (b @ a).double().T
        return Close({**found, "output in float64": double}, rtol=1e-4, atol=1e-4)

    def mistakes(self, case):
        field, x, (a, b) = "output, bias=True", self.x(case), self.factors(case, 3)
        layer, more = self.linear(case)(x), x @ (b @ a).T
        return {
            "lora_correction_alone": {field: Close(more, rtol=1e-4, atol=1e-4)},
            "lora_layer_alone": {field: layer}, "lora_scaled": {field: such_that(lambda got: of_another_size(got.tensor() - layer, more))},
        }


def with_all_of(linear):
    """Tensors, among them all parameters of the layer as they are now."""
    wanted = [one.detach().clone() for one in linear.parameters()]

    def test(got):
        there = [one.tensor() for one in got]
        return None if all(any(torch.equal(own, one) for one in there) for own in wanted) else "not all of them"

    return Matches(test, "A, B, and all that belongs to the layer")


class OnlyTheTwo(LoraCheck):
    """Backward reaches A and B, and passes through the layer, which is a frozen part of the module."""

    blame = {"what it saves": "lora_not_part", "x.grad": "lora_cut_off"}

    def trained(self, case):
        return sorted([(2, self.sizes(case)[0]), (self.sizes(case)[1], 2)])

    def probe(self, nb, case):
        linear = self.linear(case)
        lora = self.filled(nb.function("LoRA")(linear, 2), case, 2)
        x = self.x(case, requires_grad=True)
        lora(x).pow(2).sum().backward()
        frozen = [name for name, one in linear.named_parameters() if not one.requires_grad]
        saved = [one.clone() for one in lora.state_dict().values() if isinstance(one, torch.Tensor)]
        optimizer = torch.optim.SGD(lora.parameters(), lr=0.01)
        optimizer.step()
        return {
            "A.grad": lora.A.grad, "B.grad": lora.B.grad, "x.grad": x.grad, "the list of frozen parameters": frozen,
            "weight after a step": linear.weight.detach().clone(), "what it saves": saved,
            "the list of shapes of what it trains": sorted(tuple(one.shape) for one in lora.parameters() if one.requires_grad),
        }

    def truth(self, case):
        linear, (a, b) = self.linear(case), self.factors(case, 2)
        a, b, x = a.requires_grad_(), b.requires_grad_(), self.x(case, requires_grad=True)
        (linear(x) + x @ a.T @ b.T).pow(2).sum().backward()
        return {
            "A.grad": Close(a.grad, rtol=1e-3, atol=1e-3), "B.grad": Close(b.grad, rtol=1e-3, atol=1e-3), "x.grad": Close(x.grad, rtol=1e-3, atol=1e-3),
            "the list of frozen parameters": ["weight", "bias"], "weight after a step": linear.weight.detach(), "what it saves": with_all_of(linear),
            "the list of shapes of what it trains": self.trained(case),
        }

    def mistakes(self, case):
        return {
            "lora_not_part": {"the list of frozen parameters": [], "the list of shapes of what it trains": self.trained(case)},
            "lora_not_frozen": AnyOf({"the list of frozen parameters": other_than(["weight", "bias"])}, {"the list of shapes of what it trains": such_that(lambda got: len(got) > 2)}),
            "lora_no_gradient": {"A.grad": None},
        }


class Merged(LoraCheck):
    """merged() is a new Linear that computes the same, twice, and changes nothing."""

    blame = {"A, B and the weight afterwards": "lora_merges_into_itself"}
    errors = {r"RuntimeError: .*(The size of tensor a|cannot be multiplied|expanded size)": "lora_product_shape", **ERRORS}

    def probe(self, nb, case):
        found = {}
        for bias in (True, False):
            linear = self.linear(case, bias=bias)
            lora = self.filled(nb.function("LoRA")(linear, 3), case, 3)
            merged = [lora.merged(), lora.merged()]
            found["A, B and the weight afterwards"] = [[one.detach().clone(), one.requires_grad] for one in (lora.A, lora.B, linear.weight)]
            found[f"merged, bias={bias}"] = [one(self.x(case)) for one in merged]
            found[f"LoRA afterwards, bias={bias}"] = lora(self.x(case))
            found[f"parameters, bias={bias}"] = [sorted(dict(one.named_parameters())) for one in merged]
            with torch.no_grad():
                for one in (merged[0].weight, merged[0].bias):
                    if one is not None:
                        one.zero_()
            found[f"the second merged layer, after a change of the first, bias={bias}"] = [nn.functional.linear(self.x(case), merged[1].weight, merged[1].bias), lora(self.x(case))]
        double = self.filled(nb.function("LoRA")(self.linear(case).double(), 3), case, 3).merged()
        return {**found, "merged in float64": double(self.x(case).double())}

    def truth(self, case):
        a, b = self.factors(case, 3)
        found = {}
        for bias in (True, False):
            output = self.linear(case, bias=bias)(self.x(case)) + self.x(case) @ (b @ a).T
            names = ["bias", "weight"] if bias else ["weight"]
            found |= {f"merged, bias={bias}": [output] * 2, f"LoRA afterwards, bias={bias}": output}
            found |= {f"parameters, bias={bias}": [names] * 2, f"the second merged layer, after a change of the first, bias={bias}": [output] * 2}
        found["A, B and the weight afterwards"] = [[a, True], [b, True], [self.linear(case).weight.detach(), False]]
        double = self.linear(case).double()(self.x(case).double()) + self.x(case).double() @ (b @ a).double().T
        return Close({**found, "merged in float64": double}, rtol=1e-4, atol=1e-4)

    def mistakes(self, case):
        a, b = self.factors(case, 3)
        x, linear = self.x(case), self.linear(case)
        output, more, close = linear(x), x @ (b @ a).T, partial(Close, rtol=1e-4, atol=1e-4)
        shared = [[0 * output, output + more], [output + more - linear.bias] * 2, [0 * output] * 2]

        def same_for_all_rows(error):
            return error.abs().max() > 1e-3 and torch.allclose(error, error[:1, :1].expand_as(error), atol=1e-3)

        return {
            "lora_merges_into_itself": {"LoRA afterwards, bias=True": AnyOf(close(output + 3 * more), close(output))},
            "lora_merges_nothing": {"merged, bias=True": close([output] * 2)}, "lora_no_linear": {"the second merged layer, after a change of the first, bias=True": close([output, output + more])},
            "lora_bias_lost": {"merged, bias=True": such_that(lambda got: same_for_all_rows(got[0].tensor() - output - more))},
            "lora_bias_too_much": {"parameters, bias=False": [["bias", "weight"]] * 2}, "lora_scaled": {"merged, bias=True": such_that(lambda got: of_another_size(got[0].tensor() - output, more))},
            "lora_shared_memory": {"the second merged layer, after a change of the first, bias=True": AnyOf(*map(close, shared))},
        }


check("lora", StartsAsTheLayer, Correction, OnlyTheTwo, Merged)


# --- Hidden checks: graders run them, learners do not get them. ---
def _layers(case):
    """Linear layers, with a bias or without, each with what stands behind it, in an order of the seed."""
    width = case.integer("hidden width", 3, 6)
    others = case.shuffled("hidden kinds", [nn.Tanh, nn.Sigmoid, nn.Softplus])[: case.integer("hidden depth", 2, 3)]
    return width, [
        (case.build(f"hidden {number}", nn.Linear, width, width, bias=bool(case.integer(f"hidden bias {number}", 0, 1))), other())
        for number, other in enumerate(others)
    ]


class Plain(nn.Module):
    """The same by its definition."""

    def __init__(self, linear, rank):
        super().__init__()
        self.linear, self.A, self.B = linear, torch.zeros(rank, linear.in_features), torch.zeros(linear.out_features, rank)

    def forward(self, x):
        return nn.functional.linear(x, self.linear.weight + self.B @ self.A, self.linear.bias)


class TrainedAndMerged(Check):
    """In one more model: trained for two steps, merged, trained again, merged again."""

    poison = POISON

    def values(self, case, part, number, moment, rank):
        wide, out = part.linear.in_features, part.linear.out_features
        a, b = case.tensor(f"hidden A {number} {moment}", rank, wide), case.tensor(f"hidden B {number} {moment}", out, rank)
        return 0.3 * a.detach(), 0.3 * b.detach()  # small: float32 has to forgive another order

    def probe(self, nb, case):
        rank = case.integer("hidden rank", 2, 3)
        width, layers = _layers(case)
        lora = nn.Sequential(*(one for linear, other in layers for one in (nb.function("LoRA")(linear, rank), other)))
        x, found = case.tensor("hidden x", 4, width), {"at first": lora(case.tensor("hidden x", 4, width))}
        for moment in (1, 2):
            for number, part in enumerate(lora):
                if number % 2 == 0:
                    wide, out = part.A.shape[1], part.B.shape[0]
                    layers[number // 2][0].weight.data.copy_(case.tensor(f"hidden weight {number} {moment}", out, wide))
                    part.A.data.copy_(0.3 * case.tensor(f"hidden A {number} {moment}", rank, wide))
                    part.B.data.copy_(0.3 * case.tensor(f"hidden B {number} {moment}", out, rank))
            lora.zero_grad()
            lora(x).sum().backward()
            found[f"gradients {moment}"] = [one.grad for number in range(0, len(lora), 2) for one in (lora[number].A, lora[number].B)]
            with torch.no_grad():
                for one in filter(lambda parameter: parameter.requires_grad, lora.parameters()):
                    one -= 0.1 * one.grad
            merged = nn.Sequential(*(part.merged() if number % 2 == 0 else part for number, part in enumerate(lora)))
            found |= {f"merged {moment}": merged(x), f"output {moment}": lora(x)}
            found[f"saved {moment}"] = [one.clone() for one in lora.state_dict().values() if isinstance(one, torch.Tensor)]
            found[f"parameters of merged {moment}"] = [one.detach().clone() for one in merged.parameters()]
        return found

    def truth(self, case):
        rank = case.integer("hidden rank", 2, 3)
        width, layers = _layers(case)
        plain = nn.Sequential(*(one for linear, other in layers for one in (Plain(linear, rank), other)))
        x, wanted = case.tensor("hidden x", 4, width), {}
        wanted["at first"] = plain(x)
        for moment in (1, 2):
            factors = []
            for number in range(0, len(plain), 2):
                part = plain[number]
                part.linear.weight.data.copy_(case.tensor(f"hidden weight {number} {moment}", *part.linear.weight.shape))
                values = self.values(case, part, number, moment, rank)
                part.A, part.B = (value.requires_grad_() for value in values)
                factors += [part.A, part.B]
            gradients = torch.autograd.grad(plain(x).sum(), factors)
            wanted[f"gradients {moment}"] = list(gradients)
            with torch.no_grad():
                for one, gradient in zip(factors, gradients):
                    one -= 0.1 * gradient
            wanted |= {f"merged {moment}": plain(x), f"output {moment}": plain(x)}
            wanted[f"saved {moment}"] = with_all_of(nn.Sequential(*(linear for linear, _ in layers)))
            wanted[f"parameters of merged {moment}"] = [
                value.detach() for number in range(0, len(plain), 2)
                for value in (plain[number].linear.weight + plain[number].B @ plain[number].A, plain[number].linear.bias)
                if value is not None
            ]
        return Close(wanted, rtol=1e-3, atol=1e-4)


check("lora", TrainedAndMerged)
