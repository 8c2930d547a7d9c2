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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from nbproof.cells import CellKind
from nbproof.lesson.lesson import Cell
from nbproof.recover.answers import Answers, find_own_cells
from nbproof.recover.matching import (
    ReleasedNotebook,
    asked_in,
    bare,
    binds,
    is_commented_out,
    is_python,
    match_cells,
    may_bind,
    modernise,
    names_in,
    parts_of,
    questions_above,
    unreleased_lines,
    without_released,
)
from nbproof.recover.notebook_bytes import Damaged, ExportedCell, cells_in
from nbproof.recover.search_texts import SEARCH_TEXTS
from nbproof.values.words import Language

__all__ = ["find_answers", "find_answers_in_bytes"]

_DISTINCT = 80
"""Characters of a released text that no other lesson has by chance."""
_IMPORTS = re.compile(r"\b(?:from|import|run)\b.*")
_COMMENT = re.compile(r"#.*")
_MOST_JOINED = 3
"""Cells above or below a half of a split cell that may be the rest of it."""
_MOST_WAITING = 8_000
"""Characters of the text that waits for a person, for one exercise."""
_PROSE = re.compile(
    r"(?<!\w)(?:[^\W\d_]{1,40}[ \t,.;:'’!?()-]{1,3}){14}[^\W\d_]"
    r"|(?:[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]){8}"
)
"""Fifteen words in a row, or eight letters of scripts that put no space between words."""
_LONGEST = 16_000
"""Characters that are shown for one question. Pages show 20,000."""
_UNDECIDED = "[Nothing stood in the cell for this answer, or it is gone. A person decides what counts.]"


def find_answers_in_bytes(
    handout: ReleasedNotebook, data: bytes, words: Language, files: Mapping[str, str] | None = None
) -> Answers:
    """Find the answers in the bytes of one submission, and in the scripts beside it (name -> text).

    ``words``: the language that is told in how an answer was found. Raises Damaged if the bytes hold no notebook of this lesson.
    """
    cells, damage = cells_in(data)
    answers = find_answers(handout, cells, words, files)
    return replace(answers, damage=damage, pictures=answers.pictures_shown(cells))


def find_answers(
    handout: ReleasedNotebook,
    cells: Sequence[ExportedCell],
    words: Language,
    files: Mapping[str, str] | None = None,
) -> Answers:
    """Find the answers in these cells, and in the scripts beside them. Raises Damaged if no cell is of this lesson."""
    return _Search(handout, modernise(handout, cells), words, files or {}).run()


class _Piece(NamedTuple):
    """A text that may be an answer, or a part of one: the text of a cell, or of a file."""

    at: int
    """The number of the cell; for a file the number of cells, as files come behind all of them."""
    text: str
    code: bool
    whole: bool
    where: str
    """How people are told where it stands."""


class _Search:
    """The search in one submission."""

    def __init__(
        self,
        handout: ReleasedNotebook,
        cells: Sequence[ExportedCell],
        words: Language,
        files: Mapping[str, str],
    ) -> None:
        self.words = words
        self.handout = handout
        self.cells = cells
        self.asked = asked_in(handout)
        self.parts = parts_of(handout)
        self.indices = match_cells(handout, cells)
        """For each cell the index of the released cell that it is; None for a new cell."""
        self.released = [*map(handout.cell_at, self.indices), None]
        """For each cell the released cell that it is; None for a new cell, and at the end, for files."""
        self.above = _indices_above(self.indices)
        """For each cell the index of the released cell that it is, or that stands above it; -1 if none does, and for files."""
        self.former = {bare(cell.source) for cell in handout.former}
        self.index = {cell.grade_id: index for index, cell in enumerate(handout.cells) if cell.grade_id}
        self.named: dict[str, list[_Piece]] = {name: [] for name in handout.stubs}
        """The text of the TODO cell of each exercise, once for each copy of that cell."""
        self.strays: list[_Piece] = []
        """Texts that stand in no TODO cell, and were not handed out."""
        self.used: dict[int, int] = {}
        """Cells that are answers, or parts of them -> the index of the TODO cell."""
        self.earlier: set[int] = set()
        """TODO cells above the one that counts: they run before it."""
        self.shown: set[int] = set()
        """Cells that are shown below a written answer."""
        self.result = Answers(dict(handout.stubs))
        for at in range(len(cells)):
            self._sort_in(at)
        self.strays += [
            _Piece(len(cells), files[name], False, True, self._say("search file", name=name))
            for name in _unused_files(cells, files)
        ]

    def _say(self, key: str, **about: object) -> str:
        return self.words.text_in(SEARCH_TEXTS, key, **about)

    def _sort_in(self, at: int) -> None:
        """Put the text of one cell among those of its TODO cell, or among the strays."""
        cell = self.cells[at]
        released = self.released[at]
        kind = None if released is None else released.kind
        known = self.former if released is None else {bare(released.source)}
        piece = _Piece(
            at,
            cell.source,
            cell.kind == "code",
            cell.whole,
            self._say("search cell", number=at + 1, count=len(self.cells)),
        )
        is_known = bare(cell.source) in known
        if not is_known:
            piece = piece._replace(text=without_released(self.handout, cell.source))
        if released is not None and kind is CellKind.ANSWER:
            self.named[released.grade_id].append(piece)
        elif not is_known and cell.whole and piece.text.strip() and kind is not CellKind.WRITTEN:
            self.strays.append(piece)

    def run(self) -> Answers:
        """Find all answers. Raises Damaged if the notebook is none of this lesson."""
        self._refuse_other_lessons()
        for name, own in self.named.items():
            if own:
                self._read_todo_cell(name, own)
        for name, own in self.named.items():
            if not own:
                self._find_by_place(name)
        for name in self.named:
            if not self._has_answer(name) or self._is_below_its_check(name):
                self._look_elsewhere(name)
        self._find_written_answers()
        own_cells = find_own_cells(self.handout, self.cells, self.used, self.earlier, self.shown)
        return replace(self.result, own=own_cells)

    def _refuse_other_lessons(self) -> None:
        """Raise Damaged if nothing of this lesson is in it. All lessons may call their setup cell the same."""
        for cell, released in zip(self.cells, self.released, strict=False):
            if released is None or released.kind in (CellKind.SETUP, CellKind.SHOW):
                continue
            if cell.grade_id == released.grade_id != "" or len(bare(released.source)) >= _DISTINCT:
                return
        if not self._has_every_test():
            raise Damaged(self._say("search another", count=len(self.cells), lesson=self.handout.lesson))

    def _has_every_test(self) -> bool:
        tests = {bare(cell.source) for cell in self.handout.cells if cell.kind is CellKind.TEST}
        return bool(tests) and tests <= {bare(cell.source) for cell in self.cells}

    def _has_answer(self, name: str) -> bool:
        touched = self.result.answers[name] not in ("", self.handout.stubs[name])
        return name not in self.result.lost and (name in self.result.recovered or touched)

    # The TODO cell is there, by its id or because it is as it was handed out.

    def _read_todo_cell(self, name: str, own: list[_Piece]) -> None:
        """Take the answer from the TODO cell, or from its copies, or leave it to a person."""
        versions = _versions(own, self.handout.stubs[name])
        if not versions:
            self._leave_untouched(name, own)
        elif doubt := self._doubt_about(name, versions):
            self._leave_to_person(name, versions, doubt)
        elif len(versions) > 1:
            self._choose_version(name, versions)
        else:
            self._accept(name, versions, self._unusual_in(own, versions[0]))

    def _unusual_in(self, own: Sequence[_Piece], version: _Piece) -> str:
        """What was unusual about the TODO cell, if this is the one version of it; empty if nothing was."""
        if not version.code:
            return self._say("search text cell")
        return "" if len(own) == 1 else self._say("search twice")

    def _doubt_about(self, name: str, versions: Sequence[_Piece]) -> str:
        """Why it is not certain that these texts of the TODO cell are code; empty if it is."""
        stub = self.handout.stubs[name]
        if all(is_commented_out(self.asked[name], stub, piece.text) for piece in versions):
            return self._say("search comments")
        if not all(piece.code or is_python(piece.text) for piece in versions):
            return self._say("search text cell")
        return ""

    def _leave_untouched(self, name: str, own: list[_Piece]) -> None:
        """Note that nobody has worked in the TODO cell. Code cells between it and its check run where they stand."""
        below = [piece for piece in self.strays if piece.code and self.above[piece.at] == self.index[name]]
        if not any(piece.text.strip() for piece in own):
            self.result.answers[name] = ""
        if not all(piece.whole for piece in own):
            self.result.lost[name] = self._say("search broken off")
        elif any(self.asked[name].blank & binds(piece.text) for piece in below):
            self.result.recovered[name] = self._say("search below")

    def _choose_version(self, name: str, versions: list[_Piece]) -> None:
        """Put the halves of a split cell together. Of several versions the one counts that the check sees in Run All."""
        below = [at for at in self._checks_of(name) if at > versions[0].at]
        above = [piece for piece in versions if not below or piece.at < below[0]]
        if len(above) > 1 and _are_halves(above):
            self._accept(name, above, self._say("search split", count=len(above)))
        elif below:
            self.earlier |= {piece.at for piece in above[:-1] if piece.code}
            self._accept(name, above[-1:], self._say("search several"))
        else:
            self._leave_to_person(name, versions, self._say("search undecided"))

    def _is_below_its_check(self, name: str) -> bool:
        """Whether the TODO cell says nothing but comments, and code that may be the answer stands below its check only."""
        if name in self.result.recovered or name in self.result.lost or self._holds_code(name):
            return False
        checks = self._checks_of(name)
        signs = [piece.at for piece in self._free_pieces() if self._may_answer(name, piece)]
        return bool(checks and signs) and min(signs) > checks[0]

    def _holds_code(self, name: str) -> bool:
        """Whether the TODO cell says more than its stub and comments."""
        answer = bare(_COMMENT.sub("", self.result.answers[name]))
        return answer not in ("", bare(_COMMENT.sub("", self.handout.stubs[name])))

    # The TODO cell is gone, or holds no answer.

    def _find_by_place(self, name: str) -> None:
        """Accept code in its part of the notebook that binds all that the exercise asks for, if no other code there does."""
        wanted = self.asked[name].wanted
        if not wanted:
            return
        fits = [piece for piece in self._pieces_near(name) if wanted <= names_in(piece.text)]
        if len({bare(piece.text) for piece in fits}) == 1:
            self._accept(name, fits[:1], self._say("search by place"))

    def _look_elsewhere(self, name: str) -> None:
        """Leave all texts of the learner that may be the answer to a person. Nobody gets 0 for one without a word."""
        gone = not self.named[name]
        signs = self._signs_of(name)
        if signs:
            why = "search missing" if gone else "search no code"
            self._leave_to_person(name, signs, self._say(why))
        elif gone:
            self.result.lost[name] = self._why_gone(name, self._say("search lost"))
        self._doubt_others(name, signs)

    def _signs_of(self, name: str) -> list[_Piece]:
        """All texts outside of the TODO cell that may be the answer, in their order."""
        near = [] if self.named[name] else self._pieces_near(name)
        others = (own for other, own in self.named.items() if other != name)
        pieces = sorted(itertools.chain(self.strays, *others))
        return [piece for piece in pieces if piece in near or self._may_answer(name, piece)]

    def _doubt_others(self, name: str, signs: Sequence[_Piece]) -> None:
        """Leave answers to other exercises to a person as well, if they may answer this one.

        Where both ask for one name, the text that stands below takes the place of the text above.
        """
        for other in self.asked:
            if other == name or not self.asked[name].bound & self.asked[other].bound:
                continue
            theirs = [piece for piece in signs if self._is_part_of(other, piece)]
            if theirs:
                self._leave_to_person(other, theirs, self._say("search another's", name=name))

    def _is_part_of(self, name: str, piece: _Piece) -> bool:
        """Whether a text stands in the TODO cell of this exercise, or was accepted as its answer."""
        return piece in self.named[name] or self.used.get(piece.at) == self.index[name]

    def _why_gone(self, name: str, usual: str) -> str:
        """Why nothing is found where a cell is gone: ``usual``, if the file is whole and the lesson had that cell."""
        if not all(cell.whole for cell in self.cells):
            return self._say("search before")
        if self._is_absent(name):
            return self._say("search absent")
        return usual

    def _is_absent(self, name: str) -> bool:
        """Whether its text and its checks are gone as well, as in a version of the lesson that does not ask for it yet."""
        above = self.index[name] - 1
        return not self._checks_of(name) and (above not in self.indices or bool(self.handout.cells[above].grade_id))

    def _may_answer(self, name: str, piece: _Piece) -> bool:
        """Whether a text may be the answer, by the names that it binds."""
        bound = may_bind(piece.text)
        released = self.released[piece.at]
        if released is not None:
            bound -= names_in(released.source)
        exercise = self._exercise_of(piece)
        if exercise not in ("", name) and self._has_answer(exercise):
            bound = self._bound_for_others(exercise, bound)
        return self.asked[name].may_be(bound, here=exercise == name)

    def _bound_for_others(self, name: str, bound: frozenset[str]) -> frozenset[str]:
        """The names that say something about other exercises, of those bound by a text that belongs to this one.

        It has an answer, so its own names say nothing more, unless the text answers another one as well: then it may answer
        several.
        """
        rest = bound - self.asked[name].bound
        for other in self.asked:
            if other != name and not self._has_answer(other) and self.asked[other].may_be(rest, here=False):
                return bound
        return rest

    # What all of these rest on.

    def _checks_of(self, name: str) -> list[int]:
        """The numbers of the test cells of an exercise."""
        tests = {index for index, cell in enumerate(self.handout.cells) if cell.exercise == name}
        return [at for at, index in enumerate(self.indices) if index in tests]

    def _free_pieces(self) -> list[_Piece]:
        """Code that stands in no TODO cell, and is no part of an answer."""
        return [piece for piece in self.strays if piece.code and piece.at not in self.used]

    def _pieces_near(self, name: str) -> list[_Piece]:
        """Such code in this exercise's part of the notebook."""
        return [piece for piece in self._free_pieces() if self._exercise_of(piece) == name]

    def _exercise_of(self, piece: _Piece) -> str:
        """The exercise that a text answers. If it answers none: that of the notebook's part where it stands, or empty."""
        index = self.used.get(piece.at, self.above[piece.at])
        return "" if index < 0 else self.parts[index]

    def _accept(self, name: str, pieces: Sequence[_Piece], how: str) -> None:
        """Take these texts, one below the other, as the answer. ``how``: what was unusual; empty if nothing was."""
        if len(pieces) == 1:
            halves = self._with_halves(pieces[0])
            if len(halves) > 1:
                pieces = halves
                how = self._say("search split", count=len(halves))
        self.used |= {piece.at: self.index[name] for piece in pieces}
        self.result.answers[name] = _joined(pieces)
        if how:
            self.result.recovered[name] = how

    def _with_halves(self, piece: _Piece) -> list[_Piece]:
        """The piece with free cells beside it that are its other halves: only together they are Python."""
        free = {other.at: other for other in self._free_pieces()}
        above = itertools.takewhile(free.__contains__, range(piece.at - 1, piece.at - 1 - _MOST_JOINED, -1))
        below = itertools.takewhile(free.__contains__, range(piece.at + 1, piece.at + 1 + _MOST_JOINED))
        free[piece.at] = piece
        near = [free[at] for at in sorted([*above, piece.at, *below])]
        if near == [piece]:
            return near
        broken = {other for other in near if not is_python(other.text)}
        for run in _runs_with(near, near.index(piece)):
            if broken <= set(run) and is_python(_joined(run)):
                return run
        return [piece]

    def _leave_to_person(self, name: str, pieces: Sequence[_Piece], why: str) -> None:
        """Put these texts into the TODO cell as comments: they have no marks, and a person looks."""
        where = ", ".join(dict.fromkeys(piece.where for piece in pieces[:5]))
        texts = [f"[{piece.where}]\n{piece.text}" for piece in pieces]
        text = "\n\n".join([self._say("search head"), *texts])[:_MOST_WAITING]
        self.result.recovered.pop(name, None)
        self.result.lost[name] = self._say("search waits", why=why, where=where)
        self.result.answers[name] = "\n".join(f"# {line}".rstrip() for line in text.splitlines())

    # Written answers.

    def _find_written_answers(self) -> None:
        """Find each written answer: the text of its cell, and any text elsewhere that the learner may have written."""
        texts = self._texts_elsewhere()
        withdrawn = {at for at in texts if self.cells[at].grade_id in self.handout.withdrawn}
        self.shown |= withdrawn
        # What stands below a task answers that.
        texts = {at: text for at, text in texts.items() if not self._is_below(at, CellKind.TASK)}
        for name in self.handout.written:
            if self._read_written_cell(name):
                self._show_below(name, {at: text for at, text in texts.items() if at not in withdrawn})
            else:
                # What another question was called before may be this one.
                self.result.lost[name] = self._why_gone(name, self._say("search words lost"))
                self._show_below(name, texts)

    def _texts_elsewhere(self) -> dict[int, str]:
        """Cell -> what the learner may have written in it: text, comments alone, or many words in code."""
        if not self.handout.written:
            return {}
        # Comments beside code are about that code.
        skipped = {self.index[name] for name in self.named if self._holds_code(name)}
        skipped |= {self.index[name] for name in self.handout.written}
        texts = {}
        for at, cell in enumerate(self.cells):
            # Where the file breaks off stands half a line, as likely as not of the handout.
            if self.indices[at] not in skipped and cell.whole:
                texts[at] = _typed_text(self.handout, cell, self.released[at])
        return {at: text for at, text in texts.items() if text}

    def _read_written_cell(self, name: str) -> bool:
        """Take a written answer from its cell, or from the copy of it that was worked on. False if the cell is gone."""
        stub = self.handout.written[name]
        numbers = [at for at, index in enumerate(self.indices) if index == self.index[name]]
        texts = [self.cells[at].source for at in numbers if self.cells[at].whole]
        touched = [text for text in texts if bare(text) not in ("", bare(stub))]
        self.result.answers[name] = [*touched, *texts, stub][0]
        return bool(texts)

    def _is_below(self, at: int, kind: CellKind) -> bool:
        """Whether such a cell stands above it, and nothing else that is graded between."""
        return self.above[at] >= 0 and questions_above(self.handout)[self.above[at]][0] is kind

    def _show_below(self, name: str, elsewhere: Mapping[int, str]) -> None:
        """Put texts that may belong to a written answer below it: in its place if nothing stands there."""
        answer = self.result.answers[name]
        blank = answer.strip() in ("", self.handout.written[name].strip())
        if blank:
            head = _UNDECIDED
            how = "search other text"
            texts = elsewhere
        else:
            head = answer
            how = "search more text"
            texts = self._texts_beside(name, elsewhere)
        if texts:
            self.shown |= {at for at in texts if self._is_below(at, CellKind.WRITTEN)}
            numbers = ", ".join(str(at + 1) for at in list(texts)[:5])
            where = self._say("search cell", number=numbers, count=len(self.cells))
            self.result.answers[name] = _listed(head, texts)
            self.result.recovered[name] = self._say(how, where=where)
            self.result.lost.pop(name, None)

    def _texts_beside(self, name: str, texts: Mapping[int, str]) -> dict[int, str]:
        """Those of text cells directly above or below the cell for this answer."""
        own = [at for at, cell in enumerate(self.cells) if cell.grade_id == name]
        beside = {at - 1 for at in own}.union(at + 1 for at in own)
        return {at: text for at, text in texts.items() if at in beside and self.cells[at].kind != "code"}


def _indices_above(indices: Iterable[int | None]) -> list[int]:
    """For each cell the last index so far; -1 above the first one, and at the end, for files."""
    above = []
    last = -1
    for index in indices:
        if index is not None:
            last = index
        above.append(last)
    return [*above, -1]


def _unused_files(cells: Sequence[ExportedCell], files: Iterable[str]) -> list[str]:
    """The names of the files that no cell imports or runs: such a file has run already."""
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    used = set(re.findall(r"\w+", "\n".join(_IMPORTS.findall(code))))
    return [name for name in files if PurePosixPath(name).stem not in used]


def _versions(own: Sequence[_Piece], stub: str) -> list[_Piece]:
    """The copies of a TODO cell that somebody has worked on. Of equal copies the first one stands at the place of the last."""
    copies = {bare(piece.text): piece for piece in reversed(own) if piece.whole}
    return [piece for text, piece in copies.items() if text not in ("", bare(stub))][::-1]


def _are_halves(pieces: Sequence[_Piece]) -> bool:
    """Whether they are Python only together, or bind no name twice."""
    count = sum(is_python(piece.text) for piece in pieces)
    names = list(itertools.chain.from_iterable(names_in(piece.text) for piece in pieces))
    apart = len(set(names)) == len(names)
    return count == 0 or ((apart or count < len(pieces)) and is_python(_joined(pieces)))


def _runs_with(pieces: Sequence[_Piece], at: int) -> list[list[_Piece]]:
    """All runs of neighbours that hold the one at this index, the shortest first."""
    bounds = itertools.product(range(at + 1), range(at + 1, len(pieces) + 1))
    return sorted((list(pieces[start:end]) for start, end in bounds), key=len)


def _joined(pieces: Sequence[_Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)


def _typed_text(handout: ReleasedNotebook, cell: ExportedCell, released: Cell | None) -> str:
    """What a person may have written in a cell that was not handed out; empty if it is code, or nothing."""
    lines = unreleased_lines(handout, cell.source)
    comments = [line for line in lines if line.lstrip().startswith("#")]
    if released is not None and released.kind is CellKind.ANSWER:
        lines = comments
        is_text = False
    else:
        is_text = cell.kind != "code" or (released is None and lines == comments)
    text = "\n".join(lines)
    if is_text or _PROSE.search(re.sub(r"\n\s*#+", " ", text)):
        return text
    return ""


def _listed(head: str, texts: Mapping[int, str]) -> str:
    """The texts, each below its place, as far as they are shown."""
    whole = "\n\n".join([head, *(f"[cell {at + 1}]\n{text}" for at, text in texts.items())])
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}\n\n[more in the submitted notebook]"
