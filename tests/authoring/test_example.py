"""The exercise that `docs/authors.md` tells its reader to copy: it is made from the page, and holds."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.contract import MIN_ACCEPTED, MIN_MUTANTS, check_contract, check_release, select
from nbproof.authoring.exercise_folder import HIDDEN

ROOT = Path(__file__).parent.parent.parent
PART = (
    (ROOT / "docs/authors.md").read_text(encoding="utf-8").split("## A whole exercise, to copy\n")[1].split("\n## ")[0]
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PART, re.DOTALL)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of that lesson alone, written as the page says."""
    folder = tmp_path / "lessons" / "07_halve"
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (folder / "halve_grad").mkdir(parents=True)
    lesson, checks = blocks("python")
    (hints,) = blocks("toml")
    right = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|$", PART, re.MULTILINE)
    wrong = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (\w+) \| `([^`]+)` \|$", PART, re.MULTILINE)
    files = {
        "lesson.py": lesson,
        "halve_grad/checks.py": checks,
        "halve_grad/hints.toml": hints,
        "halve_grad/right.py": "\n".join(f"# %% {name}\n{text}\n" for name, text in right),
        "halve_grad/wrong.py": "\n".join(
            f"# %% {name}\n# misconception: {misconception} | hint: {hint}\n{text}\n"
            for name, misconception, hint, text in wrong
        ),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return tmp_path


def test_it_meets_the_contract(course: Path) -> None:
    build(course, say=lambda line: None)
    (record,) = check_contract(select(course, ["halve_grad"]))
    assert not record.violations
    assert record.accepted >= MIN_ACCEPTED
    assert record.killed == record.hinted >= MIN_MUTANTS
    assert not check_release(course, [lesson for lesson, _ in select(course, [])])


def test_without_its_hidden_check_a_mutant_survives_as_the_page_says(course: Path) -> None:
    path = course / "lessons/07_halve/halve_grad/checks.py"
    path.write_text(path.read_text().partition(HIDDEN)[0])
    (record,) = check_contract(select(course, ["halve_grad"]))
    assert [one.fact for one in record.violations] == [
        "halve_grad: the mutant in_place survives: in place, and returned"
    ]


def test_its_way_in_leads_to_a_section_of_lesson_02() -> None:
    way = tomllib.loads(blocks("toml")[0])["way_in"]
    assert set(way) == {"question", "idea", "read"}
    (section,) = re.findall(r"^Lesson 02, '(.+)'$", way["read"])
    assert f"# ## {section}\n" in (ROOT / "lessons/02_tensor_hooks/lesson.py").read_text(encoding="utf-8")
