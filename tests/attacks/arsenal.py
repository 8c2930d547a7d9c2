"""What an attack is, and the scene in which it hands in: ``submitted/<learner>/<lesson>/`` of a temporary course.

It stands in the TODO cell, or in a cell of the learner's own, which runs where theirs do.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LESSON = "02_tensor_hooks"

HONEST: dict[str, str] = {
    "weight_grad": (
        "model = Model()\nanswer = []\n\n\ndef tensor_hook(grad):\n    answer.append(grad)\n\n\n"
        "model.W.register_hook(tensor_hook)"
    ),
    "double_grad": "def func(grad):\n    return grad * 2",
    "intermediate_grad": (
        "def watch_gradient(tensor: torch.Tensor) -> list:\n    seen = []\n"
        "    tensor.register_hook(lambda grad: seen.append(grad.clone()))\n    return seen"
    ),
}
"""Right answers, by exercise."""

WRONG = (
    "model = Model()\nanswer = []\n\n\ndef tensor_hook(grad):\n    answer.append(grad * 0)\n\n\n"
    "model.W.register_hook(tensor_hook)\n"
)
"""An answer to weight_grad that deserves nothing, to stand in front of an attack."""


def place_of(cells: Sequence[dict[str, Any]], grade_id: str) -> int:
    """Where the cell with this grade_id stands."""
    return next(at for at, one in enumerate(cells) if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


@dataclass
class Scene:
    """Where one attacker hands in."""

    root: Path
    targets: Mapping[str, object]
    """What an attacker of this machine would know or guess, places and listeners: for ``@HOME@``, ``@TCP@`` and so on."""
    learner: str
    lesson: str
    release: Mapping[str, Any]
    """The student version of the lesson, as JSON data."""

    def fill(self, text: str) -> str:
        """Put the targets into an attack's text."""
        for name, value in {"root": self.root, **self.targets}.items():
            text = text.replace(f"@{name.upper()}@", str(value))
        return text

    @property
    def folder(self) -> Path:
        """``submitted/<learner>/<lesson>``, made on first use."""
        path = self.root / "submitted" / self.learner / self.lesson
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def path(self) -> Path:
        """The notebook's place."""
        return self.folder / f"{self.lesson}.ipynb"

    def notebook(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """The student version with these answers, to be changed further."""
        notebook: dict[str, Any] = copy.deepcopy(dict(self.release))
        for name, text in answers.items():
            self.cell(notebook, name)["source"] = self.fill(text)
        return notebook

    def cell(self, notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
        """The cell with this grade_id."""
        found: dict[str, Any] = notebook["cells"][place_of(notebook["cells"], grade_id)]
        return found

    def tests(self, notebook: dict[str, Any]) -> list[dict[str, Any]]:
        """All autograder-tests cells."""
        return [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]

    def write(self, notebook: Mapping[str, Any] | bytes) -> None:
        """Hand it in."""
        data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
        self.path.write_bytes(data)

    def file(self, name: str | bytes, data: bytes = b"") -> Path:
        """One more file in the submission."""
        path = Path(os.fsdecode(os.path.join(os.fsencode(self.folder), os.fsencode(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@dataclass(frozen=True)
class Attack:
    """One attack, as a submission."""

    name: str
    """What it tries, as a learner's name."""
    tries: str
    family: str
    build: Callable[[Scene], None]
    expects: frozenset[str]
    """Statuses that the attacked exercise may end with, or 'not graded'."""
    lesson: str = LESSON
    exercise: str = "weight_grad"
    honest: tuple[str, ...] = ()
    """Exercises that it answers honestly."""
    keeps: bool = False
    """Whether the honest ones must keep their marks: the attack does not reach what is another exercise's."""
    text: str = ""
    """The TODO cell's whole text, where the attack is nothing else."""
    runs: bool = False
    """Whether a cell of the learner's own has to run, in which it stands: else it has tried nothing."""


FAIR = {"weight_grad": WRONG, "double_grad": HONEST["double_grad"]}


def attack(
    family: str,
    name: str,
    tries: str,
    answers: Mapping[str, str] = FAIR,
    edit: Callable[[Scene, dict[str, Any]], object] | None = None,
    *,
    expects: Iterable[str] = ("failed", "error"),
    lesson: str = LESSON,
    exercise: str = "weight_grad",
    keeps: bool = False,
    runs: bool = False,
) -> Attack:
    """An attack by these answers, of which all but one are honest, and by what ``edit`` makes of the notebook, or beside it.

    ``edit`` changes the notebook, or returns the bytes to hand in instead.
    """

    def build(scene: Scene) -> None:
        notebook = scene.notebook(answers)
        made = edit(scene, notebook) if edit is not None else None
        scene.write(made if isinstance(made, bytes) else notebook)

    honest = tuple(one for one in answers if one != exercise)
    text = answers[exercise]
    return Attack(name, tries, family, build, frozenset(expects), lesson, exercise, honest, keeps, text, runs)


_PROGRAMS = Path(__file__).with_name("programs")


def programs(name: str, family: str, **usual: Any) -> list[Attack]:
    """The attacks in a file of programs, each below a line ``# %% name``, one with what it tries and one with settings.

    ``begins``: what of beginnings.txt stands in front of it. ``alone``: no wrong answer does. ``usual``: what it is where its
    settings say nothing.
    """
    beginnings = cells_of(_PROGRAMS / "beginnings.txt")
    found = []
    for called, text in cells_of(_PROGRAMS / f"{name}.txt").items():
        head, _, body = text.partition("\n\n")
        tries, *more = (line.removeprefix("# ") for line in head.splitlines())
        settings = dict(one.split(": ") for one in (more[0].split(" | ") if more else ()))
        options = dict(usual)
        lesson, _, exercise = settings.get("exercise", f"{LESSON}/weight_grad").partition("/")
        options |= {"expects": settings["expects"].split(", ")} if "expects" in settings else {}
        options |= {"keeps": settings["keeps"] == "yes"} if "keeps" in settings else {}
        begins = ["" if "alone" in settings else WRONG]
        begins += [beginnings[one] for one in settings.get("begins", "").split(", ") if one]
        answers = {exercise: "\n".join([*begins, body])}
        others = {} if "exercise" in settings else {"double_grad": HONEST["double_grad"]}
        found.append(attack(family, called, tries, answers | others, lesson=lesson, exercise=exercise, **options))
    return found


def cells_of(path: Path) -> dict[str, str]:
    """The texts in a file, each below a line ``# %% name``."""
    cells = (
        cell.partition("\n") for cell in re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    )
    return {title: body.strip("\n") + "\n" for title, _, body in cells}


def new_cell(source: str, number: int = 0) -> dict[str, Any]:
    """A code cell of the learner's own."""
    told = {"cell_type": "code", "id": f"mine-{number}", "metadata": {}, "outputs": [], "execution_count": None}
    return {**told, "source": source}
