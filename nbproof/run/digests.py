"""What a verdict depends on, in digests: so that a run grades again what a change touches, and nothing else."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from traitlets.config import Config

from nbproof.cells import CellKind
from nbproof.checks.visible import digest_of_visible
from nbproof.files import digest_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, read_attachments, read_blueprint
from nbproof.run.environment import MARKED_BY, SHOWN_BY, digest_of_course, digest_of_rooms, leaf_versions

__all__ = ["BASIS", "LessonState", "grader_digest"]

BASIS = {
    "grader": "the course's checking code changed",
    "limits": "the limits in nbgrader_config.py changed",
    "setup": "its setup cells changed",
    "files": "the files beside it changed",
    "shown": "its cells that show something changed",
    "answers": "its TODO cells changed",
}
"""What all exercises of a lesson depend on -> what a run says if it is no longer the same."""


@cache
def grader_digest() -> str:
    """Changes with the code that verdicts are reached with: rooms of the tool, the course's modules and hints, leaf types."""
    leaves = json.dumps(leaf_versions(), sort_keys=True)
    return digest_of(leaves.encode(), digest_of_rooms(MARKED_BY).encode(), digest_of_course().encode())


@cache
def _showing_digest() -> str:
    """Changes with the code that graded notebooks are written with."""
    return digest_of_rooms(SHOWN_BY)


def _limits_text(limits: GradingLimits) -> bytes:
    values = {name: getattr(limits, name) for name in sorted(limits.trait_names(config=True))}
    return json.dumps(values, sort_keys=True).encode()


@dataclass(frozen=True)
class LessonState:
    """One lesson as the instructor has it now. The notebook is taken apart only if somebody asks for its parts."""

    path: Path
    config: Config
    limits: GradingLimits

    @cached_property
    def source(self) -> str:
        """Changes with anything: if it is the same, nothing else needs to be looked at."""
        stubs = [repr(self.config.get(name)) for name in ("ClearSolutions", "ClearHiddenTests")]
        return digest_of(
            self.path.read_bytes(), "".join(stubs).encode(), _limits_text(self.limits), grader_digest().encode(),
            _showing_digest().encode(), digest_of_visible(self.path.stem).encode(), *self.files,
        )  # fmt: skip

    @cached_property
    def files(self) -> tuple[bytes, ...]:
        """Names and contents of the instructor's data files."""
        found = read_attachments(self.path.parent, self.path, self.limits.attachment_mb << 20)
        return tuple(part for name, data in found.items() for part in (os.fsencode(name), data))

    @cached_property
    def registered(self) -> str:
        """Changes with what the gradebook knows of the lesson."""
        return digest_of(self.path.read_bytes())

    @cached_property
    def blueprint(self) -> Blueprint:
        """The notebook, taken apart."""
        return read_blueprint(self.path, self.config)

    @cached_property
    def basis(self) -> dict[str, str]:
        """What every exercise depends on: the keys of BASIS."""
        blueprint = self.blueprint
        ran = [name for kind, name in blueprint.order if kind is CellKind.SETUP]
        answers = [f"{kind} {name}" for kind, name in blueprint.order if kind is not CellKind.TEST]
        return {
            "grader": grader_digest(),
            "limits": digest_of(_limits_text(self.limits)),
            "setup": digest_of(*(part.encode() for name in ran for part in (name, blueprint.setup[name]))),
            "files": digest_of(*self.files),
            # An answer may need a name of theirs.
            "shown": digest_of(
                *(cell.source.encode() for cell in blueprint.handout.cells if cell.kind is CellKind.SHOW)
            ),
            "answers": digest_of(
                *(part.encode() for part in answers),
                *(part.encode() for name, stub in blueprint.stubs.items() for part in (name, stub)),
                *(part.encode() for name, one in blueprint.written.items() for part in (name, one.stub)),
            ),
        }

    @cached_property
    def tests(self) -> dict[str, str]:
        """Exercise -> digest of its test cells: texts, places, and whether they count. Points may change freely."""
        blueprint = self.blueprint
        parts: dict[str, list[str]] = defaultdict(list)
        plain: list[str] = []
        before = 0
        for kind, name in blueprint.order:
            if kind is CellKind.TEST:
                test = blueprint.tests[name]
                counts = str(test.points > 0 if test.plain is None else test.points)
                parts[test.exercise] += [name, test.source, str(before), counts, *plain]
                # What stands below a plain test cell may rest on anything that it does.
                plain += [test.source] if test.plain is not None else []
            else:
                before += 1
        return {
            exercise: digest_of(*(part.encode() for part in parts.get(exercise, [])))
            for exercise in blueprint.exercises
        }
