"""What was handed in, read once, and from its bytes to the notebook's cells.

Other encodings, broken JSON and jupytext's scripts are read as well, slowly. All of this happens in a sealed worker
(:mod:`nbproof.marking.marker`). For any other file this says what it is, and a person asks for the notebook again. Nothing of
a file is ever run, and only the text, the type and the ids of a cell are looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from nbproof.cells import grading_of, name_of, text_of
from nbproof.files import digest_of
from nbproof.key import Key
from nbproof.limits import GradingLimits

__all__ = [
    "Attachments",
    "Damaged",
    "ExportedCell",
    "HandIn",
    "cells_in",
    "files_below",
    "read_attachments",
    "read_file",
]

_MOST_MENDED = 4_000_000
"""Characters of broken JSON that are mended, at about a million in a second."""
_LARGEST_PICTURE = 2_000_000
"""Characters of an attached picture in base64."""


class Damaged(Exception):
    """A file that holds no submission; the text says why."""


class ExportedCell(NamedTuple):
    """A cell of a submission."""

    name: str | None
    """Its grade_id; None if it has none."""
    source: str
    kind: str = "code"
    """code, markdown or raw"""
    id: str = ""
    """The notebook format's own id of the cell."""
    whole: bool = True
    """False if the file breaks off in the middle of it."""
    untouched: bool = False
    """True if nbgrader's checksum in it says that its text is as it was handed out."""
    pictures: Mapping[str, str] = MappingProxyType({})
    """Name of an attached PNG -> what is said to be one, in base64."""


_SCRIPT = re.compile(r"^# ?%%|extension: \.\w+\s*(?:# +)?format_name: (?!nomarker)", re.MULTILINE)
_CELL = re.compile(r"""["']cell_type["']""")
_TOO_LARGE = re.compile(rb'("image/[a-z+]{1,9}": ?")[^"]{%d,}' % (_LARGEST_PICTURE + 1))
"""A picture that nobody is shown. In a cell's code its quotes are escaped."""


def cells_in(data: bytes) -> tuple[list[ExportedCell], str]:
    """The cells of a file, also of a damaged one, and in words what was wrong with it.

    Raises Damaged if there are none; the text says what to do.
    """
    data = _TOO_LARGE.sub(rb"\1", data)
    seen = data.replace(b"\0", b"").decode("ascii", "replace")
    if not (_SCRIPT.search(seen) or _CELL.search(seen)):
        raise Damaged(_what(seen))
    text, encoded = _text_of(data)
    cells, mended = _cells_of(text.strip("\ufeff \t\r\n\0"))
    if not any(cell.source.strip() for cell in cells):
        raise Damaged("the notebook holds no cells with anything in them")
    return cells, "; ".join(filter(None, [encoded, mended]))


_WIDE = ["utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"]
_NARROW = ["gb18030", "big5", "cp949", "cp932", "cp1251"]
"""What text editors save by themselves. In the west that is cp1252, which can be told by nothing: it is what is left."""


def _text_of(data: bytes) -> tuple[str, str]:
    """The text, decoded, and a note if the file is not clean UTF-8."""
    wide = 5 * data.rstrip(b"\0").count(b"\0") > len(data)
    text = data.decode("utf-8", "replace")
    # Of UTF-8 some bytes may be spoiled; of another encoding most bytes are no UTF-8.
    spoiled = text.count("\ufffd")
    letters = len(data.translate(None, bytes(range(128))))
    if not wide and 10 * spoiled <= letters:
        return text, "some of the file's letters could not be read" if spoiled else ""
    encoding = _encoding(data, wide)
    return data.decode(encoding, "replace"), f"the file was saved as {encoding.upper()}, and not as UTF-8"


def _encoding(data: bytes, wide: bool) -> str:
    """Which encoding other than UTF-8 a text has."""
    from charset_normalizer import from_bytes

    if wide:
        best = from_bytes(data, cp_isolation=_WIDE).best()
        return "utf_16_le" if best is None else best.encoding
    # A sign here and there, as in "easy · 5 min", stands in every lesson and tells nothing: text in another script is dense.
    lines = dict.fromkeys(re.split(rb'\n|\\n|"', data))
    dense = [line for line in lines if 4 * sum(byte > 0x7F for byte in line) > len(line)]
    best = from_bytes(b"\n".join(dense), cp_isolation=[*_NARROW, "cp1252"]).best() if dense else None
    return "cp1252" if best is None else best.encoding


_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_ONCE = re.compile(r"""["'](nbformat|cells)["']\s*:""")


def _cells_of(text: str) -> tuple[list[ExportedCell], str]:
    """The cells of a notebook or a script, and what was mended. Raises Damaged."""
    with contextlib.suppress(ValueError, RecursionError):
        return _cells(_listed(json.loads(text), text)), ""
    if _CONFLICT.search(text):
        raise Damaged("git has left a conflict in it: two versions stand there")
    if text[:1] not in ("{", "<") and _SCRIPT.search(text):
        return _cells_of_script(text), "the file was a script made from the notebook"
    return _mended(text)


def _mended(text: str) -> tuple[list[ExportedCell], str]:
    """The cells of broken JSON; the last one is not whole if the file breaks off in it."""
    import json_repair

    if len(text) > _MOST_MENDED:
        raise Damaged("it is broken JSON, and too long to be mended")
    if max(Counter(_ONCE.findall(text)).values(), default=0) > 1:
        raise Damaged("several notebooks stand in it, and which one counts cannot be told")
    value: Any
    try:
        # What is stable takes no white space from the end of a line.
        value = json_repair.loads(text, skip_json_loads=True, stream_stable=True)
    except (ValueError, RecursionError):
        raise Damaged("it is broken JSON that cannot be mended") from None
    listed = _listed(value, text)
    cells = _cells(listed)
    # The last cell, the list of cells and the notebook are closed. A cell alone ends with the list of its lines.
    if list(value)[-1] != "cells" or re.search(r"\}\s*\]\s*\}$", text):
        return cells, "the file was broken JSON, and was mended while reading"
    if _cell(listed[-1]) is None:
        cells.append(ExportedCell(None, ""))
    cells[-1] = cells[-1]._replace(whole=False)
    return cells, f"the file breaks off after {len(cells)} cells"


def _cells_of_script(text: str) -> list[ExportedCell]:
    import jupytext

    try:
        notebook = jupytext.reads(text, fmt="md" if re.search(r"extension: \.md\b", text[:3000]) else "py")
    except Exception as error:  # jupytext and the YAML in the header raise many kinds
        raise Damaged(f"it is a script that jupytext cannot read ({type(error).__name__})") from None
    return _cells(notebook.cells)


def _listed(value: Any, text: str) -> list[Any]:
    if isinstance(value, dict) and "worksheets" in value:
        value = _upgraded(value)
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list) or not cells:
        raise Damaged(_what(text))
    return cells


def _upgraded(value: dict[str, Any]) -> Any:
    """A notebook in the format of before 2015, which has cells in worksheets, as nbgrader reads it; itself if it is none."""
    import nbformat

    with (
        contextlib.suppress(Exception),
        warnings.catch_warnings(),
    ):  # a text that is no notebook makes it raise many kinds
        warnings.simplefilter("ignore")
        text = json.dumps({"nbformat_minor": 0, **value, "nbformat": 3})
        return nbformat.convert(nbformat.reads(text, as_version=nbformat.NO_CONVERT), 4)
    return value


def _cells(cells: list[Any]) -> list[ExportedCell]:
    found: list[ExportedCell] = []
    held: dict[str, str] = {}
    for one in filter(None, map(_cell, cells)):
        for name, data in one.pictures.items():
            # Front ends call each pasted picture image.png.
            if held.setdefault(name, data) != data:
                again = f"{len(found)}-{name}"
                one = one._replace(
                    source=one.source.replace(f"attachment:{name}", f"attachment:{again}"),
                    pictures={**one.pictures, again: data},
                )
        found.append(one)
    return found


def _cell(cell: Any) -> ExportedCell | None:
    if not isinstance(cell, dict) or "source" not in cell:
        return None
    kind, number = cell.get("cell_type"), cell.get("id")
    # Half a surrogate pair goes into no file, a null byte through no compiler.
    text = text_of(cell).replace("\0", "\ufffd").encode(errors="replace").decode()
    return ExportedCell(
        name_of(cell) or None,
        text.replace("\r\n", "\n"),
        kind if kind in ("code", "raw") else "markdown",
        number if isinstance(number, str) else "",
        untouched=_is_untouched(cell, text),
        pictures=_pictures_of(cell.get("attachments")),
    )


def _is_untouched(cell: dict[str, Any], text: str) -> bool:
    """Whether a cell that learners only read is as it was handed out: its checksum is right.

    The rule is that of nbgrader's ``compute_checksum``; the module that holds it takes long to import. A checksum tells nothing
    of answers: tools have computed it of cells with answers in them. A learner who forges one says that the text is not theirs.
    """
    grading = grading_of(cell)
    graded, points = bool(grading.get("grade")), grading.get("points")
    parts = [text, cell.get("cell_type"), graded, False, True, grading.get("grade_id")]
    parts += [float(points)] if graded and isinstance(points, (int, float)) else []
    made = hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False)
    is_read = not grading.get("solution") and bool(graded or grading.get("locked"))
    return is_read and made.hexdigest() == grading.get("checksum")


def _pictures_of(attached: Any) -> dict[str, str]:
    found = {}
    for name, kinds in attached.items() if isinstance(attached, dict) else ():
        data = kinds.get("image/png") if isinstance(kinds, dict) else None
        data = "".join(map(str, data)) if isinstance(data, list) else data
        if isinstance(data, str) and len(data) <= _LARGEST_PICTURE:
            found[name] = data
    return found


def _what(text: str) -> str:
    """What a text is that is no notebook, and what to do."""
    begins = " ".join(text[:60].split())
    told = f", and begins {begins!r}" if begins.isprintable() else ""
    return f"it is no notebook, and holds no cells{told}"


# What is read before: by the process that grades, and without a look into it.


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; follows no link, waits for no pipe. Raises Damaged if there is none, or too many."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = open(path, "rb", opener=lambda name, usual: os.open(name, usual | flags))  # noqa: SIM115
    except OSError as error:  # also of a folder
        raise Damaged(f"{path.name} cannot be opened: {error.strerror}") from None
    with file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Damaged(f"{path.name} is not a regular file")
        if found.st_size > limit:
            raise Damaged(f"{path.name} has {found.st_size / 2**20:.0f} MB, more than {limit / 2**20:.0f} MB")
        return file.read(limit + 1)


_MOST_FILES, _DEEPEST = 1_000, 20
"""Files and folders, and folders one in another, that a submission may bring."""

Attachments = dict[str, bytes]


def files_below(
    folder: Path, refused: list[OSError] | None = None, left_out: list[Path] | None = None
) -> Iterator[Path]:
    """Regular files in a folder, in order, as many as a submission may bring; no links, nothing hidden, no time stamp.

    ``refused`` gets the errors of folders that cannot be read, ``left_out`` the first file that is one too many.
    """
    seen = 0
    onerror = refused.append if refused is not None else None
    for place, folders, names in os.walk(folder, followlinks=False, onerror=onerror):
        deep = len(Path(place).relative_to(folder).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        seen += 1
        for name in sorted(names):
            file = Path(place, name)
            if name.startswith(".") or name == "timestamp.txt" or os.path.islink(file) or not os.path.isfile(file):
                continue
            seen += 1
            if seen > _MOST_FILES:
                if left_out is not None:
                    left_out.append(file)
                return
            yield file


def read_attachments(folder: Path, notebook: Path, limit: int, refused: list[Damaged] | None = None) -> Attachments:
    """The submission's own data files by relative path, ``limit`` bytes at most; ``refused`` gets why others are left out."""
    found: Attachments = {}
    left_out: list[Path] = []
    for path in files_below(folder, left_out=left_out):
        if path == notebook or path.suffix == ".ipynb":
            continue
        try:
            data = read_file(path, limit)
        except Damaged as why:
            if refused is not None:
                refused.append(why)
            continue
        limit -= len(data)
        found[str(path.relative_to(folder))] = data
    if left_out and refused is not None:
        refused.append(Damaged(f"{left_out[0].name} and all after it, for there are more than {_MOST_FILES:,} files"))
    return found


@dataclass(frozen=True)
class HandIn:
    """What one learner has handed in for one lesson, and all that a marker knows of it. Can be sent to another process."""

    key: Key
    path: Path = Path()
    problem: str = ""
    """Why it cannot be graded; empty if it can."""
    digest: str = ""
    """If it has to be marked: the digest of its bytes as they were when that was decided."""
    reason: str = ""
    """Why it is marked again, for people; nothing of what was handed in anew."""
    remark: str = ""
    """What its learner should know of the choice of this file."""
    notebook: bytes = b""
    """The bytes, once they are read."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The submission's own data files by relative path."""

    def read(self, limits: GradingLimits) -> HandIn:
        """With its notebook, and what lies beside that. Raises Damaged or OSError."""
        data = read_file(self.path, limits.notebook_mb << 20)
        refused: list[Damaged] = []
        beside = read_attachments(self.path.parent, self.path, limits.attachment_mb << 20, refused)
        for why in refused:
            if isinstance(
                why.__context__, PermissionError
            ):  # the grader's own trouble: an answer that is right would fail
                raise why
        told = f"left out of what lies beside it: {'; '.join(map(str, refused))}" if refused else ""
        return replace(self, notebook=data, files=beside, remark="; ".join(filter(None, (self.remark, told))))

    def digest_with(self, secret: str) -> str:
        """Changes with any byte that was read. ``secret``: of the course's journals, so that nobody else can make it."""
        files = (part for name, data in self.files.items() for part in (os.fsencode(name), data))
        said = [self.remark.encode(errors="replace")] if self.remark else []
        return digest_of(secret.encode(), self.notebook, *files, *said)
