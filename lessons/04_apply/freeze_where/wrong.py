# %% attribute_of_module
# misconception: sets an attribute of the module | hint: freezes_nothing
# breaks: its parameters need no gradient any more
# edits: flag_and_mode_only
-            module.requires_grad_(not frozen)
+            module.requires_grad = not frozen

# %% back_in_eval
# misconception: unfreezes the parameters only | hint: thawed_in_eval_mode
# breaks: and it is in training mode
# edits: flag_and_mode_only
-            module.train(not frozen)
+            if frozen:
+                module.eval()

# %% children_only
# misconception: asks the direct children only | hint: freezes_first_level
# breaks: Every module for which
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
# edits: flag_and_mode_only
-        if choose(module):
+        if choose:

# %% detached_output
# misconception: cuts the graph behind the frozen part | hint: frozen_part_blocks
# edits: flag_and_mode_only
             module.train(not frozen)
+            if frozen:
+                module.register_forward_hook(lambda m, args, output: output.detach())

# %% else_branch
# misconception: sets those that are not chosen, too | hint: freezes_the_unchosen
# breaks: Everything else
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

# %% letter_missing
# misconception: a letter is missing in requires_grad | hint: freezes_nothing
# edits: loop_over_modules
-                parameter.requires_grad = not frozen
+                parameter.require_grad = not frozen

# %% mode_before
# misconception: the mode is set, and model.train() called after it | hint: frozen_in_training_mode
# edits: flag_and_mode_only
-    return model.apply(visit)
+    model.apply(visit)
+    return model.train()

# %% mode_forgotten
# misconception: leaves batch norms in training mode | hint: frozen_in_training_mode | canary
# breaks: and it is in eval mode
# edits: flag_and_mode_only
-            module.train(not frozen)

# %% model_eval
# misconception: puts the whole model into eval mode | hint: mode_of_everything
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
    return model.train(not frozen)

# %% one_way
# misconception: ignores the argument frozen | hint: no_way_back
# breaks: With `frozen=False` it is
# edits: mode_forgotten
-            module.requires_grad_(not frozen)
+            module.requires_grad_(False)
+            module.eval()

# %% no_argument
# misconception: leaves the argument frozen out | hint: no_way_back
# breaks: Write `freeze_where(model, choose, frozen=True)`
# edits: one_way
-def freeze_where(model, choose, frozen=True):
+def freeze_where(model, choose):

# %% own_flag
# misconception: the flag of the chosen module only | hint: freezes_own_only
# edits: flag_and_mode_only
-            module.train(not frozen)
+            module.training = not frozen

# %% own_parameters
# misconception: own parameters only | hint: freezes_own_only
# breaks: with everything inside it
# edits: flag_and_mode_only
-            module.requires_grad_(not frozen)
+            for parameter in module.parameters(recurse=False):
+                parameter.requires_grad = not frozen

# %% returns_nothing
# misconception: returns nothing | hint: returns_nothing
# breaks: which returns the model
# edits: mode_before
-    return model.train()

# %% train_first
# misconception: puts everything into training mode first | hint: freezes_the_unchosen
# breaks: stays as it is
def freeze_where(model, choose, frozen=True):
    model.train()
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
    return model

# %% undone_by_parents
# misconception: sets the others the other way, so that parents undo what children did | hint: freezes_the_unchosen
def freeze_where(model, choose, frozen=True):
    def visit(module):
        freeze = frozen if choose(module) else not frozen
        module.requires_grad_(not freeze).train(not freeze)

    return model.apply(visit)

# %% weight_only
# misconception: names the weight, forgets the bias | hint: freezes_weight_only
# edits: flag_and_mode_only
-            module.requires_grad_(not frozen)
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
# edits: flag_and_mode_only
-            module.requires_grad_(not frozen)
             module.train(not frozen)
+            for parameter in module.parameters():
+                if frozen:
+                    parameter.register_hook(torch.zeros_like)

# %% flags_turned_around
# misconception: hands `frozen` over where its opposite is meant | hint: flags_turned_around
# edits: mode_forgotten
-            module.requires_grad_(not frozen)
+            module.requires_grad_(frozen)
+            module.train(frozen)

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

# %% names_that_begin_alike
# misconception: compares the beginning of names: `norm_out` is not inside `norm` | hint: freezes_names_alike
# breaks: Everything else stays as it is
def freeze_where(model, choose, frozen=True):
    chosen = tuple(name for name, module in model.named_modules() if choose(module))
    for name, parameter in model.named_parameters():
        if name.startswith(chosen):
            parameter.requires_grad = not frozen
    for name, module in model.named_modules():
        if name.startswith(chosen):
            module.training = not frozen
    return model

# %% first_found
# misconception: returns from inside the loop | hint: freezes_first_found
# breaks: Every module for which
# edits: model_eval
-    return model.train(not frozen)
+            module.train(not frozen)
+            return model

# %% returns_the_chosen
# misconception: returns the modules that it has frozen | hint: returns_not_the_model
# breaks: which returns the model
def freeze_where(model, choose, frozen=True):
    chosen = [module for module in model.modules() if choose(module)]
    for module in chosen:
        module.requires_grad_(not frozen)
        module.train(not frozen)
    return chosen
