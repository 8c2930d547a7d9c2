"""A test cell runs apart from the notebook that it stands in.

If it ran among the learner's variables, a helper `walk` of it would break an answer that rests on a function `walk` of the
learner's own; and an answer that calls a variable `sum` would break the check. So in a notebook the whole cell runs in a
namespace of its own.
"""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

from nbproof.lesson.check_cell import CHECK_LINE

__all__ = ["run_apart", "watch_test_cells"]

_CALL = re.compile(r"^check\(", re.MULTILINE)


def run_apart(text: str, name: str) -> dict[str, Any]:
    """Run the text of checks in a namespace of its own, and return that namespace. ``name`` stands in messages of errors."""
    file = f"<{name}>"
    # For an error in a check itself, which shows its line.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)  # noqa: S102 (a text of the course's own)
    return names


def watch_test_cells() -> None:
    """Let each test cell from now on run apart, so that it takes no name of a learner's. Does nothing if no IPython runs."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        shell.input_transformers_post.append(_apart)


def _apart(lines: list[str]) -> list[str]:
    """The lines of a cell as IPython runs them; of a test cell the call that runs it apart."""
    source = "".join(lines)
    if not source.startswith(CHECK_LINE) or not _CALL.search(source):
        return lines
    return [lines[0], f"__import__('nbproof.checks.check').checks.check.run_test_cell({source!r})\n"]
