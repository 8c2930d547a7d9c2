from itertools import islice

from nbproof import AnyOf, Check, check


def pieces(case, number, size):
    """By the definition, of so many words: those from place 0 on, from place `size` on, and so on."""
    items = case.words("items", number)
    return [items[at : at + size] for at in range(0, len(items), size)]


class _Chunks(Check):
    """What all checks of `chunks` have in common."""

    errors = {
        r"TypeError: 'NoneType' object is not iterable": "returns_nothing",
        r"TypeError: .*object is not subscriptable": "chunks_needs_a_list",
        r"TypeError: object of type .* has no len": "chunks_needs_a_list",
    }


class ShortLast(_Chunks):
    """Lists of `size` things each come in their order; the last one holds what is left."""

    def probe(self, nb, case):
        return {"list(chunks(items, size))": list(nb.function("chunks")(case.words("items", 8), 3))}

    def truth(self, case):
        return {"list(chunks(items, size))": pieces(case, 8, 3)}

    def mistakes(self, case):
        items, wanted = case.words("items", 8), pieces(case, 8, 3)
        brought = {
            "returns_instead_of_yield": items[:3],
            "chunks_drops_the_last": wanted[:-1],
            "chunks_one_list": AnyOf([items[-2:]] * 3, [items] * 3, [[]] * 3),
            "chunks_filled_up": [*wanted[:-1], [*wanted[-1], None]],
            "chunks_one_too_many": pieces(case, 8, 4),
            "chunks_overlap": [items[at : at + 3] for at in range(8)],
        }
        return {hint: {"list(chunks(items, size))": value} for hint, value in brought.items()}


class FromAStream(_Chunks):
    """A list comes as soon as its things are there: the rest is still in the source."""

    blame = {"what is left in the source": "chunks_takes_ahead"}

    def probe(self, nb, case):
        source = iter(case.words("items", 11))
        found = list(islice(nb.function("chunks")(source, 3), 2))
        return {"a list of two chunks": found, "what is left in the source": list(source)}

    def truth(self, case):
        items = case.words("items", 11)
        return {"a list of two chunks": pieces(case, 11, 3)[:2], "what is left in the source": items[6:]}

    def mistakes(self, case):
        return {"reads_everything": {"what is left in the source": []}}


check("chunks", ShortLast, FromAStream)

# --- Hidden checks: graders run them, learners do not get them. ---
class NoEmptyList(_Chunks):
    """No list is empty, and each takes what it needs of a stream, no more."""

    blame = {"list(chunks(items, size))": "chunks_empty_at_the_end"}

    def probe(self, nb, case):
        chunks, source = nb.function("chunks"), iter(case.words("stream", 7))
        made = iter(chunks(source, 4))
        return {
            "list(chunks(items, size))": list(chunks(case.words("items", 6), 2)),
            "the first of another stream, then what comes next in it": [next(made, None), next(source, None)],
            "the other lists": list(made),
        }

    def truth(self, case):
        words, stream = case.words("items", 6), case.words("stream", 7)
        return {
            "list(chunks(items, size))": [words[:2], words[2:4], words[4:]],
            "the first of another stream, then what comes next in it": [stream[:4], stream[4]],
            "the other lists": [stream[5:]],
        }


check("chunks", NoEmptyList)
