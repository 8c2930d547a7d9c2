# nothing to break: The numbers of a shape stand in their order, with commas or an `x` between them.
# nothing to break: Every child in the tests runs once a call and returns one tensor, and no model raises an error or gets another child later.
# nothing to break: The order of the lines, the notation of the shape and other words on the line are up to you
# nothing to break: You may print the input's shape as well.

# %% all_modules
# misconception: hooks on every module of the tree | hint: children_or_modules
# breaks: one line for each **direct child** of the model
# edits: name_on_the_layer
-        for name, layer in model.named_children():
-            layer.__name__ = name
-            layer.register_forward_hook(lambda layer, _, output: print(f"new --->: {layer.__name__}: {output.shape}"))
+        for name, layer in model.named_modules():
+            layer.register_forward_hook(partial(self.tell, name))
+
+    @staticmethod
+    def tell(name, module, args, output):
+        print(f"{name}: {tuple(output.shape)}")

# %% children_in_a_row
# misconception: runs the children one after another | hint: children_in_a_row
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        pass

    def forward(self, x):
        for name, layer in self.model.named_children():
            x = layer(x)
            print(name, tuple(x.shape))
        return x

# %% class_name
# misconception: the class's name for the child's name | hint: class_or_name
# edits: name_on_the_layer
-        for name, layer in model.named_children():
-            layer.__name__ = name
-            layer.register_forward_hook(lambda layer, _, output: print(f"new --->: {layer.__name__}: {output.shape}"))
+        for layer in model.children():
+            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))

# %% convolutions_only
# misconception: hooks on some children only | hint: children_missing
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            if isinstance(layer, nn.Conv2d):
                layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        return self.model(x)

# %% forgets_return
# misconception: forward returns None | hint: returns_nothing
# breaks: returns what the model returns.
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        self.model(x)

# %% hook_returns_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: convolutions_only
-            if isinstance(layer, nn.Conv2d):
-                layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
+            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))

# %% hooks_a_copy
# misconception: the hooks hang on a copy that never runs | hint: nothing_printed
import copy


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.watched = copy.deepcopy(model)
        for name, layer in self.watched.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        return self.model(x)

# %% hooks_on_model
# misconception: one hook on the whole model | hint: one_hook_for_all
# edits: hook_returns_tuple
-        for name, layer in model.named_children():
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+        model.register_forward_hook(
+            lambda module, args, output: print([(n, output.shape) for n, _ in module.named_children()])
+        )

# %% input_shape
# misconception: prints the input's shape | hint: input_or_output
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, args[0].shape))

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output: print(f"{name}: {tuple(output.shape)}"))

# %% leaves_only
# misconception: hooks on the leaves instead of the direct children | hint: children_or_modules
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(partial(self.tell, name))

    @staticmethod
    def tell(name, module, args, output):
        print(f"{name}: {tuple(output.shape)}")

    def forward(self, x):
        return self.model(x)

# %% name_on_the_class
# misconception: the name is stored on the layer's class | hint: name_on_the_class
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            type(layer).label = name
+            layer.register_forward_hook(lambda module, args, output: print(type(module).label, output.shape))

# %% name_only
# misconception: prints no shape | hint: line_without_shape
# breaks: the shape of the child's output
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, "has run"))

# %% names_in_a_global
# misconception: the names live in one variable for all objects | hint: shared_state
# breaks: Two of them, on two models that share no layer, do not disturb each other.
names = []


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        names[:] = dict(model.named_children())
        for index, layer in enumerate(model.children()):
            layer.register_forward_hook(lambda module, args, output, index=index: print(names[index], output.shape))

    def forward(self, x):
        return self.model(x)

# %% prints_a_heading
# misconception: a heading besides the children's lines | hint: extra_lines
# breaks: and nothing else
# edits: forgets_return
-        self.model(x)
+        print("shapes:")
+        return self.model(x)

# %% prints_layers_at_build
# misconception: prints the parameters' shapes while building | hint: prints_while_building
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            print(name, [tuple(parameter.shape) for parameter in layer.parameters()])

# %% registered_twice
# misconception: each hook is registered twice | hint: prints_again
# edits: convolutions_only
-        for name, layer in model.named_children():
-            if isinstance(layer, nn.Conv2d):
+        for _ in range(2):
+            for name, layer in model.named_children():

# %% registers_in_forward
# misconception: new hooks at each call, never removed | hint: hooks_pile_up
# edits: children_in_a_row
-            x = layer(x)
-            print(name, tuple(x.shape))
-        return x
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
+        return self.model(x)

# %% removed_after_first_call
# misconception: the hooks are gone after the first call | hint: silent_afterwards
# breaks: Each call prints its own lines.
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.handles = []
        for name, layer in model.named_children():
            hook = lambda module, args, output, name=name: print(name, output.shape)
            self.handles.append(layer.register_forward_hook(hook))

    def forward(self, x):
        output = self.model(x)
        for handle in self.handles:
            handle.remove()
        return output

# %% shape_only
# misconception: prints no name | hint: line_without_name
# breaks: The line gives the child's name
# edits: hook_returns_tuple
-        for name, layer in model.named_children():
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+        for layer in model.children():
+            layer.register_forward_hook(lambda module, args, output: print(output.shape))

# %% shapes_kept_from_first_call
# misconception: the shapes of the first call are printed again | hint: stale_result
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.shapes = {}
        for name, layer in model.named_children():
            layer.register_forward_hook(
                lambda m, a, output, name=name: self.shapes.setdefault(name, output.shape) and None
            )

    def forward(self, x):
        output = self.model(x)
        for name, shape in self.shapes.items():
            print(name, shape)
        return output

# %% swapped_arguments
# misconception: input and output in the wrong places | hint: input_or_output
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, output, args, name=name: print(name, output[0].shape))

# %% trial_run_at_build
# misconception: tries the hooks while building | hint: prints_while_building
# breaks: Building it prints nothing.
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
+        model(torch.ones(1, 3, 32, 32))

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, output: print(name, output.shape))

# %% typed_in_names
# misconception: the names of ResNet-18, typed in | hint: typed_in_names
# breaks: a module that wraps any model
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name in "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc".split():
            getattr(model, name).register_forward_hook(partial(self.tell, name))

    def tell(self, name, module, args, output):
        print(name, output.shape)

    def forward(self, x):
        return self.model(x)

# %% without_batch
# misconception: the shape without the batch | hint: one_sample
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output[0].shape))

# %% name_inside_a_word
# misconception: glues the name to other letters | hint: line_without_name
# breaks: as a word of its own
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(f"layer_{name}_{tuple(output.shape)}"))

# %% whole_table_in_each_line
# misconception: each line holds all names and shapes | hint: line_about_all
# breaks: It is about this child only.
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.shapes = {}
        for name, layer in model.named_children():
            layer.register_forward_hook(partial(self.note, name))

    def note(self, name, module, args, output):
        self.shapes[name] = tuple(output.shape)

    def forward(self, x):
        output = self.model(x)
        for name in self.shapes:
            print(name, self.shapes)
        return output

# %% all_shapes_so_far
# misconception: prints the list of all shapes so far | hint: line_about_all
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.shapes = []
        for name, layer in model.named_children():
            layer.register_forward_hook(partial(self.note, name))

    def note(self, name, module, args, output):
        self.shapes.append(tuple(output.shape))
        print(name, self.shapes)

    def forward(self, x):
        self.shapes = []
        return self.model(x)

# %% switches_to_eval
# misconception: switches the model to eval mode | hint: changes_mode
# edits: prints_a_heading
-        self.model = model
+        self.model = model.eval()
@@
-        print("shapes:")

# %% places_of_the_parent
# misconception: walks over the places of the model, also the empty ones | hint: feat_empty_place
# edits: hook_returns_tuple
-        for name, layer in model.named_children():
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+        for name, layer in model._modules.items():
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

# %% image_shapes_only
# misconception: takes each output for a batch of pictures | hint: some_dimensions
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(partial(self.tell, name))
+
+    def tell(self, name, module, args, output):
+        samples, channels, *places = output.shape
+        print(f"{name}: ({', '.join(map(str, [samples, channels, *places]))})")

# %% without_gradients
# misconception: runs the model without autograd | hint: output_cut_off
# edits: forgets_return
-        self.model(x)
+        with torch.no_grad():
+            return self.model(x)

# %% runs_it_twice
# misconception: runs the model for the lines, and once more for the output | hint: feat_runs_twice
# breaks: Calling it runs the model once
# edits: forgets_return
+import contextlib
+import io
+
+
 class VerboseNet(nn.Module):
@@
+        with contextlib.redirect_stdout(io.StringIO()):
+            return self.model(x)

# %% runs_a_copy
# misconception: a copy of the model runs, which stays as the model was | hint: feat_runs_a_copy
# breaks: as it is at that time
# edits: hooks_a_copy
-        self.model = model
-        self.watched = copy.deepcopy(model)
-        for name, layer in self.watched.named_children():
+        self.model = copy.deepcopy(model)
+        for name, layer in self.model.named_children():

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: Calling it runs the model once, as it is at that time, and returns what the model returns.
class VerboseNet(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        for name, child in model.named_children():
            child.register_forward_hook(lambda m, a, o, name=name: print(name, tuple(o.shape)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model.forward(x)

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: wraps any model
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, child in model.named_children():
            child.register_forward_hook(partial(self.tell, name))

    @staticmethod
    def tell(name, module, args, output):
        print(f"{name}: {tuple(output.shape)}")

    def forward(self, x):
        return self.model(x.to(next(self.model.parameters()).device))

# %% all_on_one_line
# misconception: prints all children on one line | hint: line_about_all
# breaks: one line for each **direct child** of the model
# edits: to_the_device_of_the_first_parameter
-        print(f"{name}: {tuple(output.shape)}")
+        print(name, tuple(output.shape), end=" ")
@@
-        return self.model(x.to(next(self.model.parameters()).device))
+        return self.model(x)

# %% old_lines_again
# misconception: collects the lines and never empties the list | hint: stale_result
# breaks: Each call prints its own lines.
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.lines = model, []
        for name, child in model.named_children():
            child.register_forward_hook(lambda m, a, o, name=name: self.lines.append(f"{name} {tuple(o.shape)}"))

    def forward(self, x):
        output = self.model(x)
        print("\n".join(self.lines))
        return output
