"""What may be an answer, is not certain to be one, and waits for a person; such as code in a file beside the notebook."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from nbproof.recover.asked import asked_in, may_bind
from nbproof.recover.matching import bare
from nbproof.recover.released import Handout
from nbproof.text import printable

__all__ = ["NOT_CERTAIN", "as_comments", "in_files"]

NOT_CERTAIN = (
    "may be the answer, which is not certain: it has no marks yet, and a person has to look. "
    "Hand in the notebook with your code in the TODO cell."
)
_MOST_WAITING = 8_000
"""Characters of what waits for a person, for one exercise."""
_LONGEST, _MOST_OF_ALL = 100_000, 600_000
"""Characters of one file, and of all, that are looked through."""


def as_comments(texts: Iterable[str]) -> str:
    """What stands in the TODO cell in place of an answer."""
    lines = "\n\n".join(["[Not certain to be the answer, and not marked: a person has to look.]", *texts])
    return "\n".join(f"# {line}".rstrip() for line in lines[:_MOST_WAITING].splitlines())


def in_files(
    handout: Handout, answers: Mapping[str, str], settled: Collection[str], own: str, files: Mapping[str, bytes]
) -> dict[str, tuple[str, str]]:
    """exercise without an answer -> why it waits, and the file's text as comments.

    ``settled``: exercises that need no search; ``own``: the text of the learner's own cells. A file that they mention has run.
    """
    scripts = [name for name in sorted(files) if name.endswith(".py")]
    blank = [name for name, stub in handout.stubs.items() if bare(answers[name]) in ("", bare(stub))]
    blank = [name for name in blank if name not in settled]
    found: dict[str, tuple[str, str]] = {}
    left = _MOST_OF_ALL
    for script in scripts if blank else ():
        stem = PurePosixPath(script).stem
        text = files[script][:_LONGEST].decode("utf-8", "replace").replace("\0", "\ufffd")
        left -= len(text)
        if left < 0 or re.search(rf"\b{re.escape(stem)}\b", own):
            continue
        names = may_bind(text)
        why = f"The notebook holds no answer. Code in the file {printable(script)} beside it {NOT_CERTAIN}"
        for name in blank:
            if name not in found and asked_in(handout)[name].may_be(names, here=False):
                found[name] = (why, as_comments([f"[{printable(script)}]\n{text}"]))
    return found
