"""The simulated class: a course of its own in ``demo/``, so that nothing of it ever meets the real one."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["DEMO", "SIMULATED", "prepare_demo", "simulated_before"]

DEMO = "demo"
"""The folder, beside the real ``submitted/``; ``--course demo`` leads every command there."""

SIMULATED = ("ada", "ben", "chloe", "deniz", "emeka", "farah", "goro", "hanna")
"""Who is made up. Written down here as well: every run looks for them, and what makes them up is slow to import."""


def prepare_demo(root: Path) -> Path:
    """The folder of the demo, with the lessons as they are now; learners hand in where nobody has yet."""
    from nbproof.authoring.simulate import simulate_class

    demo = root / DEMO
    for name in ("source", "release"):
        fresh = demo / f".{name}.coming"
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(root / name, fresh)
        shutil.rmtree(demo / name, ignore_errors=True)
        fresh.rename(demo / name)
    shutil.copyfile(root / "nbgrader_config.py", demo / "nbgrader_config.py")
    if not any(demo.glob("submitted/*/*/*.ipynb")):
        simulate_class(root, [], into=demo)
    return demo


def simulated_before(root: Path) -> list[str]:
    """The simulated class where an earlier version of this course put it: among the real learners. Else empty."""
    names = list(SIMULATED)
    there = all((root / "submitted" / name).is_dir() or (root / "autograded" / name).is_dir() for name in names)
    return names if there and root.resolve().name != DEMO else []
