"""Attacks by what lies beside the notebook: files, links, names, timestamps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from tests.attacks.arsenal import HONEST, WRONG, Attack, Scene

_GRADED = ("failed", "error")


def _beside(
    name: str, tries: str, make: Callable[[Scene], object], *, code: str = "", expects: Iterable[str] = _GRADED,
    keeps: bool = True,
) -> Attack:  # fmt: skip
    """A wrong answer to weight_grad, an honest one to double_grad, and something beside the notebook."""

    def build(scene: Scene) -> None:
        scene.hand_in({"weight_grad": WRONG + code, "double_grad": HONEST["double_grad"]})
        make(scene)

    return Attack(name, tries, "folder", build, frozenset(expects), honest=("double_grad",), keeps=keeps)


_EVIL = b"def check(*a, **k): pass\nclass Check: pass\ndef __getattr__(name): return lambda *a, **k: True\n"
_READ = """
import os, glob
for place, folders, files in os.walk(".", followlinks=True):
    for name in files:
        try: print(name, open(os.path.join(place, name), errors="replace").read(3000000)[-200000:])
        except OSError as error: print(name, error)
"""


def _modules(scene: Scene) -> None:
    for name in ("torch.py", "course/__init__.py", "nbproof/checks/check.py", "sitecustomize.py", "usercustomize.py", "json.py", "struct.py",
                 "socket.py", "numpy/__init__.py", "IPython/__init__.py", "ast.py"):  # fmt: skip
        scene.file(name, _EVIL)


def _settings(scene: Scene) -> None:
    evil = b"import nbproof.checks.check\nnbproof.checks.check.check = lambda *a, **k: None\n"
    scene.file(".ipython/profile_default/startup/00.py", evil)
    scene.file(
        ".ipython/profile_default/ipython_config.py", b"c = get_config()\nc.InteractiveShellApp.exec_lines = ['1/0']\n"
    )
    scene.file("ipython_config.py", b"c = get_config()\nc.InteractiveShellApp.exec_lines = ['1/0']\n")
    scene.file("nbgrader_config.py", b"c = get_config()\nc.ExecutePreprocessor.enabled = False\n")
    scene.file("matplotlibrc", b"backend: module://evil\n")
    scene.file("evil.py", evil)
    scene.file("conftest.py", evil)


def _forged_verdict(scene: Scene) -> None:
    text = b'{"digest": "x", "verdict": {"learner": "x", "lesson": "02_tensor_hooks", "exercises": [], "score": 12}}'
    for name in (".verdict.json", "verdict.json", "results.json", f"{scene.lesson}.verdict.json"):
        scene.file(name, text)


def _deep_folders(scene: Scene) -> None:
    """One folder in another, deeper than any path is long."""
    here = os.open(scene.folder, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def _odd_names(scene: Scene) -> None:
    for name in (
        b"new\nline",
        b"\xff\xfe",
        b"\x1b[2J\x1b[31mred",
        b"<img src=x onerror=alert(1)>",
        b"a" * 250,
        b"-rf",
        b"...",
    ):
        scene.file(name, b"data")


def _odd_learner(scene: Scene) -> None:
    """Somebody whose name is no text, beside the attacker."""
    notebook = scene.path.read_bytes()
    folder = os.path.join(os.fsencode(scene.targets.root), b"submitted", b"\xff\xfename", os.fsencode(scene.lesson))
    os.makedirs(folder)
    with open(os.path.join(folder, os.fsencode(scene.path.name)), "wb") as file:
        file.write(notebook)


def _sealed_folder(scene: Scene) -> None:
    scene.file("closed/data.txt", b"data")
    os.chmod(scene.folder / "closed", 0)


ATTACKS = [
    _beside("modules_of_its_own", "hands in a torch.py, a course package, a json.py ... to be imported instead", _modules),
    _beside("settings_of_its_own", "hands in settings for IPython, nbgrader, matplotlib and pytest", _settings,
            code="import os\nprint(os.path.expanduser('~'))\n"),
    _beside("verdict_handed_in", "hands in journals and results files with full marks", _forged_verdict),
    _beside("files_are_links", "hands in links to source, gradebook, the neighbour and /etc, and prints what they hold",
            lambda scene: [scene.link(f"link{n}", target) for n, target in enumerate((
                "@ROOT@/source/02_tensor_hooks/02_tensor_hooks.ipynb", "@ROOT@/gradebook.db", "@ROOT@/gradebook_notes.txt",
                "@ROOT@/submitted/honest_full/02_tensor_hooks/02_tensor_hooks.ipynb", "@ROOT@/lessons/02_tensor_hooks/lesson.py",
                "@HOME@", "@ROOT@", "/etc", "/proc/self", "/"))], code=_READ),
    _beside("file_is_a_hard_link", "hands in a hard link to a file of the course",
            lambda scene: os.link(scene.targets.root / "nbgrader_config.py", scene.folder / "linked.py"), code=_READ),
    _beside("file_is_a_pipe", "hands in a named pipe as a data file", lambda scene: os.mkfifo(scene.folder / "data.csv")),
    _beside("file_is_a_terabyte", "hands in a sparse data file of a terabyte",
            lambda scene: os.truncate(scene.file("data.bin"), 1 << 40)),
    _beside("files_of_twelve_megabytes", "hands in as many data as are allowed", lambda scene: [
            scene.file(f"data{n}.bin", bytes(4 << 20)) for n in range(3)]),
    _beside("twenty_thousand_files", "hands in 20 000 empty files", lambda scene: [
            scene.file(f"f/{n:06d}" + "x" * 80) for n in range(20_000)]),
    _beside("folders_without_end", "hands in 3000 folders one in another", _deep_folders),
    _beside("folder_that_is_closed", "hands in a folder that nobody may open", _sealed_folder),
    _beside("names_that_are_no_text", "hands in files whose names hold control characters, HTML and broken UTF-8", _odd_names),
    _beside("learner_whose_name_is_no_text", "hands in under a learner's name that is no UTF-8", _odd_learner),
    _beside("timestamp_is_no_time", "hands in a timestamp.txt that is no time", lambda scene: scene.file("timestamp.txt", b"the day before yesterday <b>")),
    _beside("timestamp_is_no_text", "hands in a timestamp.txt that is no text", lambda scene: scene.file("timestamp.txt", b"\xff\x00\xfe")),
    _beside("timestamp_is_huge", "hands in a timestamp.txt of a sparse terabyte",
            lambda scene: os.truncate(scene.file("timestamp.txt"), 1 << 40)),
    _beside("timestamp_is_a_pipe", "hands in a timestamp.txt that never answers", lambda scene: os.mkfifo(scene.folder / "timestamp.txt")),
    _beside("timestamp_out_of_range", "hands in a timestamp beyond the calendar", lambda scene: scene.file("timestamp.txt", b"9999-12-31 23:59:59 -2300")),
]  # fmt: skip
