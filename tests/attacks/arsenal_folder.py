"""Attacks by what lies beside the notebook: files, links, names, timestamps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from tests.attacks.arsenal import FAIR, WRONG, Attack, Scene, attack


def _beside(name: str, tries: str, make: Callable[[Scene], object], *, code: str = "") -> Attack:
    """A wrong answer to weight_grad, an honest one to double_grad, and something beside the notebook."""
    answers = {**FAIR, "weight_grad": WRONG + code}
    return attack("folder", name, tries, answers, lambda scene, notebook: make(scene), keeps=True)


_EVIL = b"def check(*a, **k): pass\nclass Check: pass\ndef __getattr__(name): return lambda *a, **k: True\n"
_MODULES = """
torch.py course/__init__.py nbproof/checks/check.py sitecustomize.py usercustomize.py json.py struct.py socket.py
numpy/__init__.py IPython/__init__.py ast.py
"""
_PATCHES = b"import nbproof.checks.check\nnbproof.checks.check.check = lambda *a, **k: None\n"
_ENDS = b"c = get_config()\nc.InteractiveShellApp.exec_lines = ['1/0']\n"
_SETTINGS = {
    ".ipython/profile_default/startup/00.py": _PATCHES,
    ".ipython/profile_default/ipython_config.py": _ENDS,
    "ipython_config.py": _ENDS,
    "nbgrader_config.py": b"c = get_config()\nc.ExecutePreprocessor.enabled = False\n",
    "matplotlibrc": b"backend: module://evil\n",
    "evil.py": _PATCHES,
    "conftest.py": _PATCHES,
}
_VERDICT = (
    b'{"handed_in": "x", "source": "x", "learner": "x", "lesson": "02_tensor_hooks", "exercises": [], "score": 12}'
)
_VERDICTS = dict.fromkeys((".verdict.json", "verdict.json", "results.json", "02_tensor_hooks.verdict.json"), _VERDICT)
_ODD_NAMES = (b"new\nline", b"\xff\xfe", b"\x1b[2Jred", b"<img src=x onerror=alert(1)>", b"a" * 250, b"-rf")
_READ = """
import os, glob
for place, folders, files in os.walk(".", followlinks=True):
    for name in files:
        try: print(name, open(os.path.join(place, name), errors="replace").read(3000000)[-200000:])
        except OSError as error: print(name, error)
"""
_TARGETS = (
    "@ROOT@/source/02_tensor_hooks/02_tensor_hooks.ipynb", "@ROOT@/gradebook.db", "@ROOT@/gradebook_notes.txt",
    "@ROOT@/submitted/honest_full/02_tensor_hooks/02_tensor_hooks.ipynb", "@ROOT@/lessons/02_tensor_hooks/lesson.py",
    "@HOME@", "@ROOT@", "/etc", "/proc/self", "/",
)  # fmt: skip


def _links(scene: Scene) -> None:
    for number, target in enumerate(_TARGETS):
        (scene.folder / f"link{number}").symlink_to(scene.fill(target))
    os.link(scene.root / "nbgrader_config.py", scene.folder / "linked.py")


def _deep_folders(scene: Scene) -> None:
    """One folder in another, deeper than any path is long."""
    here = os.open(scene.folder, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def _odd_learner(scene: Scene) -> None:
    """Somebody whose name is no text, beside the attacker."""
    folder = os.path.join(os.fsencode(scene.root), b"submitted", b"\xff\xfename", os.fsencode(scene.lesson))
    os.makedirs(folder)
    with open(os.path.join(folder, os.fsencode(scene.path.name)), "wb") as file:
        file.write(json.dumps(scene.notebook(FAIR)).encode())


ATTACKS = [
    _beside("modules_of_its_own", "hands in a torch.py, a course package, a json.py ... to be imported instead",
            lambda scene: [scene.file(name, _EVIL) for name in _MODULES.split()]),
    _beside("settings_of_its_own", "hands in settings for IPython, nbgrader, matplotlib and pytest",
            lambda scene: [scene.file(*one) for one in _SETTINGS.items()], code="import os\nprint(os.path.expanduser('~'))\n"),
    _beside("verdict_handed_in", "hands in journals and results files with full marks",
            lambda scene: [scene.file(*one) for one in _VERDICTS.items()]),
    _beside("files_are_links", "hands in links to source, gradebook, the neighbour and /etc, and prints what they hold", _links, code=_READ),
    _beside("file_is_a_pipe", "hands in a named pipe as a data file", lambda scene: os.mkfifo(scene.folder / "data.csv")),
    _beside("file_is_a_terabyte", "hands in a sparse data file of a terabyte",
            lambda scene: os.truncate(scene.file("data.bin"), 1 << 40)),
    _beside("twenty_thousand_files", "hands in 20 000 empty files", lambda scene: [
            scene.file(f"f/{n:06d}" + "x" * 80) for n in range(20_000)]),
    _beside("folders_without_end", "hands in 3000 folders one in another", _deep_folders),
    _beside("names_that_are_no_text", "hands in files whose names hold control characters, HTML and broken UTF-8",
            lambda scene: [scene.file(name, b"data") for name in _ODD_NAMES]),
    _beside("learner_whose_name_is_no_text", "hands in under a learner's name that is no UTF-8", _odd_learner),
    _beside("timestamp_is_a_pipe", "hands in a timestamp.txt that never answers", lambda scene: os.mkfifo(scene.folder / "timestamp.txt")),
    _beside("timestamp_out_of_range", "hands in a timestamp beyond the calendar", lambda scene: scene.file("timestamp.txt", b"9999-12-31 23:59:59 -2300")),
]  # fmt: skip
