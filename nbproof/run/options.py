"""nbgrader's options that change marks or files, and are not obeyed here: they are named before anything runs.

All others are obeyed, or belong to commands of nbgrader's own. The list of these, and the test that a newer nbgrader adds none in
silence, is in tests/run/test_options.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from traitlets.config import Config

__all__ = ["NOT_OBEYED", "not_obeyed"]

_OURS = ("GradingLimits", "Mark")
"""Sections of options that nbgrader does not have."""
NOT_OBEYED = {
    "*.timeout": "",
    "*.enabled": "it is used, or not, as if this were not said",
    "*.permissions": "`nbgrader autograde` obeys it; the command `grade` writes files as your umask says",
    "*.post_convert_hook": "`nbgrader autograde` calls it, the command `grade` does not",
    "*.pre_convert_hook": "`nbgrader autograde` calls it, the command `grade` does not",
    "Autograde.autograde_preprocessors": "of this list only AssignLatePenalties is asked; no preprocessor of yours runs",
    "Autograde.create_student": "all who hand in are put into the gradebook",
    "Autograde.sanitize_preprocessors": "none of this list runs: each notebook is rebuilt from the instructor's copy",
    "CourseDirectory.groupshared": "`nbgrader autograde` obeys it; the command `grade` writes files as your umask says",
    "CourseDirectory.notebook_id": "all notebooks of an assignment are graded",
    "CourseDirectory.student_id_exclude": "`nbgrader autograde` obeys it; the command `grade` grades all, or `--only` some",
    "Execute.*": "a cell runs as docs/engine.md says; of these options only timeout is asked",
    "ExecutePreprocessor.*": "a cell runs as docs/engine.md says; of these options only timeout is asked",
    "GenerateFeedback.preprocessors": "feedback pages are those of this grader",
    "GetGrades.display_data_priority": "feedback pages are those of this grader",
    "LimitOutput.*": "outputs are cut by c.GradingLimits.output_bytes",
    "NotebookClient.*": "a cell runs as docs/engine.md says; of these options only timeout is asked",
    "OverwriteCells.missing_cell_notification": "a cell that was deleted is put back without a notice",
}
"""Option, as a pattern -> what happens instead of it; the first pattern that fits holds. An empty text: it is obeyed."""


def not_obeyed(config: Config) -> Iterator[str]:
    """A sentence for each option that is set and would change marks or files, and is not obeyed."""
    for section in sorted(config):
        if section not in _OURS:
            for ours in get_close_matches(section, _OURS, 1, 0.8):
                yield f"c.{section} is not obeyed: nothing is called so here; is it c.{ours}?"
        for name in sorted(f"{section}.{option}" for option in config[section]):
            instead = next((text for pattern, text in NOT_OBEYED.items() if fnmatchcase(name, pattern)), "")
            if instead:
                yield f"c.{name} is not obeyed: {instead}"
