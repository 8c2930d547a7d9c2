"""Typeset Markdown that people typed as HTML that does nothing: answers for markers and learners, and a marker's comments.

Instructors read it logged in. So only Markdown without an address is typeset: links and HTML stay as they were typed.
Formulas become MathML, which every browser draws: no script runs for them, and nothing is fetched. Their TeX is their title. A
formula of no known form stays as it was typed. A picture is a PNG that was attached, and was found to be a plain one.
Size and time are bounded: a text that is longer, or has more in it, is shown as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

__all__ = ["Typesetter", "with_formulas"]

_LONGEST = 20_000
"""Characters of a text that a page shows."""
_MOST_SET = 8_000
"""Characters of a text that is typeset."""
_MOST_IN_ALL = 40_000
"""Characters of all texts of a page that are typeset."""
_MOST_CELLS = 5_000
"""Cells of a page's tables, at most: each column is set in each line, whether anything stands there or not."""
_MOST_MATHS = 4_000_000
"""Sum of the squares of the lengths of a page's formulas: their time grows so, to half a second for this."""
_CUT = "\n[cut off: a page shows no more of it; the whole text is in the submission]"
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of text: what is read would not be what was written."""
_TYPED = re.compile(r"__[a-z]\w*?__|(?<=[a-z0-9])[*_]+(?=[a-z0-9])", re.ASCII | re.IGNORECASE)
"""Signs within code that stands in a sentence, such as 2*3*4 or __init__: no emphasis. Languages without blanks have other
letters."""
_NOT_SHOWN = "<em>[{} is not shown here, or stands above: if it was handed in, the submitted notebook shows it]</em>"


class Typesetter:
    """Typesets the texts of one page, as far as there is room on it."""

    def __init__(self, pictures: Mapping[str, str] | None = None) -> None:
        """``pictures``: name -> a plain PNG in base64. Each is shown once."""
        self._pictures = dict(pictures or {})
        self._room = _MOST_IN_ALL
        self._maths = _MOST_MATHS
        self._cells = _MOST_CELLS
        self._parser = _parser(self._formula, self._picture)

    def typeset(self, text: str, whole: bool = False) -> str:
        """The text as one line of HTML, which Markdown leaves alone. ``whole``: an instructor's comment, however long."""
        kept = _readable(text)
        if len(kept) > _LONGEST and not whole:
            kept = kept[:_LONGEST] + _CUT
        has_picture = "<img" in kept
        lines = kept.split("\n")
        cells = max(line.count("|") for line in lines) * len(lines)
        if len(kept) <= min(_MOST_SET, self._room) and cells <= self._cells:
            self._room -= len(kept)
            self._cells -= cells
            # What turns text may come out of &#x202e; or of a picture's name as well.
            page = _unturned(self._parser.render(kept))
        else:
            page = f'<pre style="white-space:pre-wrap">{escape(kept)}</pre>'
            has_picture |= "](attachment:" in kept
        if has_picture:
            page += _NOT_SHOWN.format("a picture")
        # Between two dollar signs a page of nbgrader's own would look for formulas, which may be links.
        page = page.replace("$", "&#36;").replace("\\", "&#92;").replace("\n", "&#10;")
        return f'<div class="tex2jax_ignore mathjax_ignore">{page}</div>'

    def _formula(self, tokens: Any, at: int, *_: Any) -> str:
        """The formula of a token, as MathML or as code: a rule of the renderer."""
        tex = tokens[at].content.strip()
        block = tokens[at].type != "math_inline"
        self._maths -= len(tex) ** 2
        made = _mathml(tex, block) if self._maths >= 0 else ""
        sign = "$$" if block else "$"
        return made or f"<code>{escape(f'{sign}{tex}{sign}')}</code>"

    def _picture(self, tokens: Any, at: int, *_: Any) -> str:
        """The picture of a token, as HTML: a rule of the renderer."""
        name = unquote(str(tokens[at].attrs["src"]).removeprefix("attachment:"))
        png = "".join(self._pictures.pop(name, "").split())
        if not png:
            return _NOT_SHOWN.format(escape(f"the picture {name}"))
        label = escape(tokens[at].content or name)
        return f'<img src="data:image/png;base64,{png}" alt="{label}" style="max-width:100%">'


def _as_typed(state: Any, _silent: bool) -> bool:
    """A rule of the parser: signs within code are text. Whether they stand here."""
    found = _TYPED.match(state.src, state.pos)
    if found is None:
        return False
    state.pending += found[0]
    state.pos = found.end()
    return True


def _unturned(text: str) -> str:
    """A text with the signs that turn its direction written out."""
    return _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _readable(text: str) -> str:
    """A text without signs that turn its direction or end its line."""
    kept = _unturned(text.encode("utf-8", "backslashreplace").decode())
    # Any other line end could end the one line of HTML.
    return "\n".join(kept.replace("\0", "\ufffd").splitlines()).strip("\n")


def _parser(formula: Callable[..., str], picture: Callable[..., str]) -> MarkdownIt:
    """A parser of CommonMark without addresses, and of tables. HTML is text."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable(["link", "autolink", "html_inline", "html_block", "reference"])
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_blank_lines=False, double_inline=True)
    parser.use(amsmath_plugin)
    parser.inline.ruler.before("emphasis", "typed", _as_typed)
    rules: dict[str, Any] = {
        "math_inline": formula,
        "math_inline_double": formula,
        "math_block": formula,
        "amsmath": formula,
        "image": picture,
    }
    parser.renderer = RendererHTML()
    parser.renderer.rules |= {**rules, "fence": parser.renderer.rules["code_block"]}
    return parser


_SAME = (
    (re.compile(r"\\(?:begin|end)\{equation\*?\}|(?<=\\operatorname)\*|\\(?:nonumber|notag)\b"), ""),
    (re.compile(r"\\(begin|end)\{(?:align|gather|eqnarray|split)\*?\}"), r"\\\1{aligned}"),
    (re.compile(r"\\(?:bm|boldsymbol|textbf)\b"), r"\\mathbf"),
    (re.compile(r"\\dots[bc]?\b"), r"\\ldots"),
    (re.compile(r"\\iff\b"), r"\\Longleftrightarrow"),
    (re.compile(r"\\implies\b"), r"\\Longrightarrow"),
)
"""Commands that people write -> the same in commands that docutils knows."""


def _mathml(tex: str, block: bool) -> str:
    """A formula as MathML; empty if docutils knows no such formula."""
    from docutils.utils.math.latex2mathml import tex2mathml  # type: ignore[import-untyped]

    same = tex
    for written, known in _SAME:
        same = written.sub(known, same)
    try:
        made = str(tex2mathml(same, as_block=block))
    except Exception:  # docutils raises what its parts raise
        return ""
    made = re.sub(r"\n *", "", made)
    return f'<span title="{escape(tex)}">{made}</span>'


_FORMULA = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)"
    r"|\$\$(?P<block>.+?)\$\$|\$(?P<line>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)|(?P<ams>\\begin\{(\w+\*?)\}.*?\\end\{\5\})",
    re.DOTALL,
)


def with_formulas(markdown: str) -> str:
    """An instructor's Markdown with MathML in the place of its formulas, as Markdown."""
    return _FORMULA.sub(_replaced, markdown)


def _replaced(found: re.Match[str]) -> str:
    tex = found["block"] or found["line"] or found["ams"]
    return (tex and _mathml(tex.strip(), not found["line"])) or found[0]
