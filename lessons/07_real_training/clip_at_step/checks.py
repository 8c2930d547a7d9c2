import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import such_that

POISON = ("w", "optimizer", "scaler", "loss", "parameters", "handles")
ERRORS = {
    r"RuntimeError: .*must return None or a tuple of \(new_args, new_kwargs\)": "clip_returns_norm",
    r"AttributeError: 'NoneType' object has no attribute 'remove'": "clip_no_handle",
    r"AttributeError: 'NoneType' object has no attribute '\w+'": "clip_without_gradient",
    r"AttributeError: '\w+' object has no attribute 'remove'": "clip_no_handle",
    r"AttributeError: '?\w+'? object has no attribute 'parameters'": "clip_parameters_of_optimizer",
}
NAMES = ("a", "b", "c")


class ClipCheck(Check):
    """What the checks of this exercise share: parameters, gradients of the seed, and SGD in two groups."""

    poison = POISON
    errors = ERRORS
    most = 0.5

    def parameters(self, case):
        return {name: nn.Parameter(case.tensor(name, 2, number + 2).detach()) for number, name in enumerate(NAMES)}

    def optimizer(self, case, parameters):
        first, *rest = parameters.values()
        groups = [{"params": [first], "lr": 0.5}, {"params": rest, "lr": 0.25}]
        return torch.optim.SGD(groups, momentum=0.5)

    def loss(self, case, parameters, step, size=3.0):
        """Its gradients are those that `gradients` gives."""
        gradients = self.gradients(case, parameters, step, size)
        return sum((parameters[name] * gradient).sum() for name, gradient in gradients.items())

    def gradients(self, case, parameters, step, size=3.0):
        return {name: size * case.tensor(f"gradient {step} {name}", *one.shape) for name, one in parameters.items()}

    def values(self, parameters):
        return {name: one.detach().clone() for name, one in parameters.items()}

    def steps(self, case, steps, clip="norm", scale=1.0):
        """For the truth and mistakes: the values after each step with these gradients, clipped in that way."""
        parameters = self.parameters(case)
        optimizer, found = self.optimizer(case, parameters), []
        for gradients in steps:
            self.clipped(parameters, {name: gradient * scale for name, gradient in gradients.items()}, clip)
            for one in parameters.values():
                one.grad = one.grad / scale
            optimizer.step()
            found.append(self.values(parameters))
        return Close(found, rtol=1e-4, atol=1e-5)

    def clipped(self, parameters, gradients, clip):
        def shrunk(some, least=1.0):
            norm = torch.cat([one.flatten() for one in some.values()]).norm()
            return {name: one * min(self.most / norm.item(), least) for name, one in some.items()}

        if clip == "norm":
            gradients = shrunk(gradients)
        elif clip == "always":
            gradients = shrunk(gradients, least=1e9)
        elif clip == "each":
            gradients = {name: shrunk({name: one})[name] for name, one in gradients.items()}
        elif clip == "value":
            gradients = {name: one.clamp(-self.most, self.most) for name, one in gradients.items()}
        elif clip == "groups":
            gradients = shrunk({"a": gradients["a"]}) | shrunk({name: gradients[name] for name in "bc"})
        elif clip == "first group":
            gradients = gradients | shrunk({"a": gradients["a"]})
        elif clip == "weights":
            for one in parameters.values():
                one.data.clamp_(-self.most, self.most)
        elif clip == "zero":
            gradients = {name: 0 * one for name, one in gradients.items()}
        for name, one in gradients.items():
            parameters[name].grad = one.detach().clone()


class WithAScaler(ClipCheck):
    """Each step uses clipped gradients, even though a scaler has scaled them."""

    def probe(self, nb, case):
        parameters = self.parameters(case)
        optimizer, scaler, found = self.optimizer(case, parameters), torch.amp.GradScaler("cpu", init_scale=64.0), []
        nb.function("clip_at_step")(optimizer, self.most)
        for step in range(3):
            optimizer.zero_grad()
            scaler.scale(self.loss(case, parameters, step)).backward()
            scaler.step(optimizer)
            scaler.update()
            found.append(self.values(parameters))
        return {"parameters after each step": found}

    def of(self, case, *args):
        steps = [self.gradients(case, self.parameters(case), step) for step in range(3)]
        return {"parameters after each step": self.steps(case, steps, *args)}

    def truth(self, case):
        return self.of(case)

    def mistakes(self, case):
        steps = [self.gradients(case, self.parameters(case), step) for step in range(3)]
        first, before = self.steps(case, steps[:1]).value[0]["a"], self.parameters(case)

        def factors(got):
            """By what the first step's gradients were multiplied: one number for all, or several."""
            changes = {name: (before[name] - got[0][name].tensor()) / (0.5 if name == "a" else 0.25) for name in NAMES}
            return torch.cat([(changes[name] / steps[0][name])[steps[0][name].abs() > 0.1] for name in NAMES])

        def to_another_norm(got):
            return factors(got).min() > 0 and factors(got).max() < 1.01 * factors(got).min()

        return {
            "clip_ends_too_soon": {"parameters after each step": such_that(lambda got: torch.allclose(got[0]["a"].tensor(), first, atol=1e-4))},
            "clip_scaled": self.of(case, "norm", 64.0),
            "clip_scaled_too": self.of(case, "each", 64.0),
            "clip_by_value": self.of(case, "value"),
            "clip_each_alone": self.of(case, "each"),
            "clip_each_group": self.of(case, "groups"),
            "clip_first_group": self.of(case, "first group"),
            "clip_not_at_all": AnyOf(self.of(case, "none"), self.of(case, "weights")),
            "clip_zeroed": {"parameters after each step": such_that(lambda got: factors(got).abs().max() < 1e-3)},
            "clip_other_norm": {"parameters after each step": such_that(to_another_norm)},
        }


class WithoutAScaler(ClipCheck):
    """Without a scaler too: summed gradients are clipped once, small ones not at all."""

    def probe(self, nb, case):
        parameters = self.parameters(case)
        optimizer, found = self.optimizer(case, parameters), []
        nb.function("clip_at_step")(optimizer, self.most)
        for step, size in ((0, 2.0), (2, 0.02)):
            optimizer.zero_grad()
            self.loss(case, parameters, step, size).backward()
            self.loss(case, parameters, step + 1, size).backward()
            optimizer.step()
            found.append(self.values(parameters))
        return {"parameters after each step": found}

    def sums(self, case):
        free = self.parameters(case)
        for step, size in ((0, 2.0), (2, 0.02)):
            one, two = (self.gradients(case, free, now, size) for now in (step, step + 1))
            yield {name: one[name] + two[name] for name in one}

    def truth(self, case):
        return {"parameters after each step": self.steps(case, self.sums(case))}

    def mistakes(self, case):
        field = "parameters after each step"
        return {
            "clip_always": {field: self.steps(case, self.sums(case), "always")},
            "clip_unscales_itself": {field: self.steps(case, self.sums(case), "zero")},
            "clip_not_at_all": {field: self.steps(case, self.sums(case), "none")},
        }


class LaterAndNoMore(ClipCheck):
    """Parameters added later are clipped, another optimizer is not, nor is anything after `remove()`."""

    def scenario(self, case, clip):
        """Steps with an added parameter and beside another optimizer; `clip` returns what ends the clipping."""
        parameters, other = self.parameters(case), {"other": nn.Parameter(case.tensor("other", 3).detach())}
        optimizer = torch.optim.SGD([parameters["a"]], lr=0.5)
        bystander, found = torch.optim.SGD(other.values(), lr=0.5), {}
        end = clip(optimizer)
        optimizer.add_param_group({"params": [parameters["b"], parameters["c"], nn.Parameter(torch.ones(2))], "lr": 0.25})
        for when in ("clipped", "after remove()"):
            for one in (optimizer, bystander):
                one.zero_grad()
            self.loss(case, parameters, when).backward()
            self.loss(case, other, when).backward()
            optimizer.step()
            bystander.step()
            found |= {when: self.values(parameters), f"another optimizer, {when}": self.values(other)}
            if when == "clipped":
                end()
        return found

    def probe(self, nb, case):
        return self.scenario(case, lambda optimizer: nb.function("clip_at_step")(optimizer, self.most).remove)

    def wanted(self, case, only="abc", ends=True, also=False):
        """The same by hand: clip `only` these parameters, with an end or without."""
        parameters, other = self.parameters(case), {"other": nn.Parameter(case.tensor("other", 3).detach())}
        found = {}
        for when in ("clipped", "after remove()"):
            now = when == "clipped" or not ends
            gradients = self.gradients(case, parameters, when)
            self.clipped(parameters, {name: gradients[name] for name in only}, "norm" if now else "none")
            with torch.no_grad():
                for name, one in parameters.items():
                    one -= (0.5 if name == "a" else 0.25) * (one.grad if name in only else gradients[name])
                self.clipped(other, self.gradients(case, other, when), "norm" if also and now else "none")
                other["other"] -= 0.5 * other["other"].grad
            found |= {when: self.values(parameters), f"another optimizer, {when}": self.values(other)}
        return found

    def truth(self, case):
        return Close(self.wanted(case), rtol=1e-4, atol=1e-5)

    def mistakes(self, case):
        def close(found, *names):
            return {name: Close(found[name], rtol=1e-4, atol=1e-5) for name in names or found}

        def other_than_right(field):
            right = self.wanted(case)[field]["other"]
            return Matches(lambda got: None if not torch.allclose(got["other"].tensor(), right, atol=1e-4) else "right", "")

        return {
            "clip_all_optimizers": {"another optimizer, clipped": other_than_right("another optimizer, clipped")},
            "clip_gathered_too_soon": close(self.wanted(case, only="a"), "clipped"),
            "clip_never_ends": close(self.wanted(case, ends=False), "clipped", "after remove()", "another optimizer, clipped"),
        }


check("clip_at_step", WithAScaler, WithoutAScaler, LaterAndNoMore)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnyTraining(Check):
    """Another training, with a scaler whose scale changes, an overflow, groups and a limit of the seed."""

    poison = POISON

    def given(self, case):
        shapes = [case.shape(f"hidden shape {number}", 2, 2, 5) for number in range(case.integer("hidden parameters", 3, 5))]
        parameters = [nn.Parameter(case.tensor(f"hidden {number}", *shape).detach()) for number, shape in enumerate(shapes)]
        rates = [case.integer(f"hidden rate {number}", 1, 5) / 10 for number in range(len(shapes))]
        early = case.integer("hidden early", 1, len(shapes) - 1)
        return parameters, rates, early, case.integer("hidden most", 2, 9) / 10

    def gradient(self, case, number, step, shape):
        size = case.shuffled("hidden sizes", [0.01, 2.5, 2.5])[(0, 1, 1, 2, 2, 2)[step]]
        return case.tensor(f"hidden gradient {number} {step}", *shape) * size

    def add(self, optimizer, parameters, rates):
        for one, rate in zip(parameters, rates):
            optimizer.add_param_group({"params": [one], "lr": rate})

    def probe(self, nb, case):
        parameters, rates, early, most = self.given(case)
        optimizer = torch.optim.SGD([parameters[0]], lr=rates[0])
        self.add(optimizer, parameters[1:early], rates[1:early])
        handle = nb.function("clip_at_step")(optimizer, most)
        self.add(optimizer, parameters[early:], rates[early:])
        beside = nn.Parameter(case.tensor("hidden beside", 3).detach())
        other = torch.optim.SGD([beside], lr=0.5)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** case.integer("hidden scale", 3, 9), growth_interval=1)
        found = []
        for step in range(6):
            if step == 4:
                handle.remove()
            for _part in range(2):
                gradients = [self.gradient(case, number, step, one.shape) for number, one in enumerate(parameters)]
                loss = sum((one * gradient).sum() for one, gradient in zip(parameters, gradients))
                scaler.scale(loss * (float("inf") if step == 2 else 1)).backward()
            (beside * case.tensor(f"hidden gradient beside {step}", 3)).sum().backward()
            scaler.step(optimizer)
            scaler.update()
            other.step()
            optimizer.zero_grad(), other.zero_grad()
            found.append([one.detach().clone() for one in (*parameters, beside)])
        return found

    def truth(self, case):
        parameters, rates, _, most = self.given(case)
        values, found = [one.detach() for one in parameters], []
        beside = case.tensor("hidden beside", 3).detach()
        for step in range(6):
            gradients = [2 * self.gradient(case, number, step, one.shape).detach() for number, one in enumerate(values)]
            norm = torch.cat([one.flatten() for one in gradients]).norm().item()
            factor = 0.0 if step == 2 else min(1.0, most / norm) if step < 4 else 1.0
            values = [one - rate * factor * gradient for one, rate, gradient in zip(values, rates, gradients)]
            beside = beside - 0.5 * case.tensor(f"hidden gradient beside {step}", 3).detach()
            found.append([*values, beside])
        return Close(found, rtol=1e-3, atol=1e-5)


check("clip_at_step", AnyTraining)
