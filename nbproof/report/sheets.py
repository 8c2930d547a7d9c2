"""A teacher's own table from Canvas or Moodle: read, matched with learners, written as it came but for the grades."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.collect.roster import bare, plain
from nbproof.errors import UsageError
from nbproof.report.records import Person

__all__ = ["Matching", "Sheet", "column_of", "match", "read_sheet"]

_LARGEST = 32 << 20


@dataclass(frozen=True)
class Sheet:
    """A table, and how its file was written."""

    path: Path
    rows: list[list[str]]
    encoding: str
    delimiter: str
    line_end: str

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """The first column that is called so, letter case and punctuation aside."""
        heads = [bare(cell) for cell in self.head]
        return next((heads.index(bare(name)) for name in names if bare(name) in heads), None)

    def text(self, rows: Iterable[Sequence[str]]) -> bytes:
        """Rows in the form of this file. Cells of the teacher's own are left as they are."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return out.getvalue().encode(self.encoding, "replace")


def read_sheet(path: Path, option: str) -> Sheet:
    """Read an export. Raises UsageError where it is none; ``option`` is what it was named with, such as ``--canvas``."""
    again = f"export it again as CSV, and name that file: {option} FILE"
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"the export cannot be read: {error.strerror}", str(path), f"{option} FILE") from None
    if len(data) > _LARGEST or data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise UsageError("the export is a spreadsheet or an archive, not a CSV", str(path), again)
    encodings = ["utf-16"] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8", "cp1252"]
    if data.startswith(b"\xef\xbb\xbf"):
        encodings = ["utf-8-sig"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise UsageError("the export is no text", str(path), again)
    if "\0" in text:
        raise UsageError("the export is no text", str(path), again)
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UsageError(f"the export cannot be read as CSV: {error}", str(path), again) from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise UsageError("the export holds no learner", str(path), again)
    width = len(rows[0])
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    return Sheet(path, rows, encoding, delimiter, "\r\n" if "\r\n" in text else "\n")


def column_of(names: Sequence[str], slug: str, title: str) -> int | None:
    """Which of these columns is a lesson's: by its name, its title or both, without the id, unit and kind that an LMS adds.

    None where there is none, or where several may be meant.
    """
    cleaned = [bare(_core(name)) for name in names]
    number, _, topic = slug.partition("_")
    wanted = [bare(slug), bare(title), bare(number + title), bare(topic)]
    for exact in wanted:
        found = [place for place, name in enumerate(cleaned) if exact and name == exact]
        if len(found) == 1:
            return found[0]
    # "Homework 2: 02_sorting", "Lesson 02 Sorting"
    for part in wanted[:3]:
        found = [place for place, name in enumerate(cleaned) if len(part) > 5 and part in name]
        if len(found) == 1:
            return found[0]
    return None


def _core(name: str) -> str:
    """A column's name without what Canvas (``(12345)``) and Moodle (``Assignment: ... (Real)``) put around it."""
    name = re.sub(r"\s*\((?:\d+|real|percentage|letter|punkte|reell)\)\s*$", "", name.strip(), flags=re.IGNORECASE)
    return re.sub(r"^(?:assignment|aufgabe|tarea|devoir)\s*:\s*", "", name, flags=re.IGNORECASE)


@dataclass(frozen=True)
class Matching:
    """Rows of a sheet (numbers from 0, the head among them) and the learners that they are."""

    rows: dict[int, str]
    unmatched_learners: tuple[str, ...]
    unclear: tuple[str, ...]
    """Learners for whom several rows are meant, or whose row several learners mean."""


def match(rows: Mapping[int, tuple[Sequence[str], str]], people: Iterable[Person], learners: Iterable[str]) -> Matching:
    """Match by identifiers, the surest first, then by name. Nobody is guessed.

    ``rows``: row number -> (identifiers, the surest first; the full name).
    """
    known = {person.id: person for person in people}
    widths = max((len(ids) for ids, _ in rows.values()), default=0)
    tables: list[dict[str, set[int]]] = [{} for _ in range(widths + 1)]
    for number, (identifiers, name) in rows.items():
        for table, identifier in zip(tables, identifiers, strict=False):
            for form in _forms(identifier):
                table.setdefault(form, set()).add(number)
        for form in _name_forms(name):
            tables[-1].setdefault(form, set()).add(number)
    means: dict[str, set[int]] = {}
    for learner in learners:
        person = known.get(learner, Person(learner))
        own = [learner, person.lms_id, person.email]
        found: set[int] = set()
        for table in tables[:-1]:
            found = next((table[form] for text in own for form in _forms(text) if form in table), set())
            if found:
                break
        if not found:
            names = [f"{person.first_name} {person.last_name}", learner.replace("_", " ").replace(".", " ")]
            found = next(
                (tables[-1][form] for text in names for form in _name_forms(text) if form in tables[-1]), set()
            )
        means[learner] = found
    taken: dict[int, list[str]] = {}
    for learner, found in means.items():
        if len(found) == 1:
            taken.setdefault(next(iter(found)), []).append(learner)
    clear = {row: whose[0] for row, whose in taken.items() if len(whose) == 1}
    return Matching(
        dict(sorted(clear.items())),
        tuple(sorted(learner for learner, found in means.items() if not found)),
        tuple(sorted(learner for learner, found in means.items() if found and learner not in clear.values())),
    )


def _forms(text: str) -> list[str]:
    """An identifier as it is; of an address the part before the @ as well. Letter case aside."""
    text = plain(text)
    return [form for form in (text, text.partition("@")[0] if "@" in text else "") if form]


def _name_forms(name: str) -> list[str]:
    """A full name in any order of its parts."""
    parts = sorted(part for part in (bare(part) for part in re.split(r"[\s,]+", name)) if part)
    return [" ".join(parts), "".join(parts)] if len(parts) > 1 else []
