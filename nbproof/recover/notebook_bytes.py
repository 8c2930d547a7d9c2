"""Reads what was handed in, once, and makes cells of a notebook's bytes.

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

from nbproof.files import digest_of
from nbproof.key import Key
from nbproof.lesson.from_notebook import grading_of, name_of, text_of
from nbproof.limits import GradingLimits

__all__ = [
    "Attachments",
    "Damaged",
    "ExportedCell",
    "HandIn",
    "cells_in",
    "files_below",
    "in_version_4",
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

    grade_id: str | None
    """None if it has none."""
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
    """The cells of a file, also of a damaged one, and a text that says what was wrong with it; empty if nothing was.

    Raises Damaged if there are no cells; its text says what to do.
    """
    data = _TOO_LARGE.sub(rb"\1", data)
    seen = data.replace(b"\0", b"").decode("ascii", "replace")
    if not (_CELL.search(seen) or _SCRIPT.search(seen)):
        raise Damaged(_what(seen))
    text, encoded = _text_of(data)
    cells, mended = _cells_of(text.strip("\ufeff \t\r\n\0"))
    if not any(cell.source.strip() for cell in cells):
        raise Damaged("the notebook holds no cells with anything in them")
    return cells, "; ".join(filter(None, [encoded, mended]))


_WIDE = ["utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"]
_ASCII = bytes(range(128))
_NARROW = ["gb18030", "big5", "cp949", "cp932", "cp1251"]
"""The encodings that text editors choose by themselves. In the west that is cp1252: no sign shows it, so it is what is left."""


def _text_of(data: bytes) -> tuple[str, str]:
    """The text, decoded, and a note if the file is not clean UTF-8."""
    wide = 5 * data.rstrip(b"\0").count(b"\0") > len(data)
    text = data.decode("utf-8", "replace")
    # Of UTF-8 some bytes may be spoiled; of another encoding most bytes are no UTF-8.
    spoiled = text.count("\ufffd")
    letters = len(data.translate(None, _ASCII))
    if not wide and 10 * spoiled <= letters:
        note = "some of the file's letters could not be read" if spoiled else ""
        return text, note
    encoding = _encoding(data, wide)
    return data.decode(encoding, "replace"), f"the file was saved as {encoding.upper()}, and not as UTF-8"


def _encoding(data: bytes, wide: bool) -> str:
    """The encoding, other than UTF-8, of a text. ``wide``: its letters have two bytes or four."""
    from charset_normalizer import from_bytes

    if wide:
        best = from_bytes(data, cp_isolation=_WIDE).best()
        return "utf_16_le" if best is None else best.encoding
    # A sign here and there, as in "easy · 5 min", stands in every lesson and tells nothing: text in another script is dense.
    lines = dict.fromkeys(re.split(rb'\n|\\n|"', data))
    dense = [line for line in lines if 4 * len(line.translate(None, _ASCII)) > len(line)]
    if dense:
        best = from_bytes(b"\n".join(dense), cp_isolation=[*_NARROW, "cp1252"]).best()
        if best is not None:
            return best.encoding
    return "cp1252"


_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_ONCE = re.compile(r"""["'](nbformat|cells)["']\s*:""")


def _cells_of(text: str) -> tuple[list[ExportedCell], str]:
    """The cells of a notebook or a script, and a text that says what was mended. Raises Damaged if there are none."""
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
    """The cells of a script of jupytext, in Python or Markdown. Raises Damaged if it cannot be read."""
    import jupytext

    form = "md" if re.search(r"extension: \.md\b", text[:3000]) else "py"
    try:
        notebook = jupytext.reads(text, fmt=form)
    except Exception as error:  # jupytext and the YAML in the header raise many kinds
        raise Damaged(f"it is a script that jupytext cannot read ({type(error).__name__})") from None
    return _cells(notebook.cells)


def _listed(value: Any, text: str) -> list[Any]:
    """The list of cells in the value of a notebook's JSON. Raises Damaged if there is none."""
    if isinstance(value, dict) and "worksheets" in value:
        value = _upgraded(value)
    if isinstance(value, dict):
        cells = value.get("cells")
        if isinstance(cells, list) and cells:
            return cells
    raise Damaged(_what(text))


def in_version_4(path: Path) -> Any:
    """Read an instructor's notebook, also one that an older Jupyter has saved. Raises what JSON, nbformat and files raise."""
    import nbformat

    return nbformat.read(path, as_version=4)


def _upgraded(value: dict[str, Any]) -> Any:
    """A notebook in the format of before 2015, which has cells in worksheets, as nbgrader reads it; unchanged if it is none."""
    import nbformat

    # A text that is no notebook makes nbformat raise many kinds.
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = json.dumps({"nbformat_minor": 0, **value, "nbformat": 3})
        return nbformat.convert(nbformat.reads(text, as_version=nbformat.NO_CONVERT), 4)
    return value


def _cells(cells: list[Any]) -> list[ExportedCell]:
    """Those of the values that are cells. Pictures that have one name in two cells get different names."""
    exported: list[ExportedCell] = []
    pictures: dict[str, str] = {}
    for cell in filter(None, map(_cell, cells)):
        for name, data in cell.pictures.items():
            # Front ends call each pasted picture image.png.
            if pictures.setdefault(name, data) != data:
                cell = _with_renamed_picture(cell, name, f"{len(exported)}-{name}")
        exported.append(cell)
    return exported


def _with_renamed_picture(cell: ExportedCell, name: str, new: str) -> ExportedCell:
    source = cell.source.replace(f"attachment:{name}", f"attachment:{new}")
    return cell._replace(source=source, pictures={**cell.pictures, new: cell.pictures[name]})


def _cell(cell: Any) -> ExportedCell | None:
    """The cell that a value of the JSON stands for; None if it is no cell."""
    if not isinstance(cell, dict) or "source" not in cell:
        return None
    kind = cell.get("cell_type")
    if kind not in ("code", "raw"):
        kind = "markdown"
    number = cell.get("id")
    if not isinstance(number, str):
        number = ""
    # Half a surrogate pair goes into no file, a null byte through no compiler.
    text = text_of(cell).replace("\0", "\ufffd").encode(errors="replace").decode()
    return ExportedCell(
        name_of(cell) or None,
        text.replace("\r\n", "\n"),
        kind,
        number,
        untouched=_is_untouched(cell, text),
        pictures=_pictures_of(cell.get("attachments")),
    )


def _is_untouched(cell: dict[str, Any], text: str) -> bool:
    """Whether a cell that learners only read is as it was handed out: its checksum is right.

    The rule is that of nbgrader's ``compute_checksum``; the module that holds it takes long to import. A checksum tells nothing
    of answers: tools have computed it of cells with answers in them. A learner who forges one says that the text is not theirs.
    """
    grading = grading_of(cell)
    graded = bool(grading.get("grade"))
    is_read_only = not grading.get("solution") and bool(graded or grading.get("locked"))
    points = grading.get("points")
    parts = [text, cell.get("cell_type"), graded, False, True, grading.get("grade_id")]
    if graded and isinstance(points, (int, float)):
        parts.append(float(points))
    checksum = hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()
    return is_read_only and checksum == grading.get("checksum")


def _pictures_of(attached: Any) -> dict[str, str]:
    """The PNGs among a cell's attachments, without those that are too large: name -> base64."""
    pictures = {}
    items = attached.items() if isinstance(attached, dict) else ()
    for name, kinds in items:
        data = kinds.get("image/png") if isinstance(kinds, dict) else None
        if isinstance(data, list):
            data = "".join(map(str, data))
        if isinstance(data, str) and len(data) <= _LARGEST_PICTURE:
            pictures[name] = data
    return pictures


def _what(text: str) -> str:
    """What a text is that is no notebook."""
    begins = " ".join(text[:60].split())
    beginning = f", and begins {begins!r}" if begins.isprintable() else ""
    return f"it is no notebook, and holds no cells{beginning}"


# The process that grades reads this, and does not look into it.


def read_file(path: Path, limit: int) -> bytes:
    """Read a regular file; follow no link, and wait for no pipe.

    Raises Damaged if there is no such file, or if it has more than ``limit`` bytes.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = open(path, "rb", opener=lambda name, usual: os.open(name, usual | flags))  # noqa: SIM115
    except OSError as error:  # also of a folder
        raise Damaged(f"{path.name} cannot be opened: {error.strerror}") from None
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Damaged(f"{path.name} is not a regular file")
        if status.st_size > limit:
            raise Damaged(f"{path.name} has {status.st_size / 2**20:.0f} MB, more than {limit / 2**20:.0f} MB")
        return file.read(limit + 1)


_MOST_FILES = 1_000
"""Files and folders that a submission may bring."""
_DEEPEST = 20
"""Folders one in another that a submission may bring."""

Attachments = dict[str, bytes]


def files_below(
    folder: Path, refused: list[OSError] | None = None, left_out: list[Path] | None = None
) -> Iterator[Path]:
    """Yield the regular files in a folder, in order, as many as a submission may bring; no links, hidden files or time stamps.

    ``refused`` gets the errors of folders that cannot be read, ``left_out`` the first file that is one too many.
    """
    seen = 0
    onerror = None if refused is None else refused.append
    for parent, folders, names in os.walk(folder, followlinks=False, onerror=onerror):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if len(Path(parent).relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        seen += 1
        for file in filter(_is_brought, (Path(parent, name) for name in sorted(names))):
            seen += 1
            if seen > _MOST_FILES:
                if left_out is not None:
                    left_out.append(file)
                return
            yield file


def _is_brought(path: Path) -> bool:
    """Whether a learner has brought this file: it is a regular one, not hidden, and no time stamp of nbgrader."""
    if path.name.startswith(".") or path.name == "timestamp.txt":
        return False
    return not os.path.islink(path) and os.path.isfile(path)


def read_attachments(folder: Path, notebook: Path, limit: int, refused: list[Damaged] | None = None) -> Attachments:
    """Read the submission's own data files: path in ``folder`` -> bytes, ``limit`` bytes at most of all together.

    ``notebook`` and other notebooks are left out. ``refused`` gets why other files are left out.
    """
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
    """Why it is marked again, for people; empty if it was handed in anew."""
    remark: str = ""
    """What its learner should know about the choice of this file; empty if nothing."""
    notebook: bytes = b""
    """The bytes, once they are read."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The submission's own data files by relative path."""

    def read(self, limits: GradingLimits) -> HandIn:
        """The same hand-in with its notebook and the files beside it. Raises Damaged, or OSError if files cannot be read."""
        data = read_file(self.path, limits.notebook_mb << 20)
        refused: list[Damaged] = []
        beside = read_attachments(self.path.parent, self.path, limits.attachment_mb << 20, refused)
        for why in refused:
            # This is the grader's own trouble: a right answer would fail.
            if isinstance(why.__context__, PermissionError):
                raise why
        left_out = f"left out of what lies beside it: {'; '.join(map(str, refused))}" if refused else ""
        return replace(self, notebook=data, files=beside, remark="; ".join(filter(None, (self.remark, left_out))))

    def digest_with(self, secret: str) -> str:
        """A digest that changes with any byte that was read.

        ``secret``: that of the course's journals, so that nobody else can make the digest.
        """
        parts = [secret.encode(), self.notebook]
        for name, data in self.files.items():
            parts += [os.fsencode(name), data]
        if self.remark:
            parts.append(self.remark.encode(errors="replace"))
        return digest_of(*parts)
