from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import Unreadable
from course.truths import undisclosed
from course.tree import Model
from nbproof.values.describe import in_words


class VisitOrder(Check):
    """`answer` lists the class names in the order in which `apply` visits."""

    secret = True
    cases = 1
    errors = {r"Unanswered: Model$": "model_for_list"}

    def probe(self, nb, case):
        return {"answer": nb.list("answer")}

    def walk(self, module):
        """The definition of apply, as the documentation has it."""
        names = [name for child in module.children() for name in self.walk(child)]
        return [*names, type(module).__name__]

    def truth(self, case):
        def at_this_visit(name):
            return Matches(
                lambda got: None if got == name else in_words(got), "the class name of the module visited here"
            )

        return {"answer": [at_this_visit(name) for name in self.walk(Model())]}

    def mistakes(self, case):
        model, right = Model(), self.walk(Model())
        first = [type(module).__name__ for module in model.modules()]
        nested = [type(child).__name__ for child in model.children()]
        again = Matches(lambda got: None if len(got) > len(right) and set(got) == set(right) else "no", "")
        other = Matches(lambda got: None if any(x not in right for x in got) else "", "")
        a_model = Matches(lambda got: None if got == [Unreadable("object", "Model")] else "", "")
        return {
            "nothing_collected": {"answer": []},
            "model_for_list": {"answer": a_model},
            "apply_pre_order": {"answer": first},
            "reversed_pre_order": {"answer": first[::-1]},
            "apply_skips_nested": {"answer": AnyOf(nested, [*nested, "Model"], ["Model", *nested])},
            "leaves_only": {"answer": [name for name in right if name.startswith("Function")]},
            "root_missing": {"answer": right[:-1]},
            "model_by_hand": {"answer": [*right, "Model"]},
            "cell_stopped": {"answer": ["Model"]},  # the function was called, not handed over
            "applied_twice": {"answer": right * 2},
            "recurses_again": {"answer": again},
            "not_class_names": {"answer": other},
        }


check("visit_order", VisitOrder)


# --- Hidden checks: graders run them, learners do not get them. ---
class AsApplyGoes(Check):
    """`answer` lists the class names in the order in which `apply` visits the modules."""

    constant = "a prediction: whoever runs the given code sees it"
    secret = True
    cases = 1

    def probe(self, nb, case):
        return {"answer": nb.list("answer")}

    def truth(self, case):
        names = []
        Model().apply(lambda module: names.append(type(module).__name__))
        return {"answer": undisclosed(names, "the class names in the order of the visits")}


check("visit_order", AsApplyGoes)
