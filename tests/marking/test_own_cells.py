"""What passes in Run All passes in grading: the learner's own cells run in their order, and cannot do harm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
import pytest

from nbproof.gradebook.graded_notebook import graded_notebook
from nbproof.key import Key
from nbproof.marking.blueprint import OWN, Blueprint, fill_in, read_blueprint
from nbproof.marking.marker import Marker
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.recover.answers import Answers, OwnCell, find_own_cells
from nbproof.recover.notebook_bytes import HandIn, cells_in
from nbproof.recover.search import find_answers_in_bytes
from nbproof.sandbox.engine import Engine
from nbproof.testing import Bench
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.values.words import ENGLISH
from tests import COURSE

ALL = sum(POINTS.values())
Graded = Callable[..., Verdict]
Cell = tuple[str, str]
"""Where a cell is put, and its text: ``above first``, ``below first``, ``top``, ``instead of shown``."""


@pytest.fixture(scope="module")
def blueprint(small_lesson: Path, tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    """The small lesson, with cells that show something in front of its exercises."""
    notebook = nbformat.read(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", as_version=4)
    cells = {"shown": "shown = 3\nprint(shown)", "kept": "kept = []", "filled": "kept.append(1)\nprint(kept)"}
    for place, (name, text) in enumerate(cells.items(), 2):
        notebook.cells.insert(place, nbformat.v4.new_code_cell(text, id=name))
    source = tmp_path_factory.mktemp("shown") / f"{LESSON}.ipynb"
    nbformat.write(notebook, source)
    return read_blueprint(COURSE, source, course_config(small_lesson))


def _handed_in(blueprint: Blueprint, answers: dict[str, str], cells: Sequence[Cell]) -> bytes:
    notebook = fill_in(blueprint, Answers({**blueprint.stubs, **answers}))
    for where, source in cells:
        names = [cell.metadata.get("nbgrader", {}).get("grade_id", cell.id) for cell in notebook.cells]
        if where == "top":
            at = 0
        else:
            side, _, name = where.rpartition(" ")
            at = names.index(name) + (side == "below")
        if where.startswith("instead"):
            notebook.cells[at]["source"] = source
        else:
            notebook.cells.insert(at, nbformat.v4.new_code_cell(source))
    return nbformat.writes(notebook).encode()


@pytest.fixture
def graded(engine: Engine, blueprint: Blueprint) -> Graded:
    """graded({"first": ...}, ("above first", "def helper ...")): the verdict, all else being right."""

    def of(answers: dict[str, str], *cells: Cell, files: dict[str, bytes] | None = None) -> Verdict:
        data = _handed_in(blueprint, {**RIGHT, **answers}, cells)
        bench = Bench(engine, blueprint)
        return bench.verdict(bench.read(data), files)

    return of


HELPED = "def first(x):\n    return times(x, 2)"
HELPER = "def times(x, n):\n    return x * n"
IN_A_CALLBACK = """def second(x):
    future = torch.futures.Future()
    then = future.then(lambda done: done.value() * shown)
    future.set_result(x)
    return then.wait()"""
HONEST: dict[str, tuple[dict[str, str], list[Cell]]] = {
    "helper above": ({"first": HELPED}, [("above first", HELPER)]),
    "helper below": ({"first": HELPED}, [("below first", HELPER)]),
    "helper in place of the test": ({"first": HELPED}, [("instead of test_first", HELPER)]),
    "helper in the setup cell": (
        {"first": HELPED}, [("instead of setup_imports", f"import torch\n{HELPER}\nfrom torch import nn")],
    ),
    "a name that a cell shows": ({"second": "def second(x):\n    return x * shown"}, []),
    "that name, in a callback, whose errors torch wraps": ({"second": IN_A_CALLBACK}, []),
    "one cell makes it, another one fills it": (
        {"first": "factors = []\ndef first(x):\n    return x * factors[0]"}, [("below first", "factors.append(2)")],
    ),
    "a star": ({"first": "def first(x):\n    return x * floor(2.5)"}, [("above first", "from math import *")]),
    "below cells that fail": (
        {"first": HELPED},
        [("above first", "1 / 0"), ("above first", "def times(:"), ("above first", HELPER), ("below first", "nobody")],
    ),
    "magics of a front end": (
        {"first": f"%matplotlib widget\n%load_ext no_such_extension\n%no_such_magic\n{RIGHT['first']}"}, [],
    ),
    "variables with names of builtins": (
        {}, [("above first", "abs = bool = dict = float = int = isinstance = len = list = max = print = range = sum = 0")],
    ),
    "a file that a cell writes": (
        {"first": HELPED},
        [("above first", f"open('my_times.py', 'w').write({HELPER!r})"), ("above first", "from my_times import times")],
    ),
    "an event loop, as a kernel has one": (
        {"first": "import asyncio\ntwo = asyncio.create_task(asyncio.sleep(0, 2))\ndef first(x):\n    return x * factor"},
        [("below first", "factor = await two")],
    ),
    "a package that is not here, beside one that is": (
        {"first": "import no_such_package, math as m\ndef first(x):\n    return x * m.floor(2.5)"}, [],
    ),
    "what cells that show something have left": ({"first": "def first(x):\n    return x * (1 + len(kept))"}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_what_passes_in_run_all_passes(graded: Graded, name: str) -> None:
    answers, cells = HONEST[name]
    verdict = graded(answers, *cells)
    assert verdict.score == ALL, [ENGLISH.outcome(one) for one in verdict.exercises if one.status != "passed"]


def test_a_file_beside_the_notebook_can_be_run(graded: Graded) -> None:
    verdict = graded({"first": HELPED}, ("above first", "%run times.py"), files={"times.py": HELPER.encode()})
    assert verdict.score == ALL


def test_answers_beside_a_cell_that_names_the_engine_wait_for_a_person(graded: Graded) -> None:
    named = graded({}, ("below third", "import nbproof.marking"))
    assert {one.status for one in named.exercises} == {"uncertain"}


def test_all_own_cells_run_in_their_order(graded: Graded) -> None:
    cells = [("above first", f"open('traces', 'a').write('{n}')") for n in range(3)]
    seen = "def second(x):\n    return x * (3 if open('traces').read() == '012' else 99)"
    verdict = graded({"second": seen}, *cells)
    assert (verdict.score, len(verdict.own)) == (ALL, 3)


def test_an_own_cell_without_end_costs_no_exercise_its_marks(graded: Graded) -> None:
    verdict = graded(
        {"third": "def third(x):\n    return open('no such file')"}, ("above first", "while True:\n    pass")
    )
    assert [one.status for one in verdict.exercises] == ["passed", "passed", "error"]


@pytest.mark.parametrize("said", ["import no_such_package", "import no_such_package as np2"])
def test_whoever_uses_a_missing_package_hears_of_it(graded: Graded, said: str) -> None:
    used = said.split()[-1]
    verdict = graded({"first": f"{said}\ndef first(x):\n    return {used}.times(x, 2)"})
    first = verdict.exercises[0]
    assert (first.status, first.score) == ("error", 0)
    assert "No module named 'no_such_package'" in ENGLISH.outcome(first)


HARM = {
    "loops": "def times(x, n):\n    return x * n\nwhile True:\n    pass",
    "ends": "times = 1\nimport os\nos._exit(3)",
    "fills the memory": "times = bytearray(4 << 30)",
    "many names": "\n".join(f"times{n} = first" for n in range(9_000)),
}


@pytest.mark.parametrize("name", HARM)
def test_harm_in_an_own_cell_costs_what_rests_on_it(graded: Graded, name: str) -> None:
    verdict = graded({"first": HELPED}, ("above first", HARM[name]))
    first, second, third = verdict.exercises
    assert first.score == 0
    assert (second.status, third.status) == ("passed", "passed")


def test_a_time_bomb_in_front_of_a_setup_cell_harms_no_answer(graded: Graded) -> None:
    bomb = "first = 1\nimport os, torch\ntorch.Tensor.__mul__\nimport sys\nsys.settrace(lambda *a: os._exit(9))"
    verdict = graded({}, ("top", bomb))
    assert verdict.score == ALL


def test_cells_that_take_long_leave_time_for_the_answers(
    graded: Graded, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.limits, "submission_seconds", 12)
    slow = [("above first", f"import time\nfirst = {n}\ntime.sleep(1)") for n in range(12)]
    assert graded({}, *slow).score == ALL


def test_an_untouched_stub_earns_nothing_beside_cells_that_mention_it(graded: Graded) -> None:
    stub = "def first(x):\n    # TODO: 2 times x\n    pass  # TODO: your code"
    verdict = graded({"first": stub}, ("below first", "print(first)"))
    assert (verdict.exercises[0].status, verdict.exercises[0].score) == ("not answered", 0)


def _own_in(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if OWN in cell.metadata]


def test_own_cells_stand_in_the_rebuilt_notebook_in_their_places(blueprint: Blueprint) -> None:
    own = (OwnCell("a = 1", -1), OwnCell("b = 2", 3), OwnCell("b = 2", 3), OwnCell("shown = 4", 2, 2))
    notebook = fill_in(blueprint, Answers({}, own=own))
    nbformat.validate(notebook)
    assert sorted(_own_in(notebook)) == sorted(one.source for one in own)
    assert len(notebook.cells) == len(blueprint.notebook.cells) + 3


def test_the_graded_notebook_shows_no_more_of_own_cells_than_a_page_can_colour(blueprint: Blueprint) -> None:
    long = [f"helper{n} = first = {n}\n" + "n;" * 45_000 for n in range(6)]
    own = tuple(OwnCell(text, 2) for text in (HELPER, *long))
    shown = _own_in(graded_notebook(blueprint, Verdict("ada", LESSON, 7, (), blueprint.stubs, {}, own=own)))
    assert shown[0] == HELPER
    assert [one[:10] for one in shown[1:5]] == [text[:10] for text in long[:4]]
    assert all("cut off" in one for one in shown[1:])
    assert sum(len(one) for one in shown) < 51_000


def test_marks_of_the_grader_in_a_submission_mean_nothing(blueprint: Blueprint) -> None:
    notebook = nbformat.reads(_handed_in(blueprint, RIGHT, [("above first", HELPER)]), as_version=4)
    for cell in notebook.cells:
        cell.metadata["learners_own_cell"] = {"after": 10**9, "place": -7}
    rebuilt = find_answers_in_bytes(blueprint.handout, nbformat.writes(notebook).encode(), ENGLISH)
    assert [one.source for one in rebuilt.own] == [HELPER]
    assert _own_in(fill_in(blueprint, rebuilt)) == [HELPER]
    assert _own_in(blueprint.notebook) == []


def test_ids_decide_which_cells_are_own(blueprint: Blueprint) -> None:

    data = _handed_in(blueprint, RIGHT, [("instead of shown", "shown = 9"), ("below test_first", "mine = 1")])
    found = find_own_cells(blueprint.handout, cells_in(data)[0])
    assert [(one.source, one.place) for one in found] == [("shown = 9", 2), ("mine = 1", None)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads such an f-string")
@pytest.mark.parametrize(
    ("version", "text", "status"),
    [("3.99.1", "f'{'a'}'", "uncertain"), ("3.8.10", "f'{'a'}'", "error"), ("3.99.1", "x *", "error")],
)
def test_an_f_string_of_a_newer_python_waits_for_a_person(
    engine: Engine, blueprint: Blueprint, version: str, text: str, status: str
) -> None:
    answers = {**RIGHT, "first": f"def first(x):\n    return {text}"}
    notebook = nbformat.reads(_handed_in(blueprint, answers, []), as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "version": version}
    bench = Bench(engine, blueprint)
    verdict = bench.verdict(bench.read(nbformat.writes(notebook).encode()))
    first = next(one for one in verdict.exercises if one.id == "first")
    assert (first.status, first.score) == (status, 0)
    assert ("Python 3.99" in ENGLISH.outcome(first)) == (status == "uncertain")
    assert verdict.score == ALL - sum(first.most.values())


def test_a_file_beside_a_notebook_is_no_module_of_the_reader(bench: Bench) -> None:
    """The fork that reads a notebook runs it afterwards, and a learner's modules lie in its folder."""
    cut = _handed_in(bench.blueprint, RIGHT, [])[:-200]
    # The first is read in for a notebook that was cut off, and for no other.
    names = ("json_repair", "nbformat", "jupytext", "yaml", "simplejson", "orjson", "chardet")
    files = {f"{name}.py": b"raise SystemExit('read by me')" for name in names}
    marker = Marker(bench.engine, {LESSON: bench.blueprint}, 7)
    alone, beside = (marker.mark(HandIn(Key("ada", LESSON), notebook=cut, files=some)) for some in ({}, files))
    assert alone.damage and alone.score and not alone.problem
    told = [(one.problem, one.damage, one.answers, one.scores) for one in (alone, beside)]
    assert told[0] == told[1]
