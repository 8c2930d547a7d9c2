"""A course as a web site to be read, ``build/site``: lessons are chapters, with what they show; exercises without answers.

Sphinx with myst-nb makes the pages, from ``lessons/index.md``, README, ``docs/`` and the released notebooks; what cells show is
put out by the notebook with the reference solutions, which is run once. They take the place of an earlier site
once they were searched for answers. A lesson that cannot be run has a chapter without the outputs that are missing; only an
answer on a page keeps the site from being written.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.build import as_text, how_to_install
from nbproof.authoring.bundle import refuse_leaks
from nbproof.cells import CellKind
from nbproof.command import course_command, with_extra
from nbproof.course_file import Course
from nbproof.errors import CourseError, LessonError, UsageError, disk_trouble
from nbproof.lesson.from_notebook import kind_of, read_notebook
from nbproof.lesson.from_text import find_lessons

__all__ = ["Shown", "Site", "chapter_of", "make_site", "opening_of", "shown_by"]

_OURS = ("site.css", "site.svg")
"""What lies beside this module: the style of the pages, and the mark on their tab."""
_FIRST = "lessons/index.md"
"""The site's first page, where a course has one; else it is the README."""
_MARK = ".buildinfo"
"""The file that tells Sphinx that it has made the site."""
_OF_ONES_OWN = re.compile(r"(?:progress|hint|solution)\([^()]*\)")
"""Cells that tell a learner about their own work."""
_TO_NO_PAGE = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!\w+:|#|[^)]*\.md)[^)]*\)")
"""A link to a file of the repository that is no page of the site."""


_TO_CHAPTER = re.compile(r"\{doc\}`(?P<text>[^`<]+?) *<(?P<chapter>[^`>]+)>`")
"""A link to a chapter, which a site of some lessons may not have."""
_AT_ONCE = 2
"""Lessons that run side by side."""
_PATIENCE = 300
"""Seconds for one cell, on a machine that does something else as well."""


@dataclass(frozen=True)
class Shown:
    """What one lesson's cells have put out."""

    slug: str
    outputs: Mapping[str, Sequence[Mapping[str, Any]]]
    """Cell id -> outputs, in nbformat's form."""
    seconds: float
    stopped: LessonError | None = None
    """What kept the rest of it from being run; None if nothing did."""


@dataclass(frozen=True)
class Site:
    """What was made."""

    home: Path
    pages: int
    searched_for: int
    """Lines of solutions, hidden tests and other answers that are not in it."""
    flaws: tuple[CourseError, ...]
    """What went wrong: its page is there as far as it goes."""


def make_site(
    course: Course,
    root: Path,
    names: Sequence[str] = (),
    out: Path | None = None,
    told: Callable[[Shown], None] = lambda shown: None,
    run: bool = True,
) -> Site:
    """Make the site with these lessons (default: all). Without ``run`` no cell is run, and none shows anything.

    ``told`` hears of each lesson that was run. Raises CourseError if no page can be made, or if one would give something away:
    then an earlier site stays.
    """
    slugs = [folder.name for folder in find_lessons(root, list(names))]
    if find_spec("sphinx") is None:
        raise UsageError("Sphinx, which makes the pages, is not installed", "sphinx", with_extra("site"))
    out = (out or root / "build" / "site").absolute()
    if out.exists() and any(out.iterdir()) and not (out / _MARK).is_file():
        raise UsageError(
            "there is something else than an earlier site, which would be lost",
            str(out),
            course_command("site --out FOLDER") + ", a new one",
        )
    shown = shown_by(root, slugs, told) if run else {}
    flaws: list[CourseError] = [one.stopped for one in shown.values() if one.stopped]
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        pages, made = Path(folder).resolve() / "pages", Path(folder).resolve() / "made"
        _write_pages(course, root, slugs, shown, flaws, pages)
        flaws += _make(pages, made)
        html = {path.relative_to(made).as_posix(): path.read_bytes() for path in sorted(made.rglob("*.html"))}
        own = "\n".join(path.read_text(encoding="utf-8") for path in sorted(pages.rglob("*.md")))
        searched = refuse_leaks(course, root, html, "the site", own)
        with disk_trouble(CourseError, "the site cannot be written", out, course_command("site --out FOLDER")):
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(made, out)
    return Site(out / "index.html", len(html), searched, tuple(flaws))


def shown_by(root: Path, slugs: Sequence[str], told: Callable[[Shown], None]) -> dict[str, Shown]:
    """What the cells of these lessons show; two lessons run at a time. ``told`` hears of each, in their order."""
    found: dict[str, Shown] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for one in pool.map(_shown, [root / "source" / slug / f"{slug}.ipynb" for slug in slugs]):
            found[one.slug] = one
            told(one)
    return found


def _notebook_at(path: Path) -> nbformat.NotebookNode:
    """The lesson's notebook. Raises LessonError, with what to do, if it is missing or cannot be read."""
    try:
        return nbformat.from_dict(read_notebook(path.read_bytes()))
    except Exception as error:  # what lies there may be anything
        raise LessonError(
            f"there is no notebook of {path.stem} in {path.parts[-3]}/ that can be read: {type(error).__name__}",
            str(path),
            course_command(f"build {path.stem}"),
        ) from None


def _leave_out_errors(outputs: Sequence[Any]) -> list[Any]:
    # What an error says is for the author who mends it, not for readers.
    return [one for one in outputs if one.output_type != "error"]


def _shown(path: Path) -> Shown:
    began = time.monotonic()
    try:
        notebook = _notebook_at(path)
    except LessonError as error:
        return Shown(path.stem, {}, 0, error)
    for cell in notebook.cells:
        if kind_of(cell) is CellKind.TEST:
            cell.source = ""  # what checks say is said to learners, of their own answers
    stopped = _run(notebook, path)
    outputs = {cell.id: _leave_out_errors(cell.outputs) for cell in notebook.cells if cell.get("outputs")}
    return Shown(path.stem, outputs, time.monotonic() - began, stopped)


def _run(notebook: nbformat.NotebookNode, path: Path) -> LessonError | None:
    """Fill in what its cells put out; what stopped it, if anything did."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="shown-") as folder:
        # Two lessons run beside each other, so each gets one core; and nobody's own progress is touched.
        own = {**os.environ, "OMP_NUM_THREADS": "1", "COURSE_PROGRESS": str(Path(folder, "progress.db"))}
        client = NotebookClient(
            notebook,
            timeout=_PATIENCE,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--IPKernelApp.log_level=50"],  # what concerns anybody is in the outputs
            force_raise_errors=True,  # here the answers are right, so the cells that lean on them run, too
        )
        try:
            asyncio.run(client.async_execute(env=own))  # a loop of its own, which ends with it
        except CellExecutionError as error:
            fact = f"{error.ename}: {' '.join(error.evalue.split())[:200]}"
        except (CellTimeoutError, DeadKernelError) as error:
            fact = type(error).__name__
        else:
            return None
    return LessonError(
        f"a cell of {path.stem} cannot be run here: {fact}",
        str(path),
        f"open it in JupyterLab, run it, and mend lessons/{path.stem}/lesson.py; then: {course_command('build')}",
    )


def _write_pages(
    course: Course, root: Path, slugs: Sequence[str], shown: Mapping[str, Shown], flaws: list[CourseError], pages: Path
) -> None:
    """Write what Sphinx makes pages from; what of the lessons cannot be shown goes to ``flaws``."""
    chapters = []
    (pages / "lessons").mkdir(parents=True)
    for slug in slugs:
        try:
            released = _notebook_at(root / "release" / slug / f"{slug}.ipynb")
        except LessonError as error:
            flaws.append(error)
            continue
        chapters.append(f"lessons/{slug}")
        chapter = chapter_of(course, released, shown.get(slug, Shown(slug, {}, 0)))
        (pages / "lessons" / f"{slug}.ipynb").write_text(as_text(chapter), encoding="utf-8")
    if (root / "docs").is_dir():
        shutil.copytree(root / "docs", pages / "docs")
    texts, home = _texts(course, root, pages)
    names = [path.relative_to(pages).with_suffix("").as_posix() for path in texts]
    home = _TO_CHAPTER.sub(lambda link: _keep_link(link, chapters), home)
    home = _TO_NO_PAGE.sub(r"\1", home) + _toctree("Lessons", chapters) + _toctree("Pages", names)
    (pages / "index.md").write_text(home, encoding="utf-8")
    (pages / "_static").mkdir()
    for name in _OURS:
        shutil.copy(Path(__file__).with_name(name), pages / "_static")
    settings = {**_SETTINGS, "project": course.says, "html_title": course.says}
    lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
    (pages / "conf.py").write_text("".join([_QUIET, *lines]), encoding="utf-8")


def _keep_link(link: re.Match[str], chapters: Sequence[str]) -> str:
    """A link that leads to one of these chapters; of any other link, its text."""
    return link[0] if link["chapter"] in chapters else link["text"]


def _texts(course: Course, root: Path, pages: Path) -> tuple[list[Path], str]:
    """Put the texts there that are pages, without links that lead to no page: these, and the text of the first page."""
    first = next((root / name for name in (_FIRST, "README.md") if (root / name).is_file()), None)
    for name in ("CONTRIBUTING.md", "README.md"):
        if (root / name).is_file() and root / name != first:
            shutil.copy(root / name, pages)
    readme = "README.md" if (pages / "README.md").exists() else "index.md"
    texts = sorted(pages.rglob("*.md"))
    for path in texts:
        text = _TO_NO_PAGE.sub(r"\1", path.read_text(encoding="utf-8"))
        path.write_text(text.replace("README.md", readme), encoding="utf-8")
    home = first.read_text(encoding="utf-8") if first is not None else f"# {course.says}\n"
    return texts, home


def _toctree(caption: str, names: Sequence[str]) -> str:
    lines = "\n".join(names)
    return f"\n:::{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n:::\n"


def chapter_of(course: Course, released: nbformat.NotebookNode, shown: Shown) -> nbformat.NotebookNode:
    """The chapter as a notebook that was run: what learners get, with what the shown cells put out.

    Every text comes from ``release/``, which holds no solution and no hidden check. What an answer or a check puts out is
    left out: that is the reader's to find.
    """
    first, *others = _cells_of(course, released, shown)
    opening = nbformat.v4.new_markdown_cell(opening_of(course, shown), id="opening")
    return nbformat.v4.new_notebook(cells=[first, opening, *others], metadata=released.metadata)


def _cells_of(course: Course, released: nbformat.NotebookNode, shown: Shown) -> Iterator[Any]:
    for cell in released.cells:
        kind, text = kind_of(cell), cell.source.strip()
        is_for_doing = text == how_to_install(course).strip() or _OF_ONES_OWN.fullmatch(text)
        if kind in (CellKind.TEST, CellKind.WRITTEN) or is_for_doing:
            continue
        if kind in (CellKind.SHOW, CellKind.SETUP):
            cell.outputs = [nbformat.from_dict(dict(one)) for one in shown.outputs.get(cell.id, ())]
        yield cell


def opening_of(course: Course, shown: Shown) -> str:
    """How a reader becomes a learner, and what is missing on the page."""
    said = (
        ":::{admonition} Here you read. In the notebook you do it\n:class: tip\n\n"
        f"`python -m {course.commands} lab {shown.slug}` opens this lesson as a notebook, with a check below each exercise. "
        "What the cells on this page show was put out by a notebook that has all exercises solved.\n:::"
    )
    if shown.stopped is not None:
        said += (
            "\n\n:::{admonition} Some outputs are missing on this page\n:class: warning\n\n"
            "Where this page was made, the lesson could not be run to its end.\n:::"
        )
    return said


def _make(pages: Path, made: Path) -> list[CourseError]:
    """Have Sphinx make the pages; what it warns of. Raises CourseError if it makes none."""
    command = [sys.executable, "-W", "ignore", "-m", "sphinx", "-q", "--no-color", str(pages), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    again = f"mend the page in docs/, or the lesson; then: {course_command('site')}"
    lines = [line for line in done.stderr.replace(f"{pages}/", "").splitlines() if line.strip()]
    flaws = [CourseError(f"a page cannot be made as it is written: {line}", "", again) for line in lines]
    if done.returncode:
        raise flaws[-1]
    return flaws


_QUIET = "import logging\nlogging.getLogger('alembic').setLevel(logging.WARNING)\n"
"""What a gradebook's library says when a page about the tool imports it is no fault of a page."""
_SETTINGS: dict[str, object] = {
    "extensions": ["myst_nb", "sphinx.ext.autodoc"],
    "html_theme": "furo",
    "html_theme_options": {"top_of_page_buttons": []},
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_favicon": "_static/site.svg",
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "pygments_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
    "highlight_language": "none",  # most blocks of the pages are commands; others say what they are
    "nb_execution_mode": "off",  # they have been run, with the reference solutions
    "nb_merge_streams": True,
    "myst_enable_extensions": ["colon_fence"],
    "myst_heading_anchors": 5,
    "language": "en",
    "smartquotes": False,  # `--json` in a title is two hyphens
    # Lessons have the headings of notebooks, which may leave a level out.
    "suppress_warnings": ["mystnb.unknown_mime_type", "myst.header"],
}
"""What Sphinx reads in its ``conf.py``."""
