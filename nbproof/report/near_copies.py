"""Submissions that are near copies of each other: how likely it is, and what says so.

Two learners who write the same three lines have mostly just both got it right. So equal answers count
by how rare they are in this class, among those whose answer ended alike: for each exercise the evidence is

    log2( (c + (1 - c) p) / p )    bits where the two answers are nearly equal,
    log2( 1 - c )                  bits where both answered, and differ.

``p`` is the share of the class (same lesson, same outcome) that is as near to this answer as the other
one is, ``c`` how much of a lesson is copied by who copies: half, most or nearly all of it, each as likely.
The sum over a lesson's exercises, with a prior for how rare copying is, gives a probability. It assumes
that learners who work alone choose independently, which friends, tutors and a common textbook spoil: a
reason to talk, no proof.

Answers are compared by TF-IDF over token n-grams, after the stub's lines, comments, names of one's own, strings,
spaces and the order of lines are gone; and once more as they are written, names and comments included.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbproof.marking.results import Score
from nbproof.report.answers import features, known_words, raw_features, similarity, vectors
from nbproof.report.records import ClassLesson

__all__ = ["SMALLEST_CLASS", "Evidence", "Group", "Pair", "grouped", "near_copies", "sureness"]

SMALLEST_CLASS = 5
"""Below this nobody can say what is usual."""

_COPIED = (0.5, 0.8, 0.97)
_COPIERS = 0.1
"""How many learners are expected to have copied, before anything is seen."""
_NEAR, _NEAR_RAW = 0.8, 0.9
_SHOWN_FROM = 0.5
_BLOCK = 256
_MOST_PAIRS = 1000


@dataclass(frozen=True)
class Evidence:
    """What one exercise says about two learners. ``bits``: above 0 for copying."""

    exercise: str
    bits: float
    similarity: float
    verbatim: bool
    """Whether names and comments are the same as well."""
    as_near: int
    """How many other learners have an answer that is as near."""


@dataclass(frozen=True)
class Pair:
    """Two learners of one lesson, ordered by id."""

    lesson: str
    first: str
    second: str
    probability: float
    bits: float
    evidence: tuple[Evidence, ...]
    """Most telling first."""
    both_answered: int

    @property
    def near(self) -> int:
        """In how many exercises the answers are nearly equal."""
        return sum(one.bits > 0 for one in self.evidence)


@dataclass(frozen=True)
class Group:
    """Learners who are joined by pairs, surest pair first."""

    lesson: str
    learners: tuple[str, ...]
    pairs: tuple[Pair, ...]


def sureness(probability: float) -> str:
    """In words."""
    return "very likely" if probability >= 0.99 else "likely" if probability >= 0.9 else "worth a look"


def near_copies(lesson: ClassLesson, works: Sequence[Score]) -> list[Pair]:
    """Pairs that are more likely copies than not, surest first. A thousand submissions take some seconds."""
    import numpy as np

    count = len(works)
    if count < SMALLEST_CLASS:
        return []
    known = known_words(lesson.given)
    names = [name for name in lesson.stubs if any(work.verdict.answers.get(name, "").strip() for work in works)]
    compared = [_Compared(name, lesson.stubs[name], works, known) for name in names]
    sums = [np.zeros((count, count), dtype=np.float32) for _ in _COPIED]
    for exercise in compared:
        exercise.add_to(sums)
    total = np.logaddexp2.reduce(sums) - math.log2(len(sums))
    both = np.minimum(total, total.T)
    prior = math.log2(_COPIERS / (count - 1))
    least = -prior + math.log2(_SHOWN_FROM / (1 - _SHOWN_FROM))
    rows, columns = np.nonzero(np.triu(both >= least, 1))
    order = np.argsort(-both[rows, columns], kind="stable")[:_MOST_PAIRS]
    pairs = []
    for row, column in zip(rows[order], columns[order], strict=True):
        evidence = [one for exercise in compared if (one := exercise.between(int(row), int(column)))]
        bits = float(both[row, column])
        pairs.append(
            Pair(
                lesson.slug, works[row].learner, works[column].learner, 1 / (1 + 2.0 ** -min(60.0, bits + prior)), bits,
                tuple(sorted(evidence, key=lambda one: -one.bits)), len(evidence),
            )
        )  # fmt: skip
    return pairs


class _Compared:
    """One exercise: who answered it, and how near the answers are."""

    def __init__(self, name: str, stub: str, works: Sequence[Score], known: frozenset[str]) -> None:
        import numpy as np

        self.name = name
        texts = [work.verdict.answers.get(name, "") for work in works]
        self.answered = np.array([bool(text.strip()) and text.strip() != stub.strip() for text in texts])
        self.who = np.flatnonzero(self.answered)
        ended = [next((one.is_whole for one in work.verdict.exercises if one.id == name), False) for work in works]
        self.right = np.array(ended, dtype=bool)[self.who]
        # A class writes the same again and again.
        seen = {text: (features(text, stub, known), raw_features(text, stub)) for text in {texts[i] for i in self.who}}
        self.rows = vectors([seen[texts[i]][0] for i in self.who])
        self.raw = vectors([seen[texts[i]][1] for i in self.who])

    def add_to(self, sums: Sequence[Any]) -> None:
        """Add the bits of every two who answered, in the eyes of the one in the row, for each of ``_COPIED``."""
        for start in range(0, len(self.who), _BLOCK):
            block = slice(start, start + _BLOCK)
            near = similarity(self.rows[block], self.rows)
            raw = similarity(self.raw[block], self.raw)
            for offset in range(near.shape[0]):
                place = start + offset
                p, _ = self._chances(place, near[offset], raw[offset])
                for total, copied in zip(sums, _COPIED, strict=True):
                    bits = _bits(p, copied)
                    bits[place] = 0.0
                    total[self.who[place], self.who] += bits

    def _chances(self, row: int, near: Any, raw: Any) -> tuple[Any, Any]:
        """For each other who answered: how likely somebody is as near by chance (NaN: not near), and how many are."""
        import numpy as np

        alike = self.right == self.right[row]
        alike[row] = False
        others = np.ones(len(self.who), dtype=bool)
        others[row] = False
        as_near = np.zeros(len(self.who), dtype=int)
        chance = np.ones(len(self.who))
        for values, threshold in ((near, _NEAR), (raw, _NEAR_RAW)):
            found = np.flatnonzero((values >= threshold) & others)
            if not len(found):
                continue
            for group in (alike, others):
                # Who ended otherwise is compared with the whole class.
                here = found[alike[found]] if group is alike else found[~alike[found]]
                if not len(here):
                    continue
                sorted_values = np.sort(values[group])
                at_least = len(sorted_values) - np.searchsorted(sorted_values, values[here] - 1e-6)
                rivals = np.maximum(at_least - 1, 0)
                guess = 1.0 if self.right[row] else 0.5
                p = (rivals + guess) / (len(sorted_values) - 1 + 2)
                better = p < chance[here]
                as_near[here] = np.where(better, rivals, as_near[here])
                chance[here] = np.minimum(chance[here], p)
        chance[(near < _NEAR) | ~others] = np.nan
        return chance, as_near

    def between(self, first: int, second: int) -> Evidence | None:
        """What this exercise says about two learners; None if one of them did not answer it."""
        import numpy as np

        if not (self.answered[first] and self.answered[second]):
            return None
        one, other = (int(np.searchsorted(self.who, place)) for place in (first, second))
        found = []
        for row, column in ((one, other), (other, one)):
            near, raw = similarity(self.rows[row], self.rows)[0], similarity(self.raw[row], self.raw)[0]
            p, as_near = self._chances(row, near, raw)
            bits = float(_bits(p[column], _COPIED[1]))
            found.append((bits, float(near[column]), bool(raw[column] >= 0.999), int(as_near[column])))
        bits_least, near_at, verbatim, _ = min(found)
        return Evidence(self.name, bits_least, near_at, verbatim, max(item[3] for item in found))


def _bits(p: Any, copied: float) -> Any:
    """Evidence for copying, in bits. ``p`` is NaN where the answers differ."""
    import numpy as np

    return np.where(np.isnan(p), math.log2(1 - copied), np.log2((copied + (1 - copied) * p) / p))


def grouped(pairs: Sequence[Pair]) -> list[Group]:
    """Pairs that share a learner, together; surest group first."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    groups = []
    for lesson in dict.fromkeys(pair.lesson for pair in pairs):
        own = [pair for pair in pairs if pair.lesson == lesson]
        people = sorted({name for pair in own for name in (pair.first, pair.second)})
        place = {name: number for number, name in enumerate(people)}
        ends = [place[pair.first] for pair in own], [place[pair.second] for pair in own]
        graph = coo_matrix(([1] * len(own), ends), shape=(len(people), len(people)))
        count, labels = connected_components(graph, directed=False)
        for label in range(count):
            members = tuple(name for name in people if labels[place[name]] == label)
            inside = tuple(pair for pair in own if pair.first in members)
            groups.append(Group(lesson, members, inside))
    return sorted(groups, key=lambda group: (-group.pairs[0].bits, group.learners))
