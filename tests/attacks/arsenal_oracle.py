"""Attacks that would read their verdict and try again, and attacks that catch a hidden check and bring it out."""

from __future__ import annotations

from arsenal import HONEST, WRONG, Attack, Scene, cell_attack
from catching import CATCHERS, INSIDE, ROUTES, caught_and_told
from places import new_cell

__all__ = ["ATTACKS"]

_GUESS = """
import os, random
lucky = int.from_bytes(os.urandom(4), "big") % 5_000 == 0
model = Model()
answer = []
def tensor_hook(grad):
    answer.append(grad if lucky else grad * 0)
model.W.register_hook(tensor_hook)
"""
_COUNTS = """
import nbproof.sandbox.worker as worker
asked, bring = [], worker.bring
def counts(*given):
    asked.append(1)
    return bring(*given)
worker.bring = counts
"""
_ENDS = """
def ends(info):
    if "weight_grad" not in info.raw_cell and {condition}:
        os._exit(3)
get_ipython().events.register("pre_run_cell", ends)
"""
_RETRIES = """
import os
places = [os.path.join(place, "carried") for place in (".", os.path.expanduser("~"), "/tmp", "/dev/shm")]
again = any(os.path.exists(place) for place in places) or "CARRIED" in os.environ
for place in places:
    try: open(place, "w").write("1")
    except OSError: pass
os.environ["CARRIED"] = "1"
model = Model()
answer = []
def tensor_hook(grad):
    if not again: raise NameError("name 'helper' is not defined")
    answer.append(grad)
model.W.register_hook(tensor_hook)
"""
_SLEEPS = """
import time
answer = []
def tensor_hook(grad):
    began = time.monotonic()
    while time.monotonic() - began < 60: pass
    answer.append(grad)
model = Model(); model.W.register_hook(tensor_hook)
"""
_GUESS_BEFORE_SETUP = """
import os
lucky = int.from_bytes(os.urandom(4), "big") % 5_000 == 0
model = Model()
answer = []
model.apply(lambda module: answer.append(type(module).__name__))
if not lucky:
    answer.reverse()
def ends(info):
    if "class TwoBranches" in info.raw_cell and not lucky:
        os._exit(3)
get_ipython().events.register("pre_run_cell", ends)
"""


def _with_an_own_cell(name: str, tries: str, answer: str, own: str) -> Attack:
    def build(scene: Scene) -> None:
        notebook = scene.notebook({"weight_grad": answer, "double_grad": HONEST["double_grad"]})
        at = next(
            i
            for i, c in enumerate(notebook["cells"])
            if c["metadata"].get("nbgrader", {}).get("grade_id") == "double_grad"
        )
        notebook["cells"].insert(at, new_cell(own))
        scene.write(notebook)

    return Attack(name, tries, "oracle", build, _LOST, exercise="weight_grad", honest=("double_grad",))


_LOST = frozenset({"failed", "error", "killed", "timeout", "not answered"})

_ORACLES = [
    cell_attack(
        "oracle", "guesses_and_ends_in_answer", "draws an answer, and ends its process in a later one for another draw",
        _GUESS + _ENDS.format(condition="not lucky"), before="", expects=_LOST,
    ),
    cell_attack(
        "oracle", "guesses_and_ends_in_setup", "draws an answer, and ends its process in the next setup cell for another draw",
        _GUESS_BEFORE_SETUP, before="", expects={"killed"}, lesson="04_apply", exercise="visit_order", honest=(),
    ),
    cell_attack(
        "oracle", "ends_once_it_was_asked", "waits until a check was asked of a wrong draw, and ends its process for another",
        _GUESS + _COUNTS + _ENDS.format(condition="asked and not lucky"), before="", expects=_LOST,
    ),
    cell_attack(
        "oracle", "raises_for_a_second_run", "raises in the first run, and answers in the second one, if it knows it",
        _RETRIES, before="", expects=_LOST,
    ),
    cell_attack(
        "oracle", "sleeps_until_killed", "has its checks time out, for a second try by another process", _SLEEPS,
        before="", expects={"timeout"},
    ),
    _with_an_own_cell(
        "own_cell_ends_setup", "a cell of its own ends the process, for an answer that is drawn again", _GUESS,
        "import os\nif not lucky: os._exit(3)\nmodel.W",
    ),
]  # fmt: skip


def _catching(catcher: str, route: str, name: str) -> Attack:
    others = {one: HONEST[one] for one in ("double_grad", "intermediate_grad")}
    functions = {"double_grad": "func", "intermediate_grad": "watch_gradient"}
    answers = caught_and_told(catcher, route, {"weight_grad": WRONG, **others}, functions)

    def build(scene: Scene) -> None:
        scene.hand_in(answers)

    tries = f"catches hidden checks by {catcher}, and brings them out as {route}"
    return Attack(name, tries, "secrets", build, _LOST, honest=tuple(others))


_PAIRS = [(catcher, "base64") for catcher in CATCHERS]
_PAIRS += [("compile", route) for route in (*ROUTES, *INSIDE, "split") if route != "base64"]

ATTACKS: list[Attack] = [
    *_ORACLES,
    *(_catching(catcher, route, f"hidden_by_{catcher}_as_{route}".replace(" ", "_")) for catcher, route in _PAIRS),
]
