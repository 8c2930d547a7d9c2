"""What a statement demands, and which arguments nobody thinks of: each is asked by a check, or it is said why not.

Each sentence of the statement is quoted by a mutant that breaks it, or said to demand nothing. A mutant quotes the statement
below its first line, and the head of ``wrong.py`` what no answer can break::

    # nothing to break: Do it with a loop, as in the section before.

    # %% keeps_the_old_one
    # misconception: hands back the model that it was given | hint: none
    # breaks: a new model
    def copied(model):

A demand that nothing breaks is one that no check asks, as far as anybody has shown: an answer that ignores it would pass.

Arguments that nobody thinks of: ``course.toml`` names, for arguments such as ``model``, the kinds that there are.
``checks.py`` uses a kind by its name, or has a line that says why it does not apply::

    # awkward: one_dim: the exercise looks at parameters only, no input is involved
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from nbproof.authoring.exercise_folder import nothing_to_break
from nbproof.authoring.headings import statement_of
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.cells import stub_of
from nbproof.errors import Violation
from nbproof.handed_out import CHECKS

__all__ = ["Demands", "demands_of", "sentences", "unbroken", "untried"]


_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|\|)\s)")
_ENDS = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])[\"'*_)]*\s+(?=[A-Z`\"'*_(\[])")
_MARKUP = re.compile(
    r"```.*?```|<!--.*?-->|<summary>.*?</summary>|</?\w+[^>`]*>|^\s*\|.*\n\s*\|[ |:-]+\|\s*$", re.DOTALL | re.MULTILINE
)
_BULLET = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True)
class Demands:
    """The sentences of one statement."""

    broken: tuple[str, ...] = ()
    """A mutant quotes a part of each."""
    unbroken: tuple[str, ...] = ()
    nothing: int = 0
    """Questions, ways to a hint, and sentences that wrong.py says demand nothing."""

    @property
    def count(self) -> int:
        """How many demands there are."""
        return len(self.broken) + len(self.unbroken)


def sentences(statement: str) -> Iterator[str]:
    """The sentences, list items and rows of tables of a text in markdown, in one line each, without code blocks and tags."""
    for block in _BLOCK.split(_MARKUP.sub("\n", statement)):
        text = " ".join(_BULLET.sub("", block).strip(" |\n").split())
        if text and not text.startswith("#"):
            yield from _ENDS.split(text)


def demands_of(lesson: Lesson, exercise: Exercise) -> Demands:
    """What the statement demands, and what of it is broken by a mutant."""
    quotes = [quote for mutant in exercise.mutants for quote in mutant.breaks]
    none = [quote for quote, _ in nothing_to_break(lesson.path.parent / exercise.id)]
    broken, unbroken, nothing = [], [], 0
    for sentence in sentences(statement_of(lesson, exercise)):
        if _meets(sentence, quotes):
            broken.append(sentence)
        elif sentence.endswith("?") or "hint(" in sentence or _meets(sentence, none):
            nothing += 1
        else:
            unbroken.append(sentence)
    return Demands(tuple(broken), tuple(unbroken), nothing)


def _meets(sentence: str, quotes: Sequence[str]) -> bool:
    """Whether one of the quotes lies in the sentence, or the sentence in one of them."""
    return any(quote in sentence or sentence in quote for quote in quotes)


def unbroken(lesson: Lesson, exercise: Exercise) -> Iterator[Violation]:
    """Demands that no mutant breaks, and quotes that the statement does not hold."""
    for sentence in demands_of(lesson, exercise).unbroken:
        yield Violation(
            f"{exercise.id}: no mutant breaks this sentence of the statement: {sentence!r}",
            exercise.answer.place,
            f"write below a mutant's first line in {exercise.id}/wrong.py '# breaks: <a piece of it>', or, at the head of the "
            "file, '# nothing to break: <a piece of it>'; a demand that no check asks is to be asked, or to go",
            lesson.slug,
        )
    text = " ".join(" ".join(sentences(statement_of(lesson, exercise))).split())
    said = [(quote, mutant.place) for mutant in exercise.mutants for quote in mutant.breaks]
    for quote, place in [*said, *nothing_to_break(lesson.path.parent / exercise.id)]:
        if quote not in text:
            yield Violation(
                f"{exercise.id}: the statement does not say {quote!r}",
                place,
                "quote it word for word, in one line, without the marks of a list",
                lesson.slug,
            )


_EXEMPT = re.compile(r"#\s*awkward:\s*(?P<kinds>[\w, ]+?)\s*:\s*(?P<why>\S.*)$")


def untried(lesson: Lesson, exercise: Exercise, kinds: Mapping[str, Sequence[str]]) -> Iterator[Violation]:
    """Kinds of arguments that no check of the exercise tries, without a word about why; ``kinds``: argument -> kinds."""
    asked = _kinds_of(exercise, kinds)
    if not asked:
        return
    path = lesson.path.parent / exercise.id / CHECKS
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    tried, exempt = _words_in(text), _exempt_in(text)
    missing = [kind for kind in asked if kind not in tried and kind not in exempt]
    if missing:
        yield Violation(
            f"{exercise.id}: its answer takes any {asked[missing[0]]}, and no check tries: {', '.join(missing)}",
            str(path),
            "let a check use them, or write there '# awkward: <kinds>: <why they do not apply>'",
            lesson.slug,
        )
    known = set(chain.from_iterable(kinds.values()))
    for kind, line in exempt.items():
        fact = ""
        if kind not in known:
            fact, cure = f"no kind is called {kind!r}", "see [awkward] in course.toml"
        elif kind in tried:
            fact, cure = f"{kind!r} is tried, and said not to apply", "take one of the two out"
        if fact:
            yield Violation(f"{exercise.id}: {fact}", f"{path}:{line}", cure, lesson.slug)


def _kinds_of(exercise: Exercise, kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Kind -> argument, for the arguments that the exercise's answer takes."""
    functions = [
        node.args for node in ast.walk(ast.parse(stub_of(exercise.answer.source))) if isinstance(node, ast.FunctionDef)
    ]
    taken = {one.arg for one in chain.from_iterable((*of.posonlyargs, *of.args, *of.kwonlyargs) for of in functions)}
    found: dict[str, str] = {}
    for argument in kinds:
        if argument in taken:
            found.update(dict.fromkeys(kinds[argument], argument))
    return found


def _words_in(text: str) -> set[object]:
    """The names and the constants of a program."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.value for node in nodes if isinstance(node, ast.Constant)}


def _exempt_in(text: str) -> dict[str, int]:
    """The kinds that are said not to apply, each with its line."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        said = _EXEMPT.match(line)
        if said is not None:
            found.update(dict.fromkeys(map(str.strip, said["kinds"].split(",")), number))
    return found
