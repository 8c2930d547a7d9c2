"""Attacks on whoever reads the graded notebook: scripts in everything that is shown."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import cell_attack

_html = partial(cell_attack, "html", keeps=True)
_LINES = "from IPython.display import display, HTML, Markdown, Javascript, Image, SVG\n"

ATTACKS = [
    _html(
        "script_in_html",
        "displays HTML with a script and with event handlers",
        _LINES
        + """
display(HTML("<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)><b onclick='alert(1)'>hi</b>"))
display(HTML("<iframe srcdoc='<script>alert(1)</script>'></iframe><object data='javascript:alert(1)'></object><embed src=x>"))
display(HTML("<form action='javascript:alert(1)'><button formaction='javascript:alert(1)'>x</button></form><base href='//evil'><meta http-equiv=refresh content='0;url=//evil'>"))
display(HTML("<a href='java\\tscript:alert(1)'>a</a><a href='&#106;avascript:alert(1)'>b</a><style>@import '//evil'</style>"))
""",
    ),
    _html(
        "script_mime_types",
        "displays JavaScript, SVG, LaTeX, JSON and widgets",
        _LINES
        + """
display(Javascript("alert(1)"))
display({"application/javascript": "alert(1)", "image/svg+xml": "<svg><script>alert(1)</script></svg>",
  "text/latex": "\\\\href{javascript:alert(1)}{x}", "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
  "application/json": {"a": "<script>alert(1)</script>"}, "text/plain": "<script>alert(1)</script>"}, raw=True)
""",
    ),
    _html(
        "script_in_an_exception",
        "raises an exception whose name and text hold a script",
        """
Evil = type("<script>alert(1)</script>", (Exception,), {})
raise Evil("<script>alert(2)</script><img src=x onerror=alert(1)>")
""",
    ),
    _html(
        "script_in_the_check",
        "prints, names and raises scripts while the check runs",
        """
def tensor_hook(grad):
    print("</pre><script>alert(1)</script>")
    raise ValueError("<script>alert(1)</script>")
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    _html(
        "script_in_a_picture",
        "breaks out of the attribute that holds a picture's data",
        _LINES
        + """
evil = 'AAAA" onerror="alert(1)" x="'
display({"image/png": evil, "image/jpeg": evil, "text/plain": "x"}, raw=True)
display({"image/png": "AAAA", "text/plain": "x"}, metadata={"image/png": {"width": '1" onload="alert(1)', "alt": '"><script>alert(1)</script>'}}, raw=True)
""",
    ),
    _html(
        "script_in_markdown",
        "displays markdown with links, images and HTML that run",
        _LINES
        + r"""
display(Markdown("[a](javascript:alert(1)) [b](<javascript:alert(1)>) ![c](x\"onerror=\"alert(1)) <script>alert(1)</script>"))
display(Markdown("[a]: javascript:alert(1)\n\n[a]\n\n<javascript:alert(1)>\n\n`<script>alert(1)</script>`\n\n&lt;script&gt;alert(1)&lt;/script&gt;"))
display(Markdown("![x](y \"z\" onerror=alert(1))\n\n[x](data:text/html;base64,PHNjcmlwdD4=) $\\href{javascript:alert(1)}{x}$ <<b>script>alert(1)<</b>/script>"))
""",
    ),
    _html(
        "script_in_the_answer",
        "closes tags in the text of the answer itself",
        """
text = '''</code></pre></div><script>alert(1)</script><img src=x onerror=alert(1)>'''
# </script><script>alert(1)</script>
answer.append(text)
""",
    ),
    _html(
        "script_in_streams",
        "prints scripts and terminal escapes on both streams",
        """
import sys
print("<script>alert(1)</script>\\x1b]8;;javascript:alert(1)\\x1b\\\\link\\x1b]8;;\\x1b\\\\ \\x1b[2J\\x1b[31;<script>m")
print("<img src=x onerror=alert(1)>", file=sys.stderr)
""",
    ),
    _html(
        "surrogates_in_streams",
        "prints half a surrogate pair, displays one, raises one",
        _LINES
        + """
print("\\ud800 \\udfff")
display({"text/plain": "\\ud800", "text/html": "<b>\\udfff</b>"}, raw=True)
raise ValueError("\\ud800")
""",
    ),
    _html(
        "html_of_deep_nesting",
        "displays HTML that is slow and deep to clean",
        _LINES
        + """
display(HTML("<div>" * 50_000))
display(HTML("<a><b><i><table><td>" * 8_000))
display(HTML("<p " + "a=b " * 50_000 + ">"))
""",
    ),
    _html(
        "outputs_forged",
        "sends outputs with metadata, mime types and fields of its own over the wire",
        """
from nbproof.sandbox import wire
genuine = wire.send
def forged(channel, header, payload=b""):
    if "outputs" in header:
        evil = "<script>alert(1)</script>"
        header["outputs"] = [
            {"output_type": "display_data", "data": {"text/html": [evil], "text/plain": evil, "application/javascript": "alert(1)"},
             "metadata": {"x": evil}, "transient": {"y": 1}},
            {"output_type": "display_data", "data": {"text/html": evil * 3}, "metadata": 5},
            {"output_type": "stream", "name": evil, "text": evil}, {"output_type": evil}, {"output_type": "stream", "name": "stdout", "text": [evil]},
            {"output_type": "error", "ename": evil, "evalue": [evil] * 5, "traceback": [[evil], {"a": evil}, evil]},
            {"output_type": "update_display_data", "data": {"text/html": evil}}, [evil], evil, None,
        ]
        header["error"] = [evil, [evil, {"a": evil}]]
    return genuine(channel, header, payload)
wire.send = forged
""",
    ),
    _html(
        "settings_for_the_reader",
        "displays styles that cover the page and pictures that call home",
        _LINES
        + """
display(HTML("<div style='position:fixed;top:0;left:0;width:100%;height:100%;background:url(//evil/x)'>You passed</div><img src='http://evil.example/x'>"))
display(HTML("<link rel=stylesheet href=//evil><div class='formgrader' id='nbgrader' data-toggle=x>hi</div><textarea><input autofocus onfocus=alert(1)>"))
""",
    ),
]
