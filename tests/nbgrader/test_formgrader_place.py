"""On a hub nobody reaches a server that a terminal starts: what is printed is formgrader's page there."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.command import formgrader_place
from nbproof.nbgrader import formgrader
from tests import ROOT


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As a terminal in a user's server has it."""
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/jupyter-prof/")
    monkeypatch.setenv("JUPYTERHUB_BASE_URL", "/")
    monkeypatch.delenv("JUPYTERHUB_PUBLIC_HUB_URL", raising=False)
    return monkeypatch


def test_the_next_command_is_the_bookmark(hub: pytest.MonkeyPatch) -> None:
    bookmark = "https://YOUR-HUB/hub/user-redirect/formgrader"
    assert formgrader_place() == bookmark
    assert bookmark in Path(ROOT, "docs", "jupyterhub.md").read_text(encoding="utf-8")
    hub.setenv("JUPYTERHUB_PUBLIC_HUB_URL", "https://hub.u.edu/hub/")
    assert formgrader_place() == "https://hub.u.edu/hub/user-redirect/formgrader"
    hub.delenv("JUPYTERHUB_SERVICE_PREFIX")
    assert formgrader_place().endswith(" formgrader")


def test_the_command_starts_no_server_there(hub: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    hub.setattr(formgrader, "start_server", lambda *_: pytest.fail("it would listen where nobody comes to"))
    assert formgrader.open_formgrader(Path(ROOT), []) == 0
    assert "user-redirect/formgrader" in capsys.readouterr().out
