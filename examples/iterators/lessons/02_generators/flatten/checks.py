from nbproof import AnyOf, Check, Matches, check


def holds_a_generator(found):
    """Accepts what has a generator among its things. What is no plain data comes as a description of it."""
    there = isinstance(found, list) and any(getattr(one, "of", "") == "generator" for one in found)
    return None if there else "something else"


class _Flatten(Check):
    """What all checks of `flatten` have in common."""

    errors = {
        r"TypeError: 'NoneType' object is not iterable": "returns_nothing",
        r"RecursionError": "flatten_opens_texts",
        r"TypeError: '\w+' object is not iterable": "flatten_opens_everything",
    }


class BoxesInABox(_Flatten):
    """The things of inner lists come in their places; a text stays whole."""

    def nested(self, case):
        one, two, three, four, five = case.words("things", 5)
        return [one, [two, three], four, [five]]

    def probe(self, nb, case):
        return {"list(flatten(nested))": list(nb.function("flatten")(self.nested(case)))}

    def truth(self, case):
        return {"list(flatten(nested))": case.words("things", 5)}

    def mistakes(self, case):
        one, two, three, four, five = case.words("things", 5)
        brought = {
            "flatten_call_without_yield": [one, four],
            "flatten_hands_out_boxes": self.nested(case),
            "flatten_first_of_a_box": [one, two, four, five],
            "flatten_opens_texts": AnyOf(list("".join(case.words("things", 5))), [*one, two, three, *four, five]),
            "flatten_yields_a_generator": Matches(holds_a_generator, "a generator among the things"),
        }
        return {hint: {"list(flatten(nested))": value} for hint, value in brought.items()}


class AnyDepth(_Flatten):
    """Lists within lists are opened to any depth, and empty ones hold nothing."""

    blame = {"list(flatten(nested))": "flatten_one_level"}

    def probe(self, nb, case):
        one, two, three = case.words("things", 3)
        return {"list(flatten(nested))": list(nb.function("flatten")([[[[one], []], two], [], [[[[three]]]]]))}

    def truth(self, case):
        return {"list(flatten(nested))": case.words("things", 3)}


check("flatten", BoxesInABox, AnyDepth)

# --- Hidden checks: graders run them, learners do not get them. ---
class OnlyLists(_Flatten):
    """A tuple is a thing like any other, and so is a number."""

    blame = {"list(flatten(nested))": "flatten_opens_everything"}

    def things(self, case):
        return (case.integer("x", 1, 90), case.integer("y", 1, 90)), case.integer("z", 1, 90), case.integer("v", 1, 90)

    def probe(self, nb, case):
        pair, one, other = self.things(case)
        return {"list(flatten(nested))": list(nb.function("flatten")([other, [pair, [one]]]))}

    def truth(self, case):
        pair, one, other = self.things(case)
        return {"list(flatten(nested))": [other, pair, one]}


check("flatten", OnlyLists)
