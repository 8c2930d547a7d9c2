"""A course as a web site to be read, ``build/site``: lessons are chapters, with what they show; exercises without answers.

Sphinx makes the pages, from Markdown and notebooks that are made from README, ``docs/`` and lessons. They take the place of
an earlier site once they were searched for answers. A second time, only lessons that have changed are run.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from nbproof.authoring.bundle import refuse_leaks
from nbproof.authoring.chapter import PICTURES, Shown, chapter_of, plain, shown_by
from nbproof.authoring.derived_files import as_text, read_outline
from nbproof.authoring.lesson import find_lessons
from nbproof.authoring.site_pages import Chapter, home, home_title, readers_pages
from nbproof.authoring.stated import time_in
from nbproof.command import course_command, module_name, with_extra
from nbproof.errors import CourseError, UsageError

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


def make_site(
    root: Path,
    names: Sequence[str] = (),
    out: Path | None = None,
    step: Callable[[Shown], None] = lambda shown: None,
    run: bool = True,
) -> Site:
    """Make the site with these lessons (default: all). Without ``run`` no cell is run, and none shows anything.

    Raises LessonError if a cell of a lesson fails, CourseError if a page cannot be made or would give something away.
    """
    slugs = [folder.name for folder in find_lessons(root, list(names))]
    out = (out or root / "build" / "site").absolute()
    _refuse_foreign(out)
    shown = shown_by(root, slugs, root / "build" / "shown", step) if run else {}
    pictures: dict[str, bytes] = {}
    files = _sources(root, slugs, shown, pictures)
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        work = Path(folder).resolve()
        _write(work, files, pictures)
        _make(work)
        made = {
            path.relative_to(work / "made").as_posix(): path.read_bytes()
            for path in sorted((work / "made").rglob("*")) if path.is_file()
        }  # fmt: skip
        pages = {name: data for name, data in made.items() if name.endswith(".html")}
        own = [files[name].decode() for name in files if name.endswith(".md")]
        searched = refuse_leaks(root, pages, "the site", "\n".join(own))
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(work / "made", out)
    return Site(out / "index.html", len(pages), len(pictures), sum(map(len, made.values())), searched)


_MARK = ".buildinfo"
"""The file by which Sphinx knows a site that it has made."""


def _refuse_foreign(out: Path) -> None:
    """Raise UsageError if this folder holds something else than an earlier site, which the new one takes the place of."""
    if out.exists() and not (out.is_dir() and ((out / _MARK).is_file() or not any(out.iterdir()))):
        raise UsageError(
            "there is something else than an earlier site, which would be lost", str(out),
            course_command("site --out FOLDER") + ", a new one",
        )  # fmt: skip


def _sources(
    root: Path, slugs: Sequence[str], shown: Mapping[str, Shown], pictures: dict[str, bytes]
) -> dict[str, bytes]:
    """Path -> text of all that pages are made from."""
    files: dict[str, bytes] = {}
    outline = read_outline(root)
    chapters = []
    for slug in slugs:
        path = root / "release" / slug / f"{slug}.ipynb"
        try:
            released = nbformat.read(path, as_version=4)
        except FileNotFoundError:
            raise UsageError(f"there is no notebook of {slug} to show", str(path), course_command("build")) from None
        title = plain(str(outline.get(slug, {}).get("title", slug)))
        core, further = time_in(released.cells[0].source) or (0, 0)
        chapters.append(Chapter(slug, title, len(outline.get(slug, {}).get("exercises", ())), core, further))
        outputs = shown[slug].outputs if slug in shown else {}
        notebook = chapter_of(title, _opening(root, slug), released, outputs, pictures)
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


def _opening(root: Path, slug: str) -> str:
    """How a reader becomes a learner."""
    python = ".venv/bin/python" if (root / "install.py").is_file() else "python"
    return (
        ":::{admonition} Here you read. In the notebook you do it\n:class: tip\n\n"
        f"`{python} -m {module_name()} lab {slug}` opens this lesson as a notebook, with a check below each exercise. "
        "What the cells on this page show was put out by a notebook in which all exercises are solved.\n:::"
    )


def _write(work: Path, files: Mapping[str, bytes], pictures: Mapping[str, bytes]) -> None:
    """Write what the pages are made from."""
    wanted = {work / "pages" / name: data for name, data in files.items()}
    wanted |= {work / "extra" / PICTURES / name: data for name, data in pictures.items()}
    (work / "extra").mkdir()
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _make(work: Path) -> None:
    """Have Sphinx make the pages. Raises CourseError with the first thing that it warns of."""
    try:
        from sphinx.application import Sphinx
        from sphinx.errors import SphinxError
        from sphinx.util.docutils import docutils_namespace, patch_docutils
    except ModuleNotFoundError:
        raise UsageError("Sphinx, which makes the pages, is not installed", "sphinx", with_extra("site")) from None
    said = io.StringIO()
    try:
        with patch_docutils(), docutils_namespace(), warnings.catch_warnings():
            for kind in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", kind)  # what its extensions will have to change one day
            pages = work / "pages"
            Sphinx(pages, pages, work / "made", work / "known", "html", status=None, warning=said).build()
    except SphinxError as error:
        said.write(str(error))
    warned = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in said.getvalue().splitlines() if line.strip()]
    if warned:
        place, _, fact = warned[0].replace(": WARNING: ", ": ").partition(": ")
        more = f" ({len(warned) - 1} more)" if len(warned) > 1 else ""
        raise CourseError(
            f"a page cannot be made as it is written: {fact or place}{more}",
            place.replace(f"{work / 'pages'}/", ""),
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
