import gc
from contextlib import suppress

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import error_out_of, hook_counts
from course.traces import Storages, what_runs
from course.truths import as_before, other_than, storages_left, such_that


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def in_full(tensors):
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


def in_bytes(tensors):
    return sum(tensor.nbytes for tensor in tensors)


def once(tensors, key=address):
    """The first tensor of each storage."""
    return list({key(tensor): tensor for tensor in reversed(list(tensors))}.values())


def saved_in(parts):
    """Truth: what each part of a hook-free forward has saved, read from the graph: a list of (layer, tensors)."""
    visited, found = set(), []
    for layer, tensor in parts:
        left, saved = [tensor.grad_fn], []
        while left:
            node = left.pop()
            if node is not None and node not in visited:
                visited.add(node)
                left += [edge for edge, _ in node.next_functions]
                values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
                saved += [value for value in values if isinstance(value, torch.Tensor)]
        found.append((layer, saved))
    return found


def layer_by_layer(saved, skip=()):
    """Bytes of each layer: storages that no layer before has saved, without those at the addresses to skip."""
    seen, sizes = set(skip), {}
    for layer, tensors in saved:
        new = [tensor for tensor in once(tensors) if address(tensor) not in seen]
        seen |= {address(tensor) for tensor in new}
        sizes[layer] = sizes.get(layer, 0) + in_full(new)
    return without_zeros(sizes)


def without_zeros(sizes):
    return {layer: size for layer, size in sizes.items() if size} if isinstance(sizes, dict) else sizes


def wrong_totals(saved, own, buffers):
    """Hint id -> totals that this misconception would bring; below, sizes layer by layer."""
    every = [tensor for _, tensors in saved for tensor in tensors]
    others = [tensor for tensor in every if address(tensor) not in own]
    with_frozen = in_full(one for one in once(every) if address(one) not in own or not one.requires_grad)
    return {
        "memory_nothing_counted": [0], "memory_last_only": [in_full([tensor]) for tensor in others],
        "memory_tensor_not_storage": [in_bytes(once(others)), *(of(once(others, torch.Tensor.data_ptr)) for of in (in_bytes, in_full))],
        "memory_counts_twice": [in_bytes(others), in_full(others)], "memory_counts_all": [in_bytes(every), in_full(every)],
        "memory_counts_elements": [in_full(once(others)) // 4, in_full(once(others)) / 1024, *(sum(map(torch.numel, some)) for some in (every, others))],
        "memory_counts_parameters": [in_full(once(every)), with_frozen],
        "memory_leaves_out_buffers": [in_full(one for one in once(others) if address(one) not in buffers)],
        "memory_leaves_out_input": [in_full(tensor for tensor in once(others) if tensor.requires_grad)],
    }


def whole_storages(sizes, saved):
    """Whether each layer has counted some of the tensors that it has saved, each in full."""
    possible = {layer: {0} for layer, _ in saved}
    for layer, tensors in saved:
        for tensor in tensors:
            possible[layer] |= {size + in_full([tensor]) for size in possible[layer]}
    return all(size in possible[layer] for layer, size in sizes.items())


def sizes_of_outputs(model, x):
    """Bytes of what all modules return, and of what those without children return."""
    found = []
    for module in model.modules():
        module.register_forward_hook(lambda module, args, output: found.append((output.nbytes, not [*module.children()])))
    model(x)
    return [sum(size for size, _ in found), sum(size for size, leaf in found if leaf)]


def wrong_layers(model, saved, own):
    leaves = {name for name, module in model.named_modules() if not list(module.children())}
    class_of = {name: type(module).__name__ for name, module in model.named_modules()}
    sizes, in_model = layer_by_layer(saved, own), layer_by_layer(saved[:-1], own)
    def given_to(name):
        return layer_by_layer([(name(layer), tensors) for layer, tensors in saved], own)
    begun, not_left = "", []
    for layer, tensors in saved:
        begun = layer if layer in leaves else begun
        not_left.append((begun, tensors))
    inside = {outer: [layer for layer in in_model if f"{layer}.".startswith(f"{outer}." if outer else "")] for outer in class_of}
    with_children = {outer: sum(in_model[layer] for layer in layers) for outer, layers in inside.items()}
    return {
        "memory_layers_missing": [{}], "memory_layer_outside_missing": [such_that(lambda got: "" not in got and all(got[layer] == sizes[layer] for layer in sizes if layer))],
        "memory_layer_not_left": [layer_by_layer(not_left, own)], "memory_outermost": [given_to(lambda layer: "")],
        "loop_variable": [given_to(lambda layer: [*class_of][-1]), given_to(lambda layer: [*class_of][-1] if layer else "")],
        "memory_layers_with_children": [such_that(lambda got: got | {"": 0} == without_zeros(with_children) | {"": 0})],
        "memory_layer_last": [layer_by_layer(saved[::-1], own)],
        "memory_layer_classes": [given_to(class_of.get), given_to(lambda layer: class_of[layer] if layer else "")],
        "memory_layer_short_names": [given_to(lambda layer: layer.rpartition(".")[2])], "memory_first_level": [given_to(lambda layer: layer.partition(".")[0])],
        "memory_outer_forgotten": [given_to(lambda layer: layer if layer in leaves else "")],
    }


class Wing(nn.Module):
    """A layer whose result is cut in three, two of which are saved apart, and a product of its own, with a buffer in it."""

    def __init__(self, size):
        super().__init__()
        self.bone, self.skin, self.lift = nn.Linear(size, 3 * size), nn.SiLU(), nn.Buffer(torch.rand(size) + 0.5)

    def forward(self, x):
        one, other, _ = self.bone(x).chunk(3, 1)
        return one * self.skin(other) * self.lift


class Bird(nn.Module):
    """Wings, which it moves in an order in which some come twice, and a tail."""

    def __init__(self, names, size, out, route):
        super().__init__()
        self.tail, *wings = names
        self.route = [wings[number] for number in route]
        for name in sorted(names):
            self.add_module(name, nn.Linear(size, out) if name == self.tail else Wing(size))

    def forward(self, x):
        for wing in self.route:
            x = getattr(self, wing)(x)
        return getattr(self, self.tail)(x)


def bird(case, name):
    """A model, and its input. Its tail has a hook of somebody else, and is frozen: it saves its weight, not its input."""
    wings, size, out = case.integer(f"{name}: wings", 2, 4), case.integer(f"{name}: size", 3, 9), case.integer(f"{name}: out", 3, 9)
    route = case.shuffled(f"{name}: route", [*range(wings), case.integer(f"{name}: twice", 0, wings - 1)])
    model = case.build(name, Bird, case.words(f"{name}: names", wings + 1), size, out, route)
    getattr(model, model.tail).requires_grad_(False).register_forward_hook(lambda module, args, output: None)
    return model, case.tensor(f"{name}: air", case.integer(f"{name}: flights", 5, 17), size)


class OneForward(Check):
    """`bytes` and `by_layer` say what autograd has saved, and backward brings the same gradients."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "memory_nothing_packed",
        r"AttributeError: 'NoneType' object has no attribute '(bytes|by_layer)'": "tool_enter_returns_nothing",
        r"(TypeError: .*(must be Tensor, not |expected Tensor)|AttributeError: 'str' object has no attribute '(chunk|square)')": "hook_replaces_output",
    }

    def parts(self, model, x):
        for wing in model.route:
            one, other, _ = getattr(model, wing).bone(x).chunk(3, 1)
            yield f"{wing}.bone", one
            other = getattr(model, wing).skin(other)
            yield f"{wing}.skin", other
            x = one * other * getattr(model, wing).lift
            yield wing, x
        x = getattr(model, model.tail)(x)
        yield model.tail, x
        yield "", x.square().sum()

    def probe(self, nb, case):
        model, x = bird(case, "a bird")
        with nb.function("ActivationMemory")(model) as memory:
            loss = model(x).square().sum()
        found = {"memory.bytes": memory.bytes, "memory.by_layer": without_zeros(memory.by_layer)}
        loss.backward()
        return {**found, "parameter.grad": [parameter.grad for parameter in model.parameters()]}

    def counted(self, case):
        model, x = bird(case, "a bird")
        return layer_by_layer(saved_in(self.parts(model, x)), {address(parameter) for parameter in model.parameters()})

    def truth(self, case):
        model, x = bird(case, "a bird")
        model(x).square().sum().backward()
        by_layer = self.counted(case)
        return {
            "memory.bytes": AnyOf(sum(by_layer.values()), float(sum(by_layer.values()))),
            "memory.by_layer": AnyOf(by_layer, {layer: float(size) for layer, size in by_layer.items()}),
            "parameter.grad": [parameter.grad for parameter in model.parameters()],
        }

    def mistakes(self, case):
        model, x = bird(case, "a bird")
        saved = saved_in(list(self.parts(model, x)))
        own = {address(parameter) for parameter in model.parameters()}
        named = {hint: {"memory.by_layer": AnyOf(*map(without_zeros, some))} for hint, some in wrong_layers(model, saved, own).items()}
        whole = self.counted(case)

        def by_id(got):
            total, layers = got["memory.bytes"], got["memory.by_layer"]
            return total == sum(layers.values()) != sum(whole.values()) and whole_storages(layers, saved)

        return {
            "memory_layer_outside_missing": named["memory_layer_outside_missing"],
            "memory_counts_outputs": {"memory.bytes": AnyOf(*sizes_of_outputs(*bird(case, "a bird")))},
            **{hint: {"memory.bytes": AnyOf(*values)} for hint, values in wrong_totals(saved, own, set(map(address, model.buffers()))).items()},
            **named, "memory_by_id": such_that(by_id),
            "memory_layer_replaced": {"memory.by_layer": such_that(lambda got: all(got[one] <= size for one, size in whole.items()) and whole_storages(got, saved))},
            "memory_other_tensor": {"parameter.grad": other_than(OneForward.truth(self, case)["parameter.grad"])},
        }


class BlockAfterBlock(OneForward):
    """After the block nothing is counted, and its hooks are gone, even after an error."""

    def probe(self, nb, case):
        (model, x), tool = bird(case, "a bird"), nb.function("ActivationMemory")
        with tool(model) as memory:
            kept = model(x).square().sum()
        model(x + 1)
        brought = {"memory.bytes, after a forward outside": int(memory.bytes), "hook count afterwards": hook_counts(model)}
        brought["the error that comes out"] = error_out_of(tool(model), *case.words("error", 1))
        with suppress(ArithmeticError), tool(model) as broken:
            raise ArithmeticError
        model(x + 2)
        brought["memory.bytes, after an error and a forward outside"] = int(broken.bytes)
        kept.backward()
        runs = what_runs(model, case, lambda: model(x).square().sum().backward())
        return {**brought, "hook count after an error": hook_counts(model), "what runs after an error": runs}

    def truth(self, case):
        (model, x), size = bird(case, "a bird"), sum(self.counted(case).values())
        return {
            "memory.bytes, after a forward outside": size, "memory.bytes, after an error and a forward outside": 0, "hook count afterwards": hook_counts(model),
            "hook count after an error": hook_counts(model), "the error that comes out": case.words("error", 1)[0],
            "what runs after an error": as_before(what_runs(model, case, lambda: model(x).square().sum().backward())),
        }

    def mistakes(self, case):
        hooks, size = hook_counts(bird(case, "a bird")[0]), sum(self.counted(case).values())
        more = Matches(lambda got: None if sum(got.values()) > 1 else "no", "more hooks")
        return {
            "memory_counts_outside": {"memory.bytes, after a forward outside": such_that(lambda got: got > size)},
            "removes_other_hooks": {"hook count afterwards": {kind: 0 for kind in hooks}}, "tool_hooks_left": {"hook count afterwards": more},
            "tool_not_after_error": AnyOf({"hook count afterwards": hooks, "hook count after an error": more}, {"memory.bytes, after an error and a forward outside": such_that(lambda got: got > 0)}),
            "feat_error_swallowed": {"the error that comes out": "nothing"},
        }


class KeepsNothingAlive(OneForward):
    """Once the graph is gone, the saved tensors are gone too, and none is a copy."""

    def probe(self, nb, case):
        net, storages, watched = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Softplus()), {}, Storages(case)

        def look(module, args, output):
            name = "1" if isinstance(module, nn.Tanh) else "2"
            storages[name] = StorageWeakRef(output.untyped_storage())
            watched.watch(output, name)

        for layer in net[1:3]:
            layer.register_forward_hook(look)
        with nb.function("ActivationMemory")(net) as net.memory:  # the net keeps it
            loss = net(case.tensor("x", 5, 4)).sum()
        before, there = [name for name, storage in storages.items() if not storage.expired()], watched.left("while the graph is there")
        loss = loss.backward(retain_graph=True)  # whoever has packed nothing hears of it; then the graph goes
        left = [name for name, storage in storages.items() if not storage.expired() and gc.collect() >= 0 and not storage.expired()]
        return {
            "the list of tensors in memory, while the graph is there": before, "the trace of memory, while the graph is there": there, "the list of tensors in memory, when the graph is gone": left,
            "the trace of memory, when the graph is gone": watched.left("when the graph is gone"),
        }

    def truth(self, case):
        there, gone = "while the graph is there", "when the graph is gone"
        return {
            "the list of tensors in memory, while the graph is there": ["1", "2"], "the list of tensors in memory, when the graph is gone": [],
            f"the trace of memory, {there}": storages_left(case, there, there=["1", "2"]),
            f"the trace of memory, {gone}": storages_left(case, gone, freed=["1", "2"]),
        }

    def mistakes(self, case):
        gone = "the list of tensors in memory, when the graph is gone"
        return {"memory_copies": {"the list of tensors in memory, while the graph is there": []}, "memory_circle": {gone: ["1"]}, "memory_keeps_tensors": {gone: ["1", "2"]}}


check("activation_memory", KeepsNothingAlive, OneForward, BlockAfterBlock)  # a copy would spoil what is counted


# --- Hidden checks: graders run them, learners do not get them. ---
class InTheAir(Check):
    """`bytes` and `by_layer` say what autograd has saved for backward in the block, and where."""

    def probe(self, nb, case):
        (model, air), tool = bird(case, "a hidden bird"), nb.function("ActivationMemory")
        with tool(model) as memory:
            loss = model(air).square().sum()
        loss.backward()
        model(air + 1)
        found = {"memory.bytes": int(memory.bytes), "memory.by_layer": without_zeros(memory.by_layer)}
        grads = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
        del loss
        with suppress(ArithmeticError), tool(model):
            raise ArithmeticError("landed")
        return {**found, "gradients": grads, "what runs afterwards": what_runs(model, case, lambda: model(air).sum().backward())}

    def truth(self, case):
        model, air = bird(case, "a hidden bird")
        flight, output, by_layer = 4 * air.numel(), model(air), {wing: 4 * air.shape[1] for wing in model.route}
        # A linear layer and a SiLU save their input, here a third of a storage, a product its factors: another third, a buffer.
        for wing in model.route:
            for layer, times in ((f"{wing}.bone", 1), (f"{wing}.skin", 3), (wing, 1)):
                by_layer[layer] = by_layer.get(layer, 0) + times * flight
        by_layer |= {"": 4 * output.numel()}
        trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        return {
            "gradients": dict(zip(trained, torch.autograd.grad(output.square().sum(), list(trained.values())))), "memory.bytes": sum(by_layer.values()),
            "memory.by_layer": AnyOf(by_layer, {layer: float(size) for layer, size in by_layer.items()}),
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(air).sum().backward())),
        }


check("activation_memory", InTheAir)
