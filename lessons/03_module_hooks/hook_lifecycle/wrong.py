# %% backward_hooks
# misconception: full backward hooks | hint: hooked_other_kind
# edits: handles_in_a_list
-    handles = [module.register_forward_hook(hook) for module in modules]
+    handles = [module.register_full_backward_hook(hook) for module in modules]

# %% by_function
# misconception: removes every registration of the function | hint: removes_other_hooks
# breaks: Other hooks stay, even those with the same function.
@contextlib.contextmanager
def hooked(modules, hook):
    modules = list(modules)
    try:
        for module in modules:
            module.register_forward_hook(hook)
        yield
    finally:
        for module in modules:
            for key, function in list(getattr(module, "_forward_hooks", {}).items()):
                if function is hook:
                    del module._forward_hooks[key]

# %% clears_the_dict
# misconception: clears the module's dict of hooks | hint: removes_other_hooks
# edits: by_function
-    modules = list(modules)
@@
-            for key, function in list(getattr(module, "_forward_hooks", {}).items()):
-                if function is hook:
-                    del module._forward_hooks[key]
+            if isinstance(module, nn.Module):
+                module._forward_hooks.clear()

# %% decorated_class
# misconception: leaves the decorator above a class | hint: hooked_no_context_manager
# edits: class_with_a_list
+@contextlib.contextmanager
 class hooked:

# %% enter_and_init
# misconception: registers when it is made and again at the begin of the block | hint: module_hook_twice
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook
        self.handles = []
        self.register()

    def register(self):
        for module in self.modules:
            self.handles.append(module.register_forward_hook(self.hook))

    def __enter__(self):
        self.register()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% except_exception
# misconception: cleans up after an Exception only | hint: hooked_some_errors_only
# breaks: `KeyboardInterrupt` (the stop button)
@contextlib.contextmanager
def hooked(modules, hook):
    handles = []

    def remove():
        for handle in handles:
            handle.remove()

    try:
        for module in modules:
            handles.append(module.register_forward_hook(hook))
        yield
    except Exception:
        remove()
        raise
    remove()

# %% exit_returns_true
# misconception: an __exit__ that returns True | hint: hooked_swallows_error
# edits: class_with_a_list
-        return self.handles
@@
+        return True

# %% exit_without_arguments
# misconception: an __exit__ without the error's arguments | hint: hooked_exit_arguments
# edits: class_with_a_list
-        return self.handles
@@
-    def __exit__(self, kind, error, traceback):
+    def __exit__(self):

# %% first_module_only
# misconception: hooks the first module only | hint: hooked_one_only
# breaks: each module in the list `modules` has the forward hook `hook`
def hooked(modules, hook):
    for module in modules:
        return module.register_forward_hook(hook)

# %% global_handles
# misconception: one global list of handles | hint: hooked_shared_handles
open_handles = []


@contextlib.contextmanager
def hooked(modules, hook):
    try:
        for module in modules:
            open_handles.append(module.register_forward_hook(hook))
        yield
    finally:
        while open_handles:
            open_handles.pop().remove()

# %% last_handle
# misconception: one name for all handles | hint: hooked_last_handle
@contextlib.contextmanager
def hooked(modules, hook):
    for module in modules:
        handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()

# %% handle_by_module
# misconception: a dict of handles has one place for a module that is listed twice | hint: hooked_last_handle
# edits: handles_in_a_list
-    handles = [module.register_forward_hook(hook) for module in modules]
+    handles = {module: module.register_forward_hook(hook) for module in modules}
@@
-        for handle in handles:
+        for handle in handles.values():

# %% never_removes
# misconception: never removes | hint: hooked_stays | canary
@contextlib.contextmanager
def hooked(modules, hook):
    yield [module.register_forward_hook(hook) for module in modules]

# %% no_decorator
# misconception: a generator function without its decorator | hint: hooked_no_context_manager
# breaks: Write the context manager `hooked(modules, hook)`
# edits: handles_in_a_list
-@contextlib.contextmanager
 def hooked(modules, hook):

# %% no_exit
# misconception: a class without __exit__ | hint: hooked_no_context_manager
# edits: class_with_a_list
-    def __exit__(self, kind, error, traceback):
+    def remove(self):

# %% no_finally
# misconception: removes behind the yield, without finally | hint: hooked_no_finally
# breaks: After the block these hooks are always gone, even after an error
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    yield
    for handle in handles:
        handle.remove()

# %% no_yield
# misconception: registers and removes without a yield | hint: hooked_no_yield
# edits: no_finally
-    yield

# %% pops_the_last
# misconception: takes the last hook off each module, whoever put it there | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    registered = []
    try:
        for module in modules:
            module.register_forward_hook(hook)
            registered.append(module)
        yield
    finally:
        for module in registered:
            if module._forward_hooks:
                module._forward_hooks.popitem()

# %% remove_without_call
# misconception: names the remove methods without calling them | hint: hooked_stays
# edits: handles_in_a_list
-            handle.remove()
+            handle.remove

# %% restores_the_dict
# misconception: puts the module's dict of hooks back as it was | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    before = [(module, dict(module._forward_hooks)) for module in modules]
    try:
        for module in modules:
            module.register_forward_hook(hook)
        yield
    finally:
        for module, hooks in before:
            module._forward_hooks.clear()
            module._forward_hooks.update(hooks)

# %% return_in_finally
# misconception: a return in finally | hint: hooked_swallows_error
# edits: handles_in_a_list
+        return

# %% returns_handles
# misconception: a plain function that returns the handles | hint: hooked_no_context_manager
def hooked(modules, hook):
    return [module.register_forward_hook(hook) for module in modules]

# %% swallows
# misconception: an except that does not raise again | hint: hooked_swallows_error
# breaks: the caller still gets that error
# edits: handles_in_a_list
         yield
+    except Exception as error:
+        print("something went wrong:", error)

# %% swallows_the_stop_button
# misconception: ends KeyboardInterrupt quietly | hint: hooked_swallows_error
# edits: handles_in_a_list
         yield
+    except KeyboardInterrupt:
+        print("stopped")

# %% uses_the_notebook
# misconception: works on the notebook's module | hint: function_uses_global
adder = Add()


@contextlib.contextmanager
def hooked(modules, hook):
    with adder.register_forward_hook(hook):
        yield

# %% with_ends_too_early
# misconception: the stack ends before the yield | hint: hook_never_ran
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
    yield

# %% wrapper_without_return
# misconception: a wrapper that does not hand on what the hook returns | hint: hooked_return_lost
# edits: handles_in_a_list
-    handles = [module.register_forward_hook(hook) for module in modules]
+    def wrapper(module, args, output):
+        hook(module, args, output)
+
+    handles = [module.register_forward_hook(wrapper) for module in modules]

# %% yield_in_the_loop
# misconception: yields inside the loop | hint: hooked_yields_again
@contextlib.contextmanager
def hooked(modules, hook):
    for module in modules:
        with module.register_forward_hook(hook):
            yield
