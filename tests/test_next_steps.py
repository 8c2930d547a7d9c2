"""Each "next:" that the tool can print is tried by a test, which does what it says and sees the trouble gone.

``next_steps.toml``, beside this, says for each place in the tool that makes one which test that is, or why none can try it.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nbproof.authoring.hinting import check_hints, refuse_bad_hints
from nbproof.authoring.statements import amiss, over_budget, unbroken
from nbproof.command import this_python
from nbproof.display.help import read_hints
from nbproof.errors import CourseError
from nbproof.lesson.from_text import read_lesson
from nbproof.run.journal import only_run
from nbproof.testing import Rehearsal
from nbproof.testing.small import RIGHT
from tests import COURSE, main, some_by_day, typed
from tests.authoring.tiny import WRITTEN, Sketch, write_lesson

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_suffix(".toml").with_name("next_steps.toml")
AS_PRINTED = ("next_command", "next: ")
"""What a test's text holds that takes the step from what was printed or raised."""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _modules() -> list[Path]:
    return [path for package in ("nbproof", "nbproof_lms") for path in sorted((ROOT / package).rglob("*.py"))]


def _with_a_step() -> set[str]:
    """The classes that hold a fact, a place and a next command."""
    names, bases = {"CourseError"}, dict[str, set[str]]()
    for path in _modules():
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {base.id for base in node.bases if isinstance(base, ast.Name)}
    while more := {name for name, above in bases.items() if above & names} - names:
        names |= more
    return names


def _text(node: ast.AST) -> str:
    """What is literal in a text, with ``{}`` for the rest; empty for a name."""
    if isinstance(node, ast.BinOp):
        return _text(node.left) + (_text(node.right) or "{}")
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _in_functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every expression, with the name of the function that it stands in."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        yield name, node
        name = node.name if isinstance(node, ast.FunctionDef) else name
        whole = isinstance(node, ast.JoinedStr)
        waiting += [(name, child) for child in ast.iter_child_nodes(node) if not (whole and _text(child))]


@cache
def sites() -> dict[str, str]:
    """Every place that makes a next step, as ``module: how its fact begins``, with the text of the module."""
    found, classes = dict[str, str](), _with_a_step()
    for path in _modules():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for function, node in _in_functions(_tree(path)):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if isinstance(node, ast.Call) and called in classes and function != "refuse_unknown":
                fact, _, step = node.args
                head, then = _text(fact) or f"<{ast.unparse(fact)}> of {function}", ast.unparse(step)
            elif isinstance(node, ast.Call) and called == "disk_trouble":
                head, then = f"{_text(node.args[1])}: {{}}", ast.unparse(node.args[3])
            elif isinstance(node, ast.Call) and called == "refuse_unknown":
                head, then = f"no {_text(node.args[1]) or '{}'} is called {{}}", "choose from"
            elif isinstance(node, (ast.Constant, ast.JoinedStr)) and _text(node).lstrip().startswith("next: "):
                head, then = _text(node).strip(), ast.unparse(node)
            else:
                continue
            if ".next_command" not in then and head != "next:":  # these hand on what others make
                found[f"{module}: {head[:60].strip()}"] = path.read_text(encoding="utf-8")
    return found


def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def _runs(test: str) -> str:
    """The text of a test, with what its module keeps for it; empty if there is no such test."""
    path, _, name = test.partition("::")
    if not (ROOT / path).is_file():
        return ""
    nodes = [node for node in _tree(ROOT / path).body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    own = next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)
    if own is None:
        return ""
    asked = {node.id for node in ast.walk(own) if isinstance(node, ast.Name)} | {one.arg for one in own.args.args}
    beside = [node for node in nodes if asked & _defined(node)]
    return "\n".join(map(ast.unparse, [own, *beside]))


def _defined(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {getattr(node, "name", ""), *(one.id for one in targets if isinstance(one, ast.Name))} - {""}


def test_every_next_step_is_tried_or_says_why_not() -> None:
    table, there = _table(), set(sites())
    named = [key for part in table.values() for key in part]
    missing, gone = sorted(there - {*named}), sorted({*named} - there)
    assert not missing, (
        f"no test does what these say next: {missing}. Write one that makes the trouble, does what is printed and sees the "
        f"trouble gone; then name it in {TABLE.name} under [tried], or say under [cannot] why no test can"
    )
    assert not gone, f"these are no more; take them out of {TABLE.name}: {gone}"
    assert len(named) == len({*named}), f"one of {TABLE.name} stands in two parts"
    assert all(len(why) > 10 for why in table["cannot"].values())


def test_the_tests_that_are_named_take_the_step() -> None:
    """The value is ``a test`` that takes what was printed, or ``a test | what it does``, which the step names as well."""
    told = sites()
    for key, value in _table()["tried"].items():
        test, _, does = value.partition(" | ")
        text = _runs(test)
        assert text, f"{key}: there is no test {test}"
        assert any(one in text for one in ([does] if does else AS_PRINTED)), (
            f"{test} does not do: {does or 'what is printed'}"
        )
        assert not does or does in told.get(key, ""), f"{key}: the step does not name {does!r}"


def _is_of(key: str, fact: str) -> bool:
    """Whether this is what the place with this key says."""
    head = re.escape(key.partition(": ")[2]).replace(r"\{\}", ".*")
    return "<" in head or re.match(head, fact, re.DOTALL) is not None


def _replace(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def _looked_at(lesson: Path) -> Iterator[CourseError]:
    """What stops a build of it, and what a check finds that runs nothing."""
    try:
        read = read_lesson(COURSE, lesson)
        yield from amiss(read)
        refuse_bad_hints(COURSE, lesson.parent)
        yield from check_hints(read)
        for exercise in read.exercises:
            yield from unbroken(read, exercise)
            yield from over_budget(read, exercise, {"words": 9})
    except CourseError as error:
        yield error


@pytest.mark.parametrize("key", _table()["lessons"])
def test_a_lesson_that_is_mended_as_it_is_told_can_be_read(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this file ``before`` becomes ``broken``, and that, as the step ``says``, ``mended``. ``file`` may be one more.

    Until then the lesson is ``without`` these.
    """
    row = _table()["lessons"][key]
    lesson = write_lesson(tmp_path, "00_tiny", [Sketch()])
    monkeypatch.setattr("nbproof.authoring.hinting.all_hints", lambda course: read_hints(lesson.parent)[0])
    monkeypatch.setattr("nbproof.authoring.hinting.exercise_hints", lambda course: read_hints(lesson.parent)[1])
    (lesson / "lesson.py").write_text((lesson / "lesson.py").read_text() + WRITTEN)
    assert list(_looked_at(lesson)) == []
    path = lesson / row["file"]
    without = {lesson / name: (lesson / name).read_text() for name in row.get("without", [])}
    for one in without:
        one.unlink()
    _replace(path, row["before"], row["broken"])
    found = [one for one in _looked_at(lesson) if _is_of(key, one.fact)]
    assert found and row["says"] in found[0].next_command, [*_looked_at(lesson)]
    for one, text in without.items():
        one.write_text(text)
    _replace(path, row["broken"], row["mended"])
    path.unlink() if not path.read_text() else None
    assert list(_looked_at(lesson)) == []


def _write(root: Path, files: dict[str, str]) -> None:
    """Each with its text; ``<`` in front: what lies there. A name that ends with ``/`` is a folder; ``-`` stands for nothing."""
    for name, text in files.items():
        path = root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        elif text.startswith("<") and (root / text[1:]).exists():
            (shutil.copytree if (root / text[1:]).is_dir() else shutil.copy)(root / text[1:], path)
        elif text != "-":
            path.write_bytes(text.replace("{long}", "x" * 200_000).encode("latin-1"))


def _commands(step: str, fill: dict[str, str]) -> list[list[str]]:
    """The commands of the tool that a step holds, as they are printed, with what stands for a word such as FILE."""
    programs = re.split(rf"{re.escape(this_python())} -m \w+", step)[1:]
    found = [re.split(r"; |, | lists | makes |: | && | \(|\n", part)[0] for part in programs]
    for word, meant in fill.items():
        found = [command.replace(word, meant) for command in found]
    return list(map(shlex.split, found))


def _call(words: list[str], apart: bool, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Its exit code, and what it says. ``apart``: in a process of its own, which looks for the course that it works for."""
    if apart:
        done = typed(Path(), *words)
        return done.returncode, done.stdout + done.stderr
    capsys.readouterr()
    code = main(words)
    return code, "".join(capsys.readouterr())


def _step(key: str, said: str) -> str:
    """What the place with this key tells to do next."""
    told = re.findall(r"((?:.*\n)*?.*?)\b(next: .*(?:\n {2,}.*)*)", said)
    steps = [
        step
        for before, step in told
        if _is_of(key, step if ": next: " in key else re.split(r"(?m)error: |^! (?:not written: \S+: )?", before)[-1])
    ]
    assert steps, said
    return steps[0].removeprefix("next: ")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.parametrize("key", some_by_day(_table()["calls"], 20))
def test_a_call_goes_well_after_what_it_said_is_done(
    key: str, room: Rehearsal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With these ``files`` the ``call`` fails; then files are ``mended``, or ``instead`` is called, as the step ``says``.

    Commands that are printed are run as they stand, with what is to ``fill`` their words in; one may be what ``replaces`` the
    call. ada's work is there, ``uploaded`` or ``graded``.
    ``changed``: in these files the first text becomes the second, and, to mend it, the third.
    """
    row = _table()["calls"][key]
    monkeypatch.chdir(room.root)
    monkeypatch.setenv("COURSE_PROGRESS", str(room.root / "progress.db"))
    monkeypatch.setattr("nbproof.display.lab.start_server", lambda *asked: 0)
    root, came = room.root, room.hand_in("ada", RIGHT)
    if row.get("authored"):
        root = root / "own"
        assert main(["new", "own"]) == 0
        monkeypatch.chdir(root)
    if row.get("uploaded"):
        shutil.move(came, room.root / "ada.ipynb")
        shutil.rmtree(room.root / "submitted")
    if row.get("graded"):
        room.grade()
    apart = row.get("apart", False)
    for before in row.get("first", []):
        assert main(shlex.split(before)) == 0
    _write(root, row.get("files", {}))
    for name, (before, broken, _) in row.get("changed", {}).items():
        _replace(root / name, before, broken)
    for before in row.get("then", []):
        assert main(shlex.split(before)) == 0
    with monkeypatch.context() as patch, only_run(root) if row.get("held") else nullcontext():
        if "path" in row:
            patch.setenv("PYTHONPATH", str(Path(row["path"]).resolve()))
        code, said = _call(shlex.split(row["call"]), apart, capsys)
    step = _step(key, said)
    assert code in ((0, 1) if ": next: " in key else (1, 2)) and row.get("says", "") in step, said
    _write(root, row.get("mended", {}))
    for name, (_, broken, mended) in row.get("changed", {}).items():
        _replace(root / name, broken, mended)
    commands = _commands(step, row.get("fill", {}))
    assert commands or {"mended", "instead", "changed"} & row.keys(), step
    if folder := re.match(r"cd (\S+) && ", step):
        monkeypatch.chdir(folder[1])
    for words in commands:
        code, said = _call(words, apart, capsys)
        assert code == 0, said
    if row.get("replaces"):
        assert commands, step
        return
    code, said = _call(shlex.split(row.get("instead", row["call"])), apart, capsys)
    assert code == row.get("ends", 0) and "error: " not in said, said


def test_an_upload_that_may_not_be_read_is_taken_after_the_command(
    room: Rehearsal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = room.hand_in("ada", RIGHT).rename(room.root / "ada.ipynb")
    shutil.rmtree(room.root / "submitted")
    path.chmod(0)
    monkeypatch.chdir(room.root)
    monkeypatch.setattr(
        "os.access", lambda place, mode: bool(Path(place).stat().st_mode & 0o400)
    )  # root reads anything
    code, said = _call(["collect", "ada.ipynb", "--learner", "ada"], False, capsys)
    assert code == 2 and "the upload cannot be read: permission denied" in said
    (command,) = re.findall("next: (chmod -R .*)", said)
    subprocess.run(command, shell=True, check=True)
    assert _call(["collect", "ada.ipynb", "--learner", "ada"], False, capsys)[0] == 0
