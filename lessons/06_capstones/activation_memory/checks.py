import gc
from collections import OrderedDict

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.awkward import awkward_models
from course.probing import hook_counts
from course.storages import Storages
from course.traces import attributes_on, what_runs
from course.truths import ANYTHING, as_before, other_than, storages_left, such_that


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def in_full(tensors):
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


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


def more_than_none(got):
    return None if isinstance(got, (int, float)) and got > 0 else "0"


def keys_of_objects(got):
    return None if isinstance(got, dict) and any(key.endswith(")") for key in got) else "names"


def one_storage_each(saved, own):
    """Sizes layer by layer, each that of a single storage."""
    sizes = {}
    for layer, tensors in saved:
        for tensor in tensors:
            if address(tensor) not in own:
                sizes.setdefault(layer, set()).add(in_full([tensor]))

    def test(got):
        return None if all(size in sizes[layer] for layer, size in got.items()) else "something else"

    return Matches(test, "the size of one storage for each layer")


def wrong_totals(model, saved, own, outputs):
    """Hint id -> totals that this misconception would bring."""
    every = [tensor for _, tensors in saved for tensor in tensors]
    others = [tensor for tensor in every if address(tensor) not in own]
    starts = {parameter.data_ptr() for parameter in model.parameters()}
    shapes = {parameter.shape for parameter in model.parameters()}
    trained = {address(parameter) for parameter in model.parameters() if parameter.requires_grad}
    begin, total = torch.Tensor.data_ptr, in_full(once(others))

    def size(tensors):
        return sum(tensor.nbytes for tensor in tensors)

    def elements(tensors):
        return sum(tensor.untyped_storage().nbytes() // tensor.element_size() for tensor in tensors)

    def only(test):
        return [tensor for tensor in every if test(tensor)]

    no_start = only(lambda tensor: begin(tensor) not in starts)
    no_shape = only(lambda tensor: tensor.shape not in shapes)
    no_leaf = only(lambda tensor: not (tensor.is_leaf and tensor.requires_grad))
    not_trained = only(lambda tensor: address(tensor) not in trained)
    return {
        "memory_nothing_counted": [0],
        "memory_tensor_not_storage": [
            *(of(once(tensors, begin)) for of in (size, in_full) for tensors in (others, no_start)),
            size(once(others)),
        ],
        "memory_counts_twice": [size(others), in_full(others)],
        "memory_counts_all": [size(every), in_full(every)],
        "memory_counts_parameters": [in_full(once(some)) for some in (every, no_shape, no_leaf, not_trained)],
        "memory_counts_elements": [elements(once(others)), *(sum(map(torch.numel, some)) for some in (every, others))],
        "memory_four_bytes": [4 * elements(once(others)), 4 * sum(map(torch.numel, once(others)))],
        "memory_floats_only": [in_full(tensor for tensor in once(others) if tensor.is_floating_point())],
        "memory_leaves_out_input": [
            in_full(tensor for tensor in once(others) if tensor.requires_grad),
            in_full(tensor for tensor in once(others) if not (tensor.is_leaf and tensor.requires_grad)),
        ],
        "memory_by_shape": [of(once(others, lambda tensor: tensor.shape)) for of in (size, in_full)],
        "memory_counts_outputs": [size(outputs), size(outputs[1:])],
        "memory_unit": [total / 1024, total / 1024**2, total // 1024, total / 1000],
        "memory_last_only": [in_full([tensor]) for tensor in others],
    }


def wrong_layers(model, saved, own):
    """Hint id -> sizes layer by layer that this misconception would bring."""
    names = [name for name, _ in model.named_modules()]
    leaves = {name for name, module in model.named_modules() if not list(module.children())}
    class_of = {name: type(module).__name__ for name, module in model.named_modules()}
    sizes, in_model = layer_by_layer(saved, own), layer_by_layer(saved[:-1], own)

    def given_to(name):
        return layer_by_layer([(name(layer), tensors) for layer, tensors in saved], own)

    begun, not_left, running, cumulative, each = "", [], 0, {}, {}
    for layer, tensors in saved:
        begun = layer if layer in leaves else begun
        not_left.append((begun, tensors))
        for tensor in once(tensor for tensor in tensors if address(tensor) not in own):
            each[layer] = each.get(layer, 0) + in_full([tensor])
    for layer, size in sizes.items():
        cumulative[layer] = running = running + size
    with_children = {
        outer: sum(size for layer, size in in_model.items() if f"{layer}.".startswith(f"{outer}." if outer else ""))
        for outer in names
    }
    return {
        "memory_layers_missing": [{}],
        "memory_layer_outside_missing": [{layer: size for layer, size in sizes.items() if layer}],
        "memory_layer_not_left": [layer_by_layer(not_left, own)],
        "loop_variable": [given_to(lambda layer: names[-1]), given_to(lambda layer: names[-1] if layer else "")],
        "memory_layers_with_children": [
            with_children, with_children | {"": sum(sizes.values())}, with_children | {"": 0},
        ],
        "memory_layer_classes": [given_to(class_of.get), given_to(lambda layer: class_of[layer] if layer else "")],
        "memory_layer_short_names": [given_to(lambda layer: layer.rpartition(".")[2])],
        "memory_first_level": [given_to(lambda layer: layer.partition(".")[0])],
        "memory_outer_forgotten": [given_to(lambda layer: layer if layer in leaves else "")],
        "memory_outermost": [given_to(lambda layer: "")],
        "memory_layer_cumulative": [cumulative],
        "memory_layers_each": [each, layer_by_layer(saved)],
    }


class Tanh(nn.Tanh):
    """Saves more in training mode."""

    def forward(self, x):
        return super().forward(x).exp() if self.training else super().forward(x)


def plain_net(first, second, third):
    middle = nn.Linear(second, second)
    return nn.Sequential(nn.Linear(first, second), nn.ReLU(), middle, Tanh(), nn.Linear(second, third))


class OneForward(Check):
    """After a block with one forward, `bytes` and `by_layer` say what autograd has saved in it; backward works."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "memory_nothing_packed",
        r"(TypeError: .*(context manager protocol|not an iterator)|AttributeError: __e)": "tool_no_context",
        r"AttributeError: 'NoneType' object has no attribute '(bytes|by_layer)'": "tool_enter_returns_nothing",
        r"TypeError: .*saved_tensors_hooks\.__init__\(\) missing": "memory_two_hooks",
        r"AttributeError: '(?!ActivationMemory)\w+' object has no attribute '(bytes|by_layer)'": "memory_no_object",
        r"TypeError: .*(must be Tensor, not (str|NoneType|list|int)|expected Tensor)": "hook_replaces_output",
        r"(AttributeError: '(str|list|int)' object|TypeError: .*'str').*": "hook_replaces_output",
        r"IndexError: (pop from empty list|list index out of range)": "memory_stack_empty",
    }

    def given(self, case):
        first, second, third = case.shape("sizes", 3, 3, 9)
        return case.build("net", plain_net, first, second, third), case.tensor(
            "x", case.integer("samples", 10, 14), first
        )

    def loss(self, output):
        return output.pow(2).sum()

    def parts(self, model, x):
        """The forward in parts, each with the innermost module that is running."""
        for name, layer in model.named_children():
            x = layer(x)
            yield name, x
        yield "", self.loss(x)

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("ActivationMemory")(model) as memory:
            begins = getattr(memory, "bytes", None)
            loss = self.loss(model(x))
        counted, by_layer = memory.bytes, without_zeros(memory.by_layer)
        loss.backward()
        return {
            "memory.bytes": counted,
            "memory.by_layer": by_layer,
            "parameter.grad": [parameter.grad for parameter in model.parameters()],
            "memory.bytes, as the block begins": begins,
        }

    def counted(self, case):
        model, x = self.given(case)
        return layer_by_layer(saved_in(self.parts(model, x)), {address(parameter) for parameter in model.parameters()})

    def truth(self, case):
        model, x = self.given(case)
        by_layer, trained = self.counted(case), [one for one in model.parameters() if one.requires_grad]
        gradient_of = dict(zip(trained, torch.autograd.grad(self.loss(model(x)), trained)))
        return {
            "memory.bytes": AnyOf(sum(by_layer.values()), float(sum(by_layer.values()))),
            "memory.by_layer": AnyOf(by_layer, {layer: float(size) for layer, size in by_layer.items()}),
            "parameter.grad": [gradient_of.get(parameter) for parameter in model.parameters()],
            "memory.bytes, as the block begins": ANYTHING,
        }

    def mistakes(self, case):
        model, x = self.given(case)
        parts = list(self.parts(model, x))
        outputs, saved = [tensor for layer, tensor in parts if layer], saved_in(parts)
        own = {address(parameter) for parameter in model.parameters()}
        totals, layers = wrong_totals(model, saved, own, [x, *outputs]), wrong_layers(model, saved, own)
        named = {hint: {"memory.by_layer": AnyOf(*map(without_zeros, values))} for hint, values in layers.items()}
        outside = "memory_layer_outside_missing"
        return {
            **{hint: {"memory.bytes": AnyOf(*values)} for hint, values in totals.items()},
            "tool_shared_results": {"memory.bytes, as the block begins": Matches(more_than_none, "more than 0")},
            outside: named[outside],
            "memory_bytes_times_size": {"memory.bytes": x.element_size() * sum(self.counted(case).values())},
            "memory_by_id": {"memory.bytes": such_that(lambda got: 0 < got < sum(self.counted(case).values()))},
            **named,
            "memory_layer_objects": {"memory.by_layer": Matches(keys_of_objects, "objects as keys")},
            "memory_layer_replaced": {"memory.by_layer": one_storage_each(saved, own)},
            "memory_other_tensor": {"parameter.grad": other_than(OneForward.truth(self, case)["parameter.grad"])},
        }


class BlockAfterBlock(OneForward):
    """A second block counts from 0; nothing is counted outside of the blocks, no hook and no attribute stays, also after an error."""

    blame = {"the error in the block": "tool_swallows_error", "the trace of all attributes": "tool_attributes_left"}

    def with_hooks_of_others(self, case):
        model, x = self.given(case)
        for module in model.modules():
            module.register_forward_hook(lambda module, args, output: None)
            module.register_forward_pre_hook(lambda module, args: None)
        return model, x

    def probe(self, nb, case):
        model, x = self.with_hooks_of_others(case)
        with nb.function("ActivationMemory")(model) as one:
            kept = self.loss(model(x))
            self.join(model)
        first, hooks = one.bytes, hook_counts(model)
        kept.backward()
        self.loss(model(x + 1))
        outside = one.bytes
        with nb.function("ActivationMemory")(model) as two:
            kept = self.loss(model(x))
        second = two.bytes
        del kept
        brought = {
            "bytes of the first block": first,
            "bytes of the first block, after a forward outside": outside,
            "bytes of the second block": second,
            "bytes of the first block, after the second": one.bytes,
            "hooks on the model after a block": hooks,
            "the error in the block": None,
            "what runs after a block": self.runs(case, model, x),
        }
        try:
            with nb.function("ActivationMemory")(model) as three:
                kept = self.loss(model(x))
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        self.loss(model(x + 1))
        del kept
        return {
            **brought,
            "bytes of a block that ended with an error, after a forward outside": three.bytes,
            "hooks on the model after a block with an error": hook_counts(model),
            "what runs after a block with an error": self.runs(case, model, x),
            "the trace of all attributes": attributes_on(model, case),
        }

    def join(self, model):
        """Somebody else registers hooks in the block."""
        model[0].register_forward_hook(lambda module, args, output: None)
        model[2].register_forward_pre_hook(lambda module, args: None)

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: self.loss(model(x)).backward())

    def truth(self, case):
        model, x = self.with_hooks_of_others(case)
        self.join(model)
        counted, hooks = sum(self.counted(case).values()), hook_counts(model)
        runs = as_before(self.runs(case, model, x))
        return {
            "bytes of the first block": counted,
            "bytes of the first block, after a forward outside": counted,
            "bytes of the second block": counted,
            "bytes of the first block, after the second": counted,
            "hooks on the model after a block": hooks,
            "the error in the block": case.words("error", 1)[0],
            "bytes of a block that ended with an error, after a forward outside": counted,
            "hooks on the model after a block with an error": hooks,
            "what runs after a block": runs,
            "what runs after a block with an error": runs,
            "the trace of all attributes": attributes_on(model, case),
        }

    def mistakes(self, case):
        first, outside, second, again, after, _, error, after_error, *_ = wanted = self.truth(case)
        counted, hooks = wanted[first], wanted[after]

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "memory_counts_outside": {first: counted, outside: other_than(counted)},
            "tool_shared_results": AnyOf({second: other_than(counted)}, {again: other_than(counted)}),
            "removes_other_hooks": {after: Matches(fewer, "fewer")},
            "tool_hooks_left": {after: Matches(more, "more")},
            "tool_not_after_error": AnyOf({error: other_than(counted)}, {after_error: Matches(more, "more")}),
        }


def pooling_net(first, second):
    pooled = nn.Conv1d(first, second, 3), nn.Tanh(), nn.MaxPool1d(2), nn.Flatten()
    return nn.Sequential(*pooled, nn.Linear(second * 3, 2))


class OtherTypes(OneForward):
    """A model in float64, with a max-pooling layer, which saves int64 indices, a frozen last layer, and an input that gets a gradient."""

    def given(self, case):
        first, second = case.shape("channels", 2, 3, 6)
        model = case.build("net", pooling_net, first, second).double()
        model[-1].requires_grad_(False)
        return model, case.tensor("x", 5, first, 8, dtype=torch.float64, requires_grad=True)


class Attention(nn.Module):
    """Queries, keys, values and a shift are slices of one tensor; the scale is a slice of a parameter."""

    def __init__(self, size, width):
        super().__init__()
        self.qkv = nn.Linear(size, 4 * width, bias=False)
        self.scale = nn.Parameter(torch.rand(2 * width) + 0.5)

    def forward(self, x):
        return self.mixed(self.qkv(x))

    def mixed(self, slices):
        query, key, value, shift = slices.chunk(4, -1)
        weights = torch.softmax(query @ key.mT, -1)
        return (weights @ value + shift) * self.scale[len(self.scale) // 2 :]


class SlicesOfStorages(OneForward):
    """Saved slices of one tensor, and of a parameter: their storages count once and in full, or not at all."""

    def given(self, case):
        model = case.build("net", Attention, *case.shape("sizes", 2, 3, 6))
        return model, case.tensor("x", 4, 7, model.qkv.in_features)

    def loss(self, output):
        return output.sum()

    def parts(self, model, x):
        slices = model.qkv(x)
        yield "qkv", slices
        yield "", self.loss(model.mixed(slices))


class Gate(nn.Module):
    """Two branches, one of them in a list that never runs itself, and a product of its own."""

    def __init__(self, size, left, right):
        super().__init__()
        self.names = (left, right)
        self.add_module(left, nn.Linear(size, size))
        self.add_module(right, nn.ModuleList([nn.Sequential(nn.Linear(size, size), nn.Tanh())]))

    def forward(self, x):
        left, right = (getattr(self, name) for name in self.names)
        return left(x) * right[0](x)


class GatedNet(nn.Module):
    """A Linear layer, one gate that is used twice, and an operation of its own."""

    def __init__(self, first, gate, left, right, inputs, size):
        super().__init__()
        self.names = (first, gate)
        self.add_module(first, nn.Linear(inputs, size))
        self.add_module(gate, Gate(size, left, right))

    def forward(self, x):
        first, gate = (getattr(self, name) for name in self.names)
        return gate(gate(first(x))).exp()


class NestedModules(OneForward):
    """Modules in modules: what a module saves itself, after its parts, counts for it; a reused layer's calls add up."""

    def given(self, case):
        model = case.build("net", GatedNet, *case.words("names", 4), *case.shape("sizes", 2, 3, 8))
        return model, case.tensor("x", case.integer("samples", 10, 14), getattr(model, model.names[0]).in_features)

    def parts(self, model, x):
        first, gate = model.names
        left, right = (f"{gate}.{name}" for name in getattr(model, gate).names)
        x = model.get_submodule(first)(x)
        yield first, x
        for _ in range(2):
            one = model.get_submodule(left)(x)
            yield left, one
            other = model.get_submodule(f"{right}.0.0")(x)
            yield f"{right}.0.0", other
            other = model.get_submodule(f"{right}.0.1")(other)
            yield f"{right}.0.1", other
            x = one * other
            yield gate, x
        yield "", self.loss(x.exp())

    def mistakes(self, case):
        model, _ = self.given(case)
        gate = model.names[1]
        container = f"{gate}.{getattr(model, gate).names[1]}"
        by_name = such_that(lambda got: container in got and f"{container}.0" not in got)
        return {**super().mistakes(case), "memory_parent_by_name": {"memory.by_layer": by_name}}


class AnyModel(OneForward):
    """On models of other kinds: the bytes, all of them in some layer, and the same gradients."""

    claims = ("bytes by layer in a model with one layer under two names",)

    def models(self, case):
        return awkward_models(
            case, "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes",
            "none_place", "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
        )

    def probe(self, nb, case):
        brought = {}
        for says, (model, x) in self.models(case).items():
            with nb.function("ActivationMemory")(model) as memory:
                loss = self.loss(model(x))
            by_layer = memory.by_layer.values() if isinstance(memory.by_layer, dict) else ()
            brought[f"bytes in {says}"] = int(memory.bytes)
            brought[f"bytes of all layers in {says}"] = int(sum(by_layer))
            if "two names" in says:
                brought[f"bytes by layer in {says}"] = without_zeros(memory.by_layer)
            loss.backward()
            brought[f"gradients in {says}"] = [parameter.grad for parameter in model.parameters()]
        return brought

    def truth(self, case):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            loss = self.loss(model(x))
            own = {address(parameter) for parameter in model.parameters()}
            (size,) = layer_by_layer(saved_in([("", loss)]), own).values()
            wanted |= {f"bytes in {says}": size, f"bytes of all layers in {says}": size}
            if "two names" in says:
                names = ["first", "relu", "body.0", "relu", "first", "head"]
                wanted[f"bytes by layer in {says}"] = layer_by_layer(saved_in(self.walk(model, x, names)), own)
            loss.backward()
            wanted[f"gradients in {says}"] = [parameter.grad for parameter in model.parameters()]
        return wanted

    def walk(self, model, x, names):
        for name in names:
            x = model.get_submodule(name)(x)
            yield name, x
        yield "", self.loss(x)

    def mistakes(self, case):
        by_layer = "bytes by layer in a model with one layer under two names"
        return {"memory_second_name": {by_layer: such_that(lambda got: {"body.1", "body.2"} & set(got))}}


class KeepsNothingAlive(OneForward):
    """Once the graph is gone, the saved tensors are gone too, though the tool is still there."""

    def probe(self, nb, case):
        model, x = self.given(case)
        net = nn.Sequential(model[0], nn.Tanh(), model[2], nn.Softplus())
        storage_of, watched = {}, Storages(case)
        for name in ("1", "2"):
            net.get_submodule(name).register_forward_hook(
                lambda module, args, output: storage_of.update({module: StorageWeakRef(output.untyped_storage())})
            )
            net.get_submodule(name).register_forward_hook(
                lambda module, args, output, name=name: watched.watch(output, name)
            )
        with nb.function("ActivationMemory")(net) as memory:
            loss = net(x).sum()

        def in_memory():
            return [type(module).__name__ for module, storage in storage_of.items() if not storage.expired()]

        before, there = in_memory(), watched.left("while the graph is there")
        del loss
        if in_memory():
            gc.collect()
        return {
            "saved outputs, while the graph is there": before,
            "saved outputs, when the graph is gone": in_memory(),
            "the tool": None if memory is None else "still there",
            "the trace of memory, while the graph is there": there,
            "the trace of memory, when the graph is gone": watched.left("when the graph is gone"),
        }

    def truth(self, case):
        return {
            "saved outputs, while the graph is there": ["Tanh", "Linear"],
            "saved outputs, when the graph is gone": [],
            "the tool": "still there",
            "the trace of memory, while the graph is there": storages_left(
                case, "while the graph is there", there=["1", "2"]
            ),
            "the trace of memory, when the graph is gone": storages_left(
                case, "when the graph is gone", freed=["1", "2"]
            ),
        }

    def mistakes(self, case):
        return {
            "memory_copies": {"saved outputs, while the graph is there": []},
            "memory_circle": {"saved outputs, when the graph is gone": ["Tanh"]},
            "memory_keeps_tensors": {"saved outputs, when the graph is gone": ["Tanh", "Linear"]},
        }


check("activation_memory", OneForward, BlockAfterBlock, KeepsNothingAlive, OtherTypes, SlicesOfStorages, NestedModules, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Wing(nn.Module):
    """A layer, an activation, and a product of its own."""

    def __init__(self, bone, skin, inputs, size):
        super().__init__()
        self.names = (bone, skin)
        self.add_module(bone, nn.Linear(inputs, size))
        self.add_module(skin, nn.Sigmoid())

    def forward(self, x):
        bone, skin = (getattr(self, name) for name in self.names)
        x = bone(x)
        return skin(x) * x.exp()


class InFlight(Check):
    """`bytes` and `by_layer` say what autograd has saved for backward in the block, and where."""

    def bird(self, case):
        names, sizes = case.words("bird", 4), [case.integer(f"size {number}", 3, 19) for number in range(3)]

        def build():
            return nn.Sequential(OrderedDict({names[0]: Wing(*names[2:], *sizes[:2]), names[1]: nn.Linear(*sizes[1:])}))

        return case.build("a bird", build), case.integer("flights", 5, 17), names, sizes

    def probe(self, nb, case):
        model, flights, _, sizes = self.bird(case)
        with nb.function("ActivationMemory")(model) as memory:
            loss = model(case.tensor("air", flights, sizes[0])).square().sum()
        loss.backward()
        return {"memory.bytes": memory.bytes, "memory.by_layer": without_zeros(memory.by_layer)}

    def truth(self, case):
        _, flights, (wing, tail, bone, skin), sizes = self.bird(case)
        given, inside, put_out = (4 * flights * size for size in sizes)
        # A linear layer saves its input, a sigmoid and exp their results, a product its factors, a square what is squared.
        by_layer = {f"{wing}.{bone}": given, f"{wing}.{skin}": inside, wing: inside, tail: inside, "": put_out}
        return {
            "memory.bytes": AnyOf(sum(by_layer.values()), float(sum(by_layer.values()))),
            "memory.by_layer": AnyOf(by_layer, {layer: float(size) for layer, size in by_layer.items()}),
        }


check("activation_memory", InFlight)
