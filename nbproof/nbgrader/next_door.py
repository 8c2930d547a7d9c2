"""What grading asks the package next door, nbproof_lms, if it is installed; otherwise ``nbproof/report/alone.py`` answers.

No other module but the command line knows that there is such a package. A name is looked up when it is first asked for.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbproof_lms import Collected, collect
    from nbproof_lms.attendance import (
        astray_lines,
        attend,
        background_of,
        find_learners,
        late_by_lms,
        lines_of,
        name_in_gradebook,
        nothing_gradable_in,
        people_of,
        two_ids_lines,
        zeros_apart,
        zeros_lines,
    )
    from nbproof_lms.collected_table import print_collected
    from nbproof_lms.commands import EXPORTS, HANDING_BACK, READING, reading_of
    from nbproof_lms.grade_files import (
        GradeFile,
        columns_of,
        exports_of,
        grade_files,
        known_elsewhere,
        options_of_exports,
        zeros,
    )
    from nbproof_lms.handback import hand_back_pages
    from nbproof_lms.placing import finish_broken_off
    from nbproof_lms.roster import is_class_known, members_of
    from nbproof_lms.settling import but_settled, copies_in_time, forget_others, seen_in, without_place

__all__ = [
    "EXPORTS",
    "HANDING_BACK",
    "READING",
    "Collected",
    "GradeFile",
    "astray_lines",
    "attend",
    "background_of",
    "but_settled",
    "collect",
    "columns_of",
    "copies_in_time",
    "exports_of",
    "find_learners",
    "finish_broken_off",
    "forget_others",
    "grade_files",
    "hand_back_pages",
    "is_class_known",
    "known_elsewhere",
    "late_by_lms",
    "lines_of",
    "members_of",
    "name_in_gradebook",
    "nothing_gradable_in",
    "options_of_exports",
    "people_of",
    "print_collected",
    "reading_of",
    "seen_in",
    "two_ids_lines",
    "without_place",
    "zeros",
    "zeros_apart",
    "zeros_lines",
]

_HOMES = {
    "": "Collected collect",
    "attendance": "astray_lines attend background_of find_learners late_by_lms lines_of name_in_gradebook "
    "nothing_gradable_in people_of two_ids_lines zeros_apart zeros_lines",
    "collected_table": "print_collected",
    "commands": "EXPORTS HANDING_BACK READING reading_of",
    "grade_files": "GradeFile columns_of exports_of grade_files known_elsewhere options_of_exports zeros",
    "handback": "hand_back_pages",
    "placing": "finish_broken_off",
    "roster": "is_class_known members_of",
    "settling": "but_settled copies_in_time forget_others seen_in without_place",
}
"""In which of its modules a name lies."""


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names.split()), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec("nbproof_lms") is None:
        from nbproof.report import alone

        return getattr(alone, name)
    return getattr(importlib.import_module(f"nbproof_lms.{home}".rstrip(".")), name)
