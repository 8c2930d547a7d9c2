"""nbgrader's options that change marks or files, and are not obeyed here: they are named before anything runs.

All others are obeyed, or belong to commands of nbgrader's own. The list of these, and the test that a newer nbgrader adds none in
silence, is in tests/run/test_options.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from traitlets.config import Config

__all__ = ["NOT_OBEYED", "NOT_OBEYED_BY_GRADE", "not_obeyed"]

_PAGES = "feedback pages are those of this grader"

NOT_OBEYED = {
    "Autograde.autograde_preprocessors": "of this list only AssignLatePenalties is asked; no preprocessor of yours runs",
    "Autograde.create_student": "all who hand in are put into the gradebook",
    "Autograde.sanitize_preprocessors": "none of this list runs: each notebook is rebuilt from the instructor's copy",
    "CourseDirectory.notebook_id": "all notebooks of an assignment are graded",
    "Execute.*": "a cell runs as docs/engine.md says; of these options only timeout is asked",
    "GenerateFeedback.preprocessors": _PAGES,
    "GetGrades.display_data_priority": _PAGES,
    "IgnorePattern.*": "whatever a test cell writes to stderr costs its points",
    "LimitOutput.*": "outputs are cut by c.GradingLimits.output_bytes",
    "OverwriteCells.missing_cell_notification": "a cell that was deleted is put back without a notice",
    "Preprocessor.enabled": "it is used, or not, as if this were not said",
}
"""What happens in its place."""

_NO_HOOK = "`nbgrader autograde` calls it, this command does not"
NOT_OBEYED_BY_GRADE = {
    "BaseConverter.permissions": "files are written as your umask says",
    "BaseConverter.post_convert_hook": _NO_HOOK,
    "BaseConverter.pre_convert_hook": _NO_HOOK,
    "CourseDirectory.groupshared": "files are written as your umask says",
    "CourseDirectory.student_id_exclude": "all are graded; --only names some",
}
"""The same, where it is not nbgrader that is asked to grade."""

_SECTIONS = {
    "BaseConverter": ("Autograde", "AutogradeApp"),
    "Execute": ("ExecutePreprocessor", "NotebookClient"),
}
"""Where else an option may stand: under the names of classes that are made from one, or that it is made from."""


def not_obeyed(config: Config, by_grade: bool) -> Iterator[str]:
    """A sentence for each option that is set and would change marks or files, and is not obeyed."""
    for name, instead in {**NOT_OBEYED, **(NOT_OBEYED_BY_GRADE if by_grade else {})}.items():
        home, _, option = name.partition(".")
        for section in sorted(config) if home == "Preprocessor" else (home, *_SECTIONS.get(home, ())):
            told = config.get(section, {})
            every = [one for one in sorted(told) if one not in ("enabled", "timeout")]
            for one in every if option == "*" else [option] * (option in told):
                yield f"c.{section}.{one} is not obeyed here: {instead}"
