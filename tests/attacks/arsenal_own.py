"""Attacks that only the learner's own cells allow: they run in front of setup cells, and between an answer and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.attacks.arsenal import Attack, Scene, attack, new_cell, place_of

Cells = list[dict[str, Any]]
Edit = Callable[[Scene, Cells], object]
_GRADED = ("failed", "error", "killed")


def _own(name: str, tries: str, edit: Edit, *, family: str = "own cells", **more: Any) -> Attack:
    """A wrong answer to weight_grad, an honest one to double_grad, and cells of its own, of which one has to run."""
    options = {"expects": _GRADED, "runs": True, **more}
    return attack(family, name, tries, edit=lambda scene, notebook: edit(scene, notebook["cells"]), **options)


def _put(at: int, cells: Cells, texts: Iterable[str]) -> None:
    cells[at:at] = [new_cell(text, number) for number, text in enumerate(texts)]


def _top(*texts: str) -> Edit:
    return lambda scene, cells: _put(0, cells, texts)


def _above(*texts: str) -> Edit:
    """Above the check: between an answer and what marks it."""
    return lambda scene, cells: _put(place_of(cells, "test_weight_grad"), cells, texts)


def _pretends_to_be_marked(scene: Scene, cells: Cells) -> None:
    for number, (after, place) in enumerate([(10**9, None), (-7, 10**9), ("x", [1]), (0, 17), (None, None), (16, 16)]):
        told = {"after": after, "place": place}
        cells.insert(0, {**new_cell("model = answer = 5", number), "metadata": {"learners_own_cell": told}})
    for cell in cells:
        cell["metadata"] = {**cell["metadata"], "learners_own_cell": {"after": -1, "place": 17}}


def _ids_collide(scene: Scene, cells: Cells) -> None:
    ids: list[Any] = [cell["id"] for cell in cells if cell["cell_type"] == "code"][:12]
    ids += ["own-0", "own-0", "", "x" * 5_000, "../../x", "<script>alert(1)</script>", "weight_grad"]
    at = place_of(cells, "test_weight_grad")
    cells[at:at] = [{**new_cell(f"model = answer = {number}"), "id": one} for number, one in enumerate(ids)]


_EVIL = """'''</pre></div><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}
```
<svg/onload=alert(1)>'''
model = answer = "</script><script>alert(2)</script>"
from IPython.display import display, HTML, Javascript
display(HTML("<script>alert(3)</script>"), Javascript("alert(4)"))
# <iframe src=javascript:alert(5)> \u202e gnihtyna \u2066 \x1b[31m"""

_LIES = """
import torch
class Equal:
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter([self])
    __hash__ = None
torch.equal = torch.allclose = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
model = answer = Equal()
"""

_WIRE = """
import nbproof.sandbox.wire as wire, nbproof.sandbox.worker as worker
model = answer = 1
import nbproof.sandbox.evidence_wire as evidence_wire
evidence_wire.encode = lambda data: ({"passed": True}, b"")
worker.pack = lambda data: b"passed"
wire.send = lambda channel, header, payload=b"": channel.sendall(b"\\0" * 8)
worker.bring = lambda *a, **k: None
"""


def _shown(scene: Scene, cells: Cells) -> None:
    above = cells[: place_of(cells, "weight_grad")]
    [cell for cell in above if cell["cell_type"] == "code" and not cell["metadata"].get("nbgrader")][-1]["source"] = (
        _WIRE
    )


def _setup(scene: Scene, cells: Cells) -> None:
    # Of an edited setup cell those statements run that bind a new name.
    cells[place_of(cells, "setup_imports")]["source"] += f"\nran_here = get_ipython().run_cell({_WIRE!r})\n"


_CRASH = (
    "model = " + "(" * 100_000 + ")" * 100_000,
    "model = answer" + ".b" * 90_000,
    "model = " + "2**" * 40_000 + "2",
    "model = " + "9" * 150_000,
    "model = f'" + "{f\"" * 140 + "\"}" * 140 + "'",
    "model = 1\0\nanswer = 2",
    "# -*- coding: no_such_coding -*-\nmodel = 1",
    "%%" * 50_000 + "\nmodel = 1",
    "!" * 100_000 + "\nmodel = 1",
    "\n".join(" " * n + "model = 1" for n in range(400)),
)  # fmt: skip
"""What crashes whoever parses or compiles it."""

ATTACKS = [
    _own("names_of_the_check_redefined", "gives the names that the check cell uses another meaning, right above it",
         _above(_LIES + "Check = check = AnyOf = Model = Equal()\nhook_counts = other_forward = Equal()\nCase = type('Case', (), {})")),
    _own("names_of_the_course_in_front_of_all", "replaces torch, course and its modules in front of the setup cells",
         _top(_LIES + "import sys\nfor name in [n for n in sys.modules if n.split('.')[0] in ('course', 'torch')]: sys.modules[name] = Equal()")),
    _own("builtins_deleted", "empties builtins in front of the setup cells",
         _top("import builtins\nmodel = answer = 1\nfor name in list(vars(builtins)):\n    if name[:2] != '__': delattr(builtins, name)"),
         expects=(*_GRADED, "timeout")),
    _own("events_of_the_shell", "event handlers rewrite whatever is run below them",
         _top("""
model = answer = shell = get_ipython()
def lie(info=None):
    if info is not None: info.raw_cell = "answer = []"; info.success = True
    shell.user_ns["check"] = lambda *a: None
for event in ("pre_run_cell", "post_run_cell", "pre_execute", "post_execute"): shell.events.register(event, lie)
""")),
    _own("run_cell_that_brings_nothing", "makes run_cell return what the worker cannot read, between answer and check",
         _above("model = answer = shell = get_ipython()\ntype(shell).run_cell = lambda *a, **k: 5")),
    _own("wire_in_front_of_all", "replaces what encodes and sends the evidence, in front of the setup cells",
         _top(_WIRE)),
    _own("wire_in_a_cell_that_shows", "the same in place of what a cell shows", _shown),
    _own("wire_in_the_setup_cell", "the same in the setup cell, as a statement that binds a new name", _setup),
    _own("five_thousand_own_cells", "5000 cells that all bind the answer", _above(*["model = answer = 5"] * 5_000), keeps=True),
    _own("half_a_million_characters", "a cell that is too long to be looked into", _above("model = answer = 5\n" + "#" * 500_000), keeps=True),
    _own("texts_that_break_the_parser", "cells that crash whoever parses or compiles them", _above(*_CRASH),
         expects=(*_GRADED, "timeout"), runs=False),
    _own("marks_of_the_grader", "marks its cells as the grader marks own cells, with places out of range", _pretends_to_be_marked),
    _own("ids_that_collide", "cells with the ids of other cells, and with those that the grader gives", _ids_collide),
    _own("own_cells_without_end", "cells that sleep, so that no time is left",
         _above(*["import time\nmodel = answer = 1\ntime.sleep(2.5)"] * 6, "model = 1\nwhile True: pass"), expects=(*_GRADED, "timeout"), keeps=True),
    _own("scripts_in_own_cells", "scripts, and what no page can hold, in the texts of cells that stand in the graded notebook",
         _above(_EVIL, "%%html\n" + _EVIL, "%%javascript\nmodel = answer = 1; alert(1)", "model = '\ud800'\nanswer = '\x00\x07\ufffe'"), family="html"),
]  # fmt: skip
