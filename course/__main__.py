"""``python -m course``: the commands of the course."""

import os
import sys

# Guarded, because processes that Python spawns for parallel work import this file again.
if __name__ == "__main__":
    from course.interrupt import EXIT_CODE, listen

    try:
        listen()
        from course.cli import main

        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:  # before main, or behind it
        print("interrupted", file=sys.stderr, flush=True)
        code = EXIT_CODE
    # Everything is written and closed; taking torch apart properly would cost most of a second.
    os._exit(code)
