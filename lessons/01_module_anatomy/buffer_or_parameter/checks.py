import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING, other_than

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
        r"RuntimeError: The (size of tensor a|expanded size)": "sizes_of_example",
    }


def _with(*names):
    """For mistakes: a dict that has one of these names."""
    return Matches(lambda found: None if set(names) & set(found) else "none of them", "one of them")


class InTheRightPlace(_OfTheFrame):
    """Each of the four is kept as the right kind, with its first value."""

    blame = {where: "wrong_start" for where in ("parameters", "buffers", "state_dict")}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        return {
            "what the module keeps": ", ".join(name for name in _NAMES if hasattr(frame, name)) or "none",
            "types": {name: type(getattr(frame, name, None)).__name__ for name in _NAMES},
            "parameters": dict(frame.named_parameters()),
            "buffers": dict(frame.named_buffers(remove_duplicate=False)),
            "state_dict": dict(frame.state_dict()),
        }

    def truth(self, case):
        gain, mean, window = torch.ones(1), case.tensor("mean", 4), Close(torch.hann_window(4), 1e-5, 1e-6)
        return {
            "what the module keeps": ", ".join(_NAMES), "types": ANYTHING, "parameters": {"gain": gain},
            "buffers": {"mean": mean, "window": window}, "state_dict": {"gain": gain, "mean": mean},
        }

    def mistakes(self, case):
        def names(*wanted):
            return Matches(lambda found: None if set(found) == set(wanted) else "other names", "these names")

        nothing = Matches(lambda types: None if "NoneType" in types.values() else "all there", "None")
        return {
            "attributes_missing": {"what the module keeps": other_than(", ".join(_NAMES))},
            "anatomy_buffer_is_none": {"types": nothing},
            "setting_as_tensor": AnyOf({"buffers": _with("rate")}, {"parameters": _with("rate")}),
            "buffer_as_parameter": {"parameters": _with("mean", "window")},
            "parameter_as_buffer": {"buffers": _with("gain")},
            "anatomy_not_a_parameter": {"parameters": {}},
            "plain_tensor": {"buffers": AnyOf(names(), names("mean"), names("window"))},
            "saved_anyway": {"state_dict": names("gain", "mean", "window")},
            "not_saved": {"state_dict": AnyOf(names("gain"), names("gain", "window"))},
        }


class StartValues(_OfTheFrame):
    """With another mean and rate, and after `.double()`, it computes what `forward` says."""

    blame = {name: "wrong_start" for name in ("gain", "mean", "window", "rate")}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 6), case.integer("rate", 1_000, 99_000)).double()
        output = frame(case.tensor("x", 3, 6, dtype=torch.float64))
        return {**{name: getattr(frame, name) for name in _NAMES}, "output": output}

    def truth(self, case):
        gain, mean, window = torch.ones(1).double(), case.tensor("mean", 6).double(), torch.hann_window(6).double()
        output = (case.tensor("x", 3, 6, dtype=torch.float64) - mean) * window * gain
        rounded = {"window": Close(window, 1e-5, 1e-6), "output": Close(output, 1e-5, 1e-6)}  # float32 until .double()
        return {"gain": gain, "mean": mean, "rate": case.integer("rate", 1_000, 99_000), **rounded}

    def mistakes(self, case):
        return {"setting_as_tensor": {"rate": torch.tensor(case.integer("rate", 1_000, 99_000))}}


class OnlyTheGainLearns(_OfTheFrame):
    """One step of an optimizer changes `gain`, and nothing else."""

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        frame(case.tensor("x", 3, 4, requires_grad=True)).backward(case.tensor("upstream", 3, 4))
        torch.optim.SGD(frame.parameters(), lr=0.1).step()
        return {"gain": frame.gain, "mean": frame.mean, "window": frame.window}

    def truth(self, case):
        gain, mean, window = torch.ones(1, requires_grad=True), case.tensor("mean", 4), torch.hann_window(4)
        output = (case.tensor("x", 3, 4) - mean) * window * gain
        (gradient,) = torch.autograd.grad(output, gain, case.tensor("upstream", 3, 4))
        return {"gain": (gain - 0.1 * gradient).detach(), "mean": mean, "window": Close(window, 1e-5, 1e-6)}

    def mistakes(self, case):
        return {"anatomy_frozen_parameter": {"gain": torch.ones(1)}}


check("buffer_or_parameter", InTheRightPlace, StartValues, OnlyTheGainLearns)


# --- Hidden checks: graders run them, learners do not get them. ---
class LoadedAndTrained(Check):
    """A frame of any length computes with what was loaded, in float64, and `gain` learns."""

    errors = _OfTheFrame.errors

    def probe(self, nb, case):
        n = case.integer("hidden n", 5, 9)
        frame = nb.function("AudioFrame")(case.tensor("hidden mean", n), case.integer("hidden rate", 1_000, 99_000))
        nn.Module.load_state_dict(frame, {"gain": case.tensor("saved gain", 1), "mean": case.tensor("saved mean", n)})
        nn.Module.double(frame)
        output = frame(case.tensor("hidden x", 5, n, dtype=torch.float64))
        output.backward(case.tensor("hidden upstream", 5, n, dtype=torch.float64))
        parameters, buffers = dict(nn.Module.named_parameters(frame)), dict(nn.Module.named_buffers(frame))
        found = {"parameters": parameters, "buffers": buffers, "output": output, "gain.grad": frame.gain.grad}
        return {"rate": frame.rate, "tensors": found}

    def truth(self, case):
        n = case.integer("hidden n", 5, 9)
        x, upstream = (case.tensor(f"hidden {name}", 5, n, dtype=torch.float64) for name in ("x", "upstream"))
        gain, mean = case.tensor("saved gain", 1).double().requires_grad_(), case.tensor("saved mean", n).double()
        window = torch.hann_window(n).double()
        output = (x - mean) * window * gain
        (gradient,) = torch.autograd.grad(output, gain, upstream)
        found = {"parameters": {"gain": gain.detach()}, "buffers": {"mean": mean, "window": window}}
        # The window is one of float32 until .double(), by whatever formula.
        tensors = Close({**found, "output": output, "gain.grad": gradient}, 1e-4, 1e-4)
        return {"rate": case.integer("hidden rate", 1_000, 99_000), "tensors": tensors}


check("buffer_or_parameter", LoadedAndTrained)
