import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.truths import ANYTHING, other_than


def _limits(case):
    """A number with all the digits that print shows, and a whole one."""
    return -case.integer("low", 3, 99) - 1 / 3, case.integer("high", 3, 99)


class _OfTheClip(Check):
    """What all checks of Clip have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: \S*extra_repr\(\) (takes 0|missing 1)": "anatomy_method_without_self",
        r"NameError: name '(low|high)'": "anatomy_read_without_self",
        r"AttributeError: '(tuple|list|dict|set)' object has no attribute 'split'": "repr_not_text",
        r"RecursionError": "repr_asks_itself",
        r"AttributeError: 'Clip' object has no attribute": "attributes_missing",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"TypeError: Clip\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
    }


class ShowsLimits(_OfTheClip):
    """A Clip shows its class and its two limits."""

    def probe(self, nb, case):
        clip = nb.function("Clip")(*_limits(case))
        is_method = callable(clip.extra_repr)
        return {
            "callable(clip.extra_repr)": is_method,
            "clip.extra_repr is that of nn.Module": getattr(clip.extra_repr, "__func__", None) is nn.Module.extra_repr,
            "repr(clip)": repr(clip) if is_method else None,
        }

    def truth(self, case):
        low, high = _limits(case)
        text = f"Clip(low={low}, high={high})"
        return {"callable(clip.extra_repr)": True, "clip.extra_repr is that of nn.Module": ANYTHING, "repr(clip)": text}

    def mistakes(self, case):
        text, (low, high) = self.truth(case)["repr(clip)"], _limits(case)

        def says(test):
            return {"repr(clip)": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        def numbers_there(found):
            return str(low) in found and str(high) in found

        return {
            "repr_not_method": {"callable(clip.extra_repr)": False},
            "repr_misnamed": {"clip.extra_repr is that of nn.Module": True, **says(lambda found: found != text)},
            "repr_nothing": {"repr(clip)": "Clip()"},
            "repr_with_name": {"repr(clip)": AnyOf(f"Clip({text})", f"Clip{text[4:-1]}))", f"Clip({text[4:]})")},
            "repr_not_filled_in": says(lambda found: "{" in found),
            "repr_hard_coded": {"repr(clip)": "Clip(low=-1, high=2)"},
            "repr_limits_swapped": {"repr(clip)": f"Clip(low={high}, high={low})"},
            "repr_incomplete": {"repr(clip)": AnyOf(f"Clip(low={low})", f"Clip(high={high})")},
            "repr_without_names": says(lambda found: numbers_there(found) and not ("low" in found or "high" in found)),
            "repr_more_than_asked": says(lambda found: numbers_there(found) and found.count("=") > 2),
            "repr_other_spelling": says(numbers_there),
            "repr_rounded": says(lambda found: found.startswith(f"Clip(low={int(low)}")),
        }


class TreeStays(_OfTheClip):
    """In a model, and with a submodule of its own, each Clip shows its own limits."""

    def probe(self, nb, case):
        outer, inner = nb.function("Clip")(*_limits(case)), nb.function("Clip")(1, 0.5)
        outer.add_module("inner", inner)
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), outer, nn.Tanh()))}

    def drawn(self, outer, inner):
        first, second = ("low={}, high={}".format(*limits) for limits in (outer, inner))
        lines = ["Sequential(", "  (0): ReLU()", "  (1): Clip(", f"    {first}", f"    (inner): Clip({second})", "  )", "  (2): Tanh()", ")"]
        return {"repr(model)": "\n".join(lines)}

    def truth(self, case):
        return self.drawn(_limits(case), (1, 0.5))

    def mistakes(self, case):
        return {
            "anatomy_kept_on_the_class": self.drawn((1, 0.5), (1, 0.5)),
            "repr_overridden": {"repr(model)": other_than(self.truth(case)["repr(model)"])},
        }


class ShowsTheMoment(_OfTheClip):
    """After a limit has changed, the new one is shown, and used."""

    blame = {"repr(clip) after the change": "repr_frozen"}

    def later(self, case):
        """Limits within the numbers that x may hold."""
        return -case.integer("later low", 6, 19) / 10, case.integer("later high", 6, 19) / 10

    def probe(self, nb, case):
        clip = nb.function("Clip")(0, 1)
        before = repr(clip)
        clip.low, clip.high = self.later(case)
        return {"repr(clip)": before, "repr(clip) after the change": repr(clip), "clip(x)": clip(case.tensor("x", 3, 4))}

    def truth(self, case):
        return {
            "repr(clip)": "Clip(low=0, high=1)",
            "repr(clip) after the change": "Clip(low={}, high={})".format(*self.later(case)),
            "clip(x)": torch.clamp(case.tensor("x", 3, 4), *self.later(case)),
        }


check("extra_repr", ShowsLimits, TreeStays, ShowsTheMoment)


# --- Hidden checks: graders run them, learners do not get them. ---
class InAContainer(Check):
    """Also in a container, each Clip shows the limits that it has by then, and its submodules; it clips."""

    def probe(self, nb, case):
        low, high = case.integer("hidden low", -9, -4) / 10, case.integer("hidden high", 4, 9) / 10 + 1 / 3
        first, second = nb.function("Clip")(low, 5), nb.function("Clip")(low, high)
        one, two = case.words("hidden name", 2)
        first.add_module(two, nn.Identity())
        model = nn.ModuleDict({one: first, two: second})
        before = repr(model)
        first.high = high + 1
        return {"before": before, "after": repr(model), "clipped": second(case.tensor("hidden x", 9))}

    def truth(self, case):
        low, high = case.integer("hidden low", -9, -4) / 10, case.integer("hidden high", 4, 9) / 10 + 1 / 3
        one, two = case.words("hidden name", 2)
        found = {"clipped": case.tensor("hidden x", 9).clamp(low, high)}
        for when, limit in (("before", 5), ("after", high + 1)):
            first = f"  ({one}): Clip(\n    low={low}, high={limit}\n    ({two}): Identity()\n  )"
            found[when] = f"ModuleDict(\n{first}\n  ({two}): Clip(low={low}, high={high})\n)"
        return found


check("extra_repr", InAContainer)
