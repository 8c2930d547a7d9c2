"""Show a class or function's source in the notebook, so that nothing a lesson uses is a black box."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

__all__ = ["show_source"]


def show_source(*objects: type | Callable[..., Any]) -> None:
    """Show the source of each object, highlighted by the front end's own theme; print it where there is none."""
    text = "\n\n".join(textwrap.dedent(inspect.getsource(one)).rstrip() for one in objects)
    try:
        from IPython.core.getipython import get_ipython
        from IPython.display import Markdown, display
    except ImportError:
        print(text)
        return
    if get_ipython() is None:
        print(text)
    else:
        display(Markdown(f"```python\n{text}\n```"))
