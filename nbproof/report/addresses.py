"""Where an LMS takes a file for a learner back: what the file's name must begin with, from what was collected.

Both go by numbers in the name, and neither takes a file whose numbers it does not know:

- **Moodle**, *Upload multiple feedback files in a zip* (``mod/assign/feedback/file/importziplib.php``,
  ``is_valid_filename_for_import``): a file whose name begins with ``.`` or ``~`` is passed over. Of the others, the
  name is split at its first four underscores: anything, the participant's number *in this assignment*, the type and
  the name of a plug-in that the assignment has, such as ``assignsubmission`` and ``file``, and what the feedback
  file is then called. A later file of the same name replaces the earlier one.
- **Canvas**, *Re-Upload Submissions* (``app/models/abstract_assignment.rb``, ``infer_comment_context_from_filename``):
  the name is split at every underscore, ``LATE`` is taken out, and the first two parts that are digits only are the
  user's number and that of the file handed in, which must belong to the user's latest attempt. A last part that begins
  with ``link``, a first one that is ``anon`` and a name that begins with ``._`` mean something else. The learner
  sees the file as an attachment of a comment, under the name of *the file handed in* (issue 2406 of canvas-lms).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbproof.collect.earlier import lists_in
from nbproof.collect.layouts import Said, read_place
from nbproof.collect.outcome import STANDS

__all__ = ["Address", "addresses"]

Address = str
"""What the name of a file begins with that the LMS is to give to a learner."""

_MOST = 80
"""Characters of a learner's name in the name of a file; no LMS reads it."""
_REFUSED = set('_/\\:*?"<>|')


def addresses(root: Path, system: str) -> dict[tuple[str, str], Address]:
    """(learner, lesson) -> address in ``Moodle`` or ``Canvas``, of everybody for whom collected/ holds one.

    What came last counts: Canvas numbers every attempt anew. A number that two learners would have is nobody's.
    """
    found: dict[tuple[str, str], tuple[tuple[Any, ...], str, Address]] = {}
    for number, (_, told) in enumerate(lists_in(root)):
        for fact in told["files"]:
            said = _said(fact)
            key = (str(fact.get("learner", "")), str(fact.get("lesson", "")))
            if said.system != system or not said.account or not all(key):
                continue
            if system == "Canvas" and not said.counters[1]:
                continue  # text typed into Canvas: nothing that a file could be given back for
            when = (number, fact.get("status") in STANDS, said.counters[1])
            if key not in found or found[key][0] <= when:
                found[key] = (when, said.account, _moodle(said) if system == "Moodle" else _canvas(said))
    taken = Counter((lesson, account) for (_, lesson), (_, account, _) in found.items())
    return {
        (learner, lesson): address
        for (learner, lesson), (_, account, address) in found.items()
        if taken[lesson, account] == 1
    }


def _said(fact: Mapping[str, Any]) -> Said:
    """What the LMS called the file. The outermost name is the LMS's, all below it are the learner's own."""
    parts = [part for part in str(fact.get("name", "")).split("/") if part]
    said = read_place(tuple(parts), []) if parts else Said("")
    upload = str(fact.get("upload", "")).rpartition("/")[2]
    if not said.system and upload:
        # One learner's archive by itself: its own name has the numbers.
        said = read_place((upload, "x"), [])
    # Whose number it is was settled when it was collected.
    return said if f"{said.system}:{said.account}" == fact.get("account") else Said("")


def _moodle(said: Said) -> Address:
    name = _plain(said.names[0], " ") or "Participant"
    return f"{name}_{said.account}_assignsubmission_file_"


def _canvas(said: Said) -> Address:
    name = _plain(said.names[0], "")
    if not name or name.isdigit() or name == "anon":
        name = "learner"
    return f"{name}{'_LATE' if said.late else ''}_{said.account}_{said.counters[1]}_"


def _plain(name: str, between: str) -> str:
    """A name without what file systems refuse, what hides a file, and underscores, which are the LMS's."""
    kept = "".join(" " if letter in _REFUSED or not letter.isprintable() else letter for letter in name)
    return between.join(kept.split())[:_MOST].strip(" .~'-")
