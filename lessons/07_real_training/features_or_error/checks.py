import re
from contextlib import suppress

from torch import nn
from torch.nn import functional as F

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than, such_that


class Chain(nn.Module):
    """Linear layers by name, one behind the other. Of some it uses the weights, and never calls them."""

    def __init__(self, names, unheard):
        super().__init__()
        self.names, self.unheard = names, unheard
        self.inner = nn.ModuleDict({name: nn.Linear(4, 4) for name in names})

    def forward(self, x):
        for name in self.names:
            layer = self.inner[name]
            x = F.linear(x, layer.weight, layer.bias) if name in self.unheard else layer(x)
        return x


class Compiled(nn.Module):
    """As `torch.compile` returns it: has the modules of the model that it holds; if it is stale, it calls none of them."""

    def __init__(self, model, stale=True):
        super().__init__()
        self._orig_mod, self.stale = model, stale

    def __getattr__(self, name):
        return self._modules[name] if name == "_orig_mod" else getattr(self._orig_mod, name)

    def forward(self, x):
        if not self.stale:
            return self._orig_mod(x)
        for layer in self.inner.values():
            x = F.linear(x, layer.weight, layer.bias)
        return x


def stands_in(name, text):
    """Whether the name stands in the text, and not only a longer one that begins like it."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\.?\w)", text) is not None


def telling(names, heard=()):
    """A text in which each of these names stands, and none of those with a hook that was called."""

    def test(got):
        if not isinstance(got, str):
            return "no error"
        missing, others = [name for name in names if not stands_in(name, got)], [name for name in heard if stands_in(name, got)]
        if others and not missing:
            return f"a text with {others[0]}, although its hook was called"
        return f"a text without {missing[0]}" if missing else None

    return Matches(test, f"a RuntimeError that names {', '.join(names)}")


class HeardCheck(Check):
    """What the checks of this exercise share."""

    poison = ("net", "pictures", "labels", "found", "layers", "model")
    errors = {r"(KeyError|AssertionError|ValueError|AttributeError|LookupError|TypeError)": "speaks_other_error"}
    unheard = 0

    def names(self, case):
        """Two of them begin alike."""
        return [*case.words("names", 4), f"{case.words('names', 4)[0]}s"]

    def given(self, case):
        names = self.names(case)
        unheard = case.shuffled("unheard", names)[: self.unheard]
        return case.build("net", Chain, names, unheard), names, unheard

    def asked(self, case):
        return [f"inner.{name}" for name in case.shuffled("asked", self.names(case))[:4]]

    def says(self, nb, model, layers, x):
        """What the function raises, or what it returns if it raises nothing."""
        try:
            return nb.function("features")(model, layers, x)
        except RuntimeError as error:
            return str(error)


class Heard(HeardCheck):
    """It returns the output of each layer, from one run."""

    def probe(self, nb, case):
        (model, _, _), runs = self.given(case), []
        model.register_forward_pre_hook(lambda module, args: runs.append(len(runs)))
        found = self.says(nb, model, self.asked(case), case.tensor("x", 3, 4))
        return {"features(...)": found, "the list of its runs": runs}

    def outputs(self, case, key="names"):
        model, names, _ = self.given(case)
        x, found = case.tensor("x", 3, 4), {}
        for name in names:
            before, x = x, model.inner[name](x)
            found[f"inner.{name}"] = (before, x)
        return found

    def truth(self, case):
        outputs = self.outputs(case)
        return {"features(...)": {name: outputs[name][1] for name in self.asked(case)}, "the list of its runs": [0]}

    def mistakes(self, case):
        outputs, asked = self.outputs(case), self.asked(case)
        wanted = {name: outputs[name][1] for name in asked}

        def says_that(many):
            return such_that(lambda got: isinstance(got, str) and (sum(stands_in(name, got) for name in asked) in ([4] if many else [1, 2, 3])))

        return {
            "returns_nothing": {"features(...)": None},
            "speaks_first_level": {"features(...)": says_that(True)},
            "loop_variable": {"features(...)": says_that(False)},
            "speaks_stale": {"features(...)": such_that(lambda got: isinstance(got, dict) and len(got) > 4 and not set(got) <= set(outputs))},
            "speaks_runs_often": {"the list of its runs": such_that(lambda got: len(got) > 1)},
            "hook_never_ran": {"the list of its runs": []},
            "input_or_output": {"features(...)": AnyOf(*({name: given(outputs[name][0]) for name in asked} for given in (lambda x: x, lambda x: (x,))))},
            "all_layers": {"features(...)": {**{name: out for name, (_, out) in outputs.items()}}},
            "output_for_features": {"features(...)": outputs[f"inner.{self.names(case)[-1]}"][1], "the list of its runs": [0]},
            "speaks_list": {"features(...)": [outputs[name][1] for name in asked]},
            "speaks_short_names": {"features(...)": {name.split(".")[-1]: value for name, value in wanted.items()}},
        }


class NotHeard(HeardCheck):
    """It raises a RuntimeError that names each layer whose hook was not called."""

    unheard = 3
    blame = {"what is returned when all hooks are called": "speaks_of_another", "what the model puts out while it is watched": "watcher_changes_output"}

    def asked(self, case):
        return [f"inner.{name}" for name in case.shuffled("asked", self.names(case))]

    def probe(self, nb, case):
        model, names, unheard = self.given(case)
        heard, runs = [f"inner.{name}" for name in names if name not in unheard], []
        dead, twice, outputs = self.given(case)[0], self.given(case)[0], []
        nn.utils.vector_to_parameters(0 * case.tensor("dead", 20).detach(), dead.get_submodule(heard[0]).parameters())
        twice.names = names * 2
        twice.register_forward_hook(lambda module, args, output: outputs.append(output.detach().clone()))
        all_well = [self.says(nb, one, heard, case.tensor("x", 3, 4)) for one in (dead, Compiled(twice, stale=False))]
        some = self.says(nb, model, self.asked(case), case.tensor("x", 3, 4))
        model.register_forward_hook(lambda module, args, output: runs.append(output.detach().clone()))
        one = self.says(nb, model, [*heard, f"inner.{unheard[0]}"], case.tensor("x", 3, 4))
        compiled = self.says(nb, Compiled(self.given(case)[0]), heard, case.tensor("x", 3, 4))
        return {
            "what is returned when all hooks are called": all_well, "what the model puts out while it is watched": outputs,
            "the answer when three hooks are not called": some, "the answer when one hook is not called": one, "the list of its outputs": runs, "the answer when all is compiled": compiled,
        }

    def truth(self, case):
        (model, names, unheard), twice = self.given(case), self.given(case)[0]
        heard, unheard = [f"inner.{name}" for name in names if name not in unheard], [f"inner.{name}" for name in unheard]
        twice.names = names * 2
        return {
            "what is returned when all hooks are called": Matches(lambda got: None if all(isinstance(one, dict) for one in got) else "an error", "two dicts"),
            "what the model puts out while it is watched": [twice(case.tensor("x", 3, 4)).detach()],
            "the answer when three hooks are not called": telling(unheard, heard), "the answer when one hook is not called": telling(unheard[:1], heard),
            "the list of its outputs": [model(case.tensor("x", 3, 4)).detach()], "the answer when all is compiled": telling(heard),
        }

    def mistakes(self, case):
        _, names, unheard = self.given(case)
        heard = [name for name in names if name not in unheard]

        def nameless(got):
            text = got if isinstance(got, str) else unheard[0]
            return None if any(stands_in(name, text) for name in heard) or not any(stands_in(name, text) for name in unheard) else "another text"

        silent = Matches(lambda got: "an error" if isinstance(got, str) else None, "no error")
        return {
            "speaks_if_all_silent": {"the answer when three hooks are not called": silent, "the answer when one hook is not called": silent},
            "speaks_first_only": {"the answer when three hooks are not called": such_that(lambda got: isinstance(got, str) and sum(stands_in(name, got) for name in unheard) in (1, 2))},
            "speaks_no_names": {"the answer when three hooks are not called": Matches(nameless, "no name")},
            "speaks_zeros": {"what is returned when all hooks are called": such_that(lambda got: isinstance(got[0], str))},
            "speaks_runs_often": {"the list of its outputs": such_that(lambda got: len(got) > 1)},
            "speaks_of_another": {"the answer when all is compiled": silent},
        }


class Fails(nn.Module):
    def forward(self, x):
        raise ArithmeticError("this layer fails")


class NothingStays(HeardCheck):
    """None of its hooks is left: after a result, its error, a misspelt name, an error of the model, which comes out."""

    unheard = 1
    blame = {"the model's own error": "feat_error_swallowed", "what runs afterwards": "not_as_before"}

    def given(self, case, fails=False):
        model, names, unheard = super().given(case)
        if fails:
            model.inner["fails"] = Fails()
            model.names = [*names[:2], "fails", *names[2:]]
        return model, names, unheard

    def probe(self, nb, case):
        (one, names, unheard), two, four = self.given(case), self.given(case)[0], self.given(case)[0]
        three = self.given(case, fails=True)[0]
        nb.function("features")(one, [f"inner.{name}" for name in names if name not in unheard], case.tensor("x", 3, 4))
        self.says(nb, two, [f"inner.{name}" for name in names], case.tensor("x", 3, 4))
        try:
            error = self.says(nb, three, [f"inner.{name}" for name in names], case.tensor("x", 3, 4))
        except ArithmeticError as raised:
            error = str(raised)
        with suppress(Exception):
            nb.function("features")(four, [*(f"inner.{name}" for name in names if name not in unheard), "inner.misspelt"], case.tensor("x", 3, 4))
        del three.inner["fails"]
        three.names = names
        return {
            "the model's own error": error, "hooks left": [sum(hook_counts(model).values()) for model in (one, two, three, four)],
            "what runs afterwards": [self.runs(case, model) for model in (one, two, three, four)],
        }

    def runs(self, case, model):
        return what_runs(model, case, lambda: model(case.tensor("another x", 2, 4)))

    def truth(self, case):
        fresh = as_before(self.runs(case, self.given(case)[0]))
        return {"the model's own error": "this layer fails", "hooks left": ANYTHING, "what runs afterwards": [fresh] * 4}

    def mistakes(self, case):
        return {
            "speaks_hooks_after_error": {"hooks left": Matches(lambda got: None if got[0] == 0 and any(got) else "more", "none, then some")},
            "speaks_hooks_stay": {"hooks left": other_than([0, 0, 0, 0])},
        }


check("features_or_error", Heard, NotHeard, NothingStays)


# --- Hidden checks: graders run them, learners do not get them. ---
class Tree(nn.Module):
    """Blocks of layers, some of whose weights are used without a call; depth, kinds and names come from the seed."""

    def __init__(self, names, unheard, kinds):
        super().__init__()
        self.unheard = unheard
        for name, kind in zip(names, kinds):
            self.add_module(name, nn.Sequential(nn.Linear(3, 3), kind()))

    def forward(self, x):
        for name, block in self.named_children():
            x = block[1](F.linear(x, block[0].weight, block[0].bias)) if name in self.unheard else block(x)
        return x


class OtherWeights(HeardCheck):
    """In one more model: features, the error, and features again once its weights have changed."""

    def given(self, case):
        names = case.words("hidden names", case.integer("hidden depth", 3, 6))
        kinds = case.shuffled("hidden kinds", [nn.Tanh, nn.Sigmoid, nn.Softplus, nn.SiLU, nn.GELU, nn.ELU])
        unheard = case.shuffled("hidden unheard", names)[:2]
        layers = [f"{name}.1" for name in case.shuffled("hidden asked", names)[:3]]
        return Compiled(case.build("hidden net", Tree, names, unheard, kinds), stale=False), names, unheard, layers

    def probe(self, nb, case):
        model, _, unheard, layers = self.given(case)
        function, runs, found = nb.function("features"), [], {}
        model.register_forward_hook(lambda module, args, output: runs.append(output.detach().clone()))
        found["before"] = function(model, layers, case.tensor("hidden x", 2, 3))
        found["error"] = self.says(nb, model, [*layers, *(f"{name}.0" for name in unheard)], case.tensor("hidden y", 2, 3))
        for number, parameter in enumerate(model.parameters()):
            parameter.data = case.tensor(f"hidden weight {number}", *parameter.shape).detach()
        found["after"] = function(model, layers, case.tensor("hidden x", 2, 3))
        return {**found, "runs": [*runs], "what runs": what_runs(model, case, lambda: model(case.tensor("hidden z", 2, 3)))}

    def truth(self, case):
        model, names, unheard, layers = self.given(case)
        model.register_forward_hook(lambda module, args, output: None)
        wanted, runs = {}, []
        for moment, name in (("before", "x"), ("", "y"), ("after", "x")):
            if moment == "after":
                for number, parameter in enumerate(model.parameters()):
                    parameter.data = case.tensor(f"hidden weight {number}", *parameter.shape).detach()
            x, outputs = case.tensor(f"hidden {name}", 2, 3), {}
            for block in names:
                x = outputs[f"{block}.1"] = model.get_submodule(block)(x)
            runs.append(x.detach())
            if moment:
                wanted[moment] = {layer: outputs[layer] for layer in layers}
        afterwards = as_before(what_runs(model, case, lambda: model(case.tensor("hidden z", 2, 3))))
        return {**wanted, "error": telling([f"{name}.0" for name in unheard]), "runs": runs, "what runs": afterwards}


check("features_or_error", OtherWeights)
