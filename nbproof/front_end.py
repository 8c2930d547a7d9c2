"""The notebook that somebody is looking at: whether there is one, what runs in it, and showing things there."""

from __future__ import annotations

import os
import sys
from html import escape
from typing import Any

from nbproof.text import code_parts

__all__ = [
    "MONO",
    "framed",
    "is_sealed",
    "person_at_work",
    "prose",
    "ran_before",
    "seal",
    "shell",
    "show",
    "sign",
]

_FRAME = (
    "border-left:4px solid {accent};padding:.45em .9em;margin:.3em 0;max-width:{width}em;line-height:1.45;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:var(--jp-ui-font-size1,14px);"
    "color:var(--jp-ui-font-color1,inherit);background:var(--jp-layout-color2,rgba(128,128,128,.08))"
)
"""A panel's style. JupyterLab's own variables follow its theme; the fallbacks serve nbconvert's pages and print."""

_CALM = "#5b8fd6"

MONO = "font-family:var(--jp-code-font-family,monospace);font-size:.95em;overflow-wrap:anywhere"


def prose(text: str) -> str:
    """The text as HTML: escaped, and with code where `backticks` mark it."""
    parts = code_parts(escape(text))
    parts[1::2] = [f'<code style="{MONO}">{part}</code>' for part in parts[1::2]]
    return "".join(parts)


def framed(page: str, attributes: str = 'role="note"', accent: str = _CALM, width: int = 46) -> str:
    """A piece of HTML as a panel."""
    return f'<div {attributes} style="{_FRAME.format(accent=accent, width=width)}">{page}</div>'


def sign(mark: str, colour: str) -> str:
    """A mark such as ✓ in a colour that leans towards the text's own: so it stands out on light pages and on dark ones."""
    return f'<span style="color:color-mix(in srgb,{colour} 60%,currentColor);font-weight:700">{mark}</span>'


def shell() -> Any:
    """IPython's shell if a front end can draw what is displayed, else None."""
    # A process that has not loaded IPython has no front end; importing it for this would cost a tenth of a second.
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython else None
    return found if found is not None and found.has_trait("kernel") else None


def show(page: str, plain: str, kind: str = "text/html") -> None:
    """Display a piece of HTML, or of markdown, with the same in words; these are printed where no front end draws it."""
    if shell() is None:
        print(plain)
        return
    from IPython.display import display

    display({kind: page, "text/plain": plain}, raw=True)


def person_at_work() -> bool:
    """Whether somebody runs this cell in a front end and sees what it shows. In doubt: no.

    A front end says with each cell that it could ask its user something, and which cell it is. What runs a whole
    notebook and looks at nothing (nbgrader, nbconvert, papermill: nbclient) says neither.
    """
    found = shell()
    if found is None or "NBGRADER_EXECUTION" in os.environ:
        return False
    try:
        request = found.kernel.get_parent("shell")
        return bool(request["content"]["allow_stdin"] and request["metadata"])
    except (AttributeError, KeyError, TypeError):
        return False


_sealed = False


def seal() -> None:
    """From now on this process grades submissions: neither checks nor help are here."""
    global _sealed
    _sealed = True


def is_sealed() -> bool:
    """Whether this process grades submissions."""
    return _sealed


def ran_before(first_line: str) -> str:
    """The text of the cell that ran last before this one, cells that begin with ``first_line`` aside; '' if that is unknown."""
    texts = list((getattr(shell(), "user_ns", None) or {}).get("In") or [])
    told = (text for text in reversed(texts[:-1]) if isinstance(text, str) and text.strip())
    return next((text for text in told if not text.startswith(first_line)), "")
