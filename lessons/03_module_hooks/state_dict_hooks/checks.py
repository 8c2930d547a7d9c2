import re

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.truths import ANYTHING, other_than

POISON = ("module", "head")
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"RuntimeError: (OrderedDict|dictionary) (mutated|changed)": "old_name_dict_in_loop",
    r"KeyError: ": "old_name_taken_for_granted",
    r"TypeError: .*takes \d+ positional arguments? but \d+ (was|were) given": "old_name_hook_arguments",
    r"TypeError: .*missing \d+ required positional argument": "old_name_hook_arguments",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|state_dict|named_\w+)'": "function_uses_global",
    r"(AttributeError|TypeError): '(_IncompatibleKeys|list)' object": "old_name_too_late",
    r"AttributeError: 'Parameter' object has no attribute '(\w*parameters|state_dict|\w*modules)'": "old_name_one_kind",
}


class ModuleOfToday(nn.Module):
    """The names of today: a child `fc`, another child, and a parameter."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.norm = nn.LayerNorm(2)
        self.gain = nn.Parameter(torch.rand(2))


def new_checkpoint(case, model):
    """New tensors under the names of today."""
    return {
        key: case.tensor(key, *value.shape, dtype=value.dtype) for key, value in model.state_dict().items()
    }


def with_old_names(saved, pattern, old):
    """The checkpoint with another name where the pattern fits."""
    return {re.sub(pattern, old, key): value for key, value in saved.items()}


def load_and_say(model, saved):
    """What `load_state_dict` says, and the tensors that the model holds then."""
    try:
        says = str(model.load_state_dict(saved))
    except RuntimeError as error:
        if "Error(s) in loading state_dict" not in str(error):
            raise
        says = " ".join(str(error).split())
    return {"what load_state_dict says": says, "state_dict": dict(model.state_dict())}


FINE = "<All keys matched successfully>"
MISSING, UNEXPECTED = r"Missing key\(s\) in state_dict: [^:]*\.", r"Unexpected key\(s\) in state_dict: [^:]*\."


def complaint(*patterns):
    """`load_state_dict` complains of these, in this order, and of nothing else."""
    wanted = r"Error\(s\) in loading state_dict for \w+: " + " ".join(patterns)
    return Matches(lambda got: None if re.fullmatch(wanted, got) else "something else", wanted)


class OldCheckpoint(Check):
    """A checkpoint with the old name loads into the module."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        model = case.build("model", ModuleOfToday)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model, "linear", "fc")
        hooks = len(model._load_state_dict_pre_hooks)
        return {**load_and_say(model, saved), "load hooks": hooks}

    def truth(self, case):
        free = case.build("model", ModuleOfToday)
        return {
            "what load_state_dict says": FINE, "state_dict": new_checkpoint(case, free),
            "load hooks": ANYTHING,
        }

    def mistakes(self, case):
        says, state = "what load_state_dict says", self.truth(case)["state_dict"]
        linear = Matches(lambda got: None if "linear.weight" in got else "not there", "the old name")
        return {
            "old_name_renames_module": {"state_dict": linear},
            "old_name_not_started": {says: complaint(MISSING, UNEXPECTED), "load hooks": 0},
            "old_name_without_effect": {says: complaint(MISSING, UNEXPECTED)},
            "old_name_kept_as_well": {says: complaint(UNEXPECTED)},
            "old_name_only_dropped": {says: complaint(MISSING)},
            "old_name_not_loaded": {says: other_than("an error"), "state_dict": other_than(state)},
        }


class InsideAModel(Check):
    """A model around the module loads its old checkpoint as well."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        head = case.build("head", ModuleOfToday)
        parts = nn.ModuleDict({"body": nn.Linear(3, 3), "head": head,})
        return nn.ModuleDict({"parts": parts})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model["parts"]["head"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"what load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    def mistakes(self, case):
        return {"old_name_no_prefix": {"what load_state_dict says": AnyOf(complaint(MISSING, UNEXPECTED), complaint(MISSING))}}


class LookAlikes(Check):
    """Whatever else is called like the old name, or nearly, stays."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        inner = nn.ModuleDict({"linear": nn.Linear(2, 2), "fc": nn.Linear(2, 2)})
        reader = case.build("reader", ModuleOfToday)
        reader.my_linear, reader.linear2, reader.fc2 = inner, nn.Linear(2, 2), nn.Linear(2, 2)
        return nn.ModuleDict({"linear": reader, "other": nn.ModuleDict({"linear": nn.Linear(2, 2)})})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "^linear[.]fc[.]", "linear.linear.")
        nb.function("accept_old_name")(model["linear"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"what load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"what load_state_dict says": "old_name_anywhere"}


class ParameterAndDeepChild(Check):
    """The old name may be that of a parameter, or of a deep child."""

    poison = POISON
    errors = {**ERRORS, r"KeyError: ": "old_name_one_kind"}

    def build(self, case):
        reader = case.build("reader", ModuleOfToday)
        reader.fc = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.ModuleDict({"layers": nn.Linear(2, 2)}))
        return nn.Sequential(nn.Tanh(), reader)

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "^1[.]gain$", "1.scale")
        saved = with_old_names(saved, "^1[.]fc[.]", "1.layers.")
        nb.function("accept_old_name")(model[1], "scale", "gain")
        nb.function("accept_old_name")(model[1], "layers", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"what load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"what load_state_dict says": "old_name_one_kind", "state_dict": "old_name_one_kind"}


class NewAndBroken(Check):
    """A new checkpoint loads; a broken one is refused, with all that is wrong."""

    poison = POISON
    errors = ERRORS

    def run(self, case, prepare):
        found = {}
        for name in ("new", "broken"):
            model = nn.Sequential(case.build("model", ModuleOfToday))
            prepare(model[0])
            saved = new_checkpoint(case, model)
            if name == "broken":
                saved = with_old_names(saved, "fc[.]", "linear.")
                missing, stranger, extra = self.wrong(case)
                del saved[missing]
                saved |= {stranger: torch.ones(1), f"0.linear.{extra}": torch.ones(1)}
            found[name] = load_and_say(model, saved)["what load_state_dict says"]
        return {f"what load_state_dict says, {name} checkpoint": said for name, said in found.items()}

    def probe(self, nb, case):
        return self.run(case, lambda module: nb.function("accept_old_name")(module, "linear", "fc"))

    def wrong(self, case):
        """What the broken checkpoint lacks, and what it has too much: a stranger of which the model tells first, and something beside the weights."""
        stranger, extra = case.words("too much", 2)
        return case.shuffled("missing", ["0.gain", "0.norm.weight", "0.norm.bias"])[0], f"{stranger}.weight", extra

    def truth(self, case):
        missing, stranger, extra = self.wrong(case)

        def told(got):
            keys = [set(re.findall('"([^"]+)"', part)) for part in got.split("Unexpected key(s) in state_dict: ")]
            right = [[{missing}, {stranger, f"0.{name}.{extra}"}] for name in ("fc", "linear")]
            return None if keys in right else repr(got)[:200]

        says = f'an error that tells of "{missing}", "{stranger}" and "0.fc.{extra}", and of nothing else'
        said = Matches(told, says)
        return {"what load_state_dict says, new checkpoint": FINE, "what load_state_dict says, broken checkpoint": said}

    blame = {
        "what load_state_dict says, new checkpoint": "old_name_taken_for_granted",
        "what load_state_dict says, broken checkpoint": "old_name_hides_errors",
    }


check("state_dict_hooks", OldCheckpoint, InsideAModel, LookAlikes, NewAndBroken, ParameterAndDeepChild)


# --- Hidden checks: graders run them, learners do not get them. ---
class OldThenBroken(Check):
    """Deep in a model, an old checkpoint with two old names loads, and a broken one is refused."""

    poison = POISON

    def build(self, case):
        """The model, the module in it, and its prefix."""
        old, new, parameter = (case.words("hidden names", 5)[number] for number in (0, 1, 3))
        child = nn.Sequential(nn.Linear(3, 2), nn.ModuleDict({old: nn.BatchNorm1d(2)}))
        inner = nn.ModuleDict({new: child, f"{old}2": nn.Linear(2, 2)})
        inner.register_parameter(parameter, nn.Parameter(torch.rand(2)))
        model, prefix = nn.ModuleDict({old: nn.ModuleDict({old: nn.Linear(2, 2)}), "place": inner}), "place."
        for _ in range(case.integer("hidden depth", 0, 3)):
            model, prefix = nn.Sequential(model), f"0.{prefix}"
        return model, inner, prefix

    def saved(self, case, model, prefix, moment):
        """A checkpoint with the old names; the broken one lacks a key and has a strange one."""
        old, new, old_parameter, parameter, stranger = case.words("hidden names", 5)
        found = {}
        for key, value in model.state_dict().items():
            name = key.replace(f"{prefix}{new}.", f"{prefix}{old}.").replace(f"{prefix}{parameter}", f"{prefix}{old_parameter}")
            found[name] = case.tensor(f"{moment} {key}", *value.shape, dtype=value.dtype, positive=True)
        if moment == "broken":
            del found[f"{prefix}{old}.0.bias"]
            found[f"{prefix}{stranger}"] = torch.ones(1)
        return found

    def probe(self, nb, case):
        accept, found = nb.function("accept_old_name"), {}
        old, new, old_parameter, parameter, _ = case.words("hidden names", 5)
        model, inner, prefix = self.build(case)
        accept(inner, old, new)
        accept(inner, old_parameter, parameter)
        for moment in ("old", "broken"):
            told = load_and_say(model, self.saved(case, model, prefix, moment))
            found[f"what load_state_dict says, {moment} checkpoint"] = told["what load_state_dict says"]
            found[f"state_dict, {moment} checkpoint, times a gain"] = {
                key: value.double() * case.integer("hidden gain", 2, 1000) for key, value in told["state_dict"].items()
            }
        return found

    def truth(self, case):
        new, stranger = (case.words("hidden names", 5)[number] for number in (1, 4))
        model, _, prefix = self.build(case)
        today = {
            moment: {
                key: case.tensor(f"{moment} {key}", *value.shape, dtype=value.dtype, positive=True).double()
                * case.integer("hidden gain", 2, 1000)
                for key, value in model.state_dict().items()
            }
            for moment in ("old", "broken")
        }
        missing = f"{prefix}{new}.0.bias"
        today["broken"][missing] = today["old"][missing]

        def told(got):
            keys = [re.findall('"([^"]+)"', part) for part in got.split("Unexpected key(s) in state_dict: ")]
            return None if keys == [[missing], [f"{prefix}{stranger}"]] else repr(got)[:200]

        return {
            "what load_state_dict says, old checkpoint": FINE,
            "what load_state_dict says, broken checkpoint": Matches(told, f"an error that tells of {missing} and {prefix}{stranger}"),
            "state_dict, old checkpoint, times a gain": today["old"],
            "state_dict, broken checkpoint, times a gain": today["broken"],
        }


check("state_dict_hooks", OldThenBroken)
