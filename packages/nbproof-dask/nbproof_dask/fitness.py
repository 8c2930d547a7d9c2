"""Whether a worker would come to the verdicts that this machine comes to: its versions, and what reference answers earn there."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import msgpack
import nbformat

from nbproof.files import digest_of
from nbproof.key import Key
from nbproof.marking.blueprint import Blueprint, fill_in
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.digests import graded_by
from nbproof.run.pool import Pool
from nbproof.run.references import REFERENCE, shortfall

__all__ = ["Card", "differences", "shortfalls", "versions"]

_IMPORTS = re.compile(r"^\s*(?:import|from) +(\w+)", re.MULTILINE)
_NONE = "not there"


@dataclass(frozen=True)
class Card:
    """What a worker says of itself when it joins."""

    slots: int
    """How many submissions it marks at a time."""
    isolation: str
    versions: Mapping[str, str]
    shortfalls: Mapping[str, str]
    """Lesson -> why its reference answers earn less than full marks there."""

    def as_bytes(self) -> bytes:
        """It, to be sent."""
        return bytes(msgpack.packb([self.slots, self.isolation, dict(self.versions), dict(self.shortfalls)]))

    @classmethod
    def of(cls, data: bytes) -> Card:
        """The card in what was received. Raises an error of any kind if there is none."""
        slots, isolation, found, short = msgpack.unpackb(data)
        return cls(max(1, int(slots)), str(isolation), _texts(found), _texts(short))


def _texts(data: object) -> dict[str, str]:
    if not isinstance(data, dict):
        raise TypeError(f"a {type(data).__name__} in place of a table")
    return {str(name): str(text) for name, text in data.items()}


def versions(blueprints: Mapping[str, Blueprint]) -> dict[str, str]:
    """What a verdict depends on, besides the lesson: Python, the code that grades, and the libraries that lessons import."""
    course = next(iter(blueprints.values())).course
    code = chain.from_iterable((name.encode(), path.read_bytes()) for name, path in sorted(graded_by(course).items()))
    found = {"Python": platform.python_version(), "the code of nbproof": digest_of(*code)[:12]}
    packages = importlib.metadata.packages_distributions()
    for module in sorted(_imported(blueprints)):
        named = sorted(set(packages.get(module, ())))
        found[module] = " ".join(map(importlib.metadata.version, named)) or _NONE
    return found


def _imported(blueprints: Mapping[str, Blueprint]) -> set[str]:
    """The libraries of leaf types, those that are imported beforehand, and those that lessons import."""
    course = next(iter(blueprints.values())).course
    names = {*course.leaves, *(name.partition(".")[0] for name in course.warm)}
    for text in chain.from_iterable(map(_code_of, blueprints.values())):
        names.update(_IMPORTS.findall(text))
    return names - sys.stdlib_module_names - {course.package, "nbproof", ""}


def _code_of(blueprint: Blueprint) -> Iterator[str]:
    yield from (cell.source for cell in blueprint.notebook.cells if cell.cell_type == "code")
    yield from blueprint.withheld.values()


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """Where two machines have other versions, a text for each."""
    names = [name for name in here if here[name] != there.get(name, _NONE)]
    return [f"{name} is {there.get(name, _NONE)} there and {here[name]} here" for name in names]


def shortfalls(blueprints: Mapping[str, Blueprint], pool: Pool) -> dict[str, str]:
    """Lesson -> why its reference answers earn less than full marks in this pool, of those that do."""
    asked = {name: one for name, one in blueprints.items() if one.solutions}
    marking = {name: pool.submit(_reference(one)) for name, one in asked.items()}
    said = {name: shortfall(asked[name], asked[name].solutions, future.result()) for name, future in marking.items()}
    return {name: why for name, why in said.items() if why}


def _reference(blueprint: Blueprint) -> HandIn:
    filled = fill_in(blueprint, Answers(blueprint.solutions))
    return HandIn(Key(REFERENCE, blueprint.slug), notebook=nbformat.writes(filled).encode())
