"""Finds the answers in one submission: by an id, or by their place and the names that they define; else a person has to look.

We trust the ids of cells. Without one, code counts as the answer if it alone, in its exercise's part of the notebook, binds
what is asked for. Other text that may be an answer, in other cells, text, comments or files beside the notebook, has no marks
yet: a person sees it as it stands, as comments in the TODO cell. If a learner left the TODO cell in its place, it is graded as
*Run All* goes: other cells run where they stand (:class:`nbproof.recover.answers.OwnCell`).

This runs in a sealed worker, and imports little.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from nbproof.cells import CellKind
from nbproof.recover.answers import Answers, own_cells
from nbproof.recover.matching import (
    COLAB_BADGE,
    Handout,
    alone,
    asked_in,
    bare,
    binds,
    given_lines,
    is_commented_out,
    may_bind,
    modernised,
    names_in,
    parts_of,
    placed,
    questions_above,
    without_released,
)
from nbproof.recover.notebook_bytes import Damaged, ExportedCell, cells_in
from nbproof.recover.search_texts import SEARCH_TEXTS
from nbproof.values.words import Language

__all__ = ["find_answers", "found_in"]

_DISTINCT = 80
"""Characters of a released text that no other lesson has by chance."""
_IMPORTS = re.compile(r"\b(?:from|import|run)\b.*")
_COMMENT = re.compile(r"#.*")
_MOST_JOINED = 3
"""Cells above or below a half of a split cell that may be the rest of it."""
_MOST_WAITING = 8_000
"""Characters of what waits for a person, for one exercise."""


def found_in(handout: Handout, data: bytes, words: Language, files: Mapping[str, str] | None = None) -> Answers:
    """What is found in the bytes of one submission, and in the scripts beside it. Raises Damaged."""
    cells, damage = cells_in(data)
    found = find_answers(handout, cells, words, files)
    return replace(found, damage=damage, pictures=found.shown_of(cells))


def find_answers(
    handout: Handout, cells: Sequence[ExportedCell], words: Language, files: Mapping[str, str] | None = None
) -> Answers:
    """What is found in these cells. Raises Damaged if they are none of this lesson's. ``words``: how it is said."""
    return _Search(handout, modernised(handout, cells), words, files or {}).go()


class _Piece(NamedTuple):
    """A text that may be an answer, or a part of one: a cell of this number, or behind all cells what stands in a file."""

    at: int
    text: str
    code: bool
    whole: bool
    where: str


class _Search:
    def __init__(
        self, handout: Handout, cells: Sequence[ExportedCell], words: Language, files: Mapping[str, str]
    ) -> None:
        self.handout, self.cells, self.words = handout, cells, words
        self.asked, self.parts = asked_in(handout), parts_of(handout)
        self.places = placed(handout, cells)
        self.former = {bare(one.source) for one in handout.former}
        self.index = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.named: dict[str, list[_Piece]] = {name: [] for name in handout.stubs}
        """What stands in the TODO cell of each exercise."""
        self.strays: list[_Piece] = []
        """What stands in no TODO cell, and was not handed out."""
        self.above: list[int] = []
        """For each cell the place of the released one that it is, or that stands above it; -1 above all of them."""
        for at in range(len(cells)):
            self._take(at)
        code = "\n".join(cell.source for cell in cells if cell.kind == "code")
        # What a cell imports or runs has run.
        used = set(re.findall(r"\w+", "\n".join(_IMPORTS.findall(code))))
        unused = [one for one in files if PurePosixPath(one).stem not in used]
        self.strays += [
            _Piece(len(cells), files[one], False, True, self._say("search file", name=one)) for one in unused
        ]
        self.above.append(-1)
        self.used: dict[int, int] = {}
        """Cells that are answers, or parts of them -> the place of the TODO cell."""
        self.earlier: set[int] = set()
        """TODO cells above the one that counts: they run before it."""
        self.brought: set[int] = set()
        """Cells that are shown below a written answer."""
        self.found = Answers(dict(handout.stubs))

    def _say(self, key: str, **about: object) -> str:
        return self.words.text_in(SEARCH_TEXTS, key, **about)

    def _take(self, at: int) -> None:
        cell, place = self.cells[at], self.places[at]
        self.above.append(place if place is not None else self.above[-1] if at else -1)
        released = self.handout.cells[place] if place is not None else None
        same = bare(cell.source) in (self.former if released is None else {bare(released.source)})
        rest = cell.source if same else without_released(self.handout, cell.source)
        piece = _Piece(
            at, rest, cell.kind == "code", cell.whole, self._say("search cell", number=at + 1, count=len(self.cells))
        )
        kind = released.kind if released else CellKind.OWN
        if released and kind is CellKind.ANSWER:
            self.named[released.name].append(piece)
        elif cell.whole and rest.strip() and not same and kind is not CellKind.WRITTEN:
            self.strays.append(piece)

    def go(self) -> Answers:
        self._refuse_another()
        for name, own in self.named.items():
            if own:
                self._of_its_cell(name, own)
        for name, own in self.named.items():
            if not own:
                self._by_its_place(name)
        for name in self.named:
            if not self._has_answer(name) or self._is_below_its_check(name):
                self._elsewhere(name)
        self._written()
        return replace(self.found, own=own_cells(self.handout, self.cells, self.used, self.earlier, self.brought))

    def _refuse_another(self) -> None:
        """Raise Damaged if nothing of this lesson is in it. All lessons may call their setup cell the same."""
        for cell, place in zip(self.cells, self.places, strict=True):
            released = self.handout.cells[place or 0]
            if place is None or released.kind in (CellKind.SETUP, CellKind.SHOW):
                continue
            if cell.name == released.name != "" or len(bare(released.source)) >= _DISTINCT:
                return
        if not self._has_every_test():
            raise Damaged(self._say("search another", count=len(self.cells), lesson=self.handout.lesson))

    def _has_every_test(self) -> bool:
        tests = {bare(cell.source) for cell in self.handout.cells if cell.kind is CellKind.TEST}
        return bool(tests) and tests <= {bare(cell.source) for cell in self.cells}

    def _has_answer(self, name: str) -> bool:
        touched = self.found.answers[name] not in ("", self.handout.stubs[name])
        return name not in self.found.lost and (name in self.found.recovered or touched)

    # The TODO cell is there, by its id or because it is as it was handed out.

    def _of_its_cell(self, name: str, own: list[_Piece]) -> None:
        stub = self.handout.stubs[name]
        worked = [piece for piece in own if piece.whole and bare(piece.text) not in ("", bare(stub))]
        worked = list({bare(piece.text): piece for piece in reversed(worked)}.values())[::-1]
        if not worked:
            self._untouched(name, own)
        elif all(is_commented_out(self.asked[name], stub, piece.text) for piece in worked):
            self._wait(name, worked, self._say("search comments"))
        elif not all(piece.code or alone(piece.text) for piece in worked):
            self._wait(name, worked, self._say("search text cell"))
        elif len(worked) > 1:
            self._of_several(name, worked)
        else:
            told = "" if len(own) == 1 else self._say("search twice")
            self._accept(name, worked, told if worked[0].code else self._say("search text cell"))

    def _untouched(self, name: str, own: list[_Piece]) -> None:
        """Nobody has worked in the TODO cell. Code cells between it and its check run where they stand."""
        below = [piece for piece in self.strays if piece.code and self.above[piece.at] == self.index[name]]
        if not any(piece.text.strip() for piece in own):
            self.found.answers[name] = ""
        if not all(piece.whole for piece in own):
            self.found.lost[name] = self._say("search broken off")
        elif any(self.asked[name].blank & binds(piece.text) for piece in below):
            self.found.recovered[name] = self._say("search below")

    def _of_several(self, name: str, worked: list[_Piece]) -> None:
        """Halves of a split cell go together; of several versions the one counts that the check sees in Run All."""
        below = [at for at in self._checks_of(name) if at > worked[0].at]
        above = [piece for piece in worked if not below or piece.at < below[0]]
        if len(above) > 1 and _are_halves(above):
            self._accept(name, above, self._say("search split", count=len(above)))
        elif below:
            self.earlier |= {piece.at for piece in above[:-1] if piece.code}
            self._accept(name, above[-1:], self._say("search several"))
        else:
            self._wait(name, worked, self._say("search undecided"))

    def _is_below_its_check(self, name: str) -> bool:
        """Whether the TODO cell says nothing but comments, and code that may be the answer stands below its check only."""
        if name in self.found.recovered or name in self.found.lost or self._holds_code(name):
            return False
        above = self._checks_of(name)
        signs = [piece.at for piece in self._free() if self._may_answer(name, piece)]
        return bool(above and signs) and min(signs) > above[0]

    def _holds_code(self, name: str) -> bool:
        """Whether the TODO cell says more than its stub and comments."""
        said, stub = (_COMMENT.sub("", text) for text in (self.found.answers[name], self.handout.stubs[name]))
        return bare(said) not in ("", bare(stub))

    # The TODO cell is gone, or holds no answer.

    def _by_its_place(self, name: str) -> None:
        """Code in its part of the notebook that binds all that the exercise asks for, if no other code there does."""
        wanted = self.asked[name].wanted
        fits = [piece for piece in self._near(name) if wanted and wanted <= names_in(piece.text)]
        if len({bare(piece.text) for piece in fits}) == 1:
            self._accept(name, fits[:1], self._say("search by place"))

    def _elsewhere(self, name: str) -> None:
        """Where something of the learner's own may be the answer, a person looks. Nobody gets 0 for it without a word."""
        gone = not self.named[name]
        near = self._near(name) if gone else []
        todos = itertools.chain.from_iterable(own for other, own in self.named.items() if other != name)
        others = sorted([*self.strays, *todos])
        signs = [piece for piece in others if piece in near or self._may_answer(name, piece)]
        if signs:
            self._wait(name, signs, self._say("search missing" if gone else "search no code"))
        elif gone:
            self.found.lost[name] = self._why_gone(name, self._say("search lost"))
        for other in self.asked:
            own, at = self.named[other], self.index[other]
            theirs = [piece for piece in signs if other != name and (piece in own or self.used.get(piece.at) == at)]
            # Where both ask for one name, what stands below takes the place of what stands above.
            if theirs and self.asked[name].bound & self.asked[other].bound:
                self._wait(other, theirs, self._say("search another's", name=name))

    def _why_gone(self, name: str, told: str) -> str:
        """Why nothing is found where a cell is gone: ``told``, if the file is whole and the lesson had it."""
        if not all(cell.whole for cell in self.cells):
            return self._say("search before")
        return self._say("search absent") if self._is_absent(name) else told

    def _is_absent(self, name: str) -> bool:
        """Whether its text and its checks are gone as well, as in a version of the lesson that does not ask for it yet."""
        above = self.index[name] - 1
        return not self._checks_of(name) and (above not in self.places or bool(self.handout.cells[above].name))

    def _may_answer(self, name: str, piece: _Piece) -> bool:
        """By what it binds. What belongs to an exercise that has an answer says nothing about the names of that one."""
        whose, bound = self._whose(piece), may_bind(piece.text)
        if piece.at < len(self.cells) and (place := self.places[piece.at]) is not None:
            bound -= names_in(self.handout.cells[place].source)
        if whose not in ("", name) and self._has_answer(whose):
            rest = bound - self.asked[whose].bound
            others = [other for other in self.asked if other != whose and not self._has_answer(other)]
            # What answers a third one is no second try of this one: it may answer several.
            bound = bound if any(self.asked[other].may_be(rest, here=False) for other in others) else rest
        return self.asked[name].may_be(bound, here=whose == name)

    # What all of these rest on.

    def _checks_of(self, name: str) -> list[int]:
        tests = {place for place, one in enumerate(self.handout.cells) if one.exercise == name}
        return [at for at, place in enumerate(self.places) if place in tests]

    def _free(self) -> list[_Piece]:
        return [piece for piece in self.strays if piece.code and piece.at not in self.used]

    def _near(self, name: str) -> list[_Piece]:
        return [piece for piece in self._free() if self._whose(piece) == name]

    def _whose(self, piece: _Piece) -> str:
        """The exercise that it belongs to by its place: the answer to it, or in its part of the notebook; empty if none."""
        place = self.used.get(piece.at, self.above[piece.at])
        return "" if place < 0 else self.parts[place]

    def _accept(self, name: str, parts: Sequence[_Piece], told: str) -> None:
        if len(parts) == 1 and len(halves := self._with_halves(parts[0])) > 1:
            parts, told = halves, self._say("search split", count=len(halves))
        self.used |= dict.fromkeys((piece.at for piece in parts), self.index[name])
        self.found.answers[name] = _joined(parts)
        if told:
            self.found.recovered[name] = told

    def _with_halves(self, piece: _Piece) -> list[_Piece]:
        """A piece and the cells of nobody's beside it that are its other halves: only together they are Python."""
        free = {one.at: one for one in self._free()}
        above = list(itertools.takewhile(free.__contains__, range(piece.at - 1, piece.at - 1 - _MOST_JOINED, -1)))
        below = itertools.takewhile(free.__contains__, range(piece.at + 1, piece.at + 1 + _MOST_JOINED))
        near = [*(free[at] for at in reversed(above)), piece, *(free[at] for at in below)]
        broken = {one for one in near if len(near) > 1 and not alone(one.text)}
        ends = itertools.product(range(len(above) + 1), range(len(above) + 1, len(near) + 1))
        runs = sorted((near[start:end] for start, end in ends), key=len)
        whole = (run for run in runs if broken and broken <= set(run) and alone(_joined(run)))
        return next(whole, [piece])

    def _wait(self, name: str, pieces: Sequence[_Piece], why: str) -> None:
        """Leave it to a person: what was found stands in the TODO cell as comments, and has no marks."""
        where = ", ".join(dict.fromkeys(piece.where for piece in pieces[:5]))
        text = "\n\n".join([self._say("search head"), *(f"[{piece.where}]\n{piece.text}" for piece in pieces)])[
            :_MOST_WAITING
        ]
        self.found.recovered.pop(name, None)
        self.found.lost[name] = self._say("search waits", why=why, where=where)
        self.found.answers[name] = "\n".join(f"# {line}".rstrip() for line in text.splitlines())

    def _written(self) -> None:
        """Find each written answer: the text of its cell, or any text elsewhere that the learner may have written."""
        # Comments beside code are about that code.
        apart = {self.index[name] for name in self.named if self._holds_code(name)}
        apart |= {self.index[name] for name in self.handout.written}
        texts_elsewhere = _texts(self.handout, self.cells, self.places, apart) if self.handout.written else {}
        # What stands below a task answers that.
        elsewhere = {at: text for at, text in texts_elsewhere.items() if not self._is_below(at, CellKind.TASK)}
        withdrawn = {at for at in texts_elsewhere if self.cells[at].name in self.handout.withdrawn}
        self.brought |= withdrawn
        for name, stub in self.handout.written.items():
            known = zip(self.cells, self.places, strict=True)
            texts = [cell.source for cell, place in known if place == self.index[name] and cell.whole]
            touched = [text for text in texts if bare(text) not in ("", bare(stub))]
            self.found.answers[name] = next(iter(touched or texts), stub)
            if not texts:
                self.found.lost[name] = self._why_gone(name, self._say("search words lost"))
            # What another question was called before may be this one: its cell is missing then.
            here = {at: text for at, text in elsewhere.items() if not texts or at not in withdrawn}
            self._bring(name, stub, here)

    def _is_below(self, at: int, kind: CellKind) -> bool:
        """Whether such a cell stands above it, and nothing else that is graded between."""
        return self.above[at] >= 0 and questions_above(self.handout)[self.above[at]][0] is kind

    def _bring(self, name: str, stub: str, elsewhere: Mapping[int, str]) -> None:
        """Put what may be a written answer, or goes on there, below it: in its place if nothing stands there."""
        answer = self.found.answers[name]
        blank = answer.strip() in ("", stub.strip())
        beside = {at + step for at, cell in enumerate(self.cells) for step in (-1, 1) if cell.name == name}
        kept = {at: text for at, text in elsewhere.items() if blank or (at in beside and self.cells[at].kind != "code")}
        if kept:
            self.brought |= {at for at in kept if self._is_below(at, CellKind.WRITTEN)}
            numbers = ", ".join(str(at + 1) for at in list(kept)[:5])
            where = self._say("search cell", number=numbers, count=len(self.cells))
            told = self._say("search other text" if blank else "search more text", where=where)
            self.found.answers[name] = _listed(_UNDECIDED if blank else answer, kept)
            self.found.recovered[name] = told
            self.found.lost.pop(name, None)


def _are_halves(pieces: Sequence[_Piece]) -> bool:
    """Whether they are Python only together, or bind no name twice."""
    count = sum(alone(piece.text) for piece in pieces)
    bound = list(itertools.chain.from_iterable(names_in(piece.text) for piece in pieces))
    apart = len(set(bound)) == len(bound)
    return count == 0 or ((apart or count < len(pieces)) and alone(_joined(pieces)))


def _joined(pieces: Sequence[_Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)


# What people wrote outside of the cells for written answers. If such a cell is blank or gone, it is shown in its place.

_PROSE = re.compile(
    r"(?<!\w)(?:[^\W\d_]{1,40}[ \t,.;:'’!?()-]{1,3}){14}[^\W\d_]"
    r"|(?:[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]){8}"
)
"""Fifteen words in a row, or eight letters of scripts that put no space between words."""
# In the text cell that Colab puts above a notebook.
_LONGEST = 16_000
"""Characters that are brought for one question. Pages show 20,000."""
_UNDECIDED = "[Nothing stood in the cell for this answer, or it is gone. A person decides what counts.]"


def _texts(
    handout: Handout, cells: Sequence[ExportedCell], places: Sequence[int | None], apart: Collection[int]
) -> dict[int, str]:
    """Cell -> what a person may have written in it that was not handed out: text, comments alone, or many words.

    ``apart``: places of cells that nobody looks for it in.
    """
    given = given_lines(handout)
    found = {}
    for at, (cell, place) in enumerate(zip(cells, places, strict=True)):
        kind = None if place is None else handout.cells[place].kind
        # Where the file breaks off stands half a line, as likely as not of the handout.
        if place in apart or not cell.whole or bare(cell.source) in given:
            continue
        lines = [line for line in cell.source.splitlines() if bare(line) not in given and COLAB_BADGE not in line]
        comments = [line for line in lines if line.lstrip().startswith("#")]
        if kind is CellKind.ANSWER:
            lines = comments
        text = "\n".join(lines)
        is_text = kind is not CellKind.ANSWER and cell.kind != "code"
        is_comment = kind is None and lines == comments
        if lines and (is_text or is_comment or _PROSE.search(re.sub(r"\n\s*#+", " ", text))):
            found[at] = text
    return found


def _listed(head: str, texts: Mapping[int, str]) -> str:
    """The texts, each below its place, as far as they are shown."""
    whole = "\n\n".join([head, *(f"[cell {at + 1}]\n{text}" for at, text in texts.items())])
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}\n\n[more in the submitted notebook]"
