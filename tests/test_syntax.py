"""Syntax trees that several threads want at once."""

from __future__ import annotations

import gc
import threading

from nbproof.syntax import parsed

WHILE_IT_IS_BUILT = 200
"""New objects until garbage is collected: more than anything but the tree itself makes."""
LONG = "\n".join(f"name_{number} = [one + two, {{three: four}}]" for number in range(200))


class Finalised:
    """Garbage, once it is let go: its end is Python code, so that other threads may run."""

    def __init__(self) -> None:
        self.itself = self
        self.waits: list[bool] = []
        self.other = threading.Thread(target=parsed, args=["1"])

    def __del__(self) -> None:
        self.other.start()
        self.other.join(0.5)
        self.waits.append(self.other.is_alive())


def test_no_other_tree_is_begun_while_one_is_built() -> None:
    before = gc.get_threshold()
    gc.collect()
    one = Finalised()
    waits, other = one.waits, one.other
    gc.set_threshold(WHILE_IT_IS_BUILT)
    del one
    try:
        assert len(parsed(LONG).body) == 200
    finally:
        gc.set_threshold(*before)
    assert waits == [True]
    other.join(10)
    assert not other.is_alive()


def test_what_a_text_would_be_warned_of_is_not_told() -> None:
    assert len(parsed(r"pattern = '\d'").body) == 1
