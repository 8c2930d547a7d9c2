"""What learners get: enough to learn with, and nothing that gives an answer away."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.authoring.bundle import bundle, write_wheels
from nbproof.authoring.secret_lines import text_of
from nbproof.cells import private_lines
from nbproof.errors import CourseError
from nbproof.lesson.lesson import Lesson
from tests import COURSE, ROOT, main, the_lessons

pytestmark = pytest.mark.slow

NAME = "pytorch-hooks-course"
MADE_FROM = "course lessons source release docs LICENSE requirements.txt constraints.txt pyproject.toml install.py"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    bundle(COURSE, ROOT, out=folder / "b.zip")
    with zipfile.ZipFile(folder / "b.zip") as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {NAME}
        archive.extractall(folder)
    return folder / NAME


def test_no_line_of_a_solution_or_a_hidden_test_is_in_it(unpacked: Path, tmp_path: Path) -> None:
    # Found here in another way than by the bundle's own search: region by region, from the lessons. Also in its wheel.
    (wheel,) = unpacked.rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    shown = {
        path.relative_to(root): set(map(_even, text_of(path.name, path.read_bytes()).splitlines()))
        for root in (unpacked, tmp_path)
        for path in root.rglob("*")
        if path.is_file() and path.suffix not in (".db", ".pyc", ".whl")
    }
    public = {_even(line) for lesson in the_lessons() for line in _lines_of(lesson, 0)}
    for lesson in the_lessons():
        telling = {line for line in set(map(_even, _lines_of(lesson, 1))) - public if len(line) >= 12}
        assert len(telling) > 30
        for path, lines in shown.items():
            assert not lines & telling, f"{path}: {sorted(lines & telling)[:3]}"
    # One module of the tool is called as a lesson's text is.
    names = {part for path in shown.keys() - {Path("nbproof/lesson/lesson.py")} for part in path.parts}
    assert not names & {"lessons", "source", "right.py", "wrong.py", "lesson.py", "authoring", "grading", "tests"}


def _even(line: str) -> str:
    return " ".join(line.split())


def _lines_of(lesson: Lesson, half: int) -> set[str]:
    """What all may read of its cells, or what only instructors may."""
    return set[str]().union(*(private_lines(cell.source)[half] for cell in lesson.cells))


def test_some_lessons_only_and_when_they_are_due(
    copied: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "nbgrader_config.py", copied)
    assert main(["roster", "due", "02_tensor_hooks", "2026-11-20", "--course", str(copied)]) == 0
    made = bundle(COURSE, copied, ["02_tensor_hooks"], tmp_path_factory.mktemp("out") / "b.zip")
    with zipfile.ZipFile(made.path) as archive:
        notebooks = [name for name in archive.namelist() if name.endswith(".ipynb")]
        assert notebooks == [f"{NAME}/release/02_tensor_hooks/02_tensor_hooks.ipynb"]
        assert list(json.loads(archive.read(f"{NAME}/course/handed_out/outline.json"))) == ["02_tensor_hooks"]
        page = archive.read(f"{NAME}/START.html").decode()
    assert re.findall(r"<code class=\"soft\">(\w+)</code><br><strong>due ([^<]+)<", page) == [
        ("02_tensor_hooks", "2026-11-20 23:59 UTC")
    ]
    assert "03_module_hooks" not in page
    assert main(["bundle", "--course", str(copied), "--out", str(made.path)]) == 0
    assert f"{made.path}: 7 lessons (01_module_anatomy, " in capsys.readouterr().out
    kept = made.path.read_bytes()
    assert main(["bundle", "02_tensor_hooks", "--course", str(copied), "--out", str(made.path)]) == 2
    told = capsys.readouterr().err
    assert "holds more lessons: 01_module_anatomy, 03_module_hooks, " in told and made.path.read_bytes() == kept
    other = told.partition("next: ")[2].partition(" keeps both")[0].replace("FILE", str(made.path.with_name("c.zip")))
    assert main(shlex.split(other)[3:]) == 0 and made.path.read_bytes() == kept


def test_equal_contents_give_equal_bytes(unpacked: Path, tmp_path: Path) -> None:
    assert bundle(COURSE, ROOT, out=tmp_path / "a.zip").path.read_bytes() == (unpacked.parent / "b.zip").read_bytes()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for name in MADE_FROM.split():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_lesson_that_was_not_built_is_not_handed_out(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = copied / "release" / "05_feature_extraction" / "05_feature_extraction.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["id"] = "of-an-earlier-one"
    for damage in (json.dumps(notebook), "{"):
        path.write_text(damage)
        assert main(["bundle", "--course", str(copied), "--out", str(copied / "b.zip")]) == 1
        told = capsys.readouterr().err
        assert "05_feature_extraction is missing, damaged, or of another version of the lesson" in told
        assert "build 05_feature_extraction" in told
    assert not (copied / "b.zip").exists()


@pytest.mark.parametrize("makes", [bundle, write_wheels])
def test_a_lesson_that_was_edited_and_not_built_is_in_no_zip_and_no_wheel(
    makes: Callable[..., object], copied: Path
) -> None:
    path = copied / "lessons" / "05_feature_extraction" / "lesson.py"
    path.write_text(path.read_text().replace("# # Look", "# # See", 1))
    with pytest.raises(CourseError, match="source/05_feature_extraction is older than lessons/05_feature_extraction"):
        makes(COURSE, copied, out=copied / "out")
    assert not (copied / "out").exists()


@pytest.mark.parametrize("where", ["release", "course/models.py"])
def test_what_gives_an_answer_away_is_not_bundled(copied: Path, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = the_lessons()[1]
    solution = max(_lines_of(lesson, 1), key=len)
    path = copied / where
    if path.is_dir():
        path = copied / "release" / lesson.slug / f"{lesson.slug}.ipynb"
        notebook = json.loads(path.read_text())
        notebook["cells"][3]["source"] = f"# forgotten\n{solution}"
        path.write_text(json.dumps(notebook))
    else:
        path.write_text(path.read_text() + f"\n# {solution}\n")
    assert main(["bundle", "--course", str(copied), "--out", str(copied / "b.zip")]) == 1
    assert re.search("error: the bundle would show a line of source/", capsys.readouterr().err)
    assert not (copied / "b.zip").exists()


def test_the_page_counts_the_points_that_feedback_and_gradebook_count(unpacked: Path) -> None:
    page = (unpacked / "START.html").read_text()
    for lesson in the_lessons():
        row = re.search(rf"<code class=\"soft\">{lesson.slug}</code>.*?([\d.]+)</td></tr>", page)
        assert row is not None
        assert float(row[1]) == sum(cell.points for cell in lesson.cells)


def test_what_the_page_says_to_run_is_in_the_zip(unpacked: Path) -> None:
    commands = re.findall(r"<pre>(.+?)</pre>", (unpacked / "START.html").read_text(), re.DOTALL)
    assert "python3 install.py" in commands and "py install.py" in commands
    for command in commands:
        program = command.split()[1]
        assert program in ("-m", "install.py")
        if program == "install.py":
            words = [sys.executable, *command.split()[1:], "--help"]
            told = subprocess.run(words, cwd=unpacked, capture_output=True, text=True, check=True)
            assert "--torch" in told.stdout


def test_a_command_of_graders_names_in_a_class_what_learners_have(unpacked: Path) -> None:
    def told(*words: str) -> str:
        of_class = [sys.executable, "-m", "course", *words]
        return subprocess.run(of_class, cwd=unpacked, capture_output=True, text=True, check=False).stderr

    said = told("check-notebook", "02_tensor_hooks")
    (next_command,) = re.findall("next: .* -m course (.*), and run the check cells there; teachers install it", said)
    assert "usage" not in told(next_command, "--help")
