"""Wheels: the tool, the course with its notebooks, and, for a class's bundle, both in one without the graders' part.

A wheel is a zip of modules with a description of itself. These hold nothing that has to be compiled, so that they are put
together here, in memory: equal contents give equal bytes, and nothing has to be installed or fetched for it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbproof.course_file import the_course
from nbproof.errors import UsageError

__all__ = ["class_wheel", "project_of", "wheel_of", "zipped"]

_WHEN = (2026, 1, 1, 0, 0, 0)
_TOOL = Path(__file__).resolve().parent.parent


def wheel_of(
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
        f"{info}/METADATA": _metadata(project, version, requires or project["dependencies"]).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: nbproof\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    scripts = "".join(f"{name} = {place}\n" for name, place in project.get("scripts", {}).items())
    made[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(made.items())]
    made[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    return f"{stem}-py3-none-any.whl", zipped(sorted(made.items()))


def _metadata(project: Mapping[str, Any], version: str, requires: Sequence[str]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {one}" for one in requires]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for one in needs:
            need, _, marker = (part.strip() for part in one.partition(";"))
            lines.append(f'Requires-Dist: {need}; {f"({marker}) and " if marker else ""}extra == "{extra}"')
    lines += ["Description-Content-Type: text/markdown", "", f"# {project['name']}", "", project["description"], ""]
    return "\n".join(lines)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of these files, in this order, whose bytes follow from theirs alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def class_wheel(root: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The learners' part of course and tool in one wheel, by its name; none if a bundle's files are not those of a clone."""
    package = the_course().package
    if not package or not (root / "pyproject.toml").is_file() or not (_TOOL / "pyproject.toml").is_file():
        return {}
    modules = {name: data for name, data in files.items() if name.startswith((f"{package}/", "nbproof/"))}
    modules |= {f"{package}/{name}": data for name, data in files.items() if name.startswith("release/")}
    project, tool = project_of(root), project_of(_TOOL)
    needs = [one for one in (*project["dependencies"], *tool["dependencies"]) if not one.startswith("nbproof")]
    plain = {**project, "optional-dependencies": {"lab": tool["optional-dependencies"]["jupyterlab"]}}
    return dict([wheel_of(plain, modules, sorted(set(needs)), "class")])


def project_of(folder: Path) -> dict[str, Any]:
    """The ``[project]`` table of the pyproject.toml in this folder. Raises UsageError if there is none."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        raise UsageError("wheels are made in a clone", str(path), "clone the repository, and run it there")
    return dict(tomllib.loads(path.read_text(encoding="utf-8"))["project"])
