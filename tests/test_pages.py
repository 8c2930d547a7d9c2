"""README, docs and containers: what they name is there. Links, headings, targets, commands, files, limits."""

from __future__ import annotations

import argparse
import ast
import json
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nbproof.authoring.statements import minutes_of
from nbproof.cli.main import course_parser
from nbproof.errors import UsageError
from nbproof.limits import GradingLimits
from nbproof.sandbox.judging import EVIDENCE_MB, EVIDENCE_SECONDS
from nbproof.sandbox.outputs import MOST_PIXELS
from tests import COURSE, ROOT, the_lessons

PAGES = {path.relative_to(ROOT).as_posix(): path for path in [*ROOT.glob("*.md"), *sorted(ROOT.glob("docs/**/*.md"))]}
EVERY_PAGE = pytest.mark.parametrize("page", PAGES)
SPEAKING = [
    *ROOT.glob("course/**/*.py"), *ROOT.glob("nbproof*/**/*.py"), *ROOT.glob("benchmarks/*.py"), *ROOT.glob("tests/**/*.py"),
    *ROOT.glob("deploy/**/*.py"), ROOT / "install.py", ROOT / "nbgrader_config.py",
]  # fmt: skip
"""Modules whose messages and docstrings name pages."""
OTHERS = ("Makefile", "pyproject.toml", ".ci/run", ".github/workflows/ci.yml")
NAMED = re.compile(r"(?P<page>\bdocs/\w+\.md|\b(?:README|CONTRIBUTING)(?:\.md)?)(?:(?:`|``)?, '(?P<heading>[^']+)')?")
"""How messages name a page, and a heading of it."""


@cache
def tokens(page: str) -> tuple[Token, ...]:
    """The page as a renderer sees it, on one level."""
    parsed = MarkdownIt("commonmark").enable("table").parse(PAGES[page].read_text(encoding="utf-8"))
    return tuple(flat for token in parsed for flat in (token, *(token.children or ())))


def headings(page: str) -> list[str]:
    """Their texts, without marks."""
    seen = tokens(page)
    inside = [seen[at + 1].content for at, token in enumerate(seen) if token.type == "heading_open"]
    return [text.replace("`", "") for text in inside]


def anchors(page: str) -> set[str]:
    """What a link's `#` may name, as GitHub makes it."""
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings(page)}


def code(page: str) -> Iterator[str]:
    """Spans, and the lines of blocks that are no program's text."""
    for token in tokens(page):
        if token.type == "code_inline":
            yield " ".join(token.content.split())
        elif token.type == "fence" and token.info in ("", "sh"):
            yield from token.content.replace("\\\n", " ").splitlines()


def commands(page: str) -> Iterator[list[str]]:
    """What a reader may type, as words. A placeholder in angle brackets is a word like any other."""
    for line in code(page):
        for part in re.split(r"&&|\|", line):
            try:
                yield shlex.split(part, comments=True)
            except ValueError:  # a quotation mark of a profile, or of Python
                continue


def after(words: list[str], *start: str) -> list[str] | None:
    """What follows these words; None if they are not there."""
    for at in range(len(words)):
        if tuple(words[at : at + len(start)]) == start:
            return words[at + len(start) :]
    return None


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The long options of a command, and of all below it."""
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from options_of(command)


def test_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 6000


@EVERY_PAGE
def test_links_and_pictures_lead_somewhere(page: str) -> None:
    broken = []
    for token in tokens(page):
        target = token.attrGet("href") if token.type == "link_open" else token.attrGet("src")
        if token.type not in ("link_open", "image") or re.match(r"\w+:", str(target)):
            continue
        name, _, anchor = unquote(str(target)).partition("#")
        there = (PAGES[page].parent / name).resolve() if name else PAGES[page]
        relative = there.relative_to(ROOT).as_posix()
        if not there.exists() or (anchor and anchor not in anchors(relative)):
            broken.append(target)
    assert not broken


def linked_from(page: str) -> set[str]:
    """The pages that its links lead to."""
    return {str(token.attrGet("href")).partition("#")[0] for token in tokens(page) if token.type == "link_open"}


def test_every_page_is_one_click_from_readme_and_every_decision_from_contributing() -> None:
    decisions = {page for page in PAGES if page.startswith("docs/decisions/")}
    assert set(PAGES) - decisions - {"README.md"} <= linked_from("README.md")
    assert decisions <= linked_from("CONTRIBUTING.md")


def messages(path: Path) -> Iterator[str]:
    """The texts in a module, without the values in them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "?" for one in node.values)


def test_pages_and_headings_that_messages_name_are_there() -> None:
    said = [(path.name, text) for path in SPEAKING if path != Path(__file__) for text in messages(path)]
    said += [(name, (ROOT / name).read_text(encoding="utf-8")) for name in OTHERS]
    said += [(name, path.read_text(encoding="utf-8")) for name, path in PAGES.items()]
    named, wrong = 0, []
    for where, text in said:
        for found in NAMED.finditer(" ".join(text.split())):
            page, heading = found["page"].removesuffix(".md") + ".md", found["heading"]
            named += heading is not None
            if page not in PAGES or (heading and heading not in headings(page)):
                wrong.append((where, found[0]))
    assert not wrong
    assert named >= 8


@EVERY_PAGE
def test_targets_of_make_are_there(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = [word for words in commands(page) if words[:1] == ["make"] for word in words[1:]]
    assert {word for word in asked if "=" not in word} <= targets


@EVERY_PAGE
def test_commands_of_the_course_are_read(page: str) -> None:
    parser = course_parser(COURSE)
    for words in commands(page):
        rest = after(words, "-m", "course") or after(words, "-m", "nbproof")
        if rest is None or rest in ([], ["--help"], ["<command>"]):
            continue
        try:
            arguments, unknown = parser.parse_known_args(rest)
        except SystemExit as end:
            assert end.code == 0, f"{page}: {shlex.join(words)}"  # it was asked for help
            continue
        except UsageError as error:
            # A bare name tells of a command that needs more: `collect`.
            assert len(rest) == 1 and "arguments are required" in error.fact, f"{page}: {shlex.join(words)}"
            continue
        assert not unknown or arguments.chosen.passes_on, f"{page}: {shlex.join(words)}"


def test_every_option_of_a_command_is_told_on_a_page() -> None:
    told = "\n".join(PAGES[page].read_text(encoding="utf-8") for page in PAGES if "CHANGELOG" not in page)
    options = set(options_of(course_parser(COURSE)))
    assert "--brightspace" in options
    assert {option for option in options if not re.search(rf"{option}\b", told)} == set()


def test_what_the_reference_shows_is_there_and_says_what_it_is() -> None:
    named = re.findall(r"^\.\. auto\w+:: (\S+)", PAGES["docs/reference.md"].read_text(encoding="utf-8"), re.MULTILINE)
    assert "nbproof.check" in named
    assert [name for name in named if not pydoc.getdoc(pydoc.locate(name))] == []


@EVERY_PAGE
def test_files_that_pages_name_are_there(page: str) -> None:
    for span in (token.content for token in tokens(page) if token.type == "code_inline"):
        if re.fullmatch(r"(course|nbproof|nbproof_lms|tests|docs|lessons|benchmarks|examples|deploy)/[\w./]+", span):
            assert any((base / span).exists() for base in (ROOT, ROOT / "course", ROOT / "docs")), span


def test_a_clone_has_every_folder_that_readme_draws() -> None:
    drawing = PAGES["README.md"].read_text(encoding="utf-8").partition("## Where things are")[2].split("```")[1]
    drawn = [word for line in drawing.splitlines() for word in re.match(r"(?:[\w.]+/ ?)*", line)[0].split()]
    cloned = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "autograded/" in drawn
    assert [name for name in drawn if f"\n{name}" not in f"\n{cloned}"] == []


def test_the_lessons_are_those_of_readme() -> None:
    text = PAGES["README.md"].read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| (\d+(?: \+ \d+)?) \|$", text, re.MULTILINE)
    wanted = []
    for lesson in the_lessons():
        minutes, more = minutes_of(lesson)
        wanted.append((lesson.slug, str(len(lesson.exercises)), f"{minutes} + {more}" if more else f"{minutes}"))
    assert rows == wanted
    assert f"{sum(int(row[1]) for row in rows)} exercises" in PAGES["README.md"].read_text(encoding="utf-8")


def test_the_limits_are_those_of_the_engine() -> None:
    text = PAGES["docs/engine.md"].read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| ([\d,]+) \|$", text, re.MULTILINE))
    limits = {name: trait.default_value for name, trait in GradingLimits.class_own_traits(config=True).items()}
    assert limits.pop("of_lesson") is not None and "`c.GradingLimits.of_lesson = {" in text
    assert {name: float(value.replace(",", "")) for name, value in rows.items()} == limits


def test_the_figures_of_the_engine_are_its_own() -> None:
    text = " ".join(PAGES["docs/engine.md"].read_text(encoding="utf-8").split())
    assert f"may take {EVIDENCE_MB} MB and {EVIDENCE_SECONDS:g} s" in text
    assert f"up to {MOST_PIXELS // 10**6} million pixels in all" in text


DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())


def test_nothing_runs_as_root_and_what_is_run_is_there() -> None:
    user = DOCKERFILE.index("\nUSER learner")
    assert "RUN make" not in DOCKERFILE[:user] and "USER root" not in DOCKERFILE
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert json.loads(command) == [".venv/bin/python", "-m", "course", "lab", "--ip=0.0.0.0", "--no-browser"]
    targets = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for text in (DOCKERFILE, DEVCONTAINER["onCreateCommand"]):
        found = re.findall(r"make (\w+) TORCH=cpu", text)
        assert found and set(found) <= targets
    (line,) = (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
    assert (ROOT / ".binder" / line.removeprefix("-r ")).resolve() == ROOT / "requirements.txt"


def test_what_is_left_out_of_the_image_is_what_a_clone_writes() -> None:
    left_out = set((ROOT / ".dockerignore").read_text().split())
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {".venv", ".git", "submitted", "gradebook.db*"} <= left_out
    assert not [name for name in tracked if name.split("/")[0] in left_out]


def test_what_instructors_put_beside_the_course_is_not_gits() -> None:
    typed = {word for words in commands("docs/instructors.md") for word in words}
    files = sorted(word for word in typed if re.fullmatch(r"\w+\.(ipynb|zip|csv)", word))
    assert {"new.ipynb", "submissions.zip", "class.csv"} <= {*files}
    asked = {"cwd": ROOT, "capture_output": True, "text": True}
    ignored = subprocess.run(["git", "check-ignore", *files], **asked)  # type: ignore[call-overload]
    assert ignored.stdout.split() == files
    tracked = subprocess.run(["git", "ls-files", "-ci", "--exclude-standard"], **asked)  # type: ignore[call-overload]
    assert tracked.stdout == ""


def _docker_lines() -> list[list[str]]:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    return [shlex.split(line, comments=True) for line in re.findall(r"^docker .*$", text, re.MULTILINE)]


def test_each_step_of_a_whole_assignment_has_a_command_for_a_container() -> None:
    start = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8").partition("```\n")[2].partition("```")[0]
    asked = {shlex.split(line)[3] for line in start.splitlines()}
    runs = [words for words in _docker_lines() if words[1] == "run"]
    there = [words[words.index("hooks") + 4 :] for words in runs if "-m" in words]
    assert {words[0] for words in there} == asked and "formgrader" in asked
    for words in there:
        arguments, unknown = course_parser(COURSE).parse_known_args(words)
        assert not unknown or arguments.chosen.passes_on, words


def test_a_container_keeps_its_volume_and_is_reached_from_this_machine_only() -> None:
    built, *runs = _docker_lines()
    assert built[1:] == ["build", "-f", "deploy/Dockerfile", "-t", "hooks", "."]
    for words in runs:
        options, inside = words[3 : words.index("hooks")], words[words.index("hooks") + 1 :]
        assert options[:2] == ["-v", "hooks:/course"]
        served = [options[at + 1] for at, word in enumerate(options) if word == "-p"]
        assert served == ["127.0.0.1:8888:8888"] * (not inside or "formgrader" in inside)


@pytest.mark.slow
def test_the_loop_for_near_copies_leaves_out_what_is_no_notebook(tmp_path: Path) -> None:
    (loop,) = (
        one.content for one in tokens("docs/instructors.md") if "copydetect -t" in one.content and one.type == "fence"
    )
    words = loop.replace(".venv/bin/jupyter nbconvert", f"{sys.executable} -m nbconvert").partition("copydetect -t")[0]
    places = [
        tmp_path / step / "02_tensor_hooks/02_tensor_hooks.ipynb"
        for step in ("submitted/ada", "submitted/zoe", "release")
    ]
    for place in places:
        place.parent.mkdir(parents=True)
        shutil.copy(ROOT / "release/02_tensor_hooks/02_tensor_hooks.ipynb", place)
    places[1].write_bytes(b"\x89PNG")
    done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "not read, and left out: submitted/zoe/02_tensor_hooks/02_tensor_hooks.ipynb\n"
    assert "Traceback" not in done.stderr
    assert sorted(path.parent.name for path in tmp_path.glob("build/**/*.py")) == ["ada", "given"]
