from itertools import islice

from nbproof import Check, check


def walked(countdown):
    """What a loop gets, a few things at most: a countdown without an end must not run for ever."""
    return list(islice(countdown, 20))


class _Countdown(Check):
    """What all checks of `Countdown` have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: iter\(\) returned non-iterator of type 'NoneType'": "returns_nothing",
        r"TypeError: iter\(\) returned non-iterator": "countdown_no_iterator",
    }


class DownToOne(_Countdown):
    """A loop gets start, start - 1, ..., 1."""

    def probe(self, nb, case):
        return {"list(Countdown(start))": walked(nb.function("Countdown")(case.integer("start", 4, 8)))}

    def truth(self, case):
        return {"list(Countdown(start))": list(range(case.integer("start", 4, 8), 0, -1))}

    def mistakes(self, case):
        start = case.integer("start", 4, 8)
        ends = {end: {"list(Countdown(start))": list(range(start, end, -1))} for end in (-1, 1)}
        return {"countdown_end": ends[-1], "countdown_ends_early": ends[1]}


class Again(_Countdown):
    """A second loop over the same countdown gets the same."""

    blame = {"the second walk": "countdown_used_up"}

    def probe(self, nb, case):
        countdown = nb.function("Countdown")(case.integer("start", 3, 7))
        return {"the first walk": walked(countdown), "the second walk": walked(countdown)}

    def truth(self, case):
        numbers = list(range(case.integer("start", 3, 7), 0, -1))
        return {"the first walk": numbers, "the second walk": numbers}


class TwoLoopsAtOnce(_Countdown):
    """Two loops at the same time do not disturb each other."""

    blame = {"what two loops get, by turns": "countdown_one_needle"}

    def probe(self, nb, case):
        countdown = nb.function("Countdown")(case.integer("start", 4, 7))
        first, second = iter(countdown), iter(countdown)
        return {"what two loops get, by turns": [next(one, "nothing") for one in (first, second, first, second, first)]}

    def truth(self, case):
        start = case.integer("start", 4, 7)
        return {"what two loops get, by turns": [start, start, start - 1, start - 1, start - 2]}


check("countdown", DownToOne, Again, TwoLoopsAtOnce)

# --- Hidden checks: graders run them, learners do not get them. ---
class FromZero(_Countdown):
    """A countdown from 0 gives nothing; another one serves any loops."""

    blame = {"Countdown(0), and then another one": "countdown_of_nothing"}

    def probe(self, nb, case):
        countdown, start = nb.function("Countdown"), case.integer("another start", 9, 18)
        one = countdown(start)
        first, second = iter(one), iter(one)
        turns = [next(loop, "nothing") for loop in (first, second, first)]
        both = walked(countdown(0)) + walked(countdown(start))
        return {"Countdown(0), and then another one": both, "two loops by turns, and a third": turns + walked(one)}

    def truth(self, case):
        start = case.integer("another start", 9, 18)
        numbers = [*range(start, 0, -1)]
        turns = [start, start, start - 1, *numbers]
        return {"Countdown(0), and then another one": numbers, "two loops by turns, and a third": turns}


check("countdown", FromZero)
