"""Rosters: who belongs to the class, and the CSV that says which names stand for which learner.

``roster.csv`` in the course's folder is a table that people can read and change.

Of tables that say whose is a file, three kinds are read: a hand-made one (a column ``learner``, every other column holds
names that stand for that learner), Canvas's gradebook export, and Moodle's list of participants or grading worksheet.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbproof.collect.csv_table import read_sheet
from nbproof.collect.names import bare, plain, why_no_learner
from nbproof.errors import UsageError
from nbproof.files import replace_file

__all__ = [
    "ROSTER",
    "SEPARATOR",
    "Member",
    "Roster",
    "enrol",
    "is_class_known",
    "kept_roster",
    "members_of",
    "read_names",
    "strike_off",
]


_LEARNER = (
    "learner", "student id", "sis login id", "login id", "username", "user name", "login", "sis user id", "id number",
    "id nummer", "email address", "email", "e mail", "e mail adresse", "mail", "id", "student", "name", "full name",
)  # fmt: skip
"""Columns whose value becomes the learner's id, the best first."""

_NUMBERS = {"id", "identifier", "lms user id", "canvas id", "moodle id", "user id", "teilnehmer in", "identifikator"}
"""Columns that hold the number by which the LMS calls the learner in file names."""

_SHARED = 5
"""Names of several learners that are told one by one."""

SEPARATOR = "|"
_NAMED = ("name", "full name", "student", "vollstandiger name")
_PARTICIPANT = re.compile(r"(?:participant|teilnehmer|teilnehmer/in)\s*\d+$", re.IGNORECASE)
_FIRST = {"first name", "firstname", "given name", "vorname", "prenom", "nombre"}
_LAST = {"last name", "lastname", "surname", "family name", "nachname", "nom", "apellido", "apellido s"}


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them."""

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()
    """What else stands for them: other spellings, and the number that Canvas gives them."""


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

    @property
    def learners(self) -> tuple[str, ...]:
        """Their ids, in the order of the file."""
        return tuple(member.learner for member in self.members)

    def who(self, name: str, number: str = "") -> frozenset[str]:
        """The learners that a name, and the LMS's number with it, may mean. Several: it is not clear. None: nobody."""
        by_number = self.numbers.get(number, frozenset()) if number else frozenset()
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


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names, which ``option`` has named. Raises UsageError if it cannot be used."""
    rows = read_sheet(path, "the names", option, least=1).rows
    heads = [_head(cell) for cell in rows[0]]
    chosen = next((name for name in _LEARNER if name in heads and _filled(rows, heads.index(name))), "")
    if not chosen and any(head in _FIRST for head in heads) and any(head in _LAST for head in heads):
        chosen = "first and last"
    if {"id", "first name", "last name"} <= set(heads):
        chosen = "id"  # as nbgrader's own list of students
    if not chosen or len(rows) < 2:
        none = len(rows) < 2 and any(head in _LEARNER for head in heads)
        raise UsageError(
            "the names hold no learner" if none else "no column of the names says which learner it is",
            f"{path}, whose first line is {', '.join(rows[0])[:120]!r}",
            "name one column 'learner'; every other column holds names that stand for that learner",
        )
    return _roster(rows, heads, chosen, path)


def _roster(rows: Sequence[Sequence[str]], heads: Sequence[str], chosen: str, path: Path) -> Roster:
    names: dict[str, set[str]] = {}
    numbers: dict[str, set[str]] = {}
    learners: dict[str, Member] = {}
    turned: dict[str, set[str]] = {}
    notes: list[str] = []
    canvas = {"student", "id"} <= set(heads)
    moodle = "identifier" in heads or bool(set(heads) & _FIRST and set(heads) & _LAST)
    handmade = chosen == "learner" or not (canvas or moodle)
    fallbacks = () if chosen in {"learner", "first and last"} else _LEARNER[_LEARNER.index(chosen) :]
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(heads, (cell.strip() for cell in row), strict=False))
        first = " ".join(cells[head] for head in heads if head in _FIRST and cells.get(head))
        last = " ".join(cells[head] for head in heads if head in _LAST and cells.get(head))
        learner = " ".join((first, last)).strip() if chosen == "first and last" else cells.get(chosen, "")
        learner = learner or next((cells[head] for head in fallbacks if cells.get(head)), "")
        if canvas and plain(cells.get("student", "")) in {"points possible", "student, test", ""}:
            continue
        if not any(cells.values()):
            continue
        learner = unicodedata.normalize("NFC", learner)
        if why := why_no_learner(learner):
            notes.append(f"{path.name}, line {line}: {learner[:40]!r} cannot be a learner's id: {why}")
            continue
        aliases = list(dict.fromkeys(_aliases(cells, heads, first, last, canvas, handmade)))
        lasting = _lasting_numbers(cells, canvas, handmade, chosen)
        learners.setdefault(learner, _member(learner, cells, f"{first} {last}".strip(), aliases, lasting))
        for alias in aliases:
            names.setdefault(plain(alias), set()).add(learner)
            names.setdefault(bare(alias), set()).add(learner)
            for other in _turned(alias):
                turned.setdefault(bare(other), set()).add(learner)
        names.setdefault(plain(learner), set()).add(learner)
        names.setdefault(bare(learner), set()).add(learner)
        for head, cell in cells.items():
            digits = re.search(r"(\d+)\s*$", cell)
            if head == chosen and not canvas:
                continue
            if digits and (head in _NUMBERS or (handmade and cell.isdigit())):
                numbers.setdefault(digits[1], set()).add(learner)
        for number in lasting:
            numbers.setdefault(number, set()).add(learner)
    # Only where it is nobody's name as it stands: Anna Maria is not Maria Anna.
    names = {**turned, **names}
    names.pop("", None)
    # A learner's own id is nobody else's alias.
    for learner in learners:
        names[plain(learner)] = {other for other in names[plain(learner)] if plain(other) == plain(learner)} or {
            learner
        }
    notes += _shared(path.name, {**names, **numbers})
    if not learners:
        raise UsageError("the names hold no learner", str(path), "; ".join(notes[:3]) or "add a line for each learner")
    frozen = {alias: frozenset(whose) for alias, whose in names.items()}
    return Roster(
        tuple(learners.values()), frozen, {key: frozenset(whose) for key, whose in numbers.items()}, tuple(notes)
    )


def _shared(file: str, names: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """A sentence for each group of learners that names stand for together: of all its spellings the one to read."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for alias, whose in names.items():
        if len(those := tuple(sorted(whose))) > 1:
            groups.setdefault(those, []).append(alias)
    told = sorted((max(aliases, key=lambda one: (" " in one, one)), whose) for whose, aliases in groups.items())
    for alias, whose in told[:_SHARED]:
        several = " and ".join(whose) if len(whose) < 4 else f"{len(whose)} learners"
        yield f"{file}: {alias!r} stands for {several}: a file that bears only this name is not taken"
    if len(told) > _SHARED:
        yield f"{file}: and {len(told) - _SHARED} more names that stand for several learners"


def _aliases(
    cells: dict[str, str], heads: Sequence[str], first: str, last: str, canvas: bool, handmade: bool
) -> Iterable[str]:
    """What stands for the learner of one row."""
    yield from _also(cells)
    if first and last:
        yield from (f"{first} {last}", f"{last} {first}", f"{last}, {first}")
    for head in heads:
        cell = cells.get(head, "")
        if not cell or head == "also":
            continue
        if handmade or head in {*_LEARNER, "identifier"}:
            if not (canvas and head == "id"):
                yield cell
            if "," in cell and len(parts := [part.strip() for part in cell.split(",")]) == 2:
                yield f"{parts[1]} {parts[0]}"
        if "@" in cell and " " not in cell:
            yield cell
            yield cell.split("@")[0]


def _turned(name: str) -> Iterable[str]:
    """A name with its last words in front, as Canvas sorts people: "Ada King Lovelace" may be lovelaceadaking there."""
    words = name.split()
    if 2 <= len(words) <= 5 and not any("@" in word or "," in word or word.isdigit() for word in words):
        yield from (" ".join((*words[at:], *words[:at])) for at in range(1, len(words)))


def _also(cells: dict[str, str]) -> list[str]:
    """The column ``also`` of a roster that this course keeps."""
    return [part.strip() for part in cells.get("also", "").split(SEPARATOR) if part.strip()]


def _lasting_numbers(cells: dict[str, str], canvas: bool, handmade: bool, chosen: str) -> list[str]:
    """Numbers by which an LMS calls the learner in every download; Moodle's mean something in one assignment only."""
    lasting = {"lms user id", "canvas id", "user id"} | ({"id"} if canvas else set())
    own = [
        cell for head, cell in cells.items()
        if cell.isdecimal() and head != chosen and (head in lasting or (handmade and head not in _NUMBERS))
    ]  # fmt: skip
    return own + [one for one in _also(cells) if one.isdecimal()]


def _member(learner: str, cells: dict[str, str], named: str, aliases: Sequence[str], numbers: Sequence[str]) -> Member:
    name = named or next((cells[head] for head in _NAMED if cells.get(head)), "")
    email = next((cell for cell in cells.values() if "@" in cell and " " not in cell), "")
    said = {bare(learner), bare(name), bare(email), bare(email.split("@")[0]), ""}
    also: list[str] = []
    for alias in (*aliases, *numbers):
        # What a download of Moodle calls a person whose name it hides is another one's number in the next.
        if bare(alias) not in said and (not alias.isdecimal() or alias in numbers) and not _PARTICIPANT.match(alias):
            said.add(bare(alias))
            also.append(alias)
    return Member(learner, name, email, tuple(also))


def _head(cell: str) -> str:
    """A column's name, bare of punctuation and accents: ``ID number`` -> ``id number``, ``student_id`` -> ``student id``."""
    letters = unicodedata.normalize("NFKD", cell.casefold())
    bare_letters = (letter for letter in letters if not unicodedata.combining(letter))
    return " ".join("".join(letter if letter.isalnum() else " " for letter in bare_letters).split())


def _filled(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether most rows say something in this column, and not the same twice."""
    cells = [row[column].strip() for row in rows[1:]]
    said = [cell for cell in cells if cell]
    return bool(said) and len(said) * 2 >= len(cells) and len(set(said)) * 2 > len(said)


ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept, which names whom it knows and leaves others alone. Raises UsageError if it is broken."""
    path = root / ROSTER
    if not path.is_file() or len(path.read_bytes().split(b"\n", 1)[-1].strip()) == 0:
        return None
    return replace(read_names(path), strict=False)


def members_of(root: Path) -> tuple[Member, ...]:
    """Everybody on the roster that is kept. Raises UsageError if it is broken."""
    roster = kept_roster(root)
    return roster.members if roster is not None else ()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


def enrol(root: Path, members: Iterable[Member]) -> tuple[list[str], list[str]]:
    """Put learners on the roster, or what is new of them; returns those who are new, and those who changed. Raises UsageError."""
    kept = {member.learner: member for member in members_of(root)}
    added, changed = [], []
    for one in members:
        before = kept.get(one.learner)
        if before is None:
            added.append(one.learner)
            kept[one.learner] = one
            continue
        also = tuple(dict.fromkeys((*before.also, *one.also)))
        after = replace(before, name=one.name or before.name, email=one.email or before.email, also=also)
        if after != before:
            changed.append(one.learner)
            kept[one.learner] = after
    _write(root, list(kept.values()))
    return added, changed


def strike_off(root: Path, learners: Iterable[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    gone = set(learners)
    before = members_of(root)
    if any(member.learner in gone for member in before):
        _write(root, [member for member in before if member.learner not in gone])


def _write(root: Path, members: Sequence[Member]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in members:
        also = f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in one.also)
        writer.writerow([one.learner, one.name, one.email, also])
    path = root / ROSTER
    data = text.getvalue().encode("utf-8", "backslashreplace")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        replace_file(path, data)
    except OSError as error:
        raise UsageError(
            f"the roster cannot be written: {error.strerror}",
            str(path.absolute()),
            "free some space, or let your user write there",
        ) from None
