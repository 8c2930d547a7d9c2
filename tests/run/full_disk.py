"""Grade on a disk that is full sooner or later: run as a program in a mount namespace of its own, by test_disk.py.

Arguments: a course with submissions, an empty folder on a small tmpfs, then the kilobytes that are left each time.
Prints a line of JSON for each.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]


def main() -> None:
    """See the module's text."""
    from nbproof.errors import CourseError
    from nbproof.limits import GradingLimits
    from nbproof.run.batch import grade_class
    from nbproof.run.intake import take_in
    from nbproof.run.lock import only_run
    from nbproof.sandbox.engine import Engine
    from nbproof.testing.small import LESSON
    from nbproof.testing.warm import shared_pool

    made, place = Path(sys.argv[1]), Path(sys.argv[2])
    with Engine(GradingLimits()) as engine:
        for free in sys.argv[3:]:
            root = place / free
            shutil.copytree(made, root)
            filler = place / "filler"
            room = shutil.disk_usage(place).free - int(free) * 1024
            filler.write_bytes(b"x" * max(0, room))
            told = {"free": int(free), "stopped": "", "next": ""}
            intake = take_in(root, [LESSON], [LESSON])
            try:
                with only_run(root):
                    grade_class(root, intake, [LESSON], seed=3, pool=shared_pool(engine))
            except CourseError as error:
                told["stopped"], told["next"] = error.fact, error.next_command
            told["left_over"] = [str(path.relative_to(root)) for path in root.rglob("*.new*")]
            told["kept"] = len(list(root.glob("autograded/*/*/.verdict.json")))
            filler.unlink()
            with only_run(root):
                graded = grade_class(root, intake, [LESSON], seed=3, pool=shared_pool(engine))
            told["graded_then"] = len(graded.graded)
            told["scores"] = {score.learner: score.score for score in graded.marks.values()}
            shutil.rmtree(root)
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
