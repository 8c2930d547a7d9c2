"""One notebook of a learner's own, with the visible and the hidden tests: for people who study alone.

The same engine as for a class, with no gradebook: nothing is written. It needs Linux; elsewhere the checks in the notebook,
which know the hidden ones as well where these are at hand, say the same words.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from nbproof.errors import UsageError
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import (
    Blueprint,
    Damaged,
    read_attachments,
    read_blueprint,
    read_file,
)
from nbproof.marking.hand_in import HandIn
from nbproof.marking.results import Verdict
from nbproof.nbgrader_setup import course_config
from nbproof.places import places
from nbproof.recover.notebook_bytes import ExportedCell, plain_cells, salvaged
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.launch import refuse_if_exposed

__all__ = ["check_notebook", "lesson_of"]


def check_notebook(
    root: Path,
    file: Path,
    lessons: list[str],
    *,
    seed: int | None = None,
    isolation: Isolation | None = None,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> Verdict:
    """The verdict on ``file``. Raises UsageError if it is no notebook of this course, NoIsolation as grading a class does."""
    if sys.platform != "linux":
        isolation_or_refuse()
    isolation = isolation or isolation_or_refuse().level
    if isolation is not Isolation.NONE:
        refuse_if_exposed(root)
    config = course_config(root)
    limits = GradingLimits.read(config)
    blueprints = {name: read_blueprint(places(root).source(name), config, name) for name in lessons}
    try:
        data = read_file(file, limits.notebook_mb << 20)
        cells = plain_cells(data) or salvaged(data).cells
        blueprint = blueprints[lesson_of(file, cells, blueprints)]
        seed = seed if seed is not None else secrets.randbelow(10**9) + 1
    except Damaged as damage:
        raise _unchecked(file, str(damage)) from None
    # Neither can be imported where there is no Linux.
    from nbproof.marking.marker import Marker
    from nbproof.sandbox.engine import Engine

    step(0, 1, blueprint.lesson)
    files = read_attachments(file.parent, file, limits.attachment_mb << 20)
    with Engine(limits, isolation) as engine:
        verdict = Marker(engine, blueprints, seed).mark(HandIn(Key("you", blueprint.lesson), data, files))
    if verdict.problem:
        raise _unchecked(file, verdict.problem)
    return verdict


def _unchecked(file: Path, why: str) -> UsageError:
    return UsageError(
        f"this cannot be checked: {why}", str(file), "save the notebook in JupyterLab, then check it again"
    )


def lesson_of(file: Path, cells: Sequence[ExportedCell], blueprints: dict[str, Blueprint]) -> str:
    """The lesson that a notebook belongs to, by its cells' ids, and by its name if it has none of ours."""
    ids = {cell.name for cell in cells if cell.name}
    shared = {name: len(ids & set(blueprint.stubs)) for name, blueprint in blueprints.items()}
    best = max(shared, key=lambda name: shared[name])
    if shared[best]:
        return best
    if file.stem in blueprints:
        return file.stem
    raise UsageError(
        "this notebook belongs to no lesson of the course: none of its cells is a TODO cell",
        str(file),
        "name a lesson's notebook, such as learn/{0}/{0}.ipynb".format(min(blueprints)),
    )
