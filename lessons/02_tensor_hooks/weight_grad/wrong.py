# %% detached
# misconception: keeps a detached gradient, whose memory autograd goes on using | hint: kept_alias
# breaks: no later pass changes this entry
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.detach())


model.W.register_hook(tensor_hook)

# %% called_at_once
# misconception: hands over what the hook returns | hint: called_at_once
# edits: returns_the_gradient
-    return grad
@@
-model.W.register_hook(tensor_hook)
+model.W.register_hook(tensor_hook(model.W))
+answer.clear()

# %% doubles_too
# misconception: returns another gradient | hint: changes_gradient
# breaks: Your hook only watches: `model.W.grad` is the same as without it.
# edits: returns_the_gradient
-    return grad
+    return grad * 2

# %% formula_from_the_forward
# misconception: the formula of the visible forward, from the call's own tensors | hint: formula_not_argument
model = Model()
answer = []


def remember(module, args, output):
    x1, x2 = args

    def tensor_hook(grad):
        answer.append((grad * x1 * x2).sum().reshape(1).detach())

    output.register_hook(tensor_hook)


model.register_forward_hook(remember)

# %% item
# misconception: turns the gradient into a number | hint: python_number
# breaks: the gradient, as a tensor
# edits: detached
-    answer.append(grad.detach())
+    answer.append(grad.item())

# %% keeps_last
# misconception: rebinds the global list at each call | hint: keeps_last_only
# edits: detached
-    answer.append(grad.detach())
+    global answer
+    answer = [grad]

# %% local_answer
# misconception: assigns to a local name | hint: local_name
# edits: keeps_last
-    global answer

# %% local_plus
# misconception: adds to a global list with + inside the function | hint: undefined_name
# edits: detached
-    answer.append(grad.detach())
+    answer += [grad]

# %% never_registered
# misconception: defines the hook and does not register it | hint: hook_never_ran | canary
# breaks: register it on `model.W`
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)

# %% on_the_model
# misconception: a model has no hook for tensors | hint: hook_never_ran
# edits: called_at_once
-model.W.register_hook(tensor_hook(model.W))
-answer.clear()
+model.register_hook(tensor_hook)

# %% on_the_module
# misconception: a full backward hook on the module instead | hint: hook_arguments
# edits: on_the_model
-model.register_hook(tensor_hook)
+model.register_full_backward_hook(tensor_hook)

# %% only_if_empty
# misconception: only if the list is empty | hint: runs_only_once
# breaks: Each backward pass adds one entry to the list `answer`
# edits: detached
-    answer.append(grad.detach())
+    if not answer:
+        answer.append(grad)

# %% post_accumulate
# misconception: a post-accumulate hook: the sum in .grad | hint: accumulated_grad
# breaks: that this pass has computed for `W`
model = Model()
answer = []


def tensor_hook(parameter):
    answer.append(parameter.grad)


model.W.register_post_accumulate_grad_hook(tensor_hook)

# %% the_parameter
# misconception: takes the argument of a post-accumulate hook for the gradient | hint: keeps_the_tensor
# edits: post_accumulate
-    answer.append(parameter.grad)
+    answer.append(parameter.detach())

# %% reads_grad
# misconception: reads .grad inside the hook | hint: reads_grad_early
# edits: detached
-    answer.append(grad.detach())
+    answer.append(model.W.grad)

# %% registered_twice
# misconception: registers the hook twice | hint: registered_twice
# edits: on_the_model
-model.register_hook(tensor_hook)
+model.W.register_hook(tensor_hook)
+handle = model.W.register_hook(tensor_hook)

# %% two_args
# misconception: a tensor hook with the arguments of a module hook | hint: hook_arguments
# breaks: Write `tensor_hook(grad)`
# edits: detached
-def tensor_hook(grad):
-    answer.append(grad.detach())
+def tensor_hook(module, grad):
+    answer.append(grad)

# %% typo
# misconception: a misspelt method, found only in backward | hint: unknown_method
# edits: detached
-    answer.append(grad.detach())
+    answer.append(grad.cloned())
