"""What is handed out: to learners as one zip, with released lessons, their part of course and tool, and how to start; and wheels.

All of it is made in memory, searched for every line of the solutions and hidden tests, and only then written. Equal contents
give equal bytes. A wheel is a zip of modules with a description of itself; these hold nothing that has to be compiled.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shlex
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nbproof.authoring.build import unbuilt
from nbproof.authoring.distribution import LEARNERS_PROJECT, PACKAGES, TOOL, is_for_learners
from nbproof.authoring.secret_lines import public_text, read_secrets, text_of
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.display.help import read_hints
from nbproof.display.lab import released_lessons
from nbproof.display.outline import OutlinedLesson, outline_of
from nbproof.doors import as_pip, for_learners, package_of
from nbproof.errors import CourseError, UsageError, disk_trouble
from nbproof.files import replace_file
from nbproof.gradebook.reader import due_dates_in, opened_gradebook
from nbproof.handed_out import OUTLINE, checks_files, hint_files, read_named_cells
from nbproof.lesson.check_cell import two_lines
from nbproof.lesson.exercise_folder import RIGHT
from nbproof.lesson.from_notebook import cells_of, read_cells
from nbproof.lesson.lesson import Cell
from nbproof.places import places
from nbproof.run.digests import entries_of
from nbproof.run.intake import gradable_lessons
from nbproof.run.journal import keep_version
from nbproof.text import in_utc
from nbproof.values.leaf import refuse_unknown_leaves
from nbproof.values.words import words_of

__all__ = ["Bundle", "bundle", "contents_of", "refuse_leaks", "write_wheels"]

_AT_HOME = re.compile(
    r"((psutil|nbgrader|jupytext|charset-normalizer|json-repair)\b|nbproof([-_.](grader|lms))?(?![\w.-]))|-e ./packages/nbproof-"
)
"""Requirements of graders and authors only. Of the tool, learners get their part with the lessons."""
_REQUIRED = re.compile(r"[A-Za-z0-9][\w.-]*")

_IF_THERE = ("LICENSE", "constraints.txt", "install.py")
"""Files of the course's folder that go into the zip if they are there. A part of ``pyproject.toml`` goes as well."""

_TELLING = 24
"""A line of an answer with fewer characters tells nothing: ``return value`` stands in English sentences, too."""

_PICTURE = "docs/pictures/wrong_answer.png"

_WHEN = (2026, 1, 1, 0, 0, 0)
"""The date of every file in a zip."""


@dataclass(frozen=True)
class Bundle:
    """The zip that was written."""

    path: Path
    lessons: tuple[str, ...]
    files: int
    size: int
    """Bytes."""
    searched_for: int
    """Lines of solutions, hidden tests, accepted answers and mutants that are not in it."""


def bundle(course: Course, root: Path, lessons: Sequence[str] = (), out: Path | None = None) -> Bundle:
    """Write the zip for these lessons (default: all).

    Raises CourseError if one was not built, has changed since, or has no checks, if an earlier zip in its place holds more
    lessons, and if the zip would give something away: then none is written, and an earlier one stays as it is.
    """
    path = (out or root / f"{course.name}.zip").absolute()
    if not path.parent.is_dir():
        then = f"mkdir -p {shlex.quote(str(path.parent))}; or choose a folder that is there: --out FILE"
        raise UsageError("there is no such folder to write the zip into", str(path.parent), then)
    for error in unbuilt(course, root, lessons):
        raise error
    # Without the instructor's notebooks nothing could be proved. One that was adopted may still lie in source/.
    chosen = gradable_lessons(root, list(lessons) or places(root).written())
    if gone := [name for name in _lessons_in(path) if name not in chosen]:
        raise UsageError(
            f"nothing was written: the zip that lies there holds more lessons: {', '.join(gone)}",
            str(path),
            f"{course_command(shlex.join(['bundle', *lessons, '--out', 'FILE']))} keeps both; or move that zip away",
        )
    for name in chosen:
        if not _is_fresh(root, name):
            raise CourseError(
                f"the release of {name} is missing, damaged, or of another version of the lesson",
                str(root / "release" / name),
                course_command(f"build {name}"),
            )
    _refuse_without_checks(course, root, chosen)
    files = contents_of(course, root, chosen, _due_dates(root))
    _refuse_unnamed_packages(course, root, files["requirements.txt"].decode())
    searched = refuse_leaks(course, root, files, "the bundle")
    files |= _class_wheel(course, root, files)
    data = _zipped((f"{course.name}/{name}", data) for name, data in files.items())
    with disk_trouble(CourseError, "the bundle cannot be written", path, course_command("bundle --out FILE")):
        replace_file(path, data)
        for name in chosen:
            keep_version(root, name)
    return Bundle(path, tuple(chosen), len(files), len(data), searched)


def _lessons_in(path: Path) -> list[str]:
    """The lessons in a zip that lies there; none if nothing does, or something else."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [place.stem for place in map(Path, archive.namelist()) if place.match("release/*/*.ipynb")]
    except (OSError, zipfile.BadZipFile):
        return []


def _refuse_without_checks(course: Course, root: Path, lessons: Iterable[str]) -> None:
    """Raise CourseError if a check cell of one of these lessons names checks that lessons/ does not hold."""
    there = checks_files(root / "lessons")
    for lesson in lessons:
        path = root / "release" / lesson / f"{lesson}.ipynb"
        asked = filter(None, (two_lines(course).search(cell.source) for cell in read_cells(path)))
        missing = [call["id"] for call in asked if call["id"] not in there]
        if missing:
            raise CourseError(
                f"the checks of {lesson} are missing, and learners could not check an answer: {', '.join(missing)}",
                str(root / "lessons" / lesson),
                f"put that folder back; or move source/{lesson} and release/{lesson} away, if it is no lesson any more",
            )


def _refuse_unnamed_packages(course: Course, root: Path, requirements: str) -> None:
    """Raise UsageError if learners would not get a package that the course's checks need. ``requirements``: what they install."""
    words_of(course)
    refuse_unknown_leaves(course)
    for package in map(package_of, entries_of(course)):
        if as_pip(package) not in as_pip(requirements):
            raise UsageError(
                f"learners could not run a check: it needs {package}, and requirements.txt does not name that",
                str((root / "requirements.txt").resolve()),
                f"write it there, as pip takes it, in a line of its own; then: {course_command('bundle')}",
            )


def _is_fresh(root: Path, slug: str) -> bool:
    """Whether the release was made of this notebook. Its text may have been changed by hand; other cells make it another one."""
    own, handed_out = (read_cells(root / step / slug / f"{slug}.ipynb") for step in ("source", "release"))
    graded = {cell.grade_id for cell in own if cell.grade_id}
    return bool(own) and graded <= {*map(_mark_of, handed_out)} <= {*map(_mark_of, own)}


def _mark_of(cell: Cell) -> str:
    """How a cell is recognized: by the name that nbgrader gives it, or else by its id."""
    return cell.grade_id or cell.id


def contents_of(
    course: Course, root: Path, lessons: Sequence[str], due: Mapping[str, datetime] = MappingProxyType({})
) -> dict[str, bytes]:
    """Path within the bundle -> bytes, of all that learners get. ``due``: lesson -> when it is due, in UTC."""
    package = course.package
    outlined = [one for one in outline_of(course, root / "source", root / "lessons") if one.slug in lessons]
    files = _package_files(root / package) if package else {}
    files |= {f"{package}/{name}".lstrip("/"): data for name, data in _handed_out(course, root, outlined).items()}
    files |= _package_files(TOOL, is_for_learners)
    beside = _IF_THERE if package else (*_IF_THERE, "course.toml")
    released = [f"release/{slug}/{slug}.ipynb" for slug in lessons]
    there = [name for name in beside if (root / name).is_file()]
    files |= {name: (root / name).read_bytes() for name in (*released, *there)}
    files |= _of_an_installation(root)
    if package and LEARNERS_PROJECT.is_file():
        files["packages/nbproof/pyproject.toml"] = LEARNERS_PROJECT.read_bytes()
    files["START.html"] = _start_page(course, root, outlined, due).encode()
    return dict(sorted(files.items()))


def _handed_out(course: Course, root: Path, outlined: Sequence[OutlinedLesson]) -> dict[str, bytes]:
    """What learners get of ``lessons/``: of these lessons the visible checks, and all hints, which may be told in any."""
    texts, slugs = root / "lessons", [one.slug for one in outlined]
    told = {one.slug: asdict(one) for one in outlined}
    files = {OUTLINE: (json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()}
    files |= {path.relative_to(texts).as_posix(): path.read_bytes() for path in hint_files(texts)}
    for path in checks_files(texts).values():
        place = path.relative_to(texts)
        if place.parts[0] in slugs:
            cells = [f"# %% {one.name}\n" * bool(one.name) + one.visible for one in read_named_cells(path)]
            files[place.as_posix()] = ("\n".join(cells) + "\n").encode()
    return {f"{course.handed_out.name}/{name}": data for name, data in files.items()}


def _of_an_installation(root: Path) -> dict[str, bytes]:
    """What learners install. Raises UsageError if nothing says so."""
    requirements, project = root / "requirements.txt", root / "pyproject.toml"
    if not requirements.is_file():
        raise UsageError(
            "learners would not know what to install: there is no requirements.txt",
            str(root.resolve()),
            "write one: what the lessons import, and jupyterlab",
        )
    files = {requirements.name: _requirements(requirements.read_text(encoding="utf-8")).encode()}
    if project.is_file():
        # What installs the package; the rest of the file is for its developers.
        files[project.name] = project.read_text(encoding="utf-8").split("[tool.ruff]")[0].encode()
    return files


_FOR_GRADERS = ("source", "release", "lessons", "nbgrader_config.py")
"""What the zip beside the wheels holds: notebooks with hidden checks, and of ``lessons`` the right answers."""


_PINNED = ("requirements.txt", "constraints.txt")
_PIN = re.compile(r"^[A-Za-z].*==.*$", re.MULTILINE)


def write_wheels(course: Course, root: Path, out: Path) -> list[Path]:
    """Write the wheels of tool and course, the zip for graders and for people who study alone, and pins. Returns the places.

    The course's wheel holds only the notebooks that learners get: a submission can read the environment that grades it.
    Raises UsageError if ``root`` is no clone, CourseError if that wheel would hold what learners must not see.
    """
    if not course.package:
        raise UsageError(
            "a course without a package needs no wheel: its folder is all of it",
            str(root.resolve()),
            f"make the zip for learners: {course_command('bundle')}",
        )
    for error in unbuilt(course, root):
        raise error
    _refuse_without_checks(course, root, released_lessons(course, root))
    beside = _handed_out(course, root, outline_of(course, root / "source", root / "lessons"))
    released = [f"release/{slug}/{slug}.ipynb" for slug in released_lessons(course, root)]
    beside |= {name: (root / name).read_bytes() for name in released}
    own = _package_files(root / course.package)
    own |= {f"{course.package}/{name}": data for name, data in beside.items()}
    refuse_leaks(course, root, own, "the wheel")
    contents = {
        "nbproof": _package_files(TOOL, is_for_learners),
        "nbproof-grader": _package_files(TOOL, lambda name: not is_for_learners(name)),
        "nbproof-lms": _package_files(TOOL.with_name("nbproof_lms")),
    }
    wheels = [_wheel_of(_project_of(PACKAGES / name), files) for name, files in contents.items()]
    wheels.append(_wheel_of(_project_of(root), own))
    made = {out / name: data for name, data in wheels}
    made[out / f"{course.name}-solutions.zip"] = _zipped(sorted(_for_graders(root)))
    made[out / "pins.txt"] = _pins(root).encode()
    then = f"make room there, then: {course_command('wheels')}"
    with disk_trouble(UsageError, "the wheels cannot be written", out, then):
        out.mkdir(parents=True, exist_ok=True)
        for path, data in made.items():
            replace_file(path, data)
    return list(made)


def _for_graders(root: Path) -> Iterable[tuple[str, bytes]]:
    for name in _FOR_GRADERS:
        place = root / name
        pattern = RIGHT if name == "lessons" else "*.ipynb"
        paths = place.rglob(pattern) if place.is_dir() else [place]
        for path in paths:
            if ".ipynb_checkpoints" not in path.parts:
                yield path.relative_to(root).as_posix(), path.read_bytes()


def _pins(root: Path) -> str:
    """The versions that the course is tested with, of all that it needs, as pip's option -c takes them."""
    texts = [(root / name).read_text(encoding="utf-8") for name in _PINNED if (root / name).is_file()]
    return (
        "\n".join(
            ["# The versions that this course is tested with, for pip's option -c", *_PIN.findall("\n".join(texts))]
        )
        + "\n"
    )


def _package_files(package: Path, wanted: Callable[[str], bool] = lambda name: True) -> dict[str, bytes]:
    """The files of a package by their paths, ``nbproof/text.py``, without what Python and editors leave there.

    ``wanted``: whether a file belongs to it, by its path within the package.
    """
    files = (path for path in sorted(package.rglob("*")) if path.is_file() and not path.name.startswith("."))
    names = [path.relative_to(package).as_posix() for path in files if "__pycache__" not in path.parts]
    return {f"{package.name}/{name}": (package / name).read_bytes() for name in names if wanted(name)}


def _requirements(text: str) -> str:
    """What learners install: without what is for graders, and without the comments, which are for people who edit the file."""
    kept = [line for line in text.splitlines() if _is_for_learners(line)]
    return "\n".join(["# What the lessons run on. `pip install -r requirements.txt` installs it.", *kept]) + "\n"


def _is_for_learners(line: str) -> bool:
    if line[:1] == "#" or _AT_HOME.match(line):
        return False
    named = _REQUIRED.match(line)
    return named is None or for_learners(named[0])


def _due_dates(root: Path) -> Mapping[str, datetime]:
    """When lessons are due for the class; nothing in a folder that no gradebook is configured for. Raises GradingError."""
    if not (root / "nbgrader_config.py").is_file():
        return {}
    with opened_gradebook(root) as book:
        return due_dates_in(book).lessons if book is not None else {}


def _describe_lesson(lesson: OutlinedLesson, root: Path, due: Mapping[str, datetime]) -> dict[str, object]:
    """What the first page says of a lesson."""
    when = in_utc(due[lesson.slug]) if lesson.slug in due else ""
    return {
        "slug": lesson.slug,
        "title": lesson.title,
        "exercises": len(lesson.exercises),
        "minutes": sum(exercise.minutes for exercise in lesson.exercises),
        "points": _points(root / "release" / lesson.slug / f"{lesson.slug}.ipynb"),
        "due": when,
    }


def _start_page(course: Course, root: Path, outlined: Sequence[OutlinedLesson], due: Mapping[str, datetime]) -> str:
    # The template is the course's own; what it is given are titles and numbers of the course's own lessons.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["prose"] = lambda text: str(text).replace("`", "")
    lessons = [_describe_lesson(one, root, due) for one in outlined]
    picture = root / _PICTURE
    shown = base64.b64encode(picture.read_bytes()).decode("ascii") if picture.exists() else ""
    return environment.get_template("start.html").render(
        lessons=lessons,
        picture=shown,
        title=course.says,
        hints=any(read_hints(root / "lessons")),
        module=course.commands,
        installer=(root / "install.py").is_file(),
    )


def _points(released: Path) -> float:
    """The points of the whole lesson, as feedback and gradebook count them: exercises and written answers."""
    return float(sum(cell.points for cell in cells_of(released.read_bytes())))


def refuse_leaks(course: Course, root: Path, files: Mapping[str, bytes], what: str, own: str = "") -> int:
    """Raise CourseError if a file holds a line that learners must not see; returns how many lines were looked for.

    In notebooks and pages no line of anything is allowed. Lines of code are everybody's as soon as two people write
    the same idiom: in modules the lines of solutions and hidden tests count, not those of 2,000 answers as well. The tool
    was written before any course: in its modules only lines count that are long enough to tell anything.
    ``own``: text that everybody may read anyway.
    """
    everything = read_secrets(course, root)
    solutions = everything.only(lambda line, origin: origin.startswith("source/"))
    telling = solutions.only(lambda line, origin: len(line) >= _TELLING)
    strict = everything.only(lambda line, origin: len(line) >= _TELLING or line in solutions.origins)
    public = public_text(course, root) + "\n" + own
    for name, data in files.items():
        of_code = telling if name.startswith("nbproof/") else solutions
        secrets = of_code if name.endswith(".py") else strict
        for line in secrets.found_in(text_of(name, data), public):
            raise CourseError(
                f"{what} would show a line of {secrets.origins[line]}, so nothing was written: {line[:80]}",
                name,
                f"{course_command('build')}; if the line is an idiom of the course's own code, write it in another way",
            )
    return len(strict)


def _wheel_of(
    project: Mapping[str, Any], files: Mapping[str, bytes], requires: Sequence[str] = (), local: str = ""
) -> tuple[str, bytes]:
    """The name of a wheel, as pip wants it for pure Python, and its bytes.

    ``project``: the ``[project]`` table of a pyproject.toml; ``requires``: what takes the place of its dependencies; ``local``:
    what tells this wheel from another one of the same version.
    """
    version = project["version"] + f"+{local}" * bool(local)
    stem = f"{re.sub(r'[-_.]+', '_', project['name'])}-{version}"
    info = f"{stem}.dist-info"
    made = {
        **files,
        f"{info}/METADATA": _metadata(project, version, requires or project.get("dependencies", ())).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: nbproof\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    scripts = "".join(f"{name} = {place}\n" for name, place in project.get("scripts", {}).items())
    made[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(made.items())]
    made[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    return f"{stem}-py3-none-any.whl", _zipped(sorted(made.items()))


def _metadata(project: Mapping[str, Any], version: str, requires: Sequence[str]) -> str:
    said = {"Summary": "description", "License": "license", "Requires-Python": "requires-python"}
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}"]
    # A license may be a table as well, of a file that a wheel of ours does not hold.
    lines += [f"{head}: {project[key]}" for head, key in said.items() if isinstance(project.get(key), str)]
    lines += [f"Requires-Dist: {one}" for one in requires]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for one in needs:
            need, _, marker = (part.strip() for part in one.partition(";"))
            also = f"({marker}) and " if marker else ""
            lines.append(f'Requires-Dist: {need}; {also}extra == "{extra}"')
    lines += [
        "Description-Content-Type: text/markdown",
        "",
        f"# {project['name']}",
        "",
        project.get("description", ""),
        "",
    ]
    return "\n".join(lines)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of these files, in this order. Its bytes depend on nothing else."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def _class_wheel(course: Course, root: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The learners' part of course and tool in one wheel, by its name; none if a bundle's files are not those of a clone."""
    package = course.package
    if not package or not (root / "pyproject.toml").is_file() or not PACKAGES.is_dir():
        return {}
    modules = {name: data for name, data in files.items() if name.startswith((f"{package}/", "nbproof/"))}
    modules |= {f"{package}/{name}": data for name, data in files.items() if name.startswith("release/")}
    project, tool = _project_of(root), _project_of(PACKAGES / "nbproof")
    needs = [one for one in (*project.get("dependencies", ()), *tool["dependencies"]) if not one.startswith("nbproof")]
    plain = {**project, "optional-dependencies": {"lab": tool["optional-dependencies"]["jupyterlab"]}}
    return dict([_wheel_of(plain, modules, sorted(set(needs)), "class")])


def _project_of(folder: Path) -> dict[str, Any]:
    """The ``[project]`` table of the pyproject.toml in this folder. Raises UsageError if there is none."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        raise UsageError("wheels are made in a clone", str(path), "clone the repository, and run it there")
    project = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    if not {"name", "version"} <= project.keys():
        raise UsageError("a wheel needs a name and a version", str(path), "write both there, below [project]")
    return dict(project)
