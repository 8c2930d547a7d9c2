from torch import nn

from course.drawn import nets, trainings
from nbproof.authoring.explorer import Exploration


class AnyNet(Exploration):
    """It names the first ReLU that puts out only zeros, and the step, whatever the net in which each ReLU runs once a step."""

    draws = {
        "net": nets("same", "nested", "residual", "turned", "beside", "boxed", "keyword", "in_place", "zero", "negative", "eval", "hooked"),
        "train": trainings(),
    }

    def probe(self, nb, case):
        return {"first_to_die(net, train)": nb.function("first_to_die")(case.drawn("net"), case.drawn("train"))}

    def truth(self, case):
        net, dead, calls = case.drawn("net"), [], []

        def counted(*args, forward=net.forward):
            calls.append("begun")
            return forward(*args)

        def watched(forward, name):
            def run(x):
                output = forward(x)
                if not output.any():
                    dead.append((name, len(calls) - 1))
                return output

            return run

        net.forward = counted
        for name, module in net.named_modules():
            if isinstance(module, nn.ReLU):
                module.forward = watched(module.forward, name)
        case.drawn("train")(net)
        return {"first_to_die(net, train)": dead[0] if dead else None}
