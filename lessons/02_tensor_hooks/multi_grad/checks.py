import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.describe import in_words
from course.truths import ANYTHING, such_that


def small_net(case):
    return case.build("net", lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)))


def run_pass(net, case, name="", factor=3.0):
    net(case.tensor(f"x{name}", 5, 4)).backward(factor * case.tensor(f"upstream{name}", 5, 2))


def gradients_of(net):
    return [parameter.grad for parameter in net.parameters() if parameter.grad is not None]


def total_norm(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients]).norm()


def number(value):
    """A tensor without dimensions, or a Python number: both are fine."""
    fine = AnyOf(*(Close(one, rtol=1e-5, atol=1e-12) for one in (value.detach().float(), value.detach().double(), value.item())))
    says = f"{value.item():.6g}, as a number or a tensor without dimensions"
    return Matches(lambda got: None if is_same(got, fine) else in_words(got), says)


class OneNumberForAPass(Check):
    """One backward pass adds one number: the norm of all gradients together."""

    poison = ("net", "batch", "model", "grads", "parameters", "layer", "a", "b", "c", "d")

    def probe(self, nb, case):
        net = small_net(case)
        norms = nb.function("watch_norm")(net)
        early = list(norms) if isinstance(norms, list) else type(norms).__name__
        run_pass(net, case)
        return {"the list before backward": early, "the list": norms}

    def gradients(self, case):
        net = small_net(case)
        run_pass(net, case)
        return gradients_of(net)

    def truth(self, case):
        return {"the list before backward": [], "the list": [number(total_norm(self.gradients(case)))]}

    def mistakes(self, case):
        gradients = self.gradients(case)
        total, norms = total_norm(gradients), [gradient.norm() for gradient in gradients]
        without_one = [total_norm(gradients[:i] + gradients[i + 1 :]) for i in range(len(gradients))]
        count, together = len(gradients), torch.cat([gradient.flatten() for gradient in gradients]).abs()

        def one_of(*values):
            return {"the list": AnyOf(*([number(value)] for value in values))}

        return {
            "hook_never_ran": {"the list": []},
            "shared_list": {"the list before backward": such_that(lambda got: isinstance(got, list) and len(got) > 0)},
            "returns_no_list": {"the list before backward": such_that(lambda got: isinstance(got, str))},
            "norm_watch_hook_for_each": {"the list": such_that(lambda got: len(got) == count)},
            "norm_watch_sum_of_norms": one_of(sum(norms), sum(norms) / count, together.sum()),
            "norm_watch_no_root": one_of(total**2),
            "norm_watch_reads_grad": one_of(*without_one),
            "norm_watch_one_parameter": one_of(*norms, together.max()),
            "keeps_the_tensor": one_of(total_norm(small_net(case).parameters())),
            "norm_watch_not_one_number": {"the list": such_that(lambda got: len(got) == 1 and (isinstance(got[0], list) or got[0].shape))},
        }

    blame = {"the list": "norm_watch_not_the_norm"}
    errors = {
        r"AttributeError: '(list|tuple)' object has no attribute": "norm_watch_gets_a_list",
        r"(AttributeError: 'NoneType' object|TypeError: .*NoneType)": "norm_watch_reads_grad",
        r"RuntimeError: stack expects each tensor to be equal size": "norm_watch_not_one_number",
        r"TypeError: .*\(\) (takes|missing) ": "norm_watch_gets_a_list",
    }


class TwoPasses(Check):
    """Each pass adds one number, from its own gradients alone, which stay as they are."""

    def run(self, case, watch=lambda net: None):
        net = small_net(case)
        norms = watch(net)
        watch(torch.nn.Linear(2, 2))  # a second model, which is not used
        for name in "12":
            run_pass(net, case, name)
        return {"the list": norms, "0.weight.grad": net[0].weight.grad}

    def probe(self, nb, case):
        return self.run(case, nb.function("watch_norm"))

    def gradients(self, case):
        for name in "12":
            net = small_net(case)
            run_pass(net, case, name)
            yield gradients_of(net)

    def truth(self, case):
        return {**self.run(case), "the list": [number(total_norm(gradients)) for gradients in self.gradients(case)]}

    def mistakes(self, case):
        first, second = self.gradients(case)
        one, two = total_norm(first), total_norm(second)
        grown = [total_norm([a + b for a, b in zip(first, second)]), (one**2 + two**2).sqrt(), one + two]
        return {
            "earlier_call_forgotten": {"the list": []},
            "runs_only_once": {"the list": [number(one)]},
            "keeps_last_only": {"the list": [number(two)]},
            "norm_watch_adds_up": {"the list": AnyOf(*([number(one), number(value)] for value in grown))},
        }

    blame = {"0.weight.grad": "changes_gradient"}


class TwoHeads(torch.nn.Module):
    """A body and two heads, which share a bias; a pass uses one of the heads."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.body = torch.nn.Linear(4, 3)
        self.second = torch.nn.Linear(3, 2)
        self.second.bias = self.first.bias
        self.body.bias.requires_grad_(False)

    def forward(self, x, head):
        return getattr(self, head)(self.body(x).tanh())


class OneHeadAtATime(Check):
    """Frozen parameters, and those that a pass does not reach, do not count."""

    def net_after(self, case, head, watch=lambda net: None):
        """A fresh net after a pass through one head, and what watch made of the net before."""
        net = case.build("net", TwoHeads)
        watched = watch(net)
        net(case.tensor("x", 5, 4), head).backward(case.tensor("upstream", 5, 2))
        return net, watched

    def probe(self, nb, case):
        watch = nb.function("watch_norm")
        return {f"the list, {head} head used": self.net_after(case, head, watch)[1] for head in ("first", "second")}

    def truth(self, case):
        nets = {head: self.net_after(case, head)[0] for head in ("first", "second")}
        return {f"the list, {head} head used": [number(total_norm(gradients_of(net)))] for head, net in nets.items()}

    def mistakes(self, case):
        first, second = (grads[0] for grads in self.truth(case).values())
        return {
            "shared_list": {"the list, first head used": AnyOf([first, second], [second])},
            "norm_watch_one_parameter": {"the list, second head used": AnyOf([], [second])},
        }

    errors = {
        r"AssertionError: Expected gradient function": "norm_watch_frozen",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "norm_watch_frozen",
        r"(TypeError|AttributeError): .*NoneType": "norm_watch_none",
    }
    blame = dict.fromkeys(("the list, first head used", "the list, second head used"), "norm_watch_not_the_norm")


check("multi_grad", OneNumberForAPass, TwoPasses, OneHeadAtATime)


# --- Hidden checks: graders run them, learners do not get them. ---
class Branching(torch.nn.Module):
    """Some layers in a row, of which each pass skips another one; the first has a frozen bias."""

    def __init__(self, width, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(depth))
        self.layers[0].bias.requires_grad_(False)

    def forward(self, x, skip):
        for place, layer in enumerate(self.layers):
            x = x if place == skip else layer(x).sigmoid()
        return x


def another_net(case):
    """A net of drawn width and depth, and its batches."""
    width, depth = case.integer("hidden width", 3, 6), case.integer("hidden depth", 3, 5)
    net = case.build("hidden net", Branching, width, depth)
    return net, [case.tensor(f"hidden x{n}", 7, width) for n in range(case.integer("hidden passes", 2, 4))]


class AnotherModel(Check):
    """Of another model, each pass adds the norm of its own gradients together, and changes none of them."""

    def probe(self, nb, case):
        net, batches = another_net(case)
        norms = nb.function("watch_norm")(net)
        for place, x in enumerate(batches):
            net(x, place).sum().backward()
        return {"the list": norms, "the last weight.grad": net.layers[-1].weight.grad}

    def truth(self, case):
        (net, batches), norms, last = another_net(case), [], 0
        parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
        for place, x in enumerate(batches):
            grads = torch.autograd.grad(net(x, place).sum(), parameters, allow_unused=True)
            norms.append(number(sum(grad.double().square().sum() for grad in grads if grad is not None).sqrt()))
            last = last + (0 if grads[-2] is None else grads[-2])
        return {"the list": norms, "the last weight.grad": last}


check("multi_grad", AnotherModel)
