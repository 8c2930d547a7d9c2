import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import nan_as_number, odd_gradients
from course.traces import gradients_left
from course.truths import no_gradient_left, other_than, such_that


class BothValues(Check):
    """After one pass `before` holds the gradient of the old value of `h`, `after` that of the new one."""

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
            "keeps_the_tensor": {"after": AnyOf([new], [old])},
            "in_place_watch_copy": AnyOf({"before": [], "after": [of_new]}, {"before": [of_old], "after": []}),
            "reads_grad_early": AnyOf({"before": [None]}, {"after": [None]}),
            "changes_gradient": {"x.grad": other_than(of_old * case.tensor("factor", 4))},
        }


class SeveralPasses(BothValues):
    """Each further backward pass adds one more gradient to each list, and leaves the earlier ones, and `.grad`, as they are."""

    passes = (1, 2, 2)

    def start(self, case):
        # The gradient of the old value reaches x as it is: a kept alias would take part in the sum in x.grad.
        x = case.tensor("x", 3, 4, requires_grad=True)
        return x, x + case.tensor("shift", 4)

    blame = {".grad of h": "uses_retain_grad"}

    def probe(self, nb, case):
        _, h = self.start(case)
        before, after = nb.function("watch_around")(h, torch.Tensor.tanh_)
        nb.function("watch_around")(self.start(case)[1], torch.Tensor.tanh_)  # another tensor, which is not used
        output = self.output(h, case)
        for number in self.passes:
            output.backward(case.tensor(f"upstream {number}", 3, 4), retain_graph=True)
        return {"before": before, "after": after, ".grad of h": gradients_left({"h": h}, case)["h"]}

    def truth(self, case):
        return {**self.lists(case), ".grad of h": no_gradient_left("h", self.start(case)[1], case)}

    def lists(self, case):
        _, old = self.start(case)
        new = old.tanh()
        output = self.output(new, case)
        upstream = (case.tensor(f"upstream {number}", 3, 4) for number in self.passes)
        found = [torch.autograd.grad(output, (old, new), one, retain_graph=True) for one in upstream]
        return {"before": [of_old for of_old, _ in found], "after": [of_new for _, of_new in found]}

    def mistakes(self, case):
        right = self.lists(case)
        (one, two, _), after = right["before"], right["after"]
        sums = {name: [grads[0], grads[0] + grads[1], grads[0] + 2 * grads[1]] for name, grads in right.items()}
        first, last = ({name: [grads[number]] for name, grads in right.items()} for number in (0, 2))
        return {
            "kept_alias": {"before": [one + two + two, two, two], "after": after},
            "earlier_call_forgotten": AnyOf({"before": []}, {"after": []}),
            "runs_only_once": AnyOf(first, {"before": first["before"]}, {"after": first["after"]}),
            "keeps_last_only": AnyOf(last, {"before": last["before"]}, {"after": last["after"]}),
            "accumulated_grad": AnyOf({"before": sums["before"]}, {"after": sums["after"]}),
        }


class ChangeReturnsNothing(BothValues):
    """It works for a `change` that returns None, and for one that returns another tensor: what counts is the tensor."""

    def probe(self, nb, case):
        factor, found = case.tensor("another factor", 3, 1), {}
        for returns in ("None", "another tensor"):
            x, h = self.start(case)

            def scale(tensor):
                tensor.mul_(factor)
                return tensor * 2 if returns == "another tensor" else None

            before, after = nb.function("watch_around")(h, scale)
            self.output(h, case).backward(case.tensor("upstream", 3, 4))
            found |= {f"{name}, if change returns {returns}": one for name, one in (("before", before), ("after", after))}
            found[f"x.grad, if change returns {returns}"] = x.grad
        return found

    def truth(self, case):
        _, old = self.start(case)
        new = old * case.tensor("another factor", 3, 1)
        of_old, of_new = torch.autograd.grad(self.output(new, case), (old, new), case.tensor("upstream", 3, 4))
        right = {"before": [of_old], "after": [of_new], "x.grad": of_old * case.tensor("factor", 4)}
        return {f"{name}, if change returns {one}": value for one in ("None", "another tensor") for name, value in right.items()}

    def mistakes(self, case):
        return {}

    errors = {r"(AttributeError|TypeError): .*NoneType": "in_place_watch_return_value"}
    blame = {
        f"{name}, if change returns {one}": "in_place_watch_return_value"
        for name in ("before", "after")
        for one in ("None", "another tensor")
    }


class AnyGradient(Check):
    """On the second result of an operation, also where backward begins at it: zeros, infinity and NaN are gradients, too."""

    def run(self, case, watch_around=None):
        x, factor = case.tensor("x", 6, 3, requires_grad=True), case.tensor("a factor", 6)
        trace, left = [case.integer("before it runs", 1, 10**6)], []

        def change(tensor):
            trace.append((31 * trace[-1] + case.integer("step", 1, 10**6)) % 999_983)
            tensor.mul_(factor)

        h = torch.std_mean(x, 1)[1]
        if watch_around is None:
            change(h)
            before, after = [], []
        else:
            before, after = watch_around(h, change)
        for upstream in odd_gradients(case):
            x.grad = None
            h.backward(upstream.clone(), retain_graph=True)
            left.append(x.grad)
        return before, after, left, trace[-1]

    def told(self, before, after, left, trace):
        names = ("before (31337: NaN)", "after (31337: NaN)", "x.grad after each pass (31337: NaN)")
        found = {name: nan_as_number(grads) for name, grads in zip(names, (before, after, left))}
        return {**found, "the trace of the calls of change": trace}

    def probe(self, nb, case):
        return self.told(*self.run(case, nb.function("watch_around")))

    def truth(self, case):
        gradients, factor = odd_gradients(case), case.tensor("a factor", 6)
        _, _, left, trace = self.run(case)
        return self.told([gradient * factor for gradient in gradients], gradients, left, trace)

    def mistakes(self, case):
        right = self.truth(case)
        after, left = (right[f"{name} (31337: NaN)"] for name in ("after", "x.grad after each pass"))
        return {
            "in_place_watch_changed_twice": {
                **{name: value for name, value in right.items() if "31337" in name},
                "the trace of the calls of change": other_than(right["the trace of the calls of change"]),
            },
            "drops_an_entry": {"after (31337: NaN)": such_that(lambda got: 0 < len(got) < len(after))},
            "begins_at_the_tensor": {"after (31337: NaN)": []},
            "repairs_the_gradient": {"x.grad after each pass (31337: NaN)": other_than(left)},
            "hooks_the_operation": {
                "before (31337: NaN)": other_than(right["before (31337: NaN)"]),
                "after (31337: NaN)": after,
                "x.grad after each pass (31337: NaN)": left,
            },
        }

    errors = {r"(AttributeError|TypeError): .*NoneType": "hooks_the_operation"}


class TensorLetGo(Check):
    """In float64, and as in a function that returns only the loss: nobody holds the tensor any more when backward runs."""

    def loss(self, case, watch_around):
        h = case.tensor("x", 2, 3, requires_grad=True, dtype=torch.float64) * 4
        before, after = watch_around(h, lambda tensor: tensor.mul_(5))
        return before, after, (h * 3).sum()  # no operation saves h

    def probe(self, nb, case):
        before, after, loss = self.loss(case, nb.function("watch_around"))
        loss.backward(case.tensor("upstream", dtype=torch.float64))
        return {"before": before, "after": after}

    def truth(self, case):
        of_new = 3 * case.tensor("upstream", dtype=torch.float64).expand(2, 3)
        return {"before": [5 * of_new], "after": [of_new]}

    def mistakes(self, case):
        right = self.truth(case)
        return {
            "needs_the_tensor": {"before": [], "after": []},
            "digits_lost": {name: [grad.float() for grad in grads] for name, grads in right.items()},
        }


check("after_in_place", BothValues, SeveralPasses, ChangeReturnsNothing, AnyGradient, TensorLetGo)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherChange(Check):
    """With another change, in another graph, each pass adds the gradients of both values."""

    def probe(self, nb, case):
        h = case.tensor("hidden x", 4, 2, requires_grad=True).sin()
        before, after = nb.function("watch_around")(h, torch.Tensor.sigmoid_)
        for number in (1, 2):
            output = h.exp() * case.tensor(f"hidden weight {number}", 2)
            output.sum().backward(retain_graph=True)
        return {"before": before, "after": after}

    def truth(self, case):
        old = case.tensor("hidden x", 4, 2).sin().requires_grad_()
        new = old.sigmoid()
        before, after = [], []
        for number in (1, 2):
            output = new.exp() * case.tensor(f"hidden weight {number}", 2)
            of_old, of_new = torch.autograd.grad(output.sum(), (old, new), retain_graph=True)
            before.append(of_old)
            after.append(of_new)
        return {"before": before, "after": after}


check("after_in_place", AnotherChange)
