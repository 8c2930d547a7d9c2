"""The class: its members, and the names and numbers that stand for each of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from nbproof_lms.names import bare, plain

__all__ = ["Member", "Roster"]


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them."""

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()
    """What else stands for them: other spellings, other ids, and the number that Canvas gives them (digits alone; an id of
    digits, such as a number of matriculation, is written ``id 123``, Moodle's number in one assignment ``participant 123``)."""


@dataclass(frozen=True)
class Roster:
    """Names and numbers, and the learners that they stand for."""

    members: tuple[Member, ...] = ()
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    """Plain and bare forms of every alias."""
    numbers: dict[str, frozenset[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    strict: bool = True
    """Whether a name that is not in it is nobody's; else that name is read as if there were no roster."""
    expected: tuple[str, ...] = ()
    """Those of whom something is to come: everybody of a table that was named with the upload."""

    @property
    def learners(self) -> tuple[str, ...]:
        """Their ids, in the order of the file."""
        return tuple(member.learner for member in self.members)

    def who(self, name: str, number: str = "", system: str = "") -> frozenset[str]:
        """The learners that a name, and the LMS's number with it, may mean. Several: it is not clear. None: nobody."""
        by_number = self.numbers.get(number, frozenset()) if number else frozenset()
        if number.isdecimal() and system != "Canvas":
            # What Moodle itself calls a participant says more than another LMS's number that is equal.
            by_number = self.numbers.get(f"participant {int(number)}") or by_number
        by_name = self.names.get(plain(name)) or self.names.get(bare(name)) or frozenset()
        if by_number and by_name:
            # The number settles which of two that share a name; where the two contradict each other, nobody is chosen.
            return by_number & by_name or by_number | by_name
        return by_number or by_name

    def within(self, text: str, says_nothing: Callable[[str], bool]) -> frozenset[str]:
        """The learners whose name stands in a text as words of its own, if all other words say nothing."""
        words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text))[:40]
        found: frozenset[str] = frozenset()
        for length in (4, 3, 2, 1):
            for at in range(len(words) - length + 1):
                name, rest = bare("".join(words[at : at + length])), words[:at] + words[at + length :]
                if len(name) > 1 and all(says_nothing(word) for word in rest):
                    found |= self.names.get(name, frozenset())
        return found
