"""``python -m course``: the commands of the course."""

import sys

from course.cli import main

# Guarded, because processes that Python spawns for parallel work import this file again.
if __name__ == "__main__":
    sys.exit(main())
