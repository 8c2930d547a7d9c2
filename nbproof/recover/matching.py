"""Which released cell each cell of a submission is, and what a text binds: all that decides whose answer a text may be.

An exercise may be newer than a submission: added to the lesson after its learner had been handed the notebook. A learner may
lose a TODO cell. Who has neither the TODO cell nor its check nor the text that asks for it, and all else around it, has an
older notebook: nothing is missing of it, and nobody needs to look.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
import warnings
from collections.abc import Collection, Sequence
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import HandedOut, Handout

__all__ = [
    "FENCE",
    "NEWER",
    "Names",
    "alone",
    "bare",
    "names_in",
    "newer_than",
    "placed",
    "squashed",
    "view",
    "without_released",
]


_UNSURE = re.compile(r"[^!-~]+|[\"'`?]+")
_SIGNS = re.compile(r"[\W_]+")
_PROMPT = re.compile(r"(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\s*\.\.\.: ?)")
_DEFINES = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)
_ASSIGNS = re.compile(r"^(\w+(?: *, *\w+)*) *(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*)[%!?].*", re.MULTILINE)
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
"""What markdown shows as code: the mark, and what stands between two of them."""
_LONGEST = 500_000
"""Characters of one text that are looked into."""
_LEAST = 20
"""Characters of a released text that is looked for inside of other cells."""

Names = tuple[frozenset[str], frozenset[str]]
"""What the top of a text binds: functions and classes; these and everything else."""


def bare(text: str) -> str:
    """The text without white space, quotation marks and what is not ASCII: what survives most ways of copying it."""
    return _UNSURE.sub("", text)


def squashed(text: str) -> str:
    """Letters and digits of any script; if there are none, whatever can be seen and is not ASCII."""
    return _SIGNS.sub("", text).casefold() or "".join(sign for sign in text if sign > "\x7f" and not sign.isspace())


def view(text: str) -> str:
    """The code as the shell will see it: without prompts, indentation of the whole, and tabs."""
    lines = text[:_LONGEST].expandtabs(4).splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first) and not first.startswith("..."):
        lines = [line[match.end() :] if (match := _PROMPT.match(line)) else line for line in lines]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def names_in(text: str) -> Names:
    """The names that lines at the margin bind. Nothing is parsed, so it may be asked of any text."""
    seen = view(text)
    defined = frozenset(_DEFINES.findall(seen))
    assigned = (name.strip() for names in _ASSIGNS.findall(seen) for name in names.split(","))
    return defined, defined | frozenset(assigned)


def alone(text: str) -> bool:
    """Whether a text is Python by itself, magics aside: it does not begin within a block, and nothing of it is open."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(_MAGIC.sub(r"\1pass", view(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return first[:1] not in (" ", "\t")


@lru_cache(maxsize=32)
def _places(handout: Handout) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The released cells by their ids, nbgrader's and the notebook format's; and by their texts."""
    ids: dict[str, int] = {}
    texts: dict[str, list[int]] = {}
    for place, cell in enumerate(handout.cells):
        ids |= dict.fromkeys({cell.name, cell.id} - {""}, place)
        texts.setdefault(squashed(cell.source), []).append(place)
    return ids, texts


def placed(handout: Handout, cells: Sequence[ExportedCell]) -> list[int | None]:
    """For each cell the place of the released cell that it is, by an id or by its text; None if it is a new one."""
    ids, texts = _places(handout)
    used: set[int] = set()
    found: list[int | None] = []
    for cell in cells:
        place = ids.get(cell.name or "", ids.get(cell.id))
        if place is None:
            alike = texts.get(squashed(cell.source) or " ", [])
            place = next((at for at in alike if at not in used), alike[0] if alike else None)
        if place is not None:
            used.add(place)
        found.append(place)
    return found


def without_released(handout: Handout, text: str) -> str:
    """What a text holds besides the released text that stands in it word for word: a locked cell that was merged with it."""
    for cell in handout.cells:
        if _is_fixed(cell) and cell.source in text:
            text = text.replace(cell.source, "", 1)
    return text.strip("\n")


def _is_fixed(cell: HandedOut) -> bool:
    return cell.kind in (CellKind.TEST, CellKind.SETUP, CellKind.PROSE) and len(cell.source) >= _LEAST


NEWER = "This was added to the lesson after your notebook had been handed out."
"""What its learner reads."""


def newer_than(handout: Handout, cells: Sequence[ExportedCell], lost: Collection[str]) -> tuple[str, ...]:
    """Of the answers that are ``lost`` (ids of TODO cells and of written answers), those that these cells cannot have had."""
    names = {cell.name for cell in cells if cell.name}
    text = "\n".join(bare(cell.source) for cell in cells)
    there = [_is_there(cell, names, text) for cell in handout.cells]
    places = [place for place, cell in enumerate(handout.cells) if cell.kind in (CellKind.ANSWER, CellKind.WRITTEN)]
    own = {place: _own(handout, place) for place in places if handout.cells[place].name in lost}
    gone = [place for place in own if not any(there[one] for one in own[place])]
    # A notebook that was cut off at some place, or torn to pieces, lacks more than what is new.
    if len(gone) > sum(there[place] for place in places):
        return ()
    last = max((place for place, cell in enumerate(handout.cells) if cell.name and there[place]), default=-1)
    return tuple(handout.cells[place].name for place in gone if len(gone) == 1 or place < last)


def _is_there(released: HandedOut, names: Collection[str], text: str) -> bool:
    """By its id; a check also by its text, prose by its text or its heading. ``text``: of the whole notebook, bare."""
    heading = next((line for line in released.source.splitlines() if line.startswith("### ")), "")
    parts = {"": (released.source, heading), "test": (released.source,)}.get(released.name and released.kind, ())
    return released.name in names or any(bare(part) and bare(part) in text for part in parts)


def _own(handout: Handout, place: int) -> list[int]:
    """The cells that came with an answer cell: it, its checks, and the nearest prose above it."""
    name = handout.cells[place].name
    own = [at for at, cell in enumerate(handout.cells) if at == place or (cell.exercise == name and cell.exercise)]
    above = itertools.takewhile(lambda at: not handout.cells[at].name, reversed(range(place)))
    prose = [at for at in above if handout.cells[at].kind is CellKind.PROSE]
    return own + prose[:1]
