# %% bytes
import contextlib

import torch

from nbproof.checks.check import Check, check
from course.awkward import awkward_models
from course.truths import such_that


def saved_in(output):
    """All tensors that the graph behind ``output`` has saved, as each operation lists them."""
    nodes, seen, saved = [output.grad_fn], set(), []
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names = [name for name in dir(node) if name.startswith("_saved_")]
        values = [getattr(node, name) for name in names]
        saved += [value for value in values if isinstance(value, torch.Tensor)]
        nodes += [following for following, _ in node.next_functions]
    return saved


def count(tensors, leave_out=()):
    """The bytes of their storages, each once."""
    outside = {tensor.untyped_storage().data_ptr() for tensor in leave_out}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(size for address, size in storages.items() if address not in outside)


def more_rows(case, x):
    """What the model is given: ``x``, and some of its rows once more, of which only the case knows how many."""
    return torch.cat([x, x[: case.integer("more rows", 1, 3)]])


class CountsTheBytes(Check):
    """A network of two linear layers: output and gradients as always, each saved storage once, no parameters."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "saved_bytes_unpack",
        r"TypeError: saved_tensors_hooks.__init__\(\) missing": "saved_bytes_two_functions",
        r"TypeError: _push_saved_tensors_default_hooks": "saved_bytes_two_functions",
        r"(TypeError|ValueError): .*(NoneType|not enough|too many|non-iterable|to unpack)": "saved_bytes_two_results",
        r"RuntimeError: (\w+: )?(expected m1 and m2|mat1 and mat2|.*same dtype)": "saved_bytes_unpack",
        r"AttributeError: '(int|tuple|list)' object has no attribute": "saved_bytes_two_results",
    }

    def build(self, case):
        first, second, last = case.shape("sizes", 3, 4, 9)

        def layers():
            two = torch.nn.Linear(first, second), torch.nn.Linear(second, last)
            return torch.nn.Sequential(two[0], torch.nn.Sigmoid(), two[1], torch.nn.Tanh())

        return case.build("net", layers), case.tensor("x", case.integer("batch", 10, 13), first)

    def results(self, net, output, number, case):
        if output.requires_grad:
            output.backward(case.tensor("upstream", *output.shape))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {"the output": output, "bytes": number, **gradients}

    def probe(self, nb, case):
        net, x = self.build(case)
        x = more_rows(case, x)
        calls, traces = [], [case.integer("before it runs", 1, 10**6)]
        net[0].register_forward_pre_hook(lambda module, args: calls.append(1))
        net[0].register_forward_pre_hook(lambda module, args: traces.append(self.traced(traces[-1], case)))
        output, number = nb.function("saved_bytes")(net, x)
        count, trace = len(calls), traces[-1]
        _, again = nb.function("saved_bytes")(net, x)
        found = self.results(net, output, number, case)
        both = {"bytes in each of two runs": [number, again]}
        return {"runs of the model": count, **found, **both, "the trace of its runs": trace}

    def traced(self, number, case):
        """What one run more makes of the number that the runs before it have left."""
        return (31 * number + case.integer("step", 1, 10**6)) % 999_983

    def truth(self, case):
        net, x = self.build(case)
        x = more_rows(case, x)
        output = net(x)
        number = count(saved_in(output), net.parameters())
        found = self.results(net, output, number, case)
        trace = self.traced(case.integer("before it runs", 1, 10**6), case)
        return {
            "runs of the model": 1,
            **found,
            "bytes in each of two runs": [number, number],
            "the trace of its runs": trace,
        }

    def mistakes(self, case):
        net, x = self.build(case)
        x = more_rows(case, x)
        output = net(x)
        saved, parameters = saved_in(output), list(net.parameters())
        own = {parameter.untyped_storage().data_ptr() for parameter in parameters}
        others = [tensor for tensor in saved if tensor.untyped_storage().data_ptr() not in own]
        outputs, value = [], x
        for layer in net:
            value = layer(value)
            outputs.append(value)
        return {
            "saved_bytes_runs_twice": {"runs of the model": such_that(lambda got: got != 1)},
            "saved_bytes_no_text": {"bytes": such_that(lambda got: not isinstance(got, int))},
            "saved_bytes_of_earlier_calls": {"bytes in each of two runs": such_that(lambda got: got[0] != got[1])},
            "saved_bytes_nothing": {"bytes": 0},
            "saved_bytes_each_time": {"bytes": sum(tensor.nbytes for tensor in others)},
            "saved_bytes_parameters": {"bytes": count(saved)},
            "saved_bytes_everything": {"bytes": sum(tensor.nbytes for tensor in saved)},
            "saved_bytes_elements": {"bytes": count(others) // 4},
            "saved_bytes_all_outputs": {"bytes": sum(tensor.nbytes for tensor in outputs)},
            "saved_bytes_without_x": {"bytes": count(others, [x])},
            "saved_bytes_minus_parameters": {"bytes": count(saved) - sum(p.nbytes for p in parameters)},
        }


class Gate(torch.nn.Module):
    """A third of what a linear layer computes is multiplied by another third, and the last third is added."""

    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 6)

    def forward(self, x):
        value, gate, rest = self.linear(x).chunk(3, dim=-1)
        return value * gate + rest


class SlicesOfOneStorage(Check):
    """Two slices of one tensor are saved: their storage counts once, with all its bytes."""

    def run(self, case, saved_bytes):
        width = case.integer("width", 4, 19)
        net = case.build("net", Gate, width)
        return net, saved_bytes(net, more_rows(case, case.tensor("x", case.integer("batch", 3, 19), width)))

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[1][1]}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        saved = saved_in(output)
        slices = [tensor for tensor in saved if tensor.nbytes != tensor.untyped_storage().nbytes()]
        others, one = count(saved, net.parameters()) - count(slices), slices[0].nbytes
        return {
            "saved_bytes_of_the_slice": {"bytes": others + one},
            "saved_bytes_address_of_the_slice": {
                "bytes": such_that(lambda got: got in (others + 2 * one, others + 2 * count(slices)))
            },
        }


class OnlyWhatIsSaved(Check):
    """In float64: buffers of a batch norm count; frozen weights do not, nor does an `x` that a frozen layer need not save."""

    def run(self, case, saved_bytes):
        sizes = case.integer("width", 4, 9), case.integer("batch", 20, 40)

        def layers():
            frozen = torch.nn.Linear(sizes[0], sizes[0]).requires_grad_(False)
            shared = torch.nn.Linear(sizes[0], sizes[0])
            parts = (frozen, shared, torch.nn.BatchNorm1d(sizes[0]), torch.nn.ReLU(inplace=True), shared, frozen)
            return torch.nn.Sequential(*parts).eval().double()

        net = case.build("net", layers)
        return net, net[2], saved_bytes(net, more_rows(case, case.tensor("x", sizes[1], sizes[0], dtype=torch.float64)))

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[2][1]}

    def truth(self, case):
        net, _, output = self.run(case, lambda net, x: net(x))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        net, norm, output = self.run(case, lambda net, x: net(x))
        wanted, buffers = self.truth(case)["bytes"], norm.running_mean.nbytes + norm.running_var.nbytes
        frozen = net[0].weight.nbytes
        return {
            "saved_bytes_without_buffers": {"bytes": wanted - buffers},
            "saved_bytes_all_outputs": {"bytes": wanted + output.nbytes},  # as large as x
            "saved_bytes_parameters": {"bytes": wanted + frozen},
            "saved_bytes_four_an_element": {"bytes": wanted // 2},
        }


class SliceOfData(Check):
    """`x` is a slice of a larger tensor: its storage counts with all its bytes. The model runs in the mode that it is in."""

    def run(self, case, saved_bytes):
        def layers():
            return torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.BatchNorm1d(3), torch.nn.Sigmoid())

        data = case.tensor("data", case.integer("rows", 20, 60), 5)
        net = case.build("net", layers)
        return net, saved_bytes(net, more_rows(case, data)[3:9])

    def probe(self, nb, case):
        saved = []

        def pack(tensor):
            saved.append(tensor.detach().clone())
            return tensor.detach()

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            output, number = self.run(case, nb.function("saved_bytes"))[1]
            saved.clear()
            case.tensor("later", 3, requires_grad=True).exp()
        if not saved:  # the block has taken away a pair that was left open, and not its own
            torch._C._autograd._pop_saved_tensors_default_hooks()
        return {"the output": output, "bytes": number, "what the caller's own hooks see afterwards": list(saved)}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {
            "the output": output,
            "bytes": count(saved_in(output), net.parameters()),
            "what the caller's own hooks see afterwards": [case.tensor("later", 3).exp()],
        }

    blame = {
        "the output": "saved_bytes_other_mode",
        "bytes": "saved_bytes_of_the_slice",
        "what the caller's own hooks see afterwards": "saved_bytes_left_open",
    }


KINDS = (
    "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "one_dim",
    "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
)


class AnyModel(Check):
    """It counts what any model saves."""

    def models(self, case):
        return awkward_models(case, *KINDS)

    def rows(self, case, x):
        """More than the model comes with; of one dimension there are no rows."""
        return x if x.dim() == 1 else more_rows(case, x)

    def probe(self, nb, case):
        models, saved_bytes = self.models(case), nb.function("saved_bytes")
        return {says: saved_bytes(model, self.rows(case, x))[1] for says, (model, x) in models.items()}

    def truth(self, case):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            wanted[says] = count(saved_in(model(self.rows(case, x))), model.parameters())
        return wanted


class Refuses(torch.nn.Module):
    """A model that raises an error in the middle."""

    def forward(self, x):
        raise ValueError("this model refuses")


class AfterAnError(Check):
    """If the model raises an error, autograd saves as before all the same."""

    def probe(self, nb, case):
        seen, saved_bytes = [], nb.function("saved_bytes")

        def pack(tensor):
            seen.append(tensor.detach().clone())
            return tensor.detach()

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            with contextlib.suppress(ValueError):
                saved_bytes(Refuses(), case.tensor("x", 3))
            case.tensor("later", 3, requires_grad=True).exp()
        if not seen:  # the block has taken away the pair that was left open, and not its own
            torch._C._autograd._pop_saved_tensors_default_hooks()
        return {"what the caller's own hooks see afterwards": list(seen)}

    def truth(self, case):
        return {"what the caller's own hooks see afterwards": [case.tensor("later", 3).exp()]}

    blame = {"what the caller's own hooks see afterwards": "feat_error_skips"}


class SliceForAParameter(Check):
    """A weight may be a slice of a larger storage, which does not count; `x` counts, even if it is a Parameter."""

    def run(self, case, saved_bytes):
        net = case.build("net", torch.nn.Linear, 4, 3, bias=False)
        net.weight = torch.nn.Parameter(case.tensor("flat", 30)[5:17].view(3, 4))
        x = torch.nn.Parameter(more_rows(case, case.tensor("x", case.integer("batch", 10, 40), 4)))
        return net, saved_bytes(net, x)

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[1][1]}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        wanted = self.truth(case)["bytes"]
        return {"saved_bytes_without_x": {"bytes": 0}, "saved_bytes_address_of_the_slice": {"bytes": wanted + 30 * 4}}


class Words(torch.nn.Module):
    """The vectors of words, zeros for the word of number 0: saves whole numbers (the words) and a mask."""

    def __init__(self):
        super().__init__()
        self.vectors = torch.nn.Embedding(7, 3)

    def forward(self, words):
        return self.vectors(words).masked_fill((words == 0)[:, None], 0)


class WholeNumbersAndMasks(Check):
    """A model that saves no floating-point tensor: the numbers of words, and a mask of bools."""

    def run(self, case, saved_bytes):
        net = case.build("net", Words)
        words = torch.arange(case.integer("words", 5, 40)) % 7
        return net, words, saved_bytes(net, words)

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[2][1]}

    def truth(self, case):
        net, _, output = self.run(case, lambda net, words: net(words))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        words = self.run(case, lambda net, words: None)[1]
        return {"saved_bytes_floats_only": {"bytes": 0}, "saved_bytes_without_x": {"bytes": self.truth(case)["bytes"] - words.nbytes}}


check(
    "saved_tensors",
    CountsTheBytes,
    SlicesOfOneStorage,
    OnlyWhatIsSaved,
    SliceOfData,
    AnyModel,
    AfterAnError,
    SliceForAParameter,
    WholeNumbersAndMasks,
)


# --- Hidden checks: graders run them, learners do not get them. ---
class Sine(torch.autograd.Function):
    """An operation of one's own, which saves the slope that it computes."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.cos())
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class Wave(torch.nn.Module):
    """A layer with that operation."""

    def forward(self, x):
        return Sine.apply(x)


def deep_net(case):
    """A network of three linear layers in float64, and its input."""
    first, second, third = case.shape("hidden sizes", 3, 5, 30)

    def layers():
        linear = [torch.nn.Linear(first, second), torch.nn.Linear(second, third), torch.nn.Linear(third, 2)]
        return torch.nn.Sequential(linear[0], torch.nn.Tanh(), Wave(), linear[1], torch.nn.Sigmoid(), linear[2]).double()

    rows = case.integer("hidden rows", 50, 400)
    return case.build("hidden net", layers), case.tensor("hidden x", rows, first, dtype=torch.float64)


class DeepNet(Check):
    """Of a deeper network, it counts what is saved, and backward works as usual."""

    def probe(self, nb, case):
        net, x = deep_net(case)
        output, number = nb.function("saved_bytes")(net, x)
        output.backward(case.tensor("hidden upstream", *output.shape, dtype=output.dtype))
        return {"bytes": number, "0.weight.grad": net[0].weight.grad}

    def truth(self, case):
        net, x = deep_net(case)
        # A linear layer saves its input. Tanh and Sigmoid save their output, Wave as many slopes as its input has numbers.
        number = sum(net[:depth](x).nbytes for depth in (0, 2, 2, 3, 5))
        output = net(x)
        upstream = case.tensor("hidden upstream", *output.shape, dtype=output.dtype)
        return {"bytes": number, "0.weight.grad": torch.autograd.grad(output, net[0].weight, upstream)[0]}


check("saved_tensors", DeepNet)

# %% freed
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from nbproof.checks.check import Check, check
from course.storages import Storages
from course.truths import storages_left


class FreesTheMemory(Check):
    """What the layers in between have computed is kept itself, not as a copy; when the output is gone, so is that."""

    def build(self, case):
        def layers():
            linear = [torch.nn.Linear(4, 3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)]
            return torch.nn.Sequential(linear[0], torch.nn.Sigmoid(), linear[1], torch.nn.Tanh(), linear[2])

        return case.build("net", layers), case.tensor("x", 5, 4)

    def more_rows(self, case, x):
        """Some of them once more, of which only the case knows how many."""
        return torch.cat([x, x[: case.integer("more rows", 1, 3)]])

    def probe(self, nb, case):
        (net, x), storages, watched = self.build(case), [], Storages(case)
        x = self.more_rows(case, x)
        for place in ("1", "3"):
            # A weak reference tells whether the memory is still there, and does not keep it there.
            net.get_submodule(place).register_forward_hook(
                lambda module, args, output: storages.append(StorageWeakRef(output.untyped_storage()))
            )
            net.get_submodule(place).register_forward_hook(
                lambda module, args, output, place=place: watched.watch(output, place)
            )
        results = nb.function("saved_bytes")(net, x)
        number, meanwhile = results[1], watched.left("while the output is there")
        given_up = sum(storage.expired() for storage in storages)
        del results
        return {
            "bytes": number,
            "layers that ran": len(storages),
            "storages given up while the output is there": given_up,
            "the trace of memory while the output is there": meanwhile,
            "storages still in memory": sum(not storage.expired() for storage in storages),
            "the trace of memory that is freed": watched.left("at the end"),
        }

    def truth(self, case):
        # A linear layer saves its input (and its weight), Sigmoid and Tanh save their output: the next one's input.
        net, x = self.build(case)
        x = self.more_rows(case, x)
        number = x.nbytes + net[:2](x).nbytes + net[:4](x).nbytes
        freed = storages_left(case, "at the end", freed=["1", "3"])
        return {
            "bytes": number,
            "layers that ran": 2,
            "storages given up while the output is there": 0,
            "the trace of memory while the output is there": storages_left(case, "while the output is there", there=["1", "3"]),
            "storages still in memory": 0,
            "the trace of memory that is freed": freed,
        }

    blame = {
        "storages still in memory": "saved_bytes_leak",
        "layers that ran": "saved_bytes_runs_twice",
        "storages given up while the output is there": "saved_bytes_copies",
    }


check("saved_tensors", FreesTheMemory)


# --- Hidden checks: graders run them, learners do not get them. ---
class Squares(torch.autograd.Function):
    """An operation of one's own, which saves the slope that it computes."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2 * x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class Bowl(torch.nn.Module):
    """A layer with that operation."""

    def forward(self, x):
        return Squares.apply(x)


def deep_net(case):
    """Four linear layers, with a ReLU or something of one's own behind each but the last; and an input."""
    sizes = case.shape("hidden sizes", 5, 3, 30)
    linear = [case.build(f"hidden layer {number}", torch.nn.Linear, *sizes[number:][:2]) for number in range(4)]
    first, second, third, last = linear
    net = torch.nn.Sequential(first, torch.nn.ReLU(), second, Bowl(), third, torch.nn.ReLU(), last)
    return net, case.tensor("hidden x", case.integer("hidden rows", 50, 400), sizes[0])


class FreesADeepNet(Check):
    """A deeper network: what is saved is counted, stays while the output is there, and goes with it."""

    def probe(self, nb, case):
        (net, x), watched = deep_net(case), Storages(case)
        for number in (1, 3, 5):
            net[number].register_forward_hook(
                lambda module, args, output, number=number: watched.watch(output, f"hidden place {number}")
            )
        results = nb.function("saved_bytes")(net, x)
        output, number = results[0].detach().clone(), results[1]
        meanwhile = watched.left("hidden: meanwhile")
        del results
        trace = [meanwhile, watched.left("hidden: afterwards")]
        return {"the output": output, "bytes": number, "the trace of memory": trace}

    def truth(self, case):
        net, x = deep_net(case)
        places = [f"hidden place {number}" for number in (1, 3, 5)]
        meanwhile = storages_left(case, "hidden: meanwhile", there=places)
        afterwards = storages_left(case, "hidden: afterwards", freed=places)
        # A linear layer saves its input. ReLU saves its output, which is the input of the next one, the Bowl its slopes.
        number = sum(net[:depth](x).nbytes for depth in (0, 2, 3, 4, 6))
        return {"the output": net(x), "bytes": number, "the trace of memory": [meanwhile, afterwards]}


check("saved_tensors", FreesADeepNet)
