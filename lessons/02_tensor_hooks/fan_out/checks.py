# %% prediction
import torch

from nbproof.checks.check import Check, check
from nbproof.checks.namespace import Unanswered
from nbproof.values.compare import AnyOf
from course.truths import ANYTHING, such_that, undisclosed


class PredictsTheCalls(Check):
    """`predicted`, or else `what_ran`, lists for each call of the hook on `h` what it is called with."""

    secret = True

    def probe(self, nb, case):
        try:
            what_ran = nb.what_ran
        except Unanswered:  # an answer that needs none
            what_ran = None
        return {"predicted": nb.predicted, "what_ran": what_ran}

    def parts(self):
        """The value of h, and what comes back to it by left and by right."""
        h = torch.tensor(2.0) * 3
        h.requires_grad_()
        return [h.item(), *(torch.autograd.grad(use, h)[0].item() for use in (h * 10, h**2))]

    def truth(self, case):
        w = torch.tensor(2.0, requires_grad=True)
        h = w * 3
        (gradient,) = torch.autograd.grad(h * 10 + h**2, h)
        right = AnyOf([gradient.item()], [gradient], [gradient.reshape(1)])
        says = "what ran; keep your prediction as you made it, and write what ran into `what_ran`"
        return AnyOf(
            {"predicted": undisclosed(right, says), "what_ran": ANYTHING},
            {"predicted": such_that(lambda got: got not in ([], None)), "what_ran": undisclosed(right, says)},
        )

    def mistakes(self, case):
        value, left, right = self.parts()
        total = left + right
        number = AnyOf(total, int(total), torch.tensor(total))
        each = ([left, right], [right, left], [left, total], [right, total], [left, value, value], [value, value, left])
        return {
            "fan_out_no_prediction": {"predicted": AnyOf([], None)},
            "fan_out_no_list": AnyOf({"predicted": number}, {"what_ran": number}),
            "fan_out_call_for_each_use": {"predicted": AnyOf(*each)},
            "fan_out_sum_at_each_call": {"predicted": AnyOf([total] * 2, [total] * 3)},
            "fan_out_one_use_counts": {"predicted": AnyOf([left], [right])},
            "fan_out_mean": {"predicted": AnyOf([total / 2], [total / 2] * 2)},
            "fan_out_gradient_of_the_leaf": {
                "predicted": AnyOf([3 * total], [3 * left, 3 * right], [3 * right, 3 * left])
            },
            "fan_out_value": {"predicted": AnyOf([value], [value] * 2)},
        }


check("fan_out", PredictsTheCalls)


# --- Hidden checks: graders run them, learners do not get them. ---
class WhatComesBackToH(Check):
    """`predicted`, or else `what_ran`, is what the hook on `h` is called with."""

    secret = True
    constant = "a prediction: whoever runs the given code sees it"

    def probe(self, nb, case):
        try:
            what_ran = nb.what_ran
        except Unanswered:
            what_ran = None
        return {"predicted": nb.predicted, "what_ran": what_ran}

    def truth(self, case):
        h = 2.0 * 3
        slope = torch.tensor(10 + 2 * h)  # of 10 h + h**2
        right = undisclosed(AnyOf([slope.item()], [slope], [slope.reshape(1)]), "what ran")
        return AnyOf({"predicted": right, "what_ran": ANYTHING}, {"predicted": ANYTHING, "what_ran": right})


check("fan_out", WhatComesBackToH)

# %% log
import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import nan_as_number, odd_gradients, tensor_hook_count
from course.traces import gradients_left
from course.truths import ANYTHING, no_gradient_left, other_than, such_that

NAMES = ("left", "h", "x", "right")


def two_ways(case):
    """x -> h, h -> left and right: these tensors by name, and what they end in."""
    x = case.tensor("x", 2, 3, requires_grad=True)
    h = x * case.tensor("factor", 3)
    left, right = h.sin(), h * h
    return {"left": left, "h": h, "x": x, "right": right}, left + right * case.tensor("weight", 2, 3)


def by_name(log, names):
    """A log of pairs, sorted by name: the order of hooks on different tensors is not asked for."""
    found = {name: [] for name in names}
    rest = []
    for entry in log if isinstance(log, list) else ():
        pair = isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], str) and entry[0] in found
        if pair:
            found[entry[0]].append(entry[1])
        else:
            rest.append(entry)
    return {"other entries of the list": rest, **{f"gradients logged for {name}": found[name] for name in names}}


class LogsEveryCall(Check):
    """One backward pass logs one pair for each tensor: its name, and the whole gradient that comes back to it."""

    poison = ("x", "w", "h", "left", "right", "loss", "grad", "tensor", "name")

    def probe(self, nb, case):
        tensors, output = two_ways(case)
        log = nb.function("log_gradients")(dict(tensors))
        early = list(log) if isinstance(log, list) else []
        output.backward(case.tensor("upstream", 2, 3))
        return {
            "what log_gradients returned": "a list" if isinstance(log, list) else type(log).__name__,
            "the list before backward": early,
            **by_name(log, NAMES),
            "hooks on the tensors": sum(tensor_hook_count(tensor) for tensor in tensors.values()),
        }

    def gradients(self, case):
        tensors, output = two_ways(case)
        return dict(zip(NAMES, torch.autograd.grad(output, list(tensors.values()), case.tensor("upstream", 2, 3))))

    def truth(self, case):
        logged = {f"gradients logged for {name}": [gradient] for name, gradient in self.gradients(case).items()}
        return {
            "what log_gradients returned": "a list",
            "the list before backward": [],
            "other entries of the list": [],
            **logged,
            "hooks on the tensors": ANYTHING,
        }

    def mistakes(self, case):
        gradients = self.gradients(case)
        field = {name: f"gradients logged for {name}" for name in NAMES}
        others = {field[name]: [] for name in NAMES[:-1]}
        nothing = {
            "the list before backward": [],
            "other entries of the list": [],
            **{key: [] for key in field.values()},
        }
        numbers = {field[name]: [gradient.tolist()] for name, gradient in gradients.items()}
        return {
            "returns_no_list": {"what log_gradients returned": other_than("a list")},
            "asks_too_early": {"the list before backward": such_that(lambda got: got and {one[0] for one in got} <= {*NAMES})},
            "shared_list": {"the list before backward": other_than([])},
            "fan_out_loop_variable": {**others, field[NAMES[-1]]: such_that(lambda got: len(got) == len(NAMES))},
            "fan_out_not_pairs": {"other entries of the list": other_than([])},
            "other_list_returned": {**nothing, "hooks on the tensors": other_than(0)},
            "python_number": numbers,
            "reads_grad_early": {field["h"]: [None]},
            "fan_out_divided": {field["h"]: [gradients["h"] / 2]},
            "keeps_the_tensor": {field["h"]: [two_ways(case)[0]["h"]]},
            "changes_gradient": {field["left"]: [gradients["left"]], field["x"]: other_than([gradients["x"]])},
        }

    errors = {
        r"RuntimeError: a Tensor with \d+ elements cannot be converted": "python_number",
        r"AttributeError: '(str|tuple)' object has no attribute 'register_hook'": "fan_out_names_for_tensors",
        r"TypeError: .*'NoneType' object is not callable": "tensor_hook_called_at_once",
        r"TypeError: .*append\(\) takes exactly one argument": "fan_out_not_pairs",
    }


class SeveralPasses(Check):
    """Each further pass that reaches a tensor adds one more pair, and leaves the earlier ones, and other lists, as they are."""

    def forward(self, case):
        x = case.tensor("x", 3, 2, requires_grad=True)
        h = x.exp()
        aside = x * 2
        return {"h": h, "aside": aside, "x": x}, (
            (h * h * h + h.sqrt()).sum(),
            (h * case.tensor("weight", 2)).sum() + aside.sum(),
        )

    def probe(self, nb, case):
        tensors, outputs = self.forward(case)
        log, other = nb.function("log_gradients")(dict(tensors)), case.tensor("other", 2, requires_grad=True) * 2
        other_log = nb.function("log_gradients")({"other": other})
        for output in (*outputs, outputs[-1]):
            output.backward(case.tensor("upstream"), retain_graph=True)
        other.backward(case.tensor("upstream of the other", 2))
        return {**by_name(log, tensors), "the list of another call": other_log}

    def gradients(self, case):
        """For each name the gradients of the passes that reach the tensor."""
        tensors, outputs = self.forward(case)
        found = {name: [] for name in tensors}
        for output in (*outputs, outputs[-1]):
            grads = torch.autograd.grad(
                output, list(tensors.values()), case.tensor("upstream"), retain_graph=True, allow_unused=True
            )
            for name, grad in zip(tensors, grads):
                found[name] += [] if grad is None else [grad]
        return found

    def truth(self, case):
        logged = {f"gradients logged for {name}": grads for name, grads in self.gradients(case).items()}
        another = [["other", case.tensor("upstream of the other", 2)]]
        return {"other entries of the list": [], **logged, "the list of another call": another}

    def mistakes(self, case):
        found = self.gradients(case)
        (first, second, _), (one, two, _) = found["h"], found["x"]
        sums = [first, first + second, first + second + second]
        return {
            "kept_alias": {"gradients logged for h": found["h"], "gradients logged for x": [one + two + two, two, two]},
            "runs_only_once": {"gradients logged for h": [first]},
            "keeps_last_only": {"gradients logged for h": [second]},
            "accumulated_grad": AnyOf(
                {"gradients logged for h": sums}, {"gradients logged for x": [one, one + two, one + two + two]}
            ),
            "drops_an_entry": {"gradients logged for h": [first, second]},
            "shared_list": {"the list of another call": such_that(lambda got: len(got) > 1)},
        }


class OnlyWatches(Check):
    """What ends up in `.grad` is the same as without the hooks: at the leaf the sum of all passes, in the middle nothing."""

    def two_ways(self, case):
        tensors, output = two_ways(case)
        tensors["x"].grad = case.tensor("of an earlier pass", 2, 3)
        return tensors, output

    def probe(self, nb, case):
        tensors, output = self.two_ways(case)
        nb.function("log_gradients")(dict(tensors))
        output.backward(case.tensor("upstream", 2, 3))
        return {f".grad of {name}": grad for name, grad in gradients_left(tensors, case).items()}

    def truth(self, case):
        tensors, output = self.two_ways(case)
        output.backward(case.tensor("upstream", 2, 3))
        left = {name: no_gradient_left(name, tensors[name], case) for name in NAMES}
        return {f".grad of {name}": grad for name, grad in {**left, "x": tensors["x"].grad}.items()}

    def mistakes(self, case):
        tensors, output = two_ways(case)
        grads = torch.autograd.grad(output, list(tensors.values()), case.tensor("upstream", 2, 3))
        named = dict(zip(tensors, grads))
        kept = {**named, "x": case.tensor("of an earlier pass", 2, 3) + named["x"]}
        return {
            "uses_retain_grad": {f".grad of {name}": grad for name, grad in kept.items()},
            "empties_grad": {".grad of x": named["x"]},
        }

    blame = {f".grad of {name}": "hook_writes_grad" for name in NAMES}


class AnyGradient(Check):
    """Zeros, infinity and NaN are gradients, too. Two tensors with equal values keep their own names."""

    def run(self, case, log_gradients=None):
        x = case.tensor("x", 6, requires_grad=True)
        tensors, left = {"first": x * 4, "second": x * 4}, []
        log = [] if log_gradients is None else log_gradients(dict(tensors))
        for upstream in odd_gradients(case):
            x.grad = None
            (tensors["first"] + 2 * tensors["second"]).backward(upstream, retain_graph=True)
            left.append(x.grad)
        logged = {key: nan_as_number(value) for key, value in by_name(log, tensors).items()}
        return {**logged, "x.grad after each pass (31337: NaN)": nan_as_number(left)}

    def probe(self, nb, case):
        return self.run(case, nb.function("log_gradients"))

    def truth(self, case):
        gradients = odd_gradients(case)
        return {
            **self.run(case),
            "gradients logged for first": nan_as_number(gradients),
            "gradients logged for second": nan_as_number([2 * gradient for gradient in gradients]),
        }

    def mistakes(self, case):
        right = self.truth(case)
        left = right["x.grad after each pass (31337: NaN)"]
        return {
            "drops_an_entry": {"gradients logged for first": such_that(lambda got: 0 < len(got) < 4)},
            "repairs_the_gradient": {"x.grad after each pass (31337: NaN)": other_than(left)},
            "told_by_value": {"gradients logged for second": []},
        }


class TensorsLetGo(Check):
    """As in a function that returns only the loss: nobody holds the tensors any more when backward runs."""

    def loss(self, case, log_gradients):
        h = case.tensor("x", 2, 3, requires_grad=True) * 4
        left = h * 3  # neither operation saves its input
        return log_gradients({"h": h, "left": left}), left.sum()

    def probe(self, nb, case):
        log, loss = self.loss(case, nb.function("log_gradients"))
        loss.backward(case.tensor("upstream"))
        return by_name(log, ("h", "left"))

    def truth(self, case):
        of_left = case.tensor("upstream").expand(2, 3)
        logged = {"gradients logged for h": [3 * of_left], "gradients logged for left": [of_left]}
        return {"other entries of the list": [], **logged}

    def mistakes(self, case):
        return {"needs_the_tensor": {"gradients logged for h": [], "gradients logged for left": []}}


check("fan_out", LogsEveryCall, SeveralPasses, OnlyWatches, AnyGradient, TensorsLetGo)


# --- Hidden checks: graders run them, learners do not get them. ---
def three_tensors(case):
    """An input, what is computed from it, and what is computed from that, by names of the seed; and what they end in."""
    x = case.tensor("hidden x", 3, 2, requires_grad=True)
    h = x * case.tensor("hidden factor", 2)
    wave = h.cos()
    return dict(zip(case.words("hidden names", 3), (wave, x, h))), wave**2 + h


class OtherNames(Check):
    """In another graph, each call of a hook logs its tensor's name and gradient."""

    def probe(self, nb, case):
        tensors, output = three_tensors(case)
        log = nb.function("log_gradients")(dict(tensors))
        for number in (1, 2):
            output.backward(case.tensor(f"hidden upstream {number}", 3, 2), retain_graph=True)
        return by_name(log, tensors)

    def truth(self, case):
        tensors, output = three_tensors(case)
        logged = {f"gradients logged for {name}": [] for name in tensors}
        for number in (1, 2):
            upstream = case.tensor(f"hidden upstream {number}", 3, 2)
            grads = torch.autograd.grad(output, list(tensors.values()), upstream, retain_graph=True)
            for entries, grad in zip(logged.values(), grads):
                entries.append(grad)
        return {"other entries of the list": [], **logged}


check("fan_out", OtherNames)
