"""The pages of the site beside its chapters: home, made of README and lessons; the pages for each reader, from ``docs/``."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt

from nbproof.authoring.chapter import plain
from nbproof.course_file import the_course
from nbproof.text import counted

__all__ = ["Chapter", "home", "home_title", "readers_pages"]

_README = "README.md"
_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Chapter:
    """What the home page says of a lesson."""

    slug: str
    title: str
    exercises: int
    core: int
    """Minutes; 0 if the lesson states none."""
    further: int


def home_title(root: Path) -> str:
    """The first heading of the README; what the course is called, if there is none."""
    found = re.search(r"^# (.+)$", _readme(root), re.MULTILINE)
    return found[1].strip() if found else the_course().says


def home(root: Path, chapters: Sequence[Chapter], pages: Mapping[str, str]) -> str:
    """The first page, in MyST: what the README opens with, its first picture, a card for each lesson, its first table.

    ``pages``: the other pages, path -> title.
    """
    opening, commands, picture, table = _of_readme(_on_site(_readme(root), _README, pages))
    shown = ""
    if picture:
        words, place = picture
        shown = (
            f":::{{image}} /{place}\n:alt: {words}\n:class: first-picture\n"
            f":target: _images/{PurePosixPath(place).name}\n:::"
        )
    parts = [
        "---\nhide-toc: true\n---",
        f"# {home_title(root)}",
        f"::::::{{div}} opening\n:::::{{div}} says\n{opening}\n:::::\n{shown}\n::::::" if opening else shown,
        commands,
        "## The lessons\n\n:::::{grid} 1 2 2 3\n:gutter: 3\n" + "\n".join(map(_card, chapters)) + "\n:::::",
        f"## What do you want to do?\n\n{table}" if table else "",
        _toctree("Lessons", {f"lessons/{one.slug}": f"{_number(one.slug)}{one.title}" for one in chapters}),
        _toctree("Pages", {name.removesuffix(".md"): title for name, title in pages.items()}),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _card(chapter: Chapter) -> str:
    minutes = " + ".join(str(one) for one in (chapter.core, chapter.further) if one)
    exercises = counted(chapter.exercises, "exercise")
    wrong = the_course().goes_wrong.get(chapter.slug, "")
    return (
        f"::::{{grid-item-card}} {_number(chapter.slug)}{chapter.title}\n:link: lessons/{chapter.slug}\n:link-type: doc\n\n"
        f"{wrong}\n\n:::{{card-footer}}\n{' · '.join((exercises, f'{minutes} minutes') if minutes else (exercises,))}\n:::\n::::"
    )


def _number(slug: str) -> str:
    found = re.match(r"\d+", slug)
    return f"{int(found[0])} · " if found else ""


def _toctree(caption: str, entries: Mapping[str, str]) -> str:
    if not entries:
        return ""
    lines = "\n".join(f"{title} <{name}>" for name, title in entries.items())
    return f":::{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n:::"


def readers_pages(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The course's own pages: path -> Markdown, and path -> title, in the order in which the README names them."""
    found = [path for path in (*sorted((root / "docs").glob("*.md")), root / "CONTRIBUTING.md") if path.is_file()]
    readme = _readme(root)
    places = {path: readme.find(path.relative_to(root).as_posix()) for path in found}
    ordered = sorted(found, key=lambda path: (places[path] < 0, places[path]))
    named = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in ordered}
    titles = {name: plain(_title(text, name)) for name, text in named.items()}
    return {name: _on_site(text, name, titles) for name, text in named.items()}, titles


def _on_site(text: str, page: str, pages: Mapping[str, str]) -> str:
    """The text of a page with links that lead somewhere on the site: the README is its home, and files have no page there.

    A link that is called as its file is called as the page then. ``pages``: path -> title.
    """

    def led(found: re.Match[str]) -> str:
        label, target = found[1], found[2]
        name, mark, anchor = target.partition("#")
        if not name or re.match(r"\w+:", name):
            return found[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        if there == _README:
            return f"[{label}]({posixpath.relpath('index.md', posixpath.dirname(page) or '.')})"
        if there not in pages:
            return label
        return f"[{pages[there] if label == there else label}]({name}{mark}{anchor})"

    return _LINK.sub(led, text)


def _title(text: str, name: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else Path(name).stem


def _readme(root: Path) -> str:
    path = root / _README
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _of_readme(text: str) -> tuple[str, str, tuple[str, str] | None, str]:
    """What it opens with; the commands right below; its first picture (words, place); its first table, if it links to pages."""
    lines, tokens = text.splitlines(), MarkdownIt("commonmark").enable("table").parse(text)
    nowhere = slice(len(lines), len(lines))

    def first(kind: str, start: int = 0) -> slice:
        places = [slice(*one.map) for one in tokens if one.type == kind and one.map]
        return next((place for place in places if place.start >= start), nowhere)

    title = first("heading_open")
    start = 0 if title == nowhere else title.stop
    end = min(first(kind, start).start for kind in ("heading_open", "fence", "table_open"))
    fence = first("fence", end)
    commands = "\n".join(lines[fence]) if fence.start == end else ""
    rows = "\n".join(lines[first("table_open")])
    inner = itertools.chain.from_iterable(one.children or () for one in tokens)
    picture = next((one for one in inner if one.type == "image"), None)
    return (
        "\n".join(lines[start:end]).strip(),
        commands,
        None if picture is None else (" ".join(picture.content.split()), str(picture.attrGet("src"))),
        rows if _LINK.search(rows) else "",
    )
