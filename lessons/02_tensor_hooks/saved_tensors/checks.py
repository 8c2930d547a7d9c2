# %% bytes
import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.truths import such_that


def saved_in(output):
    """All tensors that the graph behind ``output`` has saved, as each operation lists them."""
    nodes, seen, saved = [output.grad_fn], set(), []
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        saved += [value for value in values if isinstance(value, torch.Tensor)]
        nodes += [following for following, _ in node.next_functions]
    return saved


def count(tensors, leave_out=()):
    """The bytes of their storages, each once."""
    outside = {tensor.untyped_storage().data_ptr() for tensor in leave_out}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(size for address, size in storages.items() if address not in outside)


def more_rows(case, x):
    """``x``, and some of its rows once more, of which only the case knows how many."""
    return torch.cat([x, x[: case.integer("more rows", 1, 3)]])


class CountsTheBytes(Check):
    """Output and gradients as always; each saved storage once, no parameters."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "saved_bytes_unpack",
        r"TypeError: (saved_tensors_hooks.__init__\(\) missing|_push_saved_tensors_default_hooks)": "saved_bytes_two_functions",
        r"RuntimeError: (\w+: )?(expected (m1 and m2|scalar type)|mat1 and mat2|.*same dtype)": "saved_bytes_unpack",
        r"(TypeError|ValueError): .*(NoneType|not enough|too many|non-iterable|to unpack)|AttributeError: '(int|tuple|list)'": "saved_bytes_two_results",
    }

    def build(self, case):
        first, second, last = case.shape("sizes", 3, 4, 9)
        parts = [case.build(f"layer {n}", torch.nn.Linear, *sizes) for n, sizes in enumerate(((first, second), (second, last)))]
        norm = torch.nn.BatchNorm1d(last, affine=False).eval()  # its two buffers are saved
        net = torch.nn.Sequential(parts[0], torch.nn.Sigmoid(), parts[1], norm)
        return net, more_rows(case, case.tensor("x", case.integer("batch", 20, 23), first))

    def results(self, net, output, number, case):
        output.backward(case.tensor("upstream", *output.shape)) if output.requires_grad else None
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {"the output": output, "the number of bytes": number, **gradients}

    def probe(self, nb, case):
        (net, x), calls = self.build(case), []
        net[0].register_forward_pre_hook(lambda module, args: calls.append(args[0].sum().item()))
        output, number = nb.function("saved_bytes")(net, x)
        return {"the list of the model's runs": list(calls), **self.results(net, output, number, case)}

    def truth(self, case):
        net, x = self.build(case)
        output = net(x)
        return {"the list of the model's runs": [x.sum().item()], **self.results(net, output, count(saved_in(output), net.parameters()), case)}

    def mistakes(self, case):
        net, x = self.build(case)
        output = net(x)
        saved, parameters, shapes = saved_in(output), list(net.parameters()), {one.shape for one in net.parameters()}
        own = {parameter.untyped_storage().data_ptr() for parameter in parameters}
        others = [tensor for tensor in saved if tensor.untyped_storage().data_ptr() not in own]
        return {
            "saved_bytes_runs_twice": {"the list of the model's runs": such_that(lambda got: len(got) != 1)},
            "saved_bytes_nothing": {"the number of bytes": 0},
            "saved_bytes_each_time": {"the number of bytes": sum(tensor.nbytes for tensor in others)},
            "saved_bytes_parameters": {"the number of bytes": AnyOf(count(saved), count([one for one in saved if one.shape not in shapes]))},
            "saved_bytes_of_other_size": {"the number of bytes": count(others) // 4},
            "saved_bytes_everything": {"the number of bytes": sum(tensor.nbytes for tensor in saved)},
            "saved_bytes_all_outputs": {"the number of bytes": sum(net[:depth](x).nbytes for depth in range(1, len(net) + 1))},
            "saved_bytes_without_x": {"the number of bytes": AnyOf(count(others, [x]), count(others, net.buffers()))},
            "saved_bytes_minus_parameters": {"the number of bytes": count(saved) - sum(p.nbytes for p in parameters)},
            "gradient_cut": {"0.weight.grad": None},
        }


class Gate(torch.nn.Module):
    """A third of what a linear layer computes is multiplied by another third, and the last third, in a frozen scale, is added."""

    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 6)
        self.scale = torch.nn.Parameter(torch.ones(2), requires_grad=False)  # saved, and a parameter all the same

    def forward(self, x):
        value, gate, rest = self.linear(x).chunk(3, dim=-1)
        return value * gate + rest * self.scale


class SlicesOfOneStorage(Check):
    """Of slices, and in float64, the whole storage counts, once."""

    def run(self, case, saved_bytes):
        width = case.integer("width", 4, 19)
        net = case.build("net", lambda: Gate(width).double())
        return net, saved_bytes(net, more_rows(case, case.tensor("x", case.integer("batch", 3, 19), width, dtype=torch.float64))[1:])

    def probe(self, nb, case):
        return {"the number of bytes": self.run(case, nb.function("saved_bytes"))[1][1]}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {"the number of bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        saved = saved_in(output)
        own = {parameter.untyped_storage().data_ptr() for parameter in net.parameters()}
        others = [tensor for tensor in saved if tensor.untyped_storage().data_ptr() not in own]
        last = {tensor.untyped_storage().data_ptr(): tensor.nbytes for tensor in others}
        return {
            "saved_bytes_of_the_slice": {"the number of bytes": AnyOf(sum(last.values()), sum(last.values()) // 2, sum({t.data_ptr(): t.nbytes for t in others}.values()))},
            "saved_bytes_parameters": {"the number of bytes": count(saved)},
            "saved_bytes_of_other_size": {"the number of bytes": AnyOf(*(count(others) // size for size in (2, 8)))},
            "saved_bytes_address_of_the_slice": {"the number of bytes": sum({t.data_ptr(): t.untyped_storage().nbytes() for t in others}.values())},
        }


check("saved_tensors", CountsTheBytes, SlicesOfOneStorage)


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

    forward = staticmethod(Sine.apply)


def deep_net(case):
    """Linear layers of drawn number and sizes with drawn operations between; and an input, a slice of more data."""
    depth = case.integer("hidden depth", 3, 5)
    sizes, kinds = case.shape("hidden sizes", depth + 1, 3, 30), (torch.nn.Tanh, torch.nn.Sigmoid, Wave)

    def layers():
        parts = []
        for place in range(depth):
            between = kinds[case.integer(f"hidden kind {place}", 0, 2)]
            parts += [torch.nn.Linear(sizes[place], sizes[place + 1]), between()]
        return torch.nn.Sequential(*parts[:-1]).double()

    data = case.tensor("hidden x", case.integer("hidden rows", 50, 200), sizes[0], dtype=torch.float64)
    return case.build("hidden net", layers), data[2:]


def saved_by(net, x):
    """A linear layer saves its input. Tanh and Sigmoid save their output, which is that input, and Wave its slopes as well."""
    number, value = x.untyped_storage().nbytes(), x
    for layer in net:
        value = layer(value)
        number += 0 if isinstance(layer, torch.nn.Linear) else value.nbytes * (2 if isinstance(layer, Wave) else 1)
    return number


class DeepNet(Check):
    """Of a deeper network, it counts what is saved, and backward works as usual."""

    blame = {"the number of bytes": "saved_bytes_copies"}  # of another tensor, whose memory a copied one has left free

    def probe(self, nb, case):
        net, x = deep_net(case)
        output, number = nb.function("saved_bytes")(net, x)
        output.sum().backward()
        return {"output": output, "the number of bytes": number, "gradients": [parameter.grad for parameter in net.parameters()]}

    def truth(self, case):
        net, x = deep_net(case)
        output = net(x)
        grads = torch.autograd.grad(output.sum(), list(net.parameters()))
        return {"output": output, "the number of bytes": saved_by(net, x), "gradients": list(grads)}


check("saved_tensors", DeepNet)

# %% freed
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from nbproof.checks.check import Check, check
from nbproof.values.compare import Matches
from course.traces import Storages
from course.truths import storages_left


COUNTED = Matches(lambda number: None if number > 0 else "not above 0", "a number above 0")


class FreesTheMemory(Check):
    """Saved tensors are no copies, and are freed with the output."""

    def build(self, case):
        def layers():
            linear = [torch.nn.Linear(4, 3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)]
            return torch.nn.Sequential(linear[0], torch.nn.Sigmoid(), linear[1], torch.nn.Tanh(), linear[2])

        return case.build("net", layers), case.tensor("x", case.integer("rows", 5, 9), 4)

    def probe(self, nb, case):
        (net, x), storages, watched = self.build(case), [], Storages(case)
        for place in ("1", "3"):
            layer = net.get_submodule(place)
            # A weak reference tells whether the memory is still there, and does not keep it there.
            layer.register_forward_hook(lambda m, args, output: storages.append(StorageWeakRef(output.untyped_storage())))
            layer.register_forward_hook(lambda m, args, output, place=place: watched.watch(output, place))
        results = nb.function("saved_bytes")(net, x)
        number, meanwhile = results[1], watched.left("while the output is there")
        given_up = sum(storage.expired() for storage in storages)
        del results
        return {
            "the number of bytes": number,
            "the number of layers that ran": len(storages),
            "the number of storages given up while the output is there": given_up,
            "the trace of memory while the output is there": meanwhile,
            "the number of storages still in memory": sum(not storage.expired() for storage in storages),
            "the trace of memory that is freed": watched.left("at the end"),
        }

    def truth(self, case):
        return {
            "the number of bytes": COUNTED,
            "the number of layers that ran": 2,
            "the number of storages given up while the output is there": 0,
            "the trace of memory while the output is there": storages_left(case, "while the output is there", there=["1", "3"]),
            "the number of storages still in memory": 0,
            "the trace of memory that is freed": storages_left(case, "at the end", freed=["1", "3"]),
        }

    blame = {
        "the number of storages still in memory": "saved_bytes_leak",
        "the number of layers that ran": "saved_bytes_runs_twice",
        "the number of storages given up while the output is there": "saved_bytes_copies",
    }


check("saved_tensors", FreesTheMemory)


# --- Hidden checks: graders run them, learners do not get them. ---
def deep_net(case):
    """Linear layers of drawn number and sizes with drawn operations between; and an input, a slice of more data."""
    depth = case.integer("hidden depth", 3, 5)
    sizes, kinds = case.shape("hidden sizes", depth + 1, 3, 30), (torch.nn.Tanh, torch.nn.Sigmoid, torch.nn.ReLU)

    def layers():
        parts = []
        for place in range(depth):
            between = kinds[case.integer(f"hidden kind {place}", 0, 2)]
            parts += [torch.nn.Linear(sizes[place], sizes[place + 1]), between()]
        return torch.nn.Sequential(*parts[:-1]).double()

    data = case.tensor("hidden x", case.integer("hidden rows", 50, 200), sizes[0], dtype=torch.float64)
    return case.build("hidden net", layers), data[2:]


class FreesADeepNet(Check):
    """A deeper network: what is saved stays while the output is there, and goes with it."""

    def probe(self, nb, case):
        (net, x), watched = deep_net(case), Storages(case)
        for number in range(1, len(net), 2):
            place = f"hidden place {number}"
            net[number].register_forward_hook(lambda m, args, output, place=place: watched.watch(output, place))
        results = nb.function("saved_bytes")(net, x)
        output, number = results[0].detach().clone(), results[1]
        meanwhile = watched.left("hidden: meanwhile")
        del results
        return {"the output": output, "the number of bytes": number, "memory": [meanwhile, watched.left("hidden: afterwards")]}

    def truth(self, case):
        net, x = deep_net(case)
        places = [f"hidden place {number}" for number in range(1, len(net), 2)]
        meanwhile = storages_left(case, "hidden: meanwhile", there=places)
        afterwards = storages_left(case, "hidden: afterwards", freed=places)
        return {"the output": net(x), "the number of bytes": COUNTED, "memory": [meanwhile, afterwards]}


check("saved_tensors", FreesADeepNet)
