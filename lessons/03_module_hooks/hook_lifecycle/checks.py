import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than, such_that

POISON = ("modules", "module", "adder", "net")
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"TypeError: '?[\w.]+'? object does not support the context manager protocol": "hooked_no_context_manager",
    r"(AttributeError: __(enter|exit)__|TypeError: 'hooked' object is not an iterator)": "hooked_no_context_manager",
    r"TypeError: '(NoneType|list)' object is not an iterator": "hooked_no_yield",
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
    """Inside the block each module calls the hook; after it none does."""

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
            "the list of calls inside": calls, "output inside": output, "hooks inside": inside,
            "hooks of other kinds inside": sum(of_all_kinds.values()) - of_all_kinds["forward"],
            "hook count before": outside, "hook count after": counts_on([first, second, other]),
            "the list of calls after": called, "what runs before": ran_before, "what runs inside": ran_inside,
            "what runs after": runs(case, [first, second, other]),
        }

    def truth(self, case):
        first, second, other = three_modules(case)
        x = case.tensor("x", 2, 3)
        return {
            "the list of calls inside": ["first", "second"], "output inside": other(second(first(x) * 2) * 2),
            "hooks inside": ANYTHING, "hooks of other kinds inside": ANYTHING,
            "hook count before": [0, 0, 0], "hook count after": [0, 0, 0], "the list of calls after": [],
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
            "hooked_return_lost": {"the list of calls inside": ["first", "second"], "output inside": plain},
            "hooked_other_kind": {"the list of calls inside": [], "hooks of other kinds inside": other_than(0)},
            "hook_never_ran": {"the list of calls inside": [], "hooks inside": [0, 0, 0]},
            "hooked_too_many": {"the list of calls inside": such_that(lambda got: "another module" in got)},
            "hooked_one_only": {"the list of calls inside": AnyOf(["first"], ["second"])},
            "module_hook_twice": {"the list of calls inside": ["first", "first", "second", "second"]},
            "hooked_last_handle": {"hook count after": AnyOf([1, 0, 0], [0, 1, 0])},
            "hooked_stays": {"hook count after": AnyOf([1, 1, 0], [1, 1, 1], [2, 2, 0])},
        }


class AfterAnError(Check):
    """After an error in the block, or the stop button, the hooks are gone; the error came out."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        found = {}
        for kind in (ZeroDivisionError, StopButton):
            modules, came_out = three_modules(case), "nothing"
            try:
                with nb.function("hooked")([*modules, modules[0]], lambda module, args, output: None):  # one twice
                    raise kind(self.says(case, kind))
            except kind as caught:
                came_out = str(caught)
            where = "" if kind is ZeroDivisionError else ", KeyboardInterrupt"
            found |= {
                f"what came out of the block{where}": came_out, f"hook count after{where}": counts_on(modules),
                f"what runs after{where}": runs(case, modules),
            }
        return found

    def says(self, case, kind):
        """The text of the error: it is not the same twice."""
        return f"an error in the block: {case.words(kind.__name__, 1)[0]}"

    def truth(self, case):
        found = {}
        for kind, where in ((ZeroDivisionError, ""), (StopButton, ", KeyboardInterrupt")):
            found |= {
                f"what came out of the block{where}": self.says(case, kind), f"hook count after{where}": [0, 0, 0],
                f"what runs after{where}": as_before(runs(case, three_modules(case))),
            }
        return found

    def mistakes(self, case):
        swallowed = [{f"what came out of the block{where}": "nothing"} for where in ("", ", KeyboardInterrupt")]
        return {
            "hooked_swallows_error": AnyOf(*swallowed),
            "hooked_last_handle": {"hook count after": [1, 0, 0]},
            "hooked_no_finally": {"hook count after": other_than([0, 0, 0])},
            "hooked_some_errors_only": {"hook count after": [0, 0, 0], "hook count after, KeyboardInterrupt": other_than([0, 0, 0])},
        }


class OnlyItsOwn(Check):
    """Hooks of others stay, even the same function, registered before or inside."""

    poison = POISON
    errors = ERRORS
    blame = dict.fromkeys(("behind the inner block", "afterwards: first(x)"), "hooked_shared_handles")

    def probe(self, nb, case):
        hooked, (first, second, _) = nb.function("hooked"), three_modules(case)
        x, ours, theirs = (case.tensor(name, 3) for name in ("x", "ours", "theirs"))

        def hook(module, args, output):
            return output * ours

        first.register_forward_hook(hook)
        with hooked([first, second], hook):
            second.register_forward_hook(lambda module, args, output: output * theirs)
            with hooked([first, second], hook):
                found = {"in the inner block": [first(x), second(x)]}
            found["behind the inner block"] = [first(x), second(x)]
        return {**found, "afterwards: first(x)": first(x), "afterwards: second(x)": second(x)}

    def truth(self, case):
        first, second, _ = three_modules(case)
        x, ours, theirs = (case.tensor(name, 3) for name in ("x", "ours", "theirs"))
        return {
            "in the inner block": [first(x) * ours**3, second(x) * ours**2 * theirs],
            "behind the inner block": [first(x) * ours**2, second(x) * ours * theirs],
            "afterwards: first(x)": first(x) * ours, "afterwards: second(x)": second(x) * theirs,
        }

    def mistakes(self, case):
        first, second, _ = three_modules(case)
        x, ours = case.tensor("x", 3), case.tensor("ours", 3)
        right, after, last = self.truth(case), "afterwards: first(x)", "afterwards: second(x)"
        return {
            "hooked_shared_handles": {after: right[after], last: right[last]},
            "removes_other_hooks": AnyOf(
                {after: first(x)}, {last: second(x)}, {last: AnyOf(second(x) * ours, second(x) * ours**2)}
            ),
        }


check("hook_lifecycle", InsideAndAfterwards, AfterAnError, OnlyItsOwn)


# --- Hidden checks: graders run them, learners do not get them. ---
class Stopped(KeyboardInterrupt):
    """Somebody stops the kernel in the inner block."""


class BlockInABlock(Check):
    """In another net, a block in a block is stopped, while others have hooks there, too."""

    poison = POISON

    def net(self, case):
        width = case.integer("hidden width", 3, 6)
        return case.build("hidden net", lambda: nn.Sequential(*(nn.Linear(width, width) for _ in range(3))))

    def probe(self, nb, case):
        (net, hooked), came_out = (self.net(case), nb.function("hooked")), "nothing"
        one, two, three = (net[number] for number in case.shuffled("hidden places", [0, 1, 2]))
        x, gain = (case.tensor(f"hidden {name}", net[0].in_features) for name in ("x", "gain"))

        def times(module, args, output):
            return output * gain

        one.register_forward_hook(times)
        two.register_forward_hook(lambda module, args, output: output + gain)
        found = {}
        with hooked([one, two], times):
            three.register_forward_hook(lambda module, args, output: output - gain)
            try:
                with hooked([three, one], times):
                    three.register_forward_hook(times)
                    found["output in the inner block"] = net(x)
                    raise Stopped(case.words("hidden error", 1)[0])
            except Stopped as error:
                came_out = str(error)
            found["output in the outer block"] = net(x)
        return {**found, "output afterwards": net(x), "what came out of the inner block": came_out}

    def truth(self, case):
        net = self.net(case)
        places = case.shuffled("hidden places", [0, 1, 2])
        x, gain = (case.tensor(f"hidden {name}", net[0].in_features) for name in ("x", "gain"))

        def run(one, two, three):
            after = dict(zip(places, (one, two, three)))
            h = x
            for number, layer in enumerate(net):
                h = after[number](layer(h))
            return h

        return {
            "output in the inner block": run(
                lambda h: h * gain**3, lambda h: (h + gain) * gain, lambda h: (h - gain) * gain * gain
            ),
            "output in the outer block": run(lambda h: h * gain**2, lambda h: (h + gain) * gain, lambda h: (h - gain) * gain),
            "output afterwards": run(lambda h: h * gain, lambda h: h + gain, lambda h: (h - gain) * gain),
            "what came out of the inner block": case.words("hidden error", 1)[0],
        }


check("hook_lifecycle", BlockInABlock)
