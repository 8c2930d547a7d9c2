"""Written answers that do not stand in their cells: found, brought with their places, and left to a person.

What stands right beside the cell, and nothing else does, is taken as the answer. All that is less certain is brought as
it is, below a line that says so, in place of the answer: then it is not blank, and waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from nbproof.recover.exported import ExportedCell
from nbproof.recover.fences import might_be_fenced
from nbproof.recover.released import Handout
from nbproof.recover.writings import MOST, Writing, place_of, squashed, weight, writings

__all__ = ["FoundElsewhere", "bring", "may_stand_elsewhere"]

_MOST_TEXTS, _LONGEST_TEXT, _LONGEST = 12, 4_000, 16_000
"""Texts that are brought for one question, and characters of each and of all. Pages show 20,000."""
_NOTE = 5
"""Words added to a question that is answered in its place, from which on they may be a part of the answer."""
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_UNDECIDED = "[Nothing stood in the cell for this answer. {} A person decides what counts.]"
_MORE = "[Beside the cell for this answer stood more text.]"


@dataclass(frozen=True)
class FoundElsewhere:
    """A written answer that was found, and in a sentence for the learner where."""

    text: str
    told: str


@dataclass(frozen=True)
class _Looked:
    """A notebook, and which released cells its cells are."""

    handout: Handout
    cells: Sequence[ExportedCell]

    @cached_property
    def places(self) -> list[int | None]:
        """The released cell that each one is."""
        return [place_of(self.handout, cell) for cell in self.cells]

    def index(self, name: str, text: str = "") -> int | None:
        """Where the cell for an answer stands; None where it is gone."""
        named = next((at for at, cell in enumerate(self.cells) if cell.name == name), None)
        if named is not None:
            return named
        keys = {squashed(self.handout.written[name]), squashed(text)} - {""}
        text_cells = ((at, cell) for at, cell in enumerate(self.cells) if cell.kind != "code")
        return next((at for at, cell in text_cells if squashed(cell.source) in keys), None)


def may_stand_elsewhere(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> bool:
    """Whether a sound notebook has to be searched, because an answer may stand outside of the cell that is made for it."""
    if sum(len(cell.source) for cell in cells) > MOST or might_be_fenced(handout, cells, answers):
        return True
    if any(_is_blank(answers.get(name, ""), stub) for name, stub in handout.written.items()):
        return bool(writings(handout, cells)) or len(handout.written) > 1
    texts = _texts(handout, cells)
    return bool(texts) and any(_more(_beside(_Looked(handout, cells), name, texts)) for name in handout.written)


def _texts(handout: Handout, cells: Sequence[ExportedCell]) -> list[Writing]:
    """What stands in text cells."""
    text = [cell if cell.kind != "code" else cell._replace(source="") for cell in cells]
    return writings(handout, text)


def bring(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> dict[str, FoundElsewhere]:
    """For each question whose answer stands elsewhere, or may do so: what is to be marked in its place."""
    if not handout.written:
        return {}
    taken = {squashed(text) for name, text in answers.items() if name in handout.written}
    taken -= {squashed(stub) for stub in handout.written.values()}
    found = [one for one in writings(handout, cells) if squashed(one.text) not in taken]
    found = [one for one in found if not _is_code_answer(one, answers)]
    looked = _Looked(handout, cells)
    brought = {}
    for name, stub in handout.written.items():
        text = answers.get(name, "")
        near = _beside(looked, name, found, text)
        if not _is_blank(text, stub):
            near = _more(near)
            if near:
                rest = [(_place(looked, one, name), one.text) for one in near[:_MOST_TEXTS]]
                told = f"More text stood {_and(place for place, _ in rest)}. It is shown below your answer."
                brought[name] = FoundElsewhere(f"{text}\n\n{_listed(_MORE, rest, len(near))}", told)
            continue
        sides = {_side(looked, one, name) for one in near}
        if near and len(sides) == 1:
            place = _place(looked, near[0], name)
            told = f"Nothing stood in the cell for it. The text stood {place}, and was taken as the answer."
            brought[name] = FoundElsewhere("\n\n".join(one.text for one in near), told)
            continue
        first = looked.index(name)
        order = sorted(found, key=lambda one: (one not in near, one.kind == "code", abs(one.at - (first or 0))))
        all_ = [(_place(looked, one, name), one.text) for one in order[:_MOST_TEXTS]]
        all_ += [
            ("in the cell for another written answer", other) for one, other in answers.items()
            if one in handout.written and one != name and not _is_blank(other, handout.written[one])
            and re.search(r"\S[^\S\n]*\n\s*\n\s*\S", other)
        ]  # fmt: skip
        if all_:
            total = max(len(order), len(all_))
            count = "A text elsewhere" if total == 1 else f"{total} texts elsewhere"
            may = f"{count} in the notebook may be meant as the answer."
            told = f"Nothing stood in the cell for it. {may} A person looks at {'it' if total == 1 else 'them'}."
            brought[name] = FoundElsewhere(_listed(_UNDECIDED.format(may), all_, total), told)
    return brought


def _is_blank(text: str, stub: str) -> bool:
    return text.strip() in ("", stub.strip())


def _is_code_answer(one: Writing, answers: Mapping[str, str]) -> bool:
    """Whether a text cell was taken as an answer in code."""
    key = squashed(one.text)
    return one.kind == "cell" and any(key == squashed(text) for text in answers.values() if text.strip())


def _beside(looked: _Looked, name: str, found: Sequence[Writing], text: str = "") -> list[Writing]:
    """New text cells directly above and below the cell for the answer, and what was added to its question."""
    cells = looked.cells
    question = next(at for at, cell in enumerate(looked.handout.cells) if cell.name == name) - 1
    near = [one for one in found if one.kind == "added" and one.place == question]
    own = {one.at: one for one in found if one.kind == "cell"}
    here = looked.index(name, text)
    if here is None:
        # The cell is gone: its place is below its question.
        here = next((at for at, place in enumerate(looked.places) if place == question), None)
    if here is not None:
        for step in (-1, 1):
            at = here + step
            while 0 <= at < len(cells) and (at in own or not cells[at].source.strip()):
                near += [own[at]] if at in own else []
                at += step
    return sorted(near, key=lambda one: one.at)


def _more(near: Sequence[Writing]) -> list[Writing]:
    """What may go on with an answer that is there: a word or two added to the question are a note."""
    return [one for one in near if one.kind == "cell" or weight(one.text) >= _NOTE]


def _side(looked: _Looked, one: Writing, name: str) -> str:
    here = looked.index(name)
    return "added" if one.kind == "added" else "below" if here is None or one.at > here else "above"


def _place(looked: _Looked, one: Writing, name: str) -> str:
    """Where it stood, in words that hold nothing of what a learner has written."""
    handout, cells, places = looked.handout, looked.cells, looked.places
    number = f"cell {one.at + 1} of {len(cells)}"
    here = looked.index(name)
    if one.kind == "added":
        title = _title(handout, one.place)
        return f"in the text of the lesson, below its own words{f' under “{title}”' if title else ''} ({number})"
    stubs = handout.stubs
    if one.kind == "code" and cells[one.at].name in stubs:
        return f"in the TODO cell `{cells[one.at].name}` ({number})"
    what = "a new text cell" if one.kind == "cell" else "a code cell"
    between = places[min(here, one.at) + 1 : max(here, one.at)] if here is not None else None
    if between is not None and all(place is None for place in between):
        side = "below" if here is not None and one.at > here else "above"
        return f"in {what} directly {side} the cell for the answer ({number})"
    if all(place is None for place in places[one.at + 1 :]):
        return f"in {what} at the end of the notebook ({number})"
    title = next((head for place in reversed(places[: one.at]) if (head := _title(handout, place))), "")
    return f"in {what}{f' below “{title}”' if title else ''} ({number})"


def _title(handout: Handout, place: int | None) -> str:
    heads = _HEADING.findall(handout.cells[place].source) if place is not None else []
    return heads[-1].replace("`", "").strip()[:80] if heads and handout.cells[place or 0].kind == "prose" else ""


def _and(places: object) -> str:
    return ", and ".join(dict.fromkeys(places))  # type: ignore[call-overload]


def _listed(head: str, texts: Sequence[tuple[str, str]], total: int) -> str:
    """The texts, each below its place; how many there are in all."""
    parts, left = [head], _LONGEST
    for number, (place, text) in enumerate(texts, 1):
        shown = text.strip("\n")[: min(_LONGEST_TEXT, left)]
        left -= len(shown)
        cut = "" if len(shown) == len(text.strip("\n")) else "\n[the rest is in the submitted notebook]"
        parts.append(f"[{number}: {place}]\n{shown}{cut}")
        if left <= 0:
            break
    more = total - (len(parts) - 1)
    return "\n\n".join([*parts, *([f"[{more} more in the submitted notebook]"] if more else [])])
