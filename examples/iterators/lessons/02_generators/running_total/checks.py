from itertools import islice

from nbproof import Check, Matches, check


def numbers_of(case, count):
    """So many positive numbers."""
    return [case.integer(f"number{at}", 1, 50) for at in range(count)]


def sums(case, count):
    """By the definition, of so many numbers: the sum of the first one, of the first two, and so on."""
    numbers = numbers_of(case, count)
    return [sum(numbers[: at + 1]) for at in range(len(numbers))]


def higher_throughout(wanted):
    """Accepts totals that are all too high by the same number: what an earlier call has left in them."""

    def test(found):
        if not isinstance(found, list) or len(found) != len(wanted) or not all(type(one) is int for one in found):
            return "something else"
        return None if len({one - right for one, right in zip(found, wanted)}) == 1 else "something else"

    return Matches(test, "the same totals, each too high by as much")


class _Total(Check):
    """What all checks of `running_total` have in common."""

    errors = {
        r"TypeError: 'NoneType' object is not iterable": "returns_nothing",
        r"TypeError: 'int' object is not iterable": "returns_instead_of_yield",
    }


class SumsSoFar(_Total):
    """After each number comes the sum of all numbers so far, in each call anew."""

    def probe(self, nb, case):
        return {"list(running_total(numbers))": list(nb.function("running_total")(numbers_of(case, 5)))}

    def truth(self, case):
        return {"list(running_total(numbers))": sums(case, 5)}

    def mistakes(self, case):
        numbers = numbers_of(case, 5)
        brought = {
            "total_forgets": numbers,
            "total_only_once": [sum(numbers)],
            "total_before_adding": [0, *sums(case, 5)[:-1]],
            "total_kept_between_calls": higher_throughout(sums(case, 5)),
        }
        return {hint: {"list(running_total(numbers))": value} for hint, value in brought.items()}


class OneAtATime(_Total):
    """A total is there as soon as its numbers are: the rest is still in the source."""

    def probe(self, nb, case):
        source = iter(numbers_of(case, 7))
        totals = list(islice(nb.function("running_total")(source), 3))
        return {"a list of three totals": totals, "what is left in the source": list(source)}

    def truth(self, case):
        return {"a list of three totals": sums(case, 7)[:3], "what is left in the source": numbers_of(case, 7)[3:]}

    def mistakes(self, case):
        return {"reads_everything": {"what is left in the source": []}}


check("running_total", SumsSoFar, OneAtATime)

# --- Hidden checks: graders run them, learners do not get them. ---
class ZeroIsATotal(_Total):
    """A sum of zero is handed out like any other, as soon as it is there."""

    blame = {"list(running_total(numbers))": "total_skips_zero"}

    def there_and_back(self, case):
        first, second = case.integer("first", 2, 40), case.integer("second", 41, 90)
        return [first, -first, second]

    def probe(self, nb, case):
        source = iter([*self.there_and_back(case), case.integer("more", 3, 99)])
        totals = list(islice(nb.function("running_total")(source), 3))
        return {"list(running_total(numbers))": totals, "what is left in the source": list(source)}

    def truth(self, case):
        first, _, last = self.there_and_back(case)
        return {
            "list(running_total(numbers))": [first, 0, last],
            "what is left in the source": [case.integer("more", 3, 99)],
        }


check("running_total", ZeroIsATotal)
