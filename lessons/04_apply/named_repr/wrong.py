# nothing to break: You may rely on this: the trees are made of the classes above, and every `Function_*` has a name that is not empty and does not change later on.

# %% every_module
# misconception: gives the text to modules that have no name | hint: not_every_module_has_it
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    module.extra_repr = partial(function_repr, module)

# %% global_loop
# misconception: a loop variable read later, when it is the last module | hint: apply_late_binding
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    global current
+    if "Function" in type(module).__name__:
+        current = module
+        module.extra_repr = lambda: function_repr(current)

# %% instance_repr
# misconception: repr() looks on the class, not on the object | hint: dunder_on_instance
# edits: closure
-    return "name=%s" % self.name
+    return f"{type(self).__name__}(name={self.name})"
@@
-    if hasattr(module, "name"):
-        module.extra_repr = lambda: function_repr(module)
+    if "Function" in type(module).__name__:
+        module.__repr__ = partial(function_repr, module)

# %% late_binding
# misconception: all closures of one loop share the loop variable | hint: apply_late_binding
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    for part in module.modules():
+        if "Function" in type(part).__name__:
+            part.extra_repr = lambda: function_repr(part)

# %% layers_too
# misconception: gives a text to the layers as well | hint: other_repr_changed
# breaks: All other modules keep their repr
# edits: every_module
-    return f"name={self.name}"
+    return f"name={getattr(self, 'name', None)}"

# %% literal_names
# misconception: the names of this one model, typed in | hint: repr_typed_in_names
# breaks: applies `add_repr` to other trees as well, with other names
# edits: seed_partial
-    return f"name={self.name}"
+    names = {"Function_A": "duck", "Function_B": "goose", "Function_C": "heron", "Function_D": "swan"}
+    return f"name={names[type(self).__name__]}"
@@
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if "Function" in type(module).__name__:

# %% names_by_count
# misconception: hands out the names in the order of the visits | hint: repr_typed_in_names
model = Model()


def function_repr(self):
    return f"name={self.shown}"


def add_repr(module):
    names = {"a": "duck", "b": "goose", "c": "heron", "d": "swan"}
    letter = type(module).__name__[-1].lower()
    if "Function" in type(module).__name__:
        module.shown = names[letter]
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% never_applied
# misconception: never applies the function | hint: not_applied
# breaks: Apply `add_repr` to `model`
# edits: seed_partial
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if "Function" in type(module).__name__:
@@
-returned_module = model.apply(add_repr)
+returned_module = model

# %% one_class
# misconception: reaches one class only | hint: apply_misses_some
# breaks: Make every `Function_*` of `model` show its own name
# edits: seed_partial
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if isinstance(module, Function_A):

# %% patches_class
# misconception: changes the class, so every object of it | hint: repr_class_patched
# breaks: So does every `Function_*` outside `model`
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    if "Function" in type(module).__name__:
+        type(module).extra_repr = function_repr

# %% patches_class_repr
# misconception: changes __repr__ of the class | hint: repr_class_patched
# edits: instance_repr
-        module.__repr__ = partial(function_repr, module)
+        module.__class__.__repr__ = function_repr

# %% prints
# misconception: prints the text instead of returning it | hint: repr_returns_nothing
# edits: literal_names
-    names = {"Function_A": "duck", "Function_B": "goose", "Function_C": "heron", "Function_D": "swan"}
-    return f"name={names[type(self).__name__]}"
+    print(f"name={self.name}")

# %% quoted
# misconception: the repr of the name instead of the name | hint: repr_notation
# breaks: no quotes around it, and no spaces around the sign
# edits: prints
-    print(f"name={self.name}")
+    return f"name={self.name!r}"

# %% repeats_class
# misconception: writes the class name, which Module.__repr__ writes already | hint: repeats_class
# edits: instance_repr
-        module.__repr__ = partial(function_repr, module)
+        module.extra_repr = partial(function_repr, module)

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
# edits: never_applied
-returned_module = model
+model.apply(add_repr)
+returned_module = repr(model)

# %% returns_only
# misconception: returns the text from the function given to apply | hint: apply_changes_nothing
# edits: patches_class
-        type(module).extra_repr = function_repr
+        return function_repr(module)

# %% self_twice
# misconception: fixes self twice | hint: repr_arguments
# edits: method_type
-    return "name=" + self.name
+    return f"name={self.name}"
@@
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
-        module.extra_repr = types.MethodType(function_repr, module)
+    if "Function" in type(module).__name__:
+        module.extra_repr = types.MethodType(partial(function_repr, module), module)

# %% spaces
# misconception: another notation | hint: repr_notation
# edits: prints
-    print(f"name={self.name}")
+    return f"name: {self.name}"

# %% text_not_method
# misconception: puts the text where a method belongs | hint: text_for_method
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.extra_repr = function_repr(module)

# %% text_in_a_lambda
# misconception: makes the text elsewhere and leaves function_repr empty | hint: text_made_elsewhere
# breaks: `function_repr(self)` returns the text
# edits: closure
-    return "name=%s" % self.name
+    pass
@@
-    if hasattr(module, "name"):
-        module.extra_repr = lambda: function_repr(module)
+    if "Function" in type(module).__name__:
+        module.extra_repr = lambda: f"name={module.name}"

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# breaks: `add_repr(module)` lets `module` show that text
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.extra_repr = function_repr

# %% wrong_attribute
# misconception: an attribute that repr does not ask for | hint: unread_attribute
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.repr = partial(function_repr, module)

# %% name_kept_by_class
# misconception: keeps the name where all objects of the class find it | hint: repr_kept_by_class
# edits: prints
 model = Model()
+names = {}
@@
-    print(f"name={self.name}")
+    return f"name={names.get(type(self), self.name)}"
@@
     if "Function" in type(module).__name__:
+        names[type(module)] = module.name

# %% children_of_the_module
# misconception: gives the text to the children of the module that it is given | hint: only_the_children
# breaks: and to a single `Function_*`
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    for child in module.children():
+        if "Function" in type(child).__name__:
+            child.extra_repr = partial(function_repr, child)

# %% class_asks_for_a_mark
# misconception: changes the class after all, and lets it look for a mark on the object | hint: repr_class_patched
# breaks: do not change the classes
# edits: class_of_its_own
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+        module.shows_name = True
+        type(module).extra_repr = lambda self: function_repr(self) if hasattr(self, "shows_name") else ""

# %% small_letters
# misconception: makes the name nicer | hint: repr_notation
# breaks: the name just as it is
# edits: closure
-    return "name=%s" % self.name
+    return f"name={self.name.lower()}"
@@
-        module.extra_repr = lambda: function_repr(module)
+        module.extra_repr = partial(function_repr, module)

# %% stripped
# misconception: takes the blank off the end of the name | hint: repr_notation
# breaks: the name just as it is
# edits: class_of_its_own
-    return f"name={self.name}"
+    return "name=" + self.name.strip()
@@
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+        module.extra_repr = partial(function_repr, module)

# %% quotes_taken_off
# misconception: takes all quotes out of the name's repr, also those that belong to the name | hint: repr_notation
# breaks: the name just as it is
# edits: small_letters
-    return f"name={self.name.lower()}"
+    return "name=" + repr(self.name).replace("'", "").replace('"', "")

# %% repr_without_its_ends
# misconception: cuts the two quotes off a repr, in which signs of the name are written in another way | hint: repr_notation
# edits: quotes_taken_off
-    return "name=" + repr(self.name).replace("'", "").replace('"', "")
+    return "name=" + ascii(self.name)[1:-1]

# %% braces_without_f
# misconception: forgets the f before the text | hint: braces_as_they_are
# edits: quotes_taken_off
-    return "name=" + repr(self.name).replace("'", "").replace('"', "")
+    return "name={self.name}"

# %% self_documenting
# misconception: f"{self.name=}" writes the expression, too | hint: repr_notation
# edits: braces_without_f
-    return "name={self.name}"
+    return f"{self.name=}"

# %% other_class_name
# misconception: puts the text where the class name is asked for, and the empty parentheses stay | hint: repeats_class
# edits: class_of_its_own
-    if type(module).__name__.startswith("Function_"):
-        cls = type(module)
-        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})
+    if hasattr(module, "name"):
+        text = f"{type(module).__name__}({function_repr(module)})"
+        module._get_name = lambda: text

# %% partialmethod_on_object
# misconception: partialmethod works in a class only | hint: text_for_method
from functools import partialmethod

model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partialmethod(function_repr)


returned_module = model.apply(add_repr)
