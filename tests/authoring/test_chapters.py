"""The web site: what a reader sees of a lesson, and what nobody does. What a browser makes of it:
tests/browser/test_site.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

from nbproof.authoring import site
from nbproof.authoring.site import Shown, make_site, shown_by
from nbproof.cells import private_lines
from nbproof.errors import CourseError, LessonError, UsageError
from tests import COURSE, OLDER_CPUS, ROOT, SLUGS, main, the_lesson

SLUG = "02_tensor_hooks"


@pytest.mark.slow
def test_what_would_give_an_answer_away_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, hidden = private_lines(the_lesson(SLUG).exercise("grad_clipper").answer.source)
    line = max(hidden, key=len)
    monkeypatch.setattr(site, "opening_of", lambda course, shown: f"```\n{line}\n```")
    with pytest.raises(CourseError, match="the site would show a line of") as error:
        make_site(COURSE, ROOT, [SLUG], tmp_path / "site", run=False)
    assert error.value.place == f"lessons/{SLUG}.html"
    assert not (tmp_path / "site").exists()


def test_what_makes_pages_is_asked_for_before_lessons_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(site, "shown_by", lambda root, slugs, told: ran.extend(slugs) or {})
    monkeypatch.setattr(site, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="Sphinx, which makes the pages, is not installed") as error:
        make_site(COURSE, ROOT, [SLUG], tmp_path / "site")
    assert "pip install" in error.value.next_command and ran == []


def test_nothing_but_an_earlier_site_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else than an earlier site"):
        make_site(COURSE, ROOT, [SLUG], tmp_path, run=False)
    assert (tmp_path / "diary.txt").read_text() == "mine"


def _graded(cell: nbformat.NotebookNode, **marks: Any) -> nbformat.NotebookNode:
    cell.metadata["nbgrader"] = {"grade_id": "x", "grade": False, "solution": False, **marks}
    return cell


def test_only_shown_cells_show_what_they_put_out() -> None:
    prose = nbformat.v4.new_markdown_cell("# Title")
    show = nbformat.v4.new_code_cell("print(1)")
    answer = _graded(nbformat.v4.new_code_cell("pass  # TODO: your code"), solution=True)
    test = _graded(nbformat.v4.new_code_cell('from course import check\ncheck("x", part="a")'), grade=True)
    told = [nbformat.v4.new_output("stream", text="1\n")]
    outputs = {cell.id: told for cell in (show, answer, test)}
    released = nbformat.v4.new_notebook(cells=[prose, show, answer, test])
    made = site.chapter_of(COURSE, released, Shown("01_a", outputs, 1.0))
    assert [cell.outputs for cell in made.cells if cell.cell_type == "code"] == [told, []]


@pytest.mark.slow
def test_a_lesson_that_fails_takes_no_other_with_it(tmp_path: Path, diary: Path) -> None:
    for slug, last in (("01_a", "print(x / 0)"), ("02_b", "print(x * 2)")):
        unasked = _graded(nbformat.v4.new_code_cell("raise SystemError"), grade=True)
        cells = [nbformat.v4.new_code_cell("x = 21; print('begun')"), unasked, nbformat.v4.new_code_cell(last)]
        for number, cell in enumerate(cells):
            cell.id = f"c{number}"
        (tmp_path / "source" / slug).mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"source/{slug}/{slug}.ipynb")
    first, second, third = shown_by(tmp_path, ["01_a", "02_b", "03_c"], lambda one: None).values()
    assert {name: [one["text"] for one in put] for name, put in first.outputs.items() if put} == {"c0": ["begun\n"]}
    assert [one["text"] for one in second.outputs["c2"]] == ["42\n"]
    assert first.stopped is not None and second.stopped is None
    assert first.stopped.fact == "a cell of 01_a cannot be run here: ZeroDivisionError: division by zero"
    assert third.stopped is not None and "there is no notebook of 03_c in source/" in third.stopped.fact
    assert not diary.exists()


@pytest.mark.slow
def test_a_site_is_made_of_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One lesson stops in a cell: the end says so, exit 1, and there is a site."""
    error = LessonError("a cell of x cannot be run here: RuntimeError: no such CPU", "source/x", "mend it")
    monkeypatch.setattr(site, "shown_by", lambda root, slugs, told: {SLUG: Shown(SLUG, {}, 1.0, error)})
    assert main(["site", SLUG, "--course", str(ROOT), "--out", str(tmp_path / "site")]) == 1
    page = (tmp_path / "site/lessons" / f"{SLUG}.html").read_text(encoding="utf-8")
    assert "Some outputs are missing on this page" in page
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("! ") and "no such CPU" in line]
    assert "  next: mend it" in lines
    assert [
        int(found[1].replace(",", "")) > 1000
        for found in map(re.compile("searched for ([0-9,]+) ").match, lines)
        if found
    ] == [True]
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert f'href="lessons/{SLUG}.html"' in home and 'href="docs/learners.html"' in home
    _has_each_exercise_and_no_answer(page)


def _has_each_exercise_and_no_answer(page: str) -> None:
    lines = {" ".join(line.split()) for line in BeautifulSoup(page, "html.parser").get_text().splitlines()}
    lesson = the_lesson(SLUG)
    for exercise in lesson.exercises:
        assert [line for line in lines if line.endswith(f"· {exercise.id}")], exercise.id
    regions = [private_lines(cell.source) for cell in lesson.cells]
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    secret = {" ".join(line.split()) for line in private if len(line) > 11}
    assert len(secret) > 50 and secret & lines == set()
    assert not re.search("BEGIN (SOLUTION|HIDDEN|MARK)", page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cpu", "slugs"),
    [("AVX2", ["06_capstones"]), *(pytest.param(cpu, SLUGS, marks=pytest.mark.nightly) for cpu in OLDER_CPUS)],
)
def test_every_solved_lesson_runs_whole_on_older_cpus(
    cpu: str, slugs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OLDER_CPUS[cpu].items():
        monkeypatch.setenv(name, value)
    shown = shown_by(ROOT, slugs, lambda one: None)
    assert sorted(shown) == sorted(slugs)
    assert [one.stopped for one in shown.values() if one.stopped] == []


@pytest.mark.nightly
@pytest.mark.parametrize("cpu", OLDER_CPUS)
def test_the_author_contract_holds_on_older_cpus(cpu: str) -> None:
    command = [sys.executable, "-m", "course", "check"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | OLDER_CPUS[cpu], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
