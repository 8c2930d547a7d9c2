# %% prediction
import torch

from nbproof.checks.check import Check, check
from nbproof.checks.namespace import Unanswered
from nbproof.values.compare import AnyOf
from course.truths import ANYTHING, five_steps, other_than, such_that, undisclosed

SAYS = "what ran; keep your prediction as you made it, and write what ran into "


def if_there(nb, name):
    """A variable of the notebook, or None: an answer whose prediction came true needs none."""
    try:
        return getattr(nb, name)
    except Unanswered:
        return None


def names_in(got):
    return [pair[0] if isinstance(pair, list) else pair for pair in got]


def in_this_order(*names):
    """In `mistakes`: a prediction with the names in this order, whatever it says about h.grad."""
    return such_that(lambda got: names_in(got) == list(names))


class PredictsTheOrder(Check):
    """`predicted`, or else `what_ran`, lists the four pairs in the order of the calls."""

    secret = True

    def probe(self, nb, case):
        return {"predicted": nb.predicted, "what_ran": if_there(nb, "what_ran")}

    def truth(self, case):
        log, _ = five_steps()
        right = undisclosed(log, f"{SAYS}`what_ran`")
        return AnyOf({"predicted": right, "what_ran": ANYTHING}, {"predicted": such_that(lambda got: got not in ([], None)), "what_ran": right})

    def mistakes(self, case):
        log, _ = five_steps()
        names = [name for name, _ in log]
        of_w, of_h = names[2:], names[:2]
        return {
            "firing_order_no_prediction": {"predicted": AnyOf([], None)},
            "firing_order_no_pairs": {
                "predicted": such_that(
                    lambda got: not all(len(pair) == 2 and isinstance(pair[1], bool) for pair in got)
                )
            },
            "firing_order_as_registered": {"predicted": in_this_order(*of_w[::-1], *of_h)},
            "firing_order_last_first": {
                "predicted": AnyOf(*(in_this_order(*of_h[::-1], *leaf) for leaf in (of_w, of_w[::-1])))
            },
            "firing_order_forward": {"predicted": such_that(lambda got: names_in(got)[0] in of_w)},
            "firing_order_sum_before_hook": {"predicted": in_this_order(*of_h, *of_w[::-1])},
            "firing_order_retained_early": {
                "predicted": such_that(lambda got: names_in(got) == names and (got[0][1] or got[1][1]))
            },
            "firing_order_retained_late": {"predicted": such_that(lambda got: names_in(got) == names)},
        }


class PredictsTheGradient(Check):
    """`predicted_h_grad`, or else `what_ran_h_grad`, is the number in `h.grad` after backward."""

    secret = True

    def probe(self, nb, case):
        return {"predicted_h_grad": nb.predicted_h_grad, "what_ran_h_grad": if_there(nb, "what_ran_h_grad")}

    def truth(self, case):
        _, grad = five_steps()
        right = undisclosed(AnyOf(grad, torch.tensor(grad)), f"{SAYS}`what_ran_h_grad`")
        return AnyOf(
            {"predicted_h_grad": right, "what_ran_h_grad": ANYTHING},
            {"predicted_h_grad": other_than(None), "what_ran_h_grad": right},
        )

    def mistakes(self, case):
        _, grad = five_steps()
        h = torch.tensor(6.0, requires_grad=True)
        (raw,) = torch.autograd.grad(h**2, h)
        return {
            "firing_order_no_prediction": {"predicted_h_grad": None},
            "firing_order_retained_early": {"predicted_h_grad": AnyOf(raw.item(), raw)},
            "firing_order_gradient_of_w": {"predicted_h_grad": AnyOf(3 * grad, torch.tensor(3 * grad), 3 * raw.item())},
            "firing_order_ten_times_twice": {"predicted_h_grad": AnyOf(10 * grad, 11 * raw.item(), 20 * raw.item())},
        }


check("firing_order", PredictsTheOrder, PredictsTheGradient)


# --- Hidden checks: graders run them, learners do not get them. ---
def either(predicted, what_ran, right):
    """In the truth: the prediction came true, or what ran is right."""
    return AnyOf({predicted: right, what_ran: ANYTHING}, {predicted: ANYTHING, what_ran: right})


class FollowsFromTheRules(Check):
    """The order of the calls, and the number in `h.grad`, are what the rules say."""

    secret = True
    constant = "a prediction: whoever runs the given code sees it"

    def probe(self, nb, case):
        order, number = ("predicted", "what_ran"), ("predicted_h_grad", "what_ran_h_grad")
        return {
            "the order": {name: if_there(nb, name) for name in order},
            "h.grad": {name: if_there(nb, name) for name in number},
        }

    def truth(self, case):
        # Tensor hooks run in the order of registration, then h.grad is kept; the leaf comes last, its own .grad at the end.
        order = [["first", False], ["second", False], ["w", True], ["w.grad", True]]
        grad = 10 * 2 * (2.0 * 3)  # ten times the slope of h**2
        return {
            "the order": either("predicted", "what_ran", undisclosed(order, "what ran")),
            "h.grad": either(
                "predicted_h_grad", "what_ran_h_grad", undisclosed(AnyOf(grad, torch.tensor(grad)), "what ran")
            ),
        }


check("firing_order", FollowsFromTheRules)

# %% log
import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import tensor_hook_count
from course.truths import ANYTHING, five_steps, other_than, such_that


def of_a_pass(through_h=True):
    """What a pass writes into the log: the names as the engine orders them, where `h.grad` is None before."""
    log, _ = five_steps()
    return log if through_h else [[name, False] for name, _ in log[2:]]


class LogsOnePass(Check):
    """One pass: each hook runs at its moment and tells what it sees; `first` makes the gradient ten times as large."""

    poison = ("w", "h", "loss", "grad", "x", "tensor")

    def probe(self, nb, case):
        w = case.tensor("w", 2, 3, requires_grad=True)
        h = w * case.tensor("factor", 3)
        log = nb.function("log_order")(w, h)
        early = list(log) if isinstance(log, list) else type(log).__name__
        (h**2).backward(case.tensor("upstream", 2, 3))
        return {
            "the list before backward": early,
            "the list": log,
            "h.grad": h.grad,
            "w.grad": w.grad,
            "hooks on w and h": tensor_hook_count(w) + tensor_hook_count(h),
        }

    def truth(self, case):
        w, factor = case.tensor("w", 2, 3, requires_grad=True), case.tensor("factor", 3)
        h = w * factor
        grad = 10 * torch.autograd.grad(h**2, h, case.tensor("upstream", 2, 3))[0]
        return {
            "the list before backward": [],
            "the list": of_a_pass(),
            "h.grad": grad,
            "w.grad": grad * factor,
            "hooks on w and h": ANYTHING,
        }

    def mistakes(self, case):
        right = self.truth(case)
        log, grad = right["the list"], right["h.grad"]
        names = [name for name, _ in log]

        def such_names(*order, test=lambda got: True):
            return {"the list": such_that(lambda got: [pair[0] for pair in got] == list(order) and test(got))}

        return {
            "firing_order_no_hooks": {
                "the list before backward": other_than([]),
                "the list": such_that(lambda got: len(got) > 0),
                "hooks on w and h": such_that(lambda got: got < len(log)),
            },
            "shared_list": {"the list before backward": such_that(lambda got: isinstance(got, list) and len(got) > 0)},
            "returns_no_list": {"the list before backward": such_that(lambda got: isinstance(got, str))},
            "other_list_returned": {"the list": [], "hooks on w and h": other_than(0)},
            "firing_order_not_retained": {"the list": [[name, False] for name in names], "h.grad": None},
            "firing_order_keeps_it_itself": such_names(*names, test=lambda got: got[0][1] is True),
            "fan_out_loop_variable": {
                "the list": such_that(lambda got: len(got) > 1 and len({pair[0] for pair in got}) == 1)
            },
            "firing_order_other_registration": such_names(names[1], names[0], *names[2:]),
            "firing_order_second_tensor_hook": such_names(*names[:2], names[3], names[2]),
            "firing_order_not_ten_times": {"h.grad": grad / 10},
            "firing_order_own_grad": such_names(*names, test=lambda got: [pair[1] for pair in got] == [False] * 3 + [True]),
            "firing_order_flag_frozen": such_names(*names, test=lambda got: len({pair[1] for pair in got}) == 1),
            "firing_order_missing_hook": {"the list": such_that(lambda got: 0 < len(got) < len(log))},
            "firing_order_gradient_for_flag": such_names(*names, test=lambda got: not isinstance(got[0][1], bool)),
        }

    blame = {"h.grad": "firing_order_not_ten_times", "w.grad": "firing_order_not_ten_times"}


class PassThatMissesH(Check):
    """In passes that reach `w` but not `h`, only the two hooks on `w` run. Each call of the function has its own list."""

    def passes(self, case):
        """How often there is a backward after either call, by the name of its list."""
        return {name: case.integer(f"passes, {name}", 2, 9) for name in ("the list", "the list of another call")}

    def probe(self, nb, case):
        found = {}
        for name in self.passes(case):
            w = case.tensor(f"w, {name}", 2, requires_grad=True)
            found[name] = w, nb.function("log_order")(w, w * 2)
        for name, times in self.passes(case).items():
            for _ in range(times):
                (found[name][0] * case.tensor("factor", 2)).sum().backward()
        return {name: log for name, (_, log) in found.items()}

    def truth(self, case):
        return {name: of_a_pass(through_h=False) * times for name, times in self.passes(case).items()}

    def mistakes(self, case):
        one, two = self.truth(case).values()
        return {
            "runs_only_once": AnyOf(
                {"the list": one[:2], "the list of another call": two[:2]},
                *({name: such_that(lambda got: got == one[:4])} for name in ("the list", "the list of another call")),
            ),
            "firing_order_flag_typed_in": {
                "the list": such_that(lambda got: [name for name, _ in got] == [name for name, _ in one]),
                "the list of another call": such_that(lambda got: [name for name, _ in got] == [name for name, _ in two]),
            },
            "shared_list": {"the list": such_that(lambda got: len(got) == len(one) + len(two))},
            "earlier_call_forgotten": {"the list": [], "the list of another call": two},
        }

    blame = {"the list": "firing_order_hung_on_h", "the list of another call": "firing_order_hung_on_h"}


class OneMoreHook(Check):
    """Further tensor hooks on `w` still run before the post-accumulate hook; the tensor given to `backward` stays."""

    def further(self, case):
        return case.words("further hooks", case.integer("how many", 1, 5))

    def probe(self, nb, case):
        w, upstream = case.tensor("w", 2, requires_grad=True), case.tensor("upstream", 2)
        h = w * 2
        log = nb.function("log_order")(w, h)
        for name in self.further(case):
            w.register_hook(lambda grad, name=name: log.append((name, h.grad is not None)))
        (h + case.tensor("other", 2)).backward(upstream)
        return {"the list": log, "given to backward": upstream}

    def truth(self, case):
        *tensor_hooks, after_all = of_a_pass()
        further = [[name, True] for name in self.further(case)]
        return {"the list": [*tensor_hooks, *further, after_all], "given to backward": case.tensor("upstream", 2)}

    blame = {"the list": "firing_order_second_tensor_hook", "given to backward": "edits_in_place"}


class WithoutTheSecond(Check):
    """It is `first` that returns ten times the gradient: with `second` taken away, `h.grad` is the same."""

    def probe(self, nb, case):
        w = case.tensor("w", 4, requires_grad=True)
        h = w * 3
        log = nb.function("log_order")(w, h)
        hooks = h._backward_hooks
        if hooks and len(hooks) > 1:
            hooks.popitem()
        h.sin().backward(case.tensor("upstream", 4))
        return {"the list": log, "h.grad": h.grad}

    def truth(self, case):
        h = (case.tensor("w", 4) * 3).requires_grad_()
        grad = 10 * torch.autograd.grad(h.sin(), h, case.tensor("upstream", 4))[0]
        first, second, *of_w = of_a_pass()
        # Hooks that are registered in another way than by h.register_hook are not found, and stay.
        return AnyOf(*({"the list": log, "h.grad": grad} for log in ([first, *of_w], [first, second, *of_w])))

    blame = {"h.grad": "firing_order_not_ten_times"}


check("firing_order", LogsOnePass, PassThatMissesH, OneMoreHook, WithoutTheSecond)


# --- Hidden checks: graders run them, learners do not get them. ---
def further_passes(case):
    """Of each pass, whether `h.grad` is emptied before it, and the gradient that `backward` is given."""
    for number in range(case.integer("hidden passes", 2, 9)):
        emptied = number > 1 and case.integer(f"hidden emptied {number}", 0, 1) == 1
        # The first gradient is zero, and a gradient all the same.
        yield emptied, min(number, 1) * case.tensor(f"hidden upstream {number}", 3)


class SecondPass(Check):
    """In further passes each hook runs again, and finds the `h.grad` that is there."""

    def probe(self, nb, case):
        w = case.tensor("hidden w", 3, requires_grad=True)
        h = w * 2
        log, output = nb.function("log_order")(w, h), h.sin()
        for emptied, upstream in further_passes(case):
            if emptied:
                h.grad = None
            output.backward(upstream, retain_graph=True)
        return {"the list": log, "h.grad": h.grad}

    def truth(self, case):
        h = (case.tensor("hidden w", 3) * 2).requires_grad_()
        log, kept = [], None
        for emptied, upstream in further_passes(case):
            kept = None if emptied else kept
            log += [["first", kept is not None], ["second", kept is not None], ["w", True], ["w.grad", True]]
            gradient = 10 * torch.autograd.grad(h.sin(), h, upstream)[0]
            kept = gradient if kept is None else kept + gradient
        return {"the list": log, "h.grad": kept}

    def mistakes(self, case):
        log = self.truth(case)["the list"]
        once, passes = log[:4], len(log) // 4
        zero_is_none = [[name, flag and place > 5] for place, (name, flag) in enumerate(log)]
        return {
            "firing_order_flag_typed_in": {"the list": once * passes},
            "runs_only_once": {"the list": once},
            "truth_of_a_gradient": {"the list": zero_is_none},
        }


check("firing_order", SecondPass)
