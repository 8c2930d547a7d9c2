"""The house: each room imports only rooms below it, the tool knows no course, nothing is too long to read, style and
types."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from nbproof.authoring.distribution import is_for_learners

ROOT = Path(__file__).parent.parent
ROOMS = (
    "testing", "cli", "nbgrader", "nbproof_lms", "report", "feedback", "authoring", "run", "gradebook", "marking",
    "sandbox", "checks", "recover", "display", "values", "lesson", "",
)  # fmt: skip
"""From the roof, where tests come in, to the ground, where the modules lie that belong to no room. What hands over and takes
back notebooks lives next door, in a package of its own, which need not be installed: two modules lead there."""
FOR_THE_COURSE = {"", "checks", "display", "lesson", "values"}
"""Rooms that a course's own modules may import: what learners have."""
LEAF_TYPES = "nbproof.values.leaves."
"""Whose modules alone may import torch and NumPy, each that of its name."""
MOST = {"statements": 24_654, "decisions": 7_933, "functions with more than 10 decisions, in %": 5.4}
"""What the house may hold. Whoever takes something away lowers these; what adds to it takes something away, or says why not."""
MOST_LINES_OF_TESTS = 33_944
"""Of the modules in tests/, the attacks' programs there, and the front door, nbproof/testing/."""
MOST_DECISIONS = 20
"""Of one function; so many are in the worst one."""


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PACKAGES = ("nbproof", "nbproof_lms", "course")
MODULES = {_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
BEHIND_THE_SCENES = [
    name for name, path in MODULES.items()
    if name.startswith("nbproof_lms")
    or (name.startswith("nbproof") and not is_for_learners(path.relative_to(ROOT / "nbproof").as_posix()))
]  # fmt: skip
LEARNERS = [name for name in MODULES if name not in BEHIND_THE_SCENES and name != "course.__main__"]


NEXT_TO_IT = {
    f"{path.parent.name}.{path.stem}": path
    for package in ("nbproof-dask/nbproof_dask", "nbproof-desk/nbproof_desk")
    for path in sorted((ROOT / "packages" / package).glob("*.py"))
}
"""What is written in the same style, and is no part of the house."""


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse({**MODULES, **NEXT_TO_IT}[name].read_text(encoding="utf-8"))


@cache
def _nodes(name: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(name)))


def room_of(name: str) -> str:
    """The room of a module of the tool; empty for those that lie beside the rooms."""
    parts = name.split(".")
    if parts[0] == "nbproof_lms":
        return parts[0]
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


@cache
def imports_of(name: str, at_import_only: bool = False) -> tuple[str, ...]:
    """The modules that a module imports, also within functions (unless told otherwise), as written in its text."""
    nodes: list[ast.AST] = [_tree(name)]
    found: list[str] = []
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports by a relative name"
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            known = [one for one in within if one in MODULES]
            found += known or [str(node.module)]
        elif (
            isinstance(node, ast.Constant)
            and "." in str(node.value).removeprefix("nbproof.")
            and node.value in MODULES
            and not at_import_only
        ):
            found.append(node.value)  # a string that names a module is there to import it
        lazy = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not (at_import_only and (lazy or typing_only)):
            nodes += ast.iter_child_nodes(node)
    return tuple(found)


def arrows(name: str) -> set[tuple[str, str, str]]:
    """(room, room, module) of every import from one room into another."""
    own = room_of(name)
    ours = [one for one in imports_of(name) if one.split(".")[0].startswith("nbproof")]
    return {(own, room_of(one), one) for one in ours if room_of(one) != own}


def test_every_folder_is_a_room_of_the_plan() -> None:
    folders = {path.parent.name for path in (ROOT / "nbproof").glob("*/*.py")}
    assert folders == set(ROOMS) - {"", "nbproof_lms"}


def test_no_room_imports_one_above_it() -> None:
    up = [
        f"{name} imports {module}"
        for name in MODULES
        if name.startswith("nbproof")
        for own, other, module in sorted(arrows(name))
        # The front doors, of the command line and of notebooks, are no rooms.
        if name not in ("nbproof", "nbproof.__main__") and ROOMS.index(other) < ROOMS.index(own)
    ]
    assert up == []


def test_two_modules_know_the_package_next_door() -> None:
    knowing = {name for name in MODULES if any(one.startswith("nbproof_lms") for one in imports_of(name))}
    assert {name for name in knowing if not name.startswith("nbproof_lms")} == {
        "nbproof.cli.main",
        "nbproof.nbgrader.next_door",
    }


def test_the_tool_knows_no_course_and_a_course_knows_only_what_learners_have() -> None:
    assert [
        f"{name} imports {one}"
        for name in MODULES
        if name.startswith("nbproof")
        for one in imports_of(name)
        if one.split(".")[0] == "course"
    ] == []
    assert [
        f"{name} imports {module}"
        for name in MODULES
        if name.startswith("course") and name != "course.__main__"
        for _, room, module in sorted(arrows(name))
        if room not in FOR_THE_COURSE
    ] == []


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {name: (set(imports_of(name, at_import_only=True)) & set(MODULES)) - {name} for name in MODULES}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for one in sorted(graph[name]):
                walk(one, (*path, name))
            done.add(name)

    for name in graph:
        walk(name, ())


def test_no_public_class_has_a_name_that_another_one_has() -> None:
    found = defaultdict(list)
    for name in MODULES:
        for node in _tree(name).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    # The lessons on apply put another small model under the same name, as the published ones do. By the name of the class
    # that marks for nbgrader its options are called: --Mark.isolation.
    twice = {one: where for one, where in found.items() if len(where) > 1}
    assert twice.keys() <= {"Model", "Mark"}


def _decisions(node: ast.AST) -> int:
    """How many ways part at one node. A comprehension counts as the loop that it is, so pressing wins nothing."""
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return isinstance(
        node, (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.Assert)
    )


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_HARD_WORDS = re.compile(r"\b(whose|whom|whoever|whatever|(of|by|in|to) which)\b", re.IGNORECASE)


def _breaks_of_style(name: str) -> Iterator[str]:
    """Where a comprehension has two loops or two conditions, or a conditional expression is a part of another expression."""
    for node in _nodes(name):
        if isinstance(node, _COMPREHENSIONS):
            loops = [one for one in ast.walk(node) if isinstance(one, ast.comprehension)]
            if len(loops) > 1 or len(loops[0].ifs) > 1:
                yield f"{name}, line {node.lineno}: more than one loop or condition"
        if not isinstance(node, (ast.Return, ast.Assign, ast.AnnAssign)):
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.IfExp)]
            yield from (f"{name}, line {one.lineno}: a condition within an expression" for one in inner)


def _sentences(name: str) -> Iterator[str]:
    """Those of a module's docstrings."""
    for node in _nodes(name):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from re.split(r"(?<=[.!?:])\s+|\n\n", ast.get_docstring(node) or "")


def test_style_and_english_are_plain() -> None:
    modules = [*MODULES, *NEXT_TO_IT]
    breaks = list(chain.from_iterable(map(_breaks_of_style, modules)))
    assert breaks == []
    sentences = list(filter(None, chain.from_iterable(map(_sentences, modules))))
    hard = list(filter(_HARD_WORDS.search, sentences))
    assert len(hard) <= len(sentences) / 100, hard


def test_the_house_holds_no_more_than_it_did() -> None:
    nodes = [node for name in MODULES if room_of(name) != "testing" for node in _nodes(name)]
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    in_each = [sum(map(_decisions, ast.walk(function))) for function in functions]
    many = sum(count > 10 for count in in_each)
    held = {
        "statements": sum(isinstance(node, ast.stmt) for node in nodes),
        "decisions": sum(map(_decisions, nodes)),
        "functions with more than 10 decisions, in %": round(100 * many / len(functions), 1),
    }
    assert [f"{count} {what}, {MOST[what]} at most" for what, count in held.items() if count > MOST[what]] == []
    assert max(in_each) <= MOST_DECISIONS


def _private(tree: ast.Module) -> Iterator[str]:
    """Names with a leading underscore that a test takes from a module of ours."""
    ours: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in PACKAGES:
            ours |= {alias.asname or alias.name for alias in node.names}
            yield from (alias.name for alias in node.names if re.match("_[a-zA-Z]", alias.name))
        elif isinstance(node, ast.Constant) and re.fullmatch(
            rf"({'|'.join(PACKAGES)})[.\w]*\._[a-zA-Z]\w*", str(node.value)
        ):
            yield str(node.value)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and ast.unparse(node.value).split(".")[0] in ours
            and re.match("_[a-z]", node.attr)
        ):
            yield ast.unparse(node)


def test_tests_take_no_private_name() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in _private(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


def test_tests_hold_no_more_lines_than_they_did() -> None:
    paths = [
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "tests").rglob("*.txt"),
        *(ROOT / "nbproof" / "testing").glob("*.py"),
    ]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= MOST_LINES_OF_TESTS


READERS = {"nbproof.lesson.from_text", "nbproof.lesson.from_notebook"}
"""What parses a lesson: its text, and its notebook."""
OTHER_PEOPLES = {"nbproof.recover.notebook_bytes"}
"""What parses notebooks that learners hand in, or that another course has, in any version of the format."""
MOST_TYPES_OF_A_LESSON = 6
"""Classes that say what a lesson, an exercise or a cell is; 7 would do."""
OF_A_LESSON = {
    "cells", "checks", "exercise", "exercises", "hidden", "kind", "minutes", "notebook", "points", "shown", "source",
    "stub", "stubs", "tests", "title",
}  # fmt: skip
"""Names of fields. A frozen type of the tool that has two of them says what a lesson, or a part of it, is."""
NO_PART_OF_A_LESSON = {"Card", "Difference", "ExportedCell", "Finding", "ProbeError", "Verdict"}
"""What is said of an answer, and what was handed in."""


def _parses_a_notebook(node: ast.AST) -> bool:
    """Whether a notebook is parsed here, or its cells are taken out of JSON."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] in ("nbformat", "jupytext"):
        return ast.unparse(node.func).partition(".")[2] in ("read", "reads")
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        whole = isinstance(node.value, ast.Call) or ast.unparse(node.value) == "notebook"
        return whole and ast.unparse(node.slice) == "'cells'" and "read_notebook" not in ast.unparse(node.value)
    return isinstance(node, ast.Call) and ast.unparse(node).partition(".get(")[2].startswith("'cells'")


OURS = [name for name in MODULES if name.startswith("nbproof") and room_of(name) != "testing"]


def test_a_lesson_is_read_by_its_readers_alone() -> None:
    reading = {name for name in OURS if any(map(_parses_a_notebook, _nodes(name)))}
    assert reading - OTHER_PEOPLES == READERS


def _patterns(name: str) -> Iterator[str]:
    """The regular expressions that a module writes down, but for those made of pieces."""
    for node in _nodes(name):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            yield ast.unparse(node.args[0])


def test_the_headings_of_a_lesson_are_read_in_one_module() -> None:
    of_headings = re.compile(r"Exercise: |own words|#\{|\^#\+ ?[\\(]|\) min")
    reading = {name for name in OURS if any(map(of_headings.search, _patterns(name)))}
    # A line of Python that was commented out is no heading.
    assert reading - {"nbproof.recover.matching"} == {"nbproof.lesson.heading"}


def _cuts(name: str) -> Iterator[str]:
    """Where a module cuts what is hidden from what learners have."""
    for node in _nodes(name):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called == "lines.index" and ast.unparse(node) == "lines.index(HIDDEN)":
            yield f"{name}: {ast.unparse(node)}"
        elif called == "visible_and_hidden":
            yield f"{name}: nbgrader's marks"


def test_checks_are_cut_where_they_are_read() -> None:
    assert {cut for name in OURS for cut in _cuts(name)} == {
        "nbproof.handed_out: lines.index(HIDDEN)",
        "nbproof.lesson.from_notebook: nbgrader's marks",
    }


def _types_of_a_lesson(name: str) -> Iterator[str]:
    for node in _nodes(name):
        if isinstance(node, ast.ClassDef):
            names = {ast.unparse(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
            if len(OF_A_LESSON & names) > 1:
                yield node.name


def _mentions(name: str, wanted: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == wanted for node in _nodes(name))


def test_the_course_is_an_argument() -> None:
    """Only at doors where nobody can hand it over is it looked up: a kernel, nbgrader's configuration, tests of other people."""
    assert {name for name in MODULES if _mentions(name, "the_course")} == {"nbproof"}
    doors = {"nbproof", "nbproof.nbgrader.settings", "nbproof.testing.small"}
    assert {name for name in MODULES if _mentions(name, "course_here")} == doors


def test_few_types_say_what_a_lesson_is() -> None:
    types = {one for name in OURS for one in _types_of_a_lesson(name)} - NO_PART_OF_A_LESSON
    assert len(types) <= MOST_TYPES_OF_A_LESSON, sorted(types)


@pytest.mark.parametrize("library", ["torch", "numpy", "pandas"])
def test_the_tool_imports_a_leaf_type_only_where_it_plugs_in(library: str) -> None:
    assert {
        name
        for name in MODULES
        if name.startswith("nbproof") and library in {one.split(".")[0] for one in imports_of(name)}
        if not name.startswith(f"{LEAF_TYPES}{library}")
    } == set()


@pytest.mark.parametrize("name", LEARNERS)
def test_what_learners_import_names_nothing_behind_the_scenes(name: str) -> None:
    wanted = list(imports_of(name))
    behind = set(wanted) & set(BEHIND_THE_SCENES)
    # The command line offers more where more is there.
    assert not behind or name.startswith("nbproof.cli")
    if not name.startswith(("nbproof.cli", "nbproof.terminal")):
        assert not {one.split(".")[0] for one in wanted} & {"nbgrader", "jupytext", "rich", "nbformat"}


SCRIPT = """
import importlib, json, sys
import course
first = sorted(sys.modules)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps([first, sorted(sys.modules)]))
"""


def test_at_run_time_learners_get_nothing_from_behind_the_scenes_and_no_slow_import() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(LEARNERS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, everything = json.loads(done.stdout)
    assert not {"torch", "matplotlib", "sklearn", "torchvision", "IPython"} & set(first)
    assert set(LEARNERS) <= set(everything)
    assert not set(BEHIND_THE_SCENES) & set(everything)
    assert not {"nbgrader", "jupytext", "nbformat"} & set(everything)


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_style_and_types(command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_style_is_read_of_every_module() -> None:
    # An exclusion by a folder's name once left out nbproof/feedback/ beside the feedback/ that was meant.
    said = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    read = {Path(line) for line in said.stdout.splitlines()}
    modules = {path for room in (*PACKAGES, "tests", "benchmarks", "deploy") for path in (ROOT / room).rglob("*.py")}
    assert len(modules) > 100
    assert not modules - read


MOST_WITHOUT_A_USER = 25
"""Public names of modules that nobody else uses: neither another module, nor a test, a lesson, an example or a page."""


def test_public_names_have_a_user_elsewhere() -> None:
    patterns = (
        "examples/**/*.py",
        "lessons/**/*.py",
        "tests/**/*.py",
        "benchmarks/*.py",
        "docs/*.md",
        "nbproof/**/*.html",
    )
    beside = chain.from_iterable(ROOT.glob(pattern) for pattern in patterns)
    used = Counter(chain.from_iterable(map(_words_of, {*beside, *MODULES.values()})))
    without = [
        f"{module}.{name}"
        for module in MODULES
        for name in _defined_in(_tree(module))
        if not name.startswith("_") and used[name] < 2
    ]
    assert len(without) <= MOST_WITHOUT_A_USER, without


def _words_of(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def _defined_in(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
