from nbproof import Check, check


def brought(take, items, n):
    """What `take` returns, and what it has left for the caller."""
    return {"take(items, n)": take(items, n), "what is left": list(items)}


class _Take(Check):
    """What all checks of `take` have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: .*object is not subscriptable": "needs_a_list",
        r"TypeError: object of type .* has no len": "needs_a_list",
        r"(StopIteration|RuntimeError: generator raised StopIteration)": "take_asks_an_empty_source",
        r"TypeError: .* object is not an iterator": "next_of_an_iterable",
    }


class FirstOfAList(_Take):
    """The first `n` things of a list come in a list, in their order."""

    def probe(self, nb, case):
        return {"take(items, n)": nb.function("take")(case.words("items", 6), case.integer("n", 3, 5))}

    def truth(self, case):
        return {"take(items, n)": case.words("items", 6)[: case.integer("n", 3, 5)]}

    def mistakes(self, case):
        words, n = case.words("items", 6), case.integer("n", 3, 5)
        return {
            "returns_nothing": {"take(items, n)": None},
            "take_off_by_one": {"take(items, n)": words[: n - 1]},
            "take_returns_too_early": {"take(items, n)": words[:1]},
        }


class FromAnIterator(_Take):
    """It works on an iterator as well."""

    def probe(self, nb, case):
        return {"take(items, n)": nb.function("take")(iter(case.words("items", 7)), 3)}

    def truth(self, case):
        return {"take(items, n)": case.words("items", 7)[:3]}


class LeavesTheRest(_Take):
    """What comes after the first `n` things is still in the iterator."""

    blame = {"what is left": "take_one_too_many"}

    def probe(self, nb, case):
        return brought(nb.function("take"), iter(case.words("items", 9)), case.integer("n", 2, 5))

    def truth(self, case):
        n = case.integer("n", 2, 5)
        return {"take(items, n)": case.words("items", 9)[:n], "what is left": case.words("items", 9)[n:]}

    def mistakes(self, case):
        return {"reads_everything": {"what is left": []}}


class FewerThanAskedFor(_Take):
    """If there are fewer than `n` things, all of them come."""

    blame = {"take(items, n)": "take_asks_an_empty_source"}

    def probe(self, nb, case):
        return {"take(items, n)": nb.function("take")(iter(case.words("items", 2)), 5)}

    def truth(self, case):
        return {"take(items, n)": case.words("items", 2)}


check("take", FirstOfAList, FromAnIterator, LeavesTheRest, FewerThanAskedFor)

# --- Hidden checks: graders run them, learners do not get them. ---
class NothingAskedFor(_Take):
    """If nothing is asked for, nothing is taken, and whoever asks for more than there is gets all."""

    blame = {"take(items, 0), and then take(items, 2)": "take_at_least_one"}

    def probe(self, nb, case):
        take, items = nb.function("take"), iter(case.words("hidden items", 5))
        both = [take(items, 0), take(items, 2)]
        of_a_list = take(case.words("hidden list", 4), 3)
        return {"take(items, 0), and then take(items, 2)": both, "of the rest": take(items, 9), "of a list": of_a_list}

    def truth(self, case):
        words, of_a_list = case.words("hidden items", 5), case.words("hidden list", 4)[:3]
        both = [[], words[:2]]
        return {"take(items, 0), and then take(items, 2)": both, "of the rest": words[2:], "of a list": of_a_list}


check("take", NothingAskedFor)
