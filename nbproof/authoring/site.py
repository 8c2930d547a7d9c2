"""A course as a web site to be read, ``build/site``: lessons are chapters, with what they show; exercises without answers.

Sphinx makes the pages, from Markdown and notebooks that are made from README, ``docs/`` and lessons. They take the place of
an earlier site once they were searched for answers. A second time, only lessons that have changed are run.

What can be made is made: a lesson that cannot be run has a chapter without the outputs that are missing, and a page with a link
that leads nowhere is a page. Only an answer on a page keeps the site from being written.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.bundle import refuse_leaks
from nbproof.authoring.chapter import PICTURES, chapter_of, plain
from nbproof.authoring.derived_files import as_text
from nbproof.authoring.headings import minutes_of
from nbproof.authoring.lesson import find_lessons, read_lesson
from nbproof.authoring.shown import Shown, notebook_at, shown_by
from nbproof.authoring.site_pages import Chapter, home, home_title, readers_pages
from nbproof.command import course_command, module_name, with_extra
from nbproof.errors import CourseError, LessonError, UsageError

__all__ = ["Site", "make_site"]

_OURS = ("site.css", "site.svg")
"""What lies beside this module: the style of the pages, and the mark on their tab."""


@dataclass(frozen=True)
class Site:
    """What was made."""

    home: Path
    pages: int
    pictures: int
    size: int
    """Bytes."""
    searched_for: int
    """Lines of solutions, hidden tests and other answers that are not in it."""
    flaws: tuple[tuple[CourseError, str], ...]
    """What went wrong, and what there is all the same."""


def make_site(
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
    out = (out or root / "build" / "site").absolute()
    _refuse_foreign(out)
    shown: dict[str, Shown] = {}
    if run:
        shown = shown_by(root, slugs, root / "build" / "shown", told)
    pictures: dict[str, bytes] = {}
    flaws: list[tuple[CourseError, str]] = []
    files = _sources(root, slugs, shown, pictures, flaws)
    with _disk(out), tempfile.TemporaryDirectory(prefix="site-") as folder:
        work = Path(folder).resolve()
        _write(work, files, pictures)
        flaws += [(error, "the page is there as far as it goes") for error in _make(work)]
        made = {
            path.relative_to(work / "made").as_posix(): path.read_bytes()
            for path in sorted((work / "made").rglob("*"))
            if path.is_file()
        }
        pages = {name: data for name, data in made.items() if name.endswith(".html")}
        own = [files[name].decode() for name in files if name.endswith(".md")]
        searched = refuse_leaks(root, pages, "the site", "\n".join(own))
        _put(made, out)
    size = sum(map(len, made.values()))
    return Site(out / "index.html", len(pages), len(pictures), size, searched, tuple(flaws))


@contextlib.contextmanager
def _disk(out: Path) -> Iterator[None]:
    """A disk that fails in this block, full perhaps, is told in one CourseError."""
    try:
        yield
    except OSError as error:
        fact = error.strerror or str(error)
        raise CourseError(
            f"the site cannot be written: {fact}",
            str(error.filename or out),
            f"free some space, or choose another place: {course_command('site --out FOLDER')}",
        ) from None


def _put(made: Mapping[str, bytes], out: Path) -> None:
    """Write the site to its place: an earlier one stays until all of the new one is there. Raises OSError."""
    coming = out.with_name(f".{out.name[:80]}.new")
    try:
        shutil.rmtree(coming, ignore_errors=True)
        for name, data in made.items():
            (coming / name).parent.mkdir(parents=True, exist_ok=True)
            (coming / name).write_bytes(data)
        shutil.rmtree(out, ignore_errors=True)
        coming.rename(out)
    finally:
        shutil.rmtree(coming, ignore_errors=True)


_MARK = ".buildinfo"
"""The file by which Sphinx knows a site that it has made."""


def _refuse_foreign(out: Path) -> None:
    """Raise UsageError if this folder holds something else than an earlier site, which the new one takes the place of."""
    if out.exists() and not (out.is_dir() and ((out / _MARK).is_file() or not any(out.iterdir()))):
        raise UsageError(
            "there is something else than an earlier site, which would be lost",
            str(out),
            course_command("site --out FOLDER") + ", a new one",
        )


def _sources(
    root: Path,
    slugs: Sequence[str],
    shown: Mapping[str, Shown],
    pictures: dict[str, bytes],
    flaws: list[tuple[CourseError, str]],
) -> dict[str, bytes]:
    """Path -> text of all that pages are made from; what of the lessons cannot be shown goes to ``flaws``."""
    files: dict[str, bytes] = {}
    chapters = []
    for slug in slugs:
        try:
            lesson = read_lesson(root / "lessons" / slug)
            released = notebook_at(root / "release" / slug / f"{slug}.ipynb")
        except LessonError as error:
            flaws.append((error, f"{slug} has no chapter"))
            continue
        title = plain(lesson.title)
        chapters.append(Chapter(slug, title, len(lesson.exercises), *minutes_of(lesson)))
        one = shown.get(slug, Shown(slug, {}, None))
        opening = opening_page(root, slug)
        if one.stopped is not None:
            opening += f"\n\n{_SOME_MISSING}"
            flaws.append((one.stopped, f"the chapter of {slug} shows what came before"))
        notebook = chapter_of(title, opening, released, one.outputs, pictures)
        files[f"lessons/{slug}.ipynb"] = as_text(notebook).encode()
    texts, titles = readers_pages(root)
    files |= {name: text.encode() for name, text in texts.items()}
    files |= {
        f"docs/{path.relative_to(root / 'docs').as_posix()}": path.read_bytes()
        for path in (root / "docs").rglob("*.png")
    }
    files["index.md"] = home(root, chapters, titles).encode()
    files["conf.py"] = "".join(f"{name} = {value!r}\n" for name, value in _settings(root).items()).encode()
    files |= {f"_static/{name}": Path(__file__).with_name(name).read_bytes() for name in _OURS}
    return files


def opening_page(root: Path, slug: str) -> str:
    """How a reader becomes a learner."""
    python = ".venv/bin/python" if (root / "install.py").is_file() else "python"
    return (
        ":::{admonition} Here you read. In the notebook you do it\n:class: tip\n\n"
        f"`{python} -m {module_name()} lab {slug}` opens this lesson as a notebook, with a check below each exercise. "
        "What the cells on this page show was put out by a notebook in which all exercises are solved.\n:::"
    )


_SOME_MISSING = """\
:::{admonition} Some outputs are missing on this page
:class: warning

Where this page was made, the lesson could not be run to its end. After the cell that stopped it, text and code go on without
what cells put out.
:::"""


def _write(work: Path, files: Mapping[str, bytes], pictures: Mapping[str, bytes]) -> None:
    """Write what the pages are made from."""
    wanted = {work / "pages" / name: data for name, data in files.items()}
    wanted |= {work / "extra" / PICTURES / name: data for name, data in pictures.items()}
    (work / "extra").mkdir()
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _make(work: Path) -> tuple[CourseError, ...]:
    """Have Sphinx make the pages; what it warns of. Raises CourseError if it makes none."""
    try:
        from sphinx.application import Sphinx
        from sphinx.errors import SphinxError
        from sphinx.util.docutils import docutils_namespace, patch_docutils
    except ModuleNotFoundError:
        raise UsageError("Sphinx, which makes the pages, is not installed", "sphinx", with_extra("site")) from None
    said = io.StringIO()
    pages = work / "pages"
    stopped = ""
    try:
        with patch_docutils(), docutils_namespace(), warnings.catch_warnings():
            for kind in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", kind)  # what its extensions will have to change one day
            Sphinx(pages, pages, work / "made", work / "known", "html", status=None, warning=said).build()
    except SphinxError as error:
        stopped = str(error)
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in said.getvalue().splitlines() if line.strip()]
    flaws = tuple(_flaw(line, pages) for line in (*lines, stopped) if line)
    if stopped:
        raise flaws[-1]
    return flaws


def _flaw(line: str, pages: Path) -> CourseError:
    """One of Sphinx's warnings: the page, and what is wrong there."""
    place, _, fact = line.replace(": WARNING: ", ": ").partition(": ")
    return CourseError(
        f"a page cannot be made as it is written: {fact or place}",
        place.replace(f"{pages}/", ""),
        f"mend the page in docs/, or the lesson; then: {course_command('site')}",
    )


def _settings(root: Path) -> dict[str, object]:
    """What Sphinx reads in its ``conf.py``."""
    title = home_title(root)
    return {
        "project": title,
        "html_title": title,
        "extensions": ["myst_nb", "sphinx_design"],
        "html_theme": "furo",
        "html_theme_options": {"top_of_page_buttons": []},
        "html_static_path": ["_static"],
        "html_extra_path": ["../extra"],
        "html_css_files": ["site.css"],
        "html_favicon": "_static/site.svg",
        "html_copy_source": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "pygments_style": "a11y-high-contrast-light",
        "pygments_dark_style": "github-dark",
        "highlight_language": "none",  # most blocks of the pages are commands; others say what they are
        "nb_execution_mode": "off",  # they have been run, with the reference solutions
        "nb_code_prompt_show": "Show the code",
        "nb_code_prompt_hide": "Fold the code",
        "myst_enable_extensions": ["colon_fence", "attrs_block"],
        "myst_heading_anchors": 5,
        "language": "en",
        "smartquotes": False,  # `--json` in a title is two hyphens
        "suppress_warnings": ["mystnb.unknown_mime_type"],
    }
