"""Whose a file is, as far as its upload says: the layout of the whole upload, decided once.

At one depth, the same for all of it, stand the names that an LMS gave, or those of learners as people arrange folders. What lies
in a learner's own folder or archive says nothing of whose it is, or when it came. Nor does anything here decide who that is:
names say whose a file *may* be.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from nbproof.course_file import the_course
from nbproof.values.leaf import leaf_words
from nbproof_lms.lms_names import ENDINGS, TIME, Said, own_time, read_time, readings
from nbproof_lms.mail import is_mail, is_mailbox
from nbproof_lms.names import COPY, NOBODY, TASK, bare

__all__ = ["Pattern", "is_junk", "is_nobody", "lesson_named", "lms_name", "read_upload", "without_copy_marks"]

_COPIES = "|".join(sorted(COPY, key=len, reverse=True))
_COPY_OF = re.compile(
    rf"^(?:(?:{_COPIES})\s*(?:\(\d{{1,3}}\)\s*)?(?:of|de|von|di|da|av|af|van|z|от|из)?(?:\s+|[-_–—]+))+", re.IGNORECASE
)
_COPY = re.compile(
    rf"(?:\s*\(\d{{1,3}}\)|\s*\((?:{_COPIES})\)|(?:\s*[-–—]\s*|[-_ ])(?:{_COPIES})\s?\d*)$", re.IGNORECASE
)
_ENDING = re.compile(r"\.(?=\w*[A-Za-z])[A-Za-z0-9]{1,5}$")
_DEEPEST = 8
"""Folders around an upload that are looked into."""

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """At which depth of an upload an LMS's names stand; without a ``system`` it is as people arrange folders."""

    system: str = ""
    depth: int = 0
    around: str = ""
    """The one folder around everything, if that may be a learner's."""


def read_upload(
    paths: Sequence[Parts],
    lessons: list[str],
    titles: Sequence[str] = (),
    archives: Collection[Parts] = (),
    unsafe: Collection[Parts] = (),
) -> list[Said]:
    """What its place in the upload says of each file.

    ``titles``: what lessons are called besides. ``archives``: which of the files are folders here, because they were
    unpacked. ``unsafe``: paths that lead out of the upload, and have no place in its layout.
    """
    called = [*lessons, *titles]
    around = {parts[:at] for parts in paths for at in range(1, len(parts))}
    # An archive that was unpacked counts by what is in it; the upload's own is no folder of it at all.
    left_out = {*unsafe, *(parts for parts in archives if parts not in around)}
    counted = [parts for parts in paths if not is_junk(parts) and parts not in left_out]
    layout = _layout(counted, called, lessons, archives)
    if layout.system:
        return [_by_lms(parts, layout, called, archives) for parts in paths]
    return [_by_folders(parts, lessons, called, archives) for parts in paths]


def _layout(paths: Sequence[Parts], called: list[str], lessons: list[str], archives: Collection[Parts]) -> Layout:
    around = ""
    for depth in range(_DEEPEST):
        heads: dict[Parts, bool] = {}
        for parts in paths:
            if len(parts) > depth:
                head = parts[: depth + 1]
                heads[head] = heads.get(head, False) or len(parts) > depth + 1
        system, named = _most_read(heads, lessons)
        people = [
            head
            for head, below in heads.items()
            if head not in named and _learner_in(head[-1], called, is_file=not below)[0]
        ]
        if named and len(named) >= len(people):
            return Layout(system, depth, around)
        folders = [head for head, below in heads.items() if below and head not in archives]
        if not folders or named or len(people) > 1 or (people and people[0] not in folders):
            return Layout()
        if people and not around:
            around = people[0][-1]
        paths = [parts for parts in paths if parts[: depth + 1] in folders]
    return Layout()


def _most_read(heads: dict[Parts, bool], lessons: list[str]) -> tuple[str, set[Parts]]:
    """The LMS as whose names most of these can be read, and which. Of several the one whose names begin them: what
    follows is the learner's.
    """
    found: dict[str, set[Parts]] = {}
    length: Counter[str] = Counter()
    for head, below in heads.items():
        for said in _lms_names(head[-1], below, lessons):
            found.setdefault(said.system, set()).add(head)
            length[said.system] += len(said.names[0])
    if not found:
        return "", set()
    system = max(found, key=lambda name: (len(found[name]), -length[name]))
    return system, found[system]


def _lms_names(part: str, below: bool, lessons: list[str]) -> list[Said]:
    """The ways to read a name as an LMS's; a lesson, or a word that is nobody's, is no learner's name."""
    return [
        said
        for said in readings(part, below)
        if said.system != "Classroom" or not (lesson_named(said.names[0], lessons) or is_nobody(said.names[0]))
    ]


def lms_name(part: str, below: bool = True) -> Said:
    """What one name says, if an LMS gave it: of several readings the one that begins it. Else nothing."""
    found = [said for said in readings(part, below) if said.system != "Classroom"]
    return min(found, key=lambda said: len(said.names[0]), default=Said(part))


def _by_lms(parts: Parts, layout: Layout, called: list[str], archives: Collection[Parts]) -> Said:
    depth = layout.depth
    # Beside what it took out of them, nbgrader's zip_collect keeps the archives that an instructor put there.
    kept = depth and parts[depth - 1 : depth] == ("archive",) and parts[: depth + 1] in archives
    if kept and is_nobody(without_copy_marks(parts[depth]), called) and len(parts) > depth + 1:
        depth += 1
    if len(parts) > depth:
        for said in readings(parts[depth], len(parts) > depth + 1):
            if said.system == layout.system:
                file = parts[-1] if len(parts) > depth + 1 else said.file
                scope = "/".join(parts[:depth])
                return replace(said, file=file, scope=scope, named=own_time(file), around=layout.around)
    return Said(parts[-1], deviates=layout.system)


def _by_folders(parts: Parts, lessons: list[str], called: list[str], archives: Collection[Parts]) -> Said:
    """What folders and file are called: of what lies in an archive, the archive and what is around it."""
    file = parts[-1]
    outermost = next((at for at in range(len(parts) - 1) if parts[: at + 1] in archives), len(parts))
    folders = parts[: min(outermost + 1, len(parts) - 1)]
    if outermost < len(parts) and (is_mail(parts[outermost]) or is_mailbox(parts[outermost], b"")):
        folders = parts[:outermost]
    lesson = next((name for part in reversed(parts[:-1]) if (name := lesson_named(ENDINGS.sub("", part), lessons))), "")
    names: dict[str, None] = {}
    alone: list[tuple[str, str]] = []
    for at, part in enumerate(folders):
        name, beside = _learner_in(part, called)
        if name and name not in names and part[0] != ".":
            names[name] = None
            if at == outermost and not beside:
                alone.append((name, f"archives in {'/'.join(parts[:at])}"))
    count = len(names)
    if outermost == len(parts):
        own, beside = _learner_in(file, called, is_file=True)
        if own and own not in names:
            names[own] = None
            if not beside:
                alone.append((own, f"files in {'/'.join(folders)}"))
    return Said(
        file,
        tuple(names),
        count,
        lesson=lesson,
        named=own_time(file),
        scope="/".join(parts[:-1]),
        alone=tuple(alone),
    )


def lesson_named(name: str, lessons: list[str]) -> str:
    """The lesson that a folder's or file's name is, apart from letter case and signs."""
    asked = bare(name)
    return next((lesson for lesson in lessons if bare(lesson) == asked), "")


def is_nobody(name: str, lessons: Iterable[str] = ()) -> bool:
    """Whether a name is one that no learner bears: ``submissions``, ``Untitled3``, ``final version``, ``Hand-in lesson 1``."""
    if not bare(name) or len(name) > 200:
        return True
    words = _words(name)
    course = the_course()
    own = {word for name in (course.says, course.name, *lessons) for word in _words(name)}
    return any(word in TASK or word in leaf_words().called for word in words) or all(
        word in NOBODY or word in own or (word.isdigit() and len(word) < 4) for word in words
    )


def _words(name: str) -> list[str]:
    # Composed: a letter and its accent apart would be two words.
    return re.findall(r"[^\W\d_]+|\d+", unicodedata.normalize("NFC", name.casefold()))


def without_copy_marks(name: str) -> str:
    """A file's name without endings, ``(1)``, ``Copy of`` and ``- Copy``."""
    stem = _COPY_OF.sub("", ENDINGS.sub("", name))
    while (shorter := _COPY.sub("", ENDINGS.sub("", stem))) != stem:
        stem = shorter
    return stem.strip()


def _learner_in(name: str, called: list[str], *, is_file: bool = False) -> tuple[str, bool]:
    """The learner that a name holds, and whether a lesson's stands beside it: ``02_sorting_jane.ipynb``."""
    # An ending that is none of a notebook's: a picture's, a document's.
    name = _ENDING.sub("", name) if is_file and not ENDINGS.search(_COPY.sub("", name)) else name
    stem = without_copy_marks(name)
    if stem.endswith("-checkpoint"):
        stem = stem.removesuffix("-checkpoint")
    beside = False
    for lesson in sorted(called, key=len, reverse=True):
        loose = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", lesson) if part)
        if found := re.search(rf"(?<![^\W_]){loose}(?![^\W_])", stem, re.IGNORECASE):
            before, after = stem[: found.start()], stem[found.end() :]
            stem, beside = after if is_nobody(before, called) else before, True
            break
    stem = without_copy_marks(TIME.sub("", stem)).strip(" _-–—.+")
    if not is_file and name.startswith(stem) and name[len(stem) :].strip(". ") == "":
        # A folder's own: to some systems it is the same as the one without.
        stem = name
    return ("", False) if is_nobody(stem, called) else (stem, beside)


def is_junk(parts: tuple[str, ...]) -> bool:
    """Whether a system made this file, not a learner."""
    name = parts[-1]
    if any(part in {"__MACOSX", "__pycache__", ".git", ".vscode", ".idea", ".venv", "$RECYCLE.BIN"} for part in parts):
        return True
    if name.lower() in {"thumbs.db", "desktop.ini", ".ds_store", "icon\r"} or name.startswith(("._", "~$", ".~")):
        return True
    return name.startswith(".") and ".ipynb" not in name.lower()


class Pattern:
    """An instructor's own regular expression, with the groups learner (or student_id), timestamp, lesson, late."""

    def __init__(self, text: str) -> None:
        from nbproof.errors import UsageError

        again = "write one such as --pattern '(?P<lesson>[^_]+)_(?P<learner>[^_]+)_(?P<timestamp>[0-9-]+)'"
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise UsageError(f"the pattern is no regular expression: {error}", text, again) from None
        if not {"learner", "student_id"} & set(self._pattern.groupindex):
            raise UsageError("the pattern has no group called learner", text, again)

    def read(self, parts: Parts, archives: Collection[Parts] = ()) -> Said | None:
        """What the file's name says, or its whole path; None if the pattern does not match.

        Of what lies in an archive that matches by itself, the archive: what is in it is the learner's own.
        """
        for at in range(1, len(parts)):
            if parts[:at] in archives and (said := self._said(parts[:at])):
                return replace(said, file=parts[-1])
            if parts[:at] in archives and _learner_in(parts[at - 1], [])[0]:
                return None
        return self._said(parts)

    def _said(self, parts: Parts) -> Said | None:
        found = self._pattern.match(parts[-1]) or self._pattern.search("/".join(parts))
        if found is None:
            return None
        groups = {name: text or "" for name, text in found.groupdict().items()}
        learner = groups.get("learner") or groups.get("student_id", "")
        if not learner:
            return None
        late = bool(groups["late"]) if "late" in groups else None
        own = PurePosixPath(groups.get("file_id", "") or parts[-1]).name
        return Said(
            own,
            (learner,),
            lesson=groups.get("lesson", ""),
            time=read_time(groups.get("timestamp", "")),
            late=late,
            system="pattern",
            scope="/".join(parts[:-1]),
        )
