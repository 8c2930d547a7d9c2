"""Late penalties: nbgrader's own AssignLatePenalties decides, with the plug-in that nbgrader_config.py names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from nbproof.files import digest_of
from nbproof.gradebook.marks import Mark
from nbproof.key import assignment_of, notebook_of
from nbproof.sandbox.exceptions import GradingError

__all__ = ["Penalties"]


class Penalties:
    """The preprocessor that ``nbgrader autograde`` would run here; none if the course has taken it out of the list.

    Raises GradingError if the plug-in cannot be loaded.
    """

    def __init__(self, root: Path, config: Config, db_url: str) -> None:
        self._db_url = db_url
        # A plug-in written in this very file may have changed with it.
        path = root / "nbgrader_config.py"
        self._place, self._version = str(path), digest_of(path.read_bytes()) if path.is_file() else ""
        try:
            listed = [one for one in Autograde(config=config).autograde_preprocessors if isinstance(one, type)]
            used = [one for one in listed if issubclass(one, AssignLatePenalties)]
            self._preprocessor = used[0](config=config) if used else None
        except Exception as error:  # traitlets raise what an import raises
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> GradingError:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return GradingError(
            f"the late-penalty plug-in fails: {told}",
            self._place,
            "mend c.AssignLatePenalties.plugin_class, then grade again: what was graded is kept",
        )

    def concerns(self, held: Mark, noted: str | None) -> bool:
        """Whether there is anything to decide: it is late, or has a penalty from when it was; not if all is as ``noted``."""
        late = held.late.seconds > 0 or held.penalty > 0
        return late and self._preprocessor is not None and self.basis(held) != noted

    def basis(self, held: Mark) -> str:
        """Changes with all that the plug-in is told, and with what it has said."""
        told = [held.total, held.late.seconds, str(held.late.handed_in)]
        return f"{digest_of(json.dumps(told).encode(), self._version.encode())} {held.penalty!r}"

    def assign(self, learner: str, lesson: str) -> None:
        """Have nbgrader set or take back the penalty in the gradebook. Raises GradingError if the plug-in fails."""
        assert self._preprocessor is not None
        told: Mapping[str, str] = {
            "notebook": notebook_of(lesson),
            "assignment": assignment_of(lesson),
            "student": learner,
            "db_url": self._db_url,
        }
        try:
            self._preprocessor.preprocess(nbformat.v4.new_notebook(), {"nbgrader": told})
        except Exception as error:  # an instructor's own code
            raise self._broken(error) from None
