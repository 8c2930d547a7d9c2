"""``nbgrader autograde`` on a system where nothing can be isolated: it says so, before it has touched a submission."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import NbGraderException

from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import isolation_or_refuse

__all__ = ["LinuxOnly"]


class LinuxOnly(NotebookExporter):  # type: ignore[misc]
    """For ``c.Autograde.exporter_class``: nbgrader makes it before it copies or reads anything."""

    def __init__(self, config: Any = None, **given: Any) -> None:
        """Raises NbGraderException, having said why."""
        super().__init__(config=config, **given)
        try:
            isolation_or_refuse()
        except NoIsolation as error:
            for line in error.lines():
                self.log.error("%s", line.removeprefix("error: "))
            raise NbGraderException(error.fact) from None
