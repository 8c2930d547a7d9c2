# %% prediction
import torch

from nbproof.checks.check import Check, check
from nbproof.checks.namespace import Unanswered
from nbproof.values.compare import AnyOf
from course.truths import ANYTHING, such_that, undisclosed


class PredictsTheCalls(Check):
    """`predicted`, or else `what_ran`, lists what the hook on `h` is called with."""

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
from course.probing import tensor_hook_count
from course.truths import ANYTHING, other_than, such_that

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
    """One pass logs one pair for each tensor: its name, and its whole gradient."""

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


class TwoPasses(Check):
    """A second pass adds its own pairs, and leaves earlier ones and other lists alone."""

    def forward(self, case):
        x = case.tensor("x", 3, 2, requires_grad=True)
        h = x + case.tensor("shift", 2)  # its gradient reaches x as it is
        return {"h": h, "x": x}, h**3

    def probe(self, nb, case):
        (tensors, output), other = self.forward(case), case.tensor("other", 2, requires_grad=True) * 2
        log = nb.function("log_gradients")(dict(tensors))
        nb.function("log_gradients")({"h": other})
        for number in (1, 2):
            output.backward(case.tensor(f"upstream {number}", 3, 2), retain_graph=True)
        other.sum().backward()
        return {**by_name(log, tensors), "x.grad": tensors["x"].grad}

    def truth(self, case):
        tensors, output = self.forward(case)
        upstream = (case.tensor(f"upstream {number}", 3, 2) for number in (1, 2))
        grads = [torch.autograd.grad(output, tensors["h"], one, retain_graph=True)[0] for one in upstream]
        logged = {f"gradients logged for {name}": grads for name in tensors}
        return {"other entries of the list": [], **logged, "x.grad": sum(grads)}

    def mistakes(self, case):
        first, second = self.truth(case)["gradients logged for h"]
        of_h, of_x = "gradients logged for h", "gradients logged for x"
        return {
            "kept_alias": {of_x: [first + second, second]},
            "runs_only_once": {of_h: [first]},
            "keeps_last_only": {of_h: [second]},
            "accumulated_grad": AnyOf({of_h: [first, first + second]}, {of_x: [first, first + second]}),
            "shared_list": {of_h: such_that(lambda got: len(got) > 2)},
            "changes_gradient": {"x.grad": other_than(first + second)},
        }


check("fan_out", LogsEveryCall, TwoPasses)


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
        for number in range(case.integer("hidden passes", 2, 4)):
            output.backward(case.tensor(f"hidden upstream {number}", 3, 2), retain_graph=True)
        return {**by_name(log, tensors), "in .grad": [tensor.grad for tensor in tensors.values() if tensor.is_leaf]}

    def truth(self, case):
        tensors, output = three_tensors(case)
        logged = {f"gradients logged for {name}": [] for name in tensors}
        for number in range(case.integer("hidden passes", 2, 4)):
            upstream = case.tensor(f"hidden upstream {number}", 3, 2)
            grads = torch.autograd.grad(output, list(tensors.values()), upstream, retain_graph=True)
            for entries, grad in zip(logged.values(), grads):
                entries.append(grad)
        of_leaves = [sum(grads) for tensor, grads in zip(tensors.values(), logged.values()) if tensor.is_leaf]
        return {"other entries of the list": [], **logged, "in .grad": of_leaves}


check("fan_out", OtherNames)
