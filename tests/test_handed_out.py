"""Notebooks that were handed out before the tool had a package of its own still run: nobody's copy is ever overwritten."""

from __future__ import annotations

import pytest

from nbproof.marking.plain import is_plain

CELL = """
from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, is_same
from course.evidence import TensorRecord, Unreadable, snapshot
from course.words import in_words

class Doubled(Check):
    "The double."

    def probe(self, nb, case):
        return {"answer": nb.answer}

    def truth(self, case):
        return {"answer": AnyOf(4.0, Close(5.0, 0.0, 0.5))}

check("doubled", Doubled)
"""


@pytest.mark.parametrize(("answer", "passes"), [(4.0, True), (5.2, True), (3.0, False)])
def test_their_check_cells_find_what_they_import(cell, answer: float, passes: bool) -> None:
    assert not is_plain(CELL)
    if passes:
        cell(CELL, {"answer": answer})
    else:
        with pytest.raises(Exception, match=r"3\.0"):
            cell(CELL, {"answer": answer})
