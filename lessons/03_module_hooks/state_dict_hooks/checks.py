import re

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING, other_than, such_that

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
    return {"load_state_dict says": says, "state_dict": dict(model.state_dict())}


FINE = "<All keys matched successfully>"
MISSING, UNEXPECTED = r"Missing key\(s\) in state_dict: [^:]*\.", r"Unexpected key\(s\) in state_dict: [^:]*\."


def complaint(*patterns):
    """`load_state_dict` complains of these, in this order, and of nothing else."""
    wanted = r"Error\(s\) in loading state_dict for \w+: " + " ".join(patterns)
    return Matches(lambda got: None if re.fullmatch(wanted, got) else "something else", wanted)


class OldCheckpoint(Check):
    """A checkpoint with the old name loads into the module, and stays as it was itself."""

    poison = POISON
    errors = ERRORS
    blame = {"keys of the checkpoint": "old_name_edits_checkpoint"}

    def probe(self, nb, case):
        model = case.build("model", ModuleOfToday)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model, "linear", "fc")
        hooks = len(model._load_state_dict_pre_hooks)
        brought = {**load_and_say(model, saved), "keys of the checkpoint": list(saved), "load hooks": hooks}
        return {**brought, "the checkpoint": dict(saved)}

    def truth(self, case):
        free = case.build("model", ModuleOfToday)
        return {
            "load_state_dict says": FINE, "state_dict": new_checkpoint(case, free),
            "keys of the checkpoint": list(with_old_names(new_checkpoint(case, free), "fc[.]", "linear.")), "load hooks": ANYTHING,
            "the checkpoint": with_old_names(new_checkpoint(case, free), "fc[.]", "linear."),
        }

    def mistakes(self, case):
        says, state = "load_state_dict says", self.truth(case)["state_dict"]
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
    """A model around the module loads its old checkpoint as well: there the keys begin with the module's place, or places."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        head = case.build("head", ModuleOfToday)
        parts = nn.ModuleDict({"body": nn.Linear(3, 3), "head": head, "again": head})
        return nn.ModuleDict({"parts": parts})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model["parts"]["head"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        saved = new_checkpoint(case, self.build(case))
        # The head stands at two places, and is saved under both: what is loaded last stays.
        loaded = {key: saved[key.replace(".head.", ".again.")] for key in saved}
        return {"load_state_dict says": FINE, "state_dict": loaded}

    def mistakes(self, case):
        at_one_place = such_that(lambda says: ("parts.head." in says) != ("parts.again." in says))
        return {"old_name_one_place": {"load_state_dict says": at_one_place}, "old_name_no_prefix": {"load_state_dict says": AnyOf(complaint(MISSING, UNEXPECTED), complaint(MISSING))}}


class LookAlikes(Check):
    """The old name is also the name of the module's place, of a layer elsewhere, and the beginning of another name."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        inner = nn.ModuleDict({"linear": nn.Linear(2, 2), "fc": nn.Linear(2, 2)})
        reader = case.build("reader", ModuleOfToday)
        reader.my_linear, reader.linear2, reader.fc2 = inner, nn.Linear(2, 2), nn.Linear(2, 2)
        reader.add_module("linear-2", nn.Linear(2, 2))
        return nn.ModuleDict({"linear": reader, "other": nn.ModuleDict({"linear": nn.Linear(2, 2)})})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "^linear[.]fc[.]", "linear.linear.")
        nb.function("accept_old_name")(model["linear"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"load_state_dict says": "old_name_anywhere"}


class ParameterAndDeepChild(Check):
    """The old name may be that of a parameter, or of a child with children of its own; two old names go together."""

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
        return {"load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"load_state_dict says": "old_name_one_kind", "state_dict": "old_name_one_kind"}


class NewAndBroken(Check):
    """A new checkpoint loads as well, and a broken one is still refused, with all that is wrong about it."""

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
            found[name] = load_and_say(model, saved)["load_state_dict says"]
        return {f"load_state_dict says, {name} checkpoint": said for name, said in found.items()}

    def probe(self, nb, case):
        return self.run(case, lambda module: nb.function("accept_old_name")(module, "linear", "fc"))

    def wrong(self, case):
        """What the broken checkpoint lacks, and what it has too much: a stranger, and something beside the weights."""
        stranger, extra = case.words("too much", 2)
        return case.shuffled("missing", ["0.gain", "0.norm.weight", "0.norm.bias"])[0], f"0.{stranger}.weight", extra

    def truth(self, case):
        missing, stranger, extra = self.wrong(case)

        def told(got):
            keys = [set(re.findall('"([^"]+)"', part)) for part in got.split("Unexpected key(s) in state_dict: ")]
            right = [[{missing}, {stranger, f"0.{name}.{extra}"}] for name in ("fc", "linear")]
            return None if keys in right else repr(got)[:200]

        says = f'an error that tells of "{missing}", "{stranger}" and "0.fc.{extra}", and of nothing else'
        said = Matches(told, says)
        return {"load_state_dict says, new checkpoint": FINE, "load_state_dict says, broken checkpoint": said}

    blame = {
        "load_state_dict says, new checkpoint": "old_name_taken_for_granted",
        "load_state_dict says, broken checkpoint": "old_name_hides_errors",
    }


class NestedAndUntouched(Check):
    """A child of the old name inside, a part that is missing, a shape that does not fit, and the checkpoint's own parts."""

    poison = POISON
    errors = ERRORS
    blame = {
        "state_dict of a nested module": "old_name_anywhere", "said of a nested module": "old_name_anywhere",
        "said where old lacks its bias": "old_name_hides_errors", "said of another shape": "old_name_hides_errors",
        "versions in the checkpoint": "old_name_edits_checkpoint",
        "checkpoint after training": "old_name_edits_checkpoint",
        "what a load hook of others brought": "removes_other_hooks",
    }

    def nested(self, case):
        inner = nn.ModuleDict({"linear": nn.Linear(2, 2)})
        return case.build("nested", lambda: nn.ModuleDict({"fc": inner}))

    def probe(self, nb, case):
        accept, found = nb.function("accept_old_name"), {}
        model = self.nested(case)
        saved = with_old_names(new_checkpoint(case, model), "^fc[.]", "linear.")
        accept(model, "linear", "fc")
        told = load_and_say(model, saved)
        found["said of a nested module"] = told["load_state_dict says"]
        found["state_dict of a nested module"] = told["state_dict"]
        for name in ("where old lacks its bias", "of another shape"):
            model = case.build("model", ModuleOfToday)
            saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
            if name == "of another shape":
                saved["linear.weight"], saved["linear.bias"] = torch.ones(3, 2), torch.ones(5)
            else:
                del saved["linear.bias"]
            accept(model, "linear", "fc")
            found[f"said {name}"] = load_and_say(model, saved)["load_state_dict says"]
        model = case.build("model", ModuleOfToday)
        saved = model.state_dict()
        for key in list(saved):
            saved[key.replace("fc.", "linear.")] = saved.pop(key).clone()
        versions = saved._metadata
        versions["linear"] = {**versions.pop("fc"), "version": self.version(case)}
        accept(model, "linear", "fc")
        model.load_state_dict(saved)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 1
        model, of_others = case.build("model", ModuleOfToday), []
        model.register_load_state_dict_pre_hook(lambda *whatever: of_others.append(case.tensor("of others", 3)))
        accept(model, "linear", "fc")
        model.load_state_dict(with_old_names(new_checkpoint(case, model), "fc[.]", "linear."))
        found["what a load hook of others brought"] = of_others
        return {**found, "versions in the checkpoint": {key: dict(version) for key, version in versions.items()}, "checkpoint after training": dict(saved)}

    def truth(self, case):
        model = case.build("model", ModuleOfToday)
        says = self.says
        return {
            "said of a nested module": FINE, "state_dict of a nested module": new_checkpoint(case, self.nested(case)),
            "said where old lacks its bias": says(r'.*Missing key\(s\) in state_dict: "fc.bias".*', "that fc.bias is missing"),
            "said of another shape": says(r".*size mismatch for fc.weight.*size mismatch for fc.bias.*", "that the shapes of fc.weight and fc.bias do not fit"),
            "versions in the checkpoint": {"": {"version": 1}, "norm": {"version": 1}, "linear": {"version": self.version(case)}},
            "what a load hook of others brought": [case.tensor("of others", 3)],
            "checkpoint after training": with_old_names(dict(model.state_dict()), "fc[.]", "linear."),
        }

    def version(self, case):
        return case.integer("version", 2, 1000)

    def says(self, pattern, words):
        return Matches(lambda got: None if re.fullmatch(pattern, got) else repr(got)[:200], words)


check("state_dict_hooks", OldCheckpoint, InsideAModel, LookAlikes, NewAndBroken, ParameterAndDeepChild, NestedAndUntouched)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoCheckpoints(Check):
    """Two old checkpoints load in turn; a neighbour is called by the old name today."""

    poison = POISON

    def saved(self, case, number):
        """The weights of the two layers in a checkpoint."""
        return case.tensor(f"hidden weight {number}", 4, 3), case.tensor(f"hidden other weight {number}", 2, 4)

    def probe(self, nb, case):
        old, new = case.words("hidden names", 2)
        layers = nn.Linear(3, 4, bias=False), nn.Linear(4, 2, bias=False)
        model = nn.Sequential(nn.ModuleDict({old: layers[0]}), nn.ModuleDict({new: layers[1]}))
        nb.function("accept_old_name")(model[1], old, new)
        found = {}
        for number in (1, 2):
            saved = dict(zip((f"0.{old}.weight", f"1.{old}.weight"), self.saved(case, number)))
            told = load_and_say(model, saved)
            found[f"load_state_dict says, checkpoint {number}"] = told["load_state_dict says"]
            found[f"keys of state_dict after checkpoint {number}"] = list(told["state_dict"])
            with torch.no_grad():
                inner = torch.tanh(model[0][old](case.tensor(f"hidden x {number}", 5, 3)))
                found[f"output after checkpoint {number}"] = model[1][new](inner)
        return found

    def truth(self, case):
        old, new = case.words("hidden names", 2)
        found = {}
        for number in (1, 2):
            one, other = self.saved(case, number)
            output = torch.tanh(case.tensor(f"hidden x {number}", 5, 3) @ one.T) @ other.T
            found[f"load_state_dict says, checkpoint {number}"] = FINE
            found[f"keys of state_dict after checkpoint {number}"] = [f"0.{old}.weight", f"1.{new}.weight"]
            found[f"output after checkpoint {number}"] = Close(output, rtol=1e-4, atol=1e-4)
        return found


check("state_dict_hooks", TwoCheckpoints)
