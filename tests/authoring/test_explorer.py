"""The explorer: an answer that is wrong where no check goes is found, by the smallest example, as lines to be run."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

from nbproof.authoring.checkup import explored
from nbproof.lesson.from_text import read_lesson
from tests import COURSE, ROOT, some_by_day, typed

pytestmark = pytest.mark.slow
TAKE = Path("lessons", "01_iterators", "take")
GOES_ON = """
# %% goes_on
def take(items, n):
    return [one for one, number in zip(items, range(n))] + (["more"] if n == 3 else [])
"""
"""An accepted answer that is wrong for three things."""


EXPLORED = sorted(path.parent.name for path in (ROOT / "lessons").glob("*/*/explore.py"))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "iterators", tmp_path / "iterators"))


def printed_by(lines: str, answer: str) -> str:
    """What the lines print below an answer."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(f"{answer}\n{lines}", {"__name__": "__main__"})
    return printed.getvalue().strip()


def test_where_all_agree_the_command_succeeds_and_an_exercise_without_an_exploration_is_named(course: Path) -> None:
    done = typed(course, "check", "--explore", "--draws", "20")
    assert done.returncode == 0 and "take: 20 draws" in done.stdout and "1 exercise, 0 disagreements" in done.stdout
    none = typed(course, "check", "countdown", "--explore")
    assert none.returncode == 2 and "has an exploration" in none.stderr and "docs/authors.md" in none.stderr


def test_a_wrong_reference_and_a_wrong_accepted_answer_are_named_with_lines_that_show_it(course: Path) -> None:
    lesson = course / TAKE.parent / "lesson.py"
    text = lesson.read_text(encoding="utf-8")
    lesson.write_text(text.replace("    return found\n", "    return found or None\n"), encoding="utf-8")
    first, again = (typed(course, "check", "take", "--explore", "--draws", "60") for _ in range(2))
    assert first.returncode == 1
    told, lines = first.stdout, "".join(re.findall(r"^    ([^#].*\n)", first.stdout, re.MULTILINE))
    assert "not the truth: reference\n" in told
    assert "items = []\n" in lines and "n = 0\n" in lines, "the smallest"
    reference = next(one for one in read_lesson(COURSE, lesson.parent).exercises if one.id == "take").answer.source
    shown = printed_by(lines, reference)
    assert shown == "{'take(items, n)': None, 'what is left': []}" and f"# reference: {shown}" in told
    assert re.sub(r"[\d.]+ s", "", again.stdout) == re.sub(r"[\d.]+ s", "", told), "the same seed, the same draws"

    lesson.write_text(text, encoding="utf-8")
    with (course / TAKE / "right.py").open("a", encoding="utf-8") as file:
        file.write(GOES_ON)
    told = typed(course, "check", "take", "--explore", "--draws", "100").stdout
    assert "not the truth: goes_on\n" in told and re.search(r"# as the truth: reference, ", told)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        pytest.param("raise NameError('nobody')", "NameError: nobody", id="raises"),
        pytest.param("__import__('os')._exit(0)", "it has not answered", id="dies"),
    ],
)
def test_an_answer_that_raises_or_dies_parts_from_the_truth(course: Path, ending: str, told: str) -> None:
    with (course / TAKE / "right.py").open("a", encoding="utf-8") as file:
        file.write(f"\n# %% ends\ndef take(items, n):\n    {ending}\n")
    done = typed(course, "check", "take", "--explore", "--draws", "5")
    assert done.returncode == 1 and "not the truth: ends\n" in done.stdout and told in done.stdout


@pytest.mark.parametrize("name", some_by_day(EXPLORED, 13))
def test_reference_accepted_answers_and_truth_agree_on_what_a_statement_allows(name: str) -> None:
    (found,) = explored(COURSE, ROOT, [name], lambda done, of, told: None, (1.0, 15, 3))
    assert found.draws >= 15 and found.disagreements == []
