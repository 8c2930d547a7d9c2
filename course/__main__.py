"""``python -m course``: the commands of the course."""

import os
import sys
from pathlib import Path

OLDEST = (3, 11)


def run() -> int:
    """The command's exit code; 1, in words, where this Python is too old or lacks the packages."""
    wanting = f"Python {sys.version.split()[0]} is too old for it" if sys.version_info < OLDEST else ""
    if not wanting:
        try:
            from nbproof.cli.main import main
            from nbproof.course_file import read_course

            return main(None, read_course(Path(__file__).parent))
        except ModuleNotFoundError as error:
            name = (error.name or "").split(".")[0]
            if not name or name in ("course", "nbproof"):
                raise
            wanting = f"{name} is not installed in it"
    from nbproof.command import prepared_python

    print(f"error: this Python cannot run the course: {wanting}", file=sys.stderr)
    print(f"  at:   {sys.executable}", file=sys.stderr)
    print(f"  next: {prepared_python(sys.argv[1:])}", file=sys.stderr)
    return 1


# Guarded, because processes that Python spawns for parallel work import this file again.
if __name__ == "__main__":
    try:
        if sys.version_info >= OLDEST:
            from nbproof.interrupt import listen

            listen()
        code = run()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:  # before a command has begun, or behind it
        print("interrupted", file=sys.stderr, flush=True)
        code = 130
    # Everything is written and closed; taking torch apart properly would cost most of a second.
    os._exit(code)
