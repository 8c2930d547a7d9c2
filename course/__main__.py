"""``python -m course``: the commands of the course."""

import os
import sys

from course.cli import main

# Guarded, because processes that Python spawns for parallel work import this file again.
if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is written and closed; taking torch apart properly would cost most of a second.
    os._exit(code)
