"""A rubric: items of text and points, each with a letter, made while marking. A mark that rests on items has their points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nbproof.files import digest_of
from nbproof_desk.marks import Change, Given
from nbproof_desk.questions import MarkedQuestion

__all__ = ["LETTERS", "Item", "Rubric", "items_of_json"]

LETTERS = "abdefghlmopqrstwxyz"
"""Letters that items have: the others are keys of the page's own."""


@dataclass(frozen=True)
class Item:
    """One thing that an answer may have, or lack."""

    text: str
    points: float


@dataclass(frozen=True)
class Rubric:
    """The items of a question by their letters, and the last change of each mark that the journal knows.

    A mark rests on the items of its last change as long as the gradebook has the points that this change has given.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    last: Mapping[str, Change] = field(default_factory=dict)

    def letters_of(self, learner: str, given: Given) -> str:
        """The letters that a learner's mark rests on; empty if somebody has given other points since."""
        change = self.last.get(learner)
        if change is None:
            return ""
        if change.after.scores == given.scores:
            return change.letters
        # The process may have been killed before the gradebook had the last change.
        return change.letters_before if change.before.scores == given.scores else ""

    @property
    def free(self) -> str:
        """The letter of the next item; empty if there is none left."""
        return next((letter for letter in LETTERS if letter not in self.items), "")

    @property
    def version(self) -> str:
        """A digest of the items: a page tells which ones it has shown."""
        return digest_of(json.dumps(self.as_json()).encode())[:12]

    def with_item(self, letter: str, item: Item | None) -> Rubric:
        """The rubric with this item, or, for None, without one of this letter."""
        others = {name: one for name, one in self.items.items() if name != letter}
        if item is not None:
            others[letter] = item
        return replace(self, items=dict(sorted(others.items())))

    def points(self, letters: str, most: float) -> float:
        """The sum of these items, from 0 to all points of a question."""
        return min(max(sum(self.items[one].points for one in letters if one in self.items), 0.0), most)

    def comment(self, letters: str, said: str, before: Rubric) -> str | None:
        """A comment with a line for each of these items, above what was said besides. ``before``: the rubric with the texts
        that the comment may have."""
        known = {one.text for one in (*self.items.values(), *before.items.values())}
        own = [line for line in said.splitlines() if line.strip() not in known]
        texts = [self.items[one].text for one in letters if one in self.items]
        return "\n".join([*texts, *own]).strip() or None

    def change(
        self, question: MarkedQuestion, learner: str, given: Given, letters: str, said: str | None, before: Rubric
    ) -> Change:
        """The change that has a mark rest on these items. ``said``: the new comment; None if it stays."""
        kept = "".join(one for one in sorted(set(letters)) if one in self.items)
        after = given.with_points(question.shared(self.points(kept, question.most)))
        text = given.comment if said is None else said
        after = replace(after, comment=self.comment(kept, text or "", before))
        return Change(learner, given, after, before.letters_of(learner, given), kept)

    def as_json(self) -> dict[str, Any]:
        """The items, for the journal."""
        return {letter: [one.text, one.points] for letter, one in self.items.items()}


def items_of_json(kept: Mapping[str, Any]) -> dict[str, Item]:
    """What :meth:`Rubric.as_json` wrote down."""
    return {str(letter): Item(str(text), float(points)) for letter, (text, points) in kept.items()}
