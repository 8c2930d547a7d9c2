"""``python -m nbproof``: the same commands for any course, the one in the folder that ``--course`` names."""

import argparse
import sys
from pathlib import Path

from nbproof.cli.main import main
from nbproof.course_file import find_course
from nbproof.errors import UsageError


def run() -> int:
    """The command's exit code. Help is given without a course, too, and `new` makes one."""
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("--course", type=Path, default=Path())
    without = None
    try:
        find_course(named.parse_known_args()[0].course)
    except UsageError as error:
        without = error
    return main(without=without)


if __name__ == "__main__":
    sys.exit(run())
