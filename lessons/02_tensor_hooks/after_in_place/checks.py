import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.truths import other_than, such_that


class BothValues(Check):
    """After one pass each list holds the gradient of its own value of `h`."""

    poison = ("x", "h", "before", "after", "tensor", "change", "grad")
    errors = {
        r"(TypeError|ValueError): .*(NoneType|not enough|too many|non-iterable|to unpack)": "in_place_watch_two_lists",
        r"AttributeError: 'Tensor' object has no attribute '(append|clear|extend)'": "shared_list",  # see poison
    }

    def start(self, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        return x, x * case.tensor("factor", 4)

    def output(self, h, case):
        return h**3 * case.tensor("weight", 3, 1)

    def probe(self, nb, case):
        x, h = self.start(case)
        before, after = nb.function("watch_around")(h, torch.cos_)
        early = [list(one) if isinstance(one, list) else type(one).__name__ for one in (before, after)]
        value = h.detach().clone()
        self.output(h, case).backward(case.tensor("upstream", 3, 4))
        return {
            "h after the change": value,
            "the two lists before backward": early,
            "before": before,
            "after": after,
            "x.grad": x.grad,
            "h.retains_grad": h.retains_grad,
        }

    def values(self, case):
        _, old = self.start(case)
        new = old.cos()
        return old, new, torch.autograd.grad(self.output(new, case), (old, new), case.tensor("upstream", 3, 4))

    def truth(self, case):
        _, new, (of_old, of_new) = self.values(case)
        return {
            "h after the change": new,
            "the two lists before backward": [[], []],
            "before": [of_old],
            "after": [of_new],
            "x.grad": of_old * case.tensor("factor", 4),
            "h.retains_grad": False,
        }

    def mistakes(self, case):
        old, new, (of_old, of_new) = self.values(case)
        return {
            "in_place_watch_not_changed": {"h after the change": old},
            "in_place_watch_changed_twice": {"h after the change": new.cos()},
            "in_place_watch_own_change": {"h after the change": other_than(new)},
            "in_place_watch_two_lists": {
                "the two lists before backward": such_that(lambda got: any(isinstance(one, str) for one in got))
            },
            "keeps_the_tensor": AnyOf({"the two lists before backward": [[old], [new]]}, {"after": AnyOf([new], [old])}),
            "asks_too_early": {"the two lists before backward": such_that(lambda got: got != [[], []])},
            "in_place_watch_hidden_change": {
                "before": [of_new],
                "after": [of_new],
                "x.grad": of_new * case.tensor("factor", 4),
            },
            "in_place_watch_hooks_after": {"before": [of_new], "after": [of_new]},
            "in_place_watch_hooks_before": {"before": [of_old], "after": [of_old]},
            "in_place_watch_swapped": {"before": [of_new], "after": [of_old]},
            "in_place_watch_one_list": {"before": AnyOf([of_old, of_new], [of_new, of_old])},
            "in_place_watch_copy": AnyOf({"before": [], "after": [of_new]}, {"before": [of_old], "after": []}),
            "reads_grad_early": AnyOf({"before": [None]}, {"after": [None]}),
            "changes_gradient": {"x.grad": other_than(of_old * case.tensor("factor", 4))},
            "uses_retain_grad": {"h.retains_grad": True},
        }


class TwoPasses(Check):
    """Each pass adds one gradient to each list, whatever `change` returns."""

    errors = {r"AttributeError: 'NoneType' object has no attribute 'register_hook'": "in_place_watch_return_value"}

    def lists(self, case, watch_around):
        x, factor = case.tensor("x", 3, 4, requires_grad=True), case.tensor("another factor", 3, 1)
        h = x + case.tensor("shift", 4)
        before, after = watch_around(h, lambda tensor: (tensor.mul_(factor), None)[1])
        watch_around(x * 2, torch.Tensor.tanh_)  # another tensor, which is not used
        output = h**3
        for number in (1, 2):
            output.backward(case.tensor(f"upstream {number}", 3, 4), retain_graph=True)
        return {"before": before, "after": after}

    def probe(self, nb, case):
        return self.lists(case, nb.function("watch_around"))

    def truth(self, case):
        old = (case.tensor("x", 3, 4) + case.tensor("shift", 4)).requires_grad_()
        new = old * case.tensor("another factor", 3, 1)
        upstream = (case.tensor(f"upstream {number}", 3, 4) for number in (1, 2))
        found = [torch.autograd.grad(new**3, (old, new), one, retain_graph=True) for one in upstream]
        return {"before": [of_old for of_old, _ in found], "after": [of_new for _, of_new in found]}

    def mistakes(self, case):
        right = self.truth(case)
        first, last = ({name: [grads[number]] for name, grads in right.items()} for number in (0, 1))
        return {
            "kept_alias": {"before": [sum(right["before"]), right["before"][1]]},
            "earlier_call_forgotten": AnyOf({"before": []}, {"after": []}),
            "runs_only_once": AnyOf(first, {"before": first["before"]}, {"after": first["after"]}),
            "keeps_last_only": AnyOf(last, {"before": last["before"]}, {"after": last["after"]}),
        }


check("after_in_place", BothValues, TwoPasses)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherChange(Check):
    """With another change, in another graph, each pass adds the gradients of both values, and neither changes nor keeps anything else."""

    def probe(self, nb, case):
        x, factor = case.tensor("hidden x", 4, 2, requires_grad=True), case.tensor("hidden factor", 2)
        h = x.sin()
        before, after = nb.function("watch_around")(h, lambda tensor: tensor.mul_(factor).sigmoid_())
        early = [list(before), list(after)]
        for number in range(case.integer("hidden passes", 2, 4)):
            output = h.exp() * case.tensor(f"hidden weight {number}", 2)
            output.sum().backward(retain_graph=True)
        kept = h.detach() if h.grad is None else h.grad
        return {"at first": early, "h, or its .grad": kept, "before": before, "after": after, "x.grad": x.grad}

    def truth(self, case):
        x, found = case.tensor("hidden x", 4, 2, requires_grad=True), []
        old = x.sin()
        new = (old * case.tensor("hidden factor", 2)).sigmoid()
        for number in range(case.integer("hidden passes", 2, 4)):
            output = new.exp() * case.tensor(f"hidden weight {number}", 2)
            found.append(torch.autograd.grad(output.sum(), (old, new, x), retain_graph=True))
        before, after, of_x = (list(grads) for grads in zip(*found))
        return {"at first": [[], []], "h, or its .grad": new, "before": before, "after": after, "x.grad": sum(of_x)}


check("after_in_place", AnotherChange)
