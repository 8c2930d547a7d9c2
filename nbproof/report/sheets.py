"""An instructor's own table from Canvas or Moodle: which column is which lesson's, and which row which learner's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nbproof.collect.names import bare, plain
from nbproof.report.records import Person

__all__ = ["Matching", "column_of", "match"]


def column_of(names: Sequence[str], slug: str, title: str) -> int | None:
    """Which of these columns is a lesson's: by its name, its title or both, without the id, unit and kind that an LMS adds.

    None if there is none, or if several may be meant.
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
