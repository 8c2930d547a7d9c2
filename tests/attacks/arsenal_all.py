"""Every attack, by family."""

from __future__ import annotations

import arsenal_escape
import arsenal_evidence
import arsenal_folder
import arsenal_html
import arsenal_inputs
import arsenal_notebook
import arsenal_resources
import arsenal_secrets
import arsenal_verdict
from arsenal import Attack

__all__ = ["ATTACKS"]

ATTACKS: tuple[Attack, ...] = (
    *arsenal_verdict.ATTACKS,
    *arsenal_inputs.ATTACKS,
    *arsenal_evidence.ATTACKS,
    *arsenal_notebook.ATTACKS,
    *arsenal_folder.ATTACKS,
    *arsenal_secrets.ATTACKS,
    *arsenal_escape.ATTACKS,
    *arsenal_resources.ATTACKS,
    *arsenal_html.ATTACKS,
)
