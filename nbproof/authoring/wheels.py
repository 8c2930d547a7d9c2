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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbproof.course_file import the_course
from nbproof.errors import UsageError

__all__ = ["Wheel", "class_wheel", "project_of", "zipped"]

_WHEN = (2026, 1, 1, 0, 0, 0)
_TOOL = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Wheel:
    """A wheel before it is written."""

    project: Mapping[str, Any]
    """The ``[project]`` table of a pyproject.toml."""
    files: Mapping[str, bytes]
    requires: tuple[str, ...] = field(default=())
    """Instead of the project's own dependencies, if there are any."""
    local: str = ""
    """What tells this wheel from another one of the same version."""

    @property
    def version(self) -> str:
        """The project's, with what is local."""
        return str(self.project["version"]) + (f"+{self.local}" if self.local else "")

    @property
    def stem(self) -> str:
        """Name and version, as file names have them."""
        return f"{re.sub(r'[-_.]+', '_', str(self.project['name']))}-{self.version}"

    @property
    def filename(self) -> str:
        """As pip wants it: pure Python, any system."""
        return f"{self.stem}-py3-none-any.whl"

    def data(self) -> bytes:
        """The bytes of the wheel."""
        info = f"{self.stem}.dist-info"
        scripts = "".join(f"{name} = {place}\n" for name, place in self.project.get("scripts", {}).items())
        files = {
            **self.files,
            f"{info}/METADATA": self._metadata().encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: nbproof\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            **({f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}".encode()} if scripts else {}),
        }
        lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(files.items())]
        files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
        return zipped(sorted(files.items()))

    def _metadata(self) -> str:
        project = self.project
        lines = [
            "Metadata-Version: 2.1",
            f"Name: {project['name']}",
            f"Version: {self.version}",
            f"Summary: {project['description']}",
            f"License: {project['license']}",
            f"Requires-Python: {project['requires-python']}",
        ]
        lines += [f"Requires-Dist: {one}" for one in self.requires or project["dependencies"]]
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


def class_wheel(root: Path, files: Mapping[str, bytes]) -> Wheel | None:
    """The learners' part of course and tool in one wheel, out of a bundle's files; None if they are not those of a clone."""
    package = the_course().package
    if not package or not (root / "pyproject.toml").is_file() or not (_TOOL / "pyproject.toml").is_file():
        return None
    modules = {name: data for name, data in files.items() if name.startswith((f"{package}/", "nbproof/"))}
    modules |= {f"{package}/{name}": data for name, data in files.items() if name.startswith("release/")}
    project, tool = project_of(root), project_of(_TOOL)
    needs = [one for one in (*project["dependencies"], *tool["dependencies"]) if not one.startswith("nbproof")]
    plain = {**project, "optional-dependencies": {"lab": tool["optional-dependencies"]["jupyterlab"]}}
    return Wheel(plain, modules, tuple(sorted(set(needs))), "class")


def project_of(folder: Path) -> dict[str, Any]:
    """The ``[project]`` table of the pyproject.toml in this folder. Raises UsageError if there is none."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        raise UsageError("wheels are made in a clone", str(path), "clone the repository, and run it there")
    return dict(tomllib.loads(path.read_text(encoding="utf-8"))["project"])
