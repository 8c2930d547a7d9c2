"""Where there are no namespaces: a clear message, and the stock path works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.sandbox import isolation, launch
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import Isolation
from tests.grading.conftest import POINTS, RIGHT

ROOT = Path(__file__).parent.parent.parent
AS_IF_MACOS = """
import sys
import nbgrader.apps  # itself looks at the platform while it is imported
sys.modules["resource"] = None  # as on Windows
from nbproof.cli.main import main
sys.platform = "darwin"
sys.exit(main(sys.argv[1:]))
"""


def _elsewhere(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", AS_IF_MACOS, *arguments], capture_output=True, text=True, cwd=ROOT)


def test_another_system_is_told_what_works_there(course: Path) -> None:
    told = _elsewhere("grade", "--course", str(course))
    assert told.returncode == 1
    assert "runs on Linux only, and this is darwin" in told.stderr
    assert "next: grade on Linux, or with stock nbgrader: " in told.stderr
    assert f"-m course grade --stock --unsafe --course {course}\n" in told.stderr


def test_the_stock_path_wants_to_be_asked_twice(course: Path) -> None:
    told = _elsewhere("grade", "--stock", "--course", str(course))
    assert told.returncode == 2
    assert "add --unsafe" in told.stderr


@pytest.mark.stock
@pytest.mark.nightly
def test_the_stock_path_works_there(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    hand_in("zoe", {})
    told = _elsewhere("grade", "--stock", "--unsafe", "--no-feedback", "--course", str(course))
    assert told.returncode == 0, told.stderr
    assert "isolation: NONE" in told.stdout
    rows = {line.split()[1]: line for line in told.stdout.splitlines() if line.startswith("│ ")}
    assert f" {sum(POINTS.values()):g} " in rows["ada"]
    assert " 0 " in rows["zoe"]


def test_linux_without_namespaces_stops_and_unsafe_goes_on_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    refused = dict.fromkeys((Isolation.FULL, Isolation.REDUCED), "the kernel refuses user namespaces")
    monkeypatch.setattr(isolation, "offered", lambda: refused)
    with pytest.raises(NoIsolation) as refusal:
        isolation.isolation_or_refuse(unsafe=False)
    assert "refuses user namespaces" in refusal.value.fact
    assert "--unsafe" in refusal.value.next_command
    assert isolation.isolation_or_refuse(unsafe=True).line.startswith("isolation: NONE")


def test_a_course_inside_its_own_environment_is_refused() -> None:
    with pytest.raises(NoIsolation) as refusal:
        launch.refuse_if_exposed(Path(sys.prefix) / "share")
    assert "learners' code can read" in refusal.value.fact
    launch.refuse_if_exposed(ROOT)
