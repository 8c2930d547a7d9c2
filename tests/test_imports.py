"""Who imports whom: what learners import never reaches what authors, graders and reports are made of."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

COURSE = Path(__file__).parent.parent / "course"
BEHIND = ("authoring", "collecting", "grading", "reporting", "cli", "__main__", "lab", "nbgrader_setup")
"""What is not for learners: packages and modules of course/."""


def module_name(path: Path) -> str:
    parts = path.relative_to(COURSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(COURSE.rglob("*.py"))}
LEARNERS = [name for name in MODULES if name.split(".")[1:2] == [] or name.split(".")[1] not in BEHIND]


def imports_of(name: str, at_import_only: bool = False) -> set[str]:
    """The names that a module imports, also within functions (unless told otherwise), as written in its text."""
    nodes: list[ast.AST] = [ast.parse(MODULES[name].read_text(encoding="utf-8"))]
    found: set[str] = set()
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            origin = ".".join(part for part in (base, node.module or "") if part)
            found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
        lazy = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not (at_import_only and (lazy or typing_only)):
            nodes += ast.iter_child_nodes(node)
    return found


def test_the_list_of_what_learners_import_is_the_real_one() -> None:
    assert {"course", "nbproof.checks.check", "nbproof.display.panel", "nbproof.display.hints"} <= set(LEARNERS)
    assert not {name for name in LEARNERS if name.startswith(("nbproof.authoring", "course.grading"))}
    assert len(LEARNERS) >= 15


@pytest.mark.parametrize("name", LEARNERS)
def test_what_learners_import_names_nothing_behind_the_scenes(name: str) -> None:
    behind = [one for one in imports_of(name) if one.split(".")[0] == "course" and one.split(".")[1:2] != []]
    assert not [one for one in behind if one.split(".")[1] in BEHIND]
    assert not {one.split(".")[0] for one in imports_of(name)} & {"nbgrader", "jupytext", "rich", "nbformat"}


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {name: (imports_of(name, at_import_only=True) & set(MODULES)) - {name} for name in MODULES}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for one in sorted(graph[name]):
                walk(one, (*path, name))
            done.add(name)

    for name in graph:
        walk(name, ())


ORDER = ["evidence", "compare", "case", "results", "notebook", "diagnosis", "checking"]


@pytest.mark.parametrize("name", ORDER)
def test_the_checker_imports_downwards_only(name: str) -> None:
    above = {f"course.{one}" for one in ORDER[ORDER.index(name) + 1 :]} | {"nbproof.display.panel", "course.probing"}
    assert not imports_of(f"course.{name}", at_import_only=True) & above


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
    assert not [name for name in everything if name.startswith("course.") and name.split(".")[1] in BEHIND]
    assert not {"nbgrader", "jupytext", "rich", "nbformat"} & set(everything)
