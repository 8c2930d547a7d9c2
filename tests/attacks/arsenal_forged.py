"""Attacks that know no answer: they send what the checks that learners have want."""

from __future__ import annotations

from tests.attacks.arsenal import LESSON, cell_attack
from tests.attacks.forger import FORMS, text_of

ATTACKS = tuple(
    cell_attack(
        "forged",
        f"forges_evidence_{form.replace(' ', '_')}",
        "runs the visible truths on the case of a hidden check, and sends what they want",
        text_of(form, LESSON),
        before="",
        expects=("failed", "error", "not answered"),
    )
    for form in FORMS
)
