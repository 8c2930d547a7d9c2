# nothing to break: You may rely on this: what `choose` says of a module does not depend on what your function changes.
# nothing to break: And what becomes of `.grad` where a module is thawed is up to you.

# %% attribute_of_module
# misconception: sets an attribute of the module | hint: freezes_nothing
# breaks: no longer need a gradient
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad = not frozen
            module.train(not frozen)

    return model.apply(visit)

# %% back_in_eval
# misconception: thaws the parameters only | hint: thawed_in_eval_mode
# breaks: the modules are in training mode
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            if frozen:
                module.eval()

    return model.apply(visit)

# %% buffers
# misconception: turns parameters into buffers | hint: parameter_no_more
# edits: attribute_of_module
-            module.requires_grad = not frozen
+            for name, parameter in list(module.named_parameters(recurse=False)):
+                if frozen:
+                    delattr(module, name)
+                    module.register_buffer(name, parameter.detach())

# %% children_only
# misconception: asks the direct children only | hint: freezes_first_level
# breaks: For every module of the model, at any depth
def freeze_where(model, choose, frozen=True):
    for child in model.children():
        if choose(child):
            child.requires_grad_(not frozen)
            child.train(not frozen)
    return model

# %% choice_turned_around
# misconception: freezes the rest | hint: freezes_the_rest
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad = choose(module) == frozen
    return model

# %% class_name_wrong
# misconception: asks for something else than what is chosen | hint: freezes_everything
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose:
            module.requires_grad_(not frozen)
            module.train(not frozen)

    return model.apply(visit)

# %% detached_output
# misconception: cuts the graph behind the frozen part | hint: frozen_part_blocks
# breaks: the gradient still reaches whatever is not frozen
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
            if frozen:
                module.register_forward_hook(lambda m, args, output: output.detach())

    return model.apply(visit)

# %% else_branch
# misconception: sets those that are not chosen, too | hint: freezes_the_unchosen
# breaks: All other parameters and modules stay as they are
def freeze_where(model, choose, frozen=True):
    chosen = {id(p) for module in model.modules() if choose(module) for p in module.parameters()}
    inside = {part for module in model.modules() if choose(module) for part in module.modules()}
    for parameter in model.parameters():
        parameter.requires_grad = (id(parameter) not in chosen) or not frozen
    for module in inside:
        module.training = not frozen
    return model

# %% eval_only
# misconception: thinks that eval mode freezes | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    return model.apply(lambda module: module.train(not frozen) if choose(module) else None)

# %% forward_without_grad
# misconception: runs the frozen part under no_grad | hint: frozen_part_blocks
# edits: detached_output
             module.train(not frozen)
+            module.__dict__.pop("forward", None)
@@
-                module.register_forward_hook(lambda m, args, output: output.detach())
+                module.forward = torch.no_grad()(module.forward)

# %% grad_none
# misconception: sets the gradient to None | hint: freezes_nothing
# edits: attribute_of_module
-            module.requires_grad = not frozen
+            for parameter in module.parameters():
+                parameter.grad = None

# %% letter_missing
# misconception: a letter is missing in requires_grad | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.require_grad = not frozen
            module.train(not frozen)
    return model

# %% mode_before
# misconception: the mode is set, and model.train() called after it | hint: frozen_in_training_mode
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    model.apply(visit)
    return model.train()

# %% mode_forgotten
# misconception: leaves batch norms in training mode | hint: frozen_in_training_mode
# breaks: the module, and everything inside it, is in eval mode
# edits: back_in_eval
-            if frozen:
-                module.eval()

# %% model_eval
# misconception: puts the whole model into eval mode | hint: mode_of_everything
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
    return model.train(not frozen)

# %% no_argument
# misconception: leaves the argument frozen out | hint: no_way_back
# breaks: Write `freeze_where(model, choose, frozen=True)`
def freeze_where(model, choose):
    def visit(module):
        if choose(module):
            module.requires_grad_(False)
            module.eval()

    return model.apply(visit)

# %% no_grad_around
# misconception: thinks that no_grad marks parameters | hint: freezes_nothing
# edits: mode_forgotten
-            module.requires_grad_(not frozen)
+            with torch.set_grad_enabled(not frozen):
+                module.train(not frozen)

# %% one_way
# misconception: ignores the argument frozen | hint: no_way_back
# breaks: With `frozen=False` it is the way back
# edits: no_argument
-def freeze_where(model, choose):
+def freeze_where(model, choose, frozen=True):

# %% own_flag
# misconception: the flag of the chosen module only | hint: freezes_own_only
# edits: mode_forgotten
             module.requires_grad_(not frozen)
+            module.training = not frozen

# %% own_parameters
# misconception: own parameters only | hint: freezes_own_only
# breaks: all parameters of the module, and of everything inside it
# edits: attribute_of_module
-            module.requires_grad = not frozen
+            for parameter in module.parameters(recurse=False):
+                parameter.requires_grad = not frozen

# %% returns_nothing
# misconception: returns nothing | hint: returns_nothing
# breaks: The function returns the model
# edits: mode_before
-    return model.train()

# %% train_first
# misconception: puts everything into training mode first | hint: freezes_the_unchosen
# breaks: in training or in eval mode
def freeze_where(model, choose, frozen=True):
    model.train()
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
    return model

# %% undone_by_parents
# misconception: sets every module, so that parents undo what children did | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        module.requires_grad_(not (choose(module) and frozen))
        module.train(not (choose(module) and frozen))

    return model.apply(visit)

# %% values_too
# misconception: sets the statistics back as well | hint: freezing_changes_output
# breaks: No value changes
# edits: detached_output
-            if frozen:
-                module.register_forward_hook(lambda m, args, output: output.detach())
+            for part in module.modules():
+                if frozen and hasattr(part, "reset_parameters"):
+                    part.reset_parameters()

# %% weight_only
# misconception: names the weight, forgets the bias | hint: freezes_weight_only
# edits: attribute_of_module
-            module.requires_grad = not frozen
+            module.weight.requires_grad = not frozen

# %% whole_model
# misconception: freezes the model when it meets a chosen module | hint: freezes_everything
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            model.requires_grad_(not frozen)
            model.train(not frozen)
    return model

# %% zeroing_hook
# misconception: makes gradients zero with a hook | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.train(not frozen)
            for parameter in module.parameters():
                if frozen:
                    parameter.register_hook(torch.zeros_like)

    return model.apply(visit)

# %% old_gradient_stays
# misconception: thinks that an optimizer asks for requires_grad | hint: old_gradient_left
# breaks: their `.grad` is None, so that no optimizer moves them
# edits: attribute_of_module
-            module.requires_grad = not frozen
+            module.requires_grad_(not frozen)

# %% gradient_set_to_zero
# misconception: a gradient of zeros; momentum and weight decay move the weight all the same | hint: old_gradient_left
# edits: detached_output
-                module.register_forward_hook(lambda m, args, output: output.detach())
+                module.zero_grad(set_to_none=False)

# %% all_gradients_gone
# misconception: takes the gradients of the whole model away | hint: freezes_the_unchosen
# breaks: with or without a gradient
# edits: old_gradient_stays

+    model.zero_grad()
     return model.apply(visit)

# %% by_beginning_of_name
# misconception: takes what begins with the same letters for what is inside | hint: freezes_the_unchosen
def freeze_where(model, choose, frozen=True):
    chosen = tuple(name for name, module in model.named_modules() if choose(module))
    for name, parameter in model.named_parameters():
        if name.startswith(chosen):
            parameter.requires_grad = not frozen
            parameter.grad = None if frozen else parameter.grad
    for name, module in model.named_modules():
        if name.startswith(chosen):
            module.training = not frozen
    return model

# %% flags_turned_around
# misconception: hands `frozen` over where its opposite is meant | hint: flags_turned_around
# edits: mode_forgotten
-            module.requires_grad_(not frozen)
+            module.requires_grad_(frozen)
+            module.train(frozen)

# %% thaws_to_mode_of_model
# misconception: takes the mode of the whole model | hint: thawed_in_eval_mode
# edits: mode_forgotten
             module.requires_grad_(not frozen)
+            module.train(model.training and not frozen)
+            if frozen:
+                module.zero_grad()

# %% puts_back_what_was
# misconception: thinks that thawing puts back what was before | hint: thaws_to_what_was
# edits: grad_none
-                parameter.grad = None
+                if frozen:
+                    parameter.was = getattr(parameter, "was", parameter.requires_grad)
+                    parameter.grad = None
+                parameter.requires_grad = not frozen and getattr(parameter, "was", True)

# %% gradients_of_its_own_only
# misconception: takes the gradients of its own parameters away, and leaves those inside | hint: freezes_own_only
# edits: old_gradient_stays
             module.train(not frozen)
+            for parameter in module.parameters(recurse=False):
+                parameter.grad = None

# %% gradients_of_all_frozen
# misconception: takes the gradient of everything that is frozen away, whoever froze it | hint: freezes_the_unchosen
# edits: returns_nothing
+    for parameter in model.parameters():
+        if not parameter.requires_grad:
+            parameter.grad = None
+    return model

# %% gradient_of_trained_ones
# misconception: forgets the old gradient of those that were frozen before | hint: old_gradient_left
# breaks: also if they were frozen before
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            module.train(not frozen)
            for parameter in module.parameters():
                if frozen and parameter.requires_grad:
                    parameter.grad = None
                parameter.requires_grad_(not frozen)
    return model

# %% exactly_true
# misconception: only True itself is true | hint: true_taken_literally
# breaks: or counts as true in an `if`
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module) is True:
            module.requires_grad_(not frozen)
            module.train(not frozen)
            for parameter in module.parameters():
                parameter.grad = None if frozen else parameter.grad

    return model.apply(visit)

# %% all_but_the_root
# misconception: does not ask about the model itself | hint: root_not_asked
def freeze_where(model, choose, frozen=True):
    for name, module in model.named_modules():
        if name and choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
            for parameter in module.parameters():
                parameter.grad = None if frozen else parameter.grad
    return model

# %% the_opposite_for_the_rest
# misconception: sets every module, the chosen ones and, the other way round, all others | hint: freezes_the_unchosen
def freeze_where(model, choose, frozen=True):
    def visit(module):
        freeze = bool(choose(module)) == frozen
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad = not freeze
            if freeze:
                parameter.grad = None
        module.train(not freeze)

    return model.apply(visit)

# %% turned_round
# misconception: turns the flags round instead of setting them | hint: flags_toggled
# breaks: and of everything inside it, no longer need a gradient
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.requires_grad = not parameter.requires_grad
                parameter.grad = None
            module.train(not module.training)
    return model
