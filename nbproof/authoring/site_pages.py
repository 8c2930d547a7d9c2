"""The pages of the site beside its chapters: home, made of README and lessons; the pages for each reader, from ``docs/``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from nbproof.authoring.chapter import plain
from nbproof.course_file import the_course

__all__ = ["Chapter", "home", "home_title", "readers_pages"]

_README = "README.md"


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
    opening, picture, table = _of_readme(_readme(root))
    pictured = "/".join(("", *PurePosixPath(picture[1]).parts)) if picture else ""
    parts = [
        "---\nhide-toc: true\n---",
        f"# {home_title(root)}",
        f"::::::{{div}} opening\n{opening}\n::::::" if opening else "",
        f":::{{image}} {pictured}\n:alt: {picture[0]}\n:class: first-picture\n:target: _images/{Path(picture[1]).name}\n:::"
        if picture else "",
        "## The lessons\n\n:::::{grid} 1 2 2 3\n:gutter: 3\n" + "\n".join(map(_card, chapters)) + "\n:::::",
        f"## For whom is what?\n\n{table}" if table else "",
        _toctree("Lessons", {f"lessons/{one.slug}": f"{_number(one.slug)}{one.title}" for one in chapters}),
        _toctree("Pages", {name.removesuffix(".md"): title for name, title in pages.items()}),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _card(chapter: Chapter) -> str:
    minutes = f"{chapter.core} minutes" if chapter.core else ""
    minutes += f", {chapter.further} more to go further" if chapter.further else ""
    exercises = f"{chapter.exercises} exercise{'s' * (chapter.exercises != 1)}"
    wrong = the_course().goes_wrong.get(chapter.slug, "")
    return (
        f"::::{{grid-item-card}} {_number(chapter.slug)}{chapter.title}\n:link: lessons/{chapter.slug}\n:link-type: doc\n\n"
        f"{wrong}\n\n:::{{card-footer}}\n{' · '.join(filter(None, (exercises, minutes)))}\n:::\n::::"
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
    texts = {path.relative_to(root).as_posix(): _to_home(path.read_text(encoding="utf-8")) for path in ordered}
    return texts, {name: plain(_title(text, name)) for name, text in texts.items()}


def _to_home(text: str) -> str:
    """On the site the README is the home page."""
    return re.sub(r"\]\(((?:\.\./)*)README\.md(?:#[\w-]+)?\)", r"](\1index.md)", text)


def _title(text: str, name: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else Path(name).stem


def _readme(root: Path) -> str:
    path = root / _README
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _of_readme(text: str) -> tuple[str, tuple[str, str] | None, str]:
    """Its opening, up to the end of the first block of commands; its first picture (words, place); its first table."""
    lines, tokens = text.splitlines(), MarkdownIt("commonmark").enable("table").parse(text)
    pictures = [inner for one in tokens for inner in one.children or () if inner.type == "image"]
    headings = [one.map[0] for one in tokens if one.type == "heading_open" and one.map]
    start, end = (headings[0] + 1 if headings else 0), (headings[1] if len(headings) > 1 else len(lines))
    fences = [one.map[1] for one in tokens if one.type == "fence" and one.map and start <= one.map[0] < end]
    first = next((one.map for one in tokens if one.type == "table_open" and one.map), None)
    table = "\n".join(lines[first[0] : first[1]]) if first else ""
    words = (_words(pictures[0]), str(pictures[0].attrGet("src"))) if pictures else None
    return "\n".join(lines[start : fences[0] if fences else end]).strip(), words, _to_home(table)


def _words(picture: Token) -> str:
    return " ".join(picture.content.split())
