import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than, such_that

POISON = ("modules", "module", "adder", "net")
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"TypeError: '?[\w.]+'? object does not support the context manager protocol": "hooked_no_context_manager",
    r"AttributeError: __(enter|exit)__": "hooked_no_context_manager",
    r"TypeError: 'NoneType' object is not an iterator": "hooked_no_yield",
    r"RuntimeError: generator didn't yield": "hooked_no_yield",
    r"RuntimeError: generator didn't stop": "hooked_yields_again",
    r"TypeError: .*__exit__\(\) takes": "hooked_exit_arguments",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w+'": "function_uses_global",
    r"TypeError: iteration over a 0-d tensor": "function_uses_global",
    r"ValueError: list.remove\(x\)": "hooked_by_function",
}


class StopButton(KeyboardInterrupt):
    """Somebody stops the kernel."""


def counts_on(modules):
    return [len(module._forward_hooks) for module in modules]


def three_modules(case):
    """A module that has a layer in it, then two layers."""
    block = case.build("one", lambda: nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
    return [block, *(case.build(name, nn.Linear, 3, 3) for name in ("two", "three"))]


def runs(case, modules, moment="afterwards"):
    """What runs when the modules do, one after the other."""
    net = nn.Sequential(*modules)
    return what_runs(net, case, lambda: net(case.tensor("another x", 2, 3)), moment)


class InsideAndAfterwards(Check):
    """Inside the block each of the modules calls the hook, and puts out what it returns; after it none does."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        first, second, other = three_modules(case)
        called, x = [], case.tensor("x", 2, 3)
        names = {first: "first", second: "second", other: "another module"}

        def hook(module, args, output):
            called.append(names.get(module, "another module"))
            return output * 2

        outside, ran_before = counts_on([first, second, other]), runs(case, [first, second, other], "before")
        with nb.function("hooked")([first, second], hook):
            inside, of_all_kinds = counts_on([first, second, other]), hook_counts(first)
            output = other(second(first(x)))
            calls, ran_inside = list(called), runs(case, [first, second, other], "inside")
        called.clear()
        other(second(first(x)))
        return {
            "calls inside": calls, "output inside": output, "hooks inside": inside,
            "hooks of other kinds inside": sum(of_all_kinds.values()) - of_all_kinds["forward"],
            "hooks before": outside, "hooks after": counts_on([first, second, other]),
            "calls after": called, "what runs before": ran_before, "what runs inside": ran_inside,
            "what runs after": runs(case, [first, second, other]),
        }

    def truth(self, case):
        first, second, other = three_modules(case)
        x = case.tensor("x", 2, 3)
        return {
            "calls inside": ["first", "second"], "output inside": other(second(first(x) * 2) * 2),
            "hooks inside": ANYTHING, "hooks of other kinds inside": ANYTHING,
            "hooks before": [0, 0, 0], "hooks after": [0, 0, 0], "calls after": [],
            "what runs before": as_before(runs(case, three_modules(case), "before")),
            "what runs inside": as_before(runs(case, self.hooked(case), "inside")),
            "what runs after": as_before(runs(case, three_modules(case))),
        }

    def hooked(self, case):
        """The modules as they should be inside the block."""
        first, second, other = three_modules(case)
        for module in (first, second):
            module.register_forward_hook(lambda module, args, output: None)
        return [first, second, other]

    def mistakes(self, case):
        first, second, other = three_modules(case)
        plain = other(second(first(case.tensor("x", 2, 3))))
        return {
            "hooked_return_lost": {"calls inside": ["first", "second"], "output inside": plain},
            "hooked_other_kind": {"calls inside": [], "hooks of other kinds inside": other_than(0)},
            "hook_never_ran": {"calls inside": [], "hooks inside": [0, 0, 0]},
            "hooked_too_many": {"calls inside": such_that(lambda got: "another module" in got)},
            "hooked_one_only": {"calls inside": AnyOf(["first"], ["second"])},
            "module_hook_twice": {"calls inside": ["first", "first", "second", "second"]},
            "hooked_last_handle": {"hooks after": AnyOf([1, 0, 0], [0, 1, 0])},
            "hooked_stays": {"hooks after": AnyOf([1, 1, 0], [1, 1, 1], [2, 2, 0])},
        }


class AfterAnError(Check):
    """After an error in the block the hooks are gone, and the error has come out."""

    poison = POISON
    errors = ERRORS

    def ended_by(self, nb, case, error):
        """What came out of the block that this error ended, and the hooks that are left."""
        modules = three_modules(case)
        came_out = "nothing"
        try:
            with nb.function("hooked")(modules, lambda module, args, output: None):
                raise error
        except type(error) as caught:
            came_out = str(caught)
        return {
            "what came out of the block": came_out, "hooks after": counts_on(modules), "what runs after": runs(case, modules)
        }

    def says(self, case):
        """The text of the error: it is not the same twice."""
        return f"an error in the block: {case.words('error', 1)[0]}"

    def probe(self, nb, case):
        return self.ended_by(nb, case, ZeroDivisionError(self.says(case)))

    def truth(self, case):
        return {
            "what came out of the block": self.says(case), "hooks after": [0, 0, 0],
            "what runs after": as_before(runs(case, three_modules(case))),
        }

    def mistakes(self, case):
        return {
            "hooked_swallows_error": {"what came out of the block": "nothing"},
            "hooked_no_finally": {"hooks after": other_than([0, 0, 0])},
        }


class AfterTheStopButton(AfterAnError):
    """After KeyboardInterrupt the hooks are gone as well, and it has come out."""

    def probe(self, nb, case):
        return self.ended_by(nb, case, StopButton(self.says(case)))

    def mistakes(self, case):
        return {
            "hooked_swallows_error": {"what came out of the block": "nothing"},
            "hooked_some_errors_only": {"hooks after": other_than([0, 0, 0])},
        }


class AfterExit(AfterTheStopButton):
    """After `exit()` in the block, which raises SystemExit, the hooks are gone as well, and it has come out."""

    def probe(self, nb, case):
        return self.ended_by(nb, case, SystemExit(self.says(case)))


class OnlyItsOwn(Check):
    """Hooks of others stay: those from before, those that come while the block runs, and the same function elsewhere."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        hooked = nb.function("hooked")
        first, second, _ = three_modules(case)
        called = []
        ours, theirs = case.tensor("ours", 3), case.tensor("theirs", 3)

        def hook(module, args, output):
            called.append("hook")
            return output * ours

        def of_others(module, args, output):
            called.append("of others")
            return output * theirs

        first.register_forward_hook(hook)
        first.register_forward_hook(of_others)
        found = {}
        with hooked([first, second], hook):
            second.register_forward_hook(of_others)
            with hooked([first, second], hook):
                first(case.tensor("x", 3))
                found["calls in the inner block"] = sorted(called)
                ran_inside = runs(case, [first, second], "inside")
            calls = len(called)
            first(case.tensor("x", 3))
            found["calls behind the inner block"] = sorted(called[calls:])
            ran_behind = runs(case, [first, second], "behind")
        calls = len(called)
        first(case.tensor("x", 3))
        found["calls of the first module afterwards"], calls = sorted(called[calls:]), len(called)
        second(case.tensor("x", 3))
        found["calls of the second module afterwards"] = sorted(called[calls:])
        return {
            **found, "what runs in the inner block": ran_inside, "what runs behind the inner block": ran_behind,
            "what runs afterwards": runs(case, [first, second]),
            "outputs afterwards": [first(case.tensor("x", 3)), second(case.tensor("x", 3))],
        }

    def right(self, case, of_first, of_second):
        """What runs with so many hooks on the two modules."""
        first, second, _ = three_modules(case)
        for module, count in ((first, of_first), (second, of_second)):
            for _ in range(count):
                module.register_forward_hook(lambda module, args, output: None)
        return [first, second]

    def truth(self, case):
        first, second, _ = three_modules(case)
        x, theirs = case.tensor("x", 3), case.tensor("theirs", 3)
        return {
            "calls in the inner block": ["hook", "hook", "hook", "of others"],
            "calls behind the inner block": ["hook", "hook", "of others"],
            "calls of the first module afterwards": ["hook", "of others"],
            "calls of the second module afterwards": ["of others"],
            "what runs in the inner block": as_before(runs(case, self.right(case, 4, 3), "inside")),
            "what runs behind the inner block": as_before(runs(case, self.right(case, 3, 2), "behind")),
            "what runs afterwards": as_before(runs(case, self.right(case, 2, 1))),
            "outputs afterwards": [first(x) * case.tensor("ours", 3) * theirs, second(x) * theirs],
        }

    def mistakes(self, case):
        def fewer_than(count):
            return Matches(lambda got: None if len(got) < count else "as many", "fewer calls")

        right = self.truth(case)
        second = "calls of the second module afterwards"
        return {
            "hooked_shared_handles": {"calls behind the inner block": ["hook", "of others"], second: ["of others"]},
            "removes_other_hooks": AnyOf(
                {second: ["hook"]}, *({name: fewer_than(len(calls))} for name, calls in right.items() if isinstance(calls, list))
            ),
        }

    blame = {
        "calls behind the inner block": "hooked_shared_handles",
        "calls of the first module afterwards": "hooked_shared_handles",
        "calls of the second module afterwards": "hooked_shared_handles",
    }


class NotAModule(Check):
    """Where the last entry is no module, or a class of modules, an error comes out, no block runs, and no hook is left."""

    poison = POISON
    errors = ERRORS
    entries = {"": "no module", ", a class": nn.Linear}

    def probe(self, nb, case):
        found = {}
        for says, entry in self.entries.items():
            modules = three_modules(case)
            ran, came_out = False, "nothing"
            try:
                with nb.function("hooked")([*modules, entry], lambda module, args, output: None):
                    ran = True
            except Exception as error:
                came_out = type(error).__name__
            found |= {
                f"what came out of the block{says}": came_out, f"the block ran{says}": ran,
                f"hooks after{says}": counts_on(modules), f"what runs after{says}": runs(case, modules),
            }
        return found

    def truth(self, case):
        found = {}
        for says in self.entries:
            found |= {
                f"what came out of the block{says}": Matches(lambda got: "nothing" if got == "nothing" else None, "an error"),
                f"the block ran{says}": False, f"hooks after{says}": [0, 0, 0],
                f"what runs after{says}": as_before(runs(case, three_modules(case))),
            }
        return found

    def mistakes(self, case):
        return {
            "hooked_half_registered": AnyOf(*({f"hooks after{says}": other_than([0, 0, 0])} for says in self.entries)),
            "hooked_passes_over": AnyOf(*({f"what came out of the block{says}": "nothing"} for says in self.entries)),
        }


class WhateverTheList(Check):
    """A module twice in the list, a list that changes in the block; zeros are a value as well."""

    poison = POISON
    errors = ERRORS
    blame = {
        "output of a module that stood twice": "hooked_one_left", "outputs after the list was emptied": "hooked_one_left",
"output of zeros": "hooked_zero_lost",
    }

    def probe(self, nb, case):
        hooked, x = nb.function("hooked"), case.tensor("x", 2, 3)
        first, second, _ = three_modules(case)

        def hook(module, args, output):
            return output * 3

        with hooked([first, first], hook):
            pass
        found = {"output of a module that stood twice": first(x)}
        first, second, _ = three_modules(case)
        modules = [first, second]
        with hooked(modules, hook):
            modules.clear()
        found["outputs after the list was emptied"] = [first(x), second(x)]
        first, second, _ = three_modules(case)
        with hooked([second], lambda module, args, output: torch.zeros_like(output)):
            found["output of zeros"] = second(x) + case.tensor("shift", 3)
        return found

    def truth(self, case):
        (first, second, _), x = three_modules(case), case.tensor("x", 2, 3)
        return {
            "output of a module that stood twice": first(x), "outputs after the list was emptied": [first(x), second(x)],
    "output of zeros": torch.zeros(2, 3) + case.tensor("shift", 3),
        }


check(
    "hook_lifecycle",
    InsideAndAfterwards, AfterAnError, AfterTheStopButton, AfterExit, OnlyItsOwn, NotAModule, WhateverTheList,
)


# --- Hidden checks: graders run them, learners do not get them. ---
class InAnotherNet(Check):
    """In another net the hook acts in the block only; an error comes out."""

    poison = POISON

    def net(self, case):
        return case.build("hidden net", lambda: nn.Sequential(nn.Linear(4, 5), nn.Sigmoid(), nn.Linear(5, 5)))

    def probe(self, nb, case):
        net, x = self.net(case), case.tensor("hidden x", 2, 4)
        came_out = "nothing"
        try:
            with nb.function("hooked")([net[2], net[0]], lambda module, args, output: output * case.tensor("hidden gain", 5)):
                inside = net(x)
                raise LookupError(case.words("hidden error", 1)[0])
        except LookupError as error:
            came_out = str(error)
        return {"output inside": inside, "output afterwards": net(x), "what came out of the block": came_out}

    def truth(self, case):
        net, x, gain = self.net(case), case.tensor("hidden x", 2, 4), case.tensor("hidden gain", 5)
        inside = net[2](net[1](net[0](x) * gain)) * gain
        return {
            "output inside": inside,
            "output afterwards": net(x),
            "what came out of the block": case.words("hidden error", 1)[0],
        }


check("hook_lifecycle", InAnotherNet)
