# %% hook_returns_tuple
# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
# edits: name_on_the_layer
-            layer.__name__ = name
-            layer.register_forward_hook(lambda layer, _, output: print(f"new --->: {layer.__name__}: {output.shape}"))
+            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))

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

# %% name_only
# misconception: prints no shape | hint: line_without_shape
# breaks: the shape of its output
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, "has run"))

# %% class_name
# misconception: the class's name for the child's name | hint: class_or_name
# edits: name_only
-        for name, layer in model.named_children():
-            layer.register_forward_hook(lambda module, args, output, name=name: print(name, "has run"))
+        for layer in model.children():
+            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))

# %% all_modules
# misconception: hooks on every module of the tree | hint: children_or_modules
# breaks: one line for each **direct child**
# edits: class_name
-        for layer in model.children():
-            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))
+        for name, layer in model.named_modules():
+            layer.register_forward_hook(partial(self.tell, name))
+
+    @staticmethod
+    def tell(name, module, args, output):
+        print(f"{name}: {tuple(output.shape)}")

# %% hooks_on_model
# misconception: one hook on the whole model | hint: one_hook_for_all
# edits: class_name
-        for layer in model.children():
-            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))
+        model.register_forward_hook(
+            lambda module, args, output: print([(n, output.shape) for n, _ in module.named_children()])
+        )

# %% registers_in_forward
# misconception: new hooks at each call, never removed | hint: hooks_pile_up
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        pass

    def forward(self, x):
        for name, layer in self.model.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
        return self.model(x)

# %% children_in_a_row
# misconception: runs the children one after another | hint: children_in_a_row
# edits: registers_in_forward
-            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
-        return self.model(x)
+            x = layer(x)
+            print(name, tuple(x.shape))
+        return x

# %% shape_only
# misconception: prints no name | hint: line_without_name
# edits: class_name
-            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))
+            layer.register_forward_hook(lambda module, args, output: print(output.shape))

# %% trial_run_at_build
# misconception: tries the hooks while building | hint: prints_while_building
# breaks: Building it prints nothing
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
+        model(torch.ones(1, 3, 32, 32))

# %% forgets_return
# misconception: forward returns None | hint: returns_nothing | canary
# breaks: returns what the model returns
# edits: trial_run_at_build
-        model(torch.ones(1, 3, 32, 32))
@@
-        return self.model(x)
+        self.model(x)

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, output: print(name, output.shape))

# %% typed_in_names
# misconception: the names of ResNet-18, typed in | hint: typed_in_names
# breaks: a module that wraps any model
# edits: class_name
-        for layer in model.children():
-            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))
+        for name in "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc".split():
+            getattr(model, name).register_forward_hook(partial(self.tell, name))
+
+    def tell(self, name, module, args, output):
+        print(name, output.shape)

# %% without_batch
# misconception: the shape without the batch | hint: one_sample
# edits: hook_returns_tuple
-            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))
+            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output[0].shape))

# %% without_gradients
# misconception: runs the model without autograd | hint: output_cut_off
# edits: forgets_return
-        self.model(x)
+        with torch.no_grad():
+            return self.model(x)

# %% runs_it_twice
# misconception: runs the model for the lines, and once more for the output | hint: feat_runs_twice
# breaks: runs the model once
# edits: forgets_return
+        return self.model(x)

# %% prints_a_heading
# misconception: a heading besides the children's lines | hint: extra_lines
# breaks: and nothing else
# edits: runs_it_twice
-        self.model(x)
+        print("shapes:")

# %% switches_to_eval
# misconception: switches the model to eval mode | hint: changes_mode
# edits: prints_a_heading
-        self.model = model
+        self.model = model.eval()
@@
-        print("shapes:")

# %% old_lines_again
# misconception: collects the lines and never empties the list | hint: stale_result
# breaks: each call prints the lines again
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

# %% all_in_each_line
# misconception: each line tells all names and all shapes | hint: line_about_all
# breaks: the child's name and the shape of its output
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.shapes = model, {}
        for name, child in model.named_children():
            child.register_forward_hook(lambda m, a, o, name=name: self.shapes.update({name: tuple(o.shape)}))

    def forward(self, x):
        output = self.model(x)
        for _ in self.shapes:
            print(*self.shapes, *self.shapes.values())
        return output
