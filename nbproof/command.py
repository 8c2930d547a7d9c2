"""What one command of the command line consists of, and how to write one that works where the user stands."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from nbproof.course_file import Course
from nbproof.errors import UsageError

__all__ = [
    "PATH_AT_START",
    "Command",
    "Option",
    "Options",
    "called_for",
    "course_command",
    "course_in",
    "formgrader_on_a_hub",
    "nbgrader_command",
    "not_built",
    "not_installed",
    "option",
    "pip_install",
    "prepared_python",
    "this_program",
    "this_python",
    "with_extra",
]

PATH_AT_START = os.environ.get("PATH")
"""As the user has it: later on places.py puts the interpreter's own folder in front."""

_BEGUN = os.path.abspath(sys.argv[0])
"""The program that was started."""

_module = ["nbproof"]
"""What the readers of this output run by ``python -m``. Threads ask as well."""

_chosen: list[Path] = []
"""The folder that ``--course`` named, while its command runs. Threads ask as well."""


@dataclass(frozen=True)
class Command:
    """``python -m course NAME``, or ``python -m nbproof NAME``."""

    name: str
    run: Callable[[argparse.Namespace], int]
    """The exit code. What it needs it imports itself: asking for help must not wait for a large library."""
    says: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    passes_on: bool = False
    """Whether options that it does not know are another program's."""
    needs_course: bool = True
    """Whether it works in a course's folder."""


Option = tuple[tuple[str, ...], Mapping[str, Any]]


def option(*names: str, **how: Any) -> Option:
    """One argument of a command, as argparse's ``add_argument`` takes it."""
    return names, how


@dataclass(frozen=True)
class Options:
    """All that a command takes, as data, for :attr:`Command.add_arguments`."""

    given: Sequence[Option] = ()
    epilog: str = ""

    def __call__(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to a parser."""
        parser.epilog = self.epilog or None
        for names, how in self.given:
            parser.add_argument(*names, **how)


def this_python() -> str:
    """How to call the interpreter that runs this, from the folder that the user stands in, as a word for the shell."""
    called = _from_here(sys.executable or "python")
    if os.name == "nt":
        return f'"{called}"' if " " in called else called
    return shlex.quote(called)


def _from_here(place: str) -> str:
    """The shortest form of a path: relative if it lies in the folder that the user stands in."""
    with contextlib.suppress(OSError, ValueError):
        inside = os.path.relpath(place)
        # A process that works at the top, such as a server's fork, prints for people who stand elsewhere.
        return place if inside.startswith(os.pardir) or os.getcwd() == os.sep else inside
    return place


def called_for(course: Course) -> None:
    """From now on commands are printed as the people of this course call them."""
    _module[0] = course.commands


@contextlib.contextmanager
def course_in(folder: Path) -> Iterator[None]:
    """Commands that are named in this block are for the course in ``folder``, as ``--course`` says."""
    _chosen.append(folder)
    try:
        yield
    finally:
        _chosen.pop()


def course_command(words: str = "", course: Path | None = None) -> str:
    """``python -m course WORDS``, to be printed as a next step: as it works for this user, in this folder.

    ``course``: the folder that it is for, if that may be another one than ``--course`` says.
    """
    folder = course or [Path(), *_chosen][-1]
    elsewhere = f"--course {shlex.quote(str(folder))}" if folder.resolve() != Path.cwd() else ""
    return " ".join(part for part in (this_program(), words, elsewhere) if part)


def this_program(module: str = "") -> str:
    """As the user has called it: ``nbproof``, or ``python -m course``. ``module``: of ``-m``, if not that of the course."""
    run = getattr(sys.modules["__main__"], "run", None)
    # The scripts that pip writes import it from a package; with -m it is of the main module itself.
    if not getattr(run, "__module__", "__main__").endswith(".__main__"):
        return f"{this_python()} -m {module or _module[0]}"
    name = os.path.basename(_BEGUN)
    found = shutil.which(name, path=PATH_AT_START)
    return name if found and os.path.abspath(found) == _BEGUN else shlex.quote(_from_here(_BEGUN))


def formgrader_on_a_hub() -> str:
    """The bookmark that docs/jupyterhub.md tells of: nobody reaches what the command opens there. Empty without a hub."""
    if not os.environ.get("JUPYTERHUB_SERVICE_PREFIX"):
        return ""
    # JupyterHub 5 may know how it is called from outside; nobody else does.
    base = f"https://YOUR-HUB{os.environ.get('JUPYTERHUB_BASE_URL', '/')}hub/"
    return f"{os.environ.get('JUPYTERHUB_PUBLIC_HUB_URL', base).rstrip('/')}/user-redirect/formgrader"


def nbgrader_command(words: str) -> str:
    """``nbgrader WORDS``, to be printed. nbgrader starts ``alembic`` by its bare name: both must be on PATH."""
    tools = os.path.dirname(os.path.abspath(sys.executable))
    if tools in (PATH_AT_START or "").split(os.pathsep):
        return f"nbgrader {words}"
    return f'PATH={shlex.quote(tools)}:"$PATH" nbgrader {words}'


def with_extra(extra: str) -> str:
    """The command that installs what an extra of the tool's needs: the tool itself may have come as a file that is gone."""
    told = (*_requirements("nbproof"), *_requirements("nbproof-grader"))
    return pip_install(*(one.partition(";")[0].strip() for one in told if f'extra == "{extra}"' in one))


def _requirements(distribution: str) -> list[str]:
    """What an installed distribution says that it needs, extras included; nothing if it is not installed."""
    try:
        return requires(distribution) or []
    except PackageNotFoundError:
        return []


def pip_install(*names: str) -> str:
    """The command that installs these packages for the Python that runs this."""
    return shlex.join([this_python(), "-m", "pip", "install", *names])


def not_installed(what: str, package: str) -> UsageError:
    """The error that names the package that something comes with, where it is not there."""
    return UsageError(f"{what} comes with {package}, which is not installed", sys.executable, pip_install(package))


def not_built(root: Path, lesson: str) -> UsageError:
    """The error for a lesson whose text lies in lessons/, and whose notebook nobody has made."""
    return UsageError(
        f"{lesson} is not built: there is no notebook of it",
        str(root / "lessons" / lesson),
        course_command(f"build {lesson}"),
    )


def prepared_python(words: Sequence[str]) -> str:
    """``python -m course WORDS`` by the course's own environment, for a Python that lacks the packages; or how to make it."""
    home = Path(__file__).resolve().parent.parent
    program = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    place = home / ".venv" / program
    if place.exists() and not os.path.samefile(sys.prefix, home / ".venv"):
        return shlex.join([_from_here(str(place)), "-m", "course", *words])
    if (home / "install.py").exists():
        return shlex.join([this_python(), _from_here(str(home / "install.py"))])
    return with_extra("grading")
