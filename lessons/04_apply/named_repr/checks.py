from contextlib import contextmanager
from functools import partial

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.truths import ANYTHING, such_that
from course.tree import Function_A, Function_B, Function_C, Function_D, Model
from torch import nn


@contextmanager
def clean_classes():
    """What an attempt did to the classes themselves is undone, so that the next attempt starts afresh."""
    try:
        yield
    finally:
        for cls in (Function_A, Function_B, Function_C, Function_D):
            for name in {"extra_repr", "__repr__", "__str__"} & set(vars(cls)):
                delattr(cls, name)


def named_tanh(case):
    """No `Function_*`, though it has a name and a W."""
    tanh = nn.Tanh()
    tanh.name, tanh.W = "tanh", nn.Parameter(case.tensor("W of a Tanh", 1))
    return tanh


class NamesInRepr(Check):
    """In `model` and in a fresh tree just the `Function_*` show their names."""

    errors = {
        r"TypeError: add_repr\(\) (takes|missing) ": "apply_argument",
        r"TypeError: function_repr\(\) takes ": "repr_arguments",
        r"TypeError: (\w+\.<locals>\.)*\w*repr\w*\(\) missing 1 required": "unbound_function",
        r"TypeError: '(str|partialmethod|property)' object is not callable": "text_for_method",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'name'": "not_every_module_has_it",
    }
    # What repr() returns is the answer itself; `is` belongs to the language.
    claims = ("repr in fresh", "repr in model", "(returned_module is model)", "function_repr(fresh.ab.a)")
    blame = {"function_repr(fresh.ab.a)": "text_made_elsewhere"}
    names = ("duck", "goose", "heron", "swan")
    layout = (
        "Model(\n  (ab): Layer_AB(\n    (a): {}\n    (b): {}\n  )\n  (cd): Layer_CD(\n    (c): {}\n    (d): {}\n  )\n)"
    )

    def shown(self, tree):
        parts = {"ab.a": tree.ab.a, "ab.b": tree.ab.b, "cd.c": tree.cd.c, "cd.d": tree.cd.d}
        return {**{name: repr(part) for name, part in parts.items()}, "the whole": repr(tree)}

    def wanted(self, names=names, text="Function_{}(name={})"):
        parts = [text.format(letter, name) for letter, name in zip("ABCD", names)]
        return {**dict(zip(("ab.a", "ab.b", "cd.c", "cd.d"), parts)), "the whole": self.layout.format(*parts)}

    def probe(self, nb, case):
        with clean_classes():
            fresh = case.build("fresh", Model)
            before = set(vars(fresh.ab.a))
            fresh.apply(nb.function("add_repr"))
            return {
                "repr in fresh": self.shown(fresh),
                "repr in model": self.shown(nb.module("model")),
                "(returned_module is model)": nb.returned_module is nb.model,
                "new on fresh.ab.a": sorted(set(vars(fresh.ab.a)) - before),
                "function_repr(fresh.ab.a)": nb.function("function_repr")(fresh.ab.a),
            }

    def truth(self, case):
        right = self.wanted()
        return {
            "repr in fresh": right,
            "repr in model": right,
            "(returned_module is model)": True,
            "new on fresh.ab.a": ANYTHING,
            "function_repr(fresh.ab.a)": "name=duck",
        }

    def mistakes(self, case):
        right, old = self.wanted(), self.wanted(text="Function_{}()")
        some = {name: AnyOf(right[name], old[name]) for name in right if name != "the whole"}
        some["the whole"] = ANYTHING
        functions_right = {**right, "the whole": ANYTHING}

        def not_everywhere(got):
            """Some functions of the notebook's model show nothing."""
            return any(got[name] == old[name] for name in old if name != "the whole")

        set_something = Matches(lambda got: None if got else "nothing", "")
        return {
            "dunder_on_instance": {"repr in fresh": old, "new on fresh.ab.a": AnyOf(["__repr__"], ["__str__"])},
            "unread_attribute": {"repr in fresh": old, "new on fresh.ab.a": set_something},
            "apply_changes_nothing": {"repr in fresh": old},
            "not_applied": {"repr in fresh": right, "repr in model": such_that(not_everywhere)},
            "wrong_return": {"repr in fresh": right, "repr in model": right, "(returned_module is model)": False},
            "other_repr_changed": {"repr in fresh": functions_right},
            "apply_misses_some": {"repr in fresh": some},
            "apply_late_binding": {"repr in fresh": self.wanted(self.names[-1:] * 4)},
            "repr_class_patched": {"repr in fresh": right, "new on fresh.ab.a": [], "function_repr(fresh.ab.a)": ANYTHING},
        }


class OtherNames(NamesInRepr):
    """It is right for any names, in two trees at the same time, after a new name, and for other modules that have a name."""

    claims = ("repr in one tree", "repr in another tree", "a single Function_A", "a Tanh that has a name", "renamed")
    blame = {"a single Function_A": "only_the_children", "a Tanh that has a name": "true_for_others", "renamed": "text_made_once"}

    def named(self, case, tree):
        return dict(zip(("ab.a", "ab.b", "cd.c", "cd.d"), case.words(f"names in {tree}", 4)))

    def probe(self, nb, case):
        with clean_classes():
            trees = {name: case.build("fresh", Model) for name in ("one tree", "another tree")}
            for tree, fresh in trees.items():
                for part, name in self.named(case, tree).items():
                    fresh.get_submodule(part).name = name
                fresh.apply(nb.function("add_repr"))
            shown = {f"repr in {tree}": self.shown(fresh) for tree, fresh in trees.items()}
            name, later = case.words("the names of one alone", 2)
            alone = Function_A(name).apply(nb.function("add_repr"))
            shown["a single Function_A"] = repr(alone)
            alone.name = later
            tanh = named_tanh(case).apply(nb.function("add_repr"))
            return {**shown, "a Tanh that has a name": repr(tanh), "renamed": repr(alone)}

    def truth(self, case):
        name, later = case.words("the names of one alone", 2)
        wanted = {f"repr in {tree}": self.wanted([*self.named(case, tree).values()]) for tree in ("one tree", "another tree")}
        alone = {"a single Function_A": f"Function_A(name={name})", "renamed": f"Function_A(name={later})"}
        return {**wanted, **alone, "a Tanh that has a name": "Tanh()"}

    def mistakes(self, case):
        return {}


class OutsideUnchanged(NamesInRepr):
    """A `Function_*` outside the model, and the classes, stay as they are."""

    blame = {"outside": "repr_class_patched", "(Function_A.extra_repr is nn.Module.extra_repr)": "repr_class_patched"}
    claims = ("outside", "(Function_A.extra_repr is nn.Module.extra_repr)")

    def probe(self, nb, case):
        with clean_classes():
            older = Function_A("older")
            case.build("fresh", Model).apply(nb.function("add_repr"))
            return {
                "outside": [repr(older), *(repr(cls()) for cls in (Function_A, Function_B, Function_C, Function_D))],
                "(Function_A.extra_repr is nn.Module.extra_repr)": Function_A.extra_repr is nn.Module.extra_repr
                and Function_A.__repr__ is nn.Module.__repr__,
            }

    def truth(self, case):
        outside = ["Function_A()", *(f"Function_{letter}()" for letter in "ABCD")]
        return {"outside": outside, "(Function_A.extra_repr is nn.Module.extra_repr)": True}

    def mistakes(self, case):
        return {}


check("named_repr", NamesInRepr, OtherNames, OutsideUnchanged)


# --- Hidden checks: graders run them, learners do not get them. ---
def _another_tree(case):
    """Functions with names of the seed, in an order of the seed, at another depth."""
    kinds = case.shuffled("hidden kinds", [Function_A, Function_B, Function_C, Function_D, Function_B])
    first, *rest = (kind(name) for kind, name in zip(kinds, case.words("hidden names", 5)))
    cut = case.integer("hidden cut", 1, 3)
    return nn.Sequential(first, nn.Sequential(nn.Sequential(*rest[:cut]), *rest[cut:]), named_tanh(case))


class InAnotherTree(Check):
    """In one more tree every `Function_*` shows its name, in `model` too, and none outside."""

    claims = ("repr(tree)", "repr(returned_module)", "function_repr(tree[0])", "outside")  # what repr() returns is the answer itself

    def probe(self, nb, case):
        with clean_classes():
            tree, outside = _another_tree(case), _another_tree(case)
            tree.apply(nb.function("add_repr"))
            return {
                "repr(tree)": repr(tree), "repr(returned_module)": repr(nb.returned_module), "outside": repr(outside),
                "function_repr(tree[0])": nb.function("function_repr")(tree[0]),
            }

    def truth(self, case):
        tree, model = _another_tree(case), Model()
        for part in [*tree.modules(), *model.modules()]:
            if isinstance(part, (Function_A, Function_B, Function_C, Function_D)):
                part.extra_repr = partial(str, f"name={part.name}")
        return {
            "repr(tree)": repr(tree), "repr(returned_module)": repr(model), "outside": repr(_another_tree(case)),
            "function_repr(tree[0])": f"name={tree[0].name}",
        }


check("named_repr", InAnotherTree)
