# %% full_backward_hooks
# misconception: full backward hooks on the modules | hint: optimizer_module_hook
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.handles = []
        for module in self.model.modules():
            parameters = [p for p in module.parameters(recurse=False) if p.requires_grad]
            if parameters:
                optimizer = self.make_optimizer(parameters)
                self.handles.append(module.register_full_backward_hook(partial(self.step, optimizer)))
        return self

    def step(self, optimizer, module, grad_input, grad_output):
        optimizer.step()
        optimizer.zero_grad()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% hooks_left
# misconception: never removes its hooks | hint: tool_hooks_left
# breaks: After the block, even after an error, backward works as before
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}

        def hook(parameter):
            self.optimizers[parameter].step()
            parameter.grad = None

        self.handles = []
        for parameter in self.optimizers:
            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *error):
        pass

# %% no_finally
# misconception: a generator whose clean-up is skipped by an error | hint: tool_not_after_error
# breaks: even after an error
@contextmanager
def OptimizerInBackward(model, make_optimizer):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    handles = [p.register_post_accumulate_grad_hook(hook) for p in optimizers]
    yield
    for handle in handles:
        handle.remove()

# %% not_a_context_manager
# misconception: a function that registers and returns the handles | hint: tool_no_context
# breaks: Write the context manager
def OptimizerInBackward(model, make_optimizer):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        p.grad = None

    return [p.register_post_accumulate_grad_hook(hook) for p in optimizers]

# %% hides_the_error
# misconception: __exit__ returns True, which hides the error | hint: feat_error_swallowed
# edits: hooks_left
-        pass
+        for handle in self.handles:
+            handle.remove()
+        return True

# %% frozen_parameters
# misconception: registers on every parameter, also on frozen ones | hint: optimizer_frozen
# edits: hides_the_error
-        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}
+        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters()}
@@
-        return True

# %% gradient_stays
# misconception: the gradient is never released | hint: optimizer_not_freed
# breaks: `.grad` becomes None immediately
# edits: hides_the_error
-            parameter.grad = None
@@
-        return True

# %% freed_before_step
# misconception: zero_grad comes before step, as in the usual loop | hint: optimizer_freed_first
# edits: gradient_stays
+            self.optimizers[parameter].zero_grad()
             self.optimizers[parameter].step()

# %% last_gradient_steps_all
# misconception: waits for the last gradient, then steps all at once | hint: optimizer_all_at_the_end
# breaks: The optimizer updates a parameter as soon as its gradient is complete
# breaks: The optimizer updates a parameter as soon as its gradient is complete
# edits: gradient_stays
-            self.optimizers[parameter].step()
+            self.waiting.add(parameter)
+            if len(self.waiting) == len(self.optimizers):
+                for one in self.waiting:
+                    self.optimizers[one].step()
+                    one.grad = None
+                self.waiting.clear()
+
+        self.waiting = set()

# %% late_binding
# misconception: the hook looks up the loop variable, so it always treats the last parameter | hint: optimizer_late_binding
# edits: gradient_stays
-        def hook(parameter):
-            self.optimizers[parameter].step()
@@
         for parameter in self.optimizers:
+
+            def hook(_):
+                self.optimizers[parameter].step()
+                parameter.grad = None
+

# %% linear_children_only
# misconception: parameters of direct Linear children | hint: optimizer_misses_some
# edits: frozen_parameters
-        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters()}
+        self.optimizers = {p: self.make_optimizer([p]) for m in self.model.children() if isinstance(m, nn.Linear) for p in m.parameters() if p.requires_grad}

# %% new_optimizer_each_time
# misconception: makes an optimizer in the hook, so its state is lost | hint: optimizer_state_lost
# edits: gradient_stays
-            self.optimizers[parameter].step()
+            self.make_optimizer([parameter]).step()
+            parameter.grad = None

# %% one_optimizer_steps_for_all
# misconception: one optimizer steps at each parameter, and the gradients stay until the end | hint: optimizer_steps_too_often
# edits: gradient_stays
-        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters() if p.requires_grad}
+        parameters = [p for p in self.model.parameters() if p.requires_grad]
+        optimizer = self.make_optimizer(parameters)
@@
-            self.optimizers[parameter].step()
+            optimizer.step()
+            if parameter is parameters[0]:
+                optimizer.zero_grad()
@@
-        for parameter in self.optimizers:
+        for parameter in parameters:

# %% own_formula
# misconception: writes SGD's formula instead of asking the optimizer | hint: optimizer_own_formula
# breaks: with any optimizer
# edits: new_optimizer_each_time
-            self.make_optimizer([parameter]).step()
+            with torch.no_grad():
+                parameter -= self.optimizers[parameter].defaults["lr"] * parameter.grad

# %% parameter_for_list
# misconception: hands a parameter to make_optimizer instead of a list | hint: optimizer_needs_list
# breaks: makes an optimizer for a list of parameters
# edits: frozen_parameters
-        self.optimizers = {p: self.make_optimizer([p]) for p in self.model.parameters()}
+        self.optimizers = {p: self.make_optimizer(p) for p in self.model.parameters() if p.requires_grad}

# %% removed_after_first_step
# misconception: each hook removes itself when it has run | hint: optimizer_once
# edits: gradient_stays
             self.optimizers[parameter].step()
+            parameter.grad = None
+            handle_of[parameter].remove()
+
+        handle_of = {}
@@
-            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
+            handle_of[parameter] = parameter.register_post_accumulate_grad_hook(hook)
+            self.handles.append(handle_of[parameter])

# %% returns_the_gradient
# misconception: the hook returns what it was good for | hint: optimizer_hook_returns
# edits: gradient_stays
             self.optimizers[parameter].step()
+            grad, parameter.grad = parameter.grad, None
+            return grad

# %% shared_weight_twice
# misconception: a shared weight is met twice on a walk over the modules, and steps twice | hint: optimizer_shared_twice
# breaks: a shared one is updated once
class OptimizerInBackward:
    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        self.handles = []
        for module in self.model.modules():
            for parameter in module.parameters(recurse=False):
                if parameter.requires_grad:
                    step = partial(self.step, self.make_optimizer([parameter]))
                    self.handles.append(parameter.register_post_accumulate_grad_hook(step))
        for parameter in self.model.parameters():
            if parameter.requires_grad:
                self.handles.append(parameter.register_post_accumulate_grad_hook(self.release))
        return self

    def step(self, optimizer, parameter):
        optimizer.step()

    def release(self, parameter):
        parameter.grad = None

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% steps_at_the_end_of_the_block
# misconception: steps when the block ends | hint: optimizer_never_steps
# breaks: the parameters are equal to those of an ordinary loop
# edits: gradient_stays
-            self.optimizers[parameter].step()
+            self.ready.append(parameter)
@@
-        self.handles = []
+        self.handles, self.ready = [], []
@@
+        for parameter in self.ready:
+            self.optimizers[parameter].step()
+            parameter.grad = None

# %% two_arguments
# misconception: a hook with two arguments | hint: hook_arguments
# edits: new_optimizer_each_time
-        def hook(parameter):
-            self.make_optimizer([parameter]).step()
+        def hook(parameter, grad):
+            self.optimizers[parameter].step()

# %% tensor_hook
# misconception: a tensor hook, which runs before .grad is filled | hint: optimizer_too_early
# edits: two_arguments
-            self.handles.append(parameter.register_post_accumulate_grad_hook(hook))
+            self.handles.append(parameter.register_hook(partial(hook, parameter)))

# %% argument_is_gradient
# misconception: takes the hook's argument for the gradient | hint: optimizer_parameter_for_gradient | canary
# edits: tensor_hook
-            self.optimizers[parameter].step()
+            with torch.no_grad():
+                parameter -= self.optimizers[parameter].defaults["lr"] * grad
@@
-            self.handles.append(parameter.register_hook(partial(hook, parameter)))
+            self.handles.append(parameter.register_post_accumulate_grad_hook(partial(hook, parameter)))

# %% unfreezes
# misconception: makes every parameter trainable | hint: optimizer_unfreezes
# breaks: Frozen parameters stay as they are
# edits: frozen_parameters
         for parameter in self.optimizers:
+            parameter.requires_grad_(True)

# %% zeroed_not_freed
# misconception: zeros in place of the gradient keep its memory | hint: optimizer_zero_not_none
# edits: gradient_stays
             self.optimizers[parameter].step()
+            parameter.grad.zero_()

# %% all_learn_again
# misconception: lets all parameters learn again at the end | hint: not_as_before
# edits: reference
+        self.model.requires_grad_(True)
