"""Learners' answers as text: cut into tokens, made anonymous, compared, the typical one of many.

By a lexer of our own (:mod:`nbproof.recover.pieces`), because most answers that matter here are wrong, and half of those
do not parse. Texts are cut at 20,000 characters.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbproof.recover.pieces import LONGEST, tokens
from nbproof.values.leaf import leaf_words

__all__ = [
    "anonymous",
    "features",
    "known_words",
    "line_without_names",
    "raw_features",
    "similarity",
    "typical",
    "vectors",
    "words_of",
]

_LONGEST = 1500
"""Characters of an answer that is shown as an example."""
_NAME = re.compile(r"[^\W\d]\w*+")
_WORD = re.compile(r"[^\W\d_]+")
_SPOKEN = frozenset([*keyword.kwlist, *dir(builtins), "self", "cls", "__init__", "__call__", "__name__", "__class__"])


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """The words that identifiers of a text are made of, in lower case: ``word_list`` has two."""
    return frozenset(word.lower() for word in _WORD.findall(text))


@lru_cache(maxsize=64)
def known_words(given: str) -> frozenset[str]:
    """All identifiers of a text, Python's own names among them: nobody's choice."""
    # Not by the lexer: in prose an apostrophe would swallow a line.
    return _SPOKEN.union(_NAME.findall(given), leaf_words().aliases)


def _statements(source: str) -> Iterator[list[tuple[str, str]]]:
    """The tokens of one line after the other, without spaces."""
    return ([token for token in line if token[0] != "space"] for line in _lines(source))


def _without(source: str, stub: str) -> str:
    """The answer without the lines that the stub gave."""
    given = {line.strip() for line in stub.splitlines()}
    return "\n".join(line for line in source[:LONGEST].splitlines() if line.strip() not in given)


def features(source: str, stub: str, known: frozenset[str]) -> list[str]:
    """What an answer does, whatever its names, comments, strings, spaces and order of lines: for :func:`vectors`."""
    given = {tuple(words) for words in _normalised(stub, known)}
    found: list[str] = []
    for words in _normalised(source, known):
        if tuple(words) in given:
            continue
        found += words
        found += [" ".join(pair) for pair in itertools.pairwise(words)]
        found += [" ".join(three) for three in zip(words, words[1:], words[2:], strict=False)]
        found.append("line " + " ".join(words))
    return found


def _normalised(source: str, known: frozenset[str]) -> Iterator[list[str]]:
    """The words of each statement: every name as good as any other, every string as any other, no comment."""
    for line in _statements(source):
        code = [(kind, text) for kind, text in line if kind != "comment"]
        if not code or (len(code) == 1 and code[0][0] == "string"):
            continue
        words = []
        for place, (kind, text) in enumerate(code):
            if kind == "string":
                words.append("s")
            elif kind == "name" and text not in _SPOKEN and not (text[0].isupper() and text in known):
                # Whoever renames also renames what the notebook calls by a name.
                after = [one for _, one in code[max(0, place - 2) : place]]
                method = after[-1:] == ["."] and after[:1] != ["self"]
                words.append(text if method else "v")
            else:
                words.append(text)
        yield words


def line_without_names(line: str) -> str:
    """One line as :func:`features` sees it; empty if it holds no code."""
    return " ".join(next(_normalised(line, frozenset()), []))


def raw_features(source: str, stub: str) -> list[str]:
    """How an answer is written: its lines, its names, the words of its comments and strings."""
    text = _without(source, stub)
    lines = [f"line {line.strip()}" for line in text.splitlines() if line.strip()]
    return lines + [word for _, word in tokens(text) if not word.isspace()]


def vectors(documents: Sequence[Sequence[str]]) -> Any:
    """TF-IDF vectors of length 1, a sparse row a document: what all of them have weighs little. Empty ones are 0."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(documents):
        return csr_matrix((len(documents), 1))
    return TfidfVectorizer(analyzer=tuple, sublinear_tf=True).fit_transform(documents)


def similarity(rows: Any, others: Any) -> Any:
    """Cosines, a dense array of rows x others."""
    return (rows @ others.T).toarray()


def typical(answers: Sequence[str], stub: str, known: frozenset[str]) -> int:
    """The medoid: which of these answers is most like all others; of equals the first."""
    import numpy as np

    if len(answers) < 3:
        return 0
    # Sixty say enough about a thousand.
    some = answers[:60]
    rows = vectors([features(answer, stub, known) for answer in some])
    return int(np.argmax(np.round(similarity(rows, rows).sum(axis=1), 6)))


def anonymous(answer: str, given: str, names: Iterable[str] = ()) -> str:
    """An answer without what could tell whose it is.

    Comments and docstrings go, and so does the text of strings that the course did not give. A name of
    which any word is neither the course's nor Python's, or that holds a learner's name, gets a number.
    Methods of other objects keep their names.
    """
    people, spoken = _people(tuple(names)), known_words(given)
    never = _SPOKEN.union(leaf_words().aliases)
    words = words_of(given) | words_of(" ".join(never))
    numbers: dict[str, str] = {}
    lines = []
    for line in _lines(answer):
        shown = []
        before: list[str] = []
        bare = [text for kind, text in line if kind not in ("space", "comment")]
        for kind, text in line:
            if kind == "comment":
                continue
            if kind == "string":
                if len(bare) == 1:
                    continue
                inside = text.strip("rbufRBUF").strip("\"'")
                text = text if not inside or (inside in given and not _holds(inside, people)) else '"..."'
            elif kind == "name" and not (text in never or _may_stay(text, before, words, people, spoken)):
                text = numbers.setdefault(text, f"name_{len(numbers) + 1}")
            elif kind == "number" and len(text) > 6:
                text = "0"
            shown.append(text)
            if kind != "space":
                before = [*before[-1:], text]
        joined = "".join(shown).rstrip()
        if joined:
            lines.append(joined)
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit("\n", 1)[0] + "\n..."


def _lines(source: str) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    for kind, text in tokens(source):
        if kind == "newline":
            yield line
            line = []
        else:
            line.append((kind, text))
    yield line


def _may_stay(text: str, before: list[str], words: frozenset[str], people: _People, spoken: frozenset[str]) -> bool:
    if _holds(text, people):
        return False
    if text in spoken or all(len(word) < 3 or word.lower() in words for word in _WORD.findall(text)):
        return True
    # Of a method that is called, not of an attribute that the learner made.
    return before[-1:] == ["."] and before[:1] != ["self"]


@dataclass(frozen=True)
class _People:
    """The words of the names of a class; ``inside`` finds the longer ones within other words."""

    words: frozenset[str]
    inside: re.Pattern[str]


@lru_cache(maxsize=4)
def _people(names: tuple[str, ...]) -> _People:
    words = frozenset(word.lower() for name in names for word in _WORD.findall(name) if len(word) > 2)
    longer = sorted(word for word in words if len(word) > 3)
    return _People(words, re.compile("|".join(map(re.escape, longer)) or r"(?!)"))


def _holds(text: str, people: _People) -> bool:
    return not people.words.isdisjoint(words_of(text)) or people.inside.search(text.lower()) is not None
