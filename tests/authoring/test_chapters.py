"""The web site: what a reader sees of a lesson, and what nobody does. What a browser makes of it:
tests/browser/test_site.py."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag

from nbproof.authoring import shown as shown_cells
from nbproof.authoring import site
from nbproof.authoring.chapter import Levels, chapter_of, headings_in
from nbproof.authoring.shown import Shown, shown_by
from nbproof.authoring.site import make_site
from nbproof.authoring.site_pages import Chapter, home, readers_pages
from nbproof.cells import private_lines
from nbproof.cli.main import main
from nbproof.course_file import the_course
from nbproof.errors import CourseError, LessonError, UsageError
from tests import ROOT, SLUGS, the_lesson

SLUG = "02_tensor_hooks"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    """One chapter of a site that was made without running anything."""
    made = make_site(ROOT, [SLUG], tmp_path_factory.mktemp("site") / "site", run=False)
    assert made.searched_for > 1000
    return BeautifulSoup((made.home.parent / "lessons" / f"{SLUG}.html").read_text(encoding="utf-8"), "html.parser")


def _lines(page: Tag) -> set[str]:
    return {" ".join(line.split()) for line in page.get_text().splitlines()}


@pytest.mark.slow
def test_a_chapter_holds_no_solution_and_no_hidden_check(page: BeautifulSoup) -> None:
    regions = [private_lines(cell.source) for cell in the_lesson(SLUG).cells]
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    secret = {" ".join(line.split()) for line in private if len(line) > 11}
    assert len(secret) > 50
    assert secret & _lines(page) == set()
    assert not re.search("BEGIN (SOLUTION|HIDDEN|MARK)", str(page))


@pytest.mark.slow
def test_a_chapter_shows_each_exercise_with_its_statement_and_the_beginning_of_an_answer(page: BeautifulSoup) -> None:
    lesson = the_lesson(SLUG)
    efforts = [one.get_text() for one in page.select("div.exercise-top p.effort")]
    assert len(efforts) == len(lesson.exercises) + len(lesson.written)
    for exercise in lesson.exercises:
        (effort,) = (one for one in efforts if one.endswith(f"· {exercise.id}"))
        assert f"{exercise.points:g} points · " in effort and " min · " in effort
    stubs = page.select("div.cell.tag_exercise")
    assert len(stubs) >= len(lesson.exercises)
    assert all("TODO" in stub.get_text() and not stub.select(".cell_output") for stub in stubs)
    assert len(page.select("div.exercise-end")) == len(efforts)


@pytest.mark.slow
def test_what_would_give_an_answer_away_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = the_lesson(SLUG).exercise("grad_clipper")
    _, hidden = private_lines(exercise.answer.source)
    line = max(hidden, key=len)
    monkeypatch.setattr(site, "opening_page", lambda root, slug: f"```\n{line}\n```")
    with pytest.raises(CourseError, match="the site would show a line of") as error:
        make_site(ROOT, [SLUG], tmp_path / "site", run=False)
    assert error.value.place == f"lessons/{SLUG}.html"
    assert not (tmp_path / "site").exists()


def test_nothing_but_an_earlier_site_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else than an earlier site"):
        make_site(ROOT, [SLUG], tmp_path, run=False)
    assert (tmp_path / "diary.txt").read_text() == "mine"


def _released(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=list(cells))


def _graded(cell: nbformat.NotebookNode, **marks: Any) -> nbformat.NotebookNode:
    cell.metadata["nbgrader"] = {"grade_id": "x", "grade": False, "solution": False, **marks}
    return cell


def test_only_shown_cells_show_what_they_put_out() -> None:
    show = nbformat.v4.new_code_cell("print(1)")
    answer = _graded(nbformat.v4.new_code_cell("pass  # TODO: your code"), solution=True)
    test = _graded(nbformat.v4.new_code_cell('from course import check\ncheck("x", part="a")'), grade=True)
    told = [nbformat.v4.new_output("stream", text="1\n")]
    outputs = {cell.id: told for cell in (show, answer, test)}
    made = chapter_of("T", "Read.", _released(show, answer, test), outputs, {})
    assert [cell.outputs for cell in made.cells if cell.cell_type == "code"] == [told, []]
    assert 'hint("x")' in made.cells[-1].source and "check(" not in made.cells[-1].source


def test_what_a_cell_prints_in_one_go_stands_together() -> None:
    show = nbformat.v4.new_code_cell("train()")

    def printed(text: str, name: str = "stdout") -> nbformat.NotebookNode:
        return nbformat.v4.new_output("stream", text=text, name=name)

    drawn = nbformat.v4.new_output("display_data", {"text/plain": "tree"})
    sent = [printed("step 1\n"), printed("step 2\n"), drawn, printed("step 3\n"), printed("so\n", "stderr")]
    (cell,) = chapter_of("T", "Read.", _released(show), {show.id: sent}, {}).cells
    assert cell.outputs == [printed("step 1\nstep 2\n"), drawn, printed("step 3\n"), printed("so\n", "stderr")]
    assert sent[0].text == "step 1\n"


def test_a_picture_becomes_a_file_and_keeps_its_words() -> None:
    show = nbformat.v4.new_code_cell("draw()\n" * 20)
    data = {
        "text/html": '<img alt="a tree" src="data:image/png;base64,QUJD">',
        "image/png": "QUJD",
        "text/plain": "tree",
    }
    pictures: dict[str, bytes] = {}
    made = chapter_of(
        "T", "Read.", _released(show), {show.id: [nbformat.v4.new_output("display_data", data)]}, pictures
    )
    ((name, png),) = pictures.items()
    assert png == b"ABC"
    assert made.cells[0].outputs[0].data == {"text/html": f'<img alt="a tree" loading="lazy" src="../drawn/{name}">'}
    assert made.cells[0].metadata.tags == ["hide-input"]  # twenty lines that draw


def test_what_only_a_learner_needs_is_left_out() -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in ("progress()", 'hint("x")', "progress() or 1")]
    made = chapter_of("T", "Read.", _released(*cells), {}, {})
    assert [cell.source for cell in made.cells] == ["progress() or 1"]


def test_the_headings_of_a_notebook_become_those_of_one_page() -> None:
    levels = Levels()
    texts = ["# Title\n\n### Deep", "```\n# no heading\n```\n# Part 1\n## Section", "### Exercise: x", "# Part 2"]
    made = "\n".join(map(levels.of, texts))
    assert [line for line in made.splitlines() if line.startswith("#")] == [
        "# Title", "## Deep", "# no heading", "## Part 1", "### Section", "#### Exercise: x", "## Part 2",
    ]  # fmt: skip


@pytest.mark.parametrize("slug", SLUGS)
def test_each_lesson_is_one_page_with_headings_in_order(slug: str) -> None:
    released = nbformat.read(ROOT / "release" / slug / f"{slug}.ipynb", as_version=4)
    made = chapter_of("T", "Read.", released, {}, {})
    found = [level for cell in made.cells if cell.cell_type == "markdown" for _, level in headings_in(cell.source)]
    assert found[0] == 1 and found.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(found))


def test_every_lesson_says_what_goes_wrong_in_it() -> None:
    wrong = the_course().goes_wrong
    assert sorted(wrong) == SLUGS
    assert all(one.endswith((".", "?")) and 40 < len(one) < 140 for one in wrong.values())


def test_home_shows_what_the_readme_says_and_a_card_for_each_lesson() -> None:
    _, titles = readers_pages(ROOT)
    made = home(ROOT, [Chapter(slug, "A title", 5, 90, 30) for slug in SLUGS], titles)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.splitlines()[2] in made and "make lab " in made and "docs/pictures/wrong_answer.png" in made
    for slug in SLUGS:
        assert f":link: lessons/{slug}\n" in made and the_course().goes_wrong[slug] in made
    assert made.count("5 exercises · 90 + 30 minutes") == len(SLUGS)
    assert set(titles) >= {"docs/learners.md", "docs/instructors.md", "docs/authors.md", "CONTRIBUTING.md"}
    assert all(f"<{name.removesuffix('.md')}>" in made for name in titles)


def test_pages_link_only_to_what_is_on_the_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Home\n")
    (tmp_path / "docs/engine.md").write_text(
        "# A\n[home](../README.md#x), [b](learners.md#top), [docs/learners.md](learners.md), [code](../m.py), [out](https://a.b)\n"
    )
    (tmp_path / "docs/learners.md").write_text("# B\n")
    texts, titles = readers_pages(tmp_path)
    assert (
        texts["docs/engine.md"].splitlines()[1]
        == "[home](../index.md), [b](learners.md#top), [B](learners.md), code, [out](https://a.b)"
    )
    assert titles == {"docs/engine.md": "A", "docs/learners.md": "B"}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A course's folder with the notebook of one lesson: a shown cell, an answer, a check that nobody is to run."""
    check = _graded(nbformat.v4.new_code_cell("raise SystemError"), grade=True)
    cells = [nbformat.v4.new_code_cell("x = 20 + 1"), check, nbformat.v4.new_code_cell("print(x * 2)")]
    for number, cell in enumerate(cells):
        cell.id = f"c{number}"
    (tmp_path / "source/01_a").mkdir(parents=True)
    nbformat.write(_released(*cells), tmp_path / "source/01_a/01_a.ipynb")
    return tmp_path


@pytest.mark.slow
def test_a_lesson_is_run_once_and_again_if_it_changed(tiny: Path, diary: Path) -> None:
    heard: list[Shown] = []
    for _ in range(2):
        found = shown_by(tiny, ["01_a"], tiny / "kept", heard.append)
        assert {name: [one["text"] for one in put] for name, put in found["01_a"].outputs.items()} == {"c2": ["42\n"]}
    path = tiny / "source/01_a/01_a.ipynb"
    path.write_text(path.read_text().replace("x * 2", "x * 3"))
    shown_by(tiny, ["01_a"], tiny / "kept", heard.append)
    first, second, third = heard
    assert first.seconds is not None and second.seconds is None and third.seconds is not None
    assert third.outputs["c2"][0]["text"] == "63\n"
    assert not diary.exists()


@pytest.mark.slow
def test_a_lesson_that_fails_takes_no_other_with_it_and_is_run_again(tiny: Path) -> None:
    path = tiny / "source/01_a/01_a.ipynb"
    sound = path.read_text()
    shutil.copytree(tiny / "source/01_a", tiny / "source/02_b")
    (tiny / "source/02_b/01_a.ipynb").rename(tiny / "source/02_b/02_b.ipynb")
    path.write_text(sound.replace("x * 2", "x / 0").replace("x = 20", 'print("begun"); x = 20'.replace('"', '\\"')))
    slugs = ["01_a", "02_b", "03_c"]
    found = shown_by(tiny, slugs, tiny / "kept", lambda one: None)
    assert [one["text"] for one in found["01_a"].outputs["c0"]] == ["begun\n"]
    assert set(found["01_a"].outputs) == {"c0"} and set(found["02_b"].outputs) == {"c2"}
    first, second, third = (found[slug].stopped for slug in slugs)
    assert first is not None and second is None
    assert first.fact == "a cell of 01_a cannot be run here: ZeroDivisionError: division by zero"
    assert first.place == f"{path}, cell c2: print(x / 0)"
    assert third is not None and "there is no notebook of 03_c in source/" in third.fact
    assert [one.name for one in (tiny / "kept").iterdir()] == ["02_b.json"]


@pytest.mark.slow
def test_whoever_interrupts_waits_for_no_lesson(tiny: Path) -> None:
    late = tiny / "late"
    cells = [nbformat.v4.new_code_cell(text) for text in ("import time\ntime.sleep(60)", f"open({str(late)!r}, 'w')")]
    (tiny / "source/02_b").mkdir()
    nbformat.write(_released(*cells), tiny / "source/02_b/02_b.ipynb")

    def interrupt(shown: Shown) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shown_by(tiny, ["02_b", "01_a"], tiny / "kept", interrupt)
    assert not late.exists()


@pytest.mark.slow
def test_a_site_is_made_of_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One lesson stops in a cell, one has no release, one page leads nowhere: three lines, exit 1, and a site."""
    error = LessonError("a cell of x cannot be run here: RuntimeError: no such CPU", "source/x, cell c", "mend it")

    def shown(root: Path, slugs: list[str], *more: Any) -> dict[str, Shown]:
        return {slug: Shown(slug, {}, 1.0, error if slug == SLUG else None) for slug in slugs}

    def notebook_at(path: Path) -> nbformat.NotebookNode:
        if path.stem == "04_apply":
            raise LessonError("there is no notebook of 04_apply in release/", str(path), "build")
        return shown_cells.notebook_at(path)

    monkeypatch.setattr(site, "shown_by", shown)
    monkeypatch.setattr(site, "notebook_at", notebook_at)
    monkeypatch.setattr(site, "opening_page", lambda root, slug: "[there](../docs/learners.md#nowhere)")
    assert main(["site", SLUG, "04_apply", "--course", str(ROOT), "--out", str(tmp_path / "site")]) == 1
    page = (tmp_path / "site/lessons" / f"{SLUG}.html").read_text(encoding="utf-8")
    assert "Some outputs are missing on this page" in page
    assert not (tmp_path / "site/lessons/04_apply.html").exists()
    told = capsys.readouterr()
    assert told.err.startswith("site: running the lessons")
    lines = told.out.splitlines()
    assert sum(line.startswith("! ") for line in lines) == 3
    assert any("nowhere" in line for line in lines) and any("04_apply has no chapter" in line for line in lines)
    assert any(line.endswith(f"; the chapter of {SLUG} shows what came before") for line in lines)
    assert "  next: mend it" in lines


def test_what_changes_a_lesson_s_surroundings_has_it_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown_cells.surroundings_now()
    assert shown_cells.surroundings_now() == before
    monkeypatch.setattr(shown_cells.metadata, "distributions", lambda: [])
    assert shown_cells.surroundings_now() != before
