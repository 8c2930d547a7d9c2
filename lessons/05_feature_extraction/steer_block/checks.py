import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import Close
from course.gpt import Block
from course.traces import gradients_from, what_runs
from course.truths import as_before, such_that

ERRORS = {
    r"TypeError: unsupported operand type\(s\) for \+: '(dict|Tensor)' and '(Tensor|dict)'": "steer_dict_is_no_tensor",
    r"TypeError: add\(\).*(dict|tuple)": "steer_dict_is_no_tensor",
    r"TypeError: (tuple|list) indices must be": "steer_dict_is_no_tensor",
    r"(IndexError: (only integers|too many indices)|TypeError: new\(\): invalid data type 'str')": "steer_tensor_for_dict",
    r"KeyError: '(?!hidden)": "steer_entries_lost",
    r"AttributeError: 'NoneType' object has no attribute 'remove'": "returns_nothing",
    r"AttributeError: '\w+' object has no attribute 'remove'": "steer_no_handle",
}


def learned(model, output, case):
    """The gradients of the model's parameters, from an output and an upstream gradient that is not 1."""
    upstream = output.detach() * case.tensor("upstream", *output.shape[-1:])
    return gradients_from([(output * upstream)], model, case)


class Talk(nn.Module):
    """Two blocks, one after the other, each with something to say besides."""

    def __init__(self):
        super().__init__()
        self.first, self.second = TwoEntries(), TwoEntries()

    def forward(self, x):
        first = self.first(x)
        second = self.second(first["hidden"])
        return second["hidden"], first["said"], second["said"]


class TwoEntries(nn.Module):
    """A block that returns what is hidden, and what it says."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        hidden = torch.tanh(self.fc(x))
        return {"said": hidden * 2, "hidden": hidden}


class Steered(Check):
    """What the block returns under "hidden" has the direction added to it."""

    errors = ERRORS
    blame = {"hidden": "steer_otherwise", "gradients of the block": "output_cut_off"}

    def given(self, case):
        block = case.build("block", lambda: Block(width=4, heads=2))
        return block, case.tensor("direction", 4), [case.tensor(f"x{number}", 2, 3, 4) for number in (1, 2)]

    def probe(self, nb, case):
        block, direction, xs = self.given(case)
        nb.function("steer")(block, direction)
        hidden = [block(x)["hidden"] for x in xs]
        return {"hidden": hidden, "gradients of the block": learned(block, hidden[0], case)}

    def truth(self, case):
        block, direction, xs = self.given(case)
        hidden = [block(x)["hidden"] + direction for x in xs]
        gradients = {name: Close(one, 1e-4, 1e-4) for name, one in learned(block, hidden[0], case).items()}
        return {"hidden": hidden, "gradients of the block": gradients}

    def mistakes(self, case):
        block, direction, (x1, x2) = self.given(case)
        plain = [block(x)["hidden"] for x in (x1, x2)]
        last = torch.zeros(3, 1)
        last[-1] = 1
        return {
            "steer_no_effect": {"hidden": plain},
            "runs_only_once": {"hidden": [plain[0] + direction, plain[1]]},
            "input_or_output": {"hidden": [block(x + direction)["hidden"] for x in (x1, x2)]},
            "steer_replaces": {"hidden": [direction.expand(2, 3, 4)] * 2},
            "steer_one_place": {"hidden": [hidden + last * direction for hidden in plain]},
            "steer_passed_through": {"hidden": [x + direction for x in (x1, x2)]},
        }


class OthersStay(Check):
    """Only "hidden" changes, and what others have kept stays as it was."""

    errors = ERRORS
    blame = {"kept before": "steer_in_place"}

    def given(self, case):
        return case.build("talk", Talk), case.tensor("direction", 4), case.tensor("x", 3, 4)

    def probe(self, nb, case):
        talk, direction, x = self.given(case)
        kept, steer = [], nb.function("steer")
        talk.first.register_forward_hook(lambda module, args, output: kept.extend([output, output["hidden"]]))
        steer(talk.first, direction)
        answer = talk(x)
        return {"talk(x)": answer, "kept before": kept}

    def answer(self, talk, hidden, said):
        return talk.second(hidden)["hidden"], said, talk.second(hidden)["said"]

    def truth(self, case):
        talk, direction, x = self.given(case)
        plain = talk.first(x)
        answer = self.answer(talk, plain["hidden"] + direction, plain["said"])
        return {"talk(x)": answer, "kept before": [plain, plain["hidden"]]}

    def mistakes(self, case):
        talk, direction, x = self.given(case)
        plain = talk.first(x)
        hidden, said = plain["hidden"] + direction, plain["said"]
        return {
            "steer_every_entry": {"talk(x)": self.answer(talk, hidden, said + direction)},
            "global_hook": {"talk(x)": such_that(lambda got: torch.allclose(got[0], talk.second(hidden)["hidden"] + direction))},
        }


class TakenOff(Check):
    """Two blocks steered, one handle removed: this block works as before."""

    errors = ERRORS

    def given(self, case):
        return case.build("talk", Talk), [case.tensor(f"direction {number}", 4) for number in (1, 2)], case.tensor("x", 2, 4)

    def probe(self, nb, case):
        talk, directions, x = self.given(case)
        steer = nb.function("steer")
        handles = [steer(block, one) for block, one in zip((talk.first, talk.second), directions, strict=True)]
        both = talk(x)
        handles[1].remove()
        one = talk(x)
        handles[0].remove()
        return {"both": both, "one removed": one, "what runs, both removed": what_runs(talk, case, lambda: talk(x))}

    def answer(self, talk, x, first, second):
        plain = talk.first(x)
        following = talk.second(plain["hidden"] + first)
        return following["hidden"] + second, plain["said"], following["said"]

    def truth(self, case):
        talk, (one, two), x = self.given(case)
        return {
            "both": self.answer(talk, x, one, two), "one removed": self.answer(talk, x, one, 0),
            "what runs, both removed": as_before(what_runs(talk, case, lambda: talk(x))),
        }

    def mistakes(self, case):
        talk, (one, two), x = self.given(case)
        return {
            "shared_state": {"both": self.answer(talk, x, two, two)},
            "handle_of_another": {"one removed": self.answer(talk, x, one, two)},
        }


check("steer_block", Steered, OthersStay, TakenOff)


# --- Hidden checks: graders run them, learners do not get them. ---
def procession(case):
    """Some walkers in a row; how many, what they carry, and who is pushed, the seed says."""
    names = case.words("names of the walkers", case.integer("walkers", 3, 5))
    load = case.words("load", 1)[0]

    class Walker(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = nn.Linear(5, 5)

        def forward(self, x):
            return {"hidden": x + self.mix(x).sin(), load: x.cos()}

    class Procession(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they stand", names):
                self.add_module(name, Walker())
            self.heard = []

        def forward(self, x):
            for name in names:
                output = self.get_submodule(name)(x)
                x = output["hidden"] * output[load]
            return x

    model, pushed = case.build("a procession", Procession), case.shuffled("pushed", names)[:2]
    model.get_submodule(pushed[0]).register_forward_hook(lambda module, args, output: model.heard.append(output))
    return model, names, load, pushed, [case.tensor(f"push {name}", 5) for name in pushed], case.tensor("road", 2, 3, 5)


class Pushed(Check):
    """Two of the blocks are steered, each its own way, and one of them no longer."""

    errors = ERRORS

    def probe(self, nb, case):
        model, _, _, pushed, pushes, x = procession(case)
        steer = nb.function("steer")
        handles = [steer(model.get_submodule(name), one) for name, one in zip(pushed, pushes, strict=True)]
        answers = [model(x), model(x * 2)]
        handles[0].remove()
        answers.append(model(x))
        heard, gradients = list(model.heard), learned(model, answers[2], case)
        return {"answers": answers, "heard": heard, "gradients": gradients, "what runs": what_runs(model, case, lambda: model(x))}

    def truth(self, case):
        model, names, load, pushed, pushes, road = procession(case)
        answers, heard = [], []
        for x, how_many in ((road, 2), (road * 2, 2), (road, 1)):
            push = dict(list(zip(pushed, pushes, strict=True))[2 - how_many :])
            for name in names:
                walker = model.get_submodule(name)
                mixed = x + torch.sin(walker.mix(x))
                if name == pushed[0]:
                    heard.append({"hidden": mixed, load: x.cos()})
                x = (mixed + push.get(name, 0)) * x.cos()
            answers.append(x)
        gradients = {name: Close(one, 1e-4, 1e-4) for name, one in learned(model, x, case).items()}
        last = model.get_submodule(pushed[1])
        last.register_forward_hook(lambda module, args, output: {**output, "hidden": output["hidden"] + pushes[1]})
        ran = as_before(what_runs(model, case, lambda: model(road)))
        return {"answers": answers, "heard": heard, "gradients": gradients, "what runs": ran}


check("steer_block", Pushed)
