"""What learners are handed: whether the derived notebooks are fresh, and hold nothing that learners must not see.

Secret is every line of a reference solution, a hidden test, a mark scheme, an accepted answer or a mutant that does
not stand in a released notebook as well. Lines are compared with their white space evened out; shorter ones than
:data:`SHORTEST` characters are everybody's. What a learner has written is theirs: it is passed as ``own``.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.build import derive
from nbproof.authoring.derived_files import OUTLINE, derived_files, orphans, outline_of, read_outline
from nbproof.authoring.exercise_folder import CHECKS, RIGHT, WRONG, read_named_cells
from nbproof.authoring.hint_texts import derived_hints
from nbproof.authoring.lesson import Lesson, find_lessons
from nbproof.authoring.stated import contradictions, unannounced, unasked
from nbproof.cells import name_of, private_lines
from nbproof.checks.visible import HIDDEN, visible_texts
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import LessonError, Violation
from nbproof.nbgrader_setup import course_config

__all__ = [
    "SHORTEST",
    "Leak",
    "Secrets",
    "check_release",
    "leaks",
    "leaks_in",
    "public_text",
    "read_secrets",
    "text_of",
    "text_of_page",
]


def check_release(root: Path, lessons: list[Lesson]) -> list[Violation]:
    """What is wrong with the derived notebooks and the prose: stale, misleading, or holding what learners must not see."""
    course_config(root)  # raises here, and not in the scratch course, where there is no configuration
    found = [orphan.violation() for orphan in orphans(root)]
    with tempfile.TemporaryDirectory() as name:
        scratch, refused = Path(name).resolve(), dict[str, LessonError]()
        derive(root, lessons, scratch, lambda line: None, refused)
        for lesson in lessons:
            mine = [*_stale(root, lesson, scratch, refused.get(lesson.slug)), *_extras(root, lesson)]
            release = root / "release" / lesson.slug / f"{lesson.slug}.ipynb"
            if release.exists():
                mine += leaks(lesson, release)
            mine += [*unasked(lesson), *unannounced(lesson), *contradictions(lesson)]
            found += [replace(violation, lesson=lesson.slug) for violation in mine]
    return [*found, *_stale_files(root, lessons)]


def _stale(root: Path, lesson: Lesson, scratch: Path, refused: LessonError | None) -> Iterator[Violation]:
    if refused is not None:
        yield Violation(refused.fact, refused.place, refused.next_command)
        return
    for step in ("source", "release"):
        place = Path(step, lesson.slug, f"{lesson.slug}.ipynb")
        if not (root / place).exists():
            yield Violation(f"{step}/{lesson.slug} is missing", str(root / place), course_command("build"))
        elif (root / place).read_bytes() != (scratch / place).read_bytes():
            yield Violation(f"{step}/{lesson.slug} is outdated", str(root / place), course_command("build"))


def _stale_files(root: Path, lessons: list[Lesson]) -> Iterator[Violation]:
    """Where the lessons stand beside the package, what it has of them must be theirs; elsewhere hints are only read."""
    if the_course().derived_in(root) is None:
        derived_hints(root)
        return
    slugs = [folder.name for folder in find_lessons(root)]
    for path, text in derived_files(root, lessons, slugs).items():
        name, again = path.relative_to(root), course_command("build")
        if path.name != OUTLINE:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                yield Violation(f"{name} is outdated", str(path), again)
            continue
        known = read_outline(root)
        for lesson in lessons:
            if known.get(lesson.slug) != outline_of(lesson):
                yield Violation(f"{name} is outdated about {lesson.slug}", str(path), again, lesson.slug)
        for slug in (one for one in known if one not in slugs):
            yield Violation(f"{name} knows {slug}, which is no lesson", str(path), again)


def _extras(root: Path, lesson: Lesson) -> Iterator[Violation]:
    for step in ("source", "release"):
        for extra in sorted((root / step / lesson.slug).glob("*")):
            if extra.name not in (f"{lesson.slug}.ipynb", ".ipynb_checkpoints"):
                yield Violation(
                    "learners would get this file as well: nbgrader hands out the whole folder",
                    str(extra),
                    f"move it out of {step}/",
                )


def leaks(lesson: Lesson, release: Path) -> Iterator[Violation]:
    """What a released notebook shows of the lesson's solutions and hidden tests, and what else it should not carry."""
    notebook = nbformat.read(release, as_version=4)
    place, again = str(release), f"{course_command('build')}, then {course_command(f'check {lesson.slug}')}"
    if "jupytext" in notebook.metadata:
        yield Violation("the release carries a jupytext key", place, again)
    regions = [private_lines(cell.source) for cell in lesson.cells]
    # A line such as "return output" may stand in a solution and in plain sight as well.
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    for cell in notebook.cells:
        if cell.get("outputs"):
            yield Violation("the release carries an output", place, again)
        for line in map(str.strip, cell.source.splitlines()):
            if len(line) > 3 and line in private:
                yield Violation(f"the release shows a private line: {line[:80]}", place, again)


SHORTEST = 12
"""Characters of the shortest line that counts: ``return norm`` has eleven."""

_WHOLE = 24
"""Characters of the shortest line that is looked for within longer ones; ``sorted(words)`` stands in many sentences."""

_KEY = SHORTEST


@dataclass(frozen=True)
class Leak:
    """A secret line where it should not be."""

    place: str
    line: str
    origin: str
    """Where the line comes from."""


class Secrets:
    """The secret lines of a course; finds them in any text, whatever stands before or after them on a line."""

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        self.origins: dict[str, str] = {}
        for line, origin in lines:
            plain = _even(line)
            if len(plain) >= SHORTEST and re.search(r"\w{3}", plain):
                self.origins.setdefault(plain, origin)
        # A text holds a line only if it holds its first letters: one look at each place of the text instead of one
        # search a line.
        self._by_start: dict[str, list[str]] = {}
        for line in self.origins:
            self._by_start.setdefault(line[:_KEY], []).append(line)

    def __len__(self) -> int:
        return len(self.origins)

    def found_in(self, text: str, own: str = "") -> list[str]:
        """The secret lines that stand in a text and not in ``own``, in order of the text's lines."""
        found: dict[str, None] = {}
        kept = ""
        for line in text.splitlines():
            plain = _even(line)
            for start in {plain[at : at + _KEY] for at in range(len(plain) - _KEY + 1)} & self._by_start.keys():
                for secret in self._by_start[start]:
                    whole = len(secret) < _WHOLE
                    if (plain == secret if whole else secret in plain) and secret not in found:
                        kept = kept or "\n".join(map(_even, own.splitlines())) or " "
                        if secret not in kept:
                            found[secret] = None
        return list(found)

    def taken_out(self, text: str, own: str = "") -> str:
        """The text with a remark in place of every line that holds a secret one."""
        if not text or not self.found_in(text, own):
            return text
        return "\n".join(
            "[a line of the tests or of a solution: not shown]" if self.found_in(line, own) else line
            for line in text.splitlines()
        )


def _even(line: str) -> str:
    return " ".join(line.split())


def read_secrets(root: Path, lessons: Sequence[str] = (), *, candidates: bool = True, released: bool = True) -> Secrets:
    """The secret lines of these lessons (none named: all) from ``source/``, and from ``lessons/`` with ``candidates``.

    Without ``released`` the release cannot vouch for itself: public is what ``source/`` shows outside of its regions.
    """
    folders = sorted(path for path in (root / "source").glob("*") if not lessons or path.name in lessons)
    notebooks = (root / "release").glob("*/*.ipynb") if released else ()
    shown = (line for path in notebooks for line in text_of(path.name, path.read_bytes()).splitlines())
    public = {_even(line) for line in shown}
    found: list[tuple[str, str]] = []
    for folder in folders:
        for path in sorted(folder.glob("*.ipynb")):
            for name, source in _sources(path):
                known, private = private_lines(source)
                public |= {_even(line) for line in known}
                found += [(line, f"source/{folder.name}: {name}") for line in sorted(private)]
        if candidates:
            found += list(_candidates(root / "lessons" / folder.name))
    public |= {_even(line) for line in (*_visible(root), HIDDEN)}
    everything = "\n".join(public)
    first: dict[str, str] = {}
    for line, origin in found:
        first.setdefault(_even(line), origin)
    lines = ((line, origin) for line, origin in first.items() if len(line) >= SHORTEST and line not in public)
    return Secrets((line, origin) for line, origin in lines if line not in everything)


def public_text(root: Path) -> str:
    """All lines of ``source/`` that learners may see."""
    sources = (source for path in sorted((root / "source").glob("*/*.ipynb")) for _, source in _sources(path))
    shown = [line for source in sources for line in sorted(private_lines(source)[0])]
    return "\n".join([*shown, *_visible(root)])


def _visible(root: Path) -> Iterator[str]:
    """The lines of the checks that learners have: as they are written, for what was derived cannot vouch for itself."""
    if not (root / "lessons").is_dir():
        # A course that has come without its lessons: nobody can have derived anything anew.
        for texts in visible_texts().values():
            yield from (line for text in texts.values() for line in text.splitlines())
        return
    for path in sorted((root / "lessons").glob(f"*/*/{CHECKS}")):
        for cell in read_named_cells(path):
            yield from cell.source.partition(HIDDEN)[0].splitlines()


def _candidates(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob(f"*/{RIGHT}")) + sorted(folder.glob(f"*/{WRONG}")):
        file = path.relative_to(folder.parent.parent)  # of ten thousand lines: taken once
        for cell in read_named_cells(path):
            origin = f"{file}: {cell.name}"
            yield from ((line, origin) for line in cell.source.splitlines())


def leaks_in(place: str, text: str, secrets: Secrets, own: str = "") -> list[Leak]:
    """The leaks in a text that stands at ``place``."""
    return [Leak(place, line, secrets.origins[line]) for line in secrets.found_in(text, own)]


def text_of(name: str, data: bytes) -> str:
    """What somebody reads who opens a file: a page's words, all texts of a notebook or of JSON, else the text itself."""
    text = data.decode("utf-8", errors="replace")
    if name.endswith((".ipynb", ".json")):
        with contextlib.suppress(ValueError):
            return "\n".join(_texts_in(json.loads(text)))
    return text_of_page(text) if name.endswith((".html", ".htm")) else text


_TAG = re.compile(r"<!--.*?-->|<[a-zA-Z/!][^<>]*>", re.DOTALL)
_DATA = re.compile(r"data:[a-z]+/[a-z+]+;base64,[A-Za-z0-9+/=\s]*")


def text_of_page(page: str) -> str:
    """All of an HTML page that is text: first what stands between its tags, then the tags, where attributes are."""
    page = _DATA.sub("data:", page)
    return html.unescape(_TAG.sub("", page)) + "\n" + html.unescape("\n".join(_TAG.findall(page)))


def _texts_in(value: Any) -> Iterator[str]:
    """Every text anywhere in a notebook: sources, outputs, metadata. nbformat stores a long one as a list of lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts_in(inner)
    elif isinstance(value, list):
        if value and all(isinstance(inner, str) for inner in value):
            yield "".join(value)
        else:
            for inner in value:
                yield from _texts_in(inner)


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    """The grade_id and source of each cell of a notebook of ours."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        yield name_of(cell), "".join(cell["source"])
