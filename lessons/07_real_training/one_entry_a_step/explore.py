from dataclasses import replace

from course.drawn import Checkpointed, nets, trainings
from nbproof.authoring.explorer import Exploration


def watched(net):
    return [name for name, one in net.named_modules() if name and not list(one.children())]


class AnyModel(Exploration):
    """Each call of the model adds one entry a layer, whatever the model that runs each once, and whatever is computed again."""

    draws = {
        "net": nets("same", "nested", "residual", "turned", "checkpointed", "boxed", "keyword", "frozen", "eval", "hooked"),
        "train": trainings(checkpointed=True),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        with nb.function("recorder")(net, watched(net)) as history:
            case.drawn("train")(net)
        return {"history": history}

    def truth(self, case):
        net, entries = case.drawn("net"), []  # for each call of the model, what its layers put out
        for one in net.modules():
            if isinstance(one, Checkpointed):
                one.forward = one.layer  # nothing is computed again

        def call(*args, forward=net.forward):
            entries.append({})
            return forward(*args)

        def layer(name, forward):
            def run(x):
                output = forward(x)
                entries[-1][name] = output.detach().pow(2).mean().item()
                return output

            return run

        for name in watched(net):
            one = net.get_submodule(name)
            one.forward = layer(name, one.forward)
        net.forward = call
        replace(case.drawn("train"), checkpointed=False)(net)
        return {"history": {name: [one[name] for one in entries] for name in watched(net)}}
