"""Show a class or function's source in the notebook, so that nothing a lesson uses is a black box."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from nbproof.front_end import show

__all__ = ["show_source"]


def show_source(*objects: type | Callable[..., Any]) -> None:
    """Show the source of each object, from the margin, in the front end's own colours; print it where there is none."""
    text = "\n\n\n".join(textwrap.dedent(inspect.getsource(one)).rstrip() for one in objects)
    show(f"```python\n{text}\n```", text, "text/markdown")
