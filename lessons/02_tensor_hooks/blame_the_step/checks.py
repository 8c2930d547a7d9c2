import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import tensor_hook_count
from course.truths import other_than, such_that

POISON = ("name", "step", "steps", "x", "grad", "guilty")
ERRORS = {
    r"IndexError: (list|tuple) index": "blame_none_guilty",
    r"StopIteration": "blame_none_guilty",
    r"RuntimeError: grad can be implicitly created only for scalar": "blame_no_sum",
    r"AttributeError: 'function' object has no attribute": "blame_hooks_functions",
}
SOUND = [torch.tanh, torch.atan, lambda t: 3 * t, lambda t: t.flip(0), lambda t: t / 2]
"""Steps that send on sound gradients, keep zeros and signs, and make no infinity NaN."""
FOUND = "what blame returned"


def masked_log(t):
    """0 at 0, by a mask; the gradient there is NaN."""
    return torch.where(t > 0, t * t.log(), 0.0)


def chain(names, place, bad):
    """Sound steps, but the one at `place` is `bad`; in front of the others is |t|, which turns infinity into NaN."""
    steps = {name: SOUND[number % len(SOUND)] for number, name in enumerate(names)}
    if place is not None:
        steps[names[0]] = torch.abs
        steps[names[place]] = bad
    return steps


class NamesTheStep(Check):
    """It names the step that sent on the first bad gradient, infinite or NaN."""

    poison = POISON
    errors = ERRORS
    kinds = {"a root": torch.sqrt, "a masked logarithm": masked_log, "a root behind nn.Identity()": torch.sqrt, "a root in front": torch.sqrt, "two roots": torch.sqrt}

    def names(self, case, kind):
        return case.words(f"names, {kind}", 7)

    def place(self, case, kind):
        return 0 if kind.endswith("front") else case.integer(f"place, {kind}", 3, 5)

    def probe(self, nb, case):
        found = {}
        for kind, bad in self.kinds.items():
            names, place = self.names(case, kind), self.place(case, kind)
            steps = chain(names, place, bad)
            if "behind" in kind:
                steps[names[place - 1]] = torch.nn.Identity()
            if kind == "two roots":  # the ReLU sends back 0 for an infinity: the first root gets a finite gradient
                steps |= {names[0]: torch.sqrt, names[place - 1]: torch.relu}
            x = case.tensor(f"x, {kind}", 3, 4, positive=True)
            x[1, 2] = 0
            found[f"{FOUND} for a chain with {kind}"] = nb.function("blame")(steps, x.requires_grad_())
        return found

    def at(self, case, shift):
        """The names of the steps so far from the guilty ones."""
        found = {}
        for kind in self.kinds:
            found[f"{FOUND} for a chain with {kind}"] = self.names(case, kind)[self.place(case, kind) + shift]
        return found

    def truth(self, case):
        return self.at(case, 0)

    def mistakes(self, case):
        root, log, behind, front, two = (f"{FOUND} for a chain with {kind}" for kind in self.kinds)
        names, places = self.names(case, "a root"), self.at(case, 0)
        ends = [{field: self.names(case, kind)[end] for field, kind in zip(places, self.kinds)} for end in (0, -1)]
        beside = [{field: self.at(case, shift)[field] for field in (root, log)} for shift in (-1, 1)]
        return {
            "blame_nobody": {root: None, log: None},
            "blame_same_tensor": {**places, behind: self.at(case, -1)[behind]},
            "blame_first_step": {**places, front: AnyOf(None, self.at(case, 1)[front])},
            "blame_other_guilty": {**places, two: self.names(case, "two roots")[0]},
            "blame_neighbour": AnyOf(*beside),
            "blame_last_heard": ends[0],
            "loop_variable": ends[1],
            "blame_nan_only": {root: names[0], log: places[log]},
            "blame_infinite_only": {root: places[root], log: None},
            "blame_everybody": {root: such_that(lambda got: isinstance(got, (list, tuple, dict)))},
            "blame_not_the_name": {root: such_that(lambda got: got is not None and not isinstance(got, str))},
        }


def listening(step, heard):
    """The step, which notes what comes back to it."""

    def run(t):
        output = step(t) * 1
        output.register_hook(heard.append)
        return output

    return run


class NobodyIsGuilty(Check):
    """If all gradients are finite it returns None, whatever came to `x` before; backward starts at the sum; no hook stays on `x`."""

    poison = POISON
    errors = ERRORS
    claims = (FOUND, "the number of hooks on x", "the number of hooks on x at last")  # the answer itself

    def probe(self, nb, case):
        x, heard = case.tensor("x", 3, positive=True, requires_grad=True), []
        steps = chain(case.words("names", 4), None, None)
        nb.function("blame")({**steps, "root": lambda t: (t * 0).sqrt()}, x)
        found = {"the number of hooks on x": tensor_hook_count(x), FOUND: nb.function("blame")({"same": torch.nn.Identity(), **steps, "last": listening(torch.atan, heard)}, x)}
        return {**found, "the number of hooks on x at last": tensor_hook_count(x), "what came back to the last step": heard[-1:]}

    def truth(self, case):
        return {"the number of hooks on x": 0, FOUND: None, "the number of hooks on x at last": 0, "what came back to the last step": [torch.ones(3)]}

    def mistakes(self, case):
        return {
            "blame_hook_stays": AnyOf({"the number of hooks on x": other_than(0)}, {"the number of hooks on x at last": other_than(0)}),
            "accumulated_grad": {FOUND: AnyOf("same", case.words("names", 4)[0])},
            "blame_none_guilty": {FOUND: other_than(None)},
            "blame_no_sum": {FOUND: None, "what came back to the last step": [other_than(torch.ones(3))]},
        }


check("blame_the_step", NamesTheStep, NobodyIsGuilty)


# --- Hidden checks: graders run them, learners do not get them. ---
class LongChains(Check):
    """Chains of another length and order, some with several bad steps, one with none."""

    kinds = ("root", "logarithm", "two roots", "sound")
    steps = (torch.sin, lambda t: t * 0.7, lambda t: t.roll(1, 0), lambda t: t.transpose(0, 1), torch.atan)

    def given(self, case, kind):
        """Names and steps of a chain, its input and the places of its bad steps."""
        names = [f"{kind[:3]}. {word}" for word in case.words(f"hidden names {kind}", case.integer(f"hidden length {kind}", 5, 9))]
        chosen = case.shuffled("hidden order " + kind, [*self.steps, *self.steps])
        steps = dict(zip(names, chosen))
        low = {"two roots": 3}.get(kind, 2)
        places = [case.integer(f"hidden place {kind}", low, len(names) - 2) * (kind != "logarithm")] if kind != "sound" else []
        for place in places:
            steps[names[place]] = torch.sqrt if "root" in kind else (lambda t: torch.where(t > 0, t * t.abs().log(), 0.0))
        if kind == "root":
            steps[names[places[0] - 1]] = torch.nn.Identity()
        if kind == "two roots":
            steps |= {names[0]: torch.nn.Identity(), names[1]: lambda t: t.abs().pow(0.5), names[places[0] - 1]: torch.relu}
        x = case.tensor(f"hidden x {kind}", 4, 5, positive=True) / 8
        if places:
            x[case.integer(f"hidden row {kind}", 0, 3), case.integer(f"hidden column {kind}", 0, 4)] = 0
        return names, steps, x.requires_grad_(), places

    def probe(self, nb, case):
        found = {}
        for kind in self.kinds:
            heard = []
            names, steps, x, _ = self.given(case, kind)
            weight = case.tensor(f"hidden weight {kind}", 1)
            steps[names[-1]] = listening(steps[names[-1]], heard)
            found[kind] = nb.function("blame")({**steps, "weigh": lambda t: t * weight.to(t)}, x)
            found[f"{kind}, what came back"] = heard[-1:]
            found[f"{kind}, the number of hooks on x"] = tensor_hook_count(x)
        return found

    def truth(self, case):
        found = {}
        for kind in self.kinds:
            names, steps, x, places = self.given(case, kind)
            for step in steps.values():
                x = step(x)
            found[kind] = names[places[0]] if places else None
            found[f"{kind}, what came back"] = [case.tensor(f"hidden weight {kind}", 1).expand(x.shape)]
            found[f"{kind}, the number of hooks on x"] = 0
        return found


check("blame_the_step", LongChains)
