"""``python -m nbproof``: the same commands for any course, the one in the folder that ``--course`` names."""

import argparse
import sys
from pathlib import Path

from nbproof.cli.main import main
from nbproof.course_file import find_course, use_course
from nbproof.errors import UsageError


def run() -> int:
    """The command's exit code. Help is given without a course, too, and `new` makes one."""
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("--course", type=Path, default=Path())
    try:
        course = find_course(named.parse_known_args()[0].course)
        use_course(str(course.file))  # for notebooks that are opened, and their kernels
        course.enter()
    except UsageError as error:
        return main(None, error)
    return main(None, course)


if __name__ == "__main__":
    sys.exit(run())
