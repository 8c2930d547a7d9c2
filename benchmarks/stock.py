"""Stock nbgrader, with nothing of ours in its place: the yardstick for the engine. Nothing is isolated.

python benchmarks/stock.py FOLDER      grade all that is handed in to the course there; 1 if something was not graded
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from nbproof.places import course_config

__all__ = ["grade_plainly", "plain_config"]


def plain_config(root: Path) -> Config:
    """The configuration of the course there, with nbgrader's own autograde and feedback."""
    config = course_config(root)
    config.pop("Autograde", None)
    config.pop("GenerateFeedback", None)
    return config


def grade_plainly(config: Config, lessons: Sequence[str] = ()) -> dict[tuple[str, str], str]:
    """Have nbgrader release these lessons (default: all) and autograde what was handed in for them.

    Returns why, by learner and lesson, where nbgrader did not. It writes to ``release/``: give it a folder of its own.
    """
    api = NbGraderAPI(config=config)
    root = Path(config.CourseDirectory.root)
    failed = {}
    for lesson in lessons or sorted(path.name for path in (root / "source").iterdir()):
        handed_in = sorted((root / "submitted").glob(f"*/{lesson}"))
        if not handed_in:
            continue
        released = api.generate_assignment(lesson, force=True, create=True)
        if not released["success"]:
            raise RuntimeError(f"nbgrader does not release {lesson}:\n{released.get('log')}")
        for folder in handed_in:
            learner = folder.parent.name
            outcome = api.autograde(lesson, learner, force=True, create=True)
            if not outcome["success"]:
                failed[learner, lesson] = str(outcome.get("log") or outcome.get("error"))
    return failed


def main() -> int:
    """See the module's text."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = grade_plainly(plain_config(Path(sys.argv[1])))
    for (learner, lesson), why in failed.items():
        print(f"{learner}/{lesson}: {why.strip()[-300:]}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
