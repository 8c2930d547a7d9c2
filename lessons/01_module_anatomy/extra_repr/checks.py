import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import printed_lines
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than


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

    def clip(self, nb, case):
        return nb.function("Clip")(*_limits(case))


class ShowsLimits(_OfTheClip):
    """`repr` of a Clip shows its class and its two limits."""

    def probe(self, nb, case):
        clip = self.clip(nb, case)
        is_method = callable(clip.extra_repr)
        inherited = getattr(clip.extra_repr, "__func__", None) is nn.Module.extra_repr
        return {
            "callable(clip.extra_repr)": is_method,
            "clip.extra_repr is that of nn.Module": inherited,
            "repr(clip)": repr(clip) if is_method else None,
        }

    def truth(self, case):
        low, high = _limits(case)
        return {
            "callable(clip.extra_repr)": True,
            "clip.extra_repr is that of nn.Module": ANYTHING,
            "repr(clip)": f"Clip(low={low}, high={high})",
        }

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
            "repr_without_names": says(
                lambda found: numbers_there(found) and "low" not in found and "high" not in found
            ),
            "repr_more_than_asked": says(lambda found: numbers_there(found) and found.count("=") > 2),
            "repr_other_spelling": says(numbers_there),
            "repr_rounded": says(lambda found: found.startswith(f"Clip(low={int(low)}")),
        }


class TreeStays(_OfTheClip):
    """Within a model, and with a submodule of its own, each Clip shows its own limits and its place in the tree."""

    def probe(self, nb, case):
        outer, inner = nb.function("Clip")(*_limits(case)), nb.function("Clip")(1, 0)
        outer.add_module("inner", inner)
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), outer, nn.Tanh()))}

    def drawn(self, outer, inner):
        class Clip(nn.Module):
            def __init__(self, limits):
                super().__init__()
                self.limits = limits

            def extra_repr(self):
                return "low={}, high={}".format(*self.limits)

        clip = Clip(outer)
        clip.add_module("inner", Clip(inner))
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), clip, nn.Tanh()))}

    def truth(self, case):
        return self.drawn(_limits(case), (1, 0))

    def mistakes(self, case):
        return {
            "anatomy_kept_on_the_class": self.drawn((1, 0), (1, 0)),
            "repr_limits_swapped": self.drawn(_limits(case), (0, 1)),
            "repr_other_spelling": self.drawn(_limits(case), (1.0, 0)),
            "repr_overridden": {"repr(model)": other_than(self.truth(case)["repr(model)"])},
        }


class ShowsTheMoment(_OfTheClip):
    """After a limit has changed, the new one is shown, and used."""

    blame = {
        "repr(clip) after the change": "repr_frozen",
        "clip(x)": "anatomy_changes_the_rest",
        "x after the call": "anatomy_changes_the_rest",
    }

    def probe(self, nb, case):
        clip = nb.function("Clip")(0, 1)
        before = repr(clip)
        clip.low, clip.high = self.later(case)
        x = case.tensor("x", 3, 4)
        return {
            "repr(clip)": before,
            "repr(clip) after the change": repr(clip),
            "clip(x)": clip(x),
            "x after the call": x,
        }

    def truth(self, case):
        return {
            "repr(clip)": "Clip(low=0, high=1)",
            "repr(clip) after the change": "Clip(low={}, high={})".format(*self.later(case)),
            "clip(x)": torch.clamp(case.tensor("x", 3, 4), *self.later(case)),
            "x after the call": case.tensor("x", 3, 4),
        }

    def later(self, case):
        """Limits within the numbers that x may hold."""
        return -case.integer("later low", 6, 19) / 10, case.integer("later high", 6, 19) / 10


class _Untouched(nn.Module):
    """What is to be as it was: the rest of the class."""

    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        return x.clamp(self.low, self.high)


class NothingElse(_OfTheClip):
    """It shows the limits and nothing else, in either mode; the rest of the class stays, also for limits that are crossed."""

    errors = {**_OfTheClip.errors, r"OverflowError: cannot convert float infinity": "repr_rounded"}
    blame = {
        "repr(clip) for whole limits with a point": "repr_rounded",
        "repr(clip) for a limit that is infinite": "repr_incomplete",
        "repr(clip) for a tiny and a huge limit": "repr_other_spelling",
        "repr(clip) with more attributes": "repr_more_than_asked",
        "repr(clip) in eval mode": "repr_more_than_asked",
        "what print(clip) prints": "repr_prints",
        **{
            what: "anatomy_changes_the_rest"
            for what in ("clip(x) for crossed limits", "clip(x) in eval mode", "what runs", "a Clip without limits")
        },
    }

    def whole(self, case):
        return float(-case.integer("low", 3, 99)), float(case.integer("high", 3, 99))

    def probe(self, nb, case):
        clip, whole = self.clip(nb, case), nb.function("Clip")(*self.whole(case))
        with printed_lines() as lines:
            print(clip)
        clip.note, clip.count, clip.share = "seen", 3, 0.5
        clip.seen, clip.weight = nn.Buffer(torch.ones(2)), nn.Parameter(torch.ones(2))
        found = {
            "repr(clip) for whole limits with a point": repr(whole),
            "repr(clip) for a limit that is infinite": self.infinite(nb.function("Clip"), case),
            "repr(clip) for a tiny and a huge limit": repr(nb.function("Clip")(*self.tiny_and_huge(case))),
            "repr(clip) with more attributes": repr(clip),
            "what print(clip) prints": lines,
            **self.ran(nb.function("Clip"), case),
        }
        found["repr(clip) in eval mode"] = repr(clip.eval())
        try:
            nb.function("Clip")()
        except TypeError:
            found["a Clip without limits"] = case.tensor("refused", 2)
        return found

    def tiny_and_huge(self, case):
        """Numbers that print shows with an exponent."""
        return case.integer("low", 3, 99) * 1e-8, case.integer("high", 3, 99) * 1e20

    def infinite(self, make, case):
        """Each of the two limits in turn; the other one is a number."""
        low, high = self.whole(case)
        return [repr(make(float("-inf"), high)), repr(make(low, float("inf")))]

    def ran(self, make, case):
        x, limits = case.tensor("x", 3, 4), (case.integer("crossed", 6, 19) / 10, -case.integer("low", 1, 9) / 10)
        clip = make(*limits)
        return {
            "what runs": what_runs(clip, case, lambda: clip(x)),
            "clip(x) for crossed limits": clip(x),
            "clip(x) in eval mode": make(*limits[::-1]).eval()(x),
        }

    def truth(self, case):
        text, ran = "Clip(low={}, high={})".format(*_limits(case)), self.ran(_Untouched, case)
        return {
            "repr(clip) for whole limits with a point": "Clip(low={}, high={})".format(*self.whole(case)),
            "repr(clip) for a limit that is infinite": [
                f"Clip(low=-inf, high={self.whole(case)[1]})",
                f"Clip(low={self.whole(case)[0]}, high=inf)",
            ],
            "repr(clip) for a tiny and a huge limit": "Clip(low={}, high={})".format(*self.tiny_and_huge(case)),
            "repr(clip) with more attributes": text,
            "repr(clip) in eval mode": text,
            "what print(clip) prints": [text],
            **{**ran, "what runs": as_before(ran["what runs"])},
            "a Clip without limits": case.tensor("refused", 2),
        }


check("extra_repr", ShowsLimits, TreeStays, ShowsTheMoment, NothingElse)


# --- Hidden checks: graders run them, learners do not get them. ---
class InAContainer(Check):
    """Also in a container, each Clip shows the limits that it has by then."""

    def probe(self, nb, case):
        low, high = case.integer("hidden low", -999, -100), case.integer("hidden high", 100, 999) + 1 / 3
        first, second = nb.function("Clip")(low, 0.5), nb.function("Clip")(low, high)
        first.high = high + 1
        (name,) = case.words("hidden name", 1)
        return {"repr(model)": repr(nn.ModuleDict({name: first, "last": second}))}

    def truth(self, case):
        low, high = case.integer("hidden low", -999, -100), case.integer("hidden high", 100, 999) + 1 / 3
        (name,) = case.words("hidden name", 1)
        text = repr(nn.ModuleDict({name: nn.ReLU(), "last": nn.Tanh()}))
        text = text.replace("ReLU()", f"Clip(low={low}, high={high + 1})")
        return {"repr(model)": text.replace("Tanh()", f"Clip(low={low}, high={high})")}


check("extra_repr", InAContainer)
