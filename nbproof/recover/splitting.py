"""Takes cells apart that were merged: released text is cut out, and code is cut where another exercise begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nbproof.recover.exported import ExportedCell
from nbproof.recover.released import Handout
from nbproof.recover.similarity import Code, Likeness, bare, line_keys

__all__ = ["Part", "anchored", "segments"]


@dataclass(frozen=True)
class Part:
    """A cell of a submission, or a piece of one that was merged."""

    text: str
    name: str | None
    kind: str
    id: str = ""
    place: int | None = None
    """The released cell whose text it is."""
    whole: bool = True
    cut: bool = False
    """Whether it stood in one cell with something else."""
    foreign: bool = False
    """Whether it has an id that this lesson does not know: a renamed one, or one of another lesson."""


_RENDERED = re.compile(r"\W+")
_SHORTEST = 12
"""Characters of a released text that is looked for inside of other cells."""


def anchored(handout: Handout, cells: Sequence[ExportedCell]) -> list[Part]:
    """The cells in their order; which are released ones, and released texts cut out of those that hold more."""
    places = _Places(handout)
    parts: list[Part] = []
    for cell in cells:
        name = cell.name if cell.name in places.own else None
        foreign = cell.name is not None and name is None
        place = places.find(name, cell.source, cell.kind, cell.whole)
        parts.append(Part(cell.source, name, cell.kind, cell.id, place, cell.whole, foreign=foreign))
    found = {part.place for part in parts}
    absent = [
        (place, [key for line in line_keys(released.source) if (key := _line(line))])
        for place, released in enumerate(handout.cells)
        if place not in found and released.kind not in ("answer", "written") and len(bare(released.source)) >= _SHORTEST
    ]
    locked = [(place, keys) for place, keys in absent if handout.cells[place].kind in ("test", "setup")]
    kinds = {cell.name: cell.kind for cell in handout.cells if cell.name}
    # What is left of a locked cell has no id of its own.
    parts = [
        replace(part, name=None) if part.place is None and kinds.get(part.name or "") in ("test", "setup") else part
        for part in parts
    ]
    return [
        piece
        for part in parts
        for piece in (
            _without(part, locked if part.name and part.kind == "code" else absent) if part.place is None else [part]
        )
    ]


class _Places:
    """Which released cell a text is."""

    def __init__(self, handout: Handout) -> None:
        self.handout = handout
        self.own = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.texts: dict[str, list[int]] = {}
        for place, cell in enumerate(handout.cells):
            self.texts.setdefault(bare(cell.source), []).append(place)
            if cell.kind == "prose" and len(cell.source) > 40:
                self.texts.setdefault(_RENDERED.sub("", cell.source), []).append(place)
        self.used: set[int] = set()
        self.lines: dict[str, set[int]] = {}
        self.long: dict[int, int] = {}
        for place, cell in enumerate(handout.cells):
            if cell.kind not in ("answer", "written"):
                keys = {_line(key) for key in line_keys(cell.source) if len(key) >= 20}
                self.long[place] = len(keys)
                for key in keys:
                    self.lines.setdefault(key, set()).add(place)

    def find(self, name: str | None, source: str, kind: str, whole: bool) -> int | None:
        """By the whole text, and by id where a locked cell was hardly changed, or is cut off."""
        if not source.strip():
            return None
        hits = self.texts.get(bare(source), [])
        if not hits and kind == "markdown":
            hits = self.texts.get(_RENDERED.sub("", source), [])
        if name is not None:
            own = self.own[name]
            if self.handout.cells[own].kind in ("answer", "written"):
                # An id is believed; the text of another stub under it is a copy that was not worked on.
                return own if own in hits else None
            if own in hits or not whole or not _more_than(source, self.handout.cells[own].source):
                self.used.add(own)
                return own
            return None
        if not hits:
            hits = self._edited(source)
        fresh = [place for place in hits if place not in self.used]
        if not hits:
            return None
        self.used.add((fresh or hits)[0])
        return (fresh or hits)[0]

    def _edited(self, source: str) -> list[int]:
        """The released cell that this is with a few lines changed; none where it holds something else as well."""
        keys = {_line(key) for key in line_keys(source)}
        votes = Counter(place for key in keys for place in self.lines.get(key, ()))
        for place, count in votes.most_common(1):
            if (
                count >= 2
                and count >= 0.6 * self.long[place]
                and len(keys) <= len(set(line_keys(self.handout.cells[place].source))) + 2
            ):
                return [place]
        return []


def _more_than(source: str, released: str) -> bool:
    """Whether a locked cell holds its own text and something else: then it was merged, otherwise it was only edited."""
    keys, own = set(line_keys(source)), line_keys(released)
    return sum(key in keys for key in own) >= 0.8 * len(own) and len(keys - set(own)) > 0


def _line(key: str) -> str:
    """Prose in a script stands in comments."""
    return key.lstrip("#")


def _without(part: Part, absent: Sequence[tuple[int, list[str]]]) -> list[Part]:
    """The part, taken apart where a released text stands in it as a whole."""
    if not absent:
        return [part]
    code = Code(part.text)
    numbered = [(number, key) for number, line in enumerate(code.lines) if (key := _line(bare(line)))]
    keys = [key for _, key in numbered]
    at: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        at.setdefault(key, []).append(number)
    taken: dict[int, int] = {}
    spans: list[tuple[int, int, int]] = []
    for place, wanted in sorted(absent, key=lambda one: -len(one[1])):
        for start in at.get(wanted[0], [])[:50]:
            end = start + len(wanted)
            if keys[start:end] == wanted and not any(number in taken for number in range(start, end)):
                taken.update(dict.fromkeys(range(start, end), place))
                spans.append((start, end, place))
                break
    if not spans or (len(taken) == len(keys) and len(spans) == 1):
        return [part] if not spans else [replace(part, place=spans[0][2])]
    found, last = [], 0
    for start, end, place in [*sorted(spans), (len(keys), len(keys), -1)]:
        if start > last:
            text = code.cut(numbered[last][0], numbered[start - 1][0] + 1)
            found.append(replace(part, text=text, cut=True))
        if place >= 0:
            found.append(Part("", None, "code", place=place))
        last = end
    return found


_MOST_GROUPS, _LONGEST_SEGMENT = 400, 25
_COST = 0.25
"""What a cut costs: nothing is taken apart for a small gain."""


def segments(code: Code, labels: Sequence[str], likeness: Likeness, own: str | None) -> list[tuple[str | None, str]]:
    """Cut a cell into answers of these exercises, in order, so that each looks most like its stub; None for the rest."""
    groups = _groups(code, labels, likeness)
    if len(groups) > _MOST_GROUPS:
        return [(own, code.text)]
    best: list[tuple[float, int, str | None]] = [(0.0, 0, None)]
    for end in range(1, len(groups) + 1):
        choice: tuple[float, int, str | None] = (best[end - 1][0], end - 1, None)
        names: list[str] = []
        keys: list[str] = []
        for start in range(end - 1, max(-1, end - 1 - _LONGEST_SEGMENT), -1):
            _, _, bound, written = groups[start]
            names, keys = [*bound, *names], [*written, *keys]
            for label in labels:
                if label != own and not likeness.defined[label] <= set(names):
                    continue
                score = likeness.of(label, names, keys) - _COST + (0.1 if label == own else 0.0)
                if score > 0 and best[start][0] + score > choice[0] + 1e-9:
                    choice = (best[start][0] + score, start, label)
        best.append(choice)
    found: list[tuple[str | None, int, int]] = []
    end = len(groups)
    while end:
        _, start, chosen = best[end]
        found.insert(0, (chosen, groups[start][0], groups[end - 1][1]))
        end = start
    if own is None and _leaves_names(found, groups, likeness):
        # It is one answer, to an exercise of which it does not have all, and not what another one happens to share with it.
        return [(None, code.text)]
    if own is not None and not (likeness.defined[own] & code.names) <= _bound_by(own, found, groups):
        return [(own, code.text)]
    return [(label, code.cut(first, last)) for label, first, last in _helped(code, _joined(found, own), likeness)]


def _helped(
    code: Code, found: list[tuple[str | None, int, int]], likeness: Likeness
) -> list[tuple[str | None, int, int]]:
    """Imports and helpers at the end of one segment that only the next one uses belong to the next one."""
    for number in range(len(found) - 1):
        label, first, last = found[number]
        later, _, end = found[number + 1]
        for statement in reversed([one for one in code.statements if first < one.first and one.last <= last]):
            names = statement.names
            rest, following = code.cut(first, statement.first), code.cut(statement.last, end)
            if not names or any(names & set(likeness.names[one]) for one in (label, later) if one):
                break
            if _mentions(rest, names) or not _mentions(following, names):
                break
            last = statement.first
        found[number], found[number + 1] = (label, first, last), (later, last, end)
    return found


def _mentions(text: str, names: frozenset[str]) -> bool:
    return not names.isdisjoint(re.findall(r"\w+", text))


_Groups = Sequence[tuple[int, int, list[str], list[str]]]


def _bound_by(label: str | None, found: Sequence[tuple[str | None, int, int]], groups: _Groups) -> set[str]:
    """The names that the segments with this label bind."""
    spans = [(first, last) for one, first, last in found if one == label]
    return {name for a, b, bound, _ in groups for first, last in spans if first <= a and b <= last for name in bound}


def _leaves_names(
    found: Sequence[tuple[str | None, int, int]], groups: _Groups, likeness: Likeness
) -> bool:  # fmt: skip
    """Whether a function or class that some stub defines would belong to nothing, or to an exercise that has none such."""
    anybody = frozenset().union(*likeness.defined.values())
    for label, first, last in found:
        names = {name for start, end, bound, _ in groups if first <= start and end <= last for name in bound}
        if (names & anybody) - (likeness.defined[label] if label else frozenset()):
            return True
    return False


def _joined(found: list[tuple[str | None, int, int]], own: str | None) -> list[tuple[str | None, int, int]]:
    """What belongs to nothing goes with what stands in front of it, or, at the head, behind it."""
    joined: list[tuple[str | None, int, int]] = []
    for label, first, last in found:
        if joined and (label is None or joined[-1][0] in (None, label)):
            before = joined.pop()
            joined.append((before[0] if label is None else label, before[1], last))
        else:
            joined.append((label, first, last))
    return [(label if label is not None else own, first, last) for label, first, last in joined]


def _groups(code: Code, labels: Sequence[str], likeness: Likeness) -> list[tuple[int, int, list[str], list[str]]]:
    """(first line, last line, names, lines) of statements; those without any sign of an exercise go with the one before."""
    names = set().union(*(likeness.names[label] for label in labels))
    lines = {key for label in labels for key, weight in likeness.lines[label].items() if weight > 0.01}
    groups: list[tuple[int, int, list[str], list[str]]] = []
    for statement in code.statements:
        keys = line_keys(code.cut(statement.first, statement.last))
        mine = sorted(statement.names)
        if groups and not (names & set(mine) or lines & set(keys)):
            first, _, had, written = groups[-1]
            groups[-1] = (first, statement.last, [*had, *mine], [*written, *keys])
        else:
            groups.append((statement.first, statement.last, mine, keys))
    return groups
