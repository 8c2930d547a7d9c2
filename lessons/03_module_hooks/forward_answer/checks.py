import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.probing import hook_counts, other_forward


ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class InputsThenOutput(Check):
    """After each call of `add(x1, x2)`, `answer` ends with `x1, x2, output`, and the call returned the sum."""

    poison = ("x1", "x2", "output")
    blame = {"output": "watcher_changes_output"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        add = nb.module("add")
        output = add(case.tensor("x1", 4), case.tensor("x2", 4))
        after_one_call = list(nb.list("answer"))
        add(*self.of_another_call(case))
        return {
            "answer": after_one_call, "output": output, "hooks on add": sum(hook_counts(add).values()),
            "entries of another call": nb.list("answer")[-3:],
        }

    def of_another_call(self, case):
        return [case.tensor(f"another {name}", 2, 3, dtype=torch.float64) for name in ("x1", "x2")]

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        y1, y2 = self.of_another_call(case)
        return {
            "answer": [x1, x2, x1 + x2], "output": x1 + x2, "hooks on add": ANY_COUNT,
            "entries of another call": [y1, y2, y1 + y2],
        }

    def mistakes(self, case):
        x1, x2, output = self.truth(case)["answer"]
        return {
            "nothing_registered": {"answer": [], "hooks on add": 0},
            "stores_nothing": {"answer": [], "hooks on add": SOME},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "one_side_missing": {"answer": AnyOf([x1, x2], [output])},
            "inputs_stored_twice": {"answer": [x1, x2, x1, x2, output]},
            "keeps_the_tuple": {"answer": AnyOf([[x1, x2], output], [[x1, x2], [output]])},
            "module_hook_twice": {"answer": AnyOf([x1, x2, x1, x2, output, output], [x1, x2, output, output])},
            "float64_lost": {"entries of another call": [one.float() for one in self.truth(case)["entries of another call"]]},
            "runs_only_once": {"answer": [x1, x2, output], "entries of another call": [x1, x2, output]},
            "takes_elements_apart": {"answer": AnyOf([*x1, *x2, *output], [x1, x2, *output])},
            "numbers_for_tensors": {"answer": [Close(one.tolist()) for one in (x1, x2, output)]},
        }


class EveryCallIsKept(Check):
    """Calls in eval mode, under no_grad, with the same tensor twice, with inf, and equal calls add entries; nothing else changes."""

    blame = {
        "x1.grad": "cut_from_its_inputs", "x2.grad": "cut_from_its_inputs",
        "the output of x1, handed through, after x1 *= 2": "watcher_changes_output",
    }

    def calls(self, case):
        """The inputs of each call: in eval mode, under no_grad, the same tensor twice, equal ones, inf."""
        pairs = [[case.tensor(f"{name} of call {call}", 4) for name in ("x1", "x2")] for call in range(2)]
        same = case.tensor("the same", 4)
        special = case.tensor("special", 4) + torch.tensor([-torch.inf, torch.inf, 0.0, 0.0])
        return [*pairs, [same, same], [same.clone(), same.clone()], [special, same.clone()]]

    def probe(self, nb, case):
        nb.list("answer").clear()
        add = nb.module("add")
        in_eval, without, *others = self.calls(case)
        was_training = add.training
        add.eval()
        add(*in_eval)
        add.train(was_training)
        with torch.no_grad():
            add(*without)
        for pair in others:
            add(*pair)
        found = {"answer": list(nb.list("answer"))}
        handed = case.tensor("handed through", 4)
        with other_forward(add, lambda self, x1, x2: x1):
            output = add(handed, case.tensor("beside", 4))
        handed *= 2
        found["the output of x1, handed through, after x1 *= 2"] = output
        x1, x2 = (case.tensor(name, 4, requires_grad=True) for name in ("x1", "x2"))
        output = add(x1, x2)
        if output.requires_grad:
            output.backward(case.tensor("upstream", 4))
        return {**found, "x1.grad": x1.grad, "x2.grad": x2.grad}

    def truth(self, case):
        upstream = case.tensor("upstream", 4)
        entries = [one for x1, x2 in self.calls(case) for one in (x1, x2, x1 + x2)]
        handed = {"the output of x1, handed through, after x1 *= 2": 2 * case.tensor("handed through", 4)}
        return {"answer": entries, **handed, "x1.grad": upstream, "x2.grad": upstream}

    def mistakes(self, case):
        entries = self.truth(case)["answer"]
        return {
            "earlier_entries_lost": {"answer": entries[-3:]},
            "only_in_training": {"answer": AnyOf(entries[3:], entries[:3] + entries[6:], entries[6:])},
            "one_tensor_for_both": {"answer": [*entries[:7], *entries[8:]]},
            "first_layer_leaves_repetitions_out": {"answer": entries[:9] + entries[12:]},
            "value_taken_for_nothing": {"answer": entries[:12] + [one.nan_to_num() for one in entries[12:]]},
        }


check("forward_answer", InputsThenOutput, EveryCallIsKept)


# --- Hidden checks: graders run them, learners do not get them. ---
class OtherForwardOtherShapes(Check):
    """The hooks take inputs and output from their arguments, so `answer` is right for any forward and any shapes."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        nb.list("answer").clear()
        with other_forward(nb.module("add"), lambda self, x1, x2: x1**2 * x2) as add:
            add(case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3)
        return {"answer": [x1, x2, x1**2 * x2]}

    def mistakes(self, case):
        x1, x2, _ = self.truth(case)["answer"]
        return {
            "formula_of_visible_forward": {"answer": [x1, x2, x1 + x2]},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
        }


check("forward_answer", OtherForwardOtherShapes)
