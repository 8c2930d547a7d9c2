"""Leaf types plug in: a course without torch and NumPy needs neither, and one with NumPy compares arrays as others do
tensors.
"""

from __future__ import annotations

import importlib
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from nbproof.checks.case import Case
from nbproof.checks.namespace import undisturbed
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.sandbox.evidence_wire import pack, unpack
from nbproof.sandbox.pristine import Pristine
from nbproof.sandbox.wire import WireError
from nbproof.values import evidence
from nbproof.values.compare import Close, first_difference
from nbproof.values.evidence import MAX_BYTES, TensorRecord, Unreadable, snapshot
from nbproof.values.leaf import leaves_of, refuse_missing_leaves
from nbproof.values.words import ENGLISH
from tests import COURSE, python
from tests.leaves import LEAVES

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "iterators"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a course of plain Python, beside one in which importing torch or NumPy fails."""
    root = tmp_path_factory.mktemp("bare")
    for library in ("torch", "numpy", "pandas"):
        (root / "none" / library).mkdir(parents=True)
        (root / "none" / library / "__init__.py").write_text(f"raise ImportError('{library} was asked for')")
    made = shutil.ignore_patterns("demo", "learn", ".course", "*.zip")
    return Path(shutil.copytree(EXAMPLE, root / "course", ignore=made))


def _run(course: Path, *command: str, without: str = "none") -> subprocess.CompletedProcess[str]:
    """Run Python in the course's folder, where importing what ``without`` holds fails."""
    return python(course, *command, given={"PYTHONPATH": str(course.parent / without)})


@pytest.mark.slow
def test_every_module_of_the_tool_is_imported_without_a_library_of_values(bare: Path) -> None:
    code = (
        "import importlib, sys, pathlib, nbproof\n"
        "tool = pathlib.Path(nbproof.__file__).parent\n"
        "for path in sorted(tool.rglob('*.py')):\n"
        "    name = '.'.join(path.relative_to(tool.parent).with_suffix('').parts).removesuffix('.__init__')\n"
        "    if name != 'nbproof.__main__' and not name.startswith('nbproof.values.leaves.'):\n"
        "        importlib.import_module(name)\n"
        "print({'torch', 'numpy', 'pandas'} & {*sys.modules})"
    )
    done = _run(bare, "-c", code)
    assert done.stdout == "set()\n", done.stderr


BROUGHT_AND_JUDGED = """
import sys
import types
import numpy as np
from nbproof.checks.case import Case
from nbproof.checks.check import Check, bring, judge
from nbproof.course_file import read_course
from nbproof.values.words import ENGLISH
from nbproof.sandbox.evidence_wire import unpack, pack
from nbproof.values.results import ProbeResult
from pathlib import Path

case = Case(1, read_course(Path()))

class Doubled(Check):
    "Twice the array."
    poison = ("x",)
    def probe(self, nb, case):
        return {"answer": nb.function("twice")(case.array("x", 2, 3)), "x": nb.x}
    def truth(self, case):
        return {"answer": case.array("x", 2, 3) * 2, "x": np.array([1.0])}

for twice in (lambda x: x + x, lambda x: x * 2 + (x > 1)):
    brought = pack(bring(Doubled(), {"twice": twice, "x": 0}, case).evidence)
    print(ENGLISH.finding(judge(Doubled(), case, ProbeResult(unpack(brought, case.leaves)))))
print("torch" in sys.modules)
"""


def test_a_course_of_arrays_is_graded_without_torch(bare: Path) -> None:
    toml = bare / "course.toml"
    before = toml.read_text()
    (bare.parent / "no_torch").mkdir()
    (bare.parent / "no_torch" / "torch").symlink_to(bare.parent / "none" / "torch")
    toml.write_text(before.replace("leaves = []", 'leaves = ["numpy"]'))
    try:
        done = _run(bare, "-c", BROUGHT_AND_JUDGED, without="no_torch")
    finally:
        toml.write_text(before)
    poisoned, wrong, torch = done.stdout.splitlines()
    assert poisoned == "x is array([nan]), wanted array([1.]) (nan at index 0)", done.stderr
    assert wrong.startswith("answer is array([[") and "of 6 elements differ, first at index" in wrong
    assert torch == "False"


def course_with(*names: str) -> Course:
    """A course with these leaf types."""
    return Course("", Path("/".join(names)), "x", leaves=names)


NUMPY = course_with("numpy")
BOTH = leaves_of(course_with("torch", "numpy"))


ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "other byte order": np.arange(3, dtype=">i4"),
    "no dimension": np.array(3),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_over_the_wire(name: str) -> None:
    array = ARRAYS[name]
    difference = first_difference(snapshot(torch.ones(2)), array, ENGLISH)
    assert difference is not None
    assert "is a tensor of shape (2,), wanted an array of shape" in ENGLISH.difference(difference)
    record = unpack(pack(snapshot(array)), BOTH)
    assert isinstance(record, TensorRecord)
    assert type(record.tensor()) is np.ndarray
    assert (record.tensor().dtype.name, record.shape) == (array.dtype.name, array.shape)
    assert (record.tensor() == array).all()
    assert first_difference(record, array.copy(), ENGLISH) is None
    assert pickle.loads(pickle.dumps(record)) == record


class Lying(np.ndarray):  # type: ignore[type-arg]
    """Says that it is equal to everything."""


class LyingNumber(np.float64):
    """Says that it is another number."""

    def item(self) -> float:  # type: ignore[override]
        return 7.0


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.complex128(1j), Unreadable("object", "complex128")),
        (np.array(["text"]), Unreadable("an array of dtype str128")),
        (np.zeros(2).view(Lying), Unreadable("a Lying, a subclass of NumPy's")),
        (LyingNumber(1.0), Unreadable("a LyingNumber, a subclass of NumPy's")),
        (np.broadcast_to(np.float64(1), (MAX_BYTES,)), Unreadable("more than 64 MiB of tensors")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scalars_are_plain_values_and_what_is_no_plain_array_is_named(value: object, plain: object) -> None:
    assert snapshot([value]) == [plain]


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        (np.ones(3), np.ones((3, 1)), "has shape (3,), wanted (3, 1)"),
        (np.array([1.0, np.nan]), np.ones(2), "is array([ 1., nan]), wanted array([1., 1.]) (nan at index 1)"),
        (np.array([1, 2, 4]), np.array([1, 2, 3]), "(1 of 3 elements differ, first at index 2: 4 instead of 3)"),
        (np.array([1.0]), np.array([1.0 + 1e-6]), "is array([1.]), wanted array([1.000001]) (1 instead of 1.000001)"),
        (np.ones(2), Close(np.ones(2) * 1.01, rtol=0.1), None),
    ],
    ids=["shape", "finite", "integers", "near", "close"],
)
def test_arrays_are_compared_as_tensors_are(got: object, wanted: object, said: str | None) -> None:
    difference = first_difference(snapshot(got), wanted, ENGLISH)
    assert (difference is None) == (said is None)
    assert difference is None or said in ENGLISH.difference(difference)  # type: ignore[operator]


def test_what_a_course_does_not_name_is_no_value_there(monkeypatch: pytest.MonkeyPatch) -> None:
    array = pack(snapshot(np.ones(2)))
    with pytest.raises(WireError, match="evidence of no known form"):
        unpack(array, LEAVES)
    # As in a process of a course that has imported nothing else.
    monkeypatch.setattr(evidence, "known_leaves", lambda: LEAVES.types)
    assert snapshot(np.ones(2)) == Unreadable("object", "ndarray")
    with pytest.raises(UsageError, match="no leaf type numpy"):
        Case(1, COURSE).array("x", 2)


@pytest.mark.parametrize(
    ("name", "missing", "said"),
    [("nobodys", "", "no leaf type is called 'nobodys'"), ("numpy", "numpy", "needs numpy, which is not installed")],
)
def test_a_leaf_type_that_is_not_there_is_told(
    name: str, missing: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = course_with(name, name)  # not one that another test has plugged in
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
        monkeypatch.delitem(sys.modules, "nbproof.values.leaves.numpy", raising=False)
        with pytest.raises(UsageError, match=said):
            refuse_missing_leaves(course)
    with pytest.raises(UsageError, match=said):
        leaves_of(course)


def test_what_a_learner_makes_of_a_leaf_type_is_put_back_before_a_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = LEAVES.named("torch")
    before = snapshot(torch.ones(2))
    pristine = Pristine("nbproof")
    taken = type(ours).taken
    monkeypatch.setattr(type(ours), "taken", lambda self, value, room: "whatever is wanted")
    monkeypatch.setattr(taken, "__code__", (lambda self, value, room: "whatever is wanted").__code__)
    monkeypatch.setattr(evidence, "known_leaves", lambda: ())
    assert snapshot(torch.ones(2)) != before
    pristine.restore()
    assert snapshot(torch.ones(2)) == before
    with pytest.raises(AttributeError):  # an object is not put back, so it has nothing that could be changed
        ours.taken = None  # type: ignore[method-assign, assignment]


def test_hooks_for_all_optimizers_are_set_aside() -> None:
    internals, called = importlib.import_module("torch.optim.optimizer"), list[object]()
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters())
    before = internals.register_optimizer_step_post_hook(lambda *one: called.append(one))
    with undisturbed({}, (), Case(1, COURSE)):
        optimizer.step()
        assert called == []
    optimizer.step()
    before.remove()
    assert len(called) == 1


def test_seeds_and_poison_are_those_of_the_leaf_types() -> None:
    assert (
        Case(3, NUMPY).array("x", 4).tolist()
        == Case(3, NUMPY).array("x", 4).tolist()
        != Case(4, NUMPY).array("x", 4).tolist()
    )
    assert set(Case(3, NUMPY).array("x", 40, dtype=int).tolist()) <= {*range(-8, -1), *range(2, 9)}
    np.random.seed(5)
    wanted = np.random.RandomState(5).rand()
    drawn = []
    for _ in range(2):
        with undisturbed(space := {"x": 1}, ("x",), Case(1, NUMPY)):
            drawn.append(np.random.rand())
            assert np.isnan(space["x"]).all()
    assert drawn[0] == drawn[1]
    assert np.random.rand() == wanted
    with undisturbed(space := {"x": 1}, ("x",), Case(1, course_with())):
        assert space["x"] != space["x"]
