"""What pyproject.toml cannot say: of the folder nbproof/ this distribution has all modules but those of the one beside it."""

import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BESIDE = Path(__file__).parent.with_name("nbproof") / "pyproject.toml"
LEARNERS = tomllib.loads(BESIDE.read_text(encoding="utf-8"))["tool"]["setuptools"]
BROUGHT = {f"{module.rpartition('.')[0]}.__init__" for module in LEARNERS["py-modules"]}


class TheRest(build_py):
    """Copies what is not the other one's."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Package, name and path of each module."""
        if package in LEARNERS["packages"]:
            return []
        found = super().find_package_modules(package, package_dir)
        others = BROUGHT.union(LEARNERS["py-modules"])
        return [one for one in found if f"{package}.{one[1]}" not in others]


setup(cmdclass={"build_py": TheRest})
