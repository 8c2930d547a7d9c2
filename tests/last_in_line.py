"""Run a module on what others leave of the cores: ``python -m tests.last_in_line pytest tests/pictures``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def main() -> None:
    """Step back, then become the module. Where there are no such priorities (Windows), only the latter."""
    if os.name == "posix":
        os.nice(19)
        # Linux shares the cores out among sessions first, and only within one does `nice` count.
        os.setsid()
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text("19", encoding="ascii")
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])


if __name__ == "__main__":
    main()
