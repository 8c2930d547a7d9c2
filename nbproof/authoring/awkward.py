"""Arguments that nobody thinks of: each exercise whose answer takes one is tried on them, or says why one cannot meet it.

``course.toml`` names, for arguments such as ``model``, the kinds that there are. ``checks.py`` uses a kind by its name, or has a
line that says why it does not apply::

    # awkward: one_dim: the exercise looks at parameters only, no input is involved
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from nbproof.authoring.exercise_folder import CHECKS
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.errors import Violation
from nbproof.regions import stub_of

__all__ = ["untried"]

_EXEMPT = re.compile(r"^#\s*awkward:\s*(?P<kinds>[\w, ]+?)\s*:\s*(?P<why>\S.*)$", re.MULTILINE)


def untried(lesson: Lesson, exercise: Exercise, kinds: Mapping[str, Sequence[str]]) -> Iterator[Violation]:
    """Kinds of arguments that no check of the exercise tries, without a word about why; ``kinds``: argument -> kinds."""
    taken = _arguments(stub_of(exercise.answer.source))
    asked = {kind: argument for argument, of in kinds.items() if argument in taken for kind in of}
    if not asked:
        return
    path = lesson.path.parent / exercise.id / CHECKS
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    tree = list(ast.walk(ast.parse(text)))
    known = {node.value for node in tree if isinstance(node, ast.Constant)}
    known |= {node.id for node in tree if isinstance(node, ast.Name)}
    exempt = {kind.strip(): said for said in _EXEMPT.finditer(text) for kind in said["kinds"].split(",")}
    missing = [kind for kind in asked if kind not in known and kind not in exempt]
    if missing:
        yield Violation(
            f"{exercise.id}: its answer takes any {asked[missing[0]]}, and no check tries: {', '.join(missing)}",
            str(path),
            "let a check use them, or write there '# awkward: <kinds>: <why they do not apply>'",
            lesson.slug,
        )
    for kind, said in exempt.items():
        place = f"{path}:{text.count(chr(10), 0, said.start()) + 1}"
        if kind not in {one for of in kinds.values() for one in of}:
            yield Violation(
                f"{exercise.id}: no kind is called {kind!r}", place, "see [awkward] in course.toml", lesson.slug
            )
        elif kind in known:
            yield Violation(
                f"{exercise.id}: {kind!r} is tried, and said not to apply",
                place,
                "take one of the two out",
                lesson.slug,
            )


def _arguments(stub: str) -> set[str]:
    """The names of the arguments of all functions in the text."""
    functions = [node.args for node in ast.walk(ast.parse(stub)) if isinstance(node, ast.FunctionDef)]
    return {one.arg for of in functions for one in (*of.posonlyargs, *of.args, *of.kwonlyargs)}
