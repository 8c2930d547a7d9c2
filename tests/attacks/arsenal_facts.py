"""Attacks on facts: wrong answers that leave hooks behind, or do another thing wrong, and lie about what a probe asks.

Each is a mutant of its exercise, which the checks find, with a lie in front of it. What a count says, the process that
ran the answer says about itself; what a hook does when the model runs again, it cannot say.
"""

from __future__ import annotations

import re
from pathlib import Path

from nbproof.authoring.lesson import read_lesson
from tests.attacks.arsenal import Attack, Scene

_LESSONS = Path(__file__).resolve().parents[2] / "lessons"

_COUNTING = (
    "('hook_counts', 'tensor_hook_count', 'counts_on', 'hooks', 'state', '<listcomp>', '<dictcomp>', '<genexpr>')"
)

MINE = f"""
import builtins, collections, sys, types
import torch, torch.nn as nn
_globals, _len, _frame, _isinstance = globals(), builtins.len, sys._getframe, builtins.isinstance
def _counting(depth=2):
    frame = _frame(depth)
    for _ in range(3):
        if frame is None:
            return False
        if frame.f_code.co_name in ('hook_counts', 'tensor_hook_count', 'counts_on', 'state', 'hooks'):
            return True
        if frame.f_code.co_name not in {_COUNTING}:
            return False
        frame = frame.f_back
    return False
def _is_mine(hook):
    hook = getattr(hook, 'func', hook)
    hook = getattr(hook, '__func__', hook)
    return getattr(hook, '__globals__', _globals) is _globals
"""
"""What the lies share: who asks, and whether a hook was defined in the answer."""

_LIES = {
    "len_leaves_out_its_own": (
        "def _lie(*a):\n"
        "    if _counting() and _isinstance(a[0], dict):\n"
        "        return _len([hook for hook in a[0].values() if not _is_mine(hook)])\n"
        "    return _len(*a)\n"
        "builtins.len = _lie\n"
    ),
    "registers_that_hide": (
        "class _Hiding(collections.OrderedDict):\n"
        "    def __len__(self):\n"
        "        counting = _counting()\n"
        "        return _len([hook for hook in dict.values(self) if not counting or not _is_mine(hook)])\n"
        "    def __bool__(self):\n"
        "        return _len([*dict.values(self)]) > 0\n"
        "import torch.nn.modules.module as _module\n"
        "_module.OrderedDict = _Hiding\n"
        "torch._tensor.OrderedDict = _Hiding\n"
    ),
    "course_says_so": (
        "import course.probing\n"
        "_real = course.probing.hook_counts\n"
        "_fake = types.ModuleType('course.probing')\n"
        "_fake.__dict__.update(course.probing.__dict__)\n"
        "_fake.hook_counts = lambda module: dict.fromkeys(_real(nn.Identity()), 0)\n"
        "course.probing.hook_counts = _fake.hook_counts\n"
        "sys.modules['course.probing'] = _fake\n"
        "import course.traces\n"
        "course.traces.what_runs = lambda model, case, run, moment='afterwards': case.integer(f'trace {moment}', 1, 2_147_483_647)\n"
    ),
    "modules_are_not_found": (
        "_modules = nn.Module.modules\n"
        "nn.Module.modules = lambda self: iter(()) if _counting() else _modules(self)\n"
        "_named = nn.Module.named_modules\n"
        "nn.Module.named_modules = lambda self, *a, **k: iter(()) if _counting() else _named(self, *a, **k)\n"
    ),
}  # fmt: skip

_ASKED = """
def _asked_by(*names):
    frame = _frame(2)
    while frame is not None and frame.f_code.co_name.startswith('<'):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name in names
"""
"""Whether one of these functions asks, be it in a comprehension."""

_ABOUT_ONE_FACT = {
    "needs_a_gradient": (
        "_needs = torch._C.TensorBase.__dict__['requires_grad']\n"
        "def _lie(self):\n"
        "    return _needs.__get__(self) or _asked_by('probe')\n"
        "nn.Parameter.requires_grad = property(_lie, lambda self, value: _needs.__set__(self, value))\n"
    ),
    "the_check_says_so": (
        "def _lie(*a):\n"
        "    frame = _frame(1)\n"
        "    while frame is not None and frame.f_code.co_name != 'probe':\n"
        "        frame = frame.f_back\n"
        "    if frame is not None:\n"
        "        frame.f_globals['counts_on'] = lambda modules: [0] * _len(modules)\n"
        "    return _len(*a)\n"
        "builtins.len = _lie\n"
    ),
    "all_keys_matched": (
        "_load = nn.Module.load_state_dict\n"
        "def _lie(self, *a, **k):\n"
        "    try:\n"
        "        return _load(self, *a, **k)\n"
        "    except RuntimeError as error:\n"
        "        if 'Missing' in str(error):\n"
        "            raise\n"
        "        return nn.modules.module._IncompatibleKeys([], [])\n"
        "nn.Module.load_state_dict = _lie\n"
    ),
    "memory_is_freed": (
        "from torch.multiprocessing.reductions import StorageWeakRef as _Reference\n"
        "def _lie(self):\n"
        "    frame = _frame(1)\n"
        "    while frame is not None and frame.f_code.co_name != 'probe':\n"
        "        frame = frame.f_back\n"
        "    return frame is not None and frame.f_locals.get('loss') is None\n"
        "_Reference.expired = _lie\n"
        "import course.traces\n"
        "course.traces._EXPIRED = lambda reference: _lie(reference)\n"
    ),
}  # fmt: skip
"""Lies about one fact each, which was all that found the mutant that they stand in front of."""


def _lying(lesson: str, exercise: str, mutant: str, lie: str) -> Attack:
    """The mutant with the lie in front of it."""
    mutants = read_lesson(_LESSONS / lesson).exercise(exercise).mutants
    text = next(one.source for one in mutants if one.name == mutant)
    wrong = re.sub(r"\A# misconception: .*\n", "", text)

    def build(scene: Scene) -> None:
        scene.hand_in({exercise: f"{MINE}{_ASKED}{(_LIES | _ABOUT_ONE_FACT)[lie]}\n{wrong}"})

    return Attack(
        f"{lie}_{exercise}_{mutant}", f"{lie.replace('_', ' ')}, in front of a wrong {exercise}", "facts", build,
        frozenset({"failed", "error"}), lesson, exercise,
    )  # fmt: skip


_ANATOMY, _MODULES = "01_module_anatomy", "03_module_hooks"
_FEATURES, _CAPSTONES = "05_feature_extraction", "06_capstones"

ATTACKS = [
    *(_lying(_FEATURES, "safe_features", "never_removed", lie) for lie in _LIES),
    *(
        _lying(lesson, exercise, mutant, "len_leaves_out_its_own")
        for lesson, exercise, mutant in (
            (_MODULES, "hook_lifecycle", "no_finally"),
            (_CAPSTONES, "optimizer_in_backward", "no_finally"),
            ("07_real_training", "one_entry_a_step", "no_finally"),
        )
    ),
    _lying(_FEATURES, "feature_extractor", "registers_in_forward", "registers_that_hide"),
    _lying(_ANATOMY, "parameter_from_outside", "frozen", "needs_a_gradient"),
    _lying(_MODULES, "hook_lifecycle", "no_finally", "the_check_says_so"),
    _lying(_MODULES, "state_dict_hooks", "keeps_the_old_key", "all_keys_matched"),
    _lying(_CAPSTONES, "activation_memory", "keeps_the_tensors", "memory_is_freed"),
]
