from nbproof import Check, check


def pairs_of(case, number):
    """By the definition, of so many words: the one at each place but the last, with the one at the next place."""
    items = case.words("items", number)
    return [[items[at], items[at + 1]] for at in range(len(items) - 1)]


class _Neighbours(Check):
    """What all checks of `neighbours` have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: .*object is not subscriptable": "needs_a_list",
        r"TypeError: object of type .* has no len": "needs_a_list",
        r"TypeError: .* object is not an iterator": "next_of_an_iterable",
        r"(StopIteration|RuntimeError: generator raised StopIteration|IndexError)": "neighbours_of_nothing",
    }


class EachWithTheNext(_Neighbours):
    """Each thing of a list comes with the one that follows it."""

    def probe(self, nb, case):
        return {"neighbours(items)": nb.function("neighbours")(case.words("items", 6))}

    def truth(self, case):
        return {"neighbours(items)": pairs_of(case, 6)}

    def mistakes(self, case):
        items, wanted = case.words("items", 6), pairs_of(case, 6)
        brought = {
            "returns_nothing": None,
            "neighbours_in_twos": wanted[::2],
            "neighbours_swapped": [pair[::-1] for pair in wanted],
            "neighbours_in_a_ring": [*wanted, [items[-1], items[0]]],
            "neighbours_of_the_first": [[items[0], item] for item in items[1:]],
        }
        return {hint: {"neighbours(items)": value} for hint, value in brought.items()} | {
            "neighbours_none": {"neighbours(items)": [[None, items[0]], *wanted]}
        }


class FromAnIterator(_Neighbours):
    """It works on an iterator as well."""

    blame = {"neighbours(items)": "one_needle_for_two"}

    def probe(self, nb, case):
        return {"neighbours(items)": nb.function("neighbours")(iter(case.words("items", 5)))}

    def truth(self, case):
        return {"neighbours(items)": pairs_of(case, 5)}


class FewerThanTwo(_Neighbours):
    """Fewer than two things have no neighbours."""

    blame = {"neighbours of 2, 1 and 0 things": "neighbours_of_nothing"}

    def probe(self, nb, case):
        neighbours, items = nb.function("neighbours"), case.words("items", 2)
        return {"neighbours of 2, 1 and 0 things": [neighbours(items[:number]) for number in (2, 1, 0)]}

    def truth(self, case):
        return {"neighbours of 2, 1 and 0 things": [[case.words("items", 2)], [], []]}


check("neighbours", EachWithTheNext, FromAnIterator, FewerThanTwo)

# --- Hidden checks: graders run them, learners do not get them. ---
class AnyThings(_Neighbours):
    """0, an empty text and None are things like all others, also in a stream."""

    blame = {"neighbours(items)": "neighbours_asks_for_truth"}

    def probe(self, nb, case):
        neighbours, things = nb.function("neighbours"), case.shuffled("items", [0, 5, "", 7, None, 3])
        return {"neighbours(items)": neighbours(iter(things)), "of nothing": neighbours(iter([]))}

    def truth(self, case):
        things = case.shuffled("items", [0, 5, "", 7, None, 3])
        return {"neighbours(items)": [[things[at], things[at + 1]] for at in range(5)], "of nothing": []}


check("neighbours", AnyThings)
