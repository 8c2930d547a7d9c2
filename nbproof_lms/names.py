"""Names of people, files and folders: which are the same, and which can be a learner's."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["bare", "bare_words", "for_a_file", "plain", "why_no_learner"]

_FORBIDDEN = set('/\\+*?[]{}<>:"|')
_OTHER_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})


def plain(text: str) -> str:
    """A name without differences that nobody sees: letter case, composed or decomposed accents, runs of spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


# From India to Thailand, and in Japan, a mark is a vowel or another consonant, and no accent.
_MARKS = re.compile("[\u0900-\u1ccf\u3099\u309a]")


def bare(text: str) -> str:
    """A name as careless systems write it: letters and digits only, no accents."""
    # Before case is folded as well: 𝐉 is a capital only once it is J.
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()).translate(_OTHER_LETTERS)
    marks = {letter for letter in _MARKS.findall(letters) if unicodedata.category(letter).startswith("M")}
    return "".join(letter for letter in letters if letter.isalnum() or letter in marks)


def bare_words(name: str) -> tuple[str, ...]:
    """The bare words of a full name, sorted: ``Doe, Jane`` has the same ones as ``Jane Doe``."""
    return tuple(sorted(filter(None, map(bare, re.split(r"[\s,]+", name)))))


def why_no_learner(name: str) -> str:
    """A clause that says why this cannot be a learner's id, which is the name of a folder; empty if it can."""
    if not name.strip() or name != name.strip():
        return "it is empty, or begins or ends with a space"
    if name.startswith(".") or not name.isprintable():
        return "it begins with a dot, or holds signs that cannot be printed"
    if found := sorted(_FORBIDDEN & set(name)):
        return f"it holds {' '.join(found)}"
    return "it is longer than 120 bytes" if len(name.encode()) > 120 else ""


def for_a_file(name: str, between: str) -> str:
    """A name as the beginning of a file's name: ``between`` stands between its words.

    Signs that file systems refuse or that hide a file are left out, and so are underscores, which mean something to the LMS.
    """
    refused = {letter for letter in name if letter in '_/\\:*?"<>|' or not letter.isprintable()}
    kept = name.translate(dict.fromkeys(map(ord, refused), " "))
    return between.join(kept.split())[:80].strip(" .~'-")
