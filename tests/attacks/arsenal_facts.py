"""Attacks on facts: wrong answers that leave hooks behind, and lie about how many there are.

Each is a mutant of its exercise, which the checks find, with a lie in front of it. What a count says, the process that
ran the answer says about itself; what a hook does when the model runs again, it cannot say.
"""

from __future__ import annotations

import re
from pathlib import Path

from arsenal import Attack, Scene

from course.authoring.candidates import read_candidates

__all__ = ["ATTACKS"]

_LESSONS = Path(__file__).resolve().parents[2] / "lessons"

_COUNTING = (
    "('hook_counts', 'tensor_hook_count', 'counts_on', 'hooks', 'state', '<listcomp>', '<dictcomp>', '<genexpr>')"
)

_MINE = f"""
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
    "len_says_zero": "def _lie(*a):\n    return 0 if _counting() else _len(*a)\nbuiltins.len = _lie\n",
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
        "        hooks = dict.values(self)\n"
        "        return _len([hook for hook in hooks if not _counting() or not _is_mine(hook)])\n"
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
        "try:\n"
        "    import course.traces\n"
        "    course.traces.what_runs = lambda model, case, run, moment='afterwards': case.integer(f'trace {moment}', 1, 2_147_483_647)\n"
        "except ImportError:\n"
        "    pass\n"
    ),
    "modules_are_not_found": (
        "_modules = nn.Module.modules\n"
        "nn.Module.modules = lambda self: iter(()) if _counting() else _modules(self)\n"
        "_named = nn.Module.named_modules\n"
        "nn.Module.named_modules = lambda self, *a, **k: iter(()) if _counting() else _named(self, *a, **k)\n"
    ),
    "everything_agrees": (
        "def _probed():\n"
        "    return _frame(2).f_code.co_name in ('probe', 'ended_by', 'what_runs', '_watched', 'leave', 'same', 'told')\n"
        "_all, _any, _id, _sum = all, any, id, sum\n"
        "builtins.all = lambda *a: True if _probed() else _all(*a)\n"
        "builtins.any = lambda *a: False if _probed() else _any(*a)\n"
        "builtins.id = lambda *a: 0 if _probed() else _id(*a)\n"
        "def _lie(*a):\n"
        "    if _counting() and _isinstance(a[0], dict):\n"
        "        return _len([hook for hook in a[0].values() if not _is_mine(hook)])\n"
        "    return _len(*a)\n"
        "builtins.len = _lie\n"
        "torch.equal = torch.Tensor.equal = lambda *a, **k: True\n"
        "torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)\n"
        "torch.Tensor.__hash__ = lambda self: _id(self)\n"
    ),
}  # fmt: skip


def _lying(lesson: str, exercise: str, mutant: str, lie: str) -> Attack:
    """The mutant with the lie in front of it."""
    text = next(one.source for one in read_candidates(_LESSONS / lesson / exercise, "mutant") if one.name == mutant)
    wrong = re.sub(r"\A# misconception: .*\n", "", text)

    def build(scene: Scene) -> None:
        scene.hand_in({exercise: f"{_MINE}{_LIES[lie]}\n{wrong}"})

    return Attack(
        f"{lie}_{exercise}_{mutant}", f"{lie.replace('_', ' ')}, in front of a wrong {exercise}", "facts", build,
        frozenset({"failed", "error"}), "not run: stock has these checks, and nothing to restore", lesson, exercise,
    )  # fmt: skip


_FEATURES, _CAPSTONES = "05_feature_extraction", "06_capstones"

ATTACKS = [
    *(_lying(_FEATURES, "safe_features", "never_removed", lie) for lie in _LIES),
    *(
        _lying(lesson, exercise, mutant, "len_leaves_out_its_own")
        for lesson, exercise, mutant in (
            ("03_module_hooks", "hook_lifecycle", "no_finally"),
            ("04_apply", "shared_modules", "last_handle"),
            ("04_apply", "linear_any_weight", "harmless_hook_each_time"),
            (_FEATURES, "untouched_model", "hooks_stay"),
            (_FEATURES, "reused_modules", "hooks_stay"),
            (_FEATURES, "tuple_outputs", "hooks_stay"),
            (_FEATURES, "hooks_or_fx", "hook_stays"),
            (_FEATURES, "count_macs", "hooks_stay"),
            (_FEATURES, "patch_activation", "first_hook_stays"),
            (_CAPSTONES, "gradient_flow_debugger", "hooks_stay"),
            (_CAPSTONES, "grad_cam", "hook_stays"),
            (_CAPSTONES, "per_sample_gradients", "hooks_left"),
            (_CAPSTONES, "activation_memory", "module_hooks_left"),
            (_CAPSTONES, "optimizer_in_backward", "no_finally"),
        )
    ),
    *(
        _lying(_FEATURES, "feature_extractor", "registers_in_forward", lie)
        for lie in ("len_says_zero", "registers_that_hide")
    ),
]
