"""Attacks on the notebook: its cells, its metadata and its form are the learner's to write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from tests.attacks.arsenal import WRONG, Attack, Scene, attack, new_cell

Notebook = dict[str, Any]
_GRADED = ("failed", "error", "not answered")


def _edited(name: str, tries: str, edit: Callable[[Scene, Notebook], object], **more: Any) -> Attack:
    """A wrong answer to weight_grad, an honest one to double_grad, and the notebook's JSON edited."""
    return attack("notebook", name, tries, edit=edit, **{"expects": _GRADED, "keeps": True, **more})


def _graded(**changes: object) -> dict[str, Any]:
    """What nbgrader writes into a cell."""
    return {"grade": True, "solution": False, "locked": True, "schema_version": 3, "task": False, **changes}


_EDITS: dict[str, dict[str, Any]] = {
    "tagged skip-execution": {"tags": ["skip-execution"]},
    "markdown": {"cell_type": "markdown"},
    "raw": {"cell_type": "raw"},
    "emptied": {"source": "pass"},
    "a hundred points": {"points": 100},
    "points that are no number": {"points": "NaN"},
    "with a forged checksum": {"checksum": "d41d8cd98f00b204e9800998ecf8427e", "source": "pass"},
    "unlocked solutions": {"locked": False, "solution": True, "grade": False, "source": "pass"},
    "of an older schema": {"schema_version": 1},
}
"""What a test cell can be made: by where a change belongs, it is the cell's, its metadata's or its marks'."""


def _tests_edited(first: str) -> Callable[[Scene, Notebook], None]:
    """Each test cell in another way, the attacked one in this."""

    def edit(scene: Scene, notebook: Notebook) -> None:
        ways = list(_EDITS)
        at = ways.index(first)
        for number, cell in enumerate(scene.tests(notebook)):
            for key, value in _EDITS[ways[(at + number) % len(ways)]].items():
                marks = cell["metadata"] if key == "tags" else cell["metadata"]["nbgrader"]
                (cell if key in cell else marks).update({key: value})

    return edit


_PATCH = "import nbproof.checks.check\nnbproof.checks.check.check = lambda *a, **k: None\n"


def _delete_tests(scene: Scene, notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def _tests_first_and_twice(scene: Scene, notebook: Notebook) -> None:
    notebook["cells"].sort(key=lambda cell: not cell["metadata"].get("nbgrader", {}).get("grade"))
    for cell in scene.tests(notebook):
        notebook["cells"].append({**cell, "source": "pass", "id": cell["id"] + "b"})
        notebook["cells"].insert(0, {**cell, "source": "pass", "id": cell["id"] + "c"})


def _answers_twice(scene: Scene, notebook: Notebook) -> None:
    cell = scene.cell(notebook, "weight_grad")
    notebook["cells"] += [{**cell, "source": _PATCH, "id": "again"}] * 3


def _setup_replaced(scene: Scene, notebook: Notebook) -> None:
    scene.cell(notebook, "setup_imports")["source"] += "\n" + _PATCH
    twin = {**new_cell(_PATCH), "metadata": {"nbgrader": _graded(grade_id="setup_imports", grade=False)}}
    notebook["cells"].insert(0, twin)


def _pretends_to_be_tests(scene: Scene, notebook: Notebook) -> None:
    _delete_tests(scene, notebook)
    for number, name in enumerate(("test_weight_grad", "test_double_grad")):
        marks = _graded(grade_id=name, solution=True, locked=False, points=2)
        notebook["cells"].append({**new_cell("pass", number), "metadata": {"nbgrader": marks}})


def _metadata_bomb(scene: Scene, notebook: Notebook) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"deeper": deep}
    notebook["metadata"].update(deep=deep, wide={str(n): n for n in range(20_000)})
    scene.cell(notebook, "test_weight_grad")["metadata"].update(deep=deep)


def _odd_metadata(scene: Scene, notebook: Notebook) -> bytes:
    ids = [{"grade_id": one} for one in (None, ["weight_grad"], {"a": 1}, 10**40)]
    for number, marks in enumerate([None, [], 5, "text", *ids]):
        notebook["cells"].append({**new_cell(f"odd = {number}", number), "metadata": {"nbgrader": marks}})
    odd = new_cell("odd", 99)
    notebook["cells"] += [{**odd, "metadata": []}, {**odd, "id": 7.5}, {"cell_type": "code"}, None, 3, "cell"]
    return json.dumps(notebook).replace('"id": 7.5', '"id": NaN').encode()


def _kernel(scene: Scene, notebook: Notebook) -> None:
    path = {"name": "../../../../tmp/evil", "argv": ["/bin/sh", "-c", "id"], "display_name": "<script>1</script>"}
    notebook["metadata"]["kernelspec"] = {**path, "language": "bash"}
    notebook["metadata"]["language_info"] = {"name": "bash", "codemirror_mode": {"name": "../../x"}}


def _outputs_filled_in(scene: Scene, notebook: Notebook) -> None:
    five = {"output_type": "execute_result", "data": {"text/plain": "5"}, "metadata": {}, "execution_count": 1}
    for cell in scene.tests(notebook):
        cell.update(outputs=[five], execution_count=1)


def _fifty_megabytes(scene: Scene, notebook: Notebook) -> None:
    line = "x" * 1000 + "\n"
    notebook["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [line] * 50_000}]


def _strays(*texts: str) -> Callable[[Scene, Notebook], None]:
    """Where the TODO cells were: cells that an honest search by content would look through."""

    def edit(scene: Scene, notebook: Notebook) -> None:
        kept = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
        notebook["cells"] = kept + [new_cell(text, number) for number, text in enumerate(texts)]

    return edit


_LOOKS_RIGHT = [f"model = Model()\nanswer = []\ndef tensor_hook(grad): pass  # {n}" for n in range(8_000)]


def _answer_source(source: object) -> Callable[[Scene, Notebook], None]:
    def edit(scene: Scene, notebook: Notebook) -> None:
        scene.cell(notebook, "weight_grad")["source"] = source

    return edit


def _twice_the_key(scene: Scene, notebook: Notebook) -> bytes:
    hollow = {**notebook, "cells": []}
    return (json.dumps(hollow)[:-1] + ', "cells": ' + json.dumps(notebook["cells"]) + ', "cells": {"a": 1}}').encode()


def _raw(name: str, tries: str, make: Callable[[Scene], object]) -> Attack:
    """A submission whose notebook is whatever ``make`` leaves there."""
    return Attack(name, tries, "notebook", make, frozenset({"not graded"}))


def _links(*parts: str) -> Callable[[Scene], None]:
    return lambda scene: scene.path.symlink_to(scene.root.joinpath(*parts, scene.lesson, scene.path.name))


def _links_the_folder(scene: Scene) -> None:
    place = scene.folder
    place.rmdir()
    place.symlink_to(scene.root / "submitted" / "honest_full" / scene.lesson)


_deep = b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b', "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

ATTACKS = [
    *(_edited(f"tests_{way.replace(' ', '_').replace('-', '_')}", f"hands in test cells that are {way}", _tests_edited(way))
      for way in ("tagged skip-execution", "emptied", "unlocked solutions")),
    _edited("tests_deleted", "deletes the test cells", _delete_tests),
    _edited("tests_first_and_twice", "moves the test cells to the top, each beside two empty ones", _tests_first_and_twice),
    _edited("answers_pretend_to_be_tests", "hands in cells of its own under the test cells' ids", _pretends_to_be_tests),
    _edited("answer_cell_thrice", "hands in the TODO cell four times, with an attack in the later ones", _answers_twice),
    _edited("setup_replaced", "puts an attack into the read-only cell, and in another of its id", _setup_replaced),
    _edited("metadata_bomb", "deep and wide metadata", _metadata_bomb),
    _edited("metadata_of_odd_types", "ids that are null, lists, NaN; cells that are no cells", _odd_metadata, expects=(*_GRADED, "not graded")),
    _edited("kernelspec_path", "asks for another kernel, by path, with an argv of its own", _kernel),
    _edited("outputs_filled_in", "hands in test cells whose output says 5 already", _outputs_filled_in),
    _edited("fifty_megabytes", "hands in a notebook of 50 MB", _fifty_megabytes, expects=(*_GRADED, "not graded"), keeps=False),
    _edited("eight_thousand_strays", "deletes the TODO cells and adds 8000 cells that look like them", _strays(*_LOOKS_RIGHT),
            expects=(*_GRADED, "uncertain"), keeps=False),
    _edited("stray_of_deep_syntax", "a cell whose syntax tree is 100 000 deep", _strays("a" + ".b" * 100_000), keeps=False),
    _edited("source_with_surrogates", "half a surrogate pair, and NUL, in an answer", _answer_source(WRONG + "x = '\ud800'\0")),
    _edited("source_of_odd_type", "an answer that is a nested list with numbers", _answer_source([["a"], 5, None, {"x": 1}, "answer = []"])),
    _edited("keys_given_twice", "JSON that gives its cells three times", _twice_the_key, expects=("not graded",), keeps=False),
    _edited("nbformat_999", "claims a notebook format of the future", lambda scene, nb: nb.update(nbformat=999, nbformat_minor=-1),
            expects=(*_GRADED, "not graded")),
    _raw("deep_json", "JSON that is nested 200 000 deep", lambda scene: scene.write(_deep)),
    _raw("not_json", "a file that is no JSON", lambda scene: scene.write(b"\x00\xff\xfe not a notebook")),
    _raw("a_folder", "a folder where the notebook should be", lambda scene: scene.path.mkdir()),
    _raw("a_pipe", "a named pipe where the notebook should be", lambda scene: os.mkfifo(scene.path)),
    _raw("a_device", "a link to /dev/zero where the notebook should be", lambda scene: scene.path.symlink_to("/dev/zero")),
    _raw("a_terabyte", "a sparse file of a terabyte", lambda scene: os.truncate(scene.file(scene.path.name), 1 << 40)),
    _raw("links_to_the_neighbour", "a link to the notebook of somebody with full marks", _links("submitted", "honest_full")),
    _raw("links_to_the_source", "a link to the instructor's notebook", _links("source")),
    _raw("folder_links_to_the_neighbour", "a link to the whole folder of somebody with full marks", _links_the_folder),
]  # fmt: skip
