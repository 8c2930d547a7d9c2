import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING, other_than
from course.traces import gradients_left

_NAMES = ("gain", "mean", "window", "rate")


class _OfTheFrame(Check):
    """What all checks of AudioFrame have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: (Buffer\.__new__|\S*register_(buffer|parameter))\(\)": "anatomy_register_arguments",
        r"TypeError: (buffer|parameter) name should be a string": "anatomy_register_arguments",
        r"TypeError: cannot assign '(numpy|int|float|list)": "anatomy_no_tensor",
        r"AttributeError: '\S+' object has no attribute 'detach'": "anatomy_no_tensor",
        r"KeyError: .attribute '\w+' already exists": "anatomy_name_taken",
        r"AttributeError: 'AudioFrame' object has no attribute '(gain|mean|window|rate)'": "attributes_missing",
        r"AttributeError: 'AudioFrame' object has no attribute": "anatomy_misspelt_method",
        r"NameError: name '(gain|window)'": "anatomy_read_without_self",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: AudioFrame\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
    }


def _with(*names):
    """For mistakes: a list that holds one of these names."""
    return Matches(lambda found: None if set(names) & set(found) else "none of them", "one of them")


_of_another_dtype = Matches(
    lambda found: None if {one.dtype for one in found.values()} != {"float32"} else "float32", "another dtype"
)
"""For mistakes: tensors of which one is not of float32."""


class InTheRightPlace(_OfTheFrame):
    """Each of the four is registered as what it is: parameter, buffer, saved or not, plain attribute."""

    blame = {f"values {where}": "wrong_start" for where in ("of the parameters", "of the buffers", "in the state_dict")}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        return {
            "attributes": ", ".join(name for name in _NAMES if hasattr(frame, name)) or "none",
            "types": {name: type(getattr(frame, name, None)).__name__ for name in _NAMES},
            "parameters": sorted(name for name, _ in frame.named_parameters()),
            "buffers": sorted(name for name, _ in frame.named_buffers(remove_duplicate=False)),
            "state_dict": sorted(frame.state_dict()),
            "values of the parameters": dict(frame.named_parameters()),
            "values of the buffers": dict(frame.named_buffers(remove_duplicate=False)),
            "values in the state_dict": dict(frame.state_dict()),
            "mean after loading a file": self.loaded(nb.function("AudioFrame")(case.tensor("mean", 4), 8_000), case),
        }

    def loaded(self, frame, case):
        """The mean, if a file with `gain` and `mean` is all that the frame needs."""
        try:
            nn.Module.load_state_dict(frame, {"gain": torch.ones(1), "mean": case.tensor("saved mean", 4)})
            return frame.mean
        except Exception as error:  # told by what comes before, but for what a state_dict of one's own hides
            return str(error)

    def truth(self, case):
        gain, mean, window = torch.ones(1), case.tensor("mean", 4), Close(torch.hann_window(4), 1e-5, 1e-6)
        return {
            "attributes": ", ".join(_NAMES),
            "types": ANYTHING,
            "parameters": ["gain"],
            "buffers": ["mean", "window"],
            "state_dict": ["gain", "mean"],
            "values of the parameters": {"gain": gain},
            "values of the buffers": {"mean": mean, "window": window},
            "values in the state_dict": {"gain": gain, "mean": mean},
            "mean after loading a file": case.tensor("saved mean", 4),
        }

    def mistakes(self, case):
        misses_window = Matches(lambda found: None if "window" in found else "something else", "a window that is missed")
        nothing = Matches(lambda types: None if "NoneType" in types.values() else "all there", "None")
        return {
            "attributes_missing": {"attributes": other_than(", ".join(_NAMES))},
            "anatomy_buffer_is_none": {"types": nothing},
            "setting_as_tensor": AnyOf({"buffers": _with("rate")}, {"parameters": _with("rate")}),
            "buffer_as_parameter": {"parameters": _with("mean", "window")},
            "parameter_as_buffer": {"buffers": _with("gain")},
            "anatomy_not_a_parameter": {"parameters": []},
            "plain_tensor": {"buffers": AnyOf([], ["mean"], ["window"])},
            "anatomy_more_than_asked": AnyOf(
                {"parameters": other_than(["gain"])}, {"buffers": other_than(["mean", "window"])}
            ),
            "saved_anyway": AnyOf(
                {"state_dict": ["gain", "mean", "window"]},
                {"state_dict": ["gain", "mean"], "mean after loading a file": misses_window},
            ),
            "not_saved": {"state_dict": AnyOf(["gain"], ["gain", "window"])},
            "anatomy_wrong_dtype": {"values of the buffers": _of_another_dtype},
        }


class StartValues(_OfTheFrame):
    """Each frame has start values of its own, and computes with them in either mode; after `.double()` all tensors are float64."""

    n = 4
    blame = {
        **{name: "wrong_start" for name in ("gain", "mean", "window", "rate", "rate of another frame")},
        **{f"{name} of a frame that is made later": "anatomy_kept_on_the_class" for name in ("gain", "window")},
        "a mean of float64": "anatomy_wrong_dtype",
        "output of another frame in eval mode": "anatomy_changes_the_rest",
    }

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", self.n), case.integer("rate", 1_000, 99_000)).double()
        another = nb.function("AudioFrame")(case.tensor("another mean", self.n), case.integer("low rate", 100, 900))
        with torch.no_grad():
            for tensor in (another.gain, another.window):
                tensor.mul_(3)
        later = nb.function("AudioFrame")(case.tensor("long mean", self.n, dtype=torch.float64), 500)
        x = case.tensor("x", 3, self.n, dtype=torch.float64)
        return {
            **{name: getattr(frame, name) for name in _NAMES},
            "output": frame(x),
            "output of another frame in eval mode": another.eval()(case.tensor("another x", 3, self.n)),
            "rate of another frame": another.rate,
            **{f"{name} of a frame that is made later": getattr(later, name) for name in ("gain", "window")},
            "a mean of float64": later.mean,
        }

    def truth(self, case):
        gain, mean = torch.ones(1).double(), case.tensor("mean", self.n).double()
        window, rate = torch.hann_window(self.n).double(), case.integer("rate", 1_000, 99_000)
        x = case.tensor("x", 3, self.n, dtype=torch.float64)
        output = (x - mean) * window * gain
        rounded = {"window": Close(window, 1e-5, 1e-6), "output": Close(output, 1e-5, 1e-6)}  # float32 until .double()
        faded = (case.tensor("another x", 3, self.n) - case.tensor("another mean", self.n)) * torch.hann_window(self.n) * 9
        return {
            **{"gain": gain, "mean": mean, "rate": rate, **rounded},
            "output of another frame in eval mode": Close(faded, 1e-5, 1e-5),
            "rate of another frame": case.integer("low rate", 100, 900),
            "gain of a frame that is made later": torch.ones(1),
            "window of a frame that is made later": Close(torch.hann_window(self.n), 1e-5, 1e-6),
            "a mean of float64": case.tensor("long mean", self.n, dtype=torch.float64),
        }

    def mistakes(self, case):
        return {
            "setting_as_tensor": {"rate": torch.tensor(case.integer("rate", 1_000, 99_000))},
            "anatomy_wrong_dtype": AnyOf(
                {"gain of a frame that is made later": torch.ones(1).double()},
                {"window of a frame that is made later": Close(torch.hann_window(self.n).double(), 1e-5, 1e-6)},
            ),
            "anatomy_kept_on_the_class": {"rate": 500},
        }


class OnlyTheGainLearns(_OfTheFrame):
    """One step of an optimizer changes `gain`, and nothing else; only `gain` gets a gradient."""

    blame = {
        "window": "anatomy_wrong_dtype",
        "mean.grad": "anatomy_buffer_with_gradient",
        "window.grad": "anatomy_buffer_with_gradient",
    }

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        frame(case.tensor("x", 3, 4, requires_grad=True)).backward(case.tensor("upstream", 3, 4))
        torch.optim.SGD(frame.parameters(), lr=0.1).step()
        left = gradients_left({"mean.grad": frame.mean, "window.grad": frame.window}, case)
        return {"gain": frame.gain, "mean": frame.mean, "window": frame.window, **left}

    def truth(self, case):
        gain, mean, window = torch.ones(1, requires_grad=True), case.tensor("mean", 4), torch.hann_window(4)
        output = (case.tensor("x", 3, 4) - mean) * window * gain
        (gradient,) = torch.autograd.grad(output, gain, case.tensor("upstream", 3, 4))
        left = gradients_left({"mean.grad": mean, "window.grad": window}, case)
        return {"gain": (gain - 0.1 * gradient).detach(), "mean": mean, "window": Close(window, 1e-5, 1e-6), **left}

    def mistakes(self, case):
        return {"gradient_cut": {"gain": torch.ones(1)}}


check("buffer_or_parameter", InTheRightPlace, StartValues, OnlyTheGainLearns)


# --- Hidden checks: graders run them, learners do not get them. ---
class LoadedAndTrained(Check):
    """A frame of any length computes with what was loaded, in float64, and `gain` learns."""

    errors = {
        **_OfTheFrame.errors,
        r"RuntimeError: The (size of tensor a|expanded size)": "sizes_of_example",
    }

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("hidden mean", 7), case.integer("hidden rate", 1_000, 99_000))
        frame.load_state_dict({"gain": case.tensor("saved gain", 1), "mean": case.tensor("saved mean", 7)})
        frame.double()
        output = frame(case.tensor("hidden x", 5, 7, dtype=torch.float64))
        output.backward(case.tensor("hidden upstream", 5, 7, dtype=torch.float64))
        return {"output": output, "gain.grad": frame.gain.grad, "rate": frame.rate}

    def truth(self, case):
        x, upstream = (case.tensor(f"hidden {name}", 5, 7, dtype=torch.float64) for name in ("x", "upstream"))
        gain, mean = case.tensor("saved gain", 1).double().requires_grad_(), case.tensor("saved mean", 7).double()
        output = (x - mean) * torch.hann_window(7).double() * gain
        (gradient,) = torch.autograd.grad(output, gain, upstream)
        # The window is one of float32 until .double(), by whatever formula.
        rounded = {"output": Close(output, 1e-4, 1e-4), "gain.grad": Close(gradient, 1e-4, 1e-4)}
        return {**rounded, "rate": case.integer("hidden rate", 1_000, 99_000)}


check("buffer_or_parameter", LoadedAndTrained)
