"""Attacks on the notebook: its cells, its metadata and its form are the learner's to write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from tests.attacks.arsenal import HONEST, WRONG, Attack, Scene

Notebook = dict[str, Any]
_GRADED = ("failed", "error", "not answered")


def _edited(
    name: str, tries: str, edit: Callable[[Scene, Notebook], object], *, expects: Iterable[str] = _GRADED,
    keeps: bool = True,
) -> Attack:  # fmt: skip
    """A wrong answer to weight_grad, an honest one to double_grad, and the notebook's JSON edited."""

    def build(scene: Scene) -> None:
        notebook = scene.notebook({"weight_grad": WRONG, "double_grad": HONEST["double_grad"]})
        edited = edit(scene, notebook)
        scene.write(edited if isinstance(edited, bytes) else notebook)

    return Attack(name, tries, "notebook", build, frozenset(expects), honest=("double_grad",), keeps=keeps)


def _each_test(change: Callable[[dict[str, Any]], object]) -> Callable[[Scene, Notebook], None]:
    def edit(scene: Scene, notebook: Notebook) -> None:
        for cell in scene.tests(notebook):
            change(cell)

    return edit


def _code(source: str, **grading: object) -> dict[str, Any]:
    metadata = {"nbgrader": grading} if grading else {}
    return {"cell_type": "code", "id": "x" + str(abs(hash(source)) % 10**6), "metadata": metadata, "outputs": [],
            "execution_count": None, "source": source}  # fmt: skip


def _grading(cell: dict[str, Any], **changes: object) -> None:
    cell["metadata"]["nbgrader"].update(changes)


_PATCH = "import nbproof.checks.check\nnbproof.checks.check.check = lambda *a, **k: None\n"


def _delete_tests(scene: Scene, notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def _tests_first(scene: Scene, notebook: Notebook) -> None:
    notebook["cells"].sort(key=lambda cell: not cell["metadata"].get("nbgrader", {}).get("grade"))


def _tests_twice(scene: Scene, notebook: Notebook) -> None:
    for cell in scene.tests(notebook):
        notebook["cells"].append({**cell, "source": "pass", "id": cell["id"] + "b"})
        notebook["cells"].insert(0, {**cell, "source": "pass", "id": cell["id"] + "c"})


def _answers_twice(scene: Scene, notebook: Notebook) -> None:
    cell = scene.cell(notebook, "weight_grad")
    notebook["cells"] += [{**cell, "source": _PATCH, "id": "again"}] * 3


def _extra_cells(scene: Scene, notebook: Notebook) -> None:
    notebook["cells"].insert(0, _code(_PATCH))
    notebook["cells"].append(_code("import os; os._exit(0)"))


def _setup_replaced(scene: Scene, notebook: Notebook) -> None:
    scene.cell(notebook, "setup_imports")["source"] += "\n" + _PATCH
    notebook["cells"].insert(
        0,
        _code(_PATCH, grade_id="setup_imports", grade=False, solution=False, locked=True, schema_version=3, task=False),
    )


def _pretends_to_be_tests(scene: Scene, notebook: Notebook) -> None:
    _delete_tests(scene, notebook)
    for name in ("test_weight_grad", "test_double_grad"):
        grading = {
            "grade_id": name,
            "grade": True,
            "solution": True,
            "locked": False,
            "points": 2,
            "schema_version": 3,
            "task": False,
        }
        notebook["cells"].append(_code("pass", **grading))


def _metadata_bomb(scene: Scene, notebook: Notebook) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"deeper": deep}
    notebook["metadata"].update(deep=deep, wide={str(n): n for n in range(20_000)})
    scene.cell(notebook, "test_weight_grad")["metadata"].update(deep=deep)


def _odd_metadata(scene: Scene, notebook: Notebook) -> bytes:
    odd = [
        None,
        [],
        5,
        "text",
        {"grade_id": None},
        {"grade_id": ["weight_grad"]},
        {"grade_id": {"a": 1}},
        {"grade_id": 10**40},
    ]
    for number, grading in enumerate(odd):
        notebook["cells"].append({**_code(f"odd = {number}"), "metadata": {"nbgrader": grading}})
    notebook["cells"] += [{**_code("odd"), "metadata": []}, {**_code("odd"), "id": 7.5}, {"cell_type": "code"}, None, 3, "cell"]  # fmt: skip
    return json.dumps(notebook).replace('"id": 7.5', '"id": NaN').encode()


def _kernel(**spec: object) -> Callable[[Scene, Notebook], None]:
    def edit(scene: Scene, notebook: Notebook) -> None:
        notebook["metadata"]["kernelspec"] = spec
        notebook["metadata"]["language_info"] = {"name": "bash", "codemirror_mode": {"name": "../../x"}}

    return edit


def _outputs_filled_in(scene: Scene, notebook: Notebook) -> None:
    for cell in scene.tests(notebook):
        cell["outputs"] = [
            {"output_type": "execute_result", "data": {"text/plain": "5"}, "metadata": {}, "execution_count": 1}
        ]
        cell["execution_count"] = 1


def _fifty_megabytes(scene: Scene, notebook: Notebook) -> None:
    line = "x" * 1000 + "\n"
    notebook["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [line] * 50_000}]


def _many_strays(scene: Scene, notebook: Notebook) -> None:
    """Stray cells that an honest search by content would look through."""
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
    notebook["cells"] += [
        _code(f"model = Model()\nanswer = []\ndef tensor_hook(grad): pass  # {n}") for n in range(8_000)
    ]


def _one_giant_stray(source: str) -> Callable[[Scene, Notebook], None]:
    def edit(scene: Scene, notebook: Notebook) -> None:
        notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get("solution")]
        notebook["cells"].append(_code(source))

    return edit


def _answer_source(source: object) -> Callable[[Scene, Notebook], None]:
    def edit(scene: Scene, notebook: Notebook) -> None:
        scene.cell(notebook, "weight_grad")["source"] = source

    return edit


def _twice_the_key(scene: Scene, notebook: Notebook) -> bytes:
    hollow = {**notebook, "cells": []}
    return (json.dumps(hollow)[:-1] + ', "cells": ' + json.dumps(notebook["cells"]) + ', "cells": {"a": 1}}').encode()


def _raw(name: str, tries: str, make: Callable[[Scene], object], *, expects: Iterable[str] = ("not graded",)) -> Attack:
    """A submission whose notebook is whatever ``make`` leaves there."""

    def build(scene: Scene) -> None:
        data = make(scene)
        if isinstance(data, bytes):
            scene.write(data)

    return Attack(name, tries, "notebook", build, frozenset(expects))


def _links_the_folder(scene: Scene) -> None:
    place = scene.folder
    place.rmdir()
    place.symlink_to(scene.targets.root / "submitted" / "honest_full" / scene.lesson)


_deep = b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b', "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
_huge = b'{"cells": [], "metadata": {"n": 1' + b"0" * 100_000 + b'}, "nbformat": 4, "nbformat_minor": 5}'

ATTACKS = [
    _edited("tag_skip_execution", "tags every test cell with skip-execution: no output, full marks in nbgrader",
            _each_test(lambda cell: cell["metadata"].update(tags=["skip-execution"]))),
    _edited("tests_become_markdown", "turns the test cells into markdown",
            _each_test(lambda cell: cell.update(cell_type="markdown"))),
    _edited("tests_become_raw", "turns the test cells into raw cells", _each_test(lambda cell: cell.update(cell_type="raw"))),
    _edited("tests_deleted", "deletes the test cells", _delete_tests),
    _edited("tests_emptied", "replaces the text of the test cells by pass", _each_test(lambda cell: cell.update(source="pass"))),
    _edited("tests_doubled", "hands in each test cell three times, two of them empty", _tests_twice),
    _edited("tests_first", "moves the test cells in front of everything", _tests_first),
    _edited("points_raised", "gives each test cell a hundred points", _each_test(lambda cell: _grading(cell, points=100))),
    _edited("points_negative_and_nan", "gives test cells points that are no numbers", _each_test(lambda cell: _grading(cell, points="NaN"))),
    _edited("checksum_forged", "edits the test cells and forges their checksums",
            _each_test(lambda cell: (_grading(cell, checksum="d41d8cd98f00b204e9800998ecf8427e"), cell.update(source="pass")))),
    _edited("tests_unlocked", "makes the test cells unlocked solution cells",
            _each_test(lambda cell: (_grading(cell, locked=False, solution=True, grade=False), cell.update(source="pass")))),
    _edited("schema_version_old", "claims an older nbgrader schema", _each_test(lambda cell: _grading(cell, schema_version=1))),
    _edited("answers_pretend_to_be_tests", "hands in cells of its own under the test cells' ids", _pretends_to_be_tests),
    _edited("answer_cell_thrice", "hands in the TODO cell four times, with an attack in the later ones", _answers_twice),
    _edited("setup_replaced", "puts an attack into the read-only cell, and in another of its id", _setup_replaced),
    _edited("cells_of_its_own", "adds cells that patch the checks and end the process", _extra_cells),
    _edited("metadata_bomb", "deep and wide metadata", _metadata_bomb),
    _edited("metadata_of_odd_types", "ids that are null, lists, NaN; cells that are no cells", _odd_metadata, expects=(*_GRADED, "not graded")),
    _edited("kernelspec_bash", "asks for another kernel", _kernel(name="bash", display_name="Bash", language="bash")),
    _edited("kernelspec_path", "asks for a kernel by path, with an argv of its own",
            _kernel(name="../../../../tmp/evil", argv=["/bin/sh", "-c", "id"], display_name="<script>1</script>", language="python")),
    _edited("outputs_filled_in", "hands in test cells whose output says 5 already", _outputs_filled_in),
    _edited("fifty_megabytes", "hands in a notebook of 50 MB", _fifty_megabytes, expects=(*_GRADED, "not graded"), keeps=False),
    _edited("eight_thousand_strays", "deletes the TODO cells and adds 8000 cells that look like them", _many_strays,
            expects=(*_GRADED, "uncertain"), keeps=False),
    _edited("one_giant_stray", "one cell of half a million statements where the TODO cells were", _one_giant_stray("a;" * 500_000),
            keeps=False),
    _edited("stray_of_deep_syntax", "a cell whose syntax tree is 100 000 deep", _one_giant_stray("a" + ".b" * 100_000), keeps=False),
    _edited("source_with_surrogates", "half a surrogate pair in an answer", _answer_source(WRONG + "x = '\ud800'")),
    _edited("source_with_nul", "NUL bytes in an answer", _answer_source(WRONG + "\0\0")),
    _edited("source_of_odd_type", "an answer that is a nested list with numbers", _answer_source([["a"], 5, None, {"x": 1}, "answer = []"])),
    _edited("source_of_a_megabyte", "an answer of 1.5 MB", _answer_source(WRONG + "#" * 1_500_000)),
    _edited("keys_given_twice", "JSON that gives its cells three times", _twice_the_key, expects=("not graded",), keeps=False),
    _edited("nbformat_999", "claims a notebook format of the future", lambda scene, nb: nb.update(nbformat=999, nbformat_minor=-1),
            expects=(*_GRADED, "not graded")),
    _raw("deep_json", "JSON that is nested 200 000 deep", lambda scene: _deep),
    _raw("huge_integer", "an integer of 100 000 digits in the metadata", lambda scene: _huge, expects=("not graded", "not answered")),
    _raw("not_json", "a file that is no JSON", lambda scene: b"\x00\xff\xfe not a notebook"),
    _raw("nothing_in_it", "an empty file", lambda scene: b""),
    _raw("a_list", "JSON that is a list of notebooks", lambda scene: json.dumps([scene.notebook({})]).encode()),
    _raw("in_utf_16", "a notebook in UTF-16", lambda scene: json.dumps(scene.notebook({"weight_grad": WRONG})).encode("utf-16"),
         expects=("not graded", *_GRADED)),
    _raw("cells_are_a_dict", "cells that are a dict", lambda scene: json.dumps({**scene.notebook({}), "cells": {"a": 1}}).encode()),
    _raw("a_folder", "a folder where the notebook should be", lambda scene: scene.path.mkdir()),
    _raw("a_pipe", "a named pipe where the notebook should be", lambda scene: __import__("os").mkfifo(scene.path)),
    _raw("a_device", "a link to /dev/zero where the notebook should be", lambda scene: scene.path.symlink_to("/dev/zero")),
    _raw("a_terabyte", "a sparse file of a terabyte", lambda scene: __import__("os").truncate(scene.file(scene.path.name), 1 << 40)),
    _raw("links_to_itself", "a link to itself", lambda scene: scene.path.symlink_to(scene.path.name)),
    _raw("links_to_the_neighbour", "a link to the notebook of somebody with full marks",
         lambda scene: scene.path.symlink_to(scene.targets.root / "submitted" / "honest_full" / scene.lesson / scene.path.name)),
    _raw("links_to_the_source", "a link to the instructor's notebook",
         lambda scene: scene.path.symlink_to(scene.targets.root / "source" / scene.lesson / scene.path.name)),
    _raw("folder_links_to_the_neighbour", "a link to the whole folder of somebody with full marks",
         _links_the_folder),
]  # fmt: skip
