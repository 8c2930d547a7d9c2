# nothing to break: You may rely on this: the trees are made of the classes above, and every `Function_*` has a name that is not empty and does not change later on.

# %% every_module
# misconception: gives the text to modules that have no name | hint: not_every_module_has_it
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% global_loop
# misconception: a loop variable read later, when it is the last module | hint: apply_late_binding
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    global current
    if "Function" in type(module).__name__:
        current = module
        module.extra_repr = lambda: function_repr(current)


returned_module = model.apply(add_repr)

# %% instance_repr
# misconception: repr() looks on the class, not on the object | hint: dunder_on_instance
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.__repr__ = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% late_binding
# misconception: all closures of one loop share the loop variable | hint: apply_late_binding
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    for part in module.modules():
        if "Function" in type(part).__name__:
            part.extra_repr = lambda: function_repr(part)


returned_module = model.apply(add_repr)

# %% layers_too
# misconception: gives a text to the layers as well | hint: other_repr_changed
# breaks: All other modules keep their repr
model = Model()


def function_repr(self):
    return f"name={getattr(self, 'name', None)}"


def add_repr(module):
    module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% literal_names
# misconception: the names of this one model, typed in | hint: repr_typed_in_names
# breaks: applies `add_repr` to other trees as well, with other names
model = Model()


def function_repr(self):
    names = {"Function_A": "duck", "Function_B": "goose", "Function_C": "heron", "Function_D": "swan"}
    return f"name={names[type(self).__name__]}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

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
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model

# %% one_class
# misconception: reaches one class only | hint: apply_misses_some
# breaks: Make every `Function_*` of `model` show its own name
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if isinstance(module, Function_A):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% patches_class
# misconception: changes the class, so every object of it | hint: repr_class_patched
# breaks: So does every `Function_*` outside `model`
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        type(module).extra_repr = function_repr


returned_module = model.apply(add_repr)

# %% patches_class_repr
# misconception: changes __repr__ of the class | hint: repr_class_patched
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.__class__.__repr__ = function_repr


returned_module = model.apply(add_repr)

# %% prints
# misconception: prints the text instead of returning it | hint: repr_returns_nothing
model = Model()


def function_repr(self):
    print(f"name={self.name}")


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% quoted
# misconception: the repr of the name instead of the name | hint: repr_notation
# breaks: no quotes around it, and no spaces around the sign
model = Model()


def function_repr(self):
    return f"name={self.name!r}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% repeats_class
# misconception: writes the class name, which Module.__repr__ writes already | hint: repeats_class
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


model.apply(add_repr)
returned_module = repr(model)

# %% returns_only
# misconception: returns the text from the function given to apply | hint: apply_changes_nothing
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        return function_repr(module)


returned_module = model.apply(add_repr)

# %% self_twice
# misconception: fixes self twice | hint: repr_arguments
import types

model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = types.MethodType(partial(function_repr, module), module)


returned_module = model.apply(add_repr)

# %% spaces
# misconception: another notation | hint: repr_notation
model = Model()


def function_repr(self):
    return f"name: {self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% text_not_method
# misconception: puts the text where a method belongs | hint: text_for_method
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = function_repr(module)


returned_module = model.apply(add_repr)

# %% text_in_a_lambda
# misconception: makes the text elsewhere and leaves function_repr empty | hint: text_made_elsewhere
# breaks: `function_repr(self)` returns the text
model = Model()


def function_repr(self):
    pass


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = lambda: f"name={module.name}"


returned_module = model.apply(add_repr)

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# breaks: `add_repr(module)` lets `module` show that text
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = function_repr


returned_module = model.apply(add_repr)

# %% wrong_attribute
# misconception: an attribute that repr does not ask for | hint: unread_attribute
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% name_kept_by_class
# misconception: keeps the name where all objects of the class find it | hint: repr_kept_by_class
model = Model()
names = {}


def function_repr(self):
    return f"name={names.get(type(self), self.name)}"


def add_repr(module):
    if "Function" in type(module).__name__:
        names[type(module)] = module.name
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% children_of_the_module
# misconception: gives the text to the children of the module that it is given | hint: only_the_children
# breaks: and to a single `Function_*`
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    for child in module.children():
        if "Function" in type(child).__name__:
            child.extra_repr = partial(function_repr, child)


returned_module = model.apply(add_repr)

# %% class_asks_for_a_mark
# misconception: changes the class after all, and lets it look for a mark on the object | hint: repr_class_patched
# breaks: do not change the classes
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if type(module).__name__.startswith("Function_"):
        module.shows_name = True
        type(module).extra_repr = lambda self: function_repr(self) if hasattr(self, "shows_name") else ""


returned_module = model.apply(add_repr)

# %% small_letters
# misconception: makes the name nicer | hint: repr_notation
# breaks: the name just as it is
model = Model()


def function_repr(self):
    return f"name={self.name.lower()}"


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% stripped
# misconception: takes the blank off the end of the name | hint: repr_notation
# breaks: the name just as it is
model = Model()


def function_repr(self):
    return "name=" + self.name.strip()


def add_repr(module):
    if type(module).__name__.startswith("Function_"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% quotes_taken_off
# misconception: takes all quotes out of the name's repr, also those that belong to the name | hint: repr_notation
# breaks: the name just as it is
model = Model()


def function_repr(self):
    return "name=" + repr(self.name).replace("'", "").replace('"', "")


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% repr_without_its_ends
# misconception: cuts the two quotes off a repr, in which signs of the name are written in another way | hint: repr_notation
model = Model()


def function_repr(self):
    return "name=" + ascii(self.name)[1:-1]


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% braces_without_f
# misconception: forgets the f before the text | hint: braces_as_they_are
model = Model()


def function_repr(self):
    return "name={self.name}"


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% self_documenting
# misconception: f"{self.name=}" writes the expression, too | hint: repr_notation
model = Model()


def function_repr(self):
    return f"{self.name=}"


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% other_class_name
# misconception: puts the text where the class name is asked for, and the empty parentheses stay | hint: repeats_class
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if hasattr(module, "name"):
        text = f"{type(module).__name__}({function_repr(module)})"
        module._get_name = lambda: text


returned_module = model.apply(add_repr)

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
