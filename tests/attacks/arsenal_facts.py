"""Attacks on facts: wrong answers that leave hooks behind, or do another thing wrong, and lie about what a probe asks.

Each is a mutant of its exercise, which the checks find, with a lie in front of it. What a count says, the process that
ran the answer says about itself; what a hook does when the model runs again, it cannot say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests import the_lesson
from tests.attacks.arsenal import Attack, Scene, attack, cells_of

_LIES = cells_of(Path(__file__).with_name("programs") / "lies.txt")
MINE = _LIES["MINE"] + _LIES["ASKED"]
"""What the lies share: who asks, and whether a hook was defined in the answer."""


def _lying(exercise: str, mutant: str, lie: str) -> Attack:
    """The mutant with the lie in front of it."""
    lesson, _, name = exercise.partition("/")

    def edit(scene: Scene, notebook: dict[str, Any]) -> None:
        mutants = the_lesson(lesson).exercise(name).mutants
        scene.cell(notebook, name)["source"] += next(one.source for one in mutants if one.name == mutant)

    tries = f"{lie.replace('_', ' ')}, in front of a wrong {name}"
    answers = {name: f"{MINE}{_LIES[lie]}\n"}
    return attack("facts", f"{lie}_{name}_{mutant}", tries, answers, edit, lesson=lesson, exercise=name)


ATTACKS = [
    _lying("05_feature_extraction/safe_features", "never_removed", "len_leaves_out_its_own"),
    _lying("05_feature_extraction/safe_features", "never_removed", "course_says_so"),
    _lying("05_feature_extraction/feature_extractor", "registers_in_forward", "registers_that_hide"),
    _lying("01_module_anatomy/parameter_from_outside", "frozen", "needs_a_gradient"),
    _lying("03_module_hooks/hook_lifecycle", "no_finally", "the_check_says_so"),
    _lying("03_module_hooks/state_dict_hooks", "keeps_the_old_key", "all_keys_matched"),
    _lying("06_capstones/activation_memory", "keeps_the_tensors", "memory_is_freed"),
    _lying("06_capstones/optimizer_in_backward", "no_finally", "len_leaves_out_its_own"),
]
