from hypothesis import strategies as st

from nbproof.authoring.explorer import Exploration
from nbproof.checks.case import Plan


def sources(items):
    """The items as a list, a tuple, an iterator, a generator or a range of so many."""
    ways = (f"{items}", f"tuple({items})", f"iter({items})", f"(one for one in {items})", f"range({len(items)})")
    return st.sampled_from(ways).map(lambda text: Plan(f"_ = {text}"))


class AnySource(Exploration):
    """`take` gives the first items of whatever can be walked, however few there are, and takes no more than these."""

    draws = {"items": st.lists(st.integers(-9, 9), max_size=4).flatmap(sources), "n": st.integers(0, 5)}

    def probe(self, nb, case):
        source = iter(case.drawn("items"))
        return {"take(items, n)": nb.function("take")(source, case.drawn("n")), "what is left": list(source)}

    def truth(self, case):
        items, n = list(case.drawn("items")), case.drawn("n")
        return {"take(items, n)": items[:n], "what is left": items[n:]}
