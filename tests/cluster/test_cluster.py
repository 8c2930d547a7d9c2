"""A class on a small Dask cluster: the verdicts are those of this machine, and nothing stays behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from nbproof.errors import UsageError
from nbproof.run.pool import PoolMaker, pool_named
from nbproof.sandbox.isolation import Isolation
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import RIGHT
from tests import needs_isolation

pytest.importorskip("nbproof_dask", reason="a Dask cluster is NOT tested: nbproof-dask is not installed")

from tests.cluster.machines import Machines, machines, until

# Dask itself leaves files and loops open.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), needs_isolation]

CLASS = {
    "ada": RIGHT,
    "ben": {**RIGHT, "first": "def first(x):\n    return x"},
    "cem": {**RIGHT, "second": "import os\ndef second(x):\n    os._exit(3)"},
}


def told(verdict: Any) -> str:
    """A verdict, without what depends on the clock and on what the memory held before."""

    def stripped(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: stripped(value) for key, value in data.items() if key not in ("seconds", "peak_mb")}
        return [stripped(one) for one in data] if isinstance(data, list) else data

    return json.dumps(stripped(verdict), sort_keys=True)


def verdicts(room: Rehearsal) -> dict[str, str]:
    """Learner -> what the journal has of the last run."""
    paths = room.root.glob("autograded/*/*/.verdict.json")
    return {path.parts[-3]: told(json.loads(path.read_text())) for path in paths}


def pool_of(cluster: Machines, isolation: Isolation = Isolation.FULL) -> PoolMaker | None:
    """The pool that ``--pool`` would name."""
    return pool_named(cluster.pool, "--pool", isolation=isolation)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Two workers."""
    with machines(tmp_path_factory.mktemp("cluster"), "one", "two") as made:
        yield made


def test_a_class_on_two_workers_has_the_verdicts_of_this_machine(
    room: Rehearsal, cluster: Machines, capfd: pytest.CaptureFixture[str]
) -> None:
    room.hand_in_all(CLASS)
    there = scores(room.grade(seed=7, pool=pool_of(cluster)))
    found = verdicts(room)
    assert "marking on 1 Dask worker, 1 submission at a time" in capfd.readouterr().err
    assert (there, found) == (scores(room.grade(seed=7, force=True)), verdicts(room))
    assert sorted(found) == sorted(CLASS)
    until(lambda: not cluster.stations())


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "nowhere.json", ""])
def test_what_is_no_address_is_said_at_once(address: str) -> None:
    with pytest.raises(UsageError, match="neither the address of a Dask scheduler nor a file"):
        pool_named(f"dask:{address}", "--pool", isolation=Isolation.FULL)
