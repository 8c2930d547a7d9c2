"""What a course says of the desk, in ``nbgrader_config.py``: ``c.DeskSettings.names = "shown"``."""

from __future__ import annotations

import warnings

from traitlets import Enum, TraitError
from traitlets.config import Config, Configurable

from nbproof.errors import UsageError

__all__ = ["DeskSettings"]


class DeskSettings(Configurable):  # type: ignore[misc]
    """How the desk of a course begins."""

    names = Enum(
        ("hidden", "shown"), "hidden", help="whether names stand beside answers before a marker asks for them"
    ).tag(config=True)

    @classmethod
    def read(cls, config: Config) -> DeskSettings:
        """The settings of a course. Raises UsageError if a value is none."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # that traitlets knows no such option is a warning
                return cls(config=config)
        except (TraitError, UserWarning) as error:
            raise UsageError(
                f"the desk's settings cannot be used: {error}",
                "c.DeskSettings in nbgrader_config.py",
                'correct that line; it can say names = "hidden", as without it, or names = "shown"',
            ) from None
